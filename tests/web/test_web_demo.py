"""The demo opens in a folder of its own, with runs that every version of the store can read."""

from pathlib import Path

from proctor.api import Run
from proctor.web.demo import open_demo


def test_the_demo_has_runs_an_agent_and_an_eval_set(tmp_path: Path) -> None:
    workspace = open_demo(tmp_path)
    found, broken = workspace.runs()
    assert not broken
    headlines = {one.record.id: Run(one.record, one.store).headline for one in found}
    assert headlines["bfcl-greedy"] is not None
    assert headlines["bfcl-greedy"].scored == 45
    assert [one.name for one in (tmp_path / "agents").iterdir()] == ["teahouse.py"]
    assert [one.name for one in (tmp_path / "evalsets").iterdir()] == ["teahouse.evalset.json"]
    workspace.close()
