"""Find the agents that may be chatted with: those in the given folder, the project's own, and chat models by name."""

import ast
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from proctor.config import settings
from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.models import local
from proctor.registry import unknown
from proctor.runtime.files import reading
from proctor_web.workspace import NotFound

PROVIDERS = (
    "openai",
    "local",
    "a2a",
)  # followed by a model or an address; what takes a path or a command is not among them
MOST_FILES = 2_000  # that are looked at for a change of an agent's code
MOST_BYTES = 1_000_000  # of a file that is looked into
SOURCES = (".py", ".yaml", ".yml", ".toml", ".txt", ".md", ".jinja", ".env")


class ChatAgentChoice(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that may be chosen.

    Attributes:
        name: what it is chosen by.
        target: the agent as `proctor run --agent` takes it.
        kind: "adk" for an agent of google-adk, "python" for any other object of a file, "model" for a chat model,
            "project" for the agent of the project's settings.
        folder: where its code is, None where there is none here.
        about: the first line of its docstring.
    """

    name: str
    target: str
    kind: str
    folder: Path | None = None
    about: str = ""
    options: Mapping[str, Any] = {}


def list_agents(folder: Path | None) -> list[ChatAgentChoice]:
    """Return the agents of a folder as `adk web` takes it, the objects in its Python files, and the project's own agent.

    Raises:
        BadInput: the folder, or the project's settings, cannot be read.
    """
    choices = [] if folder is None else sorted(_in_folder(folder.resolve()), key=lambda one: (one.kind, one.name))
    project = settings()
    if project.agent is not None:
        choices.append(
            ChatAgentChoice(name=project.agent, target=project.agent, kind="project", options=project.agent_options)
        )
    return choices


def choose(name: str, folder: Path | None) -> ChatAgentChoice:
    """Return the agent of a name; `openai:MODEL` and `local:MODEL` need no folder.

    Raises:
        BadInput: there is no such agent, or it may not be started from here.
    """
    known = list_agents(folder)
    for choice in known:
        if choice.name == name:
            return choice
    provider, colon, model = name.partition(":")
    if provider in PROVIDERS and model and not (provider == "local" and local.is_path(model)) and "env:" not in model:
        project = settings()
        is_same = project.agent is not None and project.agent.partition(":")[0] == provider
        return ChatAgentChoice(name=name, target=name, kind="model", options=project.agent_options if is_same else {})
    if colon:
        raise BadInput(
            "'{name}' cannot be started from the browser. Choose an agent of the folder that the server was given, or a model: {providers}.",
            name=name,
            providers=", ".join(f"{known_provider}:MODEL" for known_provider in PROVIDERS),
        )
    raise NotFound(unknown("agent", name, [choice.name for choice in known], paths=False).sentence)


def digest_code(folder: Path | None) -> str:
    """Return what changes when a file of the agent does: names, sizes and times of the sources in its folder."""
    if folder is None:
        return ""
    seen = []
    for path in _sources(folder):
        with suppress(OSError):
            about = path.stat()
            seen.append(f"{path}\0{about.st_mtime_ns}\0{about.st_size}")
        if len(seen) >= MOST_FILES:
            break
    return digest_bytes("\n".join(sorted(seen)).encode("utf-8", "surrogateescape"))


def _sources(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "__pycache__", "node_modules"))]
        yield from (Path(root, file) for file in files if file.endswith(SOURCES))


def _in_folder(root: Path) -> Iterator[ChatAgentChoice]:
    """Yield the agents of a folder; the folder itself may be one, as for `adk web`."""
    if _is_adk(root):
        yield _adk(root)
        return
    with reading(root):
        entries = sorted(root.iterdir())
    for path in entries:
        if path.name.startswith((".", "_")) or not path.resolve().is_relative_to(root):
            continue
        if path.is_dir():
            if _is_adk(path):
                yield _adk(path)
        elif path.suffix == ".py":
            yield from _in_file(path)


def _is_adk(folder: Path) -> bool:
    """True if a folder holds an agent of google-adk; its code is read, not run."""
    if (folder / "root_agent.yaml").is_file():
        return True
    return any({"root_agent", "app"} & _defined(folder / name).keys() for name in ("agent.py", "__init__.py"))


def _adk(folder: Path) -> ChatAgentChoice:
    return ChatAgentChoice(name=folder.name, target=f"adk:{folder}", kind="adk", folder=folder)


def _in_file(path: Path) -> Iterator[ChatAgentChoice]:
    """Yield the objects of a file that may be agents: by their names, their parameters, or a method `run`."""
    defined = _defined(path)
    if "root_agent" in defined:
        yield ChatAgentChoice(name=path.stem, target=f"adk:{path}:root_agent", kind="adk", folder=path.parent)
        return
    for name, node in defined.items():
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                required = len(node.args.posonlyargs + node.args.args) - len(node.args.defaults)
                is_task = node.returns is not None and ast.unparse(node.returns).endswith("Task")
                is_agent = required in (1, 2) and not is_task
            case ast.ClassDef():
                is_agent = any(
                    isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name == "run" for one in node.body
                )
            case _:
                is_agent = name.endswith("agent")
        if is_agent and not name.startswith("_"):
            about = "" if node is None else (ast.get_docstring(node) or "").partition("\n")[0]
            target = f"{path}:{name}"
            yield ChatAgentChoice(
                name=f"{path.name}:{name}", target=target, kind="python", folder=path.parent, about=about
            )


def _defined(path: Path) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | None]:
    """Return what a file defines, with the definition of functions and classes; nothing of a file that is no Python."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return {}
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: dict[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | None] = {}
    for node in tree.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found[node.name] = node
            case ast.Assign():
                found |= {target.id: None for target in node.targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                found[name] = None
            case ast.ImportFrom():
                found |= {alias.asname or alias.name: None for alias in node.names}
    return found
