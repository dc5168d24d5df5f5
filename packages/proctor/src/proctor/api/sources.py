"""Find the user's files that a run uses: its code, the modules it imports, and the data files that the code names.

Only what belongs to the project counts: not the standard library, no installed package, nothing of Proctor. Imports
are read from the source, without running it, so that one inside a function counts too. A file that the code names in
a literal counts where it exists and is a text such as a prompt; one that the code writes does not.
"""

import ast
import os
import re
import shlex
import site
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.digest import digest_file
from proctor.core.own_code import own_folders

MOST_FILES = 500
MOST_BYTES = 64_000_000  # of one file; of a larger one only the size is compared
MOST_CHARACTERS = 300  # of a literal that may be a path
TEXTS = frozenset(
    f".{name}"
    for name in (
        *("cfg", "ini", "json", "jsonl", "toml", "xml", "yaml", "yml", "csv", "tsv", "sql"),
        *("txt", "md", "markdown", "rst", "prompt", "j2", "jinja", "jinja2", "mustache", "tmpl", "html", "htm"),
        *("py", "js", "ts", "sh"),
    )
)
CODE_SUFFIXES = frozenset((".py", ".js", ".ts", ".sh"))
# names of functions that write the file they are given
WRITERS = re.compile(r"(?:write|save|dump|to_|touch$|unlink$|mkdir$)")
WRITING = frozenset(("O_WRONLY", "O_RDWR", "O_APPEND", "O_CREAT"))
_INSTALLED = (str(Path(os.__file__).parent), *site.getsitepackages())
GIT_SECONDS = 5.0


def files_of(name: str | None, *objects: object) -> dict[str, str]:
    """Return the digest of each source file of a part, keyed by its path relative to the folder of the first.

    Args:
        name: the part as it was named: a path, `kind:path`, `package.module:object`, a command; None for an object.
        objects: the objects that the name resolved to.
    """
    starts = dict.fromkeys([*(_named(name) if name is not None else ()), *_modules(objects)])
    return _digests(list(starts))


def git_state(folder: Path) -> dict[str, Any]:
    """Return the commit of a folder's repository, and whether tracked files are unchanged; empty outside of a repository."""
    if not any((parent / ".git").exists() for parent in (folder, *folder.parents)):
        return {}
    command = ["git", "-C", str(folder), "status", "--porcelain=v2", "--branch", "--untracked-files=no"]
    environment = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command with the folder as one argument
            command, capture_output=True, text=True, timeout=GIT_SECONDS, check=True, env=environment, errors="replace"
        )
    except (OSError, subprocess.SubprocessError):  # no git here, or a folder that it does not want to look into
        return {}
    lines = done.stdout.splitlines()
    commit = next((line.split()[-1] for line in lines if line.startswith("# branch.oid ")), "(initial)")
    return {"commit": commit, "clean": all(line.startswith("#") for line in lines)} if commit != "(initial)" else {}


def _named(name: str) -> Iterator[Path]:
    """Return the files in a name: each word of it that is a file or a folder, also without `kind:` and `:object`."""
    try:
        words = shlex.split(name)
    except ValueError:
        words = [name]
    for word in words:
        whole = [word, word.partition(":")[2], word.partition(":")[0], word.partition(":")[2].rpartition(":")[0]]
        for text in whole:
            path = Path(text).expanduser() if text else None
            if path is not None and is_file(path):
                yield path.resolve()
                break
            if path is not None and text not in (".", "..", "/") and path.is_dir():
                paths = sorted(file for file in path.rglob("*") if _is_text(file) and file.is_file())
                yield from (file.resolve() for file in paths[:MOST_FILES])
                break


def _is_text(path: Path) -> bool:
    return path.suffix in TEXTS or path.name == "Dockerfile"


def _modules(objects: Iterable[object]) -> Iterator[Path]:
    """Return the files of the modules that define objects, or their classes."""
    for item in objects:
        target = item
        while isinstance(target, partial):
            target = target.func
        owner = target if hasattr(target, "__qualname__") else type(target)
        module = sys.modules.get(getattr(owner, "__module__", None) or "")
        file = getattr(module, "__file__", None)
        if file is not None and Path(file).suffix == ".py" and not _is_installed(Path(file)):
            yield Path(file).resolve()


def _digests(starts: list[Path]) -> dict[str, str]:
    if not starts:
        return {}
    todo, digests = list(starts), dict[Path, str]()
    roots = dict.fromkeys([*(path.parent for path in starts), Path.cwd(), *_import_folders()])
    names_by_root = {root: _names_in(root) for root in roots}
    while todo and len(digests) < MOST_FILES:
        path = todo.pop(0)
        if path in digests:
            continue
        stat = path.stat()
        key = (path, stat.st_mtime_ns, stat.st_size)
        digests[path] = _digest(*key)
        if path.suffix == ".py":
            read = _read(*key)
            todo += [
                file for file in (*_find_imports(path, read, names_by_root), *_data(path, read)) if file not in digests
            ]
    home = starts[0].parent
    return {Path(os.path.relpath(path, home)).as_posix(): said for path, said in sorted(digests.items())}


class _Read(msgspec.Struct, frozen=True):
    """The other files that a Python file names: modules (with leading dots), and paths in literals."""

    modules: tuple[tuple[int, str], ...] = ()
    paths: tuple[str, ...] = ()


@lru_cache(maxsize=4096)
def _digest(path: Path, _changed: int, size: int) -> str:
    return digest_file(path) if size <= MOST_BYTES else f"{size} bytes"


@lru_cache(maxsize=4096)
def _read(path: Path, _changed: int, size: int) -> _Read:
    if size > MOST_BYTES:
        return _Read()
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # it is compared, but says nothing of others
        return _Read()
    written = _written(tree)
    paths = dict.fromkeys(text for text in _paths(tree) if text not in written and text.split("/")[-1] not in written)
    return _Read(tuple(dict.fromkeys(_modules_named(tree))), tuple(paths))


def _modules_named(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((0, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                yield level, module or ""
                yield from ((level, f"{module}.{alias.name}" if module else alias.name) for alias in names)
            case ast.Call(
                func=ast.Attribute(attr="import_module") | ast.Name(id="import_module" | "__import__"),
                args=[ast.Constant(value=str(text)), *_],
            ):
                yield 0, text


def _paths(tree: ast.AST) -> Iterator[str]:
    """Yield literals that may be paths: single ones, those joined with `/`, and the arguments of a call such as `join`."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if Path(text[:MOST_CHARACTERS]).suffix in TEXTS:
                yield from _if_path(text)
            case ast.BinOp(op=ast.Div()):
                yield from _if_path("/".join(_constants(node)))
            case ast.Call(args=[_, _, *_] as args):
                texts = [
                    argument.value
                    for argument in args
                    if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
                ]
                yield from _if_path("/".join(texts))


def _if_path(text: str) -> Iterator[str]:
    if len(text) <= MOST_CHARACTERS and text.isprintable() and Path(text).suffix in TEXTS:
        yield text


def _constants(node: ast.AST) -> list[str]:
    """Return the literals of `folder / "a" / "b.txt"`, in order."""
    if isinstance(node, ast.BinOp):
        return [*_constants(node.left), *_constants(node.right)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def _written(tree: ast.AST) -> set[str]:
    """Return the literals of files that the code writes, directly or by a variable."""
    nodes: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            called = node.func.id if isinstance(node.func, ast.Name) else called
            has_mode = any(_is_mode(argument) for argument in (*node.args, *(key.value for key in node.keywords)))
            if WRITERS.match(called) or (called == "open" and (has_mode or _has_flags(node))):
                nodes += [node.func, *node.args[:1]]
    names = {one.id for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id in names for target in node.targets
        ):
            nodes.append(node.value)
    return {
        one.value
        for node in nodes
        for one in ast.walk(node)
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    }


def _has_flags(call: ast.Call) -> bool:
    """True if `os.open` is told to write."""
    named = {one.attr for argument in call.args[1:] for one in ast.walk(argument) if isinstance(one, ast.Attribute)}
    return bool(named & WRITING)


def _is_mode(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, str) and bool(re.fullmatch(r"[rbt]*[wax+][wax+rbt]*", value))


def _find_imports(path: Path, read: _Read, names_by_root: Mapping[Path, Collection[str]]) -> Iterator[Path]:
    """Return the project's own files that a file imports, with the `__init__` of their packages."""
    for level, module in read.modules:
        parts = [part for part in module.split(".") if part]
        if level:
            bases = [path.parents[level - 1]] if level <= len(path.parents) else []
        else:
            bases = [root for root, names in names_by_root.items() if _begins_in(names, parts)]
        paths = next((one for base in bases if (one := _in_folder(base, parts))), None)
        if paths is None and level == 0:  # as a hook found it, such as that of an editable install
            file = getattr(sys.modules.get(module), "__file__", None)
            paths = [Path(file)] if file is not None and file.endswith(".py") and is_file(Path(file)) else None
        yield from (one.resolve() for one in paths or () if not _is_installed(one))


def _names_in(folder: Path) -> frozenset[str]:
    """Return the names in a folder; none where it cannot be listed, as then Python imports nothing from it either."""
    try:
        with os.scandir(folder) as entries:
            return frozenset(entry.name for entry in entries)
    except OSError:
        return frozenset()


def _begins_in(names: Collection[str], parts: Sequence[str]) -> bool:
    """True if a folder with these names may hold the module: most modules are installed, and nothing else is looked up."""
    return bool(parts) and (parts[0] in names or f"{parts[0]}.py" in names)


def _in_folder(base: Path, parts: list[str]) -> list[Path]:
    """Return the files that importing a module from a folder loads; none where it does not exist."""
    packages = [base.joinpath(*parts[:count], "__init__.py") for count in range(1, len(parts) + 1)]
    whole = [base.joinpath(*parts[:-1], f"{parts[-1]}.py")] if parts else [base / "__init__.py"]
    last = [path for path in (*whole, *packages[-1:]) if is_file(path)]
    return [*(package for package in packages[:-1] if is_file(package)), *last[:1]] if last else []


def _data(path: Path, read: _Read) -> Iterator[Path]:
    for text in read.paths:
        for base in (path.parent, path.parent.parent, Path.cwd()):
            file = base / Path(text).expanduser() if not text.startswith("/") else Path(text)
            if is_file(file):
                if not _is_installed(file):
                    yield file.resolve()
                break


def _import_folders() -> Iterator[Path]:
    for entry in sys.path:
        path = Path(entry or ".")
        if path.is_dir() and not _is_installed(path):
            yield path.resolve()


def _is_installed(path: Path) -> bool:
    """True for a file or folder of Proctor, of the standard library, or of an installed package."""
    text = f"{path}{os.sep}"
    is_package = "site-packages" in path.parts or "dist-packages" in path.parts
    return is_package or text.startswith((*_INSTALLED, *own_folders()))


def is_file(path: Path) -> bool:
    """True if there is a file at this path, which may be any text."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or no path at all
        return False


def changed_files(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the names of files that were changed or taken away, and of code that was added.

    A data file that appeared after the start is what the code wrote, or was not read when the run began.

    >>> changed_files({"a.py": "1", "b.py": "2"}, {"a.py": "1", "c.py": "3", "calls.txt": "4"})
    ['b.py', 'c.py']
    """
    known = {*before, *(name for name in now if Path(name).suffix in CODE_SUFFIXES)}
    return sorted(name for name in known if before.get(name) != now.get(name))
