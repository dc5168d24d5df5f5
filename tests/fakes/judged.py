"""Judges that say what they are told to, and the estimates of what they say without a run around them."""

import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Protocol

from proctor.core.judge import JudgeInfo
from proctor.core.run import Estimate, RunRecord, RunSpec
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.tally import Case, tally
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Value, Verdict
from proctor.engine.judge_figures import estimates
from proctor.stats.estimate import metrics


class Judge(Protocol):
    """A judge as these tests use it."""

    name: str
    judge: JudgeInfo

    def __call__(self, sample: Sample, trajectory: Trajectory) -> Awaitable[Score | Unscored]: ...


def said(**points: Any) -> str:
    """A reply that gives these points."""
    return json.dumps({"comment": "so it is", **points})


def names(winner: str) -> str:
    """A reply that names a winner."""
    return json.dumps({"reason": "so it is", "winner": winner})


def item(number: int, **texts: str) -> Sample:
    """An item of a data file."""
    given = {"question": f"Problem {number}", "answer": str(number), **texts}
    return Sample(id=str(number), turns=(), meta={"item": given})


async def estimated(judge: Judge, samples: Sequence[Sample], answer: Callable[[Sample], str]) -> dict[str, Estimate]:
    """What a run of these samples would report of the whole, by the name of the number."""
    results = [await judge(sample, Trajectory.of(answer(sample))) for sample in samples]
    store: Any = _Stored(judge.name, samples, results)
    record = RunRecord(id="r", spec=RunSpec(task="t", agent="a"), task="t", task_version="1", agent="a")
    whole = tally(
        Case(
            cluster=sample.cluster or sample.id,
            values=(result.value,) if isinstance(result, Score) else (),
            planned=1,
            points=result.points if isinstance(result, Score) else 0,
            out_of=result.out_of if isinstance(result, Score) else 0,
        )
        for sample, result in zip(samples, results, strict=True)
    )
    found = estimates(record, store, judge.name, judge.judge, metrics(whole))
    return {f"{one.name} {one.slice}".strip(): one for one in found}


class _Stored:
    def __init__(self, scorer: str, samples: Sequence[Sample], results: Sequence[Score | Unscored]) -> None:
        self._rows = list(zip(samples, results, strict=True))
        self._scorer = scorer

    def verdicts(self, run_id: str, *, scorer: str | None = None) -> Iterator[Verdict]:
        for sample, result in self._rows:
            yield Verdict(run_id=run_id, sample_id=sample.id, scorer=self._scorer, result=result)

    def values(self, run_id: str, scorer: str) -> Iterator[Value]:
        for sample, result in self._rows:
            value = result.value if isinstance(result, Score) else None
            yield Value(sample_id=sample.id, attempt=0, cluster=sample.cluster or sample.id, value=value)
