"""What an environment does to a sample: broken tools, rules of the task, its state, and conversations that begin again."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from proctor import Sample, Task
from proctor.agents.function import wrap
from proctor.agents.openai import ChatAgent
from proctor.core.errors import EnvironmentFailed, EpisodeOver, UserFailed
from proctor.core.run import Limits
from proctor.core.sample import FreshTurn, Message, Text, Tool, ToolCall, ToolResult, Turn
from proctor.core.task import Environment
from proctor.core.trajectory import StateChange, Step, Trajectory
from proctor.core.trial import Trial
from proctor.engine.acting import STATE_BYTES, Acting, changes, entered, kept
from proctor.engine.episode import Episode
from proctor.engine.trial import Work, run_trial
from proctor.models.scripted import ScriptedModel

CALL = ToolCall(name="look", id="7")
SAMPLE = Sample.ask("s", "Go!")


class Tools:
    """Counts its calls; raises what it was given."""

    def __init__(self, error: Exception | None = None) -> None:
        self.tools = [Tool(name="look")]
        self.count = 0
        self.log: list[str] = []
        self._error = error

    async def __aenter__(self) -> "Tools":
        self.log.append("entered")
        return self

    async def __aexit__(self, *raised: object) -> None:
        self.log.append("left")
        raise RuntimeError("it does not even end well")

    async def call(self, call: ToolCall) -> ToolResult:
        self.count += 1
        if self._error is not None:
            raise self._error
        return ToolResult(name=call.name, content="looked", id="its own")

    async def state(self) -> dict[str, Any]:
        return {"count": self.count, "fixed": [1, 2]}


async def test_a_result_gets_the_id_of_its_call() -> None:
    assert await Acting(Tools(), SAMPLE).call(CALL) == ToolResult(name="look", content="looked", id="7")


async def test_a_tool_that_raises_is_named_with_what_it_raised() -> None:
    acting = Acting(Tools(OSError("gone")), SAMPLE)
    with pytest.raises(EnvironmentFailed, match="The tool 'look' broke: OSError: gone") as raised:
        await acting.call(CALL)
    assert raised.value.kind == "environment"
    assert isinstance(raised.value.__cause__, OSError)
    assert acting.ended is raised.value


async def test_a_part_that_says_itself_what_broke_is_believed() -> None:
    with pytest.raises(UserFailed):
        await Acting(Tools(UserFailed("The user is gone.")), SAMPLE).call(CALL)


class Caller:
    """An agent that calls a tool in each turn; it may swallow what that raises, as frameworks do."""

    name = "caller"
    tools = "native"

    def __init__(self, *, swallows: bool = False) -> None:
        self.sessions = 0
        self.offered: list[Sequence[Tool]] = []
        self._swallows = swallows

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> Any:
        self.sessions += 1
        assert environment is not None
        yield _Calling(self, environment, swallows=self._swallows)


class _Calling:
    def __init__(self, agent: Caller, environment: Environment, *, swallows: bool) -> None:
        self._agent, self._environment, self._swallows = agent, environment, swallows

    async def send(self, turn: Turn) -> Sequence[Step]:
        self._agent.offered.append(turn.tools)
        try:
            await self._environment.call(CALL)
        except Exception as error:
            if not self._swallows:
                raise RuntimeError("the framework's own") from error
        return [Step(message=Message.of("assistant", "done"))]


async def played(agent: Any, tools: Tools, *, user: Any = None, sample: Sample = SAMPLE) -> Trial:
    task = Task(name="t", samples=[sample], environment=lambda _: tools, user=user)
    trial, _ = await run_trial(Work(run_id="r", task=task, agent=agent, scorers=(), limits=Limits()), sample, 0)
    return trial


@pytest.mark.parametrize("swallows", [False, True])
async def test_a_broken_tool_is_no_failure_of_the_agent_whatever_its_framework_makes_of_it(swallows: bool) -> None:
    trial = await played(Caller(swallows=swallows), Tools(OSError("gone")))
    assert trial.outcome == "environment_failed"
    assert "The tool 'look' broke: OSError: gone" in str(trial.failure and trial.failure.reason)


@pytest.mark.parametrize("swallows", [False, True])
async def test_a_rule_of_the_task_ends_the_conversation_and_what_was_done_is_scored(swallows: bool) -> None:
    trial = await played(Caller(swallows=swallows), Tools(EpisodeOver()))
    assert (trial.outcome, trial.trajectory.stop) == ("scored", "task_limit")
    assert trial.trajectory.state == {"count": 1, "fixed": [1, 2]}


async def test_an_environment_is_entered_and_left_and_its_end_is_not_held_against_the_sample() -> None:
    tools = Tools()
    trial = await played(Caller(), tools)
    assert (trial.outcome, tools.log) == ("scored", ["entered", "left"])


async def test_tools_of_the_environment_are_offered_where_a_turn_brings_none() -> None:
    agent = Caller()
    own = Turn(messages=(Message.of("user", "?"),), tools=(Tool(name="own"),))
    await played(agent, Tools(), sample=Sample(id="s", turns=(*SAMPLE.turns, own)))
    assert [[tool.name for tool in tools] for tools in agent.offered] == [["look"], ["own"]]


async def test_what_each_turn_changed_is_kept() -> None:
    trial = await played(Caller(), Tools(), sample=Sample(id="s", turns=SAMPLE.turns * 2))
    assert trial.trajectory.changes == (
        StateChange(turn=0, path="$.count", before=0, after=1),
        StateChange(turn=1, path="$.count", before=1, after=2),
    )


class Restarting:
    """Asks to begin again once, and has done something of its own before."""

    def __init__(self) -> None:
        self.steps: Sequence[Step] = ()
        self._asked = 0

    def open(self, sample: Sample, environment: Environment | None) -> "Restarting":
        assert environment is not None
        return Restarting()

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
        self._asked += 1
        self.steps = [Step(message=Message(role="user", parts=(ToolCall(name="hang_up"),)), author="user")]
        return FreshTurn(messages=(Message.of("user", "Again!"),)) if self._asked == 1 else None


async def test_a_fresh_turn_begins_a_new_conversation_in_the_same_environment() -> None:
    agent, tools = Caller(), Tools()
    trial = await played(agent, tools, user=Restarting())
    assert (agent.sessions, tools.count, tools.log) == (2, 2, ["entered", "left"])
    said = [(step.turn, step.author, step.message.text or "(call)") for step in trial.trajectory.steps]
    assert said == [
        (0, "agent", "done"),
        (1, "user", "(call)"),
        (1, "user", "Again!"),
        (1, "agent", "done"),
        (2, "user", "(call)"),
    ]


class Silent:
    """Ends the conversation before it has begun."""

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
        raise EpisodeOver


async def test_a_user_may_end_a_conversation_before_its_first_words() -> None:
    trial = await played(Caller(), Tools(), user=Silent(), sample=Sample(id="s", turns=()))
    assert (trial.outcome, trial.trajectory.stop) == ("scored", "task_limit")


def test_of_a_large_state_what_changed_is_kept() -> None:
    large = {"bulk": "x" * STATE_BYTES, "same": 1, "stock": 3}
    assert kept(large, {**large, "stock": 2}) == {"stock": 2}
    assert kept({"stock": 3}, {"stock": 3}) == {"stock": 3}


@pytest.mark.parametrize(
    ("before", "after", "paths"),
    [
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1]}}, ["$.a.b[1]"]),
        ({"a": 1}, {}, ["$.a"]),
        ({"a": 1}, {"a": True}, []),
        ({"a": [1]}, {"a": {"x": 1}}, ["$.a"]),
    ],
)
def test_changes_are_named_by_path(before: Mapping[str, Any], after: Mapping[str, Any], paths: list[str]) -> None:
    assert [change.path for change in changes(0, before, after)] == paths


def test_changes_are_bounded() -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = {"x": deep}
    assert len(changes(0, {}, {str(n): n for n in range(10_000)})) < 1_000
    assert len(changes(0, {"a": {"x": 0}}, {"a": deep})) == 1


async def test_calls_of_a_plain_function_go_through_the_environment() -> None:
    replies: Iterator[object] = iter([[{"role": "assistant", "tool_calls": [CALL_JSON]}], "done"])

    async def agent(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> object:
        await asyncio.sleep(0)
        return next(replies)

    trial = await played(wrap(agent, name="agent"), Tools())
    kinds = [(step.author, step.message.role) for step in trial.trajectory.steps]
    assert kinds == [("agent", "assistant"), ("tool", "tool"), ("agent", "assistant")]


CALL_JSON = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


async def _played(environment: Environment, replies: Sequence[Message]) -> Trajectory:
    async with entered(lambda _: environment, SAMPLE) as acting:
        return await Episode(ChatAgent(ScriptedModel(replies))).play(SAMPLE, acting)


async def test_results_of_calls_that_end_the_conversation_are_kept() -> None:
    class Last:
        async def call(self, call: ToolCall) -> ToolResult:
            raise EpisodeOver("enough", results=[ToolResult(name=call.name, content="done", id=call.id)])

        def state(self) -> dict[str, object]:
            return {}

    call = Message(role="assistant", parts=(ToolCall(name="f", id="1"),))
    trajectory = await _played(Last(), [call])
    assert trajectory.stop == "task_limit"
    assert [step.message.role for step in trajectory.steps] == ["assistant", "tool"]


async def test_an_environment_may_look_at_a_reply_before_its_calls_are_run() -> None:
    class Strict:
        made = 0

        async def call(self, call: ToolCall) -> ToolResult:
            self.made += 1
            return ToolResult(name=call.name, content="")

        def state(self) -> dict[str, object]:
            return {"made": self.made}

        def check(self, message: Message) -> None:
            if message.text:
                raise EpisodeOver("text next to calls")

    both = Message(role="assistant", parts=(Text(text="Let me see."), ToolCall(name="f", id="1")))
    environment = Strict()
    trajectory = await _played(environment, [both])
    assert (trajectory.stop, environment.made, len(trajectory.steps)) == ("task_limit", 0, 1)


async def test_a_user_that_stops_at_once_ends_a_conversation_that_is_scored() -> None:
    class Brief:
        steps = (Step(message=Message.of("user", "Never mind."), author="user"),)

        async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
            return None

    agent = ChatAgent(ScriptedModel([]))
    trajectory = await Episode(agent, Brief()).play(Sample(id="a", turns=()))
    assert [step.message.text for step in trajectory.steps] == ["Never mind."]
