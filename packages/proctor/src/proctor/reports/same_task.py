"""Refuse to compare runs of different tasks, and say how an imported run comes by the name of the other's task."""

from proctor.core.errors import BadInput
from proctor.core.run import RunRecord
from proctor.core.sentence import Sentence, say


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


def _advice(run: RunRecord, task: str) -> Sentence | str:
    if not run.is_imported:
        return ""
    return say(
        " Where the samples are the same, import the log of '{run}' again under the name of the other's task: proctor runs import FILE --task {task}",
        run=run.id,
        task=task,
    )
