"""Correct p-values for multiple testing; results are in the order of the arguments."""

from collections.abc import Sequence

from proctor.core.errors import BadInput


def holm(p_values: Sequence[float]) -> list[float]:
    """Return adjusted p-values that bound the chance of even one false finding: for gates.

    >>> [round(p, 6) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]

    Source: Holm 1979.
    """
    adjusted = [0.0] * len(p_values)
    least = 0.0
    for rank, index in enumerate(_ascending(p_values)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = least
    return adjusted


def _ascending(p_values: Sequence[float]) -> list[int]:
    for p in p_values:
        if not 0 <= p <= 1:
            raise BadInput("A p-value lies between 0 and 1; one is {p}.", p=p)
    return sorted(range(len(p_values)), key=p_values.__getitem__)
