"""The boundary cases of our own: enough of each category, all different, and right and wrong replies come out as they should.

All replies of `variations.jsonl` were also checked by the code of bfcl-eval 2026.3.23, with the same verdicts and error types.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.core.task import Task
from proctor_benchmarks.bfcl import dataset
from proctor_benchmarks.bfcl.checker import check

FOLDER = dataset.locate(dataset.EDGE_CASES)
ENTRIES = {entry.id: entry for category in dataset.EDGE_CATEGORIES for entry in dataset.entries(FOLDER, category)}
VARIATIONS: list[dict[str, Any]] = [json.loads(line) for line in (FOLDER / "variations.jsonl").open(encoding="utf-8")]


@pytest.mark.parametrize("category", dataset.EDGE_CATEGORIES)
def test_every_category_has_twelve_cases_or_more(category: str) -> None:
    of = [entry for entry in ENTRIES.values() if dataset.category_of(entry.id) == category]
    assert len(of) >= 12
    assert any(not entry.question[0].content.isascii() for entry in of)  # in Chinese too


def test_every_case_tests_something_of_its_own_with_right_and_wrong_replies() -> None:
    assert [one["id"] for one in VARIATIONS] == list(ENTRIES)
    assert len({one["boundary"] for one in VARIATIONS}) == len(VARIATIONS)
    assert len({entry.question[0].content for entry in ENTRIES.values()}) == len(ENTRIES)
    assert all(one["right"] and one["wrong"] for one in VARIATIONS)


@pytest.mark.parametrize("one", VARIATIONS, ids=lambda one: one["id"])
def test_right_replies_pass_and_wrong_ones_fail_for_their_reason(one: dict[str, Any]) -> None:
    entry, category = ENTRIES[one["id"]], dataset.category_of(one["id"])

    def error_type(reply: str) -> str | None:
        found = check(entry.functions, entry.answers, category, reply, mode="prompt", underscores=False)
        assert found.valid == (found.error_type is None)
        return found.error_type

    assert [error_type(reply) for reply in one["right"]] == [None] * len(one["right"])
    assert [error_type(reply) for reply, _ in one["wrong"]] == [expected for _, expected in one["wrong"]]


def test_the_cases_are_run_by_name(tmp_path: Path) -> None:
    accuracies = {}
    for agent in ("baseline:oracle", "baseline:null"):
        options = {"data": "edge-cases"}
        run = proctor.evaluate("bfcl", agent=agent, options=options, store=str(tmp_path / f"{agent[9:]}.db"))
        accuracies[agent] = {one.slice: one.value for one in run.estimates if one.name == "accuracy"}
        assert len(run.record.provenance["warnings"]) == 1
    assert accuracies["baseline:oracle"][""] == 1
    silent = {f"category={name}": float(name == "irrelevance") for name in dataset.EDGE_CATEGORIES}
    assert {name: value for name, value in accuracies["baseline:null"].items() if name in silent} == silent


def test_other_categories_are_named_as_missing() -> None:
    from proctor.core.errors import BadInput
    from proctor_benchmarks import bfcl

    assert isinstance(bfcl.task("irrelevance", data="edge-cases"), Task)
    with pytest.raises(BadInput, match="BFCL_v4_simple_java"):
        bfcl.task("simple_java", data="edge-cases")
