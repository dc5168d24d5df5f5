"""Tests of the real hello-agents, run in an environment of its own by test_hello_agents_real.py.

The examples are those of chapter 12 with their import lines changed, in words of our own; the model is a local endpoint.
"""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from endpoint import Answer, Endpoint, data
from played import answer, conversations, outline, played

import proctor
from proctor.agents import function, hello_agents
from proctor.agents._framework import Options
from proctor.core.errors import ProviderFailed, Refused
from proctor.core.sample import Reasoning
from proctor.core.trajectory import Trajectory


def reply(text: str | None = None, *calls: tuple[str, dict[str, Any], str]) -> Answer:
    """A whole chat completion, as the openai client wants it."""
    made = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for name, arguments, id in calls
    ]
    message = {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return data(
        {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    )


@contextmanager
def serving(*script: Answer) -> Iterator[Endpoint]:
    """The endpoint in a loop and thread of its own, as the library blocks."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    endpoint = Endpoint(*script)
    asyncio.run_coroutine_threadsafe(endpoint.__aenter__(), loop).result(10)
    try:
        yield endpoint
    finally:
        asyncio.run_coroutine_threadsafe(endpoint.__aexit__(None, None, None), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))


def model(endpoint: Endpoint) -> Any:
    from hello_agents import HelloAgentsLLM

    return HelloAgentsLLM(model="m", api_key="k", base_url=f"{endpoint.url}/v1")


def adding() -> Any:
    from hello_agents.tools.base import Tool, ToolParameter
    from hello_agents.tools.response import ToolResponse

    class Add(Tool):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(name="add", description="Adds.")

        def get_parameters(self) -> Any:
            return [ToolParameter(name=name, type="integer", description=name) for name in "ab"]

        def run(self, parameters: Any) -> Any:
            if parameters["a"] == 13:
                raise ValueError("unlucky")
            return ToolResponse.success(text=str(parameters["a"] + parameters["b"]), data={})

    return Add()


async def test_calls_results_and_answer_are_steps_in_order() -> None:
    from hello_agents import SimpleAgent

    script = [
        reply("Let me see.", ("add", {"a": 1, "b": 2}, "c1"), ("add", {"a": 13, "b": 2}, "c2")),
        reply("Three."),
        reply("Again."),
    ]
    with serving(*script) as endpoint:
        own = SimpleAgent("adder", model(endpoint))
        own.add_tool(adding())
        first, second = await played(function.wrap(own), "What is 1 + 2?", "And again?")
    texts = [(author, text.partition("[")[0]) for author, text in outline(first)]
    assert texts == [
        ("adder", 'Let me see. add({"a": 1, "b": 2})#c1, add({"a": 13, "b": 2})#c2'),
        ("tool", "add -> 3#c1"),
        ("tool", "add -> error: ❌ 错误 "),
        ("adder", "Three."),
    ]
    assert outline(second) == [("adder", "Again.")]
    assert [len(request.json["messages"]) for request in endpoint.requests] == [1, 4, 3]
    usage = Trajectory(steps=tuple(first)).usage
    assert (usage.input_tokens, usage.output_tokens, usage.requests) == (14, 6, 2)
    assert own.get_history() == []


async def test_thoughts_of_a_react_agent_are_no_calls_and_its_end_is_the_answer() -> None:
    from hello_agents import ReActAgent, ToolRegistry

    tools = ToolRegistry()
    tools.register_tool(adding())
    script = [
        reply(None, ("Thought", {"reasoning": "hm"}, "c0"), ("add", {"a": 1, "b": 2}, "c1")),
        reply(None, ("Finish", {"answer": "3"}, "c2")),
    ]
    with serving(*script) as endpoint:
        [steps] = await played(function.wrap(ReActAgent("re", model(endpoint), tool_registry=tools)), "1 + 2?")
    assert outline(steps) == [("re", 'add({"a": 1, "b": 2})#c1'), ("tool", "add -> 3#c1"), ("re", "3")]
    assert steps[0].message.parts[0] == Reasoning(text="hm")


async def test_an_agent_that_loops_stops_at_its_limit_or_ours() -> None:
    from hello_agents import ReActAgent, ToolRegistry

    tools = ToolRegistry()
    tools.register_tool(adding())
    with serving(reply(None, ("add", {"a": 1, "b": 2}, "c1"))) as endpoint:
        agent = ReActAgent("re", model(endpoint), tool_registry=tools, max_steps=2)
        [steps] = await played(function.wrap(agent), "?")
        assert (steps[-1].stop, len(Trajectory(steps=tuple(steps)).calls())) == ("step_limit", 2)
        agent = ReActAgent("re", model(endpoint), tool_registry=tools, max_steps=9)
        [steps] = await played(hello_agents.wrap(agent, name="re", options=Options(max_steps=3)), "?")
        assert (steps[-1].stop, len(Trajectory(steps=tuple(steps)).calls())) == ("step_limit", 3)


async def test_a_failure_of_the_provider_is_not_the_agents_even_where_it_is_swallowed() -> None:
    import openai
    from hello_agents import SimpleAgent

    def once(endpoint: Endpoint) -> Any:
        made = model(endpoint)
        made._adapter._client = openai.OpenAI(api_key="k", base_url=f"{endpoint.url}/v1", max_retries=0)
        return made

    for status, expected in ((503, ProviderFailed), (401, Refused)):
        with serving(data({"error": {"message": "no"}}, status)) as endpoint:
            plain, tooled = SimpleAgent("a", once(endpoint)), SimpleAgent("a", once(endpoint))
            tooled.add_tool(adding())
            for agent in (plain, tooled):
                with pytest.raises(expected):
                    await played(function.wrap(agent), "?")


def test_each_case_and_turn_asks_the_agent_once() -> None:
    from hello_agents import SimpleAgent

    with serving(reply("question 0.1 question 1.1 question 2.1")) as endpoint:
        run = proctor.evaluate(conversations(3, turns=2), agent=SimpleAgent("a", model(endpoint)), concurrency=3)
        assert len(endpoint.requests) == 6
    assert run.outcomes["scored"] == 3
    assert run.estimate("accuracy").value == 1
    assert run.usage.requests == 6


async def test_an_agent_is_found_by_path(tmp_path: Path) -> None:
    with serving(reply("Oslo")) as endpoint:
        (tmp_path / "agent.py").write_text(
            "from hello_agents import HelloAgentsLLM, SimpleAgent\n"
            f"llm = HelloAgentsLLM(model='m', api_key='k', base_url='{endpoint.url}/v1')\n"
            "assistant = SimpleAgent('a', llm)\n",
            encoding="utf-8",
        )
        [steps] = await played(hello_agents.make("./agent.py:assistant", {"max_steps": 4}), "?")
    assert answer(steps) == "Oslo"


WEATHER = {
    "name": "get_weather",
    "description": "Weather.",
    "parameters": {"type": "dict", "properties": {"city": {"type": "string", "description": ""}}, "required": ["city"]},
}


def bfcl_data(root: Path) -> None:
    folder = root / "temp_gorilla" / "berkeley-function-call-leaderboard" / "bfcl_eval" / "data"
    (folder / "possible_answer").mkdir(parents=True)
    for category in ("simple_python", "multiple", "parallel", "irrelevance"):
        lines = [
            {
                "id": f"{category}_{number}",
                "question": [[{"role": "user", "content": "Weather in Oslo?"}]],
                "function": [WEATHER],
            }
            for number in range(3)
        ]
        truth = [{"id": line["id"], "ground_truth": [{"get_weather": {"city": ["Oslo"]}}]} for line in lines]
        name = f"BFCL_v4_{category}.json"
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
        if category != "irrelevance":
            (folder / "possible_answer" / name).write_text("".join(json.dumps(line) + "\n" for line in truth))


def test_the_bfcl_examples_of_the_chapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hello_agents import HelloAgentsLLM, SimpleAgent

    from proctor.compat.hello_agents import BFCLDataset, BFCLEvaluationTool, BFCLEvaluator

    bfcl_data(tmp_path)
    with serving(reply('[{"name": "get_weather", "arguments": {"city": "Oslo"}}]')) as endpoint:
        monkeypatch.setenv("LLM_MODEL_ID", "m")
        monkeypatch.setenv("LLM_API_KEY", "k")
        monkeypatch.setenv("LLM_BASE_URL", f"{endpoint.url}/v1")

        llm = HelloAgentsLLM()
        agent = SimpleAgent(name="TestAgent", llm=llm)
        bfcl_tool = BFCLEvaluationTool()
        results = bfcl_tool.run(agent=agent, category="simple_python", max_samples=5)
        assert f"Accuracy: {results['overall_accuracy']:.2%}" == "Accuracy: 100.00%"
        assert f"{results['correct_samples']}/{results['total_samples']}" == "3/3"
        assert len(endpoint.requests) == 3
        assert all(len(request.json["messages"]) == 1 for request in endpoint.requests)

        dataset = BFCLDataset(
            bfcl_data_dir="./temp_gorilla/berkeley-function-call-leaderboard/bfcl_eval/data", category="simple_python"
        )
        assert len(dataset.load()) == len(dataset.ground_truth) == 3
        evaluator = BFCLEvaluator(dataset=dataset, category="simple_python", evaluation_mode="ast")
        results = evaluator.evaluate(agent, max_samples=10)
        assert results["overall_accuracy"] == 1
        evaluator.export_to_bfcl_format(results, output_path="./evaluation_results/my_results.json")

        results = bfcl_tool.run(agent=agent, category="simple_python", max_samples=5, model_name="Qwen/Qwen3-8B")
        results = bfcl_tool.run(agent, category="simple_python", max_samples=2, run_official_eval=False)
        report = bfcl_tool.generate_report(results, output_file="./my_reports/custom_report.md")
        assert report.startswith("# BFCL Evaluation Report")

        accuracies = [
            bfcl_tool.run(agent, category=category, max_samples=10)["overall_accuracy"]
            for category in ("simple_python", "multiple", "parallel", "irrelevance")
        ]
        assert accuracies == [1, 1, 1, 0]
        assert agent.get_history() == []


def test_the_gaia_examples_of_the_chapter(tmp_path: Path) -> None:
    from hello_agents import SimpleAgent

    from proctor.compat.hello_agents import GAIA_SYSTEM_PROMPT, GAIADataset, GAIAEvaluationTool, GAIAEvaluator

    split = tmp_path / "data" / "gaia" / "2023" / "validation"
    split.mkdir(parents=True)
    rows = [
        {"task_id": f"t{number}", "Question": "6 * 7?", "Level": 1, "Final answer": truth, "file_name": ""}
        for number, truth in enumerate(("42", "43"))
    ]
    (split / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with serving(reply("I multiply.\nFINAL ANSWER: 42")) as endpoint:
        agent = SimpleAgent(name="TestAgent", llm=model(endpoint), system_prompt=GAIA_SYSTEM_PROMPT)
        gaia_tool = GAIAEvaluationTool()
        results = gaia_tool.run(agent=agent, level=1, max_samples=5, export_results=True, generate_report=True)
        assert f"{results['exact_match_rate']:.2%} {results['partial_match_rate']:.2%}" == "50.00% 50.00%"
        assert f"{results['exact_matches']}/{results['total_samples']}" == "1/2"
        first = endpoint.requests[0].json["messages"]
        assert [message["role"] for message in first] == ["system", "user"]
        assert first[0]["content"] == GAIA_SYSTEM_PROMPT
        [path] = Path("evaluation_results/gaia_official").glob("gaia_level1_result_*.jsonl")
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert {(line["task_id"], line["model_answer"]) for line in lines} == {("t0", "42"), ("t1", "42")}

        dataset = GAIADataset(level=1)
        assert len(dataset.load()) == 2
        assert dataset.get_statistics()["level_distribution"][1] == 2
        evaluator = GAIAEvaluator(dataset=dataset, level=1)
        results = evaluator.evaluate(agent, max_samples=5)
        evaluator.export_to_gaia_format(results, "gaia_results.jsonl", include_reasoning=True)


def test_an_agent_calls_an_evaluation_as_one_of_its_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hello_agents import SimpleAgent, ToolRegistry

    from proctor.compat.hello_agents import BFCLEvaluationTool

    bfcl_data(tmp_path)
    calls = '[{"name": "get_weather", "arguments": {"city": "Oslo"}}]'
    script = [
        reply(None, ("bfcl_evaluation", {"max_samples": 1, "run_official_eval": False}, "c1")),
        reply(calls),
        reply("All right."),
    ]
    with serving(*script) as endpoint:
        monkeypatch.setenv("LLM_MODEL_ID", "m")
        monkeypatch.setenv("LLM_API_KEY", "k")
        monkeypatch.setenv("LLM_BASE_URL", f"{endpoint.url}/v1")
        tools = ToolRegistry()
        tools.register_tool(BFCLEvaluationTool())
        agent = SimpleAgent("boss", model(endpoint), tool_registry=tools)
        assert agent.run("Evaluate the model.") == "All right."
        told = endpoint.requests[-1].json["messages"][-1]
    assert told["role"] == "tool"
    assert json.loads(told["content"])["overall_accuracy"] == 1
