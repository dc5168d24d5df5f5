"""A chat model that says what it is told to: for tests, and for trying out judges without a network."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from proctor.core.sample import Message, Tool
from proctor.core.trajectory import Step, Usage

Said = str | Message | Step | Exception
Script = Iterable[Said] | Callable[[Sequence[Message], Sequence[Tool]], Said]


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
        self._reply = script if callable(script) else _one_by_one(script)

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        response_format: Mapping[str, Any] | None = None,
    ) -> Step:
        """The next reply."""
        self.asked.append(tuple(messages))
        self.offered.append(tuple(tools))
        said = self._reply(messages, tools)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Step):
            return said
        message = Message.of("assistant", said) if isinstance(said, str) else said
        return Step(message=message, started=time.time(), usage=Usage(requests=1))


def _one_by_one(script: Iterable[Said]) -> Callable[[Sequence[Message], Sequence[Tool]], Said]:
    rest = iter(script)

    def reply(*_: object) -> Said:
        try:
            return next(rest)
        except StopIteration:
            raise AssertionError("the script has no more replies") from None

    return reply
