"""How often the intervals of variance components cover the truth, over shapes of suites: by simulation, seeded."""

import random
from collections.abc import Callable, Iterator

import msgspec

from bench.figure import Figure
from proctor.stats.components import AttemptValues, components

ROUNDS = 1_000
SEED = 15
SIZES = ((10, 3), (20, 2), (20, 5), (50, 2), (50, 5), (100, 3), (200, 2), (400, 5))


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of suite: what it expects of a sample, one attempt at that, and the true variances.

    Attributes:
        draw: the expected value of a sample, given the number of the cluster's own.
        attempt: one attempt at a sample with that expectation, and the variance of the judge's repeats in it.
        between, within, judge: the true variances.
        per_cluster: samples in each cluster, in turn.
    """

    name: str
    draw: Callable[[random.Random], float]
    attempt: Callable[[random.Random, float], tuple[float, float]]
    between: float
    within: float
    judge: float = 0.0
    repeats: int = 1
    per_cluster: tuple[int, ...] = (1,)


def coin(source: random.Random, rate: float) -> tuple[float, float]:
    """Pass or fail."""
    return float(source.random() < rate), 0.0


def rates(name: str, a: float, b: float, *, per_cluster: tuple[int, ...] = (1,)) -> Suite:
    """Return a suite of 0/1 attempts whose rates have a beta distribution."""
    mean, between = a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))
    return Suite(
        name=name,
        draw=lambda source: source.betavariate(a, b),
        attempt=coin,
        between=between,
        within=mean * (1 - mean) - between,
        per_cluster=per_cluster,
    )


def judged(source: random.Random, mean: float) -> tuple[float, float]:
    """Points of 0 to 1 around an expectation of 0.3 to 0.7; the mean of three repeats of a judge."""
    attempt = mean + source.uniform(-0.15, 0.15)
    given = [attempt + source.uniform(-0.15, 0.15) for _ in range(3)]
    value = sum(given) / 3
    return value, sum((one - value) ** 2 for one in given) / 2


SUITES = (
    rates("rates U-shaped", 0.5, 0.5),
    rates("rates around a half", 2, 2),
    rates("rates around 90 %", 9, 1),
    rates("nearly all right", 5, 0.15),
    Suite(name="all samples alike, 90 %", draw=lambda _: 0.9, attempt=coin, between=0.0, within=0.09),
    Suite(
        name="nine of ten always pass",
        draw=lambda source: 1.0 if source.random() < 0.9 else 0.5,
        attempt=coin,
        between=0.9 * 0.1 * 0.25,
        within=0.1 * 0.25,
    ),
    Suite(
        name="points, three repeats of a judge",
        draw=lambda source: source.uniform(0.3, 0.7),
        attempt=judged,
        between=0.4**2 / 12,
        within=0.3**2 / 12,
        judge=0.3**2 / 12,
        repeats=3,
    ),
    rates("clusters of 1 to 4, rates U-shaped", 0.5, 0.5, per_cluster=(1, 2, 3, 4)),
)


def covered(suite: Suite, count: int, attempts: int, *, rounds: int, seed: int = SEED) -> dict[str, float]:
    """Return by source how often the 95 % interval covers the true variance."""
    source = random.Random(f"{seed} {suite.name} {count} {attempts}")
    hits = {"samples": 0, "attempts": 0, **({"judge": 0} if suite.judge else {})}
    truths = {"samples": suite.between, "attempts": suite.within, "judge": suite.judge}
    for _ in range(rounds):
        found = components(_drawn(suite, count, attempts, source), repeats=suite.repeats)
        assert found is not None
        for name in hits:
            one = {"samples": found.samples, "attempts": found.attempts, "judge": found.judge}[name]
            assert one is not None
            hits[name] += one.low <= truths[name] + 1e-12 and truths[name] <= one.high
    return {name: number / rounds for name, number in hits.items()}


def _drawn(suite: Suite, count: int, attempts: int, source: random.Random) -> list[AttemptValues]:
    """Return samples; half the variance between them is shared by those of a cluster."""
    samples: list[AttemptValues] = []
    while len(samples) < count:
        number = len({sample.cluster for sample in samples})
        shared = suite.draw(source)
        for _ in range(suite.per_cluster[number % len(suite.per_cluster)]):
            mean = shared if source.random() < 0.7 else suite.draw(source)
            trials = [suite.attempt(source, mean) for _ in range(attempts)]
            values, variances = [one for one, _ in trials], [one for _, one in trials]
            samples.append(AttemptValues(str(len(samples)), str(number), {}, values, variances))
    return samples[:count]


def measure() -> Iterator[Figure]:
    """Coverage over all kinds and sizes of suites."""
    for suite in SUITES:
        worst: dict[str, list[float]] = {}
        for count, attempts in SIZES:
            for name, share in covered(suite, count, attempts, rounds=ROUNDS).items():
                worst.setdefault(name, []).append(share)
        for name, shares in worst.items():
            yield Figure(
                what=f"{suite.name}: {name}, lowest of {len(SIZES)} sizes",
                value=100 * min(shares),
                unit="%",
                at_least=92,
            )
