"""The forty tasks: the oracle solves them, and an agent that does nothing solves none."""

import pytest

from proctor.api import evaluate
from proctor.core.errors import BadInput
from proctor_benchmarks import terminal_basics
from proctor_benchmarks.boxes import blobs
from proctor_benchmarks.boxes.namespace import lacks

pytestmark = pytest.mark.skipif(bool(lacks()), reason=f"needs {lacks()}")


@pytest.mark.parametrize(("agent", "value"), [("baseline:oracle", 1), ("baseline:null", 0)])
def test_a_topic_is_solved_by_its_solutions_and_by_nothing_else(
    agent: str, value: float, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blobs, "data_folder", lambda: tmp_path)
    run = evaluate(terminal_basics.task("code"), agent=agent, store=":memory:", concurrency=2)
    assert run.estimate("accuracy").value == value
    assert run.estimate("accuracy").scored == 7


def test_there_are_forty_tasks_and_each_says_what_is_checked() -> None:
    samples = list(terminal_basics.task().samples)  # type: ignore[arg-type]  # a list
    assert len({sample.id for sample in samples}) == 40
    assert all("not ok" in sample.meta["box_task"]["tests"]["texts"]["test.sh"] for sample in samples)
    assert len({sample.question for sample in samples}) == 40


def test_an_unknown_topic_is_named() -> None:
    with pytest.raises(BadInput, match=r"There is no topic 'cooking'\. Known: text, "):
        terminal_basics.task("cooking")
