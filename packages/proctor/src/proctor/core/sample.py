"""Define samples, their turns, and the messages and tools in them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import msgspec

from proctor.core.known import KnownMeta, known

_json = json.JSONEncoder(ensure_ascii=False, default=str)  # an agent in Python may put anything into a call

Role = Literal["system", "user", "assistant", "tool"]
JsonObject = Mapping[str, Any]
"""A JSON object in the layout of another program; the code that reads a key says what it expects."""


class Text(msgspec.Struct, frozen=True, kw_only=True, tag="text"):
    """Plain text."""

    text: str


class Reasoning(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="reasoning"):
    """The reasoning that a model returned; kept and counted, never part of the answer.

    `opaque` is what an API wants back with it in the next request, by the name of the API: a signature, or the encrypted
    reasoning; the text may be empty then.
    """

    text: str
    opaque: Mapping[str, Any] | None = None


class File(msgspec.Struct, frozen=True, kw_only=True, tag="file"):
    """An image or attachment: bytes, or a path inside the data set, or an address."""

    name: str = ""
    media_type: str = "application/octet-stream"
    data: bytes | None = None
    path: str | None = None
    url: str | None = None


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, tag="tool_call"):
    """A call the agent made or should make.

    `raw` holds the arguments as they came when they are no JSON object; `arguments` is empty then. `written` holds those
    that are one where it would be written in other words again, as `{"x":1}` would.
    """

    name: str
    arguments: Mapping[str, Any] = {}
    id: str = ""
    raw: str | None = None
    written: str | None = None

    @classmethod
    def from_text(cls, name: str, text: str, *, id: str = "") -> Self:
        """Make a call from arguments in JSON text; what is no plain JSON object is kept in `raw`.

        >>> ToolCall.from_text("f", '{"x": 1}').arguments, ToolCall.from_text("f", "[1").raw
        ({'x': 1}, '[1')
        """
        try:
            arguments = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            arguments = None
        if not isinstance(arguments, dict):
            return cls(name=name, id=id, raw=text)
        return cls(name=name, arguments=arguments, id=id, written=None if _json.encode(arguments) == text else text)

    def arguments_text(self) -> str:
        """Return the arguments as JSON text, letter for letter as they came."""
        if self.raw is not None:
            return self.raw
        return self.written if self.written is not None else _json.encode(self.arguments)


class ToolResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="tool_result"):
    """The result that a tool returned for the call with the same id: text, and the bytes of the files that it came with.

    `files` is not written when it is empty; `id` and `is_error` always are, as those of a factory, so that digests stay.
    """

    name: str
    content: str
    id: str = msgspec.field(default_factory=str)
    is_error: bool = msgspec.field(default_factory=bool)
    files: tuple[File, ...] = ()


Part = Text | Reasoning | File | ToolCall | ToolResult


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a conversation, in parts."""

    role: Role
    parts: tuple[Part, ...] = ()

    @classmethod
    def of(cls, role: Role, text: str) -> Self:
        """Make a message that is text only.

        >>> Message.of("user", "Hi").text
        'Hi'
        """
        return cls(role=role, parts=(Text(text=text),))

    @property
    def text(self) -> str:
        """Return the text parts, joined; reasoning, files and calls are left out."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Text):  # the usual message
            return self.parts[0].text
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def parts_with_files(self) -> tuple[Part, ...]:
        """Return its parts, the files of each tool result after it."""
        if not any(isinstance(part, ToolResult) and part.files for part in self.parts):
            return self.parts
        parts: list[Part] = []
        for part in self.parts:
            parts.append(part)
            if isinstance(part, ToolResult):
                parts.extend(part.files)
        return tuple(parts)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Return its tool calls, in order."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Text):  # the usual message
            return ()
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool offered to the agent; `parameters` is a JSON schema of type object.

    `extra` holds further fields of its description that a benchmark sends to chat models, such as a schema of what it returns.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = {}
    extra: Mapping[str, Any] = {}


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """The messages sent to the agent at one go.

    An agent without native tool calls receives `as_text` in place of messages and tools, where a
    benchmark has official wording for that.
    """

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    as_text: tuple[Message, ...] | None = None
    reference: Any = None


class FreshTurn(Turn, frozen=True, kw_only=True):
    """A turn with which the agent begins a new conversation, in the same environment."""


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One question or conversation to evaluate.

    `cluster` is the unit of independence for statistics (the sample itself when None); `tags` are the
    slices to report by.
    """

    id: str
    turns: tuple[Turn, ...]
    target: Any = None
    cluster: str | None = None
    tags: Mapping[str, str] = {}
    meta: Mapping[str, Any] = {}

    @classmethod
    def ask(
        cls,
        id: str,
        question: str,
        *,
        target: object = None,
        cluster: str | None = None,
        tags: Mapping[str, str] | None = None,
        meta: Mapping[str, object] | None = None,
        files: Sequence[File] = (),
    ) -> Self:
        """Make a sample of one question.

        >>> Sample.ask("fr", "Capital of France?", target="Paris").question
        'Capital of France?'
        """
        parts: tuple[Part, ...] = (Text(text=question), *files)
        turn = Turn(messages=(Message(role="user", parts=parts),), reference=target)
        return cls(id=id, turns=(turn,), target=target, cluster=cluster, tags=tags or {}, meta=meta or {})

    @property
    def known(self) -> KnownMeta:
        """Return the keys of `meta` that have a shared meaning."""
        return known(KnownMeta, self.meta)

    @property
    def question(self) -> str:
        """Return the text of the last user message of the first turn."""
        if not self.turns:
            return ""
        asked = [message.text for message in self.turns[0].messages if message.role == "user"]
        return asked[-1] if asked else ""
