"""Data of tasks of other programs: what was read is recorded, and fetched by a command."""

import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

import proctor
from proctor.cli import app
from proctor.core.errors import BadInput
from proctor.isolation import WorkerProgram
from proctor_adapters.bridge import inspect as of_inspect
from proctor_adapters.bridge import lmeval as of_lmeval
from proctor_adapters.bridge.guests import guest_data
from proctor_adapters.bridge.options import GuestHow

HERE = Path(__file__).parent
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def confined(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Workers are stand-ins; the list says of each whether it would be confined."""
    asked: list[bool] = []

    def stand_in(name: str) -> Any:
        def program_of(file: Path, package: str, extra: str, how: GuestHow, task: str) -> WorkerProgram:
            asked.append(how.confined)
            return WorkerProgram(path=HERE / name)

        return program_of

    monkeypatch.setattr(of_inspect, "program_of", stand_in("guest_program_of_tests.py"))
    monkeypatch.setattr(of_lmeval, "program_of", stand_in("lmeval_program_of_tests.py"))
    return asked


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("inspect:sums", f"6 samples, .*someone/sums@{'0' * 40}, someone/others small@\\?"),
        ("lmeval:sums", r"4 samples, .*someone/sums main@\?"),
    ],
)
def test_data_are_pulled_by_a_worker_with_the_network(name: str, shown: str, confined: list[bool]) -> None:
    result = CliRunner().invoke(app, ["data", "pull", name, "--set", "count=6"])
    assert result.exit_code == 0, result.output
    assert confined == [False]
    assert re.search(shown, result.output)


def test_options_are_for_tasks_of_other_programs_only() -> None:
    result = CliRunner().invoke(app, ["data", "pull", "bfcl", "--set", "count=6"])
    assert result.exit_code == 2
    assert "--set is for the tasks of other programs" in result.output


def test_a_run_records_which_data_were_read_and_their_digest(confined: list[bool], tmp_path: Path) -> None:
    run = proctor.evaluate("lmeval:sums", agent=lambda question: question, store=str(tmp_path / "runs.db"))
    recorded = run.record.provenance
    assert recorded["data"]["sources"] == [{"source": "someone/sums", "name": "main", "revision": ""}]
    assert recorded["samples"]
    task = of_inspect.task("sums")
    assert task.provenance["data"][0] == {"source": "someone/sums", "name": "", "revision": "0" * 40}


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A library that reads data sets, and a module that has imported its function."""

    def load_dataset(path: str, **_: Any) -> Any:
        if path == "gone":
            raise BadInput("offline")
        info = SimpleNamespace(download_checksums={f"hf://datasets/{path}@{COMMIT}/data.parquet": {}})
        return {"test": SimpleNamespace(info=info)}

    datasets, importer = ModuleType("datasets"), ModuleType("importer")
    vars(datasets)["load_dataset"] = vars(importer)["load_dataset"] = load_dataset
    monkeypatch.setitem(sys.modules, "datasets", datasets)
    monkeypatch.setitem(sys.modules, "importer", importer)
    monkeypatch.setattr(guest_data, "READERS", {"datasets": ("load_dataset",)})
    monkeypatch.setattr(guest_data, "_sources", {})
    guest_data.note_sources()
    return importer


def test_a_revision_is_the_one_that_is_named_or_that_of_the_files(library: ModuleType) -> None:
    library.load_dataset("someone/pinned", revision="v1", split="test")
    library.load_dataset(path="someone/floating", name="small")
    assert guest_data.sources() == [
        {"source": "someone/pinned", "name": "", "revision": "v1"},
        {"source": "someone/floating", "name": "small", "revision": COMMIT},
    ]


def test_an_error_says_which_data_were_asked_for(library: ModuleType) -> None:
    with pytest.raises(BadInput) as raised:
        library.load_dataset("gone", revision="v1")
    assert raised.value.__notes__ == ["gone at the revision v1"]
    assert guest_data.sources() == []
