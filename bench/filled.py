"""Runs of millions of trials, made by the server itself: what is measured is reading and deleting them."""

from typing import Any

RECORD = 700  # bytes of a trial; its verdict takes 200
_FILL = """
INSERT INTO tag_sets (digest, tags) SELECT sha256(tags::bytea), tags
FROM (SELECT '{{"level":"' || level || '"}}' AS tags FROM generate_series(0, 2) AS level) AS made ON CONFLICT DO NOTHING;
INSERT INTO scorers (name) VALUES ('exact') ON CONFLICT DO NOTHING;
INSERT INTO samples SELECT {first} + place, {run}, 's' || place, NULL,
    (SELECT min(id) FROM tag_sets WHERE tags LIKE '%level%') + place % 3 FROM generate_series(0, {last}) AS place;
INSERT INTO trials SELECT {first} + place, 0, 'scored', 10, 5, 0, 0, 1, 0.001, sha256(place::text::bytea)
FROM generate_series(0, {last}) AS place;
INSERT INTO scores SELECT (SELECT id FROM scorers WHERE name = 'exact'), sample, 0, tags, NULL, sample % 2, 1, NULL
FROM samples WHERE run = {run} ORDER BY sample;
"""
_RECORDS = """
INSERT INTO records (sample, attempt, number, scorer, data)
SELECT {first} + place, 0, kind, kind, convert_to(repeat('x', CASE kind WHEN 0 THEN {bytes} ELSE 200 END), 'UTF8')
FROM generate_series(0, {last}) AS place, generate_series(0, 1) AS kind;
INSERT INTO contents SELECT 's' || place, sha256(place::text::bytea), convert_to(repeat('x', 400), 'UTF8')
FROM generate_series(0, {last}) AS place ON CONFLICT DO NOTHING;
"""


def fill(db: Any, name: str, trials: int, *, records: bool) -> None:
    """Make a run of so many scored trials; without their records it can be summed up, but not read one by one.

    Args:
        db: a connection of psycopg that commits by itself.
    """
    from stored_runs import a_record

    from proctor.stores.blobs import encode
    from proctor.stores.postgresql import plan

    record = encode(a_record(name, scorers=("exact",), planned=trials))
    db.execute("SET search_path TO proctor")
    row = db.execute(
        "INSERT INTO runs (name, record, changed, epoch) VALUES (%s, %s, 1, 1) RETURNING id", (name, record)
    )
    ((run,),) = row.fetchall()
    values = {"run": run, "first": run << 32, "last": trials - 1, "bytes": RECORD}
    db.execute((_FILL + (_RECORDS if records else "")).format(**values))
    plan.finish(db, run, trials)
    db.execute("ANALYZE tag_sets, trials, scores, records, contents")
