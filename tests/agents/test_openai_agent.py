"""An agent that is a chat model: its history, its tools, and how a turn ends."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import acting
import pytest
from endpoint import Endpoint, chat, data

from proctor.agents.openai import ChatAgent, ModelConversation, conversation_with, make
from proctor.chat.message_text import count_left_out
from proctor.core.declared import ModelInfo
from proctor.core.errors import BadInput, EnvironmentFailed, ProviderFailed
from proctor.core.sample import Message, Sample, Text, Tool, ToolCall, ToolResult, Turn
from proctor.core.task import Environment
from proctor.core.trajectory import Step, ToolStyle
from proctor.engine.acting import Acting
from proctor.models.scripted import Reply, ScriptedModel
from proctor.stores.files import files_in

TOOLS = (Tool(name="add", parameters={"type": "object"}), Tool(name="stop"))
SAMPLE = Sample.ask("s", "How much?")


class Adder:
    """An environment that adds, and remembers."""

    def __init__(self) -> None:
        self.called: list[ToolCall] = []
        self.max_steps: int | None = None

    async def call(self, call: ToolCall) -> ToolResult:
        self.called.append(call)
        if call.name == "stop":
            raise OSError("the tool is gone")
        return ToolResult(name=call.name, content=str(sum(call.arguments.values())), id=call.id)

    def state(self) -> Mapping[str, Any]:
        return {"calls": len(self.called)}


def calling(*calls: ToolCall) -> Message:
    return Message(role="assistant", parts=calls)


def add(*numbers: int, id: str = "c") -> ToolCall:
    return ToolCall(name="add", arguments={str(n): number for n, number in enumerate(numbers)}, id=id)


def turn(text: str, tools: tuple[Tool, ...] = TOOLS) -> Turn:
    return Turn(messages=(Message.of("user", text),), tools=tools)


async def play(
    script: Sequence[Reply],
    *turns: Turn,
    environment: Environment | None = None,
    tools: ToolStyle = "native",
    max_steps: int | None = 50,
) -> tuple[list[Step], ScriptedModel]:
    model = ScriptedModel(script)
    agent = ChatAgent(model, tools=tools, max_steps=max_steps)
    steps: list[Step] = []
    async with agent.open(SAMPLE, environment) as session:
        for one in turns:
            steps.extend(await session.send(one))
    return steps, model


async def test_the_history_of_a_conversation_grows_turn_by_turn() -> None:
    steps, model = await play(["one", "two"], turn("a", ()), turn("b", ()))
    assert [step.message.text for step in steps] == ["one", "two"]
    assert [message.text for message in model.asked[1]] == ["a", "one", "b"]


async def test_without_an_environment_the_first_reply_ends_the_turn() -> None:
    steps, _ = await play([calling(add(1, 2))], turn("a"))
    assert [step.message.calls for step in steps] == [(add(1, 2),)]


async def test_with_an_environment_tools_are_called_until_there_is_an_answer() -> None:
    world = Adder()
    steps, model = await play([calling(add(1, 2, id="x"), add(3, id="y")), "6"], turn("a"), environment=world)
    results = (ToolResult(name="add", content="3", id="x"), ToolResult(name="add", content="3", id="y"))
    assert [step.message.role for step in steps] == ["assistant", "tool", "tool", "assistant"]
    assert [part for step in steps[1:3] for part in step.message.parts] == list(results)
    assert model.asked[1][-1] == Message(role="tool", parts=results)
    assert steps[-1].message.text == "6"


async def test_too_many_steps_end_the_turn_as_a_step_limit() -> None:
    steps, _ = await play([calling(add(1))] * 5, turn("a"), environment=Adder(), max_steps=3)
    assert len([step for step in steps if step.message.role == "assistant"]) == 3
    assert steps[-1].stop == "step_limit"


@pytest.mark.parametrize(
    ("of_task", "of_agent", "replies", "stop"),
    [
        (60, None, 60, "task_limit"),
        (2, None, 2, "task_limit"),
        (60, 4, 4, "step_limit"),
    ],
)
async def test_the_limit_of_the_task_goes_before_the_usual_one(
    of_task: int, of_agent: int | None, replies: int, stop: str
) -> None:
    world = Adder()
    world.max_steps = of_task
    steps, _ = await play([calling(add(1))] * 70, turn("a"), environment=world, max_steps=of_agent)
    assert len([step for step in steps if step.message.role == "assistant"]) == replies
    assert steps[-1].stop == stop


async def test_a_reply_that_was_cut_off_is_not_acted_on() -> None:
    world = Adder()
    cut = Step(message=calling(add(1)), stop="length")
    steps, _ = await play([cut], turn("a"), environment=world)
    assert (steps, world.called) == ([cut], [])


async def test_tools_of_an_earlier_turn_stay_until_others_come() -> None:
    _, model = await play(["a", "b", "c"], turn("1"), turn("2", ()), turn("3", TOOLS[:1]))
    assert model.offered == [TOOLS, TOOLS, TOOLS[:1]]


async def test_a_tool_that_breaks_is_a_failure_of_the_environment() -> None:
    with pytest.raises(EnvironmentFailed, match="The tool 'stop' broke: OSError: the tool is gone"):
        await play([calling(ToolCall(name="stop"))], turn("a"), environment=Acting(Adder(), SAMPLE))


async def test_what_was_received_before_a_time_limit_is_not_lost() -> None:
    async def endless(messages: Sequence[Message], tools: Sequence[Tool]) -> Step:
        if len(messages) > 1:
            await asyncio.sleep(60)
        return Step(message=calling(add(1)))

    model = ScriptedModel([])
    model.complete = endless  # type: ignore[method-assign,assignment]  # one that hangs in its second reply
    session = conversation_with(model, "native", Adder(), 50)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(session.send(turn("a")), 0.05)
    assert [step.message.role for step in session.received] == ["assistant", "tool"]


async def test_what_was_given_back_is_not_received_any_more() -> None:
    session = conversation_with(ScriptedModel(["one"]), "native", None, 50)
    assert len(await session.send(turn("a"))) == 1
    assert session.received == []


@pytest.mark.parametrize(
    "said",
    [
        '[{"name": "add", "arguments": {"0": 1, "1": 2}}]',
        '{"name": "add", "arguments": {"0": 1, "1": 2}}',
        'I will add them.\n```json\n[{"name": "add", "arguments": {"0": 1, "1": 2}}]\n```\nDone.',
        '<tool_call>\n{"name": "add", "arguments": {"0": 1, "1": 2}}\n</tool_call>',
        'Sure: [{"name": "add", "parameters": {"0": 1, "1": 2}}] will do.',
    ],
)
async def test_in_words_tools_are_described_and_calls_read_back(said: str) -> None:
    steps, model = await play([said, "3"], turn("a"), environment=Adder(), tools="text")
    assert steps[0].message.calls == (add(1, 2, id="call_0"),)
    assert "add" in model.asked[0][0].text
    assert model.asked[0][0].role == "system"
    assert model.offered == [(), ()]
    assert [message.role for message in model.asked[1]] == ["system", "user", "assistant", "user"]
    assert model.asked[1][2].text == said, "the model sees its own words again"
    assert '"result": "3"' in model.asked[1][3].text
    assert steps[-1].message.text == "3"


@pytest.mark.parametrize(
    "said",
    [
        "The answer is [1, 2].",
        '{"name": "unknown", "arguments": {}}',
        "[" * 50_000,
        '{"name": "add", "arguments": 3}',
        "[[]]",
        "null",
    ],
)
async def test_in_words_what_is_no_call_stays_an_answer(said: str) -> None:
    steps, _ = await play([said], turn("a"), tools="text")
    assert steps[0].message.parts == (Text(text=said),)


async def test_in_words_several_calls_keep_their_order() -> None:
    tagged = '<tool_call>{"name": "add", "arguments": {"0": 1}}</tool_call><tool_call>{"name": "stop"}</tool_call>'
    steps, _ = await play([tagged], turn("a"), tools="text")
    assert [(call.name, call.id) for call in steps[0].message.calls] == [("add", "call_0"), ("stop", "call_1")]


async def test_the_agent_by_name_is_the_model_behind_an_endpoint() -> None:
    async with Endpoint(chat("42")) as endpoint:
        agent = make("m", {"base_url": endpoint.url, "max_tokens": 5})
        async with agent.open(SAMPLE, None) as session:
            steps = await session.send(SAMPLE.turns[0])
    assert (agent.name, agent.tools) == ("openai:m", "native")
    assert [step.message.text for step in steps] == ["42"]
    assert endpoint.requests[0].json["max_tokens"] == 5


async def test_an_endpoint_that_fails_is_a_failure_of_the_provider() -> None:
    async with Endpoint(data({}, 500)) as endpoint:
        agent = make("m", {"base_url": endpoint.url, "retries": 0})
        async with agent.open(SAMPLE, None) as session:
            with pytest.raises(ProviderFailed):
                await session.send(SAMPLE.turns[0])


def test_the_option_tools_says_how_tools_are_offered() -> None:
    assert make("m", {"tools": "prompt"}).tools == "text"
    with pytest.raises(BadInput, match="tools"):
        make("m", {"tools": "none"})


@pytest.mark.parametrize(
    ("how", "is_sent"), [({}, True), ({"prompted": True}, True), ({"about": ModelInfo(pictures=False)}, False)], ids=str
)
async def test_a_picture_is_sent_or_its_absence_is_told_and_recorded(how: dict[str, Any], is_sent: bool) -> None:
    sent: list[Sequence[Message]] = []
    replies = iter(("""[{"name": "add", "arguments": {"item": "picture"}}]""", "I see."))

    async def ask(messages: Sequence[Message], _: Sequence[Tool]) -> Sequence[Step]:
        sent.append([*messages])
        text = next(replies)
        call = ToolCall(name="add", arguments={"item": "picture"}, id="1")
        parts = (call,) if text.startswith("[") and not how.get("prompted") else (Text(text=text),)
        return [Step(message=Message(role="assistant", parts=parts))]

    conversation = ModelConversation(ask, acting.Shop(), **how)
    steps = await conversation.send(Turn(messages=(Message.of("user", "Go."),), tools=acting.TOOLS))
    assert files_in(steps[1].message) == (acting.PICTURE,), "what the reviewer sees"
    assert files_in(sent[1][-1]) == ((acting.PICTURE,) if is_sent else ())
    assert count_left_out([step.message for step in steps]) == (0 if is_sent else 1)
    assert count_left_out(sent[1]) == (0 if is_sent else 1)
