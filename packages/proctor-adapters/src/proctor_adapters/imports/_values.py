"""Turn values of others into ours: scores, times, counts and texts."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from proctor.core.sample import JsonObject
from proctor.core.score import Score, Unscored, short_reason
from proctor.core.sentence import say
from proctor.core.trajectory import Usage
from proctor.stores.encoding import MOST_TOKENS

MOST_NAME_CHARACTERS = 200
MOST_TEXT_CHARACTERS = 4_000
MOST_MOMENT = 1e11  # Unix seconds; larger numbers are milliseconds, or none that a date can hold
MOST_SECONDS = 1e9
NO_SCALE = "no_scale"  # the kind of a value that is not from 0 to 1 while no other range is named
WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


def scores(
    name: str,
    value: object,
    scales: Mapping[str, tuple[float, float]],
    *,
    words: Mapping[str, float] = {},
    answer: str | None = None,
    reason: str = "",
    passed: bool | None = None,
) -> Iterator[tuple[str, Score | Unscored]]:
    """Yield the scores in a value, each with its name: one, or one for each entry of an object or a list.

    A value outside of its scale (0 to 1 unless one is given) is no score, and neither is a text that is no number and none
    of `words`, or of "true", "yes", "false" and "no".

    >>> [(name, score.value) for name, score in scores("f1", {"recall": 1, "fluency": 7}, {"f1.fluency": (0, 10)})]
    [('f1.recall', 1.0), ('f1.fluency', 0.7)]
    """
    name = name[:MOST_NAME_CHARACTERS]
    if isinstance(value, Mapping):
        entries: Iterator[tuple[object, object]] = iter(value.items())
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        entries = enumerate(value)
    else:
        yield name, _score(name, value, scales, words, answer, reason, passed)
        return
    for key, entry in entries:
        if not isinstance(entry, Mapping | list):
            inner = f"{name}.{key}"[:MOST_NAME_CHARACTERS]
            yield inner, _score(inner, entry, scales, words, answer, reason, passed)


def by_name(found: Iterable[tuple[str, Score | Unscored]]) -> dict[str, Score | Unscored]:
    """Return scores by name; of several with one name each keeps its own: "a", "a 2", "a 3".

    >>> list(by_name([("a", Score(points=1)), ("a", Score(points=0)), ("b", Score(points=1))]))
    ['a', 'a 2', 'b']
    """
    named: dict[str, Score | Unscored] = {}
    count: Counter[str] = Counter()
    for name, score in found:
        count[name] += 1
        numbered = name
        while numbered in named:
            numbered = f"{name} {count[name]}"
            count[name] += numbered in named
        named[numbered] = score
    return named


def _score(
    name: str,
    value: object,
    scales: Mapping[str, tuple[float, float]],
    words: Mapping[str, float],
    answer: str | None,
    reason: str,
    passed: bool | None,
) -> Score | Unscored:
    known = {**WORDS, **words}
    figure = number(known.get(value, known.get(value.lower(), value)) if isinstance(value, str) else value)
    details: dict[str, object] = {} if passed is None else {"passed": passed}
    if figure is None:
        if value is None or isinstance(value, int | float):
            why = short_reason(reason[:MOST_TEXT_CHARACTERS]) or say("The log holds no value.")
            return Unscored(why="scorer_failed", reason=why)
        shown = str(value)[:MOST_NAME_CHARACTERS]
        return Unscored(why="not_applicable", reason=say("Its value '{value}' is no number.", value=shown))
    low, high = scales.get(name, (0.0, 1.0))
    if not low <= figure <= high:
        outside = say(
            "Its value {value} is not between {low} and {high}. Name its range when you import the log: --scale {scorer}=LOW:HIGH",
            value=f"{figure:g}",
            low=f"{low:g}",
            high=f"{high:g}",
            scorer=name,
        )
        return Unscored(
            why="not_applicable",
            reason=outside,
            details={"value": figure, "kind": "outside" if name in scales else NO_SCALE},
        )
    return Score(
        points=min(figure - low, high - low),
        out_of=high - low,
        answer=None if answer is None else answer[:MOST_TEXT_CHARACTERS],
        reason=short_reason(reason),
        details=details,
    )


def number(value: object) -> float | None:
    """Return a value, or what a text says, as a finite number; None if it is none.

    >>> number(True), number("0.5"), number(float("nan")), number("C"), number(10**400)
    (1.0, 0.5, None, None, None)
    """
    if not isinstance(value, bool | int | float | str) or (isinstance(value, str) and len(value) > 40):
        return None
    try:
        figure = float(value)
    except (ValueError, OverflowError):
        return None
    return figure if math.isfinite(figure) else None


def count(value: object) -> int:
    """Return a number of tokens; 0 where it is none."""
    figure = number(value)
    return 0 if figure is None or figure < 0 else int(min(figure, MOST_TOKENS))


def usage(
    *, input: object, output: object, cached: object = None, reasoning: object = None, cost: object = None
) -> Usage:
    """Return a usage from whatever a log holds; a cost that is no amount is not known."""
    money = number(cost)
    return Usage(
        input_tokens=count(input),
        output_tokens=count(output),
        cached_tokens=count(cached),
        reasoning_tokens=count(reasoning),
        cost=None if money is None or money < 0 else money,
    )


def seconds(value: object) -> float:
    """Return a length of time; 0 where it is none."""
    figure = number(value)
    return figure if figure is not None and 0 <= figure <= MOST_SECONDS else 0.0


def moment(value: object) -> float:
    """Return a time as Unix seconds: of ISO 8601, or a number of seconds, or of milliseconds; 0 where it is none.

    >>> moment("1970-01-01T00:01:00Z"), moment(1700000000000), moment("soon"), moment("0001-01-01"), moment(1e300)
    (60.0, 1700000000.0, 0.0, 0.0, 0.0)
    """
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
            return max(0.0, (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())
        except (ValueError, OverflowError):
            pass
    given = number(value)
    if given is None or not 0 <= given <= 1000 * MOST_MOMENT:
        return 0.0
    return given / 1000 if given > MOST_MOMENT else given


def mappings(value: object) -> list[JsonObject]:
    """Return the objects of a list; none where it is no list.

    >>> mappings([{"a": 1}, 2]), mappings(5)
    ([{'a': 1}], [])
    """
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def tags(metadata: Mapping[str, object], names: Sequence[str]) -> dict[str, str]:
    """Return the metadata of these names as tags; one that is no text, number or truth value is left out."""
    found = {name: metadata.get(name) for name in names}
    return {
        name: str(value)[:MOST_NAME_CHARACTERS] for name, value in found.items() if isinstance(value, str | int | float)
    }


def seconds_between(start: object, end: object) -> float:
    """Return the seconds between two times; 0 where one is missing, or they are the wrong way round."""
    first, last = moment(start), moment(end)
    return max(0.0, last - first) if first and last else 0.0
