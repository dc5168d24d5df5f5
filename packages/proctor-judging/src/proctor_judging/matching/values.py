"""Values of expressions at points, to 120 digits with mpmath or in double precision without it; sizes are bounded."""

import cmath
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import msgspec

from proctor_judging.matching.rational import (
    OutOfReach,
    Undefined,
    constant,
    exact_power,
    factorial,
    pseudo_random,
    small,
)
from proctor_judging.matching.tree import Tree

ENOUGH_POINTS = 3
MOST_TURNED = 6
MOST_NODES = 1_500
LARGEST = 300  # decimal digits of a value before it is out of reach
LARGEST_EXPONENT = 600
LARGEST_POWER = 10**6
RECIPROCAL = {"cot": "tan", "sec": "cos", "csc": "sin"}
TRIGONOMETRIC = frozenset(["sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan"])
WHOLE = frozenset(["floor", "ceil", "max", "min", "gcd", "lcm"])
UNKNOWN_BASE = Fraction(7919, 1013)  # of `log`: what holds for this one holds for any
_ONE_AT_A_TIME = threading.Lock()  # mpmath changes the precision of its context while it computes


class Arithmetic(msgspec.Struct, frozen=True):
    """Complex numbers of some precision.

    Attributes:
        agreed, noise: the digits that must agree, and those that rounding leaves alone.
        largest: numerators and denominators above this are not compared.
    """

    functions: Any
    number: Callable[[Fraction], Any]
    pi: Any
    agreed: int
    noise: int
    largest: float = math.inf


class NeedsExtra(OutOfReach):
    """Double precision cannot tell, and mpmath is not installed."""


def agree_at_points(one: Tree, other: Tree, factor: int | None) -> bool:
    """True if one is `factor` (or any constant) times the other at every point where both are defined.

    Raises:
        OutOfReach: too large, too long, or defined at too few points.
    """
    if sum(1 for tree in (one, other) for _ in tree.nodes()) > MOST_NODES:
        raise OutOfReach
    with _ONE_AT_A_TIME:
        return _agree(one, other, factor, _arithmetic())


def same_sign(one: Tree, other: Tree) -> bool:
    """True if two expressions that are multiples of each other have the same sign.

    Raises:
        OutOfReach, Undefined: one of them has no value at a point that was tried.
    """
    names = one.variables() | other.variables()
    with _ONE_AT_A_TIME:
        arithmetic = _arithmetic()
        point = {name: arithmetic.number(_coordinate(name, 0, negative=False)) for name in names}
        evaluation = _Evaluation(arithmetic, point, real=True)
        return bool(complex(evaluation.of(one) / evaluation.of(other)).real > 0)


def real_value(tree: Tree) -> float:
    """Return a constant as a double.

    Raises:
        OutOfReach, Undefined: it has no finite real value, or too large a one.
    """
    with _ONE_AT_A_TIME:
        value = complex(_Evaluation(_arithmetic(), {}, real=False).of(tree))
    if abs(value.imag) > 1e-12 * max(1.0, abs(value)):
        raise Undefined
    return value.real


@cache
def _arithmetic() -> Arithmetic:
    try:
        import mpmath
    except ImportError:
        return Arithmetic(cmath, complex, cmath.pi, agreed=11, noise=13, largest=10**8)
    context = mpmath.MPContext()
    context.dps = 120
    number = lambda value: context.mpf(value.numerator) / value.denominator  # noqa: E731 - one line beside its use
    return Arithmetic(context, number, +context.pi, agreed=60, noise=110)


def _agree(one: Tree, other: Tree, factor: int | None, arithmetic: Arithmetic) -> bool:
    variables = one.variables() | other.variables()
    real = bool(variables) and "i" not in one.names() | other.names()
    agreed, ratio = 0, None
    for index, negative in enumerate(_negatives(sorted(variables)) if variables else [()]):
        point = {name: arithmetic.number(_coordinate(name, index, negative=name in negative)) for name in variables}
        evaluation = _Evaluation(arithmetic, point, real=real)
        try:
            first, second = evaluation.of(one), evaluation.of(other)
        except Undefined:
            continue
        if factor is not None:
            if not evaluation.same(first, second):
                return False
        elif not first or not second or (ratio is not None and not evaluation.same(first / second, ratio)):
            return False
        else:
            ratio = first / second
        agreed += 1
    if variables and agreed < ENOUGH_POINTS:
        raise OutOfReach
    return agreed > 0


def _negatives(names: Sequence[str]) -> list[Sequence[str]]:
    """Return which variables are negative at each point: none, where roots and logarithms are defined; all; one at a time."""
    return [*[()] * ENOUGH_POINTS, names, *([name] for name in names[:MOST_TURNED]), names[::2]]


def _coordinate(name: str, place: int, *, negative: bool) -> Fraction:
    size = Fraction(pseudo_random(name, place) % 4000 + 1, 1013)
    return -size if negative else size


class _Evaluation:
    """The values at one point, and `peak`: the largest number that may have left rounding noise in a sum or function."""

    def __init__(self, arithmetic: Arithmetic, point: Mapping[str, object], *, real: bool) -> None:
        self.arithmetic = arithmetic
        self.functions = arithmetic.functions
        self.point = point
        self.real = real
        self.peak: object = 0

    def same(self, one: Any, other: Any) -> bool:
        """Relative to their size, or within the noise of what was computed on the way."""
        off = abs(one - other)
        larger = max(abs(one), abs(other))
        return bool(off * 10**self.arithmetic.agreed <= larger or off * 10**self.arithmetic.noise <= self.peak)

    def of(self, tree: Tree) -> Any:
        try:
            value = self.computed(tree)
        except (ZeroDivisionError, ValueError):
            raise Undefined from None
        except OverflowError:
            raise OutOfReach from None
        size = abs(value)
        if size > 10**LARGEST or (size and size * 10**LARGEST < 1):
            raise OutOfReach
        return value

    def computed(self, tree: Tree) -> Any:
        match tree.op:
            case "number":
                return self.number(self.plain(tree.value))
            case "name":
                return self.named(tree.name)
            case "!":
                value = constant(tree.parts[0])
                if value is None:
                    raise Undefined
                return self.number(self.plain(Fraction(factorial(value))))
            case "^" if (exponent := constant(tree.parts[1])) is not None:
                if (exact := constant(tree.parts[0])) is not None and exponent.denominator == 1:
                    self.plain(exact_power(exact, exponent))
                return self.power(self.of(tree.parts[0]), exponent)
        if tree.op in WHOLE:
            return self.whole(tree)
        return self.applied(tree, [self.of(part) for part in tree.parts])

    def named(self, name: str) -> Any:
        if name in self.point:
            return self.point[name]
        if name == "π":
            return self.arithmetic.pi
        if name == "e":
            return self.functions.exp(self.number(Fraction(1)))
        if name == "i":
            return self.number(Fraction(0)) + 1j
        raise Undefined

    def applied(self, tree: Tree, values: list[Any]) -> object:
        if not values:
            raise Undefined  # the empty set
        first = values[0]
        match tree.op:
            case "neg":
                return 0 - first  # minus of a complex double would turn the sign of its zero
            case "+":
                self.noted(*values)
                return sum(values[1:], first)
            case "*":
                return self.product(values)
            case "/":
                return 1 / first
            case "abs":
                return abs(first)
            case "sqrt":
                index = constant(tree.parts[1]) if len(values) > 1 else Fraction(2)
                if not index:
                    raise Undefined
                return self.power(first, 1 / index)
            case "^":
                return self.exponential(self.logarithm(first) * values[1])
            case "exp":
                return self.exponential(first)
            case "ln" | "lg" | "log":
                return self.logarithm_to_base(tree.op, values)
            case _:
                return self.trigonometric(tree.op, first)

    def product(self, values: list[Any]) -> object:
        result = values[0]
        for value in values[1:]:
            result = result * value
            if abs(result) > 10**LARGEST:
                raise OutOfReach
        return result

    def trigonometric(self, name: str, value: Any) -> object:
        name = name.replace("arc", "a")
        self.noted(1, value)
        if name in RECIPROCAL:
            return 1 / getattr(self.functions, RECIPROCAL[name])(value)
        if name not in TRIGONOMETRIC:
            raise Undefined  # a set or a relation inside an expression
        if name in ("asin", "acos") and self.real and abs(value) > 1:
            raise Undefined
        if abs(value) > LARGEST_EXPONENT and name[-1] == "h":
            raise OutOfReach
        return getattr(self.functions, name)(value)

    def power(self, base: Any, exponent: Fraction) -> Any:
        if exponent.denominator == 1:
            whole = int(exponent)
            if base and abs(whole) * abs(math.log10(float(abs(base)))) > LARGEST:
                raise OutOfReach
            return base**whole if abs(whole) < LARGEST_POWER else self.exponential(self.functions.log(base) * whole)
        if not base:
            if exponent < 0:
                raise Undefined
            return base
        if _is_real(base) and _real(base) < 0:
            if exponent.denominator % 2:  # the real root of a negative number
                size = self.exponential(self.functions.log(-base) * self.number(exponent))
                return -size if exponent.numerator % 2 else size
            if self.real:
                raise Undefined
        return self.exponential(self.functions.log(base) * self.number(exponent))

    def logarithm(self, value: Any) -> Any:
        if not value or (self.real and _is_real(value) and _real(value) < 0):
            raise Undefined
        self.noted(1)
        return self.functions.log(value)

    def logarithm_to_base(self, name: str, values: list[Any]) -> object:
        natural = self.logarithm(values[0])
        if name == "ln":
            return natural
        if len(values) > 1:
            return natural / self.logarithm(values[1])
        return natural / self.functions.log(self.number(Fraction(10) if name == "lg" else UNKNOWN_BASE))

    def exponential(self, value: Any) -> Any:
        if abs(value) > LARGEST_EXPONENT:
            raise OutOfReach
        return self.functions.exp(value)

    def whole(self, tree: Tree) -> Any:
        exact = [constant(part) for part in tree.parts]
        values = [value for value in exact if value is not None]
        if len(values) != len(exact):
            raise Undefined
        match tree.op:
            case "floor" | "ceil":
                number = math.floor(values[0]) if tree.op == "floor" else math.ceil(values[0])
                return self.number(Fraction(number))
            case "max" | "min":
                return self.number(max(values) if tree.op == "max" else min(values))
        if any(value.denominator != 1 for value in values):
            raise Undefined
        numbers = [int(value) for value in values]
        return self.number(Fraction(math.gcd(*numbers) if tree.op == "gcd" else small(Fraction(math.lcm(*numbers)))))

    def plain(self, value: Fraction) -> Fraction:
        """Return the value, if it can be told from its neighbours in this precision."""
        small(value)
        if max(abs(value.numerator), value.denominator) > self.arithmetic.largest:
            raise NeedsExtra
        return value

    def number(self, value: Fraction) -> Any:
        return self.arithmetic.number(value)

    def noted(self, *values: Any) -> None:
        self.peak = max(self.peak, *map(abs, values))


def _is_real(value: Any) -> bool:
    return not getattr(value, "imag", 0)


def _real(value: Any) -> Any:
    return getattr(value, "real", value)
