"""Split the variance of a run into what comes from samples, from attempts at a sample, and from a judge's repeats.

    value of a trial = mean + sample + attempt + mean of R repeats of the judge

    judge      the mean variance of the repeats of one judgement
    attempts   the mean variance of the attempts at one sample, less the judge's part of it (variance / R)
    samples    the variance of the means of samples, less the attempts' part of it (variance / attempts)

Mean variances are shares (twice the variance of two attempts is how often they disagree), with the interval of such. A
difference of two takes both intervals (MOVER, with their correlation). The variance of means has a lower bound by
chi-squared with as many degrees of freedom as its own spread allows; where few clusters make up all of it, by the gamma
distribution of their number. The upper bound for samples is that of t, with two more clusters at the far end of the scale:
what was not seen among n samples may still be there.

The components describe the samples of the run, each counted once, also where a draw weights them in its estimates. With
samples in clusters, `samples` is the variance between all of them; errors go by cluster. Coverage of 95 % in the settings of
`bench/variances.py`: 92 to 100 % in 64 settings of 1,000 suites each.

Source: Searle, Casella and McCulloch 1992 for the split; Zou and Donner 2008 for MOVER; Fay and Feuer 1997 for the gamma
bound; Agresti and Coull 1998 for adding what was not seen.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import repeat

import msgspec

from proctor.core.tally import Case, tally
from proctor.stats.distributions import chi_squared_quantile, t_quantile
from proctor.stats.estimate import estimate

_NOT_SEEN = 2  # clusters that are added at the far end
_SPREAD_OUT = 7.0  # clusters that differ beyond the first, from which chi-squared is taken at its word
_LEAST_DEGREES = 0.5
_MOST_DEGREES = 1e6
_ROUNDING = 1e-12


class AttemptValues(msgspec.Struct):
    """The values of the scored attempts at a sample, and the variances of the judge's repeats where there are several."""

    sample_id: str
    cluster: str
    tags: Mapping[str, str]
    values: list[float]
    judged: list[float] = []


class Component(msgspec.Struct, frozen=True, kw_only=True):
    """A variance with its interval; both ends are 0 or more."""

    variance: float
    low: float
    high: float


class Components(msgspec.Struct, frozen=True, kw_only=True):
    """The variances of one trial by source. `judge` is that of one repeat; None where it was not repeated."""

    samples: Component
    attempts: Component
    judge: Component | None
    count: int
    clusters: int


class _Mean(msgspec.Struct, frozen=True):
    """A mean over samples with its interval, its residuals by cluster, and how far its spread is known (0 to 1)."""

    value: float
    low: float
    high: float
    residuals: Sequence[float]
    known: float


def components(samples: Sequence[AttemptValues], *, repeats: float = 1, level: float = 0.95) -> Components | None:
    """Split the variance between clusters, samples and attempts; None unless two clusters have a sample with at least two scored attempts.

    Args:
        samples: those with fewer attempts are left out.
        repeats: of the judge in each judgement, in the mean.
    """
    samples = [sample for sample in samples if len(sample.values) > 1]
    sizes: dict[str, int] = {}
    for sample in samples:
        sizes[sample.cluster] = sizes.get(sample.cluster, 0) + 1
    if len(sizes) < 2:
        return None
    variances = [sample_variance(sample.values) for sample in samples]
    within = _share(samples, variances, sizes, level)
    judge = None
    judged = [math.fsum(each.judged) / len(each.judged) if each.judged else None for each in samples]
    known = [value for value in judged if value is not None]
    if repeats > 1 and 2 * len(known) >= len(samples):
        usual = math.fsum(known) / len(known)
        judge = _share(samples, [usual if value is None else value for value in judged], sizes, level)
    noise = [each / len(sample.values) for each, sample in zip(variances, samples, strict=True)]
    return Components(
        samples=_between(samples, within, noise, sizes, level),
        attempts=_component(within) if judge is None else _minus(within, _scaled(judge, 1 / repeats)),
        judge=None if judge is None else _component(judge),
        count=len(samples),
        clusters=len(sizes),
    )


def _between(
    samples: Sequence[AttemptValues], within: _Mean, noise: Sequence[float], sizes: Mapping[str, int], level: float
) -> Component:
    count, groups = len(samples), len(sizes)
    means = [math.fsum(sample.values) / len(sample.values) for sample in samples]
    mean = math.fsum(means) / count
    error = _error(_residuals(samples, means, mean, sizes), count)
    squares = [(each - mean) ** 2 + error**2 for each in means]
    total = _variance_of_means(samples, squares, sizes, level)
    left = math.fsum(noise) / count
    part = _scaled(within, left / within.value) if within.value else within
    component = _minus(total, part)
    value = total.value - left
    residuals = _residuals(samples, [square - less for square, less in zip(squares, noise, strict=True)], value, sizes)
    far = (max(mean, 1 - mean) ** 2 - value) * count / groups
    spread = _error([*residuals, *repeat(far, _NOT_SEEN)], count, groups)
    degrees = max(count**2 / sum(size**2 for size in sizes.values()) - 1, _LEAST_DEGREES)
    high = max(value, 0.0) + t_quantile(0.5 + level / 2, degrees) * spread
    return Component(variance=component.variance, low=component.low, high=max(min(high, 0.25), component.variance))


def _variance_of_means(
    samples: Sequence[AttemptValues], squares: Sequence[float], sizes: Mapping[str, int], level: float
) -> _Mean:
    count = len(samples)
    value = math.fsum(squares) / count
    residuals = _residuals(samples, squares, value, sizes)
    if value <= _ROUNDING:
        return _Mean(0.0, 0.0, 0.25, residuals, 0.0)
    error = _error(residuals, count)
    degrees = min(max(2 * value**2 / error**2, 1.0), _MOST_DEGREES) if error > _ROUNDING else _MOST_DEGREES
    contributing = _contributing(residuals, value, sizes)
    few = chi_squared_quantile(0.5 - level / 2, 2 * contributing) / (2 * contributing)
    many = degrees / chi_squared_quantile(0.5 + level / 2, degrees)
    known = _known(contributing)
    return _Mean(value, value * min(few + known * (many - few), 1.0), 0.25, residuals, known)


def _share(samples: Sequence[AttemptValues], values: Sequence[float], sizes: Mapping[str, int], level: float) -> _Mean:
    """Return the mean of variances of numbers from 0 to 1, which are at most 1/2."""
    cases = (
        Case(cluster=sample.cluster, values=(min(2 * each, 1.0),), planned=1)
        for sample, each in zip(samples, values, strict=True)
    )
    figure = estimate("", tally(cases), level=level)
    value = math.fsum(values) / len(values)
    low, high = (end / 2 if end is not None else value for end in (figure.low, figure.high))
    residuals = _residuals(samples, values, value, sizes)
    return _Mean(value, low, high, residuals, _known(_contributing(residuals, value, sizes)))


def _minus(one: _Mean, other: _Mean) -> Component:
    """Return the difference of two means over the same samples, not below 0."""
    value = one.value - other.value
    squares, crossed, others = (
        math.fsum(first * second for first, second in zip(*both, strict=True))
        for both in ((one.residuals, one.residuals), (one.residuals, other.residuals), (other.residuals, other.residuals))
    )  # fmt: skip
    is_known = squares > _ROUNDING and others > _ROUNDING
    # of one cluster it is always 1
    correlation = one.known * crossed / math.sqrt(squares * others) if is_known else 0.0

    def reach(first: float, second: float) -> float:
        return math.sqrt(max(first**2 + second**2 - 2 * correlation * first * second, 0.0))

    low = value - reach(one.value - one.low, other.high - other.value)
    high = value + reach(one.high - one.value, other.value - other.low)
    return Component(variance=max(value, 0.0), low=max(low, 0.0), high=max(high, 0.0))


def _contributing(residuals: Sequence[float], value: float, sizes: Mapping[str, int]) -> float:
    """Return the effective number of clusters that make up a mean: 1 if one has all of it."""
    totals = [residual + size * value for residual, size in zip(residuals, sizes.values(), strict=True)]
    squares = math.fsum(total * total for total in totals)
    return math.fsum(totals) ** 2 / squares if squares > 0 else 1.0


def _known(contributing: float) -> float:
    return min(max((contributing - 1) / _SPREAD_OUT, 0.0), 1.0)


def _component(mean: _Mean) -> Component:
    return Component(variance=mean.value, low=mean.low, high=mean.high)


def _scaled(mean: _Mean, factor: float) -> _Mean:
    return _Mean(
        mean.value * factor,
        mean.low * factor,
        mean.high * factor,
        [factor * residual for residual in mean.residuals],
        mean.known,
    )


def _residuals(
    samples: Sequence[AttemptValues], values: Sequence[float], mean: float, sizes: Mapping[str, int]
) -> list[float]:
    """Return by how much the values of each cluster add up to more than their number times the mean."""
    by_cluster = {name: -size * mean for name, size in sizes.items()}
    for sample, value in zip(samples, values, strict=True):
        by_cluster[sample.cluster] += value
    return [*by_cluster.values()]


def _error(residuals: Sequence[float], count: int, clusters: int | None = None) -> float:
    """Return the clustered standard error of a mean over `count` samples."""
    clusters = clusters or len(residuals)
    return math.sqrt(math.fsum(residual * residual for residual in residuals) * clusters / (clusters - 1)) / count


def sample_variance(values: Sequence[float]) -> float:
    """Return the variance of values as an estimate of that of all."""
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
