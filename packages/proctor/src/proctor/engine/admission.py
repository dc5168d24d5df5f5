"""Decide when the next sample may begin: when the endpoints have room for it, and the budget holds it.

As many samples are under way as requests may be in flight, and a few more for the moments between two requests. So a
kill loses about the requests in flight, even where a sample takes many of them, and with a budget no more samples begin
than its rest can hold.
"""

import asyncio
from collections import deque
from collections.abc import Callable

from proctor.engine.budget import BudgetTracker
from proctor.engine.refusals import HeldRefusals
from proctor.transport.client import Client
from proctor.transport.pace import START

SPARE = 4  # samples between two requests, for each so many in flight


class Admission:
    """Admits samples, and counts those under way.

    Args:
        most: samples at once, whatever the endpoints allow.
        is_paced: True if the pace of the endpoints may make it fewer.
        slots: requests that may be in flight as long as no endpoint was called; None is no limit.
        is_decided: True once no further sample is needed.

    Attributes:
        in_flight: samples under way.
        is_alone: True to admit the next sample only when no other is under way.
    """

    def __init__(
        self,
        client: Client,
        tracker: BudgetTracker,
        stop: asyncio.Event,
        *,
        most: int,
        is_paced: bool,
        slots: int | None = None,
        is_decided: Callable[[], bool] = lambda: False,
    ) -> None:
        self.in_flight = 0
        self.is_alone = False
        self._client = client
        self._tracker = tracker
        self._stop = stop
        self._most = most
        self._is_paced = is_paced
        self._slots = slots
        self._is_decided = is_decided
        self._is_closed = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def room(self) -> int:
        """Return how many samples may be under way now."""
        if self.is_alone:
            return 1
        slots = (self._client.places or self._slots) if self._is_paced else None
        if not slots:
            return self._most
        return min(self._most, max(START, slots) + max(SPARE, slots // SPARE))

    @property
    def is_over(self) -> bool:
        """True if no further sample may begin."""
        is_spent = self._tracker.is_bounded and self._tracker.spent_bound() is not None
        return self._is_closed or is_spent or self._stop.is_set() or self._is_decided()

    async def enter(self) -> bool:
        """Wait until a sample may begin; False when none may any more. After True, call `leave` when the sample is done."""
        while not self.is_over:
            if self.in_flight < self.room and self._tracker.holds(self.in_flight + 1):
                self.in_flight += 1
                return True
            if not self.in_flight:
                break  # nothing comes back that would make room: the rest of the budget holds no sample
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                self._wake(1)  # it may have been our turn
                raise
        self.close()
        return False

    def follow(self, refusals: HeldRefusals) -> None:
        """Admit one sample at a time while the cause of a refusal is unknown, and none once the endpoint refuses all."""
        self.is_alone = refusals.is_unknown
        if refusals.reason is not None:
            self.close()

    def leave(self) -> None:
        """Note that a sample is done and its cost counted."""
        self.in_flight -= 1
        if self._waiting:
            self._wake(len(self._waiting) if self.is_over or not self.in_flight else max(1, self.room - self.in_flight))

    def close(self) -> None:
        self._is_closed = True
        self._wake(len(self._waiting))

    def _wake(self, count: int) -> None:
        while count > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                count -= 1
