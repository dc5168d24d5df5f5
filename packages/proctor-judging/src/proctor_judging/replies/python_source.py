"""Read Python sources of others as data: prompts and documents of a benchmark are literals there, and nothing is run."""

import ast
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput


def parse(path: Path) -> ast.Module:
    """Return the syntax tree of a source file.

    Raises:
        BadInput: it cannot be read, is no Python, or is nested too deeply.
    """
    try:
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error) from None


def literal(node: ast.AST) -> object:
    """Return the value of an expression of literals; an f-text without fields is one.

    Raises:
        ValueError: it has to be computed.
    """
    if isinstance(node, ast.JoinedStr) and all(isinstance(value, ast.Constant) for value in node.values):
        return "".join(str(value.value) for value in node.values if isinstance(value, ast.Constant))
    try:
        return ast.literal_eval(node)
    except (TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(str(error)) from None


def constants(path: Path) -> dict[str, Any]:
    """Return what a module sets to a literal at its top, by name.

    Raises:
        BadInput: as `parse`.
    """
    by_name = {}
    for statement in parse(path).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name), *_], value=ast.expr() as value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                continue
        try:
            by_name[name] = literal(value)
        except ValueError:
            continue
    return by_name
