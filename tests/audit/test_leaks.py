"""Leaks: samples that are in other data too, and agents that are shown what they are scored by."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from proctor.cli import app

EXAM = [
    {"id": "q1", "question": "How much is 6 * 7?", "answer": "42"},
    {"id": "q2", "question": "What is the capital of Peru?", "answer": "Lima"},
    {"id": "q3", "question": "How many legs has a spider?", "answer": "8"},
    {"id": "q4", "question": "How many legs has an ant?", "answer": "6"},
]
OTHER = [
    {"id": "q4", "question": "How  much is 6 * 7?", "answer": "42"},
    {"id": "t2", "question": "what's the capital of Peru ?", "answer": "Lima"},
    {"id": "t3", "question": "How many legs has a spider?", "answer": "6"},
    {"id": "t4", "question": "How many legs has a crab?", "answer": "10"},
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("exam.jsonl", EXAM)
    write("train.jsonl", OTHER)


def write(name: str, rows: list[dict[str, str]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def audit(*words: str) -> Result:
    return CliRunner().invoke(app, ["audit-task", *words])


def findings(*words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(audit(*words, "--json").stdout)["findings"]
    return found


def test_samples_that_are_in_other_data_are_found_with_their_place_in_both() -> None:
    found = findings("exam.jsonl", "--against", "train.jsonl")
    assert [(each["id"], each["class"]) for each in found] == [
        ("split-overlap:q1+train.jsonl:q4", "proved"),
        ("split-overlap:q3+train.jsonl:t3", "proved"),  # whatever the other data expects
        ("split-overlap:q2+train.jsonl:t2", "likely"),
    ]
    assert [each["file"] for each in found[0]["where"]] == ["exam.jsonl", "train.jsonl"]


def test_the_finding_replays_by_its_command() -> None:
    [finding, *_] = findings("exam.jsonl", "--against", "train.jsonl")
    result = CliRunner().invoke(app, finding["replay"].replace("'", "").split()[1:])
    assert result.exit_code == 0, result.output
    assert "How  much is 6 * 7?" in result.stdout


def test_without_other_data_overlaps_are_not_checked() -> None:
    report = json.loads(audit("exam.jsonl", "--json").stdout)
    assert "split-overlap" in {each["check"] for each in report["not_checked"]}


def test_the_splits_of_one_file_are_compared_and_what_repeats_in_a_split_is_no_overlap() -> None:
    rows = [
        {**EXAM[0], "split": "train"},
        {**EXAM[0], "id": "again", "split": "train"},
        {**EXAM[0], "id": "held", "split": "test"},
    ]
    write("splits.jsonl", [*rows, *({**row, "split": "test"} for row in EXAM[1:])])
    words = ("splits.jsonl", "--map", "split=tag:split", "--check", "split-overlap")
    assert [each["id"] for each in findings(*words)] == ["split-overlap:again+held", "split-overlap:held+q1"]


TASK = '''
from msgspec.structs import replace

from proctor import Sample, Score, Task
from proctor.core.sample import Message
from proctor.environments.python import wrap


class Shelf:
    def __init__(self, target: str) -> None:
        self.target = target

    def list_notes(self) -> list[str]:
        """List the notes."""
        return ["n1", "n2"]

    def read_note(self, note: str) -> str:
        """Read a note."""
        return self.target if note == "n2" else "empty"


def graded(sample, trajectory):
    return Score(points=sample.target in (trajectory.answer or ""))


def shown(sample):
    [turn] = sample.turns
    return replace(sample, turns=(replace(turn, messages=(*turn.messages, Message.of("user", LEAK(sample)))),))


def made(sample):
    return wrap(Shelf(LEAK(sample)))(sample)


def task():
    samples = [Sample.ask(f"s{n}", f"What is {n}?", target=f"number {n}", meta=META) for n in range(3)]
    return Task(name="shelf", samples=samples, scorers=[graded], PART)
'''


@pytest.mark.parametrize(
    ("part", "leak", "meta", "found"),
    [
        ("present=shown", "sample.target", {}, ["s0", "s1", "s2"]),
        ("environment=made", "sample.target", {}, ["s0", "s1", "s2"]),
        ("present=shown", "sample.id", {}, []),
        ("environment=made", "sample.id", {}, []),
        ("present=shown", "sample.target", {"readable": True}, []),
    ],
)
def test_an_agent_that_is_shown_its_target_is_proved(
    part: str, leak: str, meta: dict[str, bool], found: list[str]
) -> None:
    text = TASK.replace("PART", part).replace("META", repr(meta)).replace("LEAK(sample)", leak)
    Path("tasks.py").write_text(text, encoding="utf-8")
    report = json.loads(audit("./tasks.py:task", "--check", "A7", "--json").stdout)
    assert [(each["samples"], each["class"]) for each in report["findings"]] == [([id], "proved") for id in found]
    assert not [each for each in report["not_checked"] if each["applies"]]
    if found:
        replayed = CliRunner().invoke(app, report["findings"][0]["replay"].split()[1:])
        assert replayed.exit_code == 0, replayed.output


def test_files_of_one_name_with_another_content_are_no_overlap() -> None:
    row = {"id": "q1", "question": "Which colour is it?", "file": "1.png", "answer": "red"}
    for name, data in (("ours", b"red"), ("other", b"green"), ("same", b"red")):
        Path(name).mkdir()
        write(f"{name}/exam.jsonl", [row])
        Path(name, "1.png").write_bytes(data)
    assert findings("ours/exam.jsonl", "--against", "other/exam.jsonl", "--check", "split-overlap") == []
    [finding] = findings("ours/exam.jsonl", "--against", "same/exam.jsonl", "--check", "split-overlap")
    assert finding["class"] == "proved"


@pytest.mark.parametrize(
    "pair", ["x ∈ A|x ∉ A", "A ∪ B = A|A ∩ B = A", "p true|¬p true", "😀 sad|😢 sad", "की here|का here"]
)
def test_questions_that_differ_by_a_sign_are_not_the_same_in_other_words(pair: str) -> None:
    for name, said in zip(("ours.jsonl", "theirs.jsonl"), pair.split("|"), strict=True):
        write(name, [{"id": "q", "question": f"Is {said}?", "answer": "yes"}])
    assert findings("ours.jsonl", "--against", "theirs.jsonl", "--check", "split-overlap") == []
