"""A rescored run says itself how far its new verdicts go."""

import json
from pathlib import Path

import proctor
from proctor import Sample, Task
from proctor.api import Run

TASK = Task(name="t", samples=[Sample.ask(str(n), "1 + 1?", target="2") for n in range(4)], scorers=["exact"])


async def echo(question: str) -> str:
    return "2"


def judged(folder: Path, replies: list[object], **how: object) -> Run:
    """Run the task, and judge its answers by a model that says these replies in order."""
    script = folder / "judge.jsonl"
    script.write_text("".join(json.dumps(reply) + "\n" for reply in replies), encoding="utf-8")
    run = proctor.evaluate(TASK, agent=echo, store=str(folder / "runs.db"), run_id="r")
    assert run.record.state == "finished"
    return proctor.rescore(run, scorers=["rubric:answer-quality"], judge=f"scripted:{script}", concurrency=1, **how)  # type: ignore[arg-type]


def test_a_judge_that_fails_too_often_makes_the_run_inconclusive(tmp_path: Path) -> None:
    run = judged(tmp_path, ["This is no JSON."])
    assert run.record.state == "inconclusive"
    assert "failed for reasons outside the agent" in str(run.record.note)


def test_a_budget_that_ends_within_a_sample_makes_the_run_inconclusive(tmp_path: Path) -> None:
    run = judged(
        tmp_path, ["This is no JSON."], budget={"requests": 4}
    )  # three tries for the first, one for the second
    assert run.record.state == "inconclusive"
    assert "udget" in str(run.record.note)
