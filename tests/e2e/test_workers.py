"""Several processes give the results of one, keep to one pace, and survive a worker that is killed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor.cli import app

TASK = """
import os, signal, time
from proctor import Sample, Task

def count(samples: int = 60) -> Task:
    return Task(name="count", samples=[Sample.ask(str(n), str(n), target=str(n)) for n in range(samples)], scorers=["exact", short])

def short(sample, trajectory):
    return len(trajectory.answer) < 2

def busy(question: str) -> str:
    time.sleep(0.01)
    return f"{question}"

def who(question: str) -> str:
    time.sleep(0.02)
    return str(os.getpid())

def deadly(question: str) -> str:
    if question == "7":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return question

if os.path.exists("dying"):
    os.remove("dying")
    os.kill(os.getpid(), signal.SIGKILL)

def short_of_memory(question: str) -> str:
    if question == "7" and not os.path.exists("died"):
        for name in ("died", "dying"):
            open(name, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return question

async def blocking(question: str) -> str:
    if question == "3":
        time.sleep(2)
    return question

def noisy(question: str) -> str:
    print("not a message of the protocol", flush=True)
    return question
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "count.py").write_text(TASK, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(agent: str, *more: str, code: int = 0) -> dict[str, object]:
    arguments = ["run", f"{Path.cwd()}/count.py:count", "--agent", agent, "--json", "--quiet", "--workers", "2"]
    result = CliRunner().invoke(app, [*arguments, *more])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.stderr
    found: dict[str, object] = json.loads(result.stdout) if code in (0, 3) else {"error": result.stderr}
    return found


def answers(run_id: object) -> list[str]:
    from proctor import open_run

    opened = open_run(str(run_id))
    try:
        return [trial.trajectory.answer for trial in opened.trials()]
    finally:
        opened.store.close()


def test_the_results_are_those_of_one_process() -> None:
    two = run("./count.py:busy", "--run", "two")
    one = run("./count.py:busy", "--run", "one", "--workers", "1")
    assert two["outcomes"] == one["outcomes"] == {"scored": 60}
    assert two["estimates"] == one["estimates"]
    assert answers("two") == answers("one")


def test_the_work_is_done_in_other_processes() -> None:
    pids = set(answers(run("./count.py:who")["run"]))
    assert len(pids) == 2
    assert str(os.getpid()) not in pids


def test_what_an_agent_prints_does_not_disturb_the_run() -> None:
    command = ["run", "./count.py:count", "--agent", "./count.py:noisy", "--json", "--quiet", "--workers", "2"]
    done = subprocess.run([sys.executable, "-m", "proctor", *command], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["outcomes"] == {"scored": 60}
    assert "not a message of the protocol" in done.stderr


def test_a_sample_that_kills_its_worker_fails_alone() -> None:
    summary = run("./count.py:deadly", "--concurrency", "8", "--run", "d")
    assert summary["outcomes"] == {"scored": 59, "agent_failed": 1}
    from proctor import open_run

    opened = open_run("d")
    (failed,) = opened.trials(outcome="agent_failed")
    opened.store.close()
    assert failed.sample_id == "7"
    assert failed.failure is not None
    assert "SIGKILL" in str(failed.failure.reason)


def test_a_worker_that_is_killed_as_it_takes_the_place_of_another_is_replaced_too() -> None:
    assert run("./count.py:short_of_memory")["outcomes"] == {"scored": 60}
    assert not Path("dying").exists()


def test_a_worker_that_cannot_start_says_why() -> None:
    assert "nobody" in str(run("./count.py:nobody", code=2)["error"])


def test_an_agent_that_holds_up_the_loop_of_its_process_is_named_in_the_run() -> None:
    from proctor import open_run

    warnings = open_run(str(run("./count.py:blocking")["run"])).record.warnings
    assert len(warnings) == 1
    assert "'blocking' (count.py:" in str(warnings[0])
