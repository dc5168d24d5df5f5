"""Decide how many requests are in flight at an endpoint, and how many are sent per minute.

Without a fixed number the pace adapts. It grows slowly while all places are taken, and shrinks at most once a
second, and only when more in flight makes things worse: a larger share of 429 and 503, or a latency that rises as
fast as the number in flight. A share of stray refusals that is the same at every level changes nothing.
"""

import asyncio
import time
from collections import deque
from math import log2, sqrt
from typing import Literal

import msgspec

from proctor.transport.retry import clock_stopped

START = 16
CEILING = 256
WINDOW_SECONDS = 1.0
WINDOW_REPLIES = 16
CALM_SECONDS = 10.0  # no growth for so long after a cut
ENOUGH = 12  # replies that make a level comparable
FORGET = 0.98
LONGEST_PAUSE_SECONDS = 600.0
UNEXPLAINED = 0.3  # a share of refusals that is worth a try at a lower level

Why = Literal["refusals", "latency", "unknown"]


class PaceBounds(msgspec.Struct, frozen=True, kw_only=True):
    """The limits that a user sets for an endpoint; None means no limit."""

    concurrency: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


class Endpoint:
    """The pace of one address, shared by all callers in a run.

    A caller takes a slot (`in_flight += 1` while `in_flight < room`, else `enter`) and gives it back (`leave`).

    Attributes:
        limit: how many may be in flight.
        room: `limit` while nobody has to wait, else 0: the only number that the quick path reads.
        seen: True once a connection was made.
    """

    def __init__(self, concurrency: int | None = None) -> None:
        self.adaptive = concurrency is None
        self.limit = concurrency or START
        self.room = self.limit
        self.in_flight = 0
        self.seen = False
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._requests: Bucket | None = None
        self._tokens: Bucket | None = None
        self._tokens_a_call = 0.0
        self._open_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._window = _Window(time.monotonic())
        self._levels: dict[int, _Level] = {}
        self._last_cut = float("-inf")
        self._tried_from = 0

    def bound(self, bounds: PaceBounds) -> None:
        """Keep to these limits too; the narrower of two counts."""
        if bounds.concurrency is not None:
            self.limit = bounds.concurrency if self.adaptive else min(self.limit, bounds.concurrency)
            self.adaptive = False
        if bounds.requests_per_minute is not None:
            self._requests = _narrower(self._requests, Bucket(bounds.requests_per_minute, burst_seconds=1.0))
        if bounds.tokens_per_minute is not None:
            self._tokens = _narrower(self._tokens, Bucket(bounds.tokens_per_minute, burst_seconds=10.0))
        self._set_room()

    async def enter(self) -> None:
        """Wait for a slot, first come first served; the time limit of the attempt is stopped meanwhile."""
        place = self.queue()
        try:
            with clock_stopped():
                await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.leave()
            raise

    def queue(self) -> asyncio.Future[None]:
        """Return a future that is done once a slot is taken for the caller; cancel it to leave the queue."""
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        self._pump()
        return place

    def leave(self) -> None:
        """Give a place back."""
        self.in_flight -= 1
        if self._waiting:
            self._pump()

    def answered(self, seconds: float) -> None:
        """Give a place back after a good reply that took so long."""
        self.seen = True
        if self.adaptive:
            self._window.note(self.in_flight, seconds)
            self._review()
        self.leave()

    def refused(self, asked: float | None) -> None:
        """Give a slot back after a 429, 503 or 529; `asked` is how long the server wants us to wait."""
        if self.adaptive:
            self._window.note(self.in_flight, None, asked or 0.0)
            self._review()
        self.leave()

    def pause(self, seconds: float) -> None:
        """Send no new request for that long; a pause of hours is ignored, and the server may refuse requests."""
        if seconds > LONGEST_PAUSE_SECONDS:
            return
        self._open_at = max(self._open_at, time.monotonic() + seconds)
        self._set_room()

    def spent(self, tokens: int) -> None:
        """Book the tokens that a call used, against a limit of tokens per minute."""
        if self._tokens is not None:
            more = tokens - self._tokens_a_call
            self._tokens.take(more)
            self._tokens_a_call += more if not self._tokens_a_call else 0.2 * more

    def close(self) -> None:
        """Forget the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _pump(self) -> None:
        now = time.monotonic()
        while self._waiting and self.in_flight < self.limit:
            if self._waiting[0].done():  # cancelled while waiting
                self._waiting.popleft()
                continue
            wait = self._wait(now)
            if wait > 0:
                self._pump_later(wait)
                break
            self.in_flight += 1
            if self._requests is not None:
                self._requests.take(1)
            if self._tokens is not None:
                self._tokens.take(self._tokens_a_call)
            self._waiting.popleft().set_result(None)
        self._set_room()

    def _wait(self, now: float) -> float:
        wait = self._open_at - now
        if self._requests is not None:
            wait = max(wait, self._requests.wait(now, 1))
        if self._tokens is not None:
            wait = max(wait, self._tokens.wait(now, self._tokens_a_call))
        return wait

    def _pump_later(self, seconds: float) -> None:
        self.close()
        self._timer = asyncio.get_running_loop().call_later(seconds + 0.001, self._pump)

    def _set_room(self) -> None:
        free = (
            not self._waiting
            and self._requests is None
            and self._tokens is None
            and (not self._open_at or self._open_at <= time.monotonic())
        )
        self.room = self.limit if free else 0

    def _review(self) -> None:
        """At the end of a window: cut, hold or grow."""
        now, window = time.monotonic(), self._window
        if now - window.started < WINDOW_SECONDS or window.count < min(WINDOW_REPLIES, self.limit):
            return
        level = _level_of(window.in_flight)
        for other in self._levels.values():
            other.fade()
        here = self._levels.setdefault(level, _Level())
        here.add(window)
        why = self._why_worse(here, window)
        if why is not None:
            self._cut(now, window, why)
        elif self._tried_from:  # fewer in flight did not help, so they were not the cause: back to where we were
            if window.share >= UNEXPLAINED:
                self.limit = self._tried_from
            self._tried_from = 0
        elif window.in_flight >= self.limit and now - self._last_cut >= CALM_SECONDS:
            self.limit = min(CEILING, self.limit + max(1, self.limit // 8))
        self._window = _Window(now)
        self._set_room()

    def _cut(self, now: float, window: "_Window", why: Why) -> None:
        if now - self._last_cut < WINDOW_SECONDS:
            return
        self._last_cut = now
        self._tried_from = self.limit if why == "unknown" else 0
        kept = 0.5 if window.share >= UNEXPLAINED else 0.75
        self.limit = max(1, int(min(self.limit, window.in_flight) * kept))
        if window.asked:
            self.pause(window.asked)

    def _why_worse(self, here: "_Level", window: "_Window") -> Why | None:
        """Return whether more in flight made it worse; "unknown" for many refusals that no other level explains yet."""
        known = [level for level in self._levels.values() if level is not here and level.count >= ENOUGH]
        lower = [level for level in known if level.in_flight <= 0.85 * here.in_flight]
        higher = [level for level in known if level.in_flight >= here.in_flight / 0.85]
        if any(_rises(level.share, window.share, level.count, window.count) for level in lower):
            return "refusals"
        if any(_slows(level, here.in_flight, window) for level in lower):
            return "latency"
        if window.share < UNEXPLAINED or lower or here.in_flight == 1:
            return None
        if any(_rises(window.share, level.share, window.count, level.count) for level in higher):
            return "refusals"
        return None if higher else "unknown"


class Bucket:
    """A limit per minute, spread evenly; what was not used is kept for `burst_seconds`."""

    def __init__(self, per_minute: float, *, burst_seconds: float) -> None:
        self.per_second = per_minute / 60.0
        self._most = max(1.0, self.per_second * burst_seconds)
        self._left = self._most
        self._at = time.monotonic()

    def wait(self, now: float, amount: float) -> float:
        """Return the seconds until that many may go; more than the burst waits for a full bucket only."""
        self._left = min(self._most, self._left + (now - self._at) * self.per_second)
        self._at = now
        return max(0.0, (min(amount, self._most) - self._left) / self.per_second)

    def take(self, amount: float) -> None:
        """Take that many; taking more than there are makes the next caller wait longer."""
        self._left -= amount


class _Level:
    """What was seen with about so many in flight; old observations fade."""

    def __init__(self) -> None:
        self.in_flight = 0
        self.replies = 0.0
        self.refused = 0.0
        self.seconds = 0.0

    @property
    def count(self) -> float:
        return self.replies + self.refused

    @property
    def share(self) -> float:
        return self.refused / self.count if self.count else 0.0

    @property
    def latency(self) -> float:
        return self.seconds / self.replies if self.replies else 0.0

    def add(self, window: "_Window") -> None:
        self.in_flight = window.in_flight
        self.replies += window.replies
        self.refused += window.refused
        self.seconds += window.seconds

    def fade(self) -> None:
        self.replies *= FORGET
        self.refused *= FORGET
        self.seconds *= FORGET


class _Window(_Level):
    """What happened since the last review; `asked` is the longest wait that a refusal named."""

    def __init__(self, started: float) -> None:
        super().__init__()
        self.started = started
        self.asked = 0.0

    def note(self, in_flight: int, seconds: float | None, asked: float = 0.0) -> None:
        self.in_flight = max(self.in_flight, in_flight)
        if seconds is None:
            self.refused += 1
            self.asked = max(self.asked, asked)
        else:
            self.replies += 1
            self.seconds += seconds


def _level_of(in_flight: int) -> int:
    return int(4 * log2(max(1, in_flight)))


def _rises(low: float, high: float, low_count: float, high_count: float) -> bool:
    """Return True if a share is larger at the higher level, and by more than chance (three standard errors)."""
    if high <= low + 0.05 or high < 1.3 * low:
        return False
    pooled = (low * low_count + high * high_count) / (low_count + high_count)
    error = sqrt(pooled * (1 - pooled) * (1 / low_count + 1 / high_count))
    return high - low >= 3 * error


def _slows(low: _Level, in_flight: int, window: _Window) -> bool:
    """Return True if more in flight only waits longer: the latency rose as much as the number did."""
    if min(low.replies, window.replies) < ENOUGH or not low.latency:
        return False
    times = in_flight / low.in_flight
    return times >= 1.4 and window.latency >= 0.95 * times * low.latency


def _narrower(one: Bucket | None, other: Bucket) -> Bucket:
    return other if one is None or other.per_second < one.per_second else one
