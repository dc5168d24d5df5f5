"""`proctor adk eval`: the forms of VeADK and ADK, what is written, and exit codes."""

import csv
import json
import os
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from proctor import open_run
from proctor.cli import app
from proctor_adapters.evalsets.results import read as read_results

AGENT = """
calls = []

def answer(question):
    calls.append(question)
    if question == "boom":
        raise RuntimeError("broken")
    return {"one": "fine", "two": "quite another thing"}.get(question, "fine")

def sometimes(question):
    calls.append(question)
    return "fine" if len(calls) % 2 else "quite another thing"
"""
ADK_AGENT = """
from adk_agents import agent, says

root_agent = agent(says("fine"))
"""


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        app.main(["adk", "eval", *(str(word) for word in words)])
    return int(ended.value.code or 0)


def case(id: str, asked: str, answer: str | None = "fine", calls: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {
        "eval_id": id,
        "conversation": [
            {
                "user_content": {"parts": [{"text": asked}]},
                "final_response": None if answer is None else {"parts": [{"text": answer}]},
                "intermediate_data": {"tool_uses": calls or []},
            }
        ],
    }


def write(path: Path, *cases: dict[str, Any], set_id: str = "shop") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"eval_set_id": set_id, "eval_cases": cases}), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    return tmp_path


@pytest.fixture
def mine(folder: Path) -> str:
    return f"{folder}/agent.py:answer"


@pytest.fixture
def adk_folder(folder: Path) -> Path:
    pytest.importorskip("google.adk", reason="needs the extra 'adk'")
    made = folder / f"shop_{os.urandom(3).hex()}"  # modules are known by name in one process
    made.mkdir()
    (made / "agent.py").write_text(ADK_AGENT, encoding="utf-8")
    return made


def results(folder: Path) -> list[dict[str, Any]]:
    return [read_results(path) for path in sorted(folder.glob(".adk/eval_history/*.evalset_result.json"))]


def test_all_cases_pass_is_0_and_one_that_fails_is_1(
    folder: Path, mine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    good = write(folder / "good.evalset.json", case("a", "one"), set_id="good")
    bad = write(folder / "bad.evalset.json", case("a", "one"), case("b", "two"), set_id="bad")
    assert run(good, "--agent", mine) == 0
    assert run(bad, "--agent", mine) == 1
    shown = capsys.readouterr().out
    assert "b: failed" in shown
    assert "response_match_score failed: 0, threshold 0.8." in shown
    assert run(f"{bad}:a", "--agent", mine) == 0


def test_the_forms_of_veadk_and_adk_say_the_same(adk_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("google.adk", reason="needs the extra 'adk'")
    file = write(adk_folder / "simple.evalset.json", case("a", "one"), case("b", "two", "something else"))
    veadk = ("--agent-dir", adk_folder, "--evalset-file", file, "--evaluator", "adk", "--json")
    assert run(*veadk, "--judge-model-name", "") == 1
    first = json.loads(capsys.readouterr().out)
    assert run(adk_folder, file, "--json", "--print_detailed_results") == 1
    second = json.loads(capsys.readouterr().out)
    assert run(adk_folder, "simple:b", "--json") == 1  # the id of a set stands for its file
    third = json.loads(capsys.readouterr().out)
    assert first["cases"] == second["cases"]
    assert (first["passed"], first["failed"]) == (1, 1)
    assert [one["id"] for one in third["cases"]] == ["b"]
    found = results(adk_folder)
    assert len(found) == 3
    assert found[0]["eval_set_result_id"].startswith(f"{adk_folder.name}_shop_")
    assert [one["final_eval_status"] for one in found[0]["eval_case_results"]] == [1, 2]


def test_the_agent_is_called_cases_times_runs_and_scores_are_averaged(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(folder / "s.evalset.json", case("a", "one"), case("b", "one"))
    agent = f"{folder}/agent.py:sometimes"
    half = ("--response-match-score-threshold", "0.5", "--concurrency", 1)
    assert run(file, "--agent", agent, "--num-runs", 4, *half, "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert [one["metrics"][1]["score"] for one in shown["cases"]] == [0.5, 0.5]
    [module] = [one for name, one in sys.modules.items() if getattr(one, "__file__", None) == str(folder / "agent.py")]
    assert len(module.calls) == 2 * 4
    assert run(file, "--agent", agent, "--num-runs", 4, "--concurrency", 1) == 1


def test_an_agent_that_raises_fails_its_case_and_no_other(
    folder: Path, mine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(folder / "s.evalset.json", case("a", "boom"), case("b", "one"))
    assert run(file, "--agent", mine) == 1
    shown = capsys.readouterr().out
    assert "a: failed" in shown
    assert "broken" in shown
    assert "b: failed" not in shown
    [found] = results(folder)
    assert [one["final_eval_status"] for one in found["eval_case_results"]] == [2, 1]


def test_a_case_that_could_not_be_measured_is_3_unless_another_fails(folder: Path) -> None:
    file = write(folder / "s.evalset.json", case("a", "one"))
    (folder / "down.py").write_text(
        "from proctor.core.errors import ProviderFailed\n"
        "def answer(question):\n"
        "    if question == 'two': return 'no'\n"
        "    raise ProviderFailed('down')\n"
    )
    assert run(file, "--agent", f"{folder}/down.py:answer") == 3
    [found] = results(folder)
    assert found["eval_case_results"][0]["final_eval_status"] == 3
    both = write(folder / "t.evalset.json", case("a", "one"), case("b", "two"))
    assert run(both, "--agent", f"{folder}/down.py:answer") == 1


def test_criteria_come_from_beside_the_file_from_a_file_or_from_options(folder: Path, mine: str) -> None:
    file = write(folder / "s.evalset.json", case("b", "two", "another"))
    assert run(file, "--agent", mine) == 1
    (folder / "test_config.json").write_text('{"criteria": {"response_match_score": 0.4}}')
    assert run(file, "--agent", mine) == 0
    strict = folder / "strict.json"
    strict.write_text('{"criteria": {"response_match_score": 0.9}}')
    assert run(file, "--agent", mine, "--config_file_path", strict) == 1
    assert run(file, "--agent", mine, "--response-match-score-threshold", 0.4) == 0
    assert run(file, "--agent", mine, "--response-match-score-threshold", 0.4, "--config-file-path", strict) == 2


def test_details_are_a_grid_for_each_case_that_failed(
    folder: Path, mine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(
        folder / "s.evalset.json", case("a", "one"), case("b", "two", calls=[{"name": "price", "args": {"m": 1}}])
    )
    assert run(file, "--agent", mine, "--print-detailed-results") == 1
    shown = capsys.readouterr().out
    assert "b: tool_trajectory_avg_score failed: 0, threshold 1." in shown
    for word in ("Status", "Score", "Threshold", "Prompt", "Expected response", "Actual tool calls", 'price({"m": 1})'):
        assert word in shown
    assert "a: tool_trajectory_avg_score" not in shown


def test_csv_grows_and_junit_has_a_test_for_each_case(folder: Path, mine: str) -> None:
    file = write(folder / "s.evalset.json", case("a", "one"), case("=b", "two"))
    table, junit = folder / "out" / "r.csv", folder / "out" / "r.xml"
    for _ in range(2):
        assert run(file, "--agent", mine, "--csv", table, "--junit", junit) == 1
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 2 * 2 * 2
    assert [row["eval_status"] for row in rows[:4]] == ["PASSED", "PASSED", "PASSED", "FAILED"]
    assert rows[2]["eval_id"] == "'=b"  # no formula in a spreadsheet
    assert rows[3]["actual_response"] == "quite another thing"
    suite = ElementTree.parse(junit).getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "0")
    assert [one.get("name") for one in suite if one.find("failure") is not None] == ["=b"]


def test_several_files_are_one_evaluation(folder: Path, mine: str, capsys: pytest.CaptureFixture[str]) -> None:
    one = write(folder / "one.evalset.json", case("a", "one"), set_id="one")
    two = write(folder / "two.test.json", case("a", "two"), set_id="two")
    assert run("--evalset-file", one, two, "--agent", mine, "--json") == 1
    shown = json.loads(capsys.readouterr().out)
    assert [(found["set"], found["status"]) for found in shown["cases"]] == [("one", "passed"), ("two", "failed")]
    assert [[found["final_eval_status"] for found in one["eval_case_results"]] for one in results(folder)] == [[1], [2]]


def test_a_stored_run_goes_on(folder: Path, mine: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(folder / "s.evalset.json", case("a", "one"))
    for _ in range(2):
        assert run(file, "--agent", mine, "--run", "nightly", "--json") == 0
        assert json.loads(capsys.readouterr().out)["runs"] == ["nightly"]
    [module] = [one for name, one in sys.modules.items() if getattr(one, "__file__", None) == str(folder / "agent.py")]
    assert module.calls == ["one"]
    assert run(file, file, "--agent", mine, "--run", "nightly") == 2


def test_a_run_goes_on_with_a_changed_agent_where_that_is_accepted(
    folder: Path, mine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(folder / "s.evalset.json", case("a", "one"))
    again = (file, "--agent", mine, "--run", "nightly", "--store", folder / "runs.db", "--json")
    assert run(*again) == 0
    found = open_run("nightly", store=str(folder / "runs.db")).record.provenance
    assert (*found["code"]["agent"], *found["files"]) == ("agent.py", "s.evalset.json")
    (folder / "agent.py").write_text(AGENT + "\nTEMPERATURE = 1\n", encoding="utf-8")
    assert run(*again) == 2
    assert "agent.py (agent)" in capsys.readouterr().err
    assert run(*again, "--accept-changes") == 0


def test_results_are_pushed_under_the_name_that_is_given(
    folder: Path, mine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("prometheus_client", reason="needs the extra 'prometheus'")
    from pushgateway import PushGateway

    file = write(folder / "s.evalset.json", case("a", "one"), case("b", "two"))
    monkeypatch.delenv("OBSERVABILITY_PROMETHEUS_PUSHGATEWAY_URL", raising=False)
    assert run(file, "--agent", mine, "--push", "nightly") == 2  # found out before the agent is called
    with PushGateway() as gateway:
        monkeypatch.setenv("OBSERVABILITY_PROMETHEUS_PUSHGATEWAY_URL", gateway.url)
        assert run(file, "--agent", mine) == 1
        assert not gateway.groups
        assert run(file, "--agent", mine, "--push", "nightly") == 1
        assert (gateway.value("test_cases_pass"), gateway.value("test_cases_failure")) == (1, 1)


def test_the_keys_of_volcengine_reach_the_agent_and_no_store(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("VOLCENGINE_ACCESS_KEY", "VOLCENGINE_SECRET_KEY"):
        monkeypatch.setenv(name, "old")
    (folder / "keys.py").write_text(
        "import os\ndef answer(question): return os.environ['VOLCENGINE_ACCESS_KEY'][:2]\n", encoding="utf-8"
    )
    file = write(folder / "s.evalset.json", case("a", "one", "AK"))
    store = tmp_path / "runs.db"
    words = ("--volcengine-access-key", "AK-secret-1", "--volcengine-secret-key", "SK-secret-2", "--store", store)
    assert run(file, "--agent", f"{folder}/keys.py:answer", *words) == 0
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".py")
    assert b"AK-secret-1" not in kept
    assert b"SK-secret-2" not in kept


@pytest.mark.parametrize(
    "content",
    [
        None,
        "{",
        '{"eval_set_id": "x", "eval_cases": []}',
        '{"eval_set_id": "x", "eval_cases": [{"eval_id": "a", "conversation": []}]}',
        '{"eval_set_id": "x", "eval_cases": [{"eval_id": "a", "conversation": [{"user_content": {"parts": []}}]}]}',
    ],
)
def test_an_unusable_file_is_2_and_the_agent_is_not_called(content: str | None, folder: Path, mine: str) -> None:
    good = write(folder / "good.evalset.json", case("a", "one"))
    bad = folder / "bad.evalset.json"
    if content is not None:
        bad.write_text(content, encoding="utf-8")
    assert run(good, bad, "--agent", mine) == 2
    assert not any(getattr(one, "__file__", None) == str(folder / "agent.py") for one in [*sys.modules.values()])


def test_what_is_missing_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 2
    assert "Name an eval-set file" in capsys.readouterr().err
    file = write(folder / "s.evalset.json", case("a", "one"))
    assert run("--agent-dir", folder / "nowhere", "--evalset-file", file) == 2
    assert "nowhere" in capsys.readouterr().err
    assert run(file, "--agent", "x", "--evaluator", "other") == 2


def test_a_folder_without_an_agent_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("google.adk", reason="needs the extra 'adk'")
    (folder / "empty").mkdir()
    assert run("empty", write(folder / "s.evalset.json", case("a", "one"))) == 2
    assert "root_agent" in capsys.readouterr().err


def test_criteria_that_need_a_judge_are_refused_by_name(
    folder: Path, mine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(folder / "s.evalset.json", case("a", "one"))
    (folder / "test_config.json").write_text('{"criteria": {"safety_v1": 0.8}}')
    assert run(file, "--agent", mine) == 2
    assert "safety_v1" in capsys.readouterr().err


def test_criteria_that_need_a_judge_ask_the_one_that_is_named(
    folder: Path, mine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(folder / "s.evalset.json", case("a", "one"), case("b", "two"))
    criterion = {"threshold": 0.6, "judge_model_options": {"num_samples": 3}}
    (folder / "test_config.json").write_text(json.dumps({"criteria": {"final_response_match_v2": criterion}}))
    (folder / "judge.py").write_text(
        "import json\n"
        "from proctor.core.sample import Message\n"
        "from proctor.core.trajectory import Step\n"
        "class Judge:\n"
        "    name = 'mine'\n"
        "    asked = 0\n"
        "    async def complete(self, messages, tools=(), *, response_format=None):\n"
        "        Judge.asked += 1\n"
        "        likes = 'quite another' not in messages[-1].text and Judge.asked % 3 != 1\n"
        "        return Step(message=Message.of('assistant', json.dumps({'comment': 'c', 'p1': int(likes)})))\n"
        "model = Judge()\n"
    )
    assert run(file, "--agent", mine) == 2
    assert "--judge" in capsys.readouterr().err
    assert run(file, "--agent", mine, "--judge", f"{folder}/judge.py:model", "--json", "--concurrency", 1) == 1
    shown = json.loads(capsys.readouterr().out)
    assert [(one["id"], one["status"], one["metrics"][0]["score"]) for one in shown["cases"]] == [
        ("a", "passed", 1.0),  # two of three judgements
        ("b", "failed", 0.0),
    ]
    assert shown["cases"][0]["metrics"][0]["name"] == "final_response_match_v2"
    [written] = results(folder)
    metric = written["eval_case_results"][0]["overall_eval_metric_results"][0]
    assert (metric["metric_name"], metric["threshold"], metric["eval_status"]) == ("final_response_match_v2", 0.6, 1)


def test_the_address_of_a_remote_agent_wins_over_the_folder(
    adk_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("a2a", reason="needs the extra 'a2a'")
    file = write(adk_folder / "s.evalset.json", case("a", "one"))
    assert run("--agent-dir", adk_folder, "--agent-a2a-url", "http://127.0.0.1:9", "--evalset-file", file) == 2
    shown = capsys.readouterr().err
    assert "--agent-a2a-url is used, not --agent-dir." in shown
    assert "127.0.0.1:9" in shown


def test_the_agent_has_options_and_a_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path / "shop.evalset.json", case("a", "one"))
    (tmp_path / "slow.py").write_text("import asyncio\n\nasync def answer(question):\n    await asyncio.sleep(30)\n")
    assert run(file, "--agent", "./slow.py:answer", "--time-limit", 0.2, "--quiet") == 1
    assert run(file, "--agent", "openai:m", "--agent-set", "temperatur=0", "--quiet") == 2


def test_the_flags_of_adk_eval_are_followed_or_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path / "shop.evalset.json", case("a", "one"))
    (tmp_path / "agent.py").write_text(AGENT)
    how = (file, "--agent", "./agent.py:answer", "--set", "criteria.response_match_score=1", "--quiet")
    assert run(*how, "--eval_storage_uri", "gs://bucket") == 2
    assert "--results" in capsys.readouterr().err
    assert run(*how, "--log_level", "LOUD") == 2
    pytest.importorskip("google.adk.features")
    feature = "JSON_SCHEMA_FOR_FUNC_DECL"
    monkeypatch.setenv(f"ADK_ENABLE_{feature}", "0")
    monkeypatch.setenv(f"ADK_DISABLE_{feature}", "1")
    assert run(*how, "--enable_features", feature) == 0
    assert os.environ.get(f"ADK_ENABLE_{feature}") == "1"
    assert f"ADK_DISABLE_{feature}" not in os.environ
    assert run(*how, "--disable_features", "NOTHING") == 2
    assert "no feature 'NOTHING'" in capsys.readouterr().err
