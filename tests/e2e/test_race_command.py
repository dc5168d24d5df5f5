"""proctor ci race and proctor run --until, as a person calls them; killed, and resumed."""

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from proctor import open_run
from proctor.cli import app

TASK = """
import asyncio, os
from proctor import Sample, Task

def task() -> Task:
    samples = [Sample.ask(str(n), str(n), target=str(n), tags={"kind": str(n % 3)}) for n in range(300)]
    return Task(name="count", samples=samples, scorers=["exact"], spread_by="kind")

calls = os.open("calls.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

def agent(name, wrong_every, seconds):
    async def answer(question: str) -> str:
        os.write(calls, f"{name}{question}\\n".encode())
        await asyncio.sleep(seconds)
        return "?" if int(question) % wrong_every == 0 else question
    return answer

old = agent("old", 5, 0.01)
new = agent("new", 5, 0.02)
bad = agent("bad", 2, 0.005)
"""
AT_ONCE = 4


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "count.py").write_text(TASK, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))
    return tmp_path


def call(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def race(*words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "proctor", "ci", "race", *words, "--quiet", "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def calls() -> Counter[str]:
    file = Path("calls.txt")
    return Counter(file.read_text(encoding="utf-8").split()) if file.exists() else Counter()


WHOLE = ("./count.py:task", "--agent", "./count.py:old", "--agent", "./count.py:new", "--margin", "0.05")
SETTINGS = ("--run", "r", "--concurrency", str(AT_ONCE))


def test_a_race_that_is_killed_goes_on_and_repeats_only_what_was_in_flight(folder: Path) -> None:
    kills = 0
    for wanted in (10, 60):
        process = race(*(WHOLE if not kills else ()), *SETTINGS)
        while process.poll() is None and sum(calls().values()) < wanted:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kills += 1
    said, error = race(*SETTINGS).communicate()
    found = json.loads(said)
    assert found["decision"] == "go", error
    made = calls()
    assert sum(made.values()) - len(made) <= 2 * kills * (AT_ONCE + 1)
    done = {one["id"]: one["trials"] for one in found["runs"]}
    assert sum(done.values()) == len(made)
    assert found["saved"] == 600 - len(made) > 200
    again, _ = race("--run", "r-b").communicate()
    assert (json.loads(again), calls()) == (found, made)


def test_ctrl_c_says_how_to_resume_a_race(folder: Path) -> None:
    process = race(*WHOLE, *SETTINGS)
    while process.poll() is None and sum(calls().values()) < 20:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    assert "proctor ci race --run r-a" in process.communicate(timeout=20)[1].decode()
    assert process.returncode == 130
    assert {open_run(f"r-{letter}").record.state for letter in "ab"} == {"stopped"}


def test_the_exit_code_says_what_was_decided(folder: Path) -> None:
    agents = ("--agent", "./count.py:old", "--agent", "./count.py:bad")
    shown = call("ci", "race", "./count.py:task", *agents, "-o", "race.md")
    assert (shown.exit_code, "./count.py:old is better than ./count.py:bad." in shown.stdout) == (0, True)
    assert "./count.py:old is better" in Path("race.md").read_text(encoding="utf-8")
    assert call("ci", "race", "./count.py:task", *agents, "--margin", "0.05").exit_code == 1
    assert call("ci", "race", "./count.py:task", *agents, "--limit", "4").exit_code == 3
    assert call("ci", "race", "--run", "nothing").exit_code == 2
    assert call("ci", "race", "./count.py:task", "--agent", "./count.py:old").exit_code == 2


def test_until_ends_a_run_with_the_exit_code_of_its_decision(folder: Path) -> None:
    def run(*words: str) -> Result:
        return call("run", "./count.py:task", "--concurrency", str(AT_ONCE), *words)

    good = run("--agent", "./count.py:old", "--until", "accuracy >= 0.6", "--run", "good", "--json")
    assert good.exit_code == 0
    shown = json.loads(good.stdout)
    assert (shown["looked"]["decision"], shown["until"]["rule"]) == ("go", "accuracy >= 0.6")
    assert run("--agent", "./count.py:bad", "--until", "accuracy >= 0.8").exit_code == 1
    assert run("--agent", "./count.py:old", "--until", "accuracy >= 0.8", "--limit", "9").exit_code == 3
    assert "write 'accuracy >= 0.8'" in run("--agent", "./count.py:old", "--until", "accuracy > 80%").stderr
    again = call("run", "--run", "good")
    assert "Nothing was run" in again.stderr
    rest = call("run", "--run", "good", "--until", "end")
    assert (rest.exit_code, open_run("good").outcomes) == (0, {"scored": 300})
    plan = run("--agent", "./count.py:old", "--until", "accuracy better", "--against", "good", "--dry-run")
    assert plan.exit_code == 0
