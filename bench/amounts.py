"""How often a gate is wrong about skewed amounts (seconds, money, tokens) where the truth lies just at its limit: by simulation.

Means with the greatest amount of a trial known, ratios of means where only the new run has long trials, and ratios of
quantiles; Student's bound of a mean in comparison. A bound is wrong exactly where the truth is refuted, so the truth is
tested instead of the bound being sought, in all suites of a kind at once; the first few of each kind are checked against
`proctor.stats` itself.
"""

import math
import sys
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from bench.figure import Figure
from proctor_ci.amounts import bound_quantiles
from proctor_ci.measured import Values
from proctor_ci.stats.amounts import AmountStep, bounds, chance_below

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Draw = Callable[[np.random.Generator, tuple[int, int]], Numbers]
ROUNDS = 3_000
ERROR, MOST = 0.05, 0.055
COUNTS = (10, 30, 100, 400, 1_000)
CHECKED = 2
AT_ONCE = 500
STEPS, CLOSE, CENTRAL = 200, 1e-6, 0.01  # of the saddlepoint
DRAWS = 400


def _lognormal(sigma: float) -> Draw:
    return lambda source, shape: source.lognormal(0, sigma, shape)


def _seldom(share: float, times: float) -> Draw:
    return lambda source, shape: np.where(source.random(shape) < share, times, 1.0) * source.lognormal(0, 0.1, shape)


SHAPES: Mapping[str, Draw] = {
    "lognormal, sigma 0.5": _lognormal(0.5),
    "lognormal, sigma 1": _lognormal(1),
    "lognormal, sigma 1.5": _lognormal(1.5),
    "one in ten takes 20 times as long": _seldom(0.1, 20),
    "one in fifty takes 60 times as long": _seldom(0.02, 60),
}
LIMITS = (70.0, 300.0)  # of a trial, which ends there
REGRESSIONS = (
    (0.02, 60.0),
    (0.05, 20.0),
    (0.1, 10.0),
)  # the share of trials that only the new run has longer, and how much


def measure() -> Iterator[Figure]:
    """Simulate; a number at the end of the command line is that of the suites of each kind."""
    rounds = int(sys.argv[-1]) if sys.argv[-1].isdigit() else ROUNDS
    for name, draw in SHAPES.items():
        for limit in LIMITS:
            for count in COUNTS:
                what = f"mean, {name}, limit {limit:g}, {count} samples"
                go, no_go, by_t = means(draw, limit, count, rounds)
                yield Figure(what=f"{what}: wrong GO by Student's t", value=by_t, unit="")
                yield Figure(what=f"{what}: wrong GO", value=go, unit="", at_most=MOST)
                yield Figure(what=f"{what}: wrong NO-GO", value=no_go, unit="", at_most=MOST)
    for share, times in REGRESSIONS:
        for count in COUNTS[1:4]:
            what = f"ratio of means, {share:.0%} take {times:g} times as long, {count} pairs"
            go, no_go = ratios(share, times, count, rounds)
            yield Figure(what=f"{what}: wrong GO", value=go, unit="", at_most=MOST)
            yield Figure(what=f"{what}: wrong NO-GO", value=no_go, unit="", at_most=MOST)
    for share in (0.5, 0.9, 0.95):
        for correlation, sigma in ((0.0, 1.0), (0.5, 1.0), (0.8, 1.0), (0.5, 0.5), (0.5, 1.8)):
            for count in (30, 60, 100, 400):
                if share**count <= ERROR:
                    what = f"ratio of quantiles {share}, correlation {correlation}, sigma {sigma}, {count} pairs"
                    go, no_go = quantiles(share, correlation, sigma, count, rounds)
                    yield Figure(what=f"{what}: wrong GO", value=go, unit="", at_most=MOST)
                    yield Figure(what=f"{what}: wrong NO-GO", value=no_go, unit="", at_most=MOST)


def means(draw: Draw, limit: float, count: int, rounds: int) -> tuple[float, float, float]:
    """Return how often the upper bound lies below the mean, the lower one above it, and Student's below."""
    truth = float(np.minimum(draw(np.random.default_rng(0), (1, 4_000_000)), limit).mean())
    values = np.minimum(draw(np.random.default_rng(count), (rounds, count)), limit)
    above = _chances_below(values - truth, limit - truth) > 1 - ERROR
    below = _chances_below(values - truth, -truth) < ERROR
    for row, is_above, is_below in zip(values[:CHECKED], above, below, strict=False):
        steps = [AmountStep(one, 1.0) for one in row.tolist()]
        found = bounds(steps, ERROR, least=AmountStep(0.0, 1.0), most=AmountStep(limit, 1.0))
        assert found is not None
        assert (found.high < truth, found.low > truth) == (is_above, is_below)
    half = stdtrit(count - 1, 1 - ERROR) * values.std(1, ddof=1) / math.sqrt(count)
    return float(above.mean()), float(below.mean()), float((values.mean(1) + half < truth).mean())


def _chances_below(rows: Numbers, unseen: float) -> Numbers:
    """Return `proctor_ci.stats.amounts.chance_below` of each row and a weight that was not seen."""
    weights = np.column_stack([rows, np.full(len(rows), unseen)])
    least, most = weights.min(1), weights.max(1)
    is_sure, mixed = most <= 0, (least < 0) & (most > 0)
    chances = np.where(is_sure, 1.0, 0.0)
    for start in range(0, len(rows), AT_ONCE):
        part = np.flatnonzero(mixed[start : start + AT_ONCE]) + start
        if part.size:
            chances[part] = _saddlepoints(weights[part])
    for row, chance in zip(weights[:CHECKED].tolist(), chances, strict=False):
        assert abs(chance_below(row) - chance) < 0.001
    return chances


def _saddlepoints(weights: Numbers) -> Numbers:
    low, high = 1 / weights.min(1), 1 / weights.max(1)
    at = np.zeros(len(weights))
    for _ in range(STEPS):
        parts = weights / (1 - at[:, None] * weights)
        slope, curve = parts.sum(1), (parts**2).sum(1)
        low, high = np.where(slope > 0, low, at), np.where(slope > 0, at, high)
        moved = at - slope / curve
        at, before = np.where((low < moved) & (moved < high), moved, (low + high) / 2), at
        if (np.abs(slope) <= CLOSE * np.sqrt(curve)).all():
            at = before
            break
    parts = weights / (1 - at[:, None] * weights)
    curve = (parts**2).sum(1)
    scaled = at * np.sqrt(curve)
    logs = np.maximum(2 * np.log1p(-at[:, None] * weights).sum(1), 0.0)
    root = np.copysign(np.sqrt(logs), at)
    skew = 2 * (parts**3).sum(1) / curve**1.5
    with np.errstate(all="ignore"):
        found = ndtr(root) + np.exp(-root * root / 2) / math.sqrt(2 * math.pi) * (1 / root - 1 / scaled)
    central = 0.5 + (scaled + skew / 6) / math.sqrt(2 * math.pi)
    return np.asarray(np.clip(np.where(np.abs(scaled) < CENTRAL, central, found), 0.0, 1.0))


def ratios(share: float, times: float, count: int, rounds: int) -> tuple[float, float]:
    """Return the same for the ratio of two means, of which only the new run has trials that take so many times longer."""
    source = np.random.default_rng(count)
    before = source.lognormal(0, 0.3, (rounds, count))
    now = before * source.lognormal(0, 0.1, (rounds, count))
    now *= np.where(source.random((rounds, count)) < share, times, 1.0)
    truth = math.exp(0.1**2 / 2) * (1 - share + share * times)
    most = max(float(now.max()), 4 * times)
    apart = now - truth * before
    go, no_go = _chances_below(apart, most) > 1 - ERROR, _chances_below(apart, -truth * most) < ERROR
    return float(go.mean()), float(no_go.mean())


def quantiles(share: float, correlation: float, sigma: float, count: int, rounds: int) -> tuple[float, float]:
    """Return the same for the ratio of two quantiles, by paired draws as in `bound_quantiles`."""
    source, truth, at = np.random.default_rng(count), 1.1, ndtri(share)
    place = share * (count + 1)
    rank = min(math.floor(place), count - 1)
    go = no_go = 0
    for number in range(rounds):
        old, own = source.standard_normal((2, count))
        new = correlation * old + math.sqrt(1 - correlation**2) * own
        before, now = np.exp(old - at), truth * np.exp(sigma * (new - at))
        drawn = source.integers(0, count, (DRAWS, count), dtype=np.uint16)
        over, under = (_quantile_of_draws(one, drawn, rank, place - rank) for one in (now, before))
        found = np.sort(over / under)
        below = max(math.floor(ERROR * (DRAWS + 1)) - 1, 0)
        go, no_go = go + int(found[-1 - below] < truth), no_go + int(found[below] > truth)
        if number < CHECKED:
            pairs = [
                (_values(at, one), _values(at, other)) for at, (one, other) in enumerate(zip(before, now, strict=True))
            ]
            exact = bound_quantiles(pairs, share)(ERROR)
            assert exact is not None
            assert abs(math.log(exact.high / found[-1 - below])) < 0.5
    return go / rounds, no_go / rounds


def _quantile_of_draws(
    values: Numbers, drawn: "np.ndarray[tuple[int, ...], np.dtype[np.uint16]]", rank: int, part: float
) -> Numbers:
    """Return the quantile of each draw; that of the ranks is found first, as it is quicker."""
    ordered = np.sort(values)
    ranks = np.searchsorted(ordered, values).astype(np.uint16)
    found = ordered[np.partition(ranks[drawn], (rank - 1, rank), axis=1)[:, rank - 1 : rank + 1]]
    return np.asarray(found[:, 0] + part * (found[:, 1] - found[:, 0]))


def _values(number: int, seconds: float) -> Values:
    return Values(str(number), {}, 1, [float(seconds)])
