"""Query the tables in PostgreSQL: a module of the shape `tables.Queries`."""

# ruff: noqa: S608 - the queries are composed of constants in this file
from collections.abc import Mapping, Sequence

from proctor.stores.schema import SPENT

NUMBER = "SELECT sample FROM samples WHERE run = :run AND name = :name"
FINISHED = """
SELECT name, attempt FROM trials JOIN samples USING (sample)
WHERE trials.sample >= :first AND trials.sample < :last AND outcome NOT IN ({again})
"""
OUTCOMES = "SELECT outcome, count(*) FROM trials WHERE sample >= :first AND sample < :last GROUP BY outcome"
USAGE = f"""
SELECT {", ".join(f"CAST(sum({name}) AS bigint)" for name in SPENT[:-1])}, sum(cost) FROM trials
WHERE sample >= :first AND sample < :last
"""
SAMPLE = """
SELECT contents.data FROM runs JOIN samples ON samples.run = runs.id AND samples.name = :name
JOIN trials USING (sample) JOIN contents ON contents.name = samples.name AND digest = content
WHERE runs.name = :run ORDER BY attempt LIMIT 1
"""
_AFTER = "(sample, attempt) > (:sample, :attempt) AND sample < :last"
_PAGE = f"SELECT sample, attempt, outcome FROM trials WHERE {_AFTER} ORDER BY sample, attempt LIMIT :size"
_NEWEST = """
LATERAL (SELECT data FROM records WHERE records.sample = {of}.sample AND records.attempt = {of}.attempt
    AND records.scorer = {scorer} ORDER BY number DESC LIMIT 1) AS newest
"""
TRIALS = f"""
SELECT page.sample, page.attempt, newest.data
FROM (SELECT sample, attempt FROM trials WHERE {_AFTER} {{filters}} ORDER BY sample, attempt LIMIT :size) AS page
CROSS JOIN {_NEWEST.format(of="page", scorer="0")} ORDER BY page.sample, page.attempt
"""
FILTERS: Mapping[str, str] = {
    "outcome": "AND outcome = :outcome",
    "value": """AND EXISTS (
        SELECT 1 FROM scores WHERE scores.sample = trials.sample AND scores.attempt = trials.attempt
        AND (scorer = 0 OR CAST(:scorer AS text) IS NULL OR scorer = (SELECT id FROM scorers WHERE name = :scorer))
        AND points / out_of >= coalesce(CAST(:min_value AS float8), 0)
        AND points / out_of <= coalesce(CAST(:max_value AS float8), 1))""",
}
VERDICTS = f"""
SELECT page.sample, page.attempt, newest.data FROM ({_PAGE}) AS page
LEFT JOIN (scorers JOIN scores ON scorer = scorers.id AND (CAST(:scorer AS text) IS NULL OR name = :scorer))
    ON scores.sample = page.sample AND scores.attempt = page.attempt
LEFT JOIN {_NEWEST.format(of="scores", scorer="scorers.id")} ON true
ORDER BY page.sample, page.attempt, name
"""
VALUES = f"""
SELECT page.sample, page.attempt, name, samples.cluster, tag_sets.tags, outcome, points / out_of, why
FROM ({_PAGE}) AS page JOIN samples USING (sample) JOIN tag_sets ON tag_sets.id = samples.tags
LEFT JOIN scores ON scorer = (SELECT id FROM scorers WHERE name = :scorer)
    AND scores.sample = page.sample AND scores.attempt = page.attempt
ORDER BY page.sample, page.attempt
"""
_CONTENT = """
SELECT data FROM contents WHERE contents.name = samples.name AND digest = (
    SELECT content FROM trials AS other WHERE other.sample = samples.sample AND content IS NOT NULL LIMIT 1)
"""
PLANNED = f"""
SELECT samples.sample, 0, name, cluster, tag_sets.tags, ({_CONTENT})
FROM samples JOIN tag_sets ON tag_sets.id = samples.tags
WHERE samples.sample > CAST(:sample AS bigint) + :attempt AND samples.sample < :last
ORDER BY samples.sample LIMIT :size
"""
HISTORY = f"""
SELECT sample, attempt, scorer, data FROM ({_PAGE}) AS page JOIN records USING (sample, attempt)
ORDER BY sample, attempt, scorer > 0, number
"""
ANNOTATIONS = """
SELECT annotations.record FROM annotations JOIN runs ON runs.id = run
WHERE (CAST(:run AS int) IS NULL OR run = :run) AND (CAST(:kind AS text) IS NULL OR kind = :kind)
AND (CAST(:sample AS text) IS NULL OR sample = :sample)
"""
OF_THE_RUN = "sample >= CAST(:run AS bigint) << 32 AND sample < CAST(:run + 1 AS bigint) << 32"
COUNTED = f"""
SELECT tags, count(*) AS samples, count(cluster) AS clustered FROM samples WHERE {OF_THE_RUN} GROUP BY tags
"""
SIZES = f"""
SELECT size.* FROM runs, unnest(plan_tags, plan_samples, plan_clustered) AS size (tags, samples, clustered) WHERE id = :run
UNION ALL
SELECT * FROM ({COUNTED}) AS counted WHERE (SELECT plan_tags IS NULL FROM runs WHERE id = :run)
"""
_SCORED = f"{OF_THE_RUN} AND points IS NOT NULL AND attempt < :attempts"
ATTEMPTS = f"SELECT tags, cluster, sample AS id, {{grouped}} FROM scores WHERE scorer IN (0, :scorer) AND {_SCORED} {{chosen}} {{group}}"
KINDS: str | None = f"""
WITH span AS (SELECT min(sample) AS first, max(sample) - min(sample) AS size FROM samples WHERE {OF_THE_RUN})
SELECT count(DISTINCT (points, out_of)) FROM span, generate_series(0, 9) AS part, LATERAL (
    SELECT points, out_of FROM scores WHERE scorer = :scorer AND {_SCORED}
    AND sample >= span.first + span.size * part / 10 ORDER BY sample LIMIT 100) AS score
"""  # of a hundred scores in each of ten places
GROUPED_ATTEMPTS = "GROUP BY tags, cluster, sample"

SNAPSHOT = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
LAST = f"SELECT max(sample) FROM samples WHERE {OF_THE_RUN}"
CHANGED = """
SELECT DISTINCT sample, attempt FROM records
WHERE sample >= :first AND sample < :last AND at >= :after ORDER BY sample, attempt
"""
STORED = f"""
SELECT trials.sample, trials.attempt, newest.data, name, cluster, tag_sets.tags, (
    SELECT data FROM contents WHERE contents.name = samples.name AND digest = coalesce(trials.content, (
        SELECT content FROM trials AS other WHERE other.sample = samples.sample AND content IS NOT NULL LIMIT 1)))
FROM trials JOIN samples USING (sample) JOIN tag_sets ON tag_sets.id = samples.tags
CROSS JOIN {_NEWEST.format(of="trials", scorer="0")}
WHERE trials.sample = :sample AND trials.attempt = :attempt
"""
WRITER = """
SELECT application_name FROM pg_locks LEFT JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND classid = :kind AND objid = :run AND objsubid = 2 AND granted
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


def named(ids: Sequence[str]) -> tuple[str, Mapping[str, object]]:
    """Return the condition that a trial is of one of these samples of `:run`, and further values that it has."""
    wanted = "SELECT sample FROM samples WHERE run = :run AND name = ANY(CAST(:names AS text[]))"
    return f"trials.sample IN ({wanted})", {"names": ids}
