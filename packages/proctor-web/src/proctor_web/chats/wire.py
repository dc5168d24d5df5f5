"""Define what the server and the process of an agent send each other: a JSON object per line."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from proctor.core.sample import Message
from proctor.core.sentence import Sentence
from proctor.core.trajectory import Step
from proctor.transport.repair import without_surrogates

Event = Mapping[str, Any]  # of google-adk, as its own JSON
How = Literal["done", "stopped", "failed"]
SpanKind = Literal["model", "tool", "agent"]


class Load(msgspec.Struct, frozen=True, kw_only=True, tag="load"):
    """The first line: which agent to load."""

    agent: str
    options: Mapping[str, Any] = {}


class Open(msgspec.Struct, frozen=True, kw_only=True, tag="open"):
    """Begin a session; `events` and `messages` are what was said in it before, in a process that is gone."""

    chat: str
    app: str
    user: str
    session: str
    state: Mapping[str, Any] = {}
    events: Sequence[Event] = ()
    messages: Sequence[Message] = ()


class Send(msgspec.Struct, frozen=True, kw_only=True, tag="send"):
    """Ask for a reply; `content` is a message in google-adk's own form."""

    chat: str
    message: Message = Message(role="user")
    content: Event | None = None
    state_delta: Mapping[str, Any] | None = None
    streams: bool = True


class Stop(msgspec.Struct, frozen=True, kw_only=True, tag="stop"):
    """Stop the reply that is under way."""

    chat: str


class Forget(msgspec.Struct, frozen=True, kw_only=True, tag="forget"):
    """Close a session."""

    chat: str


Command = Load | Open | Send | Stop | Forget


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag="ready"):
    """The agent is loaded."""


class ChatOpened(msgspec.Struct, frozen=True, kw_only=True, tag="opened"):
    """A session is open; `remembers` says that one which is opened again knows what was said before."""

    chat: str
    remembers: bool


class Unusable(msgspec.Struct, frozen=True, kw_only=True, tag="unusable"):
    """The agent cannot be loaded."""

    why: Sentence


class Piece(msgspec.Struct, frozen=True, kw_only=True, tag="piece"):
    """Some more text of a message that is not complete; `again` discards the pieces before it."""

    chat: str
    text: str = ""
    is_thought: bool = False
    author: str = "agent"
    again: bool = False
    event: Event | None = None


class Said(msgspec.Struct, frozen=True, kw_only=True, tag="said"):
    """Steps that are complete; an event without steps is one that a page need not show, such as the user's own."""

    chat: str
    steps: Sequence[Step] = ()
    event: Event | None = None


class Span(msgspec.Struct, frozen=True, kw_only=True, tag="span"):
    """How long a request to a model, a tool call or an agent inside took; `started` is Unix time."""

    chat: str
    kind: SpanKind
    name: str
    started: float
    seconds: float
    first_token_seconds: float | None = None
    failed: bool = False


class Over(msgspec.Struct, frozen=True, kw_only=True, tag="over"):
    """The reply is over."""

    chat: str
    how: How = "done"
    why: Sentence | None = None
    error_type: str = ""
    state: Mapping[str, Any] | None = None


Report = Ready | ChatOpened | Unusable | Piece | Said | Span | Over
Tell = Callable[[Report], None]
State = Mapping[str, object] | None  # of a session

COMMANDS: msgspec.json.Decoder[Command] = msgspec.json.Decoder(Command)
REPORTS: msgspec.json.Decoder[Report] = msgspec.json.Decoder(Report)
_ENCODER = msgspec.json.Encoder(enc_hook=str)


def line_of(said: Command | Report) -> bytes:
    """Return a line; what an agent made of lone surrogates becomes U+FFFD, and values that JSON has not become text."""
    try:
        return _ENCODER.encode(said) + b"\n"
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(said, enc_hook=str)
        return without_surrogates(json.dumps(plain, ensure_ascii=False)).encode() + b"\n"
