"""A store that keeps runs in memory: for tests of what reads a store. It passes the contract tests of stores."""

import difflib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from proctor.core.annotation import Annotation, AnnotationKey, AnnotationKind
from proctor.core.errors import BadInput
from proctor.core.run import RunRecord
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.tally import Case, Tally, tally
from proctor.core.trajectory import Usage
from proctor.core.trial import IN_THE_MEAN, INFRASTRUCTURE, RETRYABLE, Outcome, StoredTrial, Trial, Value, Verdict

Key = tuple[str, int]


class _Kept:
    """One run."""

    def __init__(self, record: RunRecord) -> None:
        self.record = record
        self.plan: dict[str, tuple[str, Mapping[str, str]]] = {}
        self.trials: dict[Key, Trial] = {}
        self.replaced: list[Trial] = []
        self.verdicts: dict[Key, dict[str, Verdict]] = {}
        self.said: dict[Key, list[Verdict]] = {}
        self.samples: dict[str, Sample] = {}
        self.mark = 0
        self.marks: dict[Key, int] = {}
        self.annotations: dict[AnnotationKey, Annotation] = {}

    def in_order(self) -> Iterator[Trial]:
        place = {id: at for at, id in enumerate(self.plan)}
        yield from sorted(
            self.trials.values(),
            key=lambda trial: (place.get(trial.sample_id, len(place)), trial.sample_id, trial.attempt),
        )


class MemoryStore:
    """Runs in memory, as `core.task.Store` says; two stores share nothing."""

    def __init__(self) -> None:
        self.url = "memory:"
        self._runs: dict[str, _Kept] = {}
        self._open: set[str] = set()

    async def begin(self, record: RunRecord) -> None:
        if record.id in self._open:
            raise BadInput("The run {run} is open in another process.", run=record.id)
        if record.id in self._runs:
            self._runs[record.id].record = record
        else:
            self._runs[record.id] = _Kept(record)
        self._open.add(record.id)

    async def plan(self, run_id: str, samples: Iterable[Sample]) -> int:
        planned: dict[str, tuple[str, Mapping[str, str]]] = {}
        for sample in samples:
            if sample.id in planned:
                raise BadInput("The sample id '{id}' is there twice.", id=sample.id)
            planned[sample.id] = (sample.cluster or sample.id, sample.tags)
        self._kept(run_id).plan = planned
        return len(planned)

    async def add(self, trial: Trial, verdicts: Sequence[Verdict] = (), sample: Sample | None = None) -> None:
        kept, key = self._kept(trial.run_id), (trial.sample_id, trial.attempt)
        if trial.sample_id not in kept.plan:
            raise BadInput("The sample '{id}' is not in the plan of the run.", id=trial.sample_id)
        old = kept.trials.get(key)
        if old is not None and old.outcome not in RETRYABLE:
            return
        if old is not None:
            kept.replaced.append(old)
            kept.verdicts.pop(key, None)
        kept.trials[key] = trial
        kept.marks[key] = kept.mark = kept.mark + 1
        if sample is not None:
            kept.samples[sample.id] = sample
        await self.judge(verdicts)

    async def judge(self, verdicts: Sequence[Verdict]) -> None:
        for verdict in verdicts:
            kept = self._kept(verdict.run_id)
            key = verdict.sample_id, verdict.attempt
            kept.verdicts.setdefault(key, {})[verdict.scorer] = verdict
            kept.said.setdefault(key, []).append(verdict)
            kept.marks[key] = kept.mark = kept.mark + 1

    async def save(self, record: RunRecord) -> None:
        self._kept(record.id).record = record

    async def end(self, record: RunRecord) -> None:
        await self.save(record)
        self._open.discard(record.id)

    def runs(self) -> list[RunRecord]:
        return sorted((kept.record for kept in self._runs.values()), key=lambda record: -record.created)

    def run(self, run_id: str) -> RunRecord:
        return self._kept(run_id).record

    def finished(
        self, run_id: str, *, failed_too: bool = False, samples: Iterable[str] | None = None
    ) -> set[tuple[str, int]]:
        again = RETRYABLE - INFRASTRUCTURE if failed_too else RETRYABLE
        found = {key for key, trial in self._kept(run_id).trials.items() if trial.outcome not in again}
        if samples is None:
            return found
        chosen = set(samples)
        return {key for key in found if key[0] in chosen}

    def outcomes(self, run_id: str) -> Mapping[Outcome, int]:
        return Counter(trial.outcome for trial in self._kept(run_id).trials.values())

    def usage(self, run_id: str) -> Usage:
        kept = self._kept(run_id)
        used = [trial.usage for trial in (*kept.trials.values(), *kept.replaced)]
        used += [one.usage for said in kept.said.values() for one in said if one.usage is not None]
        return sum(used, Usage())

    def trials(
        self,
        run_id: str,
        *,
        outcome: Outcome | None = None,
        sample_id: str | None = None,
        scorer: str | None = None,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> Iterator[Trial]:
        kept = self._kept(run_id)
        for trial in kept.in_order():
            if outcome in (None, trial.outcome) and sample_id in (None, trial.sample_id):
                found = kept.verdicts.get((trial.sample_id, trial.attempt), {})
                judged = [one.result for name, one in found.items() if scorer in (None, name)]
                values = [result.value for result in judged if isinstance(result, Score)]
                if trial.outcome == "agent_failed":
                    values = [0.0]
                low, high = (0.0 if min_value is None else min_value), (1.0 if max_value is None else max_value)
                if (min_value is None and max_value is None) or any(low <= value <= high for value in values):
                    yield trial

    def verdicts(self, run_id: str, *, scorer: str | None = None, sample_id: str | None = None) -> Iterator[Verdict]:
        kept = self._kept(run_id)
        for trial in kept.in_order():
            if sample_id in (None, trial.sample_id):
                found = kept.verdicts.get((trial.sample_id, trial.attempt), {})
                yield from (one for name, one in sorted(found.items()) if scorer in (None, name))

    def sample(self, run_id: str, sample_id: str) -> Sample | None:
        return self._kept(run_id).samples.get(sample_id)

    def tallies(self, run_id: str, scorer: str) -> Mapping[str, Tally]:
        kept = self._kept(run_id)
        attempts = kept.record.spec.attempts
        cases: dict[str, list[Case]] = {"": []}
        for sample_id, (cluster, tags) in kept.plan.items():
            case = _case(kept, scorer, sample_id, cluster, attempts)
            for slice in ("", *(f"{key}={value}" for key, value in tags.items())):
                cases.setdefault(slice, []).append(case)
        return {slice: tally(found) for slice, found in cases.items()}

    def strata(self, run_id: str, scorer: str, tag: str) -> Mapping[str, Mapping[str, Tally]]:
        kept = self._kept(run_id)
        cases: dict[str, dict[str, list[Case]]] = {"": {}}
        for sample_id, (cluster, tags) in kept.plan.items():
            case = _case(kept, scorer, sample_id, cluster, kept.record.spec.attempts)
            for slice in ("", *(f"{key}={value}" for key, value in tags.items())):
                cases.setdefault(slice, {}).setdefault(tags.get(tag, ""), []).append(case)
        return {slice: {name: tally(found) for name, found in cells.items()} for slice, cells in cases.items()}

    def values(self, run_id: str, scorer: str) -> Iterator[Value]:
        kept = self._kept(run_id)
        for trial in kept.in_order():
            verdict = kept.verdicts.get((trial.sample_id, trial.attempt), {}).get(scorer)
            cluster, tags = kept.plan[trial.sample_id]
            value, why = _value(trial, verdict)
            yield Value(
                sample_id=trial.sample_id, attempt=trial.attempt, cluster=cluster, tags=tags, value=value, why=why
            )

    def planned(self, run_id: str) -> Iterator[Sample]:
        kept = self._kept(run_id)
        for id, (cluster, tags) in kept.plan.items():
            yield kept.samples.get(id) or Sample(id=id, turns=(), cluster=cluster, tags=tags)

    def history(self, run_id: str) -> Iterator[Trial | Verdict]:
        kept = self._kept(run_id)
        for trial in kept.in_order():
            key = trial.sample_id, trial.attempt
            yield from (old for old in kept.replaced if (old.sample_id, old.attempt) == key)
            yield trial
            yield from kept.said.get(key, [])

    def stored(self, run_id: str, *, after: int = 0, start: int = 0) -> Iterator[StoredTrial]:
        kept = self._kept(run_id)
        place = {id: at for at, id in enumerate(kept.plan)}
        for trial in kept.in_order():
            key = trial.sample_id, trial.attempt
            if kept.marks[key] > after and place[trial.sample_id] >= start:
                cluster, tags = kept.plan[trial.sample_id]
                yield StoredTrial(
                    mark=kept.mark,
                    position=place[trial.sample_id],
                    sample=kept.samples.get(trial.sample_id)
                    or Sample(id=trial.sample_id, turns=(), cluster=cluster, tags=tags),
                    trial=trial,
                    verdicts=tuple(one for _, one in sorted(kept.verdicts.get(key, {}).items())),
                )

    def version(self, run_id: str) -> str:
        kept = self._kept(run_id)
        return f"{id(kept)}.{kept.mark}"

    def annotate(self, added: Sequence[Annotation], removed: Sequence[Annotation] = ()) -> None:
        for one in added:
            if one.sample_id not in ("", *self._kept(one.run_id).plan):
                raise BadInput("The sample '{id}' is not in the plan of the run.", id=one.sample_id)
        for one in removed:
            self._kept(one.run_id).annotations.pop(one.key, None)
        for one in added:
            self._kept(one.run_id).annotations[one.key] = one

    def annotations(
        self, run_id: str | None = None, *, kind: AnnotationKind | None = None, sample_id: str | None = None
    ) -> list[Annotation]:
        every = [self._kept(run_id)] if run_id is not None else self._runs.values()
        found = [one for kept in every for one in kept.annotations.values()]
        found = [one for one in found if kind in (None, one.kind) and sample_id in (None, one.sample_id)]
        return sorted(found, key=lambda one: one.created)

    def writer(self, run_id: str) -> int | None:
        return os.getpid() if run_id in self._open else None

    def delete(self, run_id: str) -> None:
        self._kept(run_id)
        del self._runs[run_id]

    def close(self) -> None:
        self._open.clear()

    def _kept(self, run_id: str) -> _Kept:
        if run_id not in self._runs:
            near = difflib.get_close_matches(run_id, self._runs, n=1)
            raise BadInput("There is no run '{run}'. Did you mean '{near}'?", run=run_id, near=near[0] if near else "")
        return self._runs[run_id]


def _value(trial: Trial, verdict: Verdict | None) -> tuple[float | None, str]:
    if trial.outcome == "agent_failed":
        return 0.0, ""
    if trial.outcome != "scored":
        return None, trial.outcome
    if verdict is None:
        return None, "not_scored"
    return (verdict.result.value, "") if isinstance(verdict.result, Score) else (None, verdict.result.why)


def _case(kept: _Kept, scorer: str, sample_id: str, cluster: str, attempts: int) -> Case:
    scores: list[Score] = []
    for attempt in range(attempts):
        trial = kept.trials.get((sample_id, attempt))
        if trial is None or trial.outcome not in IN_THE_MEAN:
            continue
        if trial.outcome == "agent_failed":
            scores.append(Score(points=0))
            continue
        verdict = kept.verdicts.get((sample_id, attempt), {}).get(scorer)
        if verdict is not None and isinstance(verdict.result, Score):
            scores.append(verdict.result)
    return Case(
        cluster=cluster,
        values=tuple(score.value for score in scores),
        planned=attempts,
        points=sum(score.points for score in scores),
        out_of=sum(score.out_of for score in scores),
    )
