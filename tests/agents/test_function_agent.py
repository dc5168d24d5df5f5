"""A function, an object or a class of a person becomes an agent, and what it does wrong becomes a failure."""

import asyncio
import contextvars
import json
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from proctor.agents.function import continuable, identity, make, source_digest, wrap
from proctor.core.errors import AgentFailed, BadInput, ProviderFailed
from proctor.core.sample import File, Message, Reasoning, Sample, Text, Tool, ToolCall, ToolResult, Turn
from proctor.core.trajectory import Step, Trajectory

SAMPLE = Sample.ask("fr", "Capital of France?", target="Paris")
ADD = Tool(name="add", description="Add", parameters={"type": "object", "properties": {"a": {"type": "integer"}}})


async def play(target: object, *turns: Turn, environment: Any = None) -> list[Step]:
    async with wrap(target).open(SAMPLE, environment) as session:
        return [step for turn in turns or SAMPLE.turns for step in await session.send(turn)]


async def answer(target: object, *turns: Turn) -> str:
    return Trajectory(steps=tuple(await play(target, *turns))).answer


def shout(question: str) -> str:
    return question.upper()


async def whisper(question: str) -> str:
    await asyncio.sleep(0)
    return question.lower()


class Counter:
    """Remembers how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def run(self, text: str, tries: int = 3) -> str:
        self.asked += 1
        return f"{self.asked}: {text}"


class AsyncRunner:
    name = "mine"

    async def run(self, text: str) -> str:
        return f"ran {text}"


class Callable1:
    async def __call__(self, question: str) -> str:
        return f"called {question}"


def later(question: str) -> Any:
    return whisper(question)


def pieces(question: str) -> Iterator[str]:
    yield "Pa"
    yield "ris"


async def async_pieces(question: str) -> AsyncIterator[str]:
    yield "Pa"
    yield "ris"


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (shout, "CAPITAL OF FRANCE?"),
        (whisper, "capital of france?"),
        (Counter(), "1: Capital of France?"),
        (Counter, "1: Capital of France?"),
        (AsyncRunner(), "ran Capital of France?"),
        (AsyncRunner, "ran Capital of France?"),
        (Callable1(), "called Capital of France?"),
        (later, "capital of france?"),
        (partial(shout), "CAPITAL OF FRANCE?"),
        (partial(whisper), "capital of france?"),
        (Counter().run, "1: Capital of France?"),
        (lambda *texts: texts[0], "Capital of France?"),
        (pieces, "Paris"),
        (async_pieces, "Paris"),
        (str, None),
    ],
)
async def test_whatever_can_be_called_with_a_text_answers(target: object, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(BadInput, match="has no method run"):
            wrap(target)
    else:
        assert await answer(target) == expected


async def test_an_agent_passes_through_unchanged() -> None:
    agent = wrap(shout)
    assert wrap(agent) is agent


async def test_a_class_is_made_anew_for_each_sample_and_remembers_the_turns_of_one() -> None:
    turn = SAMPLE.turns[0]
    assert [step.message.text[:2] for step in await play(Counter, turn, turn)] == ["1:", "2:"]
    assert (await answer(Counter))[:2] == "1:"


async def test_a_turn_of_several_messages_is_told_with_their_roles() -> None:
    turn = Turn(messages=(Message.of("system", "Be brief."), Message.of("user", "Hi")))
    assert await answer(lambda text: text, turn) == "system: Be brief.\n\nuser: Hi"


async def test_two_parameters_get_messages_and_tools_as_plain_dicts() -> None:
    seen: list[Any] = []

    def agent(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        seen.append(json.loads(json.dumps([messages, tools])))
        call = {"id": "1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
        return {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "Hm."}

    (step,) = await play(agent, Turn(messages=(Message.of("user", "1?"),), tools=(ADD,)))
    assert seen[0][0] == [{"role": "user", "content": "1?"}]
    assert seen[0][1][0]["function"] == {"name": "add", "description": "Add", "parameters": ADD.parameters}
    assert step.message.parts == (Reasoning(text="Hm."), ToolCall(name="add", arguments={"a": 1}, id="1"))
    assert wrap(agent).tools == "native"


async def test_a_parameter_called_messages_gets_the_whole_conversation() -> None:
    def agent(messages: list[dict[str, Any]]) -> str:
        return "|".join(f"{one['role']}={one['content']}" for one in messages)

    turn = SAMPLE.turns[0]
    steps = await play(agent, turn, turn)
    first = "user=Capital of France?"
    assert steps[1].message.text == f"{first}|assistant={first}|{first}"
    assert wrap(agent).tools == "text"


async def test_messages_that_were_given_and_come_back_are_not_counted_again() -> None:
    def agent(messages: list[dict[str, Any]], tools: object) -> list[dict[str, Any]]:
        messages.append({"role": "assistant", "content": "Paris"})
        return messages

    assert [step.message.text for step in await play(agent)] == ["Paris"]


async def test_an_image_comes_as_a_data_address() -> None:
    def agent(messages: list[dict[str, Any]]) -> str:
        return str(messages[0]["content"][1]["image_url"]["url"])

    image = File(name="a.png", media_type="image/png", data=b"\x89PNG")
    turn = Turn(messages=(Message(role="user", parts=(Text(text="What?"), image)),))
    assert await answer(agent, turn) == "data:image/png;base64,iVBORw=="


async def test_tool_calls_go_to_the_environment_until_an_answer_comes() -> None:
    class Shop:
        async def call(self, call: ToolCall) -> ToolResult:
            return ToolResult(name=call.name, content="42", id=call.id)

        def state(self) -> dict[str, Any]:
            return {}

    def agent(messages: list[dict[str, Any]], tools: object) -> Any:
        if messages[-1]["role"] == "tool":
            return f"It is {messages[-1]['content']} ({messages[-1]['tool_call_id']})."
        return {"tool_calls": [{"id": "7", "function": {"name": "price", "arguments": {}}}]}

    steps = await play(agent, environment=Shop())
    assert [step.message.role for step in steps] == ["assistant", "tool", "assistant"]
    assert steps[-1].message.text == "It is 42 (7)."


async def test_an_agent_that_calls_tools_for_ever_ends_at_the_step_limit() -> None:
    class Shop:
        async def call(self, call: ToolCall) -> ToolResult:
            return ToolResult(name=call.name, content="again", id=call.id)

        def state(self) -> dict[str, Any]:
            return {}

    async def agent(messages: object, tools: object) -> Any:
        return {"tool_calls": [{"function": {"name": "f"}}]}

    assert (await play(agent, environment=Shop()))[-1].stop == "step_limit"


async def broken(question: str) -> str:
    raise KeyError("no such thing")


def leaves(question: str) -> str:
    raise SystemExit(3)


async def cancels(question: str) -> str:
    raise asyncio.CancelledError


def endless(question: str) -> Iterator[str]:
    while True:
        yield "x" * 1_000_000


class CannotBegin:
    def __init__(self) -> None:
        raise OSError("no disk")

    def run(self, text: str) -> str:
        return text


@pytest.mark.parametrize(
    ("target", "kind", "words"),
    [
        (broken, "raised", "KeyError: 'no such thing'"),
        (leaves, "raised", "SystemExit: 3"),
        (cancels, "raised", "CancelledError"),
        (CannotBegin, "raised", "no disk"),
        (lambda question: next(iter(())), "raised", "StopIteration"),
        (lambda question: None, "returned_none", "returned None"),
        (lambda question: 42, "wrong_type", "returned int"),
        (lambda question: b"Paris", "wrong_type", "returned bytes"),
        (lambda question: {"text": "Paris"}, "wrong_type", "'text'"),
        (lambda question: {"role": "boss", "content": "Paris"}, "wrong_type", "no message"),
        (lambda question: {"role": "assistant", "content": 3}, "wrong_type", "no message"),
        (lambda question: {"role": "assistant", "tool_calls": [{"x": 1}]}, "wrong_type", "no message"),
        (lambda question: ["Paris"], "wrong_type", "returned str"),
        (lambda question: [None], "returned_none", "returned None"),
        (endless, "too_large", "more than"),
    ],
)
async def test_what_an_agent_does_wrong_is_its_own_failure(target: object, kind: str, words: str) -> None:
    with pytest.raises(AgentFailed) as caught:
        await play(target)
    assert caught.value.kind == kind
    assert words in str(caught.value)


async def test_the_cause_of_a_failure_is_kept_for_the_trace() -> None:
    with pytest.raises(AgentFailed) as caught:
        await play(broken)
    assert isinstance(caught.value.__cause__, KeyError)


async def test_our_own_errors_pass_through() -> None:
    def agent(question: str) -> str:
        raise ProviderFailed("The endpoint is down.")

    with pytest.raises(ProviderFailed, match="is down"):
        await play(agent)


async def test_a_stop_from_outside_is_no_failure_of_the_agent() -> None:
    async def agent(question: str) -> str:
        await asyncio.sleep(60)
        return ""

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await play(agent)


async def test_an_empty_text_is_an_answer_without_words() -> None:
    (step,) = await play(lambda question: "")
    assert step.message.parts == ()


async def test_halves_of_surrogate_pairs_do_not_reach_the_store() -> None:
    assert await answer(lambda question: "a\ud800b") == "a?b"


async def test_arguments_that_are_no_json_become_text() -> None:
    def agent(messages: object, tools: object) -> Any:
        return {"tool_calls": [{"function": {"name": "f", "arguments": {"day": Path("x"), "n": (1, 2)}}}]}

    assert (await play(agent))[0].message.calls[0].arguments == {"day": "x", "n": [1, 2]}


async def test_a_plain_function_sees_the_context_and_does_not_block_the_loop() -> None:
    who: contextvars.ContextVar[str] = contextvars.ContextVar("who")
    who.set("me")
    threads: set[str] = set()
    together = threading.Barrier(8, timeout=60)

    def agent(question: str) -> str:
        threads.add(threading.current_thread().name)
        together.wait()  # passes only when all eight run at the same time
        return who.get()

    assert await asyncio.gather(*(answer(agent) for _ in range(8))) == ["me"] * 8
    assert threading.main_thread().name not in threads


def test_a_function_that_never_returns_does_not_hold_the_program() -> None:
    script = """
import asyncio, time
from proctor.agents.function import wrap
from proctor.core.sample import Sample

def stuck(question):
    time.sleep(600)

async def main():
    sample = Sample.ask("a", "?")
    async with wrap(stuck).open(sample, None) as session, asyncio.timeout(0.1):
        await session.send(sample.turns[0])

try:
    asyncio.run(main())
except TimeoutError:
    print("ended")
"""
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "ended\n"
    assert time.monotonic() - started < 60, "the agent sleeps for 600 s"


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (42, "got int"),
        (lambda: "x", "cannot be called as an agent"),
        (lambda a, b, c: "x", "cannot be called as an agent"),
        (
            type("Needs", (), {"__init__": lambda self, model: None, "run": lambda self, text: text}),
            "without arguments",
        ),
    ],
)
def test_what_cannot_be_an_agent_is_said_before_the_run(target: object, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        wrap(target)


def test_a_required_word_argument_cannot_be_filled() -> None:
    def agent(question: str, *, model: str) -> str:
        return question

    with pytest.raises(BadInput, match="model"):
        wrap(agent)


def test_names_say_where_something_is_found_again() -> None:
    assert identity(shout) == f"{__name__}:shout"
    assert identity(Counter()) == f"{__name__}:Counter"
    assert identity(partial(shout)) == f"{__name__}:shout"
    assert wrap(shout).name == f"{__name__}:shout"
    assert wrap(AsyncRunner()).name == "mine"
    assert wrap(shout, name="./a.py:shout").name == "./a.py:shout"


@pytest.mark.parametrize(
    ("target", "expected"),
    [(shout, True), (Counter, True), (Counter(), False), (lambda text: text, False), (partial(shout), False)],
)
def test_only_what_a_name_leads_to_can_be_continued_elsewhere(target: object, expected: bool) -> None:
    assert continuable(target) is expected


def test_an_inner_function_or_one_of_main_cannot_be_continued(monkeypatch: pytest.MonkeyPatch) -> None:
    def inner(text: str) -> str:
        return text

    assert not continuable(inner)
    monkeypatch.setattr(shout, "__module__", "__main__")
    assert not continuable(shout)


def test_a_digest_follows_the_source() -> None:
    digests: Sequence[str | None] = [source_digest(one) for one in (shout, whisper, Counter, Counter(), partial(shout))]
    assert None not in digests
    assert digests[2] == digests[3]
    assert digests[0] == digests[4]
    assert len(set(digests)) == 3
    assert source_digest(len) is None


async def test_the_name_function_takes_a_path_and_no_options(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def answer(question):\n    return 'Paris'\n")
    agent = make(f"{path}:answer", {})
    assert await answer(agent) == "Paris"
    with pytest.raises(BadInput, match="takes no options, so none called 'x'"):
        make(f"{path}:answer", {"x": 1})


async def test_a_trajectory_or_steps_may_be_given_as_they_are() -> None:
    replies: list[Callable[[str], object]] = [
        lambda question: Trajectory.of("Paris"),
        lambda question: [Step(message=Message.of("assistant", "Paris"))],
        lambda question: Message.of("assistant", "Paris"),
    ]
    assert [await answer(reply) for reply in replies] == ["Paris"] * 3
