"""The first trial is the probe of a run; of a conversation its first turn is enough."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor import Sample, Score, Task, Trajectory
from proctor.core.declared import scorer
from proctor.core.judge import JudgeInfo
from proctor.core.sample import Message, Turn


def talk(id: str, turns: int) -> Sample:
    said = tuple(Turn(messages=(Message.of("user", f"{id} {number}"),)) for number in range(turns))
    return Sample(id=id, turns=said)


def right(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=True)


@scorer(version="1")
def judged(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=True)


vars(judged)["judge"] = JudgeInfo(kind="mine", model="m")


def heard(folder: Path, turns: int, *, by: Any = right, **how: Any) -> list[str]:
    """Return what the agent was asked in the first moments of a run, in order."""
    asked: list[str] = []

    async def agent(question: str) -> str:
        asked.append(question)
        await asyncio.sleep(0.02)
        return "yes"

    samples = [talk(str(number), turns) for number in range(4)]
    task = Task(name="talks", samples=samples, scorers=[by])
    run = proctor.evaluate(task, agent=agent, store=str(folder / "runs.db"), concurrency=4, order="official", **how)
    assert run.outcomes == {"scored": 4}
    return asked


def test_the_others_begin_after_the_first_turn_of_a_conversation(tmp_path: Path) -> None:
    asked = heard(tmp_path, turns=3)
    assert asked[0] == "0 0"
    assert "1 0" in asked[1:5]
    assert len(asked) == 12


def test_a_single_turn_is_played_and_kept_before_the_others_begin(tmp_path: Path) -> None:
    assert sorted(heard(tmp_path, turns=1)) == ["0 0", "1 0", "2 0", "3 0"]


@pytest.mark.parametrize("how", [{"by": judged}, {"budget": {"requests": 100}}], ids=["a judge", "a budget"])
def test_what_is_only_known_at_the_end_of_a_trial_is_waited_for(tmp_path: Path, how: dict[str, Any]) -> None:
    assert heard(tmp_path, turns=3, **how)[:3] == ["0 0", "0 1", "0 2"]


def test_an_agent_that_breaks_in_a_later_turn_of_the_first_trial_stops_nobody(tmp_path: Path) -> None:
    asked: list[str] = []

    async def agent(question: str) -> str:
        asked.append(question)
        if question == "0 1":
            await asyncio.sleep(0.05)
            raise proctor.core.errors.ProviderFailed("It is gone.", kind="connect")
        return "yes"

    task = Task(name="talks", samples=[talk(str(number), 2) for number in range(4)], scorers=[right])
    run = proctor.evaluate(
        task, agent=agent, store=str(tmp_path / "a.db"), concurrency=4, order="official", max_failed=1
    )
    assert run.outcomes == {"scored": 3, "provider_failed": 1}
    assert len(asked) == 8
