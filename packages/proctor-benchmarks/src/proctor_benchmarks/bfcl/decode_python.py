"""Read `[f(x=1), g.h(y='a')]` as calls, the way of the official decoder.

Source: bfcl-eval 2026.3.23, `bfcl_eval/model_handler/utils.py`, `ast_parse`, `resolve_ast_call` and
`resolve_ast_by_type`. Its odd rules are kept, see the functions below; only its `eval` is not (`arithmetic.py`).
"""

import ast
import re
import threading
import warnings
from typing import Any

from proctor.core.sentence import Sentence, say
from proctor_benchmarks.bfcl.calls import Call, Undecodable, show
from proctor_judging.replies.arithmetic import ExpressionRefused, evaluate

LONGEST = 400_000

_MAY_WARN = re.compile(r"\\|0[xX]|[\d.jJ](?:and|else|for|if|in|is|not|or)")  # "\d", and 1if or 0xfor
_one_at_a_time = threading.Lock()  # `catch_warnings` changes the filters of the whole process


def decode(text: str) -> list[Call]:
    """Return the calls in a text of Python.

    Positional arguments vanish, of a repeated keyword the last one counts, and `**{...}` has the key None.

    Raises:
        Undecodable: the text is anything but a call, or a list or tuple of calls, with plain values.

    >>> decode("[geo.area(base=3, unit='cm')]")
    [{'geo.area': {'base': 3, 'unit': 'cm'}}]
    """
    try:
        return [_call(node) for node in _call_nodes(parse_expression(text.strip().strip("'")))]
    except Undecodable:
        raise
    except SyntaxError as error:
        raise Undecodable(_syntax(error)) from None
    except (RecursionError, MemoryError):
        raise Undecodable(say("The output is nested too deeply.")) from None
    except ExpressionRefused as error:
        raise Undecodable(
            say("A value of the output is more than plain arithmetic ({error}), and code is not run.", error=error)
        ) from None
    except (ValueError, TypeError, ArithmeticError, LookupError, AttributeError) as error:
        raise Undecodable(
            say("A value of the output cannot be computed: {kind}: {error}.", kind=type(error).__name__, error=error)
        ) from None


def parse_expression(text: str) -> ast.expr:
    """Return the tree of one expression; warnings about its escapes are nobody's business.

    Raises:
        Undecodable: it is too long.
        SyntaxError, ValueError, RecursionError, MemoryError: it is no expression.
    """
    if len(text) > LONGEST:
        raise Undecodable(say("The output is longer than {limit} characters.", limit=LONGEST))
    if _MAY_WARN.search(text) is None:
        return ast.parse(text, mode="eval").body
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an escape such as "\d" is no error, whatever the filters say
        return ast.parse(text, mode="eval").body


def _call_nodes(body: ast.expr) -> list[ast.Call]:
    if isinstance(body, ast.Call):
        return [body]
    if not isinstance(body, ast.List | ast.Tuple | ast.Set):
        raise Undecodable(say("The output is no call and no list of calls, but {got}.", got=_source(body)))
    calls = [node for node in body.elts if isinstance(node, ast.Call)]
    if len(calls) < len(body.elts):
        other = next(node for node in body.elts if not isinstance(node, ast.Call))
        raise Undecodable(say("The output holds something that is no call: {got}.", got=_source(other)))
    return calls


def _call(node: ast.Call) -> Call:
    return {_name(node.func): {keyword.arg: _value(keyword.value) for keyword in node.keywords}}


def _name(node: ast.expr) -> str:
    """Return the dotted name of a function; what is no name or attribute contributes nothing: `f()(x=1)` has the name ''."""
    if isinstance(node, ast.Name):
        return node.id
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _value(node: ast.expr | None) -> object:
    kind = type(node)
    if isinstance(node, ast.Constant):
        return "..." if node.value is ... else node.value
    if isinstance(node, ast.UnaryOp):
        return _negated(node)
    if isinstance(node, ast.List):
        return [_value(one) for one in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple([_value(one) for one in node.elts])
    if isinstance(node, ast.Dict):
        return {_value(key): _value(element) for key, element in zip(node.keys, node.values, strict=True)}
    if isinstance(node, ast.BinOp):
        return evaluate(node)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call):
        return _call(node) if node.keywords else ast.unparse(node)
    if isinstance(node, ast.Subscript):
        return f"{ast.unparse(node.value)}[{ast.unparse(node.slice)}]"
    raise Undecodable(say("{got} ({kind}) cannot be a value.", got=_source(node), kind=kind.__name__))


def _negated(node: ast.UnaryOp) -> object:
    # upstream takes every unary operator for a minus, and allows it before a constant only
    if not isinstance(node.operand, ast.Constant):
        raise Undecodable(say("{got}: an operator can stand before a plain number only.", got=_source(node)))
    value: Any = node.operand.value
    return -value  # a text raises TypeError, which makes it undecodable


def _source(node: ast.expr | None) -> str:
    try:
        return show(node if node is None else ast.unparse(node))
    except (ValueError, RecursionError):
        return type(node).__name__


def _syntax(error: SyntaxError) -> Sentence:
    near = (error.text or "")[max(0, (error.offset or 1) - 1) :][:40].strip()
    return say("The output is not a list of Python calls: {error}, near {near}.", error=error.msg, near=show(near))
