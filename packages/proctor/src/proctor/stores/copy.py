"""Copy a run from any store to any other, with its superseded trials and verdicts, and what people said about it."""

from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec.structs import replace

from proctor.core.annotation import Annotation, AnnotationKey
from proctor.core.errors import BadInput
from proctor.core.run import RunRecord
from proctor.core.sample import Sample
from proctor.core.task import Store
from proctor.core.trial import Trial, Verdict
from proctor.runtime.concurrent import run_together

CHUNK = 256


async def copy(source: Store, target: Store, run_id: str) -> None:
    """Copy a run; an incomplete copy is removed when that fails.

    Until the copy is complete its state is "copying", and nothing reads or resumes it; after a kill, copy the run again.

    Raises:
        BadInput: the source has no such run, or the target has one of that name.
    """
    record = source.run(run_id)
    check_whole(record)
    await begin_copy(record, target)
    try:
        await target.plan(run_id, source.planned(run_id))
        await copy_history(source, target, run_id)
        copy_annotations([source], target, run_id)
    except BaseException:
        await target.end(replace(record, state="copying"))
        target.delete(run_id)
        raise
    await target.end(record)


async def begin_copy(record: RunRecord, target: Store) -> None:
    """Begin the copy of a run, in the state "copying"; an incomplete one is removed first.

    Raises:
        BadInput: the target has a run of that name.
    """
    for there in target.runs():
        if there.id == record.id and there.state != "copying":
            raise BadInput(
                "The store {url} has a run '{run}' already. Delete it there first.", url=target.url, run=record.id
            )
        if there.id == record.id:
            target.delete(record.id)  # refused while another process is at it
    await target.begin(replace(record, state="copying"))


async def copy_history(source: Store, target: Store, run_id: str) -> None:
    """Copy trials and verdicts, in the order in which they were accepted."""
    for kept in _chunks(source.history(run_id)):
        samples = _samples(source, kept)
        await run_together(*(target.add(one, (), samples[one.sample_id]) for one in kept if isinstance(one, Trial)))
        await target.judge([one for one in kept if isinstance(one, Verdict)])


def copy_annotations(sources: Iterable[Store], target: Store, run_id: str) -> None:
    """Copy what was said about a run, without the names of baselines that are other runs in the target.

    Notes of one person in several stores become one.
    """
    taken = {annotation.name for annotation in target.annotations(kind="baseline")}
    by_key: dict[AnnotationKey, Annotation] = {}
    for annotation in (annotation for source in sources for annotation in source.annotations(run_id)):
        before = by_key.get(annotation.key)
        is_further = before is not None and annotation.kind == "note" and annotation.value != before.value
        if annotation.kind != "baseline" or annotation.name not in taken:
            by_key[annotation.key] = (
                replace(annotation, value=f"{before.value}\n{annotation.value}")
                if before and is_further
                else annotation
            )
    target.annotate([*by_key.values()])


def check_whole(record: RunRecord) -> None:
    """Refuse a run whose copy is incomplete.

    Raises:
        BadInput: it is.
    """
    if record.state == "copying":
        raise BadInput(
            "The run '{run}' is only half there: it is being copied or imported, or that was cut off. Copy it (proctor runs copy) or import it again.",
            run=record.id,
        )


def _chunks(history: Iterable[Trial | Verdict]) -> Iterator[list[Trial | Verdict]]:
    rest = iter(history)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk


def _samples(source: Store, kept: Iterable[Trial | Verdict]) -> dict[str, Sample | None]:
    samples: dict[str, Sample | None] = {}
    for one in kept:
        if isinstance(one, Trial) and one.sample_id not in samples:
            samples[one.sample_id] = source.sample(one.run_id, one.sample_id)
    return samples
