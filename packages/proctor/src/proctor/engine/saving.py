"""Write trials to the store while others are played.

A worker waits until its trial is on disk before it begins the next, so that a kill repeats no more calls than were in
flight. Where many are in flight, their slots would be idle meanwhile: there a few trials are collected and handed over
together, and no worker waits. A kill then repeats those few, too.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import NamedTuple, Self

from proctor.core.sample import Sample
from proctor.core.task import Store
from proctor.core.trial import Trial, Verdict
from proctor.engine.status import RunStatus

FEW = 32  # in flight; so few always wait
SHARE = 4  # of more in flight, one in so many is not waited for
GATHER_SECONDS = 0.005


Stored = Callable[[Trial, Sequence[Verdict], Sample], None]


class _Kept(NamedTuple):
    trial: Trial
    verdicts: list[Verdict]
    sample: Sample


class Saving:
    """Hands trials to the store, and counts each when it is on disk; all are when `async with` ends, however it does.

    With a budget every trial is waited for, as its cost is only counted then.

    Args:
        waits: wait for every trial, as other samples may start in its last state.
        stored: is given each trial that is on disk, and must not wait.
    """

    def __init__(self, store: Store, status: RunStatus, *, waits: bool = False, stored: Stored | None = None) -> None:
        self._stored = stored
        self._waits = waits
        self._store = store
        self._status = status
        self._held: list[_Kept] = []
        self._under_way: set[asyncio.Future[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._error: BaseException | None = None

    async def __aenter__(self) -> Self:
        return self

    async def save(self, trial: Trial, verdicts: list[Verdict], sample: Sample) -> None:
        """Save a trial; it is on disk on return, unless it is one of those few.

        Raises:
            BadInput: the store cannot keep it, or could not keep one before.
        """
        if self._error is not None:
            raise self._error
        in_flight = self._status.in_flight
        waits = self._waits or in_flight <= FEW or self._status.tracker.is_bounded
        most = 0 if waits else in_flight // SHARE
        if len(self._held) + len(self._under_way) >= most:
            self._hand_over()
            await self._store.add(trial, verdicts, sample)
            self._count_stored(_Kept(trial, verdicts, sample))
            return
        self._held.append(_Kept(trial, verdicts, sample))
        if len(self._held) > most // 2:
            self._hand_over()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER_SECONDS, self._time_is_up)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._hand_over()
        if self._under_way:
            await asyncio.wait(self._under_way)
        if self._timer is not None:
            self._timer.cancel()
        if self._error is not None and error is None:
            raise self._error

    def _time_is_up(self) -> None:
        self._timer = None
        self._hand_over()

    def _hand_over(self) -> None:
        held, self._held = self._held, []
        for kept in held:
            try:
                saved = asyncio.ensure_future(self._store.add(*kept))
            except Exception as error:  # noqa: BLE001 - raised for the next trial, or at the end
                self._error = self._error or error
                continue
            self._under_way.add(saved)
            saved.add_done_callback(partial(self._count, kept))

    def _count(self, kept: _Kept, saved: "asyncio.Future[None]") -> None:
        self._under_way.discard(saved)
        if saved.cancelled():
            return
        if (error := saved.exception()) is not None:
            self._error = self._error or error
        else:
            self._count_stored(kept)

    def _count_stored(self, kept: _Kept) -> None:
        self._status.add(kept.trial, kept.verdicts)
        if self._stored is not None:
            self._stored(*kept)
