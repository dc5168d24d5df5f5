"""Read from stored runs how far values, or the differences of two runs, are spread; assume it where they do not say, and say so."""

import math
from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from proctor.api.run import Run
from proctor.core.sentence import Sentence, say
from proctor.core.tally import Case, tally
from proctor.reports.matching import earned_by_sample, match_samples, weighted_pairs
from proctor.reports.noise import read_attempts
from proctor.stats.components import components
from proctor.stats.estimate import estimate
from proctor.stats.paired import Difference, compare
from proctor.stats.planning import Spread, variance_factors
from proctor.stats.rate import wilson

MOST_PAIRS = 30  # of runs that are looked at
LEAST_SHARED = 10  # samples from which the difference of two runs says how far another one may differ
CORRELATION = 0.5  # of two agents on the same samples, where no two runs say it
CORRELATIONS = (0.75, 0.25)
HARDEST = 0.5  # the pass rate with the largest variance


class KnownSpread(msgspec.Struct, kw_only=True):
    """What stored runs say of the spread; `low` and `high` are factors of its variance that they allow for.

    Attributes:
        pilot: the samples that the spread of differences comes from; None where it is assumed.
    """

    spread: Spread
    low: float = 1.0
    high: float = 1.0
    measured: list[Sentence] = []
    assumed: list[Sentence] = []
    attempts_known: bool = False
    pilot: int | None = None


def is_whole(run: Run) -> bool:
    """True if a run is finished, drew its samples in one stage, and had no rule that could end it early."""
    record = run.record
    drew_alike = record.strata is None or not record.strata.stages
    return record.state == "finished" and record.spec.until is None and drew_alike


class _Single(msgspec.Struct, frozen=True, kw_only=True):
    """The mean of a run over `count` samples, and the spread of their values; `is_split` if it has several attempts."""

    mean: float
    spread: Spread
    degrees: float
    count: int
    is_split: bool


def _single(run: Run) -> _Single | None:
    """Return the spread of the values of one run; None where it shows none."""
    samples, _ = read_attempts(run.record, run.store, run.record.main_scorer)
    cases = (
        Case(cluster=values.cluster, values=tuple(values.values), planned=len(values.values)) for values in samples
    )
    main = estimate("", tally(cases))
    if main.value is None or not main.standard_error:
        return None
    split = components(samples)
    within = split.attempts.variance if split is not None else 0.0
    attempts = main.scored / len(samples)
    is_clustered = main.clusters < len(samples)
    return _Single(
        mean=main.value,
        spread=Spread(
            between=max(main.standard_error**2 * len(samples) - within / attempts, 0.0),
            within=within,
            clusters=min(((main.degrees or 0.0) + 1) / len(samples), 1.0) if is_clustered else 1.0,
            is_binary=all(value in (0, 1) for sample in samples for value in sample.values),
        ),
        degrees=main.degrees or len(samples) - 1,
        count=len(samples),
        is_split=split is not None,
    )


def spread_of_one(runs: Sequence[Run], value: float) -> KnownSpread:
    """Return the spread of one run's values if its mean is `value`."""
    most = value * (1 - value)
    for run in sorted(runs, key=lambda run: run.record.spec.attempts < 2):  # those with several attempts first
        found = _single(run)
        if found is None:
            continue
        spread = found.spread.scaled(most / (found.mean * (1 - found.mean)))
        low, high = variance_factors(found.degrees) if found.is_split or not spread.is_exact(1) else (1.0, 1.0)
        measured = say(
            "The variance is that of the run {run} ({count} samples), for a mean of {value}.",
            run=run.id,
            count=found.count,
            value=f"{100 * value:.1f}%",
        )
        assumed = [] if found.is_split else [_NO_ATTEMPTS]
        return KnownSpread(
            spread=spread, low=low, high=high, measured=[measured], assumed=assumed, attempts_known=found.is_split
        )
    unknown = say("The scorer says right or wrong, and samples are independent: no stored run tells.")
    return KnownSpread(spread=Spread(between=most, within=0.0), assumed=[unknown, _NO_ATTEMPTS])


_NO_ATTEMPTS = say(
    "No run of the task has several attempts, so nothing says what more of them would lessen: planned with one. A run with --attempts 2 tells."
)


def spread_of_two(runs: Sequence[Run], baseline: Run | None) -> KnownSpread:
    """Return the spread of the differences of two runs."""
    within, split_run = _within(runs)
    pair = next(_pairs(runs, baseline), None)
    if pair is None:
        known = _assumed_difference(runs, within)
    else:
        old, new, difference, moved, pairs_are_binary = pair
        known = _measured_difference(old, new, difference, moved, within, is_binary=pairs_are_binary)
        known.pilot = difference.pairs
        known.measured.append(
            say(
                "Samples differ as they do between the runs {first} and {second} ({count} samples in common, {moved} moved).",
                first=old.id,
                second=new.id,
                count=difference.pairs,
                moved=difference.wins + difference.losses,
            )
        )
    if split_run is not None:
        known.measured.append(say("The variance of attempts is that of the run {run}.", run=split_run.id))
    else:
        known.assumed.append(_NO_ATTEMPTS)
    known.attempts_known = within is not None
    noise = within or 0.0
    attempts = baseline.record.spec.attempts if baseline is not None else 0
    if baseline is not None and within is not None:
        known.spread = replace(
            known.spread, within=noise, fixed=noise / attempts, is_binary=known.spread.is_binary and attempts == 1
        )
    return known


def _within(runs: Sequence[Run]) -> tuple[float | None, Run | None]:
    """Return the variance of an attempt, from the newest run that has several."""
    for run in runs:
        if run.record.spec.attempts > 1:
            samples, _ = read_attempts(run.record, run.store, run.record.main_scorer)
            if (found := components(samples)) is not None:
                return found.attempts.variance, run
    return None, None


_Measured = tuple[Run, Run, Difference, float, bool]  # both runs, their difference, the share that moved, whether 0/1


def _pairs(runs: Sequence[Run], baseline: Run | None) -> Iterator[_Measured]:
    """Yield pairs of runs that share enough samples: whole runs of one agent first, then the newest.

    Args:
        baseline: the run that has to be one of them.
    """
    olds = list(enumerate(runs)) if baseline is None else [(0, baseline)]
    candidates = [
        (not (is_whole(old) and is_whole(new)), old.record.agent != new.record.agent, first + second, old, new)
        for first, old in olds
        for second, new in enumerate(runs)
        if (first < second if baseline is None else new.id != old.id)
    ]
    for *_, old, new in sorted(candidates, key=lambda one: one[:3])[:MOST_PAIRS]:
        scorer = old.record.main_scorer
        if scorer not in new.record.scorers:
            continue
        earned = [earned_by_sample(run.record, run.store, scorer) for run in (old, new)]
        planned, _ = match_samples(old.record, new.record, *earned)
        pairs = [*weighted_pairs([*planned.values()])]
        if len(pairs) < LEAST_SHARED:
            continue
        single = all(run.record.spec.attempts == 1 for run in (old, new))
        difference = compare(pairs, single=single)
        moved = math.fsum(pair.weight for pair in pairs if pair.observed) / len(pairs)
        if difference.standard_error is not None and difference.clusters > 1:
            yield (
                old,
                new,
                difference,
                moved,
                all(points.whole for each in earned for points in each.values()),
            )


def _measured_difference(
    old: Run, new: Run, found: Difference, moved: float, within: float | None, *, is_binary: bool
) -> KnownSpread:
    attempts = [run.record.spec.attempts for run in (old, new)]
    is_single = is_binary and attempts == [1, 1]
    total = moved - found.value**2 if is_single else (found.standard_error or 0.0) ** 2 * found.pairs
    noise = within or 0.0
    clusters = 1.0
    if found.clusters < found.pairs:
        clusters = min(((found.degrees or found.clusters - 1) + 1) / found.pairs, 1.0)
        total = (found.standard_error or 0.0) ** 2 * found.pairs
    between = max(total - noise * math.fsum(1 / each for each in attempts), 0.0)
    spread = Spread(between=between, within=2 * noise, clusters=clusters, is_binary=is_binary)
    if is_single and moved > 0:
        around = wilson(moved, found.pairs)
        return KnownSpread(spread=spread, low=around.low / moved, high=around.high / moved)
    low, high = variance_factors(found.degrees or found.clusters - 1)
    return KnownSpread(spread=spread, low=low, high=high)


def _assumed_difference(runs: Sequence[Run], within: float | None) -> KnownSpread:
    """Assume how two agents differ: their values at a sample have a correlation."""
    found = _single(runs[0]) if runs else None
    spread = Spread(between=HARDEST * (1 - HARDEST), within=0.0) if found is None else found.spread
    if found is None:
        known = KnownSpread(
            spread=spread, assumed=[say("A pass rate of {value}, the hardest case.", value=f"{HARDEST:.0%}")]
        )
    else:
        mean = f"{100 * found.mean:.1f}%"
        known = KnownSpread(
            spread=spread,
            measured=[
                say("The mean and its variance are those of the run {run}: {value}.", run=runs[0].id, value=mean)
            ],
        )
    unrelated, noise = 2 * spread.total(1), 2 * (within or 0.0)
    known.spread = replace(spread, between=max(unrelated * (1 - CORRELATION) - noise, 0.0), within=noise)
    total = known.spread.total(1)
    known.low, known.high = (max(unrelated * (1 - each), noise) / total for each in CORRELATIONS)
    known.assumed.append(
        say(
            "The values of both runs at a sample have a correlation of {value} ({low} to {high} for the range): no two runs of the task share {least} samples.",
            value=CORRELATION,
            low=CORRELATIONS[1],
            high=CORRELATIONS[0],
            least=LEAST_SHARED,
        )
    )
    return known
