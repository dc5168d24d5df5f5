"""`DeepevalEvaluator` with metrics of DeepEval's names that need no DeepEval."""

import json
from pathlib import Path
from typing import Any

import pytest
from endpoint import Endpoint, Request, chat

from proctor import Sample, Score, Trajectory, Unscored
from proctor.core.sample import Message, ToolCall, Turn
from proctor.core.trajectory import Step
from proctor_compat.veadk import (
    DeepevalEvaluator,
    GEval,
    LLMTestCaseParams,
    PrometheusPushgatewayConfig,
    ToolCallParams,
    ToolCorrectnessMetric,
)
from proctor_compat.veadk.metrics import judge_of, share_equal

PARAMS = [LLMTestCaseParams.INPUT, LLMTestCaseParams.ACTUAL_OUTPUT, LLMTestCaseParams.EXPECTED_OUTPUT]


Made = tuple[str, dict[str, Any]]


def points(expected: list[Made], made: list[Made], **how: Any) -> float:
    calls = [{"name": name, "arguments": arguments} for name, arguments in expected]
    sample = Sample(id="s", turns=(Turn(messages=(Message.of("user", "q"),), reference={"calls": calls}),))
    parts = tuple(ToolCall(name=name, arguments=arguments) for name, arguments in made)
    trajectory = Trajectory(steps=(Step(message=Message(role="assistant", parts=parts)),))
    score = ToolCorrectnessMetric(**how)(sample, trajectory)
    assert isinstance(score, Score)
    return score.points


def test_tools_are_counted_one_to_one() -> None:
    a: Made = ("a", {"x": 1})
    b: Made = ("b", {})
    assert points([a, b], [b, a, b]) == 1.0  # more calls cost nothing
    assert points([a, a], [a, a]) == 1.0
    assert points([a, a], [a]) == 0.5
    assert points([a], [("a", {"x": 2})]) == 1.0
    assert points([], []) == 1.0
    assert points([], [a]) == 0.0


def test_arguments_order_and_equality_can_count() -> None:
    parameters = [ToolCallParams.INPUT_PARAMETERS]
    one: Made = ("a", {"x": 1, "y": 1})
    other: Made = ("a", {"x": 1, "y": 2})
    b: Made = ("b", {})
    assert points([one, other], [other, one], evaluation_params=parameters) == 1.0
    assert points([one], [other], evaluation_params=parameters) == 0.5
    assert points([one, b], [b, one], should_consider_ordering=True) == 0.5
    assert points([one, b], [one, one, b], should_consider_ordering=True) == 1.0
    assert points([one, b], [one, b], should_exact_match=True) == 1.0
    assert points([one, b], [one, one, b], should_exact_match=True) == 0.0
    assert points([one, one], [one], strict_mode=True) == 0.0
    assert share_equal({"x": 1}, {"x": True}) == 0.0


def test_a_case_that_expects_nothing_of_calls_is_not_applicable() -> None:
    result = ToolCorrectnessMetric()(Sample.ask("s", "q", target="a"), Trajectory.of("a"))
    assert isinstance(result, Unscored)
    assert result.why == "not_applicable"


def test_what_a_judge_needs_is_asked_for() -> None:
    with pytest.raises(ValueError, match="criteria"):
        GEval(name="x", evaluation_params=PARAMS, model="openai:m")
    with pytest.raises(ValueError, match="model="):
        GEval(name="x", evaluation_params=PARAMS, criteria="c")
    with pytest.raises(ValueError, match="no model"):
        judge_of(object())


def write(path: Path, *cases: tuple[str, str, str | None]) -> str:
    made = [
        {
            "eval_id": id,
            "conversation": [
                {
                    "user_content": {"parts": [{"text": asked}]},
                    "final_response": None if answer is None else {"parts": [{"text": answer}]},
                    "intermediate_data": {"tool_uses": []},
                }
            ],
        }
        for id, asked, answer in cases
    ]
    path.write_text(json.dumps({"eval_set_id": "s", "eval_cases": made}), encoding="utf-8")
    return str(path)


async def judged(request: Request, writer: Any) -> None:
    """A judge that likes what costs 100, and says nothing of use about the colour."""
    asked = "".join(str(message["content"]) for message in request.json["messages"])
    if "colour" in asked:
        await chat("I would rather not.")(request, writer)
        return
    likes = 9 if asked.count("$100") > 1 else 1
    await chat(json.dumps({"opinion": likes, "scores": {"opinion": likes}, "comment": "by the price"}))(request, writer)


async def test_the_evaluator_needs_no_deepeval_for_metrics_of_these_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("prometheus_client", reason="needs the extra 'prometheus'")
    from pushgateway import PushGateway

    file = write(
        tmp_path / "s.test.json",
        ("a", "price", "$100"),
        ("b", "size", "$100"),
        ("c", "colour", "red"),
        ("d", "boom", "x"),
    )

    def agent(question: str) -> str:
        if question == "boom":
            raise RuntimeError("broken")
        return "$100" if question == "price" else "none"

    monkeypatch.setenv("MODEL_AGENT_API_KEY", "the-key")
    async with Endpoint(judged) as endpoint:
        monkeypatch.setenv("MODEL_JUDGE_API_BASE", f"{endpoint.url}/v1")
        with PushGateway() as gateway:
            evaluator = DeepevalEvaluator(
                agent=agent,
                judge_model_name="judge-1",
                prometheus_config=PrometheusPushgatewayConfig(url=gateway.url),
            )
            quality = GEval(
                name="Quality",
                criteria="Is it right?",
                threshold=0.8,
                model=evaluator.judge_model,
                evaluation_params=PARAMS,
            )
            result = await evaluator.evaluate(
                metrics=[quality, ToolCorrectnessMetric(threshold=0.5)], eval_set_file_path=file, eval_id="nightly"
            )
            assert endpoint.requests[0].headers["authorization"] == "Bearer the-key"
            assert endpoint.requests[0].json["model"] == "judge-1"
            assert list(gateway.groups) == ["/metrics/job/veadk_eval_job/test_name/nightly"]
            assert (gateway.value("test_cases_total"), gateway.value("test_cases_pass")) == (4, 1)
    found = [[(one.score, one.success) for one in data.metric_results] for data in evaluator.result_list]
    assert found[0] == [(pytest.approx(0.9), True), (1.0, True)]
    assert found[1] == [(pytest.approx(0.1), False), (1.0, True)]
    assert found[2] == [(None, False), (1.0, True)]  # the judge failed, which is no zero
    assert found[3] == [(0.0, False), (0.0, False)]
    assert [one.success for one in result.test_results] == [True, False, False, False]
    assert [one.input for one in result.test_results] == ["price", "size", "colour", "boom"]
    assert "broken" in result.test_results[3].metrics_data[0].error


async def test_no_metric_is_an_error(tmp_path: Path) -> None:
    evaluator = DeepevalEvaluator(agent=lambda question: "x")
    with pytest.raises(ValueError, match="metrics"):
        await evaluator.evaluate(metrics=[], eval_set_file_path=write(tmp_path / "s.json", ("a", "q", "x")))
