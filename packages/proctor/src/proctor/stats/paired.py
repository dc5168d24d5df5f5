"""Compare two runs on the same samples.

The difference of a pair is first - second. Its interval and the test, by what was measured:

    single 0/1 attempts of independent samples    Bonett-Price; the unconditional exact test, beyond 200 pairs McNemar's
    repeats, points, or clusters                  t over clusters; sign flips by cluster
    the same, but all clusters differ alike       the same limits, of Bonett-Price over clusters; sign flips
    one cluster only                              none
    runs looked at while they went on             betting, at any time: stats.anytime

A pair counts by its weight: those of a draw represent the samples of their stratum (post-stratification). Differing
weights take the place of sizes in the formulas, and sign flips that of McNemar's test, which is exact for equal weights
only. Variances are about the mean of all pairs, not about that of their stratum, which is the wider.

t has Kish's effective number of clusters, K = (Σ n_c)² / Σ n_c², less 1, as degrees of freedom. Where few clusters moved,
its interval is at least as wide as the one of no movement at all among K, which gives way as more of them move: with
m = (Σ |t_c|)² / Σ t_c², from m = 1 to m = 8. Where clusters differ in size, small ones that moved say nothing of large
ones: m is multiplied by the mean size of a cluster over what moved, relative to its mean over all pairs, if that is below
1. However alike clusters moved, it reaches z² / (K + z²) of the value to each side, as Wilson's does for K of K; and
where they moved wholly, as far as Bonett-Price for K of K, which gives way in the same manner as clusters fall short of
that. So a spread of nearly 0 gives the same interval as none.

Interval and test never contradict each other: of the p-values of the test and of the interval the larger one counts, and
is named by where it comes from (sign flips alone find 10 % of skewed differences of nine clusters, where they say 5 %). Where
only the test finds nothing the interval is widened to hold 0. So at any level the interval leaves out 0 exactly when
p_value is at most 1 - level.

Source: Miller 2024, arXiv 2411.00640 (paired, clustered differences); Bonett and Price 2012 (adjusted interval);
Fagerland, Lydersen and Laake 2013 (mid-p); Kish 1965 (effective number); Hoeffding 1963 (a bound on sums of random signs).
"""

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from operator import add
from typing import Literal

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.stats import anytime
from proctor.stats.distributions import beta_cdf, normal_cdf, t_cdf, t_quantile
from proctor.stats.estimate import share_known
from proctor.stats.rate import Interval, checked_level, two_sided_z
from proctor.stats.unconditional import MOST_PAIRS, unconditional_exact

T_OVER_SAMPLES = "t over samples"
T_OVER_CLUSTERS = "t over clusters"
BONETT_PRICE = "Bonett-Price"
BONETT_PRICE_OVER_CLUSTERS = "Bonett-Price over clusters"
ONE_CLUSTER = "no interval: one cluster"
MCNEMAR = "McNemar exact"
UNCONDITIONAL = "unconditional exact"
SIGN_FLIPS = "sign flips by cluster"

_ALL_TRIED = 14  # clusters, of which there are 16,384 patterns of signs
_BLOCK = 8  # clusters whose patterns one random byte chooses from
_DRAWS = 9_999
_DRAWN = 50_000_000  # signs in all, about half a second
_TIED = 1e-9
_COUNTED = 1_000  # moved pairs up to which binomial coefficients are exact; those of a million take seconds
_LEAST_DEGREES = 0.5

Decision = Literal["go", "no_go", "inconclusive"]


class PairedSample(msgspec.Struct, frozen=True, kw_only=True):
    """One sample in both runs: the mean of its scored attempts in each, 0 to 1.

    Attributes:
        weight: for how many pairs this one counts; the mean over all pairs is 1.
        shift: what earlier runs say is to be taken from the difference.

    Raises:
        BadInput: a mean outside 0 to 1, or none.
    """

    cluster: str
    first: float
    second: float
    weight: float = 1.0
    shift: float = 0.0

    def __post_init__(self) -> None:
        for value in (self.first, self.second):
            if not -_TIED <= value <= 1 + _TIED:
                raise BadInput("The values of a pair lie between 0 and 1; one is {value}.", value=value)

    @property
    def difference(self) -> float:
        """Return first - second, less the shift; 0 where only rounding distinguishes them."""
        return _settle(self.first - self.second - self.shift)

    @property
    def observed(self) -> float:
        """Return first - second, without the shift."""
        return _settle(self.first - self.second)


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """The difference between the first run and the second.

    Attributes:
        value: the weighted mean over samples of first - second.
        low, high: its interval; None for one cluster.
        wins, losses, ties: samples where the first run earned more, less, the same.
        p_value, test: the chance of a difference as large if the runs were equal, by which test: that of the interval, where
            it finds less.
        p_mid: McNemar's mid-p, less conservative than the exact test; None where McNemar's test does not apply.
        p_least: the smallest p-value that this number of clusters can have, however clear the difference.
        degrees: of freedom of the standard error; None where the interval does not use t.
        correlation: of the two runs over samples; None where one of them is constant.
        added: variance that is not in the spread of the pairs.
    """

    value: float
    low: float | None
    high: float | None
    level: float
    method: str
    standard_error: float | None
    pairs: int
    clusters: int
    wins: int
    losses: int
    ties: int
    p_value: float
    test: str
    p_mid: float | None
    p_least: float
    degrees: float | None
    correlation: float | None
    added: float = 0.0


def compare(
    pairs: Sequence[PairedSample],
    *,
    level: float = 0.95,
    single: bool = True,
    looked_at: bool = False,
    seed: int = 0,
    added: float = 0.0,
) -> Difference:
    """Estimate the difference of two runs over the samples both have.

    Args:
        single: each value is one attempt; with several attempts McNemar's test does not apply.
        looked_at: a run ended when it did because of what it showed, so that the number of pairs is no fixed one.
        seed: of the sign flips, where there are too many clusters to try all.
        added: variance that is not in the spread of the pairs.

    Raises:
        BadInput: no pair at all.
    """
    if not pairs:
        raise BadInput("The two runs have no scored sample in common, so there is nothing to compare.")
    checked_level(level)
    differences = [pair.observed for pair in pairs]
    value = _settle(math.fsum(pair.weight * pair.difference for pair in pairs) / len(pairs))
    sums = _sums_by_cluster(pairs)
    wins = sum(difference > 0 for difference in differences)
    losses = sum(difference < 0 for difference in differences)
    independent = len(sums) == len(pairs)
    if looked_at:
        return _at_any_time(value, pairs, sums, wins, losses, level)
    is_binary = (
        single
        and independent
        and not any(pair.shift for pair in pairs)
        and all(figure in (0, 1) for pair in pairs for figure in (pair.first, pair.second))
    )
    is_exact = is_binary and all(pair.weight == 1 for pair in pairs)
    heaviness = _heaviness(pairs)
    reach = (
        _bonett_price(sums, heaviness)
        if is_binary
        else _reach(value, sums, heaviness, independent=independent, added=added)
    )
    if not is_exact:
        test, tested = SIGN_FLIPS, sign_flips([total for _, total in sums], seed=seed)
    elif len(pairs) <= MOST_PAIRS:
        test, tested = UNCONDITIONAL, unconditional_exact(wins, losses, len(pairs))
    else:
        test, tested = MCNEMAR, mcnemar_exact(wins, losses)
    low, high = (None, None) if reach is None else reach.ends(value, level, tested)
    by_interval = None if reach is None else reach.p_value()
    return Difference(
        value=value,
        low=low,
        high=high,
        level=level,
        method=ONE_CLUSTER if reach is None else reach.method,
        standard_error=_standard_error(value, sums, len(pairs)),
        pairs=len(pairs),
        clusters=len(sums),
        wins=wins,
        losses=losses,
        ties=len(pairs) - wins - losses,
        p_value=tested if by_interval is None else max(tested, by_interval),
        test=test if reach is None or by_interval is None or by_interval <= tested else reach.method,
        p_mid=mcnemar_mid_p(wins, losses) if is_exact else None,
        p_least=0.5 ** (len(sums) - 1),
        degrees=None if reach is None else reach.degrees,
        correlation=_correlation(pairs),
        added=added,
    )


def anytime_bounds(pairs: Sequence[PairedSample], error: float) -> Interval:
    """Return bounds of the difference, each wrong with a chance of at most `error` at any number of looks."""
    return anytime.bounds(_steps(_sums_by_cluster(pairs)), error, low=-1.0)


def at_level(difference: Difference, pairs: Sequence[PairedSample], level: float) -> Difference:
    """Return the difference with its interval at another level, without testing again."""
    checked_level(level)
    sums = _sums_by_cluster(pairs)
    if difference.method == anytime.ANYTIME:
        interval = anytime_bounds(pairs, (1 - level) / 2)
        return replace(difference, low=interval.low, high=interval.high, level=level)
    independent = len(sums) == len(pairs)
    heaviness = _heaviness(pairs)
    if difference.method == BONETT_PRICE:
        reach: _Reach | None = _bonett_price(sums, heaviness)
    else:
        reach = _reach(difference.value, sums, heaviness, independent=independent, added=difference.added)
    if reach is None:
        return difference
    low, high = reach.ends(difference.value, level, difference.p_value)
    return replace(difference, low=low, high=high, level=level)


def mcnemar_exact(wins: int, losses: int) -> float:
    """Return the two-sided p-value of a fair coin that came up `wins` and `losses` times; ties are ignored.

    >>> round(mcnemar_exact(1, 9), 7)
    0.0214844
    """
    return min(1.0, 2 * _coin_at_most(min(wins, losses), wins + losses))


def mcnemar_mid_p(wins: int, losses: int) -> float:
    """Return McNemar's mid-p, which counts half of the observed outcome: right on average, where the exact test is conservative.

    >>> round(mcnemar_mid_p(1, 9), 7)
    0.0117188
    """
    fewer, count = min(wins, losses), wins + losses
    return min(1.0, 2 * _coin_at_most(fewer, count) - _coin_at(fewer, count))


def sign_flips(sums: Sequence[float], *, seed: int = 0, draws: int | None = None) -> float:
    """Return the two-sided p-value of a sum of differences, one for each cluster, by flipping the signs of clusters.

    All patterns are tried for up to 14 clusters that differ, else random ones (`draws`, by default 9,999, and
    fewer beyond 5,000 clusters), and the p-value is (hits + 1) / (draws + 1), which is never 0. Where Hoeffding's bound is
    below that, it is the bound: else no difference, however clear, would outlast the correction for many slices.

    >>> sign_flips([1.0, 1.0, 1.0, 1.0, 1.0])
    0.0625
    """
    moved = sorted(abs(total) for total in sums if total)  # the answer depends on no order and no direction
    observed = abs(math.fsum(sums)) - _TIED * math.fsum(moved)
    if len(moved) <= _ALL_TRIED:
        patterns = _signed_sums(moved)
        return sum(map(observed.__le__, map(abs, patterns))) / len(patterns)
    if draws is None:
        draws = max(min(_DRAWS, _DRAWN // len(moved)), 999)
    moved += [0.0] * (-len(moved) % _BLOCK)
    tables = [_signed_sums(moved[start : start + _BLOCK]) for start in range(0, len(moved), _BLOCK)]
    totals = [0.0] * draws
    for table, column in zip(tables, _drawn_bytes(len(tables), draws, seed), strict=True):
        totals = [*map(add, totals, map(table.__getitem__, column))]
    hits = sum(map(observed.__le__, map(abs, totals)))
    bound = 2 * math.exp(-(observed**2) / (2 * math.fsum(value * value for value in moved)))
    return min((hits + 1) / (draws + 1), bound)


def _drawn_bytes(width: int, draws: int, seed: int) -> Iterator[bytes]:
    """Yield the first byte of all draws, then the second, up to `width`: those of a `randbytes(width)` for each draw.

    Drawn at one go, at half of the cost. A draw takes whole words of four bytes, and of the last its highest ones.
    """
    words = -(-width // 4)
    drawn = random.Random(seed).randbytes(4 * words * draws)  # noqa: S311 - a test must give the same answer again
    for index in range(width):
        skipped = -width % 4 if index >= 4 * (words - 1) else 0
        yield drawn[index + skipped :: 4 * words]


def non_inferior(difference: Difference, margin: float) -> Decision:
    """Test whether first (new) is no worse than second (old) by more than a margin.

    `go` when the whole interval lies above -margin, `no_go` when it lies below, else `inconclusive`: a difference that
    is not significant is not thereby safe.
    """
    if difference.low is None or difference.high is None:
        return "inconclusive"
    if difference.low > -margin:
        return "go"
    return "no_go" if difference.high < -margin else "inconclusive"


def _at_any_time(
    value: float,
    pairs: Sequence[PairedSample],
    sums: Sequence[tuple[float, float]],
    wins: int,
    losses: int,
    level: float,
) -> Difference:
    """Return the difference with an interval and a p-value that hold for any number of looks."""
    steps = _steps(sums)
    interval = anytime_bounds(pairs, (1 - level) / 2) if len(sums) > 1 else None
    return Difference(
        value=value,
        low=None if interval is None else min(interval.low, value),
        high=None if interval is None else max(interval.high, value),
        level=level,
        method=ONE_CLUSTER if interval is None else anytime.ANYTIME,
        standard_error=None,
        pairs=len(pairs),
        clusters=len(sums),
        wins=wins,
        losses=losses,
        ties=len(pairs) - wins - losses,
        p_value=1.0 if interval is None else anytime.p_value(steps),
        test=anytime.ANYTIME,
        p_mid=None,
        p_least=anytime.p_value([(1.0, weight) for _, weight in steps]),
        degrees=None,
        correlation=_correlation(pairs),
    )


def _steps(sums: Sequence[tuple[float, float]]) -> list[anytime.Step]:
    return [(total / size, size) for size, total in sums]


def _sums_by_cluster(pairs: Iterable[PairedSample]) -> list[tuple[float, float]]:
    """Return the weight of each cluster, and the weighted sum of its differences."""
    sums: dict[str, tuple[float, float]] = {}
    for pair in pairs:
        size, total = sums.get(pair.cluster, (0.0, 0.0))
        sums[pair.cluster] = (size + pair.weight, total + pair.weight * pair.difference)
    return [(size, _settle(total)) for size, total in sums.values()]


def _heaviness(pairs: Sequence[PairedSample]) -> float:
    """Return the typical weight of the pairs that most of the variance comes from: Σ w³ / Σ w²."""
    return math.fsum(pair.weight**3 for pair in pairs) / math.fsum(pair.weight**2 for pair in pairs)


def _settle(difference: float) -> float:
    return difference if abs(difference) > _TIED else 0.0


def _standard_error(value: float, sums: Sequence[tuple[float, float]], count: float) -> float | None:
    clusters = len(sums)
    if clusters == 1:
        return None
    residuals = math.fsum((total - size * value) ** 2 for size, total in sums)
    if residuals <= (_TIED * count) ** 2:
        return 0.0
    return math.sqrt(residuals * clusters / (clusters - 1)) / count


class _Reach(msgspec.Struct, frozen=True, kw_only=True):
    """How far the interval of a difference reaches from its centre.

    Attributes:
        error: standard errors are multiplied with the quantile of t with `degrees`, or the normal one.
        least: the same for the normal quantile, of the interval that no movement at all would have.
        clusters: as many of equal size say as much.
        rest_known: how far the spread is known of what clusters lack to a whole win (or loss), 0 to 1.
    """

    method: str
    centre: float
    error: float
    degrees: float | None = None
    least: float = 0.0
    clusters: float = math.inf
    rest_known: float = 1.0

    def ends(self, value: float, level: float, tested: float) -> tuple[float, float]:
        """Return the interval at a level; it holds the value, and 0 where the test does not find a difference."""
        z = two_sided_z(level)
        half = max(
            (z if self.degrees is None else t_quantile(0.5 + level / 2, self.degrees)) * self.error,
            z * self.least,
            abs(self.centre) * z * z / (self.clusters + z * z),
        )
        low = min(max(self.centre - half, -1.0), value)
        high = max(min(self.centre + half, 1.0), value)
        if self.rest_known < 1:
            whole = _alike(1.0, self.clusters)
            nearest = self.rest_known + (1 - self.rest_known) * (whole.centre - z * whole.error)
            low, high = (min(low, nearest), high) if value > 0 else (low, max(high, -nearest))
        return (min(low, 0.0), max(high, 0.0)) if tested > 1 - level else (low, high)

    def p_value(self) -> float:
        """Return 1 - the level at which the interval begins to hold 0."""
        far = abs(self.centre)
        if far == 0:
            return 1.0
        value = normal_cdf(-far / self.least) if self.least else 0.0
        if self.error:
            errors = far / self.error
            value = max(value, normal_cdf(-errors) if self.degrees is None else t_cdf(-errors, self.degrees))
        if self.rest_known < 1:
            whole = _alike(1.0, self.clusters)
            value = max(value, normal_cdf(-(self.rest_known / (1 - self.rest_known) + whole.centre) / whole.error))
        return 2 * value


def _reach(
    value: float, sums: Sequence[tuple[float, float]], heaviness: float, *, independent: bool, added: float = 0.0
) -> _Reach | None:
    """Compute the reach for differences other than of single 0/1 attempts; None for one cluster, which shows no spread."""
    clusters = len(sums)
    count = math.fsum(size for size, _ in sums)
    error = _standard_error(value, sums, count)
    if error is None:
        return None
    kish = count**2 / math.fsum(size * size for size, _ in sums)
    alike = min(kish, clusters / heaviness)
    by_spread = T_OVER_SAMPLES if independent else T_OVER_CLUSTERS
    return _Reach(
        method=by_spread if error else BONETT_PRICE_OVER_CLUSTERS,
        centre=value,
        error=math.sqrt(error**2 + added),
        degrees=max(kish - 1, _LEAST_DEGREES),
        least=(1 - _known([(size, abs(total)) for size, total in sums])) * _alike(0.0, alike).error,
        clusters=alike,
        rest_known=_known([(size, max(size - math.copysign(total, value * total), 0.0)) for size, total in sums]),
    )


def _known(sums: Sequence[tuple[float, float]]) -> float:
    """Return how far the spread of amounts, each of a cluster of a size, is known, that of large clusters too (0 to 1)."""
    total, squares = math.fsum(value for _, value in sums), math.fsum(value * value for _, value in sums)
    if total <= _TIED:
        return 0.0
    sizes, whole = math.fsum(size * size for size, _ in sums), math.fsum(size for size, _ in sums)
    relative_size = math.fsum(size * value for size, value in sums) / total * whole / sizes
    return share_known(total, squares, sizes, size=relative_size)


def _bonett_price(sums: Sequence[tuple[float, float]], heaviness: float) -> _Reach:
    """Compute the reach for single 0/1 attempts: with one win and one loss more than observed."""
    seen = [*sums, (heaviness, heaviness), (heaviness, -heaviness)]
    whole = math.fsum(size for size, _ in seen)
    centre = math.fsum(total for _, total in seen) / whole
    residuals = math.fsum((total - size * centre) ** 2 for size, total in seen)
    return _Reach(method=BONETT_PRICE, centre=centre, error=math.sqrt(residuals) / whole)


def _alike(value: float, clusters: float) -> _Reach:
    """Compute the reach where this share of clusters won wholly (or lost), and no other moved."""
    count = clusters + 2
    centre = clusters * value / count
    error = math.sqrt(((clusters * abs(value) + 2) / count - centre**2) / count)
    return _Reach(method=BONETT_PRICE_OVER_CLUSTERS, centre=centre, error=error)


def _correlation(pairs: Sequence[PairedSample]) -> float | None:
    first_mean = math.fsum(pair.first for pair in pairs) / len(pairs)
    second_mean = math.fsum(pair.second for pair in pairs) / len(pairs)
    first = [pair.first - first_mean for pair in pairs]
    second = [pair.second - second_mean for pair in pairs]
    lengths = math.hypot(*first) * math.hypot(*second)
    if lengths <= _TIED:
        return None
    return math.fsum(x * y for x, y in zip(first, second, strict=True)) / lengths


def _signed_sums(numbers: Sequence[float]) -> list[float]:
    sums = [0.0]
    for number in numbers:
        sums = [value + sign for value in sums for sign in (number, -number)]
    return sums


def _coin_at(heads: int, throws: int) -> float:
    if throws <= _COUNTED:
        return math.comb(throws, heads) / (1 << throws)
    ways = math.lgamma(throws + 1) - math.lgamma(heads + 1) - math.lgamma(throws - heads + 1)
    return math.exp(ways - throws * math.log(2))


def _coin_at_most(heads: int, throws: int) -> float:
    return beta_cdf(0.5, throws - heads, heads + 1) if heads < throws else 1.0
