"""One struct of options, whoever gives them."""

from inspect import signature
from pathlib import Path

import pytest

import proctor
from proctor import Sample, Task
from proctor.api import RunOptions, resumable
from proctor.api.options import limits_over
from proctor.cli.run import command
from proctor.config import ProjectSettings
from proctor.core.errors import BadInput
from proctor.core.run import Budget, Limits

TASK = "questions.jsonl"
OWN = {
    "task",
    "dry_run",
    "as_json",
    "quiet",
    "least",
    "min_by",
    "base_url",
    "batch",
    "columns",
    "help_all",
}  # of the command, or a part of an option


@pytest.fixture
def questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / TASK).write_text('{"id": "a", "question": "1 + 1?", "target": "2"}\n' * 1, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return str(tmp_path / "runs.db")


def test_every_flag_of_run_is_an_option() -> None:
    flags = {str(one.name) for one in command.params} - OWN
    assert flags <= {*RunOptions.__struct_fields__}


def test_every_option_is_a_keyword() -> None:
    for door in (proctor.evaluate, proctor.evaluate_async, proctor.score):
        assert [*signature(door).parameters] == ["task", *RunOptions.__struct_fields__]


def test_a_misspelt_option_names_the_nearest() -> None:
    with pytest.raises(BadInput, match="Did you mean 'attempts'"):
        RunOptions.of({"atempts": 3})


def test_a_stored_run_gives_back_its_options(questions: str) -> None:
    given = RunOptions(
        agent="baseline:echo",
        attempts=2,
        seed=7,
        ids=("a",),
        order="official",
        target="suite",
        limits=Limits(seconds=5),
        budget=Budget(requests=9),
        max_failed=0.5,
        workers=1,
        concurrency=3,
        scorers=("exact",),
    )
    run = proctor.api.run_task(TASK, given.changed({"store": questions, "run_id": "r"}))
    task, again = resumable("r", questions)
    assert task == TASK
    same = [
        name
        for name in RunOptions.__struct_fields__
        if name
        not in (
            "store",
            "run_id",
            "options",
            "agent_options",
            "judge_options",
            "user_options",
            "environment_options",
            "tags",
        )
    ]
    assert {name: getattr(again, name) for name in same} == {name: getattr(given, name) for name in same}
    assert proctor.api.run_task(task, again).outcomes == run.outcomes


def test_what_is_not_given_changes_nothing() -> None:
    options = RunOptions(seed=3, agent_options={"temperature": 0}, limits=Limits(seconds=5, steps=3))
    assert options.changed({"seed": None, "ids": (), "agent_options": None, "limits": None}) == options


def test_a_mapping_changes_what_it_names() -> None:
    options = RunOptions(agent_options={"temperature": 0}, limits=Limits(seconds=5, steps=3))
    changed = options.changed({"agent_options": {"top_p": 1}, "limits": {"seconds": 9}})
    assert changed.agent_options == {"temperature": 0, "top_p": 1}
    assert changed.limits == Limits(seconds=9, steps=3)
    assert limits_over(Limits(steps=3), None) == Limits(steps=3)


def test_settings_are_the_usual_options() -> None:
    usual = RunOptions.usual(ProjectSettings(attempts=3, task_options={"level": 1}, store="other.db", judge="openai:x"))
    assert (usual.attempts, usual.options, usual.store, usual.judge) == (3, {"level": 1}, None, None)


def test_without_an_agent_nothing_is_run() -> None:
    with pytest.raises(BadInput, match="Name the agent"):
        proctor.evaluate(Task(name="t", samples=[Sample.ask("a", "?")]))
    with pytest.raises(BadInput, match="Name the recorded replies"):
        proctor.score(Task(name="t", samples=[Sample.ask("a", "?")]))
