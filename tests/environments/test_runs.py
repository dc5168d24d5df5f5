"""Agents act on environments of every kind in whole runs: from Python, from the command line, stopped and resumed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from shops import FILE, Shop

import proctor
from proctor import Sample, Score, Task, Trajectory
from proctor.agents.openai import ChatAgent
from proctor.cli import app
from proctor.core.errors import BadInput
from proctor.core.sample import Message, Tool, ToolCall, ToolResult
from proctor.core.trajectory import ToolStyle
from proctor.models.scripted import ScriptedModel

KINDS: dict[str, dict[str, Any]] = {
    "python": {"environment": f"python:{FILE}:Shop"},
    "process": {"environment": f"process:{sys.executable} {FILE} lines"},
    "mcp": {
        "environment": [f"mcp:{sys.executable} {FILE} stdio"],
        "environment_options": {"reset": "reset", "state": "look"},
    },
}


def bought(sample: Sample, trajectory: Trajectory) -> Score:
    """Compare the basket with the target."""
    state = trajectory.state or {}
    return Score(points=state.get("basket") == sample.target, reason=str(state))


def task(**more: Any) -> Task:
    return Task(name="shop", samples=[Sample.ask("a", "Two teas.", target=["tea", "tea"])], scorers=[bought], **more)


def native(messages: Sequence[Message], tools: Sequence[Tool]) -> Message | str:
    """Buy two teas with two calls in one message, try what is sold out, and answer."""
    results = [part for message in messages for part in message.parts if isinstance(part, ToolResult)]
    assert {"buy", "read_basket"} <= {tool.name for tool in tools}
    call = ToolCall(name="buy", arguments={"item": "tea"}, id="c1")
    if not results:
        return Message(role="assistant", parts=(call, ToolCall(name="buy", arguments={"item": "tea"}, id="c2")))
    if len(results) == 2:
        assert [part.id for part in results] == ["c1", "c2"]
        return Message(role="assistant", parts=(ToolCall(name="buy", arguments={"item": "ink"}, id="c3"),))
    assert results[-1].is_error
    return f"Done: {results[1].content}"


def in_words(messages: Sequence[Message], tools: Sequence[Tool]) -> str:
    """Do the same in words."""
    assert not tools
    assert '"name": "read_basket"' in messages[0].text
    results = [message.text for message in messages if message.text.startswith("Results of the calls")]
    if not results:
        return '[{"name": "buy", "arguments": {"item": "tea"}}, {"name": "buy", "arguments": {"item": "tea"}}]'
    return '[{"name": "buy", "arguments": {"item": "ink"}}]' if len(results) == 1 else f"Done: {len(results)}"


@pytest.mark.parametrize("style", ["native", "text"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_chat_model_acts_in_both_styles(kind: str, style: ToolStyle, tmp_path: Path) -> None:
    agent = ChatAgent(ScriptedModel(native if style == "native" else in_words), tools=style)
    run = proctor.evaluate(task(), agent=agent, store=str(tmp_path / "r.db"), **KINDS[kind])
    (trial,) = run.trials()
    assert trial.outcome == "scored", trial.failure
    assert run.estimate("accuracy").value == 1
    trajectory = trial.trajectory
    assert [call.name for call in trajectory.calls()] == ["buy"] * 3
    assert trajectory.answer.startswith("Done: ")
    results = [part for step in trajectory.steps for part in step.message.parts if isinstance(part, ToolResult)]
    assert [result.is_error for result in results] == [False, False, True]
    assert all(step.started and step.seconds >= 0 for step in trajectory.steps if step.author == "tool")
    assert {change.path for change in trajectory.changes} == {"$.basket[0]", "$.basket[1]", "$.stock.tea"}
    run.store.close()


def test_a_class_or_an_object_in_python_is_an_environment(tmp_path: Path) -> None:
    for environment in (Shop, Shop()):
        agent = ChatAgent(ScriptedModel(native))
        run = proctor.evaluate(task(environment=environment), agent=agent, store=str(tmp_path / "r.db"))
        assert run.estimate("accuracy").value == 1
        run.store.close()


def test_tools_that_a_call_adds_are_offered_in_the_same_turn(tmp_path: Path) -> None:
    offered: list[list[str]] = []

    def grow(messages: Sequence[Message], tools: Sequence[Tool]) -> Message | str:
        offered.append([tool.name for tool in tools])
        if len(offered) == 2:
            return "Done."
        return Message(role="assistant", parts=(ToolCall(name="grow"),))

    run = proctor.evaluate(
        task(), agent=ChatAgent(ScriptedModel(grow)), store=str(tmp_path / "r.db"), **KINDS["mcp"]
    )  # fmt: skip
    assert run.outcomes == {"scored": 1}
    assert {*offered[1]} - {*offered[0]} == {"refund"}
    run.store.close()


@pytest.mark.parametrize(
    ("tool", "blame", "outcome", "kind"),
    [
        ("exit", "environment", "environment_failed", "exited"),
        ("hang", "environment", "environment_failed", "late"),
        ("exit", "agent", "agent_failed", "killed_environment"),
        ("hang", "agent", "agent_failed", "killed_environment"),
    ],
)
def test_an_end_after_a_call_counts_by_the_rule_of_the_environment(
    tool: str, blame: str, outcome: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.environments.call_failures.HEALTH_SECONDS", 0.5)

    def breaks(messages: Sequence[Message], tools: Sequence[Tool]) -> Message:
        return Message(role="assistant", parts=(ToolCall(name=tool),))

    options = {"seconds": 0.5, "blame_death": blame}
    run = proctor.evaluate(
        task(), agent=ChatAgent(ScriptedModel(breaks)), environment=KINDS["process"]["environment"],
        environment_options=options, store=str(tmp_path / "r.db"),
    )  # fmt: skip
    (trial,) = run.trials()
    assert (trial.outcome, trial.failure and trial.failure.kind) == (outcome, kind)
    run.store.close()


def test_several_environments_are_one(tmp_path: Path) -> None:
    def agent(messages: Sequence[Message], tools: Sequence[Tool]) -> Message | str:
        if messages[-1].role == "tool":
            return "Done."
        assert [tool.name for tool in tools] == ["buy", "read_basket", "other_buy", "other_read_basket"]
        return Message(role="assistant", parts=(ToolCall(name="other_buy", arguments={"item": "jam"}),))

    name = f"python:{FILE}:Shop"
    more: dict[str, Any] = {"store": str(tmp_path / "r.db")}
    options: Mapping[str, Any] = {"other": {"stock": {"jam": 5}}}
    run = proctor.evaluate(
        task(), agent=ChatAgent(ScriptedModel(agent)), environment=[name, f"other={name}"], environment_options=options, **more
    )  # fmt: skip
    (trial,) = run.trials()
    assert trial.trajectory.state == {
        "stock": {"tea": 3, "jam": 1}, "basket": [], "other": {"stock": {"jam": 4}, "basket": ["jam"]},
    }  # fmt: skip
    run.store.close()
    with pytest.raises(BadInput, match="Two environments have a tool 'buy'"):
        proctor.evaluate(task(), agent=ChatAgent(ScriptedModel(agent)), environment=[name, name], **more)


AGENT = """
import os, time

def answer(messages, tools):
    with open("calls.txt", "a") as file:
        file.write(".")
    time.sleep(float(os.environ.get("NAP", "0")))
    if messages[-1]["role"] == "tool":
        return "Done."
    call = {"id": "1", "type": "function", "function": {"name": "buy", "arguments": '{"item": "tea"}'}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}
"""
TASK = """
from proctor import Sample, Score, Task

def bought(sample, trajectory):
    return Score(points=trajectory.state["basket"] == ["tea"])

def task():
    return Task(name="shop", samples=[Sample.ask(str(n), "A tea.") for n in range(12)], scorers=[bought])

def named():
    return Task(name="shop", samples=[Sample.ask(str(n), "A tea.") for n in range(12)], scorers=[bought], environment="python:./shop.py:Shop")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", "runs.db")
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    (tmp_path / "task.py").write_text(TASK, encoding="utf-8")
    (tmp_path / "shop.py").write_text(FILE.read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


SHOP = ("--environment", "python:./shop.py:Shop")
WORDS = ("run", "./task.py:task", "--agent", "./agent.py:answer", "--run", "mine", "--quiet")


def command(*words: str) -> Result:
    for name in [name for name in sys.modules if name.startswith("proctor_user_")]:
        del sys.modules[name]  # as a new process has it
    return CliRunner().invoke(app, list(words))


def test_the_command_line_names_an_environment_and_remembers_it(folder: Path) -> None:
    done = command(*WORDS, *SHOP)
    assert done.exit_code == 0, done.output
    assert "100.0%" in done.stdout
    assert "Nothing was run" in command(*WORDS, *SHOP).stderr
    other = command(*WORDS)
    assert other.exit_code == 2
    assert "--environment: python:./shop.py:Shop → not set" in other.output
    source = (folder / "shop.py").read_text(encoding="utf-8")
    (folder / "shop.py").write_text(source.replace("is sold out", "is gone"), encoding="utf-8")
    changed = command(*WORDS, *SHOP)
    assert changed.exit_code == 2
    assert "shop.py (environment)" in changed.output


def test_settings_and_a_task_can_name_it_too(folder: Path) -> None:
    named = command("run", "./task.py:named", *WORDS[2:])
    assert named.exit_code == 0, named.output
    (folder / "proctor.toml").write_text(
        'environment = "python:./shop.py:Shop"\nenvironment_options = {stock = {tea = 0}}\n'
    )
    poor = command("run", "./task.py:task", "--agent", "./agent.py:answer", "--quiet", "--json", "--limit", "2")
    assert poor.exit_code == 0, poor.output
    assert next(one for one in json.loads(poor.stdout)["estimates"] if one["slice"] == "")["value"] == 0


def test_a_data_file_gives_the_start_of_each_sample(folder: Path) -> None:
    rows = [{"id": str(n), "question": "A tea.", "target": "Done.", "start": {"stock": {"tea": n}}} for n in range(2)]
    (folder / "q.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = command("run", "q.jsonl", *WORDS[2:], *SHOP, "--map", "start=meta:environment", "--scorer", "exact")
    assert done.exit_code == 0, done.output
    run = proctor.open_run("mine")
    stocks = {trial.sample_id: (trial.trajectory.state or {})["stock"] for trial in run.trials()}
    assert stocks == {"0": {"tea": 0}, "1": {"tea": 0}}
    assert [len((trial.trajectory.state or {})["basket"]) for trial in run.trials()] == [0, 1]
    run.store.close()


def test_a_dry_run_shows_the_tools_and_the_list_names_the_kinds(folder: Path) -> None:
    plan = command(*WORDS, *SHOP, "--dry-run")
    assert "Tools of the environment: 2" in plan.stdout
    assert '[tool] buy {"type":"object"' in plan.stdout
    assert not (folder / "calls.txt").exists()
    as_json = json.loads(command(*WORDS, *SHOP, "--dry-run", "--json").stdout)
    assert [tool["name"] for tool in as_json["environment_tools"]] == ["buy", "read_basket"]
    broken = command(*WORDS, "--environment", "process:false", "--dry-run")
    assert broken.exit_code == 2
    assert "ended with code 1" in broken.output
    listed = command("list", "environments").stdout
    for kind in ("python", "process", "mcp"):
        assert f"  {kind}" in listed


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pyhton:./shop.py:Shop", "Did you mean 'python:./shop.py:Shop'"),
        ("./shop.py:Shop", "Did you mean 'python:./shop.py:Shop'"),
        ("python:./shop.py:Shopp", "Write ./shop.py:Shop"),
        ("python:./nothing.py:Shop", "There is no file"),
        ("process:nosuch", "no program 'nosuch'"),
        ("process:", "needs a command"),
        ("mcp:'", "cannot be read"),
    ],
)
def test_a_name_that_is_wrong_is_refused_before_anything_runs(folder: Path, name: str, said: str) -> None:
    result = command(*WORDS, "--environment", name)
    assert result.exit_code == 2
    assert said in result.output
    assert not (folder / "calls.txt").exists()


def test_options_that_belong_to_nothing_are_refused(folder: Path) -> None:
    result = command(*WORDS, "--environment-set", "a=1")
    assert result.exit_code == 2
    assert "--environment-set goes with an environment" in result.output
    keys = command(
        *WORDS,
        "--environment",
        "mcp:http://127.0.0.1:9/mcp",
        "--environment-set",
        "headers.Authorization=sk-abcdef1234567890",
    )
    assert keys.exit_code == 2
    assert "env:NAME" in keys.output


@pytest.mark.slow
def test_processes_of_workers_make_the_environment_too(folder: Path) -> None:
    done = command(*WORDS, *SHOP, "--workers", "2")
    assert done.exit_code == 0, done.output
    assert "100.0%" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["process", "mcp"])
def test_a_killed_run_goes_on_and_leaves_no_program(kind: str, folder: Path) -> None:
    environment = f"{kind}:{sys.executable} {folder / 'shop.py'} {'lines' if kind == 'process' else 'stdio'}"
    more = ["--environment-set", "state=look"] if kind == "mcp" else []
    words = [sys.executable, "-m", "proctor", *WORDS, "--concurrency", "2", "--environment", environment, *more]
    with subprocess.Popen(
        words, env={**os.environ, "NAP": "0.2"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as first:
        while not (folder / "calls.txt").exists() or (folder / "calls.txt").stat().st_size < 8:
            time.sleep(0.02)
            assert first.poll() is None
        first.send_signal(signal.SIGKILL)
    done = command(*words[3:])
    assert done.exit_code == 0, done.output
    run = proctor.open_run("mine")
    assert run.outcomes == {"scored": 12}
    assert run.estimate("accuracy").value == 1
    run.store.close()
    for _ in range(100):
        if not _running(str(folder / "shop.py")):
            return
        time.sleep(0.05)
    raise AssertionError("a program is left over")


def _running(text: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace")
        except OSError:
            continue
        found += [words] if text in words else []
    return found


def test_the_template_runs_and_writes_nothing_over(folder: Path) -> None:
    assert command("init", "environment", "mine").exit_code == 0
    assert command("init", "environment", "mine").exit_code == 2
    os.chdir(folder / "mine")
    agent = ("--agent", "../agent.py:answer", "--quiet")
    done = command("--lang", "zh", "run", "./task.py:task", *agent, "--json")
    assert done.exit_code == 0, done.output
    whole = next(one for one in json.loads(done.stdout)["estimates"] if one["slice"] == "")
    assert (whole["value"], whole["scored"]) == (0.5, 2)
