"""Exact arithmetic on trees: as fractions of bounded size, and in a prime field, where nothing grows."""

import math
from collections.abc import Mapping
from fractions import Fraction
from hashlib import blake2b

from proctor_judging.matching.tree import Tree

PRIME = 0xC3A5C85C97CB3127D6E8FEB86659FD93B492B66FBE98F273B5A1F0A7A9F0E37F  # of 256 bits, with no short formula
MOST_BITS = 4_096
LARGEST_FACTORIAL = 500
RATIONAL = frozenset(["number", "name", "+", "*", "/", "neg", "^", "!"])


class OutOfReach(Exception):
    """Too large to be computed within the bounds."""


class Undefined(Exception):
    """No value at this point: a division by zero, or the root of a negative number."""


def is_rational(tree: Tree) -> bool:
    """True if it consists of numbers, names, the four operations and powers with whole constant exponents."""
    for node in tree.nodes():
        if node.op not in RATIONAL:
            return False
        if node.op == "^" and ((power := constant(node.parts[1])) is None or power.denominator != 1):
            return False
        if node.op == "!" and constant(node.parts[0]) is None:
            return False
    return True


def constant(tree: Tree) -> Fraction | None:
    """Return the exact value of a rational expression without names; None when it is something else or undefined.

    Raises:
        OutOfReach: the value is too large.
    """
    if tree.op == "number":
        return small(tree.value)
    if any(node.op not in RATIONAL or node.op == "name" for node in tree.nodes()):
        return None
    try:
        return _exact(tree)
    except Undefined:
        return None


def in_field(tree: Tree, point: Mapping[str, int]) -> int:
    """Return the value of the expression at a point of a finite field.

    Raises:
        Undefined: a division by zero.
    """
    match tree.op:
        case "number":
            return _divided(tree.value.numerator, tree.value.denominator)
        case "name":
            return point[tree.name]
        case "neg":
            return -in_field(tree.parts[0], point) % PRIME
        case "+":
            return sum(in_field(part, point) for part in tree.parts) % PRIME
        case "*":
            value = 1
            for part in tree.parts:
                value = value * in_field(part, point) % PRIME
            return value
        case "/":
            return _divided(1, in_field(tree.parts[0], point))
        case "^":
            exponent = constant(tree.parts[1])
            assert exponent is not None
            base = in_field(tree.parts[0], point)
            if not base and exponent <= 0:
                raise Undefined
            return pow(base, int(exponent), PRIME)
        case _:
            value_of = constant(tree.parts[0])
            assert value_of is not None
            return factorial(value_of) % PRIME


def _divided(above: int, below: int) -> int:
    if not below % PRIME:
        raise Undefined
    return above * pow(below, -1, PRIME) % PRIME


def pseudo_random(name: str, seed: int) -> int:
    """Return a number below the prime that depends only on the name and the seed, and is the same on every machine."""
    return int.from_bytes(blake2b(f"{seed}:{name}".encode(), digest_size=32).digest()) % PRIME


def _exact(tree: Tree) -> Fraction:
    match tree.op:
        case "number":
            value = tree.value
        case "neg":
            value = -_exact(tree.parts[0])
        case "+":
            value = Fraction(0)
            for part in tree.parts:
                value = small(value + _exact(part))
        case "*":
            value = Fraction(1)
            for part in tree.parts:
                value = small(value * _exact(part))
        case "/":
            below = _exact(tree.parts[0])
            if not below:
                raise Undefined
            value = 1 / below
        case "!":
            value = Fraction(factorial(_exact(tree.parts[0])))
        case "^":
            value = exact_power(_exact(tree.parts[0]), _exact(tree.parts[1]))
        case _:
            raise Undefined
    return small(value)


def exact_power(base: Fraction, exponent: Fraction) -> Fraction:
    """Return a power with a whole exponent; its size is checked before it is computed.

    Raises:
        OutOfReach, Undefined: too large; a power that is not whole, or a division by zero.
    """
    if exponent.denominator != 1 or (not base and exponent <= 0):
        raise Undefined
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if bits > 1 and bits * abs(exponent) > MOST_BITS:
        raise OutOfReach
    return base ** int(exponent) if bits > 1 else base ** (int(exponent) % 2 or 2)


def small(value: Fraction) -> Fraction:
    if value.numerator.bit_length() > MOST_BITS or value.denominator.bit_length() > MOST_BITS:
        raise OutOfReach
    return value


def factorial(value: Fraction) -> int:
    if value.denominator != 1 or value < 0:
        raise Undefined
    if value > LARGEST_FACTORIAL:
        raise OutOfReach
    return math.factorial(int(value))
