"""Give the mean of a run whose samples were drawn by what stored runs know the interval of such a draw."""

import math

from msgspec.structs import replace

from proctor.core.run import Estimate, RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.stats.item_fit import find_misfit
from proctor.stats.spread import estimate_spread, times_as_many
from proctor.stats.strata import Weighing, weight_by_stratum


def spread_interval(
    record: RunRecord, store: Store, scorer: str, plain: Estimate, weighing: Weighing | None
) -> Estimate:
    """Return the mean of a run with the interval of its draw, and a note on what that gained; unchanged where it is plain."""
    known = record.strata
    if known is None or known.spread is None or known.stages or record.spec.until is not None:
        return plain
    from proctor.reports.matching import earned_by_sample  # only needed here

    earned = earned_by_sample(record, store, scorer)
    expected = dict(zip(known.spread.ids, known.spread.expected, strict=True))
    scored = {id: earned[id] for id in expected if id in earned and earned[id].attempts}
    others = sum(points.attempts > 0 for points in earned.values()) - len(scored)
    if others or len({points.cluster for points in scored.values()}) < len(scored):
        return plain
    weights: list[float] = []
    if weighing is not None:
        strata = [weighing.stratum_of("", points.tags) for points in scored.values()]
        counts = {name: strata.count(name) for name in set(strata)}
        by_stratum = weight_by_stratum(weighing.sizes.get("", {}), counts)
        weights = [by_stratum.get(name, 1.0) for name in strata]
    of_suite = weighing is not None and weighing.of_suite
    values = [points.mean for points in scored.values()]
    estimate = estimate_spread(plain, values, known.total, weights=weights, of_suite=of_suite)
    if estimate is not plain:
        estimate = _noted(estimate, _note(known.spread.runs, plain, estimate))
    if known.spread.agreement is None:
        return estimate
    misfit = find_misfit(values, [expected[id] for id in scored], known.spread.agreement)
    return estimate if misfit is None else _noted(estimate, _warning(misfit, known.spread.agreement))


def _noted(estimate: Estimate, note: Sentence) -> Estimate:
    return replace(estimate, note=say("{note}; {more}", note=estimate.note, more=note) if estimate.note else note)


def _warning(misfit: float, agreement: tuple[float, float]) -> Sentence:
    return say(
        "what stored runs know of these samples no longer fits: what they found hard is not what this run does (correlation {found}, theirs {theirs}); the number does not rest on it",
        found=f"{misfit:.2f}",
        theirs=f"{math.tanh(agreement[0]):.2f}",
    )


def _note(runs: int, plain: Estimate, found: Estimate) -> Sentence:
    times, low, high = (
        f"{times_as_many(plain, found):.1f}",
        f"{100 * (plain.low or 0):.1f}",
        f"{100 * (plain.high or 0):.1f}",
    )
    if runs == 1:
        return say(
            "a stored run knows these samples: as good as {times} times as many; by themselves [{low}, {high}]",
            times=times,
            low=low,
            high=high,
        )
    return say(
        "{count} stored runs know these samples: as good as {times} times as many; by themselves [{low}, {high}]",
        count=runs,
        times=times,
        low=low,
        high=high,
    )
