"""A data file may not name code that runs, unless the user allows it."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.core.errors import BadInput
from proctor.datasets.files import task_from_file
from proctor_adapters.evalsets.task import task_of

MATCHER = {"match": {"x": {"function": "os:system"}}}
CALL = {"name": "f", "arguments": {"x": 1}}


def data(path: Path, target: Any) -> Path:
    path.write_text(json.dumps({"id": "a", "question": "q", "answer": target}) + "\n")
    return path


@pytest.mark.parametrize(
    "target",
    [
        {"calls": [{**CALL, **MATCHER}]},
        {"calls": [[{**CALL, "either": [{**CALL, **MATCHER}]}]]},
        {"calls": [CALL], "alternatives": [{"calls": [{**CALL, **MATCHER}]}]},
    ],
)
def test_a_matcher_of_a_data_file_runs_code_only_with_consent(target: Any, tmp_path: Path) -> None:
    path = data(tmp_path / "q.jsonl", target)
    with pytest.raises(
        BadInput, match=r"q\.jsonl.*a matcher runs code that the file names: os:system\..*allow_code=true"
    ):
        task_from_file(path)
    assert task_from_file(path, allow_code=True).planned == 1


@pytest.mark.parametrize(
    "target",
    [
        {"calls": [{"name": "plot", "arguments": {"function": "sin", "match": {"function": "x"}}}]},
        {"calls": [{**CALL, "match": {"x": {"regex": "a"}}}]},
        {"calls": [{"name": "plot", "arguments": {"function": "x"}, "match": {"function": {"one_of": ["x", "y"]}}}]},
        "function",
    ],
)
def test_a_function_that_is_only_compared_is_no_code(target: Any, tmp_path: Path) -> None:
    assert task_from_file(data(tmp_path / "q.jsonl", target)).planned == 1


def test_a_matcher_of_an_eval_set_runs_code_only_with_consent(tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.json"
    case = {"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "q"}]}}], "trajectory": MATCHER}
    path.write_text(json.dumps({"eval_set_id": "s", "eval_cases": [case]}))
    with pytest.raises(BadInput, match=r"'a': a matcher runs code that the file names: os:system"):
        task_of(path)
    assert task_of(path, allow_code=True).planned == 1
