import math
from collections.abc import Sequence
from itertools import product

import pytest

from proctor.core.errors import BadInput
from proctor.core.tally import Case, Tally, tally
from proctor.stats.distributions import t_quantile
from proctor.stats.estimate import combine, estimate, is_rate, metrics
from proctor.stats.rate import wilson
from proctor_ci.stats.bounds import one_sided

NINE = [(1, 1, 0), (0, 0), (1, 0, 1, 1)]  # scores of nine samples in three clusters


def test_independent_right_and_wrong_answers_get_wilson() -> None:
    one = estimate("accuracy", _samples([1] * 18 + [0] * 2), slice="level=1")
    assert (one.name, one.slice, one.level, one.method) == ("accuracy", "level=1", 0.95, "Wilson")
    assert (one.value, one.floor, one.ceiling) == (0.9, 0.9, 0.9)
    assert (one.low, one.high) == pytest.approx((0.698966, 0.972134), abs=1e-6)
    assert one.standard_error == pytest.approx(math.sqrt(0.9 * 0.1 / 20))
    assert (one.scored, one.planned, one.clusters) == (20, 20, 20)


def test_samples_of_a_cluster_move_together() -> None:
    clustered = estimate("accuracy", _clusters(NINE))
    assert clustered.value == pytest.approx(0.5555556, abs=1e-6)
    assert clustered.standard_error == pytest.approx(0.1900593, abs=1e-6)
    assert clustered.method == "Wilson with t over clusters"
    degrees = 9**2 / (3**2 + 2**2 + 4**2) - 1
    wider = 0.1900593 * (1 - 1 / 3) * (degrees + 1) / degrees  # as the clusters differ in size
    expected = wilson(5 / 9, 5 / 9 * 4 / 9 / wider**2, quantile=t_quantile(0.975, degrees))
    assert clustered.degrees == pytest.approx(degrees)
    assert (clustered.low, clustered.high) == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_the_clustered_error_agrees_with_the_published_form() -> None:
    """Miller's SE² is the sandwich without G / (G - 1), plus 1 / n of the plain SE²."""
    clustered, plain = estimate("", _clusters(NINE)), estimate("", _points([x for group in NINE for x in group]))
    assert clustered.standard_error is not None
    assert plain.standard_error is not None
    assert plain.standard_error == pytest.approx(0.1756821, abs=1e-6)
    sandwich = clustered.standard_error * math.sqrt(2 / 3)
    assert sandwich == pytest.approx(0.1551828, abs=1e-6)
    assert math.hypot(sandwich, plain.standard_error / 3) == pytest.approx(0.1658646, abs=1e-6)


def test_points_get_t_over_samples() -> None:
    one = estimate("score", _points([0.2, 0.4, 0.9]))
    error = math.sqrt((0.3**2 + 0.1**2 + 0.4**2) / 6)
    assert one.method == "Wilson with t over samples"
    assert one.standard_error == pytest.approx(error)
    quantile, spread = t_quantile(0.975, 2), math.sqrt(3) * error
    skewness = min(2.5 * (spread / 0.5) ** 3, (0.5 - spread**2 / 0.5) / spread / 2)
    wider = 1 + skewness * (1 + 2 * quantile**2) / (6 * math.sqrt(3)) / quantile
    expected = wilson(0.5, max(0.25 / error**2 / wider**2, 3), quantile=quantile)
    assert (one.low, one.high) == pytest.approx((expected.low, expected.high))


def test_a_narrow_interval_is_nearly_t_with_one_degree_less_than_clusters() -> None:
    for one in (estimate("", _points([0.4, 0.5, 0.6])), estimate("", _clusters([(0.4, 0.4), (0.5, 0.5), (0.6, 0.6)]))):
        half = 4.302652730 * 0.1 / math.sqrt(3)
        assert (one.low, one.high) == pytest.approx((0.5 - half, 0.5 + half), abs=0.03)


def _lows(cases: Sequence[Sequence[Case]]) -> list[float]:
    lows = [estimate("", tally(one)).low for one in cases]
    return [low for low in lows if low is not None]


def _repeats(samples: int, attempts: int, wrong: int) -> list[Case]:
    """So many wrong attempts, each at another sample."""
    return [_case(str(i), (0,) * (i < wrong) + (1,) * (attempts - (i < wrong))) for i in range(samples)]


@pytest.mark.parametrize(("samples", "attempts"), [(20, 5), (10, 5), (100, 3), (5, 2)])
def test_a_run_with_wrong_attempts_is_never_surer_than_one_without(samples: int, attempts: int) -> None:
    lows = _lows([_repeats(samples, attempts, wrong) for wrong in range(samples + 1)])
    assert len(lows) == samples + 1
    assert lows == sorted(lows, reverse=True)


@pytest.mark.parametrize("points", [0.99, 0.999999, 0.75, 0.0])
@pytest.mark.parametrize("attempts", [1, 4])
def test_one_sample_short_of_full_points_is_never_surer_than_none(points: float, attempts: int) -> None:
    full = [_case(str(i), (1.0,) * attempts) for i in range(30)]
    lows = _lows([full, [_case("short", (points,) + (1.0,) * (attempts - 1)), *full[1:]]])
    assert lows[1] <= lows[0]
    highs = [
        estimate("", tally(_case(one.cluster, [1 - value for value in one.values]) for one in cases)).high
        for cases in (full, [_case("short", (points,) + (1.0,) * (attempts - 1)), *full[1:]])
    ]
    assert highs[0] is not None
    assert highs[1] is not None
    assert highs[1] >= highs[0]


def test_one_wrong_answer_in_a_cluster_is_never_surer_than_none() -> None:
    groups = [(1, 1, 1)] * 12
    lows = _lows([[_case(str(i), (value,)) for i, group in enumerate(each) for value in group]
                  for each in (groups, [(0, 1, 1), *groups[1:]])])  # fmt: skip
    assert lows[1] <= lows[0]


def test_small_clusters_that_lost_say_nothing_of_large_ones() -> None:
    """20 clusters of 20 samples are right, 8 of 80 single samples wrong: 10 % of the large ones may be wrong as a whole."""
    small = [Case(cluster=f"small {n}", values=(float(n >= 8),), planned=1) for n in range(80)]
    large = [Case(cluster=f"large {n}", values=(1.0,), planned=1) for n in range(20) for _ in range(20)]
    made = estimate("accuracy", tally([*small, *large]))
    bounds = one_sided(made, 0.05)
    assert made.low is not None
    assert bounds is not None
    assert made.low < 0.9
    assert bounds.low < 0.9
    alone = one_sided(estimate("accuracy", tally([*small[8:], *large])), 0.05)
    assert alone is not None
    assert alone.low < 0.05 ** (1 / 30)  # Kish's number, not that of the 92 clusters


def test_clusters_of_one_size_are_as_sure_as_ever() -> None:
    cases = [Case(cluster=str(n), values=(float(n % 10 > 0),), planned=1) for n in range(30) for _ in range(5)]
    made = estimate("accuracy", tally(cases))
    bounds = one_sided(made, 0.05)
    assert bounds is not None
    assert (made.low, made.high, bounds.low, bounds.high) == pytest.approx((0.735, 0.965, 0.7611, 0.9726), abs=0.05)


def test_strata_with_a_wrong_attempt_are_never_surer_than_without() -> None:
    lows = []
    for wrong in (0, 1):
        parts = [estimate("", tally(_repeats(20, 5, wrong))), estimate("", tally(_repeats(20, 5, 0)))]
        lows.append(combine("", "", [(0.5, part) for part in parts]).low)
    assert lows[0] is not None
    assert lows[1] is not None
    assert lows[1] <= lows[0]


def test_attempts_at_a_sample_are_not_new_samples() -> None:
    one = estimate(
        "accuracy", tally(_case(str(i), values) for i, values in enumerate([(1, 1, 1), (0, 0, 0), (1, 0, 1)]))
    )
    assert (one.method, one.scored, one.clusters) == ("Wilson with t over samples", 9, 3)
    assert one.value == pytest.approx(5 / 9)
    assert one.standard_error == estimate("", _points([1, 0, 2 / 3])).standard_error


def test_each_sample_counts_the_same_however_many_attempts_were_scored() -> None:
    assert estimate("", tally([_case("a", (1, 1, 1)), _case("b", (0,), planned=3)])).value == 0.5


@pytest.mark.parametrize("value", [0, 1, 0.1, 1 / 3])
def test_without_any_spread_wilson_over_clusters_keeps_the_interval_open(value: float) -> None:
    one = estimate("", tally(_case(str(cluster), (value, value)) for cluster in range(7) for _ in range(3)))
    expected = wilson(value, 7)
    assert one.method == "Wilson over clusters"
    assert one.standard_error == 0
    assert (one.low, one.high) == pytest.approx((expected.low, expected.high))


def test_rounding_is_not_taken_for_spread() -> None:
    for tenths, clusters in product(range(1, 10), range(2, 40)):
        one = estimate("", tally(_case(str(i), (tenths / 10,)) for i in range(clusters) for _ in range(1 + i % 3)))
        assert one.method == "Wilson over clusters"


@pytest.mark.parametrize(
    ("cases", "method"),
    [([("a", (1.0,)), ("a", (0.0,))], "no interval: one cluster"), ([("a", (1.0, 0.0))], "no interval: one sample")],
)
def test_one_cluster_has_no_interval_and_says_so(cases: list[tuple[str, tuple[float, ...]]], method: str) -> None:
    one = estimate("", tally(_case(*case) for case in cases))
    assert (one.value, one.low, one.high, one.standard_error, one.method) == (0.5, None, None, None, method)


def test_a_single_right_answer_is_weak_evidence() -> None:
    one = estimate("accuracy", _samples([1]))
    assert (one.value, one.high) == (1, 1)
    assert one.low == pytest.approx(0.206549, abs=1e-6)


def test_nothing_scored_is_no_number_between_0_and_1() -> None:
    one = estimate("", tally([Case(cluster="a", values=(), planned=2)]))
    assert (one.value, one.low, one.high, one.method) == (None, None, None, "nothing scored")
    assert (one.scored, one.planned, one.floor, one.ceiling) == (0, 2, 0, 1)


def test_nothing_planned_has_no_bounds() -> None:
    one = estimate("", Tally())
    assert (one.value, one.floor, one.ceiling) == (None, None, None)


def test_bounds_take_missing_samples_as_wrong_or_right() -> None:
    one = estimate("", tally([*(_case(str(i), (float(i < 6),)) for i in range(8)), _case("x", (), planned=2)]))
    assert (one.value, one.floor, one.ceiling) == (0.75, 0.6, 0.8)


def test_bounds_are_exact_where_attempts_are_missing() -> None:
    """Samples of 3 attempts: (1, 1, 1), (0, ?, ?), (?, ?, ?) are 1/3 at worst, and 8/9 at best."""
    one = estimate("", tally([_case("a", (1, 1, 1)), _case("b", (0,), planned=3), _case("c", (), planned=3)]))
    assert (one.value, one.floor, one.ceiling) == pytest.approx((0.5, 3 / 9, 8 / 9))


def test_bounds_spread_missing_attempts_evenly_where_maxima_differ() -> None:
    cases = [
        Case(cluster="a", values=(0.5, 0.5), planned=2, points=3, out_of=6),
        Case(cluster="b", values=(1.0,), planned=2, points=2, out_of=2),
    ]
    one = estimate("", tally(cases))
    assert (one.value, one.floor, one.ceiling) == pytest.approx((0.75, 0.75 * 3 / 4, (2.25 + 1) / 4))


def test_a_scorer_of_right_and_wrong_has_an_accuracy() -> None:
    assert [one.name for one in metrics(_samples([1, 0, 1]), prefix="exact.")] == ["exact.accuracy"]
    assert [one.name for one in metrics(Tally(planned=3))] == ["accuracy"]


def test_a_scorer_with_points_has_a_score_and_points() -> None:
    cases = [
        Case(cluster="a", values=(0.5,), planned=1, points=1, out_of=2),
        Case(cluster="b", values=(1.0,), planned=1, points=8, out_of=8),
    ]
    score, points = metrics(tally(cases), slice="subject=law")
    assert (score.name, score.value, score.method) == ("score", 0.75, "Wilson with t over samples")
    assert (points.name, points.value, points.slice) == ("points", 0.9, "subject=law")
    error = math.sqrt(2 * 2 * (1 - 0.9 * 2) ** 2) / 10  # G / (G - 1) times the residuals 1 - 1.8 and 8 - 7.2
    assert points.standard_error == pytest.approx(error)
    assert points.low is not None
    assert points.high is not None
    assert 0 < points.low < 0.9 < points.high <= 1
    assert (points.floor, points.ceiling) == (0.9, 0.9)


def test_points_have_bounds_when_trials_are_missing() -> None:
    cases = [
        Case(cluster="a", values=(0.5,), planned=1, points=2, out_of=4),
        Case(cluster="b", values=(), planned=1),
    ]
    points = metrics(tally(cases))[1]
    assert (points.value, points.floor, points.ceiling) == (0.5, 0.25, 0.75)


def test_slices_are_named_like_the_whole_run() -> None:
    whole = _points([0.5, 1])
    part = tally([Case(cluster="b", values=(1.0,), planned=1, points=1, out_of=1)])
    assert [one.name for one in metrics(part, slice="level=1", whole=whole)] == ["score", "points"]
    empty = metrics(Tally(planned=1), slice="level=2", whole=whole)
    assert [(one.name, one.value, one.method) for one in empty] == [
        ("score", None, "nothing scored"),
        ("points", None, "nothing scored"),
    ]


def test_all_or_nothing_over_several_points_is_no_plain_rate() -> None:
    assert not is_rate(tally([Case(cluster="a", values=(1.0,), planned=1, points=4, out_of=4)]))
    assert is_rate(tally([Case(cluster="a", values=(1.0, 0.0), planned=2, points=1, out_of=2)]))


@pytest.mark.parametrize("level", [0, 1, 95])
def test_a_level_that_is_no_probability_is_refused_for_any_data(level: float) -> None:
    for data in (_samples([1, 0]), _points([0.3, 0.4])):
        with pytest.raises(BadInput, match=r"for example 0\.95"):
            estimate("", data, level=level)
    with pytest.raises(BadInput, match=r"for example 0\.95"):
        combine("", "", [(1, estimate("", _samples([1, 0])))], level=level)


def test_errors_of_strata_add_up_by_the_squares_of_their_weights() -> None:
    first, second = estimate("", _samples([1, 0] * 100)), estimate("", _samples([1, 1, 1, 0] * 40))
    whole = combine("overall", "", [(0.3, first), (0.7, second)], note="two of two")
    error = math.sqrt(0.3**2 * 0.25 / 200 + 0.7**2 * 0.75 * 0.25 / 160)
    assert (whole.name, whole.method, whole.note) == ("overall", "weighted strata", "two of two")
    assert whole.value == pytest.approx(0.3 * 0.5 + 0.7 * 0.75)
    assert whole.standard_error == pytest.approx(error)
    assert whole.low == pytest.approx(0.675 - 1.959964 * error)
    assert whole.high == pytest.approx(0.675 + 1.959964 * error)
    assert (whole.scored, whole.planned, whole.clusters) == (360, 360, 360)


def test_weights_are_shares_whatever_they_sum_to() -> None:
    parts = [estimate("", _samples([1, 0, 0, 0])), estimate("", _samples([1, 1, 1, 0]))]
    counts = combine("", "", list(zip([200, 100], parts, strict=True)))
    shares = combine("", "", list(zip([2 / 3, 1 / 3], parts, strict=True)))
    assert counts.value == pytest.approx(shares.value)
    assert (counts.low, counts.high) == pytest.approx((shares.low, shares.high))


def test_strata_that_are_all_right_are_not_certain() -> None:
    parts = [(0.5, estimate("", _samples([1] * 10))) for _ in range(2)]
    whole = combine("", "", parts)
    assert (whole.value, whole.high, whole.method) == (1, 1, "weighted strata, Wilson")
    assert whole.low == pytest.approx(wilson(1, 20).low)


def test_a_heavy_stratum_that_is_unsure_makes_the_whole_unsure() -> None:
    heavy, light = estimate("", _samples([1, 0, 1, 0])), estimate("", _samples([1] * 200))
    whole = combine("", "", [(0.3, heavy), (0.7, light)])
    expected = wilson(0.85, 0.85 * 0.15 / (0.3**2 * 0.25 / 4))
    assert (whole.low, whole.high) == pytest.approx((expected.low, expected.high))


def test_strata_of_points_take_t_with_few_degrees() -> None:
    parts = [estimate("", _points([0.2, 0.4])), estimate("", _points([0.5, 0.7]))]
    whole = combine("", "", [(0.5, part) for part in parts])
    error = math.sqrt(2 * 0.25 * 0.01)
    assert whole.method == "weighted strata, Wilson with t"
    assert (whole.standard_error, whole.degrees) == pytest.approx((error, 2))
    assert whole.low == pytest.approx(wilson(0.45, 0.45 * 0.55 / error**2, quantile=t_quantile(0.975, 2)).low)


def test_points_of_equal_maxima_have_the_interval_of_the_score() -> None:
    cases = [
        Case(cluster=str(i // 2), values=(value,), planned=1, points=4 * value, out_of=4)
        for i, value in enumerate([0.5, 1, 0.25, 0.75, 1, 1])
    ]
    score, points = metrics(tally(cases))
    assert (points.low, points.high) == pytest.approx((score.low, score.high))


def test_a_missing_part_leaves_no_value_but_bounds() -> None:
    here = estimate("", tally([_case("a", (1,)), _case("b", (0,)), _case("c", (), planned=2)]))
    gone = estimate("", Tally(planned=5))
    never = estimate("", Tally())
    for missing in (gone, never):
        whole = combine("", "", [(0.6, here), (0.4, missing)])
        assert (whole.value, whole.low, whole.high, whole.standard_error) == (None, None, None, None)
        assert whole.method == "no value: a part is missing"
        assert (whole.floor, whole.ceiling) == pytest.approx((0.6 * 0.25, 0.6 * 0.75 + 0.4))
        assert whole.planned == 4 + missing.planned


def test_a_part_without_interval_leaves_a_value_without_one() -> None:
    one_cluster = estimate("", tally([_case("a", (1,)), _case("a", (0,))]))
    whole = combine("", "", [(1, one_cluster), (1, estimate("", _samples([1, 1])))])
    assert (whole.value, whole.low, whole.high, whole.method) == (0.75, None, None, "no interval: a part has none")


@pytest.mark.parametrize("weights", [[], [0.0], [1.0, -0.5], [math.nan], [math.inf]])
def test_weights_that_weigh_nothing_are_refused(weights: list[float]) -> None:
    part = estimate("", _samples([1, 0]))
    with pytest.raises(BadInput, match="weights of overall"):
        combine("overall", "", [(weight, part) for weight in weights])


def test_a_part_without_weight_changes_nothing() -> None:
    part = estimate("", _samples([1, 0, 1]))
    assert combine("", "", [(1, part), (0, estimate("", Tally(planned=3)))]) == combine("", "", [(1, part)])


def _case(cluster: str, values: Sequence[float], planned: int = 0) -> Case:
    count = len(values)
    return Case(cluster=cluster, values=tuple(values), planned=planned or count, points=sum(values), out_of=count)


def _samples(values: Sequence[float]) -> Tally:
    return tally(_case(str(i), (value,)) for i, value in enumerate(values))


def _points(values: Sequence[float]) -> Tally:
    """As `_samples`, from a scorer that also gives part of the points."""
    data = _samples(values)
    return Tally(**{field: getattr(data, field) for field in data.__struct_fields__} | {"binary": False})


def _clusters(groups: Sequence[Sequence[float]]) -> Tally:
    return tally(_case(str(cluster), (value,)) for cluster, group in enumerate(groups) for value in group)
