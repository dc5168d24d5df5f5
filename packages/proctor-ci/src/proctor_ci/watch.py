"""Watch agents: run tiers when they are due or something changed, and tell people what they should know.

What is known is written to one file before and after each run. After a crash the run that was cut off is resumed, what was due
meanwhile is run once, and nothing is run twice at once: the lock is shared with the process that runs.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from proctor.api import Run, at
from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.runtime.alive import is_alive
from proctor.runtime.files import write_whole
from proctor.runtime.folders import data_folder
from proctor_ci import signals
from proctor_ci.alerts import AlertHistory, assess, value_of
from proctor_ci.channels import Courier, Letter, LetterBox, Send, addresses, send
from proctor_ci.firing import Child, Fired, Order
from proctor_ci.watch_file import WatchFile, WatchRule

POLL_SECONDS = 5.0  # a jump of the clock is seen at the next one
JUMP_SECONDS = 86_400.0  # that the clock goes back before what is due is counted from the new time
ADDRESS_SECONDS = 300.0  # between two requests to an address that is a signal
LEAVING_SECONDS = 20.0  # for alerts that are being delivered at the end
HANDOVER_SECONDS = 90.0  # that a run of a watcher that died gets to end
Tell = Callable[[Sentence], None]


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """A run that began, and why."""

    began: float
    cause: Sentence


class KnownWatch(AlertHistory, kw_only=True):
    """What is known of a watch.

    Attributes:
        handled: what was due until then was run.
        seen: the signals as they were at the last run.
        ended: when the last run did, and its `result`.
    """

    handled: float = 0.0
    seen: dict[str, str] = msgspec.field(default_factory=dict)
    pending: Pending | None = None
    ended: float = 0.0
    result: Sentence | None = None


class State(msgspec.Struct, kw_only=True):
    """All that is kept between two starts."""

    watches: dict[str, KnownWatch] = {}
    letters: list[Letter] = []


def state_path(file: WatchFile) -> Path:
    """Return where the state of a file of watches is kept."""
    return data_folder() / "watch" / f"{digest_bytes(str(file.path.resolve()).encode())}.json"


def read_state(file: WatchFile) -> State:
    """Return the state as it is on disk.

    Raises:
        BadInput: it cannot be read.
    """
    path = state_path(file)
    try:
        return msgspec.json.decode(path.read_bytes(), type=State)
    except FileNotFoundError:
        return State()
    except (OSError, msgspec.DecodeError) as error:
        raise BadInput(
            "{path} cannot be read: {error}. Without it, what was due before now is forgotten; delete it to begin again.",
            path=path,
            error=error,
        ) from None


class FileWatcher:
    """Runs the watches of a file; in one process at a time."""

    def __init__(
        self,
        file: WatchFile,
        *,
        store: str | None = None,
        tell: Tell,
        now: Callable[[], float] = time.time,
        fire: "Callable[[Order], Fired] | None" = None,
        send: Send = send,
    ) -> None:
        """Read the state.

        Args:
            store: where runs are kept.
            tell: says what happens.
            now: the clock.
            fire: runs an order; by default in a process of its own.

        Raises:
            BadInput: a channel's address is none.
        """
        self._file, self._url, self._tell, self._now = file, store, tell, now
        self._fire = fire or self._in_a_child
        self._state = read_state(file)
        self._lock = threading.RLock()  # protects the state
        self._stop = threading.Event()
        self._child: Child | None = None
        self._handle: int | None = None
        self._changing: dict[tuple[str, str], str] = {}  # a signal that is another one, until it holds still
        self._asked: dict[str, tuple[float, str]] = {}
        self._mute: set[str] = set()  # signals that cannot be seen, which was said
        self.courier = Courier(
            addresses(file.channels),
            LetterBox(self._state.letters, self._save, self._lock),
            quiet=file.quiet,
            now=now,
            tell=tell,
            send=send,
        )

    def run(self, *, once: bool = False, name: str | None = None) -> bool:
        """Watch until `stop` is called; returns whether an alert is on.

        Args:
            once: only do what is due now.
            name: only run this watch, now.

        Raises:
            BadInput: another process watches by this file.
        """
        with self._alone():
            state = read_state(self._file)  # now nobody else writes it
            self._state.watches, self._state.letters[:] = state.watches, state.letters
            self.courier.start()
            try:
                if name is not None:
                    self._run(self._watch(name), say("asked for"))
                else:
                    self.step(hasty=once)
                    while not once and not self._stop.wait(POLL_SECONDS):
                        self.step()
            finally:
                self.courier.stop(LEAVING_SECONDS)
        return any(self._known(watch).on for watch in self._file.watches)

    def stop(self) -> None:
        """End: what is running is kept, and resumed at the next start."""
        self._stop.set()
        if self._child is not None:
            self._child.stop()

    def step(self, *, hasty: bool = False) -> None:
        """Run what is due now; `hasty` runs at a change that may not be complete yet."""
        for watch in self._file.watches:
            if self._stop.is_set():
                return
            cause = self._cause(watch, hasty=hasty)
            if cause is not None:
                self._run(watch, cause)

    def _cause(self, watch: WatchRule, *, hasty: bool) -> Sentence | None:
        known, now = self._known(watch), self._now()
        if known.pending is not None:
            return say("resumed: {cause}", cause=known.pending.cause)
        if known.handled > now + JUMP_SECONDS:  # of a smaller one nothing is repeated, and it is soon over
            self._tell(say("{watch}: the clock went back; what is due is counted from now.", watch=watch.name))
            known.handled = now
            self._save()
        if watch.name in self._file.schedules and self._file.schedules[watch.name].after(known.handled) <= now:
            return say("its time")
        for signal in watch.signals:
            if self._has_changed(watch, known, signal, hasty=hasty):
                return say("{signal} changed", signal=signal.partition("?")[0])
        return None

    def _has_changed(self, watch: WatchRule, known: KnownWatch, signal: str, *, hasty: bool) -> bool:
        state = self._look(signal)
        if state is None:
            return False
        if signal not in known.seen:
            known.seen[signal] = state
            self._save()
        if state == known.seen[signal]:
            return False
        if hasty or self._changing.get((watch.name, signal)) == state:
            return True
        self._changing[watch.name, signal] = state  # an editor or a checkout may still write
        return False

    def _look(self, signal: str) -> str | None:
        asked, before = self._asked.get(signal, (0.0, ""))
        if before and signal.startswith(signals.SCHEMES) and 0 <= self._now() - asked < ADDRESS_SECONDS:
            return before
        try:
            state = signals.look(signal)
        except BadInput as error:
            if signal not in self._mute:
                self._tell(error.sentence)
            self._mute.add(signal)
            return None
        self._mute.discard(signal)
        self._asked[signal] = self._now(), state
        return state

    def _run(self, watch: WatchRule, cause: Sentence) -> None:
        known, now = self._known(watch), self._now()
        pending = known.pending or Pending(began=now, cause=cause)
        known.pending, known.handled = pending, now
        known.seen = {signal: state for signal in watch.signals if (state := self._look(signal)) is not None}
        self._save()
        self._tell(say("{watch}: begins ({cause})", watch=watch.name, cause=cause))
        url = self._url
        store: Store | None = None
        try:
            store = at(url)
            fired = self._fire(Order(watch=watch, store=store.url, began=pending.began))
        except (BadInput, sqlite3.Error, OSError) as error:  # the store went away; it may come back
            fired = Fired(error=error.sentence if isinstance(error, BadInput) else say("{error}", error=str(error)))
        if fired.stopped and self._stop.is_set():
            self._tell(say("{watch}: stopped; it goes on from there at the next start.", watch=watch.name))
            return
        self._conclude(watch, known, fired, store, pending)
        if store is not None:
            store.close()

    def _conclude(
        self, watch: WatchRule, known: KnownWatch, fired: Fired, store: Store | None, pending: Pending
    ) -> None:
        schedule = self._file.schedules.get(watch.name)
        a_year = schedule.a_year(self._now()) if schedule is not None else 365.0
        values = {"began": pending.began, "now": self._now(), "a_year": a_year}
        numbers: list[str] = []
        with self._lock:
            try:
                runs = [] if store is None else [Run(store.run(id), store) for id in fired.runs]
                numbers = [f"{run.id} {value_of(run)}" for run in runs]
                notices = assess(watch, known, fired, store, **values)
            except (BadInput, sqlite3.Error, OSError) as error:  # a store that is gone by now
                fired = Fired(error=error.sentence if isinstance(error, BadInput) else say("{error}", error=str(error)))
                notices = assess(watch, known, fired, None, **values)
            known.pending, known.ended = None, self._now()
            known.result = _result(fired, numbers)
            self.courier.post(notices)
            self._save()
        self._tell(say("{watch}: {result}", watch=watch.name, result=known.result))
        for notice in notices:
            self._tell(say("{watch}: alert: {text}", watch=watch.name, text=notice.text) if not notice.is_over else say("{watch}: over: {text}", watch=watch.name, text=notice.text))  # fmt: skip

    def _in_a_child(self, order: Order) -> Fired:
        self._child = Child(order, hidden=self._file.channels, inherited=self._handle)
        try:
            if self._stop.is_set():
                self._child.stop()
            return self._child.wait()
        finally:
            self._child = None

    def _watch(self, name: str) -> WatchRule:
        from proctor.registry import unknown

        names = [watch.name for watch in self._file.watches]
        if name not in names:
            raise unknown("watch", name, names, paths=False)
        return self._file.watches[names.index(name)]

    def _known(self, watch: WatchRule) -> KnownWatch:
        if watch.name not in self._state.watches:
            self._state.watches[watch.name] = KnownWatch(handled=self._now())  # nothing was due before it was there
        return self._state.watches[watch.name]

    def _save(self) -> None:
        with self._lock:
            path = state_path(self._file)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, msgspec.json.encode(self._state, enc_hook=str), durable=True)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the lock of the file of watches; a run of a watcher that died is waited for."""
        from filelock import lock_descriptor

        path = state_path(self._file).with_suffix(".lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            until = time.monotonic() + HANDOVER_SECONDS
            is_said = False
            while not lock_descriptor(handle, blocking=False):
                holder = os.pread(handle, 20, 0).decode(errors="replace").strip()
                if not holder.isdigit() or is_alive(int(holder)) or time.monotonic() > until or self._stop.is_set():
                    raise BadInput(
                        "{path} is watched by process {process} already.", path=self._file.path, process=holder or "?"
                    )
                if not is_said:
                    self._tell(say("The watch before this one ended suddenly; its run is waited for."))
                is_said = True
                time.sleep(0.1)
            os.ftruncate(handle, 0)
            os.pwrite(handle, str(os.getpid()).encode(), 0)
            self._handle = handle
            yield
        finally:
            self._handle = None
            os.close(handle)


def _result(fired: Fired, numbers: Sequence[str]) -> Sentence:
    if fired.error is not None:
        return say("failed: {why}", why=fired.error)
    decided = [decision for decision in fired.decisions if decision is not None]
    if not decided:
        return say("ended: {runs}", runs=", ".join(numbers))
    worst = "no_go" if "no_go" in decided else "inconclusive" if "inconclusive" in decided else "go"
    shown: Mapping[str, Sentence] = {"go": say("GO"), "no_go": say("NO-GO"), "inconclusive": say("INCONCLUSIVE")}
    return say("ended: {decision}, {runs}", decision=shown[worst], runs=", ".join(numbers))
