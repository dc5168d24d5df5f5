"""Where an agent may find what it is scored by: files, variables, processes and version histories that its shell reads."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from proctor.cli import app
from proctor_audit import shell_search

TASK = '''
import os
import subprocess
import tempfile
from pathlib import Path

from msgspec.structs import replace

from proctor import Sample, Task
from proctor.environments.python import wrap


class Desk:
    """A folder with a shell."""

    def __init__(self, key: str, where: str, variables: dict[str, str]) -> None:
        self._folder = Path(tempfile.mkdtemp())
        work = self._folder / "work" / "app"
        work.mkdir(parents=True)
        if where:
            path = work / where
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"key = {key}\\n")
        self._work = work
        self._variables = variables

    def run(self, command: str) -> str:
        """Run a command."""
        variables = {**self._variables, "PATH": os.environ["PATH"]}
        done = subprocess.run(["sh", "-c", command], cwd=self._work, env=variables, capture_output=True, text=True)
        return ECHO + done.stdout + done.stderr


class Maker:
    def __call__(self, sample: Sample) -> object:
        return wrap(Desk, arguments={"key": sample.KEY, "where": WHERE, "variables": VARIABLES})(sample)

    PLANT


def task() -> Task:
    samples = [Sample.ask(f"s{n}", f"Which number has {n}?", target=f"number {n}", meta={"hidden": "x"}) for n in range(2)]
    return Task(name="desk", samples=samples, scorers=["exact"], environment=Maker())
'''
PLANT = "def plant(self, sample, text):\n        return replace(sample, meta={'hidden': text})"


def audited(key: str, where: str, variables: str = "{}", echo: str = "''", plant: str = "") -> dict[str, Any]:
    text = TASK.replace("KEY", key).replace("WHERE", where).replace("VARIABLES", variables).replace("ECHO", echo)
    Path("tasks.py").write_text(text.replace("PLANT", plant), encoding="utf-8")
    result = CliRunner().invoke(app, ["audit-task", "./tasks.py:task", "--check", "canary-seen", "--json"])
    report: dict[str, Any] = json.loads(result.stdout)
    return report


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(
        shell_search.COMMAND_BY_PLACE, "folders of graders", "ls /tests"
    )  # those of this machine are large


@pytest.mark.parametrize(
    ("key", "where", "variables", "plant", "seen"),
    [
        ("target", "'grader/key.txt'", "{}", "", "files"),
        ("target", "'../../key.txt'", "{}", "", "files"),
        ("target", "''", "{'KEY': sample.target}", "", "variables"),
        ("meta['hidden']", "'tests/key.txt'", "{}", PLANT, "files"),
    ],
)
def test_what_a_shell_finds_of_the_target_is_proved(
    key: str, where: str, variables: str, plant: str, seen: str
) -> None:
    report = audited(key, where, variables, plant=plant)
    assert [(each["id"], each["class"]) for each in report["findings"]] == [
        ("canary-seen:s0", "proved"),
        ("canary-seen:s1", "proved"),
    ]
    assert report["findings"][0]["witness"]["attempts"][0]["saw"] == f"run: {seen}"


@pytest.mark.parametrize(
    ("key", "where", "echo"),
    [
        ("id", "'grader/key.txt'", "''"),  # what is there is not what it is scored by
        ("meta['hidden']", "'tests/key.txt'", "''"),  # the same, as nothing says that it is to be hidden
        ("target", "''", "command"),  # a terminal that shows what is typed
    ],
)
def test_what_a_shell_finds_of_something_else_is_not(key: str, where: str, echo: str) -> None:
    report = audited(key, where, echo=echo)
    assert report["findings"] == []
    assert not [each for each in report["not_checked"] if each["applies"]]


def test_the_variables_of_the_process_that_evaluates_are_something_to_look_at() -> None:
    report = audited("id", "''", "dict(os.environ)")
    assert [(each["id"], each["class"]) for each in report["findings"]] == [
        ("canary-seen:s0", "look"),
        ("canary-seen:s1", "look"),
    ]


def test_places_that_were_not_searched_are_named() -> None:
    text = TASK.replace("def run", "def draw").replace("KEY", "id").replace("WHERE", "''").replace("VARIABLES", "{}")
    Path("tasks.py").write_text(text.replace("ECHO", "''").replace("PLANT", ""), encoding="utf-8")
    result = CliRunner().invoke(app, ["audit-task", "./tasks.py:task", "--check", "canary-seen", "--json"])
    [missing] = json.loads(result.stdout)["not_checked"]
    assert "as no tool is a shell" in json.dumps(missing["reason"])
    assert missing["reason"]["values"]["count"] == 2
