import asyncio
from pathlib import Path
from typing import Any

import pytest
from echoes import library
from played import answer, conversations, outline, played

import proctor
from proctor.agents import function
from proctor.core.errors import AgentFailed, BadInput, MissingExtra, ProviderFailed
from proctor.core.sample import Reasoning
from proctor.core.trajectory import Trajectory
from proctor_adapters.agents import smolagents
from proctor_adapters.agents._library_agents import LibraryOptions

library("smolagents", "smolagents")

import httpx  # noqa: E402
import openai  # noqa: E402
from smolagents import ChatMessage, CodeAgent, Model, Tool, ToolCallingAgent, tool  # noqa: E402
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole  # noqa: E402
from smolagents.monitoring import TokenUsage  # noqa: E402


class Scripted(Model):  # type: ignore[misc]  # the library has no types
    """Says what it is told to, in order: text, or calls; else it gives the tasks it sees as its final answer."""

    def __init__(self, *script: Any) -> None:
        super().__init__(model_id="scripted")
        self.script = list(script)
        self.asked: list[Any] = []

    def generate(self, messages: Any, *_: Any, **__: Any) -> Any:
        self.asked.append(messages)
        said = self.script.pop(0) if self.script else [call("final_answer", "final", answer=_tasks(messages))]
        if isinstance(said, Exception):
            raise said
        used = TokenUsage(input_tokens=10, output_tokens=4)
        if isinstance(said, str):
            return ChatMessage(role=MessageRole.ASSISTANT, content=said, token_usage=used)
        return ChatMessage(role=MessageRole.ASSISTANT, content=None, tool_calls=said, token_usage=used)


def call(name: str, id: str, **arguments: Any) -> Any:
    function = ChatMessageToolCallFunction(name=name, arguments=arguments)
    return ChatMessageToolCall(function=function, id=id, type="function")


def _tasks(messages: Any) -> str:
    texts = [part["text"] for message in messages for part in message.content]
    return " | ".join(text.removeprefix("New task:\n") for text in texts if text.startswith("New task:\n"))


@tool  # type: ignore[untyped-decorator]
def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: the one
        b: the other
    """
    if a == 13:
        raise ValueError("unlucky")
    return a + b


async def test_calls_results_and_answer_are_steps_in_order() -> None:
    model = Scripted(
        [call("add", "c1", a=1, b=2)], [call("add", "c2", a=13, b=3)], [call("final_answer", "c3", answer="Three.")]
    )
    [steps] = await played(function.wrap(ToolCallingAgent(tools=[add], model=model)), "What is 1 + 2?")
    texts = [(author, text.partition("\n")[0]) for author, text in outline(steps)]
    failed = "Error executing tool 'add' with arguments {'a': 13, 'b': 3}: ValueError: unlucky"
    assert texts == [
        ("agent", 'add({"a": 1, "b": 2})#c1'),
        ("tool", "add -> 3#c1"),
        ("agent", 'add({"a": 13, "b": 3})#c2'),
        ("tool", f"add -> error: {failed}"),
        ("agent", "Three."),
    ]
    usage = Trajectory(steps=tuple(steps)).usage
    assert (usage.input_tokens, usage.output_tokens, usage.requests) == (30, 12, 3)
    assert all(step.started for step in steps)


async def test_calls_beside_each_other_have_results_of_their_own() -> None:
    model = Scripted([call("add", "c1", a=1, b=2), call("add", "c2", a=3, b=4)], [call("final_answer", "c3", answer=7)])
    [steps] = await played(function.wrap(ToolCallingAgent(tools=[add], model=model)), "?")
    assert [made.id for made in steps[0].message.calls] == ["c1", "c2"]
    assert {text for _, text in outline(steps)[1:3]} == {"add -> 3#c1", "add -> 7#c2"}
    assert answer(steps) == "7"


async def test_the_tools_that_code_calls_are_calls_and_its_text_is_the_reply() -> None:
    model = Scripted(
        "Let me add.\n<code>\ntotal = add(1, b=2)\nprint(total)\n</code>",
        "<code>add(13, 1)</code>",
        "<code>import os</code>",
        "<code>final_answer(total)</code>",
        "<code>final_answer(total + 1)</code>",
    )
    first, second = await played(function.wrap(CodeAgent(tools=[add], model=model)), "What is 1 + 2?", "And one more?")
    assert [(made.name, dict(made.arguments)) for made in Trajectory(steps=tuple(first)).calls()] == [
        ("add", {"a": 1, "b": 2}),
        ("add", {"a": 13, "b": 1}),
    ]
    texts = [(author, text.partition("\n")[0]) for author, text in outline(first)]
    assert texts[:4] == [
        ("agent", "Let me add."),
        ("python_interpreter", 'add({"a": 1, "b": 2})#'),
        ("tool", "add -> 3#"),
        ("tool", "python_interpreter -> Execution logs:"),
    ]
    assert texts[6] == ("tool", "add -> error: ValueError: unlucky#")
    assert any("Import" in text and "error" in text for _, text in texts)
    assert answer(first) == "3"
    assert answer(second) == "4"


async def test_agents_it_manages_speak_under_their_names() -> None:
    helper = ToolCallingAgent(
        tools=[add],
        model=Scripted([call("add", "s1", a=5, b=5)], [call("final_answer", "s2", answer="ten")]),
        name="helper",
        description="adds",
    )
    model = Scripted([call("helper", "c1", task="5 + 5?")], [call("final_answer", "c2", answer="It is ten.")])
    [steps] = await played(function.wrap(ToolCallingAgent(tools=[], model=model, managed_agents=[helper])), "?")
    assert [(author, text.partition("\n")[0]) for author, text in outline(steps)] == [
        ("agent", 'helper({"task": "5 + 5?"})#c1'),
        ("helper", 'add({"a": 5, "b": 5})#s1'),
        ("tool", "add -> 10#s1"),
        ("helper", "ten"),
        ("tool", "helper -> Here is the final answer from your managed agent 'helper':"),
        ("agent", "It is ten."),
    ]
    assert Trajectory(steps=tuple(steps)).usage.requests == 4
    assert helper.memory.steps == []


async def test_an_agent_that_code_calls_is_a_call_with_steps_of_its_own() -> None:
    helper = ToolCallingAgent(tools=[], model=Scripted(), name="helper", description="helps")
    model = Scripted("<code>final_answer(helper('twice'))</code>")
    [steps] = await played(function.wrap(CodeAgent(tools=[], model=model, managed_agents=[helper])), "?")
    authors = [author for author, _ in outline(steps)]
    assert authors == ["agent", "python_interpreter", "helper", "tool", "agent"]
    [made] = Trajectory(steps=tuple(steps)).calls()
    assert (made.name, dict(made.arguments)) == ("helper", {"task": "twice"})
    assert "twice" in answer(steps)


async def test_other_objects_of_the_library_are_no_agents() -> None:
    with pytest.raises(BadInput, match="is no agent of smolagents: it is SimpleTool"):
        function.wrap(add)


async def test_a_plan_is_what_it_thinks() -> None:
    model = Scripted("First this, then that.", [call("final_answer", "c1", answer="done")])
    [steps] = await played(function.wrap(ToolCallingAgent(tools=[], model=model, planning_interval=1)), "?")
    [thought] = steps[0].message.parts
    assert isinstance(thought, Reasoning)
    assert "First this, then that." in thought.text
    assert answer(steps) == "done"
    assert Trajectory(steps=tuple(steps)).usage.requests == 2


async def test_the_memory_is_that_of_one_sample_alone_and_the_agents_own_stays_as_it_was() -> None:
    own = ToolCallingAgent(tools=[], model=Scripted())
    agent = function.wrap(own)
    turns = await played(agent, "one", "two")
    assert [answer(steps) for steps in turns] == ["one", "one | two"]
    together = await asyncio.gather(*(played(agent, f"q{number}", "then") for number in range(6)))
    assert [[answer(steps) for steps in turns] for turns in together] == [
        [f"q{number}", f"q{number} | then"] for number in range(6)
    ]
    assert own.memory.steps == []


async def test_a_tool_that_sets_itself_up_does_so_before_code_calls_it() -> None:
    class Ready(Tool):  # type: ignore[misc]
        name = "ready"
        description = "says whether it is ready"
        inputs: dict[str, Any] = {}  # noqa: RUF012
        output_type = "string"

        def setup(self) -> None:
            self.state = "ready"
            super().setup()

        def forward(self) -> str:
            return self.state

    model = Scripted("<code>final_answer(ready())</code>")
    [steps] = await played(function.wrap(CodeAgent(tools=[Ready()], model=model)), "?")
    assert answer(steps) == "ready"


async def test_callbacks_of_the_agent_are_still_called() -> None:
    seen: list[Any] = []
    agent = ToolCallingAgent(tools=[], model=Scripted(), step_callbacks=[lambda step: seen.append(step.step_number)])
    await played(function.wrap(agent), "?")
    assert seen == [1]


async def test_an_agent_that_loops_stops_at_the_step_limit() -> None:
    loop = [[call("add", f"c{number}", a=1, b=2)] for number in range(3)]
    agent = smolagents.wrap(
        ToolCallingAgent(tools=[add], model=Scripted(*loop, "I give up.")),
        name="loop",
        options=LibraryOptions(max_steps=3),
    )
    [steps] = await played(agent, "?")
    assert steps[-1].stop == "step_limit"
    assert answer(steps) == "I give up."
    assert len(Trajectory(steps=tuple(steps)).calls()) == 3

    broken = ToolCallingAgent(tools=[add], model=Scripted(loop[0], ValueError("down")), max_steps=1)
    [steps] = await played(function.wrap(broken), "?")
    assert steps[-1].stop == "step_limit"
    assert answer(steps) == ""


async def test_what_is_raised_is_the_agents_fault_or_the_providers() -> None:
    async def raised(error: Exception) -> None:
        await played(function.wrap(ToolCallingAgent(tools=[], model=Scripted(error))), "?")

    with pytest.raises(AgentFailed, match="no idea"):
        await raised(ValueError("no idea"))
    request: Any = httpx.Request("POST", "http://localhost")
    response: Any = httpx.Response(503, request=request)
    with pytest.raises(ProviderFailed) as caught:
        await raised(openai.InternalServerError("down", response=response, body=None))
    assert caught.value.kind == "http_503"


async def test_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    model = Scripted([call("add", "c1", a=1, b=2)], [call("final_answer", "c2", answer="x")])
    await played(function.wrap(ToolCallingAgent(tools=[add], model=model)), "?")
    assert capsys.readouterr().out == ""


def test_each_case_and_turn_asks_the_agent_once() -> None:
    model = Scripted()
    run = proctor.evaluate(conversations(5, turns=2), agent=ToolCallingAgent(tools=[], model=model), concurrency=4)
    assert run.outcomes["scored"] == 5
    assert run.estimate("accuracy").value == 1
    assert len(model.asked) == 10
    assert (run.usage.requests, run.usage.output_tokens) == (10, 40)


def test_an_agent_is_found_by_path(tmp_path: Path) -> None:
    path = tmp_path / "agent.py"
    path.write_text("import echoes\nassistant = echoes.smolagents()\n", encoding="utf-8")
    run = proctor.evaluate(conversations(2), agent=f"smolagents:{path}:assistant", agent_options={"max_steps": 3})
    assert run.outcomes["scored"] == 2


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "smolagents", None)
    with pytest.raises(MissingExtra, match=r"\[smolagents\]"):
        smolagents.make("./agent.py:agent", {})
