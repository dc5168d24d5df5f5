"""Runs, samples, trials and verdicts for tests of stores, and a run that is put into a store."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.core.run import RunRecord, RunSpec
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.task import Store
from proctor.core.trajectory import Trajectory, Usage
from proctor.core.trial import Outcome, Trial, Verdict


def a_record(id: str = "r", *, attempts: int = 1, **given: Any) -> RunRecord:
    spec = RunSpec(task="capitals", agent="echo", attempts=attempts)
    return RunRecord(id=id, spec=spec, task="capitals", task_version="1", agent="echo", **given)


def a_sample(id: str, *, cluster: str | None = None, tags: Mapping[str, str] | None = None) -> Sample:
    return Sample.ask(id, f"What is the capital of {id}?", target="Paris", cluster=cluster, tags=tags)


def a_trial(sample_id: str, attempt: int = 0, outcome: Outcome = "scored", *, run: str = "r", **given: object) -> Trial:
    values: dict[str, Any] = {
        "trajectory": Trajectory.of(f"{sample_id}?"),
        "usage": Usage(input_tokens=3, requests=1),
    } | given
    return Trial(run_id=run, sample_id=sample_id, attempt=attempt, outcome=outcome, **values)


def a_verdict(
    sample_id: str, attempt: int = 0, points: float | None = 1, *, run: str = "r", scorer: str = "exact", **given: Any
) -> Verdict:
    result = Unscored(why="judge_failed") if points is None else Score(points=points, **given)
    return Verdict(run_id=run, sample_id=sample_id, attempt=attempt, scorer=scorer, scorer_version="1", result=result)


async def begun(store: Store, samples: Sequence[Sample], record: RunRecord | None = None) -> None:
    record = record or a_record()
    await store.begin(record)
    await store.plan(record.id, samples)


async def fill(store: Store, ids: Sequence[str], record: RunRecord | None = None) -> None:
    """A finished run of scored trials, one for each id."""
    record = record or a_record()
    samples = [a_sample(id) for id in ids]
    await begun(store, samples, record)
    await asyncio.gather(
        *(
            store.add(a_trial(sample.id, run=record.id), [a_verdict(sample.id, run=record.id)], sample)
            for sample in samples
        )
    )
    await store.end(record)
