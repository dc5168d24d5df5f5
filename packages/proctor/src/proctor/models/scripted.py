"""A chat model with replies that are given to it: for tests, and for trying out judges without a network.

`scripted:FILE` reads JSON lines. A text is a reply; `{"content": ...}` (and `tool_calls`) is a message; any other object is
a reply in JSON. These come in order, and begin again at the end. `{"when": "Paris", "say": "good"}` comes whenever
the conversation holds that text; the first such line wins.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import cycle
from pathlib import Path

import msgspec

from proctor.chat.messages import MessageReply, to_message
from proctor.config import unknown_option
from proctor.core.errors import BadInput, ProviderFailed
from proctor.core.parts import ModelPart
from proctor.core.sample import Message, Tool
from proctor.core.trajectory import Step, Usage
from proctor.core.validation import in_words

Reply = str | Message | Step | Exception
Script = Iterable[Reply] | Callable[[Sequence[Message], Sequence[Tool]], Reply]


def make(argument: str, options: Mapping[str, object]) -> "ScriptedModel":
    """Return the model `scripted:FILE`.

    Raises:
        BadInput: no such file, a line that is no JSON, no replies, or an option: it has none.
    """
    for option in options:
        raise unknown_option("scripted", option, [])
    return ScriptedModel(_from_file(Path(argument).expanduser()), name=f"scripted:{argument}")


class ScriptedModel:
    """Replies from a list, in order, or from a function of (messages, tools); an exception is raised.

    Attributes:
        asked: the messages of every call so far.
        offered: the tools of every call so far.
    """

    concurrency = 16

    def __init__(self, script: Script, *, name: str = "scripted") -> None:
        self.name = name
        self.asked: list[tuple[Message, ...]] = []
        self.offered: list[tuple[Tool, ...]] = []
        self._reply = script if callable(script) else _in_order(script)

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        response_format: Mapping[str, object] | None = None,
    ) -> Step:
        self.asked.append(tuple(messages))
        self.offered.append(tuple(tools))
        said = self._reply(messages, tools)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Step):
            return said
        message = Message.of("assistant", said) if isinstance(said, str) else said
        return Step(message=message, started=time.time(), usage=Usage(requests=1))


def _in_order(script: Iterable[Reply]) -> Callable[[Sequence[Message], Sequence[Tool]], Reply]:
    rest = iter(script)

    def reply(*_: object) -> Reply:
        try:
            return next(rest)
        except StopIteration:
            raise AssertionError("the script has no more replies") from None

    return reply


def _from_file(path: Path) -> Callable[[Sequence[Message], Sequence[Tool]], Reply]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput("The replies {path} cannot be read: {error}.", path=path, error=_why(error)) from None
    matched: list[tuple[str, Reply]] = []
    ordered: list[Reply] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = msgspec.json.decode(line)
            if isinstance(value, dict) and "when" in value and "say" in value:
                matched.append((str(value["when"]), _reply_of(value["say"])))
            else:
                ordered.append(_reply_of(value))
        except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
            raise BadInput(
                "{path}, line {line}: no reply: {error}.", path=path, line=number, error=in_words(error)
            ) from None
    if not matched and not ordered:
        raise BadInput("{path} holds no replies.", path=path)
    rest = cycle(ordered)

    def reply(messages: Sequence[Message], _: Sequence[Tool]) -> Reply:
        asked = "\n".join(message.text for message in messages)
        for when, said in matched:
            if when in asked:
                return said
        if not ordered:
            return ProviderFailed("No scripted reply fits what was asked.", kind="no_reply")
        return next(rest)

    return reply


def _reply_of(value: object) -> Reply:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and value.keys() & {"content", "tool_calls"}:
        return to_message(msgspec.convert(value, MessageReply), {}, 0)
    return msgspec.json.encode(value).decode()


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


PART = ModelPart(make=make)
