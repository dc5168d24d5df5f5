"""Send requests in batches, at half the price, and wait for their results, if need be over days and restarts.

Requests are gathered until none came for a moment, and sent as one batch. That they are about to be sent is written down
before, and which batch they went with before anything waits for it, by run, sample and attempt: a run that is resumed looks
for a batch whose id it never got to read, asks for the results of its batches, and sends nothing twice. A reply that a run has read is not read by another run of the same name. A line that failed is an outcome; it is sent again only when its sample is (`--retry-failed`).
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from contextvars import Context
from pathlib import Path
from typing import NamedTuple

import msgspec

from proctor.chat.dialect import ModelReply
from proctor.core.errors import BadInput, EndpointRefused, ProctorError, ProviderFailed
from proctor.core.sentence import Sentence, say
from proctor.core.trial import FailedRequest
from proctor.models.addresses import EndpointOptions
from proctor.runtime.folders import data_folder
from proctor.transport.client import Client
from proctor.transport.faults import NEVER_CONNECTED, RequestFault, final_error, shown
from proctor.transport.retry import IN_A_BATCH, RetryPolicy, Wait, clock_stopped, keep
from proctor.transport.target import RequestTarget
from proctor_adapters.models.batch_apis import BatchApi, BatchLine, anthropic_batches, openai_batches

FILE = "batches-2.db"  # another number when the layout changes
MOST_REQUESTS = 1_000  # of one batch, so that its results fit into one reply
MOST_BYTES = 20_000_000  # of the requests of one batch, unless a single one is larger
MOST_RESULT_BYTES = 256_000_000  # of the file with all replies of a batch
KEPT_SECONDS = 29 * 86_400.0  # for so long results can be asked for
BATCH_SHARE = 0.5  # of the price, at OpenAI and Anthropic
GATHER_SECONDS = 1.0  # without a further request before a batch is sent
LONGEST_WAIT_SECONDS = 60.0  # between two looks at a batch
PATIENT = RetryPolicy(
    attempts=1_000_000, budget_seconds=86_400.0
)  # of looks: what was sent is paid for, an outage passes
MOST_KEPT = 4  # batches whose results stay in memory


class Journal:
    """Keeps the batch of each request, in a file that processes share."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def batch_of(self, key: str, owner: str) -> str | None:
        """Return the batch that a request went with, unless another run has read the reply."""
        with self._opened() as db:
            asked = "SELECT batch FROM sent WHERE key = ? AND coalesce(owner, ?) = ?"
            row = db.execute(asked, (key, owner, owner)).fetchone()
        return None if row is None else str(row[0])

    def knows(self, batch: str) -> bool:
        """True if requests went with this batch."""
        with self._opened() as db:
            return db.execute("SELECT 1 FROM sent WHERE batch = ? LIMIT 1", (batch,)).fetchone() is not None

    def keys_of(self, batch: str) -> set[str]:
        """Return the requests that went with a batch."""
        with self._opened() as db:
            return {str(key) for (key,) in db.execute("SELECT key FROM sent WHERE batch = ?", (batch,))}

    def begin(self, keys: Sequence[str], noted: bytes) -> None:
        """Write down that requests are about to be sent, and what their batch can be known by."""
        with self._opened() as db, db:
            db.executemany("INSERT OR REPLACE INTO begun VALUES (?, ?, ?)", [(key, noted, time.time()) for key in keys])

    def begun(self, keys: Sequence[str]) -> dict[bytes, list[str]]:
        """Return what was about to be sent when a process ended, if any of these requests is in it: all its requests."""
        with self._opened() as db:
            asked = "SELECT DISTINCT noted FROM begun WHERE key = ?"
            noted = {bytes(value) for key in keys for (value,) in db.execute(asked, (key,))}
            rows = {data: db.execute("SELECT key FROM begun WHERE noted = ?", (data,)).fetchall() for data in noted}
        return {data: [str(key) for (key,) in listed] for data, listed in rows.items()}

    def drop(self, keys: Sequence[str]) -> None:
        """Write down that no batch was made of these requests."""
        with self._opened() as db, db:
            db.executemany("DELETE FROM begun WHERE key = ?", [(key,) for key in keys])

    def note(self, keys: Sequence[str], batch: str) -> None:
        """Write down that requests went with a batch, and forget those whose results nobody has any longer."""
        with self._opened() as db, db:
            db.executemany(
                "INSERT OR REPLACE INTO sent VALUES (?, ?, ?, NULL)", [(key, batch, time.time()) for key in keys]
            )
            db.executemany("DELETE FROM begun WHERE key = ?", [(key,) for key in keys])
            db.execute("DELETE FROM sent WHERE at < ?", (time.time() - KEPT_SECONDS,))
            db.execute("DELETE FROM begun WHERE at < ?", (time.time() - KEPT_SECONDS,))

    def settle(self, owner_by_key: Mapping[str, str | None]) -> None:
        """Write down which run read each reply; None forgets a request, so that it is sent again the next time."""
        read = [(owner, key) for key, owner in owner_by_key.items() if owner is not None]
        with self._opened() as db, db:
            db.executemany("UPDATE sent SET owner = ? WHERE key = ?", read)
            db.executemany(
                "DELETE FROM sent WHERE key = ?", [(key,) for key in owner_by_key.keys() - {key for _, key in read}]
            )

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._path, timeout=30)) as db:
                db.execute("PRAGMA synchronous=FULL")
                db.execute(
                    "CREATE TABLE IF NOT EXISTS sent (key TEXT PRIMARY KEY, batch TEXT NOT NULL, at REAL NOT NULL, owner TEXT)"
                )
                db.execute(
                    "CREATE TABLE IF NOT EXISTS begun (key TEXT PRIMARY KEY, noted BLOB NOT NULL, at REAL NOT NULL)"
                )
                yield db
        except (sqlite3.Error, OSError) as error:
            raise BadInput(
                "The file {path}, which keeps what was sent in batches, cannot be used: {error}. Without it a run would send everything again.",
                path=self._path,
                error=error,
            ) from error


class _Waiting(NamedTuple):
    body: bytes
    owner: str
    reply: "asyncio.Future[bytes]"


class Batches:
    """Gathers the requests of a model, and gives each its reply; belongs to one event loop.

    Args:
        where, host: the address and the server, for messages.
        policy: how often to send again what asks for a batch.
    """

    most = MOST_REQUESTS
    share = BATCH_SHARE

    def __init__(self, api: BatchApi, journal: Journal, *, where: str, host: str, policy: RetryPolicy | None) -> None:
        self._api = api
        self._journal = journal
        self._where = where
        self._host = host
        self._policy = policy or RetryPolicy()
        self._gathered: dict[str, _Waiting] = {}
        self._sent: dict[str, dict[str, _Waiting]] = {}  # by batch and key
        self._over: dict[
            str, Mapping[str, BatchLine]
        ] = {}  # the results that were read last, for a run that is resumed
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def reply(
        self, client: Client, key: str, body: bytes, read: Callable[[bytes], ModelReply], *, owner: str = ""
    ) -> ModelReply:
        """Return the reply to a request once its batch is over; waiting is not the agent's time.

        Args:
            key: names the request among those of all runs; `owner` tells its run from others of the same name.

        Raises:
            ProviderFailed: the batch or this line failed, expired, or is no reply.
            Refused: the endpoint refuses the batch.
            BudgetSpent: the allowance does not hold another request.
        """
        reply: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        waiting = _Waiting(body, owner, reply)
        batch = await asyncio.to_thread(self._journal.batch_of, key, owner)
        client.allowance.reserve()
        if batch is not None:
            self._await(batch, {key: waiting})
        else:
            if self._gathered and self._size() + len(body) > MOST_BYTES:
                self._send()
            self._gathered[key] = waiting
            self._plan()
        number = client.begin_wait(Wait(host=self._host, cause=IN_A_BATCH, status=None, until=time.monotonic()))
        try:
            with clock_stopped():
                return await self._read(key, await reply, read)
        except asyncio.CancelledError:
            if key in self._gathered or any(key in replies for replies in self._sent.values()):
                client.allowance.release()  # it is asked for again, and counted then
            raise
        except (ProviderFailed, EndpointRefused) as error:
            if error.kind in NEVER_CONNECTED:
                client.allowance.release()
            keep(FailedRequest(cause=error.kind))
            raise
        finally:
            client.end_wait(number)

    async def _read(self, key: str, data: bytes, read: Callable[[bytes], ModelReply]) -> ModelReply:
        try:
            return read(data)
        except (RequestFault, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            await asyncio.to_thread(self._journal.settle, {key: None})
            text = shown(str(error.text if isinstance(error, RequestFault) else error))
            raise ProviderFailed(say("The batch has no usable reply: {text}.", text=text), kind="no_reply") from None

    def _plan(self) -> None:
        """Send what was gathered when it is enough, or when nothing more came for a moment."""
        if self._timer is not None:
            self._timer.cancel()
        if len(self._gathered) >= MOST_REQUESTS or self._size() >= MOST_BYTES:
            self._send()
        else:
            self._timer = asyncio.get_running_loop().call_later(GATHER_SECONDS, self._send)

    def _size(self) -> int:
        return sum(len(request.body) for request in self._gathered.values())

    def _send(self) -> None:
        self._timer = None
        gathered, self._gathered = self._gathered, {}
        waiting = {key: request for key, request in gathered.items() if not request.reply.done()}
        if waiting:
            self._start(self._submit(waiting))

    def _start(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.get_running_loop().create_task(work, context=Context())  # its failures are no trial's calls
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _await(self, batch: str, waiting: Mapping[str, _Waiting]) -> None:
        is_new = batch not in self._sent
        self._sent.setdefault(batch, {}).update(waiting)
        if is_new:
            self._start(self._watch(batch))

    async def _submit(self, waiting: Mapping[str, _Waiting]) -> None:
        try:
            async with Client(policy=self._policy) as client:  # its requests are no calls of the model
                left = await self._adopt(client, waiting)
                if left:
                    batch = await self._made(client, {key: request.body for key, request in left.items()})
                    await asyncio.to_thread(self._journal.note, list(left), batch)
                    self._await(batch, left)
        except Exception as error:  # noqa: BLE001 - it is raised where the reply is awaited
            adopted = {key for replies in self._sent.values() for key in replies}
            _fail((request for key, request in waiting.items() if key not in adopted), self._error(error))

    async def _made(self, client: Client, body_by_key: Mapping[str, bytes]) -> str:
        """Return the batch made of these requests; that it is about to be made is on disk before it can cost."""
        keys = list(body_by_key)

        async def note(noted: bytes) -> None:
            await asyncio.to_thread(self._journal.begin, keys, noted)

        try:
            return await self._api.submit(client, body_by_key, self._journal.knows, note)
        except (RequestFault, ProctorError):  # it was refused, or looked for in vain
            with suppress(BadInput):
                await asyncio.to_thread(self._journal.drop, keys)
            raise

    async def _adopt(self, client: Client, waiting: Mapping[str, _Waiting]) -> dict[str, _Waiting]:
        """Find the batches that an earlier process was submitting when it ended; return the requests that are in none."""
        left = dict(waiting)
        for noted, keys in (await asyncio.to_thread(self._journal.begun, list(waiting))).items():
            try:
                batch = await self._api.find(client, noted, self._journal.knows)
            except RequestFault:  # it says that nobody knows; sent again only on demand
                await asyncio.to_thread(self._journal.drop, keys)
                raise
            if batch is None:
                await asyncio.to_thread(self._journal.drop, keys)
                continue
            await asyncio.to_thread(self._journal.note, keys, batch)
            self._await(batch, {key: left.pop(key) for key in keys if key in left})
        return left

    async def _results(self, batch: str) -> Mapping[str, BatchLine]:
        wait = min(1.0, LONGEST_WAIT_SECONDS)
        async with Client(policy=PATIENT, most_reply_bytes=MOST_RESULT_BYTES) as client:
            while (lines := self._over.get(batch) or await self._api.results(client, batch)) is None:
                await asyncio.sleep(wait)
                wait = min(wait * 1.5, LONGEST_WAIT_SECONDS)
        self._over = {**dict(list(self._over.items())[1 - MOST_KEPT :]), batch: lines}
        return lines

    async def _watch(self, batch: str) -> None:
        gone = BatchLine(
            fault=RequestFault("batch_incomplete", "the batch has no result for this request", again=False)
        )
        waiting: Mapping[str, _Waiting] = {}
        try:
            results = await self._results(batch)
            if results and not results.keys() & await asyncio.to_thread(self._journal.keys_of, batch):
                raise RequestFault("batch_foreign", _say_foreign(batch), again=False)
            waiting = self._sent.pop(batch, {})
            lines = {key: results.get(key, gone) for key in waiting}
            owners = {
                key: None if lines[key].reply is None else request.owner
                for key, request in waiting.items()
                if lines[key].reply is None or not request.reply.done()
            }
            await asyncio.to_thread(self._journal.settle, owners)
        except asyncio.CancelledError:  # with the event loop; another one may ask for the same batch
            self._sent.pop(batch, None)
            raise
        except Exception as error:  # noqa: BLE001 - it is raised where the reply is awaited
            waiting = waiting or self._sent.pop(batch, {})
            if isinstance(error, EndpointRefused) and error.kind == "http_404":
                error = RequestFault("batch_gone", "the provider does not have this batch any longer")
            if isinstance(error, RequestFault):  # of the batch itself, which will never have results
                with suppress(BadInput):
                    await asyncio.to_thread(self._journal.settle, dict.fromkeys(waiting))
            _fail(waiting.values(), self._error(error))
            return
        for key, request in waiting.items():
            if request.reply.done():  # its trial was stopped meanwhile
                continue
            line = lines[key]
            if line.reply is not None:
                request.reply.set_result(line.reply)
            else:
                assert line.fault is not None
                request.reply.set_exception(self._error(line.fault))

    def _error(self, error: Exception) -> Exception:
        if isinstance(error, RequestFault):
            if error.kind.startswith("batch_"):
                return ProviderFailed(say("{host}: {text}.", host=self._host, text=error.text), kind=error.kind)
            return final_error(error, where=self._where, host=self._host, attempts=1, advice="")
        if isinstance(error, ProctorError):
            return error
        return ProviderFailed(say("The batch failed: {error}.", error=str(error)), kind="batch_failed")


def _say_foreign(batch: str) -> Sentence:
    return say(
        "the batch {batch} was taken for one whose reply was lost, and holds none of these requests. Look at the list of batches at the provider; --retry-failed sends the requests again",
        batch=batch,
    )


def _fail(waiting: Iterable[_Waiting], error: Exception) -> None:
    for request in waiting:
        if not request.reply.done():
            request.reply.set_exception(error)


def openai(path: str, options: EndpointOptions, target: RequestTarget, patient: RequestTarget) -> Batches:
    """Return what sends the requests of a model in batches of OpenAI.

    Raises:
        BadInput: a stream is asked for too, or the address is not one that batches go to.
    """
    return _sender(openai_batches(patient, path), options, target)


def anthropic(path: str, options: EndpointOptions, target: RequestTarget, patient: RequestTarget) -> Batches:
    """Return what sends the requests of a model in batches of Anthropic.

    Raises:
        BadInput: a stream is asked for too, or the address is not one that batches go to.
    """
    return _sender(anthropic_batches(patient, path), options, target)


def _sender(api: BatchApi, options: EndpointOptions, target: RequestTarget) -> Batches:
    if options.stream or options.extra_body.get("stream"):
        raise BadInput("The options 'batch' and 'stream' exclude each other.")
    journal = Journal(data_folder() / FILE)
    return Batches(api, journal, where=target.where, host=target.host, policy=target.terms.policy)
