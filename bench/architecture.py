"""Count what a reader of the source has to hold: lines, rooms, long functions, shared names, loose types.

`python -m bench.architecture [FOLDER …]` prints a table for the packages of this repository, or for other folders of sources.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from proctor.runtime.garbage import gc_paused

ROOT = Path(__file__).resolve().parents[1]
LONG, MANY = 50, 8  # lines of a function, and its parameters
LOCALS = ("one", "found", "made", "place")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def main(folders: Sequence[str] = ()) -> None:
    """Print the table of each folder, and of all of them together."""
    sources = [Path(folder) for folder in folders] or sorted(ROOT.glob("packages/*/src/*/"))
    sources = [folder for folder in sources if (folder / "__init__.py").is_file()]
    rows = [(folder.name, figures([folder])) for folder in sources]
    if len(rows) > 1:
        rows.append(("all", figures(sources)))
    for name in rows[0][1]:
        print(f"{name:38}" + "".join(f"{found[name]:>20,}" for _, found in rows))
    print(f"{'':38}" + "".join(f"{name:>20}" for name, _ in rows))


def figures(folders: Sequence[Path]) -> dict[str, float]:
    """Return what is counted in some folders, by what it is."""
    files = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    texts = [path.read_text(encoding="utf-8") for path in files]
    lines = sum(text.count("\n") for text in texts)
    with gc_paused():  # no node is garbage, and looking through them takes as long as parsing
        nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    functions = [node for node in nodes if isinstance(node, Function)]
    classes = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    stored = Counter(name for function in functions for name in _locals(function))
    return {
        "files": len(files),
        "lines": lines,
        "rooms": sum(1 for folder in folders for path in folder.iterdir() if (path / "__init__.py").is_file()),
        "longest file": max(text.count("\n") for text in texts),
        f"functions over {LONG} lines": sum(_length(function) > LONG for function in functions),
        f"functions over {MANY} parameters": sum(_parameters(function) > MANY for function in functions),
        "Any per 1,000 lines": round(sum(len(re.findall(r"\bAny\b", text)) for text in texts) * 1000 / lines, 1),
        "class names used more than once": sum(count > 1 for count in classes.values()),
        "context variables": sum(len(re.findall(r"ContextVar\[?.*?\(", text)) for text in texts),
        "locals " + ", ".join(LOCALS): sum(stored[name] for name in LOCALS),
    }


def _length(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def _parameters(function: Function) -> int:
    given = function.args
    return len([*given.posonlyargs, *given.args, *given.kwonlyargs])


def _locals(function: Function) -> Iterator[str]:
    return (node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


if __name__ == "__main__":
    main(sys.argv[1:])
