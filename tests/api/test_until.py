"""A run ends as soon as its rule is decided, and its numbers hold for any number of looks."""

import asyncio
import random
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor import Run, Sample, Score, Task, Trajectory, Unscored
from proctor.api.numbers import headline
from proctor.core.errors import BadInput, ProviderFailed
from proctor.core.sample import Message
from proctor.core.trajectory import Step, Usage
from proctor_ci.gate import Ruling, gate
from proctor_ci.looks.rules import read_rule
from proctor_ci.policy import parse_policy

Agent = Callable[[str], Coroutine[Any, Any, str]]


def task(count: int = 300, size: int = 1, **more: Any) -> Task:
    samples = [
        Sample.ask(
            str(n), str(n), target="yes", cluster=str(n // size) if size > 1 else None, tags={"kind": str(n % 2)}
        )
        for n in range(count)
    ]
    return Task(name="t", samples=samples, scorers=["exact"], spread_by="kind", **more)


def agent(right: float, *, slow: float = 0.0) -> Agent:
    """Is right in this share of the samples, and takes its time where it is not."""

    async def answer(question: str) -> str:
        is_right = random.Random(question).random() < right
        await asyncio.sleep(0 if is_right else slow)
        return "yes" if is_right else "no"

    return answer


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Run]:
    def start(right: float | Agent, **given: Any) -> Run:
        given = {"store": str(tmp_path / "runs.db"), "concurrency": 4, "task": task(), **given}
        of = given.pop("task")
        return proctor.evaluate(of, agent=agent(right) if isinstance(right, float) else right, **given)

    return start


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("accuracy>=0.85", "accuracy >= 0.85"),
        ("exact.accuracy <= .1", "exact.accuracy <= 0.1"),
        ("accuracy  not worse by 0.05", "accuracy not worse by 0.05"),
        ("accuracy better", "accuracy better"),
        ("score better by 0.02", "score better by 0.02"),
    ],
)
def test_a_rule_is_read(text: str, rule: str) -> None:
    assert str(read_rule(text)) == rule


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("accuracy >= 85%", "accuracy >= 0.85"),
        ("accuracy > 90", "accuracy >= 0.9"),
        ("accuracy at least 0.9", "accuracy >= 0.9"),
        ("accuracy ≤ 0.2", "accuracy <= 0.2"),
        ("not worse by 5 points", "accuracy not worse by 0.05"),
        ("accuracy not_worse_by 0.05", "accuracy not worse by 0.05"),
        ("exact no worse than 0.05", "exact not worse by 0.05"),
        ("better", "accuracy better"),
        ("good", "accuracy better by 0.05"),
        ("accuracy >= 1.2", "accuracy better by 0.05"),
    ],
)
def test_another_form_is_refused_with_the_nearest(text: str, nearest: str) -> None:
    with pytest.raises(BadInput) as error:
        read_rule(text)
    assert nearest in str(error.value)


@pytest.mark.parametrize(("right", "decision"), [(0.95, "go"), (0.4, "no_go")])
def test_a_run_ends_when_its_rule_is_decided_and_says_what_was_saved(
    run: Callable[..., Run], right: float, decision: str
) -> None:
    found = run(right, until="accuracy >= 0.7")
    looked = found.record.looked
    assert looked is not None
    assert (found.record.state, looked.decision) == ("finished", decision)
    done = sum(found.outcomes.values())
    assert looked.steps <= done < 130
    assert looked.saved == 300 - done
    assert ("GO: accuracy >= 0.7, decided after" in str(found)) == (decision in ("go", "no_go"))
    assert "floor and ceiling" not in str(found)


def test_quick_wrong_samples_do_not_decide_before_slow_right_ones(run: Callable[..., Run]) -> None:
    order: list[str] = []

    async def tardy(question: str) -> str:
        order.append(question)
        is_right = random.Random(question).random() < 0.8
        await asyncio.sleep(0.03 if is_right else 0)
        return "yes" if is_right else "no"

    found = run(tardy, until="accuracy >= 0.55", concurrency=16)
    looked = found.record.looked
    assert looked is not None
    seen = order[: looked.steps]
    assert looked.value == pytest.approx(sum(random.Random(one).random() < 0.8 for one in seen) / len(seen))
    assert looked.decision == "go"


def test_an_equal_run_is_cleared_against_a_stored_one_with_a_margin(run: Callable[..., Run]) -> None:
    run(0.8, run_id="old")
    same = run(0.8, until="exact not worse by 0.1", against="old")
    worse = run(0.3, until="exact not worse by 0.1", against="old")
    assert [one.record.looked and one.record.looked.decision for one in (same, worse)] == ["go", "no_go"]
    assert same.record.spec.until is not None
    assert same.record.spec.until.against == "old"


def test_the_intervals_are_the_wider_ones_and_others_are_left_out(run: Callable[..., Run]) -> None:
    found = run(0.9, until="accuracy >= 0.7", attempts=2)
    one, part = found.estimate("accuracy"), found.estimate("accuracy", slice="kind=0")
    for each in (one, part):
        assert (each.method, each.standard_error) == ("betting, at any time", None)
        assert each.low is not None
        assert each.high is not None
    assert part.low < one.low < one.value < one.high  # type: ignore[operator]
    assert found.estimate("pass^2").low is None
    assert run(0.9, run_id=found.id, until="accuracy >= 0.7", attempts=2).estimates == found.estimates


def test_a_trial_without_a_result_is_no_zero(run: Callable[..., Run]) -> None:
    calls = 0

    async def flaky(question: str) -> str:
        nonlocal calls
        calls += 1
        if calls % 3 == 0:
            raise ProviderFailed("gone", kind="http_500")
        return "yes"

    found = run(flaky, until="accuracy >= 0.8", max_failed=1.0)
    assert found.record.looked is not None
    assert found.record.looked.decision == "futile"
    one = found.estimate("accuracy")
    assert one.floor is not None
    assert one.low is not None
    assert one.floor < 0.75
    assert one.low < one.floor


def test_clusters_are_steps_with_all_their_samples_and_attempts(run: Callable[..., Run]) -> None:
    found = run(0.95, task=task(400, size=5), attempts=2, until="accuracy >= 0.6")
    looked = found.record.looked
    assert looked is not None
    assert (looked.most, looked.decision) == (80, "go")
    assert looked.steps * 10 <= sum(found.outcomes.values()) < 800


def test_what_was_decided_stays_and_the_rest_can_be_run(run: Callable[..., Run]) -> None:
    first = run(0.95, until="accuracy >= 0.7", run_id="r")
    again = run(0.95, until="accuracy >= 0.7", run_id="r")
    assert again.outcomes == first.outcomes
    rest = run(0.95, until="end", run_id="r")
    assert (rest.outcomes, rest.record.state) == ({"scored": 300}, "finished")
    assert rest.estimate("accuracy").method == "betting, at any time"  # whether to go on was decided by looking
    assert "; 0 trials of the plan were not needed" in " ".join(str(rest).split())
    assert rest.record.looked is not None
    assert rest.record.looked.decision == "go"
    with pytest.raises(BadInput, match=r"--until: rule=accuracy >= 0\.7 → rule=accuracy >= 0\.9"):
        run(0.95, until="accuracy >= 0.9", run_id="r")
    with pytest.raises(BadInput, match="--until: rule"):
        run(0.95, run_id="r")


def test_a_budget_that_is_spent_first_leaves_it_open_and_a_larger_one_goes_on(run: Callable[..., Run]) -> None:
    async def costly(question: str) -> list[Step]:
        return [Step(message=Message.of("assistant", "yes"), usage=Usage(output_tokens=10))]

    small = run(costly, until="accuracy >= 0.9", run_id="r", budget={"tokens": 100})
    assert small.record.state == "inconclusive"
    assert small.record.looked is not None
    assert small.record.looked.decision is None
    assert "skipped" not in small.outcomes
    more = run(costly, until="accuracy >= 0.9", run_id="r", budget={"tokens": 10_000})
    assert (more.record.state, more.record.looked and more.record.looked.decision) == ("finished", "go")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"until": "accuracy >= 0.8", "order": "official"}, "have an order of their own"),
        ({"until": "acuracy >= 0.8"}, "Did you mean 'accuracy'"),
        ({"until": "accuracy better"}, "compares with a stored run"),
        ({"until": "accuracy >= 0.8", "against": "old"}, "goes with a rule that compares"),
        ({"until": "accuracy better", "against": "odl"}, "Did you mean 'old'"),
        ({"until": "accuracy better", "against": "part"}, "was not run to its end"),
        ({"until": "accuracy better", "against": "other"}, "of another task: u"),
        ({"until": "accuracy >= 0.8", "first": 1}, "at least two clusters"),
        ({"until": "accuracy >= 0.8", "error": 0.5}, "error must be between 0 and 0.5"),
        ({"error": 0.1}, "go with --until"),
        ({"until": "end"}, "name it with --run"),
    ],
)
def test_what_cannot_be_decided_is_refused_before_the_first_call(
    run: Callable[..., Run], given: dict[str, Any], said: str
) -> None:
    run(0.9, run_id="old", first=4)
    run(1.0, run_id="part", until="accuracy >= 0.5")
    run(0.9, run_id="other", task=Task(name="u", samples=[Sample.ask("1", "1", target="yes")], scorers=["exact"]))

    async def never(question: str) -> str:
        raise AssertionError

    with pytest.raises(BadInput, match=said):
        run(never, **given)


def test_a_gate_decides_as_the_run_did_and_never_by_the_interval_of_a_fixed_number(run: Callable[..., Run]) -> None:
    found = run(0.9, until="accuracy >= 0.75")
    assert found.record.looked is not None
    assert found.record.looked.low is not None

    def ruling(policy: str) -> Ruling:
        return gate(found, policy=parse_policy(f"[[rule]]\n{policy}".encode(), "p")).rulings[0]

    same = ruling('metric = "accuracy"\nat_least = 0.75')
    assert (same.decision, same.low, same.missing) == ("go", found.record.looked.low, 0)
    shown = found.estimate("accuracy")
    assert (shown.low, shown.high) == (same.low, same.high)
    assert shown.level == pytest.approx(0.9)
    assert "that of the decision" in str(shown.note)
    other = ruling('metric = "accuracy"\nat_least = 0.75\nerror = 0.01')
    assert other.low is not None
    assert other.low < same.low  # type: ignore[operator]
    part = ruling('metric = "accuracy"\nat_least = 0.1\nslice = "kind=0"')
    assert (part.decision, part.missing) == ("go", 0)
    for policy in ('metric = "failed"\nat_most = 0.9', 'metric = "latency"\nat_most = 100'):
        assert ruling(policy).decision == "inconclusive"
        assert "was looked at" in str(ruling(policy).why)


def test_a_comparison_with_a_run_that_ended_early_allows_for_the_looks(run: Callable[..., Run]) -> None:
    old = run(0.8, run_id="old")
    early = run(0.8, run_id="early", until="accuracy not worse by 0.1", against="old")
    assert early.record.looked is not None
    row = proctor.compare(old, early).rows[0]
    assert (row.missing, row.difference.pairs) == (0, sum(early.outcomes.values()))
    assert (row.difference.low, row.difference.high) == (early.record.looked.low, early.record.looked.high)
    assert row.difference.level == pytest.approx(0.9)
    assert row.difference.method == early.record.looked.method
    assert any("looked at" in str(note) for note in proctor.compare(old, early).notes)
    turned = proctor.compare(early, old).rows[0].difference
    assert (turned.low, turned.high) == (-(early.record.looked.high or 0.0), -(early.record.looked.low or 0.0))
    rest = run(0.8, run_id="early", until="end")  # whose interval is no longer that of the decision
    assert proctor.compare(old, rest).rows[0].difference.method == "betting, at any time"
    found = gate(early, against=old, policy=parse_policy(b'[[rule]]\nmetric = "exact"\nnot_worse_by = 0.1', "p"))
    assert (found.decision, found.rulings[0].low) == ("go", early.record.looked.low)
    stricter = gate(early, against=old, policy=parse_policy(b'[[rule]]\nmetric = "exact"\nnot_worse_by = 0.01', "p"))
    assert stricter.decision == "inconclusive"


def test_runs_that_ended_early_differ_only_where_that_is_shown_at_any_time(run: Callable[..., Run]) -> None:
    good, bad = run(0.95, until="accuracy >= 0.85"), run(0.3, until="accuracy >= 0.15")
    found = proctor.compare(bad, good)
    main, *slices = found.rows
    assert main.outcome == "better"
    assert main.difference.low is not None
    assert main.difference.low > 0
    assert main.difference.p_value < 0.05
    assert {one.difference.method for one in slices} == {"betting, at any time"}
    assert set(found.not_comparable) <= {"not_run"}


def exact(sample: Sample, trajectory: Trajectory) -> Score:
    """A scorer of the name that the runs here are scored by."""
    return Score(points=0)


def _always(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=1)


def _right(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    return Unscored(why="not_applicable") if sample.id == "7" else Score(points=int(trajectory.answer == "yes"))


def _ruled(found: Run, path: Path) -> Ruling:
    path.write_text('[[rule]]\nmetric = "accuracy"\nat_least = 0.7\n', encoding="utf-8")
    return gate(found, policy=str(path)).rulings[0]


def test_a_gate_no_longer_decides_as_the_run_did_once_it_is_scored_anew(
    run: Callable[..., Run], tmp_path: Path
) -> None:
    found = run(0.85, until="accuracy >= 0.7", run_id="r")
    assert _ruled(found, tmp_path / "gate.toml").decision == "go"
    anew = _ruled(proctor.rescore(found, scorers=[exact]), tmp_path / "gate.toml")
    assert (anew.value, anew.decision) == (0, "no_go")


def test_what_a_scorer_does_not_apply_to_does_not_keep_the_last_look_away(run: Callable[..., Run]) -> None:
    samples = [Sample.ask(str(n), f"{n}", target="yes") for n in range(100)]
    decisions = [
        run(0.9, task=Task(name="t", samples=samples, scorers=[_right]), until="accuracy >= 0.86", seed=seed)
        for seed in range(6)
    ]
    assert all(found.record.looked is not None and found.record.looked.decision is not None for found in decisions)
    suite = run(0.9, task=Task(name="t", samples=samples, scorers=[_right]), until="accuracy >= 0.9", target="suite")
    assert suite.record.looked is not None
    assert suite.record.looked.decision in ("go", "no_go")


def test_the_headline_of_each_scorer_has_its_own_interval(run: Callable[..., Run]) -> None:
    both = Task(name="t", samples=task().samples, scorers=["exact", _always])
    found = run(0.8, task=both, until="exact.accuracy >= 0.7")
    one = headline(found.record, found.store, found.record.scorers[1])
    assert one is not None
    assert one.value == 1
    assert (one.low or 0) > 0.9
