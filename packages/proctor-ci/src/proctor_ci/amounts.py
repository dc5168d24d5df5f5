"""Bound what trials took, in seconds, money or tokens: a mean, and its change or that of a quantile against a baseline.

A mean is bounded with the limit of a trial as the most that an unseen one can take (`proctor_ci/stats/amounts.py`): the limit of
seconds, or the budget of the whole run. The change of a quantile is that of paired draws of samples (bootstrap of the ratio).
It is given only where it is unlikely that no sample lies beyond the quantile: 20 say nothing above their 90th percentile.
"""

import math
import random
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import mul

import msgspec

from proctor.api.run import Run
from proctor.core.sentence import Sentence, say
from proctor.core.tally import Case, tally
from proctor.stats.estimate import estimate
from proctor.stats.rate import Interval
from proctor_ci.measured import Values
from proctor_ci.stats.amounts import AmountStep, bounds, seen_bounds

_DRAWS = 1_000
_DRAWN = 4_000_000  # clusters in all draws, about two seconds
_FEWEST_DRAWS = 199
_ROUNDING = 1e-9


class Bounded(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of a number for each error rate, and the reason if unseen trials leave it undecided."""

    bounds: Callable[[float], Interval | None]
    unseen: Callable[[float], Sentence | None]


def most_of(run: Run, metric: str, samples: Iterable[Values]) -> float | None:
    """Return the most that a trial can take: its limit or what one took; None where nothing bounds it."""
    spec = run.record.spec
    known = {"latency": spec.limits.seconds, "cost": spec.budget.money, "tokens": spec.budget.tokens}[metric]
    return None if known is None else max(known, *(value for sample in samples for value in sample.values))


def bound_mean(samples: Sequence[Values], most: float | None, limit: float) -> Bounded:
    """Bound the mean over samples of what their trials took in the mean, which has to be at most `limit`."""
    steps = _steps(samples, [1.0] * len(samples))
    heaviest = max((step.under for step in steps), default=1.0)
    top = None if most is None else AmountStep(most * heaviest, heaviest)
    return _bounded(steps, AmountStep(0.0, heaviest), top, len(samples), most, limit)


def bound_ratio(
    pairs: Sequence[tuple[Values, Values]], most_before: float | None, most_now: float | None, limit: float
) -> Bounded:
    """Bound the ratio of two means over pairs (before, now), of which one not seen may be long in one run only."""
    steps = _steps([now for _, now in pairs], [before.mean for before, _ in pairs])
    sizes = _steps([now for _, now in pairs], [1.0] * len(pairs))
    heaviest = max(step.under for step in sizes)
    bottom = None if most_before is None else AmountStep(0.0, heaviest * most_before)
    top = None if most_now is None else AmountStep(heaviest * most_now, 0.0)
    mosts = [value for value in (most_before, most_now) if value is not None]
    return _bounded(steps, bottom, top, len(pairs), max(mosts) if len(mosts) == 2 else None, limit)


def _steps(samples: Sequence[Values], unders: Sequence[float]) -> list[AmountStep]:
    sums: dict[str, tuple[float, float]] = {}
    for sample, under in zip(samples, unders, strict=True):
        over, below = sums.get(sample.cluster, (0.0, 0.0))
        sums[sample.cluster] = (over + sample.mean, below + under)
    return [AmountStep(*each) for each in sums.values()]


def _bounded(
    steps: Sequence[AmountStep],
    least: AmountStep | None,
    most: AmountStep | None,
    count: int,
    greatest: float | None,
    limit: float,
) -> Bounded:
    @cache
    def of(error: float) -> Interval | None:
        return bounds(steps, error, least=least, most=most)

    def unseen(error: float) -> Sentence | None:
        if greatest is None:
            return say(
                "nothing limits what a trial takes, so {count} samples do not show a mean: limit a quantile",
                count=count,
            )
        seen = seen_bounds(steps, error)
        if seen is None or seen.low <= limit < seen.high:
            return None
        return say(
            "a trial may take up to {most}, and {count} samples do not show how seldom one does: limit a quantile, or what a trial may take",
            most=f"{greatest:g}",
            count=count,
        )

    return Bounded(bounds=of, unseen=unseen)


class _Cluster(msgspec.Struct):
    """What the trials of a cluster took before and now; missing ones are None."""

    before: list[float | None] = []
    now: list[float | None] = []


def bound_quantiles(pairs: Sequence[tuple[Values, Values]], share: float) -> Callable[[float], Interval | None]:
    """Bound the ratio of two quantiles over pairs (before, now); missing trials lie where they speak against the bound."""
    clusters: dict[str, _Cluster] = {}
    for before, now in pairs:
        cluster = clusters.setdefault(now.cluster, _Cluster())
        cluster.before += [*before.values, *[None] * (before.planned - len(before.values))]
        cluster.now += [*now.values, *[None] * (now.planned - len(now.values))]
    sides = [_effective([pair[at] for pair in pairs], share) for at in (0, 1)]

    @cache
    def ratios(missing_before: float, missing_now: float) -> list[float]:
        return _draw_ratios([*clusters.values()], share, missing_before, missing_now)

    def of(error: float) -> Interval | None:
        none_below, none_above = ([rate**side > error for side in sides] for rate in (1 - share, share))
        has_low, has_high = not (none_below[1] or none_above[0]), not (none_above[1] or none_below[0])
        if len(clusters) < 2 or not (has_low or has_high):
            return None
        lows, highs = ratios(math.inf, 0.0), ratios(0.0, math.inf)
        below = max(math.floor(error * (len(lows) + 1)) - 1, 0)
        return Interval(low=lows[below] if has_low else 0.0, high=highs[-1 - below] if has_high else math.inf)

    return of


def quantile_of(samples: Sequence[Values], share: float) -> float:
    """Return what this share of the trials did not exceed."""
    values = _descending([sample.values for sample in samples], 0.0)
    return _drawn_quantile(values, [1] * len(samples), [len(sample.values) for sample in samples], share)


def _effective(samples: Sequence[Values], share: float) -> float:
    """Return as how many independent ones the trials count at their quantile."""
    at = quantile_of(samples, share)
    cases = [
        Case(
            cluster=sample.cluster, values=tuple(float(value <= at) for value in sample.values), planned=sample.planned
        )
        for sample in samples
    ]
    within = estimate("", tally(cases))
    if within.standard_error and within.value is not None:
        return within.value * (1 - within.value) / within.standard_error**2
    return float(within.clusters)


def _draw_ratios(clusters: Sequence[_Cluster], share: float, missing_before: float, missing_now: float) -> list[float]:
    """Return the ratios of the quantiles of draws of clusters, in ascending order."""
    before = _descending([cluster.before for cluster in clusters], missing_before)
    now = _descending([cluster.now for cluster in clusters], missing_now)
    before_sizes, now_sizes = (
        [len(each) for each in side] for side in zip(*((c.before, c.now) for c in clusters), strict=True)
    )
    source = random.Random(0)  # noqa: S311 - a bound must be the same again
    count = len(clusters)
    ratios = []
    for _ in range(max(min(_DRAWS, _DRAWN // count), _FEWEST_DRAWS)):
        times = [0] * count
        for at in source.choices(range(count), k=count):
            times[at] += 1
        over = _drawn_quantile(now, times, now_sizes, share)
        under = _drawn_quantile(before, times, before_sizes, share)
        ratios.append(over / under if 0 < under < math.inf else 0.0 if under else math.inf)
    return sorted(ratios)


def _descending(values: Iterable[Sequence[float | None]], missing: float) -> list[tuple[float, int]]:
    known = ((missing if value is None else value, at) for at, each in enumerate(values) for value in each)
    return sorted(known, reverse=True)


def _drawn_quantile(
    descending: Sequence[tuple[float, int]], times: Sequence[int], sizes: Sequence[int], share: float
) -> float:
    """Return the quantile at (count + 1) · share, interpolated: that of fewer than 100 trials is too low at count · share."""
    total = sum(map(mul, times, sizes))
    position = min(max(share * (total + 1), 1), total)
    rank = math.floor(position)
    above, upper = 0, math.nan
    for value, cluster in descending:
        above += times[cluster]
        if math.isnan(upper) and above > total - min(rank + 1, total):
            upper = value
        if above > total - rank:
            return value if position == rank or upper == value else value + (position - rank) * (upper - value)
    return descending[-1][0]
