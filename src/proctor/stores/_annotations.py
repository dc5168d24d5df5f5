"""Write and read what people say about runs and trials."""

import sqlite3
from collections.abc import Sequence

from proctor.core.annotation import Annotation, AnnotationKind
from proctor.core.errors import BadInput
from proctor.stores._queries import decode
from proctor.stores.blobs import clean, encode

_KEY = "run = ? AND sample = ? AND attempt = ? AND kind = ? AND name = ? AND person = ?"
_FOUND = """
SELECT annotations.record FROM annotations JOIN runs ON runs.id = run
WHERE (:run IS NULL OR run = :run) AND (:kind IS NULL OR kind = :kind) AND (:sample IS NULL OR sample = :sample)
"""


def annotate(
    db: sqlite3.Connection, added: Sequence[tuple[int, Annotation]], removed: Sequence[tuple[int, Annotation]]
) -> None:
    """Remove and add annotations, each with the number of its run.

    Raises:
        BadInput: one is about a sample that is not in the plan of its run.
    """
    for run, annotation in removed:
        db.execute(f"DELETE FROM annotations WHERE {_KEY}", _key(run, annotation))  # noqa: S608 - constants
    for run, annotation in added:
        key = _key(run, annotation)
        if (
            annotation.sample_id
            and not db.execute("SELECT 1 FROM samples WHERE run = ? AND name = ?", key[:2]).fetchone()
        ):
            raise BadInput("The sample '{id}' is not in the plan of the run.", id=annotation.sample_id)
        db.execute("INSERT OR REPLACE INTO annotations VALUES (?, ?, ?, ?, ?, ?, ?)", (*key, encode(annotation)))


def read(
    db: sqlite3.Connection, run: int | None, kind: AnnotationKind | None, sample_id: str | None
) -> list[Annotation]:
    """Return annotations, the oldest first: of a run or of all, of a kind, of a sample ('' is the run itself)."""
    values = {"run": run, "kind": kind, "sample": None if sample_id is None else clean(sample_id)}
    found = [decode(record, Annotation) for (record,) in db.execute(_FOUND, values)]
    return sorted(found, key=lambda annotation: annotation.created)


def _key(run: int, annotation: Annotation) -> tuple[int, str, int, str, str, str]:
    _, sample, attempt, kind, name, by = annotation.key
    return run, clean(sample), attempt, kind, clean(name), clean(by)
