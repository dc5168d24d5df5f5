"""A tree of mathematics: our own, so that nothing a model wrote is ever evaluated as code."""

from collections.abc import Iterator
from fractions import Fraction

import msgspec

CONSTANTS = frozenset(["π", "e", "i", "∞"])


class Tree(msgspec.Struct, frozen=True):
    """A node: `op` is number, name, a function, + * / ^ neg ± ! , a relation, set, tuple, interval, union or empty.

    An interval has its two brackets as `name`; `value` belongs to numbers.
    """

    op: str
    parts: tuple["Tree", ...] = ()
    value: Fraction = Fraction(0)
    name: str = ""

    def nodes(self) -> Iterator["Tree"]:
        """Yield this node and all nodes below it."""
        rest = [self]
        while rest:
            node = rest.pop()
            yield node
            rest.extend(node.parts)

    def names(self) -> set[str]:
        """Return the names in it, variables and constants."""
        return {node.name for node in self.nodes() if node.op == "name"}

    def variables(self) -> set[str]:
        """Return the names of its variables, without the constants π, e, i and ∞."""
        return self.names() - CONSTANTS


class NotMathematics(Exception):
    """The text is no expression we read."""
