"""Read `foo(x=10, y='a')` as a call of JavaScript; all values are text.

Source: bfcl-eval 2026.3.23, `bfcl_eval/model_handler/parser/js_parser.py`.
"""

from typing import TYPE_CHECKING

from proctor.core.sentence import say
from proctor_benchmarks.bfcl.calls import Arguments, Call, Undecodable, clipped
from proctor_benchmarks.bfcl.syntax_tree import parse

if TYPE_CHECKING:
    from tree_sitter import Node


def decode(source: str) -> list[Call]:
    """Return the first statement that is a call; `await f()`, `new f()` and assignments are none.

    Raises:
        Undecodable: a syntax error, no call, or a parameter given twice.

    >>> decode("foo(x=10, y='a b', z=[1, 2])")
    [{'foo': {'x': '10', 'y': 'a b', 'z': '[1, 2]'}}]
    """
    for statement in parse(source, "javascript").children:
        if statement.type == "expression_statement":
            for node in statement.children:
                if node.type == "call_expression":
                    return [{_text(node.children[0]): _arguments(node.children[1])}]
    raise Undecodable(say("No function call was found in the output."), malformed=True)


def _arguments(node: "Node") -> Arguments:
    given: Arguments = {}
    for child in node.children:
        if child.type == "assignment_expression":
            key: str | None = _text(child.children[0])
            value = _unquoted(_text(child.children[2]))
        elif child.type in ("identifier", "true"):
            key, value = None, _text(child)
        else:
            continue
        if key in given:
            raise Undecodable(say("The parameter '{parameter}' is given twice.", parameter=clipped(key or "")))
        given[key] = value
    return given


def _unquoted(text: str) -> str:
    """Without the first and last letter when both are the same quote, even if they are not a pair: `"a" + "b"`."""
    return text[1:-1] if text[:1] in ("'", '"') and text.endswith(text[0]) else text


def _text(node: "Node") -> str:
    text = node.text
    return "" if text is None else text.decode()
