"""Add up a scorer's values inside the database, so that a million trials take a second or two and no memory.

The meaning is that of `core.tally.tally`. Three levels of grouping (attempts to samples, samples to clusters,
clusters to sets of tags) follow the order of the index on samples, and the first two are left out where they
would change nothing.
"""

# ruff: noqa: S608 - the queries are composed of constants
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from proctor.core.tally import PREPARATION, Tally

Key = TypeVar("Key")

Rows = Callable[[str, Mapping[str, object]], list[Any]]
"""Asks a query with `:name` for each value, and returns its rows."""


class TallyQueries(Protocol):
    """How a kind of database finds the scores of a run.

    `KINDS` counts different scores in a part of them, where sums over groups of equal ones are quicker than over each.
    """

    OF_THE_RUN: str
    SIZES: str
    ATTEMPTS: str
    GROUPED_ATTEMPTS: str
    KINDS: str | None


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
_SUMS_ALONE = {  # one attempt at each sample: an equal sum is computed once
    **dict.fromkeys(("clusters", "samples", "sizes", "scored"), "count(*)"),
    **dict.fromkeys(("total", "cross"), "sum(mean)"),
    **dict.fromkeys(("squares", "sample_squares"), "sum(mean * mean)"),
}
_TALLIES_ALONE = (
    f"SELECT tags, min(whole), 1, {', '.join(_SUMS_ALONE.get(name, sum) for name, sum in _SUMS.items())}"
    " FROM ({samples}) AS samples GROUP BY tags"
)
_BY_KIND = {  # of attempts that were worth the same: where there are few kinds, counting them is quicker
    **dict.fromkeys(("clusters", "samples", "sizes", "scored"), "CAST(sum(times) AS BIGINT)"),
    **dict.fromkeys(("total", "cross"), "sum(times * mean)"),
    **dict.fromkeys(("squares", "sample_squares"), "sum(times * (mean * mean))"),
    "points": "sum(times * points)",
    "out_of": "sum(times * out_of)",
    "point_squares": "sum(times * (points * points))",
    "point_cross": "sum(times * (points * out_of))",
    "out_of_squares": "sum(times * (out_of * out_of))",
}
_TALLIES_BY_KIND = f"""
SELECT tags, min(whole), 1, {", ".join(_BY_KIND[name] for name in _SUMS)} FROM (
    SELECT tags, times, {_EACH} FROM (
        SELECT tags, points, out_of, count(*) AS times FROM ({{samples}}) AS samples GROUP BY tags, points, out_of
    ) AS kinds) AS kinds GROUP BY tags
"""
FEW_KINDS = 100


def tallies(rows: Rows, queries: TallyQueries, run: int, attempts: int, scorer: str) -> dict[str, Tally]:
    """Return the sums of each slice, starting with '', the whole run."""
    sizes = _sizes(rows, queries, run)
    return _by_key(rows, queries, run, attempts, scorer, _slices(_tag_sets(rows, sizes)), sizes)


def strata(
    rows: Rows, queries: TallyQueries, run: int, attempts: int, scorer: str, tag: str
) -> dict[str, dict[str, Tally]]:
    """Return the sums by slice, and within it by the value of a tag ('' where a sample has none)."""
    sizes = _sizes(rows, queries, run)
    sets = _tag_sets(rows, sizes)
    cells: dict[tuple[str, str], list[int]] = {}
    for slice, numbers in _slices(sets).items():
        for number in numbers:
            cells.setdefault((slice, sets[number].get(tag, "")), []).append(number)
    found: dict[str, dict[str, Tally]] = {}
    for (slice, stratum), tally in _by_key(rows, queries, run, attempts, scorer, cells, sizes).items():
        found.setdefault(slice, {})[stratum] = tally
    return found


class _Size(NamedTuple):
    """How many samples have a set of tags, and how many of them are in a cluster."""

    samples: int
    clustered: int


def _sizes(rows: Rows, queries: TallyQueries, run: int) -> dict[int, _Size]:
    return {tags: _Size(*counts) for tags, *counts in rows(queries.SIZES, {"run": run})}


def _by_key(
    rows: Rows,
    queries: TallyQueries,
    run: int,
    attempts: int,
    scorer: str,
    sets_by_key: Mapping[Key, Sequence[int]],
    sizes: Mapping[int, _Size],
) -> dict[Key, Tally]:
    """Return for each key the sums over its sets of tags."""
    number = rows("SELECT id FROM scorers WHERE name = :scorer", {"scorer": scorer})
    values = {"run": run, "attempts": attempts, "scorer": number[0][0] if number else 0}
    clustered = any(size.clustered for size in sizes.values())
    if clustered and rows(_SPANNING.format(of_the_run=queries.OF_THE_RUN), values):
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
        key: msgspec.structs.replace(
            tally, planned=attempts * sum(sizes[number].samples for number in sets_by_key[key])
        )
        for key, tally in found.items()
    }


_SPANNING = """
SELECT 1 FROM samples WHERE {of_the_run} AND cluster IS NOT NULL GROUP BY cluster HAVING min(tags) <> max(tags) LIMIT 1
"""


def _query(
    rows: Rows, queries: TallyQueries, values: dict[str, int], *, clustered: bool, sets: Sequence[int] | None = None
) -> dict[int, Tally]:
    """Return tallies by set of tags; with `sets` one tally of them together, under 0 (of all, when it is empty)."""
    several = values["attempts"] > 1
    samples = queries.ATTEMPTS.format(
        grouped=_MEANS if several else _EACH,
        chosen=f"AND tags IN ({','.join(map(str, sets))})" if sets else "",
        group=queries.GROUPED_ATTEMPTS if several else "",
    )
    if not clustered and not several:
        has_few = queries.KINDS is not None and rows(queries.KINDS, values)[0][0] <= FEW_KINDS
        query = _TALLIES_BY_KIND if has_few else _TALLIES_ALONE
        return {tags: _tally(*row) for tags, *row in rows(query.format(samples=samples), values)}
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


def _tag_sets(rows: Rows, sizes: Mapping[int, _Size]) -> dict[int, dict[str, str]]:
    """Return sets of tags by number."""
    if not sizes:
        return {}
    query = f"SELECT id, tags FROM tag_sets WHERE id IN ({','.join(map(str, sizes))}) ORDER BY id"
    return {number: msgspec.json.decode(tags) for number, tags in rows(query, {})}


def _slices(sets: Mapping[int, Mapping[str, str]]) -> dict[str, list[int]]:
    """Return the sets of tags that make up each slice; preparations are in none."""
    sets = {number: tags for number, tags in sets.items() if PREPARATION not in tags}
    found: dict[str, list[int]] = {}
    for number, tags in sets.items():
        for key, value in tags.items():
            found.setdefault(f"{key}={value}", []).append(number)
    return {"": list(sets), **dict(sorted(found.items()))}
