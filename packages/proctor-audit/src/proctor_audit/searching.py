"""Put a canary in place of what is right, and search for it as an agent that reads all that it is given."""

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.core.declared import MakerInfo, declared
from proctor.core.sample import Message, Sample, Tool, ToolCall, Turn
from proctor.core.task import Environment, Session
from proctor.core.trajectory import Step, ToolStyle
from proctor_audit.inspector.tool_kinds import CHINESE_READS, READ_VERBS, words_of
from proctor_audit.shell_search import DONE, command_argument, search_commands

MOST_TRIED = 10  # ids that a tool is asked for
ID = re.compile(r"[A-Za-z_#-]{0,20}\d[\w-]{0,20}")
MESSAGES = "messages"


class SearchingAgent:
    """Reads its messages, the results of tools that read, each called with every id that it saw, and what a shell finds.

    Args:
        canary: what is in place of the target; `variable` is in the variables of this process.
        typed: returns the words by which an agent without tools has a command run.

    Attributes:
        saw: what held the canary: `messages`, or the name of a tool, for a shell with the place; empty where nothing did.
        saw_variable: the same of the variable.
        searched: the places that a shell searched.
    """

    name = "audit:searching"
    reports_cost = True  # it costs nothing

    def __init__(self, canary: str, variable: str = "", typed: Callable[[str], str | None] | None = None) -> None:
        self.tools: ToolStyle = "native" if typed is None else "text"
        self.saw = self.saw_variable = ""
        self.searched: set[str] = set()
        self._texts = [text for text in (canary, variable) if text]
        self._typed = typed
        self._commands = search_commands(self._texts)
        self._waiting = ""  # the place of the command that was typed
        self._ids: dict[str, None] = {}
        self._environment: Environment | None = None

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        self._environment = environment
        yield self

    async def send(self, turn: Turn) -> Sequence[Step]:
        said = msgspec.json.encode(replace(turn, reference=None), enc_hook=repr).decode()
        self._read(f"shell: {self._waiting}" if self._waiting else MESSAGES, said, self._waiting)
        for tool in turn.tools if self._environment is not None else ():
            for searched, arguments in self._asked(tool):
                assert self._environment is not None
                result = await self._environment.call(ToolCall(name=tool.name, arguments=arguments))
                self._read(f"{tool.name}: {searched}" if searched else tool.name, result.content, searched)
        return [Step(message=Message.of("assistant", self._next_command() or "I have looked into it."))]

    def _next_command(self) -> str | None:
        self._waiting, command = next(iter(self._commands.items()), ("", ""))
        self._commands.pop(self._waiting, None)
        return self._typed(command) if self._typed is not None and command else None

    def _read(self, source: str, text: str, searched: str) -> None:
        self._ids.update(dict.fromkeys(ID.findall(text)))
        self.searched |= {searched} if searched and DONE in text else set()
        seen = [known in text for known in self._texts]
        self.saw = self.saw or (source if seen[0] else "")
        self.saw_variable = self.saw_variable or (source if any(seen[1:]) else "")

    def _asked(self, tool: Tool) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the arguments for a shell, with the places that it searches, or a tool that reads: none, or each id where it needs one."""
        required = tool.parameters.get("required", ())
        argument = command_argument(tool)
        if argument is not None:
            yield from ((name, {argument: command}) for name, command in self._commands.items())
            return
        if not words_of(tool.name) or not (
            READ_VERBS & {words_of(tool.name)[0]} or tool.name.startswith(CHINESE_READS)
        ):
            return
        if not required:
            yield "", {}
        elif len(required) == 1:
            yield from (("", {required[0]: id}) for id in [*self._ids][-MOST_TRIED:])


def plant(sample: Sample, canary: str, maker: object) -> Sample:
    """Return a sample with a canary in place of each text in its target and in what its turns expect, and where `maker` hides more."""
    turns = tuple(replace(turn, reference=_planted(turn.reference, canary)) for turn in sample.turns)
    target = canary if isinstance(sample.target, int | float) else _planted(sample.target, canary)
    planted = replace(sample, turns=turns, target=target)
    hide = declared(MakerInfo, maker).plant
    return planted if hide is None else hide(planted, canary)


def _planted(value: Any, canary: str) -> Any:
    if isinstance(value, str):
        return canary
    if isinstance(value, Mapping):
        return {key: _planted(each, canary) for key, each in value.items()}
    return [_planted(each, canary) for each in value] if isinstance(value, list | tuple) else value
