"""Define what the dialect of an API words: a request from our messages, and our parts from its reply.

A chat model (`models.openai.ChatModel`) knows addresses, keys, pace, cache and times; everything else about an API is its dialect.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import count
from typing import Any, Literal, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.media_type import PDF, PICTURES
from proctor.core.sample import Message, Part, Reasoning, Text, Tool, ToolCall
from proctor.core.trajectory import Stop, Usage
from proctor.transport.client import Fold

Json = dict[str, Any]
MOST_TOKENS = 10**9
_NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9_-]")


class ModelReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a model replied: its parts, with the names of tools as they were sent, the tokens, and why it stopped."""

    parts: tuple[Part, ...] = ()
    usage: Usage = Usage(requests=1)
    stop: Stop = "done"


class TimedReply(NamedTuple):
    """A reply, and the seconds until its first token where it came as a stream."""

    said: ModelReply
    first_token_seconds: float | None = None


class Request(NamedTuple):
    """What a caller asks a model for."""

    messages: Sequence[Message]
    tools: Sequence[Tool]
    names: Mapping[str, str]  # that tools are sent under, where they differ from their own
    response_format: Mapping[str, Any] | None  # in the form of chat completions
    seed: int | None
    is_streamed: bool
    kinds: Sequence[str] = ()  # beginnings of the media types of files that messages are sent with
    result_media: Collection[str] = PICTURES  # media types of files that tool results are sent with


class BatchKind(NamedTuple):
    """The batch API that takes requests, and the path of those requests."""

    api: Literal["openai", "anthropic"]
    path: str


class Dialect(Protocol):
    """How an API words requests and replies, with the options of one model; what has a body here most of them share.

    Attributes:
        seed: what a model is asked with, unless a call names another; None where the API has none.
        objects: the fields of a request that it adds to, so that they have to be objects.
        kinds: the beginnings of the media types of files that its messages take.
        addressed: those that they also take as an address.
        result_media: the media types of files that its tool results take.
    """

    seed: int | None = None
    objects: Sequence[str] = ()
    kinds: Sequence[str] = ()
    addressed: Sequence[str] = ()
    result_media: frozenset[str] = PICTURES | {PDF}

    def access(self) -> tuple[str, str]:
        """Return the base URL, and the environment variable with the key."""
        ...

    def url(self, base: str, model: str) -> str: ...

    def stream_url(self, base: str, model: str) -> str:
        return self.url(base, model)

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the headers of the API, with the key if there is one."""
        return bearer(key)

    def fixed(self, model: str) -> Json:
        """Return the fields of a request that are always the same."""
        ...

    def body(self, fixed: Json, request: Request) -> Json: ...

    def read(self, data: bytes) -> ModelReply:
        """Return what a reply says; raises `Fault` or `msgspec.DecodeError` for one that cannot be used."""
        ...

    def fold(self, secrets: Sequence[str]) -> Fold[TimedReply]:
        """Return what makes a reply of the events of a stream."""
        ...

    def batches(self) -> BatchKind | None:
        """Return the batches that requests are sent in; None where single requests are sent."""
        return None

    def repaired(self, body: Json, text: str) -> Json | None:
        """Return a request that the endpoint refused with this text in words that it accepts; None if there are none."""
        return None


def bearer(key: str) -> Mapping[str, str]:
    """Return the header with a key, as most APIs want it; none without a key."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def url_of(base: str, path: str) -> str:
    """Return the address of a path of an API; where the base has the path already, it is that address."""
    return base if path in base else base.rstrip("/") + path


def without_none(fields: Mapping[str, object]) -> Json:
    return {name: value for name, value in fields.items() if value is not None}


def count_of(tokens: float | None) -> int:
    """Return a number of tokens: never below 0, which would make a budget larger; 0 beyond what a request can hold."""
    return int(tokens) if tokens and 0 < tokens <= MOST_TOKENS else 0


def stop_of(parts: Sequence[Part]) -> Stop:
    """Return "done", or "empty" for a reply that says nothing at all."""
    for part in parts:
        if isinstance(part, ToolCall) or (isinstance(part, Text) and part.text):
            return "done"
    return "empty"


def merge(fixed: Json, more: Mapping[str, object], objects: Sequence[str] = ()) -> Json:
    """Return the fields with more of them; objects that are in both are joined.

    Raises:
        BadInput: one of `objects` is none.

    >>> merge({"a": {"x": 1}, "b": 2}, {"a": {"y": 3}, "b": 4})
    {'a': {'x': 1, 'y': 3}, 'b': 4}
    """
    fields = dict(fixed)
    for key, value in more.items():
        if key in objects and not isinstance(value, Mapping):
            raise BadInput("The field '{field}' of 'extra_body' has to be an object.", field=key)
        own = fields.get(key)
        fields[key] = {**own, **value} if isinstance(own, dict) and isinstance(value, Mapping) else value
    return fields


def settle_calls(parts: tuple[Part, ...], names: Mapping[str, str], number: int) -> tuple[Part, ...]:
    """Return the parts with the own names of tools, and an id for each call that has none, which `number` makes unique."""
    if len(parts) == 1 and isinstance(parts[0], Text):  # the usual reply
        return parts
    own_names = {sent: own for own, sent in names.items()}
    calls = 0
    made: list[Part] = []
    for part in parts:
        if isinstance(part, ToolCall):
            name, id = own_names.get(part.name, part.name), part.id or f"call_{number}_{calls}"
            calls += 1
            if name != part.name or id != part.id:
                part = replace(part, name=name, id=id)  # noqa: PLW2901
        made.append(part)
    return tuple(made)


def opaque_of(part: Reasoning, api: str) -> Mapping[str, object]:
    """Return what an API wants back with a thought; nothing for one that came from another."""
    kept = (part.opaque or {}).get(api)
    return kept if isinstance(kept, Mapping) else {}


class CallIds:
    """Words the ids of calls and results in letters that every API takes; those without one are paired by their order.

    >>> ids = CallIds()
    >>> ids.of_call("call 1"), ids.of_call(""), ids.of_result("call 1"), ids.of_result("")
    ('call_1', 'call-1', 'call_1', 'call-1')
    """

    def __init__(self) -> None:
        self._calls = count()
        self._results = count()

    def of_call(self, id: str) -> str:
        """Return the id of the next call."""
        number = next(self._calls)
        return _NOT_IN_AN_ID.sub("_", id) or f"call-{number}"

    def of_result(self, id: str) -> str:
        """Return the id of the next result."""
        number = next(self._results)
        return _NOT_IN_AN_ID.sub("_", id) or f"call-{number}"


def schema_in(response_format: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return the JSON schema that a `response_format` of chat completions holds; None for any JSON."""
    schema = response_format.get("json_schema")
    return schema.get("schema") if isinstance(schema, Mapping) else None
