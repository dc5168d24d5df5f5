"""VeADK's evaluators by their names, with agents that are plain functions; the real library is in test_veadk_library.py."""

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from proctor_adapters.exports import prometheus
from proctor_adapters.exports.prometheus import Figures
from proctor_compat import veadk
from proctor_compat.veadk import ADKEvaluator, BaseEvaluator, EvalResultData, MetricResult, PrometheusPushgatewayConfig
from proctor_compat.veadk.adk import EvaluationResult, RubricScore

PRICE = {"name": "price", "args": {"model": "A"}}


def turn(asked: Any, answer: str | None = "fine", *calls: dict[str, Any]) -> dict[str, Any]:
    return {
        "user_content": {"parts": [{"text": one} for one in ([asked] if isinstance(asked, str) else asked)]},
        "final_response": None if answer is None else {"parts": [{"text": answer}]},
        "intermediate_data": {"tool_uses": list(calls)},
    }


def case(id: str, *turns: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"eval_id": id, "conversation": list(turns), **more}


def write(path: Path, *cases: dict[str, Any]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"eval_set_id": "shop", "eval_cases": cases}), encoding="utf-8")
    return str(path)


class Agent:
    """Answers and calls by the question; notes what it was asked."""

    name = "shop"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def run(self, messages: list[dict[str, Any]], tools: list[Any]) -> list[dict[str, Any]]:
        text = str(messages[-1]["content"])
        self.asked.append(text)
        if "boom" in text:
            raise RuntimeError("broken")
        calls = []
        if "price" in text:
            function = {"name": "price", "arguments": '{"model": "A"}'}
            calls = [{"role": "assistant", "content": "One moment.", "tool_calls": [{"id": "1", "function": function}]}]
        return [*calls, {"role": "assistant", "content": "fine"}]


class Equal(BaseEvaluator):
    """The example of the page, in other words."""

    async def evaluate(self, eval_set: Any = None, eval_set_file_path: str | None = None) -> list[EvalResultData]:
        self.build_eval_set(eval_set, eval_set_file_path)
        await self.generate_actual_outputs()
        for data in self.invocation_list:
            score = float(all(one.actual_output == one.expected_output for one in data.invocations))
            metric = MetricResult(metric_type="ExactMatch", success=score == 1.0, score=score, reason=f"{score}")
            result = EvalResultData(metric_results=[metric])
            result.call_before_append()
            self.result_list.append(result)
        return self.result_list


async def test_every_case_runs_as_often_as_asked_and_no_more(tmp_path: Path) -> None:
    cases = [case(f"c{number}", turn(f"q{number}")) for number in range(5)]  # none names a session
    agent = Agent()
    results, failures = await ADKEvaluator(agent=agent).evaluate(
        eval_set_file_path=write(tmp_path / "five.test.json", *cases), num_runs=2, print_detailed_results=False
    )
    assert sorted(agent.asked) == sorted(f"q{number}" for number in range(5) for _ in range(2))
    assert failures == []
    assert [len(one) for one in results] == [10]  # two metrics for each case
    assert [len(one.per_invocation_results) for one in results[0]] == [2] * 10


async def test_a_second_evaluation_does_not_add_to_the_first(tmp_path: Path) -> None:
    file = write(tmp_path / "s.test.json", case("a", turn("one")), case("b", turn("two")))
    evaluator = ADKEvaluator(agent=Agent())
    for _ in range(2):
        results, _ = await evaluator.evaluate(eval_set_file_path=file, num_runs=1, print_detailed_results=False)
        assert len(results[0]) == 4
        assert (
            len(evaluator.result_list) == len(evaluator.invocation_list) == len(evaluator.agent_information_list) == 2
        )
    mine = Equal(agent=Agent(), name="mine")
    for _ in range(2):
        assert len(await mine.evaluate(eval_set_file_path=file)) == 2


async def test_results_are_in_the_order_of_the_cases_and_say_why(tmp_path: Path) -> None:
    file = write(
        tmp_path / "s.test.json",
        case("a", turn("price", "fine", PRICE)),
        case("b", turn("boom")),
        case("c", turn("price", "fine", {"name": "price", "args": {"model": "B"}})),
        case("d", turn("hello", "something else")),
    )
    evaluator = ADKEvaluator(agent=Agent())
    _, failures = await evaluator.evaluate(eval_set_file_path=file, num_runs=1, print_detailed_results=False)
    assert failures == [
        "tool_trajectory_avg_score for shop Failed. Expected 1.0, but got 0.0. Case: b. The agent raised RuntimeError: broken",
        "response_match_score for shop Failed. Expected 0.8, but got 0.0. Case: b. The agent raised RuntimeError: broken",
        "tool_trajectory_avg_score for shop Failed. Expected 1.0, but got 0.0. Case: c.",
        "response_match_score for shop Failed. Expected 0.8, but got 0.0. Case: d.",
    ]
    assert [[metric.score for metric in one.metric_results] for one in evaluator.result_list] == [
        [1.0, 1.0],
        [0.0, 0.0],
        [0.0, 1.0],
        [1.0, 0.0],
    ]
    assert [one.average_score for one in evaluator.result_list] == [1.0, 0.0, 0.5, 0.5]
    assert evaluator.invocation_list[1].invocations[0].error == "The agent raised RuntimeError: broken"
    [told] = evaluator.get_eval_set_information()[2]
    assert (told["input"], told["actual_tool"], told["score"]) == ("price", [PRICE], 0.5)
    assert told["reason"].startswith("tool_trajectory_avg_score:")


async def test_a_mean_over_turns_and_runs_is_held_against_the_threshold(tmp_path: Path) -> None:
    file = write(tmp_path / "s.test.json", case("a", turn("price", "fine", PRICE), turn("price", "fine")))
    evaluator = ADKEvaluator(agent=Agent())
    how: dict[str, Any] = {"eval_set_file_path": file, "num_runs": 3, "print_detailed_results": False}
    results, failures = await evaluator.evaluate(**how)
    assert [one.overall_score for one in results[0]] == [0.5, 1.0]
    assert failures == ["tool_trajectory_avg_score for shop Failed. Expected 1.0, but got 0.5. Case: a."]
    _, failures = await evaluator.evaluate(**how, tool_score_threshold=0.5)
    assert failures == []


async def test_a_folder_is_all_its_test_files_and_each_has_its_results(tmp_path: Path) -> None:
    write(tmp_path / "b.test.json", case("a", turn("one")), case("b", turn("two")))
    write(tmp_path / "deep" / "a.test.json", case("a", turn("three")))
    write(tmp_path / "other.evalset.json", case("a", turn("four")))
    agent = Agent()
    evaluator = ADKEvaluator(agent=agent)
    results, failures = await evaluator.evaluate(
        eval_set_file_path=str(tmp_path), num_runs=1, print_detailed_results=False
    )
    assert failures == []
    assert agent.asked == ["one", "two", "three"]
    assert [len(one) for one in results] == [4, 2]
    assert len(evaluator.result_list) == 3


async def test_all_parts_are_sent_and_a_null_response_is_no_error(tmp_path: Path) -> None:
    agent = Agent()
    evaluator = Equal(agent=agent, name="mine")
    await evaluator.evaluate(eval_set_file_path=write(tmp_path / "s.json", case("a", turn(["one", "two"], None))))
    assert agent.asked == ["one\ntwo"]
    [data] = evaluator.invocation_list
    assert (data.invocations[0].expected_output, data.invocations[0].actual_output) == ("", "fine")
    assert float(data.invocations[0].latency) >= 0


async def test_what_a_subclass_changes_is_what_runs(tmp_path: Path) -> None:
    agent = Agent()
    evaluator = BaseEvaluator(agent=agent, name="mine")
    evaluator.build_eval_set(file_path=write(tmp_path / "s.json", case("a", turn("one"), turn("two"))))
    evaluator.invocation_list[0].invocations[1].input = "three"
    evaluator.invocation_list.append(
        veadk.EvalTestCase(invocations=[veadk.Invocation(input="four", actual_output="", expected_output="")])
    )
    await evaluator.generate_actual_outputs()
    assert agent.asked == ["one", "three", "four"]
    assert evaluator.invocation_list[1].invocations[0].actual_output == "fine"
    with pytest.raises(NotImplementedError):
        await evaluator.evaluate()


@pytest.mark.parametrize("shape", ["legacy", "flat", "camel", "spans"])
async def test_every_shape_of_file_is_read(shape: str, tmp_path: Path) -> None:
    span = {
        "trace_id": "1",
        "name": "call_llm",
        "start_time": 1,
        "attributes": {"gen_ai.prompt.0.content": "one", "gen_ai.completion.0.content": "fine"},
    }
    content: dict[str, Any] = {
        "legacy": [{"name": "a", "data": [{"query": "one", "reference": "fine"}]}],
        "flat": [{"query": "one", "expected_tool_use": [], "reference": "fine"}],
        "camel": {
            "evalSetId": "x",
            "evalCases": [
                {
                    "evalId": "a",
                    "conversation": [
                        {"userContent": {"parts": [{"text": "one"}]}, "finalResponse": {"parts": [{"text": "fine"}]}}
                    ],
                }
            ],
        },
        "spans": [span],
    }
    path = tmp_path / "x.test.json"
    path.write_text(json.dumps(content[shape]), encoding="utf-8")
    _, failures = await ADKEvaluator(agent=Agent()).evaluate(
        eval_set_file_path=str(path), num_runs=1, print_detailed_results=False
    )
    assert failures == []


async def test_sets_may_be_ours_or_plain_data() -> None:
    plain = {"eval_set_id": "x", "eval_cases": [case("a", turn("one"))]}
    ours = veadk.EvalSet.model_validate(plain)
    for given in (plain, ours, veadk.EvalSet.model_validate_json(ours.model_dump_json(indent=2))):
        assert [one.average_score for one in await Equal(agent=Agent(), name="x").evaluate(given)] == [1.0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "no JSON"),
        ('{"eval_set_id": "x", "eval_cases": []}', "no eval cases"),
        ('{"eval_set_id": "x", "eval_cases": [{"eval_id": "a", "conversation": []}]}', "empty conversation"),
        ('{"eval_set_id": "x", "eval_cases": [{"eval_id": 1, "conversation": []}]}', r"\$\.eval_cases\[0\]\.eval_id"),
        ('{"eval_set_id": "x", "eval_cases": [{"eval_id": "a", "conversation": [{}]}]}', "user_content"),
        (None, "cannot be read"),
    ],
)
async def test_what_cannot_be_evaluated_is_a_value_error(content: str | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.test.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    agent = Agent()
    with pytest.raises(ValueError, match=message):
        await ADKEvaluator(agent=agent).evaluate(eval_set_file_path=str(path))
    with pytest.raises(ValueError, match=message):
        Equal(agent=agent, name="x").build_eval_set(file_path=str(path))
    assert agent.asked == []


async def test_neither_set_nor_file_and_an_empty_folder_are_value_errors(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Give an eval set"):
        await ADKEvaluator(agent=Agent()).evaluate()
    with pytest.raises(ValueError, match=r"\*\.test\.json"):
        await ADKEvaluator(agent=Agent()).evaluate(eval_set_file_path=str(tmp_path))


async def test_details_are_printed_for_every_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "s.test.json", case("a", turn("price", "fine", PRICE)))
    await ADKEvaluator(agent=Agent()).evaluate(eval_set_file_path=file, num_runs=1)
    shown = capsys.readouterr().out
    assert "a: tool_trajectory_avg_score passed: 1, threshold 1." in shown
    assert 'price({"model": "A"})' in shown


def test_a_score_that_is_missing_is_in_no_mean() -> None:
    results = [
        MetricResult(metric_type="a", success=True, score=1.0, reason="good"),
        MetricResult(metric_type="b", success=False, score=None, reason="the judge failed"),
    ]
    data = EvalResultData(metric_results=results)
    data.call_before_append()
    assert (data.average_score, data.total_reason) == (1.0, "a:good\nb:the judge failed")
    empty = EvalResultData(metric_results=[])
    assert math.isnan(empty.average_score)
    empty.call_before_append()
    assert math.isnan(empty.average_score)
    assert empty.total_reason == ""


def test_the_settings_of_prometheus_come_from_the_environment_when_they_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OBSERVABILITY_PROMETHEUS_PUSHGATEWAY_URL", "http://gateway")
    monkeypatch.setenv("OBSERVABILITY_PROMETHEUS_USERNAME", "u")
    monkeypatch.setenv("OBSERVABILITY_PROMETHEUS_PASSWORD", "p")
    config = veadk.PrometheusPushgatewayConfig()
    assert (config.url, config.username, config.password) == ("http://gateway", "u", "p")
    assert veadk.PrometheusPushgatewayConfig(url="http://other").url == "http://other"
    assert "'p'" not in repr(config)


def test_push_to_prometheus_takes_the_arguments_of_veadk() -> None:
    pytest.importorskip("prometheus_client", reason="needs the extra 'prometheus'")
    from pushgateway import PushGateway

    data = veadk.EvalResultCaseData(
        id="0", input="q", actual_output="a", expected_output="e", score="0.9", reason="r", status="PASSED", latency="1"
    )
    with PushGateway(username="u", password="p") as gateway:
        veadk.push_to_prometheus(
            test_name="t",
            test_cases_total=1,
            test_cases_failure=0,
            test_cases_pass=1,
            test_data_list=[data],
            eval_data=veadk.EvalResultMetadata(tested_model="m", judge_model="j"),
            url=gateway.url,
            username="u",
            password="p",
        )
        assert gateway.value("test_cases_success") == 1
        assert gateway.labels("eval_data", "data") == ["{'tested_model': 'm', 'judge_model': 'j'}"]


def test_every_name_is_there() -> None:
    for name in veadk.__all__:
        assert getattr(veadk, name) is not None


def test_results_are_plain_data_and_back() -> None:
    result = EvaluationResult(overall_score=0.5, overall_rubric_scores=[RubricScore(rubric_id="r", score=1.0)])
    assert EvaluationResult.model_validate(json.loads(result.model_dump_json())) == result
    metric = MetricResult(metric_type="m", success=True, score=1.0, reason="")
    assert MetricResult.model_validate(metric.model_dump()) == metric
    with pytest.raises(ValueError, match="metric_type"):
        MetricResult.model_validate({})


def test_results_can_be_exported_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    pushed: list[Figures] = []
    monkeypatch.setattr(prometheus, "push", lambda figures, gateway: pushed.append(figures))
    evaluator = veadk.DeepevalEvaluator(
        agent=Agent(), prometheus_config=PrometheusPushgatewayConfig(url="http://127.0.0.1")
    )
    one = SimpleNamespace(
        input="q", actual_output="a", expected_output="b", success=False, metadata={"latency": "3"},
        metrics_data=[SimpleNamespace(score=0.2, reason="no")],
    )  # fmt: skip
    evaluator.export_results("nightly", SimpleNamespace(test_results=[one]))
    [figures] = pushed
    assert (figures.test_name, figures.total, figures.failed, figures.passed) == ("nightly", 1, 1, 0)
    assert figures.cases[0]["score"] == "0.2"
