"""Test whether what earlier systems show of samples fits a new one: whether it finds hard what they found hard.

Each earlier system has a correlation with the mean of all others, over samples. In Fisher's form (atanh) these have a mean
and a variance over the k systems; that of a system from n samples varies by 1 / (n - 3) in addition. A new one fits no longer
where its correlation is below the mean by more than chance brings about in one of four hundred systems:

    sqrt(t² (k - 1 degrees) · variance · (1 + 1/k) + z² / (n - 3))

Source: Fisher 1921 for the transformation; the test is a prediction interval for one more system.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import correlation, fmean, variance

from proctor.stats.distributions import normal_quantile, t_quantile

FEWEST_SYSTEMS = 3
FEWEST_DISCRIMINATED = 8  # systems from which a sample is said to tell them apart
_FEWEST = 20
_ERROR = 0.0025
_MOST = 0.999


def find_agreement(systems: Sequence[Mapping[str, float]]) -> tuple[float, float, int] | None:
    """Return the mean and the variance of each system's correlation with the others, in Fisher's form, and their number.

    None of fewer than three systems that tell samples apart; each counts with the samples that another one has too.
    """
    totals: dict[str, float] = {}
    counts: dict[str, int] = {}
    for own in systems:
        for id, value in own.items():
            totals[id] = totals.get(id, 0.0) + value
            counts[id] = counts.get(id, 0) + 1
    known = []
    for own in systems:
        shared = [id for id in own if counts[id] > 1]
        values = [own[id] for id in shared]
        others = [(totals[id] - own[id]) / (counts[id] - 1) for id in shared]
        if (agreement := _fisher(values, others)) is not None:
            known.append(agreement)
    return (fmean(known), variance(known), len(known)) if len(known) >= FEWEST_SYSTEMS else None


def find_misfit(
    values: Sequence[float], expected: Sequence[float], agreement: tuple[float, float, int]
) -> float | None:
    """Return the correlation of a new system with what was expected, where it fits no longer; else None."""
    mean, spread, systems = agreement
    value = _fisher(values, expected)
    if value is None or systems < FEWEST_SYSTEMS:
        return None
    among_systems = t_quantile(1 - _ERROR, systems - 1) ** 2 * spread * (1 + 1 / systems)
    reach = math.sqrt(among_systems + normal_quantile(1 - _ERROR) ** 2 / (len(values) - 3))
    return math.tanh(value) if value < mean - reach else None


def discrimination(systems: Sequence[Mapping[str, float]], id: str) -> float | None:
    """Return the correlation over systems of what each earned on a sample with its mean on its others; None of fewer than eight.

    Near 0, a sample does not tell systems apart; below, those fail it that do well elsewhere.
    """
    known = [own for own in systems if id in own and len(own) > 1]
    values = [own[id] for own in known]
    rest = [(math.fsum(own.values()) - own[id]) / (len(own) - 1) for own in known]
    if len(known) < FEWEST_DISCRIMINATED or len({*values}) < 2 or len({*rest}) < 2:
        return None
    return correlation(values, rest)


def _fisher(values: Sequence[float], others: Sequence[float]) -> float | None:
    if len(values) < _FEWEST or len({*values}) < 2 or len({*others}) < 2:
        return None
    return math.atanh(min(max(correlation(values, others), -_MOST), _MOST))
