"""Figures of a run are computed once, as long as the run stays what it is."""

import asyncio
import threading
from pathlib import Path

import pytest

from proctor.stores import open_store
from proctor.testing.records import a_verdict, fill
from proctor_web.samples.side import Side
from proctor_web.workspace import Workspace, open_workspace


class Counted:
    """A figure that counts how often it was computed."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> dict[str, float]:
        self.times += 1
        return {"value": 0.5}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = open_workspace((str(tmp_path / "runs.db"),))
    asyncio.run(fill(made.stores["runs"], ["fr", "de"]))
    return made


def _cached(workspace: Workspace, compute: Counted, name: str = "accuracy") -> dict[str, float]:
    return workspace.kept(Side).cached(workspace.find_run("r"), name, dict[str, float], compute)


def test_a_figure_is_computed_once_also_for_the_next_server(workspace: Workspace, tmp_path: Path) -> None:
    compute = Counted()
    assert _cached(workspace, compute) == _cached(workspace, compute) == {"value": 0.5}
    assert _cached(workspace, compute, "other") == {"value": 0.5}
    assert compute.times == 2
    workspace.close()
    again = open_workspace((str(tmp_path / "runs.db"),))
    assert _cached(again, compute) == {"value": 0.5}
    assert compute.times == 2
    again.close()


def test_a_new_verdict_makes_it_computed_again(workspace: Workspace) -> None:
    compute = Counted()
    _cached(workspace, compute)
    store = workspace.stores["runs"]

    async def judge() -> None:
        await store.begin(store.run("r"))
        await store.judge([a_verdict("fr", points=0)])
        _cached(workspace, compute)
        await store.judge([a_verdict("fr", points=1)])
        _cached(workspace, compute)
        await store.end(store.run("r"))

    asyncio.run(judge())
    _cached(workspace, compute)
    _cached(workspace, compute)
    assert compute.times == 4
    workspace.close()


def test_a_figure_that_takes_long_is_none_at_first(workspace: Workspace) -> None:
    go, side, found = threading.Event(), workspace.kept(Side), workspace.find_run("r")

    def slowly() -> float:
        go.wait(10)
        return 0.5

    assert side.soon(found, "slow", float, slowly, seconds=0.01) is None
    assert side.soon(found, "slow", float, slowly, seconds=0.01) is None
    go.set()
    assert side.cached(found, "slow", float, slowly) == 0.5
    assert side.soon(found, "slow", float, Counted()) == 0.5  # type: ignore[arg-type]
    workspace.close()


def test_an_error_is_raised_in_the_caller_and_not_kept(workspace: Workspace) -> None:
    def fails() -> float:
        raise ValueError("no figure")

    for _ in range(2):
        with pytest.raises(ValueError, match="no figure"):
            workspace.kept(Side).cached(workspace.find_run("r"), "bad", float, fails)
    workspace.close()


def test_a_damaged_file_is_made_again(workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "runs.db.index"
    folder.mkdir()
    (folder / "numbers.db").write_text("no database at all, but long enough to be read as one" * 100)
    compute = Counted()
    _cached(workspace, compute)
    _cached(workspace, compute)
    assert compute.times == 1
    workspace.close()


def test_what_belongs_to_deleted_runs_goes_when_the_server_starts(workspace: Workspace, tmp_path: Path) -> None:
    _cached(workspace, Counted())
    file = workspace.kept(Side).file(workspace.stores["runs"], "r")
    file.touch()
    workspace.stores["runs"].delete("r")
    workspace.close()
    again = open_workspace((str(tmp_path / "runs.db"),))
    again.kept(Side)
    assert not file.exists()
    again.close()


def test_a_store_in_memory_gets_a_folder_that_goes_away(tmp_path: Path) -> None:
    workspace = Workspace({"memory": open_store(":memory:")})
    store = workspace.stores["memory"]
    asyncio.run(fill(store, ["fr"]))
    folder = workspace.kept(Side).folder(store)
    assert folder.is_dir()
    compute = Counted()
    found = workspace.find_run("r")
    for _ in range(2):
        workspace.kept(Side).cached(found, "a", dict[str, float], compute)
    assert compute.times == 1
    workspace.close()
    assert not folder.exists()
