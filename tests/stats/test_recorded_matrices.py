"""`python -m bench items FILE` takes every matrix of the form of tests/data/audit/outcomes_*, whole or not."""

import random
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench.items import measure, read_systems

from proctor.core.errors import BadInput
from proctor.datasets.rows import rows

NAMES = ("openai_a", "openai_b", "qwen_a", "glm a/β", "mine")


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
    return path


def votes(item: str, items: int) -> dict[str, Any]:
    """One line of a matrix in which later items are harder."""
    source = random.Random(item)
    chance = 0.9 - 0.8 * int(item.rsplit(maxsplit=1)[-1]) / items
    passed = {name for name in NAMES if source.random() < chance}
    return {"id": item, "passed": sorted(passed), "failed": {name: [None, "x"] for name in NAMES if name not in passed}}


def figures(monkeypatch: pytest.MonkeyPatch, path: Path) -> dict[str, float]:
    monkeypatch.setattr(sys, "argv", ["bench", "items", str(path), "3"])
    return {figure.what: figure.value for figure in measure()}


def matrix(items: int = 40) -> list[dict[str, Any]]:
    return [votes(f"ü/'\"\n {at}", items) for at in range(items)]


def test_parts_of_points_and_missing_runs_are_read_as_they_are(tmp_path: Path) -> None:
    runs = {
        "a": [{"success": 0.25}, {"success": True}],
        "b": [{"success": None}, {"success": False}],
        "c": [],
        "d": [{"success": None}],
    }
    (a, b) = read_systems(rows(write(tmp_path / "m.jsonl", [{"id": 7, "runs": runs, "families": {"a": "maker"}}])))
    assert (a.name, a.family, a.earned) == ("a", "maker", {"7": 0.625})
    assert (b.name, b.family, b.earned) == ("b", "b", {"7": 0.0})


def test_makers_are_told_from_names_where_no_line_names_them(tmp_path: Path) -> None:
    systems = read_systems(rows(write(tmp_path / "m.jsonl", matrix(2))))
    assert {system.name: system.family for system in systems}["openai_b"] == "openai"
    assert len({system.family for system in systems}) == 4


def test_a_system_without_some_items_is_replayed_on_those_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = matrix()
    for line in lines[::5]:
        line["passed"] = [name for name in line["passed"] if name != "mine"]
        line["failed"].pop("mine", None)
    for line in lines[5:]:
        line["passed"] = [name for name in line["passed"] if name != "qwen_a"]
        line["failed"].pop("qwen_a", None)
    values = figures(monkeypatch, write(tmp_path / "m.jsonl", lines))
    assert values["m.jsonl: systems"] == 5
    assert values["30 calls, mine left out: RMSE"] > 0
    assert "8 calls, alibaba left out: RMSE" not in values
    assert values["8 calls: systems left out, of too few items"] == 1


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_items_that_all_pass_or_all_fail_leave_nothing_to_gain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: float
) -> None:
    runs = {name: [{"success": value}] for name in NAMES}
    values = figures(monkeypatch, write(tmp_path / "m.jsonl", [{"id": str(at), "runs": runs} for at in range(40)]))
    assert values["30 calls: RMSE"] == 0
    assert values["30 calls, unlike all others: RMSE over that of a plain draw"] == 1


def test_few_systems_are_warned_of_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [{"id": str(at), "passed": ["openai_a"], "failed": {"qwen_a": None}} for at in range(40)]
    assert not any("warned" in what for what in figures(monkeypatch, write(tmp_path / "m.jsonl", lines)))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([{"id": "a", "passed": ["x"], "failed": ["x"]}], "'x' both passed and failed"),
        ([{"id": "a", "runs": {"x": [{"success": 7}]}}], "7"),
        ([{"id": "a", "runs": {"x": [{"success": "yes"}]}}], "yes"),
        ([{"id": "a", "passed": ["x"], "failed": []}] * 2, "'a' was used already"),
        ([{"passed": [], "failed": []}], "id"),
        ([{"id": "a", "question": "?"}], "line 1: it has neither `runs`"),
        ([{"id": "a", "passed": [], "failed": []}], "systems of 0 families"),
        (matrix(8), "it has 8 items"),
    ],
)
def test_what_cannot_be_replayed_is_refused_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[dict[str, Any]], words: str
) -> None:
    path = write(tmp_path / "m.jsonl", lines)
    with pytest.raises((BadInput, SystemExit)) as refusal:
        figures(monkeypatch, path)
    assert words in str(refusal.value)
    assert "m.jsonl" in str(refusal.value)
