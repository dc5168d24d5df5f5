"""The notebook of the documentation runs, and every cell shows something a notebook can show."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pages

NOTEBOOK = pages.ROOT / "docs" / "example.ipynb"


def cells(path: Path) -> Iterator[str]:
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            yield "".join(cell["source"])


def shown(code: str, names: dict[str, Any]) -> object:
    """Run a cell as a kernel does, and return the value of its last expression."""
    tree = ast.parse(code)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def test_each_cell_of_the_notebook_runs_and_shows_a_page_or_a_picture() -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    kinds = []
    for code in cells(NOTEBOOK):
        value: Any = shown(code, names)
        if hasattr(value, "_repr_png_"):
            assert value._repr_png_().startswith(b"\x89PNG")
            kinds.append("png")
        else:
            assert value._repr_html_().startswith("<")
            kinds.append("html")
    assert kinds == ["html", "html", "html", "png", "png", "html", "png"]
