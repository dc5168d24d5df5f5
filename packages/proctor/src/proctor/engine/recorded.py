"""Score replies that were recorded elsewhere, in place of calling an agent."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Trial, TrialFailure, Verdict
from proctor.engine.scoring import score_trial
from proctor.engine.trial import Work, skip_unjudged
from proctor.models import cache
from proctor.transport import retry

Reply = Trajectory | TrialFailure
Replies = Mapping[str, Sequence[Reply]]


def group_replies(
    replies: Iterable[tuple[str, Reply]], samples: Iterable[Sample], *, task: str, attempts: int, is_whole: bool
) -> Replies:
    """Group replies by sample, one per attempt; unless the samples are the whole task, replies to others are ignored.

    Raises:
        BadInput: a reply for a sample that the task does not have, or more of them than attempts.
    """
    known = {sample.id for sample in samples}
    found: dict[str, list[Reply]] = {}
    for sample_id, reply in replies:
        if sample_id not in known:
            if not is_whole:
                continue
            raise BadInput("There is a reply for '{id}', but no such sample in {task}.", id=sample_id, task=task)
        of_sample = found.setdefault(sample_id, [])
        if len(of_sample) == attempts:
            raise BadInput("There is more than one reply for the sample '{id}'.", id=sample_id)
        of_sample.append(reply)
    return found


async def score_recorded(work: Work, replies: Replies, sample: Sample, attempt: int) -> tuple[Trial, list[Verdict]]:
    """Score a recorded reply, and return the same as `run_trial`."""
    cache.begin(attempt, f"{work.run_id}/{sample.id}", work.created)
    calls = retry.record_calls()
    reply = replies[sample.id][attempt]
    if isinstance(reply, TrialFailure):
        trial = Trial(
            run_id=work.run_id, sample_id=sample.id, attempt=attempt, outcome="provider_failed", failure=reply
        )
        return trial, []
    trial = Trial(
        run_id=work.run_id,
        sample_id=sample.id,
        attempt=attempt,
        outcome="scored",
        trajectory=reply,
        seconds=sum(step.seconds for step in reply.steps),
        usage=reply.usage,
    )
    verdicts = await score_trial(trial, sample, work.scorers)
    return skip_unjudged(replace(trial, retries=tuple(calls)) if calls else trial, verdicts), verdicts
