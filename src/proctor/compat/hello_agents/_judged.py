"""What the judges of HelloAgents share: problems as items, runs of them, numbers with intervals."""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import proctor
from proctor.api.run import Run
from proctor.calibration.figures import on_scale
from proctor.compat.hello_agents._words import tell
from proctor.core.digest import digest
from proctor.core.errors import BadInput
from proctor.core.judge import Figure
from proctor.core.run import Estimate
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.tally import Case, tally
from proctor.core.task import Task
from proctor.core.trajectory import Trajectory
from proctor.generation.files import write
from proctor.generation.generator import as_text
from proctor.judges.pairwise import PairwiseJudge
from proctor.judges.rubric import RubricJudge
from proctor.judging.fields import Item
from proctor.stats.estimate import estimate

ROLES = {"problem": "question", "answer": "answer", "solution": "solution"}
Problem = Mapping[str, Any]
Dict = dict[str, Any]


class Timed:
    """A judge that notes how long each item took, and says what came of it."""

    inline = False

    def __init__(
        self, judge: RubricJudge | PairwiseJudge, done: Callable[[str, Score | Unscored], None] | None = None
    ) -> None:
        self.name, self.version, self.judge = judge.name, judge.version, judge.judge
        self.seconds: dict[str, float] = {}
        self._judge = judge
        self._done = done

    async def __aenter__(self) -> Self:
        await self._judge.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._judge.__aexit__(*error)

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        started = time.perf_counter()
        try:
            result = await self._judge(sample, trajectory)
        finally:
            self.seconds[sample.id] = time.perf_counter() - started
        if self._done is not None:
            self._done(sample.id, result)
        return result


def play(name: str, samples: Sequence[Sample], judge: Timed) -> Run:
    """Judge samples in order, one at a time, as a run in the default store."""
    task = Task(name=name, version=digest([list(samples), judge.version])[:12], samples=samples, scorers=[judge])
    return proctor.evaluate(task, agent="recorded:", concurrency=1, order="official")


def export(results: Mapping[str, Any], output_path: str | Path) -> None:
    """Write results as JSON."""
    path = write(Path(output_path), json.dumps(results, ensure_ascii=False, indent=2, default=str), replace=True)
    tell(say("✅ Results written: {path}", path=path))


def now() -> str:
    """The moment as results tell it: ISO, local."""
    return datetime.now().astimezone().replace(tzinfo=None).isoformat()


def mean(values: Sequence[float], planned: int, low: float = 0.0, high: float = 1.0) -> Estimate:
    """The mean of values on a scale, with its interval."""
    width = high - low
    cases = [Case(cluster=str(place), values=((value - low) / width,), planned=1) for place, value in enumerate(values)]
    found = estimate(
        "mean", tally([*cases, *(Case(cluster="-", values=(), planned=1) for _ in range(planned - len(values)))])
    )
    return on_scale(found, Figure(name="mean", low=low, high=high))


def from_cache(runs: Iterable[Run]) -> int:
    """Count the replies of the judge that came from the reply cache, and say so where there are any."""
    count = sum(verdict.result.known.replies_from_cache for run in runs for verdict in run.verdicts())
    if count:
        tell(say("ℹ️ {count} replies of the judge came from the reply cache: it was not asked again.", count=count))
    return count


def items(problems: Iterable[Mapping[str, Any]]) -> list[Item]:
    """Problems as items, with ids that are different."""
    found: list[Item] = []
    seen: set[str] = set()
    for number, problem in enumerate(problems):
        id = id_of(problem, f"problem-{number}")
        id = f"{id}-{number}" if id in seen else id
        seen.add(id)
        found.append(item(problem, id))
    return found


def item(problem: Mapping[str, Any], id: str) -> Item:
    texts = {role: as_text(problem[name]) for name, role in ROLES.items() if problem.get(name) not in (None, "")}
    if not texts:
        raise BadInput("The problem '{id}' has neither problem, answer nor solution.", id=id)
    return Item(id=id, texts=texts)


def id_of(problem: Mapping[str, Any], usual: str) -> str:
    found = problem.get("problem_id", problem.get("id"))
    return usual if found in (None, "") else str(found)
