"""CozeLoop's interface for adding items to an evaluation set, as far as an upload meets it.

It checks the token, the shape of the body and the size of a batch, knows the fields of the set, keeps one item for each
`item_key`, and tells errors in groups of which at most five are named, as coze-dev/coze-loop does.
"""

import asyncio
import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Self

from endpoint import Answer, Endpoint, Request, data

PATH = "/v1/loop/evaluation/evaluation_sets/{id}/items"
NAMED = 5  # errors of a kind that are named
MISMATCH = 1


class CozeLoop:
    """A server with one evaluation set, in a thread of its own.

    Attributes:
        items: what was kept, in order, as {field: text}.
        batches: the sizes of the requests that were accepted.
        before: answers to the next requests, in place of its own.
        url: its address.
    """

    def __init__(
        self,
        *before: Answer,
        token: str = "secret-token",
        workspace: str = "7",
        evalset: str = "42",
        fields: Iterable[str] = ("input", "output", "tool_calls"),
        refuses: Callable[[dict[str, str]], str | None] = lambda item: None,
        tells_outputs: bool = True,
    ) -> None:
        self.items: list[dict[str, str]] = []
        self.batches: list[int] = []
        self.url = ""
        self.before = list(before)
        self._token, self._workspace, self._evalset = token, workspace, evalset
        self._fields = set(fields)
        self._refuses = refuses
        self._tells_outputs = tells_outputs
        self._keys: set[str] = set()
        self._endpoint = Endpoint(self._answer)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="cozeloop", daemon=True)

    @property
    def requests(self) -> list[Request]:
        """Everything that came."""
        return self._endpoint.requests

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._endpoint.__aenter__(), self._loop).result()
        self.url = self._endpoint.url
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._endpoint.__aexit__(None, None, None), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        answer = self.before.pop(0) if self.before else self._reply(request)
        await answer(request, writer)

    def _reply(self, request: Request) -> Answer:
        if request.headers.get("authorization") != f"Bearer {self._token}":
            return data({"code": 4100, "msg": "authentication is invalid"}, 401)
        if request.method != "POST" or request.path != PATH.format(id=self._evalset):
            return data({"code": 4200, "msg": "evaluation set not found"}, 404)
        body = request.json
        wrong = _shape(body, self._workspace)
        if wrong:
            return data({"code": 4000, "msg": wrong}, 400)
        return data({"code": 0, "msg": "", "data": self._added(body["items"])})

    def _added(self, items: list[dict[str, Any]]) -> dict[str, Any]:
        errors: dict[str, list[int]] = {}
        outputs = []
        for place, item in enumerate(items):
            texts = {one["name"]: one["content"]["text"] for one in item["turns"][0]["field_datas"]}
            reason = "unknown field" if set(texts) - self._fields else self._refuses(texts)
            if reason is not None:
                errors.setdefault(reason, []).append(place)
                continue
            key = item.get("item_key")
            is_new = key is None or key not in self._keys
            if is_new:
                self.items.append(texts)
                self._keys.add(key or "")
            outputs.append(
                {"item_index": place, "item_key": key, "item_id": str(len(self.items)), "is_new_item": is_new}
            )
        self.batches.append(len(items))
        groups = [
            {
                "error_code": MISMATCH,
                "error_message": reason,
                "error_count": len(places),
                "details": [{"message": reason, "index": place} for place in places[:NAMED]],
            }
            for reason, places in errors.items()
        ]
        return {"itemOutputs": outputs, "errors": groups} if self._tells_outputs else {"errors": groups}


def _shape(body: Any, workspace: str) -> str:
    """What is wrong with a body; '' when nothing is."""
    if not isinstance(body, dict) or body.get("workspace_id") != workspace:
        return "workspace_id"
    if body.get("is_allow_partial_add") is not True or body.get("is_skip_invalid_items") is not True:
        return "flags"
    items = body.get("items")
    if not isinstance(items, list) or not 1 <= len(items) <= 100:
        return "items: 1 to 100"
    for item in items:
        if set(item) - {"item_key", "turns"} or len(item["turns"]) != 1 or set(item["turns"][0]) != {"field_datas"}:
            return "item"
        if len(item.get("item_key", "")) > 255:
            return "item_key"
        for one in item["turns"][0]["field_datas"]:
            if set(one) != {"name", "content"} or one["content"].get("content_type") != "Text":
                return "field_datas"
            if not isinstance(one["content"].get("text"), str):
                return "text"
    return ""
