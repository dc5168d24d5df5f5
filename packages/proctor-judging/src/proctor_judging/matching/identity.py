"""Decide whether two expressions are equal, with bounded work.

Rational functions are compared exactly, at points of a prime field (Schwartz 1980: unequal ones agree with a chance below
degree / 2**255 a point). Whatever else is compared at a few points to 40 digits with mpmath (extra `math`), or to double
precision without it. No simplifier is run: sympy's has no bound on time, and equal values at many points are all that is asked.
"""

from proctor_judging.matching.rational import PRIME, OutOfReach, Undefined, in_field, is_rational, pseudo_random
from proctor_judging.matching.tree import CONSTANTS, Tree
from proctor_judging.matching.values import agree_at_points

POINTS = 5
MOST_NODES = 20_000


def same_value(one: Tree, other: Tree) -> bool:
    """True if two expressions are equal wherever both are defined.

    Raises:
        OutOfReach: a bound was met before that could be decided.
    """
    if one == other:
        return True
    return proportional(one, other, factor=1)


def proportional(one: Tree, other: Tree, *, factor: int | None = None) -> bool:
    """True if one expression is a constant (`factor`, or any that is not 0) times the other one."""
    names = one.names() | other.names()
    if sum(1 for tree in (one, other) for _ in tree.nodes()) > MOST_NODES:
        raise OutOfReach
    if not names & CONSTANTS and is_rational(one) and is_rational(other):
        return _proportional_in_field(one, other, names, factor)
    return agree_at_points(one, other, factor)


def _proportional_in_field(one: Tree, other: Tree, names: set[str], factor: int | None) -> bool:
    ratio: tuple[int, int] | None = None
    for seed in range(1, POINTS + 1):
        point = {name: pseudo_random(name, seed) for name in names}
        try:
            first, second = in_field(one, point), in_field(other, point)
        except Undefined:
            continue
        if factor is not None:
            if first != second * factor % PRIME:
                return False
            ratio = (1, 1)
        elif not first or not second or (ratio is not None and first * ratio[1] % PRIME != second * ratio[0] % PRIME):
            return False
        else:
            ratio = ratio or (first, second)
    return ratio is not None
