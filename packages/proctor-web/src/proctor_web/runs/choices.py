"""Find what can be chosen for a new run: tasks and agents of the given folders, and those that are reached by name."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from proctor import registry
from proctor.core.errors import BadInput
from proctor_web.folder_code import agents_in, tasks_in
from proctor_web.runs.options import OptionField, agent_fields, task_fields
from proctor_web.workspace import Workspace

DEEPEST = 3  # folders
MOST = 500  # of each kind
SETS = (".evalset.json", ".test.json")
DATA = frozenset({".jsonl", ".csv", ".tsv", ".parquet", ".xlsx"})


class RunChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A task or an agent; `about` is a sentence for a part of Proctor, and '' for one of a folder, which `is_own`."""

    name: str
    about: str = ""
    is_own: bool = False

    @property
    def short(self) -> str:
        kind, colon, path = self.name.partition(":") if self.name.startswith("adk:") else ("", "", self.name)
        return f"{kind}{colon}{path.rpartition('/')[2]}" if self.is_own else self.name

    @property
    def needs_more(self) -> bool:
        """True if a model or an address comes after it."""
        return self.name.endswith(":")


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """What can be chosen for a new run; a name that ends with a colon wants a model or an address after it."""

    tasks: tuple[RunChoice, ...]
    agents: tuple[RunChoice, ...]


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """The task and the agent whose options are asked for."""

    task: str = ""
    agent: str = ""


class Fields(msgspec.Struct, frozen=True, kw_only=True):
    """The options that can be set from here."""

    task: tuple[OptionField, ...]
    agent: tuple[OptionField, ...]


def list_choices(workspace: Workspace) -> Choices:
    """Return the tasks and agents that can be chosen for a run."""
    from proctor.agents.baseline import KINDS
    from proctor_adapters.models.local import MODELS

    benchmarks = [
        RunChoice(name=name, about=registry.BENCHMARKS.describe(name)) for name in registry.BENCHMARKS.names()
    ]
    named = [RunChoice(name=f"{kind}:", about=registry.AGENTS.describe(kind)) for kind in ("openai", "a2a", "http")]
    local = [*(f"local:{name}" for name in MODELS), *(f"baseline:{name}" for name in KINDS)]
    targets = [] if workspace.agents is None else [agent.target for agent in agents_in(workspace.agents)]
    here = f"{Path.cwd()}{os.sep}"
    return Choices(
        tasks=(*(RunChoice(name=name, is_own=True) for name in _tasks(workspace)), *benchmarks),
        agents=(
            *(RunChoice(name=target.replace(here, "", 1), is_own=True) for target in targets),
            *named,
            *(RunChoice(name=name) for name in local),
        ),
    )


def list_options(_: Workspace, given: Chosen) -> Fields:
    """Return the options of a task and of an agent that can be set from here."""
    of_task: Sequence[OptionField] = ()
    with suppress(BadInput):  # a name that is not whole yet
        of_task = task_fields(given.task)
    return Fields(task=tuple(of_task), agent=tuple(agent_fields(given.agent)))


def _tasks(workspace: Workspace) -> list[str]:
    files = _files(workspace.evalsets)
    sets = [show_path(path) for path in files if path.name.endswith(SETS) or path.suffix in DATA]
    folders = dict.fromkeys(folder for folder in (workspace.evalsets, workspace.agents) if folder is not None)
    return [*sets, *(f"{show_path(path)}:{name}" for folder in folders for path, name in tasks_in(folder))]


def _files(folder: Path | None) -> Iterator[Path]:
    """Yield the files of a folder, not too many and not too deep."""
    if folder is None:
        return
    count = 0
    for root, folders, names in os.walk(folder):
        deep = len(Path(root).relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if name[0] not in "._" and deep < DEEPEST)
        for name in sorted(names):
            if name[0] != "." and count < MOST:
                count += 1
                yield Path(root, name)


def show_path(path: Path) -> str:
    """Return a path as it is given in the terminal, in this folder without the way to it."""
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) and path != here else str(path)
