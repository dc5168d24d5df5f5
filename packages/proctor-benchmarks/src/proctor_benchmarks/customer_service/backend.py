"""The backend of the shop: the tools of the agent, its state, and the faults that are injected.

| fault | what the tool does |
|---|---|
| `once` | raises at the first call and works from then on |
| `down` | raises at every call |
| `garbled` | returns a page of a broken proxy at the first call, and does nothing |
| `lost` | does what was asked at the first call, and raises as if no answer had come |
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Literal, TypeVar, cast

Intent = Literal["order_status", "cancel", "refund", "change_address", "question", "complaint", "human", "other"]
Topic = Literal["returns", "shipping"]
Fault = Literal["once", "down", "garbled", "lost"]
POLICIES: Mapping[Topic, str] = {
    "returns": "Refunds are possible up to 30 days after the delivery.",
    "shipping": "Shipping costs 5.90 per order.",
}

BAD_GATEWAY = "<html><head><title>502 Bad Gateway</title></head><body>upstream sent an invalid response</body></html>"
Result = TypeVar("Result")


class Unavailable(Exception):
    """The service behind a tool cannot be reached."""


class Backend:
    """Orders with a status, refunds, and the desk of colleagues that conversations are handed over to."""

    def __init__(
        self, orders: Mapping[str, Mapping[str, object]] | None = None, faults: Mapping[str, str] | None = None
    ) -> None:
        self._orders = {number: dict(order) for number, order in (orders or {}).items()}
        self._refunds: list[str] = []
        self._handed_over = False
        self._intent = ""
        self._faults = dict(faults or {})
        self._calls: Counter[str] = Counter()

    def state(self) -> dict[str, object]:
        """Return all that a conversation can change."""
        return {
            "intent": self._intent,
            "orders": self._orders,
            "refunds": self._refunds,
            "handed_over": self._handed_over,
        }

    def set_intent(self, intent: Intent) -> str:
        """Record what the customer wants. Call it first.

        Args:
            intent: what the customer wants; question is about the rules of the shop, human is wanting a person
        """
        self._intent = intent
        return "ok"

    def get_order(self, order_id: str) -> dict[str, object]:
        """Return an order: item, status (processing, shipped, delivered, cancelled), tracking number and more.

        Args:
            order_id: such as A1001
        """
        return self._behind_faults("get_order", lambda: self._order(order_id))

    def find_orders(self, phone: str) -> dict[str, object]:
        """Return the orders of a customer by number.

        Args:
            phone: the phone number of the customer
        """
        return self._behind_faults(
            "find_orders",
            lambda: {number: order for number, order in self._orders.items() if order.get("phone") == phone},
        )

    def cancel_order(self, order_id: str) -> str:
        """Cancel an order that is processing."""
        return self._behind_faults("cancel_order", lambda: self._change(order_id, "status", "cancelled"))

    def change_address(self, order_id: str, address: str) -> str:
        """Send an order that is processing to another address."""
        return self._behind_faults("change_address", lambda: self._change(order_id, "address", address))

    def refund(self, order_id: str) -> str:
        """Pay the price of an order back. This cannot be undone, and every call pays once."""
        return self._behind_faults("refund", lambda: self._refund(order_id))

    def get_policy(self, topic: Topic) -> str:
        """Return what the shop promises on a topic."""
        return self._behind_faults("get_policy", lambda: POLICIES[topic])

    def hand_over(self, reason: str) -> str:
        """Give the conversation to a colleague.

        Args:
            reason: why, in a few words
        """
        return self._behind_faults("hand_over", self._hand_over)

    def _behind_faults(self, tool: str, work: Callable[[], Result]) -> Result:
        self._calls[tool] += 1
        is_first, fault = self._calls[tool] == 1, self._faults.get(tool)
        if fault == "down" or (fault == "once" and is_first):
            raise Unavailable(f"503 Service Unavailable: {tool}")
        if fault == "garbled" and is_first:
            return cast(Result, BAD_GATEWAY)  # what no tool returns
        result = work()
        if fault == "lost" and is_first:
            raise Unavailable(f"504 Gateway Timeout: {tool} sent no answer; it may have been carried out")
        return result

    def _order(self, order_id: str) -> dict[str, object]:
        if order_id not in self._orders:
            raise ValueError(f"there is no order {order_id}")
        return self._orders[order_id]

    def _change(self, order_id: str, key: str, value: str) -> str:
        order = self._order(order_id)
        if order["status"] != "processing":
            raise ValueError(f"{order_id} is {order['status']}, not processing")
        order[key] = value
        return "ok"

    def _refund(self, order_id: str) -> str:
        self._order(order_id)
        self._refunds.append(order_id)
        return f"{order_id} is refunded"

    def _hand_over(self) -> str:
        self._handed_over = True
        return "a colleague takes over"
