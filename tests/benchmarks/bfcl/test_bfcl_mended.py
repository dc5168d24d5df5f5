"""`mended=true`: answers that also accept what their schema demands; the official verdict stays what it was."""

from pathlib import Path
from typing import Any

import pytest
from tiny_bfcl import SIMPLE, write_category, write_data

from proctor.core.errors import BadInput
from proctor.core.sample import Message, ToolCall
from proctor.core.score import Score
from proctor.core.task import Task
from proctor.core.trajectory import Step, Trajectory
from proctor_benchmarks.bfcl import task
from proctor_benchmarks.bfcl.mended import bfcl_mended
from proctor_benchmarks.bfcl.scorer import bfcl

SCORERS = {"bfcl": bfcl, "bfcl_mended": bfcl_mended}

SORT = {
    "name": "sort",
    "description": "Sort.",
    "parameters": {
        "type": "dict",
        "properties": {
            "numbers": {"type": "array", "items": {"type": "float"}, "description": "Numbers."},
            "down": {"type": "string", "enum": ["True", "False"], "description": "Down?"},
            "unit": {"type": "string", "enum": ["metre", "foot"], "description": "Unit."},
        },
        "required": ["numbers", "down"],
    },
}


def row(**allowed: list[Any]) -> dict[str, Any]:
    return {
        "question": [[{"role": "user", "content": "Sort them."}]],
        "function": [SORT],
        "answer": [{"sort": allowed}],
    }


ROWS = [
    row(numbers=[[5.0, 2.5, 1.0]], down=["True"]),  # 5 is rejected: likely the only form that a model writes
    row(numbers=[[0.5]], down=[False]),  # the schema has texts only
    row(numbers=[[0.5]], down=["True"], unit=["inch", ""]),  # no member of the schema is what is accepted
    *SIMPLE,
]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    folder = write_data(tmp_path)
    write_category(folder, "simple_python", ROWS)
    return str(folder)


def mends_of(mended: Task) -> dict[str, list[str]]:
    assert isinstance(mended.samples, list)
    return {sample.id: [mend["argument"] for mend in sample.meta.get("mends", ())] for sample in mended.samples}


def test_only_what_the_schema_demands_and_the_official_rule_rejects_is_mended(data: str) -> None:
    assert mends_of(task("simple_python", data=data, mended=True)) == {
        "simple_python_0": ["sort.numbers"],
        "simple_python_1": ["sort.down"],
        "simple_python_2": [],
        "simple_python_3": [],
        "simple_python_4": [],
    }


def test_the_official_verdict_stays_and_the_difference_is_shown_next_to_it(data: str) -> None:
    natural = [{"numbers": [5, 2.5, 1], "down": "True"}, {"numbers": [0.5], "down": "False"}]
    mended = task("simple_python", data=data, mended=True)
    assert isinstance(mended.samples, list)
    for sample, arguments, row in zip(mended.samples, natural, ROWS, strict=False):
        call = ToolCall(name="sort", arguments=arguments)
        trajectory = Trajectory(steps=(Step(message=Message(role="assistant", parts=(call,))),), tools="native")
        scores = {name: function(sample, trajectory) for name, function in SCORERS.items()}
        assert {name: score.points for name, score in scores.items() if isinstance(score, Score)} == {
            "bfcl": 0,
            "bfcl_mended": 1,
        }
        assert sample.target == row["answer"]
    assert [*mended.scorers] == [*SCORERS.values()][::-1]


def test_its_version_is_another_one_and_each_mend_names_its_witness(data: str) -> None:
    official, mended = task("simple_python", data=data), task("simple_python", data=data, mended=True)
    assert official.version != mended.version
    assert mended.provenance["mended"]["simple_python_1"] == [
        {"argument": "sort.down", "accepts": ["False"], "witness": "schema-answer-fails"}
    ]
    assert len(official.scorers) == 1


def test_of_several_turns_there_is_nothing_to_mend(data: str) -> None:
    with pytest.raises(BadInput, match="one turn"):
        task("multi_turn_base", data=data, mended=True)
