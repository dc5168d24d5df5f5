"""The stage of the fault suite: questions, a model that knows the answers, the command line, and what must hold after."""

import asyncio
import json
import os
import re
import signal
import sqlite3
import ssl
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from endpoint import Answer, Endpoint, Request, chat

import proctor
from proctor.cli import app
from proctor.core.score import Score

RUN = "r"
QUESTIONS = """
from proctor import Sample, Task

def questions(count: int) -> Task:
    samples = lambda: (Sample.ask(f"s{n}", f"What is {n}?", target=str(n)) for n in range(count))
    return Task(name="questions", samples=samples, scorers=["exact"])
"""
_ASKED = re.compile(rb"What is (\d+)\?")


def answer_to(number: int) -> str:
    """What the model says: right, but for each fourth question."""
    return str(number) if number % 4 else "no idea"


def value_of(number: int) -> float:
    """What that earns."""
    return float(number % 4 != 0)


class Model:
    """A model behind an endpoint that answers well, except where a fault is due.

    Attributes:
        asked: how often each question came.
        fault: what happens instead of an answer.
        due: whether it happens, of the number of the question and how often that came.
    """

    def __init__(
        self,
        fault: Answer | None = None,
        due: Callable[[int, int], bool] = lambda number, time: True,
        well: Answer | None = None,
    ) -> None:
        self.asked: Counter[int] = Counter()
        self.fault = fault
        self.due = due
        self._well = well or answers_well

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        number = asked_in(request.body)
        self.asked[number] += 1
        answer = self._well
        if self.fault is not None and self.due(number, self.asked[number]):
            answer = self.fault
        await answer(request, writer)


async def answers_well(request: Request, writer: asyncio.StreamWriter) -> None:
    """What a model says that is well."""
    await chat(answer_to(asked_in(request.body)))(request, writer)


def asked_in(body: bytes) -> int:
    """The number that a request asks for."""
    found = _ASKED.search(body)
    assert found is not None, body
    return int(found[1])


@contextmanager
def served(answer: Answer, *, port: int = 0, tls: ssl.SSLContext | None = None) -> Iterator[Endpoint]:
    """An endpoint that answers from a thread of its own."""
    endpoint = Endpoint(answer, port=port, tls=tls)
    ready, over = threading.Event(), threading.Event()

    async def serve() -> None:
        async with endpoint:
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait()
    try:
        yield endpoint
    finally:
        over.set()
        thread.join()


class Ended(NamedTuple):
    """A command that is over."""

    code: int
    out: str
    error: str

    @property
    def summary(self) -> Any:
        """The one JSON object on standard output."""
        return json.loads(self.out)


class Stage:
    """A folder with the questions and a store, and the commands in it. Only one of them runs at a time."""

    def __init__(self, folder: Path, samples: int) -> None:
        self.folder = folder
        self.samples = samples
        self.store = folder / "runs.db"
        self.environment = {**os.environ, "PROCTOR_STORE": str(self.store)}
        (folder / "questions.py").write_text(QUESTIONS, encoding="utf-8")

    def script(self, name: str, code: str) -> None:
        """Write a file of Python beside the questions."""
        (self.folder / name).write_text(code, encoding="utf-8")

    def command(self, agent: str, *more: str, task: str = "./questions.py:questions") -> list[str]:
        """The command that runs the task with an agent, or goes on with it."""
        counted = ["--set", f"count={self.samples}"] if task == "./questions.py:questions" else []
        return [
            "run",
            task,
            *counted,
            "--agent",
            agent,
            "--run",
            RUN,
            "--order",
            "official",
            "--json",
            "--quiet",
            *more,
        ]

    def model(self, url: str, *more: str, **options: object) -> list[str]:
        """The same with a model at an address."""
        set_ = [word for name, value in options.items() for word in ("--agent-set", f"{name}={value}")]
        return self.command("openai:some-model", "--base-url", f"{url}/v1", *set_, *more)

    def go_on(self, *more: str) -> list[str]:
        """The command that goes on with the run, as the messages name it."""
        return ["run", "--run", RUN, "--json", "--quiet", *more]

    def run(self, command: Sequence[str]) -> Ended:
        """Run a command in this process."""
        result = CliRunner().invoke(app, list(command))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ended(result.exit_code, result.stdout, result.stderr)

    def start(self, command: Sequence[str], *, before: Sequence[str] = ()) -> "subprocess.Popen[str]":
        """Start a command in a process of its own, behind the words of another program where there are some."""
        return subprocess.Popen(
            [*before, sys.executable, "-m", "proctor", *command],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run_alone(self, command: Sequence[str], *, before: Sequence[str] = ()) -> Ended:
        """Run a command in a process of its own."""
        return ended(self.start(command, before=before))

    def keep_in(self, store: Path) -> None:
        """Keep runs in another file; `run` does so only where the environment says so too."""
        self.store = store
        self.environment["PROCTOR_STORE"] = str(store)


def ended(process: "subprocess.Popen[str]", *, seconds: float = 120) -> Ended:
    """Wait for a command to end; one that does not is killed, and is an error."""
    try:
        out, error = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, error = process.communicate()
        raise AssertionError(f"it did not end within {seconds} s: {error}") from None
    return Ended(process.returncode, out, error)


def wait_until(reached: Callable[[], bool], *, seconds: float = 60) -> None:
    """Wait for something to be so."""
    until = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < until, "it never came to that"
        time.sleep(0.002)


def assert_sound(
    stage: Stage, lost: Mapping[int, str] | None = None, *, values: Mapping[int, float] | None = None
) -> None:
    """The store is whole, every sample is in it once, with its outcome and its value, and the numbers follow from that.

    `lost` are the outcomes of the samples that were not scored, `values` those of scored ones that earned something
    else than they would have without the fault. Samples that are not there at all have the outcome ''.
    """
    lost, values = lost or {}, values or {}
    assert integrity(stage.store) == "ok"
    run = proctor.open_run(RUN, store=str(stage.store))
    with closing(run.store):
        trials = list(run.trials())
        assert len(trials) == len({(trial.sample_id, trial.attempt) for trial in trials})
        outcome_by_sample = {trial.sample_id: trial.outcome for trial in trials}
        expected = {f"s{n}": lost.get(n, "scored") for n in range(stage.samples)}
        assert outcome_by_sample == {id: outcome for id, outcome in expected.items() if outcome}
        assert dict(run.outcomes) == Counter(outcome for outcome in expected.values() if outcome)
        verdicts = {verdict.sample_id: verdict.result for verdict in run.verdicts()}
        assert all(isinstance(result, Score) for result in verdicts.values())
        earned = {id: result.value for id, result in verdicts.items() if isinstance(result, Score)}
        assert earned == {f"s{n}": values.get(n, value_of(n)) for n in range(stage.samples) if n not in lost}
        counted = len(earned) + sum(outcome == "agent_failed" for outcome in lost.values())
        total, planned = sum(earned.values()), stage.samples
        accuracy = run.estimate("accuracy")
        assert (accuracy.scored, accuracy.planned) == (counted, planned)
        bounds = (total / planned, total / counted, (total + planned - counted) / planned)
        assert (accuracy.floor, accuracy.value, accuracy.ceiling) == pytest.approx(bounds, abs=1e-9)


def assert_said_in_every_report(stage: Stage, word: str) -> None:
    """Each kind of report of the run holds this word."""
    for suffix in ("html", "md", "json", "xml"):
        path = stage.folder / f"report.{suffix}"
        done = stage.run(["runs", "report", RUN, "--out", str(path)])
        assert done.code == 0, done.error
        assert word in path.read_text(encoding="utf-8").lower(), suffix


def integrity(store: Path) -> str:
    """What SQLite says of the file."""
    with closing(sqlite3.connect(store)) as database:
        return str(database.execute("PRAGMA integrity_check").fetchone()[0])
