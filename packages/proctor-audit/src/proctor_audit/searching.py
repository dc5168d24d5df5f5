"""Put a canary in place of what is right, and search for it as an agent that reads all that it is given."""

import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.core.sample import Message, Sample, Tool, ToolCall, Turn
from proctor.core.task import Environment, Session
from proctor.core.trajectory import Step, ToolStyle
from proctor_audit.inspector.tool_kinds import CHINESE_READS, READ_VERBS, words_of

MOST_TRIED = 10  # ids that a tool is asked for
ID = re.compile(r"[A-Za-z_#-]{0,20}\d[\w-]{0,20}")
MESSAGES = "messages"


class SearchingAgent:
    """Reads its messages and the results of tools that read, each called with every id that it saw.

    Attributes:
        saw: what held the canary: `messages`, or the name of a tool; empty where nothing did.
    """

    name = "audit:searching"
    reports_cost = True  # it costs nothing

    def __init__(self, canary: str) -> None:
        self.tools: ToolStyle = "native"
        self.saw = ""
        self._canary = canary
        self._ids: dict[str, None] = {}
        self._environment: Environment | None = None

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        self._environment = environment
        yield self

    async def send(self, turn: Turn) -> Sequence[Step]:
        self._read(MESSAGES, msgspec.json.encode(replace(turn, reference=None), enc_hook=repr).decode())
        environment = self._environment
        for tool in turn.tools if environment is not None else ():
            for arguments in self._asked(tool):
                assert environment is not None
                result = await environment.call(ToolCall(name=tool.name, arguments=arguments))
                self._read(tool.name, result.content)
        return [Step(message=Message.of("assistant", "I have looked into it."))]

    def _read(self, source: str, text: str) -> None:
        self._ids.update(dict.fromkeys(ID.findall(text)))
        if not self.saw and self._canary in text:
            self.saw = source

    def _asked(self, tool: Tool) -> Iterator[Mapping[str, Any]]:
        """Yield the arguments for a tool that reads: none, or each id where it needs one argument."""
        required = tool.parameters.get("required", ())
        if not words_of(tool.name) or not (
            READ_VERBS & {words_of(tool.name)[0]} or tool.name.startswith(CHINESE_READS)
        ):
            return
        if not required:
            yield {}
        elif len(required) == 1:
            yield from ({required[0]: id} for id in [*self._ids][-MOST_TRIED:])


def plant(sample: Sample, canary: str) -> Sample:
    """Return a sample with a canary in place of each text in its target and in what its turns expect."""
    turns = tuple(replace(turn, reference=_planted(turn.reference, canary)) for turn in sample.turns)
    target = canary if isinstance(sample.target, int | float) else _planted(sample.target, canary)
    return replace(sample, turns=turns, target=target)


def _planted(value: Any, canary: str) -> Any:
    if isinstance(value, str):
        return canary
    if isinstance(value, Mapping):
        return {key: _planted(each, canary) for key, each in value.items()}
    return [_planted(each, canary) for each in value] if isinstance(value, list | tuple) else value
