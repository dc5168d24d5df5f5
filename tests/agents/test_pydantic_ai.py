from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from echoes import library
from played import answer, conversations, outline, played

import proctor
from proctor.agents import function
from proctor.core.errors import AgentFailed, EndpointRefused, MissingExtra, ProviderFailed
from proctor.core.sample import Reasoning
from proctor.core.trajectory import Trajectory
from proctor.transport.faults import NotAccepted
from proctor_adapters.agents import pydantic_ai
from proctor_adapters.agents._library_agents import LibraryOptions

library("pydantic_ai", "pydantic-ai")

from pydantic import BaseModel  # noqa: E402
from pydantic_ai import (  # noqa: E402
    Agent,
    ApprovalRequired,
    CallDeferred,
    DeferredToolRequests,
    ModelHTTPError,
    ModelRetry,
    RunContext,
)
from pydantic_ai.messages import (  # noqa: E402
    ModelMessage,
    ModelResponse,
    ModelResponsePart,
    NativeToolCallPart,
    NativeToolReturnPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel  # noqa: E402
from pydantic_ai.models.test import TestModel  # noqa: E402
from pydantic_ai.usage import RequestUsage  # noqa: E402


class Script:
    """Says what it is told to, in order; or echoes the questions so far."""

    def __init__(self, *script: Sequence[ModelResponsePart] | Exception) -> None:
        self.script = list(script)
        self.asked: list[list[ModelMessage]] = []
        self.model = FunctionModel(self._reply)

    def _reply(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.asked.append(list(messages))
        asked = [part.content for one in messages for part in one.parts if isinstance(part, UserPromptPart)]
        said = self.script.pop(0) if self.script else [TextPart(" | ".join(map(str, asked)))]
        if isinstance(said, Exception):
            raise said
        usage = RequestUsage(input_tokens=10, output_tokens=4, cache_read_tokens=6, details={"reasoning_tokens": 1})
        return ModelResponse(parts=list(said), usage=usage)


def adder(script: Script, **given: Any) -> Agent[None, Any]:
    agent: Agent[None, Any] = Agent(script.model, name="adder", **given)

    @agent.tool_plain
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        if a == 13:
            raise ModelRetry("unlucky")
        return a + b

    return agent


def call(a: object, b: object, id: str) -> ToolCallPart:
    return ToolCallPart("add", {"a": a, "b": b}, id)


async def test_calls_results_and_answer_are_steps_in_order() -> None:
    script = Script(
        [ThinkingPart("hm"), TextPart("Let me see."), call(1, 2, "c1"), call(13, 2, "c2")],
        [call(3, 3, "c3")],
        [TextPart("Six.")],
    )
    [steps] = await played(function.wrap(adder(script)), "What is 1 + 2 + 3?")
    assert outline(steps) == [
        ("adder", 'Let me see. add({"a": 1, "b": 2})#c1, add({"a": 13, "b": 2})#c2'),
        ("tool", "add -> 3#c1"),
        ("tool", "add -> error: unlucky#c2"),
        ("adder", 'add({"a": 3, "b": 3})#c3'),
        ("tool", "add -> 6#c3"),
        ("adder", "Six."),
    ]
    assert steps[0].message.parts[0] == Reasoning(text="hm")
    usage = Trajectory(steps=tuple(steps)).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (30, 12, 18)
    assert (usage.reasoning_tokens, usage.requests) == (3, 3)
    assert all(step.started for step in steps)
    assert all(step.seconds > 0 for step in steps if step.author == "adder")


async def test_arguments_that_do_not_fit_are_a_failed_call() -> None:
    [steps] = await played(function.wrap(adder(Script([call("one", 2, "c1")], [TextPart("?")]))), "?")
    result = outline(steps)[1][1]
    assert result.startswith("add -> error: ")
    assert "valid integer" in result


async def test_an_answer_with_a_type_is_json_and_no_call() -> None:
    class City(BaseModel):
        name: str

    script = Script(
        [ToolCallPart("final_result", {"nome": "Paris"}, "o1")], [ToolCallPart("final_result", {"name": "Paris"}, "o2")]
    )
    [steps] = await played(function.wrap(adder(script, output_type=City)), "?")
    assert outline(steps) == [("adder", '{"nome": "Paris"}'), ("adder", '{"name": "Paris"}')]
    assert Trajectory(steps=tuple(steps)).calls() == ()

    number = adder(Script([ToolCallPart("final_result", {"response": 5}, "o1")]), output_type=int)
    [steps] = await played(function.wrap(number), "?")
    assert answer(steps) == "5"


async def test_the_history_is_that_of_one_sample_alone() -> None:
    script = Script()
    agent = function.wrap(adder(script, system_prompt="You add."))
    turns = await played(agent, "one", "two", system="Be brief.")
    assert [answer(steps) for steps in turns] == ["one", "one | two"]
    assert [answer(steps) for steps in await played(agent, "three")] == ["three"]
    first = script.asked[0][0]
    assert first.kind == "request"
    assert first.instructions == "Be brief."
    assert getattr(first.parts[0], "content", "") == "You add."


async def test_a_tool_of_the_provider_is_a_call() -> None:
    script = Script(
        [
            NativeToolCallPart("web_search", {"query": "Oslo"}, "w1"),
            NativeToolReturnPart("web_search", "rain", "w1"),
            TextPart("It rains."),
        ]
    )
    [steps] = await played(function.wrap(adder(script)), "?")
    assert outline(steps) == [
        ("adder", 'It rains. web_search({"query": "Oslo"})#w1'),
        ("tool", "web_search -> rain#w1"),
    ]
    assert answer(steps) == "It rains."


async def test_what_another_agent_used_on_its_behalf_is_counted() -> None:
    helper = Agent(Script([TextPart("inner")]).model)
    script = Script([ToolCallPart("ask", {}, "c1")], [TextPart("outer")])
    agent = adder(script)

    @agent.tool
    async def ask(context: RunContext[None]) -> str:
        """Ask the helper."""
        return str((await helper.run("?", usage=context.usage)).output)

    [steps] = await played(function.wrap(agent), "?")
    assert [text for _, text in outline(steps)] == ["ask({})#c1", "ask -> inner#c1", "outer"]
    usage = Trajectory(steps=tuple(steps)).usage
    assert (usage.requests, usage.input_tokens) == (3, 30)


async def test_an_agent_that_loops_stops_at_the_step_limit() -> None:
    script = Script(*[[call(1, 2, f"c{number}")] for number in range(9)])
    agent = pydantic_ai.wrap(adder(script), name="loop", options=LibraryOptions(max_steps=3))
    [steps] = await played(agent, "?")
    assert len(script.asked) == 3
    assert steps[-1].stop == "step_limit"
    assert len(Trajectory(steps=tuple(steps)).calls()) == 3


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (lambda: ValueError("no idea"), AgentFailed),
        (lambda: ModelHTTPError(503, "model", "as the provider says"), ProviderFailed),
        (lambda: ModelHTTPError(401, "model", "as the provider says"), EndpointRefused),
        (lambda: ModelHTTPError(400, "model", "as the provider says"), NotAccepted),
    ],
)
async def test_what_is_raised_is_the_agents_fault_or_the_providers(
    error: Callable[[], Exception], expected: type[Exception]
) -> None:
    with pytest.raises(expected, match=r"no idea|as the provider says"):
        await played(function.wrap(adder(Script(error()))), "?")


async def test_the_librarys_own_test_model_is_an_agent_like_any_other() -> None:
    agent = adder(Script())
    agent.model = TestModel()
    [steps] = await played(function.wrap(agent), "?")
    assert [made.name for made in Trajectory(steps=tuple(steps)).calls()] == ["add"]
    assert answer(steps) == '{"add":0}'


def test_each_case_and_turn_asks_the_agent_once() -> None:
    script = Script()
    run = proctor.evaluate(conversations(5, turns=2), agent=adder(script), concurrency=4)
    assert run.outcomes["scored"] == 5
    assert run.estimate("accuracy").value == 1
    assert len(script.asked) == 10
    assert (run.usage.requests, run.usage.output_tokens) == (10, 40)


def test_an_agent_is_found_by_path(tmp_path: Path) -> None:
    path = tmp_path / "agent.py"
    path.write_text("import echoes\nassistant = echoes.pydantic_ai()\n", encoding="utf-8")
    run = proctor.evaluate(conversations(2), agent=f"pydantic_ai:{path}:assistant", agent_options={"max_steps": 3})
    assert run.outcomes["scored"] == 2


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pydantic_ai", None)
    with pytest.raises(MissingExtra, match=r"\[pydantic-ai\]"):
        pydantic_ai.make("./agent.py:agent", {})


async def test_a_call_that_needs_approval_waits_beside_one_that_does_not(tmp_path: Path) -> None:
    script = Script([call(1, 2, "c1"), ToolCallPart("send", {"to": "Ada"}, "s1")], [TextPart("Sent.")])
    agent = adder(script, output_type=[str, DeferredToolRequests])
    sent: list[str] = []

    @agent.tool
    def send(context: RunContext[None], to: str) -> str:
        """Send a letter."""
        if not context.tool_call_approved:
            raise ApprovalRequired({"why": f"letters to {to} are long"})
        sent.append(to)
        return "sent"

    run = await proctor.evaluate_async(conversations(1, 1), agent=agent, store=str(tmp_path / "runs.db"), approve="all")
    [trial] = run.trials()
    assert (trial.outcome, sent) == ("scored", ["Ada"])
    assert [text for _, text in outline(trial.trajectory.steps)] == [
        'add({"a": 1, "b": 2})#c1, send({"to": "Ada"})#s1',
        "add -> 3#c1",
        "send -> sent#s1",
        "Sent.",
    ]
    [approval] = trial.trajectory.approvals
    assert (approval.call.name, approval.hint) == ("send", '{"why": "letters to Ada are long"}')
    assert trial.usage.requests == 2


@pytest.mark.parametrize(
    ("given", "outcome", "result"),
    [
        ({}, "awaiting_approval", None),
        ({"approve": "all"}, "awaiting_approval", None),
        ({"approve": "none"}, "scored", "This call was denied."),
        ({"user": "scripted"}, "scored", "It is 42."),
    ],
)
async def test_only_words_give_the_result_of_a_call_that_is_carried_out_elsewhere(
    given: dict[str, str], outcome: str, result: str | None, tmp_path: Path
) -> None:
    script = Script([ToolCallPart("look_up", {"what": "it"}, "c1")], [TextPart("Thanks.")])
    agent = Agent(script.model, output_type=[str, DeferredToolRequests])

    @agent.tool_plain
    def look_up(what: str) -> str:
        raise CallDeferred

    if "user" in given:
        (tmp_path / "user.json").write_text('["It is 42.", null]')
        given = {"user": f"scripted:{tmp_path / 'user.json'}"}
    run = await proctor.evaluate_async(
        conversations(1, 1),
        agent=agent,
        store=str(tmp_path / "runs.db"),
        **given,  # type: ignore[arg-type]
    )
    [trial] = run.trials()
    assert trial.outcome == outcome
    texts = [text for _, text in outline(trial.trajectory.steps)]
    assert texts[1:] == ([f"look_up -> {result}#c1", "Thanks."] if result is not None else [])
    if outcome == "awaiting_approval":
        assert trial.failure is not None
        assert 'the result of look_up(what="it"), which comes from outside' in str(trial.failure.reason)
