"""Divide what a trial used among its steps: tokens, money, seconds, and the share of each limit that was gone by then."""

from collections import Counter
from collections.abc import Iterator

import msgspec

from proctor.core.run import RunRecord, most_replies
from proctor.core.sample import ToolCall, ToolResult
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Step, Usage
from proctor.core.trial import Trial

CENT = 1e-9  # smaller differences of money are those of floating-point sums
NOTICED_SECONDS = 0.05


class StepCost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of one step; `number` counts from 1 over the whole trial.

    Attributes:
        tools: the names of the tools that it calls, or whose results it holds.
        usage: None where the step has no tokens of its own; its `cost` is None without a known price.
        elapsed_seconds: from the start of the trial to the end of the step; None where the step has no clock time.
        replies: the agent's replies in this turn so far, which the limit of steps bounds.
    """

    number: int
    turn: int
    role: str
    tools: tuple[str, ...] = ()
    usage: Usage | None = None
    seconds: float = 0.0
    elapsed_seconds: float | None = None
    replies: int = 0


class TrialCosts(msgspec.Struct, frozen=True, kw_only=True):
    """The costs of a trial by step. `outside` is what the total of the trial has and no step."""

    steps: tuple[StepCost, ...]
    total: Usage
    outside: Usage
    seconds: float
    outside_seconds: float
    limit_seconds: float
    limit_replies: int
    notes: tuple[Sentence, ...] = ()


def step_costs(record: RunRecord, trial: Trial) -> TrialCosts:
    """Return the cost of each step, with sentences about what is not known by step."""
    steps = tuple(_steps(trial))
    in_steps = trial.trajectory.usage
    own = record.spec.agent_options.get("max_steps")
    costs = TrialCosts(
        steps=steps,
        total=trial.usage,
        outside=_difference(trial.usage, in_steps),
        seconds=trial.seconds,
        outside_seconds=trial.seconds - sum(step.seconds for step in steps),
        limit_seconds=record.spec.limits.seconds,
        limit_replies=most_replies(
            record.spec.limits, own if isinstance(own, int) and own > 0 else None, trial.trajectory.max_steps
        ),
    )
    notes = (*_fork_note(record), *_notes(costs, trial, in_steps))
    return msgspec.structs.replace(costs, notes=notes)


def _fork_note(record: RunRecord) -> Iterator[Sentence]:
    if record.fork is not None and record.fork.step > 1:
        yield say(
            "The steps before {step} were recorded in the run {run}; they cost nothing here.",
            step=record.fork.step,
            run=record.fork.run,
        )


def _steps(trial: Trial) -> Iterator[StepCost]:
    replies: Counter[int] = Counter()
    for number, step in enumerate(trial.trajectory.steps, 1):
        replies[step.turn] += step.message.role == "assistant" and step.author != "user"
        yield StepCost(
            number=number,
            turn=step.turn,
            role="user" if step.author == "user" else step.message.role,
            tools=tuple(part.name for part in step.message.parts if isinstance(part, ToolCall | ToolResult)),
            usage=step.usage if step.usage is not None and step.usage != Usage() else None,
            seconds=step.seconds,
            elapsed_seconds=_elapsed(trial, step),
            replies=replies[step.turn],
        )


def _elapsed(trial: Trial, step: Step) -> float | None:
    """Return the time from the start of the trial; None where the step was recorded at another time than the trial."""
    end = step.started + step.seconds
    is_within = 0 < trial.started <= step.started and end <= trial.started + trial.seconds + 1
    return end - trial.started if is_within else None


def _difference(total: Usage, part: Usage) -> Usage:
    cost = None if total.cost is None or part.cost is None else total.cost - part.cost
    return Usage(
        input_tokens=total.input_tokens - part.input_tokens,
        output_tokens=total.output_tokens - part.output_tokens,
        requests=total.requests - part.requests,
        cost=None if cost is None or abs(cost) < CENT else cost,
    )


def _notes(costs: TrialCosts, trial: Trial, in_steps: Usage) -> Iterator[Sentence]:
    total, outside = costs.total, costs.outside
    used = [step.usage for step in costs.steps if step.usage is not None]
    if not used:
        if total.input_tokens or total.output_tokens:
            yield say("This trial holds tokens and cost only for the whole of it, not by step.")
        return
    unpriced = sum(usage.cost is None for usage in used)
    if in_steps.cost is None and total.cost is not None:
        yield say("This run holds the cost of the whole trial only; its steps have tokens and time.")
    elif unpriced:
        yield say(
            "No price is known for {count} of {total} steps with tokens; prices of a run are those of [prices] in proctor.toml when it began.",
            count=unpriced,
            total=len(used),
        )
    if several := [str(step.number) for step in costs.steps if step.usage is not None and step.usage.requests > 1]:
        yield say(
            "The agent reports several requests as one, so their sum is at a single step: {steps}.",
            steps=", ".join(several),
        )
    if outside.input_tokens or outside.output_tokens or outside.requests or outside.cost is not None:
        yield say(
            "Not in any step: {input} input tokens, {output} output tokens, {requests} requests, cost {cost}; a simulated user's model, or requests that failed.",
            input=outside.input_tokens,
            output=outside.output_tokens,
            requests=outside.requests,
            cost="–" if outside.cost is None else f"{outside.cost:.6g}",
        )
    if waited := sum(request.waited_seconds for request in trial.retries):
        yield say(
            "Waits of {seconds} s before failed requests were sent again count as time here, but not towards the time limit.",
            seconds=f"{waited:.3g}",
        )
    if costs.outside_seconds < -NOTICED_SECONDS:
        yield say("Steps overlapped or were recorded earlier: their seconds add up to more than those of the trial.")
