"""Runs where VeADK, google-adk and DeepEval are: the workflow of VeADK's page on evaluation, with our names for its imports.

The agents are VeADK's own; their model and the judge are scripted endpoints on this machine.
"""

import asyncio
import json
import os
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from endpoint import Answer, Endpoint, Request, chat

Say = Callable[..., str]


class Served:
    """Endpoints in a loop of their own, so that code with `asyncio.run` can ask them."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.endpoints: list[Endpoint] = []

    def start(self, *script: Answer) -> Endpoint:
        """An endpoint that answers by a script."""
        endpoint = Endpoint(*script)
        asyncio.run_coroutine_threadsafe(endpoint.__aenter__(), self.loop).result()
        self.endpoints.append(endpoint)
        return endpoint

    def stop(self) -> None:
        """Close them all."""
        for endpoint in self.endpoints:
            asyncio.run_coroutine_threadsafe(endpoint.__aexit__(None, None, None), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()


@pytest.fixture
def served() -> Iterator[Served]:
    """Start endpoints; all end with the test."""
    made = Served()
    yield made
    made.stop()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, without a word about models in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("MODEL_", "OPENAI_", "OBSERVABILITY_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    return tmp_path


def call(name: str, **arguments: Any) -> Answer:
    """A completion that calls a tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return chat(None, tool_calls=[{"id": f"call_{uuid.uuid4().hex[:8]}", "type": "function", "function": function}])


def shop(endpoint: Endpoint, **more: Any) -> Any:
    """A VeADK agent with one tool, whose model is an endpoint."""
    from veadk import Agent

    def knowledge_base(question: str) -> str:
        """Look a question up."""
        return f"{question}: Model A costs $100"

    return Agent(
        name="shop",
        instruction="Sell.",
        tools=[knowledge_base],
        model_name="scripted",
        model_provider="openai",
        model_api_base=f"{endpoint.url}/v1",
        model_api_key="not-a-key",
        **more,
    )


def case(id: str, *turns: tuple[str, str | None, list[dict[str, Any]]], **more: Any) -> dict[str, Any]:
    """A case of a file."""
    return {
        "eval_id": id,
        "conversation": [
            {
                "invocation_id": f"{id}-{place}",
                "user_content": {"role": "user", "parts": [{"text": asked}]},
                "final_response": None if answer is None else {"role": "model", "parts": [{"text": answer}]},
                "intermediate_data": {"tool_uses": calls},
            }
            for place, (asked, answer, calls) in enumerate(turns)
        ],
        **more,
    }


PRICE = {"name": "knowledge_base", "args": {"question": "Price"}}


def write(path: Path, *cases: dict[str, Any]) -> str:
    """A file of cases."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"eval_set_id": "simple", "name": "simple", "eval_cases": cases}), encoding="utf-8")
    return str(path)


def test_a_session_is_dumped_by_the_runner_and_evaluated_again(served: Served, folder: Path) -> None:
    endpoint = served.start(call("get_city_weather", city="Beijing"), chat("Sunny, 25 degrees, by get_city_weather."))
    from veadk import Agent, Runner
    from veadk.memory.short_term_memory import ShortTermMemory
    from veadk.tools.demo_tools import get_city_weather

    def weather_agent(to: Endpoint) -> Any:
        return Agent(
            tools=[get_city_weather],
            model_name="scripted",
            model_provider="openai",
            model_api_base=f"{to.url}/v1",
            model_api_key="not-a-key",
        )

    session_id = "session_id_" + uuid.uuid4().hex
    runner = Runner(agent=weather_agent(endpoint), short_term_memory=ShortTermMemory())
    prompt = "How is the weather like in Beijing? Besides, tell me which tool you invoked."
    asyncio.run(runner.run(messages=prompt, session_id=session_id))

    from proctor_compat.veadk import ADKEvaluator, load_eval_set_from_file, save_eval_set

    dump_path = asyncio.run(save_eval_set(runner, session_id=session_id, agents_dir=folder))
    [recorded] = load_eval_set_from_file(dump_path).eval_cases
    assert recorded.conversation is not None
    [turn] = recorded.conversation
    assert turn.intermediate_data is not None
    assert [(one.name, one.args) for one in turn.intermediate_data.calls()] == [
        ("get_city_weather", {"city": "Beijing"})
    ]

    again = served.start(call("get_city_weather", city="Beijing"), chat("Sunny, 25 degrees, by get_city_weather."))
    evaluator = ADKEvaluator(agent=weather_agent(again))
    _, failures = asyncio.run(evaluator.evaluate(eval_set_file_path=dump_path, num_runs=1))
    assert failures == []


def test_the_runners_own_dump_is_read_too(served: Served, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    endpoint = served.start(chat("Hello."))
    from veadk import Runner
    from veadk.memory.short_term_memory import ShortTermMemory

    monkeypatch.setattr("veadk.evaluation.eval_set_recorder.get_agents_dir", lambda: str(folder))
    runner = Runner(agent=shop(endpoint), short_term_memory=ShortTermMemory())
    asyncio.run(runner.run(messages="Hi", session_id="one"))
    dump_path = asyncio.run(runner.save_eval_set(session_id="one"))

    from proctor_compat.veadk import load_eval_set_from_file

    assert [one.eval_id[:11] for one in load_eval_set_from_file(dump_path).eval_cases] == ["veadk_eval_"]


async def test_the_adk_evaluator_of_the_page(served: Served, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    endpoint = served.start(call("knowledge_base", question="Price"), chat("Model A sells for: $100"))
    from proctor_compat.veadk import ADKEvaluator

    file = write(folder / "tests" / "simple.test.json", case("price", ("Price", "Model A sells for: $100", [PRICE])))
    evaluator = ADKEvaluator(agent=shop(endpoint))
    results, failures = await evaluator.evaluate(
        eval_set_file_path=file,
        response_match_score_threshold=1,
        tool_score_threshold=0.5,
        num_runs=1,
        print_detailed_results=True,
    )
    assert failures == []
    assert [result.overall_score for result in results[0]] == [1.0, 1.0]
    assert evaluator.result_list[0].average_score == 1.0
    assert "knowledge_base" in capsys.readouterr().out


async def test_the_agent_sees_each_case_as_often_as_asked_with_its_own_session(served: Served, folder: Path) -> None:
    endpoint = served.start(chat("fine"))
    from google.adk.agents.callback_context import CallbackContext

    from proctor_compat.veadk import ADKEvaluator

    seen: list[tuple[str, dict[str, Any]]] = []

    def note(callback_context: CallbackContext) -> None:
        seen.append((callback_context.session.user_id, callback_context.state.to_dict()))

    session = {"app_name": "shop", "user_id": "u1", "state": {"lang": "en"}}
    file = write(
        folder / "five.test.json",
        case("a", ("one", "fine", [])),
        case("b", ("two", "fine", []), session_input=session),
        case("c", ("three", "fine", [])),
    )
    evaluator = ADKEvaluator(agent=shop(endpoint, before_agent_callback=note))
    for _ in range(2):
        seen.clear()
        _, failures = await evaluator.evaluate(eval_set_file_path=file, num_runs=2, print_detailed_results=False)
        assert failures == []
        assert len(seen) == 3 * 2
        assert len(evaluator.result_list) == 3
    assert [state for user, state in seen if user == "u1"] == [{"lang": "en"}] * 2


async def test_an_evaluator_of_ones_own_with_the_set_class_of_adk(served: Served, folder: Path) -> None:
    endpoint = served.start(chat("Model A sells for: $100"), chat("no idea"))
    from typing import Optional

    from google.adk.evaluation.eval_set import EvalSet
    from typing_extensions import override

    from proctor_compat.veadk import BaseEvaluator, EvalResultData, MetricResult

    class Equal(BaseEvaluator):
        @override
        async def evaluate(
            self,
            eval_set: Optional[EvalSet] = None,  # noqa: UP045 - as the page has it
            eval_set_file_path: Optional[str] = None,  # noqa: UP045
        ) -> list[EvalResultData]:
            self.build_eval_set(eval_set, eval_set_file_path)
            await self.generate_actual_outputs()
            for data in self.invocation_list:
                turn = data.invocations[0]
                score = 1.0 if turn.actual_output == turn.expected_output else 0.0
                reason = f"Outputs {'matched' if score == 1.0 else 'did not match'}."
                metric = MetricResult(metric_type="ExactMatch", success=score == 1.0, score=score, reason=reason)
                result = EvalResultData(metric_results=[metric])
                result.call_before_append()
                self.result_list.append(result)
            return self.result_list

    cases = [case("a", ("Price", "Model A sells for: $100", [])), case("b", ("Colour", "red", []))]
    evaluator = Equal(agent=shop(endpoint), name="equal")
    from_file = await evaluator.evaluate(eval_set_file_path=write(folder / "two.json", *cases))
    assert [(one.average_score, one.total_reason) for one in from_file] == [
        (1.0, "ExactMatch:Outputs matched."),
        (0.0, "ExactMatch:Outputs did not match."),
    ]
    adks = EvalSet.model_validate({"eval_set_id": "x", "eval_cases": cases})
    assert [one.average_score for one in await evaluator.evaluate(adks)] == [0.0, 0.0]
    assert [len(one) for one in evaluator.get_eval_set_information()] == [1, 1]


def judge(request: Request) -> str:
    """What a judge replies: steps when asked for them, else points that depend on the answer it is shown."""
    asked = "".join(str(message["content"]) for message in request.json["messages"])
    if '"steps" key' in asked:
        return json.dumps({"steps": ["Read the answer.", "Say how good it is."]})
    return json.dumps({"score": 9 if "$100" in asked else 2, "reason": "by the price"})


async def judged(request: Request, writer: asyncio.StreamWriter) -> None:
    """The judge as an endpoint."""
    await chat(judge(request))(request, writer)


async def test_the_deepeval_evaluator_of_the_page(served: Served, folder: Path) -> None:
    endpoint = served.start(call("knowledge_base", question="Price"), chat("Model A sells for: $100"), chat("red"))
    from proctor_compat.veadk import DeepevalEvaluator, eval_principle_prompt  # isort: skip
    from deepeval.metrics import GEval, ToolCorrectnessMetric
    from deepeval.test_case import LLMTestCaseParams

    file = write(
        folder / "tests" / "simple.test.json",
        case("price", ("Price", "Model A sells for: $100", [PRICE])),
        case("colour", ("Colour", "blue", [PRICE])),
    )
    evaluator = DeepevalEvaluator(
        agent=shop(endpoint),
        judge_model_api_key="k",
        judge_model_name="judge-1",
        judge_model_api_base=f"{served.start(judged).url}/v1",
    )
    metrics = [
        GEval(
            threshold=0.8,
            name="Base Evaluation",
            criteria=eval_principle_prompt,
            evaluation_params=[
                LLMTestCaseParams.INPUT,
                LLMTestCaseParams.ACTUAL_OUTPUT,
                LLMTestCaseParams.EXPECTED_OUTPUT,
            ],
            model=evaluator.judge_model,
        ),
        ToolCorrectnessMetric(threshold=0.5, model=evaluator.judge_model),
    ]
    result = await evaluator.evaluate(eval_set_file_path=file, metrics=metrics)
    assert [one.success for one in result.test_results] == [True, False]
    assert [one.input for one in result.test_results] == ["Price", "Colour"]
    scores = [
        [(one.metric_type, one.score, one.success) for one in data.metric_results] for data in evaluator.result_list
    ]
    assert scores == [
        [("Base Evaluation [GEval]", 0.9, True), ("Tool Correctness", 1.0, True)],
        [("Base Evaluation [GEval]", 0.2, False), ("Tool Correctness", 0.0, False)],
    ]
    assert evaluator.result_list[0].metric_results[0].reason == "by the price"
    assert sorted(one.name for one in folder.iterdir()) == ["tests"]  # nothing of DeepEval's is left behind
    assert not any(name.startswith("posthog") and "client" in name for name in sys.modules if "deepeval" in name)


async def test_the_agent_evaluator_finds_the_module_the_config_and_the_failures(
    served: Served, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = served.start(chat("fine"))
    from proctor_compat.veadk import AgentEvaluator

    package = folder / "house"
    package.mkdir()
    (package / "__init__.py").write_text("from . import agent\n")
    (package / "agent.py").write_text(
        "from veadk import Agent\n"
        "root_agent = Agent(name='house', model_name='scripted', model_provider='openai',"
        f" model_api_base='{endpoint.url}/v1', model_api_key='k')\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    tests = folder / "checks"
    write(tests / "a.test.json", case("a", ("one", "fine", [])))
    (tests / "test_config.json").write_text('{"criteria": {"response_match_score": 0.9}}')
    await AgentEvaluator.evaluate("house", str(tests), num_runs=1, output_file=str(folder / "out.csv"))
    assert (folder / "out.csv").read_text(encoding="utf-8").count("response_match_score") == 1
    write(tests / "b.test.json", case("b", ("two", "quite another thing", [])))
    with pytest.raises(AssertionError, match=r"response_match_score for house Failed. Expected 0.9, but got 0.0"):
        await AgentEvaluator.evaluate("house", str(tests), num_runs=1)


def test_results_are_what_adk_reads(served: Served, folder: Path) -> None:
    from google.adk.evaluation.eval_result import EvalSetResult

    endpoint = served.start(chat("fine"))
    package = folder / "shop"
    package.mkdir()
    (package / "agent.py").write_text(
        "from veadk import Agent\n"
        "root_agent = Agent(name='shop', model_name='scripted', model_provider='openai',"
        f" model_api_base='{endpoint.url}/v1', model_api_key='k')\n"
    )
    file = write(package / "simple.evalset.json", case("a", ("one", "fine", [])), case("b", ("two", "no", [])))
    from proctor.cli import app

    with pytest.raises(SystemExit) as ended:
        app.main(
            ["eval", "--agent-dir", str(package), "--evalset-file", file, "--evaluator", "adk"],
            prog_name="proctor",
        )
    assert ended.value.code == 1
    [written] = (package / ".adk" / "eval_history").glob("*.evalset_result.json")
    result = EvalSetResult.model_validate_json(written.read_text(encoding="utf-8"))
    assert [one.final_eval_status.name for one in result.eval_case_results] == ["PASSED", "FAILED"]


def test_the_deepeval_form_of_the_command(served: Served, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = served.start(chat("Model A sells for: $100"))
    package = folder / "clinic"
    package.mkdir()
    (package / "agent.py").write_text(
        "from veadk import Agent\n"
        "root_agent = Agent(name='clinic', model_name='scripted', model_provider='openai',"
        f" model_api_base='{endpoint.url}/v1', model_api_key='k')\n"
    )
    file = write(package / "simple.evalset.json", case("a", ("Price", "Model A sells for: $100", [])))
    monkeypatch.setenv("MODEL_JUDGE_API_BASE", f"{served.start(judged).url}/v1")
    monkeypatch.setenv("MODEL_JUDGE_API_KEY", "k")
    from proctor.cli import app

    with pytest.raises(SystemExit) as ended:
        app.main(
            ["eval", "--agent-dir", str(package), "--evalset-file", file, "--evaluator", "deepeval"],
            prog_name="proctor",
        )
    assert ended.value.code == 0
