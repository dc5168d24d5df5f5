"""Read what answers earned and what errors cost them, at the word of the scorer of the run and of the other run's version."""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from proctor.api import resolve
from proctor.api.loop import run_in_loop
from proctor.api.run import Run
from proctor.core.errors import ProctorError
from proctor.core.judge import JudgeChoice
from proctor.core.run import Budget
from proctor.core.score import Score
from proctor.core.sentence import Sentence, say
from proctor.core.tally import PREPARATION
from proctor.core.trial import Verdict
from proctor.engine.progress import Progress
from proctor.engine.rescore import RescoreJob
from proctor.engine.rescore import rescore as score_again
from proctor.engine.scoring import BoundScorer

Key = tuple[str, int]
Costs = Mapping[str, float]  # by class of error; they sum to 1 less the mean
# the first run's answers by the second's version, and the other way round
SecondScores = tuple[Costs | None, Costs | None]
AGENT_FAILED = "agent_failed"


class Answers(msgspec.Struct):
    """What a sample earned in a run by attempt, with the class of error of each that earned less than all.

    `why` is the reason where nothing was scored; `versions` are those of the scorer.
    """

    cluster: str
    tags: Mapping[str, str]
    why: str = "not_run"
    values: dict[int, float] = {}
    errors: dict[int, str] = {}
    by_attempt: dict[int, str] = {}

    @property
    def mean(self) -> float:
        values = self.values.values()
        return next(iter(values)) if len(values) == 1 else sum(values) / len(values)

    @property
    def versions(self) -> set[str]:
        return {*self.by_attempt.values()}

    @property
    def is_whole(self) -> bool:
        return all(value in (0, 1) for value in self.values.values())

    @property
    def costs(self) -> Costs:
        return _costs(self.values, self.errors)


def _costs(values: Mapping[int, float], errors: Mapping[int, str]) -> Costs:
    costs: dict[str, float] = {}
    for attempt, value in values.items():
        if value < 1:
            name = errors.get(attempt, "")
            costs[name] = costs.get(name, 0.0) + (1 - value) / len(values)
    return costs


def read_answers(run: Run, scorer: str) -> dict[str, Answers]:
    """Return every planned sample of a run with what its attempts earned."""
    found: dict[str, Answers] = {}
    for value in run.store.values(run.id, scorer):
        if PREPARATION in value.tags:
            continue
        answers = found.get(value.sample_id)
        if answers is None:
            answers = found[value.sample_id] = Answers(value.cluster, value.tags)
        if value.value is None:
            answers.why = value.why
        else:
            answers.values[value.attempt] = value.value
    if len(found) * run.record.spec.attempts < run.record.planned:
        for sample in run.store.planned(run.id):
            if sample.id not in found and PREPARATION not in sample.tags:
                found[sample.id] = Answers(sample.cluster or sample.id, sample.tags)
    for verdict in run.store.verdicts(run.id, scorer=scorer):
        answers = found.get(verdict.sample_id)
        if answers is not None and verdict.attempt in answers.values:
            answers.by_attempt[verdict.attempt] = verdict.scorer_version
            if answers.values[verdict.attempt] < 1:
                answers.errors[verdict.attempt] = verdict.result.known.error_class
    for trial in run.trials(outcome="agent_failed"):
        if trial.sample_id in found:
            found[trial.sample_id].errors[trial.attempt] = AGENT_FAILED
    return found


class Rescoring(msgspec.Struct, frozen=True, kw_only=True):
    """How answers may be scored again: at all, also by a judge, and at what cost."""

    allowed: bool = True
    ask_judge: bool = False
    budget: Budget = Budget()
    progress: Progress


def score_by_other(
    runs: tuple[Run, Run],
    scorer: str,
    answers: tuple[Mapping[str, Answers], Mapping[str, Answers]],
    ids: Sequence[str],
    versions: tuple[str, str],
    how: Rescoring,
) -> tuple[dict[str, SecondScores], list[Sentence]]:
    """Return what errors cost these samples when the other run's version of the scorer scores them, with notes on what is unknown.

    A verdict of that version is taken from the history of the run, else the answer is scored again where the version is the
    one that is installed.
    """
    notes: list[Sentence] = []
    found: list[dict[str, Costs]] = []
    for run, each, version in zip(runs, answers, reversed(versions), strict=True):
        wanted = {(id, attempt) for id in ids for attempt, own in each[id].by_attempt.items() if own != version}
        verdicts = _earlier(run, scorer, version, wanted) if wanted else {}
        left = wanted - verdicts.keys()
        if left and how.allowed:
            bound = _find_scorer(runs, scorer, version)
            if bound is not None and (how.ask_judge or not resolve.judges_of([bound])):
                verdicts |= _scored_again(run, bound, left, how)
            elif bound is not None:
                notes.append(
                    say(
                        "The answers of {run} were judged by another version: asking the judge about them again, {count} times, tells its part from the agent's (--ask-judge).",
                        run=run.id,
                        count=len(left),
                    )
                )
            else:
                notes.append(
                    say(
                        "The version {version} of the scorer {scorer} is not the one that is installed here, so the answers of {run} cannot be scored by it.",
                        version=version[:12],
                        scorer=scorer,
                        run=run.id,
                    )
                )
        found.append({id: costs for id in ids if (costs := _by_other(id, each[id], version, verdicts)) is not None})
    return {id: (found[0].get(id), found[1].get(id)) for id in ids}, notes


def _by_other(id: str, one: Answers, version: str, verdicts: Mapping[Key, Verdict]) -> Costs | None:
    """Return what errors cost a sample by the other version; None unless that scored every attempt that is scored."""
    values, errors = dict(one.values), dict(one.errors)
    for attempt, own in one.by_attempt.items():
        if own != version:
            verdict = verdicts.get((id, attempt))
            if verdict is None or not isinstance(verdict.result, Score):
                return None
            values[attempt] = verdict.result.value
            errors[attempt] = verdict.result.known.error_class
    return _costs(values, errors)


def _earlier(run: Run, scorer: str, version: str, wanted: Collection[Key]) -> dict[Key, Verdict]:
    """Return the verdicts of a version that are no longer those that count."""
    return {
        (one.sample_id, one.attempt): one
        for one in run.store.history(run.id)
        if isinstance(one, Verdict)
        and (one.scorer, one.scorer_version) == (scorer, version)
        and (one.sample_id, one.attempt) in wanted
    }


def _find_scorer(runs: Sequence[Run], scorer: str, version: str) -> BoundScorer | None:
    """Return the scorer as either run names it, if it has this version today."""
    for run in reversed(runs):
        for bound in _scorers(run):
            if (bound.name, bound.version) == (scorer, version):
                return bound
    return None


def _scorers(run: Run) -> Iterator[BoundScorer]:
    spec = run.record.spec
    judge = JudgeChoice(model=spec.judge, options=spec.judge_options)
    try:
        yield from resolve.scorers(spec.scorers, judge)
    except ProctorError:
        try:  # a function of the task is found there
            yield from resolve.scorers_of(resolve.task(spec.task, spec.task_options)[0], spec.scorers, judge)
        except ProctorError:
            return


def _scored_again(run: Run, bound: BoundScorer, wanted: Collection[Key], how: Rescoring) -> dict[Key, Verdict]:
    found: dict[Key, Verdict] = {}

    async def keep(verdicts: Sequence[Verdict]) -> None:
        found.update({(verdict.sample_id, verdict.attempt): verdict for verdict in verdicts})

    async def work(stop: asyncio.Event) -> None:
        job = RescoreJob(record=run.record, scorers=[bound], budget=how.budget, among=wanted, keep=keep)
        await score_again(job, run.store, how.progress, stop)

    run_in_loop(work)
    return found
