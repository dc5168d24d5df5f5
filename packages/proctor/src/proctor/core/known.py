"""Type the keys with a shared meaning in two open mappings: the details of a score and the `meta` of a sample.

Both hold any JSON that a scorer or a data file writes; other modules read only these keys. What is stored is unchanged.
"""

from collections.abc import Mapping
from functools import cache
from itertools import chain
from typing import Any, TypeVar, get_type_hints

import msgspec

from proctor.core.sentence import Sentence


class Battle(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison with a rival; `result` is win, tie, loss or unknown."""

    rival: str = ""
    result: str = ""
    replies: tuple[str, ...] = ()


class Juror(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of one judge of a jury."""

    replies: tuple[str, ...] = ()


class KnownDetails(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of `details` with a shared meaning; one that is missing, or has another type, has its default.

    Attributes:
        passed: the scorer's own pass mark was reached.
        kind: of an `Unscored`: what went wrong, to count by.
        error_class, error_type, function, parameter: the kind of error, to count by, and where it is.
        calls, sides: the calls that were read in a text, and the expected calls next to those that were made.
        figures: shares by name that become numbers of the run.
        dimensions, scale, mean: points by dimension, on a scale, and their mean.
        replies, comparisons, judges, excluded, rubrics: the judgements, and the judges excluded from a jury.
        first, second, consistent: of a probe: the verdicts with and without the change, and whether both orders agree.
        turns, passed_turns, reasons, threshold: values, verdicts and reasons by turn, and from where on a turn passes.
        turn: the first turn that did not pass; `differences` after it between the state and the expected one, as `path`, `got`
            and `expected`; `missing` results that were expected by then.
        item: the generated item.
        rejected: the reply says that an image is missing.
        replies_from_cache: how many replies of its judge came from the reply cache.
    """

    passed: bool | None = None
    kind: str = ""
    error_class: str = ""
    error_type: str = ""
    function: str | None = None
    parameter: str | None = None
    calls: Any = None
    sides: Any = None
    figures: Mapping[str, float] = {}
    dimensions: Mapping[str, float | None] = {}
    scale: tuple[float, float] | None = None
    mean: float | None = None
    replies: tuple[str, ...] = ()
    comparisons: tuple[Battle, ...] = ()
    judges: Mapping[str, Juror] = {}
    excluded: tuple[str, ...] = ()
    rubrics: tuple[Mapping[str, float], ...] = ()
    first: float | None = None
    second: float | None = None
    consistent: bool | None = None
    turns: tuple[float | None, ...] | Mapping[str, Any] = ()
    turn: int | None = None
    differences: tuple[Mapping[str, Any], ...] = ()
    missing: tuple[str, ...] = ()
    passed_turns: tuple[bool | None, ...] = ()
    reasons: tuple[str | Sentence, ...] = ()
    threshold: float | None = None
    item: Mapping[str, Any] | None = None
    rejected: bool = False
    replies_from_cache: int = 0


class Rival(msgspec.Struct, frozen=True, kw_only=True):
    """A text that the answer to a sample is compared with."""

    id: str
    text: str


class KnownTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn of a case."""

    invocation_id: str = ""
    rubrics: tuple[Mapping[str, Any], ...] = ()


class KnownMeta(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of `meta` with a shared meaning; one that is missing, or has another type, has its default.

    Attributes:
        type: the kind of question, by which a scorer can be chosen.
        options: the texts of the options to choose from, in their order or by letter.
        recorded: a text that was written elsewhere, to be scored or judged in place of an agent's answer.
        item: the fields of an item that is judged as a whole; `examples` show what it should be like.
        rivals: what the answer is compared with.
        eval_set_id, eval_id: the file and the case of the sample.
        invocations, rubrics, scenario, session, final_session_state: what the case says of its turns, and of the whole.
        adk: the criteria of the set for the scorers of the room `adk`.
        after: the id of the sample in whose last state this one starts; that one is played first.
        start: that state, given by the engine when the sample is played.
        environment: what the environment of the sample starts with, such as the arguments of its class.
        max_steps: replies at most in one turn by the rules of the task, which ends the conversation after them.
    """

    type: str | int | float = ""
    options: tuple[Any, ...] | Mapping[str, Any] = ()
    recorded: str | None = None
    item: Mapping[str, Any] | None = None
    examples: tuple[Any, ...] = ()
    rivals: tuple[Rival, ...] | None = None
    eval_set_id: str = ""
    eval_id: str = ""
    invocations: tuple[KnownTurn, ...] = ()
    rubrics: tuple[Mapping[str, Any], ...] = ()
    scenario: Mapping[str, Any] | None = None
    session: Mapping[str, Any] = {}
    final_session_state: Mapping[str, Any] = {}
    adk: Mapping[str, Any] = {}
    after: str = ""
    start: Mapping[str, Any] | None = None
    environment: Mapping[str, Any] | None = None
    max_steps: int | None = None


K = TypeVar("K", bound=msgspec.Struct)


def known(kind: type[K], values: Mapping[str, Any]) -> K:
    """Return the keys of a mapping that a type describes; a value of another type is ignored.

    >>> known(KnownDetails, {"error_class": "wrong", "scale": "wide", "mine": 1}).scale is None
    True
    """
    fields = kind.__struct_fields__
    given = {key: value for key, value in values.items() if key in fields and value is not None}
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError:  # one of them means something else to whoever wrote it
        types = _types(kind)
        return kind(**dict(chain.from_iterable(_fitting(key, value, types[key]) for key, value in given.items())))


@cache
def _types(kind: type[msgspec.Struct]) -> Mapping[str, object]:
    return get_type_hints(kind)


def _fitting(key: str, value: object, kind: object) -> list[tuple[str, object]]:
    try:
        return [(key, msgspec.convert(value, kind))]
    except msgspec.ValidationError:
        return []
