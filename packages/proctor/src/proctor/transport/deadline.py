"""Time limits that cost little, as every sample pays for two: that of the attempt, and that of its request.

A timer of the event loop for each, as `asyncio.timeout` has, costs three times as much, and is nearly always cancelled.

Time in which the loop itself did not run does not count: a process that was stopped (Ctrl-Z), a machine that
slept, a clock that jumped. The timer looks twice a second; where it comes late, all limits move by as much.
"""

import asyncio
import threading
from collections import deque
from types import TracebackType
from typing import Protocol, Self

BEAT_SECONDS = 0.5
LATE_SECONDS = 0.5  # a loop that is as late as that was not merely busy
PAUSES_KEPT = 100


class Timed(Protocol):
    """An object with a time limit, compared by identity."""

    def time_is_up(self) -> None: ...


class Alarms:
    """The time limits under way in one event loop, and one timer for the earliest of them."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._when: dict[Timed, float] = {}
        self._next = float("inf")
        self._timer: asyncio.TimerHandle | None = None
        self._pauses: deque[tuple[float, float]] = deque(maxlen=PAUSES_KEPT)  # when each ended, and how long it was

    def set(self, timed: Timed, when: float) -> None:
        """Call `timed.time_is_up()` at this time of the loop; an earlier limit of the same object is replaced."""
        self._when[timed] = when
        if when < self._next:
            self._arm(when)

    def clear(self, timed: Timed) -> None:
        """Remove the time limit of an object, if it has one. The timer stays, and is set again when it is up."""
        self._when.pop(timed, None)

    def when(self, timed: Timed) -> float | None:
        """Return the time of the loop at which it is called; None without a limit."""
        return self._when.get(timed)

    def paused_since(self, when: float) -> float:
        """Return how long the loop did not run since a time of it."""
        return sum(seconds for end, seconds in self._pauses if end > when)

    def _arm(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._next = min(when, self.loop.time() + BEAT_SECONDS)
        self._timer = self.loop.call_at(self._next, self._look)

    def _look(self) -> None:
        now = self.loop.time()
        if (late := now - self._next) > LATE_SECONDS:
            self._pauses.append((now, late))
            self._when = {timed: when + late for timed, when in self._when.items()}
        self._timer, self._next = None, float("inf")
        due = sorted((when, number, timed) for number, (timed, when) in enumerate(self._when.items()) if when <= now)
        for _, _, timed in due:  # in their order, however late we look
            del self._when[timed]
            timed.time_is_up()
        if self._when:
            self._arm(min(self._when.values()))


class _Here(threading.local):
    alarms: Alarms | None = None


_here = _Here()  # a thread runs one loop at a time


def alarms() -> Alarms:
    """Return the alarms of the running loop."""
    loop = asyncio.get_running_loop()
    found = _here.alarms
    if found is None or found.loop is not loop:
        found = _here.alarms = Alarms(loop)
    return found


class Deadline:
    """Cancels the task inside `with` when the time is up, and makes a `TimeoutError` of that.

    It can be moved and stopped while it runs, as waiting for an endpoint is not the agent's time.
    """

    __slots__ = ("_alarms", "_before", "_expired", "_seconds", "_task")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._expired = False
        self._task: asyncio.Task[object] | None = None

    def __enter__(self) -> Self:
        self._alarms = alarms()
        task = self._task = asyncio.current_task()
        assert task is not None
        self._before = task.cancelling()
        self._alarms.set(self, self._alarms.loop.time() + self._seconds)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        task, self._task = self._task, None
        self._alarms.clear(self)
        if self._expired and task is not None and task.uncancel() <= self._before and kind is asyncio.CancelledError:
            raise TimeoutError from error

    @property
    def seconds(self) -> float:
        """Return how long it is, however it was moved."""
        return self._seconds

    def expired(self) -> bool:
        """True if the time was up."""
        return self._expired

    def when(self) -> float | None:
        """Return the time of the loop when it is up; None while it is stopped."""
        return self._alarms.when(self)

    def move(self, when: float | None) -> None:
        """Move the deadline to another time, or remove it; nothing happens outside `with`, or after it passed."""
        if self._task is None or self._expired:
            return
        if when is None:
            self._alarms.clear(self)
        else:
            self._alarms.set(self, when)

    def time_is_up(self) -> None:
        """Cancel the task; `Alarms` calls this."""
        if self._task is not None:
            self._expired = True
            self._task.cancel()
