"""Estimates of a task from samples of its strata."""

import pytest

from proctor.core.tally import Case, Tally, tally
from proctor.stats.rate import wilson
from proctor.stats.strata import MeasuredStratum, estimate, points, weight_by_stratum


def of(*values: float, planned: int | None = None, clusters: str | None = None) -> Tally:
    names = clusters or [str(place) for place in range(len(values))]
    made = [Case(cluster=name, values=(value,), planned=1) for name, value in zip(names, values, strict=True)]
    return tally(
        [*made, *(Case(cluster="?", values=(), planned=1) for _ in range((planned or len(values)) - len(values)))]
    )


def stratum(name: str, size: float, tally: Tally) -> MeasuredStratum:
    return MeasuredStratum(name=name, tally=tally, size=size)


def test_each_stratum_counts_by_its_size_in_the_task() -> None:
    found = estimate("", [stratum("easy", 900, of(1, 1, 1, 0)), stratum("hard", 100, of(0, 0, 0, 1))])
    assert found.value == pytest.approx(0.9 * 0.75 + 0.1 * 0.25)
    assert (found.floor, found.ceiling) == (found.value, found.value)


def test_one_stratum_has_the_plain_mean_and_an_interval_close_to_wilson() -> None:
    values = (*(1.0,) * 60, *(0.0,) * 40)
    found = estimate("", [stratum("", 10_000, of(*values))])
    plain = wilson(0.6, 100)
    assert found.value == 0.6
    assert found.low == pytest.approx(plain.low, abs=0.01)
    assert found.high == pytest.approx(plain.high, abs=0.01)


def test_half_of_a_suite_has_the_factor_of_a_finite_population() -> None:
    # √(1 - 200/400) = .7071: the published figure is .093 for an interval of width .131 with 200 of 400 at one half
    values = (*(1.0,) * 100, *(0.0,) * 100)
    like_these = estimate("", [stratum("", 400, of(*values))])
    of_these = estimate("", [stratum("", 400, of(*values))], of_suite=True)
    assert like_these.standard_error is not None
    assert of_these.standard_error is not None
    assert of_these.standard_error / like_these.standard_error == pytest.approx(0.5**0.5)
    # s²/n (1 - n/N), s² = n p q / (n - 1), the spread of all counting as one observation more
    assert of_these.standard_error**2 == pytest.approx(0.5 * 0.25 / 200, rel=0.01)


def test_a_suite_run_whole_has_no_width() -> None:
    found = estimate("", [stratum("a", 3, of(1, 0, 1)), stratum("b", 1, of(0))], of_suite=True)
    assert found.low == found.value == found.high == 0.5


def test_clusters_do_not_matter_where_the_suite_itself_is_the_target() -> None:
    clustered = [stratum("", 40, of(1, 1, 1, 0, 0, 0, clusters="aaabbb"))]
    alone = [stratum("", 40, of(1, 1, 1, 0, 0, 0))]
    assert estimate("", clustered, of_suite=True).low == estimate("", alone, of_suite=True).low
    wide, narrow = estimate("", clustered), estimate("", alone)
    assert wide.low is not None
    assert narrow.low is not None
    assert wide.low < narrow.low


def test_clusters_in_several_strata_make_the_interval_wider() -> None:
    strata = [stratum(name, 100, of(1, 1, 0, 0, clusters="abcd")) for name in "xyz"]
    apart, together = estimate("", strata), estimate("", strata, clusters=4)
    assert apart.low is not None
    assert together.low is not None
    assert together.low < apart.low
    assert together.clusters == 4


def test_a_stratum_without_any_score_is_stood_for_by_those_no_larger_and_named() -> None:
    strata = [stratum("big", 80, of(1, 1)), stratum("mid", 15, of(planned=2)), stratum("small", 5, of(0, 0))]
    found = estimate("", strata)
    assert found.value == pytest.approx(0.8), "mid counts as small does"
    assert str(found.note) == "nothing scored in: mid; others represent it"
    assert found.floor == pytest.approx(0.8)
    assert found.ceiling == pytest.approx(0.95)


def test_one_sample_in_each_stratum_still_has_an_interval() -> None:
    found = estimate("", [stratum(str(place), 10, of(value)) for place, value in enumerate((0.2, 0.4, 0.9, 1.0))])
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 0.3
    assert 0.85 < found.high < 1


def test_all_right_is_as_sure_as_wilson_on_the_effective_number() -> None:
    found = estimate("", [stratum("a", 50, of(1, 1, 1, 1)), stratum("b", 50, of(1, 1, 1, 1))])
    assert found.low == pytest.approx(wilson(1.0, 8).low)


def test_one_sample_alone_has_no_interval_and_none_no_value() -> None:
    assert estimate("", [stratum("a", 50, of(1))]).low is None
    empty = estimate("", [stratum("a", 50, of(planned=3))])
    assert (empty.value, empty.floor, empty.ceiling) == (None, 0.0, 1.0)


def test_points_are_weighted_too() -> None:
    full = tally([Case(cluster="a", values=(1.0,), planned=1, points=4, out_of=4)])
    none = tally([Case(cluster="b", values=(0.0,), planned=1, points=0, out_of=1)])
    strata = [stratum("a", 10, full), stratum("b", 30, none)]
    assert points("points", strata, estimate("", strata)).value == pytest.approx(40 / 70)


def test_weighted_points_have_the_interval_of_a_ratio() -> None:
    def scored(values: str, clusters: str = "") -> Tally:
        names = clusters or [f"{values}{place}" for place in range(len(values))]
        earned = zip(names, map(int, values), strict=True)
        return tally(Case(cluster=name, values=(n / 4,), planned=1, points=n, out_of=4) for name, n in earned)

    strata = [stratum("a", 90, scored("4432" * 5)), stratum("b", 10, scored("1012"))]
    score = estimate("", strata)
    ratio = points("points", strata, score)
    assert ratio.method == score.method
    assert ratio.value == pytest.approx(score.value), "all samples are out of four"
    assert ratio.low is not None
    assert ratio.high is not None
    assert ratio.low < 0.74 < ratio.high
    assert score.standard_error is not None
    assert ratio.standard_error is not None
    assert 1 <= ratio.standard_error / score.standard_error < 1.2, "also what the strata differ by is in it"
    whole = [stratum("a", 4, scored("4432")), stratum("b", 4, scored("1012"))]
    this = points("points", whole, estimate("", whole, of_suite=True), of_suite=True)
    assert this.low == this.value == this.high == pytest.approx(17 / 32)
    across = [stratum(name, 40, scored("4310", clusters="abcd")) for name in "xy"]
    apart = points("points", across, estimate("", across, clusters=4))
    assert (apart.low, apart.method) == (None, "no interval: clusters lie across strata")


def test_weights_for_pairs_average_to_one() -> None:
    weights = weight_by_stratum({"a": 90, "b": 10, "c": 5}, {"a": 10, "b": 10})
    assert sum(10 * weights[name] for name in "ab") == pytest.approx(20)
    assert weights["a"] / weights["b"] == pytest.approx(90 / 15)
