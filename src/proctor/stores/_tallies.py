"""Add up a scorer's values inside SQLite, so that a million trials take a second or two and no memory.

The meaning is that of `core.tally.tally`. Three levels of grouping (attempts to samples, samples to clusters,
clusters to sets of tags) follow the order of the index on samples, and the first two are left out where they
would change nothing.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from proctor.core.tally import PREPARATION, Tally

Key = TypeVar("Key")

_ATTEMPTS = """
SELECT tags, cluster, samples.id AS id, {grouped}
FROM samples INDEXED BY samples_by_tags
CROSS JOIN scores ON scores.sample = samples.id AND scores.scorer IN (0, :scorer)
WHERE run = :run AND points IS NOT NULL AND attempt < :attempts {chosen}
{group}
"""
_EACH = """
1 AS trials, points / out_of AS mean, points AS points, out_of AS out_of, points IN (0, out_of) AS whole
"""
_MEANS = """
count(*) AS trials, avg(points / out_of) AS mean, sum(points) AS points, sum(out_of) AS out_of,
min(points IN (0, out_of)) AS whole
"""
_EACH_ALONE = """
SELECT tags, 1 AS samples, mean AS total, mean * mean AS squares, points, out_of, whole, trials AS most, trials
FROM ({samples})
"""
_CLUSTERS = """
SELECT {tags} AS tags, count(*) AS samples, sum(mean) AS total, sum(mean * mean) AS squares, sum(points) AS points,
       sum(out_of) AS out_of, min(whole) AS whole, max(trials) AS most, sum(trials) AS trials
FROM ({samples}) GROUP BY {group}coalesce(cluster, id)
"""
_SUMS = {
    "clusters": "count(*)",
    "samples": "sum(samples)",
    "total": "sum(total)",
    "squares": "sum(total * total)",
    "cross": "sum(samples * total)",
    "sizes": "sum(samples * samples)",
    "sample_squares": "sum(squares)",
    "points": "sum(points)",
    "out_of": "sum(out_of)",
    "point_squares": "sum(points * points)",
    "point_cross": "sum(points * out_of)",
    "out_of_squares": "sum(out_of * out_of)",
    "scored": "sum(trials)",
}
_TALLIES = f"SELECT tags, min(whole), max(most), {', '.join(_SUMS.values())} FROM ({{clusters}}) GROUP BY tags"  # noqa: S608 - constants


def tallies(db: sqlite3.Connection, run: int, attempts: int, scorer: str) -> dict[str, Tally]:
    """Return the sums by slice; '' is the whole run and comes first."""
    return _by_key(db, run, attempts, scorer, _slices(_tag_sets(db, run)))


def strata(db: sqlite3.Connection, run: int, attempts: int, scorer: str, tag: str) -> dict[str, dict[str, Tally]]:
    """Return the sums by slice, and within it by the value of a tag ('' where a sample has none)."""
    sets = _tag_sets(db, run)
    cells: dict[tuple[str, str], list[int]] = {}
    for slice, numbers in _slices(sets).items():
        for number in numbers:
            cells.setdefault((slice, sets[number].get(tag, "")), []).append(number)
    found: dict[str, dict[str, Tally]] = {}
    for (slice, stratum), tally in _by_key(db, run, attempts, scorer, cells).items():
        found.setdefault(slice, {})[stratum] = tally
    return found


def _by_key(
    db: sqlite3.Connection, run: int, attempts: int, scorer: str, sets_by_key: Mapping[Key, Sequence[int]]
) -> dict[Key, Tally]:
    """Return for each key the sums over its sets of tags."""
    number = db.execute("SELECT id FROM scorers WHERE name = ?", (scorer,)).fetchone()
    values = {"run": run, "attempts": attempts, "scorer": number[0] if number else 0}
    sizes = dict(db.execute("SELECT tags, count(*) FROM samples WHERE run = :run GROUP BY tags", values))
    clustered = _any(db, "SELECT 1 FROM samples WHERE run = :run AND cluster IS NOT NULL LIMIT 1", values)
    if clustered and _any(db, _SPANNING, values):
        found = {
            key: _query(db, values, clustered=True, sets=() if len(sets) == len(sizes) else sets).get(0, Tally())
            for key, sets in sets_by_key.items()
        }
    else:
        by_set = _query(db, values, clustered=clustered)
        found = {
            key: _sum([by_set[number] for number in sets if number in by_set]) for key, sets in sets_by_key.items()
        }
    return {
        key: msgspec.structs.replace(tally, planned=attempts * sum(sizes[number] for number in sets_by_key[key]))
        for key, tally in found.items()
    }


_SPANNING = """
SELECT 1 FROM samples WHERE run = :run AND cluster IS NOT NULL GROUP BY cluster HAVING min(tags) <> max(tags) LIMIT 1
"""


def _query(
    db: sqlite3.Connection, values: dict[str, int], *, clustered: bool, sets: Sequence[int] | None = None
) -> dict[int, Tally]:
    """Return tallies by set of tags; with `sets` one tally of them together, under 0 (of all, when it is empty)."""
    several = values["attempts"] > 1
    samples = _ATTEMPTS.format(
        grouped=_MEANS if several else _EACH,
        chosen=f"AND tags IN ({','.join(map(str, sets))})" if sets else "",
        group="GROUP BY tags, cluster, samples.id" if several else "",
    )
    if not clustered:
        clusters = _EACH_ALONE.format(samples=samples)
    elif sets is None:
        clusters = _CLUSTERS.format(samples=samples, tags="tags", group="tags, ")
    else:
        clusters = _CLUSTERS.format(samples=samples, tags="0", group="")
    return {tags: _tally(*row) for tags, *row in db.execute(_TALLIES.format(clusters=clusters), values)}


def _tally(whole: int, most: int, *sums: Any) -> Tally:
    return Tally(**dict(zip(_SUMS, sums, strict=True)), binary=bool(whole) and most == 1, all_or_nothing=bool(whole))


def _sum(tallies: Sequence[Tally]) -> Tally:
    """Add up the tallies of sets of tags that share no cluster."""
    if not tallies:
        return Tally()
    rows = [msgspec.structs.asdict(tally) for tally in tallies]
    merge = {"binary": all, "all_or_nothing": all}
    return Tally(**{name: merge.get(name, sum)(row[name] for row in rows) for name in rows[0]})


def _tag_sets(db: sqlite3.Connection, run: int) -> dict[int, dict[str, str]]:
    """Return the sets of tags of the samples of a run, by number."""
    query = "SELECT id, tags FROM tag_sets WHERE EXISTS (SELECT 1 FROM samples WHERE run = ? AND tags = tag_sets.id) ORDER BY id"
    return {number: msgspec.json.decode(tags) for number, tags in db.execute(query, (run,))}


def _slices(sets: Mapping[int, Mapping[str, str]]) -> dict[str, list[int]]:
    """Return the sets of tags that make up each slice; preparations are in none."""
    sets = {number: tags for number, tags in sets.items() if PREPARATION not in tags}
    found: dict[str, list[int]] = {}
    for number, tags in sets.items():
        for key, value in tags.items():
            found.setdefault(f"{key}={value}", []).append(number)
    return {"": list(sets), **dict(sorted(found.items()))}


def _any(db: sqlite3.Connection, query: str, values: dict[str, int]) -> bool:
    return db.execute(query, values).fetchone() is not None
