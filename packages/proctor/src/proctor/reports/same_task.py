"""Refuse to compare runs of different tasks, and say how an imported run comes by the name of the other's task."""

from collections.abc import Iterable
from itertools import islice

from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.run import RunRecord, Selection
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor.core.tally import PREPARATION


def check_same_task(first: RunRecord, second: RunRecord) -> None:
    """Refuse to compare runs of different tasks.

    Raises:
        BadInput: they are; of a run that was imported, it says how to give it the name of the other's task.
    """
    if first.task != second.task:
        raise BadInput(
            "The runs are of different tasks: {first} and {second}.{advice}",
            first=first.task,
            second=second.task,
            advice=_advice(second, first.task) or _advice(first, second.task),
        )


def check_baseline(baseline: RunRecord, task: str) -> None:
    """Refuse a baseline of another task.

    Raises:
        BadInput: it is; of one that was imported, it says how to give it the name of the task.
    """
    if baseline.task != task:
        raise BadInput(
            "The baseline {run} is of another task: {task}.{advice}",
            run=baseline.id,
            task=baseline.task,
            advice=_advice(baseline, task),
        )


def check_same_population(record: RunRecord, other: RunRecord, planned: Iterable[Sample]) -> None:
    """Refuse another run of the same task whose samples are drawn from others, as far as the records tell.

    Args:
        planned: the samples of the other run. An imported log may have fewer than the task.

    Raises:
        BadInput: the task options differ, or the number of samples that the run was drawn from.
    """
    if record.spec.task_options != other.spec.task_options:
        raise BadInput(
            "The task options of {run} and {other} differ: {first} and {second}. Their samples may be others of the same names.",
            run=record.id,
            other=other.id,
            first=dict(record.spec.task_options),
            second=dict(other.spec.task_options),
        )
    total = None if record.strata is None else record.strata.total
    known = _count_drawable(record.spec.selection, other, planned)
    if total is not None and known is not None and (known > total or (known < total and not other.is_imported)):
        raise BadInput(
            "The samples of {run} and {other} are not those of one task: {run} draws from {first} samples of the task, and {other} from {second}.",
            run=record.id,
            other=other.id,
            first=total,
            second=known,
        )


def _count_drawable(chosen: Selection, other: RunRecord, planned: Iterable[Sample]) -> int | None:
    """Return how many samples of the task of another run a selection leaves to draw from; None where its record does not tell."""
    if replace(other.spec.selection, limit=None) == replace(chosen, limit=None) and other.strata is not None:
        return other.strata.total
    if other.spec.selection != Selection() or other.spec.shard is not None:
        return None
    left = (
        sample
        for sample in planned
        if PREPARATION not in sample.tags
        and all(sample.tags.get(key) == value for key, value in chosen.tags.items())
        and (not chosen.ids or sample.id in chosen.ids)
    )
    return sum(1 for _ in islice(left, chosen.first))


def _advice(run: RunRecord, task: str) -> Sentence | str:
    if not run.is_imported:
        return ""
    return say(
        " Where the samples are the same, import the log of '{run}' again under the name of the other's task: proctor runs import FILE --task {task}",
        run=run.id,
        task=task,
    )
