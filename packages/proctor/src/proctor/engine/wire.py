"""Send messages between the processes of one run: length-prefixed MessagePack over a socket."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, TypeVar

import msgspec

from proctor.core.run import Price, RunSpec
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence
from proctor.core.trial import Trial, Verdict
from proctor.transport.pace import PaceBounds
from proctor.transport.retry import Wait

T = TypeVar("T")

LENGTH_BYTES = 4
READ_BYTES = 1_000_000
AT_ONCE = 16  # messages that wait for each other: the other process is to begin while this one has more to send
MOST_KEPT_BYTES = 4_000_000  # of a packed reply that is sent to the cache of another machine, or from there


class Start(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To a worker: what to run. `scorers` are references, `paths` where to look for the user's modules.

    `shares_folders` if it runs on the machine of the parent, so that it can use the reply cache there by itself.
    """

    run_id: str
    created: float = 0.0
    spec: RunSpec
    scorers: tuple[str, ...]
    price: Price | None
    paths: tuple[str, ...]
    cache: bool = False
    shares_folders: bool = True


class Do(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To a worker: one attempt at one sample."""

    number: int
    sample: Sample
    attempt: int


class Granted(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To a worker: it may send a request, or no request may be sent any more, and why."""

    number: int
    spent: Sentence | None = None


class FoundReply(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To a worker: what the reply cache has under the key that it asked for."""

    number: int
    data: bytes | None


class WorkerReady(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """From a worker: everything is resolved, at this time of its clock."""

    clock: float


class Done(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """From a worker: how the attempt ended."""

    number: int
    trial: Trial
    verdicts: tuple[Verdict, ...]


class Stuck(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """From a worker: something only the user can fix; without a number it could not even start.

    `is_refused` if the endpoint refuses the key.
    """

    sentence: Sentence
    is_refused: bool = False
    number: int | None = None


class Ask(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """From a worker: it asks for a slot at an endpoint; the first time with the limits that it knows of."""

    number: int
    origin: str
    bounds: PaceBounds | None = None


class GiveBack(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """From a worker: it returns a permit of an endpoint, after a good reply, a refusal (`asked` to wait), or neither."""

    origin: str
    seconds: float | None = None
    refused: bool = False
    asked: float | None = None


class NeverLeft(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """From a worker: a request for which a slot was granted reached no server."""


class Told(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """From a worker: the endpoint asked for a pause, or tokens were used there."""

    origin: str
    pause: float = 0.0
    tokens: int = 0


class Waits(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """From a worker: a request waits to be sent again, or no longer; `until` is counted from now, as the clocks of machines differ."""

    number: int
    wait: Wait | None


class Find(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """From a worker on another machine: it asks what the reply cache has under a key."""

    number: int
    key: str


class Keep(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """From a worker on another machine: what to keep in the reply cache; None removes what is there."""

    key: str
    data: bytes | None


class Warned(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """From a worker: a warning for the user."""

    sentence: Sentence


FromParent = Start | Do | Granted | FoundReply
FromWorker = WorkerReady | Done | Stuck | Ask | GiveBack | NeverLeft | Told | Waits | Find | Keep | Warned
_encoder = msgspec.msgpack.Encoder(enc_hook=str)
_to_worker = msgspec.msgpack.Decoder(FromParent)
_from_worker = msgspec.msgpack.Decoder(FromWorker)


class Outbox:
    """Sends messages over a connection; a few of one turn of the event loop leave together, as permits come and go in dozens."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._queued: list[bytes] = []
        writer.transport.set_write_buffer_limits(high=0)  # else uvloop sends nothing before the end of the turn

    def send(self, message: FromParent | FromWorker) -> None:
        if not self._queued:
            asyncio.get_running_loop().call_soon(self.flush)
        data = _encoder.encode(message)
        self._queued += (len(data).to_bytes(LENGTH_BYTES, "big"), data)
        if len(self._queued) >= 2 * AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Send what is queued at once, so that it is not lost with this process; nobody is left to read it where the connection is closed."""
        if self._queued and not self._writer.is_closing():  # uvloop raises where asyncio drops it
            self._writer.write(b"".join(self._queued))
        self._queued.clear()


def of_parent(reader: asyncio.StreamReader) -> AsyncIterator[FromParent]:
    """Receive the messages of the parent, until the end."""
    return _received(reader, _to_worker.decode)


def of_worker(reader: asyncio.StreamReader) -> AsyncIterator[FromWorker]:
    """Receive the messages of a worker, until it has ended."""
    return _received(reader, _from_worker.decode)


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a sentence as text, so that they can be sent."""
    return {
        key: value if isinstance(value, int | float | str | Sentence) else str(value) for key, value in values.items()
    }


async def _received(reader: asyncio.StreamReader, decode: Callable[[bytearray], T]) -> AsyncIterator[T]:
    received = bytearray()
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(READ_BYTES):
            received += data
            start = 0
            while (begin := start + LENGTH_BYTES) <= len(received):
                end = begin + int.from_bytes(received[start:begin], "big")
                if end > len(received):
                    break
                yield decode(received[begin:end])
                start = end
            del received[:start]
