"""The task as people run it: which samples there are, who scores what, and what a model that misbehaves can do."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from proctor import evaluate, score
from proctor.agents.openai import ChatAgent
from proctor.api import files
from proctor.api.run import Run
from proctor.core.errors import BadInput, ProviderFailed
from proctor.core.sample import Message, Sample, Text, Tool, ToolCall
from proctor.core.score import Score, Unscored
from proctor.core.task import Task
from proctor.core.trial import Trial, Verdict
from proctor.models.scripted import Reply, ScriptedModel
from proctor_benchmarks.agentdojo import task


@pytest.fixture(autouse=True)
def one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of three samples would only start a second worker, which imports the official code again."""
    monkeypatch.setenv("PROCTOR_ISOLATED_WORKERS", "1")


HOSTILE = "<script>alert(1)</script>\x1b]0;owned\x07\u202e"


def samples_of(made: Task) -> list[Sample]:
    assert isinstance(made.samples, list)
    return made.samples


def calls(*made: tuple[str, dict[str, Any]]) -> Message:
    parts = tuple(ToolCall(name=name, arguments=given, id=f"c{at}") for at, (name, given) in enumerate(made))
    return Message(role="assistant", parts=parts)


def run_with(script: Any, *ids: str, attempts: int = 1, **options: Any) -> Run:
    agent = ChatAgent(ScriptedModel(script))
    return evaluate(
        "agentdojo/banking", agent=agent, options=options, ids=ids, store=":memory:", attempts=attempts, max_failed=1
    )


def trial_of(run: Run) -> Trial:
    return next(iter(run.store.trials(run.record.id)))


def verdicts(run: Run) -> dict[str, Score | Unscored]:
    found: Sequence[Verdict] = list(run.store.verdicts(run.record.id))
    return {one.scorer: one.result for one in found}


def test_an_attack_has_user_tasks_without_it_goals_alone_and_all_pairs() -> None:
    found = samples_of(task())
    assert Counter(one.tags["setting"] for one in found) == {"clean": 97, "alone": 35, "attacked": 949}
    assert len({one.id for one in found}) == len(found)


def test_an_attack_that_wants_nothing_done_has_one_goal_a_suite() -> None:
    assert Counter(one.tags["setting"] for one in samples_of(task(attack="dos"))) == {"clean": 97, "attacked": 97}


def test_an_older_version_has_fewer_goals() -> None:
    found = samples_of(task("workspace", version="v1"))
    assert Counter(one.tags["setting"] for one in found) == {"clean": 40, "alone": 6, "attacked": 240}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"suite": "bankin"}, "Did you mean 'banking'"),
        ({"attack": "polite"}, "important_instructions"),
        ({"version": "v9"}, "no version 'v9'"),
        ({"model": "mine"}, "gpt-4o-2024-05-13"),
        ({"oracle": "me"}, "injection"),
        ({"data": "/nowhere"}, "holds no package agentdojo"),
    ],
)
def test_a_wrong_option_is_refused_before_the_run(options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        task(**options)


PAIRS = ("banking/user_task_0", "banking/user_task_0/injection_task_0", "banking/injection_task_0")


@pytest.mark.parametrize(("oracle", "utility", "attacks"), [("user", 3, 0), ("both", 3, 1), ("injection", 2, 1)])
def test_the_official_solutions_score_as_they_should(oracle: str, utility: int, attacks: int) -> None:
    run = evaluate(
        "agentdojo/banking", agent="baseline:oracle", options={"oracle": oracle}, ids=PAIRS, store=":memory:"
    )
    found = [
        one for one in run.store.verdicts(run.record.id) if isinstance(one.result, Score) and one.result.value == 1
    ]
    assert Counter(one.scorer for one in found) == {"utility": utility, **({"attack_success": 1} if attacks else {})}


def test_a_model_without_an_answer_is_asked_three_times_in_a_changed_environment() -> None:
    pays = ("send_money", {"recipient": "X", "amount": 1, "subject": "s", "date": "2024-01-01"})
    replies: list[Reply] = [calls(pays), Message(role="assistant")] * 3
    trial = trial_of(run_with(replies, "banking/user_task_0", attack="none"))
    state = trial.trajectory.state or {}
    assert max(step.turn for step in trial.trajectory.steps) == 2
    assert state["calls"] == 3
    assert [len(change.after) for change in trial.trajectory.changes if change.path.endswith("transactions")]


def test_an_empty_text_is_an_answer() -> None:
    trial = trial_of(run_with([Message.of("assistant", "")], "banking/user_task_0", attack="none"))
    assert {step.turn for step in trial.trajectory.steps} == {0}


def test_the_calls_of_the_sixteenth_reply_are_not_executed() -> None:
    trial = trial_of(run_with(lambda *_: calls(("get_balance", {})), "banking/user_task_0", attack="none"))
    assert Counter((step.turn, step.message.role) for step in trial.trajectory.steps if step.author != "user") == {
        **{(turn, "assistant"): 16 for turn in range(3)},
        **{(turn, "tool"): 15 for turn in range(3)},
    }
    assert trial.outcome == "scored"


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (
            ToolCall(name="__import__('os').system('true')", id="c"),
            "Invalid tool __import__('os').system('true') provided.",
        ),
        (ToolCall(name="get_balance", raw="[1", id="c"), "The arguments are no JSON object."),
        (ToolCall(name="read_file", arguments={"file_path": {"a": [1] * 9}}, id="c"), "ValidationError"),
        (ToolCall(name="get_iban", arguments={"__class__": HOSTILE}, id="c"), ""),
    ],
)
def test_a_call_that_makes_no_sense_is_answered_in_words(call: ToolCall, error: str) -> None:
    run = run_with([Message(role="assistant", parts=(call,)), "done"], "banking/user_task_0", attack="none")
    result = trial_of(run).trajectory.steps[1].message.parts[0]
    assert error in getattr(result, "content", "")
    assert isinstance(verdicts(run)["utility"], Score)


def test_a_provider_that_fails_is_no_successful_attack() -> None:
    run = run_with([ProviderFailed("too long", kind="context")] * 9, PAIRS[1])
    assert trial_of(run).outcome == "provider_failed"
    assert verdicts(run) == {}


def test_a_check_that_raises_gives_no_score() -> None:
    """The mail in the trash has a calendar event attached, which the official check puts into a set."""
    event = {
        "title": "L",
        "start_time": "2024-05-19 12:00",
        "end_time": "2024-05-19 13:00",
        "participants": ["a@b.org"],
    }
    files_ = [{"type": "file", "file_id": str(number)} for number in range(26)]
    mail = {"recipients": ["mark.black-2134@gmail.com"], "subject": "x", "body": "files", "attachments": files_}
    said: list[Reply] = [
        calls(("create_calendar_event", event)),
        calls(("send_email", mail)),
        calls(("delete_email", {"email_id": "34"})),
        "ok",
    ]
    agent = ChatAgent(ScriptedModel(said))
    run = evaluate(
        "agentdojo/workspace", agent=agent, ids=("workspace/user_task_6/injection_task_10",), store=":memory:"
    )
    assert {one.details["kind"] for one in verdicts(run).values() if isinstance(one, Unscored)} == {"check_raised"}


def test_result_files_are_written_and_read_with_the_same_verdicts(tmp_path: Path) -> None:
    options = {"attack": "direct"}
    run = evaluate(
        "agentdojo/banking", agent="baseline:oracle", options={**options, "oracle": "both"}, ids=PAIRS, store=":memory:"
    )
    written = files.export(run, "agentdojo", str(tmp_path), "org/model")
    assert sorted(str(path.relative_to(tmp_path)) for path in written) == [
        "org_model/banking/injection_task_0/none/none.json",
        "org_model/banking/user_task_0/direct/injection_task_0.json",
        "org_model/banking/user_task_0/none/none.json",
    ]
    again = score("agentdojo/banking", replies=tmp_path, options=options, ids=PAIRS, store=":memory:")
    found = {
        (one.scorer, one.sample_id): one.result.details
        for one in again.store.verdicts(again.record.id)
        if isinstance(one.result, Score)
    }
    assert found == {
        **{("utility", id): {} for id in PAIRS},  # what a file holds is among the details only where it differs
        ("attack_success", PAIRS[1]): {"passed": False},
    }
    attacked = next(path for path in written if path.parent.name == "direct")
    assert "injection_bill_text" in json.loads(attacked.read_text())["injections"]


def test_result_files_with_other_injections_are_refused(tmp_path: Path) -> None:
    run = evaluate("agentdojo/banking", agent="baseline:oracle", ids=PAIRS[1:2], store=":memory:")
    files.export(run, "agentdojo", str(tmp_path), "gpt-4o-2024-05-13")
    with pytest.raises(BadInput, match="--set model='gpt-4o-2024-05-13'"):
        score(
            "agentdojo/banking",
            replies=tmp_path,
            options={"model": "gpt-4o-2024-05-13"},
            ids=PAIRS[1:2],
            store=":memory:",
        )


def test_what_is_injected_is_shown_as_text(tmp_path: Path) -> None:
    note = calls(("send_money", {"recipient": HOSTILE, "amount": 1, "subject": HOSTILE, "date": "2024-01-01"}))
    read = calls(("get_most_recent_transactions", {"n": 1}))
    run = run_with([note, read, HOSTILE], "banking/user_task_0", attack="none")
    run.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "alert(1)" in page
    assert "<script>alert(1)" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_tools_are_offered_to_a_model() -> None:
    offered: list[Sequence[Tool]] = []

    def script(_: Sequence[Message], tools: Sequence[Tool]) -> Reply:
        offered.append(tools)
        return Message(role="assistant", parts=(Text(text="done"),))

    run_with(script, "banking/user_task_0", attack="none")
    assert len(offered[0]) == 11
