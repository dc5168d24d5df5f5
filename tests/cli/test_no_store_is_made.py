"""Commands that only read a store, or are refused, make none."""

from pathlib import Path

import pytest

from proctor import Sample, Task, evaluate
from proctor.cli import app


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    task = Task(name="t", samples=[Sample.ask("a", "a", target="a")], scorers=["exact"])
    evaluate(task, agent="baseline:oracle", store="runs.db", run_id="one")
    return tmp_path / "new.db"


@pytest.mark.parametrize(
    "words",
    [
        "runs --store new.db",
        "runs copy one --to other.db --store new.db",
        "runs copy two --to new.db --store runs.db",
        "runs merge runs.db --into new.db",
        "runs delete one --yes --store new.db",
        "show one --store new.db",
        "ci trends --store new.db",
        "ci baseline list --store new.db",
        "ci baseline set release one --store new.db",
        "ci baseline remove release --store new.db",
        "compare one two --store new.db",
        "runs report one --store new.db",
        "runs export one --format inspect --out out --store new.db",
        "judge agree one --store new.db",
    ],
)
def test_no_store_is_made(words: str, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        app.main(words.split())
    assert ended.value.code == 2, capsys.readouterr().err
    assert not store.exists()
    assert "Error: " in capsys.readouterr().err
