"""Drop the worse of several systems while results come in.

Source: Vovk and Wang 2021, arXiv 1912.06116 (averages of e-values; the step-down rule is Holm's).
"""

import math
from collections.abc import Sequence

from proctor.core.errors import BadInput
from proctor.stats.betting import STAKES, bet

_ROUNDING = 1e-9


class Elimination:
    """Drops each of several systems as soon as another is shown to be better, until one is left.

    Steps are as in `looks`, with one value for each system. For each system i, the gamblers bet that some other exceeds it by
    more than `margin`; the average of their wealth over the others is one e-value, and the first of k systems is dropped when it
    reaches k / error, the next at (k - 1) / error, and so on. So the chance of ever dropping one that no other exceeds by
    more than the margin is at most `error`, however many there are and however often one looks.

    >>> both = Elimination(2, error=0.05)
    >>> [both.add([1.0, 0.0]) for _ in range(8)][-1], both.add([1.0, 0.0])
    ((0, 1), (0,))
    """

    def __init__(
        self, systems: int, *, error: float, margin: float = 0.0, span: float = 1.0, heaviest: float = 1.0
    ) -> None:
        """Begin without a step; values of a system lie within `span` of each other."""
        if systems < 2:
            raise BadInput("It takes two systems to drop one.")
        if not (0 < error < 1 and 0 <= margin < span):
            raise BadInput(
                "The chance of a wrong decision lies between 0 and 1, and a margin is less than {span}; they are {error} and {margin}.",
                span=span,
                error=error,
                margin=margin,
            )
        self.left = tuple(range(systems))
        self._count, self._error, self._margin, self._span, self._heaviest = systems, error, margin, span, heaviest
        self._wealth = {(one, other): STAKES for one in self.left for other in self.left if one != other}

    def add(self, values: Sequence[float | None], weight: float = 1.0) -> tuple[int, ...]:
        """Take the next step, and return which systems are left; those that are not need no value."""
        for (one, other), wealth in self._wealth.items():
            if one in self.left and other in self.left:
                low, high = values[one], values[other]
                if (
                    low is None
                    or high is None
                    or not (abs(high - low) <= self._span + _ROUNDING and 0 < weight <= self._heaviest)
                ):
                    raise BadInput(
                        "Each system that is left needs a value, within {span} of the others'.", span=self._span
                    )
                gain = weight / self._heaviest * (high - low - self._margin)
                self._wealth[one, other] = bet(wealth, gain, self._span + self._margin)
        while len(self.left) > 1 and (worst := self._worst()) is not None:
            self.left = tuple(one for one in self.left if one != worst)
        return self.left

    def _worst(self) -> int | None:
        evidence = {one: self._against(one) for one in self.left}
        worst = max(evidence, key=evidence.__getitem__)
        return worst if evidence[worst] >= len(self.left) / self._error else None

    def _against(self, one: int) -> float:
        return math.fsum(math.fsum(self._wealth[one, other]) for other in range(self._count) if other != one) / (
            self._count - 1
        )
