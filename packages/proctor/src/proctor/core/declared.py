"""Read the plain attributes by which a part describes itself: here and nowhere else, checked when the part is resolved.

A function or an object sets those that it needs (`scorer.version = "2"`, `class Mine: inline = False`); the rest have defaults.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from types import BuiltinFunctionType, FunctionType, MethodType, MethodWrapperType
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from proctor.core.errors import BadInput
from proctor.core.near import misspellings, near
from proctor.core.sample import Sample, Tool, ToolCall
from proctor.core.trajectory import Approval, Step, ToolStyle
from proctor.core.validation import in_words

ROUTINES = (BuiltinFunctionType, FunctionType, MethodType, MethodWrapperType)
Count = Annotated[int, msgspec.Meta(ge=1)]
Blame = Literal["agent", "environment"]
AnswerChanges = Callable[[Sample], Iterable[tuple[str, str | Sequence[ToolCall]]]]


class ScorerInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The attributes by which a scorer describes itself.

    Attributes:
        name: the name of its numbers; that of the function or object where it is empty.
        version: changes when its verdicts do; a digest of its source where it is empty.
        inline: True if it is quick enough for the event loop, False if it runs in a thread; None means True for Proctor's own.
        is_async: True if an object that is called returns something to await, though its `__call__` is no coroutine function.
        judge: what is recorded of the model that it asks; a value of another type is ignored.
        equivalents: a function that yields answers to a sample that must pass, each after its name; audits send them.
        opposites: the same for answers that must not pass.
    """

    name: str = ""
    version: str | int | float = ""
    inline: bool | None = None
    is_async: bool = False
    judge: Any = None
    equivalents: Any = None
    opposites: Any = None


class AgentInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The attributes by which an agent describes itself, in addition to `name` and `tools`.

    Attributes:
        concurrency: how many samples it takes at once, where the user does not say.
        model: the name under which its price is listed; a value that is no text is ignored.
        reports_cost: True if its usage says what it cost, or it costs nothing.
        price_source: the table that the price comes from, with its version, and the price.
        is_batched: True if its replies come hours later, many at once, so that no trial can be tried alone first.
    """

    concurrency: Count | None = None
    model: Any = None
    reports_cost: bool = False
    price_source: str = ""
    is_batched: bool = False


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The attributes by which a chat model describes itself, in addition to `name`.

    Attributes:
        concurrency: how many requests it takes at once.
        seed: the seed it was made with; each repeat adds one, as all replies would be the same otherwise.
        bounded: True if its replies are constrained by the schema, including the bounds in it.
        reports_cost: True if its usage says what it cost, or it costs nothing.
        pictures, pdf, sound: True if it is sent the pictures, PDFs, or WAV and MP3 files in results of tools.
        takes: a function that returns False for a file of a message that it is not sent; None if it takes every file.
    """

    concurrency: Count | None = None
    seed: int | None = None
    bounded: bool = False
    reports_cost: bool = False
    pictures: bool = True
    pdf: bool = False
    sound: bool = False
    takes: Any = None


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The attributes by which a session describes itself when the conversation is over.

    Attributes:
        tools: how tools were called in it, where that differs from its agent's `tools`.
        state: the agent's own state at the end.
        files_left_out: how many files of the messages the agent was not given, where the session knows.
        approvals: the decisions in a conversation that was recorded.
    """

    tools: ToolStyle | None = None
    state: Mapping[str, Any] | None = None
    files_left_out: int = 0
    approvals: Sequence[Approval] = ()


class OpenTurn(SessionInfo, frozen=True, kw_only=True):
    """The attributes of a session during a turn: also the steps `received` so far, in case a time limit ends it."""

    received: Sequence[Step] = ()


class EnvironmentInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The attributes by which an environment describes itself once it is entered.

    Attributes:
        tools: what the agent is offered where its turn brings no tools.
        max_steps: replies at most in one turn by the rules of the task, which end the conversation.
        wording: a `core.task.ToolWording`, by which the calls and results of agents without native tool calls are worded.
        check: is given each reply of a chat model before its calls are run; it may raise `EpisodeOver`.
    """

    tools: Sequence[Tool] = ()
    max_steps: Count | None = None
    wording: Any = None
    check: Any = None


class MakerInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The attributes by which what makes environments describes itself to audits, which search for what an agent may not see.

    Attributes:
        plant: returns a sample with a text in all that is kept from the agent, such as tests and solutions.
        typed: returns the words by which an agent without tools has a shell command run for a sample; None where it cannot.
    """

    plant: Callable[[Sample, str], Sample] | None = None
    typed: Callable[[Sample, str], str | None] | None = None


class EnvironmentRules(msgspec.Struct, frozen=True, kw_only=True):
    """The attributes of a user's class of tools by which it says what a call may do to it.

    Attributes:
        call_seconds: how long one call may take before its result is that it timed out; half of the time limit of a sample if None.
        blame_death: whose failure it is when it ends or hangs after a call, while a fresh one is sound.
    """

    call_seconds: Annotated[float, msgspec.Meta(gt=0)] | None = None
    blame_death: Blame = "agent"


class UserInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The attributes by which a simulated user describes itself.

    Attributes:
        steps: its steps since the request: its own tool calls with their results, or words that end the conversation.
        unpriced: the models it asks whose price is not known, so that no budget in money can bound them.
    """

    steps: Sequence[Step] = ()
    unpriced: Sequence[str] = ()


Info = TypeVar("Info", bound=msgspec.Struct)
Function = TypeVar("Function", bound=Callable[..., object])


def scorer(
    *,
    name: str = "",
    version: str = "",
    inline: bool | None = None,
    equivalents: AnswerChanges | None = None,
    opposites: AnswerChanges | None = None,
) -> Callable[[Function], Function]:
    """Declare the attributes of a function as a scorer; see `ScorerInfo`.

    >>> @scorer(version="2")
    ... def mine(sample, trajectory): ...
    >>> declared(ScorerInfo, mine).version
    '2'
    """
    attributes = {"name": name, "version": version, "equivalents": equivalents, "opposites": opposites}
    given = {key: value for key, value in attributes.items() if value}

    def declare(function: Function) -> Function:
        vars(function).update(given if inline is None else {**given, "inline": inline})
        return function

    return declare


def own_name(part: object) -> str:
    """Return the `name` of an object if it is a text; "" for a class."""
    name = None if isinstance(part, type) else getattr(part, "name", None)
    return name if isinstance(name, str) else ""


def declared(kind: type[Info], part: object) -> Info:
    """Return the attributes by which a part describes itself, unchecked."""
    return kind(**_values(kind, part))


def checked(kind: type[Info], part: object, name: str) -> Info:
    """Return the attributes by which a part describes itself.

    Raises:
        BadInput: an attribute is misspelt, or of another type than its kind describes.
    """
    refuse_misspelt(kind, part, name)
    try:
        return msgspec.convert(_values(kind, part), kind)
    except msgspec.ValidationError as error:
        raise BadInput(
            "'{name}' has an attribute of another type: {error}.", name=name, error=in_words(error)
        ) from None


def refuse_misspelt(kind: type[msgspec.Struct], part: object, name: str) -> None:
    """Raise `BadInput` if the name of an attribute is nearly one that `kind` describes.

    On a function any near name is refused, as its attributes are only there to be read by others. An object has attributes of
    its own, so only typing errors are refused: two letters swapped, one left out, or one doubled.
    """
    owner: type = type(part)
    for key, right in _misspelt(kind, owner, tuple(vars(part)) if hasattr(part, "__dict__") else ()).items():
        if key not in kind.__struct_fields__ and not key.startswith("_"):
            raise BadInput(
                "'{name}' has an attribute '{attribute}' that nothing reads. Did you mean '{near}'? If it is your own, begin its name with an underscore.",
                name=name,
                attribute=key,
                near=right,
            )


def _values(kind: type[msgspec.Struct], part: object) -> dict[str, object]:
    return {key: value for key in kind.__struct_fields__ if (value := getattr(part, key, None)) is not None}


@lru_cache(maxsize=1_000)
def _misspelt(kind: type[msgspec.Struct], owner: type, own: Sequence[str]) -> Mapping[str, str]:
    """Return the misspelt attribute names with the right ones; cached, as many parts of one class have the same attributes."""
    is_routine = issubclass(owner, ROUTINES)
    if is_routine:
        return {key: nearest[0] for key in own if (nearest := near(key, kind.__struct_fields__))}
    return {key: right for key in own if (right := _slips(kind).get(key))} or _slips_of_class(kind, owner)


@cache
def _slips(kind: type[msgspec.Struct]) -> Mapping[str, str]:
    return {wrong: right for right in kind.__struct_fields__ for wrong in misspellings(right)}


@cache
def _slips_of_class(kind: type[msgspec.Struct], owner: type) -> Mapping[str, str]:
    slips = _slips(kind)
    return {key: slips[key] for base in owner.__mro__ for key in vars(base) if key in slips}
