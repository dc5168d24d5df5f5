"""How often does a comparison find what is not there, and do its verdicts say what its intervals say? By simulation."""

import random
from collections.abc import Sequence

import msgspec
import pytest
from simulated import chance, rounds

from proctor.core.sentence import say
from proctor.reports.verdicts import MetricRow, Untested, decide
from proctor.stats.paired import PairedSample, compare

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("won", "lost"), [(0.05, 0.05), (0.14, 0.07), (0.4, 0.0)])
def test_verdict_and_interval_never_contradict_each_other_and_equal_systems_stay_equal(won: float, lost: float) -> None:
    source = random.Random(1)
    runs, any_found, whole_found = rounds(150), 0, 0
    for _ in range(runs):
        rows = decide(_rows(source, 120, won, lost, slices=7), 0.05)
        for row in rows:
            assert _agrees(row)
        any_found += any(row.outcome != "inconclusive" for row in rows)
        whole_found += rows[0].outcome != "inconclusive"
    assert any_found == whole_found  # no slice is found where the whole is not
    if won == lost:
        assert any_found / runs <= 0.05 + 0.03 + chance(0.05, 150)


def test_slices_do_not_take_the_whole_its_power() -> None:
    """200 samples, 14 % won, 7 % lost: alone it is found in 59 % of comparisons, and Holm over 8 rows left 27 %."""
    source, runs, wider = random.Random(2), rounds(250), chance(0.59, 250)
    found = sum(decide(_rows(source, 200, 0.14, 0.07, slices=7), 0.05)[0].outcome == "better" for _ in range(runs))
    assert 0.45 - wider <= found / runs <= 0.65 + wider


@pytest.mark.parametrize("slices", [1, 6])
def test_a_difference_in_one_slice_seldom_makes_another_one_a_finding(slices: int) -> None:
    """The whole differs, because slice 0 does; all findings in other slices are false."""
    source = random.Random(3)
    runs, false = rounds(200), 0
    for _ in range(runs):
        groups = [_pairs(source, 60, 0.5, 0.0, "0")]
        groups += [_pairs(source, 60, 0.1, 0.1, str(number)) for number in range(1, slices + 1)]
        rows = decide([_untested("", [pair for group in groups for pair in group])]
                      + [_untested(str(at), group) for at, group in enumerate(groups)], 0.05)  # fmt: skip
        assert all(_agrees(row) for row in rows)
        false += any(row.outcome != "inconclusive" for row in rows[2:])
    assert false / runs <= 0.05 + 0.03 + chance(0.05, 200)


@pytest.mark.parametrize("sizes", [[30, 20, 10, 5, 5, 3, 3, 2, 2, 1, 1, 1], [10, 10, 5, 5, 2, 2, 1, 1, 1]])
@pytest.mark.parametrize("skewed", [False, True])
def test_differences_in_unequal_clusters_are_covered_and_agree_with_their_test(sizes: list[int], skewed: bool) -> None:
    source = random.Random(4)
    runs, covered, found = rounds(400), 0, 0
    for _ in range(runs):
        pairs = []
        for cluster, size in enumerate(sizes):
            effect = (source.expovariate(1) - 1) / 8 if skewed else source.gauss(0, 0.15)
            for _ in range(size):
                value = min(max(effect + source.gauss(0, 0.1), -0.5), 0.5)
                pairs.append(PairedSample(cluster=str(cluster), first=0.5 + value, second=0.5))
        difference = compare(pairs)
        assert difference.low is not None
        assert difference.high is not None
        holds = difference.low <= 0 <= difference.high
        assert holds == (difference.p_value > 0.05)
        covered += holds
        found += difference.p_value <= 0.05
    assert covered / runs >= 0.925 - chance(0.05, 400)
    assert found / runs <= 0.05 + 0.03 + chance(0.05, 400)


@pytest.mark.parametrize(
    ("count", "won", "lost"),
    [(20, 0.4, 0.0), (20, 0.1, 0.02), (50, 0.1, 0.02), (100, 0.05, 0.0), (200, 0.05, 0.0), (400, 0.05, 0.0),
     (100, 0.14, 0.07), (200, 0.2, 0.2), (100, 0.01, 0.01)],
)  # fmt: skip
def test_differences_of_single_attempts_are_covered(count: int, won: float, lost: float) -> None:
    source = random.Random(5)
    runs, covered = rounds(800), 0
    for _ in range(runs):
        difference = compare(_pairs(source, count, won, lost))
        assert difference.low is not None
        assert difference.high is not None
        assert (difference.low <= 0 <= difference.high) == (difference.p_value > 0.05)
        covered += difference.low <= won - lost <= difference.high
    assert covered / runs >= 0.93 - chance(0.05, 800)


def test_differences_of_several_attempts_are_covered() -> None:
    source = random.Random(6)
    runs, covered = rounds(500), 0
    for _ in range(runs):
        pairs = []
        for number in range(14):
            rate = source.betavariate(9, 2)
            means = (sum(source.random() < rate for _ in range(5)) / 5 for _ in range(2))
            pairs.append(PairedSample(cluster=str(number), first=next(means), second=next(means)))
        difference = compare(pairs, single=False)
        assert difference.low is not None
        assert difference.high is not None
        covered += difference.low <= 0 <= difference.high
    assert covered / runs >= 0.93 - chance(0.05, 500)


def _agrees(row: MetricRow) -> bool:
    """The verdict is 'better' or 'worse' exactly when a tested row's interval leaves out 0, on the right side of it."""
    low, high = row.difference.low, row.difference.high
    assert low is not None
    assert high is not None
    if row.p_adjusted is None:
        return row.outcome == "inconclusive" and row.verdict != say("no significant difference")
    return row.outcome == ("better" if low > 0 else "worse" if high < 0 else "inconclusive")


def lose_what_was_lost(source: random.Random, count: int, moved: float) -> Untested:
    """Draw equal agents, of whose second one no loss gets a score: a judge cannot read it, or an endpoint gives up on it."""
    drawn = [source.random() for _ in range(count)]
    kept = [(str(n), one < moved) for n, one in enumerate(drawn) if one < moved or one >= 2 * moved]
    pairs = [PairedSample(cluster=id, first=1.0, second=float(not is_won)) for id, is_won in kept]
    difference, lost = compare(pairs), count - len(pairs)
    won = difference.value * len(pairs) / count
    return Untested(
        metric="accuracy",
        slice="",
        pairs=pairs,
        difference=difference,
        floor=won - lost / count,
        ceiling=won,
        missing=lost,
    )


def test_scores_that_are_missing_where_the_second_lost_do_not_make_it_better() -> None:
    """The point alone, had all that is missing gone against it, is above 0 in a third of these pairs of equal runs."""
    source = random.Random(7)
    rows = [decide([lose_what_was_lost(source, 60, 0.15)], 0.05)[0] for _ in range(rounds(600))]
    assert all(_agrees(row) for row in rows)
    assert sum(row.outcome == "better" for row in rows) / len(rows) <= 0.05
    before = sum(row.floor > 0 and row.difference.p_value <= 0.05 for row in rows)  # as was decided before
    assert before / len(rows) > 0.25 - chance(0.33, 600)
    whole = [msgspec.structs.replace(lose_what_was_lost(source, 60, 0.15), missing=0) for _ in range(20)]
    assert all(decide([one], 0.05)[0].difference == one.difference for one in whole)


def _rows(source: random.Random, count: int, won: float, lost: float, *, slices: int) -> list[Untested]:
    pairs = _pairs(source, count, won, lost)
    return [_untested("", pairs), *(_untested(str(at), pairs[at::slices]) for at in range(slices))]


def _untested(slice_: str, pairs: Sequence[PairedSample]) -> Untested:
    difference = compare(pairs)
    return Untested(
        metric="accuracy",
        slice=slice_,
        pairs=pairs,
        difference=difference,
        floor=difference.value,
        ceiling=difference.value,
        missing=0,
    )


def _pairs(source: random.Random, count: int, won: float, lost: float, name: str = "") -> list[PairedSample]:
    pairs = []
    for number in range(count):
        drawn = source.random()
        first, second = (1, 0) if drawn < won else (0, 1) if drawn < won + lost else (1, 1)
        pairs.append(PairedSample(cluster=f"{name}-{number}", first=first, second=second))
    return pairs
