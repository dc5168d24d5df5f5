"""Compare two runs on the same samples.

The difference of a pair is first - second. Its interval is t over clusters of the differences, which is narrower than
two unpaired intervals wherever both runs find the same samples hard. Whether it could be chance is asked without
assuming a distribution: McNemar's test for single 0/1 attempts of independent samples, else sign flips by cluster.

Source: Miller 2024, arXiv 2411.00640 (paired, clustered differences); Fagerland, Lydersen and Laake 2013 (mid-p);
Bonett and Price 2012 (adjusted interval, used where all clusters differ by the same and t has no spread); Hoeffding 1963
(a bound on sums of random signs).
"""

import math
import random
from array import array
from collections.abc import Iterable, Sequence
from operator import getitem
from typing import Literal

import msgspec

from proctor.core.errors import BadInput
from proctor.stats.distributions import beta_cdf, t_cdf, t_quantile
from proctor.stats.rate import Interval, checked_level, two_sided_z

T_OVER_SAMPLES = "t over samples"
T_OVER_CLUSTERS = "t over clusters"
BONETT_PRICE = "Bonett-Price over clusters"
ONE_CLUSTER = "no interval: one cluster"
MCNEMAR = "McNemar mid-p"
SIGN_FLIPS = "sign flips by cluster"

_ALL_TRIED = 14  # clusters, of which there are 16,384 patterns of signs
_BLOCK = 8  # clusters whose patterns one random byte chooses from
_DRAWS = 9_999
_DRAWN = 50_000_000  # signs in all, about half a second
_TIED = 1e-9

Decision = Literal["go", "no_go", "inconclusive"]


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """One sample in both runs: the mean of its scored attempts in each."""

    cluster: str
    first: float
    second: float

    @property
    def difference(self) -> float:
        """first - second; 0 where only rounding tells them apart."""
        return _settled(self.first - self.second)


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """How the first run differs from the second.

    Attributes:
        value: the mean over samples of first - second.
        low, high: its interval; None for one cluster.
        wins, losses, ties: samples where the first run earned more, less, the same.
        p_value, test: the chance of a difference as large if the runs were equal, and by which test.
        p_exact: the exact McNemar test, conservative, for gates; None where McNemar's test does not apply.
        p_t: the t test over clusters; None where the clusters have no spread.
        correlation: of the two runs over samples; None where one of them is constant.
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
    p_exact: float | None
    p_t: float | None
    correlation: float | None


def compare(pairs: Sequence[Pair], *, level: float = 0.95, single: bool = True, seed: int = 0) -> Difference:
    """The difference of two runs over the samples both have.

    Args:
        single: each value is one attempt; with several attempts McNemar's test does not apply.
        seed: of the sign flips, where there are too many clusters to try all.

    Raises:
        BadInput: no pair at all.
    """
    if not pairs:
        raise BadInput("The two runs have no scored sample in common, so there is nothing to compare.")
    checked_level(level)
    differences = [pair.difference for pair in pairs]
    value = _settled(math.fsum(differences) / len(pairs))
    sums = _sums_by_cluster(pairs)
    error = _standard_error(value, sums, len(pairs))
    independent = len(sums) == len(pairs)
    wins = sum(difference > 0 for difference in differences)
    losses = sum(difference < 0 for difference in differences)
    is_binary = single and independent and all(one in (0, 1) for pair in pairs for one in (pair.first, pair.second))
    method, interval = _interval(value, error, len(sums), independent=independent, level=level)
    return Difference(
        value=value,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        level=level,
        method=method,
        standard_error=error,
        pairs=len(pairs),
        clusters=len(sums),
        wins=wins,
        losses=losses,
        ties=len(pairs) - wins - losses,
        p_value=mcnemar_mid_p(wins, losses) if is_binary else sign_flips([total for _, total in sums], seed=seed),
        test=MCNEMAR if is_binary else SIGN_FLIPS,
        p_exact=mcnemar_exact(wins, losses) if is_binary else None,
        p_t=2 * t_cdf(-abs(value) / error, len(sums) - 1) if error else None,
        correlation=_correlation(pairs),
    )


def mcnemar_exact(wins: int, losses: int) -> float:
    """Two-sided p-value of a fair coin that came up `wins` and `losses` times; ties say nothing.

    >>> round(mcnemar_exact(1, 9), 7)
    0.0214844
    """
    return min(1.0, 2 * _coin_at_most(min(wins, losses), wins + losses))


def mcnemar_mid_p(wins: int, losses: int) -> float:
    """The same, counting half of the outcome seen: right on average, where the exact test is conservative.

    >>> round(mcnemar_mid_p(1, 9), 7)
    0.0117188
    """
    fewer, count = min(wins, losses), wins + losses
    return min(1.0, 2 * _coin_at_most(fewer, count) - math.comb(count, fewer) / (1 << count))


def sign_flips(sums: Sequence[float], *, seed: int = 0, draws: int | None = None) -> float:
    """Two-sided p-value of a sum of differences, one for each cluster, by flipping the signs of clusters.

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
        return sum(abs(one) >= observed for one in patterns) / len(patterns)
    if draws is None:
        draws = max(min(_DRAWS, _DRAWN // len(moved)), 999)
    moved += [0.0] * (-len(moved) % _BLOCK)
    tables = [array("d", _signed_sums(moved[start : start + _BLOCK])) for start in range(0, len(moved), _BLOCK)]
    source = random.Random(seed)  # noqa: S311 - a test must give the same answer again
    hits = 0
    for _ in range(draws):
        hits += abs(sum(map(getitem, tables, source.randbytes(len(tables))))) >= observed
    bound = 2 * math.exp(-(observed**2) / (2 * math.fsum(one * one for one in moved)))
    return min((hits + 1) / (draws + 1), bound)


def non_inferior(difference: Difference, margin: float) -> Decision:
    """Whether first (new) is no worse than second (old) by more than a margin.

    `go` when the whole interval lies above -margin, `no_go` when it lies below, else `inconclusive`: a difference that
    is not significant is not thereby safe.
    """
    if difference.low is None or difference.high is None:
        return "inconclusive"
    if difference.low > -margin:
        return "go"
    return "no_go" if difference.high < -margin else "inconclusive"


def _sums_by_cluster(pairs: Iterable[Pair]) -> list[tuple[int, float]]:
    """How many samples each cluster has, and the sum of their differences."""
    sums: dict[str, tuple[int, float]] = {}
    for pair in pairs:
        size, total = sums.get(pair.cluster, (0, 0.0))
        sums[pair.cluster] = (size + 1, total + pair.difference)
    return [(size, _settled(total)) for size, total in sums.values()]


def _settled(difference: float) -> float:
    return difference if abs(difference) > _TIED else 0.0


def _standard_error(value: float, sums: Sequence[tuple[int, float]], count: int) -> float | None:
    clusters = len(sums)
    if clusters == 1:
        return None
    residuals = math.fsum((total - size * value) ** 2 for size, total in sums)
    if residuals <= (_TIED * count) ** 2:
        return 0.0
    return math.sqrt(residuals * clusters / (clusters - 1)) / count


def _interval(
    value: float, error: float | None, clusters: int, *, independent: bool, level: float
) -> tuple[str, Interval | None]:
    if error is None:
        return ONE_CLUSTER, None
    if error > 0:
        half = t_quantile(0.5 + level / 2, clusters - 1) * error
        return (T_OVER_SAMPLES if independent else T_OVER_CLUSTERS), _within(value, value, half)
    more, fewer = (1 + clusters * max(value, 0.0)) / (clusters + 2), (1 + clusters * max(-value, 0.0)) / (clusters + 2)
    spread = math.sqrt((more + fewer - (more - fewer) ** 2) / (clusters + 2))
    return BONETT_PRICE, _within(more - fewer, value, two_sided_z(level) * spread)


def _within(centre: float, value: float, half: float) -> Interval:
    return Interval(low=min(max(centre - half, -1.0), value), high=max(min(centre + half, 1.0), value))


def _correlation(pairs: Sequence[Pair]) -> float | None:
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
        sums = [one + sign for one in sums for sign in (number, -number)]
    return sums


def _coin_at_most(heads: int, throws: int) -> float:
    return beta_cdf(0.5, throws - heads, heads + 1) if heads < throws else 1.0
