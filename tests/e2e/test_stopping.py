"""A run that is stopped at any moment goes on where it was: nothing is lost, nothing is counted twice."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

SAMPLES = 2_000
AT_ONCE = 16

TASK = f"""
import asyncio, os
from proctor import Sample, Task

def count() -> Task:
    return Task(
        name="count",
        samples=lambda: (Sample.ask(str(n), str(n), target=str(n)) for n in range({SAMPLES})),
        scorers=["exact"],
    )

calls = os.open(os.environ["CALLS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)

async def answer(question: str) -> str:
    os.write(calls, (question + "\\n").encode())
    await asyncio.sleep(0.01)
    return question
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "count.py").write_text(TASK, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))
    monkeypatch.setenv("CALLS", str(tmp_path / "calls.txt"))
    return tmp_path


def start() -> subprocess.Popen[bytes]:
    command = ["run", "./count.py:count", "--agent", "./count.py:answer", "--run", "r", "--quiet"]
    return subprocess.Popen(
        [sys.executable, "-m", "proctor", *command, "--concurrency", str(AT_ONCE)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def calls(folder: Path) -> Counter[str]:
    file = folder / "calls.txt"
    return Counter(file.read_text(encoding="utf-8").split()) if file.exists() else Counter()


def outcomes() -> dict[str, int]:
    from proctor import open_run

    run = open_run("r")
    try:
        return {str(outcome): count for outcome, count in run.outcomes.items()}
    finally:
        run.store.close()


@pytest.mark.slow
@pytest.mark.parametrize("least", [8, pytest.param(20, marks=pytest.mark.torture)])
def test_kill_9_at_random_moments_loses_nothing_and_repeats_only_what_was_in_flight(folder: Path, least: int) -> None:
    draw = random.Random(7)
    kills = 0
    for _ in range(10 * least):
        process = start()
        before = sum(calls(folder).values())
        wanted = before + draw.randrange(0, 2 * SAMPLES // least)
        while process.poll() is None and sum(calls(folder).values()) <= wanted:
            time.sleep(0.002)
        time.sleep(draw.random() * 0.01)
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kills += 1
    error = process.communicate()[1]
    assert process.returncode == 0, error
    assert kills >= least
    made = calls(folder)
    assert len(made) == SAMPLES
    assert sum(made.values()) - SAMPLES <= kills * AT_ONCE
    assert outcomes() == {"scored": SAMPLES}
    with sqlite3.connect(folder / "runs.db") as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
    database.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_politely_and_says_how_to_go_on(folder: Path, number: signal.Signals) -> None:
    process = start()
    while sum(calls(folder).values()) < 200:
        time.sleep(0.005)
    process.send_signal(number)
    said = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 130
    assert "proctor run --run r" in said
    made = calls(folder)
    assert set(made.values()) == {1}
    assert sum(outcomes().values()) == sum(made.values())
    again = start()
    again.communicate(timeout=60)
    assert again.returncode == 0
    assert set(calls(folder).values()) == {1}
    assert outcomes() == {"scored": SAMPLES}


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals as POSIX has them")
def test_ctrl_c_after_the_last_word_shows_no_traceback() -> None:
    code = """
import atexit, os, signal, time

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)  # the signal is handled before the next line of Python, of which there may be none without this

atexit.register(interrupt)
from proctor.cli import main; main()
"""
    done = subprocess.run([sys.executable, "-c", code, "list", "scorers"], capture_output=True, text=True, check=False)
    assert "exact" in done.stdout
    assert done.stderr == ""
    assert done.returncode == 130


def test_one_run_is_open_once_and_others_share_the_store(folder: Path) -> None:
    process = start()
    while sum(calls(folder).values()) < 100:
        time.sleep(0.005)
    second = start()
    said = second.communicate(timeout=60)[1].decode()
    assert second.returncode == 2
    assert str(process.pid) in said
    other = subprocess.run(
        [
            sys.executable,
            "-m",
            "proctor",
            "run",
            "./count.py:count",
            "--agent",
            "baseline:null",
            "--first",
            "50",
            "--quiet",
        ],
        capture_output=True,
        check=False,
        env={**os.environ},
    )
    assert other.returncode == 0, other.stderr
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert outcomes() == {"scored": SAMPLES}


KILLED = """
import os, signal
from proctor import Sample, Task
from proctor.core.run import Estimate

def mean(found, judged):
    return [Estimate(name="official_mean", value=found[0].value, scored=len(list(judged())))]

def task() -> Task:
    samples = [Sample.ask(str(n), str(n), target=str(n)) for n in range(10)]
    return Task(name="killed", samples=samples, scorers=["exact"], summarise=mean)

def answer(question: str) -> str:
    if question == "7" and not os.path.exists("mended"):
        os.kill(os.getpid(), signal.SIGKILL)
    return question
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals as POSIX has them")
@pytest.mark.parametrize("task", ["./killed.py:task", "./data.jsonl"])
def test_a_run_that_was_killed_says_so_with_what_to_type(folder: Path, task: str) -> None:
    from proctor.cli import app

    (folder / "killed.py").write_text(KILLED, encoding="utf-8")
    if task.endswith(":task"):
        command = ["run", task, "--agent", "./killed.py:answer", "--order", "official"]
    else:
        (folder / "deadly.py").write_text(
            "import os, signal\ndef answer(question):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        (folder / "data.jsonl").write_text('{"id": "a", "question": "Why?", "target": "so"}\n', encoding="utf-8")
        command = ["run", task, "--agent", "./deadly.py:answer"]
    more = ["--concurrency", "1", "--run", "k", "--quiet"]
    killed = subprocess.run([sys.executable, "-m", "proctor", *command, *more], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    shown = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["show", "k"])
    assert shown.exit_code == 0, shown.output
    assert "This run did not end" in shown.stdout
    assert "proctor run --run k" in shown.stdout
    if task.endswith(":task"):
        assert "the official aggregates are computed when the run ends, and it did not" in shown.stdout
        (folder / "mended").touch()
        done = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["run", "--run", "k", "--quiet"])
        assert done.exit_code == 0, done.output
        assert "did not" not in done.stdout
        assert "official" in done.stdout
