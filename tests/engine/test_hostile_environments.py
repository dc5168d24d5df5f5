"""An environment or a user that misbehaves costs its own sample, is blamed itself, and keeps nobody else waiting."""

import asyncio
import time
from typing import Any, TypeVar

import pytest

from proctor import Sample, Task
from proctor.agents.openai import ChatAgent
from proctor.core.errors import EnvironmentDied
from proctor.core.run import Limits
from proctor.core.sample import Message, Tool, ToolCall, ToolResult, Turn
from proctor.core.trial import Trial
from proctor.engine import acting
from proctor.engine.trial import Work, run_trial
from proctor.models.scripted import ScriptedModel

SAMPLE = Sample.ask("s", "Go!")
TWO = Message(role="assistant", parts=(ToolCall(name="look", id="1"), ToolCall(name="look", id="2")))


T = TypeVar("T")


class Tools:
    """Returns what it was given, or takes forever where it is said to."""

    def __init__(self, result: Any = None, *, hangs: str = "") -> None:
        self.tools = [Tool(name="look")]
        self._result = result
        self._hangs = hangs

    async def __aenter__(self) -> "Tools":
        return await self._or_hang("enter", self)

    async def __aexit__(self, *raised: object) -> None:
        await self._or_hang("leave", None)

    async def call(self, call: ToolCall) -> ToolResult:
        result = ToolResult(name=call.name, content="looked") if self._result is None else self._result
        return await self._or_hang("call", result)

    async def state(self) -> dict[str, Any]:
        return await self._or_hang("state", {})

    async def _or_hang(self, at: str, value: T) -> T:
        if at == self._hangs:
            await asyncio.Event().wait()
        return value


class Together(Tools):
    async def call_all(self, calls: Any) -> Any:
        return self._result


async def played(tools: Any = None, *, user: Any = None, seconds: float = 30.0) -> Trial:
    replies: list[Any] = [TWO, *["done"] * 2_000]
    agent = ChatAgent(ScriptedModel(replies if tools is not None else replies[1:]))
    task = Task(name="t", samples=[SAMPLE], environment=None if tools is None else lambda _: tools, user=user)
    limits = Limits(seconds=seconds)
    trial, _ = await run_trial(Work(run_id="r", task=task, agent=agent, scorers=(), limits=limits), SAMPLE, 0)
    return trial


def result(content: Any) -> ToolResult:
    return ToolResult(name="look", content=content)


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        (Tools("text"), "the result is str instead of text in a ToolResult"),
        (Tools(result(7)), "the result is int instead of text in a ToolResult"),
        (Tools(result(b"x")), "the result is bytes instead of text in a ToolResult"),
        (Tools(result("x" * 5_000_000)), "returned 5000000 characters; the limit is 4000000"),
        (Together([]), "not one result for each of 2 calls"),
        (Together([result("one")]), "not one result for each of 2 calls"),
        (Together("ab"), "not one result for each of 2 calls"),
        (Together([result("one"), None]), "the result is NoneType instead of text in a ToolResult"),
    ],
)
async def test_a_result_that_is_none_is_a_fault_of_the_environment(tools: Tools, said: str) -> None:
    trial = await played(tools)
    assert trial.outcome == "environment_failed"
    assert said in str(trial.failure and trial.failure.reason)


async def test_results_that_came_together_get_the_ids_of_their_calls() -> None:
    trial = await played(Together((result("one"), result("two"))))
    results = [part for step in trial.trajectory.steps for part in step.message.parts if isinstance(part, ToolResult)]
    assert [(one.id, one.content) for one in results] == [("1", "one"), ("2", "two")]


@pytest.mark.parametrize("at", ["enter", "state", "call"])
async def test_an_environment_that_hangs_is_blamed_for_the_time_limit(at: str) -> None:
    trial = await played(Tools(hangs=at), seconds=0.3)
    assert trial.outcome == "environment_failed"
    assert trial.failure is not None
    assert trial.failure.kind == "time_limit"


async def test_an_environment_that_dies_before_it_is_open_is_no_failure_of_the_agent() -> None:
    class Shaky(Tools):
        entered = 0

        async def __aenter__(self) -> Tools:
            self.entered += 1
            if self.entered == 1:
                raise EnvironmentDied("The box failed: {error}", error="busy")
            return self

    assert (await played(Shaky())).outcome == "environment_failed"


async def test_an_environment_that_does_not_end_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acting, "LEAVE_SECONDS", 0.1)
    trial = await played(Tools(hangs="leave"))
    assert (trial.outcome, trial.trajectory.answer) == ("scored", "done")


class Raising(Tools):
    def __init__(self, error: BaseException, at: str) -> None:
        super().__init__(hangs=at)
        self._error = error

    async def _or_hang(self, at: str, value: T) -> T:
        if at == self._hangs:
            raise self._error
        return value


@pytest.mark.parametrize("at", ["enter", "state", "call"])
@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), MemoryError()], ids=repr
)
async def test_whatever_an_environment_raises_is_no_failure_of_the_agent(error: BaseException, at: str) -> None:
    trial = await played(Raising(error, at))
    assert trial.outcome == "environment_failed"


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()], ids=repr)
async def test_an_environment_that_raises_when_it_is_left_takes_no_result_away(error: BaseException) -> None:
    trial = await played(Raising(error, "leave"))
    assert (trial.outcome, trial.trajectory.answer) == ("scored", "done")


class Endless:
    async def reply(self, sample: Sample, trajectory: object) -> Any:
        return Turn(messages=())


async def test_a_user_who_never_stops_is_stopped_and_lets_others_run_meanwhile() -> None:
    waits = []

    async def tick() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0)
            waits.append(time.perf_counter() - before)

    other = asyncio.create_task(tick())
    trial = await played(user=Endless())
    other.cancel()
    assert (trial.outcome, trial.failure and trial.failure.kind) == ("user_failed", "endless")
    assert len(waits) > 100


class Wrong:
    async def reply(self, sample: Sample, trajectory: object) -> Any:
        return "more"


async def test_a_user_who_returns_no_turn_is_blamed() -> None:
    trial = await played(user=Wrong())
    assert trial.outcome == "user_failed"
