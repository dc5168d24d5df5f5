"""Where the sources and the modules that tests share are; nothing else knows the folders of the repository."""

import ast
import tomllib
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOTS = sorted(ROOT.glob("packages/*/src"))
HOLD_STATEMENTS = ("body", "handlers", "orelse", "finalbody", "cases")  # fields of what `statements` yields


def modules() -> Iterator[tuple[str, Path]]:
    """Yield each module of the sources with its name, in order."""
    for root in ROOTS:
        for path in sorted(root.rglob("*.py")):
            yield module_name(path, root), path


def module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def shared_folders() -> list[Path]:
    """Return the folders in which tests find each other's modules, as pytest is set."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [ROOT / folder for folder in settings["tool"]["pytest"]["ini_options"]["pythonpath"]]


@cache
def imports_in(path: Path) -> Sequence[ast.Import | ast.ImportFrom]:
    """Return the imports of a file, at its top or later; a file is parsed once for all tests in a worker."""
    tree = ast.parse(path.read_bytes())
    return [node for node in statements(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the statements of a file, and what holds statements, in the order of `ast.walk`, which looks at expressions too."""
    todo: deque[ast.AST] = deque([tree])
    while todo:
        node = todo.popleft()
        yield node
        for field in HOLD_STATEMENTS:
            todo.extend(getattr(node, field, ()))
