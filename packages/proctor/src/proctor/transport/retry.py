"""When a request is sent again, and what a trial keeps of it.

Sent again: no connection, no name (DNS), no secure connection (TLS), no reply in time, a reply that breaks off or
is no JSON, and the statuses 408, 409, 425, 429 and 5xx. Not sent again: every other status from 300 on.
"""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from msgspec.structs import replace

from proctor.core.around import around
from proctor.core.trial import FailedRequest

AGAIN = frozenset({408, 409, 425, 429})


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How often, and for how long, a request is sent again.

    Attributes:
        attempts: requests at most, with the first; 1 sends nothing again.
        attempts_at_first: the same until there was a connection once: an address that never worked is a
            mistake more often than an outage.
        wait_seconds: before the second request; doubles each time, and is cut by up to a half at random.
        longest_wait_seconds: where the doubling ends. A server that says when to come back is obeyed.
        budget_seconds: no request is sent again later than this after the first.
    """

    attempts: int = 10
    attempts_at_first: int = 3
    wait_seconds: float = 0.5
    longest_wait_seconds: float = 30.0
    budget_seconds: float = 600.0

    def wait(self, failed: int, asked: float | None) -> float:
        """Seconds to wait after so many failed requests; `asked` is what the server said.

        >>> RetryPolicy().wait(3, None) <= 2.0, 5.0 <= RetryPolicy().wait(1, 5.0) <= 5.5
        (True, True)
        """
        if asked:
            return asked * random.uniform(1.0, 1.1)  # noqa: S311 - so that not all come back at once
        longest = min(self.longest_wait_seconds, self.wait_seconds * 2.0 ** (failed - 1))
        return longest * random.uniform(0.5, 1.0)  # noqa: S311


IN_A_BATCH = "batch"  # the cause of a wait that is none of a failure


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """A request that waits to be sent again, or for its batch: the host, the cause, until when (monotonic), and how long the server asked for."""

    host: str
    cause: str
    status: int | None
    until: float
    asked: float | None = None


def record_calls() -> list[FailedRequest]:
    """Begin a list that gets every request of this task that failed, in order."""
    requests: list[FailedRequest] = []
    around.set(replace(around.get(), failed=requests))
    return requests


def keep(call: FailedRequest) -> None:
    """Add a failed request to the list of the trial; nothing outside a trial."""
    requests = around.get().failed
    if requests is not None:
        requests.append(call)


@contextmanager
def clock_stopped(already: float = 0.0) -> Iterator[None]:
    """Stop the time limit of the attempt inside: waiting for an endpoint is not the agent's time.

    `already` are seconds lost before, in a request that failed.
    """
    limit = around.get().deadline
    when = limit.when() if limit is not None else None
    if limit is None or when is None:  # no limit, or someone above has stopped it
        yield
        return
    started = time.monotonic()
    limit.move(None)
    try:
        yield
    finally:
        limit.move(when + already + time.monotonic() - started)
