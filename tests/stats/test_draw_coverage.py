"""Does the interval of a draw cover the value of the full run? By simulation, over seeds of the draw itself."""

import math
import random
from collections.abc import Mapping, Sequence
from math import comb

import pytest
from simulated import chance, rounds, spread

from proctor.core.run import Selection, Target
from proctor.core.sample import Sample
from proctor.core.tally import Case, tally
from proctor.core.task import Task
from proctor.engine.order import shuffle
from proctor.engine.selection import choose
from proctor.stats.paired import Difference, PairedSample, compare
from proctor.stats.strata import MeasuredStratum, estimate, weight_by_stratum

RATES = {"easy": 0.9, "hard": 0.54}
SIZES = {"easy": 900, "hard": 100}
BFCL = {
    "simple_python": (400, 0.92),
    "simple_java": (100, 0.6),
    "simple_javascript": (50, 0.6),
    "multiple": (200, 0.9),
    "parallel": (200, 0.85),
    "parallel_multiple": (200, 0.8),
    "irrelevance": (240, 0.85),
    "live_simple": (258, 0.75),
    "live_multiple": (1053, 0.7),
    "live_parallel": (16, 0.6),
    "live_parallel_multiple": (24, 0.6),
    "live_irrelevance": (884, 0.8),
    "live_relevance": (16, 0.7),
}


def made(shape: dict[str, tuple[int, float]], seed: int) -> tuple[Task, dict[str, float]]:
    source = random.Random(seed)
    samples, values = [], {}
    for stratum, (size, rate) in shape.items():
        for place in range(size):
            samples.append(Sample.ask(f"{stratum}_{place}", "?", tags={"of": stratum}))
            values[samples[-1].id] = float(source.random() < rate)
    return Task(name="t", samples=samples, spread_by="of"), values


def covered(
    task: Task, values: dict[str, float], seeds: Sequence[int], *, limit: int, target: Target, visited: float = 1.0
) -> tuple[float, float]:
    """The share of draws whose interval holds the value of the full run, and the mean of their errors."""
    truth = sum(values.values()) / len(values)
    hits, errors = 0, 0.0
    for seed in seeds:
        found = choose(task, Selection(limit=limit), seed)
        taken = list(found.visits())
        taken = taken[: round(len(taken) * visited)]
        strata = [
            MeasuredStratum(
                name=name,
                size=size,
                tally=tally(
                    Case(cluster=one.id, values=(values[one.id],), planned=1)
                    for one in taken
                    if found.strata.by == "" or one.tags["of"] == name
                ),
            )
            for name, size in found.strata.sizes.items()
        ]
        made = estimate("", strata, of_suite=target == "suite")
        assert made.low is not None
        assert made.high is not None
        assert made.value is not None
        hits += made.low <= truth <= made.high
        errors += made.value - truth
    return hits / len(seeds), errors / len(seeds)


def test_a_draw_of_two_strata_covers_the_full_run() -> None:
    """Over all draws there are, so that no seed is lucky: how many are right in each stratum is hypergeometric."""
    _, values = made({name: (SIZES[name], RATES[name]) for name in SIZES}, 1)
    right = {name: sum(values[f"{name}_{place}"] for place in range(size)) for name, size in SIZES.items()}
    truth = sum(right.values()) / 1000
    share = error = 0.0
    for easy in range(60, 91):
        for hard in range(11):
            chance = chance_of(easy, 90, right["easy"], 900) * chance_of(hard, 10, right["hard"], 100)
            made_of = (("easy", 900, 90, easy), ("hard", 100, 10, hard))
            strata = [
                MeasuredStratum(
                    name=name,
                    size=size,
                    tally=tally(Case(cluster=f"{name}{n}", values=(float(n < hits),), planned=1) for n in range(count)),
                )
                for name, size, count, hits in made_of
            ]
            one = estimate("", strata)
            assert one.low is not None
            assert one.high is not None
            assert one.value is not None
            share += chance * (one.low <= truth <= one.high)
            error += chance * (one.value - truth)
    assert 0.93 <= share <= 0.97
    assert abs(error) < 1e-9


def chance_of(hits: int, drawn: int, right: float, size: int) -> float:
    """The chance of that many hits in a draw without replacement."""
    return comb(int(right), hits) * comb(size - int(right), drawn - hits) / comb(size, drawn)


def test_the_draws_of_consecutive_seeds_are_as_good_as_independent() -> None:
    """Their spread is the hypergeometric one, and one seed tells nothing of the next."""
    counts = [sum(place < 450 for place in shuffle(range(900), "easy", seed)[:90]) for seed in range(4000)]
    mean = sum(counts) / len(counts)
    spread = sum((one - mean) ** 2 for one in counts) / len(counts)
    expected = 90 / 4 * 810 / 899
    assert mean == pytest.approx(45, abs=3 * math.sqrt(expected / len(counts)))
    assert spread == pytest.approx(expected, rel=0.08)
    for lag in (1, 2, 10):
        together = sum((a - mean) * (b - mean) for a, b in zip(counts, counts[lag:], strict=False))
        assert abs(together / len(counts) / spread) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("target", ["samples", "suite"])
@pytest.mark.parametrize(("visited", "most"), [(1.0, 0.97), (0.5, 0.98)])
def test_draws_cover_the_full_run_and_favour_no_stratum(target: Target, visited: float, most: float) -> None:
    """Also where the run is stopped half-way: 50 samples, for which the interval is a little wide."""
    task, values = made({name: (SIZES[name], RATES[name]) for name in SIZES}, 1)
    share, error = covered(task, values, range(rounds(800)), limit=100, target=target, visited=visited)
    wider = chance(0.05, 800)
    assert 0.93 - wider <= share <= most + wider
    assert abs(error) < 0.005 * spread(800)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [10, 20, 100, 400])
def test_draws_of_many_strata_cover_the_full_run(limit: int) -> None:
    task, values = made(BFCL, 2)
    share, error = covered(task, values, range(rounds(200)), limit=limit, target="suite")
    assert 0.92 - chance(0.05, 200) <= share <= 0.99 + chance(0.02, 200)
    assert abs(error) < 0.02 * spread(200)


MOVES = {"easy": (0.06, 0.02), "hard": (0.40, 0.05)}  # won and lost by the second run: +4 points of nine tenths, +35
NO_MOVES = {"easy": (0.04, 0.04), "hard": (0.25, 0.25)}
ONE_WAY = {"easy": (0.05, 0.0), "hard": (0.05, 0.0)}
BFCL_MOVES = {name: ((0.1, 0.04) if size > 100 else (0.3, 0.1)) for name, (size, _) in BFCL.items()}
BFCL_DRAWN = {name: max(size // 35, 1) for name, (size, _) in BFCL.items()}


def difference(
    draw: random.Random, sizes: Mapping[str, int], moves: Mapping[str, tuple[float, float]], counts: Mapping[str, int]
) -> Difference:
    """The difference of two runs over so many pairs of each stratum."""
    weights = weight_by_stratum(dict(sizes), counts)
    pairs: list[PairedSample] = []
    for stratum, count in counts.items():
        won, lost = moves[stratum]
        for _ in range(count):
            chance = draw.random()
            first, second = (1, 0) if chance < won else (0, 1) if chance < won + lost else (1, 1)
            pairs.append(PairedSample(cluster=str(len(pairs)), first=first, second=second, weight=weights[stratum]))
    return compare(pairs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "moves", "counts"),
    [
        (SIZES, MOVES, {"easy": 90, "hard": 10}),
        (SIZES, MOVES, {"easy": 85, "hard": 5}),
        (SIZES, ONE_WAY, {"easy": 45, "hard": 55}),
        (SIZES, NO_MOVES, {"easy": 90, "hard": 4}),
        ({name: size for name, (size, _) in BFCL.items()}, BFCL_MOVES, BFCL_DRAWN),
    ],
)
def test_a_difference_of_pairs_by_strata_is_covered_and_never_contradicts_its_verdict(
    sizes: Mapping[str, int], moves: Mapping[str, tuple[float, float]], counts: Mapping[str, int]
) -> None:
    truth = sum(size * (moves[name][0] - moves[name][1]) for name, size in sizes.items()) / sum(sizes.values())
    draw = random.Random(5)
    runs, hits, error = rounds(200), 0, 0.0
    for _ in range(runs):
        found = difference(draw, sizes, moves, counts)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= truth <= found.high
        error += found.value - truth
        assert (found.p_value <= 0.05) == (not found.low <= 0 <= found.high)
    assert hits / runs >= 0.925 - chance(0.05, 200)
    assert abs(error / runs) < 0.012 * spread(200)
