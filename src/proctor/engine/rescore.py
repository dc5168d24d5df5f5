"""New scores on old trajectories; no agent is called."""

from collections.abc import Sequence

from proctor.core.run import RunRecord
from proctor.core.score import Unscored
from proctor.core.sentence import say
from proctor.core.task import Store
from proctor.core.trial import Trial, Verdict
from proctor.engine.scoring import BoundScorer, judge
from proctor.models import cache

CHUNK = 500


async def rescore(record: RunRecord, store: Store, scorers: Sequence[BoundScorer]) -> int:
    """Append the scorers' verdicts to every scored trial of a run; says how many trials there were."""
    with cache.opened(agents=False):
        return await _rescored(record, store, scorers)


async def _rescored(record: RunRecord, store: Store, scorers: Sequence[BoundScorer]) -> int:
    chunk: list[Verdict] = []
    count = 0
    for trial in store.trials(record.id, outcome="scored"):
        count += 1
        sample = store.sample(record.id, trial.sample_id)
        cache.begin(trial.attempt)
        chunk.extend(await judge(trial, sample, scorers) if sample is not None else _without(trial, scorers))
        if len(chunk) >= CHUNK:
            await store.judge(chunk)
            chunk = []
    await store.judge(chunk)
    return count


def _without(trial: Trial, scorers: Sequence[BoundScorer]) -> list[Verdict]:
    reason = say("The sample was not kept with the run.")
    return [
        Verdict(
            run_id=trial.run_id,
            sample_id=trial.sample_id,
            attempt=trial.attempt,
            scorer=scorer.name,
            scorer_version=scorer.version,
            result=Unscored(why="not_applicable", reason=reason),
        )
        for scorer in scorers
    ]
