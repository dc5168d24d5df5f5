"""Score recorded replies in place of calling an agent: as the task's benchmark writes them, as JSON lines, or from spans."""

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from proctor import registry
from proctor.agents import replay
from proctor.api.resolve import benchmark
from proctor.core.errors import BadInput
from proctor.core.parts import ReplyFilesPart
from proctor.core.run import Selection
from proctor.engine.job import Job
from proctor.engine.recorded import Reply, group_replies

SPANS = re.compile(rb'"(?:resource_?spans|trace_?id)"', re.IGNORECASE)  # keys of traces
HEAD = 4096  # bytes in which they are looked for


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
    pairs: Iterable[tuple[str, Reply]]
    if part is not None and part.replies is not None:
        pairs = part.replies(path, {**({"category": category} if category else {}), **spec.task_options})
    elif (kind := kind_of_replies(path)) is not None:
        traced = kind.replies(path, job.samples(), attempts=spec.attempts)
        pairs, job = traced.found, replace(job, record=replace(job.record, warnings=traced.notes))
    else:
        _check_installed(path)
        pairs = replay.read(path)
    is_whole = spec.selection == Selection()
    kept = group_replies(pairs, job.samples(), task=job.task.name, attempts=spec.attempts, is_whole=is_whole)
    return replace(job, replies=kept)


def kind_of_replies(path: Path) -> ReplyFilesPart | None:
    """Return the kind of recorded replies that a file holds, such as traces; None for our own lines, and for anything else."""
    with suppress(BadInput):  # a package that cannot be loaded, which nobody named
        return next((part for _, part in registry.REPLY_FILES.each() if part.is_mine(path)), None)
    return None


def _check_installed(path: Path) -> None:
    """Refuse spans where the package that reads them is missing."""
    if path.is_file():
        with path.open("rb") as file:
            if SPANS.search(file.read(HEAD)):
                registry.REPLY_FILES.check_installed("traces")
