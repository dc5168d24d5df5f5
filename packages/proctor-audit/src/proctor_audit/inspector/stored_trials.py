"""Read the trials of stored runs, own and imported ones, as conversations."""

from collections.abc import Iterator, Sequence

from proctor.core.run import RunRecord
from proctor.core.sample import File, Reasoning, Sample, ToolResult
from proctor.core.scenario import scenario_of
from proctor.core.score import Score, Unscored
from proctor.core.tally import PREPARATION
from proctor.core.task import Store
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Outcome, Verdict
from proctor.reports.story import played_turns
from proctor_audit.inspector.view import (
    InspectedTrial,
    TrialAuthor,
    TrialCall,
    TrialStep,
    join_results,
    make_call,
    trial_id,
)

AUTHORS: dict[str, TrialAuthor] = {"system": "system", "user": "user", "assistant": "agent", "tool": "tool"}


def trials_of_run(store: Store, record: RunRecord) -> Iterator[InspectedTrial]:
    """Yield the trials of a run; messages count from the first that the agent was sent."""
    for stored in store.stored(record.id):
        trial = stored.trial
        verdict = main_verdict(stored.verdicts, record.main_scorer)
        result = None if verdict is None else verdict.result
        yield view_trial(stored.sample, trial.trajectory, trial.outcome, result, attempt=trial.attempt, run=record.id)


def view_trial(
    sample: Sample,
    trajectory: Trajectory,
    outcome: Outcome = "scored",
    result: Score | Unscored | None = None,
    *,
    attempt: int = 0,
    run: str = "",
) -> InspectedTrial:
    """Return an attempt at a sample as the rules see it; what an agent that failed earned is 0."""
    steps, calls, results = _conversation(sample, trajectory)
    score = result if isinstance(result, Score) else None
    is_unfit = isinstance(result, Unscored) and result.why == "not_applicable"
    return InspectedTrial(
        id=trial_id(sample.id, attempt),
        sample=sample.id,
        attempt=attempt,
        run=run,
        cluster=sample.cluster or sample.id,
        steps=tuple(steps),
        calls=join_results(calls, results),
        outcome=outcome,
        score=0.0 if outcome == "agent_failed" else None if score is None else score.value,
        counts=not is_unfit and PREPARATION not in sample.tags,
        stop="length" if trajectory.stop == "length" else "",
        targets=_targets(sample),
        extracted=None if score is None else score.answer,
        has_extracted=score is not None and score.answer is not None,
        user_script=_script(sample),
        simulated_user=any(step.author == "user" for step in trajectory.steps),
    )


def main_verdict(verdicts: Sequence[Verdict], scorer: str) -> Verdict | None:
    """Return the verdict of the main scorer, or the only one there is."""
    return next((verdict for verdict in verdicts if verdict.scorer == scorer), verdicts[0] if verdicts else None)


def _conversation(
    sample: Sample, trajectory: Trajectory
) -> tuple[list[TrialStep], list[TrialCall], list[tuple[int, ToolResult]]]:
    steps: list[TrialStep] = []
    calls: list[TrialCall] = []
    results: list[tuple[int, ToolResult]] = []
    played = played_turns(sample, trajectory)
    for message in (each for turn in played for each in (*turn.messages, *(step.message for step in turn.steps))):
        index = len(steps)
        author = AUTHORS[message.role]
        trial_calls = [
            make_call(index, call.name, call.arguments_text(), call.id) for call in message.calls if author == "agent"
        ]
        calls += trial_calls
        tool_results = [part for part in message.parts if isinstance(part, ToolResult)]
        for number, part in enumerate(tool_results):
            results.append((index + number, part))
            steps.append(TrialStep(index=index + number, author="tool", text=part.content, has_files=bool(part.files)))
        if not tool_results:
            steps.append(
                TrialStep(
                    index=index,
                    author=author,
                    text=message.text,
                    reasoning="".join(part.text for part in message.parts if isinstance(part, Reasoning)),
                    has_calls=bool(trial_calls),
                    has_files=any(isinstance(part, File) for part in message.parts),
                )
            )
    return steps, calls, results


def _targets(sample: Sample) -> tuple[str, ...]:
    values = sample.target if isinstance(sample.target, list | tuple) else [sample.target]
    return tuple(str(value) for value in values if isinstance(value, str | int | float) and not isinstance(value, bool))


def _script(sample: Sample) -> str:
    scenario = scenario_of(sample)
    return "" if scenario is None else "\n".join(filter(None, (scenario.goal, scenario.knows, scenario.persona)))
