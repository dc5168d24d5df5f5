"""Estimate a mean more precisely, given what the same samples earned in earlier runs (control variates).

What a sample earned earlier tells how hard it is. A draw that happens to hold too many easy samples is seen to do so, and
is adjusted by the regression of the new values on the earlier ones, in each stratum h of weight W_h:

    value = Σ W_h · mean_h(y - b · (x - c_h))      y the new value, x the mean of the earlier ones, y alone where there is none
    SE²   = Σ W_h² · V_h(y - b · (x - c_h))  +  b² · Σ W_h² · k_h² · V(c_h)

c_h is the mean of x over samples that were not drawn. So only those help: a run of all samples that the earlier runs have
gains nothing. About samples like these, c_h is the mean of those not drawn and has an error of its own; k_h is the share of
drawn samples that have an x. About one suite c_h is the mean over all that have an x, drawn or not, so that x - c_h, taken as
0 elsewhere, has the known mean 0 over the stratum. b makes SE² least, and is the same in all strata.

The samples need to be a random draw; those of the earlier runs do not. With fewer than 10 clusters in common, where the
correlation may well be chance (r² at most 4 / (clusters - 1)), and where nothing is gained, the plain estimate stays. An
estimated slope costs one degree of freedom, and, as the misses of a good prediction are few, SE² counts half of the
largest one more, as in corrections of judges.

A part of the samples, such as a slice, takes the slope of the whole, so that the parts mix to the whole.

Source: Cochran, Sampling Techniques, 3rd edition, 7.3 to 7.10; the tuning of b as in PPI++, arXiv 2311.01453.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, variance

import msgspec
from msgspec.structs import replace

from proctor.core.run import Estimate
from proctor.core.sentence import Sentence, say
from proctor.core.tally import Case, tally
from proctor.stats import strata

ADJUSTED = "adjusted by earlier runs, Wilson with t"

_FEW = 10
_SMALL = 1e-12


class CovariateSample(msgspec.Struct, frozen=True, kw_only=True):
    """What a sample of the run earned, and in the mean of earlier runs; None where these have no value of it."""

    cluster: str
    value: float
    earlier: float | None


class Other(msgspec.Struct, frozen=True, kw_only=True):
    """What a sample that only earlier runs have a value of earned in their mean."""

    cluster: str
    earlier: float


class CovariateGroup(msgspec.Struct, frozen=True, kw_only=True):
    """The samples of a stratum, and how many samples of the task it represents."""

    size: float
    samples: Sequence[CovariateSample]
    others: Sequence[Other]


class CovariateFit(msgspec.Struct, frozen=True, kw_only=True):
    """Adjusted values.

    Attributes:
        values: by stratum, in the order of its samples. Their mean is the adjusted one, and they spread as much as it is unsure.
        variance: what the error of the centres adds to that of the mean.
        correlation: of new and earlier values within strata.
        narrower: by about what share the interval becomes so.
        slope: b.
    """

    values: Mapping[str, Sequence[float]]
    slope: float
    variance: float
    correlation: float
    narrower: float


def adjust(
    plain: Estimate, groups: Mapping[str, CovariateGroup], *, of_suite: bool = False, slope: float | None = None
) -> tuple[Estimate, CovariateFit | Sentence]:
    """Return the estimate adjusted by what earlier runs earned, and how; or unchanged, and why.

    Args:
        plain: the estimate of the same samples by themselves.
        groups: the samples by stratum; under '' alone where there is only one.
        of_suite: the estimate is about the very samples of the task.
        slope: that of the whole, where these are a part of it, which is adjusted as the whole is, narrower or not.
    """
    fit = fit_groups(groups, of_suite=of_suite, slope=slope)
    if isinstance(fit, Sentence):
        return plain, fit
    clusters = len({sample.cluster for group in groups.values() for sample in group.samples})
    adjusted = strata.estimate(
        plain.name,
        [
            strata.MeasuredStratum(name=name, size=group.size, tally=tally(_cases(group, fit.values[name])))
            for name, group in groups.items()
        ],
        slice=plain.slice,
        level=plain.level,
        clusters=clusters,
        of_suite=of_suite,
        added=fit.variance,
        partial=plain.partial,
    )
    nothing_gained = say("nothing is gained")
    value, low, high = adjusted.value, adjusted.low, adjusted.high
    if value is None or low is None or high is None or not adjusted.standard_error or not 0 < value < 1:
        return plain, nothing_gained
    if plain.value is None or plain.low is None or plain.high is None:
        return plain, nothing_gained
    if slope is None and high - low >= plain.high - plain.low:
        return plain, nothing_gained
    floor, ceiling = plain.floor, plain.ceiling
    return replace(
        plain,
        value=value,
        low=low,
        high=high,
        method=ADJUSTED,
        standard_error=adjusted.standard_error,
        degrees=adjusted.degrees or max(clusters - len(groups) - 1.0, 1.0),
        floor=None if floor is None else max(value - (plain.value - floor), 0.0),
        ceiling=None if ceiling is None else min(value + (ceiling - plain.value), 1.0),
    ), fit


def gain(plain: Estimate, adjusted: Estimate) -> float:
    """Return by what share the interval became narrower."""
    if plain.low is None or plain.high is None or adjusted.low is None or adjusted.high is None:
        return 0.0
    return 1 - (adjusted.high - adjusted.low) / (plain.high - plain.low) if plain.high > plain.low else 0.0


def fit_groups(
    groups: Mapping[str, CovariateGroup], *, of_suite: bool = False, signed: bool = False, slope: float | None = None
) -> CovariateFit | Sentence:
    """Return how to adjust the values; a sentence where it would not help, with the reason.

    Args:
        signed: the values are differences, which may be smaller the larger the earlier values are.
        slope: the one to take, as it is known from more samples; by default that of these.
    """
    if not any(sample.earlier is not None for group in groups.values() for sample in group.samples):
        return say("no sample in common")
    known = {name: samples for name, group in groups.items() if (samples := _known(group)) and group.others}
    if not known:
        return say("every sample of the earlier runs is in this run, so they show nothing more")
    clusters = len({sample.cluster for samples in known.values() for sample in samples})
    if slope is None and clusters < _FEW:
        return say("fewer than {count} independent samples in common", count=_FEW)
    total = math.fsum(group.size for group in groups.values() if group.samples)
    along = across = squares = own = error = 0.0
    weights: dict[str, float] = {}
    for name, samples in known.items():
        group = groups[name]
        weights[name] = group.size / total / len(group.samples)  # of one sample in the value
        value = math.fsum(sample.value for sample in samples) / len(samples)
        earlier = math.fsum(_earlier(samples)) / len(samples)
        square = weights[name] ** 2 * (1 - min(len(group.samples) / group.size, 1.0) if of_suite else 1.0)
        along += square * math.fsum(
            (sample.value - value) * (x - earlier) for sample, x in zip(samples, _earlier(samples), strict=True)
        )
        own += square * math.fsum((sample.value - value) ** 2 for sample in samples)
        across += square * math.fsum((x - earlier) ** 2 for x in _earlier(samples))
        squares += square * len(samples) * _variance([*_earlier(samples), *(one.earlier for one in group.others)])
        if not of_suite:
            error += (weights[name] * len(samples)) ** 2 * _variance_of_others(group.others)
    if slope is None:
        if (along <= 0 and not signed) or own * across <= _SMALL**2 or along**2 <= 4 / (clusters - 1) * own * across:
            return say("the runs agree too little on which samples are hard")
        slope = along / across * squares / (squares + error)
    values = {name: [sample.value for sample in group.samples] for name, group in groups.items()}
    surprise = 0.0
    for name, samples in known.items():
        group = groups[name]
        centre = _centre(samples, group.others, of_suite=of_suite)
        values[name] = [
            sample.value if sample.earlier is None else sample.value - slope * (sample.earlier - centre)
            for sample in group.samples
        ]
        middle = math.fsum(values[name]) / len(values[name])
        surprise = max(surprise, weights[name] * max(abs(value - middle) for value in values[name]))
    variance = slope**2 * error + surprise**2 / 2
    left = own - 2 * slope * along + slope**2 * across
    return CovariateFit(
        values=values,
        variance=variance,
        slope=slope,
        correlation=along / math.sqrt(own * across) if own * across > 0 else 0.0,
        narrower=1 - math.sqrt(max(left + variance, 0.0) / own) if own > 0 else 0.0,
    )


def _known(group: CovariateGroup) -> list[CovariateSample]:
    return [sample for sample in group.samples if sample.earlier is not None]


def _earlier(samples: Iterable[CovariateSample]) -> list[float]:
    return [sample.earlier for sample in samples if sample.earlier is not None]


def _centre(samples: Sequence[CovariateSample], others: Sequence[Other], *, of_suite: bool) -> float:
    values = [one.earlier for one in others] + (_earlier(samples) if of_suite else [])
    return math.fsum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1)


def _variance_of_others(others: Sequence[Other]) -> float:
    values = [one.earlier for one in others]
    if len(values) < 2:
        return 0.25
    return variance_of_mean(pulls_of(values, [one.cluster for one in others]), values)


def _cases(group: CovariateGroup, values: Sequence[float]) -> Iterable[Case]:
    return (
        Case(cluster=sample.cluster, values=(value,), planned=1)
        for sample, value in zip(group.samples, values, strict=True)
    )


def pulls_of(values: Sequence[float], clusters: Sequence[str]) -> dict[str, float]:
    """Return how far each cluster shifts the mean of the values."""
    mean = fmean(values)
    pulls: dict[str, float] = {}
    for value, name in zip(values, clusters, strict=True):
        pulls[name] = pulls.get(name, 0.0) + (value - mean) / len(values)
    return pulls


def variance_of_mean(pulls: Mapping[str, float], values: Sequence[float], extremes: Sequence[float] = ()) -> float:
    """Return the variance of the mean over clusters; of values that are all equal, as if each extreme had occurred too."""
    clusters = len(pulls)
    squares = math.fsum(pull * pull for pull in pulls.values())
    if squares * clusters <= _SMALL:
        return variance([*values, *extremes]) / clusters
    return squares * clusters / max(clusters - 1, 1)
