"""What other rooms read of the details of a score. Details are any JSON that a scorer writes; these keys have a meaning for reports and exports."""

from collections.abc import Mapping
from functools import reduce
from typing import Any, get_type_hints

import msgspec
from msgspec.structs import replace

from proctor.core.sentence import Sentence


class Battle(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison with a rival, as far as others read it; `result` is win, tie, loss or unknown."""

    rival: str = ""
    result: str = ""
    replies: tuple[str, ...] = ()


class Juror(msgspec.Struct, frozen=True, kw_only=True):
    """What one judge of a jury said, as far as others read it."""

    replies: tuple[str, ...] = ()


class KnownDetails(msgspec.Struct, frozen=True, kw_only=True):
    """The keys that are read by others; one that is missing, or that a scorer uses for something else, has its default.

    Attributes:
        passed: the scorer's own pass mark was reached.
        kind: of an `Unscored`: what went wrong, to count by.
        error_class, error_type, function, parameter: what was wrong, to count by, and where.
        calls, sides: the calls that were read in a text, and the expected calls beside those that were made.
        figures: shares by name that become numbers of the run.
        dimensions, scale, mean: points by dimension, on a scale, and their mean.
        replies, comparisons, judges, excluded, rubrics: what judges said; who was left out of a jury.
        first, second, consistent: of a probe: the verdicts with and without the change, and whether both orders agree.
        turns, passed_turns, reasons, threshold: values, verdicts and reasons by turn, and from where on a turn passes.
        item: what was generated.
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
    passed_turns: tuple[bool | None, ...] = ()
    reasons: tuple[str | Sentence, ...] = ()
    threshold: float | None = None
    item: Mapping[str, Any] | None = None
    rejected: bool = False
    replies_from_cache: int = 0


_TYPES = get_type_hints(KnownDetails)


def known_details(details: Mapping[str, Any]) -> KnownDetails:
    """Return the keys of details that others read.

    >>> known_details({"error_class": "wrong", "scale": "wide", "mine": 1}).scale is None
    True
    """
    given = {key: details[key] for key in KnownDetails.__struct_fields__ if key in details}
    try:
        return msgspec.convert(given, KnownDetails)
    except msgspec.ValidationError:  # one of them means something else to this scorer
        return reduce(_with, given.items(), KnownDetails())


def _with(known: KnownDetails, given: tuple[str, Any]) -> KnownDetails:
    key, value = given
    try:
        return replace(known, **{key: msgspec.convert(value, _TYPES[key])})
    except msgspec.ValidationError:
        return known
