"""Samples that start in the last state of another one: they wait for it, get its state, and fail where it has none."""

import asyncio
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor import Sample, Score, Task, Trajectory, Unscored
from proctor.core.errors import EnvironmentFailed, ProviderFailed
from proctor.core.sample import ToolCall, ToolResult
from proctor.core.trial import Trial
from proctor.stores.sqlite import SqliteStore


class Notebook:
    """Starts with the notes of the sample before, and takes down the question."""

    def __init__(self, sample: Sample) -> None:
        start = sample.known.start or {}
        self.notes = [*start.get("notes", []), sample.question]

    async def call(self, call: ToolCall) -> ToolResult:
        return ToolResult(name=call.name, content="")

    def state(self) -> Mapping[str, object]:
        return {"notes": self.notes}


def follower(id: str, after: str | None) -> Sample:
    return Sample.ask(id, id, meta={} if after is None else {"after": after})


SAMPLES = [
    *(follower(f"q{n}", "w3") for n in range(20)),
    follower("w3", "w2"),
    follower("w2", "w1"),
    follower("w1", None),
    *(follower(f"alone{n}", None) for n in range(20)),
]
TASK = Task(name="notes", samples=SAMPLES, environment=Notebook)


async def agent(question: str) -> str:
    await asyncio.sleep(0)
    return question


def notes(run: proctor.Run) -> dict[str, Any]:
    return {trial.sample_id: (trial.trajectory.state or {}).get("notes") for trial in run.trials()}


@pytest.mark.parametrize("concurrency", [1, 3, 64])
@pytest.mark.parametrize("order", ["random", "official"])
def test_a_sample_starts_where_the_one_it_follows_ended(tmp_path: Path, concurrency: int, order: Any) -> None:
    run = proctor.evaluate(
        TASK, agent=agent, attempts=2, concurrency=concurrency, order=order, store=str(tmp_path / "a.db")
    )
    assert run.outcomes == {"scored": 2 * len(SAMPLES)}
    found = notes(run)
    assert found["w3"] == ["w1", "w2", "w3"]
    assert found["q7"] == ["w1", "w2", "w3", "q7"]
    assert found["alone7"] == ["alone7"]


def test_what_follows_a_failed_sample_fails_too_and_both_can_be_run_again(tmp_path: Path) -> None:
    asked: list[str] = []
    broken = True

    async def failing(question: str) -> str:
        asked.append(question)
        if question == "w2" and broken:
            raise ProviderFailed("The endpoint is down.")
        return question

    store = str(tmp_path / "a.db")
    run = proctor.evaluate(TASK, agent=failing, run_id="r", store=store, max_failed=1)
    assert run.outcomes == {"scored": 21, "provider_failed": 1, "environment_failed": 21}
    assert not {"q0", "w3"} & {*asked}
    lost = next(trial for trial in run.trials() if trial.sample_id == "q0")
    assert "It starts where 'w3' ends" in str(lost.failure and lost.failure.reason)
    broken = False
    asked.clear()
    run = proctor.evaluate(TASK, agent=failing, run_id="r", store=store, retry_failed=True)
    assert run.outcomes == {"scored": len(SAMPLES)}
    assert sorted(asked) == sorted(["w2", "w3", *(f"q{n}" for n in range(20))])
    assert notes(run)["q7"] == ["w1", "w2", "w3", "q7"]


def test_a_resumed_run_asks_for_nothing_twice(tmp_path: Path) -> None:
    asked: list[str] = []
    interrupts = True

    async def counted(question: str) -> str:
        asked.append(question)
        if len(asked) == 8 and interrupts:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(0.1)
        return question

    store = str(tmp_path / "a.db")
    with pytest.raises(KeyboardInterrupt):
        proctor.evaluate(TASK, agent=counted, run_id="r", store=store, order="official", concurrency=2)
    before = {trial.sample_id for trial in proctor.open_run("r", store=store).trials(outcome="scored")}
    assert {"w1", "w2", "w3"} <= before
    asked.clear()
    interrupts = False
    run = proctor.evaluate(TASK, agent=counted, run_id="r", store=store, order="official", accept_changes=True)
    assert run.outcomes == {"scored": len(SAMPLES)}
    assert not before & {*asked}
    assert notes(run)["q7"] == ["w1", "w2", "w3", "q7"]


def test_a_sample_whose_leader_is_not_part_of_the_run_is_not_played(tmp_path: Path) -> None:
    task = Task(name="lost", samples=[follower("q", "nobody"), follower("alone", None)], environment=Notebook)
    run = proctor.evaluate(task, agent=agent, store=str(tmp_path / "a.db"), max_failed=1)
    assert run.outcomes == {"scored": 1, "environment_failed": 1}


def test_samples_that_follow_each_other_end(tmp_path: Path) -> None:
    task = Task(name="round", samples=[follower("a", "b"), follower("b", "a")], environment=Notebook)
    run = proctor.evaluate(task, agent=agent, store=str(tmp_path / "a.db"), max_failed=1)
    assert run.outcomes == {"environment_failed": 2}


def test_an_environment_that_breaks_while_it_is_written_leads_nobody(tmp_path: Path) -> None:
    class Torn(Notebook):
        def state(self) -> Mapping[str, object]:
            if "w1" in self.notes:
                raise EnvironmentFailed("Torn.")
            return super().state()

    task = Task(name="torn", samples=[follower("w1", None), follower("q", "w1")], environment=Torn)
    run = proctor.evaluate(task, agent=agent, store=str(tmp_path / "a.db"), max_failed=1)
    assert run.outcomes == {"environment_failed": 2}


def test_the_state_a_sample_starts_in_is_not_stored_with_the_plan(tmp_path: Path) -> None:
    run = proctor.evaluate(TASK, agent=agent, store=str(tmp_path / "a.db"))
    stored = SqliteStore(tmp_path / "a.db").sample(run.id, "q7")
    assert stored is not None
    assert "start" not in stored.meta
    assert isinstance(next(run.trials()), Trial)


def test_what_follows_an_agent_that_failed_starts_where_that_one_had_started(tmp_path: Path) -> None:
    async def failing(question: str) -> str:
        if question in ("w2", "w3"):
            raise ValueError("a mistake of the agent")
        return question

    run = proctor.evaluate(TASK, agent=failing, store=str(tmp_path / "a.db"))
    assert run.outcomes == {"scored": 41, "agent_failed": 2}
    assert notes(run)["q7"] == ["w1", "q7"]


def test_preparations_are_played_and_no_number_counts_them(tmp_path: Path) -> None:
    def named(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        if "preparation" in sample.tags:
            return Unscored(why="not_applicable", reason="It prepares others.")
        return Score(points=int("write" in (trajectory.state or {}).get("notes", ())), answer=trajectory.answer)

    samples = [
        Sample.ask("write", "write", tags={"preparation": "notes"}),
        *(Sample.ask(f"q{n}", f"q{n}", tags={"category": "notes"}, meta={"after": "write"}) for n in range(10)),
        *(Sample.ask(f"alone{n}", f"alone{n}", tags={"category": "alone"}) for n in range(10)),
    ]
    task = Task(name="prepared", samples=samples, environment=Notebook, scorers=(named,), spread_by="category")
    for limit, attempts in ((None, 1), (6, 1), (6, 2)):
        run = proctor.evaluate(task, agent=agent, store=str(tmp_path / "a.db"), limit=limit, attempts=attempts)
        count = limit or 20
        assert run.outcomes == {"scored": attempts * (count + 1)}
        whole, slices = run.estimate("accuracy"), {one.slice: one for one in run.estimates}
        assert (whole.value, whole.scored, whole.planned) == (0.5, attempts * count, attempts * count)
        assert (whole.floor, whole.ceiling) == (0.5, 0.5)
        assert slices.keys() == {"", "category=notes", "category=alone"}
        assert slices["category=notes"].value == 1
