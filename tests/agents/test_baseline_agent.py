"""The baselines give what 0, chance and 100 are measured with."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.agents.baseline import BaselineAgent, make
from proctor.core.errors import AgentFailed, BadInput
from proctor.core.sample import Message, Sample, Tool, ToolCall, ToolResult, Turn
from proctor.core.task import Agent
from proctor.core.trajectory import Step, Trajectory

SAMPLE = Sample.ask("fr", "Capital of France?", target="Paris")
TOOL = Tool(
    name="book",
    parameters={
        "type": "object",
        "properties": {
            "unit": {"type": "string", "enum": ["C", "F"]},
            "days": {"type": "array", "items": {"type": "integer", "minimum": 3, "maximum": 9}, "minItems": 1},
            "note": {"type": "string"},
        },
        "required": ["unit", "days"],
    },
)


async def play(agent: Agent, sample: Sample = SAMPLE) -> Trajectory:
    async with agent.open(sample, None) as session:
        return Trajectory(steps=tuple([step for turn in sample.turns for step in await session.send(turn)]))


async def test_null_says_nothing() -> None:
    trajectory = await play(make("null", {}))
    assert [step.message.parts for step in trajectory.steps] == [()]


async def test_echo_repeats_the_question() -> None:
    assert (await play(make("echo", {}))).answer == "Capital of France?"


@pytest.mark.parametrize(
    ("target", "expected"),
    [("Paris", "Paris"), (["Paris", "paris"], "Paris"), (42, "42"), ({"a": "é"}, '{"a": "é"}'), (0, "0")],
)
async def test_the_oracle_gives_the_target(target: Any, expected: str) -> None:
    assert (await play(make("oracle", {}), Sample.ask("a", "?", target=target))).answer == expected


async def test_the_oracle_gives_the_tasks_own_answer_where_the_target_is_no_text() -> None:
    call = ToolCall(name="f", arguments={"x": 1})
    right = Trajectory(steps=(Step(message=Message(role="assistant", parts=(call,))),))
    agent = make("oracle", {})
    assert isinstance(agent, BaselineAgent)
    told = agent.with_oracle(lambda sample: right)
    assert (await play(told)).calls() == (call,)
    assert (await play(agent)).answer == "Paris"  # the one that was not told is as it was


async def test_the_oracle_says_that_there_is_no_target() -> None:
    with pytest.raises(AgentFailed, match="no right answer"):
        await play(make("oracle", {}), Sample.ask("a", "?"))


async def test_random_draws_an_option_and_the_same_again_for_the_same_sample() -> None:
    samples = [Sample.ask(str(number), "?", meta={"options": ["A", "B", "C", "D"]}) for number in range(60)]
    drawn = [(await play(make("random", {}), sample)).answer for sample in samples]
    assert drawn == [(await play(make("random", {}), sample)).answer for sample in samples]
    assert set(drawn) == {"A", "B", "C", "D"}
    other = [(await play(make("random", {"seed": "1"}), sample)).answer for sample in samples]
    assert drawn != other


async def test_random_draws_a_key_where_options_have_keys() -> None:
    sample = Sample.ask("a", "?", meta={"options": {"A": "red", "B": "blue"}})
    assert (await play(make("random", {}), sample)).answer in ("A", "B")


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("Which?\nA. red\nB. blue\nC. green", "ABC"),
        ("下列正确的是（ ）A．甲 B．乙 C．丙 D．丁", "ABCD"),
        ("例题\nA. 1\nB. 2\nC. 3\n\n判断\n(A) 对\n(B) 错", "AB"),  # the options of the last question
        ("选：A、甲\nB、乙\nE、戊", "AB"),
        ("Ａ：红　Ｂ：蓝", "AB"),
    ],
)
async def test_random_draws_a_letter_of_the_options_in_the_question(text: str, letters: str) -> None:
    agent = make("random", {})
    drawn = [(await play(agent, Sample.ask(str(number), text))).answer for number in range(80)]
    assert set(drawn) == set(letters)


async def test_random_knows_the_options_of_an_earlier_turn_and_not_those_of_an_example_of_the_system() -> None:
    example = Message.of("system", "A. 1\nB. 2\nC. 3\nD. 4")
    turns = [(example, Message.of("user", "A. x\nB. y")), (Message.of("user", "Now the answer:"),)]
    sample = Sample(id="q", turns=tuple(Turn(messages=messages) for messages in turns))
    assert (await play(make("random", {}), sample)).answer in ("A", "B")


async def test_random_draws_a_word_where_there_is_nothing_else() -> None:
    assert (await play(make("random", {}), Sample.ask("a", "Plan A. Then what"))).answer in (
        "Plan",
        "A.",
        "Then",
        "what",
    )
    assert (await play(make("random", {}))).answer in ("Capital", "of", "France?")
    assert (await play(make("random", {}), Sample.ask("a", ""))).answer == ""


@given(name=st.text(max_size=5))
async def test_random_calls_a_tool_as_its_schema_wants(name: str) -> None:
    sample = Sample(id=name, turns=(Turn(messages=(Message.of("user", "Book!"),), tools=(TOOL,)),))
    (call,) = (await play(make("random", {}), sample)).calls()
    assert call.name == "book"
    assert set(call.arguments) == {"unit", "days"}
    assert call.arguments["unit"] in ("C", "F")
    assert call.arguments["days"]
    assert all(3 <= day <= 9 for day in call.arguments["days"])


@pytest.mark.parametrize(
    ("argument", "options", "words"),
    [
        ("nul", {}, "Did you mean 'baseline:null'"),
        ("", {}, "No agent is called 'baseline:'"),
        ("null", {"sed": 1}, "Did you mean 'seed'"),
        ("random", {"seed": "x"}, "seed"),
    ],
)
def test_a_misspelt_baseline_or_option_is_told(argument: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        make(argument, options)


class Shop:
    """An environment that answers every call."""

    async def call(self, call: ToolCall) -> ToolResult:
        return ToolResult(name=call.name, content="booked", id=call.id)

    def state(self) -> dict[str, object]:
        return {}


async def test_the_oracle_makes_the_calls_of_its_answer_in_the_environment() -> None:
    call = Message(role="assistant", parts=(ToolCall(name="book", id="1"),))
    known = Trajectory(steps=(Step(message=call), Step(message=Message.of("assistant", "Done."))), tools="native")
    agent = BaselineAgent("oracle").with_oracle(lambda _: known)
    async with agent.open(SAMPLE, Shop()) as session:
        steps = await session.send(SAMPLE.turns[0])
    assert [step.message.role for step in steps] == ["assistant", "tool", "assistant"]


async def test_random_makes_its_call_in_the_environment_and_then_says_something() -> None:
    async with make("random", {}).open(SAMPLE, Shop()) as session:
        steps = await session.send(Turn(messages=(Message.of("user", "Go"),), tools=(TOOL,)))
    assert [step.message.role for step in steps] == ["assistant", "tool", "assistant"]
