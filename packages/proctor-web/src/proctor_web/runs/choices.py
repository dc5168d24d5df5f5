"""Find what can be chosen for a new run: tasks and agents of the given folders, and those that are reached by name.

Code of a folder is not executed for that: what a file defines is read from its text.
"""

import ast
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from proctor import registry
from proctor.core.errors import BadInput
from proctor_web.operations import Operation
from proctor_web.runs.options import OptionField, agent_fields, task_fields
from proctor_web.workspace import Workspace

DEEPEST = 3  # folders
MOST = 500  # of each kind
MOST_BYTES = 1_000_000  # of a file of code
SETS = (".evalset.json", ".test.json")
DATA = frozenset({".jsonl", ".csv", ".tsv", ".json", ".parquet", ".xlsx"})


class RunChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A task or an agent; `about` is a sentence for a part of Proctor, and '' for one of a folder, which `is_own`."""

    name: str
    about: str = ""
    is_own: bool = False

    @property
    def short(self) -> str:
        """Return the name without the way to its folder."""
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
    benchmarks = [
        RunChoice(name=name, about=registry.BENCHMARKS.describe(name)) for name in registry.BENCHMARKS.names()
    ]
    named = [RunChoice(name=f"{kind}:", about=registry.AGENTS.describe(kind)) for kind in ("openai", "a2a", "http")]
    local = [*(f"local:{name}" for name in _models()), *(f"baseline:{name}" for name in _baselines())]
    return Choices(
        tasks=(*(RunChoice(name=name, is_own=True) for name in _tasks(workspace)), *benchmarks),
        agents=(
            *(RunChoice(name=name, is_own=True) for name in agents(workspace.agents)),
            *named,
            *(RunChoice(name=name) for name in local),
        ),
    )


def list_options(_: Workspace, given: Chosen) -> Fields:
    """Return the options of a task and of an agent that can be set from here."""
    return Fields(task=tuple(_safe_task_fields(given.task)), agent=tuple(agent_fields(given.agent)))


def agents(folder: Path | None) -> list[str]:
    """Return the names of the agents of a folder: those of google-adk, and what its Python files define."""
    if folder is None:
        return []
    of_adk = [f"adk:{show_path(path)}" for path in _folders(folder) if is_adk(path)]
    code = (path for path in sorted(folder.glob("*.py"))[:MOST] if not path.name.startswith("_"))
    return [*of_adk, *(f"{show_path(path)}:{name}" for path in code for name, is_task in _names(path) if not is_task)]


def is_adk(folder: Path) -> bool:
    """True if a folder holds an agent of google-adk, as `adk web` takes them."""
    config, code = folder / "root_agent.yaml", (folder / "agent.py", folder / "__init__.py")
    return config.is_file() or any("root_agent" in _source(path) for path in code)


def _tasks(workspace: Workspace) -> list[str]:
    sets = [show_path(path) for path in _files(workspace.evalsets) if _is_set(path)]
    folders = dict.fromkeys(folder for folder in (workspace.evalsets, workspace.agents) if folder is not None)
    code = (path for folder in folders for path in sorted(folder.glob("*.py"))[:MOST])
    return [*sets, *(f"{show_path(path)}:{name}" for path in code for name, is_task in _names(path) if is_task)]


def _is_set(path: Path) -> bool:
    return path.name.endswith(SETS) or (path.suffix in DATA - {".json"})


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


def _folders(folder: Path) -> list[Path]:
    inside = [path for path in sorted(folder.iterdir()) if path.is_dir() and path.name[0] not in "._"]
    return [folder, *inside[:MOST]]


def show_path(path: Path) -> str:
    """Return a path as it is given in the terminal, in this folder without the way to it."""
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) and path != here else str(path)


def _names(path: Path) -> Sequence[tuple[str, bool]]:
    try:
        about = path.stat()
    except OSError:
        return ()
    return _defined(path, about.st_mtime_ns) if about.st_size <= MOST_BYTES else ()


@lru_cache(maxsize=1_000)
def _defined(path: Path, _: int) -> Sequence[tuple[str, bool]]:
    """Return the functions and objects that a file defines, and for each if it is a task."""
    try:
        tree = ast.parse(_source(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    found: dict[str, bool] = {}
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name, returns=returns) | ast.AsyncFunctionDef(name=name, returns=returns):
                is_task = name == "task" or (returns is not None and ast.unparse(returns).endswith("Task"))
                if is_task or node.args.args:  # an agent is given the question
                    found[name] = is_task
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=made)):
                found[name] = ast.unparse(made).endswith("Task")
    return [(name, is_task) for name, is_task in found.items() if not name.startswith("_")]


def _source(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8") if path.stat().st_size <= MOST_BYTES else ""
    except (OSError, ValueError):
        return ""


def _models() -> Sequence[str]:
    from proctor.models.local import MODELS

    return [*MODELS]


def _baselines() -> Sequence[str]:
    from proctor.agents.baseline import KINDS

    return KINDS


def _safe_task_fields(task: str) -> Sequence[OptionField]:
    try:
        return task_fields(task)
    except BadInput:  # a name that is not whole yet
        return ()


OPERATIONS: Sequence[Operation] = (
    Operation("GET", "/choices", list_choices),
    Operation("GET", "/choices/options", list_options),
)
