"""What one server works on: its stores, the folders of agents and eval sets, and what is kept while it runs."""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

from proctor.config import settings, store_url
from proctor.core.errors import BadInput, StoreUnreadable
from proctor.core.run import RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.registry import unknown
from proctor_web.users.ledger import Ledger

T = TypeVar("T")


@runtime_checkable
class Closable(Protocol):
    """Something that holds more than memory, and ends with the server."""

    def close(self) -> None:
        """End it; nothing is lost by that."""


class NotFound(BadInput):
    """What an address names is not there."""


class StillComputing(Exception):
    """What was asked for takes longer than a page waits; it goes on, and the next request may find it done."""


class Found(NamedTuple):
    """A run, the store it is in, and how addresses name it: by its id, followed by @STORE where several stores are open."""

    store: Store
    record: RunRecord
    reference: str


class Workspace:
    """What one server works on.

    Attributes:
        stores: the stores that could be opened, by name.
        broken: those that could not, and why.
        agents: the folder of agents that may be started, None for none.
        evalsets: the folder of eval-set files, None for none.
        read_only: nothing may be changed or started.
        addresses: the whole address of each store whose `url` leaves out a password, by that `url`.
        ledger: of the server that serves it, with the users and what they did.
    """

    def __init__(
        self,
        stores: Mapping[str, Store],
        *,
        broken: Mapping[str, Sentence] | None = None,
        agents: Path | None = None,
        evalsets: Path | None = None,
        read_only: bool = False,
        addresses: Mapping[str, str] | None = None,
    ) -> None:
        self.stores = dict(stores)
        self.addresses = dict(addresses or {})
        self.broken = dict(broken or {})
        self.agents = agents
        self.evalsets = evalsets
        self.read_only = read_only
        self.ledger: Ledger | None = None
        self._kept: dict[object, object] = {}
        self._lock = threading.RLock()
        self._is_closed = False

    def reference(self, store: str, run_id: str) -> str:
        """Return how addresses name a run."""
        return run_id if len(self.stores) == 1 else f"{run_id}@{store}"

    def first_address(self) -> str:
        store = next(iter(self.stores.values()))
        return self.addresses.get(store.url, store.url)

    def find_run(self, reference: str) -> Found:
        """Return the run that an address names.

        Raises:
            NotFound: no open store has it.
        """
        run_id, separator, name = reference.partition("@")
        if separator and name not in self.stores:
            raise NotFound(unknown("store", name, [*self.stores], paths=False).sentence)
        missing: BadInput | None = None
        for store_name in [name] if separator else self.stores:
            try:
                record = self.stores[store_name].run(run_id)
            except BadInput as error:
                missing = missing or error
            else:
                return Found(self.stores[store_name], record, self.reference(store_name, run_id))
        if missing is None:
            raise NotFound("No store is open.")
        if isinstance(missing, StoreUnreadable):
            raise missing
        raise NotFound(missing.sentence)

    def runs(self) -> tuple[Sequence[Found], Mapping[str, Sentence]]:
        """Return the runs of all stores, the newest first, and the stores that cannot be read, with the reason.

        Raises:
            StoreUnreadable: none can be read.
        """
        found: list[Found] = []
        broken = dict(self.broken)
        for name, store in self.stores.items():
            try:
                found += [Found(store, record, self.reference(name, record.id)) for record in store.runs()]
            except BadInput as error:
                broken[name] = error.sentence
            except sqlite3.Error as error:  # it broke while it was open
                broken[name] = say("The store cannot be read: {error}.", error=error)
        if self.stores and broken.keys() >= self.stores.keys():
            raise StoreUnreadable(next(iter(broken.values())))
        return sorted(found, key=lambda one: -one.record.created), broken

    def kept(self, make: Callable[["Workspace"], T]) -> T:
        """Return what `make` makes of this workspace: made at the first call, the same from then on; its `close` ends it with the workspace.

        Raises:
            BadInput: the workspace was closed; nobody would close what is made now.
        """
        with self._lock:
            if self._is_closed:
                raise BadInput("The server is ending.")
            if make not in self._kept:
                self._kept[make] = make(self)
            value: T = self._kept[make]  # type: ignore[assignment]  # made by `make`
            return value

    def close(self) -> None:
        """Close what is kept, the last made first, then the stores; runs that were started go on."""
        with self._lock, ExitStack() as stack:
            self._is_closed = True
            for store in self.stores.values():
                stack.callback(store.close)
            for kept in self._kept.values():
                if isinstance(kept, Closable):
                    stack.callback(kept.close)
            self._kept = {}


def open_workspace(
    urls: Sequence[str | None] = (None,),
    *,
    agents: Path | None = None,
    evalsets: Path | None = None,
    read_only: bool = False,
    needs_first: bool = False,
) -> Workspace:
    """Open the stores at these addresses (None is the usual one); one that is broken does not keep the others away.

    Raises:
        BadInput: a folder is not there, or no store can be opened, or not the first one where it is needed.
    """
    from proctor.stores import open_store

    for folder in (agents, evalsets):
        if folder is not None and not folder.is_dir():
            raise BadInput("There is no folder {path}.", path=folder)
    stores: dict[str, Store] = {}
    broken: dict[str, Sentence] = {}
    addresses: dict[str, str] = {}
    first: BadInput | None = None
    for name, url in zip(_names(urls), urls, strict=True):
        try:
            asked = url or store_url(None, settings())
            stores[name] = store = open_store(asked)
            if asked is not None and "://" in asked:
                addresses[store.url] = asked
        except BadInput as error:
            if needs_first and not stores and not broken:
                raise
            first, broken[name] = first or error, error.sentence
    if first is not None and not stores:
        raise first
    return Workspace(
        stores,
        broken=broken,
        agents=agents.resolve() if agents else None,
        evalsets=evalsets.resolve() if evalsets else None,
        read_only=read_only,
        addresses=addresses,
    )


def _names(urls: Sequence[str | None]) -> Iterator[str]:
    """Yield a name for each store: that of its file or database, with a number where it is taken."""
    seen: set[str] = set()
    for url in urls:
        scheme, separator, rest = (url or "").partition("://")
        if separator and scheme != "sqlite":  # a user and a password may come before, and options after it
            rest = rest.partition("?")[0].rpartition("@")[2].rpartition("/")[2] or scheme
        stem = Path(rest if separator else url).stem.replace("@", "-") if url else "default"
        name = next(
            candidate
            for candidate in (stem, *(f"{stem}-{number}" for number in range(2, 100)))
            if candidate not in seen
        )
        seen.add(name)
        yield name
