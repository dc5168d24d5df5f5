"""Decide which cases of a run passed: the scores of all turns of all attempts, averaged by metric, against its threshold.

So counts ADK (google/adk-python, src/google/adk/evaluation/agent_evaluator.py, release 2.7.1). What it leaves open: an
attempt in which the agent failed scores 0; one that could not be measured leaves its case not evaluated.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal

import msgspec

from proctor.core.run import RunRecord
from proctor.core.sample import Sample, ToolCall, Turn
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.core.trajectory import turns_of
from proctor.core.trial import IN_THE_MEAN, Trial, Verdict
from proctor.trajectory_matching import expectation
from proctor_adapters.scorers.adk import made_call
from proctor_judging.judges.adk_judged import KEY
from proctor_judging.matching.adk_rules import mean

Status = Literal["passed", "failed", "not_evaluated"]
SUMMARY = "adk:passed"  # says of all metrics what is counted here
PREFIX = "adk:"
Call = Mapping[str, object]


class TurnOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The input, the expected and the actual output of one turn of one attempt; `args` of a call may be None, as in ADK.

    rubrics: what each property is worth, by metric and id.
    """

    attempt: int
    place: int
    asked: str
    expected_response: str | None = None
    response: str = ""
    expected_calls: tuple[Call, ...] | None = None
    calls: tuple[Call, ...] = ()
    seconds: float = 0.0
    scores: Mapping[str, float | None] = {}
    statuses: Mapping[str, Status] = {}
    reasons: Mapping[str, str | Sentence] = {}
    rubrics: Mapping[str, Mapping[str, float]] = {}
    failure: str | Sentence = ""


class MetricOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One metric over all turns and attempts; `score` is None where something could not be measured.

    has_own_rule: it says itself whether a turn passed, so that the mean over turns is not what decides.
    """

    name: str
    threshold: float
    score: float | None
    status: Status
    reason: str | Sentence = ""
    has_own_rule: bool = False


class CaseOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One case; `failure` is why an attempt did not end as it should, '' when all did."""

    set_id: str
    id: str
    status: Status
    metrics: tuple[MetricOutcome, ...] = ()
    turns: tuple[TurnOutcome, ...] = ()
    failure: str | Sentence = ""
    seconds: float = 0.0


Attempt = tuple[Trial, Mapping[str, Score | Unscored]]


def outcomes(record: RunRecord, store: Store) -> Iterator[CaseOutcome]:
    """Yield the cases of a run in the order of their sets, also those that were never run."""
    verdicts: dict[tuple[str, int], list[Verdict]] = {}
    for verdict in store.verdicts(record.id):
        verdicts.setdefault((verdict.sample_id, verdict.attempt), []).append(verdict)
    trials = {key: list(group) for key, group in groupby(store.trials(record.id), key=lambda trial: trial.sample_id)}
    for planned in store.planned(record.id):
        attempts = [
            (trial, {one.scorer: one.result for one in verdicts.get((trial.sample_id, trial.attempt), ())})
            for trial in trials.get(planned.id, ())
        ]
        yield _case(store.sample(record.id, planned.id) or planned, attempts, record)


def outcome_of(record: RunRecord, store: Store, sample_id: str) -> CaseOutcome | None:
    """Return one case of a run; None if it was not run yet, or is not in it."""
    sample = store.sample(record.id, sample_id)
    trials = list(store.trials(record.id, sample_id=sample_id))
    if sample is None or not trials:
        return None
    verdicts: dict[int, dict[str, Score | Unscored]] = {}
    for verdict in store.verdicts(record.id, sample_id=sample_id):
        verdicts.setdefault(verdict.attempt, {})[verdict.scorer] = verdict.result
    return _case(sample, [(trial, verdicts.get(trial.attempt, {})) for trial in trials], record)


def status_of(score: float | None, threshold: float) -> Status:
    """Return what a score is worth.

    >>> status_of(0.8, 0.8), status_of(None, 0.8)
    ('passed', 'not_evaluated')
    """
    if score is None:
        return "not_evaluated"
    return "passed" if score >= threshold else "failed"


def _case(sample: Sample, attempts: Sequence[Attempt], record: RunRecord) -> CaseOutcome:
    names = [name for name in record.scorers if name != SUMMARY and _asked_for(name, sample, attempts)]
    missing = record.spec.attempts - sum(trial.outcome in IN_THE_MEAN for trial, _ in attempts)
    metrics = [_metric(name, sample, attempts, whole=missing <= 0) for name in names]
    return CaseOutcome(
        set_id=sample.known.eval_set_id or record.task,
        id=sample.id,
        status=_status([metric.status for metric in metrics], [trial for trial, _ in attempts]),
        metrics=tuple(metrics),
        turns=tuple(
            _turn(sample, turn, trial, verdicts, index, names)
            for trial, verdicts in attempts
            for index, turn in enumerate(turns_of(sample, trial.trajectory))
        ),
        failure=next((_failure(trial) for trial, _ in attempts if trial.outcome != "scored"), ""),
        seconds=sum(trial.seconds for trial, _ in attempts),
    )


def _status(metrics: Sequence[Status], trials: Sequence[Trial]) -> Status:
    if trials and all(trial.outcome == "agent_failed" for trial in trials):
        return "failed"
    if "failed" in metrics:
        return "failed"
    return "not_evaluated" if "not_evaluated" in metrics or not metrics else "passed"


def _metric_name(scorer: str) -> str:
    """Return what ADK calls the metric of a scorer; the name itself of other scorers."""
    return scorer.removeprefix(PREFIX).removeprefix(f"{KEY}:")


def _asked_for(name: str, sample: Sample, attempts: Sequence[Attempt]) -> bool:
    """True if the criteria of the case name a metric: sets of one run may have different ones."""
    criteria = sample.known.adk.get("criteria", ())
    if name.startswith(PREFIX):
        return _metric_name(name) in criteria
    results = [verdicts[name] for _, verdicts in attempts if name in verdicts]
    return not results or not all(isinstance(result, Unscored) and result.why == "not_applicable" for result in results)


def _metric(name: str, sample: Sample, attempts: Sequence[Attempt], *, whole: bool) -> MetricOutcome:
    results = [(trial, verdicts.get(name)) for trial, verdicts in attempts if trial.outcome in IN_THE_MEAN]
    scores = [score for trial, result in results for score in _scores(sample, trial, result)]
    known = [score for score in scores if score is not None]
    whole = whole and bool(known) and len(known) == len(scores)
    threshold = _threshold(name, sample, [result for _, result in results])
    score = mean(known) if whole else None
    reasons = [result.reason for _, result in results if isinstance(result, Unscored)]
    by_turn = [_passed_turns(result) for _, result in results]
    has_own_rule = score is not None and all(by_turn)
    status = status_of(score, threshold)
    if has_own_rule:
        status = "passed" if all(one is not False for passed in by_turn for one in passed) else "failed"
    worst = min((one for _, one in results if isinstance(one, Score)), key=lambda one: one.value, default=None)
    reason = reasons[0] if reasons else worst.reason if worst is not None else ""
    return MetricOutcome(
        name=_metric_name(name),
        threshold=threshold,
        score=score,
        status=status,
        reason=reason,
        has_own_rule=has_own_rule,
    )


def _scores(sample: Sample, trial: Trial, result: Score | Unscored | None) -> Sequence[float | None]:
    """Return what is averaged of an attempt: its turns where the metric lists them, as ADK's do, else its value."""
    if trial.outcome == "agent_failed":
        return [0.0] * len(sample.turns)
    if not isinstance(result, Score):
        return [None]
    turns = result.known.turns
    return turns if isinstance(turns, tuple) and turns else [result.value]


def _turn_score(trial: Trial, result: Score | Unscored | None, place: int) -> float | None:
    """Return what one turn scored; a metric that does not tell gives the same for all."""
    if trial.outcome == "agent_failed":
        return 0.0
    if trial.outcome not in IN_THE_MEAN or not isinstance(result, Score):
        return None
    turns = result.known.turns
    score: float | None = result.value
    if isinstance(turns, Mapping):  # of metrics of ours, for the turns that they have to do with
        known = turns.get(str(place + 1))
        score = known.get("value") if isinstance(known, Mapping) else known
    elif turns:
        score = turns[min(place, len(turns) - 1)]
    return score


def _passed_turns(result: Score | Unscored | None) -> Sequence[bool | None]:
    """Return what a metric says of each turn that has its own rule, such as one by which less is better."""
    return result.known.passed_turns if isinstance(result, Score) else ()


def _threshold(name: str, sample: Sample, results: Sequence[Score | Unscored | None]) -> float:
    thresholds = (result.known.threshold for result in results if result is not None)
    return next((threshold for threshold in thresholds if threshold is not None), _case_threshold(name, sample))


def _case_threshold(name: str, sample: Sample) -> float:
    options = sample.known.adk
    keys = {"adk:tool_trajectory_avg_score": "trajectory_threshold", "adk:response_match_score": "response_threshold"}
    return float(options.get(keys.get(name, ""), 1.0))


def _turn(
    sample: Sample, turn: Turn, trial: Trial, verdicts: Mapping[str, Score | Unscored], place: int, names: Sequence[str]
) -> TurnOutcome:
    expected = expectation.expected_of(turn.reference)
    scores: dict[str, float | None] = {}
    statuses: dict[str, Status] = {}
    reasons: dict[str, str | Sentence] = {}
    rubrics: dict[str, Mapping[str, float]] = {}
    for name in names:
        result = verdicts.get(name)
        score = _turn_score(trial, result, place)
        passed = _passed_turns(result)
        metric = _metric_name(name)
        scores[metric] = score
        statuses[metric] = status_of(score, _threshold(name, sample, [result]))
        if place < len(passed):
            statuses[metric] = "failed" if passed[place] is False else "passed"
        if result is not None:
            known = result.known
            reasons[metric] = known.reasons[place] if place < len(known.reasons) else result.reason
            if votes := known.rubrics:
                rubrics[metric] = votes[min(place, len(votes) - 1)]
    return TurnOutcome(
        attempt=trial.attempt,
        place=place,
        asked="\n".join(message.text for message in turn.messages if message.text),
        expected_response=expected.response,
        response=expectation.answer(trial.trajectory, place),
        expected_calls=None
        if expected.calls is None
        else tuple({"name": call.name, "args": call.arguments} for call in expected.calls),
        calls=tuple(map(_call, trial.trajectory.calls(place))),
        seconds=_seconds(trial, place),
        scores=scores,
        statuses=statuses,
        reasons=reasons,
        rubrics=rubrics,
        failure=_failure(trial),
    )


def _call(call: ToolCall) -> Call:
    seen = made_call(call)
    return {"name": seen.name, "args": None if seen.args is None else dict(seen.args)}


def _seconds(trial: Trial, place: int) -> float:
    """Return the time from the beginning of a turn to its end; an equal part of the attempt where no times are known."""
    steps = [step for step in trial.trajectory.steps if step.turn == place]
    began = [step.started for step in steps if step.started]
    if not began:
        return trial.seconds / max(1 + step.turn for step in trial.trajectory.steps) if steps else 0.0
    return max(step.started + step.seconds for step in steps) - min(began)


def _failure(trial: Trial) -> str | Sentence:
    if trial.failure is not None:
        return trial.failure.reason
    return "" if trial.outcome == "scored" else say("The attempt ended as {outcome}.", outcome=trial.outcome)
