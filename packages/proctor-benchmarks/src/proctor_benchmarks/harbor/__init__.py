"""Tasks in folders, `harbor:FOLDER`: Harbor's form, Terminal-Bench's, or a folder of one's own with tests and solution.

The agent works in a box, and a verifier that it cannot reach judges what it left.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.parts import TaskFilesPart
from proctor.core.sentence import Sentence, say
from proctor.core.task import Task
from proctor_benchmarks.boxes.box_task import BoxTask, sample_of
from proctor_benchmarks.boxes.tasks import BoxTaskOptions, task_in_boxes
from proctor_benchmarks.harbor import parity
from proctor_benchmarks.harbor.task_folder import HarborSettings, NotRunnable, is_task, network_of, read_task
from proctor_benchmarks.harbor.terminal_bench_folder import (
    grade_pane,
    is_terminal_bench_task,
    read_terminal_bench_task,
)

PREFIX = "harbor:"
_TAGS = ("difficulty", "category")


class FolderTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task as its folder describes it."""

    box_task: BoxTask
    tags: Mapping[str, str]
    network: str


def task(name: str, **options: object) -> Task:
    """Return the task of a folder: a task, or a folder of tasks.

    Args:
        name: `harbor:FOLDER`.
        options: the fields of `BoxTaskOptions`.

    Raises:
        BadInput: there is no such folder, a task in it cannot be read, or none of them can be run here.
    """
    how = converted(options, BoxTaskOptions, PREFIX.rstrip(":"))
    root = Path(name.removeprefix(PREFIX)).expanduser()
    if not root.is_dir():
        raise BadInput("There is no folder {path}.", path=root)
    folders = [root] if _is_task(root) else sorted(path for path in root.iterdir() if path.is_dir() and _is_task(path))
    if not folders:
        raise BadInput("{path} has no task: a task is a folder with instruction.md, tests/test.sh and, where files are needed, environment/; or one of Terminal-Bench, with task.yaml.", path=root)  # fmt: skip
    tasks: dict[str, FolderTask] = {}
    refused: dict[str, Sentence] = {}
    for folder in folders:
        try:
            tasks[folder.name] = _read(folder.absolute())
        except NotRunnable as error:
            refused[folder.name] = error.reason
    if not tasks:
        first = next(iter(refused))
        raise BadInput("None of the {count} tasks in {path} can be run: {name}: {reason}.", count=len(folders), path=root, name=first, reason=refused[first])  # fmt: skip
    notes = [say("{name} is left out: {reason}.", name=name, reason=reason) for name, reason in refused.items()]
    notes += _notes_on_network([task.network for task in tasks.values()], how)
    samples = [sample_of(name, task.box_task, task.tags) for name, task in tasks.items()]
    return task_in_boxes(name, samples, how, notes=notes, provenance={"form": "harbor", "left_out": {name: str(reason) for name, reason in refused.items()}}, grade=grade_pane)  # fmt: skip


def _is_task(folder: Path) -> bool:
    return is_task(folder) or is_terminal_bench_task(folder)


def _read(folder: Path) -> FolderTask:
    """Return the task of a folder, in Terminal-Bench's form where it has a `task.yaml` and no `task.toml`."""
    if is_terminal_bench_task(folder) and not is_task(folder):
        box_task, tags = read_terminal_bench_task(folder)
        return FolderTask(box_task=box_task, tags=tags, network="public")
    box_task, settings = read_task(folder)
    return FolderTask(box_task=box_task, tags=_tags(settings), network=_network(settings))


def _tags(settings: HarborSettings) -> dict[str, str]:
    return {name: value for name in _TAGS if isinstance(value := settings.metadata.get(name), str)}


def _network(settings: HarborSettings) -> str:
    """Return what the agent of a task expects of a network; a folder of one's own that says nothing expects none."""
    mode, _ = network_of(settings)
    return "no-network" if mode == "public" and not (settings.task or settings.metadata) else mode


def _notes_on_network(expected: Sequence[str], how: BoxTaskOptions) -> Iterator[Sentence]:
    """Yield what tasks expect of a network and boxes do not have."""
    listing, public = expected.count("allowlist"), expected.count("public")
    if public and how.network in ("none", "task"):
        yield say("{count} of {total} tasks may expect a network; boxes have none.", count=public, total=len(expected))
    if listing and how.network == "none":
        yield say("{count} of {total} tasks list hosts that their agents expect; network=task lets boxes reach those.", count=listing, total=len(expected))  # fmt: skip


PART = TaskFilesPart(
    is_mine=lambda name: name.startswith(PREFIX),
    task=task,
    check_corpus=parity.check_corpus,
)
