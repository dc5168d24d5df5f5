"""Read an eval-set file in any shape it ever had.

The current object, with keys in either spelling; the list of cases before it (`name`, `data`); the oldest list of
turns (`query`, `reference`); the list of tracing spans. What ADK would take amiss is an error with line and JSON path,
what it would swallow a note.
"""

import codecs
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Literal

import msgspec

from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.core.validation import describe_malformed, in_words
from proctor.runtime.files import reading
from proctor_adapters.evalsets import legacy, spans
from proctor_adapters.evalsets.noun import convert, normalize, read_noun
from proctor_adapters.evalsets.schema import (
    ConversationScenario,
    ConversationScenarios,
    EvalCase,
    EvalSet,
    SessionInput,
)
from proctor_adapters.json_path import Invalid, Path, format_path, line_of

MOST_BYTES = 256_000_000
SUFFIXES = (".evalset.json", ".test.json", ".json")
GENERATED_KEYS = ("id", "topic", "generated_at", "generation")  # of an item of `proctor data generate`
Shape = Literal["current", "mixed", "nested list", "flat list", "spans"]


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it was read: the set, its original form, its oddities, and a digest of its bytes."""

    eval_set: EvalSet
    shape: Shape
    notes: tuple[Sentence, ...] = ()
    digest: str = ""


def read(path: FilePath | str) -> Loaded:
    """Return the eval set of a file.

    Raises:
        BadInput: no such file, no JSON, none of the shapes or several at once, a value of the wrong type, a key that
            ADK refuses, the same id twice; names file, line and JSON path.
    """
    path = FilePath(path).expanduser()
    return parse(file_bytes(path), path)


def parse(data: bytes, path: FilePath) -> Loaded:
    """Return the eval set of a text; messages name the path, and a set without an id is called after it.

    Raises:
        BadInput: as `read`.
    """
    text, value, doubled = _json(data, path)
    try:
        shape, eval_set, notes = _load(value, path)
        nameless = _check(eval_set)
    except Invalid as error:
        raise _bad(path, text, error, original=value) from None
    twice = [
        say("the key '{key}' occurs twice in one object; the last one counts.", key=key) for key in sorted(doubled)
    ]
    if data.startswith(codecs.BOM_UTF8):
        shape = "mixed" if shape == "current" else shape
        twice.append(
            say("the file begins with a byte order mark, which ADK cannot read: proctor adk evalset migrate drops it.")
        )
    return Loaded(eval_set=eval_set, shape=shape, notes=(*notes, *nameless, *twice), digest=digest_bytes(data))


def read_case(path: FilePath | str) -> EvalCase:
    """Read one case from a file that holds nothing else.

    Raises:
        BadInput: it is not valid.
    """
    path = FilePath(path).expanduser()
    return _case(file_bytes(path), path)


def case_of(text: str) -> EvalCase:
    """Read one case from a text.

    Raises:
        BadInput: it is not valid.
    """
    return _case(text.encode("utf-8", "surrogatepass"), FilePath("case.json"))


def read_session(path: FilePath | str) -> SessionInput:
    """Return a session from a file of its own, as the oldest form had it: `app_name`, `user_id`, `state`.

    Raises:
        BadInput: it is not valid.
    """
    path = FilePath(path).expanduser()
    text, value, _ = _json(file_bytes(path), path)
    try:
        session = normalize(value, SessionInput).value
        return convert(
            {"app_name": "", "user_id": "", **session} if isinstance(session, dict) else session, SessionInput
        )
    except Invalid as error:
        raise _bad(path, text, error, original=value) from None


def read_scenarios(path: FilePath | str) -> list[ConversationScenario]:
    """Return the scenarios of a file: `{"scenarios": [...]}`, or the list alone.

    Raises:
        BadInput: it holds none, or one that cannot be played.
    """
    path = FilePath(path).expanduser()
    text, value, _ = _json(file_bytes(path), path)
    given = {"scenarios": [_without_generated(item) for item in value]} if isinstance(value, list) else value
    try:
        scenarios = read_noun(given, ConversationScenarios).scenarios
    except Invalid as error:
        at = error.path[1:] if isinstance(value, list) else error.path
        raise _bad(path, text, Invalid(at, error.problem), original=None) from None
    if not scenarios:
        raise BadInput("{path} has no scenarios.", path=path)
    return scenarios


def file_bytes(path: FilePath) -> bytes:
    """Return the bytes of a file.

    Raises:
        BadInput: it cannot be read, or is too large.
    """
    with reading(path):
        if path.stat().st_size > MOST_BYTES:
            raise BadInput("{path} is larger than {limit} MB; split it.", path=path, limit=MOST_BYTES // 1_000_000)
        return path.read_bytes()


def set_id(path: FilePath) -> str:
    """Return the id of a set whose file has none, from the name of the file.

    >>> set_id(FilePath("dir/shop.evalset.json"))
    'shop'
    """
    return next((path.name.removesuffix(end) for end in SUFFIXES if path.name.endswith(end)), path.name)


def _without_generated(scenario: object) -> object:
    """Return a scenario without what `proctor data generate scenario` writes beside it."""
    if not isinstance(scenario, Mapping):
        return scenario
    return {key: value for key, value in scenario.items() if key not in GENERATED_KEYS}


def _case(data: bytes, path: FilePath) -> EvalCase:
    text, value, _ = _json(data, path)
    try:
        case = read_noun(value, EvalCase)
        for _ in _check_case(case, ()):  # what is odd is said when the set is run
            pass
    except Invalid as error:
        raise _bad(path, text, error, original=value) from None
    return case


def _load(value: object, path: FilePath) -> tuple[Shape, EvalSet, tuple[Sentence, ...]]:
    if isinstance(value, dict):
        return _object(value)
    if not isinstance(value, list):
        raise Invalid((), say("expected an eval set: a JSON object with 'eval_cases', or a list in an older shape"))
    kind = _kind_of_list(value)
    if kind == "spans":
        return "spans", *spans.read(value, str(path))
    name = set_id(path)
    cases = legacy.cases(value) if kind == "nested list" else [legacy.case(name, value)]
    return kind, convert({"eval_set_id": name, "name": name, "eval_cases": cases}, EvalSet), ()


def _object(value: Mapping[str, object]) -> tuple[Shape, EvalSet, tuple[Sentence, ...]]:
    if not {"eval_cases", "evalCases", "eval_set_id", "evalSetId"} & value.keys():
        raise Invalid((), say("expected an eval set: there is neither 'eval_set_id' nor 'eval_cases'"))
    made = normalize(value, EvalSet)
    return "mixed" if made.renamed else "current", convert(made.value, EvalSet), made.notes


def _kind_of_list(value: Sequence[object]) -> Shape:
    known: dict[str, Shape] = {"data": "nested list", "query": "flat list", "trace_id": "spans"}
    first: Shape | None = None
    for index, element in enumerate(value):
        keys = element.keys() if isinstance(element, dict) else ()
        kind = next((shape for key, shape in known.items() if key in keys), None)
        if kind is None:
            raise Invalid((index,), say("expected a case with 'data', a turn with 'query', or a span with 'trace_id'"))
        if first not in (None, kind):
            raise Invalid(
                (index,),
                say(
                    "shapes are mixed: this belongs to a {kind}, the first to a {first}",
                    kind=say(kind),
                    first=say(str(first)),
                ),
            )
        first = kind
    return first or "nested list"


def _check(eval_set: EvalSet) -> list[Sentence]:
    """Check what types cannot say, and return what is odd.

    Raises:
        Invalid: ADK would not know what to do, or two cases have one id.
    """
    notes: list[Sentence] = []
    seen: set[str] = set()
    for index, case in enumerate(eval_set.eval_cases):
        at = ("eval_cases", index)
        if case.eval_id in seen:
            raise Invalid((*at, "eval_id"), say("the id '{id}' is used twice", id=case.eval_id))
        seen.add(case.eval_id)
        notes.extend(_check_case(case, at))
    return notes


def _check_case(case: EvalCase, at: Path) -> Iterator[Sentence]:
    if (case.conversation is None) == (case.conversation_scenario is None):
        raise Invalid(at, say("a case has either a 'conversation' or a 'conversation_scenario'"))
    for index, turn in enumerate(case.conversation or ()):
        data = turn.intermediate_data
        if data is not None and not all(call.name for call in data.calls()):
            here = format_path((*at, "conversation", index, "intermediate_data"))
            yield say("{path}: an expected call has no name, so no call can be like it.", path=here)


def _bad(path: FilePath, text: str, error: Invalid, original: object) -> BadInput:
    at = _old_path(error.path, original)
    return BadInput(
        "{file}, line {line}: {problem} at {path}.",
        file=path,
        line=line_of(text, at),
        problem=error.problem,
        path=format_path(at),
    )


def _old_path(path: Path, original: object) -> Path:
    """Return the same path in an older shape."""
    if not isinstance(original, list) or path[:1] != ("eval_cases",):
        return path
    return legacy.old_path(path, flat="query" in original[0])


def _json(data: bytes, path: FilePath) -> tuple[str, object, set[str]]:
    """Return the text, the data, and the keys that occur twice in one object."""
    doubled: set[str] = set()

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        fields = dict(pairs)
        if len(fields) < len(pairs):
            doubled.update(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return fields

    try:
        text = data.decode("utf-8-sig")
        return text, json.loads(text, object_pairs_hook=once), doubled
    except json.JSONDecodeError as error:
        raise BadInput(
            "{path}, line {line}: it is no JSON: {error}.",
            path=path,
            line=error.lineno,
            error=describe_malformed(error),
        ) from None
    except UnicodeDecodeError as error:
        raise BadInput("{path} is no UTF-8 text: {error}.", path=path, error=in_words(error)) from None
    except (RecursionError, ValueError) as error:  # nested too deep; a whole number with too many digits
        raise BadInput("{path} cannot be read: {error}.", path=path, error=in_words(error)) from None
