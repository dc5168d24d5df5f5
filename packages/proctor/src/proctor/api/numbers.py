"""Compute the numbers of a run: the estimates of its scorers, and the official aggregates, which are kept with it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from msgspec.structs import replace

from proctor.api import resolve
from proctor.api.faults import fault_estimates
from proctor.api.looks import held
from proctor.api.spread import spread_interval
from proctor.core.main_number import MAIN, kinds, main_estimate, qualified
from proctor.core.run import Estimate, RunRecord
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor.core.tally import PREPARATION, Case, Tally, tally
from proctor.core.task import Store, Summarise
from proctor.core.trial import IN_THE_MEAN, Verdict
from proctor.engine.judge_figures import about
from proctor.engine.judge_figures import estimates as judged
from proctor.stats import strata
from proctor.stats.allocation import name_in_stage, stage_by_sample, stage_sizes
from proctor.stats.covariate import ADJUSTED
from proctor.stats.estimate import is_rate, metrics


def estimates(record: RunRecord, store: Store, given: Sequence[tuple[RunRecord, Store]] = ()) -> list[Estimate]:
    """Compute the estimates of every scorer: first of the whole run, then of each slice.

    Args:
        given: earlier runs of the same task, by which means are adjusted.
    """
    several = len(record.scorers) > 1
    figures = [
        figure
        for name in record.scorers
        for figure in _of_scorer(record, store, name, f"{name}." if several else "", given)
    ]
    names = {
        scorer: estimate.name
        for scorer in record.scorers
        if (estimate := main_estimate(figures, record, scorer)) is not None
    }
    return held(record, store, [*figures, *fault_estimates(record, store, names)])


def headline(record: RunRecord, store: Store, scorer: str = "") -> Estimate | None:
    """Return the main number of a scorer, by default of the main one; None where nothing was scored."""
    scorer = scorer or record.main_scorer
    figures = _of_scorer(record, store, scorer, "") if scorer else []
    main = [estimate for estimate in figures if estimate.name in kinds(record, scorer) and not estimate.slice]
    return next(iter(held(record, store, [*main, *figures][:1], scorer=scorer)), None)


def _of_scorer(
    record: RunRecord, store: Store, scorer: str, prefix: str, given: Sequence[tuple[RunRecord, Store]] = ()
) -> list[Estimate]:
    tallies = store.tallies(record.id, scorer)
    cells = _cells(record, store, scorer)
    unfit = _not_applicable(record, store, scorer, tallies)
    weighing = _weighing(record, cells, unfit)
    plain: list[Estimate] = []
    for slice_, sums in tallies.items():
        if weighing is None:
            applying = replace(sums, planned=sums.planned - sum(unfit.get(slice_, {}).values()))
            made = metrics(applying, slice=slice_, prefix=prefix, whole=tallies[""])
            plain.extend(replace(estimate, planned=sums.planned) for estimate in made)
        else:
            parts = weighing.strata(slice_, _applying(cells.get(slice_, {}), unfit.get(slice_, {})))
            rate, of_suite = is_rate(tallies[""]), weighing.of_suite
            figures = strata.metrics(parts, sums, slice=slice_, prefix=prefix, rate=rate, of_suite=of_suite)
            plain.extend(figures[:1] if weighing.stages else figures)  # the points of a stage are not known
    if given:
        plain = _adjusted(record, store, scorer, plain, given, weighing)
    judge = about(record, scorer)
    if judge is None:
        plain = [
            spread_interval(record, store, scorer, estimate, weighing) if _is_plain_mean(estimate) else estimate
            for estimate in plain
        ]
    if record.spec.attempts > 1:
        passes = judge is None and is_rate(tallies[""])
        planned = {stratum: tally.planned for stratum, tally in (cells[""] if weighing else {"": tallies[""]}).items()}
        plain = _with_attempts(record, store, scorer, plain, prefix, planned if passes else {}, weighing)
    return plain if judge is None else judged(record, store, scorer, judge, plain, prefix=prefix, weighing=weighing)


def _is_plain_mean(estimate: Estimate) -> bool:
    return not estimate.slice and estimate.name.rpartition(".")[2] in MAIN and estimate.method != ADJUSTED


def _adjusted(
    record: RunRecord,
    store: Store,
    scorer: str,
    plain: Sequence[Estimate],
    given: Sequence[tuple[RunRecord, Store]],
    weighing: strata.Weighing | None,
) -> list[Estimate]:
    """Return the estimates, the means among them adjusted by what earlier runs earned on the samples of the task."""
    from proctor.reports.earlier import read_earlier  # only needed here
    from proctor.reports.matching import earned_by_sample

    earlier = read_earlier((record, store), given, scorer)
    earned = {id: one for id, one in earned_by_sample(record, store, scorer).items() if one.attempts}

    slope: float | None = None  # of the whole, which comes first

    def adjust(one: Estimate) -> Estimate:
        nonlocal slope
        key, _, tag = one.slice.partition("=")
        parts = [] if weighing is None else weighing.strata(one.slice, {})
        values = {
            id: (
                sample.cluster,
                "" if weighing is None else weighing.stratum_of(id, sample.tags),
                sample.mean,
            )
            for id, sample in earned.items()
            if not key or sample.tags.get(key) == tag
        }
        groups = earlier.groups(
            values,
            {part.name: part.size for part in parts} or {"": 1.0},
            lambda tags: "" if weighing is None else weighing.stratum_of("", tags),
            one.slice,
        )
        of_suite = weighing is not None and weighing.of_suite
        found, by = earlier.adjust(one, groups, of_suite=of_suite, slope=slope if one.slice else None)
        slope = slope if one.slice else by
        return found

    return [adjust(one) if one.name.rpartition(".")[2] in MAIN else one for one in plain]


def _with_attempts(
    record: RunRecord,
    store: Store,
    scorer: str,
    plain: Sequence[Estimate],
    prefix: str,
    planned: Mapping[str, int],
    weighing: strata.Weighing | None,
) -> list[Estimate]:
    """Return the estimates of a scorer, those of the whole run with their error split and followed by pass@k and pass^k.

    Args:
        planned: trials by stratum; none where the scorer says more than right or wrong.
    """
    attempts = record.spec.attempts
    from proctor.stats import repeats  # only needed here, and slow to load

    samples = repeats.cases(store.values(record.id, scorer), attempts, weighing)
    every = [case for each in samples.values() for case in each]
    whole = [
        repeats.split_error(estimate, every)
        for estimate in plain
        if not estimate.slice and not estimate.name.endswith("points")
    ]
    points = [estimate for estimate in plain if not estimate.slice and estimate.name.endswith("points")]
    counts = {stratum: trials // attempts for stratum, trials in planned.items()}
    added = repeats.pass_estimates(samples, attempts, counts, prefix=prefix, weighing=weighing) if counts else ()
    return [*whole, *points, *added, *(estimate for estimate in plain if estimate.slice)]


def find_weighing(record: RunRecord, store: Store, scorer: str) -> strata.Weighing | None:
    """Return how the estimates of a scorer weigh strata; None where every scored sample counts alike."""
    unfit = _not_applicable(record, store, scorer, store.tallies(record.id, scorer))
    return _weighing(record, _cells(record, store, scorer), unfit)


def official(record: RunRecord, store: Store, found: Sequence[Estimate]) -> Sequence[Estimate]:
    """Return the official aggregates that are stored with the run; without them, those that need no task to compute.

    Reading a run makes no task: that could run the code of the user, or load data.
    """
    if record.official is not None and record.state != "running":
        return held(record, store, record.official)
    summarise = resolve.summarise_of(record.spec)
    if summarise is not None:
        return held(record, store, qualified(summarise(found, lambda: judged_samples(record, store)), record))
    if record.official is None and resolve.needs_task(record.spec):
        note = _not_ended(record) if record.state == "running" else _not_kept(record)
        return [Estimate(name="official", value=None, method="not kept", note=note)]
    return ()


def conclude(record: RunRecord, store: Store, summarise: Summarise | None) -> RunRecord:
    """Return the record with its official aggregates, or with the reason why they cannot be computed."""
    if summarise is None:
        return replace(record, official=())
    try:
        figures = summarise(estimates(record, store), lambda: judged_samples(record, store))
    except Exception as error:  # noqa: BLE001 - of the task, which may be the user's; the trials are worth more
        warning = say(
            "The official aggregates could not be computed: {error}.", error=f"{type(error).__name__}: {error}"
        )
        return replace(record, official=(), warnings=(*record.warnings, warning))
    return replace(record, official=qualified(figures, record))


def summarise_again(record: RunRecord) -> Summarise | None:
    """Return what makes the official aggregates of a stored run, for use after its verdicts change.

    The task is made only if it is needed to compute them, and the run does not record that there are none.

    Raises:
        BadInput: the task cannot be made.
    """
    known = resolve.summarise_of(record.spec)
    if known is not None or record.official == () or not resolve.needs_task(record.spec):
        return known
    return resolve.task(record.spec.task, record.spec.task_options)[0].summarise


def _not_ended(record: RunRecord) -> Sentence:
    return say(
        "the official aggregates are computed when the run ends, and it did not: proctor run --run {run}", run=record.id
    )


def _not_kept(record: RunRecord) -> Sentence:
    return say(
        "this run keeps no official aggregates; if its task has any: proctor score --run {run} --scorer {scorer}",
        run=record.id,
        scorer=next(iter(record.spec.scorers), "NAME"),
    )


def _cells(record: RunRecord, store: Store, scorer: str) -> Mapping[str, Mapping[str, Tally]]:
    known = record.strata
    if known is None or (len(known.sizes) < 2 and record.spec.target == "samples"):
        return {}
    stages = stage_by_sample(known)
    return _cells_of_stages(record, store, scorer, stages) if stages else store.strata(record.id, scorer, known.by)


def _cells_of_stages(
    record: RunRecord, store: Store, scorer: str, stages: Mapping[str, int]
) -> dict[str, dict[str, Tally]]:
    """Return the sums of each slice by stratum and stage; of values, as points are not in the narrow table."""
    assert record.strata is not None
    values: dict[str, list[float]] = {}
    for entry in store.values(record.id, scorer):
        values.setdefault(entry.sample_id, []).extend([] if entry.value is None else [entry.value])
    cases: dict[str, dict[str, list[Case]]] = {}
    for sample in store.planned(record.id):
        if PREPARATION not in sample.tags:
            earned = tuple(values.get(sample.id, ()))
            case = Case(cluster=sample.cluster or sample.id, values=earned, planned=record.spec.attempts)
            stratum = name_in_stage(sample.tags.get(record.strata.by, ""), stages.get(sample.id, 0))
            for slice_ in ("", *(f"{key}={value}" for key, value in sample.tags.items())):
                cases.setdefault(slice_, {}).setdefault(stratum, []).append(case)
    return {slice_: {name: tally(found) for name, found in each.items()} for slice_, each in cases.items()}


def _applying(cells: Mapping[str, Tally], unfit: Mapping[str, int]) -> dict[str, Tally]:
    return {name: replace(sums, planned=sums.planned - unfit.get(name, 0)) for name, sums in cells.items()}


def _weighing(
    record: RunRecord, cells: Mapping[str, Mapping[str, Tally]], unfit: Mapping[str, Mapping[str, int]]
) -> strata.Weighing | None:
    """Return how strata are weighted; None where all of each was scored, so that no weights are needed."""
    known = record.strata
    if known is None or not cells.get(""):
        return None
    whole, stages, represented = cells[""], stage_by_sample(known), stage_sizes(known)
    sizes: dict[str, dict[str, float]] = {}
    for slice_, by_stratum in cells.items():
        for stratum, sums in by_stratum.items():
            applicable = sums.planned - unfit.get(slice_, {}).get(stratum, 0)
            if stratum in represented and applicable > 0:
                share = applicable / whole[stratum].planned
                sizes.setdefault(slice_, {})[stratum] = represented[stratum] * share
    of_suite = record.spec.target == "suite" and not stages  # else what is known of the suite is left out
    is_complete = all(
        by_stratum[stratum].samples == size
        for slice_, by_stratum in cells.items()
        for stratum, size in sizes.get(slice_, {}).items()
    )
    if is_complete and not of_suite and not stages:
        return None
    return strata.Weighing(by=known.by, sizes=sizes, of_suite=of_suite, stages=stages)


def _not_applicable(
    record: RunRecord, store: Store, scorer: str, tallies: Mapping[str, Tally]
) -> Mapping[str, Mapping[str, int]]:
    """Count the trials to which a scorer does not apply, by slice and stratum: they represent no others, and miss nothing."""
    ended = sum(count for outcome, count in store.outcomes(record.id).items() if outcome in IN_THE_MEAN)
    if not tallies or tallies[""].scored >= ended:  # as a rule; it saves a look at every trial
        return {}
    known = record.strata
    by, stages = ("", {}) if known is None else (known.by, stage_by_sample(known))
    counts: dict[str, Counter[str]] = {}
    for value in store.values(record.id, scorer):
        if value.why == "not_applicable":
            stratum = name_in_stage(value.tags.get(by, ""), stages.get(value.sample_id, 0))
            for slice_ in ("", *(f"{key}={tag}" for key, tag in value.tags.items())):
                counts.setdefault(slice_, Counter())[stratum] += 1
    return counts


def judged_samples(record: RunRecord, store: Store) -> Iterator[tuple[Sample, Verdict]]:
    """Yield the verdicts that count, each with its sample; one whose sample was not stored is left out."""
    for sample_id, verdicts in groupby(store.verdicts(record.id), key=lambda verdict: verdict.sample_id):
        sample = store.sample(record.id, sample_id)
        if sample is not None:
            yield from ((sample, verdict) for verdict in verdicts)
