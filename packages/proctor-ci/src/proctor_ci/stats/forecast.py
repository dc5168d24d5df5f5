"""Forecast how many samples decide a question, by the very bounds that will decide it.

With N samples, of which `kept` exist already, a value is expected at

    truth + (observed - truth) · kept / N    with the standard error SE(N) · √(1 - kept / N)

The bounds are computed there, and where they still exclude the limit if the value comes out as many standard errors nearer
to it as the power asks for, N samples are enough. No width is scaled by √N: the bound of 0 failures in n shrinks with n.
"""

import math
from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from proctor.core.run import Estimate
from proctor.stats.distributions import normal_quantile
from proctor.stats.estimate import WILSON
from proctor.stats.planning import variance_factors
from proctor.stats.rate import Interval, wilson
from proctor_ci.stats.bounds import Moved, one_sided


class ExpectedFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What more samples of the kind would show.

    Attributes:
        samples: how many there are.
        value: what they showed.
        bounds: the bounds of a number of samples with this value, by error.
        spread: the standard error of a number of samples whose true value this is.
        widest, narrowest: the same as far as the spread of these samples is not known.
    """

    samples: int
    value: float
    bounds: Callable[[int, float, float], Interval | None]
    spread: Callable[[int, float], float]
    widest: "ExpectedFigures | None" = None
    narrowest: "ExpectedFigures | None" = None

    def needed(
        self,
        truth: float,
        limit: float,
        decides: Callable[[Interval], bool],
        error: float,
        *,
        power: float,
        kept: int,
        most: int,
    ) -> int | None:
        """Return the fewest samples in all that decide with this power if this is the truth; None if `most` are too few.

        Where no more than there are would do, it is some number up to theirs.
        """
        far = normal_quantile(power)

        def is_decided(count: int) -> bool:
            spread = self.spread(count, truth) * math.sqrt(max(1 - kept / count, 0.0))
            expected = truth + (self.value - truth) * kept / count
            interval = self.bounds(count, expected + math.copysign(far * spread, limit - truth), error)
            return interval is not None and decides(interval)

        low, high = kept, max(self.samples, kept + 1, 2)
        if is_decided(high):
            return high
        while not is_decided(high):
            if high >= most:
                return None
            low, high = high, min(2 * high, most)
        while low + 1 < high:
            middle = (low + high) // 2
            low, high = (low, middle) if is_decided(middle) else (middle, high)
        return high


def expect_share(one: Estimate, samples: int) -> ExpectedFigures:
    """Return what more samples would show of an estimate; a spread that is not seen stays unseen."""
    observed = one.value or 0.0
    is_exact = one.method == WILSON

    def spread(count: int, value: float) -> float:
        if is_exact:
            return math.sqrt(max(value * (1 - value), 0.0) / count)
        error = (one.standard_error or 0.0) * math.sqrt(samples / count)
        if one.unit == "number" or not 0 < observed < 1:
            return error
        return error * math.sqrt(max(value * (1 - value), 0.0) / (observed * (1 - observed)))

    def bounds(count: int, value: float, error: float) -> Interval | None:
        value = value if one.unit == "number" else min(max(value, 0.0), 1.0)
        times = count / samples
        like = replace(
            one,
            value=value,
            standard_error=spread(count, value),
            clusters=max(round(one.clusters * times), 1),
            degrees=None if one.degrees is None else max((one.degrees + 1) * times - 1, 0.5),
        )
        return one_sided(like, error)

    return ExpectedFigures(samples=samples, value=observed, bounds=bounds, spread=spread)


def expect_difference(found: Moved) -> ExpectedFigures:
    """Return what more pairs would show, with the range that is known of how many of them move."""
    share = found.won + found.lost
    if found.exact:
        around = wilson(share, found.pairs)
        low, high = around.low, around.high
    else:
        factors = variance_factors(found.degrees or found.clusters - 1)
        low, high = (min(share * factor, 1.0) for factor in factors)
    narrowest, widest = (_difference(found, moving) for moving in (low, high))
    return replace(_difference(found, share), narrowest=narrowest, widest=widest)


def _difference(found: Moved, share: float) -> ExpectedFigures:
    """Return what more pairs would show if this share of them moves."""
    seen = found.won + found.lost

    def spread(count: int, value: float) -> float:
        moving = max(share, abs(value))
        if found.exact:
            return math.sqrt(max(moving - value**2, 0.0) / count)
        square = found.won_error**2 + found.lost_error**2 - 2 * found.correlation * found.won_error * found.lost_error
        scale = moving / seen if seen > 0 else 1.0
        return math.sqrt((max(square, 0.0) * scale + found.added) * found.pairs / count)

    def bounds(count: int, value: float, error: float) -> Interval | None:
        value = min(max(value, -1.0), 1.0)
        moving, times = max(share, abs(value)), count / found.pairs
        won, lost = (moving + value) / 2, (moving - value) / 2
        together = found.correlation
        if found.exact:
            product = won * (1 - won) * lost * (1 - lost)
            together = -won * lost / math.sqrt(product) if product > 0 else 0.0
        scale = math.sqrt((moving / seen if seen > 0 else 1.0) / times)
        like = replace(
            found,
            won=won,
            lost=lost,
            won_error=found.won_error * scale,
            lost_error=found.lost_error * scale,
            correlation=together,
            pairs=count,
            clusters=max(round(found.clusters * times), 1),
            degrees=None if found.degrees is None else max((found.degrees + 1) * times - 1, 0.5),
            added=found.added / times,
        )
        return like.bounds(error)

    return ExpectedFigures(samples=found.pairs, value=found.value, bounds=bounds, spread=spread)
