"""The decision of a gate: GO, NO-GO or INCONCLUSIVE, and why."""

import itertools
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import proctor
from proctor import Sample, Score, Task, Trajectory
from proctor.core.errors import AgentFailed, BadInput, ProviderFailed
from proctor.core.trajectory import Usage
from proctor.core.trial import Trial
from proctor_ci.baselines import set_baseline
from proctor_ci.gate import Gate
from proctor_ci.gate import gate as decide
from proctor_ci.policy import GatePolicy, PolicyRule


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "runs.db")


def make(store: str, right: Collection[int], *, count: int = 100, attempts: int = 1, **more: Any) -> proctor.Run:
    samples = [
        Sample.ask(str(n), str(n), target="yes", tags={"half": "ab"[n % 2]}, cluster=more.get("cluster"))
        for n in range(count)
    ]

    async def agent(question: str) -> str:
        if int(question) in more.get("broken", ()):
            raise ProviderFailed("Overloaded.", kind="http_503")
        if int(question) in more.get("failed", ()):
            raise AgentFailed("No.", kind="no")
        return "yes" if int(question) in right else "no"

    task = Task(
        name=more.get("name", "t"),
        version=more.get("version", "1"),
        samples=samples,
        scorers=more.get("scorers", ["exact"]),
    )
    return proctor.evaluate(task, agent=agent, attempts=attempts, store=store, max_failed=1.0)


def gate(run: proctor.Run, *rules: PolicyRule, against: proctor.Run | None = None, error: float = 0.05) -> Gate:
    return decide(run, against=against, policy=GatePolicy(rules=rules, error=error))


@pytest.mark.parametrize(("right", "decision"), [(95, "go"), (70, "no_go"), (85, "inconclusive")])
def test_a_threshold_is_decided_by_bounds(store: str, right: int, decision: str) -> None:
    found = gate(make(store, range(right)), PolicyRule(metric="accuracy", at_least=0.85))
    ruling = found.rulings[0]
    assert (found.decision, ruling.decision, ruling.value) == (decision, decision, right / 100)
    assert ruling.low is not None
    assert ruling.high is not None
    assert (ruling.low >= 0.85) == (decision == "go")
    assert (ruling.high < 0.85) == (decision == "no_go")


def test_one_rule_that_is_open_keeps_the_gate_open_and_one_that_fails_closes_it(store: str) -> None:
    run = make(store, range(85))
    met, open_ = PolicyRule(metric="accuracy", at_least=0.5), PolicyRule(metric="exact", at_least=0.85)
    assert gate(run, met, open_).decision == "inconclusive"
    assert gate(run, met, open_, PolicyRule(metric="accuracy", at_most=0.5)).decision == "no_go"


def test_no_go_is_corrected_for_the_number_of_rules(store: str) -> None:
    run = make(store, range(78))  # the chance of as few or fewer, if 85 % were true, is 4 %
    failing = PolicyRule(metric="accuracy", at_least=0.85)
    assert gate(run, failing).decision == "no_go"
    found = gate(run, failing, PolicyRule(metric="accuracy", at_most=1.0))
    assert (found.decision, found.rulings[0].why is not None) == ("inconclusive", True)


def test_missing_trials_move_the_bounds_and_never_count_as_zero(store: str) -> None:
    whole = gate(make(store, range(95), broken=range(95, 100)), PolicyRule(metric="accuracy", at_least=0.95))
    ruling = whole.rulings[0]
    assert (ruling.value, ruling.missing, ruling.decision) == (1.0, 5, "inconclusive")
    assert ruling.low == pytest.approx(0.05 ** (1 / 95) - 0.05)
    assert "retry" in str(ruling.why)


def test_the_same_agent_is_no_worse_and_a_worse_one_is(store: str) -> None:
    old = make(store, range(80), count=200)
    same = make(store, [*range(78), 80, 81], count=200)
    worse = make(store, range(40), count=200)
    rule = PolicyRule(metric="accuracy", not_worse_by=0.1)
    assert gate(same, rule, against=old).decision == "go"
    found = gate(worse, rule, against=old)
    assert (found.decision, found.rulings[0].value) == ("no_go", -0.2)
    assert (found.rulings[0].before, found.rulings[0].now) == (0.4, 0.2)


def test_better_needs_evidence_that_it_is(store: str) -> None:
    old, new = make(store, range(50)), make(store, range(70))
    rule = PolicyRule(metric="exact", better_by=0.0)
    assert gate(new, rule, against=old).decision == "go"
    assert gate(old, rule, against=new).decision == "no_go"
    assert gate(make(store, range(51)), rule, against=old).decision == "inconclusive"
    assert gate(new, PolicyRule(metric="exact", better_by=0.15), against=old).decision == "inconclusive"


def test_a_slice_and_each_value_of_a_tag(store: str) -> None:
    run = make(store, [n for n in range(100) if n % 2 == 0])
    assert gate(run, PolicyRule(metric="accuracy", slice="half=a", at_least=0.9)).decision == "go"
    found = gate(run, PolicyRule(metric="accuracy", each="half", at_least=0.9))
    assert [(one.slice, one.decision) for one in found.rulings] == [("half=a", "go"), ("half=b", "no_go")]
    half = PolicyRule(metric="accuracy", slice="half=a", not_worse_by=0.1)
    assert gate(run, half, against=make(store, range(100))).decision == "go"


def test_the_failed_share_counts_agents_and_infrastructure(store: str) -> None:
    run = make(store, range(100), failed=range(10), broken=range(10, 20))
    ruling = gate(run, PolicyRule(metric="failed", at_most=0.1)).rulings[0]
    assert (ruling.value, ruling.decision) == (0.2, "no_go")
    old = make(store, range(100))
    assert gate(run, PolicyRule(metric="failed", not_worse_by=0.05), against=old).rulings[0].value == 0.2
    assert gate(run, PolicyRule(metric="failed", not_worse_by=0.05), against=old).decision == "no_go"
    assert gate(old, PolicyRule(metric="failed", not_worse_by=0.1), against=run).decision == "go"


def test_latency_by_quantile_and_by_mean(store: str) -> None:
    run = make(store, range(100))
    assert gate(run, PolicyRule(metric="latency", quantile=0.95, at_most=60)).decision == "go"
    assert gate(run, PolicyRule(metric="latency", quantile=0.95, at_most=0)).decision == "no_go"
    assert gate(run, PolicyRule(metric="latency", at_most=60)).decision == "go"
    few = gate(make(store, range(20), count=20), PolicyRule(metric="latency", quantile=0.95, at_most=60))
    assert few.decision == "inconclusive"  # 20 quick trials do not show that 19 of 20 are
    assert few.rulings[0].wanted is not None


def take(
    monkeypatch: pytest.MonkeyPatch,
    seconds: Callable[[int], float],
    *,
    other: tuple[str, Callable[[int], float]] | None = None,
) -> None:
    """Have each trial take so long, by the number of its sample; in one run otherwise."""
    read = proctor.Run.trials

    def timed(run: proctor.Run, **which: Any) -> Iterator[Trial]:
        of_run = other[1] if other is not None and other[0] == run.id else seconds
        for trial in read(run, **which):
            yield msgspec.structs.replace(trial, seconds=of_run(int(trial.sample_id)))

    monkeypatch.setattr(proctor.Run, "trials", timed)


def spend(monkeypatch: pytest.MonkeyPatch, tokens: Callable[[int], int]) -> None:
    """Have each trial take so many tokens, by the number of its sample."""
    read = proctor.Run.trials

    def counted(run: proctor.Run, **which: Any) -> Iterator[Trial]:
        for trial in read(run, **which):
            yield msgspec.structs.replace(trial, usage=Usage(input_tokens=tokens(int(trial.sample_id))))

    monkeypatch.setattr(proctor.Run, "trials", counted)


def test_latency_against_a_baseline(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = make(store, range(100)), make(store, range(100))
    take(monkeypatch, lambda number: 1 + number % 7)
    for quantile in (None, 0.9):
        found = gate(new, PolicyRule(metric="latency", not_worse_by=1.0, quantile=quantile), against=old)
        ruling = found.rulings[0]
        assert ruling.unit == "change"
        assert ruling.value is not None
        assert ruling.low is not None
        assert ruling.high is not None
        assert ruling.low <= ruling.value <= ruling.high


def test_one_trial_that_took_nearly_all_the_time_decides_nothing_and_that_is_said(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = make(store, range(100)), make(store, range(100))
    take(monkeypatch, lambda number: 0.001 if number else 100)
    ruling = gate(new, PolicyRule(metric="latency", not_worse_by=1.0), against=old).rulings[0]
    assert ruling.decision == "inconclusive"
    assert "a trial may take up to 600" in str(ruling.why)


def test_quick_trials_do_not_show_that_none_is_slow(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 100 trials none took long, but one in fifty may, up to the limit of 600 seconds: the mean may be 14 seconds."""
    run = make(store, range(100))
    take(monkeypatch, lambda number: 2 + number % 3 / 10)
    near = gate(run, PolicyRule(metric="latency", at_most=4)).rulings[0]
    assert near.decision == "inconclusive"
    assert near.high is not None
    assert 18 < near.high < 25
    assert "limit a quantile" in str(near.why)
    assert near.wanted is None
    assert gate(run, PolicyRule(metric="latency", at_most=30)).decision == "go"
    assert gate(run, PolicyRule(metric="latency", at_most=1)).decision == "no_go"
    assert gate(run, PolicyRule(metric="latency", quantile=0.9, at_most=4)).decision == "go"


def test_a_mean_that_nothing_limits_is_never_shown_to_be_small(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make(store, range(100))
    spend(monkeypatch, lambda number: 10 + number % 3)
    ruling = gate(run, PolicyRule(metric="tokens", at_most=1_000)).rulings[0]
    assert (ruling.decision, ruling.high) == ("inconclusive", None)
    assert "nothing limits what a trial takes" in str(ruling.why)
    assert gate(run, PolicyRule(metric="tokens", at_most=5)).decision == "no_go"  # 0 is the least, and is known
    assert gate(run, PolicyRule(metric="tokens", quantile=0.9, at_most=1_000)).decision == "go"


@pytest.mark.parametrize(("times", "decision"), [(1.0, "go"), (1.5, "no_go")])
def test_a_quantile_against_a_baseline_decides_by_pairs(
    store: str, monkeypatch: pytest.MonkeyPatch, times: float, decision: str
) -> None:
    """60 pairs of which each takes about as long as its other: independent bounds would want thousands."""
    old, new = make(store, range(60), count=60), make(store, range(60), count=60)
    spread = [1.05**number for number in range(60)]
    shuffled = [(17 * number) % 60 for number in range(60)]
    take(
        monkeypatch,
        lambda number: spread[shuffled[number]],
        other=(new.id, lambda number: times * (0.99 + number % 3 / 100) * spread[shuffled[number]]),
    )
    ruling = gate(new, PolicyRule(metric="latency", not_worse_by=0.2, quantile=0.9), against=old).rulings[0]
    assert ruling.decision == decision
    assert ruling.low is not None
    assert ruling.high is not None
    assert ruling.high - ruling.low < 0.2


def test_cost_that_nobody_recorded_is_told(store: str) -> None:
    with pytest.raises(BadInput, match="records no cost"):
        gate(make(store, range(3), count=3), PolicyRule(metric="cost", at_most=1))


def test_what_would_decide_is_said_with_its_cost(store: str) -> None:
    ruling = gate(make(store, range(88)), PolicyRule(metric="accuracy", at_least=0.85)).rulings[0]
    assert ruling.wanted is not None
    assert ruling.wanted.assumed == "observed"
    assert ruling.wanted.samples is not None
    assert 300 < ruling.wanted.samples < 2_000
    assert ruling.wanted.calls == ruling.wanted.samples
    old, new = make(store, range(50)), make(store, [*range(40), *range(50, 60)])
    against = gate(new, PolicyRule(metric="accuracy", not_worse_by=0.05), against=old).rulings[0]
    assert against.wanted is not None
    assert against.wanted.assumed == "equal"
    assert against.wanted.samples is not None
    assert against.wanted.calls == 2 * against.wanted.samples


@pytest.mark.parametrize(("count", "more"), [(3, 56), (50, 9), (58, 1)])
def test_where_nothing_failed_as_many_more_are_wanted_as_decide(store: str, count: int, more: int) -> None:
    rule = PolicyRule(metric="failed", at_most=0.05)
    wanted = gate(make(store, range(count), count=count), rule).rulings[0].wanted
    assert wanted is not None
    assert (wanted.samples, wanted.low) == (more, more)
    assert wanted.high is None or wanted.high > more  # more than a few have not failed yet
    assert gate(make(store, range(count + more), count=count + more), rule).decision == "go"
    assert gate(make(store, range(count + more - 1), count=count + more - 1), rule).decision == "inconclusive"


def test_a_run_that_drew_more_after_its_end_has_the_error_that_is_left(store: str) -> None:
    """The first gate has four fifths of the error, as samples are left; with all samples drawn at once it has all of it."""
    samples = [Sample.ask(str(n), str(n), target="yes") for n in range(100)]
    task = Task(name="t", samples=samples, scorers=["exact"])

    def run(**more: Any) -> proctor.Run:
        return proctor.evaluate(task, agent=lambda question: "yes", store=store, **more)

    whole, part = run(run_id="whole"), run(run_id="part", limit=30)
    first = decide(part, against=whole)
    assert first.left == 70
    assert [first.rulings[0].error, *first.second] == pytest.approx([0.04, 0.01])
    wanted = first.rulings[0].wanted
    assert wanted is not None
    assert wanted.samples == wanted.calls == 90 - 30  # 0.95^90 is 1 %, and the baseline has these samples
    second = decide(run(run_id="part", limit=30, more=60), against=whole)
    assert (second.look, second.second) == (1, ())
    assert second.rulings[0].error == pytest.approx(0.01)
    assert second.decision == "go"
    assert decide(whole, against=proctor.open_run("part", store=store)).look == 1
    assert decide(run(limit=30, more=60), against=whole).look == 0  # announced when it began, so nobody could look

    once = GatePolicy(rules=(PolicyRule(metric="accuracy", at_least=0.5),))
    found = decide(proctor.open_run("part", store=store), policy=once)
    assert found.decision == "inconclusive"
    assert "looks = 2" in str(found.rulings[0].why)


def test_no_number_is_said_where_none_would_do(store: str) -> None:
    wanted = gate(make(store, range(85)), PolicyRule(metric="accuracy", at_least=0.85)).rulings[0].wanted
    assert wanted is not None
    assert wanted.samples is None


def test_attempts_count_as_clusters(store: str) -> None:
    asked = itertools.count()
    samples = [Sample.ask(str(n), str(n), target="yes") for n in range(40)]
    task = Task(name="t", samples=samples, scorers=["exact"])
    run = proctor.evaluate(
        task, agent=lambda question: "no" if next(asked) % 8 == 0 else "yes", attempts=4, store=store
    )
    ruling = gate(run, PolicyRule(metric="accuracy", at_least=0.85)).rulings[0]
    assert (ruling.clusters, ruling.samples, ruling.decision) == (40, 40, "inconclusive")
    assert ruling.wanted is not None


def test_one_cluster_decides_nothing(store: str) -> None:
    ruling = gate(make(store, range(100), cluster="one"), PolicyRule(metric="accuracy", at_least=0.5)).rulings[0]
    assert (ruling.decision, "one cluster" in str(ruling.why)) == ("inconclusive", True)


def test_no_variance_is_no_certainty(store: str) -> None:
    def half(sample: Sample, trajectory: Trajectory) -> Score:
        return Score(points=0.5)

    run = make(store, range(20), count=20, scorers=[half])
    assert gate(run, PolicyRule(metric="score", at_least=0.45)).decision == "inconclusive"
    assert gate(run, PolicyRule(metric="score", at_least=0.2)).decision == "go"


def test_a_changed_measure_blocks_comparisons_unless_it_is_accepted(store: str) -> None:
    old, new = make(store, range(80)), make(store, range(80), version="2")
    policy = GatePolicy(rules=(PolicyRule(metric="accuracy", not_worse_by=0.1),))
    found = decide(new, policy=policy, against=old)
    assert found.decision == "inconclusive"
    assert [(one.name, one.before, one.after) for one in found.changes] == [("task version", "1", "2")]
    assert decide(new, policy=policy, against=old, accept_changes=True).decision == "go"
    assert (
        decide(new, policy=GatePolicy(rules=(PolicyRule(metric="accuracy", at_least=0.5),)), against=old).decision
        == "go"
    )


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (
            PolicyRule(metric="acuracy", at_least=0.5, line=7),
            "gate.toml:7: No metric is called 'acuracy'. Did you mean 'accuracy'",
        ),
        (PolicyRule(metric="accuracy", slice="half=c", at_least=0.5), "No slice is called 'half=c'."),
        (PolicyRule(metric="accuracy", each="hafl", at_least=0.5), "No tag is called 'hafl'. Did you mean 'half'"),
        (PolicyRule(metric="accuracy", at_least=85), "a threshold of 'accuracy' is a share from 0 to 1, not 85"),
        (PolicyRule(metric="accuracy", not_worse_by=0.1), "compares with a baseline, and none is named"),
    ],
)
def test_a_rule_about_what_the_run_does_not_have(store: str, rule: PolicyRule, told: str) -> None:
    with pytest.raises(BadInput) as caught:
        gate(make(store, range(4), count=4), rule)
    assert told in str(caught.value)


def test_baselines_that_cannot_be_one(store: str) -> None:
    run, other = make(store, range(4), count=4), make(store, range(4), count=4, name="u")
    rule = PolicyRule(metric="accuracy", not_worse_by=0.1)
    with pytest.raises(BadInput, match="of another task: u"):
        gate(run, rule, against=other)
    with pytest.raises(BadInput, match="its own baseline"):
        gate(run, rule, against=run)
    with pytest.raises(BadInput, match="neither a baseline nor a run"):
        decide(run, policy=GatePolicy(rules=(rule,), against="releese"))


def test_a_named_baseline_is_found_in_the_store(store: str) -> None:
    old, new = make(store, range(80)), make(store, range(80))
    set_baseline(old.store, "release", old.id)
    found = decide(new, policy=GatePolicy(rules=(PolicyRule(metric="accuracy", not_worse_by=0.1),), against="release"))
    assert found.against is not None
    assert (found.decision, found.against.id) == ("go", old.id)
