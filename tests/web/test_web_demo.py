"""The demo opens in a folder of its own, with runs that every version of the store can read."""

from pathlib import Path

import pytest

from proctor.api import Run, RunOptions
from proctor.api.prepare import prepare
from proctor_ci.request import again
from proctor_web.authoring.results import runs_of
from proctor_web.demo import open_demo
from proctor_web.evalset_files import open_set
from proctor_web.runs.panel import panel_of
from proctor_web.runs.permitted import locate
from proctor_web.samples.listing import SampleFilter, list_samples


def test_the_demo_has_runs_an_agent_and_an_eval_set(tmp_path: Path) -> None:
    workspace = open_demo(tmp_path)
    found, broken = workspace.runs()
    assert not broken
    headlines = {one.record.id: Run(one.record, one.store).headline for one in found}
    assert headlines["bfcl-greedy"] is not None
    assert headlines["bfcl-greedy"].scored == 45
    assert [one.name for one in (tmp_path / "agents").iterdir()] == ["teahouse.py"]
    assert {one.name for one in (tmp_path / "evalsets").iterdir()} == {
        "teahouse.evalset.json",
        "capitals.jsonl",
        "shop.py",
        "task.py",
    }
    workspace.close()


def test_every_run_of_the_demo_can_be_made_again_from_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    workspace = open_demo(tmp_path)
    for found in workspace.runs()[0]:
        assert panel_of(workspace, found.reference).why_no_copy is None, found.reference
        asked = locate(workspace, again(found.record))
        prepared = prepare(
            asked.task, RunOptions(agent="baseline:null", scorers=asked.scorers, store=":memory:", limit=2)
        )
        assert len([*prepared.job.visits()]) == 2
    workspace.close()


def test_the_list_shows_calls_where_calls_are_the_answer_and_what_a_failed_one_should_be(tmp_path: Path) -> None:
    workspace = open_demo(tmp_path)
    rows = list_samples(workspace, SampleFilter(run="bfcl-greedy")).rows
    calling = [row for row in rows if row.state == "passed" and row.expected]
    assert calling
    assert all("(" in row.answer for row in calling)
    shown = {row.sample: row for row in rows}["simple_python_17"]
    assert shown.answer.startswith("get_prime_factors(")
    assert shown.expected == 'get_prime_factors(formatted=true | "", number=450)'
    words = list_samples(workspace, SampleFilter(run="capitals-greedy")).rows
    assert all(row.expected and row.answer and "(" not in row.expected for row in words)
    workspace.close()


def test_the_set_of_the_demo_has_the_results_of_its_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)  # the runs name the set from another folder
    workspace = open_demo(tmp_path)
    opened = open_set(tmp_path / "evalsets", "teahouse.evalset.json")
    assert {run.run for _, run in runs_of(workspace, opened)} == {"teahouse-first", "teahouse-second"}
    workspace.close()
