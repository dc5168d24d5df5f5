"""The official aggregate, by hand-made category estimates; the example is one of the official tool's own runs."""

import pytest

from proctor.benchmarks.bfcl.dataset import CATEGORIES, COLLECTIONS
from proctor.benchmarks.bfcl.summary import WEIGHTS, summarise
from proctor.core.run import Estimate


def estimate(category: str, right: int, count: int) -> Estimate:
    value = right / count
    return Estimate(
        name="accuracy",
        slice=f"category={category}",
        value=value,
        scored=count,
        planned=count,
        clusters=count,
        floor=value,
        ceiling=value,
        standard_error=(value * (1 - value) / count) ** 0.5,
    )


def by_name(*estimates: Estimate) -> dict[str, Estimate]:
    return {one.name: one for one in summarise(estimates, list)}


def test_weights_of_every_aggregate_sum_to_one() -> None:
    for weights in WEIGHTS.values():
        assert sum(weights.values()) == pytest.approx(1)


def test_live_relevance_and_format_sensitivity_do_not_count() -> None:
    weights = WEIGHTS["overall"]
    assert set(COLLECTIONS["all_scoring"]) - weights.keys() == {"live_relevance"}


def test_the_official_example_comes_out() -> None:
    # simple_python 1/2, irrelevance 1/2, memory_kv 1/1, web_search_base 1/1: official 4.17, 41.67 and 19.58 per cent
    found = by_name(
        estimate("simple_python", 1, 2),
        estimate("irrelevance", 1, 2),
        estimate("memory_kv", 1, 1),
        estimate("web_search_base", 1, 1),
    )
    official = {name: round(100 * (one.value or 0), 2) for name, one in found.items() if name.startswith("official_")}
    assert official == {"official_non_live": 4.17, "official_agentic": 41.67, "official_overall": 19.58}


def test_of_one_category_nothing_is_shown_but_what_was_not_run() -> None:
    overall = by_name(estimate("multiple", 1, 2)).pop("overall")
    assert set(by_name(estimate("multiple", 1, 2))) == {"overall"}
    assert (overall.value, overall.low, overall.floor, overall.ceiling) == (None, None, None, None)
    assert str(overall.note) == (
        "not run: simple_python, simple_java, simple_javascript, parallel, parallel_multiple, irrelevance, live, multi_turn, agentic"
    )


def test_an_aggregate_without_all_its_categories_is_left_out() -> None:
    found = by_name(estimate("live_simple", 1, 2), estimate("irrelevance", 1, 2))
    assert set(found) == {"official_live", "overall", "official_overall"}
    assert str(found["official_overall"].note).startswith("counted as 0, as the official tool does: ")


def test_an_official_number_has_the_interval_of_what_was_run() -> None:
    found = by_name(estimate("irrelevance", 120, 240), estimate("live_irrelevance", 442, 884))
    whole, official = found["irrelevance"], found["official_overall"]
    assert whole.low is not None
    assert whole.value is not None
    assert official.value == pytest.approx(0.1 * whole.value)
    assert official.low == pytest.approx(0.1 * whole.low)


def test_simple_and_irrelevance_have_no_official_number_while_incomplete() -> None:
    found = by_name(estimate("simple_java", 1, 2), estimate("irrelevance", 1, 2))
    assert not {"official_simple", "official_irrelevance"} & found.keys()


def test_non_live_is_a_mean_of_means_without_irrelevance() -> None:
    right = {"simple_python": 9, "simple_java": 6, "simple_javascript": 3, "multiple": 5, "parallel": 2}
    found = by_name(
        *(estimate(name, count, 10) for name, count in right.items()),
        estimate("parallel_multiple", 1, 10),
        estimate("irrelevance", 10, 10),
    )
    assert found["simple"].value == pytest.approx(0.6)
    assert found["non_live"].value == pytest.approx((0.6 + 0.5 + 0.2 + 0.1) / 4)


def test_live_is_weighted_by_official_sizes_whatever_was_scored() -> None:
    right = {"live_simple": 1, "live_multiple": 2, "live_parallel": 0, "live_parallel_multiple": 2}
    sizes = {name: CATEGORIES[name].size for name in right}
    live = by_name(*(estimate(name, count, 2) for name, count in right.items()))["live"]
    assert live.value == pytest.approx(sum(sizes[name] * right[name] / 2 for name in right) / sum(sizes.values()))
    assert live.low is not None
    assert live.high is not None
    assert live.low < 0.8 < live.high


def test_a_complete_aggregate_has_an_interval_from_the_errors_of_its_parts() -> None:
    irrelevance = by_name(estimate("irrelevance", 180, 240), estimate("live_irrelevance", 442, 884))["irrelevance"]
    error = 0.5 * (0.75 * 0.25 / 240 + 0.25 / 884) ** 0.5
    assert irrelevance.value == pytest.approx(0.625)
    assert irrelevance.standard_error == pytest.approx(error)
    assert irrelevance.low == pytest.approx(0.625 - 1.959964 * error, abs=1e-6)
    assert irrelevance.high == pytest.approx(0.625 + 1.959964 * error, abs=1e-6)
    assert str(irrelevance.note) == ""


def test_with_every_category_run_our_number_and_the_official_one_are_the_same() -> None:
    found = by_name(*(estimate(name, 1, 4) for name in COLLECTIONS["all_scoring"]))
    assert found["overall"].value == pytest.approx(0.25)
    assert found["official_overall"].value == pytest.approx(0.25)
    assert found["overall"].scored == 4 * (len(COLLECTIONS["all_scoring"]) - 1)


def test_a_category_of_which_nothing_could_be_scored_leaves_bounds() -> None:
    unscored = Estimate(
        name="accuracy", slice="category=live_irrelevance", value=None, planned=884, floor=0.0, ceiling=1.0
    )
    found = by_name(estimate("irrelevance", 1, 2), unscored)["irrelevance"]
    assert (found.value, found.floor, found.ceiling) == (None, 0.25, 0.75)


def test_other_metrics_and_slices_are_not_taken_for_categories() -> None:
    whole = Estimate(name="accuracy", value=0.5)
    group = Estimate(name="accuracy", slice="group=live", value=0.5)
    other = Estimate(name="points", slice="category=multiple", value=0.5)
    assert by_name(whole, group, other) == {}


def test_the_sizes_that_weigh_missing_live_categories_are_the_official_ones() -> None:
    official = by_name(estimate("live_multiple", 1053, 1053), estimate("irrelevance", 1, 2))["official_live"]
    assert official.value == pytest.approx(1053 / (258 + 1053 + 16 + 24))
    assert CATEGORIES["live_multiple"].size == 1053
