"""Read what programs that record any function write: inputs and outputs of any shape, and errors."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import ParamSpec

from msgspec.structs import replace

from proctor.core.sample import Message, Sample, Turn
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Outcome, TrialFailure
from proctor_adapters.imports._foreign import ForeignTrial
from proctor_adapters.imports._messages import message, steps, text_of
from proctor_adapters.imports._values import MOST_TEXT_CHARACTERS

P = ParamSpec("P")
ANSWERS = ("output", "answer", "response", "result", "text", "content", "completion")


def sample(
    id: str, asked: object, target: object, tags: Mapping[str, str], metadata: Mapping[str, object] | None = None
) -> Sample:
    """Return the sample of an input and the expected output, each of any shape."""
    wanted = only_value(target)
    turn = Turn(messages=question(asked), reference=wanted)
    return Sample(id=id, turns=(turn,), target=wanted, tags=tags, meta={"metadata": metadata} if metadata else {})


def question(value: object) -> tuple[Message, ...]:
    """Return what was asked: messages, a text, or an object as text.

    >>> question({"question": "2+2?"})[0].text, question({"a": 1, "b": 2})[0].text
    ('2+2?', '{"a": 1, "b": 2}')
    """
    if (messages := _messages(value)) is not None:
        return messages
    return (Message.of("user", text_of(only_value(value))),)


def trajectory(value: object) -> Trajectory:
    """Return what was answered: messages, or the text of an output."""
    messages = _messages(value)
    if messages is not None:
        return Trajectory(steps=steps(messages), tools="native" if any(each.calls for each in messages) else "text")
    if isinstance(value, Mapping) and str(value.get("role", "")) in ("assistant", "ai"):
        return Trajectory(steps=steps([message(value)]))
    named = next((value[key] for key in ANSWERS if key in value), value) if isinstance(value, Mapping) else value
    text = text_of(only_value(named))
    return Trajectory.of(text) if text else Trajectory()


def number_attempts(read: Callable[P, Iterator[ForeignTrial]]) -> Callable[P, Iterator[ForeignTrial]]:
    """Have a reader number the attempts at each sample in the order in which they come."""

    def numbering(*args: P.args, **options: P.kwargs) -> Iterator[ForeignTrial]:
        attempts: Counter[str] = Counter()
        for trial in read(*args, **options):
            yield replace(trial, attempt=attempts[trial.sample.id])
            attempts[trial.sample.id] += 1

    return numbering


def only_value(value: object) -> object:
    """Return the value of an object that has one entry; anything else unchanged."""
    return next(iter(value.values())) if isinstance(value, Mapping) and len(value) == 1 else value


def outcome_of(error: object) -> tuple[Outcome, TrialFailure | None]:
    """Return the outcome of a call; one with an error is not scored 0, because the log does not say whose fault it was."""
    if not error:
        return "scored", None
    return "environment_failed", failure_of(error)


def failure_of(error: object, kind: str = "error") -> TrialFailure:
    """Return a failure with what a log says of it."""
    return TrialFailure(kind=kind, reason=text_of(error)[:MOST_TEXT_CHARACTERS])


def _messages(value: object) -> tuple[Message, ...] | None:
    listed = value.get("messages") if isinstance(value, Mapping) else value
    if not isinstance(listed, list) or not listed or not all(_is_message(entry) for entry in listed):
        return None
    return tuple(message(entry) for entry in listed)


def _is_message(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and ("content" in value or "tool_calls" in value)
        and bool({"role", "type"} & value.keys())
    )
