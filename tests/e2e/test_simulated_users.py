"""A person lets simulated users talk with an agent: by name, from a data file, resumed, and killed on the way."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from proctor import open_run
from proctor.cli import app

ROWS = [
    {"id": "rome", "goal": "Book a room in Rome.", "knows": {"nights": 2}, "persona": "in a hurry", "answer": "rome"},
    {"id": "oslo", "goal": {"goal": "Cancel Oslo.", "opening": "Hello, Oslo."}, "answer": "oslo"},
]
AGENT = """
import asyncio, os

async def answer(question):
    with open(os.environ["HEARD"], "a") as file:
        file.write(question + "\\n")
    await asyncio.sleep(float(os.environ.get("PAUSE", "0")))
    return f"You said: {question}"
"""
REPLIES = """
{"when": "You said: For two.", "say": "[DONE]"}
{"when": "You said:", "say": "For two."}
{"when": "Book a room", "say": "A room in rome."}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))
    monkeypatch.setenv("HEARD", str(tmp_path / "heard.txt"))
    write("trips.jsonl", *ROWS)
    Path("agent.py").write_text(AGENT, encoding="utf-8")
    Path("replies.jsonl").write_text(REPLIES, encoding="utf-8")


def write(name: str, *rows: Any) -> None:
    Path(name).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def proctor(*args: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, args, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def run(*more: str, code: int = 0, task: str = "trips.jsonl", user: str = "model:scripted:replies.jsonl") -> Result:
    agent = ("--agent", "./agent.py:answer", "--scorer", "exact:contains", "--quiet")
    return proctor("run", task, *agent, "--user", user, "--run", "r", *more, code=code)


def said(run_id: str = "r") -> dict[str, list[str]]:
    """What the user said in each conversation."""
    opened = open_run(run_id)
    try:
        return {
            trial.sample_id: [step.message.text for step in trial.trajectory.steps if step.author == "user"]
            for trial in opened.trials()
        }
    finally:
        opened.store.close()


def test_a_file_of_goals_is_a_task() -> None:
    run()
    assert said() == {"rome": ["A room in rome.", "For two."], "oslo": ["Hello, Oslo.", "For two."]}


@pytest.mark.parametrize(
    "row",
    [
        {"id": "rome", "目标": "Book a room.", "已知": "两晚", "人设": "急", "答案": "x"},
        {"id": "rome", "scenario": {"目标": "Book a room."}, "answer": "x"},
        {"id": "rome", "scenario": '{"goal": "Book a room."}', "answer": "x"},
        {"id": "rome", "scenario": {"goal": "Book a room."}},
        {"id": "rome", "question": "A room in rome.", "goal": "Book a room.", "answer": "x"},
    ],
)
def test_scenarios_are_written_in_many_ways(row: dict[str, Any]) -> None:
    write("trips.jsonl", row)
    run()
    assert said()["rome"][-1] == "For two."
    assert Path("heard.txt").read_text(encoding="utf-8").splitlines()[0] == "A room in rome."


def test_a_script_in_the_data_needs_no_model() -> None:
    write("trips.jsonl", {"id": "a", "scenario": ["One.", {"when": "One.", "say": "Two."}, None], "answer": "Two"})
    run("--user-set", "max_turns=3", user="scripted")
    assert said() == {"a": ["One.", "Two."]}


def test_without_a_user_the_command_says_what_to_name_before_anything_is_asked() -> None:
    agent = ("--agent", "./agent.py:answer", "--scorer", "exact")
    result = proctor("run", "trips.jsonl", *agent, code=2)
    assert "A simulated user needs a model. Name one, for example --user model:openai:MODEL" in result.output
    chinese = proctor("--lang", "zh", "run", "trips.jsonl", *agent, code=2)
    assert "模拟用户需要一个模型" in chinese.output
    assert not Path("heard.txt").exists()


def test_a_scenario_next_to_a_question_is_none_without_a_user() -> None:
    write("trips.jsonl", {"id": "a", "question": "Which city?", "scenario": "Ann likes Rome.", "answer": "Which city?"})
    proctor("run", "trips.jsonl", "--agent", "./agent.py:answer", "--scorer", "exact:contains", "--quiet", "--run", "r")
    assert said() == {"a": []}


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"id": "a", "goal": {"gaol": "x"}, "answer": "x"}, "a scenario has no 'gaol'. Did you mean 'goal'?"),
        ({"id": "a", "goal": {"knows": "x"}, "answer": "x"}, "neither a goal nor a script"),
        ({"id": "a", "goal": "x", "persona": "y", "files": "none.png", "answer": "x"}, "none.png"),
    ],
)
def test_a_row_that_is_wrong_is_named(row: Any, text: str) -> None:
    write("trips.jsonl", row)
    assert text in run(code=2).output


def test_the_user_is_kept_with_the_run_and_has_to_be_the_same() -> None:
    run("--user-set", "max_turns=9")
    stored = open_run("r")
    assert stored.record.spec.user == "model:scripted:replies.jsonl"
    assert stored.record.spec.user_options == {"max_turns": 9}
    stored.store.close()
    proctor("run", "--run", "r", "--quiet")
    other = run("--user-set", "max_turns=8", code=2)
    assert "--user-set: max_turns=9 → max_turns=8" in " ".join(other.output.split())
    other = run(user="scripted", code=2)
    assert "--user: model:scripted:replies.jsonl → scripted" in " ".join(other.output.split())
    Path("replies.jsonl").write_text('"[DONE]"\n', encoding="utf-8")
    assert "replies.jsonl" in proctor("run", "--run", "r", "--quiet", code=2).output


def test_the_plan_names_the_user() -> None:
    assert "Simulated user: model:scripted:replies.jsonl" in run("--dry-run").output
    assert json.loads(run("--dry-run", "--json").stdout)["user"] == "model:scripted:replies.jsonl"


def test_list_users_shows_the_kinds() -> None:
    shown = json.loads(proctor("list", "users", "--json").stdout)
    assert {"adk", "function", "model", "scripted"} <= {*shown["users"]}
    assert "模拟用户" in proctor("--lang", "zh", "list").output


def test_the_scenarios_of_an_eval_set_are_played_by_the_named_user() -> None:
    scenario = {"starting_prompt": "Hello, Oslo.", "conversation_plan": "Cancel."}
    case = {"eval_id": "a", "conversation_scenario": scenario}
    Path("t.evalset.json").write_text(json.dumps({"eval_set_id": "t", "eval_cases": [case]}), encoding="utf-8")
    run(task="t.evalset.json")
    assert said() == {"a": ["For two."]}


def test_several_processes_make_the_user_again() -> None:
    write(
        "trips.jsonl", *({"id": str(number), "goal": "Book a room in Rome.", "answer": "rome"} for number in range(6))
    )
    run("--workers", "2", "--seed", "3")
    assert {tuple(one) for one in said().values()} == {("A room in rome.", "For two.")}


def test_failures_of_users_are_counted_by_kind() -> None:
    write("trips.jsonl", *({"id": str(number), "goal": "Book a room.", "answer": "x"} for number in range(5)))
    Path("replies.jsonl").write_text('" "\n"How can I help you?"\n"[DONE]"\n', encoding="utf-8")
    run("--concurrency", "1", "--max-failed", "1", code=0)
    shown = proctor("show", "r").output
    assert "simulated user failed" in shown
    listed = proctor("runs", "samples", "r", "--outcome", "user_failed").output
    assert "spoke as the assistant" in listed
    assert "said nothing" in listed


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals as POSIX has them")
def test_kill_9_in_the_middle_of_conversations_loses_none_and_plays_whole_ones() -> None:
    count = 12
    write(
        "trips.jsonl",
        *({"id": str(number), "goal": "Book a room in Rome.", "answer": "rome"} for number in range(count)),
    )
    command = ["run", "trips.jsonl", "--agent", "./agent.py:answer", "--user", "model:scripted:replies.jsonl"]
    command += ["--scorer", "exact:contains", "--run", "r", "--quiet", "--concurrency", "3"]
    environment = {**os.environ, "PAUSE": "0.15"}
    process = subprocess.Popen([sys.executable, "-m", "proctor", *command], env=environment, stderr=subprocess.PIPE)
    heard = Path("heard.txt")
    deadline = time.monotonic() + 60
    while not heard.exists() or heard.read_text(encoding="utf-8").count("For two.") < 4:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    kept = len(said())
    assert 0 < kept < count
    before = heard.read_text(encoding="utf-8").count("A room in rome.")
    run("--concurrency", "3")
    assert said() == {str(number): ["A room in rome.", "For two."] for number in range(count)}
    begun = heard.read_text(encoding="utf-8").count("A room in rome.") - before
    assert begun == count - kept  # what was whole is not played again, what was cut off begins again


def test_recorded_replies_are_scored_without_a_user() -> None:
    write("replies.json", {"id": "rome", "answer": "A room in rome."}, {"id": "oslo", "answer": "none"})
    Path("replies.json").rename("recorded.jsonl")
    command = ("score", "trips.jsonl", "--replies", "recorded.jsonl", "--scorer", "exact:contains", "--json")
    assert json.loads(proctor(*command).stdout)["outcomes"] == {"scored": 2}
