"""Find what a run shows about a rule: the observed value, its bounds, and where good begins.

The hypothesis of a quantile ("95 % of trials take at most 20 s") is one about a share, and is tested as such: no resampling
is needed, and a bound beyond the slowest trial is not given. Missing trials move the bounds as far as they could, never the
value.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from proctor import registry
from proctor.api.check import find_estimate, held_to
from proctor.api.run import Run
from proctor.core.errors import BadInput
from proctor.core.main_number import AMOUNTS, FAILED, main_names, scorer_meant
from proctor.core.run import Estimate
from proctor.core.sentence import Sentence, say
from proctor.core.tally import Case, tally
from proctor.reports.compare import without_common_scorer
from proctor.reports.drawn import strata_in_common
from proctor.reports.earlier import read_earlier
from proctor.reports.matching import (
    NOT_MISSING,
    MatchedSample,
    earned_by_sample,
    match_samples,
    weighted_pairs,
)
from proctor.runtime.garbage import gc_paused
from proctor.stats.anytime import ANYTIME
from proctor.stats.estimate import estimate
from proctor.stats.mean import estimate_mean
from proctor.stats.paired import PairedSample, anytime_bounds
from proctor.stats.rate import Interval
from proctor_ci.amounts import bound_mean, bound_quantiles, bound_ratio, most_of, quantile_of
from proctor_ci.looks.intervals import SeenSteps, decided_by
from proctor_ci.measured import Values, as_earned, is_in, measured
from proctor_ci.policy import LOWER_IS_BETTER, GatePolicy, PolicyRule
from proctor_ci.stats.bounds import moved, one_sided
from proctor_ci.stats.forecast import ExpectedFigures, expect_difference, expect_share

Bounds = Callable[[float], Interval | None]


class RuleEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about one rule in one slice.

    Attributes:
        value: what was observed, in the unit of `limit`; for a comparison the difference (or relative change).
        limit: where good ends; good is at or above it if `higher`, else at or below.
        sampled: the bounds by error, as if no trial were missing.
        below, above: how far missing trials could move the value.
        unit: a share, a difference of shares, a number, or a relative change.
        before, now: the numbers of the baseline and of the run, of a comparison.
        samples: how many tell something.
        split: the squared errors from samples and from attempts, where they are known.
        why_not: the reason why there is no bound.
        unseen: why trials that were not seen keep the rule open, by error; None where they do not.
        holds_anytime: the bounds hold for any number of looks.
        expected: what more samples would show; None where only the bounds of these are known.
    """

    rule: PolicyRule
    slice: str
    value: float | None
    limit: float
    higher: bool
    sampled: Bounds
    unit: str
    below: float = 0.0
    above: float = 0.0
    before: float | None = None
    now: float | None = None
    samples: int = 0
    clusters: int = 0
    missing: int = 0
    left_out: int = 0
    split: tuple[float, float] | None = None
    why_not: Sentence | None = None
    unseen: Callable[[float], Sentence | None] | None = None
    holds_anytime: bool = False
    expected: ExpectedFigures | None = None

    def bounds(self, error: float) -> Interval | None:
        """Return both bounds, moved by what is missing."""
        interval = self.sampled(error)
        if interval is None:
            return None
        return Interval(low=interval.low - self.below, high=interval.high + self.above)


def gather(rule: PolicyRule, run: Run, against: Run | None, policy: GatePolicy) -> Iterator[RuleEvidence]:
    """Yield the evidence about a rule: once, or once for each value of its tag.

    Raises:
        BadInput: the run has no such metric or slice, or there is nothing to compare with; names the line.
    """
    try:
        for slice_ in _slices(rule, run):
            with gc_paused():  # which would visit hundreds of thousands of objects again and again
                evidence = _one(rule, slice_, run, against)
            yield evidence
    except BadInput as error:
        if not (policy.path or rule.line):  # no file says so
            raise
        raise BadInput("{place}: {problem}", place=policy.place(rule), problem=error.sentence) from None


def _slices(rule: PolicyRule, run: Run) -> Sequence[str]:
    known = sorted({figure.slice for figure in run.estimates if figure.slice})
    if rule.each:
        slices = [name for name in known if name.startswith(f"{rule.each}=")]
        if not slices:
            raise registry.unknown("tag", rule.each, sorted({name.partition("=")[0] for name in known}), paths=False)
        return slices
    if rule.slice and rule.slice not in known:
        raise registry.unknown("slice", rule.slice, known, paths=False)
    return [rule.slice]


def _one(rule: PolicyRule, slice_: str, run: Run, against: Run | None) -> RuleEvidence:
    """Return the evidence in one slice; of a run that was looked at while it went on, only means of scorers have bounds that allow for it."""
    evidence = _measure(rule, slice_, run, against)
    if (value := evidence.value) is not None and rule.by == "value" and run.record.spec.until is None:
        return msgspec.structs.replace(
            evidence, sampled=lambda _: Interval(low=value, high=value), split=None, why_not=None
        )
    runs = [run, against] if rule.compares and against is not None else [run]
    if (
        evidence.why_not is None
        and not evidence.holds_anytime
        and any(each.record.spec.until is not None for each in runs)
    ):
        why_not = say("the run was looked at while it went on, and no bound of this number allows for that")
        return msgspec.structs.replace(evidence, why_not=why_not)
    return evidence


def _measure(rule: PolicyRule, slice_: str, run: Run, against: Run | None) -> RuleEvidence:
    if rule.compares and against is None:
        if not rule.metric:
            raise BadInput(
                "There is nothing to compare with: name a baseline (--against RUN), or a policy with thresholds (--policy FILE; proctor init gate writes one)."
            )
        raise BadInput("the rule compares with a baseline, and none is named: --against RUN or NAME.")
    if rule.metric in AMOUNTS:
        measure = _amount_under_quantile if rule.quantile is not None else _mean_amount
        compare = _changed_quantile if rule.quantile is not None else _changed_mean
        return (
            measure(rule, slice_, run) if against is None or not rule.compares else compare(rule, slice_, run, against)
        )
    if against is not None and rule.compares:
        return _changed_share(rule, slice_, run, against)
    if rule.metric == FAILED:
        cases = [
            Case(cluster=values.cluster, values=tuple(values.values), planned=values.planned)
            for values in measured(run, FAILED, slice_).values()
        ]
        return _threshold(rule, slice_, estimate(FAILED, tally(cases)), rule.bound, run)
    return _of_metric(rule, slice_, run)


def _of_metric(rule: PolicyRule, slice_: str, run: Run) -> RuleEvidence:
    names = [*dict.fromkeys([*run.record.scorers, *(figure.name for figure in run.estimates), FAILED, *AMOUNTS])]
    if rule.metric not in names and scorer_meant(rule.metric, run.record) is None:
        raise registry.unknown("metric", rule.metric, names, paths=False)
    figure = find_estimate(run, f"{rule.metric}[{slice_}]" if slice_ else rule.metric)
    held_to(rule.metric, figure, rule.bound, is_least=rule.kind == "at_least")
    if figure.method == ANYTIME:
        scorer = figure.name.rpartition(".")[0] or run.record.scorers[0]
        seen = SeenSteps(run.record, run.store, scorer)
        return RuleEvidence(
            rule=rule,
            slice=slice_,
            value=figure.value,
            limit=rule.bound,
            higher=rule.kind != "at_most",
            sampled=lambda error: (
                decided_by((run.record, run.store), None, scorer, slice_, error) or seen.bounds(slice_, error)
            ),
            unit=figure.unit,
            samples=round(figure.scored / run.record.spec.attempts),
            clusters=figure.clusters,
            holds_anytime=True,
        )
    return _threshold(rule, slice_, figure, rule.bound, run, left_out=_not_applicable(run, figure))


def _threshold(
    rule: PolicyRule, slice_: str, one: Estimate, limit: float, run: Run, *, left_out: int = 0
) -> RuleEvidence:
    """Return the evidence of an estimate; trials to which its scorer does not apply are not missing."""
    missing = max(one.planned - left_out - one.scored, 0)
    value = one.value or 0.0
    return RuleEvidence(
        rule=rule,
        slice=slice_,
        value=one.value,
        limit=limit,
        higher=rule.kind != "at_most",
        sampled=lambda error: one_sided(one, error),
        unit=one.unit,
        below=value - one.floor if missing and one.floor is not None else 0.0,
        above=one.ceiling - value if missing and one.ceiling is not None else 0.0,
        samples=round(one.scored / run.record.spec.attempts),
        clusters=one.clusters,
        missing=missing,
        split=None
        if one.error_from_samples is None or one.error_from_attempts is None
        else (one.error_from_samples**2, one.error_from_attempts**2),
        why_not=_why_not(one),
        expected=expect_share(one, max(round(one.scored / run.record.spec.attempts), 1)),
    )


def _why_not(one: Estimate) -> Sentence | None:
    if one.value is None:
        return say("nothing was measured")
    if one.clusters < 2:
        return say("one cluster of samples shows no spread, so there are no bounds")
    return say("this number has no bounds") if one.low is None or one.standard_error is None else None


def _not_applicable(run: Run, one: Estimate) -> int:
    """Count the trials of an estimate that its scorer does not apply to."""
    scorer = one.name.rpartition(".")[0] or (run.record.scorers[0] if len(run.record.scorers) == 1 else "")
    if one.scored >= one.planned or scorer not in run.record.scorers:
        return 0
    return sum(value.why == NOT_MISSING and is_in(value.tags, one.slice) for value in run.store.values(run.id, scorer))


def _changed_share(rule: PolicyRule, slice_: str, run: Run, against: Run) -> RuleEvidence:
    """Compare a scorer's mean, or the failed share, on the samples of both runs."""
    is_lower = rule.metric in LOWER_IS_BETTER
    scorer = ""
    if rule.metric == FAILED:
        old, new = (as_earned(measured(each, FAILED, "")) for each in (against, run))
    else:
        scorer = _scorer_of(rule.metric, run, against)
        old, new = (earned_by_sample(each.record, each.store, scorer) for each in (against, run))
    matched, left_out = match_samples(against.record, run.record, old, new)
    planned = [both for both in matched.values() if is_in(both.new.tags, slice_)]
    if not any(True for _ in weighted_pairs(planned)):
        raise BadInput("The two runs have no scored sample in common, so there is nothing to compare.")
    is_adjusted = bool(run.earlier) and rule.metric != FAILED
    adjusted = _adjusted_pairs([*matched.values()], planned, slice_, run, against, scorer if is_adjusted else None)
    found = moved(
        adjusted.pairs,
        single=all(max(both.old.attempts, both.new.attempts) <= 1 for both in planned),
        added=adjusted.added,
    )
    looked_at = any(both.looked_at for both in planned)

    def bounds(error: float) -> Interval:
        sides = (run.record, run.store), (against.record, against.store)
        return decided_by(*sides, scorer, slice_, error) or anytime_bounds(adjusted.pairs, error)

    margin = rule.bound if rule.kind == "better_by" else -rule.bound
    floor, ceiling = _with_missing(planned, found.value, is_shifted=is_adjusted)
    return RuleEvidence(
        rule=rule,
        slice=slice_,
        value=found.value,
        limit=-margin if is_lower else margin,
        higher=not is_lower,
        sampled=bounds if looked_at else found.bounds,
        unit="points",
        below=max(found.value - floor, 0.0),
        above=max(ceiling - found.value, 0.0),
        before=adjusted.old,
        now=adjusted.old + found.value,
        samples=len(adjusted.pairs),
        clusters=found.clusters,
        missing=sum(not both.is_complete for both in planned),
        left_out=sum(count for why, count in left_out.items() if why.startswith("only in")),
        why_not=say("one cluster of samples shows no spread, so there are no bounds") if found.clusters < 2 else None,
        holds_anytime=looked_at,
        expected=None if looked_at else expect_difference(found),
    )


class _ChangePairs(NamedTuple):
    """The pairs of both runs, what their adjusting adds to the variance, and the mean of the baseline."""

    pairs: list[PairedSample]
    added: float
    old: float


def _adjusted_pairs(
    matched: Sequence[MatchedSample],
    planned: Sequence[MatchedSample],
    slice_: str,
    run: Run,
    against: Run,
    scorer: str | None,
) -> _ChangePairs:
    """Return the pairs of a slice, adjusted by what earlier runs earned of a scorer, if one is named."""
    if scorer is None:
        pairs = list(weighted_pairs(planned))
        old = math.fsum(pair.weight * pair.second for pair in pairs) / len(pairs)
        return _ChangePairs(pairs, 0.0, old)
    given = [(earlier.record, earlier.store) for earlier in run.earlier]
    strata = strata_in_common(against.record, run.record)
    earlier = read_earlier((run.record, run.store), given, scorer, (against.record, against.store))
    by = strata.by if strata else ""
    adjusted = earlier.adjust_pairs(matched, "", by)
    if slice_:
        adjusted = earlier.adjust_pairs(planned, slice_, by, adjusted.slope)
    return _ChangePairs(list(adjusted.pairs), adjusted.added, adjusted.old)


def _with_missing(planned: Sequence[MatchedSample], value: float, *, is_shifted: bool) -> tuple[float, float]:
    """Return how low and how high a difference could be, whatever the missing trials would have earned."""
    if all(both.is_complete for both in planned):
        return value, value
    in_all = math.fsum(both.stands_for for both in planned)
    shift = value - moved(list(weighted_pairs(planned))).value if is_shifted else 0.0  # what earlier runs adjusted
    floor = shift + math.fsum(both.stands_for * both.floor for both in planned) / in_all
    ceiling = shift + math.fsum(both.stands_for * both.ceiling for both in planned) / in_all
    return floor, ceiling


def _scorer_of(metric: str, run: Run, against: Run) -> str:
    """Return the scorer whose main number a metric is, which both runs have; '' is the main one, or else the first of both."""
    common = [name for name in run.record.scorers if name in against.record.scorers]
    if not common:
        raise without_common_scorer(run.record, against.record)
    main = run.record.main_scorer
    scorer = scorer_meant(metric, run.record) if metric else main if main in common else common[0]
    if scorer not in common:
        known = [name for name, scorer in main_names(run.record).items() if scorer in common]
        raise registry.unknown("metric of a comparison", metric, [*known, FAILED, *AMOUNTS], paths=False)
    return scorer


def _mean_amount(rule: PolicyRule, slice_: str, run: Run) -> RuleEvidence:
    samples = [*measured(run, rule.metric, slice_).values()]
    known = [sample for sample in samples if sample.values]
    figure = estimate_mean(
        rule.metric,
        [sample.mean for sample in known],
        [sample.cluster for sample in known],
        planned=len(samples),
        least=0.0,
    )
    planned = sum(sample.planned for sample in samples)
    missing = planned - sum(len(sample.values) for sample in samples)
    value, most = figure.value or 0.0, most_of(run, rule.metric, known)
    bounded = bound_mean(known, most, rule.bound)
    return msgspec.structs.replace(
        _threshold(rule, slice_, figure, rule.bound, run),
        sampled=bounded.bounds,
        unseen=bounded.unseen,
        samples=len(known),
        missing=missing,
        below=value * missing / planned,
        above=(math.inf if most is None else most - value) * missing / planned if missing else 0.0,
    )


def _amount_under_quantile(rule: PolicyRule, slice_: str, run: Run) -> RuleEvidence:
    """Test the share of trials within the threshold, which has to be that of the quantile."""
    cases = [
        Case(
            cluster=values.cluster,
            values=tuple(float(value <= rule.bound) for value in values.values),
            planned=values.planned,
        )
        for values in measured(run, rule.metric, slice_).values()
    ]
    evidence = _threshold(rule, slice_, estimate(rule.metric, tally(cases)), rule.quantile or 0.0, run)
    return msgspec.structs.replace(evidence, higher=True, unit="share")


def _changed_mean(rule: PolicyRule, slice_: str, run: Run, against: Run) -> RuleEvidence:
    """Compare means as a ratio, over the samples that both measured."""
    old, new = (measured(each, rule.metric, slice_) for each in (against, run))
    pairs = [(old[id], new[id]) for id in new if id in old and new[id].values and old[id].values]
    if not pairs:
        raise BadInput("The two runs have no scored sample in common, so there is nothing to compare.")
    before, after = (math.fsum(pair[at].mean for pair in pairs) / len(pairs) for at in (0, 1))
    most_before, most_now = (most_of(each, rule.metric, all_.values()) for each, all_ in ((against, old), (run, new)))
    limit = 1 + (rule.bound if rule.kind == "not_worse_by" else -rule.bound)
    bounded = bound_ratio(pairs, most_before, most_now, limit)
    missing = sum(values.planned - len(values.values) for run_ in (old, new) for values in run_.values())
    changed = _change(rule, slice_, before, after, bounded.bounds, pairs, missing, beyond=math.inf if missing else 0.0)
    return msgspec.structs.replace(changed, unseen=bounded.unseen)


def _changed_quantile(rule: PolicyRule, slice_: str, run: Run, against: Run) -> RuleEvidence:
    """Compare quantiles as a ratio, over the samples of both runs; missing trials may be at either end."""
    old, new = (measured(each, rule.metric, slice_) for each in (against, run))
    pairs = [(old[id], new[id]) for id in new if id in old]
    share = rule.quantile or 0.0
    if not any(values.values for values, _ in pairs) or not any(values.values for _, values in pairs):
        raise BadInput("The two runs have no scored sample in common, so there is nothing to compare.")
    before, after = (quantile_of([pair[at] for pair in pairs], share) for at in (0, 1))
    missing = sum(values.planned - len(values.values) for pair in pairs for values in pair)
    return _change(rule, slice_, before, after, bound_quantiles(pairs, share), pairs, missing)


def _change(
    rule: PolicyRule,
    slice_: str,
    before: float,
    after: float,
    ratios: Bounds,
    pairs: Sequence[tuple[Values, Values]],
    missing: int,
    *,
    beyond: float = 0.0,
) -> RuleEvidence:
    def bounds(error: float) -> Interval | None:
        return None if (interval := ratios(error)) is None else Interval(low=interval.low - 1, high=interval.high - 1)

    why_not = None
    if before <= 0:
        why_not = say("the baseline's {metric} is 0, so nothing is a share of it", metric=rule.metric)
    elif bounds(0.05) is None:
        why_not = say("the samples are too few, or differ too much, to give bounds of this number")
    return RuleEvidence(
        rule=rule,
        slice=slice_,
        value=after / before - 1 if before > 0 else None,
        limit=rule.bound if rule.kind == "not_worse_by" else -rule.bound,
        higher=False,
        sampled=bounds if before > 0 else lambda _: None,
        unit="change",
        below=beyond,
        above=beyond,
        before=before,
        now=after,
        samples=len(pairs),
        clusters=len({now.cluster for _, now in pairs}),
        missing=missing,
        why_not=why_not,
    )
