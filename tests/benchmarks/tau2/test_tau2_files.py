"""Official result files are read and their rewards come out again; ours have the same form."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from proctor import api
from proctor.core.errors import BadInput
from proctor.core.trajectory import Trajectory
from proctor.core.trial import TrialFailure
from proctor_benchmarks.tau2 import PART, replies

CORPUS = Path(__file__).parents[2] / "data" / "tau2" / "verdicts.jsonl.gz"


def _lines(domain: str) -> list[dict[str, Any]]:
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    whole = [one for one in found if one["domain"] == domain and "judge_reply" not in one]
    return [one for one in whole if not any("content_sha256" in message for message in one["messages"])]


def _results(domain: str, simulations: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "info": {"environment_info": {"domain_name": domain}, "num_trials": 1},
        "tasks": [],
        "simulations": simulations,
    }


def _simulation(line: dict[str, Any], trial: int = 0) -> dict[str, Any]:
    return {
        "task_id": line["task_id"],
        "trial": trial,
        "termination_reason": line["termination_reason"],
        "messages": line["messages"],
        "reward_info": {"reward": line["rewards"]["all"]},
    }


def test_the_rewards_of_an_official_file_come_out_again(tau2_data: Path, tmp_path: Path) -> None:
    by_task: dict[str, list[dict[str, Any]]] = {}
    for line in _lines("mock"):
        if not isinstance(line["rewards"]["all"], str) and line["termination_reason"] != "infrastructure_error":
            by_task.setdefault(line["task_id"], []).append(line)
    trials = min(map(len, by_task.values()))
    chosen = [(line, trial) for lines in by_task.values() for trial, line in enumerate(lines[:trials])]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(_results("mock", [_simulation(*one) for one in chosen])), encoding="utf-8")
    run = api.evaluate("tau2/mock", replies=path, attempts=trials, store=":memory:")
    scored = {(one.sample_id, one.attempt): one.value for one in run.store.values(run.id, "tau2")}
    assert len(chosen) > 20
    for line, trial in chosen:
        assert scored[f"mock/{line['task_id']}", trial] == line["rewards"]["all"], (line["id"], line["kind"])


def test_what_the_judge_of_an_official_run_said_is_kept(tmp_path: Path) -> None:
    line = _lines("mock")[0]
    simulation = _simulation(line)
    simulation["reward_info"] = {
        "reward": 0.0,
        "nl_assertions": [{"nl_assertion": "a", "met": False, "justification": "b"}],
    }
    (tmp_path / "results.json").write_text(json.dumps(_results("mock", [simulation])), encoding="utf-8")
    ((id, reply),) = replies.read(tmp_path, ["mock"])
    assert isinstance(reply, Trajectory)
    assert (id, reply.state) == (f"mock/{line['task_id']}", {"termination_reason": line["termination_reason"], "reward": 0.0, "met": [False]})  # fmt: skip


def test_a_run_that_broke_officially_is_a_failure_and_files_of_voice_or_other_domains_are_refused(
    tmp_path: Path,
) -> None:
    path = tmp_path / "results.json"
    broken = {"task_id": "0", "termination_reason": "infrastructure_error", "messages": []}
    path.write_text(json.dumps(_results("retail", [broken])), encoding="utf-8")
    assert [type(reply) for _, reply in replies.read(path, ["retail"])] == [TrialFailure]
    with pytest.raises(BadInput, match="score them as tau2/retail"):
        list(replies.read(path, ["mock"]))
    path.write_text(
        json.dumps(_results("retail", [{**broken, "termination_reason": "user_stop", "messages": None}])),
        encoding="utf-8",
    )
    with pytest.raises(BadInput, match="voice"):
        list(replies.read(path, ["retail"]))
    path.write_text('{"simulations": []}', encoding="utf-8")
    with pytest.raises(BadInput, match="no result file of tau2"):
        list(replies.read(path, ["retail"]))


def test_a_run_that_is_exported_is_read_and_scored_the_same(tau2_data: Path, tmp_path: Path) -> None:
    run = api.evaluate("tau2/mock", agent="baseline:oracle", options={"user": "gold"}, store=":memory:")
    assert PART.export is not None
    pairs = ((run.store.sample(run.id, trial.sample_id), trial) for trial in run.store.trials(run.id))
    (path,) = PART.export(((sample, trial) for sample, trial in pairs if sample is not None), tmp_path, "gold")
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["info"]["environment_info"]["domain_name"] == "mock"
    again = api.evaluate("tau2/mock", replies=path, store=":memory:")
    ours, theirs = ({one.sample_id: one.value for one in each.store.values(each.id, "tau2")} for each in (run, again))
    assert ours == theirs
