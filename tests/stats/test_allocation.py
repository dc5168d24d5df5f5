import pytest
from bench.stages import TASKS, simulate

from proctor.core.run import RunStage, Strata
from proctor.core.tally import Tally
from proctor.stats.allocation import allocate, stage_by_sample, stage_sizes

SIZES = {"a": 600, "b": 300, "c": 100}


def right(samples: int, total: float) -> Tally:
    return Tally(samples=samples, total=total, sample_squares=total)


def test_samples_go_by_size_and_spread_as_neyman_says() -> None:
    tallies = {"a": right(2_000, 1_000), "b": right(2_000, 1_000), "c": right(2_000, 1_000)}
    assert allocate(SIZES, {}, tallies, 100) == {"a": 60, "b": 30, "c": 10}
    surer = {**tallies, "a": right(2_000, 2_000 * 0.9)}
    counts = allocate(SIZES, {}, surer, 100)
    assert counts["a"] / counts["b"] == pytest.approx(2 * 0.3 / 0.5, rel=0.05)


def test_every_stratum_gets_some_and_none_more_than_it_has() -> None:
    tallies = {"a": right(50, 50), "b": right(50, 50), "c": right(50, 25)}
    counts = allocate(SIZES, {"a": 50, "b": 50, "c": 95}, tallies, 300)
    assert counts["c"] == 5
    assert min(counts.values()) >= 1
    assert sum(counts.values()) == 300


def test_where_all_was_right_samples_go_by_size() -> None:
    assert allocate(SIZES, {}, {name: right(10, 10) for name in SIZES}, 100) == {"a": 60, "b": 30, "c": 10}


def test_stages_share_the_size_of_a_stratum_by_their_totals() -> None:
    first, later = RunStage(counts={"a": 60, "b": 40}), RunStage(counts={"a": 10, "b": 90}, ids=("x", "y"))
    known = Strata(by="of", sizes={"a": 600, "b": 400}, stages=(first, later))
    assert stage_sizes(known) == {"a": 300, "a (2)": 300, "b": 200, "b (2)": 200}
    assert stage_by_sample(known) == {"x": 1, "y": 1}


def test_a_run_that_drew_all_in_the_end_needs_no_weights() -> None:
    first, later = RunStage(counts={"a": 60, "b": 40}), RunStage(counts={"a": 0, "b": 20}, ids=("x",))
    known = Strata(by="of", sizes={"a": 60, "b": 60}, stages=(first, later))
    assert stage_sizes(known) == {"a": 60, "b": 60}
    assert stage_by_sample(known) == {}


def test_the_estimate_of_two_stages_is_unbiased_and_covers_by_simulation() -> None:
    """In short; `python -m bench stages` is the long form."""
    found = simulate(TASKS["one hard category"], 250)
    assert abs(found.bias) < 3.5 * found.bias_error
    assert found.coverage > 0.9
