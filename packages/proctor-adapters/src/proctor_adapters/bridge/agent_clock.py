"""Tell the time that the agent takes in a sample from that of the other program and of waits, to say whose a time limit is."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from proctor.core.around import MovableLimit
from proctor.core.errors import AgentFailed, EnvironmentFailed, PartFailed

Waits = Callable[
    [bool, float], None
]  # called with whether a request waits from now on, and the seconds it waited before


class AgentClock:
    """Counts the time in which it is the agent's turn: it makes a reply, or tool calls that it made run.

    Waiting for an endpoint is nobody's time: a request that waits is not at work. What the other program does besides calls of
    the agent, such as starting, grading and asking other models, is not the agent's time either. Calls are taken to run until
    the agent is asked again or scoring begins.
    """

    def __init__(self) -> None:
        self._started = self._changed = time.perf_counter()
        self._seconds = self._waited = 0.0
        self._replying = 0  # requests of the agent, without those that wait
        self._waiting = 0  # requests of anyone
        self._others = 0  # requests of other models, without those that wait
        self._has_calls = False
        self._is_over = False

    @property
    def is_agents_turn(self) -> bool:
        return not self._is_over and (self._replying > 0 or (self._has_calls and not self._others))

    def begin(self) -> None:
        """Begin to count; what was before, such as the start of the other program, is nobody's time."""
        self._started = self._changed = time.perf_counter()

    def end(self) -> None:
        """Count no further: the sample has been played, and is scored now."""
        self._count()
        self._is_over = True

    @contextmanager
    def asking(self, *, is_agent: bool) -> Iterator[Waits]:
        """Count a request inside; yields the function to call when it begins to wait and when it goes on."""
        self._count(replying=is_agent, others=not is_agent)
        is_waiting = False

        def waits(begins: bool, lost: float = 0.0) -> None:
            nonlocal is_waiting
            if begins != is_waiting:
                change, is_waiting = 1 if begins else -1, begins
                self._count(replying=-change * is_agent, others=-change * (not is_agent), waiting=change)
                self._lose(lost, is_agent=is_agent)

        if is_agent:
            self._has_calls = False
        try:
            yield waits
        finally:
            waits(False)
            self._count(replying=-is_agent, others=-(not is_agent))

    def run_calls(self) -> None:
        """Count what follows as the agent's time: it replied with tool calls, which run now."""
        self._count()
        self._has_calls = True

    def out_of_time(self, seconds: float) -> PartFailed:
        """Return whose failure it is that the time limit of the attempt is up, in which waits do not count."""
        has_turn, is_calling = self.is_agents_turn, not self._replying
        self._count()
        others = seconds - self._seconds
        if has_turn and others <= seconds / 2:
            if is_calling:
                return AgentFailed("At the time limit of {seconds} seconds, a tool call of the agent had not ended.", kind="time_limit", seconds=f"{seconds:g}")  # fmt: skip
            return AgentFailed("No answer within {seconds} seconds.", kind="time_limit", seconds=f"{seconds:g}")
        return EnvironmentFailed(
            "At the time limit of {seconds} seconds the task had not ended; {others} of them it did not wait for the agent. A longer limit: --time-limit SECONDS",
            kind="time_limit",
            seconds=f"{seconds:g}",
            others=f"{others:.1f}",
        )

    def took_most(self, *, with_waits: bool) -> bool:
        """True if at least half of the time so far was the agent's; without waits, of the working time."""
        self._count()
        total = self._changed - self._started - (0.0 if with_waits else self._waited)
        return 2 * self._seconds >= total

    def _lose(self, seconds: float, *, is_agent: bool) -> None:
        """Count the time of a request that failed as waiting."""
        lost = min(seconds, self._seconds) if is_agent else seconds
        self._seconds -= lost if is_agent else 0.0
        self._waited += lost

    def _count(self, *, replying: int = 0, others: int = 0, waiting: int = 0) -> None:
        if self._is_over:
            return
        now = time.perf_counter()
        if self.is_agents_turn:
            self._seconds += now - self._changed
        elif self._waiting and not self._others:
            self._waited += now - self._changed
        self._changed = now
        self._replying += replying
        self._others += others
        self._waiting += waiting


class ReportedLimit:
    """The time limit of an attempt as one request moves it, which reports when the request waits for its endpoint.

    Attributes:
        waited: seconds, with those of requests that failed.
    """

    def __init__(self, limit: MovableLimit, report: Waits) -> None:
        self.waited = 0.0
        self._limit = limit
        self._report = report
        self._stopped: tuple[float, float] | None = None  # when it would be up, and when this request began to wait
        self._is_first = False  # no other request had stopped it before

    @property
    def seconds(self) -> float:
        return self._limit.seconds

    def expired(self) -> bool:
        return self._limit.expired()

    def when(self) -> float | None:
        """Return the time at which it is up; None while this request waits, and 0 where only another one does."""
        return None if self._stopped is not None else self._limit.when() or 0.0

    def move(self, when: float | None) -> None:
        lost = 0.0
        if when is None:
            self._is_first = self._limit.when() is not None
            self._stopped = self._limit.when() or 0.0, time.monotonic()
        elif self._stopped is not None:
            (before, began), self._stopped = self._stopped, None
            self.waited += when - before
            lost = when - before - (time.monotonic() - began)
        if self._is_first:
            self._limit.move(when)
        self._report(when is None, lost)
