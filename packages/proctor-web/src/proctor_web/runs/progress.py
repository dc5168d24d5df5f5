"""Follow a run that is under way: one reader of the store for each run, however many browsers watch it."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Literal

import msgspec
from starlette.concurrency import run_in_threadpool

from proctor.api import numbers
from proctor.core.digest import digest_bytes
from proctor.core.run import Estimate, RunRecord
from proctor.core.task import Store
from proctor.core.trajectory import Usage
from proctor.core.trial import Outcome
from proctor_web.operations import RunReference
from proctor_web.runs.launcher import Launcher
from proctor_web.workspace import NotFound, Workspace

EVERY_SECONDS = 1.0
START_SECONDS = 0.3  # while it starts, which is short
REST = 25  # after each look at the store, this many times as long as it took: watching costs a run at most 4 %
RECENT_SECONDS = 2.0
SMALL = 20_000  # trials whose main number no page waits for
WINDOW_SECONDS = 60.0  # of which the rate is taken

LiveState = Literal["starting", "running", "cut_off", "not_started", "stopped", "finished", "inconclusive", "copying"]
UNDER_WAY: frozenset[LiveState] = frozenset({"starting", "running"})


class RunProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is.

    Attributes:
        state: `starting` until the process has opened the run, `cut_off` where the process that wrote it is gone.
        done: trials that have ended.
        rate: trials a second of the last minute; None until that is known.
        headline: the main number so far; samples come in random order unless the run says otherwise.
        said: the last lines that the process printed, where it was started from here.
        code: what the process ended with, where that is known.
    """

    run: str
    state: LiveState
    planned: int = 0
    done: int = 0
    outcomes: Mapping[Outcome, int] = {}
    rate: float | None = None
    seconds_left: float | None = None
    seconds: float = 0.0
    headline: Estimate | None = None
    usage: Usage = Usage()
    said: tuple[str, ...] = ()
    code: int | None = None

    @property
    def failures(self) -> Mapping[Outcome, int]:
        """Return how many trials failed, by how."""
        return {outcome: count for outcome, count in self.outcomes.items() if outcome != "scored"}

    @property
    def is_under_way(self) -> bool:
        return self.state in UNDER_WAY


def get_progress(workspace: Workspace, given: RunReference) -> RunProgress:
    """Return how far a run is, with its rate and the time left while it is watched or asked for repeatedly."""
    return workspace.kept(Watches).of(given.run).look(quick=True)


def state_of(workspace: Workspace, store: Store, record: RunRecord) -> LiveState:
    """Return the state of a run, as far as this machine can tell."""
    if store.writer(record.id) is not None:
        return "running"  # also one that is resumed, whose record is of the time before
    launcher = workspace.kept(Launcher)
    start = launcher.last(store, record.id) if launcher.is_alive(store, record.id) else None
    if start is not None and start.before == digest_of(record):
        return "starting"
    return "cut_off" if record.state == "running" else record.state


def ended(outcomes: Mapping[Outcome, int]) -> int:
    """Return how many trials have ended; those that were not played are run when the run is resumed."""
    return sum(count for outcome, count in outcomes.items() if outcome not in ("skipped", "cancelled"))


def digest_of(record: RunRecord) -> str:
    return digest_bytes(msgspec.json.encode(record))


class Watch:
    """Looks at a run at intervals while there are followers."""

    def __init__(self, workspace: Workspace, reference: str, pool: Executor) -> None:
        self._workspace = workspace
        self._reference = reference
        self._pool = pool
        self._lock = threading.Lock()  # one refresh at a time
        self._seen: deque[tuple[float, int]] = deque(maxlen=600)
        self._headline: Estimate | None = None
        self._headline_again = 0.0  # when it is worth to compute it again
        self._latest: RunProgress | None = None
        self._looked = 0.0
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.followers = 0

    def look(self, *, quick: bool = False) -> RunProgress:
        """Read the store; where it is `quick`, the main number of a large run is that of the last look.

        Raises:
            NotFound: there is neither such a run nor a start of one.
        """
        self._looked = time.monotonic()
        self._latest = seen = self._read(quick=quick)
        return seen

    def _read(self, *, quick: bool) -> RunProgress:
        launcher = self._workspace.kept(Launcher)
        try:
            store, record, _ = self._workspace.find_run(self._reference)
        except NotFound:
            return self._before(launcher)
        state = state_of(self._workspace, store, record)
        start = launcher.last(store, record.id)
        begun = start.started if start is not None else record.created
        outcomes = store.outcomes(record.id)
        done = ended(outcomes)
        rate = self._rate(done) if state in UNDER_WAY else None
        return RunProgress(
            run=self._reference,
            state=state,
            planned=record.planned,
            done=done,
            outcomes=outcomes,
            rate=rate,
            seconds_left=max(0, record.planned - done) / rate if rate else None,
            seconds=record.seconds if state not in UNDER_WAY else time.time() - begun,
            headline=self._main_number(store, record, due=not quick or done < SMALL) if done else None,
            usage=store.usage(record.id),
            said=tuple(launcher.log(store, record.id)),
            code=start.code if start is not None else None,
        )

    def recent(self) -> RunProgress:
        """Return what was seen last; where that is long ago, the next caller gets what is looked up meanwhile."""
        if self._latest is None or not self._latest.is_under_way:  # the run may have been resumed since
            return self.look(quick=True)
        if time.monotonic() - self._looked > RECENT_SECONDS and not self._lock.locked():
            self._pool.submit(self._refresh)
        return self._latest

    async def follow(self) -> AsyncIterator[RunProgress]:
        """Yield how far the run is whenever that was looked up, until it is over."""
        self.followers += 1
        try:
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._poll())
            seen = None
            while True:
                if self._latest is not None and self._latest is not seen:
                    seen = self._latest
                    yield seen
                    if not seen.is_under_way:
                        return
                elif self._task.done():
                    self._task.result()  # raises what ended it
                    return
                else:
                    await self._changed.wait()
        finally:
            self.followers -= 1

    async def _poll(self) -> None:
        try:
            while self.followers:
                begun = time.monotonic()
                now = await run_in_threadpool(self.look)
                took = time.monotonic() - begun
                self._wake()
                if not now.is_under_way:
                    return
                least = EVERY_SECONDS if now.state == "running" else START_SECONDS
                await asyncio.sleep(max(least, REST * took))
        finally:
            self._wake()

    def _main_number(self, store: Store, record: RunRecord, *, due: bool) -> Estimate | None:
        begun = time.monotonic()
        if record.scorers and due and begun > self._headline_again:
            self._headline = numbers.headline(record, store)
            self._headline_again = time.monotonic() + REST * (time.monotonic() - begun)
        return self._headline

    def _refresh(self) -> None:
        with self._lock:
            if time.monotonic() - self._looked > RECENT_SECONDS:
                self.look()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _rate(self, done: int) -> float | None:
        now = time.monotonic()
        self._seen.append((now, done))
        while now - self._seen[0][0] > WINDOW_SECONDS:
            self._seen.popleft()
        since, before = self._seen[0]
        return (done - before) / (now - since) if now > since and done > before else None

    def _before(self, launcher: Launcher) -> RunProgress:
        """Return the progress of a run that its process has not opened yet, or never did."""
        for name, store in self._workspace.stores.items():
            run = self._reference.partition("@")[0]
            start = launcher.last(store, run)
            if start is not None and self._reference in (run, f"{run}@{name}"):
                is_alive = launcher.is_alive(store, run)
                return RunProgress(
                    run=self._reference,
                    state="starting" if is_alive else "not_started",
                    seconds=time.time() - start.started if is_alive else 0.0,
                    said=tuple(launcher.log(store, run)),
                    code=start.code,
                )
        raise NotFound("There is no run '{run}'.", run=self._reference)


class Watches:
    """The watches of a workspace, by run."""

    MOST = 200

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="proctor-watch")
        self._watch_by_reference: dict[str, Watch] = {}

    def of(self, reference: str) -> Watch:
        """Return the watch of a run; those nobody follows are forgotten when there are many."""
        known = self._watch_by_reference
        if reference not in known:
            if len(known) >= self.MOST:
                for idle in [name for name, watch in [*known.items()] if not watch.followers]:
                    del known[idle]
            known[reference] = Watch(self._workspace, reference, self._pool)
        return known[reference]

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._watch_by_reference.clear()
