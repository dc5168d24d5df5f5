"""Decide whether a run is good enough: its numbers against thresholds, and the share of trials that passed.

A number is an estimate, so there are three answers: good enough if its whole interval is, not good enough if none of the
interval is, and inconclusive otherwise.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Literal

import msgspec

from proctor.api.bars import check_share
from proctor.api.run import Run
from proctor.core.errors import BadInput
from proctor.core.main_number import scorer_meant
from proctor.core.run import Estimate
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.tally import Case, tally
from proctor.core.trial import IN_THE_MEAN, Verdict
from proctor.stats.estimate import estimate
from proctor.stats.rate import wilson
from proctor.stores.reading import verdicts_by_trial

Thresholds = float | Mapping[str, float]
Decision = Literal["met", "missed", "inconclusive"]
By = Literal["interval", "value"]
ROUNDING = 1e-9


class Trialled(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one trial; `passed` is None where it could not be measured."""

    sample_id: str
    attempt: int
    passed: bool | None


class ThresholdCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The thresholds a run was compared with, and the result.

    trials: every trial. rate: the share that passed. faults: a sentence for each unmet threshold.
    undecided: what cannot be told from so few trials. The run passes when there is neither.
    """

    trials: tuple[Trialled, ...]
    rate: Estimate
    numbers: Mapping[str, Estimate]
    faults: tuple[Sentence, ...]
    undecided: tuple[Sentence, ...] = ()


def decide(one: Estimate, least: float, *, by: By = "interval") -> Decision:
    """Compare an estimate with its threshold.

    By the interval, the threshold is met if all of the interval is at or above it, missed if all is below, else
    inconclusive; a number without an interval is inconclusive too. Missing samples count as wrong for the lower end, and
    as right for the upper one. By the value, or if the threshold is 1 (no interval can show that), only the value counts.
    """
    if one.value is None:
        return "inconclusive"
    by_value = by == "value" or least >= 1
    low, high = (one.value, one.value) if by_value else (one.low, one.high)
    if low is None or high is None:
        return "inconclusive"
    missing = one.scored < one.planned
    if low >= least:
        return "met" if not missing or one.floor is None or one.floor >= least else "inconclusive"
    if (one.value if by_value else high) < least:
        return "missed" if not missing or one.ceiling is None or one.ceiling < least else "inconclusive"
    return "inconclusive"


def check(
    run: Run, *, thresholds: Thresholds | None = None, pass_rate: float | None = None, by: By = "interval"
) -> ThresholdCheck:
    """Compare a run with thresholds.

    A trial passes if it passes every scorer: by the threshold given for that scorer here, else by its own verdict
    (`details["passed"]`, as by an eval set's criteria or a rubric), else with full points.

    Args:
        thresholds: the least mean of each number, by the name of the scorer or of the estimate; one number is for all.
        pass_rate: the least share of trials that pass; all of them where no thresholds are given either.
        by: decide by the interval of a number, if the samples represent others; or by its value, if only they
            matter.

    Raises:
        BadInput: a threshold for a number that the run does not have, or one outside 0 to 1.
    """
    wanted = _thresholds_by_name(run, thresholds)
    least = pass_rate if pass_rate is not None else None if wanted else 1.0
    for value in (*wanted.values(), *(() if least is None else (least,))):
        if not 0 <= value <= 1:
            raise BadInput("A threshold is a share from 0 to 1, not {value}.", value=value)
    numbers = {name: held_to(name, find_estimate(run, name), value) for name, value in wanted.items()}
    by_scorer = {meant: value for name, value in wanted.items() if (meant := scorer_meant(name, run.record))}
    trials = tuple(_trials(run, by_scorer))
    rate = _rate(run, trials)
    told = [*_decisions(trials, rate, least, numbers, wanted, by)]
    return ThresholdCheck(
        trials=trials,
        rate=rate,
        numbers=numbers,
        faults=(*_unmeasured(trials), *(sentence for decision, sentence in told if decision == "missed")),
        undecided=tuple(sentence for decision, sentence in told if decision == "inconclusive"),
    )


def find_estimate(run: Run, name: str) -> Estimate:
    """Return the estimate that a name means: of a metric, of a scorer, with `[key=value]` of a slice.

    Raises:
        BadInput: the run has none of this name; says which it has.
    """
    metric, bracket, slice_ = name.removesuffix("]").partition("[")
    return run.estimate(metric.strip() if bracket else name, slice=slice_)


def held_to(name: str, one: Estimate, bound: float, *, is_least: bool = True) -> Estimate:
    """Return a number that a threshold, by default the least that is good, says something about.

    Raises:
        BadInput: one of both is a share and the other is not: the mean of points from 1 to 5 would meet every share.
    """
    shown = "-" if one.value is None else f"{one.value:.4g}"
    if one.unit != "share":
        if is_least and 0 <= bound <= 1:
            raise BadInput(
                "'{metric}' is no share but a number on a scale of its own ({value}), so a threshold from 0 to 1 says nothing about it.",
                metric=name,
                value=shown,
            )
        return one
    check_share(name, bound)
    if one.value is not None and not -ROUNDING <= one.value <= 1 + ROUNDING:
        raise BadInput("'{metric}' is {value}, which is no share, so it meets no threshold.", metric=name, value=shown)
    return one


def _thresholds_by_name(run: Run, thresholds: Thresholds | None) -> dict[str, float]:
    """Return thresholds by the name of a scorer, or of an estimate."""
    if thresholds is None:
        return {}
    if not isinstance(thresholds, Mapping):
        return dict.fromkeys(run.record.scorers, float(thresholds))
    scorers = run.record.scorers
    full = {name: f"adk:{name}" if f"adk:{name}" in scorers and name not in scorers else name for name in thresholds}
    return {full[name]: float(value) for name, value in thresholds.items()}


def _trials(run: Run, by_scorer: Mapping[str, float]) -> Iterator[Trialled]:
    by_trial = dict(verdicts_by_trial(run.store, run.id))
    outcomes = {(trial.sample_id, trial.attempt): trial.outcome for trial in run.trials()}
    for sample in run.store.planned(run.id):
        for attempt in range(run.record.spec.attempts):
            key = (sample.id, attempt)
            passed: bool | None = None
            if outcomes.get(key) == "scored":
                passed = _has_passed(by_trial.get(key, []), by_scorer)
            elif outcomes.get(key) in IN_THE_MEAN:
                passed = False
            yield Trialled(sample_id=sample.id, attempt=attempt, passed=passed)


def _has_passed(verdicts: list[Verdict], by_scorer: Mapping[str, float]) -> bool | None:
    """True if the trial passed with every scorer; None where a scorer could not tell, or none applies."""
    told: list[bool] = []
    for verdict in verdicts:
        match verdict.result:
            case Score() as score:
                least = by_scorer.get(verdict.scorer)
                told.append(score.passed if least is None else score.value >= least)
            case Unscored(why=why) if why != "not_applicable":
                return None
    return all(told) if told else None


def _rate(run: Run, trials: tuple[Trialled, ...]) -> Estimate:
    """Estimate the share of trials that passed; of one sample that was tried several times, with the interval of its own rate."""
    clusters = {sample.id: sample.cluster or sample.id for sample in run.store.planned(run.id)}
    cases = [
        Case(
            cluster=clusters[sample_id],
            values=tuple(float(one.passed) for one in found if one.passed is not None),
            planned=len(found),
        )
        for sample_id, group in groupby(trials, key=lambda one: one.sample_id)
        for found in [list(group)]
    ]
    rate = estimate("pass_rate", tally(cases))
    if len(cases) == 1 and rate.value is not None and len(trials) > 1:
        between = wilson(rate.value, rate.scored)
        rate = msgspec.structs.replace(rate, low=between.low, high=between.high, method="Wilson")
    return rate


def _unmeasured(trials: tuple[Trialled, ...]) -> Iterator[Sentence]:
    unmeasured = sum(trial.passed is None for trial in trials)
    if unmeasured or not trials:
        yield say(
            "{count} of {all} trials could not be measured; what is missing cannot pass.",
            count=unmeasured,
            all=len(trials),
        )


def _decisions(
    trials: tuple[Trialled, ...],
    rate: Estimate,
    least: float | None,
    numbers: Mapping[str, Estimate],
    wanted: Mapping[str, float],
    by: By,
) -> Iterator[tuple[Decision, Sentence]]:
    """Yield the decision about each number, and the number with its threshold."""
    if least is not None:
        yield (
            decide(rate, least, by=by),
            say(
                "pass rate {value} ({passed} of {all} trials), {interval}, at least {least} is wanted",
                value=_percent(rate.value),
                passed=sum(trial.passed is True for trial in trials),
                all=len(trials),
                interval=_interval(rate),
                least=_percent(least),
            ),
        )
    for name, number in numbers.items():
        yield decide(number, wanted[name], by=by), describe_estimate(name, number, wanted[name])


def describe_estimate(name: str, one: Estimate, least: float) -> Sentence:
    """Return a sentence with a number, its interval, and its threshold."""
    return say(
        "{name} {value}, {interval}, at least {least} is wanted",
        name=name,
        value=_percent(one.value),
        interval=_interval(one),
        least=_percent(least),
    )


def _interval(one: Estimate) -> Sentence:
    if one.low is None or one.high is None:
        return say("no interval")
    return say("interval {low} to {high}", low=_percent(one.low), high=_percent(one.high))


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}%"
