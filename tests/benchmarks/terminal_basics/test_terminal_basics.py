"""The forty tasks: the oracle solves them, and an agent that does nothing solves none."""

from pathlib import Path

import pytest

from proctor.api import evaluate
from proctor.core.errors import BadInput
from proctor.core.sample import ToolCall
from proctor.core.score import Score
from proctor.core.trajectory import Trajectory
from proctor_benchmarks import terminal_basics
from proctor_benchmarks.boxes import blobs
from proctor_benchmarks.boxes.box_task import task_of
from proctor_benchmarks.boxes.environment import BoxEnvironment
from proctor_benchmarks.boxes.namespace import lacks
from proctor_benchmarks.boxes.opening import BoxOptions
from proctor_benchmarks.boxes.verifier_scorer import VerifierScorer

pytestmark = pytest.mark.skipif(bool(lacks()), reason=f"needs {lacks()}")


@pytest.fixture(scope="module")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where what boxes leave is kept, for all tests, so that the solution of a task is run once."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(autouse=True)
def own_blobs(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "data_folder", lambda: data_folder)


@pytest.mark.parametrize(("agent", "value"), [("baseline:oracle", 1), ("baseline:null", 0)])
def test_a_topic_is_solved_by_its_solutions_and_by_nothing_else(agent: str, value: float) -> None:
    run = evaluate(terminal_basics.task("code"), agent=agent, store=":memory:", concurrency=2)
    assert run.estimate("accuracy").value == value
    assert run.estimate("accuracy").scored == 7


def test_there_are_forty_tasks_and_each_says_what_is_checked() -> None:
    samples = list(terminal_basics.task().samples)  # type: ignore[arg-type]  # a list
    assert len({sample.id for sample in samples}) == 40
    assert all("not ok" in sample.meta["box_task"]["tests"]["texts"]["test.sh"] for sample in samples)
    assert len({sample.question for sample in samples}) == 40


STOP = "pkill -STOP -f bin/[w]riter; echo quiet > done.txt"


@pytest.mark.parametrize(
    ("script", "points"),
    [
        ("pkill -f bin/[w]riter; echo quiet > done.txt", 1),
        ("echo quiet > done.txt; touch -d 2099-01-01 done.txt", 0),
        ("echo quiet > done.txt; mv noise.log other.log; ln -s other.log noise.log", 0),
        ("rm noise.log; mkdir noise.log; echo quiet > done.txt", 0),
        ("true", 0),
        ("pkill -STOP -f bin/[w]riter; echo quiet > done.txt", 0),
        (f"{STOP}; printf '#!/bin/bash\\n' > /usr/local/sbin/sh; chmod +x /usr/local/sbin/sh", 0),  # by which it would be woken
        (f"{STOP}; (setsid bash -c 'while :; do pkill -STOP -f bin/[w]riter; done' > /dev/null 2>&1 &)", 0),
        ("echo quiet > done.txt; head -c 1G /dev/zero > /full; rm noise.log; cp done.txt noise.log", 0),
        (f"mkfifo f; mv f noise.log; sleep 1; {STOP}; rm noise.log; echo > noise.log", 0),  # it waits for a reader
        ("pkill -STOP -f bin/[w]riter; pkill -KILL -f bin/[w]riter; echo quiet > done.txt", 1),
    ],
)  # fmt: skip
async def test_a_writer_that_has_not_ended_is_seen_whatever_is_done_to_it_and_to_what_it_writes(
    script: str, points: float
) -> None:
    sample = next(sample for sample in terminal_basics.task("system").samples if sample.id == "kill-the-writer")  # type: ignore[union-attr]  # a list
    box_task, options = task_of(sample), BoxOptions(backend="bubblewrap")
    assert box_task is not None
    async with BoxEnvironment(box_task, options) as environment:
        await environment.state()
        await environment.call(ToolCall(name="run", arguments={"command": script}))
        state = await environment.state()
    verdict = await VerifierScorer(options)(sample, Trajectory(state=state))
    assert isinstance(verdict, Score), verdict
    assert verdict.points == points, verdict.details["output"]


def test_an_unknown_topic_is_named() -> None:
    with pytest.raises(BadInput, match=r"There is no topic 'cooking'\. Known: text, "):
        terminal_basics.task("cooking")
