"""Tasks in folders, `harbor:FOLDER`: Harbor's form, or a folder of one's own with instruction, tests and solution.

The agent works in a box, and a verifier that it cannot reach judges what it left.
"""

from pathlib import Path

from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.parts import TaskFilesPart
from proctor.core.sentence import Sentence, say
from proctor.core.task import Task
from proctor_benchmarks.boxes.box_task import BoxTask, sample_of
from proctor_benchmarks.boxes.tasks import BoxTaskOptions, task_in_boxes
from proctor_benchmarks.harbor import parity
from proctor_benchmarks.harbor.task_folder import HarborSettings, NotRunnable, is_task, read_task

PREFIX = "harbor:"
_TAGS = ("difficulty", "category")


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
    folders = [root] if is_task(root) else sorted(path for path in root.iterdir() if path.is_dir() and is_task(path))
    if not folders:
        raise BadInput("{path} has no task: a task is a folder with instruction.md, tests/test.sh and, where files are needed, environment/.", path=root)  # fmt: skip
    tasks: dict[str, tuple[BoxTask, HarborSettings]] = {}
    refused: dict[str, Sentence] = {}
    for folder in folders:
        try:
            tasks[folder.name] = read_task(folder.absolute())
        except NotRunnable as error:
            refused[folder.name] = error.reason
    if not tasks:
        first = next(iter(refused))
        raise BadInput("None of the {count} tasks in {path} can be run: {name}: {reason}.", count=len(folders), path=root, name=first, reason=refused[first])  # fmt: skip
    notes = [say("{name} is left out: {reason}.", name=name, reason=reason) for name, reason in refused.items()]
    public = sum(_wants_network(settings) for _, settings in tasks.values())
    if public:
        notes.append(say("{count} of {total} tasks may expect a network; boxes have none.", count=public, total=len(tasks)))  # fmt: skip
    samples = [sample_of(name, box_task, _tags(settings)) for name, (box_task, settings) in tasks.items()]
    return task_in_boxes(name, samples, how, notes=notes, provenance={"form": "harbor", "left_out": {name: str(reason) for name, reason in refused.items()}})  # fmt: skip


def _tags(settings: HarborSettings) -> dict[str, str]:
    return {name: value for name in _TAGS if isinstance(value := settings.metadata.get(name), str)}


def _wants_network(settings: HarborSettings) -> bool:
    environment = settings.environment
    return bool(settings.task or settings.metadata) and environment.network_mode != "no-network" and environment.allow_internet is not False  # fmt: skip


PART = TaskFilesPart(
    is_mine=lambda name: name.startswith(PREFIX),
    task=task,
    check_corpus=parity.check_corpus,
)
