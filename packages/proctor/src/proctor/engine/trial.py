"""Run one attempt at one sample, and turn whatever it raises into an outcome: nothing else does that."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack

import msgspec

from proctor.chat.message_text import count_left_out
from proctor.core.around import around
from proctor.core.errors import (
    AgentFailed,
    BadInput,
    BudgetSpent,
    EndpointRefused,
    EnvironmentDied,
    EnvironmentFailed,
    PartFailed,
    ProviderFailed,
    Undecided,
    UserFailed,
)
from proctor.core.run import Blamed, Limits, Perturb, Price
from proctor.core.sample import Sample, Text, ToolCall, ToolResult
from proctor.core.score import Unscored
from proctor.core.sentence import say
from proctor.core.task import Agent, Task
from proctor.core.trajectory import Trajectory, Usage
from proctor.core.trial import FailedRequest, Outcome, Trial, TrialFailure, Verdict
from proctor.engine.acting import Acting, entered, is_sound
from proctor.engine.approving import describe_waiting, text_of_call
from proctor.engine.blame import from_outside, is_lack, is_of_the_agent
from proctor.engine.episode import Episode
from proctor.engine.perturbing import Faults
from proctor.engine.refusals import OF_THE_KEY
from proctor.engine.scoring import BUDGET, BoundScorer, score_trial, trace_of
from proctor.models import cache, ledger
from proctor.transport.deadline import Deadline
from proctor.transport.faults import NotAccepted, reached
from proctor.transport.redact import quoted

OUTCOME_BY_ERROR: dict[type[PartFailed], Outcome] = {
    AgentFailed: "agent_failed",
    ProviderFailed: "provider_failed",
    EnvironmentFailed: "environment_failed",
    UserFailed: "user_failed",
    Undecided: "undecided",
}
OUTCOME_BY_BLAMED: dict[Blamed | None, Outcome] = {
    "agent": "agent_failed",
    "provider": "provider_failed",
    None: "undecided",
}


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """The parts and bounds that every attempt of a run shares.

    Attributes:
        created: when the run was.
        approve: the policy for calls that wait for approval.
        on_agent_error: whose failure an error of `Undecided` is; None leaves it open.
        under_way: set when a conversation goes on after its first turn.
    """

    run_id: str
    created: float = 0.0
    task: Task
    agent: Agent
    scorers: Sequence[BoundScorer]
    limits: Limits
    price: Price | None = None
    seed: int = 0
    perturb: Perturb | None = None
    approve: str | None = None
    on_agent_error: Blamed | None = None
    under_way: asyncio.Event | None = None

    @property
    def judges(self) -> tuple[object, ...]:
        """Return what may ask a model of its own: the simulated user and the scorers."""
        return (self.task.user, *(scorer.function for scorer in self.scorers))

    @property
    def opened(self) -> tuple[object, ...]:
        """Return what is entered with the run, where it is an async context manager."""
        return (self.agent, self.task.environment, *self.judges)


async def run_trial(work: Work, sample: Sample, attempt: int) -> tuple[Trial, list[Verdict]]:
    """Play a sample once and score it. Never raises for what the agent, its model or a scorer did.

    Raises:
        Refused: the endpoint refuses the key itself.
        BadInput: something else that only the user can mend, such as a sample that cannot be shown; the run has to stop.
    """
    calls: list[FailedRequest] = []
    limit = Deadline(work.limits.seconds)
    around.set(msgspec.structs.replace(around.get(), limits=work.limits, deadline=limit, failed=calls))
    use = cache.begin(attempt, f"{work.run_id}/{sample.id}", work.created)
    started, clock = time.time(), time.perf_counter()
    asks_others = work.task.user is not None or work.task.host is not None
    asked = ledger.begin() if asks_others else None
    episode = Episode(work.agent, work.task.user, work.under_way, work.approve)  # type: ignore[arg-type]  # names were resolved with the task
    trajectory, failure, outcome = await _play(work, sample, attempt, limit, episode)
    if work.price is not None:
        trajectory = _priced(trajectory, work.price)
    usage = _usage(trajectory, work.price)
    if calls:
        usage = usage + Usage(requests=reached(calls))
    if failure is None:
        own_tools = work.task.environment is None
        trajectory, failure, outcome = _within_limits(trajectory, work.limits, own_tools=own_tools)
    notes = use.notes()
    if trajectory.steps[1:] or episode.files_left_out:  # one step is no result of a tool
        notes |= _file_notes(trajectory, episode)
    trial = Trial(
        run_id=work.run_id,
        sample_id=sample.id,
        attempt=attempt,
        outcome=outcome,
        trajectory=trajectory,
        failure=failure,
        started=started,
        seconds=time.perf_counter() - clock,
        usage=usage if asked is None else usage + asked.usage,
        retries=tuple(calls),
        notes=notes,
    )
    if outcome != "scored":
        return trial, []
    verdicts = await score_trial(trial, sample, work.scorers)
    if len(calls) > len(trial.retries):  # judges had to ask again
        trial = msgspec.structs.replace(trial, retries=tuple(calls))
    return skip_unjudged(trial, verdicts), verdicts


def _file_notes(trajectory: Trajectory, episode: Episode) -> dict[str, object]:
    """Return how many files of messages and results the agent was not given, if any."""
    count = episode.files_left_out + count_left_out([step.message for step in trajectory.steps])
    return {"files_left_out": count} if count else {}


def skip_unjudged(trial: Trial, verdicts: Sequence[Verdict]) -> Trial:
    """Return the trial; as skipped where the budget did not last for its judges, to be run again with a higher one."""
    for verdict in verdicts:
        result = verdict.result
        if isinstance(result, Unscored) and result.known.kind == BUDGET:
            failure = TrialFailure(kind=BUDGET, reason=result.reason)
            return msgspec.structs.replace(trial, outcome="skipped", failure=failure)
    return trial


async def _play(
    work: Work, sample: Sample, attempt: int, limit: Deadline, episode: Episode
) -> tuple[Trajectory, TrialFailure | None, Outcome]:
    task, limits = work.task, work.limits
    shown = task.present(sample) if task.present is not None else sample
    environment: Acting | None = None
    entering = time.perf_counter() if task.environment is not None else None
    try:
        if task.environment is None:
            with limit:
                trajectory = await episode.play(shown)
        else:
            async with AsyncExitStack() as stack:  # it is left outside the limit: an answer is not lost by that
                with limit:
                    faults = Faults(work.perturb, work.seed, sample.id, attempt) if work.perturb is not None else None
                    environment = await stack.enter_async_context(entered(task.environment, sample, faults))
                    entering = None
                    _check_perturbed(work, environment)
                    trajectory = await episode.play(shown, environment)
    except EnvironmentDied as error:
        made = task.environment if environment is not None else None  # the agent breaks none that it was not given
        if made is not None and error.kind != "machine" and await is_sound(made, sample):
            return episode.so_far(), _killed(error, episode.so_far()), "agent_failed"
        return episode.so_far(), TrialFailure(kind=error.kind, reason=error.sentence), "environment_failed"
    except PartFailed as error:
        if isinstance(error, NotAccepted) and error.stop is not None:
            return episode.so_far(error.stop), None, "scored"
        return episode.so_far(), *_blamed(work, error)
    except EndpointRefused as error:
        if error.kind in OF_THE_KEY:
            raise
        return episode.so_far(), TrialFailure(kind=error.kind, reason=error.sentence), "provider_failed"
    except BudgetSpent as error:
        return episode.so_far(), TrialFailure(kind=BUDGET, reason=error.sentence), "skipped"
    except BadInput:
        raise
    except BaseException as error:
        if from_outside(error):
            raise
        if isinstance(error, TimeoutError) and limit.expired():
            since = entering if environment is None else environment.busy_since
            stuck_seconds = 0.0 if since is None else time.perf_counter() - since
            return _out_of_time(episode.so_far("time_limit"), limits, episode.user_seconds, stuck_seconds)
        if not is_of_the_agent(error):
            return episode.so_far(), _internal_failure(error), "environment_failed"
        reason = say("The agent raised {kind}: {error}", kind=type(error).__name__, error=quoted(error))
        return episode.so_far(), TrialFailure(kind="raised", reason=reason, detail=trace_of(error)), "agent_failed"
    return trajectory, None, "scored"


def _blamed(work: Work, error: PartFailed) -> tuple[TrialFailure, Outcome]:
    """Return the failure of a part of the run, and the outcome that says whose it was."""
    outcome = next((OUTCOME_BY_ERROR[kind] for kind in OUTCOME_BY_ERROR if isinstance(error, kind)), None)
    if outcome == "undecided":
        outcome = OUTCOME_BY_BLAMED[work.on_agent_error]
    detail = trace_of(error.__cause__) if error.__cause__ is not None else ""
    return TrialFailure(kind=error.kind, reason=error.sentence, detail=detail), outcome or "agent_failed"


def _check_perturbed(work: Work, environment: Acting | None) -> None:
    """Refuse faults that keep a call from being carried out where a benchmark reads calls from the agent's words again."""
    if environment is None or environment.wording is None or work.agent.tools == "native":
        return
    if work.perturb is not None and work.perturb.errors:
        raise BadInput(
            "The faults of errors= are for agents that call tools natively here: the task {task} scores the agent's words, in which such a call cannot be left out. Use lost=, delays= or cuts=.",
            task=work.task.name,
        )


def _killed(error: EnvironmentDied, trajectory: Trajectory) -> TrialFailure:
    """Return why an end of the environment is the agent's failure."""
    calls = trajectory.calls()
    reason = say(
        "The environment did not survive the agent's calls, the last of which was {call}, while a fresh one is sound: {reason} If the tool is to blame: blame_death=environment.",
        call=text_of_call(calls[-1], 200) if calls else "-",
        reason=error.sentence,
    )
    return TrialFailure(kind="killed_environment", reason=reason)


def _internal_failure(error: BaseException) -> TrialFailure:
    values = {"type": type(error).__name__, "error": quoted(error)}
    if is_lack(error):
        reason = say(
            "This machine could not run the sample ({type}: {error}). Run it again with --retry-failed, and fewer at once (--concurrency).",
            **values,
        )
        return TrialFailure(kind="machine", reason=reason, detail=trace_of(error))
    reason = say("Proctor itself could not run the sample ({type}: {error}).", **values)
    return TrialFailure(kind="internal", reason=reason, detail=trace_of(error))


def _priced(trajectory: Trajectory, price: Price) -> Trajectory:
    """Return the trajectory with the cost of each step that has tokens, unless the endpoint itself reports costs."""
    if trajectory.usage.cost is not None:
        return trajectory
    steps = tuple(
        step
        if step.usage is None
        else msgspec.structs.replace(step, usage=msgspec.structs.replace(step.usage, cost=price.of(step.usage)))
        for step in trajectory.steps
    )
    return msgspec.structs.replace(trajectory, steps=steps)


def _usage(trajectory: Trajectory, price: Price | None) -> Usage:
    usage = trajectory.usage
    if price is None or usage.cost is not None:
        return usage
    return msgspec.structs.replace(usage, cost=price.of(usage))


def _out_of_time(
    trajectory: Trajectory, limits: Limits, user_seconds: float, stuck_seconds: float
) -> tuple[Trajectory, TrialFailure | None, Outcome]:
    if stuck_seconds > limits.seconds / 2:
        reason = say(
            "The environment had not answered after {taken} of {seconds} seconds.",
            taken=f"{stuck_seconds:.1f}",
            seconds=f"{limits.seconds:g}",
        )
        return trajectory, TrialFailure(kind="time_limit", reason=reason), "environment_failed"
    if user_seconds > limits.seconds / 2:
        reason = say(
            "The simulated user took {taken} of {seconds} seconds.",
            taken=f"{user_seconds:.1f}",
            seconds=f"{limits.seconds:g}",
        )
        return trajectory, TrialFailure(kind="time_limit", reason=reason), "user_failed"
    if trajectory.answer:
        return trajectory, None, "scored"
    reason = say("No answer within {seconds} seconds.", seconds=f"{limits.seconds:g}")
    return trajectory, TrialFailure(kind="time_limit", reason=reason), "agent_failed"


def _within_limits(
    trajectory: Trajectory, limits: Limits, *, own_tools: bool
) -> tuple[Trajectory, TrialFailure | None, Outcome]:
    size = _size(trajectory, own_tools=own_tools)
    if size > limits.reply_bytes:
        reason = say("The agent gave {size} characters; the limit is {limit}.", size=size, limit=limits.reply_bytes)
        empty = msgspec.structs.replace(trajectory, steps=())
        return empty, TrialFailure(kind="too_large", reason=reason), "agent_failed"
    if trajectory.stop == "waiting":
        return (
            trajectory,
            TrialFailure(kind="approval", reason=describe_waiting(trajectory.approvals)),
            "awaiting_approval",
        )
    if trajectory.stop == "step_limit" and not trajectory.answer:
        reason = say("The agent took {steps} steps without an answer.", steps=len(trajectory.steps))
        return trajectory, TrialFailure(kind="step_limit", reason=reason), "agent_failed"
    return trajectory, None, "scored"


def _size(trajectory: Trajectory, *, own_tools: bool) -> int:
    """Count the characters that the agent gave; results of an environment are its own, and limited one by one."""
    size = 0
    for step in trajectory.steps:
        for part in step.message.parts:
            match part:
                case Text(text=text):
                    size += len(text)
                case ToolResult(content=text) if own_tools:
                    size += len(text)
                case ToolCall(raw=str(text)):
                    size += len(text)
                case _:
                    pass
    return size
