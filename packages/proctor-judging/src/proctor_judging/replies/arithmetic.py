"""Compute `2 + 3`, `'a' + 'b'` or `len('abc') * 2` as Python would, without running any code.

Official code of benchmarks hands what a model wrote to an unrestricted `eval`. Here only constants, containers, operators and
harmless builtins count, and every value stays small; anything else is refused (a difference that is meant).
"""

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

LARGEST = 400_000  # bits of a number, letters of a text, elements of a container with all that is in them
ALL_WORK = 2_000_000  # the sum of all sizes met on the way

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
_TYPES = (bool, complex, dict, float, frozenset, int, list, range, set, str, tuple)
_FUNCTIONS = (abs, all, any, bin, chr, divmod, hex, len, max, min, oct, ord, round, sorted, sum)
_NAMES: dict[str, Any] = {part.__name__: part for part in (*_TYPES, *_FUNCTIONS)}
_TEXT_METHODS = ("upper", "lower", "strip", "title", "capitalize", "join", "split")
_WIDE_FORMAT = re.compile(r"%[^%a-zA-Z]*(?:\*|\d{4})")


class ExpressionRefused(ValueError):
    """The expression needs more than this evaluator does, or would grow too large."""


def evaluate(node: ast.expr) -> Any:
    """Return the value of an expression.

    Raises:
        Refused: a name, call or size that is not allowed. What Python raises for `1 + 'a'` is raised too.

    >>> evaluate(ast.parse("10 ** 2 + len('abc')", mode="eval").body)
    103
    """
    return _Evaluation().value(node)


class _Evaluation:
    def __init__(self) -> None:
        self.work = 0

    def value(self, node: ast.AST | None) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.BinOp():
                return self._binary(node.op, self.value(node.left), self.value(node.right))
            case ast.UnaryOp():
                return self._sized(_UNARY[type(node.op)](self.value(node.operand)))
            case ast.List():
                return self._sized(self._values(node.elts))
            case ast.Tuple():
                return self._sized(tuple(self._values(node.elts)))
            case ast.Set():
                return self._sized(set(self._values(node.elts)))
            case ast.Dict():
                return self._sized(dict(zip(self._values(node.keys), self._values(node.values), strict=True)))
            case ast.Name() if node.id in _NAMES:
                return _NAMES[node.id]
            case ast.Call() if not node.keywords:
                return self._call(node.func, self._values(node.args))
            case ast.Subscript():
                return self._sized(self.value(node.value)[self.value(node.slice)])
            case ast.Slice():
                bounds = (node.lower, node.upper, node.step)
                return slice(*(None if bound is None else self.value(bound) for bound in bounds))
            case ast.JoinedStr():
                return self._sized("".join(str(self.value(part)) for part in node.values))
            case ast.FormattedValue() if node.format_spec is None and node.conversion == -1:
                return format(self.value(node.value))
            case ast.IfExp():
                return self.value(node.body if self.value(node.test) else node.orelse)
            case ast.BoolOp():
                return self._chosen(node)
            case ast.Compare():
                return self._compared(node)
        raise ExpressionRefused(type(node).__name__)

    def _values(self, nodes: list[ast.expr] | list[ast.expr | None]) -> list[Any]:
        return [self.value(node) for node in nodes]

    def _binary(self, op: ast.operator, left: object, right: object) -> object:
        self._spend(_size_after(op, left, right))
        return self._sized(_BINARY[type(op)](left, right))  # a missing operator is a KeyError: matrices

    def _call(self, function: ast.expr, values: list[Any]) -> Any:
        if isinstance(function, ast.Attribute) and function.attr in _TEXT_METHODS:
            text = self.value(function.value)
            self._spend(_size(text) * sum(map(_size, values)))
            if type(text) is str:
                return self._sized(getattr(text, function.attr)(*values))
        if not isinstance(function, ast.Name) or function.id not in _NAMES:
            raise ExpressionRefused("call")
        if function.id == "round" and len(values) > 1 and abs(values[1]) > 400:
            raise ExpressionRefused("digits")  # round(5, -10**9) would compute 10**10**9
        for value in values:
            if type(value) is range:
                self._spend(_size(value))
        return self._sized(_NAMES[function.id](*values))

    def _chosen(self, node: ast.BoolOp) -> Any:
        stop = isinstance(node.op, ast.Or)
        for one in node.values:
            value = self.value(one)
            if bool(value) is stop:
                break
        return value

    def _compared(self, node: ast.Compare) -> Any:
        left, result = self.value(node.left), True
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator)
            self._spend(_size(left) + _size(right))
            result = _COMPARE[type(op)](left, right)
            if not result:
                break
            left = right
        return result

    def _sized(self, value: Any) -> Any:
        self._spend(0 if type(value) is range else _size(value))  # a range is paid for when it is used
        return value

    def _spend(self, size: int) -> None:
        self.work += size
        if size > LARGEST or self.work > ALL_WORK:
            raise ExpressionRefused("size")


def _size(value: Any) -> int:
    kind = type(value)
    if kind is int:
        return int(value.bit_length()) + 1
    if kind in (str, bytes, range):
        return len(value) + 1
    if kind in (list, tuple, set, frozenset):
        return sum(map(_size, value)) + 1
    if kind is dict:
        return sum(_size(key) + _size(entry) for key, entry in value.items()) + 1
    return 1


def _size_after(op: ast.operator, left: object, right: object) -> int:
    """Return how large the result can get, before it is computed."""
    both = _size(left) + _size(right)
    if isinstance(op, ast.Mult):
        for many, times in ((left, right), (right, left)):
            if isinstance(times, int) and not isinstance(many, int | float | complex):
                return _size(many) * max(times, 1)
    if isinstance(op, ast.LShift) and isinstance(right, int):
        return both + max(right, 0)
    if isinstance(op, ast.Pow) and isinstance(left, int) and isinstance(right, int) and abs(left) > 1:
        return both + _size(left) * max(right, 0)
    if isinstance(op, ast.Mod) and isinstance(left, str | bytes):
        template = left if isinstance(left, str) else left.decode("latin-1")
        if _WIDE_FORMAT.search(template):
            raise ExpressionRefused("width")
        return both * (1 + template.count("%("))
    return both
