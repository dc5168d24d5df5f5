"""The official aggregate, by hand-made category estimates; the example is one of the official tool's own runs."""

import random
import statistics

import pytest

from proctor.core.run import Estimate
from proctor.core.tally import Case, tally
from proctor.stats.estimate import estimate as rate
from proctor_benchmarks.bfcl.dataset import CATEGORIES, COLLECTIONS, MEMORY
from proctor_benchmarks.bfcl.summary import WEIGHTS, summarise


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


def test_of_one_group_no_overall_is_shown_as_it_would_be_about_what_was_not_run() -> None:
    assert not by_name(estimate("multiple", 1, 2))
    assert set(by_name(estimate("simple_python", 1, 2), estimate("irrelevance", 1, 2))) == {"official_non_live"}


def test_an_aggregate_of_one_part_is_of_the_whole_run() -> None:
    found = by_name(*(estimate(name, 1, 4) for name in ("simple_python", "irrelevance", *COLLECTIONS["multi_turn"])))
    assert {one.slice for one in found.values()} == {""}
    assert {"official_non_live", "multi_turn", "official_overall"} <= found.keys()


def test_an_overall_without_all_its_parts_says_which_were_not_run() -> None:
    overall = by_name(estimate("multiple", 1, 2), estimate("multi_turn_base", 1, 2))["overall"]
    assert (overall.value, overall.low, overall.floor, overall.ceiling) == (None, None, None, None)
    assert str(overall.note) == (
        "not run: simple_python, simple_java, simple_javascript, parallel, parallel_multiple, irrelevance, "
        "multi_turn_miss_func, multi_turn_miss_param, multi_turn_long_context, live, agentic"
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


def shared(category_rows: dict[str, dict[str, list[float]]], group: str) -> list[Estimate]:
    """Estimates of categories and of their group, from values by category and cluster."""
    cases = {
        name: [
            Case(cluster=cluster, values=(value,), planned=1, points=value, out_of=1)
            for cluster, values in rows.items()
            for value in values
        ]
        for name, rows in category_rows.items()
    }
    whole = tally(case for each in cases.values() for case in each)
    return [
        *(rate("accuracy", tally(each), slice=f"category={name}") for name, each in cases.items()),
        rate("accuracy", whole, slice=f"group={group}"),
    ]


def test_the_error_of_categories_that_share_clusters_holds_their_covariances() -> None:
    source = random.Random(1)
    rows = {name: {str(at): [float(source.random() < 0.6)] for at in range(60)} for name in COLLECTIONS["web_search"]}
    for at in range(45):  # most questions have the same result in both
        rows["web_search_no_snippet"][str(at)] = rows["web_search_base"][str(at)]
    found = by_name(*shared(rows, "web_search"), *shared(dict.fromkeys(MEMORY, rows["web_search_base"]), "memory"))
    values = [[each[0] for each in one.values()] for one in rows.values()]
    first, second = (statistics.variance(each) / 60 for each in values)
    web = 0.25 * (first + second) + 0.5 * statistics.covariance(*values) / 60
    memory = first  # three times the same results are as good as one
    error = found["agentic"].standard_error
    assert error is not None
    assert error**2 == pytest.approx(0.25 * (web + memory))
    assert error**2 > 0.25 * (0.25 * (first + second) + first / 3) * 1.5  # what independent categories would have


def test_a_group_without_its_slice_is_taken_for_independent() -> None:
    alone = by_name(*(estimate(name, 1, 4) for name in COLLECTIONS["multi_turn"]))["multi_turn"]
    assert alone.standard_error == pytest.approx((0.25 * 0.75 / 4) ** 0.5 / 2)


@pytest.mark.slow
def test_the_interval_of_the_overall_covers_where_categories_share_their_questions() -> None:
    """All sizes x 0.3; conversations and questions shared (correlation 0.5), scenarios of memory (0.1). Independent: below 88 %."""
    source = random.Random(7)
    rates = dict.fromkeys(WEIGHTS["overall"], 0.85) | dict.fromkeys(COLLECTIONS["multi_turn"], 0.5)
    rates |= dict.fromkeys(MEMORY, 0.35) | dict.fromkeys(COLLECTIONS["web_search"], 0.6)
    truth = sum(weight * rates[name] for name, weight in WEIGHTS["overall"].items())
    sizes = {"multi_turn": [1] * 60, "web_search": [1] * 30, "memory": [15, 9, 8, 8, 8]}
    hits = naive = 0
    rounds = 400
    for _ in range(rounds):
        estimates = []
        for name in COLLECTIONS["single_turn"]:
            count = max(round(0.3 * CATEGORIES[name].size), 2)
            estimates.append(estimate(name, sum(source.random() < rates.get(name, 0) for _ in range(count)), count))
        for group, clusters in sizes.items():
            effects = [source.gauss(0, 1) for _ in clusters]
            rows = {
                name: drawn(source, rates[name], clusters, effects, 0.1 if group == "memory" else 0.5)
                for name in COLLECTIONS[group]
            }
            estimates += shared(rows, group)
        ours = by_name(*estimates)["overall"]
        without = by_name(*(one for one in estimates if not one.slice.startswith("group=")))["overall"]
        hits += ours.low is not None and ours.high is not None and ours.low <= truth <= ours.high
        naive += without.low is not None and without.high is not None and without.low <= truth <= without.high
    assert 0.93 <= hits / rounds <= 0.98
    assert naive / rounds < 0.9


def drawn(
    source: random.Random, value: float, clusters: list[int], effects: list[float], shared_part: float
) -> dict[str, list[float]]:
    """Results by cluster: right with probability `value`, correlated in a cluster by its effect."""
    at = statistics.NormalDist().inv_cdf(value)
    own = (1 - shared_part) ** 0.5
    return {
        str(number): [float(shared_part**0.5 * effect + own * source.gauss(0, 1) < at) for _ in range(size)]
        for number, (size, effect) in enumerate(zip(clusters, effects, strict=True))
    }
