"""Read a run as it grows: the trials with a record newer than those read before, in the order of the plan."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from proctor.core.trial import StoredTrial, Trial, Verdict
from proctor.stores.rows import decode, planned_sample
from proctor.stores.schema import first_sample

SPAN = 5_000  # samples whose new keys are read at once
NEWEST = "SELECT coalesce(max(id), 0) FROM records"
_LAST = "SELECT max(id) FROM samples WHERE run = ?"
_KEYS = """
SELECT sample, attempt FROM trials WHERE sample >= :first AND sample < :last AND record > :after
UNION
SELECT sample, attempt FROM scores
WHERE scorer IN (SELECT id FROM scorers) AND sample >= :first AND sample < :last AND record > :after
ORDER BY sample, attempt
"""
_TRIAL = """
SELECT (SELECT data FROM records WHERE id = trials.record), name, cluster, tag_sets.tags,
    (SELECT data FROM contents WHERE contents.name = samples.name AND digest = coalesce(trials.content, (
        SELECT content FROM trials AS other WHERE other.sample = samples.id AND content IS NOT NULL LIMIT 1)))
FROM trials CROSS JOIN samples ON samples.id = trials.sample CROSS JOIN tag_sets ON tag_sets.id = samples.tags
WHERE trials.sample = ? AND attempt = ?
"""
_VERDICTS = """
SELECT data FROM scorers CROSS JOIN scores ON scorer = scorers.id AND sample = ? AND attempt = ?
CROSS JOIN records ON records.id = scores.record ORDER BY name
"""


def stored(
    reading: Callable[[], AbstractContextManager[sqlite3.Connection]],
    read_trial: Callable[[int, bytes | None], Trial],
    run: int,
    after: int,
    start: int,
) -> Iterator[StoredTrial]:
    """Yield the trials of a run that have a record after a mark, from a position in the plan on."""
    base = first_sample(run)
    with reading() as db:
        mark = db.execute(NEWEST).fetchone()[0]
        last = db.execute(_LAST, (run,)).fetchone()[0] or base - 1
    for first in range(base + start, last + 1, SPAN):
        with reading() as db:
            keys = db.execute(_KEYS, {"first": first, "last": first + SPAN, "after": after}).fetchall()
        for sample, attempt in keys:
            with reading() as db:
                row = db.execute(_TRIAL, (sample, attempt)).fetchone()
                verdicts = db.execute(_VERDICTS, (sample, attempt)).fetchall()
            if row is not None:  # else the run was deleted meanwhile
                yield StoredTrial(
                    mark=mark,
                    position=sample - base,
                    sample=planned_sample(*row[1:]),
                    trial=read_trial(sample, row[0]),
                    verdicts=tuple(decode(data, Verdict) for (data,) in verdicts),
                )
