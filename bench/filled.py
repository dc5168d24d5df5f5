"""Runs of millions of trials, made by the server itself: what is measured is reading and deleting them."""

from typing import Any

BYTES = {"trial": 700, "verdict": 200, "sample": 400}
DIGITS = 128  # of a digest; there is one for each 256 bytes, as texts of runs compress to half and less
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
SELECT {first} + place, 0, kind, kind, CASE kind WHEN 0 THEN {trial} ELSE {verdict} END
FROM generate_series(0, {last}) AS place, generate_series(0, 1) AS kind;
INSERT INTO contents SELECT 's' || place, sha256(place::text::bytea), {sample}
FROM generate_series(0, {last}) AS place ON CONFLICT DO NOTHING;
"""


def fill(db: Any, name: str, trials: int, *, records: bool) -> None:
    """Make a run of so many scored trials; without their records it can be summed up, but not read one by one.

    Args:
        db: a connection of psycopg that commits by itself.
    """
    from proctor.stores.blobs import encode
    from proctor.testing.records import a_record
    from proctor_adapters.postgresql import plan

    record = encode(a_record(name, scorers=("exact",), planned=trials))
    db.execute("SET search_path TO proctor")
    row = db.execute(
        "INSERT INTO runs (name, record, changed, epoch) VALUES (%s, %s, 1, 1) RETURNING id", (name, record)
    )
    ((run,),) = row.fetchall()
    values = {"run": run, "first": run << 32, "last": trials - 1}
    texts = {kind: _text(kind, size) for kind, size in BYTES.items()}
    db.execute((_FILL + (_RECORDS if records else "")).format(**values, **texts))
    plan.finish(db, run, trials)
    db.execute("ANALYZE tag_sets, trials, scores, records, contents")


def _text(kind: str, size: int) -> str:
    digits = (f"encode(sha512(('{kind} {at} ' || place)::bytea), 'hex')" for at in range(0, size, 2 * DIGITS))
    return f"convert_to(rpad({' || '.join(digits)}, {size}, 'x'), 'UTF8')"
