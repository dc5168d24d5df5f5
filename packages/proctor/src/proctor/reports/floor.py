"""Say what agents that know nothing earn on the samples of a run: its score is compared with theirs, not with 0."""

from collections.abc import Iterator, Mapping

import msgspec

from proctor.core.run import RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.tally import Case, tally
from proctor.core.task import Store
from proctor.reports.history import FLOOR, find_complete_runs
from proctor.reports.matching import Earned, earned_by_sample
from proctor.stats.estimate import estimate

KNOWS = f"{FLOOR}oracle"


class RunFloor(msgspec.Struct, frozen=True, kw_only=True):
    """What a baseline earns on the samples that a run has a score for, with an interval; `scored` of them it was scored on."""

    run: str
    agent: str
    value: float
    low: float | None
    high: float | None
    scored: int
    samples: int


def floors_of(record: RunRecord, store: Store) -> list[RunFloor]:
    """Return the floors by the newest stored run of each baseline on the task, version, options and scorer of a run."""
    if record.agent.startswith(FLOOR) or not record.main_scorer:
        return []
    newest: dict[str, RunRecord] = {}
    for other in find_complete_runs(record, store):
        if other.agent.startswith(FLOOR) and other.agent != KNOWS:
            newest.setdefault(other.agent, other)
    if not newest:
        return []
    own = earned_by_sample(record, store, record.main_scorer)
    floors = (_measure(own, newest[agent], store, record.main_scorer) for agent in sorted(newest))
    return [floor for floor in floors if floor is not None]


def _measure(own: Mapping[str, Earned], other: RunRecord, store: Store, scorer: str) -> RunFloor | None:
    theirs = earned_by_sample(other, store, scorer)
    same = [theirs[id] for id, points in own.items() if points.attempts and id in theirs]
    scored = [points for points in same if points.attempts]
    mean = estimate("score", tally(Case(cluster=points.cluster, values=(points.mean,), planned=1) for points in scored))
    if mean.value is None:
        return None
    return RunFloor(
        run=other.id,
        agent=other.agent,
        value=mean.value,
        low=mean.low,
        high=mean.high,
        scored=len(scored),
        samples=len(same),
    )


def describe_floors(floors: list[RunFloor]) -> Iterator[Sentence]:
    """Yield what each baseline earns."""
    for floor in floors:
        between = "" if floor.low is None or floor.high is None else f" ({100 * floor.low:.1f}–{100 * floor.high:.1f})"
        yield say(
            "Floor: {agent} earns {value} %{between} on {scored} of the same {samples} samples (run {run}).",
            agent=floor.agent,
            value=f"{100 * floor.value:.1f}",
            between=between,
            scored=floor.scored,
            samples=floor.samples,
            run=floor.run,
        )
