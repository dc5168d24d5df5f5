"""Numbers with intervals, out of the sums of a run.

The value is the mean over samples of each sample's mean over its scored attempts. Its interval, by what was measured:

    one 0/1 attempt of independent samples        Wilson
    several attempts, points, or clusters         t over clusters (samples where each is its own), G - 1 degrees
    the same, but all clusters earned the same    Wilson over clusters, because the standard error is 0
    one cluster only                              none

    SE² = G / (G - 1) · Σ_c (t_c - n_c · value)² / n²       over G clusters of n_c samples that earned t_c in all

With one sample in each cluster this is the plain SE² = Σ (x - value)² / (n (n - 1)).

Source: Miller 2024, "Adding Error Bars to Evals", arXiv 2411.00640, the sandwich form of the clustered error; small
samples after Bowyer, Aitchison and Ivanova 2025, arXiv 2503.01747.
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
T_OVER_SAMPLES = "t over samples"
T_OVER_CLUSTERS = "t over clusters"
RATIO = "ratio of sums, no interval"
STRATA = "weighted strata"
STRATA_WILSON = "weighted strata, Wilson"
STRATA_T = "weighted strata, t"
NOTHING_SCORED = "nothing scored"
ONE_SAMPLE = "no interval: one sample"
ONE_CLUSTER = "no interval: one cluster"
PART_MISSING = "no value: a part is missing"
PART_WITHOUT_INTERVAL = "no interval: a part has none"

_ROUNDING = 1e-12  # what is left of a sum of squares when all are equal
_FEW = 40  # effective successes or failures from which the normal interval of strata covers what it says


class _Spread(msgspec.Struct, frozen=True, kw_only=True):
    """How sure a value is; None where one cluster says nothing about it."""

    method: str
    standard_error: float | None = None
    interval: Interval | None = None


def metrics(
    tally: Tally, *, slice: str = "", prefix: str = "", level: float = 0.95, whole: Tally | None = None
) -> list[Estimate]:
    """The metrics of one scorer: `accuracy` of a 0/1 scorer, else `score` (mean value) and `points` (sum over out_of).

    Args:
        prefix: put before each name, such as 'exact.'.
        whole: the tally of the whole run, which decides the names of its slices; default: this one.
    """
    if is_rate(tally if whole is None else whole):
        return [estimate(f"{prefix}accuracy", tally, slice=slice, level=level)]
    score = estimate(f"{prefix}score", tally, slice=slice, level=level)
    return [score, _points(f"{prefix}points", tally, score)]


def is_rate(tally: Tally) -> bool:
    """Whether the scorer said only right or wrong, each trial being out of 1."""
    return tally.all_or_nothing and tally.out_of in (0, tally.scored)  # 0: the maxima were not added up


def estimate(name: str, tally: Tally, *, slice: str = "", level: float = 0.95) -> Estimate:
    """The mean over samples, with an interval within 0 to 1.

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
    )


def combine(
    name: str, slice: str, parts: Sequence[tuple[float, Estimate]], *, level: float = 0.95, note: str | Sentence = ""
) -> Estimate:
    """The weighted mean of strata: SE² = Σ w² SE_c², the weights scaled to sum to 1.

    While a part has no value there is none of the whole, but `floor` and `ceiling` still bound it.

    The interval is normal where strata of rates are large. With few effective successes or failures,
    n·min(value, 1 - value) < 40 for n = 1 / Σ (w² / n_c), it is Wilson's for n (or for the number that the standard
    error speaks of, if that is fewer): the plain standard errors of small strata are too small, and covered 74 % in
    10 strata of 2 samples (rate 0.8), where this covers 95 %. Strata of points take t, with Satterthwaite's degrees.

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
        note=note,
    )


def _of_tally(value: float, tally: Tally, level: float) -> _Spread:
    independent = tally.clusters == tally.samples
    if tally.binary and independent:
        error = math.sqrt(max(value * (1 - value), 0.0) / tally.samples)
        return _Spread(method=WILSON, standard_error=error, interval=wilson(value, tally.samples, level))
    if tally.clusters == 1:
        return _Spread(method=ONE_SAMPLE if independent else ONE_CLUSTER)
    error = _sandwich(value, tally)
    if error == 0:
        interval = wilson(value, tally.clusters, level)
        return _Spread(method=WILSON_OVER_CLUSTERS, standard_error=0.0, interval=interval)
    half = t_quantile(0.5 + level / 2, tally.clusters - 1) * error
    method = T_OVER_SAMPLES if independent else T_OVER_CLUSTERS
    return _Spread(method=method, standard_error=error, interval=_clipped(value, half))


def _sandwich(value: float, tally: Tally) -> float:
    """The clustered standard error, 0 where the residuals are nothing but rounding."""
    explained = value * value * tally.sizes
    residuals = tally.squares - 2 * value * tally.cross + explained
    if residuals <= _ROUNDING * (tally.squares + explained):
        return 0.0
    return math.sqrt(residuals * tally.clusters / (tally.clusters - 1)) / tally.samples


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


def _points(name: str, tally: Tally, score: Estimate) -> Estimate:
    """The points over what could be had; unscored trials count as worth the mean of the scored ones."""
    value = min(tally.points / tally.out_of, 1.0) if tally.out_of else None
    share = tally.scored / tally.planned if 0 < tally.scored < tally.planned else 1.0
    return msgspec.structs.replace(
        score,
        name=name,
        value=value,
        low=None,
        high=None,
        method=NOTHING_SCORED if value is None else RATIO,
        floor=score.floor if value is None else value * share,
        ceiling=score.ceiling if value is None else max(value * share + 1 - share, value),
        standard_error=None,
    )


def _of_parts(value: float, shares: Sequence[tuple[float, Estimate]], level: float) -> _Spread:
    errors = [(share, part, part.standard_error) for share, part in shares if part.standard_error is not None]
    if len(errors) < len(shares) or not all(part.clusters for _, part in shares):
        return _Spread(method=PART_WITHOUT_INTERVAL)
    variances = [(share * error) ** 2 for share, _, error in errors]
    variance = math.fsum(variances)
    error = math.sqrt(variance)
    if all(part.method in (T_OVER_SAMPLES, T_OVER_CLUSTERS, STRATA_T) for _, part in shares):
        pairs = zip(variances, shares, strict=True)
        degrees = variance**2 / math.fsum(one**2 / max(part.clusters - 1, 1) for one, (_, part) in pairs)
        half = t_quantile(0.5 + level / 2, degrees) * error
        return _Spread(method=STRATA_T, standard_error=error, interval=_clipped(value, half))
    count = 1 / math.fsum(share**2 / part.clusters for share, part in shares)
    if count * min(value, 1 - value) >= _FEW:
        interval = _clipped(value, two_sided_z(level) * error)
        return _Spread(method=STRATA, standard_error=error, interval=interval)
    spoken_of = value * (1 - value) / variance if variance else count
    interval = wilson(value, min(count, spoken_of) or count, level)
    return _Spread(method=STRATA_WILSON, standard_error=error, interval=interval)


def _clipped(value: float, half: float) -> Interval:
    return Interval(low=max(value - half, 0.0), high=min(value + half, 1.0))


def _first(*numbers: float | None) -> float:
    return next(number for number in numbers if number is not None)
