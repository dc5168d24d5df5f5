"""Which cases passed: means over turns and attempts, and what becomes of those that could not be measured."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from proctor import Sample, Score, Task, Trajectory, Unscored, evaluate
from proctor.core.errors import ProviderFailed
from proctor.core.sample import Message, ToolCall, Turn
from proctor.core.task import Agent, Environment, Scorer, Session
from proctor.core.trajectory import Step, ToolStyle
from proctor_adapters.evalsets.outcomes import CaseOutcome, outcomes


def cases(agent: Any, *scorers: str | Scorer, samples: list[Sample] | None = None, **how: Any) -> list[CaseOutcome]:
    task = Task(name="t", samples=samples or [Sample.ask("a", "q", target="x")], scorers=scorers)
    run = evaluate(task, agent=agent, store=":memory:", max_failed=1.0, **how)
    return list(outcomes(run.record, run.store))


def turns(values: list[float], **details: Any) -> Scorer:
    def metric(sample: Sample, trajectory: Trajectory) -> Score:
        return Score(points=sum(values) / len(values), details={"turns": values, **details})

    return metric


def two() -> Sample:
    return Sample(id="a", turns=tuple(Turn(messages=(Message.of("user", text),)) for text in ("one", "two")))


def test_a_case_passes_by_the_mean_of_its_turns() -> None:
    [case] = cases(lambda q: "x", turns([1.0, 0.5], threshold=0.75), samples=[two()])
    assert (case.status, case.metrics[0].score, case.metrics[0].threshold) == ("passed", 0.75, 0.75)
    assert [turn.scores[case.metrics[0].name] for turn in case.turns] == [1.0, 0.5]
    assert [turn.statuses[case.metrics[0].name] for turn in case.turns] == ["passed", "failed"]


def test_a_scorer_of_ours_has_its_own_score_and_tells_its_turns_by_their_numbers() -> None:
    wanted = [[{"name": "f", "arguments": {}}], None, [{"name": "g", "arguments": {}}, {"name": "h", "arguments": {}}]]
    sample = Sample(
        id="a",
        turns=tuple(
            Turn(messages=(Message.of("user", str(place)),), reference=None if one is None else {"calls": one})
            for place, one in enumerate(wanted)
        ),
    )

    class Calls(Agent):
        name = "calls"
        tools: ToolStyle = "native"

        @asynccontextmanager
        async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
            yield self

        async def send(self, turn: Turn) -> list[Step]:
            name = {"0": "f", "1": "f", "2": "g"}[turn.messages[0].text]
            return [Step(message=Message(role="assistant", parts=(ToolCall(name=name, arguments={}),)))]

    [case] = cases(Calls(), "trajectory", samples=[sample])
    [metric] = case.metrics
    assert (metric.score, metric.status) == (0.8, "failed")  # two of two made, two of three expected
    assert [turn.scores["trajectory"] for turn in case.turns] == [1.0, None, pytest.approx(2 / 3)]
    assert [turn.statuses["trajectory"] for turn in case.turns] == ["passed", "not_evaluated", "failed"]


def test_a_metric_with_a_rule_of_its_own_is_believed() -> None:
    [case] = cases(lambda q: "x", turns([0.9, 0.1], threshold=0.5, passed_turns=[False, True]), samples=[two()])
    assert case.status == "failed"
    [case] = cases(lambda q: "x", turns([0.1, 0.1], threshold=0.5, passed_turns=[True, True]), samples=[two()])
    assert case.status == "passed"  # of some metrics less is better


def test_attempts_are_averaged_and_one_in_which_the_agent_failed_is_zero() -> None:
    calls = []

    def agent(question: str) -> str:
        calls.append(question)
        if len(calls) == 2:
            raise RuntimeError("broken")
        return "x"

    [case] = cases(agent, "exact", attempts=2, concurrency=1)
    assert case.metrics[0].score == 0.5
    assert case.status == "failed"
    assert "broken" in str(case.failure)
    assert [turn.failure != "" for turn in case.turns] == [False, True]


def test_an_agent_that_always_failed_does_not_pass_by_a_threshold_of_zero() -> None:
    def agent(question: str) -> str:
        raise RuntimeError("broken")

    [case] = cases(agent, turns([1.0], threshold=0.0))
    assert case.status == "failed"


def test_what_could_not_be_measured_neither_passes_nor_fails() -> None:
    calls = []

    def agent(question: str) -> str:
        calls.append(question)
        if len(calls) == 2:
            raise ProviderFailed("down")
        return "x"

    [case] = cases(agent, "exact", attempts=2, concurrency=1)
    assert (case.status, case.metrics[0].score) == ("not_evaluated", None)

    def broken(sample: Sample, trajectory: Trajectory) -> Score:
        raise ValueError("oops")

    [case] = cases(lambda q: "x", "exact", broken)
    assert [metric.status for metric in case.metrics] == ["passed", "not_evaluated"]
    assert case.status == "not_evaluated"
    assert "oops" in str(case.metrics[1].reason)


def test_a_metric_that_does_not_apply_is_left_out_and_no_metric_is_no_pass() -> None:
    def never(sample: Sample, trajectory: Trajectory) -> Unscored:
        return Unscored(why="not_applicable")

    [case] = cases(lambda q: "x", "exact", never)
    assert ([metric.name for metric in case.metrics], case.status) == (["exact"], "passed")
    [case] = cases(lambda q: "x", never)
    assert (case.metrics, case.status) == ((), "not_evaluated")


def test_cases_that_were_never_run_are_there() -> None:
    samples = [Sample.ask(str(number), "q", target="x") for number in range(3)]
    found = cases(lambda q: "x", "exact", samples=samples, concurrency=1, budget={"minutes": 1e-9})
    assert [case.id for case in found] == ["0", "1", "2"]
    assert found[-1].status == "not_evaluated"
