"""What every agent promises that is given the tools of an environment. A new one joins with one line in `fakes/acting.py`."""

import asyncio
from collections.abc import Sequence
from typing import Any

import acting
import pytest
from acting import Follows, Shop

import proctor
from proctor.agents import function
from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, Tool, ToolCall, ToolResult, Turn
from proctor.core.scenario import ScriptedLine
from proctor.core.score import Score
from proctor.core.task import Task
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Trial
from proctor.stores.files import files_in
from proctor.users.scripted import ScriptedUser
from proctor_adapters.agents import langgraph

KINDS = [*acting.AGENTS]
BUY = Sample.ask("buy", "An apple and a pear, please.")


def always(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=1)


def agent_of(kind: str, follows: Follows) -> Any:
    made = acting.AGENTS[kind](follows)
    return langgraph.wrap(made, name="made") if kind == "langgraph" else made


async def play(kind: str, script: acting.Script, *samples: Sample, **how: Any) -> tuple[Trial, Follows, Shop]:
    follows, shops = Follows(script), list[Shop]()

    def make(sample: Sample) -> Shop:
        shops.append(Shop())
        return shops[-1]

    task = Task(name="shop", samples=samples or [BUY], scorers=[always], environment=make)
    run = await proctor.evaluate_async(task, agent=agent_of(kind, follows), store=":memory:", max_failed=1.0, **how)
    [trial] = run.trials()
    return trial, follows, shops[0]


def results(trial: Trial) -> list[tuple[str, bool]]:
    """What tools returned, and whether they failed; the text around it is the library's."""
    return [
        (part.content, part.is_error)
        for step in trial.trajectory.steps
        for part in step.message.parts
        if isinstance(part, ToolResult) and part.name != "python_interpreter"
    ]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_picture_of_a_result_is_given_to_it_or_counted_as_left_out(kind: str) -> None:
    trial, _, _ = await play(kind, [[("add", {"item": "picture"})], "I see."])
    assert trial.outcome == "scored", trial.failure
    (text, is_error), *_ = results(trial)
    assert not is_error
    is_told = "1 file left out: a.png (image/png, 8 bytes)" in text
    assert is_told == ("files_left_out" in trial.notes)  # twice where code prints the result
    kept = [file for step in trial.trajectory.steps for file in files_in(step.message)]
    assert kept == [acting.PICTURE] or is_told
    assert is_told or kind.startswith("function"), "these are given the bytes"


@pytest.mark.parametrize("kind", KINDS)
async def test_it_calls_the_tools_through_the_environment_of_the_sample(kind: str) -> None:
    trial, follows, shop = await play(
        kind, [[("add", {"item": "apple"})], [("add", {"item": "pear"})], "You have both."]
    )
    assert trial.outcome == "scored", trial.failure
    assert trial.trajectory.answer == "You have both."
    assert [(call.name, dict(call.arguments)) for call in shop.calls] == [
        ("add", {"item": "apple"}),
        ("add", {"item": "pear"}),
    ]
    assert [(call.name, dict(call.arguments)) for call in trial.trajectory.calls()] == [
        ("add", {"item": "apple"}),
        ("add", {"item": "pear"}),
    ]
    told = results(trial)
    assert len(told) == 2
    assert "added apple, 1 in the cart" in told[0][0]
    assert "added pear, 2 in the cart" in told[1][0]
    assert not any(failed for _, failed in told)
    assert trial.trajectory.state == {"cart": ["apple", "pear"]}
    assert trial.trajectory.tools == "native"
    assert "added apple, 1 in the cart" in follows.heard[1]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "smolagents, code"])  # whose prompt describes them
async def test_its_model_is_offered_the_tools(kind: str) -> None:
    _, follows, _ = await play(kind, ["Nothing, then."])
    assert {tool.name for tool in acting.TOOLS} <= {*follows.offered[0]}


@pytest.mark.parametrize("kind", KINDS)
async def test_calls_of_one_reply_are_run_in_their_order(kind: str) -> None:
    items = [("add", {"item": str(number)}) for number in range(5)]
    trial, _, shop = await play(kind, [items, "Done."])
    assert trial.outcome == "scored", trial.failure
    assert shop.cart == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_tool_that_fails_is_a_result_that_the_model_sees(kind: str) -> None:
    trial, follows, _ = await play(kind, [[("sell_out", {"item": "kiwi"})], "No kiwi."])
    assert trial.outcome == "scored", trial.failure
    assert trial.trajectory.answer == "No kiwi."
    [(content, failed)] = results(trial)
    assert "kiwi is sold out" in content
    assert failed
    assert "kiwi is sold out" in follows.heard[1]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_broken_environment_ends_the_sample_at_once_and_is_no_fault_of_the_agent(kind: str) -> None:
    trial, follows, shop = await play(kind, [[("add", {"item": "apple"})], [("crash", {})], "All is well.", "Really."])
    assert trial.outcome == "environment_failed"
    assert trial.failure is not None
    assert "the shop burns" in str(trial.failure.reason)
    assert len(follows.heard) == 2  # its model is not asked what to do about it
    assert len(shop.calls) == 2
    assert "added apple, 1 in the cart" in results(trial)[0][0]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_rule_of_the_task_ends_the_conversation_and_what_was_done_is_scored(kind: str) -> None:
    trial, follows, _ = await play(kind, [[("add", {"item": "apple"})], [("close", {})], "Never said."])
    assert trial.outcome == "scored", trial.failure
    assert trial.trajectory.stop == "task_limit"
    assert trial.trajectory.state == {"cart": ["apple"]}
    assert len(follows.heard) == 2
    assert [call.name for call in trial.trajectory.calls()][:1] == ["add"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_later_turn_may_bring_other_tools(kind: str) -> None:
    more = Tool(name="wrap", description="Wraps an item.", parameters=acting.ITEM)
    turns = (
        Turn(messages=(Message.of("user", "An apple."),)),
        Turn(messages=(Message.of("user", "Wrap it."),), tools=(*acting.TOOLS, more)),
        Turn(messages=(Message.of("user", "And another."),)),
    )
    script: acting.Script = [
        [("add", {"item": "apple"})], "Added.", [("wrap", {"item": "apple"})], "Wrapped.", [("add", {"item": "fig"})], "Added too.",
    ]  # fmt: skip
    trial, follows, shop = await play(kind, script, Sample(id="wrap", turns=turns))
    assert trial.outcome == "scored", trial.failure
    assert [call.name for call in shop.calls] == ["add", "wrap", "add"]
    assert [step.turn for step in trial.trajectory.steps if step.message.calls] == [0, 1, 2]
    assert "An apple." in follows.heard[2] or kind in ("function, environment", "smolagents, code")


@pytest.mark.parametrize("kind", KINDS)
async def test_samples_side_by_side_have_environments_of_their_own(kind: str) -> None:
    samples = [Sample.ask(str(number), "An apple.") for number in range(4)]

    class Shared(Follows):
        def next(self, given: object, tools: Sequence[str]) -> Any:
            return "Done." if "in the cart" in str(given) else [("add", {"item": "apple"})]

    shared = Shared([])
    task = Task(name="shop", samples=samples, scorers=[always], environment=lambda sample: Shop())
    run = await proctor.evaluate_async(task, agent=agent_of(kind, shared), store=":memory:", concurrency=4)
    trials = list(run.trials())
    assert [trial.outcome for trial in trials] == ["scored"] * 4
    assert all(trial.trajectory.state == {"cart": ["apple"]} for trial in trials)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_time_limit_ends_the_call_under_way(kind: str) -> None:
    await play(kind, [[("add", {"item": "apple"})], "Added."])  # loads the library, which takes its time
    script: acting.Script = [[("add", {"item": "apple"})], [("wait", {})], [("add", {"item": "late"})], "Never said."]
    trial, follows, shop = await play(kind, script, limits={"seconds": 2.0})
    assert trial.trajectory.stop == "time_limit"
    assert trial.outcome == "environment_failed"  # whose call took most of the time
    assert shop.was_left
    await asyncio.sleep(0.2)  # a thread of the library may go on, but without the environment
    assert shop.cart == ["apple"]
    assert "added apple" in results(trial)[0][0]
    assert len(follows.heard) <= 3


async def test_a_plain_call_in_an_async_function_is_an_error_and_no_deadlock() -> None:
    def agent(question: str, environment: Any) -> Any:
        async def later() -> str:
            return str(environment.call("add", item="apple"))

        return later()

    task = Task(name="shop", samples=[BUY], scorers=[always], environment=lambda sample: Shop())
    run = await proctor.evaluate_async(task, agent=agent, store=":memory:")
    [trial] = run.trials()
    assert trial.failure is not None
    assert "it has to be awaited" in str(trial.failure.reason)


async def test_tools_that_a_call_adds_are_offered_at_once_where_the_library_asks_for_them() -> None:
    class Growing(Shop):
        async def call(self, call: ToolCall) -> ToolResult:
            self.tools = (*acting.TOOLS, Tool(name="wrap", parameters=acting.ITEM))
            return await super().call(call)

    follows = Follows([[("add", {"item": "apple"})], [("wrap", {"item": "apple"})], "Done."])
    task = Task(name="shop", samples=[BUY], scorers=[always], environment=lambda sample: Growing())
    run = await proctor.evaluate_async(task, agent=agent_of("adk", follows), store=":memory:")
    assert run.outcomes == {"scored": 1}
    assert ["wrap" in offered for offered in follows.offered] == [False, True, True]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_simulated_user_goes_on_in_the_same_environment(kind: str) -> None:
    follows = Follows([[("add", {"item": "apple"})], "Added.", [("add", {"item": "fig"})], "Added too."])
    user = ScriptedUser(
        [ScriptedLine(when="added.", say="And a fig, please."), ScriptedLine(when="added too", say=None)]
    )
    task = Task(name="shop", samples=[BUY], scorers=[always], environment=lambda sample: Shop(), user=user)
    run = await proctor.evaluate_async(task, agent=agent_of(kind, follows), store=":memory:")
    [trial] = run.trials()
    assert trial.outcome == "scored", trial.failure
    assert trial.trajectory.state == {"cart": ["apple", "fig"]}
    assert [(change.turn, change.path) for change in trial.trajectory.changes] == [(0, "$.cart[0]"), (1, "$.cart[1]")]
    assert trial.trajectory.answer == "Added too."


@pytest.mark.parametrize("kind", KINDS)
async def test_a_task_that_has_words_for_its_tools_shows_them_natively(kind: str) -> None:
    words = (Message.of("user", "Tools in words: add(item)"),)
    turn = Turn(messages=(Message.of("user", "An apple."),), tools=acting.TOOLS, as_text=words)
    trial, follows, shop = await play(kind, [[("add", {"item": "apple"})], "Added."], Sample(id="words", turns=(turn,)))
    assert trial.outcome == "scored", trial.failure
    assert shop.cart == ["apple"]
    assert "in words" not in follows.heard[0]


def text_agent(question: str) -> str:
    return "yes"


def refusing() -> dict[str, Any]:
    import echoes

    from proctor.agents import http
    from proctor_adapters.agents import a2a

    return {
        "function": text_agent,
        "langgraph": echoes.langgraph(),
        "http": http.make("http://127.0.0.1:9/ask", {}),
        "a2a": a2a.A2aAgent("http://127.0.0.1:9"),
    }


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("function", "Give it a second parameter 'environment'"),
        ("langgraph", r"def agent\(tools\)"),
        ("http", "Say it with the option 'calls'"),
    ],
)
async def test_one_that_cannot_be_given_tools_says_so_before_anything_is_asked(kind: str, said: str) -> None:
    task = Task(name="shop", samples=[BUY], scorers=[always], environment=lambda sample: Shop())
    with pytest.raises(BadInput, match=f"cannot be given the tools of an environment: .*{said}"):
        await proctor.evaluate_async(task, agent=refusing()[kind], store=":memory:")


@pytest.mark.parametrize("kind", ["function", "langgraph"])
async def test_an_environment_without_tools_is_for_everybody(kind: str) -> None:
    task = Task(name="shop", samples=[BUY], scorers=[always], environment=lambda sample: Shop(()))
    run = await proctor.evaluate_async(task, agent=refusing()[kind], store=":memory:")
    assert run.outcomes == {"scored": 1}


async def test_a_function_that_acts_has_no_tools_without_an_environment() -> None:
    async def agent(question: str, environment: Any) -> str:
        assert environment.tools == []
        return str((await environment.call("add", item="apple")).content)

    async with function.wrap(agent).open(BUY, None) as session:
        steps = await session.send(BUY.turns[0])
    assert steps[-1].message.text == "There is no tool 'add'."
