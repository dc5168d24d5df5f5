"""The stored runs of agents that know nothing are shown next to the number of a run."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from proctor.cli import app
from proctor.reports.floor import floors_of
from proctor.stores import open_store

EXAM = [{"id": f"q{n}", "question": f"Say {n}.", "options": ["one", "two"], "answer": "AB"[n % 2]} for n in range(8)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("exam.jsonl").write_text("".join(json.dumps(row) + "\n" for row in EXAM), encoding="utf-8")
    Path("agent.py").write_text("def answer(question):\n    return 'A'\n", encoding="utf-8")


def proctor(*words: str) -> str:
    result = CliRunner().invoke(app, [*words, "--store", "r.db"])
    assert result.exit_code == 0, result.output
    return result.stdout


def run(agent: str, name: str, *words: str) -> None:
    proctor("run", "exam.jsonl", "--agent", agent, "--run", name, "--quiet", *words)


def floors(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(proctor("show", name, "--json")).get("floor", [])
    return found


def test_the_floor_is_that_of_the_same_samples_and_names_its_run() -> None:
    for kind in ("null", "random", "oracle"):
        run(f"baseline:{kind}", kind)
    run("./agent.py:answer", "mine", "--limit", "6")
    assert [(floor["agent"], floor["run"], floor["scored"]) for floor in floors("mine")] == [
        ("baseline:null", "null", 6),
        ("baseline:random", "random", 6),
    ]
    null = floors("mine")[0]
    assert null["value"] == 0
    assert 0 < null["high"] < 1
    said = " ".join(proctor("show", "mine").split())
    assert "baseline:null earns 0.0 %" in said
    assert floors("null") == []


def test_the_values_of_a_run_are_read_once_for_all_floors(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("null", "random"):
        run(f"baseline:{kind}", kind)
    run("./agent.py:answer", "mine")
    store = open_store("r.db")
    read: list[str] = []
    values = store.values

    def read_values(run_id: str, scorer: str) -> Any:
        read.append(run_id)
        return values(run_id, scorer)

    monkeypatch.setattr(store, "values", read_values)
    assert len(floors_of(store.run("mine"), store)) == 2
    assert sorted(read) == ["mine", "null", "random"]
    store.close()


def test_without_such_a_run_or_with_one_of_other_data_there_is_no_floor() -> None:
    run("baseline:null", "null")
    Path("exam.jsonl").write_text("".join(json.dumps(row) + "\n" for row in EXAM[:-1]), encoding="utf-8")
    run("./agent.py:answer", "mine")
    assert floors("mine") == []
