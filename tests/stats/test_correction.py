import random

import pytest
from simulated import chance, rounds

from proctor.core.errors import BadInput
from proctor.core.run import Estimate
from proctor_judging.stats.correction import Labelled, LabelledStratum, ppi, stratified_ppi

ROUNDS = rounds(600)
CHANCE = chance(0.95, 600)
PEOPLE = (1, 0, 1, 1, 0, 1, 0, 1)
JUDGE = (0.9, 0.2, 0.8, 0.6, 0.4, 0.7, 0.1, 0.95)
OTHERS = (0.5, 0.9, 0.3, 0.8, 0.7, 0.6, 0.2, 0.85, 0.75, 0.4)
PAIRS = [Labelled(human=one, judge=other) for one, other in zip(PEOPLE, JUDGE, strict=True)]


def test_the_computed_vector_of_prediction_powered_inference() -> None:
    found = ppi(PAIRS, OTHERS, tuned=False)
    assert found.value == pytest.approx(0.64375)
    assert found.standard_error == pytest.approx(0.121292, abs=1e-6)
    assert found.method == "PPI"


def test_tuning_trusts_the_judge_no_more_than_in_full() -> None:
    """The raw trust of the vector is 1.139; clipped to 1, the value is that of plain inference."""
    pairs = PAIRS * 2
    found = ppi(pairs, OTHERS * 2)
    assert found.method == "PPI++"
    assert found.value == pytest.approx(0.64375)


def test_a_judge_that_says_nothing_leaves_the_labels_alone() -> None:
    source = random.Random(1)
    pairs = [Labelled(human=source.random(), judge=0.5) for _ in range(50)]
    found = ppi(pairs, [0.5] * 500)
    assert found.method == "labels alone, t"
    assert found.value == pytest.approx(sum(one.human for one in pairs) / 50)


def test_few_labels_are_taken_alone() -> None:
    found = ppi(PAIRS, OTHERS)
    assert (found.method, found.value) == ("labels alone, Wilson", 0.625)
    assert found.scored == 8
    assert found.planned == 18


def test_without_other_items_the_labels_are_all_there_is() -> None:
    assert ppi(PAIRS * 3, []).method == "labels alone, Wilson"


def test_fewer_than_two_labels_correct_nothing() -> None:
    for labels in ([], PAIRS[:1]):
        found = ppi(labels, OTHERS)
        assert found.value is None
        assert "fewer than two" in str(found.note)


def test_labels_that_are_all_the_same_are_not_taken_for_certain() -> None:
    found = ppi([Labelled(human=0.75, judge=0.75)] * 20, [0.75] * 100)
    assert found.value == 0.75
    assert _high(found) - _low(found) > 0.1


def test_a_value_off_the_scale_is_refused() -> None:
    with pytest.raises(BadInput, match="between 0 and 1"):
        ppi([Labelled(human=3, judge=0.5)] * 5, [0.5])
    with pytest.raises(BadInput, match="between 0 and 1"):
        ppi(PAIRS, [float("nan")])


def test_strata_weigh_as_many_items_as_they_have() -> None:
    easy = LabelledStratum(labelled=[Labelled(human=1, judge=1)] * 12, judged=[1.0] * 288)
    hard = LabelledStratum(labelled=[Labelled(human=0, judge=0)] * 88, judged=[0.0] * 12)
    assert stratified_ppi({"easy": easy, "hard": hard}).value == pytest.approx(300 / 400)


def test_strata_with_hardly_a_label_are_laid_together() -> None:
    whole = LabelledStratum(labelled=PAIRS * 3, judged=OTHERS * 3)
    lonely = LabelledStratum(labelled=PAIRS[:1], judged=OTHERS)
    assert stratified_ppi({"a": whole, "b": lonely}) == ppi([*PAIRS * 3, PAIRS[0]], [*OTHERS * 3, *OTHERS])


@pytest.mark.parametrize(
    ("truth", "right", "wrong", "labelled", "others"),
    [(0.7, 0.9, 0.85, 100, 300), (0.5, 0.9, 0.9, 30, 300), (0.7, 0.9, 0.8, 200, 50), (0.6, 0.55, 0.5, 40, 200)],
)
def test_the_corrected_mean_is_covered_and_narrower_than_labels_alone(
    truth: float, right: float, wrong: float, labelled: int, others: int
) -> None:
    source = random.Random(4)
    hits, width, width_alone = 0, 0.0, 0.0
    for _ in range(ROUNDS):
        items = [_verdicts(source, truth, right, wrong) for _ in range(labelled + others)]
        pairs = [Labelled(human=human, judge=judge) for human, judge in items[:labelled]]
        found, alone = ppi(pairs, [judge for _, judge in items[labelled:]]), ppi(pairs, [])
        hits += _covers(found, truth)
        width += _high(found) - _low(found)
        width_alone += _high(alone) - _low(alone)
    assert 0.93 - CHANCE <= hits / ROUNDS <= 0.98 + CHANCE
    assert width / width_alone < (1 if right + wrong > 1.5 else 1.05)


def test_points_are_covered_within_strata() -> None:
    source = random.Random(5)
    hits = 0
    for _ in range(ROUNDS):
        strata = {}
        for name, mean, size in (("a", 0.3, 200), ("b", 0.7, 100)):
            items = []
            for _ in range(size):
                human = min(max(source.gauss(mean, 0.1), 0), 1)
                items.append(Labelled(human=human, judge=min(max(human + source.gauss(0.1, 0.05), 0), 1)))
            strata[name] = LabelledStratum(labelled=items[:25], judged=[one.judge for one in items[25:]])
        hits += _covers(stratified_ppi(strata), (0.3 * 200 + 0.7 * 100) / 300)
    assert hits / ROUNDS == pytest.approx(0.95, abs=0.02 + CHANCE)


@pytest.mark.slow
@pytest.mark.parametrize(("documents", "labelled"), [(80, 20), (80, 50), (80, 100)])
@pytest.mark.parametrize("whole", [False, True], ids=["items", "documents"])
def test_items_in_clusters_that_share_their_label_are_covered(documents: int, labelled: int, *, whole: bool) -> None:
    """Documents of five items; labels of drawn items, or of whole documents. Taken as independent, 50 to 60 % cover."""
    source = random.Random(6)
    hits = naive = 0
    turns = 300
    for _ in range(turns):
        items = []
        for name in range(documents):
            human = source.random() < 0.7
            judge = source.random() < (0.9 if human else 0.3)
            items += [(human, judge, str(name))] * 5
        if not whole:
            source.shuffle(items)
        pairs = [Labelled(human=human, judge=judge, cluster=name) for human, judge, name in items[:labelled]]
        others = [float(judge) for _, judge, _ in items[labelled:]]
        clusters = [name for _, _, name in items[labelled:]]
        hits += _covers(ppi(pairs, others, clusters=clusters), 0.7)
        naive += _covers(ppi([Labelled(human=one.human, judge=one.judge) for one in pairs], others), 0.7)
    assert hits / turns >= 0.92
    assert hits > naive


@pytest.mark.slow
@pytest.mark.parametrize("labelled", [15, 30, 100])
def test_means_near_full_marks_are_covered(labelled: int) -> None:
    """Nine of ten items have full marks: ends at equal distances covered 85 to 91 %."""
    source = random.Random(5)
    hits = 0
    for _ in range(ROUNDS):
        items = []
        for _ in range(400):
            human = 1.0 if source.random() < 0.9 else source.random()
            items.append(Labelled(human=human, judge=human if source.random() < 0.8 else min(1.0, human + 0.25)))
        hits += _covers(ppi(items[:labelled], [one.judge for one in items[labelled:]]), 0.95)
    assert hits / ROUNDS >= 0.90 - CHANCE


def test_labels_of_one_cluster_correct_nothing() -> None:
    found = ppi([Labelled(human=one.human, judge=one.judge, cluster="a") for one in PAIRS * 3], OTHERS)
    assert (found.value, str(found.note)) == (None, "No correction: all labels are of one cluster.")


def _verdicts(source: random.Random, truth: float, right: float, wrong: float) -> tuple[bool, bool]:
    """What people say of an item, and what a judge says that is right with these chances."""
    human = source.random() < truth
    return human, source.random() < (right if human else 1 - wrong)


def _covers(one: Estimate, truth: float) -> bool:
    return _low(one) <= truth <= _high(one)


def _low(one: Estimate) -> float:
    assert one.low is not None
    return one.low


def _high(one: Estimate) -> float:
    assert one.high is not None
    return one.high
