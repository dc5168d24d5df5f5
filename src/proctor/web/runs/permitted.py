"""Decide what may be started from a browser: agents and tasks of the given folders, and what is reached by name.

A stored run is checked as a new one is, as a store may come from anybody: resuming a run executes what it names.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath

import msgspec

from proctor import registry
from proctor.api.request import NAME, RunRequest
from proctor.config import settings
from proctor.core.errors import BadInput
from proctor.core.run import RunSpec
from proctor.core.sentence import say
from proctor.web.runs.choices import show_path
from proctor.web.runs.options import OUTSIDE
from proctor.web.workspace import Workspace

BY_NAME = frozenset({"openai", "a2a", "http", "baseline"})  # nothing of this machine is executed
LIBRARIES = frozenset({"adk", "langgraph", "openai_agents", "pydantic_ai", "smolagents", "hello_agents"})
_PLACE = re.compile(r"[~/\\]|\.{1,2}[/\\]|[A-Za-z]:[/\\]|file:")


def check(workspace: Workspace, spec: RunSpec) -> None:
    """Refuse a run that would execute, read or send anything but what the folders hold and names reach.

    Raises:
        BadInput: names the part.
    """
    _check_task(workspace, spec.task)
    _check_agent(workspace, spec.agent)
    for scorer in spec.scorers:
        _check_scorer(workspace, scorer)
    for model in (spec.judge or "").split(","):
        _check_model(workspace, "judge", model.strip())
    if spec.user is not None:
        kind, _, model = spec.user.partition(":")
        if kind in ("model", "adk"):
            _check_model(workspace, "simulated user", model)
        else:
            _check_file(workspace, "simulated user", spec.user, spec.user.removeprefix("scripted:"))
    for environment in spec.environment:
        _check_file(workspace, "environment", environment, environment.removeprefix("python:"))
    for options in (
        spec.task_options,
        spec.agent_options,
        spec.environment_options,
        spec.judge_options,
        spec.user_options,
    ):
        _check_options(workspace, options)


def is_inside(workspace: Workspace, path: str) -> bool:
    """True if a path, links followed, exists in one of the folders of the workspace."""
    try:
        real = Path(path).resolve(strict=True)
    except (OSError, ValueError):
        return False
    folders = (folder.resolve() for folder in (workspace.agents, workspace.evalsets) if folder is not None)
    return any(real.is_relative_to(folder) for folder in folders)


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
    folders = [folder for folder in (workspace.evalsets, workspace.agents) if folder is not None]
    for start in range(len(parts)):
        for folder in folders:
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


def _check_task(workspace: Workspace, name: str) -> None:
    folder = name.partition("/")[0]
    is_named = NAME.fullmatch(name) and ":" not in name and ".." not in name and registry.BENCHMARKS.knows(folder)
    if is_named and not _exists(name):
        return
    _check_file(workspace, "task", name, name)


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # no file can have this name
        return False


def _check_agent(workspace: Workspace, name: str) -> None:
    kind, _, argument = name.partition(":")
    kind = kind.replace("-", "_")
    if kind in BY_NAME and argument and "env:" not in argument:
        return
    if kind == "local":
        _check_model(workspace, "agent", name)
    else:
        _check_file(workspace, "agent", name, argument if kind in LIBRARIES else name)


def _check_model(workspace: Workspace, what: str, name: str) -> None:
    """Models of endpoints may have any name, as it is only sent; one that runs here has a known name, or is in a folder."""
    kind, _, argument = name.partition(":")
    is_known = kind == "local" and NAME.fullmatch(argument) is not None and not argument.endswith(".gguf")
    if name and kind != "openai" and not is_known:
        _check_file(workspace, what, name, argument)


def _check_scorer(workspace: Workspace, name: str) -> None:
    kind, _, argument = name.partition(":")
    is_known = kind.isidentifier() and (registry.SCORERS.knows(kind) or registry.JUDGES.knows(kind))
    if not (is_known and re.fullmatch(r"[\w-]*", argument)):
        _check_file(workspace, "scorer", name, argument if is_known else name)


def _check_file(workspace: Workspace, what: str, name: str, path: str) -> None:
    if not path or not is_inside(workspace, file_of(path)):
        raise BadInput(
            "The {what} '{name}' is not one that may be started from here: it is neither in the folders of this server (--agents, --evalsets) nor reached by the name of a provider. Start it in the terminal with proctor run.",
            what=say(what),
            name=name,
        )


def _check_options(workspace: Workspace, options: Mapping[str, object]) -> None:
    for name, text in _texts(options):
        is_key = name == "api_key_env" and not text.endswith("API_KEY")
        is_elsewhere = name in OUTSIDE or is_key or _PLACE.match(text) or "env:" in text or _is_code(text)
        if is_elsewhere and not is_inside(workspace, file_of(text)) and text not in _own_options():
            raise BadInput(
                "The option '{name}' names something outside the folders of this server. Set it in proctor.toml, or start the run in the terminal with proctor run.",
                name=name,
            )


def _own_options() -> set[str]:
    """Return the options in proctor.toml, which are the user's own."""
    found = settings()
    return {text for one in (found.agent_options, found.task_options, found.judge_options) for _, text in _texts(one)}


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
