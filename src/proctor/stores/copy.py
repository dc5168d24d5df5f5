"""Copy a run from any store to any other, with its superseded trials and verdicts, and what people said about it."""

from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec.structs import replace

from proctor.core.annotation import Annotation
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
    for there in target.runs():
        if there.id == run_id and there.state != "copying":
            raise BadInput(
                "The store {url} has a run '{run}' already. Delete it there first.", url=target.url, run=run_id
            )
        if there.id == run_id:
            target.delete(run_id)  # refused while another process is at it
    check_whole(record)
    await target.begin(replace(record, state="copying"))
    try:
        await target.plan(run_id, source.planned(run_id))
        for kept in _chunks(source.history(run_id)):
            samples = _samples(source, kept)
            await run_together(*(target.add(one, (), samples[one.sample_id]) for one in kept if isinstance(one, Trial)))
            await target.judge([one for one in kept if isinstance(one, Verdict)])
        target.annotate(_annotations(source, target, run_id))
    except BaseException:
        await target.end(record)
        target.delete(run_id)
        raise
    await target.end(record)


def _annotations(source: Store, target: Store, run_id: str) -> list[Annotation]:
    """Return what was said about the run, without the names of baselines that are other runs in the target."""
    taken = {one.name for one in target.annotations(kind="baseline")}
    return [one for one in source.annotations(run_id) if one.kind != "baseline" or one.name not in taken]


def check_whole(record: RunRecord) -> None:
    """Refuse a run whose copy is incomplete.

    Raises:
        BadInput: it is.
    """
    if record.state == "copying":
        raise BadInput(
            "The run '{run}' is only half there: it is being copied, or that was cut off. Copy it again (proctor runs copy).",
            run=record.id,
        )


def _chunks(history: Iterable[Trial | Verdict]) -> Iterator[list[Trial | Verdict]]:
    rest = iter(history)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk


def _samples(source: Store, kept: Iterable[Trial | Verdict]) -> dict[str, Sample | None]:
    found: dict[str, Sample | None] = {}
    for one in kept:
        if isinstance(one, Trial) and one.sample_id not in found:
            found[one.sample_id] = source.sample(one.run_id, one.sample_id)
    return found
