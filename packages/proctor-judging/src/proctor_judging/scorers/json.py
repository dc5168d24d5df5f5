"""Compare JSON in the answer with the target as data, or with a schema.

The order of keys and the way of writing do not count; `1` equals `1.0`, but neither `true` nor `"1"`. The JSON is the
whole answer, a fenced block of it, or an object or list in it; strictly JSON, unless the option `repair` is set.
"""

import json as text_of
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, quote, say
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.core.validation import in_words
from proctor.runtime.pattern_search import TooSlow
from proctor.scorers.targets import answer_of, arguable, no_target
from proctor_judging.matching import json_schema
from proctor_judging.replies.json_values import NotJson, decode, name_repairs, read_values
from proctor_judging.replies.loose_json import Unreadable
from proctor_judging.replies.loose_json import read as read_loosely

LONGEST_REPAIRED = 20_000  # characters of a reply in which slips are looked for


class JsonOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the scorer: what counts as right.

    schema, schema_file: a JSON schema that the answer must fit; the target, where there is one, must be equal
    too. any_order: lists are equal in any order. tolerance: the relative difference that numbers may have. repair: read
    JSON with the usual slips too (bare keys, single or typographic quotes, commas at the end, comments, Python's True and None,
    brackets missing at the end); the details name them.
    """

    schema: Mapping[str, Any] | None = None
    schema_file: str | None = None
    any_order: bool = False
    tolerance: float = 0.0
    repair: bool = False


def json(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Right when the answer holds the target as data; a target that is text is read as JSON.

    >>> json(Sample.ask("a", "?", target={"x": 1, "y": [2]}), Trajectory.of('{"y": [2.0], "x": 1}')).points
    1
    """
    return _score(sample, trajectory, JsonOptions())


def make(options: Mapping[str, Any]) -> Scorer:
    """Make a scorer with `JsonOptions`.

    Raises:
        BadInput: the schema is invalid, or uses an unknown keyword.
    """
    chosen = converted(options, JsonOptions, "json")
    if chosen.schema_file is not None:
        chosen = msgspec.structs.replace(chosen, schema=_from_file(Path(chosen.schema_file)))
    if chosen.schema is not None:
        json_schema.check(chosen.schema)

    def json(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        return _score(sample, trajectory, chosen)

    return json


def _score(sample: Sample, trajectory: Trajectory, options: JsonOptions) -> Score | Unscored:
    if sample.target is None and options.schema is None:
        return no_target()
    answer = answer_of(trajectory)
    claims = read_claims(answer, repair=options.repair)
    if not claims.values:
        reason = say("The answer holds no JSON: {answer}.", answer=quote(answer))
        details = {} if options.repair or not _repaired(answer).values else {"repairable": name_repairs(answer)}
        return Score(points=0, answer=answer, reason=reason, details=details)
    written = [text_of.dumps(value, ensure_ascii=False) for value in claims.values]
    try:
        faults = [_checked(sample.target, value, options) for value in claims.values]
    except TooSlow:
        return Unscored(why="scorer_failed", reason=say("A pattern of the schema took too long on this answer."))
    if None in faults and any(faults):
        return arguable(written)
    details = {"repaired": list(claims.repaired)} if claims.repaired else {}
    if faults[0] is not None:
        return Score(points=0, answer=written[0], reason=faults[0], details=details)
    reason = say("Fits the schema.") if sample.target is None else say("Equal as data.")
    if claims.repaired:
        reason = say("{reason} Repaired: {repairs}.", reason=reason, repairs=", ".join(claims.repaired))
    return Score(points=1, answer=written[0], reason=reason, details=details)


class JsonClaims(msgspec.Struct, frozen=True):
    """The JSON values between which a reply leaves open, and what had to be repaired to read them."""

    values: tuple[Any, ...] = ()
    repaired: tuple[str, ...] = ()


def read_claims(reply: str, question: str = "", *, repair: bool = False) -> JsonClaims:  # noqa: ARG001 - claims of all scorers are read so
    """Read the JSON that a reply gives; with `repair`, also JSON with the usual slips where there is none without.

    >>> read_claims('{"a": 1}').values, read_claims("{a: 1,}").values, read_claims("{a: 1,}", repair=True).repaired
    (({'a': 1},), (), ('bare keys', 'a comma at the end'))
    """
    values = tuple(read_values(reply))
    return _repaired(reply) if repair and not values else JsonClaims(values)


def _repaired(reply: str) -> JsonClaims:
    if len(reply) > LONGEST_REPAIRED:
        return JsonClaims()
    try:
        return JsonClaims((read_loosely(reply),), tuple(name_repairs(reply)))
    except Unreadable:
        return JsonClaims()


def _checked(target: object, value: object, options: JsonOptions) -> Sentence | None:
    try:
        return _fault(target, value, options)
    except RecursionError:
        return say("The JSON is nested too deep.")


def _fault(target: object, made: object, options: JsonOptions) -> Sentence | None:
    if options.schema is not None and (sentence := json_schema.fault(options.schema, made)) is not None:
        return sentence
    if target is None:
        return None
    return next(_differences(_expected(target), made, "$", options), None)


def _expected(target: object) -> object:
    """Return a target as data; a text that is no JSON is a text."""
    try:
        return decode(target) if isinstance(target, str) else target
    except NotJson:
        return target


def _differences(expected: object, made: object, path: str, options: JsonOptions) -> Iterator[Sentence]:
    """Yield where two values differ; the first difference is the one that is reported."""
    match expected, made:
        case dict(), dict():
            for key in expected:
                if key not in made:
                    yield say("{path}: '{key}' is missing.", path=path, key=key)
                else:
                    yield from _differences(expected[key], made[key], f"{path}.{key}", options)
            for key in made:
                if key not in expected:
                    yield say("{path}: '{key}' is not expected.", path=path, key=key)
        case list() | tuple(), list():
            yield from _list_differences(expected, made, path, options)
        case _ if not _same(expected, made, options.tolerance):
            wanted, got = (quote(text_of.dumps(value, ensure_ascii=False, default=str)) for value in (expected, made))
            yield say("{path}: expected {expected}, got {made}.", path=path, expected=wanted, made=got)


def _list_differences(expected: Any, made: list[Any], path: str, options: JsonOptions) -> Iterator[Sentence]:
    if len(expected) != len(made):
        yield say(
            "{path}: expected {expected} elements, got {made}.", path=path, expected=len(expected), made=len(made)
        )
    elif not options.any_order:
        for index, (value, other) in enumerate(zip(expected, made, strict=True)):
            yield from _differences(value, other, f"{path}[{index}]", options)
    else:
        rest = list(made)
        for index, value in enumerate(expected):
            hit = next(
                (at for at, other in enumerate(rest) if next(_differences(value, other, "", options), None) is None),
                None,
            )
            if hit is None:
                yield say("{path}[{place}] is not in the list of the answer.", path=path, place=index)
                return
            del rest[hit]


def _same(expected: object, made: object, tolerance: float) -> bool:
    if isinstance(expected, bool) or isinstance(made, bool):
        return expected is made
    if isinstance(expected, int | float) and isinstance(made, int | float):
        return expected == made or math.isclose(expected, made, rel_tol=tolerance)
    return type(expected) is type(made) and bool(expected == made)


def _from_file(path: Path) -> Mapping[str, object]:
    try:
        schema: Mapping[str, object] = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except OSError as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error) from None
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise BadInput("{path} is no JSON object: {error}.", path=path, error=in_words(error)) from None
    return schema


PART = ScorerPart(scorer=json, make=make, options=JsonOptions)
