"""Take the prompts out of the official sources of the user's clone: their literals are read, nothing is run."""

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor_judging.replies.python_source import parse


class SourceTexts:
    """The texts in a module.

    Raises:
        BadInput: it is not there, or is no Python.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._module = parse(path)

    def returned(self, function: str, /, within: str = "", **values: object) -> object:
        """Return what a function returns, in a class if one is named: literals, with the values of names in them; a list where it may return several.

        Raises:
            BadInput: there is no such function, or it computes something.
        """
        root = self._found(self._module, ast.ClassDef, within) if within else self._module
        body = ast.walk(self._found(root, ast.FunctionDef, function))
        entries = [self._value(node.value, within, values) for node in body if isinstance(node, ast.Return)]
        if not entries:
            raise self._another_layout(function)
        return entries if len(entries) > 1 else entries[0]

    def beginning(self, text: str) -> str:
        """Return the literal that begins with a text."""
        for node in ast.walk(self._module):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(text):
                return node.value
        raise self._another_layout(text)

    def _found(self, root: ast.AST, kind: type[Any], name: str) -> Any:
        for node in ast.walk(root):
            if isinstance(node, kind) and node.name == name:
                return node
        raise self._another_layout(name)

    def _value(self, node: ast.AST | None, within: str, values: Mapping[str, object]) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.JoinedStr():
                return "".join(str(self._value(part, within, values)) for part in node.values)
            case ast.FormattedValue():
                return self._value(node.value, within, values)
            case ast.Name() if node.id in values:
                return values[node.id]
            case ast.List():
                return [self._value(part, within, values) for part in node.elts]
            case ast.Dict():
                keys = [self._value(key, within, values) for key in node.keys]
                return dict(zip(keys, (self._value(part, within, values) for part in node.values), strict=True))
            case ast.Call(func=ast.Attribute(attr="join", value=separator), args=[parts]):
                return str(self._value(separator, within, values)).join(self._value(parts, within, values))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name), args=[]):
                return self.returned(name, within, **values)
            case _:
                raise self._another_layout(within or "return")

    def _another_layout(self, name: str) -> BadInput:
        return BadInput(
            "{path} has another layout than at v0.2: '{name}' is not there as expected.", path=self._path, name=name
        )
