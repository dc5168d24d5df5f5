"""Add up a scorer's values inside the database, so that a million trials take a second or two and no memory.

The meaning is that of `core.tally.tally`. Three levels of grouping (attempts to samples, samples to clusters,
clusters to sets of tags) follow the order of the index on samples, and the first two are left out where they
would change nothing.
"""

# ruff: noqa: S608 - the queries are composed of constants
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import msgspec

from proctor.core.tally import PREPARATION, Tally

Key = TypeVar("Key")

Rows = Callable[[str, Mapping[str, object]], list[Any]]
"""Asks a query with `:name` for each value, and returns its rows."""


class Queries(Protocol):
    """How a kind of database finds the scores of a run."""

    OF_THE_RUN: str
    ATTEMPTS: str
    GROUPED_ATTEMPTS: str


_EACH = """
1 AS trials, points / out_of AS mean, points AS points, out_of AS out_of, CASE WHEN points IN (0, out_of) THEN 1 ELSE 0 END AS whole
"""
_MEANS = """
count(*) AS trials, avg(points / out_of) AS mean, sum(points) AS points, sum(out_of) AS out_of,
min(CASE WHEN points IN (0, out_of) THEN 1 ELSE 0 END) AS whole
"""
_EACH_ALONE = """
SELECT tags, 1 AS samples, mean AS total, mean * mean AS squares, points, out_of, whole, trials AS most, trials
FROM ({samples}) AS samples
"""
_CLUSTERS = """
SELECT {tags} AS tags, count(*) AS samples, sum(mean) AS total, sum(mean * mean) AS squares, sum(points) AS points,
       sum(out_of) AS out_of, min(whole) AS whole, max(trials) AS most, sum(trials) AS trials
FROM ({samples}) AS samples GROUP BY {group}cluster, CASE WHEN cluster IS NULL THEN id END
"""
_SUMS = {
    "clusters": "count(*)",
    "samples": "CAST(sum(samples) AS BIGINT)",
    "total": "sum(total)",
    "squares": "sum(total * total)",
    "cross": "sum(samples * total)",
    "sizes": "CAST(sum(samples * samples) AS BIGINT)",
    "sample_squares": "sum(squares)",
    "points": "sum(points)",
    "out_of": "sum(out_of)",
    "point_squares": "sum(points * points)",
    "point_cross": "sum(points * out_of)",
    "out_of_squares": "sum(out_of * out_of)",
    "scored": "CAST(sum(trials) AS BIGINT)",
}
_TALLIES = (
    f"SELECT tags, min(whole), max(most), {', '.join(_SUMS.values())} FROM ({{clusters}}) AS clusters GROUP BY tags"
)


def tallies(rows: Rows, queries: Queries, run: int, attempts: int, scorer: str) -> dict[str, Tally]:
    """Return the sums by slice; '' is the whole run and comes first."""
    return _by_key(rows, queries, run, attempts, scorer, _slices(_tag_sets(rows, queries, run)))


def strata(rows: Rows, queries: Queries, run: int, attempts: int, scorer: str, tag: str) -> dict[str, dict[str, Tally]]:
    """Return the sums by slice, and within it by the value of a tag ('' where a sample has none)."""
    sets = _tag_sets(rows, queries, run)
    cells: dict[tuple[str, str], list[int]] = {}
    for slice, numbers in _slices(sets).items():
        for number in numbers:
            cells.setdefault((slice, sets[number].get(tag, "")), []).append(number)
    found: dict[str, dict[str, Tally]] = {}
    for (slice, stratum), tally in _by_key(rows, queries, run, attempts, scorer, cells).items():
        found.setdefault(slice, {})[stratum] = tally
    return found


def _by_key(
    rows: Rows, queries: Queries, run: int, attempts: int, scorer: str, sets_by_key: Mapping[Key, Sequence[int]]
) -> dict[Key, Tally]:
    """Return for each key the sums over its sets of tags."""
    number = rows("SELECT id FROM scorers WHERE name = :scorer", {"scorer": scorer})
    values = {"run": run, "attempts": attempts, "scorer": number[0][0] if number else 0}
    sizes = dict(rows(f"SELECT tags, count(*) FROM samples WHERE {queries.OF_THE_RUN} GROUP BY tags", values))
    clustered = _any(rows, f"SELECT 1 FROM samples WHERE {queries.OF_THE_RUN} AND cluster IS NOT NULL LIMIT 1", values)
    if clustered and _any(rows, _SPANNING.format(of_the_run=queries.OF_THE_RUN), values):
        found = {
            key: _query(rows, queries, values, clustered=True, sets=() if len(sets) == len(sizes) else sets).get(
                0, Tally()
            )
            for key, sets in sets_by_key.items()
        }
    else:
        by_set = _query(rows, queries, values, clustered=clustered)
        found = {
            key: _sum([by_set[number] for number in sets if number in by_set]) for key, sets in sets_by_key.items()
        }
    return {
        key: msgspec.structs.replace(tally, planned=attempts * sum(sizes[number] for number in sets_by_key[key]))
        for key, tally in found.items()
    }


_SPANNING = """
SELECT 1 FROM samples WHERE {of_the_run} AND cluster IS NOT NULL GROUP BY cluster HAVING min(tags) <> max(tags) LIMIT 1
"""


def _query(
    rows: Rows, queries: Queries, values: dict[str, int], *, clustered: bool, sets: Sequence[int] | None = None
) -> dict[int, Tally]:
    """Return tallies by set of tags; with `sets` one tally of them together, under 0 (of all, when it is empty)."""
    several = values["attempts"] > 1
    samples = queries.ATTEMPTS.format(
        grouped=_MEANS if several else _EACH,
        chosen=f"AND tags IN ({','.join(map(str, sets))})" if sets else "",
        group=queries.GROUPED_ATTEMPTS if several else "",
    )
    if not clustered:
        clusters = _EACH_ALONE.format(samples=samples)
    elif sets is None:
        clusters = _CLUSTERS.format(samples=samples, tags="tags", group="tags, ")
    else:
        clusters = _CLUSTERS.format(samples=samples, tags="0", group="")
    return {tags: _tally(*row) for tags, *row in rows(_TALLIES.format(clusters=clusters), values)}


def _tally(whole: int, most: int, *sums: Any) -> Tally:
    return Tally(**dict(zip(_SUMS, sums, strict=True)), binary=bool(whole) and most == 1, all_or_nothing=bool(whole))


def _sum(tallies: Sequence[Tally]) -> Tally:
    """Add up the tallies of sets of tags that share no cluster."""
    if not tallies:
        return Tally()
    rows = [msgspec.structs.asdict(tally) for tally in tallies]
    merge = {"binary": all, "all_or_nothing": all}
    return Tally(**{name: merge.get(name, sum)(row[name] for row in rows) for name in rows[0]})


def _tag_sets(rows: Rows, queries: Queries, run: int) -> dict[int, dict[str, str]]:
    """Return the sets of tags of the samples of a run, by number."""
    query = f"SELECT id, tags FROM tag_sets WHERE id IN (SELECT DISTINCT tags FROM samples WHERE {queries.OF_THE_RUN}) ORDER BY id"
    return {number: msgspec.json.decode(tags) for number, tags in rows(query, {"run": run})}


def _slices(sets: Mapping[int, Mapping[str, str]]) -> dict[str, list[int]]:
    """Return the sets of tags that make up each slice; preparations are in none."""
    sets = {number: tags for number, tags in sets.items() if PREPARATION not in tags}
    found: dict[str, list[int]] = {}
    for number, tags in sets.items():
        for key, value in tags.items():
            found.setdefault(f"{key}={value}", []).append(number)
    return {"": list(sets), **dict(sorted(found.items()))}


def _any(rows: Rows, query: str, values: dict[str, int]) -> bool:
    return bool(rows(query, values))
