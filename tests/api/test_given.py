"""Numbers of a run given what earlier runs earned on the same samples."""

import random
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from proctor import BadInput, Sample, Task, evaluate
from proctor.api import compare, open_run
from proctor.api.run import Run
from proctor.core.errors import ProviderFailed
from proctor.stats.covariate import ADJUSTED
from proctor_ci.baselines import set_baseline
from proctor_ci.gate import gate
from proctor_ci.policy import GatePolicy, PolicyRule

SAMPLES = [
    Sample.ask(f"q{number}", str(number), target="yes", tags={"level": "hard" if number % 4 == 0 else "easy"})
    for number in range(400)
]
TASK = Task(name="quiz", samples=SAMPLES, scorers=["exact"], spread_by="level")


def knows(question: str, version: str) -> bool:
    """Most of what one version knows the other does, too."""
    rate = 0.5 if int(question) % 4 == 0 else 0.85
    is_other = version == "new" and random.Random(f"{question}?").random() < 0.2
    return random.Random(f"{question}{version if is_other else ''}/").random() < rate


def old(question: str) -> str:
    return "yes" if knows(question, "old") else "no"


def new(question: str) -> str:
    return "yes" if knows(question, "new") else "no"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("given") / "runs.db")
    evaluate(TASK, agent=new, store=path, run_id="new", limit=100)
    evaluate(TASK, agent=new, store=path, run_id="hard", limit=60, tags={"level": "hard"})
    evaluate(TASK, agent=old, store=path, run_id="old")  # last, so that the draws do not know it
    return path


def opened(name: str, store: str, *given: str) -> Run:
    return open_run(name, store=store, given=given)


def test_the_interval_is_narrower_and_its_note_says_so(store: str) -> None:
    run = opened("new", store)
    plain, given = (one.estimate("accuracy") for one in (run, opened("new", store, "old")))
    assert given.method == ADJUSTED
    assert "given old: interval" in str(given.note)
    assert None not in (plain.low, plain.high, given.low, given.high)
    assert given.high - given.low < 0.9 * (plain.high - plain.low)  # type: ignore[operator]
    assert (given.scored, given.planned) == (plain.scored, plain.planned)
    truth = sum(new(one.question) == "yes" for one in SAMPLES) / 400
    assert given.low < truth < given.high  # type: ignore[operator]


def test_slices_are_adjusted_by_their_own_samples(store: str) -> None:
    given = opened("new", store, "old")
    easy = given.estimate("accuracy", slice="level=easy")
    assert easy.method == ADJUSTED


def test_numbers_that_are_shown_together_subtract_and_mix(store: str) -> None:
    """Each slice is adjusted by the slope of the whole, and both sides of a comparison are."""
    given = opened("new", store, "old")
    shares = {"level=easy": 0.75, "level=hard": 0.25}
    mixed = sum(share * (given.estimate("accuracy", slice=name).value or 0.0) for name, share in shares.items())
    assert mixed == pytest.approx(given.estimate("accuracy").value)
    earlier = opened("old", store)
    rows = {row.slice: row for row in compare(earlier, given).rows}
    for row in rows.values():
        assert row.second - row.first == pytest.approx(row.difference.value)
    assert rows[""].difference.value == pytest.approx(
        sum(share * rows[name].difference.value for name, share in shares.items())
    )
    plain = compare(earlier, opened("new", store)).rows[0]
    whole = earlier.estimate("accuracy").value
    assert whole is not None
    assert abs(rows[""].first - whole) <= abs(plain.first - whole)
    ruling = gate(
        given, against=earlier, policy=GatePolicy(rules=(PolicyRule(metric="accuracy", not_worse_by=0.05),))
    ).rulings[0]
    shown = rows[""].first, rows[""].second, rows[""].difference.value
    assert [ruling.before, ruling.now, ruling.value] == pytest.approx([*shown])


def test_a_run_by_tags_is_adjusted_by_samples_with_these_tags_only(store: str) -> None:
    found = opened("hard", store, "old").estimate("accuracy")
    assert found.method == ADJUSTED
    truth = sum(new(one.question) == "yes" for one in SAMPLES if one.tags["level"] == "hard") / 100
    assert found.low < truth < found.high  # type: ignore[operator]


def test_a_run_of_all_samples_gains_nothing_and_says_why(store: str) -> None:
    run = opened("old", store)
    given = opened("old", store, "new").estimate("accuracy")
    assert (given.low, given.high) == (run.estimate("accuracy").low, run.estimate("accuracy").high)
    assert "every sample of the earlier runs is in this run" in str(given.note)


def test_reports_and_json_show_the_adjusted_numbers(store: str, tmp_path: Path) -> None:
    given = opened("new", store, "old")
    text = given.report(tmp_path / "new.md").read_text()
    assert "given old: interval" in text
    assert given.summary()["estimates"][0]["method"] == ADJUSTED


def test_several_runs_and_baselines_are_taken_by_their_names(store: str) -> None:
    run = opened("new", store)
    set_baseline(run.store, "released", "old")
    assert "given old, hard" in str(opened("new", store, "released", "hard").estimate("accuracy").note)


def test_a_run_that_cannot_help_is_refused(store: str) -> None:
    run = opened("new", store)
    with pytest.raises(BadInput, match="tells nothing about itself"):
        opened("new", store, "new")
    with pytest.raises(BadInput, match="Did you mean 'old'"):
        opened("new", store, "odl")
    other = Task(name="other", samples=SAMPLES[:4], scorers=["exact"])
    evaluate(other, agent=old, store=run.store, run_id="other")
    with pytest.raises(BadInput, match="different tasks"):
        opened("new", store, "other")
    evaluate(TASK, agent=old, store=run.store, run_id="easy", tags={"level": "easy"})
    with pytest.raises(BadInput, match="no sample in common"):
        opened("hard", store, "easy")


@pytest.mark.parametrize(("tags", "sizes"), [({}, (400, 300)), ({"level": "hard"}, (100, 75))])
def test_a_run_of_another_population_is_refused(tags: dict[str, str], sizes: tuple[int, int]) -> None:
    drawn = evaluate(TASK, agent=new, store=":memory:", run_id="new", limit=40, tags=tags)
    shorter = evaluate(replace(TASK, samples=SAMPLES[:300]), agent=old, store=drawn.store, run_id="shorter")
    with pytest.raises(BadInput, match="new draws from {} samples of the task, and shorter from {}".format(*sizes)):
        drawn.given(shorter)


def test_a_run_with_other_task_options_is_refused(store: str) -> None:
    run, earlier = opened("new", store), opened("old", store)
    spec = replace(earlier.record.spec, task_options={"lang": "zh"})
    with pytest.raises(BadInput, match=re.escape("The task options of new and old differ: {} and {'lang': 'zh'}")):
        run.given(Run(replace(earlier.record, spec=spec), earlier.store))


def test_what_was_visited_in_the_order_of_the_task_is_no_draw() -> None:
    whole = evaluate(TASK, agent=old, store=":memory:", run_id="whole")
    drawn = evaluate(TASK, agent=new, store=whole.store, run_id="drawn", order="official", limit=80)
    assert "given whole: interval" in str(drawn.given(whole).estimate("accuracy").note)
    cut_off = Run(replace(drawn.record, planned=100), drawn.store)
    assert "no random draw" in str(cut_off.given(whole).estimate("accuracy").note)


def test_a_comparison_is_adjusted_by_what_only_the_first_run_has(store: str) -> None:
    first = opened("old", store)
    plain = compare(first, opened("new", store)).rows[0].difference
    given = compare(first, opened("new", store, "old"))
    found = given.rows[0].difference
    assert None not in (plain.low, plain.high, found.low, found.high)
    assert found.high - found.low < plain.high - plain.low  # type: ignore[operator]
    assert (found.wins, found.losses, found.ties) == (plain.wins, plain.losses, plain.ties)
    assert "given old: interval" in " ".join(map(str, given.notes))
    truth = sum((new(one.question) == "yes") - (old(one.question) == "yes") for one in SAMPLES) / 400
    assert found.low < truth < found.high  # type: ignore[operator]


def test_a_gate_decides_by_the_adjusted_numbers_and_says_so(store: str) -> None:
    plain = gate(opened("new", store), against=opened("old", store)).rulings[0]
    found = gate(opened("new", store, "old"), against="old")
    ruling = found.rulings[0]
    assert None not in (plain.low, plain.high, ruling.low, ruling.high)
    assert ruling.high - ruling.low < plain.high - plain.low  # type: ignore[operator]
    assert "Scores are adjusted by what earlier runs earned on the samples: old." in map(str, found.notes)


def test_missing_trials_bound_the_adjusted_difference_too(store: str) -> None:
    def unstable(question: str) -> str:
        if int(question) % 20 == 3:
            raise ProviderFailed("The endpoint is down.", kind="server_error")
        return new(question)

    run = evaluate(TASK, agent=unstable, store=store, run_id="unstable", limit=150, max_failed=1.0)
    base = evaluate(TASK, agent=lambda question: "yes", store=store, run_id="always")
    for given in ([], [opened("old", store)]):
        row = compare(base, run.given(*given) if given else run).rows[0]
        assert row.floor is not None
        assert row.ceiling is not None
        assert row.floor <= row.difference.value <= row.ceiling
        assert row.ceiling - row.floor == pytest.approx(0.05, abs=0.03)
