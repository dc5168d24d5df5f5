"""Keep replies from one run to the next, so that the same request is paid for once.

The key is a digest of the request, the endpoint, the model and the number of the attempt, and of how often the same was
asked in this attempt before: a model that is asked five times at temperature 1 gives five replies, this time and the next.
Only complete replies are kept, never requests, headers or keys. The file is `replies-1.db` in the user's cache folder;
workers on other machines use the one of the machine that owns the run.

A reply from the cache costs nothing, so its step has an empty `Usage` and no budget is charged; the step keeps the times
that the model took. The trial's notes say how many hits there were, and what they would have cost in tokens.

    with opened(agents=True, warn=print):      # a run; judges use the cache with or without `agents`
        use = begin(attempt)                   # a trial
        await model.complete(...)
        use.notes()
"""

import logging
import secrets
import sqlite3
import threading
import zlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cached_property
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from proctor.chat.dialect import Json, ModelReply
from proctor.chat.messages import ChatReply, to_reply
from proctor.config import settings
from proctor.core.digest import digest
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import NOTHING, Usage
from proctor.models._cache_file import DAMAGED, CacheFile, set_aside
from proctor.transport.faults import RequestFault
from proctor.transport.repair import strict

FILE = "replies-1.db"  # another number when the layout changes
MOST_BYTES = 256_000_000  # of one reply, unpacked

T = TypeVar("T")
Warn = Callable[[Sentence], None]


class CachedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a model replied, and how long it took for that."""

    said: ModelReply
    seconds: float
    first_token_seconds: float | None = None


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """An answer in the file; versions up to 2026-11 kept the reply itself."""

    seconds: float
    first_token_seconds: float | None = None
    said: ModelReply | None = None
    reply: ChatReply | None = None

    def answer(self) -> CachedAnswer | None:
        said = to_reply(self.reply) if self.said is None and self.reply is not None else self.said
        if said is None:
            return None
        return CachedAnswer(said=said, seconds=self.seconds, first_token_seconds=self.first_token_seconds)


_decoder = msgspec.json.Decoder(_Kept)


class Use:
    """Counts what one trial asks the cache for."""

    def __init__(self, attempt: int, trial: str = "", created: float = 0.0) -> None:
        self.attempt = attempt
        self.trial = trial
        self.created = created
        self.hits = 0
        self.saved = NOTHING
        self._times_by_request: dict[str, int] = {}

    def key(self, request: str) -> str:
        """Return the key of a request, a new one each time it is repeated."""
        times = self._times_by_request[request] = self._times_by_request.get(request, 0) + 1
        return f"{request}-{self.attempt}-{times}"

    def hit(self, usage: Usage) -> None:
        """Count a reply that came from the cache."""
        self.hits += 1
        self.saved = self.saved + usage

    def notes(self) -> dict[str, object]:
        """Return the notes for a trial; empty without a hit."""
        if not self.hits:
            return {}
        saved = {"input_tokens": self.saved.input_tokens, "output_tokens": self.saved.output_tokens}
        return {"cache_hits": self.hits, "saved": saved}


class CacheEntry:
    """The entry for the answer to one request, whether or not there is one yet."""

    def __init__(self, cache: "Cache", use: Use, key: str) -> None:
        self._cache = cache
        self._use = use
        self._key = key

    async def answer(self) -> CachedAnswer | None:
        """Return the answer of an earlier time."""
        return await self._cache.find(self._key)

    def keep(self, answer: CachedAnswer) -> None:
        """Keep an answer for the next time."""
        self._cache.put(self._key, answer)

    def forget(self) -> None:
        """Remove the answer, so that it is asked for again the next time."""
        self._cache.forget(self._key)

    def hit(self, usage: Usage) -> None:
        """Say that the answer was used; `usage` is what it cost when it was asked for."""
        self._use.hit(usage)


class Cache:
    """Answers by key, for all threads and tasks of a process; opens its file when it is first used.

    It never fails: a damaged file is set aside and begun anew, and where there can be none, nothing is kept.
    """

    def __init__(self, path: Path | None = None, *, most_bytes: int | None = None, warn: Warn | None = None) -> None:
        self._path = path
        self._most_bytes = most_bytes
        self._warn = warn or _log
        self._file: CacheFile | None = None
        self._is_off = False
        self._lock = threading.Lock()  # protects the file: judges may be asked from threads

    @cached_property
    def path(self) -> Path:
        from proctor.runtime.folders import cache_folder

        return self._path or cache_folder() / FILE

    async def find(self, key: str) -> CachedAnswer | None:
        """Return the answer under a key, wherever it is kept."""
        return self.get(key)

    def get(self, key: str) -> CachedAnswer | None:
        return _unpacked(key, self.read(key))

    def put(self, key: str, answer: CachedAnswer) -> None:
        data = key.encode() + b"\n" + msgspec.json.encode(answer)
        self.write(key, zlib.compress(data, 1))  # with a checksum, as SQLite has none

    def forget(self, key: str) -> None:
        self.write(key, None)

    def read(self, key: str) -> bytes | None:
        """Return the packed answer under a key."""
        return self._try(lambda file: file.get(key))

    def write(self, key: str, packed: bytes | None) -> None:
        """Keep a packed answer; None removes what is there."""
        self._try(lambda file: file.remove(key) if packed is None else file.put(key, packed))

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            self._close()

    def _try(self, work: Callable[[CacheFile], T]) -> T | None:
        with self._lock:
            for is_last in (False, True):
                if self._is_off:
                    return None
                try:
                    return work(self._file or self._open())
                except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
                    code = _code(error)
                    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):  # others write a lot; this one is not kept
                        return None
                    self._close()
                    if code not in DAMAGED or is_last or not self._set_aside():
                        self._is_off = True
                        self._warn(
                            say(
                                "The reply cache {path} cannot be used: {error}. The run goes on without it.",
                                path=str(self.path),
                                error=str(error),
                            )
                        )
            return None

    def _open(self) -> CacheFile:
        self._file = CacheFile(self.path, self._most_bytes or settings().cache_megabytes * 1_000_000)
        return self._file

    def _set_aside(self) -> bool:
        try:
            aside = set_aside(self.path)
        except FileNotFoundError:  # another process has done it
            return True
        except OSError:
            return False
        self._warn(
            say(
                "The reply cache {path} was damaged. It is now {aside}, and a new one was begun.",
                path=str(self.path),
                aside=aside.name,
            )
        )
        return True

    def _close(self) -> None:
        if self._file is not None:
            with suppress(sqlite3.Error):
                self._file.close()
            self._file = None


class CacheLink(Protocol):
    """The way to the reply cache of another process."""

    def find(self, key: str) -> Awaitable[bytes | None]: ...

    def keep(self, key: str, data: bytes | None) -> None: ...


class RemoteCache(Cache):
    """The cache of the machine that owns the run, for a process on another one, which keeps nothing itself."""

    def __init__(self, replies: CacheLink) -> None:
        super().__init__()
        self._replies = replies

    async def find(self, key: str) -> CachedAnswer | None:
        return _unpacked(key, await self._replies.find(key))

    def read(self, key: str) -> None:
        return None

    def write(self, key: str, packed: bytes | None) -> None:
        self._replies.keep(key, packed)


def _unpacked(key: str, packed: bytes | None) -> CachedAnswer | None:
    if packed is None:
        return None
    try:
        of, _, encoded = zlib.decompressobj().decompress(packed, MOST_BYTES).partition(b"\n")
        return _decoder.decode(encoded if of == key.encode() else b"").answer()
    except (msgspec.DecodeError, zlib.error, UnicodeDecodeError, RequestFault):  # damaged, or another version wrote it
        return None


class _Around(msgspec.Struct, frozen=True, kw_only=True):
    """What a model that is called now sees.

    Attributes:
        offered: the open cache, which judges use.
        current: the cache that is used.
        use: the attempt under way.
        seen: where the answers of a judge are kept.
    """

    offered: Cache | None = None
    current: Cache | None = None
    use: Use | None = None
    seen: list[CacheEntry] | None = None


_around: ContextVar[_Around] = ContextVar("proctor_cache", default=_Around())  # noqa: B039 - frozen


@contextmanager
def opened(cache: Cache | None = None, *, agents: bool, warn: Warn | None = None) -> Iterator[Cache]:
    """Open a cache, the user's own if None, for the judges called inside; with `agents` for every model."""
    cache = cache or Cache(warn=warn)
    token = _around.set(replace(_around.get(), offered=cache, current=cache if agents else None))
    try:
        yield cache
    finally:
        _around.reset(token)
        cache.close()


@contextmanager
def used() -> Iterator[list[CacheEntry]]:
    """Let models called inside use the open cache; judges ask in this way.

    Yields where their answers are kept, so that those that turn out to be of no use can be forgotten.
    """
    places: list[CacheEntry] = []
    around = _around.get()
    token = _around.set(replace(around, current=around.offered, seen=places))
    try:
        yield places
    finally:
        _around.reset(token)


def offered() -> Cache | None:
    return _around.get().offered


def hits() -> int:
    """Return how many replies of this attempt came from the cache so far."""
    use = _around.get().use
    return use.hits if use is not None else 0


def attempt() -> int:
    use = _around.get().use
    return use.attempt if use is not None else 0


def begin(attempt: int, trial: str = "", created: float = 0.0) -> Use:
    """Begin a new attempt in this task; `trial` names it among those of all runs, `created` is when its run was."""
    use = Use(attempt, trial, created)
    _around.set(replace(_around.get(), use=use))
    return use


def place_of(endpoint: str, request: Json) -> CacheEntry | None:
    """Return the cache entry that a request reads and writes; None without a cache."""
    around = _around.get()
    if around.current is None:
        return None
    use = around.use or Use(0)
    entry = CacheEntry(around.current, use, use.key(_digest({"endpoint": endpoint, "request": request})))
    if around.seen is not None:
        around.seen.append(entry)
    return entry


def owner() -> str:
    """Return what tells the run of this attempt from others that had the same id."""
    use = _around.get().use
    return repr(use.created) if use is not None else ""


def batch_key(endpoint: str, request: Json) -> str:
    """Return the name of a request among all that were ever sent in batches: the same when its trial is played again."""
    use = _around.get().use
    if use is None or not use.trial:
        return secrets.token_hex(16)
    times = use.key(_digest({"endpoint": endpoint, "request": request, "trial": use.trial}))
    return digest(times)


def _digest(value: Mapping[str, object]) -> str:
    try:
        return digest(value)
    except UnicodeEncodeError:  # a lone surrogate
        return digest(strict(value))


def _code(error: Exception) -> int:
    """Return the result code of SQLite, without what it adds to one; 0 for other errors."""
    of_python = 0 if isinstance(error, OSError) else sqlite3.SQLITE_CORRUPT  # a text that cannot be decoded
    return getattr(error, "sqlite_errorcode", of_python) & 0xFF


def _log(sentence: Sentence) -> None:
    logging.getLogger("proctor").warning("%s", sentence)
