"""Compare calls with answers by value alone, where there is no schema to check them by."""

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.core.sample import JsonObject
from proctor_benchmarks.bfcl.calls import Undecodable
from proctor_benchmarks.bfcl.metrics import matching
from proctor_benchmarks.bfcl.written_calls import calls_in, expected


def calls_of(value: object) -> list[dict[str, Any]] | None:
    """Return the calls in whatever form they are given; None where it cannot be read."""
    if isinstance(value, str):
        return calls_in(value).calls
    entries: list[dict[str, object]] = []
    for item in value if isinstance(value, list | tuple) else [value]:
        if isinstance(item, Mapping) and isinstance(item.get("name"), str):
            entries.append({"name": item["name"], "arguments": dict(item.get("arguments") or {})})
        elif isinstance(item, Mapping):
            entries += [{"name": name, "arguments": dict(given)} for name, given in item.items()]
        else:
            calls = calls_in(str(item)).calls
            if calls is None:
                return None
            entries += calls
    return entries


def answers_of(value: object) -> list[dict[str, dict[str, list[object]]]]:
    """Return the answers in whatever form they are given, as version 4 has them."""
    try:
        return expected(value)
    except (Undecodable, TypeError, ValueError):
        return [{"": {}}]  # nothing is equal to what cannot be read


def count_hits(made: Sequence[Mapping[str, object]], wanted: Sequence[Mapping[str, object]]) -> int:
    """Count the answers that a call of their own fits."""
    return len(matching([[_fits(call, answer) for call in made] for answer in wanted]))


def _fits(call: JsonObject, answer: Mapping[str, object]) -> bool:
    allowed = answer.get(call["name"])
    given = call["arguments"]
    return isinstance(allowed, Mapping) and set(given) <= set(allowed) and count_right(given, allowed) == len(allowed)


def count_right(given: Mapping[str, object], allowed: JsonObject) -> int:
    """Count the parameters that are given as allowed, or left out where that is allowed."""
    return sum(
        any(_same(given[key], value) for value in values) if key in given else "" in values
        for key, values in allowed.items()
    )


def _same(made: object, wanted: object) -> bool:
    """Equal values of one kind; an object in an answer holds what each key may be."""
    if isinstance(wanted, Mapping) and isinstance(made, Mapping):
        return set(made) <= set(wanted) and count_right(made, wanted) == len(wanted)
    if isinstance(wanted, list) and isinstance(made, list | tuple):
        return len(made) == len(wanted) and all(map(_same, made, wanted))
    return isinstance(made, bool) == isinstance(wanted, bool) and bool(made == wanted)
