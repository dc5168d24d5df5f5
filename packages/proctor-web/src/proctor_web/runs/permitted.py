"""Decide what may be started from a browser: agents and tasks of the given folders, and what is reached by name.

A stored run is checked as a new one is, as a store may come from anybody: resuming a run executes what it names.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import NamedTuple

import msgspec

from proctor import registry
from proctor.config import settings
from proctor.core.errors import BadInput
from proctor.core.run import RunSpec
from proctor.core.sentence import say
from proctor_ci.request import NAME, RunRequest
from proctor_web.runs.choices import show_path
from proctor_web.runs.options import OUTSIDE
from proctor_web.workspace import Workspace

BY_NAME = frozenset({"openai", "a2a", "http", "baseline"})  # nothing of this machine is executed
LIBRARIES = frozenset({"adk", "langgraph", "openai_agents", "pydantic_ai", "smolagents", "hello_agents"})
_PLACE = re.compile(r"[~/\\]|\.{1,2}[/\\]|[A-Za-z]:[/\\]|file:")


class _Folders(NamedTuple):
    """The folders of a workspace, and the folder that relative names are of."""

    folders: tuple[Path, ...]
    base: Path

    def holds(self, path: str) -> bool:
        """True if a path, links followed, exists in one of the folders."""
        try:
            real = self.base.joinpath(path).resolve(strict=True)
        except (OSError, ValueError):
            return False
        return any(real.is_relative_to(folder.resolve()) for folder in self.folders)

    def has(self, path: str) -> bool:
        """True if there is something at a path, wherever it leads."""
        try:
            return self.base.joinpath(path).exists()
        except (OSError, ValueError):  # no file can have this name
            return False


def check(workspace: Workspace, spec: RunSpec, base: Path | None = None) -> None:
    """Refuse a run that would execute, read or send anything but what the folders hold and names reach.

    Args:
        base: the folder that relative names are of, and that the run will be started in; by default that of the server.

    Raises:
        BadInput: names the part.
    """
    folders = _Folders(_folders(workspace), base or Path.cwd())
    _check_task(folders, spec.task)
    _check_agent(folders, spec.agent)
    for scorer in spec.scorers:
        _check_scorer(folders, scorer)
    for model in (spec.judge or "").split(","):
        _check_model(folders, "judge", model.strip())
    if spec.user is not None:
        kind, _, model = spec.user.partition(":")
        if kind in ("model", "adk"):
            _check_model(folders, "simulated user", model)
        else:
            _check_file(folders, "simulated user", spec.user, spec.user.removeprefix("scripted:"))
    for environment in spec.environment:
        _check_file(folders, "environment", environment, environment.removeprefix("python:"))
    of_runs = (spec.task_options, spec.agent_options)
    for options in (*of_runs, spec.environment_options, spec.judge_options, spec.user_options):
        _check_options(folders, options)


def is_inside(workspace: Workspace, path: str) -> bool:
    """True if a path, links followed, exists in one of the folders of the workspace."""
    return _Folders(_folders(workspace), Path.cwd()).holds(path)


def folder_to_resume(workspace: Workspace, spec: RunSpec) -> Path:
    """Return the folder to resume a stored run in: one of which all its relative names lie in the folders of the workspace.

    A run keeps its names as they were typed, relative to the folder its command was run in.

    Raises:
        BadInput: there is none; names the part that is not found from the folder of the server.
    """
    here = Path.cwd()
    above = (base for folder in _folders(workspace) for base in (folder.absolute(), *folder.absolute().parents))
    fault: BadInput | None = None
    for base in dict.fromkeys((here, *above)):
        try:
            check(workspace, spec, base)
        except BadInput as error:
            fault = fault or error
        else:
            return base
    assert fault is not None
    raise fault


def _folders(workspace: Workspace) -> tuple[Path, ...]:
    return tuple(folder for folder in (workspace.evalsets, workspace.agents) if folder is not None)


def locate(workspace: Workspace, request: RunRequest) -> RunRequest:
    """Return a request whose task, agent and scorers are named by where they are in the folders of the workspace.

    A stored run names them as they were typed, relative to the folder its command was run in.
    """
    kind, colon, argument = request.agent.partition(":")
    is_library = bool(colon) and kind.replace("-", "_") in LIBRARIES
    agent = f"{kind}:{_located(workspace, argument)}" if is_library else _located(workspace, request.agent)
    return msgspec.structs.replace(
        request,
        task=_located(workspace, request.task),
        agent=agent,
        scorers=tuple(_located(workspace, scorer) for scorer in request.scorers),
    )


def _located(workspace: Workspace, name: str) -> str:
    """Return a name with the path of the file that ends alike in a folder of the workspace; unchanged where there is none."""
    file = file_of(name)
    if is_inside(workspace, file):
        return name
    parts = [part for part in PurePath(file).parts if part not in ("/", ".", "..")]
    for start in range(len(parts)):
        for folder in _folders(workspace):
            path = folder.joinpath(*parts[start:])
            if is_inside(workspace, str(path)) and (path.is_file() or (path / "agent.py").is_file()):
                return name.replace(file, show_path(path.absolute()), 1)
    return name


def file_of(name: str) -> str:
    """Return the file or folder of `./file.py:object`, or of `set.evalset.json:case,case`.

    >>> file_of("./a.py:answer"), file_of("sets/a.evalset.json:one,two"), file_of("agents/shop")
    ('./a.py', 'sets/a.evalset.json', 'agents/shop')
    """
    if registry.is_path(name):
        return name.rpartition(":")[0] if ":" in name else name  # as the registry reads it
    path, data, _ = name.partition(".json:")
    return f"{path}.json" if data else name


def _check_task(folders: _Folders, name: str) -> None:
    folder = name.partition("/")[0]
    is_named = NAME.fullmatch(name) and ":" not in name and ".." not in name and registry.BENCHMARKS.knows(folder)
    if is_named and not folders.has(name):
        return
    _check_file(folders, "task", name, name)


def _check_agent(folders: _Folders, name: str) -> None:
    kind, _, argument = name.partition(":")
    kind = kind.replace("-", "_")
    if kind in BY_NAME and argument and "env:" not in argument:
        return
    if kind == "local":
        _check_model(folders, "agent", name)
    else:
        _check_file(folders, "agent", name, argument if kind in LIBRARIES else name)


def _check_model(folders: _Folders, what: str, name: str) -> None:
    """Models of endpoints may have any name, as it is only sent; one that runs here has a known name, or is in a folder."""
    kind, _, argument = name.partition(":")
    is_known = kind == "local" and NAME.fullmatch(argument) is not None and not argument.endswith(".gguf")
    if name and kind != "openai" and not is_known:
        _check_file(folders, what, name, argument)


def _check_scorer(folders: _Folders, name: str) -> None:
    kind, _, argument = name.partition(":")
    is_known = kind.isidentifier() and (registry.SCORERS.knows(kind) or registry.JUDGES.knows(kind))
    if not (is_known and re.fullmatch(r"[\w-]*", argument)):
        _check_file(folders, "scorer", name, argument if is_known else name)


def _check_file(folders: _Folders, what: str, name: str, path: str) -> None:
    if not path or not folders.holds(file_of(path)):
        raise BadInput(
            "The {what} '{name}' is not one that may be started from here: it is neither in the folders of this server (--agents, --evalsets) nor reached by the name of a provider. Start it in the terminal with proctor run.",
            what=say(what),
            name=name,
        )


def _check_options(folders: _Folders, options: Mapping[str, object]) -> None:
    for name, text in _texts(options):
        is_key = name == "api_key_env" and not text.endswith("API_KEY")
        is_elsewhere = name in OUTSIDE or is_key or _PLACE.match(text) or "env:" in text or _is_code(text)
        if is_elsewhere and not folders.holds(file_of(text)) and text not in _own_options():
            raise BadInput(
                "The option '{name}' names something outside the folders of this server. Set it in proctor.toml, or start the run in the terminal with proctor run.",
                name=name,
            )


def _own_options() -> set[str]:
    """Return the options in proctor.toml, which are the user's own."""
    project = settings()
    return {
        text
        for options in (project.agent_options, project.task_options, project.judge_options)
        for _, text in _texts(options)
    }


def _is_code(text: str) -> bool:
    """True if a text may be read as the name of a Python object; that of a model is none."""
    return text.partition(":")[0] not in ("openai", "local") and registry.names_object(text.strip())


def _texts(value: object, name: str = "") -> Iterable[tuple[str, str]]:
    """Yield every text in options with the name of its option."""
    match value:
        case Mapping():
            for key, item in value.items():
                yield from _texts(item, str(key))
        case list() | tuple():
            for item in value:
                yield from _texts(item, name)
        case _:
            yield name, str(value)
