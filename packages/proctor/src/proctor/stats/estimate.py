"""Compute numbers with intervals from the sums of a run.

The value is the mean over samples of each sample's mean over its scored attempts. Its interval, by what was measured:

    one 0/1 attempt of independent samples        Wilson
    several attempts, points, or clusters         Wilson on an effective number of samples, with t
    the same, but all clusters earned the same    Wilson over Kish's number of clusters: the standard error is 0
    one cluster only                              none

    SE² = G / (G - 1) · Σ_c (t_c - n_c · value)² / n²       over G clusters of n_c samples that earned t_c in all

With one sample in each cluster this is the plain SE² = Σ (x - value)² / (n (n - 1)). The effective number of samples is
value · (1 - value) / SE², for 0/1 at most the number of trials; t has Kish's effective number of clusters
K = (Σ n_c)² / Σ n_c², less 1, as degrees of freedom, which for clusters of equal size is G - 1. Where clusters differ in size,
SE counts (1 - 1 / G) / (1 - 1 / K) times in it: a large one pulls the mean towards itself.

Near 0 and 1 the standard error rests on the few clusters that are not perfect. So a lower end lies no higher than where
all clusters are perfect, K / (K + z²), and an upper end accordingly: 99 of 100 is never surer than 100
of 100. For points and for clusters that bound gives way as more clusters lose something: with m = (Σ loss)² / Σ loss²,
from none at m = 1 to all of it at m = 8 (m = 21 for points of independent samples, which may be more skewed: 20 of them
covered 87 %). Where clusters differ in size, small ones that lost say nothing of large ones: m is
multiplied by the mean size of a cluster over the points lost, relative to its mean over all samples, if that is below 1.

The few large values of skewed points (or the few large losses) may all be missing from the samples, which then look both
better known and further from them than they are. How skewed points are cannot be seen in so few, so each end takes t times
1 + 2.5 · CV³ · (1 + 2t²) / (6t · √K), Johnson's correction for a skewness of 2.5 · CV³ with CV the spread over what was earned (or
lost): about that of lognormal points. It goes at most half way to the greatest skewness of values up to 1 with their spread s,
(1 - value - s² / (1 - value)) / s, and is never wider than right and wrong samples of the same mean. With 50 lognormal
points (sigma 1.4, mean 0.08) the interval covers 95 % so, and 90 % without.

Coverage of 95 % in the settings of `tests/stats/test_coverage.py`: 92 to 99.5 %; in those of `bench/clusters.py`, where whole
clusters are right or wrong: 92.5 to 99 %.

Source: Miller 2024, "Adding Error Bars to Evals", arXiv 2411.00640, the sandwich form of the clustered error; small
samples after Bowyer, Aitchison and Ivanova 2025, arXiv 2503.01747; the effective number after Korn and Graubard 1998
and Dean and Pagano 2015; the degrees of freedom after Kish 1965; the skewness after Johnson 1978.
"""

import math
from collections.abc import Sequence

import msgspec

from proctor.core.errors import BadInput
from proctor.core.run import Estimate
from proctor.core.sentence import Sentence
from proctor.core.tally import Tally
from proctor.stats.distributions import t_quantile
from proctor.stats.rate import Interval, checked_level, two_sided_z, wilson

WILSON = "Wilson"
WILSON_OVER_CLUSTERS = "Wilson over clusters"
OVER_SAMPLES = "Wilson with t over samples"
OVER_CLUSTERS = "Wilson with t over clusters"
STRATA = "weighted strata"
STRATA_WILSON = "weighted strata, Wilson"
STRATA_T = "weighted strata, Wilson with t"
NOTHING_SCORED = "nothing scored"
ONE_SAMPLE = "no interval: one sample"
ONE_CLUSTER = "no interval: one cluster"
PART_MISSING = "no value: a part is missing"
PART_WITHOUT_INTERVAL = "no interval: a part has none"

_ROUNDING = 1e-12  # what is left of a sum of squares when all are equal
_BLURRED = 1e-6  # a share of the whole sum of squares, from which losses are more than what rounding leaves
_SPREAD_OUT = 7.0  # clusters with losses beyond the first, from which their standard error is taken at its word
_POINTS_SPREAD_OUT = 20.0  # the same for points, which may be more skewed than rates
_SKEWNESS = 2.5  # of points, as a multiple of their coefficient of variation to the third
_LEAST_DEGREES = 0.5  # where one cluster is nearly all; the interval is then nearly the whole scale
_FEW = 40  # effective successes or failures from which the normal interval of strata covers what it says


class _Spread(msgspec.Struct, frozen=True, kw_only=True):
    """The uncertainty of a value; None where a single cluster cannot show it."""

    method: str
    standard_error: float | None = None
    degrees: float | None = None
    interval: Interval | None = None
    loss_size: float | None = None
    partial: bool = False


class ClusterSums(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over clusters c of size n_c that earned t_c: of n_c, t_c, t_c squared, n_c t_c, n_c squared."""

    clusters: int
    size: float
    total: float
    squares: float
    cross: float
    sizes: float

    @property
    def kish(self) -> float:
        """Return the number of clusters of equal size that would say as much."""
        return self.size**2 / self.sizes if self.sizes else float(self.clusters)

    @property
    def lost(self) -> "ClusterSums":
        """Return the same sums of what the clusters lost."""
        return msgspec.structs.replace(
            self,
            total=self.size - self.total,
            squares=self.sizes - 2 * self.cross + self.squares,
            cross=self.sizes - self.cross,
        )

    @property
    def relative_size(self) -> float:
        """Return the mean size of a cluster over what was earned, relative to its mean over all samples."""
        if self.total <= _BLURRED * self.size:
            return 1.0
        return max(self.cross * self.size / (self.total * self.sizes), 0.0)

    def known(self, spread_out: float = _SPREAD_OUT) -> float:
        """Return how far the spread of what clusters earned is known, large ones too (0 to 1)."""
        return share_known(self.total, self.squares, self.sizes, size=self.relative_size, spread_out=spread_out)


def metrics(
    tally: Tally, *, slice: str = "", prefix: str = "", level: float = 0.95, whole: Tally | None = None
) -> list[Estimate]:
    """Compute the metrics of one scorer: `accuracy` of a 0/1 scorer, else `score` (mean value) and `points` (sum over out_of).

    Args:
        prefix: put before each name, such as 'exact.'.
        whole: the tally of the whole run, which decides the names of its slices; default: this one.
    """
    if is_rate(tally if whole is None else whole):
        return [estimate(f"{prefix}accuracy", tally, slice=slice, level=level)]
    score = estimate(f"{prefix}score", tally, slice=slice, level=level)
    return [score, points(f"{prefix}points", tally, score)]


def is_rate(tally: Tally) -> bool:
    """True if all scores are right or wrong, each trial being out of 1."""
    return tally.all_or_nothing and tally.out_of in (0, tally.scored)  # 0: the maxima were not added up


def estimate(name: str, tally: Tally, *, slice: str = "", level: float = 0.95) -> Estimate:
    """Estimate the mean over samples, with an interval within 0 to 1.

    `floor` and `ceiling` are the value if every planned trial without a score had been 0, or 1: the sum of the values
    scored (and of the ones missing) over the trials planned, every sample being planned equally often. The sum is
    that of points where each trial is out of 1. Only where several attempts have different maxima and some are
    missing is it unknown; the missing ones are then taken to be spread evenly over the samples.

    Raises:
        BadInput: the level does not lie between 0 and 1.
    """
    value = tally.total / tally.samples if tally.samples else None
    spread = _Spread(method=NOTHING_SCORED) if value is None else _of_tally(value, tally, checked_level(level))
    floor, ceiling = _bounds(value, tally)
    return Estimate(
        name=name,
        slice=slice,
        value=value,
        low=spread.interval.low if spread.interval else None,
        high=spread.interval.high if spread.interval else None,
        level=level,
        method=spread.method,
        scored=tally.scored,
        planned=tally.planned,
        clusters=tally.clusters,
        floor=floor,
        ceiling=ceiling,
        standard_error=spread.standard_error,
        degrees=spread.degrees,
        loss_size=spread.loss_size,
        partial=spread.partial,
    )


def points(name: str, tally: Tally, score: Estimate) -> Estimate:
    """Estimate the points over the possible points; unscored trials count as worth the mean of the scored ones.

    The interval is that of a ratio (linearised) over samples or clusters, whose sizes are their maxima.
    """
    value = min(tally.points / tally.out_of, 1.0) if tally.out_of else None
    share = tally.scored / tally.planned if 0 < tally.scored < tally.planned else 1.0
    spread = _Spread(method=NOTHING_SCORED)
    if value is not None:
        sums = ClusterSums(
            clusters=tally.clusters,
            size=tally.out_of,
            total=tally.points,
            squares=tally.point_squares,
            cross=tally.point_cross,
            sizes=tally.out_of_squares,
        )
        spread = _over_clusters(value, sums, score.level, independent=tally.clusters == tally.samples, trials=math.inf)
    return msgspec.structs.replace(
        score,
        name=name,
        value=value,
        low=spread.interval.low if spread.interval else None,
        high=spread.interval.high if spread.interval else None,
        method=spread.method,
        floor=score.floor if value is None else value * share,
        ceiling=score.ceiling if value is None else max(value * share + 1 - share, value),
        standard_error=spread.standard_error,
        degrees=spread.degrees,
        loss_size=spread.loss_size,
        partial=spread.partial,
    )


def combine(
    name: str, slice: str, parts: Sequence[tuple[float, Estimate]], *, level: float = 0.95, note: str | Sentence = ""
) -> Estimate:
    """Estimate the weighted mean of strata: SE² = Σ w² SE_c², the weights scaled to sum to 1.

    While a part has no value there is none of the whole, but `floor` and `ceiling` still bound it.

    The interval is normal where strata of rates are large. With few effective successes or failures,
    n·min(value, 1 - value) < 40 for n = 1 / Σ (w² / n_c), it is Wilson's for n (or for the number that the standard
    error speaks of, if that is fewer): the plain standard errors of small strata are too small, and covered 74 % in
    10 strata of 2 samples (rate 0.8), where this covers 95 %. Where standard errors of parts were estimated from the
    spread of samples or clusters, it is Wilson's for the number that the whole error speaks of, with t and
    Satterthwaite's degrees.

    Raises:
        BadInput: a weight below 0, or no weight at all.
    """
    total = math.fsum(weight for weight, _ in parts)
    if not (0 < total < math.inf and all(weight >= 0 for weight, _ in parts)):
        raise BadInput("The weights of {name} must be 0 or more, and not all 0.", name=name)
    shares = [(weight / total, part) for weight, part in parts if weight]
    values = [share * part.value for share, part in shares if part.value is not None]
    value = min(math.fsum(values), 1.0) if len(values) == len(shares) else None
    floor = math.fsum(share * _first(part.floor, part.value, 0.0) for share, part in shares)
    ceiling = math.fsum(share * _first(part.ceiling, part.value, 1.0) for share, part in shares)
    spread = _Spread(method=PART_MISSING) if value is None else _of_parts(value, shares, checked_level(level))
    return Estimate(
        name=name,
        slice=slice,
        value=value,
        low=spread.interval.low if spread.interval else None,
        high=spread.interval.high if spread.interval else None,
        level=level,
        method=spread.method,
        scored=sum(part.scored for _, part in shares),
        planned=sum(part.planned for _, part in shares),
        clusters=sum(part.clusters for _, part in shares),
        floor=min(floor, _first(value, floor)),
        ceiling=max(min(ceiling, 1.0), _first(value, 0.0)),
        standard_error=spread.standard_error,
        degrees=spread.degrees,
        note=note,
    )


def _of_tally(value: float, tally: Tally, level: float) -> _Spread:
    independent = tally.clusters == tally.samples
    if tally.binary and independent:
        error = math.sqrt(max(value * (1 - value), 0.0) / tally.samples)
        return _Spread(method=WILSON, standard_error=error, interval=wilson(value, tally.samples, level))
    sums = ClusterSums(
        clusters=tally.clusters,
        size=tally.samples,
        total=tally.total,
        squares=tally.squares,
        cross=tally.cross,
        sizes=tally.sizes,
    )
    trials = tally.scored if tally.all_or_nothing else math.inf
    return _over_clusters(value, sums, level, independent=independent, trials=trials)


def _over_clusters(value: float, sums: ClusterSums, level: float, *, independent: bool, trials: float) -> _Spread:
    if sums.clusters == 1:
        return _Spread(method=ONE_SAMPLE if independent else ONE_CLUSTER)
    error = _sandwich(value, sums)
    degrees = max(sums.kish - 1, _LEAST_DEGREES)
    # large clusters pull the mean towards themselves, so their residuals are too small
    wider = error * (1 - 1 / sums.clusters) * (1 + 1 / degrees)
    count = value * (1 - value) / wider**2 if error else 0.0
    if count <= 0:
        interval = wilson(value, sums.kish, level)
        return _Spread(method=WILSON_OVER_CLUSTERS, standard_error=0.0, degrees=degrees, interval=interval)
    quantile, partial = t_quantile(0.5 + level / 2, degrees), trials == math.inf
    interval = wilson(value, min(count, trials), quantile=quantile)
    if partial:
        interval = allow_for_skewness(value, count, sums.kish, quantile)
    losses = gains = 0.0
    if not independent or partial:
        spread_out = _POINTS_SPREAD_OUT if partial else _SPREAD_OUT
        losses, gains = sums.lost.known(spread_out), sums.known(spread_out)
    return _Spread(
        method=OVER_SAMPLES if independent else OVER_CLUSTERS,
        standard_error=error,
        degrees=degrees,
        interval=no_surer(interval, sums.kish, level, losses, gains),
        loss_size=None if independent else sums.lost.relative_size,
        partial=partial,
    )


def allow_for_skewness(value: float, count: float, alike: float, quantile: float) -> Interval:
    """Return the interval of points that say as much as `count` right or wrong samples, each end with its own skewness."""
    lower, upper = (count_of_skewed(share, count, alike, quantile) for share in (1 - value, value))
    return Interval(
        low=wilson(value, lower, quantile=quantile).low,
        high=wilson(value, upper, quantile=quantile).high,
    )


def count_of_skewed(value: float, count: float, alike: float, quantile: float, *, skewness: float = _SKEWNESS) -> float:
    """Return how many right or wrong samples points of this mean say as much as, at the end away from 0.

    Args:
        count: as many as their spread speaks of.
        alike: clusters of equal size that would say as much.
    """
    room = 1 - value
    if not room:  # a mean that rounds to 1 leaves no spread to speak of
        return min(count, alike)
    relative = math.sqrt(room / value * alike / count)
    spread = relative * value
    greatest = (room - spread**2 / room) / spread  # of values up to 1: some are 1, all others alike
    binary = (room - value) * spread / (room * value)  # what the form of Wilson's interval has already
    more = min(skewness * relative**3, max(greatest - binary, 0.0) / 2) * (1 + 2 * quantile**2) / (6 * math.sqrt(alike))
    return max(count * (quantile / (quantile + more)) ** 2, min(count, alike))


def no_surer(interval: Interval, count: float, level: float, losses: float, gains: float) -> Interval:
    """Widen the interval to at least that of no variation, as far as the spread of losses (gains) is not known."""
    full, none = wilson(1.0, count, level), wilson(0.0, count, level)
    return Interval(
        low=min(interval.low, full.low + losses * (1 - full.low)),
        high=max(interval.high, none.high - gains * none.high),
    )


def share_known(
    total: float, squares: float, scale: float = 1.0, *, size: float = 1.0, spread_out: float = _SPREAD_OUT
) -> float:
    """Return how far the spread of what clusters lost (or earned) is known: 0 from one cluster, 1 from eight equal ones.

    Args:
        size: the mean size of a cluster over what was lost, relative to its mean over all samples.
        spread_out: how many beyond the first make it known.
    """
    if squares <= _BLURRED * scale:
        return 0.0
    return min(max((min(size, 1.0) * total**2 / squares - 1 - _BLURRED) / spread_out, 0.0), 1.0)


def _sandwich(value: float, sums: ClusterSums) -> float:
    """Return the clustered standard error, 0 where the residuals are only rounding."""
    explained = value * value * sums.sizes
    residuals = sums.squares - 2 * value * sums.cross + explained
    if residuals <= _ROUNDING * (sums.squares + explained):
        return 0.0
    return math.sqrt(residuals * sums.clusters / (sums.clusters - 1)) / sums.size


def _bounds(value: float | None, tally: Tally) -> tuple[float | None, float | None]:
    if not tally.planned:
        return value, value
    if value is None:
        return 0.0, 1.0
    missing = tally.planned - tally.scored
    if missing <= 0:
        return value, value
    if tally.scored == tally.samples:
        earned = tally.total
    elif tally.out_of == tally.scored:
        earned = tally.points
    else:
        earned = value * tally.scored
    return min(earned / tally.planned, value), max((earned + missing) / tally.planned, value)


def _of_parts(value: float, shares: Sequence[tuple[float, Estimate]], level: float) -> _Spread:
    errors = [(share, part, part.standard_error) for share, part in shares if part.standard_error is not None]
    if len(errors) < len(shares) or not all(part.clusters for _, part in shares):
        return _Spread(method=PART_WITHOUT_INTERVAL)
    variance = math.fsum((share * error) ** 2 for share, _, error in errors)
    error = math.sqrt(variance)
    count = 1 / math.fsum(share**2 / _alike(part) for share, part in shares)
    spoken_of = value * (1 - value) / variance if variance else 0.0
    unsure = math.fsum((share * error) ** 4 / part.degrees for share, part, error in errors if part.degrees)
    if unsure and spoken_of > 0:
        degrees = max(variance**2 / unsure, _LEAST_DEGREES)
        interval = wilson(value, spoken_of, quantile=t_quantile(0.5 + level / 2, degrees))
        lost, earned = (
            [share * abs(part.value - end) for share, part in shares if part.value is not None] for end in (1, 0)
        )
        lost_size, earned_size = (_mean_size(each, shares, at=at) for each, at in ((lost, 0), (earned, 1)))
        losses = share_known(math.fsum(lost), math.fsum(each * each for each in lost), size=lost_size)
        gains = share_known(math.fsum(earned), math.fsum(each * each for each in earned), size=earned_size)
        interval = no_surer(interval, count, level, losses, gains)
        return _Spread(method=STRATA_T, standard_error=error, degrees=degrees, interval=interval, loss_size=lost_size)
    if count * min(value, 1 - value) >= _FEW:
        interval = _clip(value, two_sided_z(level) * error)
        return _Spread(method=STRATA, standard_error=error, interval=interval)
    interval = wilson(value, min(count, spoken_of) or count, level)
    return _Spread(method=STRATA_WILSON, standard_error=error, interval=interval)


def _alike(part: Estimate) -> float:
    """Return how many clusters of equal size would say as much as those of an estimate."""
    return part.clusters if part.degrees is None else min(part.degrees + 1, part.clusters)


def _mean_size(weights: Sequence[float], shares: Sequence[tuple[float, Estimate]], *, at: int) -> float:
    """Return the mean relative size of clusters over what parts lost (at 0) or earned (at 1)."""
    total = math.fsum(weights)
    sizes = (sizes_of(part)[at] for _, part in shares)
    return math.fsum(weight * size for weight, size in zip(weights, sizes, strict=True)) / total if total else 1.0


def sizes_of(one: Estimate) -> tuple[float, float]:
    """Return the mean relative sizes of a cluster over what was lost, and over what was earned."""
    if one.loss_size is None or not one.value:
        return 1.0, 1.0
    return one.loss_size, max((1 - (1 - one.value) * one.loss_size) / one.value, 0.0)


def _clip(value: float, half: float) -> Interval:
    return Interval(low=max(value - half, 0.0), high=min(value + half, 1.0))


def _first(*numbers: float | None) -> float:
    return next(number for number in numbers if number is not None)
