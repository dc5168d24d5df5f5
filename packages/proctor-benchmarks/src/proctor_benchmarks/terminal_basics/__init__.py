"""Forty tasks for a shell, on any Linux machine: text, data, files, archives, code, the system.

They are a known-good run for those who have no docker: the oracle has 100 %, an agent that does nothing 0 %.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from proctor.config import converted
from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.core.parts import BenchmarkPart
from proctor.core.sample import Sample
from proctor.core.task import Task
from proctor_benchmarks.boxes.archives import FileSet
from proctor_benchmarks.boxes.box_task import SETUP, BoxTask, sample_of
from proctor_benchmarks.boxes.contract import BoxLimits
from proctor_benchmarks.boxes.tasks import BoxTaskOptions, task_in_boxes

FILE = Path(__file__).with_name("tasks.toml")
LIMITS = BoxLimits(memory_mb=512, disk_mb=256, processes=256)
SECONDS = 300.0
VERIFIER_SECONDS = 60.0


class ShellTask(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry of `tasks.toml`: what is there at the beginning, a right solution, and commands that check what is there then.

    Attributes:
        watched: the files that are to stay as they are when the agent is done; see `BoxTask`.
    """

    id: str
    topic: str
    instruction: str
    solution: str
    checks: Mapping[str, str]
    files: Mapping[str, str] = {}
    setup: str = ""
    watched: tuple[str, ...] = ()


class ShellTasks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file of tasks."""

    tasks: tuple[ShellTask, ...]


def task(category: str | None = None, **options: object) -> Task:
    """Return the task of all entries, or of some topics.

    Args:
        category: a topic, or several with commas; all when None.
        options: the fields of `BoxTaskOptions`.

    Raises:
        BadInput: an unknown topic or option, or no backend works here.
    """
    how = converted(options, BoxTaskOptions, "terminal-basics")
    entries = msgspec.toml.decode(FILE.read_bytes(), type=ShellTasks).tasks
    known = dict.fromkeys(entry.topic for entry in entries)
    topics = category.split(",") if category else list(known)
    for topic in topics:
        if topic not in known:
            raise BadInput("There is no topic '{name}'. Known: {known}.", name=topic, known=", ".join(known))
    name = "terminal-basics" if category is None else f"terminal-basics/{category}"
    samples = [_sample(entry) for entry in entries if entry.topic in topics]
    return task_in_boxes(name, samples, how, provenance={"files": {FILE.name: digest_bytes(FILE.read_bytes())}})


def _sample(entry: ShellTask) -> Sample:
    files = {**entry.files, **({SETUP: entry.setup} if entry.setup else {})}
    box_task = BoxTask(
        instruction=f"{entry.instruction}\n\nThe current folder is /app.",
        files=FileSet(texts=files),
        tests=FileSet(texts={"test.sh": _test_script(entry.checks)}),
        solution=FileSet(texts={"solve.sh": f"#!/bin/bash\ncd /app\n{entry.solution}\n"}),
        watched=entry.watched,
        limits=LIMITS,
        seconds=SECONDS,
        verifier_seconds=VERIFIER_SECONDS,
    )
    return sample_of(entry.id, box_task, {"topic": entry.topic})


def _test_script(checks: Mapping[str, str]) -> str:
    """Return a script that prints a TAP line for each check, and ends with 0 if all passed."""
    lines = ["#!/bin/bash", "cd /app", "failed=0"]
    for number, (name, command) in enumerate(checks.items(), start=1):
        lines.append(
            f"if ( {command} ); then echo 'ok {number} - {name}'; else echo 'not ok {number} - {name}'; failed=1; fi"
        )
    return "\n".join([*lines, "exit $failed", ""])


PART = BenchmarkPart(task=task, options=BoxTaskOptions)
