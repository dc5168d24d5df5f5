"""One rule says which number a name means, at every door: an agent that gets nothing right meets nothing anywhere."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

import proctor
from proctor import Sample, Score, Task, Trajectory
from proctor.api.check import check, decide, find_estimate, held_to
from proctor.core.errors import BadInput
from proctor.core.judge import PROVENANCE
from proctor.core.main_number import main_names
from proctor.core.run import Estimate
from proctor.core.task import Judged
from proctor.reports.build import build
from proctor.stores import open_store
from proctor_ci.gate import gate
from proctor_ci.policy import GatePolicy, PolicyRule
from proctor_judging.judges import rubric_file

COUNT = 24
BAR = 0.7
NAMES = ("main", "accuracy", "score", "{scorer}", "{scorer}.accuracy", "{scorer}.main")


def short(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=1)


def judged(tmp_path: Path, rubric: str, *, best: bool, **more: Any) -> proctor.Run:
    """Return a run whose judge gives the lowest points in every dimension, or the highest."""
    found = rubric_file.rubric(rubric)
    points = {one.name: found.high if best else found.low for one in found.dimensions}
    file = tmp_path / "judge.jsonl"
    file.write_text(json.dumps({"when": "", "say": {"comment": "", **points}}), encoding="utf-8")
    task = Task(name="support", samples=[Sample.ask(str(at), "?", target="x") for at in range(COUNT)], scorers=[short])
    how: dict[str, Any] = {
        "scorers": [f"rubric:{rubric}", short],
        "judge": f"scripted:{file}",
        "store": ":memory:",
        **more,
    }
    return proctor.evaluate(task, agent=lambda question: "Go away.", **how)


def by_minimum(run: proctor.Run, name: str) -> str:
    return decide(held_to(name, find_estimate(run, name), BAR), BAR)


def by_gate(run: proctor.Run, name: str) -> str:
    return gate(run, policy=GatePolicy(rules=(PolicyRule(metric=name, at_least=BAR),))).decision


def by_pytest(run: proctor.Run, name: str) -> str:
    found = check(run, thresholds={name: BAR})
    return "missed" if found.faults else "inconclusive" if found.undecided else "met"


DOORS: Mapping[str, Callable[[proctor.Run, str], str]] = {"--min": by_minimum, "gate": by_gate, "pytest": by_pytest}


@pytest.mark.parametrize("rubric", rubric_file.known())
@pytest.mark.parametrize("best", [False, True])
def test_every_door_reads_the_mean_score_of_a_rubric(tmp_path: Path, rubric: str, best: bool) -> None:
    run = judged(tmp_path, rubric, best=best)
    for template in NAMES:
        name = template.format(scorer=f"rubric:{rubric}")
        assert run.estimate(name).value == float(best), name
        for door, hold in DOORS.items():
            assert hold(run, name) in (("met", "go") if best else ("missed", "no_go")), (door, name)
    assert run.headline is not None
    assert run.headline.value == float(best)
    assert [one.name for one in build(run.record, run.store, run.estimates).headline] == [
        f"rubric:{rubric}.score",
        "short.accuracy",
    ]
    assert all(one.value is None or one.unit == "number" or 0 <= one.value <= 1 for one in run.estimates)


@pytest.mark.parametrize("name", ["accuracy", "main", "rubric:support-answer", "rubric:support-answer.accuracy"])
@pytest.mark.parametrize(("best", "decision"), [(False, "no_go"), (True, "go")])
def test_a_run_that_is_looked_at_reads_the_same_number(tmp_path: Path, name: str, best: bool, decision: str) -> None:
    run = judged(tmp_path, "support-answer", best=best, until=f"{name} >= {BAR}")
    assert run.record.looked is not None
    assert run.record.looked.decision == decision


def test_a_dimension_with_the_name_of_another_number_is_qualified(tmp_path: Path) -> None:
    run = judged(tmp_path, "support-answer", best=True)
    name = "rubric:support-answer.dimension:accuracy"
    assert run.estimate(name).value == 5
    with pytest.raises(BadInput, match="is no share but a number on a scale of its own"):
        by_minimum(run, name)
    with pytest.raises(BadInput, match="is no share but a number on a scale of its own"):
        by_gate(run, name)


def test_a_share_out_of_its_range_meets_nothing() -> None:
    with pytest.raises(BadInput, match="which is no share"):
        held_to("accuracy", Estimate(name="accuracy", value=3.833), 0.9)


def test_a_run_keeps_the_scorer_of_its_main_number(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "runs.db"))
    task = Task(name="t", samples=[Sample.ask("a", "?", target="x")], scorers=["exact"])
    run = proctor.evaluate(task, agent=lambda question: "y", store=store, run_id="first")
    again = proctor.rescore(run, scorers=[short])
    assert (again.record.main, again.record.scorers) == ("exact", ("exact", "short"))
    assert [again.estimate(name).value for name in ("main", "accuracy", "exact", "short", "short.accuracy")] == [0, 0, 0, 1, 1]  # fmt: skip


def test_a_run_of_an_older_version_has_the_number_of_its_first_scorer(tmp_path: Path) -> None:
    record = judged(tmp_path, "technical-doc", best=False).record
    old = msgspec.structs.replace(record, main="")
    assert old.main_scorer == "rubric:technical-doc"
    assert main_names(old)["accuracy"] == "rubric:technical-doc"


def test_a_name_that_means_two_numbers_of_a_stored_run_means_none(tmp_path: Path) -> None:
    record = judged(tmp_path, "answer-quality", best=False).record
    both = msgspec.structs.replace(record, scorers=("exact", "accuracy"), main="exact", provenance={PROVENANCE: {}})
    known = main_names(both)
    assert "accuracy" not in known
    assert (known["main"], known["accuracy.accuracy"], known["exact.accuracy"]) == ("exact", "accuracy", "exact")


@pytest.mark.parametrize("name", ["accuracy", "score", "main", "latency", "failed"])
def test_a_scorer_cannot_have_the_name_of_another_number(name: str) -> None:
    def own(sample: Sample, trajectory: Trajectory) -> Score:
        return Score(points=1)

    own.__name__ = own.__qualname__ = name
    task = Task(name="t", samples=[Sample.ask("a", "?", target="x")], scorers=["exact", own])
    with pytest.raises(BadInput, match=f"A scorer cannot be called '{name}'"):
        proctor.evaluate(task, agent=lambda question: "x", store=":memory:")


def test_an_official_aggregate_under_the_name_of_a_scorer_is_qualified() -> None:
    def summarise(estimates: Sequence[Estimate], judged: Judged) -> list[Estimate]:
        return [Estimate(name=name, value=1.0) for name in ("short", "accuracy", "exact.accuracy", "overall")]

    samples = [Sample.ask("a", "?", target="x")]
    task = Task(name="t", samples=samples, scorers=["exact", short], summarise=summarise)
    run = proctor.evaluate(task, agent=lambda question: "y", store=":memory:")
    assert [one.name for one in run.estimates if one.value == 1] == [
        *("official.short", "official.accuracy", "official.exact.accuracy", "overall", "short.accuracy"),
    ]
    assert [run.estimate(name).value for name in ("accuracy", "main", "exact", "exact.accuracy")] == [0] * 4


def test_a_baseline_is_read_by_the_same_scorer_wherever_that_stands(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "runs.db"))
    samples = [Sample.ask(str(at), "?", target="x") for at in range(20)]
    how: dict[str, Any] = {"agent": lambda question: "y", "store": store}
    proctor.evaluate(Task(name="t", samples=samples, scorers=[short]), run_id="old", **how)
    with pytest.raises(BadInput, match="The baseline old has no scores of 'exact'"):
        proctor.evaluate(Task(name="t", samples=samples, scorers=["exact"]), until="accuracy not worse by 0.1", against="old", **how)  # fmt: skip
