"""Score recorded replies in place of calling an agent: as the task's benchmark writes them, as JSON lines, or from spans."""

from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from proctor.agents import replay
from proctor.api.resolve import benchmark
from proctor.core.run import Selection
from proctor.engine.job import Job
from proctor.engine.recorded import Reply, group_replies
from proctor.traces import is_trace
from proctor.traces.replies import replies as in_traces


def with_replies(job: Job, path: Path, task_name: str | None) -> Job:
    """Return the job that scores the replies of a file or folder; no agent is called.

    Args:
        task_name: the name that the task was given by; None for a Task object.

    Raises:
        BadInput: a malformed line, a reply for an unknown sample, or more than there are attempts.
    """
    spec = job.record.spec
    folder, _, category = (task_name or "").partition("/")
    part = benchmark(folder)
    found: Iterable[tuple[str, Reply]]
    if part is not None and part.replies is not None:
        found = part.replies(path, {**({"category": category} if category else {}), **spec.task_options})
    elif is_trace(path):
        traced = in_traces(path, job.samples(), attempts=spec.attempts)
        found, job = traced.found, replace(job, record=replace(job.record, warnings=traced.notes))
    else:
        found = replay.read(path)
    is_whole = spec.selection == Selection()
    kept = group_replies(found, job.samples(), task=job.task.name, attempts=spec.attempts, is_whole=is_whole)
    return replace(job, replies=kept)
