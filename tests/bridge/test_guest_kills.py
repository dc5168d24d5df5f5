"""kill -9 of the run, of its guest, and of both, at random moments: what is stored in the end is what an uninterrupted run stores."""

import asyncio
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

import simulated
from endpoint import Endpoint, Request
from test_guests import adds

import proctor

SCRIPT = Path(__file__).with_name("run_of_tests.py")
SHORT, LONG = (9, 30, 0.05), (21, 180, 0.3)  # kills, attempts at each sample, and seconds to a reply
SAMPLES = 6
AT_ONCE = 8
ON_THEIR_WAY = 2 * AT_ONCE  # the last replies to a start that is killed, which may not have reached the cache


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
    """Notes which start of the run each reply was for, by the request that it answers; a start has a key of its own.

    Attributes:
        replies: how many replies each start was sent.
        sent: of each request, the start and the place among its replies of every reply.
        asked: how often each request came.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(self._noting)
        self.replies: Counter[str] = Counter()
        self.sent: dict[bytes, list[tuple[str, int]]] = {}
        self.asked: Counter[bytes] = Counter()
        self._adds = adds(seconds=seconds)

    async def _noting(self, request: Request, writer: Any) -> None:
        start = request.headers["authorization"].removeprefix("Bearer ")
        self.asked[request.body] += 1
        await self._adds(request, writer)
        self.sent.setdefault(request.body, []).append((start, self.replies[start]))
        self.replies[start] += 1

    def paid_twice(self, killed: Collection[str]) -> list[bytes]:
        """Return the requests that came again after a reply that was not on its way when its start was killed."""
        return [
            body
            for body, replies in self.sent.items()
            for start, place in replies[:-1]
            if start not in killed or place < self.replies[start] - ON_THEIR_WAY
        ]


async def play(
    url: str, store: str, cache: Path, attempts: int, start: str, kill: str = "", seconds: float = 300.0
) -> None:
    """Start the run, and after a while kill what `kill` says; '' lets it end."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "OPENAI_API_KEY": start}
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(SCRIPT), url, store, str(attempts), env=environment, stdout=-3, stderr=-3
    )
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await process.wait()
    below = descendants(process.pid) if process.returncode is None else []
    for pid in ([*below] if "guest" in kill else []) + ([process.pid] if "run" in kill else []):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    async with asyncio.timeout(300):
        await process.wait()
    for pid in below:
        await asyncio.to_thread(wait_for, pid)


def wait_for(pid: int) -> None:
    """Wait until a process is no more, for at most 20 seconds."""
    for _ in range(400):
        if not is_running(pid):
            return
        time.sleep(0.05)
    raise AssertionError(f"{pid} is left running")


async def test_a_run_that_is_killed_stores_in_the_end_what_another_stores(tmp_path: Path) -> None:
    count, attempts, reply_seconds = LONG if simulated.long else SHORT
    trials = SAMPLES * attempts
    rng = random.Random(30)
    kills = {f"start-{n}": kill for n, kill in enumerate(["run", "guest", "run guest"] * (count // 3))}
    of_run = {start for start, kill in kills.items() if "run" in kill}
    killed_store, whole_store = str(tmp_path / "killed.db"), str(tmp_path / "whole.db")
    async with CountingEndpoint(reply_seconds) as endpoint:
        for start, kill in kills.items():
            await play(endpoint.url, killed_store, tmp_path, attempts, start, kill, rng.uniform(1.0, 5.0))
        await play(endpoint.url, killed_store, tmp_path, attempts, "the-last-start")
        asked = len(endpoint.requests)
        assert endpoint.paid_twice(of_run) == []
        assert len(endpoint.asked) == trials
        await play(endpoint.url, whole_store, tmp_path / "other", attempts, "another-run")
    killed, whole = (proctor.open_run("killed", store=store) for store in (killed_store, whole_store))
    assert killed.outcomes == whole.outcomes == {"scored": trials}
    assert scores(killed) == scores(whole)
    assert trials <= asked <= trials + AT_ONCE * len(of_run)  # what was on its way when it was killed


def scores(run: Any) -> dict[tuple[str, int, str], float]:
    found = run.store.verdicts(run.id)
    return {(one.sample_id, one.attempt, one.scorer): getattr(one.result, "points", -1.0) for one in found}
