"""Estimate the numbers of a task from some of its samples, where the size of each stratum of the task is known.

Each stratum counts by its size in the task, whatever part of it was run (post-stratification):

    value = Σ W_h · mean_h                      W_h = the size of stratum h over that of all
    SE²   = Σ W_h² · V_h                        V_h = s_h² / m_h over the m_h samples scored in h

A stratum with few samples says little about its own spread s_h², so each takes the spread of all samples as one
observation more; with one sample it takes that alone. Samples in clusters take the clustered variance instead. However
alike the samples within strata look, SE² is at least half of what it is without strata: a stratum of weight 0.9 whose 20
samples (rate 0.9) happen to be all right would else cover 86 %, and covers 96 % so. The interval is Wilson's for n =
value (1 - value) / SE² samples, with t (Satterthwaite's degrees) in place of z; where all samples earned the same, SE is 0
and n is the effective number of clusters (Kish). With clusters it is no surer than without a loss, as in `stats.estimate`.

A stratum of which nothing was scored is merged with those that are not larger, so that the samples scored in these represent
it. Where a suite of known size is itself the target, V_h is (1 - m_h / N_h) s_h² / m_h, with no regard to clusters:
the draw is of samples (Cochran, Sampling Techniques, 3rd edition, 2.4, 5.3 and 5A.9).
"""

import math
from collections.abc import Mapping, Sequence

import msgspec

from proctor.core.run import Estimate
from proctor.core.sentence import Sentence, say
from proctor.core.tally import Tally
from proctor.stats.allocation import name_in_stage
from proctor.stats.distributions import t_quantile
from proctor.stats.estimate import ClusterSums, allow_for_skewness, no_surer
from proctor.stats.estimate import points as ratio_of_sums
from proctor.stats.rate import Interval, checked_level, wilson

POSTSTRATIFIED = "weighted by stratum size, Wilson with t"
OF_ALL = "all samples of the suite"
WEIGHTED_RATIO = "no interval: clusters lie across strata"
NOTHING_SCORED = "nothing scored"
ONE_SAMPLE = "no interval: one sample"

_ROUNDING = 1e-12  # what is left of a sum of squares when all are equal
_MOST_GAIN = 0.5


class MeasuredStratum(msgspec.Struct, frozen=True, kw_only=True):
    """The measurements in a stratum, and how many samples of the task it represents (need not be whole)."""

    name: str
    tally: Tally
    size: float


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    """A measured stratum; the shares of all parts sum to 1."""

    share: float
    tally: Tally
    mean: float
    fraction: float


class Weighing(msgspec.Struct, frozen=True, kw_only=True):
    """The number of samples of the task that each stratum of each slice represents; `by` is the tag that names the stratum.

    The samples in `stages` were drawn by a later stage than the first, and are strata of their own.
    """

    by: str
    sizes: Mapping[str, Mapping[str, float]]
    of_suite: bool = False
    stages: Mapping[str, int] = {}

    def stratum_of(self, id: str, tags: Mapping[str, str]) -> str:
        """Return the stratum of a sample."""
        return name_in_stage(tags.get(self.by, ""), self.stages.get(id, 0))

    def strata(self, slice: str, tallies: Mapping[str, Tally]) -> list[MeasuredStratum]:
        """Return the strata of a slice, those without a tally too."""
        known = self.sizes.get(slice, {})
        return [MeasuredStratum(name=name, tally=tallies.get(name, Tally()), size=size) for name, size in known.items()]


def metrics(
    strata: Sequence[MeasuredStratum],
    whole: Tally,
    *,
    slice: str = "",
    prefix: str = "",
    rate: bool,
    of_suite: bool = False,
) -> list[Estimate]:
    """Compute what `stats.estimate.metrics` does for a slice, with weighted strata; `whole` is the tally of the slice."""
    score = estimate(
        f"{prefix}{'accuracy' if rate else 'score'}", strata, slice=slice, clusters=whole.clusters, of_suite=of_suite
    )
    score = msgspec.structs.replace(score, planned=whole.planned)
    return [score] if rate else [score, points(f"{prefix}points", strata, score, of_suite=of_suite)]


def estimate(
    name: str,
    strata: Sequence[MeasuredStratum],
    *,
    slice: str = "",
    level: float = 0.95,
    clusters: int | None = None,
    of_suite: bool = False,
    added: float = 0.0,
    partial: bool | None = None,
) -> Estimate:
    """Estimate the mean over the samples of the task, each stratum weighted by its size.

    Args:
        clusters: how many clusters were scored in all, where some lie in several strata; default: none does.
        of_suite: the interval is about the very samples of the task, not about samples like these.
        added: variance of the value that comes from elsewhere.
        partial: the values are points between nothing and all; by default, whether some here are.
    """
    parts = _parts(strata)
    tallies = [stratum.tally for stratum in strata]
    scored, planned = sum(tally.scored for tally in tallies), sum(tally.planned for tally in tallies)
    value = min(max(math.fsum(part.share * part.mean for part in parts), 0.0), 1.0) if parts else None
    floor, ceiling = _bounds(strata, value)
    figure = Estimate(
        name=name,
        slice=slice,
        value=value,
        level=checked_level(level),
        method=NOTHING_SCORED,
        scored=scored,
        planned=planned,
        clusters=sum(tally.clusters for tally in tallies) if clusters is None else clusters,
        floor=floor,
        ceiling=ceiling,
        note=_note(strata) if parts else "",
        partial=not all(tally.all_or_nothing for tally in tallies) if partial is None else partial,
    )
    return figure if value is None else _with_interval(figure, value, parts, clusters, of_suite, added)


def points(name: str, strata: Sequence[MeasuredStratum], score: Estimate, *, of_suite: bool = False) -> Estimate:
    """Estimate the points over the possible points, each stratum weighted by its size, with the interval of a ratio.

    There is none where clusters lie in several strata, or where samples in clusters are drawn from a suite: the sums do
    not tell how much of their spread lies where.
    """
    parts = _parts(strata)
    whole = _weight_tallies(parts, score, of_suite)
    figure = ratio_of_sums(name, whole, score)
    if figure.value is None:
        return figure
    if of_suite and all(part.fraction >= 1 for part in parts):
        return msgspec.structs.replace(figure, low=figure.value, high=figure.value, method=OF_ALL, standard_error=0.0)
    is_known = whole.clusters == sum(part.tally.clusters for part in parts)
    if not is_known or (of_suite and whole.clusters < whole.samples):
        return msgspec.structs.replace(figure, low=None, high=None, method=WEIGHTED_RATIO, standard_error=None)
    return figure if figure.low is None else msgspec.structs.replace(figure, method=POSTSTRATIFIED)


def _weight_tallies(parts: Sequence[_Part], score: Estimate, of_suite: bool) -> Tally:
    """Return the sums of points with each stratum weighted, and squares that count only what was not drawn."""
    samples = sum(part.tally.samples for part in parts)
    weights = [(part.share * samples / part.tally.samples, part.tally) for part in parts]
    squares = [(weight**2 * _left(part, of_suite), tally) for (weight, tally), part in zip(weights, parts, strict=True)]
    return Tally(
        clusters=score.clusters,
        samples=samples,
        points=math.fsum(weight * tally.points for weight, tally in weights),
        out_of=math.fsum(weight * tally.out_of for weight, tally in weights),
        point_squares=math.fsum(square * tally.point_squares for square, tally in squares),
        point_cross=math.fsum(square * tally.point_cross for square, tally in squares),
        out_of_squares=math.fsum(square * tally.out_of_squares for square, tally in squares),
        scored=score.scored,
        planned=score.planned,
    )


def weight_by_stratum(sizes: Mapping[str, float], counts: Mapping[str, int]) -> dict[str, float]:
    """Return the weight of one sample of each stratum, the mean over the `counts` samples being 1.

    Pairs of two runs take these too: `counts` are then the samples that both have scored. A stratum without any is
    merged as in `estimate`.

    >>> weight_by_stratum({"easy": 900, "hard": 100}, {"easy": 50, "hard": 50})
    {'easy': 1.8, 'hard': 0.2}
    """
    shares = _shares([(size, counts.get(name, 0), name) for name, size in sizes.items()])
    total = sum(counts.get(name, 0) for name in sizes)
    return {name: shares[name] * total / counts[name] for name in sizes if name in shares}


def _note(strata: Sequence[MeasuredStratum]) -> str | Sentence:
    missing = [stratum.name or "-" for stratum in strata if stratum.size and not stratum.tally.samples]
    return say("nothing scored in: {strata}; others represent it", strata=", ".join(missing)) if missing else ""


def _parts(strata: Sequence[MeasuredStratum]) -> list[_Part]:
    shares = _shares([(stratum.size, stratum.tally.samples, str(index)) for index, stratum in enumerate(strata)])
    parts = []
    for index, stratum in enumerate(strata):
        if str(index) in shares:
            mean, fraction = stratum.tally.total / stratum.tally.samples, min(stratum.tally.samples / stratum.size, 1.0)
            parts.append(_Part(share=shares[str(index)], tally=stratum.tally, mean=mean, fraction=fraction))
    return parts


def _shares(strata: Sequence[tuple[float, int, str]]) -> dict[str, float]:
    """Return the share of each measured stratum, by name, from (size, samples measured, name)."""
    by_size = sorted(row for row in strata if row[0] > 0)
    merged = max((number for number, (_, count, _) in enumerate(by_size, 1) if not count), default=0)
    while merged < len(by_size) and merged and not any(count for _, count, _ in by_size[:merged]):
        merged += 1
    total = math.fsum(size for size, _, _ in by_size)
    of_merged = math.fsum(size for size, _, _ in by_size[:merged])
    measured = math.fsum(size for size, count, _ in by_size[:merged] if count)
    shares = {}
    for index, (size, count, name) in enumerate(by_size):
        if count:
            shares[name] = size / total * (of_merged / measured if index < merged else 1.0)
    return shares


def _bounds(strata: Sequence[MeasuredStratum], value: float | None) -> tuple[float | None, float | None]:
    """Return the value if what was planned in each stratum and not scored had earned nothing, or all."""
    total = math.fsum(stratum.size for stratum in strata)
    if not total:
        return value, value
    floor = ceiling = 0.0
    for stratum in strata:
        tally, share = stratum.tally, stratum.size / total
        mean = tally.total / tally.samples if tally.samples else 0.0
        scored = tally.scored / tally.planned if tally.planned else float(tally.samples > 0)
        floor += share * mean * min(scored, 1.0)
        ceiling += share * (1 - (1 - mean) * min(scored, 1.0))
    return (floor, ceiling) if value is None else (min(floor, value), max(min(ceiling, 1.0), value))


def _with_interval(
    made: Estimate, value: float, parts: Sequence[_Part], clusters: int | None, of_suite: bool, added: float
) -> Estimate:
    if of_suite and all(part.fraction >= 1 for part in parts):
        return msgspec.structs.replace(made, low=value, high=value, method=OF_ALL, standard_error=0.0)
    samples = sum(part.tally.samples for part in parts)
    groups = samples if of_suite else made.clusters
    if groups < 2:
        return msgspec.structs.replace(made, method=ONE_SAMPLE)
    squares = math.fsum(part.share * part.tally.sample_squares / part.tally.samples for part in parts)
    spread = (squares - value * value) * samples / (samples - 1)
    if spread <= _ROUNDING * squares or not 0 < value < 1:
        interval, error, degrees = wilson(value, 1 / _concentration(parts, of_suite), made.level), 0.0, None
    else:
        interval, error, degrees = _from_spread(made, value, parts, spread, clusters, of_suite, added)
    loss_size = None
    if not of_suite and made.clusters < samples:
        sums = _sums(parts, made.clusters)
        loss_size = sums.lost.relative_size
        interval = no_surer(interval, sums.kish, made.level, sums.lost.known(), sums.known())
    return msgspec.structs.replace(
        made,
        low=interval.low,
        high=interval.high,
        method=POSTSTRATIFIED,
        standard_error=error,
        degrees=degrees,
        loss_size=loss_size,
    )


def _sums(parts: Sequence[_Part], clusters: int) -> ClusterSums:
    """Return the sums over clusters with each stratum weighted by its size."""
    weights = [(part.share / part.tally.samples, part.tally) for part in parts]
    return ClusterSums(
        clusters=clusters,
        size=1.0,
        total=math.fsum(weight * tally.total for weight, tally in weights),
        squares=math.fsum(weight**2 * tally.squares for weight, tally in weights),
        cross=math.fsum(weight**2 * tally.cross for weight, tally in weights),
        sizes=math.fsum(weight**2 * tally.sizes for weight, tally in weights),
    )


def _from_spread(
    made: Estimate,
    value: float,
    parts: Sequence[_Part],
    spread: float,
    clusters: int | None,
    of_suite: bool,
    added: float,
) -> tuple[Interval, float, float | None]:
    inflation = 1.0 if of_suite else _inflation(parts)
    variances = [part.share**2 * _variance(part, spread * inflation, of_suite) for part in parts]
    variance = math.fsum(variances)
    degrees = variance**2 / math.fsum(
        each**2 / _groups(part, of_suite) for each, part in zip(variances, parts, strict=True)
    )
    variance = max(variance, _MOST_GAIN * spread * _concentration(parts, of_suite))
    if not of_suite and clusters is not None and clusters < sum(part.tally.clusters for part in parts):
        whole = _sandwich(value, [part.tally for part in parts])  # clusters in several strata move them together
        variance, degrees = max(variance, whole), min(degrees, clusters - 1)
    variance += added
    quantile = t_quantile(0.5 + made.level / 2, max(degrees, 1.0))
    count = value * (1 - value) / variance
    in_clusters = not of_suite and made.clusters < sum(part.tally.samples for part in parts)
    interval = wilson(value, count, quantile=quantile)
    if made.partial:
        interval = allow_for_skewness(value, count, 1 / _concentration(parts, of_suite), quantile)
    return interval, math.sqrt(variance), max(degrees, 1.0) if in_clusters else None


def _variance(part: _Part, spread: float, of_suite: bool) -> float:
    """Return the variance of the mean of a stratum; the spread of all samples counts as one observation more."""
    tally, count = part.tally, part.tally.samples
    own = max(tally.sample_squares - count * part.mean**2, 0.0)
    if of_suite or tally.clusters == count:
        return _left(part, of_suite) * (own + spread) / count**2
    within = _sandwich(part.mean, [tally]) if tally.clusters > 1 else 0.0
    return ((tally.clusters - 1) * within + spread / count) / tally.clusters


def _inflation(parts: Sequence[_Part]) -> float:
    """Return the factor by which clusters increase the variance of the mean; at least 1."""
    tallies = [part.tally for part in parts]
    samples = sum(tally.samples for tally in tallies)
    if sum(tally.clusters for tally in tallies) == samples:
        return 1.0
    mean = math.fsum(tally.total for tally in tallies) / samples
    plain = (math.fsum(tally.sample_squares for tally in tallies) - samples * mean**2) / (samples - 1) / samples
    return max(_sandwich(mean, tallies) / plain, 1.0) if plain > 0 else 1.0


def _sandwich(mean: float, tallies: Sequence[Tally]) -> float:
    """Return the clustered variance of the mean of these samples, as in `stats.estimate`."""
    clusters, samples = sum(tally.clusters for tally in tallies), sum(tally.samples for tally in tallies)
    if clusters < 2:
        return 0.0
    residuals = math.fsum(tally.squares - 2 * mean * tally.cross + mean * mean * tally.sizes for tally in tallies)
    return max(residuals, 0.0) * clusters / (clusters - 1) / samples**2


def _concentration(parts: Sequence[_Part], of_suite: bool) -> float:
    """Return one over the effective number of samples, where strata do not differ."""
    return math.fsum(part.share**2 * _left(part, of_suite) / _groups(part, of_suite) for part in parts)


def _left(part: _Part, of_suite: bool) -> float:
    """Return the finite-population factor: the part of the stratum that was not drawn."""
    return 1 - part.fraction if of_suite else 1.0


def _groups(part: _Part, of_suite: bool) -> float:
    """Return how many independent samples, or clusters of equal size, a stratum says as much as (Kish)."""
    return part.tally.samples if of_suite else part.tally.samples**2 / part.tally.sizes
