"""Compare JSON in the answer with the target as data, or with a schema.

The order of keys and the way of writing do not count; `1` equals `1.0`, but neither `true` nor `"1"`. The JSON is the
whole answer, a fenced block of it, or the first object or list in it.
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
from proctor.runtime import json_schema
from proctor.runtime.pattern_search import TooSlow
from proctor.scorers._texts import answer_of, no_target

PLACES_TRIED = 50
FENCE = "```"
NOTHING = object()


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the scorer: what counts as right.

    schema, schema_file: a JSON schema that the answer must fit; the target, where there is one, must be equal
    too. any_order: lists are equal in any order. tolerance: the relative difference that numbers may have.
    """

    schema: Mapping[str, Any] | None = None
    schema_file: str | None = None
    any_order: bool = False
    tolerance: float = 0.0


def json(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Right when the answer holds the target as data; a target that is text is read as JSON.

    >>> json(Sample.ask("a", "?", target={"x": 1, "y": [2]}), Trajectory.of('{"y": [2.0], "x": 1}')).points
    1
    """
    return _score(sample, trajectory, Options())


def make(options: Mapping[str, Any]) -> Scorer:
    """Make a scorer with `Options`.

    Raises:
        BadInput: the schema is invalid, or uses an unknown keyword.
    """
    chosen = converted(options, Options, "json")
    if chosen.schema_file is not None:
        chosen = msgspec.structs.replace(chosen, schema=_from_file(Path(chosen.schema_file)))
    if chosen.schema is not None:
        json_schema.check(chosen.schema)

    def json(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        return _score(sample, trajectory, chosen)

    return json


def _score(sample: Sample, trajectory: Trajectory, options: Options) -> Score | Unscored:
    if sample.target is None and options.schema is None:
        return no_target()
    answer = answer_of(trajectory)
    made = _in_text(answer)
    if made is NOTHING:
        return Score(points=0, answer=answer, reason=say("The answer holds no JSON: {answer}.", answer=quote(answer)))
    said = text_of.dumps(made, ensure_ascii=False)
    try:
        fault = _fault(sample.target, made, options)
    except TooSlow:
        return Unscored(why="scorer_failed", reason=say("A pattern of the schema took too long on this answer."))
    except RecursionError:
        fault = say("The JSON is nested too deep.")
    if fault is not None:
        return Score(points=0, answer=said, reason=fault)
    reason = say("Fits the schema.") if sample.target is None else say("Equal as data.")
    return Score(points=1, answer=said, reason=reason)


def _fault(target: object, made: object, options: Options) -> Sentence | None:
    if options.schema is not None and (found := json_schema.fault(options.schema, made)) is not None:
        return found
    if target is None:
        return None
    expected = _decoded(target) if isinstance(target, str) else target
    return next(_differences(target if expected is NOTHING else expected, made, "$", options), None)


def _in_text(text: str) -> object:
    for candidate in (text, *_fenced(text)):
        if (value := _decoded(candidate)) is not NOTHING:
            return value
    return _first_inside(text)


def _fenced(text: str) -> Iterator[str]:
    for block in text.split(FENCE, 2 * PLACES_TRIED)[1::2]:
        first, _, rest = block.partition("\n")
        yield rest if first.strip().isalnum() else block


def _first_inside(text: str) -> object:
    decoder = text_of.JSONDecoder(parse_constant=_refuse)
    start = -1
    for _ in range(PLACES_TRIED):
        places = [place for sign in "{[" if (place := text.find(sign, start + 1)) >= 0]
        if not places:
            break
        start = min(places)
        try:
            return decoder.raw_decode(text, start)[0]
        except (ValueError, RecursionError):
            continue
    return NOTHING


def _decoded(text: str) -> object:
    try:
        return text_of.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return NOTHING


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _differences(expected: object, made: object, path: str, options: Options) -> Iterator[Sentence]:
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
            wanted, found = (quote(text_of.dumps(one, ensure_ascii=False, default=str)) for one in (expected, made))
            yield say("{path}: expected {expected}, got {made}.", path=path, expected=wanted, made=found)


def _list_differences(expected: Any, made: list[Any], path: str, options: Options) -> Iterator[Sentence]:
    if len(expected) != len(made):
        yield say(
            "{path}: expected {expected} elements, got {made}.", path=path, expected=len(expected), made=len(made)
        )
    elif not options.any_order:
        for place, (one, other) in enumerate(zip(expected, made, strict=True)):
            yield from _differences(one, other, f"{path}[{place}]", options)
    else:
        rest = list(made)
        for place, one in enumerate(expected):
            hit = next(
                (at for at, other in enumerate(rest) if next(_differences(one, other, "", options), None) is None), None
            )
            if hit is None:
                yield say("{path}[{place}] is not in the list of the answer.", path=path, place=place)
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


PART = ScorerPart(scorer=json, make=make, options=Options)
