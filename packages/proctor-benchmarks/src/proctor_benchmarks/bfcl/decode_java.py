"""Read `Foo.bar(x=10, y="a")` as a call of Java; all values are text.

Source: bfcl-eval 2026.3.23, `bfcl_eval/model_handler/parser/java_parser.py`. Odd rules are kept: byte offsets are
used on characters, so everything after a letter outside ASCII shifts, and the body of an anonymous class is dropped.
"""

from typing import TYPE_CHECKING

from proctor.core.sentence import say
from proctor_benchmarks.bfcl.calls import Arguments, Call, Undecodable, clipped
from proctor_benchmarks.bfcl.syntax_tree import parse

if TYPE_CHECKING:
    from tree_sitter import Node

_VERBATIM = ("identifier", "class_literal", "type_identifier", "method_invocation")
_SIGNS = (",", "(", ")")
_QUOTED = ("string_literal", "character_literal")


def decode(source: str) -> list[Call]:
    """Return the first method call in the text, wherever it is.

    Raises:
        Undecodable: a syntax error, no call, a parameter given twice, or an array without values.

    >>> decode('Foo.bar(x=10, y="a b", z=new int[]{1, 2})')
    [{'Foo.bar': {'x': '10', 'y': 'a b', 'z': 'new int[]{1,2}'}}]
    """
    try:
        return [_Reader(source).call(_first_call(parse(source, "java")))]
    except RecursionError:
        raise Undecodable(say("The output is nested too deeply.")) from None


def _first_call(root: "Node") -> "Node":
    """Depth first, left to right."""
    rest = [root]
    while rest:
        node = rest.pop()
        if node.type == "method_invocation" and node.child_by_field_name("arguments") is not None:
            return node
        if node.type != "method_invocation":
            rest.extend(reversed(node.children))
    raise Undecodable(say("No function call was found in the output."), malformed=True)


class _Reader:
    def __init__(self, source: str) -> None:
        self.source = source

    def call(self, node: "Node") -> Call:
        name = self._text(_field(node, "name"))
        owner = node.child_by_field_name("object")
        return {f"{self._text(owner)}.{name}" if owner else name: self._arguments(_field(node, "arguments"))}

    def _arguments(self, node: "Node") -> Arguments:
        given: Arguments = {}
        for child in node.children:
            if child.type == "assignment_expression":
                key: str | None = self._text(child.children[0])
                value = self._value(child.children[2])
            elif child.type in ("identifier", "class_literal"):
                key, value = None, self._value(child)
            else:
                continue
            if key in given:
                raise Undecodable(say("The parameter '{parameter}' is given twice.", parameter=clipped(key or "")))
            given[key] = value
        return given

    def _value(self, node: "Node", *, inside: bool = False) -> str:
        if node.type in _QUOTED:
            text = self._text(node)
            return text if inside else text[1:-1]
        if node.type in _VERBATIM or not node.child_count:
            return self._text(node)
        if node.type == "array_creation_expression":
            return f"new {self._field(node, 'type')}[]{self._field(node, 'value')}"
        if node.type == "object_creation_expression":
            arguments = node.child_by_field_name("arguments")
            given = [child for child in arguments.children if child.type not in _SIGNS] if arguments else []
            return f"new {self._field(node, 'type')}({', '.join([self._value(one, inside=True) for one in given])})"
        return "".join([self._value(child, inside=True) for child in node.children])

    def _field(self, node: "Node", name: str) -> str:
        return self._value(_field(node, name), inside=True)

    def _text(self, node: "Node") -> str:
        return self.source[node.start_byte : node.end_byte]  # bytes against characters: upstream's, kept


def _field(node: "Node", name: str) -> "Node":
    child = node.child_by_field_name(name)
    if child is None:
        raise Undecodable(say("A part of the output has no {field}: {got}.", field=name, got=node.type))
    return child
