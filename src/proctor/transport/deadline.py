"""The time limit of an attempt: what `asyncio.timeout` does, at half of its price, which every sample pays."""

import asyncio
from types import TracebackType
from typing import Self


class Deadline:
    """Cancels the task inside `with` when the time is up, and makes a `TimeoutError` of that.

    It can be moved and stopped while it runs, as waiting for an endpoint is not the agent's time.
    """

    __slots__ = ("_before", "_expired", "_handle", "_loop", "_seconds", "_task", "_when")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._expired = False
        self._handle: asyncio.TimerHandle | None = None
        self._when: float | None = None
        self._task: asyncio.Task[object] | None = None

    def __enter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        task = self._task = asyncio.current_task()
        assert task is not None
        self._before = task.cancelling()
        self.move(self._loop.time() + self._seconds)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        task, self._task = self._task, None
        if self._handle is not None:
            self._handle.cancel()
        if self._expired and task is not None and task.uncancel() <= self._before and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def expired(self) -> bool:
        """Whether the time was up."""
        return self._expired

    def when(self) -> float | None:
        """The time of the loop when it is up; None while it is stopped."""
        return self._when

    def move(self, when: float | None) -> None:
        """Let it be up at another time, or not at all; nothing happens outside `with`, or after it was up."""
        if self._task is None or self._expired:
            return
        if self._handle is not None:
            self._handle.cancel()
        self._when = when
        self._handle = None if when is None else self._loop.call_at(when, self._up)

    def _up(self) -> None:
        if self._task is not None:
            self._expired = True
            self._task.cancel()
