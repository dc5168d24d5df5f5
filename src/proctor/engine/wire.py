"""Send messages between the processes of one run: length-prefixed MessagePack over a socket."""

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from proctor.core.run import Price, RunSpec
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence
from proctor.core.trial import Trial, Verdict
from proctor.transport.pace import Bounds
from proctor.transport.retry import Wait

LENGTH_BYTES = 4


class Start(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To a worker: what to run. `scorers` are references, `paths` where to look for the user's modules."""

    run_id: str
    spec: RunSpec
    scorers: tuple[str, ...]
    price: Price | None
    paths: tuple[str, ...]
    cache: bool = False


class Do(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To a worker: one attempt at one sample."""

    number: int
    sample: Sample
    attempt: int


class Granted(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """To a worker: it may send a request, or no request may be sent any more, and why."""

    number: int
    spent: Sentence | None = None


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """From a worker: everything is resolved."""


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
    """From a worker: it asks for a slot at an endpoint."""

    number: int
    origin: str
    bounds: Bounds


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
    """From a worker: a request waits to be sent again, or no longer. Processes of one machine share the clock of `until`."""

    number: int
    wait: Wait | None


class Warned(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """From a worker: a warning for the user."""

    sentence: Sentence


FromParent = Start | Do | Granted
FromWorker = Ready | Done | Stuck | Ask | GiveBack | NeverLeft | Told | Waits | Warned
_encoder = msgspec.msgpack.Encoder(enc_hook=str)
_to_worker = msgspec.msgpack.Decoder(FromParent)
_from_worker = msgspec.msgpack.Decoder(FromWorker)


def send(writer: asyncio.StreamWriter, message: FromParent | FromWorker) -> None:
    """Queue a message for sending."""
    data = _encoder.encode(message)
    writer.write(len(data).to_bytes(LENGTH_BYTES, "big") + data)


async def of_parent(reader: asyncio.StreamReader) -> FromParent | None:
    """Receive the next message of the parent; None at the end."""
    data = await _frame(reader)
    return None if data is None else _to_worker.decode(data)


async def of_worker(reader: asyncio.StreamReader) -> FromWorker | None:
    """Receive the next message of a worker; None when it has ended."""
    data = await _frame(reader)
    return None if data is None else _from_worker.decode(data)


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a sentence as text, so that they can be sent."""
    return {
        key: value if isinstance(value, int | float | str | Sentence) else str(value) for key, value in values.items()
    }


async def _frame(reader: asyncio.StreamReader) -> bytes | None:
    try:
        length = await reader.readexactly(LENGTH_BYTES)
        return await reader.readexactly(int.from_bytes(length, "big"))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
