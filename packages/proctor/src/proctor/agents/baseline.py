"""Agents that know nothing, or everything: a sound benchmark scores them 0, chance, and 100.

`null` says nothing, `echo` repeats the question, `oracle` gives the right answer, `random` draws one of the sample's
options, or a call of one of the tools, or the letter of an option that its question lists, or a word of the question,
from a seed made of the sample's id. It draws one option also where several may be right.
"""

import copy
import random
import re
import unicodedata
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal, Self, get_args

import msgspec

from proctor import registry
from proctor.agents.conversation import Performed, RecordedConversation
from proctor.chat.message_text import as_json, text_of
from proctor.chat.tool_schema import bounded
from proctor.config import converted
from proctor.core.errors import AgentFailed
from proctor.core.parts import AgentPart
from proctor.core.sample import Message, Sample, Tool, ToolCall, Turn
from proctor.core.task import Agent, Environment, Session
from proctor.core.trajectory import Step, ToolStyle, Trajectory

Kind = Literal["null", "echo", "oracle", "random"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Oracle = Callable[[Sample], Trajectory]
LARGEST = 100
# of a text with full-width characters as usual ones
_OPTION = re.compile(r"(?<![A-Za-z0-9])[(\[【]?([A-Z])[)\]】.、:]")


class BaselineOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `baseline:` agents.

    Attributes:
        seed: another one makes `random` draw otherwise.
    """

    seed: int = 0


def make(argument: str, options: Mapping[str, object]) -> Agent:
    """Return the agent `baseline:null`, `:echo`, `:oracle` or `:random`.

    Raises:
        BadInput: none of these, or an unknown option.
    """
    if argument not in KINDS:
        raise registry.unknown("agent", f"baseline:{argument}", [f"baseline:{kind}" for kind in KINDS], paths=False)
    return BaselineAgent(argument, converted(options, BaselineOptions, f"baseline:{argument}"))


class BaselineAgent:
    """One of the four; `with_oracle` tells it the right answers of a task whose targets are no text."""

    reports_cost = True  # it costs nothing

    def __init__(self, kind: Kind, options: BaselineOptions = BaselineOptions()) -> None:  # noqa: B008 (frozen)
        self.name = f"baseline:{kind}"
        self.tools: ToolStyle = "text" if kind == "oracle" else "native"  # a right answer is given in words first
        self.oracle: Oracle | Agent | None = None
        self._kind = kind
        self._seed = options.seed

    def with_oracle(self, oracle: Oracle | Agent | None) -> Self:
        """Return the same agent, with the task's function for right answers, or an agent that gives them."""
        agent = copy.copy(self)
        agent.oracle = oracle
        return agent

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        match self._kind:
            case "oracle":
                if isinstance(self.oracle, Agent):
                    async with self.oracle.open(sample, environment) as session:
                        yield session
                    return
                known = _target(sample) if self.oracle is None else self.oracle(sample)
                has_results = any(step.message.role == "tool" for step in known.steps)
                recorded = RecordedConversation(known)
                yield recorded if environment is None or has_results else Performed(recorded, environment)
            case "random":
                drawing = _Drawing(sample, random.Random(f"{self._seed} {sample.id}"), environment is not None)  # noqa: S311 (no secret)
                yield drawing if environment is None else Performed(drawing, environment)
            case _:
                yield _Fixed(self._kind == "echo")


class _Fixed:
    def __init__(self, echo: bool) -> None:
        self._echo = echo

    async def send(self, turn: Turn) -> Sequence[Step]:
        return [_says(text_of(turn.messages) if self._echo else "")]


class _Drawing:
    def __init__(self, sample: Sample, draw: random.Random, acts: bool) -> None:
        self._acts = acts
        self._options = list(sample.known.options)
        self._letters = _letters_in(_asked(sample))
        self._draw = draw

    async def send(self, turn: Turn) -> Sequence[Step]:
        if self._options:
            return [_says(str(self._draw.choice(self._options)))]
        if turn.tools:
            step = Step(message=Message(role="assistant", parts=(self._call(turn.tools),)))
            return [step, _says("Done.")] if self._acts else [step]
        return [_says(self._draw.choice(self._letters or text_of(turn.messages).split() or [""]))]

    def _call(self, tools: Sequence[Tool]) -> ToolCall:
        tool = self._draw.choice(tools)
        return ToolCall(name=tool.name, arguments=self._value(bounded(tool.parameters)), id="call_0")

    def _value(self, schema: Mapping[str, Any]) -> Any:
        """Any value that a bounded schema allows; of an object only what is required."""
        match schema:
            case {"const": value}:
                return value
            case {"enum": values}:
                return self._draw.choice(values)
            case {"anyOf": ways}:
                return self._value(self._draw.choice(ways))
            case {"type": "object"}:
                return {name: self._value(schema["properties"][name]) for name in schema.get("required", ())}
            case {"type": "array", "items": items, "minItems": least, "maxItems": most}:
                return [self._value(items) for _ in range(self._draw.randint(least, min(most, least + 3)))]
            case {"type": "integer" | "number", "minimum": low, "maximum": high}:
                return self._draw.randint(int(max(low, min(0, high))), int(min(high, max(LARGEST, low))))
            case {"type": "boolean"}:
                return self._draw.random() < 0.5
            case {"type": "string", "maxLength": most}:
                return "".join(self._draw.choices("abcdefghij", k=min(most, 5)))
        return None


def _asked(sample: Sample) -> str:
    """Return what the user says in all turns of a sample: options may stand in an earlier one than the last."""
    return "\n".join(message.text for turn in sample.turns for message in turn.messages if message.role == "user")


def _letters_in(text: str) -> list[str]:
    """Return the letters of the options that a text lists last, from A without a gap; none for fewer than two.

    >>> _letters_in("A. 1 B. 2\\n\\nWhich?\\n(A) red\\n(B) blue\\n(C) green"), _letters_in("Plan A. Go")
    (['A', 'B', 'C'], [])
    """
    listed: list[str] = []
    letters: list[str] = []
    for match in _OPTION.finditer(unicodedata.normalize("NFKC", text)):
        if match[1] == "A":
            letters = ["A"]
        elif letters and ord(match[1]) == ord(letters[-1]) + 1:
            letters.append(match[1])
        if len(letters) > 1:
            listed = letters
    return listed


def _says(text: str) -> Step:
    return Step(message=Message.of("assistant", text) if text else Message(role="assistant"))


def _target(sample: Sample) -> Trajectory:
    """Return a trajectory out of the sample's target: the text, the first of several, a number as text."""
    target = sample.target
    if isinstance(target, list | tuple) and target:
        target = target[0]
    if target is None:
        raise AgentFailed(
            "The task has no right answer for this sample, so baseline:oracle cannot give it.", kind="no_target"
        )
    return Trajectory.of(target if isinstance(target, str) else as_json(target))


PART = AgentPart(make=make, options=BaselineOptions)
