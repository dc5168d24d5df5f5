"""The names of google-adk's evaluation: metrics over invocations, and `AgentEvaluator`."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from proctor_adapters.evalsets.read import read
from proctor_compat.veadk import AgentEvaluator, EvalStatus
from proctor_compat.veadk import adk as names

MODULE = """
class Agent:
    name = "house"
    def __init__(self, answer): self.answer = answer
    def run(self, question): return self.answer
    def find_agent(self, name): return Agent("other") if name == "child" else None

root_agent = Agent("fine")
"""


def invocation(answer: str | None, *calls: tuple[str, dict[str, Any] | None]) -> names.Invocation:
    return names.Invocation(
        user_content=names.Content(role="user", parts=[names.Part(text="q")]),
        final_response=None if answer is None else names.Content(parts=[names.Part(text=answer)]),
        intermediate_data=names.IntermediateData(
            tool_uses=[names.FunctionCall(name=name, args=args) for name, args in calls]
        ),
    )


def test_trajectories_by_match_type() -> None:
    made, expected = invocation("", ("b", {}), ("a", {})), invocation("", ("a", {}), ("b", {}))
    for match_type, passes in (("EXACT", False), ("IN_ORDER", False), ("ANY_ORDER", True)):
        metric = names.EvalMetric(metric_name="tool_trajectory_avg_score", criterion={"match_type": match_type})
        result = names.TrajectoryEvaluator(eval_metric=metric).evaluate_invocations([made], [expected])
        assert result.overall_eval_status is (EvalStatus.PASSED if passes else EvalStatus.FAILED)
    assert [one.value for one in EvalStatus] == [1, 2, 3]


def test_responses_are_averaged_over_the_turns() -> None:
    made = [invocation("it costs 100"), invocation(None)]
    expected = [invocation("It costs 100."), invocation("yes")]
    result = names.ResponseEvaluator(threshold=0.5).evaluate_invocations(made, expected)
    assert result.overall_score == 0.5
    assert result.overall_eval_status is EvalStatus.PASSED
    assert [one.score for one in result.per_invocation_results] == [1.0, 0.0]
    assert names.RougeEvaluator().evaluate_invocations([], []).overall_eval_status is EvalStatus.NOT_EVALUATED


def test_lists_of_other_lengths_and_metrics_of_a_judge_are_errors() -> None:
    with pytest.raises(ValueError, match="same length"):
        names.TrajectoryEvaluator().evaluate_invocations([invocation("a")], [])
    with pytest.raises(ValueError, match="needed"):
        names.TrajectoryEvaluator().evaluate_invocations([invocation("a")])
    with pytest.raises(ValueError, match="response_evaluation_score"):
        names.ResponseEvaluator(metric_name="response_evaluation_score")
    with pytest.raises(NotImplementedError):
        names.Evaluator().evaluate_invocations([])


def test_invocations_of_adk_itself_are_taken() -> None:
    pytest.importorskip("google.adk", reason="needs the extra 'adk'")
    from google.adk.evaluation.eval_case import IntermediateData, Invocation
    from google.genai import types

    theirs = Invocation(
        user_content=types.Content(parts=[types.Part(text="q")]),
        final_response=types.Content(parts=[types.Part(text="a")]),
        intermediate_data=IntermediateData(tool_uses=[types.FunctionCall(name="f", args={"x": None, "y": [1]})]),
    )
    ours = invocation("a", ("f", {"x": None, "y": [1]}))
    result = names.TrajectoryEvaluator().evaluate_invocations([theirs], [ours])
    assert result.overall_eval_status is EvalStatus.PASSED


def test_nouns_take_both_spellings_and_refuse_what_they_do_not_know() -> None:
    both = {"evalId": "a", "conversation": [{"userContent": {"parts": [{"text": "q"}]}}], "session_input": None}
    made = names.EvalCase.model_validate(both)
    assert made.eval_id == "a"
    assert names.EvalCase.model_validate_json(made.model_dump_json()) == made
    with pytest.raises(ValueError, match="userContents"):
        names.Invocation.model_validate({"userContents": {}})


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    name = f"house_{abs(hash(request.node.name))}"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("from . import agent\n")
    (tmp_path / name / "agent.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return name


def write(path: Path, answer: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    turn = {"user_content": {"parts": [{"text": "q"}]}, "final_response": {"parts": [{"text": answer}]}}
    path.write_text(json.dumps({"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [turn]}]}))
    return path


async def test_the_agent_of_a_module_is_evaluated_by_the_config_beside_each_file(module: str, tmp_path: Path) -> None:
    write(tmp_path / "one" / "a.test.json", "fine")
    write(tmp_path / "two" / "b.test.json", "fine then")
    (tmp_path / "two" / "test_config.json").write_text('{"criteria": {"response_match_score": 0.5}}')
    table = tmp_path / "out" / "all.csv"
    await AgentEvaluator.evaluate(module, str(tmp_path), num_runs=3, output_file=str(table))
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 3 * 2 + 3
    assert AgentEvaluator.find_config_for_test_file(str(tmp_path / "two" / "b.test.json")).thresholds == {
        "response_match_score": 0.5
    }


async def test_what_failed_is_in_the_error(module: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "a.test.json", "quite different")
    with pytest.raises(AssertionError, match=f"response_match_score for {module} Failed. Expected 0.8, but got 0.0."):
        await AgentEvaluator.evaluate(module, str(file), num_runs=1)
    assert "quite different" in capsys.readouterr().out
    with pytest.raises(AssertionError, match="print_detailed_results=True"):
        await AgentEvaluator.evaluate(module, str(file), num_runs=1, print_detailed_results=False)
    assert capsys.readouterr().out == ""


async def test_a_set_is_evaluated_by_criteria_or_a_config(module: str, tmp_path: Path) -> None:
    eval_set = read(write(tmp_path / "a.test.json", "fine")).eval_set
    await AgentEvaluator.evaluate_eval_set(module, eval_set, criteria={"response_match_score": 1.0})
    await AgentEvaluator.evaluate_eval_set(module, eval_set, eval_config={"criteria": {"response_match_score": 1.0}})
    with pytest.raises(ValueError, match="eval_config"):
        await AgentEvaluator.evaluate_eval_set(module, eval_set)
    with pytest.raises(AssertionError):
        await AgentEvaluator.evaluate_eval_set(
            module, eval_set, criteria={"response_match_score": 1.0}, agent_name="child"
        )
    with pytest.raises(Exception, match="has no sub-agent 'nobody'"):
        await AgentEvaluator.evaluate_eval_set(
            module, eval_set, criteria={"response_match_score": 1.0}, agent_name="nobody"
        )


async def test_results_go_to_a_manager_of_adk(module: str, tmp_path: Path) -> None:
    pytest.importorskip("google.adk", reason="needs the extra 'adk'")
    from google.adk.evaluation.local_eval_set_results_manager import LocalEvalSetResultsManager

    eval_set = read(write(tmp_path / "a.test.json", "fine")).eval_set
    manager = LocalEvalSetResultsManager(agents_dir=str(tmp_path))
    how: dict[str, Any] = {"criteria": {"response_match_score": 1.0}, "eval_set_results_manager": manager}
    with pytest.raises(ValueError, match="app_name"):
        await AgentEvaluator.evaluate_eval_set(module, eval_set, **how)
    await AgentEvaluator.evaluate_eval_set(module, eval_set, **how, app_name="house")
    [kept] = manager.list_eval_set_results("house")
    assert manager.get_eval_set_result("house", kept).eval_case_results[0].final_eval_status.name == "PASSED"


def test_old_files_become_new_ones(tmp_path: Path) -> None:
    old, new, session = tmp_path / "old.test.json", tmp_path / "new.test.json", tmp_path / "session.json"
    old.write_text('[{"query": "q", "expected_tool_use": [], "reference": "a"}]')
    session.write_text('{"app_name": "x", "user_id": "u", "state": {"k": 1}}')
    AgentEvaluator.migrate_eval_data_to_new_schema(str(old), str(new), str(session))
    [migrated] = read(new).eval_set.eval_cases
    assert migrated.session_input is not None
    assert migrated.session_input.state == {"k": 1}
    with pytest.raises(ValueError, match="empty"):
        AgentEvaluator.migrate_eval_data_to_new_schema("", str(new))
