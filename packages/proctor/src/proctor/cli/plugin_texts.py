"""The texts of the files that `proctor init plugin` writes, with {names} to fill in."""

PYPROJECT = """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{project}"
version = "0.1.0"
description = "{about}"
requires-python = ">=3.11"
dependencies = ["proctor>={version}"]

[project.optional-dependencies]
test = ["pytest>=8.3"]
{points}
[tool.setuptools.packages.find]
where = ["src"]
"""
README = """# {project}

{about}

```sh
pip install -e '.[test]'
pytest
{example}
```

{hint}
"""
SCORER = '''"""Points for short answers."""

from typing import Any

import msgspec

from proctor import Sample, Score, Trajectory, Unscored, scorer
from proctor.core.parts import ScorerPart


class {type}Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of the scorer: the most characters of a short answer."""

    most: int = 40


@scorer(version="1")
def {module}(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """1 when the answer is short."""
    answer = trajectory.answer
    if not answer:
        return Unscored(why="no_evidence", reason="There is no answer.")
    given: Any = sample.meta.get("{module}", {{}})
    options = msgspec.convert(given, {type}Options)
    return Score(points=len(answer) <= options.most, answer=answer, reason=f"{{len(answer)}} characters")


PART = ScorerPart(scorer={module}, options={type}Options)
'''
COMMAND = '''"""`proctor runs {project} RUN`: the samples whose answers were too long."""

import click

import proctor
from proctor.core.score import Score


@click.command(help="List the samples of a run whose answers were too long.")
@click.argument("run_id", metavar="RUN")
@click.option("--store")
def command(run_id: str, store: str | None) -> None:
    run = proctor.open_run(run_id, store=store)
    for verdict in run.store.verdicts(run.id, scorer="{project}"):
        if isinstance(verdict.result, Score) and verdict.result.points < verdict.result.out_of:
            click.echo(f"{{verdict.sample_id}}: {{verdict.result.reason}}")
'''
SCORER_TEST = """import pytest
from click.testing import CliRunner

import proctor
from proctor import Sample, Task, Trajectory
from proctor.testing import ScorerContract

from {module}.command import command
from {module}.scorer import {module}

SAMPLE = Sample.ask("a", "What is the capital of France?", target="Paris")


class Test{type}(ScorerContract):
    scorer = "{project}"

    def sample(self) -> Sample:
        return SAMPLE


@pytest.mark.parametrize(("answer", "points"), [("Paris", 1), ("Paris, " * 10, 0)])
def test_a_short_answer_gets_the_point(answer: str, points: int) -> None:
    assert {module}(SAMPLE, Trajectory.of(answer)).points == points


def test_the_command_lists_the_long_answers(tmp_path) -> None:
    store = str(tmp_path / "runs.db")
    task = Task(name="capitals", samples=[SAMPLE], scorers=["{project}"])
    run = proctor.evaluate(task, agent=lambda question: "Paris, " * 10, store=store)
    done = CliRunner().invoke(command, [run.id, "--store", store])
    assert (done.exit_code, done.output) == (0, "a: 70 characters\\n")
"""
BENCHMARK = '''"""Planets: which planet of the sun is it?"""

from proctor import Sample, Task
from proctor.core.parts import BenchmarkPart

PLANETS = {{"first": "Mercury", "second": "Venus", "third": "Earth", "fourth": "Mars"}}


def task() -> Task:
    samples = [
        Sample.ask(place, f"Which planet is the {{place}} from the sun? Answer with its name only.", target=planet)
        for place, planet in PLANETS.items()
    ]
    return Task(name="{project}", version="1", samples=samples, scorers=["exact:ignore_case"])


PART = BenchmarkPart(task=task)
'''
BENCHMARK_TEST = """from proctor.testing import BenchmarkContract


class Test{type}(BenchmarkContract):
    benchmark = "{project}"
"""
STORE = '''"""Runs in one folder that a team shares: `{scheme}://NAME`."""

import os
from pathlib import Path

from proctor.core.parts import StorePart
from proctor.core.task import Store
from proctor.stores import open_store


def open_shared(address: str) -> Store:
    folder = Path(os.environ.get("{variable}", "shared"))
    folder.mkdir(parents=True, exist_ok=True)
    return open_store(str(folder / f"{{address.removeprefix('{scheme}://')}}.db"))


PART = StorePart(open=open_shared)
'''
STORE_TEST = """from pathlib import Path

import pytest

from proctor.core.task import Store
from proctor.stores import open_store
from proctor.testing import StoreContract


class Test{type}(StoreContract):
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("{variable}", str(tmp_path))

    def open(self, folder: Path) -> Store:
        return open_store("{scheme}://quality")
"""
AGENT = '''"""A kind of agent: `{project}:WORD` repeats the question and adds a word."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from proctor import Message, Sample, Turn
from proctor.core.parts import AgentPart
from proctor.core.task import Environment
from proctor.core.trajectory import Step, ToolStyle


class {type}Session:
    def __init__(self, word: str) -> None:
        self.word = word

    async def send(self, turn: Turn) -> Sequence[Step]:
        question = turn.messages[-1].text
        return [Step(message=Message.of("assistant", f"{{question}} {{self.word}}"))]


class {type}:
    tools: ToolStyle = "text"

    def __init__(self, word: str) -> None:
        self.name = f"{project}:{{word}}"
        self.word = word

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[{type}Session]:
        yield {type}Session(self.word)


def make(argument: str, options: Mapping[str, Any]) -> {type}:
    return {type}(argument)


PART = AgentPart(make=make)
'''
AGENT_TEST = """import pytest

from proctor.testing import AgentContract

from {module}.agent import {type}, make


class Test{type}(AgentContract):
    @pytest.fixture
    def agent(self) -> {type}:
        return make("indeed", {{}})
"""
