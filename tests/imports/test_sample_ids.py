"""A log that numbers its samples gets the ids of the task from their metadata, so that its runs know the task's samples."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor import Sample, Task, evaluate
from proctor.core.errors import BadInput
from proctor.core.task import Store
from proctor.stores import open_store
from proctor_adapters.importing import import_log
from proctor_adapters.imports import LogReading

LOGS = Path(__file__).parents[1] / "data" / "imports"
SAMPLES = [Sample.ask(f"q{number}", str(number), target="yes") for number in range(200)]


@pytest.fixture
def store() -> Store:
    return open_store(":memory:")


def lines(path: Path, count: int = 200, **more: Any) -> Path:
    """Write a log of lm-evaluation-harness whose first samples are right."""
    path.write_text(
        "\n".join(
            json.dumps(
                {
                    "doc_id": at,
                    "doc": {"name": f"q{at}", "options": ["a"], **more},
                    "filtered_resps": ["x"],
                    "metrics": ["m"],
                    "m": float(at < count // 2),
                }
            )
            for at in range(count)
        )
    )
    return path


def ids(store: Store) -> list[str]:
    (record,) = store.runs()
    return [sample.id for sample in store.planned(record.id)]


def test_metadata_names_the_samples(tmp_path: Path, store: Store) -> None:
    (found,) = import_log(lines(tmp_path / "log.jsonl", 3), store=store, how=LogReading(id="name"))
    assert ids(store) == ["q0", "q1", "q2"]
    assert found.run.record.planned == 3
    assert {*found.run.store.tallies(found.run.id, "m")} == {""}


def test_filters_of_a_sample_stay_with_it(store: Store) -> None:
    log = LOGS / "samples_tiny_gen_2026-11-23T11-47-45.212176.jsonl"
    (found,) = import_log(log, store=store, how=LogReading(id="q", tags=("level",)))
    assert ids(store) == ["2+2", "Capital of France"]
    assert len(found.run.record.scorers) == 2
    assert "level=hard" in found.run.store.tallies(found.run.id, found.run.record.scorers[0])


def test_a_variable_of_promptfoo_names_them_in_every_run(store: Store) -> None:
    runs = import_log(LOGS / "promptfoo.json", store=store, how=LogReading(id="question"))
    planned = [{sample.id for sample in store.planned(each.run.id)} for each in runs]
    assert planned[0] == {"2+2?", "Capital of France?", "boom"}
    assert all(each == planned[0] for each in planned)


def test_a_sample_of_the_plan_without_a_trial_keeps_its_own(tmp_path: Path, store: Store) -> None:
    log = json.loads((LOGS / "inspect.json").read_text())
    for sample in log["samples"]:
        sample["metadata"] = {"name": f"new {sample['id']}"}
    log["samples"] = [sample for sample in log["samples"] if sample["id"] != "sum"]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    import_log(path, store=store, how=LogReading(id="name"))
    assert sorted(ids(store)) == ["new 7", "new broken", "new choice", "sum"]


@pytest.mark.parametrize(
    ("key", "more", "words"),
    [
        ("nam", {}, "no 'nam'.* name"),
        ("nam", {"vars": "a text"}, "no 'nam'.* vars"),
        ("options", {}, "no 'options'"),
        ("same", {"same": "x"}, "'x' twice"),
    ],
)
def test_a_key_that_names_no_samples_is_refused_and_leaves_nothing(
    tmp_path: Path, store: Store, key: str, more: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        import_log(lines(tmp_path / "log.jsonl", **more), store=store, how=LogReading(id=key))
    assert store.runs() == []


def test_runs_whose_samples_have_other_ids_are_said_to_draw_nothing(tmp_path: Path) -> None:
    store, task = str(tmp_path / "runs.db"), Task(name="quiz", samples=SAMPLES, scorers=["exact"])
    log = lines(tmp_path / "log.jsonl")
    import_log(log, store=store, run_id="numbered", how=LogReading(task="quiz"))
    run = evaluate(task, agent=lambda _: "yes", store=store, limit=40)
    assert run.record.strata is not None
    assert run.record.strata.spread is None
    (warning,) = run.record.warnings
    assert str(warning) == (
        "Stored runs (1) know 0 of the 200 samples of this task, too few to draw by; they know '0', not 'q0'. A log takes the task's ids from its metadata: proctor runs import FILE --id KEY"
    )
    import_log(log, store=store, run_id="named", how=LogReading(task="quiz", id="name"))
    run = evaluate(task, agent=lambda _: "yes", store=store, limit=50)
    assert run.record.strata is not None
    assert run.record.strata.spread is not None
    assert run.record.warnings == ()


def test_a_log_with_many_errors_still_knows_the_samples_that_it_scored(tmp_path: Path) -> None:
    """Its run is inconclusive; only a draw rests on it."""
    store, path = str(tmp_path / "runs.db"), tmp_path / "log.json"
    results = [
        {
            "provider": "p",
            "promptIdx": 0,
            "vars": {"id": f"q{at}"},
            "success": at < 100,
            "score": float(at < 100),
            "failureReason": 2 if at % 10 == 0 else 0,
        }
        for at in range(200)
    ]
    path.write_text(json.dumps({"evalId": "e", "results": {"results": results}}))
    (found,) = import_log(path, store=store, how=LogReading(task="quiz", id="id"))
    assert found.run.record.state == "inconclusive"
    task = Task(name="quiz", samples=SAMPLES, scorers=["exact"])
    run = evaluate(task, agent=lambda question: "yes" if int(question) < 90 else "no", store=store, limit=40)
    assert str(run.estimate("accuracy").note).startswith("a stored run knows these samples: as good as")
