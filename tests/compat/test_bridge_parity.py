"""Tasks of the real inspect_evals and lm-eval, played by their program alone and by Proctor: requests, scores and figures are equal.

The tasks are theirs; rows of ours take the place of data that are not here. A line of a list is a task with the fields of its rows,
or why it cannot be played here.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import throwaway
from copied_workers import CopiedWorker, Copies

from proctor_adapters.bridge import inspect as of_inspect
from proctor_adapters.bridge import lmeval as of_lmeval
from proctor_adapters.bridge import worker as talking
from proctor_adapters.bridge.program import PYTHON

HERE = Path(__file__).parent
INSPECT = HERE / "inspect_evals_rows-0.26.0.jsonl"
LMEVAL = HERE / "lm_eval_rows-0.4.13.jsonl"
pytestmark = [pytest.mark.torture, pytest.mark.xdist_group("inspect")]


@pytest.fixture(scope="module")
def copies() -> Iterator[Copies]:
    python = Path(os.environ.get(PYTHON) or throwaway.python("inspect"))
    CopiedWorker.copies = Copies(python, of_inspect.PROGRAM, of_inspect.ALONE, of_lmeval.PROGRAM)
    yield CopiedWorker.copies
    CopiedWorker.copies.close()


@pytest.fixture(autouse=True)
def copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PYTHON, os.environ.get(PYTHON) or str(throwaway.python("inspect")))
    monkeypatch.setattr(of_inspect, "TalkingWorker", CopiedWorker)
    monkeypatch.setattr(talking, "TalkingWorker", CopiedWorker)
    monkeypatch.setattr(of_lmeval, "_workers", CopiedWorker)


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def played(path: Path) -> list[Any]:
    return [pytest.param(row, id=row["task"]) for row in lines_of(path) if "rows" in row]


@pytest.mark.parametrize("row", played(INSPECT))
def test_a_task_of_inspect_evals_is_played_as_inspect_plays_it(row: dict[str, Any], copies: Copies) -> None:
    copies.task, copies.fields = row["task"], row["rows"]
    checked = [*of_inspect.check_parity(f"inspect_evals/{row['task']}")]
    assert [line for line in checked if not line.agrees] == []


@pytest.mark.parametrize("row", played(LMEVAL))
def test_a_task_of_lm_eval_is_played_as_lm_eval_plays_it(row: dict[str, Any], copies: Copies) -> None:
    copies.task, copies.fields = row["task"], row["rows"]
    checked = [*of_lmeval.check_parity(row["task"])]
    assert [line for line in checked if not line.agrees] == []


@pytest.mark.parametrize("path", [INSPECT, LMEVAL], ids=["inspect_evals", "lm-eval"])
def test_of_what_is_not_played_the_list_says_why(path: Path) -> None:
    for row in lines_of(path):
        assert ("rows" in row) != bool(row.get("why")), row["task"]


@pytest.mark.parametrize(("path", "fewest"), [(INSPECT, 60), (LMEVAL, 40)], ids=["inspect_evals", "lm-eval"])
def test_as_many_are_played_as_the_page_promises(path: Path, fewest: int) -> None:
    assert len(played(path)) >= fewest
