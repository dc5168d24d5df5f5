"""Do intervals and gates hold where clusters differ in size and are right or wrong as a whole? By simulation, seeded.

Documents with questions and repositories with issues are such clusters: often all of one fails. With 20 large and 80 small
ones, no large one may have been wrong by chance, so that few losses of small ones say little.
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from bench.decisions import AT_ONCE, Drawn, Kind, Numbers, _check, decisions, gate, look, whole
from bench.figure import Figure
from bench.races import PairFound, error_of_a_pair, left_of_race
from proctor.core.tally import Tally
from proctor.stats.estimate import estimate
from proctor.stats.paired import PairedSample, compare
from proctor_ci.stats.bounds import one_sided

ROUNDS = 10_000
COMPARED = 1_000  # sign flips take longer
LEAST, ERROR, MOST = 0.925, 0.05, 0.055
SUITES: Sequence[tuple[int, tuple[int, ...], float]] = [  # clusters, their sizes in turn, and how many are wrong
    (100, (1, 1, 1, 1, 20), 0.05),
    (100, (1, 1, 1, 1, 20), 0.1),
    (60, (1, 30), 0.05),
    (40, (1, 20), 0.1),
    (40, (1, 1, 1, 2, 2, 3, 5, 10), 0.1),
    (20, (1, 20), 0.2),
    (30, (5,), 0.05),
    (30, (5,), 0.2),
    (200, (1, 1, 1, 1, 20), 0.02),
    (50, (1, 1, 1, 1, 20), 0.1),
    (100, (1, 1, 1, 1, 1, 1, 1, 1, 1, 20), 0.1),
    (300, (1, 1, 1, 1, 20), 0.05),
]
AGENTS = (2, 3, 5)


def measure() -> Iterator[Figure]:
    """Simulate; a number at the end of the command line is that of the suites of each kind."""
    rounds = int(sys.argv[-1]) if sys.argv[-1].isdigit() else ROUNDS
    for count, sizes, wrong in SUITES:
        kind = whole(sizes, wrong)
        what = f"{count} clusters of {', '.join(map(str, sizes))}, {wrong:.0%} wrong"
        drawn = kind.draw(np.random.default_rng(count), rounds, count)
        covered, flattering, wrong_go, wrong_no = intervals(drawn, 1 - wrong)
        yield Figure(what=f"{what}: interval covers", value=covered, unit="", at_least=LEAST)
        yield Figure(what=f"{what}: interval above the truth", value=flattering, unit="", at_most=MOST)
        yield Figure(what=f"{what}: gate, wrong GO", value=wrong_go, unit="", at_most=MOST)
        yield Figure(what=f"{what}: gate, wrong NO-GO", value=wrong_no, unit="", at_most=MOST)
        paired = whole(sizes, wrong, paired=True)
        yield from _decided(f"{what}, difference: gate", gate(paired, count, rounds))
        for each in (kind, paired):
            yield from _decided(f"{what}, {'difference' if each.paired else 'share'}: looks", look(each, count, rounds))
        for agents in AGENTS:
            named = races(sizes, wrong, agents, count, rounds)
            yield Figure(
                what=f"{what}: race of {agents} equal agents, one is named best",
                value=named,
                unit="",
                at_most=MOST,
            )
        compared = min(rounds, COMPARED)
        covered, found = comparisons(drawn, compared, wrong)
        yield Figure(what=f"{what}: comparison covers", value=covered, unit="", at_least=LEAST)
        yield Figure(what=f"{what}: equal agents said to differ", value=found, unit="", at_most=MOST + 0.01)


def _decided(what: str, found: "object") -> Iterator[Figure]:
    for wrong in ("go", "no_go"):
        yield Figure(what=f"{what}, wrong {wrong}", value=getattr(found, wrong), unit="", at_most=MOST)


def tallies(drawn: Drawn) -> Iterator[Tally]:
    """Yield the sums of each suite, whose samples are single 0/1 attempts."""
    sums = [
        one.sum(1).tolist() for one in (drawn.weight, drawn.up, drawn.up**2, drawn.weight * drawn.up, drawn.weight**2)
    ]
    for size, total, squares, cross, sizes in zip(*sums, strict=True):
        yield Tally(
            clusters=drawn.weight.shape[1],
            samples=round(size),
            total=total,
            squares=squares,
            cross=cross,
            sizes=sizes,
            sample_squares=total,
            scored=round(size),
            planned=round(size),
            out_of=size,
            points=total,
        )


def intervals(drawn: Drawn, truth: float) -> tuple[float, float, float, float]:
    """Return how often intervals cover the truth and lie above it, and how often a gate says GO or NO-GO there."""
    covered = above = wrong_go = wrong_no = 0
    for one in tallies(drawn):
        found = estimate("", one)
        bounds = one_sided(found, ERROR)
        if found.low is None or found.high is None or bounds is None:
            raise ValueError("a suite of several clusters has an interval")
        covered += found.low <= truth <= found.high
        above += found.low > truth
        wrong_go += bounds.low > truth
        wrong_no += bounds.high < truth
    return tuple(count / len(drawn.weight) for count in (covered, above, wrong_go, wrong_no))  # type: ignore[return-value]


def races(sizes: Sequence[int], wrong: float, agents: int, count: int, rounds: int) -> float:
    """Return in what share of races of equal agents one of them is named best; each fails whole clusters by itself.

    Every pair looks until the last step, however futile, so that no error is hidden.
    """
    source = np.random.default_rng([count, agents])
    kind = Kind(name="race", draw=_unused, truth=0.0, paired=True, heaviest=max(sizes))
    error = error_of_a_pair(agents)
    named = 0
    for start in range(0, rounds, AT_ONCE):
        suites = min(AT_ONCE, rounds - start)
        weight = source.permuted(np.resize(np.array(sizes, dtype=float), (suites, count)), axis=1)
        lost = source.random((agents, suites, count)) < wrong
        results = []
        for first, second in combinations(range(agents), 2):
            up, down = weight * (lost[first] & ~lost[second]), weight * (lost[second] & ~lost[first])
            drawn, limit = Drawn(weight=weight, up=up, down=down), np.zeros(suites)
            decided, after = decisions(kind, drawn, limit, error, "samples", futile=False)
            if not start and not first:
                _check(kind, drawn, limit, error, "samples", decided, after, futile=False)
            results.append(PairFound(pair=(first, second), decided=decided, after=after))
        named += sum(len(left_of_race(results, agents, suite)[0]) == 1 for suite in range(suites))
    return named / rounds


def _unused(source: np.random.Generator, suites: int, steps: int) -> Drawn:
    raise NotImplementedError("agents of a race are drawn together")


def comparisons(drawn: Drawn, rounds: int, wrong: float) -> tuple[float, float]:
    """Return how often the interval of a comparison with a run that is always right covers, and of equal runs excludes 0."""
    covered = found = 0
    for weight, up, other in zip(drawn.weight[:rounds], drawn.up, drawn.up[::-1], strict=False):
        lost = compare(_pairs(weight, up, weight))
        covered += lost.low is not None and lost.high is not None and lost.low <= -wrong <= lost.high
        found += compare(_pairs(weight, up, other)).p_value <= ERROR
    return covered / rounds, found / rounds


def _pairs(weight: Numbers, first: Numbers, second: Numbers) -> list[PairedSample]:
    return [
        PairedSample(cluster=str(at), first=float(one > 0), second=float(other > 0))
        for at, (size, one, other) in enumerate(zip(weight, first, second, strict=True))
        for _ in range(round(float(size)))
    ]
