"""What happened decides the outcome, not who noticed."""

import asyncio
import errno
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from acting import Shop

import proctor.engine.episode
from proctor.agents.function import wrap
from proctor.core.errors import (
    AgentFailed,
    BadInput,
    BudgetSpent,
    EndpointRefused,
    EnvironmentFailed,
    JudgeFailed,
    ProviderFailed,
    UserFailed,
)
from proctor.core.run import Limits
from proctor.core.sample import Message, Sample, Text, ToolResult, Turn
from proctor.core.score import Score, Unscored
from proctor.core.task import Environment, Session, Task
from proctor.core.trajectory import Step, Stop, ToolStyle, Trajectory, Usage
from proctor.core.trial import Trial, Verdict
from proctor.engine.scoring import BoundScorer
from proctor.engine.trial import Work, run_trial
from proctor.scorers.exact import exact

SAMPLE = Sample.ask("fr", "Capital of France?", target="Paris")


class Scripted:
    """An agent that plays a function of the turn."""

    name = "scripted"
    tools: ToolStyle = "text"

    def __init__(self, play: Callable[[Turn], Any]) -> None:
        self._play = play

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        yield self

    async def send(self, turn: Turn) -> Sequence[Step]:
        result = self._play(turn)
        if asyncio.iscoroutine(result):
            result = await result
        return result  # type: ignore[no-any-return]


def says(text: str, stop: Stop = "done") -> list[Step]:
    return [Step(message=Message(role="assistant", parts=(Text(text=text),) if text else ()), stop=stop)]


def bound(function: Any, name: str = "exact") -> BoundScorer:
    return BoundScorer(name=name, reference=name, version="1", function=function, inline=True)


async def run(
    play: Callable[[Turn], Any], *, sample: Sample = SAMPLE, scorer: Any = exact, **limits: Any
) -> tuple[Trial, list[Verdict]]:
    work = Work(
        run_id="r",
        task=Task(name="t", samples=[sample]),
        agent=Scripted(play),
        scorers=[bound(scorer)],
        limits=Limits(**limits),
    )
    return await run_trial(work, sample, 0)


def raising(error: BaseException) -> Callable[[Turn], Any]:
    def play(turn: Turn) -> Any:
        raise error

    return play


@pytest.mark.parametrize(
    ("error", "outcome", "kind"),
    [
        (ValueError("boom"), "agent_failed", "raised"),
        (SystemExit(3), "agent_failed", "raised"),
        (KeyboardInterrupt(), "agent_failed", "raised"),
        (BaseException("its own"), "agent_failed", "raised"),
        (asyncio.CancelledError("nobody cancelled us"), "agent_failed", "raised"),
        (TimeoutError("its own"), "agent_failed", "raised"),
        (AgentFailed("None came back.", kind="nothing"), "agent_failed", "nothing"),
        (ProviderFailed("No connection.", kind="connect"), "provider_failed", "connect"),
        (EnvironmentFailed("The tool broke."), "environment_failed", "environment"),
        (UserFailed("The user broke."), "user_failed", "user"),
    ],
)
async def test_an_exception_becomes_its_outcome_and_no_score(error: BaseException, outcome: str, kind: str) -> None:
    trial, verdicts = await run(raising(error))
    assert (trial.outcome, verdicts) == (outcome, [])
    assert trial.failure is not None
    assert trial.failure.kind == kind


@pytest.mark.parametrize("error", [EndpointRefused("The key is refused."), BadInput("The sample has no prompt.")])
async def test_what_the_user_must_fix_stops_the_run(error: BadInput) -> None:
    with pytest.raises(type(error)):
        await run(raising(error))


async def test_a_refusal_is_kept_with_what_was_said_before_it() -> None:
    trial, verdicts = await run(raising(EndpointRefused("The key is refused (status {status}).", status=403)))
    assert (trial.outcome, verdicts) == ("provider_failed", [])
    assert trial.failure is not None
    assert trial.failure.kind == "http_403"


async def test_what_the_budget_cuts_off_is_skipped() -> None:
    trial, _ = await run(raising(BudgetSpent("The budget is spent.")))
    assert trial.outcome == "skipped"


async def test_a_sample_whose_judge_the_budget_cuts_off_is_skipped_with_what_it_cost() -> None:
    def judge(sample: Sample, trajectory: Trajectory) -> Score:
        raise BudgetSpent("The budget is spent.")

    trial, verdicts = await run(lambda _: says("Paris"), scorer=judge)
    assert (trial.outcome, len(verdicts)) == ("skipped", 1)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (MemoryError(), "machine"),
        (RuntimeError("can't start new thread"), "machine"),
        (OSError(errno.EMFILE, "Too many open files"), "machine"),
        (TypeError("a mistake of ours"), "internal"),
    ],
)
async def test_what_proctor_or_its_machine_raises_is_not_the_agents(
    monkeypatch: pytest.MonkeyPatch, error: Exception, kind: str
) -> None:
    code = compile("def fails(*given): raise error", proctor.engine.episode.__file__, "exec")
    names: dict[str, Any] = {"error": error}
    exec(code, names)
    monkeypatch.setattr(proctor.engine.episode, "turn_for_agent", names["fails"])
    trial, verdicts = await run(lambda _: says("Paris"))
    assert (trial.outcome, verdicts) == ("environment_failed", [])
    assert trial.failure is not None
    assert trial.failure.kind == kind


async def test_a_machine_without_threads_is_not_the_agents_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    work = Work(run_id="r", task=Task(name="t", samples=[SAMPLE]), agent=wrap(str.title), scorers=[], limits=Limits())
    trial, _ = await run_trial(work, SAMPLE, 0)
    assert trial.outcome == "environment_failed"
    assert trial.failure is not None
    assert trial.failure.kind == "machine"


async def test_cancelling_passes_through() -> None:
    attempt = asyncio.create_task(run(lambda _: asyncio.sleep(60)))
    await asyncio.sleep(0.01)
    attempt.cancel()
    with pytest.raises(asyncio.CancelledError):
        await attempt


async def test_an_environment_that_cannot_be_made_is_no_fault_of_the_agent() -> None:
    def broken(sample: Sample) -> Environment:
        raise ConnectionError("no database")

    task = Task(name="t", samples=[SAMPLE], environment=broken)
    work = Work(run_id="r", task=task, agent=Scripted(lambda _: says("")), scorers=[], limits=Limits())
    trial, _ = await run_trial(work, SAMPLE, 0)
    assert trial.outcome == "environment_failed"
    assert trial.failure is not None
    assert "no database" in str(trial.failure.reason)


@pytest.mark.parametrize(("text", "stop"), [("", "done"), ("", "refused"), ("Par", "length"), ("", "filtered")])
async def test_a_poor_answer_is_scored_and_says_how_it_stopped(text: str, stop: Stop) -> None:
    trial, verdicts = await run(lambda _: says(text, stop))
    assert trial.outcome == "scored"
    assert trial.trajectory.stop == ("empty" if stop == "done" else stop)
    assert isinstance(verdicts[0].result, Score)
    assert verdicts[0].result.value == 0


async def test_an_agent_that_never_answers_fails_at_the_limit() -> None:
    started = time.monotonic()
    trial, _ = await run(lambda _: asyncio.sleep(600), seconds=0.05)
    assert trial.outcome == "agent_failed"
    assert trial.failure is not None
    assert trial.failure.kind == "time_limit"
    assert time.monotonic() - started < 60


async def test_an_answer_given_before_the_limit_counts() -> None:
    async def second_turn_hangs(turn: Turn) -> list[Step]:
        if turn.messages[0].text == "again":
            await asyncio.sleep(60)
        return says("Paris")

    turns = (*SAMPLE.turns, Turn(messages=(Message.of("user", "again"),)))
    sample = Sample(id="two", turns=turns, target="Paris")
    trial, verdicts = await run(second_turn_hangs, sample=sample, seconds=0.1)
    assert (trial.outcome, trial.trajectory.stop) == ("scored", "time_limit")
    assert isinstance(verdicts[0].result, Score)
    assert verdicts[0].result.value == 1


async def test_the_step_limit_without_an_answer_is_a_failure_and_with_one_is_scored() -> None:
    without, _ = await run(lambda _: says("", "step_limit"))
    assert without.outcome == "agent_failed"
    given, _ = await run(lambda _: says("Paris", "step_limit"))
    assert given.outcome == "scored"


async def test_a_reply_above_the_size_limit_is_not_kept() -> None:
    trial, _ = await run(lambda _: says("x" * 10_000_000))
    assert trial.outcome == "agent_failed"
    assert trial.failure is not None
    assert trial.failure.kind == "too_large"
    assert trial.trajectory.steps == ()


@pytest.mark.parametrize(("environment", "outcome"), [(Shop, "scored"), (None, "agent_failed")])
async def test_results_of_an_environment_are_not_the_agents(environment: type[Shop] | None, outcome: str) -> None:
    large = ToolResult(name="add", content="x" * 1_000)
    steps = [Step(message=Message(role="tool", parts=(large,))) for _ in range(9)]
    task = Task(name="t", samples=[SAMPLE], environment=None if environment is None else lambda _: environment())
    agent = Scripted(lambda _: [*steps, *says("Paris")])
    work = Work(run_id="r", task=task, agent=agent, scorers=[bound(exact)], limits=Limits(reply_bytes=5_000))
    trial, _ = await run_trial(work, SAMPLE, 0)
    assert trial.outcome == outcome


async def test_a_reply_above_the_size_limit_is_paid_for() -> None:
    used = Usage(output_tokens=9, requests=1)
    trial, _ = await run(lambda _: [msgspec.structs.replace(step, usage=used) for step in says("x" * 10_000_000)])
    assert (trial.trajectory.steps, trial.usage) == ((), used)


@pytest.mark.parametrize("given", [None, 3, "text"])
async def test_steps_that_are_no_steps_are_the_agents_failure(given: object) -> None:
    trial, _ = await run(lambda _: given)
    assert trial.outcome == "agent_failed"


def broken(sample: Sample, trajectory: Trajectory) -> Score:
    raise KeyError("target")


def interrupted(sample: Sample, trajectory: Trajectory) -> Score:
    raise KeyboardInterrupt


def failing_judge(sample: Sample, trajectory: Trajectory) -> Score:
    raise JudgeFailed("The judge answered in prose.", kind="unparsable")


def out_of_range(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=7)


def nothing(sample: Sample, trajectory: Trajectory) -> None:
    return None


@pytest.mark.parametrize(
    ("scorer", "why"),
    [
        (broken, "scorer_failed"),
        (interrupted, "scorer_failed"),
        (failing_judge, "judge_failed"),
        (out_of_range, "scorer_failed"),
        (nothing, "scorer_failed"),
    ],
)
async def test_a_broken_scorer_or_judge_is_unscored_and_never_a_zero(scorer: Any, why: str) -> None:
    trial, verdicts = await run(lambda _: says("Paris"), scorer=scorer)
    assert trial.outcome == "scored"
    assert isinstance(verdicts[0].result, Unscored)
    assert verdicts[0].result.why == why


@pytest.mark.parametrize(("given", "value"), [(True, 1.0), (False, 0.0), (0.25, 0.25)])
async def test_a_scorer_may_return_a_plain_number(given: float, value: float) -> None:
    _, verdicts = await run(lambda _: says("Paris"), scorer=lambda sample, trajectory: given)
    assert isinstance(verdicts[0].result, Score)
    assert verdicts[0].result.value == value


async def test_a_scorer_may_wait() -> None:
    async def patient(sample: Sample, trajectory: Trajectory) -> Score:
        await asyncio.sleep(0)
        return Score(points=1)

    _, verdicts = await run(lambda _: says("Paris"), scorer=patient)
    assert verdicts[0].result == Score(points=1)


async def test_an_agent_without_native_tools_is_shown_the_official_text() -> None:
    seen: list[Turn] = []
    turn = Turn(
        messages=(Message.of("user", "q"),), as_text=(Message.of("system", "official"), Message.of("user", "q"))
    )

    def play(turn: Turn) -> list[Step]:
        seen.append(turn)
        return says("a")

    await run(play, sample=Sample(id="s", turns=(turn,)))
    assert [message.text for message in seen[0].messages] == ["official", "q"]
    assert seen[0].as_text is None
