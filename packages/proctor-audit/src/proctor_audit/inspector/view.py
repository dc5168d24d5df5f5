"""A trial as the rules see it: messages with their index, and calls joined with their results."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import Any, Literal

import msgspec

from proctor.core.sample import ToolResult
from proctor.core.sentence import Sentence
from proctor_audit.findings import FindingClass, Invalidates
from proctor_audit.inspector.orders import without_orders

TrialAuthor = Literal["system", "user", "agent", "tool"]


class TrialStep(msgspec.Struct, frozen=True, kw_only=True):
    """One message; `index` counts from 0, `reasoning` is never part of what the agent said to others."""

    index: int
    author: TrialAuthor
    text: str = ""
    reasoning: str = ""
    has_calls: bool = False
    has_files: bool = False


class TrialCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call with its result; `key` is equal for calls of equal name and arguments, `answered` is None without a result."""

    step: int
    name: str
    arguments: str
    key: str
    id: str = ""
    values: tuple[tuple[str, str], ...] = ()
    answered: int | None = None
    result: str = ""
    is_error: bool = False

    @property
    def steps(self) -> tuple[int, ...]:
        """Return the index of the call, and that of its result if there is one."""
        return (self.step,) if self.answered is None else (self.step, self.answered)


class InspectedTrial(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One conversation with what is known of it.

    Attributes:
        id: the sample, with the attempt where there are several.
        sample: the sample alone; '' where each trial is of another one.
        attempt: which attempt at the sample, from 0.
        score: the share of the points, None if there is none.
        counts: False if no score is missing: the sample only prepares others, or the scorer does not apply to it.
        stop: "length", "done", or "" if unknown.
        extracted: what the scorer read as the answer; `has_extracted` is False where nothing is known of it.
        user_script: the instructions of the simulated user.
        simulated_user: True if its user is simulated.
    """

    id: str
    steps: tuple[TrialStep, ...]
    calls: tuple[TrialCall, ...]
    sample: str = ""
    attempt: int = 0
    run: str = ""
    cluster: str = ""
    outcome: str = "scored"
    score: float | None = None
    counts: bool = True
    stop: str = ""
    targets: tuple[str, ...] = ()
    extracted: str | None = None
    has_extracted: bool = False
    user_script: str = ""
    simulated_user: bool = False

    def said_by(self, author: TrialAuthor) -> Iterator[TrialStep]:
        """Yield the messages of one author, in order."""
        return (step for step in self.steps if step.author == author)

    @cached_property
    def task_text(self) -> str:
        """Return the instructions that precede the first act of the agent: system messages and the first messages of the user."""
        asked = takewhile(lambda step: step.author not in ("agent", "tool"), self.steps)
        return without_orders("\n".join(step.text for step in asked))

    @cached_property
    def last_reply(self) -> TrialStep | None:
        """Return the last message of the agent; None if it never spoke."""
        return next((step for step in reversed(self.steps) if step.author == "agent"), None)

    def seen_before(self, index: int) -> str:
        """Return all that others than the agent had written before a message, without orders to a reviewer."""
        return without_orders("\n".join(step.text for step in self.steps[:index] if step.author != "agent"))


class TrialEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened in a trial.

    Attributes:
        span: what occurs literally in one of the steps; '' where the steps themselves are the witness.
        cls, invalidates: where they are not those that the rule declares.
    """

    steps: tuple[int, ...]
    span: str
    sentence: Sentence
    cls: FindingClass | None = None
    invalidates: Invalidates | None = None


def trial_id(sample: str, attempt: int) -> str:
    """Return the id of an attempt at a sample; `#` in the id of a sample is doubled, so that no two attempts share an id.

    >>> trial_id("a", 0), trial_id("a", 1), trial_id("a#1", 0)
    ('a', 'a#1', 'a##1')
    """
    return sample.replace("#", "##") + (f"#{attempt}" if attempt else "")


def make_call(step: int, name: str, arguments: str, id: str = "") -> TrialCall:
    """Make a call without a result from the text of its arguments."""
    return TrialCall(
        step=step, name=name, arguments=arguments, key=key_of(name, arguments), id=id, values=values_of(arguments)
    )


def key_of(name: str, arguments: str) -> str:
    """Return a text that is equal for calls of equal name and arguments, whatever the order of the keys.

    >>> key_of("f", '{"b": 1, "a": 2}') == key_of("f", '{"a":2,"b":1}')
    True
    """
    try:
        return name + msgspec.json.encode(msgspec.json.decode(arguments), order="sorted").decode()
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return name + arguments.strip()


def values_of(arguments: str) -> tuple[tuple[str, str], ...]:
    """Return the texts and numbers in arguments, each with the name of the key that holds it.

    >>> values_of('{"path": "a.py", "lines": [1, 2]}')
    (('path', 'a.py'), ('lines', '1'), ('lines', '2'))
    """
    try:
        value = msgspec.json.decode(arguments)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return (("", arguments),) if arguments.strip() else ()
    return tuple(_leaves("", value, 0))


def _leaves(name: str, value: object, depth: int) -> Iterator[tuple[str, str]]:
    if depth > 12:
        return
    match value:
        case dict():
            for key, inner in value.items():
                yield from _leaves(str(key), inner, depth + 1)
        case list():
            for inner in value:
                yield from _leaves(name, inner, depth + 1)
        case None:
            return
        case _:
            yield name, str(value)


def steps_of(calls: Sequence[TrialCall]) -> tuple[int, ...]:
    """Return the indices of calls and their results, in order."""
    return tuple(sorted({step for call in calls for step in call.steps}))


def join_results(calls: Sequence[TrialCall], results: Sequence[tuple[int, ToolResult]]) -> tuple[TrialCall, ...]:
    """Join each result with the first earlier call without one that has its id, or its name where no id is given.

    Args:
        results: with the steps that they are in.
    """
    joined = list(calls)
    waiting: list[int] = []
    position = 0
    for step, result in results:
        while position < len(joined) and joined[position].step < step:
            waiting.append(position)
            position += 1
        number = next((number for number in waiting if _answers(joined[number], result)), None)
        if number is not None:
            waiting.remove(number)
            joined[number] = msgspec.structs.replace(
                joined[number], answered=step, result=result.content, is_error=result.is_error
            )
    return tuple(joined)


def _answers(call: TrialCall, result: ToolResult) -> bool:
    if call.id and result.id:
        return call.id == result.id
    return result.name in ("", call.name)


def text_of(content: Any) -> str:
    """Return the text of the content of a chat message: a text, or parts.

    >>> text_of([{"type": "text", "text": "a"}, {"type": "image_url"}]), text_of(None)
    ('a', '')
    """
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return str(content.get("text") or "")
    if isinstance(content, Sequence):
        return "".join(text_of(part) for part in content)
    return ""
