"""How frequent an event is, and how often findings are right, by labels: the intervals cover what they promise."""

import random
from collections.abc import Callable, Mapping

import pytest
from msgspec.structs import replace
from simulated import chance, rounds

from proctor_audit.inspector.inspecting import TrialLine
from proctor_audit.inspector.labelling import LabelledPlan
from proctor_audit.inspector.prevalence import correct_prevalence, draw_trials
from proctor_audit.inspector.review_order import flags_of, judge_findings, order_of_review
from proctor_audit.inspector.trial_labels import FindingLabels
from proctor_audit.inspector.trial_scores import TrialPrevalence, prevalence_of
from proctor_judging.review.labels import LabelEntry, record

SETTINGS = [  # share of events, sensitivity, specificity, trials, labels
    (0.3, 0.7, 0.9, 300, 60),
    (0.5, 0.85, 0.9, 400, 80),
    (0.1, 0.8, 0.98, 1000, 200),
    (0.2, 0.9, 0.97, 2000, 300),
]


@pytest.mark.slow
@pytest.mark.parametrize(("share", "sensitivity", "specificity", "trials", "count"), SETTINGS)
def test_the_interval_covers_95_percent(
    share: float, sensitivity: float, specificity: float, trials: int, count: int
) -> None:
    draw, covered, repeats = random.Random(1), 0, rounds(1500)
    for _ in range(repeats):
        truth = {str(id): draw.random() < share for id in range(trials)}
        flags = {id: draw.random() < (sensitivity if is_there else 1 - specificity) for id, is_there in truth.items()}
        ids = draw_trials(flags, draw.sample(sorted(flags), trials), count)
        estimate = correct_prevalence(flags, {id: truth[id] for id in ids})
        assert estimate is not None
        assert estimate.low is not None
        assert estimate.high is not None
        covered += estimate.low <= share <= estimate.high
    wider = chance(0.05, 1500)
    assert 0.93 - wider <= covered / repeats <= 0.97 + wider


@pytest.mark.slow
@pytest.mark.parametrize(("samples", "attempts", "count"), [(60, 5, 60), (60, 5, 300), (30, 10, 100)])
def test_the_interval_covers_95_percent_where_attempts_at_a_sample_move_together(
    samples: int, attempts: int, count: int
) -> None:
    draw, covered, repeats, share = random.Random(1), 0, rounds(500), 0.3
    for _ in range(repeats):
        truth: dict[str, bool] = {}
        for sample in range(samples):
            is_there = draw.random() < share
            truth |= {f"{sample}#{attempt}": is_there for attempt in range(attempts)}
        flags = {id: draw.random() < (0.9 if is_there else 0.05) for id, is_there in truth.items()}
        ids = draw_trials(flags, draw.sample(sorted(flags), len(flags)), count)
        clusters = {id: id.partition("#")[0] for id in flags}
        estimate = correct_prevalence(flags, {id: truth[id] for id in ids}, clusters)
        assert estimate is not None
        assert estimate.low is not None
        assert estimate.high is not None
        covered += estimate.low <= share <= estimate.high
    assert covered / repeats >= 0.92 - chance(0.05, 500)


def test_attempts_at_a_sample_count_together() -> None:
    flags = {f"{sample}#{attempt}": sample < 5 for sample in range(20) for attempt in range(5)}
    lines = [replace(line, cluster=line.id.partition("#")[0]) for line in run_of(flags)]
    drawn = draw_trials(flags, order_of_review(flags, lines, CHECK), 60)
    plan = LabelledPlan(shown=dict.fromkeys(drawn, ""), said={id: flags[id] for id in drawn})
    together = by_labels(lines, {}, plan).corrected
    apart = by_labels(run_of(flags), {}, plan).corrected
    assert together is not None
    assert apart is not None
    assert together.value == apart.value
    assert (together.standard_error or 0) > 1.5 * (apart.standard_error or 0)


def test_rules_that_never_err_keep_their_share() -> None:
    flags = {str(id): id < 20 for id in range(100)}
    estimate = correct_prevalence(flags, {id: flags[id] for id in draw_trials(flags, [*flags], 40)})
    assert estimate is not None
    assert estimate.value == pytest.approx(0.2)


def test_contested_trials_widen_the_corrected_share_and_do_not_move_it() -> None:
    flags = {str(id): id < 20 for id in range(100)}
    labels: dict[str, bool | None] = {id: flags[id] for id in draw_trials(flags, [*flags], 40)}
    agreed = correct_prevalence(flags, labels)
    contested = correct_prevalence(flags, {**labels, "0": None, "20": None})
    assert agreed is not None
    assert contested is not None
    assert contested.value == agreed.value
    assert (contested.low or 0) < (agreed.low or 0)
    assert (contested.high or 1) > (agreed.high or 1)
    assert contested.scored == 38


def test_too_few_labels_correct_nothing() -> None:
    flags = {"a": True, "b": False, "c": False}
    assert correct_prevalence(flags, {"a": True}) is None


def test_a_draw_has_half_of_its_trials_with_a_finding_and_holds_every_smaller_one() -> None:
    flags = {str(id): id < 30 for id in range(1000)}
    order = random.Random(1).sample([*flags], 1000)
    drawn = draw_trials(flags, order, 40)
    assert sum(flags[id] for id in drawn) == 20
    assert {*draw_trials(flags, order, 20)} < {*drawn}
    assert drawn == draw_trials(dict(reversed(flags.items())), order, 40)
    assert len(draw_trials(flags, order, 2000)) == 1000


CHECK = "word"


def run_of(flags: dict[str, bool], run: str = "run") -> list[TrialLine]:
    """Return the lines of a run in which a check found something in the trials with a flag."""
    return [
        TrialLine(id=id, sample=id, cluster=id, outcome="scored", score=None, run=run, checks=(CHECK,) * flag)
        for id, flag in flags.items()
    ]


def labels_of(said: Mapping[str, bool | None]) -> FindingLabels:
    """Return labels of findings, as people keep them in the web app."""
    records = {}
    for id, happened in said.items():
        people = ("ann", "bob") if happened is None else ("ann",)
        statuses = ("approved" if happened or (happened is None and name == "ann") else "rejected" for name in people)
        entries = [
            LabelEntry(reviewer=name, scores={}, status=status)  # type: ignore[arg-type]  # a status
            for name, status in zip(people, statuses, strict=True)
        ]
        records[CHECK, id] = record(f"{CHECK}:{id}", entries)
    return FindingLabels(records=records)


def by_labels(
    lines: list[TrialLine], said: dict[str, bool | None], plan: LabelledPlan | None = None
) -> TrialPrevalence:
    return prevalence_of(lines, [CHECK], {} if plan is None else {CHECK: plan}, labels_of(said))[0]


def test_labels_of_findings_alone_correct_no_share() -> None:
    lines = run_of({str(id): id < 40 for id in range(100)})
    every = by_labels(lines, {str(id): id % 2 == 0 for id in range(40)})
    assert every.corrected is None
    assert every.people is not None
    assert every.people.right is not None
    assert every.people.right.value == 0.5


def test_labels_of_findings_do_not_shift_a_share_that_a_draw_corrects() -> None:
    flags = {str(id): id < 40 for id in range(100)}
    lines = run_of(flags)
    drawn = draw_trials(flags, order_of_review(flags, lines, CHECK), 30)
    said = {id: flags[id] and int(id) % 2 == 0 for id in drawn}
    plan = LabelledPlan(shown=dict.fromkeys(drawn, ""), said=said)
    alone = by_labels(lines, {}, plan).corrected
    assert alone is not None
    assert by_labels(lines, {str(id): True for id in range(40)}, plan).corrected == alone


def test_labels_of_what_is_no_longer_found_do_not_count_as_a_draw_of_trials_without_a_finding() -> None:
    lines = run_of({str(id): id < 20 for id in range(100)})
    before: dict[str, bool | None] = {
        str(id): id % 2 == 0 for id in range(40)
    }  # of findings of a rule that has changed since
    assert by_labels(lines, before).corrected is None


@pytest.mark.parametrize("change", ["other findings", "a label less", "a trial of their own choice"])
def test_a_draw_that_is_not_labelled_whole_or_is_of_other_findings_corrects_nothing(change: str) -> None:
    flags = {str(id): id < 40 for id in range(100)}
    lines = run_of(flags)
    drawn = draw_trials(flags, order_of_review(flags, lines, CHECK), 30)
    said: dict[str, bool | None] = dict.fromkeys(drawn, True)
    match change:
        case "other findings":
            lines = run_of({id: int(id) % 2 == 0 for id in flags})
        case "a label less":
            del said[drawn[-1]]
        case _:
            other = next(id for id in flags if id not in said)
            drawn, said = [*drawn, other], {**said, other: True}
    prevalence = by_labels(lines, {}, LabelledPlan(shown=dict.fromkeys(drawn, ""), said=said))
    assert prevalence.corrected is None
    assert str(prevalence.uncorrected)


def test_only_the_beginning_that_is_judged_without_a_gap_speaks_for_all() -> None:
    order = [*"abcdefgh"]
    people = judge_findings(order, {"a": True, "b": None, "c": False, "e": True, "h": True})
    assert (people.in_order, people.judged, people.contested, people.out_of_order) == (3, 4, 1, 2)
    assert people.right is not None
    assert (people.right.value, people.right.scored, people.right.planned) == (0.5, 2, 8)
    assert (people.right.low, people.right.high) == (1 / 8, 7 / 8)
    assert judge_findings(order, {"b": True}).right is None
    assert judge_findings(order, {"a": None}).right is None


def test_the_order_of_review_is_another_for_each_run_and_check_and_the_same_whatever_was_found() -> None:
    flags = {str(id): id < 40 for id in range(100)}
    lines = run_of(flags)
    order = order_of_review(flags, lines, CHECK)
    assert order != order_of_review(flags, lines, "another")
    assert order != order_of_review(flags, run_of(flags, "later"), CHECK)
    some = [id for id in order if flags[id]]
    assert order_of_review(flags_of(run_of(dict.fromkeys(some, True)), CHECK), lines, CHECK) == some


Stop = Callable[[list[bool], float], bool]
STOPS: dict[str, Stop] = {  # by what was judged so far, and the true share
    "after 20": lambda said, _: len(said) == 20,
    "when pleased": lambda said, share: len(said) >= 5 and sum(said) / len(said) > share + 0.1,
    "when displeased": lambda said, share: len(said) >= 5 and sum(said) / len(said) < share - 0.1,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STOPS)
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_the_interval_of_findings_that_are_right_covers_95_percent_however_people_stop(name: str, share: float) -> None:
    flags = {f"{name} {id}": True for id in range(120)}
    covered, repeats = 0, rounds(400)
    for number in range(repeats):
        lines = run_of(flags, str(number))
        truth = {id: place < round(share * len(flags)) for place, id in enumerate(flags)}
        order = order_of_review(flags, lines, CHECK)
        said: dict[str, bool | None] = {}
        for id in order:
            said[id] = truth[id]
            if STOPS[name]([truth[each] for each in said], share):
                break
        right = judge_findings(order, said).right
        assert right is not None
        assert right.low is not None
        assert right.high is not None
        covered += right.low <= share <= right.high
    assert covered / repeats >= 0.95 - chance(0.05, 400)


@pytest.mark.slow
def test_people_who_look_for_what_is_right_first_do_not_raise_the_share() -> None:
    flags = {str(id): True for id in range(60)}
    truth = {id: int(id) < 30 for id in flags}
    covered, repeats = 0, rounds(300)
    for number in range(repeats):
        order = order_of_review(flags, run_of(flags, str(number)), CHECK)
        chosen = {*[id for id in order if truth[id]][:15], *order[:10]}
        people = judge_findings(order, {id: truth[id] for id in order if id in chosen})
        assert people.right is not None
        covered += (people.right.low or 0) <= 0.5 <= (people.right.high or 1)
    assert covered / repeats >= 0.95 - chance(0.05, 300)
