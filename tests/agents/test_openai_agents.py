from pathlib import Path
from typing import Any

import pytest
from echoes import library
from played import answer, conversations, outline, played

import proctor
from proctor.agents import function
from proctor.core.errors import AgentFailed, BadInput, EndpointRefused, MissingExtra, ProviderFailed
from proctor.core.sample import Reasoning
from proctor.core.trajectory import Trajectory
from proctor.transport.faults import NotAccepted
from proctor_adapters.agents import openai_agents
from proctor_adapters.agents._library_agents import LibraryOptions

library("agents", "openai-agents")

import httpx  # noqa: E402
import openai  # noqa: E402
from agents.tracing import Span, Trace, TracingProcessor  # noqa: E402
from openai.types.responses import (  # noqa: E402
    ResponseFunctionToolCall,
    ResponseFunctionWebSearch,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseReasoningItem,
)
from openai.types.responses.response_function_web_search import ActionSearch  # noqa: E402
from openai.types.responses.response_reasoning_item import Summary  # noqa: E402
from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails  # noqa: E402
from pydantic import BaseModel  # noqa: E402

from agents import (  # noqa: E402
    Agent,
    GuardrailFunctionOutput,
    Model,
    ModelResponse,
    ModelTracing,
    Usage,
    function_tool,
    input_guardrail,
    set_trace_processors,
)


class Scripted(Model):
    """Says what it is told to, in order; or echoes what it is given."""

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.asked: list[Any] = []
        self.tracing: list[ModelTracing] = []

    async def get_response(
        self,
        system_instructions: Any,
        input: Any,
        model_settings: Any,
        tools: Any,
        output_schema: Any,
        handoffs: Any,
        tracing: ModelTracing,
        **_: Any,
    ) -> ModelResponse:
        self.asked.append(input)
        self.tracing.append(tracing)
        said = self.script.pop(0) if self.script else [text(" | ".join(_texts(input)))]
        if isinstance(said, Exception):
            raise said
        usage = Usage(
            requests=1,
            input_tokens=10,
            output_tokens=4,
            total_tokens=14,
            input_tokens_details=InputTokensDetails.model_validate({"cached_tokens": 6, "cache_write_tokens": 0}),
            output_tokens_details=OutputTokensDetails(reasoning_tokens=1),
        )
        return ModelResponse(output=said, usage=usage, response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def text(said: str) -> Any:
    content = ResponseOutputText(text=said, type="output_text", annotations=[])
    return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[content])


def call(name: str, arguments: str, id: str) -> Any:
    return ResponseFunctionToolCall(name=name, arguments=arguments, call_id=id, type="function_call")


def _texts(items: Any) -> list[str]:
    return [
        item["content"] if isinstance(item["content"], str) else item["content"][0]["text"]
        for item in items
        if "content" in item
    ]


@function_tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    if a == 13:
        raise ValueError("unlucky")
    return a + b


async def test_calls_results_and_answer_are_steps_in_order() -> None:
    thought = ResponseReasoningItem(id="r", type="reasoning", summary=[Summary(text="hm", type="summary_text")])
    model = Scripted(
        [thought, call("add", '{"a": 1, "b": 2}', "c1"), call("add", '{"a": 13, "b": 2}', "c2")],
        [call("add", '{"a": 3, "b": 3}', "c3")],
        [text("Six.")],
    )
    [steps] = await played(function.wrap(Agent(name="adder", model=model, tools=[add])), "What is 1 + 2 + 3?")
    failed = "add -> error: An error occurred while running the tool. Please try again."
    assert [(author, text.partition(" Error:")[0]) for author, text in outline(steps)] == [
        ("adder", 'add({"a": 1, "b": 2})#c1, add({"a": 13, "b": 2})#c2'),
        ("tool", "add -> 3#c1"),
        ("tool", f"{failed}#c2"),
        ("adder", 'add({"a": 3, "b": 3})#c3'),
        ("tool", "add -> 6#c3"),
        ("adder", "Six."),
    ]
    assert steps[0].message.parts[0] == Reasoning(text="hm")
    usage = Trajectory(steps=tuple(steps)).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (30, 12, 18)
    assert (usage.reasoning_tokens, usage.requests) == (3, 3)
    assert all(step.started and step.seconds > 0 for step in steps)


async def test_after_a_hand_off_the_other_agent_has_the_conversation() -> None:
    billing = Agent(name="billing", model=Scripted([text("Your bill is 3.")], [text("Paid.")]))
    front = Agent(name="front", model=Scripted([call("transfer_to_billing", "{}", "h1")]), handoffs=[billing])
    first, second = await played(function.wrap(front), "My bill?", "Pay it.", system="Be brief.")
    assert outline(first) == [
        ("front", "transfer_to_billing({})#h1"),
        ("tool", 'transfer_to_billing -> {"assistant": "billing"}#h1'),
        ("billing", "Your bill is 3."),
    ]
    assert outline(second) == [("billing", "Paid.")]
    assert isinstance(billing.model, Scripted)
    roles = [item.get("role") or item["type"] for item in billing.model.asked[1]]
    assert roles == ["system", "user", "function_call", "function_call_output", "assistant", "user"]


async def test_the_history_is_that_of_one_sample_alone() -> None:
    agent = function.wrap(Agent(name="echo", model=Scripted()))
    turns = await played(agent, "one", "two")
    assert [answer(steps) for steps in turns] == ["one", "one | one | two"]
    assert [answer(steps) for steps in await played(agent, "three")] == ["three"]


async def test_an_agent_that_is_a_tool_is_one_call_and_its_cost_is_counted() -> None:
    helper = Agent(name="helper", model=Scripted([text("inner words")]))
    model = Scripted([call("ask_helper", '{"input": "x"}', "c1")], [text("outer words")])
    [steps] = await played(
        function.wrap(Agent(name="boss", model=model, tools=[helper.as_tool("ask_helper", "")])), "?"
    )
    assert outline(steps) == [
        ("boss", 'ask_helper({"input": "x"})#c1'),
        ("tool", "ask_helper -> inner words#c1"),
        ("boss", "outer words"),
    ]
    usage = Trajectory(steps=tuple(steps)).usage
    assert (usage.requests, usage.input_tokens) == (3, 30)


async def test_a_tool_of_the_provider_is_a_call() -> None:
    search = ResponseFunctionWebSearch(
        id="w1", type="web_search_call", status="completed", action=ActionSearch(type="search", query="Oslo")
    )
    [steps] = await played(function.wrap(Agent(name="a", model=Scripted([search, text("Found.")]))), "?")
    [made] = Trajectory(steps=tuple(steps)).calls()
    assert (made.name, made.arguments["query"], made.id) == ("web_search", "Oslo", "w1")
    assert answer(steps) == "Found."


async def test_an_answer_with_a_type_is_json_and_one_of_a_tool_is_its_result() -> None:
    class City(BaseModel):
        name: str

    typed = Agent(name="a", model=Scripted([text('{"name":"Paris"}')]), output_type=City)
    [steps] = await played(function.wrap(typed), "?")
    assert outline(steps) == [("a", '{"name":"Paris"}')]
    plain = Agent(name="a", model=Scripted([text('{"response": 5}')]), output_type=int)
    [steps] = await played(function.wrap(plain), "?")
    assert answer(steps) == "5"
    stops = Agent(
        name="a",
        model=Scripted([call("add", '{"a": 1, "b": 2}', "c1")]),
        tools=[add],
        tool_use_behavior="stop_on_first_tool",
    )
    [steps] = await played(function.wrap(stops), "?")
    assert outline(steps)[-2:] == [("tool", "add -> 3#c1"), ("a", "3")]


async def test_a_guardrail_that_trips_is_a_refusal() -> None:
    @input_guardrail
    async def never(context: Any, agent: Any, asked: Any) -> GuardrailFunctionOutput:
        return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)

    agent = Agent(name="a", model=Scripted([text("x")]), input_guardrails=[never])
    [steps] = await played(function.wrap(agent), "?")
    assert steps[-1].stop == "refused"
    run = await proctor.evaluate_async(conversations(1, turns=1), agent=agent)
    assert run.outcomes["scored"] == 1


async def test_an_agent_that_loops_stops_at_the_step_limit() -> None:
    model = Scripted(*[[call("add", '{"a": 1, "b": 2}', f"c{number}")] for number in range(9)])
    agent = openai_agents.wrap(
        Agent(name="a", model=model, tools=[add]), name="loop", options=LibraryOptions(max_steps=3)
    )
    [steps] = await played(agent, "?")
    assert len(model.asked) == 3
    assert steps[-1].stop == "step_limit"
    assert len(Trajectory(steps=tuple(steps)).calls()) == 3


def _status_error(kind: type[openai.APIStatusError], status: int) -> Exception:
    response: Any = httpx.Response(status, request=httpx.Request("POST", "http://localhost"))
    return kind("as the provider says", response=response, body=None)


async def test_what_is_raised_is_the_agents_fault_or_the_providers() -> None:
    async def raised(error: Exception) -> None:
        await played(function.wrap(Agent(name="a", model=Scripted(error))), "?")

    with pytest.raises(AgentFailed, match="ValueError: no idea"):
        await raised(ValueError("no idea"))
    with pytest.raises(ProviderFailed) as caught:
        await raised(_status_error(openai.RateLimitError, 429))
    assert caught.value.kind == "http_429"
    request: Any = httpx.Request("POST", "http://localhost")
    with pytest.raises(ProviderFailed):
        await raised(openai.APIConnectionError(request=request))
    with pytest.raises(EndpointRefused, match="AuthenticationError"):
        await raised(_status_error(openai.AuthenticationError, 401))
    with pytest.raises(NotAccepted):
        await raised(_status_error(openai.BadRequestError, 400))


class Watching(TracingProcessor):
    """Counts what would be sent."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def on_trace_start(self, trace: Trace) -> None:
        self.seen.append(trace)

    def on_trace_end(self, trace: Trace) -> None:
        self.seen.append(trace)

    def on_span_start(self, span: Span[Any]) -> None:
        self.seen.append(span)

    def on_span_end(self, span: Span[Any]) -> None:
        self.seen.append(span)

    def shutdown(self) -> None: ...

    def force_flush(self) -> None: ...


async def test_nothing_is_traced() -> None:
    watching = Watching()
    set_trace_processors([watching])
    helper = Agent(name="helper", model=Scripted([text("inner")]))
    model = Scripted([call("ask_helper", '{"input": "x"}', "c1")], [text("outer")])
    await played(function.wrap(Agent(name="boss", model=model, tools=[helper.as_tool("ask_helper", "")])), "?")
    assert watching.seen == []
    assert isinstance(helper.model, Scripted)
    assert {*model.tracing, *helper.model.tracing} == {ModelTracing.DISABLED}


def test_each_case_and_turn_asks_the_agent_once() -> None:
    model = Scripted()
    run = proctor.evaluate(conversations(5, turns=2), agent=Agent(name="echo", model=model), concurrency=4)
    assert run.outcomes["scored"] == 5
    assert run.estimate("accuracy").value == 1
    assert len(model.asked) == 10
    assert (run.usage.requests, run.usage.output_tokens) == (10, 40)


def test_an_agent_is_found_by_path(tmp_path: Path) -> None:
    path = tmp_path / "agent.py"
    path.write_text("import echoes\nassistant = echoes.openai_agents()\nother = echoes.langgraph()\n", encoding="utf-8")
    run = proctor.evaluate(conversations(2), agent=f"openai-agents:{path}:assistant", agent_options={"max_steps": 3})
    assert run.outcomes["scored"] == 2
    with pytest.raises(BadInput, match="no agent of agents: it is CompiledStateGraph"):
        openai_agents.make(f"{path}:other", {})


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "agents", None)
    with pytest.raises(MissingExtra, match=r"\[openai-agents\]"):
        openai_agents.make("./agent.py:agent", {})


async def test_a_call_inside_an_agent_that_is_a_tool_waits_too(tmp_path: Path) -> None:
    sent: list[str] = []

    @function_tool(needs_approval=True)
    def send(to: str) -> str:
        """Send a letter."""
        sent.append(to)
        return "sent"

    inner = Agent(name="clerk", model=Scripted([call("send", '{"to": "Ada"}', "i1")], [text("Sent it.")]), tools=[send])
    model = Scripted([call("ask_clerk", '{"input": "Write to Ada."}', "c1")], [text("Done.")])
    outer = Agent(name="boss", model=model, tools=[inner.as_tool("ask_clerk", "Ask the clerk.")])
    run = await proctor.evaluate_async(conversations(1, 1), agent=outer, store=str(tmp_path / "runs.db"), approve="all")
    [trial] = run.trials()
    assert (trial.outcome, sent) == ("scored", ["Ada"])
    assert [(one.call.name, one.approved) for one in trial.trajectory.approvals] == [("send", True)]
    assert [text for _, text in outline(trial.trajectory.steps)] == [
        'ask_clerk({"input": "Write to Ada."})#c1',
        "ask_clerk -> Sent it.#c1",
        "Done.",
    ]
    assert trial.trajectory.usage.requests == 4


async def test_a_call_after_a_hand_over_waits_beside_one_that_needs_no_approval(tmp_path: Path) -> None:
    sent: list[str] = []

    @function_tool(needs_approval=True)
    def send(to: str) -> str:
        """Send a letter."""
        sent.append(to)
        return "sent"

    model = Scripted([call("send", '{"to": "Bob"}', "s1"), call("add", '{"a": 1, "b": 1}', "a1")], [text("Not sent.")])
    clerk = Agent(name="clerk", model=model, tools=[send, add])
    desk = Agent(name="desk", model=Scripted([call("transfer_to_clerk", "{}", "h1")]), handoffs=[clerk])
    run = await proctor.evaluate_async(conversations(1, 1), agent=desk, store=str(tmp_path / "runs.db"), approve="none")
    [trial] = run.trials()
    assert (trial.outcome, sent) == ("scored", [])
    texts = [text for _, text in outline(trial.trajectory.steps)]
    assert {"add -> 2#a1", "send -> This call was denied.#s1"} <= {*texts}
    assert texts[-1] == "Not sent."
    assert trial.trajectory.usage.requests == 3
