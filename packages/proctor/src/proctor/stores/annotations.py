"""Write what people say about runs and trials."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.core.annotation import Annotation
from proctor.core.errors import BadInput
from proctor.stores.blobs import clean, encode

_KEY = "run = :run AND sample = :sample AND attempt = :attempt AND kind = :kind AND name = :name AND person = :person"
_REMOVE = f"DELETE FROM annotations WHERE {_KEY}"  # noqa: S608 - constants
_PLANNED = "SELECT 1 FROM samples WHERE run = :run AND name = :sample"
_ADD = """
INSERT INTO annotations VALUES (:run, :sample, :attempt, :kind, :name, :person, :record)
ON CONFLICT (run, sample, attempt, kind, name, person) DO UPDATE SET record = excluded.record
"""


def annotate(
    execute: Callable[[str, Mapping[str, object]], Any],
    added: Sequence[tuple[int, Annotation]],
    removed: Sequence[tuple[int, Annotation]],
) -> None:
    """Remove and add annotations, each with the number of its run.

    Args:
        execute: runs a statement with `:name` for each value, and returns its cursor.

    Raises:
        BadInput: one is about a sample that is not in the plan of its run.
    """
    for run, annotation in removed:
        execute(_REMOVE, _key(run, annotation))
    for run, annotation in added:
        key = _key(run, annotation)
        if annotation.sample_id and not execute(_PLANNED, {"run": run, "sample": key["sample"]}).fetchone():
            raise BadInput("The sample '{id}' is not in the plan of the run.", id=annotation.sample_id)
        execute(_ADD, {**key, "record": encode(annotation)})


def _key(run: int, annotation: Annotation) -> dict[str, object]:
    _, sample, attempt, kind, name, by = annotation.key
    return {
        "run": run,
        "sample": clean(sample),
        "attempt": attempt,
        "kind": kind,
        "name": clean(name),
        "person": clean(by),
    }
