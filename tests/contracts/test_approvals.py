"""A call that waits for approval is carried out, denied, or waits on, in the same way in every library that has the notion."""

from pathlib import Path
from typing import Any

import deleting
import pytest

import proctor
from proctor.core.errors import BadInput
from proctor.core.sample import ToolResult
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Trial
from proctor.reports.story import story

LIBRARIES = [*deleting.MAKERS]
one_library = pytest.mark.parametrize("library", LIBRARIES)


def run(agent: Any, folder: Path, question: str = "Delete a.", **options: Any) -> proctor.Run:
    task = proctor.Task(
        name="deleting", samples=[proctor.Sample.ask("one", question, target="Deleted")], scorers=["exact:contains"]
    )
    return proctor.evaluate(task, agent=agent, store=str(folder / "runs.db"), **options)


def trial_of(run: proctor.Run) -> Trial:
    [trial] = run.trials()
    return trial


def results(trajectory: Trajectory) -> dict[str, str]:
    """The result of each call by its path."""
    path_by_call = {call.id: call.arguments["path"] for call in trajectory.calls()}
    parts = [part for step in trajectory.steps for part in step.message.parts if isinstance(part, ToolResult)]
    return {path_by_call[part.id]: part.content for part in parts}


@one_library
def test_without_a_policy_nobody_decides_and_the_trial_has_no_score(library: str, tmp_path: Path) -> None:
    deleted: list[str] = []
    made = run(deleting.agent(library, deleted), tmp_path, "Delete a b.")
    trial = trial_of(made)
    assert (trial.outcome, trial.trajectory.stop, deleted) == ("awaiting_approval", "waiting", [])
    assert trial.failure is not None
    assert 'waits for approval of delete(path="a"), delete(path="b"), and' in str(trial.failure.reason)
    assert "--approve" in str(trial.failure.reason)
    assert [call.name for call in trial.trajectory.calls()] == ["delete", "delete"]
    [estimate] = [one for one in made.estimates if one.name == "accuracy" and not one.slice]
    assert (estimate.value, estimate.scored, estimate.floor, estimate.ceiling) == (None, 0, 0, 1)
    assert made.record.state == "inconclusive"


@one_library
@pytest.mark.parametrize("policy", ["all", "delete", ["other", "delete"]])
def test_what_a_policy_approves_is_carried_out(library: str, tmp_path: Path, policy: Any) -> None:
    deleted: list[str] = []
    trial = trial_of(run(deleting.agent(library, deleted), tmp_path, approve=policy))
    assert (trial.outcome, trial.trajectory.stop, deleted) == ("scored", "done", ["a"])
    shown = results(trial.trajectory)
    assert shown.keys() == {"a"}
    assert "a is gone" in shown["a"]
    assert trial.trajectory.answer == f"Deleted: {shown['a']}"
    [approval] = trial.trajectory.approvals
    assert (approval.call.name, approval.call.arguments, approval.approved, approval.by) == (
        "delete",
        {"path": "a"},
        True,
        "policy",
    )
    assert {step.turn for step in trial.trajectory.steps} == {0}


@one_library
@pytest.mark.parametrize("policy", ["none", "other"])
def test_what_a_policy_denies_is_a_result_that_the_model_sees(library: str, tmp_path: Path, policy: str) -> None:
    deleted: list[str] = []
    trial = trial_of(run(deleting.agent(library, deleted), tmp_path, approve=policy))
    assert (trial.outcome, deleted) == ("scored", [])
    shown = results(trial.trajectory)["a"]
    assert shown in trial.trajectory.answer
    assert "gone" not in shown
    assert [(one.approved, one.by) for one in trial.trajectory.approvals] == [(False, "policy")]


@one_library
def test_the_user_is_asked_about_each_call_by_itself(library: str, tmp_path: Path) -> None:
    script = tmp_path / "user.json"
    script.write_text('[{"when": "path=\\"b\\"", "say": "No, that one is mine."}, "Yes.", null]')
    deleted: list[str] = []
    made = run(deleting.agent(library, deleted), tmp_path, "Delete a b.", user=f"scripted:{script}", approve="ask")
    trial = trial_of(made)
    assert (trial.outcome, deleted) == ("scored", ["a"])
    assert [(one.call.arguments["path"], one.approved, one.by, one.words) for one in trial.trajectory.approvals] == [
        ("a", True, "user", "Yes."),
        ("b", False, "user", "No, that one is mine."),
    ]
    assert "a is gone" in results(trial.trajectory)["a"]
    assert "b is gone" not in trial.trajectory.answer


@one_library
def test_a_user_who_says_neither_yes_nor_no_failed(library: str, tmp_path: Path) -> None:
    script = tmp_path / "user.json"
    script.write_text('["What is the weather like?"]')
    deleted: list[str] = []
    trial = trial_of(run(deleting.agent(library, deleted), tmp_path, user=f"scripted:{script}"))
    assert (trial.outcome, trial.failure and trial.failure.kind, deleted) == ("user_failed", "unclear", [])


@one_library
def test_a_user_who_says_nothing_leaves_the_call_waiting(library: str, tmp_path: Path) -> None:
    script = tmp_path / "user.json"
    script.write_text("[null]")
    deleted: list[str] = []
    trial = trial_of(run(deleting.agent(library, deleted), tmp_path, user=f"scripted:{script}"))
    assert (trial.outcome, deleted) == ("awaiting_approval", [])


@one_library
def test_the_conversation_goes_on_after_an_approval(library: str, tmp_path: Path) -> None:
    script = tmp_path / "user.json"
    script.write_text('["Yes.", "Delete c.", "Yes.", null]')
    deleted: list[str] = []
    trial = trial_of(run(deleting.agent(library, deleted), tmp_path, user=f"scripted:{script}"))
    assert (trial.outcome, deleted) == ("scored", ["a", "c"])
    assert [one.turn for one in trial.trajectory.approvals] == [0, 1]
    assert trial.trajectory.answer == f"Deleted: {results(trial.trajectory)['c']}"


@one_library
def test_a_run_that_waited_is_resumed_with_a_policy(library: str, tmp_path: Path) -> None:
    deleted: list[str] = []
    agent = deleting.agent(library, deleted)
    assert run(agent, tmp_path, run_id="waits").outcomes == {"awaiting_approval": 1}
    resumed = run(agent, tmp_path, run_id="waits", approve="all", retry_failed=True)
    assert (resumed.outcomes, deleted) == ({"scored": 1}, ["a"])
    with pytest.raises(BadInput, match="--approve: all → none"):
        run(agent, tmp_path, run_id="waits", approve="none")


@pytest.mark.parametrize("given", ["all,delete", "delete,,other", ["ask", "none"]])
def test_a_policy_that_says_two_things_is_refused(given: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--approve takes ask, all, none"):
        run(lambda question: "Deleted", tmp_path, approve=given)


def test_nobody_to_ask_is_refused_before_the_first_call(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="needs a simulated user"):
        run(lambda question: "Deleted", tmp_path, approve="ask")


def test_points_of_a_trial_in_which_a_call_has_no_result_are_marked(tmp_path: Path) -> None:
    def careless(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        call = {"id": "1", "type": "function", "function": {"name": "delete", "arguments": '{"path": "a"}'}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "assistant", "content": "Deleted."},
        ]

    made = run(careless, tmp_path)
    assert made.estimate("accuracy").value == 1
    [warning] = [str(one) for one in made.record.warnings]
    assert warning == (
        "Trials with points in which a call has no recorded result: 1. "
        "The first is 'one', where delete(path=\"a\") was carried out elsewhere, or never."
    )
    lines = story(trial_of(made), None, []).lines
    assert [(line.role, line.kind, line.text) for line in lines][-1] == ("nobody", "result", 'delete {"path": "a"}')
