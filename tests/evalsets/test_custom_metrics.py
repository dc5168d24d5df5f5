"""`custom_metrics` of a criteria file: functions of the user, run only where that is allowed, called as google-adk does."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor import evaluate
from proctor.cli import app
from proctor.core.errors import BadInput
from proctor_adapters.evalsets.outcomes import CaseOutcome, outcomes
from proctor_adapters.evalsets.results import write as write_results
from proctor_adapters.evalsets.task import task_of
from proctor_compat.veadk.agent_evaluator import AgentEvaluator

pytest.importorskip("google.adk", reason="needs the extra 'adk'")

METRICS = """
from google.adk.evaluation.eval_case import Invocation, get_all_tool_calls
from google.adk.evaluation.eval_metrics import EvalMetric, EvalStatus
from google.adk.evaluation.evaluator import EvaluationResult, PerInvocationResult

seen = []

def polite(eval_metric, actual_invocations, expected_invocations, conversation_scenario):
    seen.append((eval_metric, actual_invocations, expected_invocations, conversation_scenario))
    assert isinstance(eval_metric, EvalMetric) and isinstance(actual_invocations[0], Invocation)
    scores = [float("please" in one.final_response.parts[0].text) for one in actual_invocations]
    mean = sum(scores) / len(scores)
    return EvaluationResult(
        overall_score=mean,
        overall_eval_status=EvalStatus.PASSED if mean >= eval_metric.criterion.threshold else EvalStatus.FAILED,
        per_invocation_results=[
            PerInvocationResult(actual_invocation=one, score=score) for one, score in zip(actual_invocations, scores)
        ],
    )

async def later(eval_metric, actual, expected, scenario):
    return EvaluationResult(overall_score=0.75)

def wide(eval_metric, actual, expected, scenario):
    return EvaluationResult(overall_score=5.0)

def strict(eval_metric, actual, expected, scenario):
    return EvaluationResult(overall_score=0.9, overall_eval_status=EvalStatus.FAILED)

def silent(eval_metric, actual, expected, scenario):
    return EvaluationResult()

def number(eval_metric, actual, expected, scenario):
    return 1.0

def broken(eval_metric, actual, expected, scenario):
    raise RuntimeError("broken")
"""
AGENT = "def answer(question):\n    return 'please ' + question if question == 'one' else question\n"
WIDE = {"metric_value_info": {"interval": {"minValue": -10, "max_value": 10}}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "metrics_of_shop.py").write_text(METRICS)
    (tmp_path / "agent.py").write_text(AGENT)
    turns = [{"user_content": {"parts": [{"text": text}]}, "invocation_id": f"i-{text}"} for text in ("one", "two")]
    turns[0]["final_response"] = {"parts": [{"text": "please one"}]}
    turns[0]["intermediate_data"] = {"tool_uses": [{"name": "f", "args": {"x": 1}}]}
    case = {"eval_id": "a", "conversation": turns}
    (tmp_path / "shop" / "s.evalset.json").write_text(json.dumps({"eval_set_id": "s", "eval_cases": [case]}))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("metrics_of_shop")]:
        del sys.modules[name]


def criteria(metric: str | None = "metrics_of_shop.polite", criterion: Any = 0.5, **more: Any) -> None:
    config = {
        "criteria": {"mine": criterion},
        "custom_metrics": {"mine": {"code_config": {"name": metric}, "description": "d", **more}},
    }
    Path("shop/test_config.json").write_text(json.dumps(config))


def outcome(**options: Any) -> CaseOutcome:
    run = evaluate(
        "shop/s.evalset.json", agent="./agent.py:answer", options={"allow_code": True, **options}, store=":memory:"
    )
    [case] = outcomes(run.record, run.store)
    return case


def test_code_that_a_file_names_runs_only_where_that_is_allowed() -> None:
    criteria("antigravity.nothing")
    with pytest.raises(BadInput, match=r"'mine' runs code that the file names: antigravity\.nothing\. .*--allow-code"):
        task_of("shop/s.evalset.json")
    assert "antigravity" not in sys.modules
    with pytest.raises(BadInput, match=r"antigravity_|has no 'nothing'|there is no module"):
        task_of("shop/s.evalset.json", allow_code=True, config="shop/test_config.json")


def test_a_function_gets_what_google_adk_gives_it() -> None:
    criteria(criterion={"threshold": 0.5, "myOwn": 3})
    case = outcome()
    [mine] = case.metrics
    assert (mine.name, mine.score, mine.threshold, mine.status) == ("mine", 0.5, 0.5, "passed")
    assert [turn.scores["mine"] for turn in case.turns] == [1.0, 0.0]
    metric, actual, expected, scenario = sys.modules["metrics_of_shop"].seen[-1]
    assert (metric.metric_name, metric.threshold, metric.criterion.threshold) == ("mine", None, 0.5)
    assert (metric.criterion.myOwn, metric.custom_function_path) == (3, "metrics_of_shop.polite")
    assert [one.final_response.parts[0].text for one in actual] == ["please one", "two"]
    assert [one.invocation_id for one in actual] == ["i-one", "i-two"]
    assert [one.user_content.parts[0].text for one in actual] == ["one", "two"]
    assert expected[0].intermediate_data.tool_uses[0].args == {"x": 1}
    assert scenario is None


def test_a_function_may_be_async_and_leave_the_verdict_to_the_threshold() -> None:
    criteria("metrics_of_shop.later", 0.8)
    case = outcome()
    assert (case.status, case.metrics[0].score) == ("failed", 0.75)
    criteria("metrics_of_shop.later", 0.7)
    assert outcome().status == "passed"


def test_the_verdict_of_the_function_counts_against_its_number() -> None:
    criteria("metrics_of_shop.strict", 0.5)
    case = outcome()
    assert (case.status, case.metrics[0].score, case.metrics[0].status) == ("failed", 0.9, "failed")


def test_a_number_outside_of_what_the_file_says_is_no_score() -> None:
    criteria("metrics_of_shop.wide", 4)
    case = outcome()
    assert case.status == "not_evaluated"
    assert "The metric gave 5.0, which is not in 0.0 to 1.0" in str(case.metrics[0].reason)
    criteria("metrics_of_shop.wide", 4, metric_info=WIDE)
    run = evaluate("shop/s.evalset.json", agent="./agent.py:answer", options={"allow_code": True}, store=":memory:")
    [case] = outcomes(run.record, run.store)
    assert (case.status, case.metrics[0].score, case.metrics[0].threshold) == ("passed", 5.0, 4.0)
    assert run.estimates[0].value == 0.75


def test_a_metric_that_says_nothing_of_a_case_is_not_among_its_metrics() -> None:
    criteria("metrics_of_shop.silent")
    case = outcome()
    assert (case.status, case.metrics) == ("not_evaluated", ())


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("number", "A custom metric returns an EvaluationResult of google-adk, not float."),
        ("broken", "RuntimeError: broken"),
    ],
)
def test_what_gives_no_score_leaves_the_case_not_evaluated(function: str, said: str) -> None:
    criteria(f"metrics_of_shop.{function}")
    case = outcome()
    assert case.status == "not_evaluated"
    assert said in str(case.metrics[0].reason)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"code_config": {}}, "name is the dotted path of a function"),
        ({"code_config": {"name": "polite"}}, "name is the dotted path of a function"),
        ({"code_config": {"name": "m.f", "x": 1}}, "the key 'x' is not known"),
        ({"code_config": "m.f"}, "custom_metrics.mine.code_config is an object"),
        (3, "custom_metrics.mine is an object"),
        ({"code_config": {"name": "m.f"}, "metric_info": {"metric_value_info": {"interval": {"min_value": 2}}}}, "min_value is less"),
        ({"code_config": {"name": "metrics_of_shop.nothing"}}, "has no 'nothing'"),
        ({"code_config": {"name": "metrics_of_shop.seen"}}, "'metrics_of_shop.seen' is no function"),
        ({"code_config": {"name": "no_such_module_x.f"}}, "there is no module 'no_such_module_x'"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named(given: Any, said: str) -> None:
    config = {"criteria": {"mine": 0.5}, "custom_metrics": {"mine": given}}
    Path("shop/test_config.json").write_text(json.dumps(config))
    with pytest.raises(BadInput, match=said):
        task_of("shop/s.evalset.json", allow_code=True)


def test_the_command_takes_the_consent_and_writes_results_that_google_adk_reads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from google.adk.evaluation.eval_result import EvalSetResult

    criteria(metric_info={"metric_name": "mine", **WIDE, "description": "d"})
    words = ["adk", "eval", "--agent", "./agent.py:answer", "shop/s.evalset.json", "--results", "out", "--quiet"]
    with pytest.raises(SystemExit) as ended:
        app.main(words)
    assert ended.value.code == 2
    assert "--allow-code" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        app.main([*words, "--allow-code"])
    assert not ended.value.code
    [file] = Path("out").glob("*.evalset_result.json")
    [case] = EvalSetResult.model_validate_json(file.read_text()).eval_case_results
    [mine] = [one for one in case.overall_eval_metric_results if one.metric_name == "mine"]
    assert (mine.score, mine.eval_status.name, mine.custom_function_path) == (0.5, "PASSED", "metrics_of_shop.polite")
    assert case.final_eval_status.name == "PASSED"


def test_a_set_with_code_is_valid_and_none_of_it_is_loaded(capsys: pytest.CaptureFixture[str]) -> None:
    criteria()
    app.main(["adk", "evalset", "validate", "shop/s.evalset.json"], standalone_mode=False)
    assert "1 cases can be run" in capsys.readouterr().out
    assert "metrics_of_shop" not in sys.modules


async def test_code_written_for_google_adk_gives_its_consent() -> None:
    from google.adk.evaluation.eval_config import EvalConfig

    criteria(criterion=0.6)
    Path("shop/s.test.json").write_text(Path("shop/s.evalset.json").read_text())
    Path("module_of_agent.py").write_text(AGENT + "root_agent = answer\n")
    sys.path.insert(0, str(Path.cwd()))
    with pytest.raises(BadInput, match="allow_code=True in Python"):
        await AgentEvaluator.evaluate("module_of_agent", "shop/s.test.json", num_runs=1)
    with pytest.raises(AssertionError, match=r"mine for module_of_agent Failed. Expected 0.6, but got 0.5. Case: a."):
        await AgentEvaluator.evaluate("module_of_agent", "shop/s.test.json", num_runs=1, allow_code=True)
    sys.path.append(str(Path("shop").resolve()))
    config = EvalConfig.model_validate(
        {"criteria": {"mine": 0.5}, "custom_metrics": {"mine": {"code_config": {"name": "metrics_of_shop.polite"}}}}
    )
    await AgentEvaluator.evaluate_eval_set(
        "module_of_agent",
        json.loads(Path("shop/s.test.json").read_text()),
        eval_config=config,
        num_runs=1,
        allow_code=True,
    )


def test_results_of_a_metric_with_a_mean_over_turns_are_those_of_the_case() -> None:
    criteria()
    run = evaluate("shop/s.evalset.json", agent="./agent.py:answer", options={"allow_code": True}, store="runs.db")
    [file] = write_results(run.record, run.store, Path("out"))
    [case] = json.loads(file.read_text())["eval_case_results"]
    assert case["final_eval_status"] == 1


def test_a_run_goes_on_and_two_metrics_of_one_function_are_told_apart() -> None:
    config = {
        "criteria": {"one": 0.5, "two": 0.6},
        "custom_metrics": {name: {"code_config": {"name": "metrics_of_shop.polite"}} for name in ("one", "two")},
    }
    Path("shop/test_config.json").write_text(json.dumps(config))
    how: dict[str, Any] = {"agent": "./agent.py:answer", "options": {"allow_code": True}, "store": "runs.db"}
    run = evaluate("shop/s.evalset.json", **how)
    again = evaluate("shop/s.evalset.json", run_id=run.id, **how)
    [case] = outcomes(again.record, again.store)
    assert [(one.name, one.status) for one in case.metrics] == [("one", "passed"), ("two", "failed")]
