"""kill -9 of the run, of its guest, and of both, at random moments: what is stored in the end is what an uninterrupted run stores."""

import asyncio
import os
import random
import signal
import sys
import time
from bisect import bisect
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from endpoint import Endpoint, Request
from test_guests import adds

import proctor

SCRIPT = Path(__file__).with_name("run_of_tests.py")
KILLS = 9
AT_ONCE = 8
ON_THEIR_WAY = (
    2 * AT_ONCE
)  # the last replies before a kill, which may not have reached the cache, however busy the machine is
TRIALS = 180


def descendants(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            children = [int(child) for child in task.read_text().split()]
            found += [*children, *(one for child in children for one in descendants(child))]
    return found


def is_running(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


class CountingEndpoint(Endpoint):
    """Notes when each reply was sent, by the request that it answers.

    Attributes:
        sent: a time for each reply; requests that nobody waited for any more have none.
        asked: how often each request came.
    """

    def __init__(self) -> None:
        super().__init__(self._noting)
        self.sent: dict[bytes, list[float]] = {}
        self.asked: Counter[bytes] = Counter()
        self._adds = adds(seconds=0.05)

    async def _noting(self, request: Request, writer: Any) -> None:
        self.asked[request.body] += 1
        await self._adds(request, writer)
        self.sent.setdefault(request.body, []).append(time.monotonic())

    def paid_twice(self, kills: list[float]) -> list[bytes]:
        """Return the requests that were sent again after a reply that no kill can have caught on its way."""
        sent = sorted(moment for times in self.sent.values() for moment in times)
        last = [bisect(sent, kill) for kill in kills]
        return [
            body
            for body, times in self.sent.items()
            for moment in times[:-1]
            if not any(end - ON_THEIR_WAY <= sent.index(moment) < end for end in last)
        ]


async def play(url: str, store: str, cache: Path, kill: str, seconds: float) -> float:
    """Start the run, kill what `kill` says after a while, and return when; '' lets it end."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(SCRIPT), url, store, env=environment, stdout=-3, stderr=-3
    )
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds if kill else 300):
            await process.wait()
    below = descendants(process.pid) if process.returncode is None else []
    for pid in ([*below] if "guest" in kill else []) + ([process.pid] if "run" in kill else []):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    killed = time.monotonic()
    if kill == "guest":
        async with asyncio.timeout(300):
            await process.wait()
    await process.wait()
    for pid in below:
        await asyncio.to_thread(wait_for, pid)
    return killed


def wait_for(pid: int) -> None:
    """Wait until a process is no more, for at most 20 seconds."""
    for _ in range(400):
        if not is_running(pid):
            return
        time.sleep(0.05)
    raise AssertionError(f"{pid} is left running")


async def test_a_run_that_is_killed_stores_in_the_end_what_another_stores(tmp_path: Path) -> None:
    rng = random.Random(30)
    kills = ["run", "guest", "run guest"] * (KILLS // 3)
    async with CountingEndpoint() as endpoint:
        ends = [
            await play(endpoint.url, str(tmp_path / "killed.db"), tmp_path, kill, rng.uniform(1.0, 5.0))
            for kill in kills
        ]
        await play(endpoint.url, str(tmp_path / "killed.db"), tmp_path, "", 0)
        asked = len(endpoint.requests)
        of_run = [end for kill, end in zip(kills, ends, strict=True) if "run" in kill]
        assert endpoint.paid_twice(of_run) == []
        assert len(endpoint.asked) == TRIALS
        await play(endpoint.url, str(tmp_path / "whole.db"), tmp_path / "other", "", 0)
    killed, whole = (proctor.open_run("killed", store=str(tmp_path / name)) for name in ("killed.db", "whole.db"))
    assert killed.outcomes == whole.outcomes == {"scored": TRIALS}
    assert scores(killed) == scores(whole)
    assert (
        TRIALS <= asked <= TRIALS + AT_ONCE * sum("run" in kill for kill in kills)
    )  # what was on its way when it was killed


def scores(run: Any) -> dict[tuple[str, int, str], float]:
    found = run.store.verdicts(run.id)
    return {(one.sample_id, one.attempt, one.scorer): getattr(one.result, "points", -1.0) for one in found}
