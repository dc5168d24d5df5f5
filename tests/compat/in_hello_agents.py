"""Tests of the real hello-agents, run in an environment of its own by test_hello_agents_real.py.

The examples are those of chapter 12 with their import lines changed, in words of our own; the model is a local endpoint.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from acting import TOOLS, Shop
from endpoint import Endpoint, data
from in_hello_agents_chapter import OSLO, bfcl_data, model, reply, serving
from played import SAMPLE, answer, conversations, outline, played

import proctor
from proctor.agents import function
from proctor.core.errors import BadInput, EndpointRefused, ProviderFailed
from proctor.core.sample import Reasoning, ToolResult, Turn
from proctor.core.trajectory import Trajectory
from proctor_adapters.agents import hello_agents
from proctor_adapters.agents._library_agents import LibraryOptions


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))


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
        [steps] = await played(hello_agents.wrap(agent, name="re", options=LibraryOptions(max_steps=3)), "?")
        assert (steps[-1].stop, len(Trajectory(steps=tuple(steps)).calls())) == ("step_limit", 3)


async def test_a_failure_of_the_provider_is_not_the_agents_even_where_it_is_swallowed() -> None:
    import openai
    from hello_agents import SimpleAgent

    def once(endpoint: Endpoint) -> Any:
        made = model(endpoint)
        made._adapter._client = openai.OpenAI(api_key="k", base_url=f"{endpoint.url}/v1", max_retries=0)
        return made

    for status, expected in ((503, ProviderFailed), (401, EndpointRefused)):
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


def test_an_agent_calls_an_evaluation_as_one_of_its_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hello_agents import SimpleAgent, ToolRegistry

    from proctor_compat.hello_agents import BFCLEvaluationTool

    bfcl_data(tmp_path)
    script = [
        reply(None, ("bfcl_evaluation", {"max_samples": 1, "run_official_eval": False}, "c1")),
        reply(OSLO),
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


@pytest.mark.parametrize("kind", ["SimpleAgent", "ReActAgent", "ReflectionAgent"])
async def test_the_tools_of_an_environment_are_tools_of_the_agent(kind: str) -> None:
    import hello_agents as library

    shop = Shop()
    script = [reply(None, ("add", {"item": "apple"}, "c1")), reply(None, ("sell_out", {"item": "kiwi"}, "c2"))]
    end = [reply(None, ("Finish", {"answer": "An apple."}, "c3"))] if kind == "ReActAgent" else [reply("An apple.")] * 3
    with serving(*script, *end) as endpoint:
        own = getattr(library, kind)("clerk", model(endpoint))
        wrapped = function.wrap(own)
        async with wrapped.open(SAMPLE, shop) as session:
            steps = await session.send(Turn(messages=SAMPLE.turns[0].messages, tools=TOOLS))
    offered = [one["function"]["name"] for one in endpoint.requests[0].json["tools"]]
    assert {"add", "sell_out"} <= {*offered}
    assert answer(steps) == "An apple."
    assert [(call.name, call.arguments) for call in shop.calls] == [
        ("add", {"item": "apple"}),
        ("sell_out", {"item": "kiwi"}),
    ]
    told = [part for step in steps for part in step.message.parts if isinstance(part, ToolResult)]
    assert [(part.content, part.is_error) for part in told] == [
        ("added apple, 1 in the cart", False),
        ("kiwi is sold out", True),
    ]
    assert any("added apple" in str(one["content"]) for one in endpoint.requests[1].json["messages"])
    assert own.tool_registry is None or "add" not in own.tool_registry.list_tools()


@pytest.mark.parametrize(("tool", "outcome"), [("crash", "environment_failed"), ("close", "scored")])
async def test_what_ends_the_sample_in_a_tool_ends_it_although_the_agent_swallows_errors(
    tool: str, outcome: str
) -> None:
    from hello_agents import SimpleAgent

    task = proctor.Task(name="shop", samples=[SAMPLE], scorers=["exact"], environment=lambda sample: Shop())
    with serving(reply(None, (tool, {}, "c1")), reply("All is well.")) as endpoint:
        run = await proctor.evaluate_async(task, agent=SimpleAgent("clerk", model(endpoint)), max_failed=1.0)
    assert run.outcomes == {outcome: 1}
    assert len(endpoint.requests) == 1


async def test_an_agent_that_calls_tools_in_its_text_cannot_be_given_any() -> None:
    from hello_agents import SimpleAgent

    class Older(SimpleAgent):  # type: ignore[misc]  # as before version 1
        _build_tool_schemas = None

    with serving(reply("never")) as endpoint:
        async with function.wrap(Older("clerk", model(endpoint))).open(SAMPLE, Shop()) as session:
            with pytest.raises(BadInput, match="calls tools natively"):
                await session.send(Turn(messages=SAMPLE.turns[0].messages, tools=TOOLS))
    assert endpoint.requests == []
