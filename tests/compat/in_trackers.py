"""Runs logged to the real MLflow and Weights & Biases; runs in the environment of trackers.txt."""

from pathlib import Path
from typing import Any

import pytest

from proctor import Sample, Task, evaluate, rescore
from proctor.api import Run, files
from proctor.core.errors import BadInput


def made(path: Path) -> Run:
    samples = [
        Sample.ask(f"s{n}", f"Capital number {n}?", target="Paris" if n % 2 else "Rome", tags={"类": "a/../b" if n % 3 else "=x"})
        for n in range(12)
    ]  # fmt: skip
    task = Task(name="capitals", samples=samples, scorers=["exact"])
    return evaluate(task, agent=lambda question: "Paris", store=str(path / "runs.db"), run_id="r", attempts=2)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    for name in ("WANDB_PROJECT", "MLFLOW_EXPERIMENT_NAME", "MLFLOW_TRACKING_URI", "WANDB_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return made(tmp_path)


def logged(tmp_path: Path) -> tuple[Any, Any]:
    """The client of MLflow, and the one run of the experiment."""
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{tmp_path}/ml.db")
    [found] = client.search_runs([client.get_experiment_by_name("capitals").experiment_id])
    return client, found


def test_mlflow_has_the_numbers_once_however_often_a_run_is_logged(tmp_path: Path, run: Run) -> None:
    assert files.export(run, "mlflow", str(tmp_path / "ml.db")) == [tmp_path / "ml.db"]
    client, found = logged(tmp_path)
    accuracy = run.estimate("accuracy")
    assert [found.data.metrics[name] for name in ("accuracy", "accuracy.low", "accuracy.high")] == [
        accuracy.value,
        accuracy.low,
        accuracy.high,
    ]
    assert found.data.metrics["outcomes/scored"] == 24
    assert found.data.metrics["accuracy/类/a_.._b"] == run.estimate("accuracy", slice="类=a/../b").value
    assert found.data.params["attempts"] == "2"
    assert (found.info.run_name, found.info.status) == ("r", "FINISHED")
    assert [one.path for one in client.list_artifacts(found.info.run_id)] == ["report.html", "report.json"]
    report = Path(client.download_artifacts(found.info.run_id, "report.html", str(tmp_path)))
    assert "Capital number" not in report.read_text(encoding="utf-8")
    again = rescore(run, scorers=["exact", "refusal"])
    said = files.send(again, "mlflow", f"sqlite:///{tmp_path}/ml.db", content=True)
    assert "experiment capitals" in str(said)
    client, found = logged(tmp_path)
    assert any(name.startswith("refusal.") for name in found.data.metrics)
    assert {len(client.get_metric_history(found.info.run_id, name)) for name in found.data.metrics} == {1}
    report = Path(client.download_artifacts(found.info.run_id, "report.html", str(tmp_path)))
    assert "Capital number" in report.read_text(encoding="utf-8")


def test_a_server_of_mlflow_that_is_not_there_is_named(run: Run) -> None:
    with pytest.raises(BadInput, match=r"MLflow at 127\.0\.0\.1:9: ") as caught:
        files.send(run, "mlflow", "http://me:hunter2@127.0.0.1:9")
    assert "hunter2" not in str(caught.value)
    with pytest.raises(BadInput, match="MLFLOW_TRACKING_URI"):
        files.send(run, "mlflow", "env")


def test_weights_and_biases_keeps_one_run_in_a_folder(tmp_path: Path, run: Run) -> None:
    for _ in range(2):
        [folder] = files.export(run, "wandb", str(tmp_path / "wb"))
    assert sorted(one.name for one in (folder / "files").iterdir()) == ["report.html", "report.json"]
    [record] = folder.glob("*.wandb")
    data = record.read_bytes()
    for word in ("accuracy.low", "accuracy/类/_x", "outcomes/scored", "capitals"):
        assert word.encode() in data
    assert b"Capital number" not in data
    assert len(list((tmp_path / "wb" / "wandb").glob("offline-run-*"))) == 1


def test_without_a_key_weights_and_biases_says_so(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with pytest.raises(BadInput, match=r"Weights & Biases: "):
        files.send(run, "wandb", "http://127.0.0.1:9")
    with pytest.raises(BadInput, match="WANDB_API_KEY"):
        files.send(run, "wandb", "http://me:hunter2@127.0.0.1:9")
