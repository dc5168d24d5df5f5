"""Scorers say which changes keep an answer right and which break it, and audits hold them to it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from proctor import Sample, Trajectory
from proctor.api import resolve
from proctor.cli import app
from proctor.core.score import Score
from proctor_audit.declarations import read_declared

HEAD = """
from proctor import Sample, Task, scorer

def alike(sample):
    yield "full-stop", f"{sample.target}."

def unlike(sample):
    yield "another", f"{sample.target}x"
"""
RULE = """
@scorer(equivalents=alike, opposites=unlike)
def graded(sample, trajectory):
    return trajectory.answer.EXPRESSION

def task():
    return Task(name="t", samples=[Sample.ask("q", "Which?", target="Paris")], scorers=[graded])
"""
SAMPLES = [
    Sample.ask("one", "Which? A. x B. y C. z", target="B", meta={"options": ["x", "y", "z"]}),
    Sample.ask("two", "Which? A. x B. y C. z", target="AC", meta={"options": ["x", "y", "z"]}),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audit(name: str, expression: str, head: str = HEAD, rule: str = RULE) -> Mapping[str, Any]:
    Path(f"{name}.py").write_text(head + rule.replace("EXPRESSION", expression), encoding="utf-8")
    words = ("audit-task", f"{name}.py:task", "--check", "declaration-fails", "--seconds", "2", "--json")
    result = CliRunner().invoke(app, words)
    report: Mapping[str, Any] = json.loads(result.stdout)
    return report


@pytest.mark.parametrize("name", ["choice"])
def test_our_scorers_keep_to_what_they_declare(name: str) -> None:
    [bound] = resolve.scorers([name])
    tried = [(sample, each) for sample in SAMPLES for each in read_declared([bound], sample).answers]
    assert {each.passes for _, each in tried} == {True, False}
    for sample, each in tried:
        result = bound.function(sample, Trajectory.of(each.answer.text))
        assert isinstance(result, Score)
        assert result.passed is each.passes, (sample.target, each)


def test_a_scorer_that_breaks_its_own_declaration_is_proved_with_the_answer() -> None:
    strict = audit("strict", "strip() == sample.target")
    assert [finding["id"] for finding in strict["findings"]] == ["declaration-fails:q"]
    assert strict["findings"][0]["witness"]["change"] == "full-stop"
    loose = audit("loose", "startswith(sample.target)")
    assert loose["findings"][0]["witness"]["change"] == "another"
    assert audit("sound", "rstrip('.') == sample.target")["findings"] == []


@pytest.mark.parametrize("yielded", ["yield 5", "yield ('x', 5)", "raise ValueError('mine')", "while True: pass"])
def test_a_declaration_that_cannot_be_read_is_not_checked(yielded: str) -> None:
    report = audit(f"odd{abs(hash(yielded))}", "strip('.') == sample.target", declaring(yielded))
    assert report["findings"] == []
    assert [each["check"] for each in report["not_checked"]] == ["declaration-fails"]
    assert report["not_checked"][0]["applies"]


def test_a_declaration_that_raises_is_a_fault_of_its_scorer_and_ends_no_worker() -> None:
    samples = ", ".join(f'Sample.ask("q{n}", "Which {n}?", target="Paris")' for n in range(8))
    rule = RULE.replace('Sample.ask("q", "Which?", target="Paris")', samples)
    head = declaring("raise ValueError('mine')")
    report = audit("raising", "rstrip('.') != sample.target", head, rule)
    assert len(report["findings"]) == 8  # by what it still declares
    [fault] = [each["reason"]["values"] for each in report["not_checked"]]
    assert fault["count"] == 8
    assert fault["fault"]["values"] == {"scorer": "graded", "kind": "ValueError", "error": "mine"}


@pytest.mark.parametrize(
    ("yielded", "expression"),
    [
        ("yield from ((str(n), f'{sample.target}{n}') for n in range(30))", "rstrip('.') == sample.target"),
        ("yield 'other', 'none'", "rstrip('.') == sample.target if trajectory.answer != 'none' else Unscored(why='no_evidence')"),
    ],
)  # fmt: skip
def test_declared_answers_that_are_not_tried_or_not_scored_are_counted(yielded: str, expression: str) -> None:
    head = declaring(yielded).replace("Sample,", "Sample, Unscored,")
    report = audit(f"cut{abs(hash(yielded))}", expression, head)
    assert report["findings"] == []
    [missing] = report["not_checked"]
    assert (missing["check"], missing["applies"], missing["reason"]["values"]["count"]) == (
        "declaration-fails",
        True,
        1,
    )


def declaring(statement: str) -> str:
    head = HEAD.replace('yield "another", f"{sample.target}x"', statement)
    assert head != HEAD
    return head
