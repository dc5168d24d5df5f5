"""Answers to what cannot be done any more: an environment that does not know what an answer names."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from proctor.cli import app

DESK = '''
from proctor import Sample, Score, Task, ToolCall, Trajectory
from proctor.core.sample import Message
from proctor.core.trajectory import Step


class Desk:
    """A desk with loans."""

    def __init__(self) -> None:
        self.loans = {"书-1": "王芳", "book-2": "Ann"}
        self.page = "start"

    def look(self, page: str) -> str:
        """Open a page."""
        self.page = page
        return f"page {page}"

    def extend(self, book: str, name: str) -> str:
        """Lend a book to a reader."""
        if book not in self.loans:
            raise KeyError(book)
        self.loans = {**self.loans, book: name}
        return "ok"

    def note(self, text: str) -> str:
        """Write a note."""
        self.loans = {**self.loans, "note": text}
        return "noted"


def by_state(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=all(trajectory.state.get(key) == value for key, value in sample.target.items()))


def by_loans(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=trajectory.state["loans"] != LOANS)


def by_calls(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=[call.name for call in trajectory.calls()] == [name for name, _ in sample.meta["do"]])


def by_words(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=trajectory.answer == sample.meta["says"])


def right(sample: Sample) -> Trajectory:
    calls = [ToolCall(name=name, arguments=arguments, id=str(n)) for n, (name, arguments) in enumerate(sample.meta["do"])]
    return Trajectory(steps=(
        Step(message=Message(role="assistant", parts=tuple(calls))),
        Step(message=Message.of("assistant", sample.meta["says"])),
    ))


def sample(id: str, target: object, *do: object) -> Sample:
    return Sample.ask(id, f"Please: {id}", target=target, meta={"do": list(do), "says": f"Done: {id}."})


LOANS = {"书-1": "王芳", "book-2": "Ann"}


def task() -> Task:
    return Task(
        name="desk",
        samples=[
            sample("lend", {"loans": {**LOANS, "书-1": "李雷"}}, ("extend", {"book": "书-1", "name": "李雷"})),
            sample("both", {"loans": {"书-1": "Bo", "book-2": "Bo"}}, ("look", {"page": "readers"}), ("extend", {"book": "书-1", "name": "Bo"}), ("extend", {"book": "book-2", "name": "Bo"})),
            sample("free", {"loans": {**LOANS, "note": "hi"}}, ("note", {"text": "hi"})),
            sample("browse", {"answer": 3}, ("look", {"page": "readers"})),
            sample("named", {"reader": "Cy"}, ("extend", {"book": "book-2", "name": "Cy"})),
        ],
        scorers=[SCORERS],
        environment="python:./desk.py:Desk",
        oracle=right,
    )
'''


def audited(scorers: str, folder: Path, *words: str) -> dict[str, Any]:
    (folder / "desk.py").write_text(DESK.replace("SCORERS", scorers), encoding="utf-8")
    result = CliRunner().invoke(app, ["audit-task", "./desk.py:task", "--json", "--check", "honeypot-passes", *words])
    report: dict[str, Any] = json.loads(result.stdout)
    return report


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("scorers", ["by_calls", "by_words"])
def test_full_points_for_what_the_environment_refused_are_proved(scorers: str, folder: Path) -> None:
    report = audited(scorers, folder)
    assert [(each["id"], each["class"]) for each in report["findings"]] == [
        ("honeypot-passes:both", "proved"),
        ("honeypot-passes:lend", "proved"),
        ("honeypot-passes:named", "look"),  # the target says nothing of the state
    ]
    [right, gone] = report["findings"][1]["witness"]["attempts"]
    assert right["played"][0]["changed"] == ["loans"]
    assert (gone["answer"]["gone"], gone["played"]) == (["书-1"], [{"name": "extend", "is_error": True, "changed": []}])
    replayed = CliRunner().invoke(app, report["findings"][1]["replay"].split()[1:])
    assert replayed.exit_code == 0, replayed.output


def test_what_was_not_tried_is_counted(folder: Path) -> None:
    report = audited("by_calls", folder)
    assert [(each["check"], each["reason"]["values"]["count"]) for each in report["not_checked"]] == [
        ("honeypot-passes", 2),  # browse, free: the environment takes any text
    ]


@pytest.mark.parametrize("scorers", ["by_state", "by_words, by_state", "by_loans", '"trajectory:any_order"'])
def test_a_scorer_that_reads_the_state_or_says_that_it_compares_calls_is_no_finding(scorers: str, folder: Path) -> None:
    assert audited(scorers, folder)["findings"] == []


def test_what_an_idle_agent_earns_is_a_finding_of_another_check(folder: Path) -> None:
    report = audited("lambda sample, trajectory: Score(points=1)", folder)
    assert report["findings"] == []


def test_without_an_environment_nothing_is_taken_away(folder: Path) -> None:
    rows: dict[str, object] = {
        "id": "a",
        "question": "Cancel W1.",
        "calls": [{"name": "cancel", "arguments": {"order": "W1"}}],
    }
    rows |= {"tools": [{"name": "cancel", "description": "", "parameters": {}}], "state": {"orders": {"W1": {}}}}
    Path("set.jsonl").write_text(json.dumps(rows) + "\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["audit-task", "set.jsonl", "--json", "--check", "honeypot-passes"])
    report = json.loads(result.stdout)
    assert report["findings"] == []
    assert [each["check"] for each in report["not_checked"]] == ["honeypot-passes"]
