"""Find the agents and tasks in the folder that a server was given. Code is read for that, and not run."""

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from proctor.runtime.files import reading

MOST_FILES = 500  # of a folder
MOST_BYTES = 1_000_000  # of a file that is looked into


class StartableAgent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that may be started from here.

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


def agents_in(root: Path) -> Iterator[StartableAgent]:
    """Yield the agents of a folder as `adk web` takes it, which may be one itself, and those in its Python files.

    Raises:
        BadInput: the folder cannot be read.
    """
    if _is_adk(root):
        yield _adk(root)
        return
    with reading(root):
        entries = sorted(root.iterdir())
    for path in entries[:MOST_FILES]:
        if path.name.startswith((".", "_")) or not path.resolve().is_relative_to(root):
            continue
        if path.is_dir():
            if _is_adk(path):
                yield _adk(path)
        elif path.suffix == ".py":
            yield from _agents_in_file(path)


def tasks_in(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the file and the name of each task in the Python files of a folder."""
    for path in sorted(folder.glob("*.py"))[:MOST_FILES]:
        yield from ((path, name) for name, node in _defined(path).items() if _is_task(name, node) and name[0] != "_")


def _is_adk(folder: Path) -> bool:
    code = (folder / "agent.py", folder / "__init__.py")
    return (folder / "root_agent.yaml").is_file() or any({"root_agent", "app"} & _defined(path).keys() for path in code)


def _adk(folder: Path) -> StartableAgent:
    return StartableAgent(name=folder.name, target=f"adk:{folder}", kind="adk", folder=folder)


def _agents_in_file(path: Path) -> Iterator[StartableAgent]:
    """Yield the objects of a file that may be agents: by their names, their parameters, or a method `run`."""
    defined = _defined(path)
    if "root_agent" in defined:
        yield StartableAgent(name=path.stem, target=f"adk:{path}:root_agent", kind="adk", folder=path.parent)
        return
    for name, node in defined.items():
        about = ""
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                about = (ast.get_docstring(node) or "").partition("\n")[0]
                is_agent = _is_asked(node) and not _is_task(name, node)
            case _:
                is_agent = name.endswith("agent")
        if is_agent and not name.startswith("_"):
            target, shown = f"{path}:{name}", f"{path.name}:{name}"
            yield StartableAgent(name=shown, target=target, kind="python", folder=path.parent, about=about)


def _is_asked(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """True if a function takes a question, with the conversation at most, or a class has a method `run`."""
    if isinstance(node, ast.ClassDef):
        return any(
            isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and part.name == "run" for part in node.body
        )
    return len(node.args.posonlyargs + node.args.args) - len(node.args.defaults) in (1, 2)


def _is_task(name: str, node: ast.stmt) -> bool:
    match node:
        case ast.FunctionDef(returns=returns) | ast.AsyncFunctionDef(returns=returns):
            return name == "task" or (returns is not None and ast.unparse(returns).endswith("Task"))
        case ast.Assign(value=ast.Call(func=called)):
            return ast.unparse(called).endswith("Task")
    return False


def _defined(path: Path) -> Mapping[str, ast.stmt]:
    """Return the statements that define the names of a file; nothing of a file that is no Python, or is large."""
    try:
        about = path.stat()
    except OSError:
        return {}
    return _parsed(path, about.st_mtime_ns) if about.st_size <= MOST_BYTES else {}


@lru_cache(maxsize=1_000)
def _parsed(path: Path, _: int) -> Mapping[str, ast.stmt]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    by_name: dict[str, ast.stmt] = {}
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                by_name[name] = node
            case ast.Assign(targets=targets):
                by_name |= {target.id: node for target in targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                by_name[name] = node
            case ast.ImportFrom(names=aliases):
                by_name |= {alias.asname or alias.name: node for alias in aliases}
    return by_name
