"""Compute how many samples like those of a comparison find a difference."""

from functools import partial

import msgspec

from proctor.core.errors import BadInput
from proctor.stats.paired import BONETT_PRICE, Difference
from proctor.stats.planning import MOST_SAMPLES, Spread, least_samples, power_to_compare, variance_factors
from proctor.stats.rate import wilson


class Needed(msgspec.Struct, frozen=True, kw_only=True):
    """The number of samples that finds a difference with that power.

    Attributes:
        difference: the true difference to be found.
        samples: as many, if samples move (or vary) as in the pairs seen; `low` to `high` is what the pairs allow for.
        moved: the share of the pairs seen that moved; None where they are no single 0/1 attempts.
    """

    difference: float
    power: float
    samples: int
    low: int
    high: int
    moved: float | None


def to_detect(found: Difference, difference: float, *, alpha: float = 0.05, power: float = 0.8) -> Needed | None:
    """Estimate how many samples find a true difference, if they are like those of a comparison; None if it cannot tell.

    For single 0/1 attempts the share of samples that move decides, with its Wilson interval, and the number is that of
    McNemar's test with the correction for exactness of Fleiss (1981); at least as many samples move as are won on
    balance. Else it is the variance of the differences, with its chi-squared interval, and t and clusters count.

    Raises:
        BadInput: the difference does not lie between 0 and 1.
    """
    if not 0 < difference <= 1:
        raise BadInput("The difference to find lies between 0 and 100 points; it is {points}.", points=100 * difference)
    if found.method == BONETT_PRICE:
        moved = (found.wins + found.losses) / found.pairs
        around = wilson(moved, found.pairs, 1 - alpha)
        spreads = [
            Spread(between=max(share - difference**2, 0.0), within=0.0) for share in (moved, around.low, around.high)
        ]
    elif found.standard_error and found.degrees is not None:
        moved = None
        seen = Spread(
            between=found.standard_error**2 * found.pairs,
            within=0.0,
            clusters=min((found.degrees + 1) / found.pairs, 1.0),
            is_binary=False,
        )
        spreads = [seen, *(seen.scaled(factor) for factor in variance_factors(found.degrees, 1 - alpha))]
    else:
        return None
    numbers = [
        least_samples(partial(power_to_compare, attempts=1, spread=spread, difference=difference, alpha=alpha), power)
        for spread in spreads
    ]
    samples, low, high = (MOST_SAMPLES if number is None else number for number in numbers)
    return Needed(difference=difference, power=power, samples=samples, low=low, high=high, moved=moved)
