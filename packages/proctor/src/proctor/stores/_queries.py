"""Query the tables in SQLite: a module of the shape `tables.Queries`."""

# ruff: noqa: S608 - the queries are composed of constants in this file
from collections.abc import Mapping, Sequence

from proctor.stores.schema import SPENT

NUMBER = "SELECT id FROM samples WHERE run = :run AND name = :name"
ACCEPTED = """
SELECT samples.id, outcome FROM samples JOIN trials ON trials.sample = samples.id
WHERE run = ? AND name = ? AND attempt = ?
"""
FINISHED = """
SELECT name, attempt FROM trials JOIN samples ON samples.id = sample
WHERE sample >= :first AND sample < :last AND outcome NOT IN ({again})
"""
OUTCOMES = "SELECT outcome, count(*) FROM trials WHERE sample >= :first AND sample < :last GROUP BY outcome"
USAGE = f"""
SELECT {", ".join(f"sum({name}) AS {name}" for name in SPENT)} FROM trials
WHERE sample >= :first AND sample < :last
"""
SAMPLE = """
SELECT contents.data FROM runs CROSS JOIN samples ON samples.run = runs.id AND samples.name = :name
CROSS JOIN trials ON sample = samples.id
CROSS JOIN contents ON contents.name = samples.name AND digest = content
WHERE runs.name = :run ORDER BY attempt LIMIT 1
"""
_AFTER = "(sample, attempt) > (:sample, :attempt) AND sample < :last"
TRIALS = f"""
SELECT sample, attempt, (SELECT data FROM records WHERE id = record) FROM trials
WHERE {_AFTER} {{filters}} ORDER BY sample, attempt LIMIT :size
"""
FILTERS: Mapping[str, str] = {
    "outcome": "AND outcome = :outcome",
    "value": """AND EXISTS (
        SELECT 1 FROM scores WHERE scores.sample = trials.sample AND scores.attempt = trials.attempt
        AND scorer IN (SELECT 0 UNION ALL SELECT id FROM scorers WHERE :scorer IS NULL OR name = :scorer)
        AND points / out_of >= coalesce(:min_value, 0) AND points / out_of <= coalesce(:max_value, 1))""",
}
VERDICTS = f"""
SELECT page.sample, page.attempt, (SELECT data FROM records WHERE id = scores.record)
FROM (SELECT sample, attempt FROM trials WHERE {_AFTER} ORDER BY sample, attempt LIMIT :size) AS page
CROSS JOIN scorers
LEFT JOIN scores ON scorer = scorers.id AND scores.sample = page.sample AND scores.attempt = page.attempt
WHERE :scorer IS NULL OR name = :scorer
ORDER BY page.sample, page.attempt, name
"""
VALUES = f"""
SELECT page.sample, page.attempt, name, cluster, tag_sets.tags, outcome, points / out_of, why
FROM (SELECT sample, attempt, outcome FROM trials WHERE {_AFTER} ORDER BY sample, attempt LIMIT :size) AS page
CROSS JOIN samples ON samples.id = page.sample
CROSS JOIN tag_sets ON tag_sets.id = samples.tags
LEFT JOIN scores ON scorer = (SELECT id FROM scorers WHERE name = :scorer)
    AND scores.sample = page.sample AND scores.attempt = page.attempt
ORDER BY page.sample, page.attempt
"""
PLANNED = """
SELECT samples.id, 0, name, cluster, tag_sets.tags, (
    SELECT data FROM contents WHERE contents.name = samples.name
    AND digest = (SELECT content FROM trials WHERE sample = samples.id AND content IS NOT NULL LIMIT 1))
FROM samples CROSS JOIN tag_sets ON tag_sets.id = samples.tags
WHERE samples.id > :sample + :attempt AND samples.id < :last
ORDER BY samples.id LIMIT :size
"""
HISTORY = f"""
WITH page AS MATERIALIZED (
    SELECT sample, attempt, record FROM trials WHERE {_AFTER} ORDER BY sample, attempt LIMIT :size
), kept AS (
    SELECT sample, attempt, 0 AS scorer, record FROM page
    UNION ALL
    SELECT sample, attempt, scorer, superseded.record FROM page CROSS JOIN superseded USING (sample, attempt)
    UNION ALL
    SELECT page.sample, page.attempt, scorer, scores.record FROM page CROSS JOIN scorers
    CROSS JOIN scores ON scorer = scorers.id AND scores.sample = page.sample AND scores.attempt = page.attempt
)
SELECT sample, attempt, scorer, (SELECT data FROM records WHERE id = record) FROM kept
ORDER BY sample, attempt, scorer > 0, record
"""
_OF_THE_RUN = "sample >= :first AND sample < :last"
_SCORES_OF_THE_RUN = f"{_OF_THE_RUN} AND scorer IN (SELECT 0 UNION ALL SELECT id FROM scorers)"
DELETE = (
    f"""DELETE FROM records WHERE id IN (
        SELECT record FROM trials WHERE {_OF_THE_RUN}
        UNION ALL SELECT record FROM superseded WHERE {_OF_THE_RUN}
        UNION ALL SELECT record FROM scores WHERE {_SCORES_OF_THE_RUN})""",
    """DELETE FROM contents WHERE id IN (
        SELECT contents.id FROM samples CROSS JOIN contents ON contents.name = samples.name
        WHERE samples.id >= :first AND samples.id < :last AND NOT EXISTS (
            SELECT 1 FROM runs AS other CROSS JOIN samples AS same ON same.run = other.id AND same.name = samples.name
            CROSS JOIN trials AS its ON its.sample = same.id AND its.content = digest
            WHERE other.id <> :run))""",
    f"DELETE FROM scores WHERE {_SCORES_OF_THE_RUN}",
    f"DELETE FROM superseded WHERE {_OF_THE_RUN}",
    f"DELETE FROM trials WHERE {_OF_THE_RUN}",
    "DELETE FROM samples WHERE run = :run",
    "DELETE FROM files WHERE run = :run",
    "DELETE FROM annotations WHERE run = :run",
    "DELETE FROM changes WHERE run = :run",
    "DELETE FROM runs WHERE id = :run",
)
ANNOTATIONS = """
SELECT annotations.record FROM annotations JOIN runs ON runs.id = run
WHERE (:run IS NULL OR run = :run) AND (:kind IS NULL OR kind = :kind) AND (:sample IS NULL OR sample = :sample)
"""
OF_THE_RUN = "run = :run"
SIZES = f"SELECT tags, count(*), count(cluster) FROM samples WHERE {OF_THE_RUN} GROUP BY tags"
KINDS: str | None = None  # to group by more than the order of an index has costs SQLite what it saves
ATTEMPTS = """
SELECT tags, cluster, samples.id AS id, {grouped}
FROM samples INDEXED BY samples_by_tags
CROSS JOIN scores ON scores.sample = samples.id AND scores.scorer IN (0, :scorer)
WHERE run = :run AND points IS NOT NULL AND attempt < :attempts {chosen}
{group}
"""
GROUPED_ATTEMPTS = "GROUP BY tags, cluster, samples.id"


def named(ids: Sequence[str]) -> tuple[str, Mapping[str, object]]:
    """Return the condition that a trial is of one of these samples of `:run`, and further values that it has."""
    values = {f"name_{index}": id for index, id in enumerate(ids)}
    names = ", ".join(f":{name}" for name in values)
    return f"sample IN (SELECT id FROM samples WHERE run = :run AND name IN ({names}))", values
