"""How much narrower intervals become given an earlier run, and how often they still hold the truth. By simulation, with a seed."""

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
import numpy as np
from msgspec.structs import replace

from bench.figure import Figure
from proctor.core.run import Estimate
from proctor.core.tally import Case, tally
from proctor.stats import estimate, strata
from proctor.stats.covariate import CovariateFit, CovariateGroup, CovariateSample, Other, adjust, fit_groups
from proctor.stats.paired import PairedSample, compare
from proctor.stats.strata import weight_by_stratum
from proctor_ci.stats.bounds import moved

ROUNDS = 10_000
LEAST, MOST = 0.93, 0.97


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """A task as it is simulated: `drawn` of its samples in strata (share, rate), earlier values that correlate by so much.

    Values are right or wrong, or `points` between; clusters of so many samples go the same way half of the time. `covered`
    is the share of samples that the earlier run has, and `runs` how many earlier runs there are.
    """

    name: str
    samples: int = 4_000
    drawn: int = 200
    strata: Sequence[tuple[float, float]] = ((1.0, 0.6),)
    correlation: float = 0.7
    points: bool = False
    cluster: int = 1
    covered: float = 1.0
    runs: int = 1
    target: Literal["samples", "suite"] = "samples"


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of rounds in which the plain and the adjusted interval hold the truth, how much narrower it is, and the mean error."""

    plain: float
    adjusted: float
    narrower: float
    bias: float


SUITES = [
    Suite(name="right or wrong, 60 %"),
    Suite(name="right or wrong, 90 %", strata=((1.0, 0.9),)),
    Suite(name="right or wrong, 95 %", strata=((1.0, 0.95),)),
    Suite(name="partial credit", points=True),
    Suite(name="stratified", strata=((0.5, 0.9), (0.3, 0.6), (0.2, 0.3))),
    Suite(name="clusters of 5", cluster=5),
    Suite(name="this very suite", samples=1_000, target="suite"),
    Suite(
        name="this very suite, stratified", strata=((0.5, 0.9), (0.3, 0.6), (0.2, 0.3)), samples=1_000, target="suite"
    ),
]
ODD = [
    Suite(name="100 drawn", drawn=100),
    Suite(name="30 drawn", drawn=30),
    Suite(name="half covered", covered=0.5),
    Suite(name="correlation 0.3", correlation=0.3),
    Suite(name="correlation 0", correlation=0.0),
    Suite(name="three earlier runs", runs=3),
]
DIFFERENCES = [
    Suite(name="right or wrong, 60 %", drawn=100),
    Suite(name="stratified", strata=((0.5, 0.9), (0.3, 0.6), (0.2, 0.3))),
    Suite(name="clusters of 5", cluster=5),
]


def measure() -> Iterator[Figure]:
    """Coverage of 95 % intervals and the change of their width, at correlation 0.7 and in odd cases."""
    for suite in (*SUITES, *ODD):
        found = simulate(suite, ROUNDS)
        most = None if suite in ODD else MOST
        yield Figure(what=f"coverage given a run: {suite.name}", value=found.adjusted, at_least=LEAST, at_most=most)
        least = None if suite in ODD else 0.25
        yield Figure(what=f"narrower by: {suite.name}", value=found.narrower, unit="", at_least=least)
    for suite in DIFFERENCES:
        found, missed = simulate_differences(suite, ROUNDS // 10)
        yield Figure(what=f"coverage of differences: {suite.name}", value=found.adjusted, unit="", at_least=LEAST)
        yield Figure(what=f"bounds of a gate at 5 % wrong: {suite.name}", value=missed, unit="", at_most=0.055)
        yield Figure(what=f"differences narrower by: {suite.name}", value=found.narrower, unit="", at_least=0.05)


def simulate(suite: Suite, rounds: int, seed: int = 0) -> Result:
    """Draw the samples, and new values of all, in each round; only for `suite` the truth is the mean of the values."""
    source = np.random.default_rng(seed)
    held = held_plain = 0
    width = width_plain = error = 0.0
    for _ in range(rounds):
        groups: dict[str, CovariateGroup] = {}
        truth = 0.0
        for at, (share, rate) in enumerate(suite.strata):
            groups[str(at)], mean = _stratum(suite, at, share, rate, source)
            truth += share * (mean if suite.target == "suite" else rate)
        plain = _plain(suite, groups)
        adjusted, _ = adjust(plain, groups, of_suite=suite.target == "suite")
        assert None not in (plain.low, plain.high, adjusted.value, adjusted.low, adjusted.high)
        held_plain += plain.low <= truth <= plain.high  # type: ignore[operator]
        held += adjusted.low <= truth <= adjusted.high  # type: ignore[operator]
        width_plain += plain.high - plain.low  # type: ignore[operator]
        width += adjusted.high - adjusted.low  # type: ignore[operator]
        error += adjusted.value - truth  # type: ignore[operator]
    return Result(
        plain=held_plain / rounds, adjusted=held / rounds, narrower=1 - width / width_plain, bias=error / rounds
    )


def simulate_differences(suite: Suite, rounds: int, seed: int = 0) -> tuple[Result, float]:
    """Draw an earlier run of all samples and a new one of some, which differ only by chance.

    Returns what became of the intervals of their difference, and how often a bound at 5 % on one side lies beyond the truth.
    """
    source = np.random.default_rng(seed)
    held = held_plain = missed = 0
    width = width_plain = error = 0.0
    for _ in range(rounds):
        groups = {str(at): _stratum(suite, at, share, rate, source)[0] for at, (share, rate) in enumerate(suite.strata)}
        plain = _pairs(groups)
        moves = {
            name: replace(
                group,
                samples=[
                    replace(one, value=pair.difference) for one, pair in zip(group.samples, plain[name], strict=True)
                ],
            )
            for name, group in groups.items()
        }
        fit = fit_groups(moves, signed=True)
        shifted = before = [pair for each in plain.values() for pair in each]
        added = 0.0
        if isinstance(fit, CovariateFit) and fit.narrower > 0:
            added = fit.variance
            values = [value for name in plain for value in fit.values[name]]
            shifted = [replace(pair, shift=pair.difference - value) for pair, value in zip(before, values, strict=True)]
        one, other = compare(before), compare(shifted, added=added)
        assert None not in (one.low, one.high, other.low, other.high)
        held_plain += one.low <= 0 <= one.high  # type: ignore[operator]
        held += other.low <= 0 <= other.high  # type: ignore[operator]
        width_plain += one.high - one.low  # type: ignore[operator]
        width += other.high - other.low  # type: ignore[operator]
        error += other.value
        bounds = moved(shifted, added=added).bounds(0.05)
        assert bounds is not None
        missed += (bounds.low > 0) + (bounds.high < 0)
    result = Result(
        plain=held_plain / rounds, adjusted=held / rounds, narrower=1 - width / width_plain, bias=error / rounds
    )
    return result, missed / rounds / 2


def _pairs(groups: dict[str, CovariateGroup]) -> dict[str, list[PairedSample]]:
    sizes = {name: group.size for name, group in groups.items()}
    weights = weight_by_stratum(sizes, {name: len(group.samples) for name, group in groups.items()})
    return {
        name: [
            PairedSample(cluster=one.cluster, first=one.value, second=one.earlier or 0.0, weight=weights[name])
            for one in group.samples
        ]
        for name, group in groups.items()
    }


def _stratum(
    suite: Suite, at: int, share: float, rate: float, source: np.random.Generator
) -> tuple[CovariateGroup, float]:
    size = round(suite.samples * share)

    def draw(count: int) -> np.ndarray:
        return source.beta(4 * rate, 4 * (1 - rate), count) if suite.points else (source.random(count) < rate) * 1.0

    values = draw(size)
    if suite.cluster > 1:
        shared = np.repeat(draw(-(-size // suite.cluster)), suite.cluster)[:size]
        values = np.where(source.random(size) < 0.5, shared, values)
    earlier = np.mean(
        [np.where(source.random(size) < suite.correlation, values, draw(size)) for _ in range(suite.runs)], axis=0
    )
    is_covered = source.random(size) < suite.covered
    order = source.permutation(size)
    drawn = max(round(suite.drawn * share), 1)
    return CovariateGroup(
        size=size,
        samples=[
            CovariateSample(
                cluster=f"{at}/{one // suite.cluster}",
                value=float(values[one]),
                earlier=float(earlier[one]) if is_covered[one] else None,
            )
            for one in order[:drawn]
        ],
        others=[
            Other(cluster=f"{at}/{one // suite.cluster}", earlier=float(earlier[one]))
            for one in order[drawn:]
            if is_covered[one]
        ],
    ), float(values.mean())


def _plain(suite: Suite, groups: dict[str, CovariateGroup]) -> Estimate:
    tallies = {
        name: tally(Case(cluster=one.cluster, values=(one.value,), planned=1) for one in group.samples)
        for name, group in groups.items()
    }
    if len(groups) == 1 and suite.target == "samples":
        return estimate.estimate("accuracy", tallies["0"])
    parts = [strata.MeasuredStratum(name=name, tally=tallies[name], size=group.size) for name, group in groups.items()]
    return strata.estimate("accuracy", parts, of_suite=suite.target == "suite")
