"""Does the interval of a draw cover the value of the full run? By simulation, over seeds of the draw itself."""

import random
from collections.abc import Sequence

import pytest

from proctor.core.run import Selection, Target
from proctor.core.sample import Sample
from proctor.core.tally import Case, tally
from proctor.core.task import Task
from proctor.engine.selection import chosen
from proctor.stats.strata import Stratum, estimate

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
        found = chosen(task, Selection(limit=limit), seed)
        taken = list(found.visits())
        taken = taken[: round(len(taken) * visited)]
        strata = [
            Stratum(
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
    task, values = made({name: (SIZES[name], RATES[name]) for name in SIZES}, 1)
    share, error = covered(task, values, range(200), limit=100, target="samples")
    assert 0.92 <= share <= 0.99, "200 draws say it to within three points"
    assert abs(error) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("target", ["samples", "suite"])
@pytest.mark.parametrize(("visited", "most"), [(1.0, 0.97), (0.5, 0.98)])
def test_draws_cover_the_full_run_and_favour_no_stratum(target: Target, visited: float, most: float) -> None:
    """Also where the run is stopped half-way: 50 samples, for which the interval is a little wide."""
    task, values = made({name: (SIZES[name], RATES[name]) for name in SIZES}, 1)
    share, error = covered(task, values, range(800), limit=100, target=target, visited=visited)
    assert 0.93 <= share <= most
    assert abs(error) < 0.005


@pytest.mark.slow
@pytest.mark.parametrize("limit", [10, 20, 100, 400])
def test_draws_of_many_strata_cover_the_full_run(limit: int) -> None:
    task, values = made(BFCL, 2)
    share, error = covered(task, values, range(200), limit=limit, target="suite")
    assert 0.92 <= share <= 0.99
    assert abs(error) < 0.02
