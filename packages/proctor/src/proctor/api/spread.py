"""Give the mean of a run whose samples were drawn by what stored runs know the interval of such a draw."""

import math
from collections import Counter

from msgspec.structs import replace

from proctor.core.run import Estimate, RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.stats.item_fit import find_misfit
from proctor.stats.spread import estimate_spread, times_as_many
from proctor.stats.strata import Weighing, weight_by_stratum

FEWEST = 20  # samples from which it is said how much their draw gained
LEAST_TIMES = 1.2


def spread_interval(
    record: RunRecord, store: Store, scorer: str, plain: Estimate, weighing: Weighing | None
) -> Estimate:
    """Return the mean of a run with the interval of its draw, and a note on what that gained; unchanged where it is plain."""
    known = record.strata
    if known is None or known.spread is None or known.stages or record.spec.until is not None:
        return plain
    spread = known.spread
    index_by_id = {id: index for index, id in enumerate(spread.ids)}
    totals, attempts, strata = [0.0] * len(spread.ids), [0] * len(spread.ids), [""] * len(spread.ids)
    for value in store.values(record.id, scorer):
        if value.value is None:
            continue
        index = index_by_id.get(value.sample_id)
        if index is None or value.cluster != value.sample_id:
            return plain
        totals[index] += value.value
        attempts[index] += 1
        strata[index] = weighing.stratum_of("", value.tags) if weighing is not None else ""
    scored = [index for index, count in enumerate(attempts) if count]
    values = [totals[index] / attempts[index] for index in scored]
    weights: list[float] = []
    if weighing is not None:
        by_stratum = weight_by_stratum(weighing.sizes.get("", {}), Counter(strata[index] for index in scored))
        weights = [by_stratum.get(strata[index], 1.0) for index in scored]
    of_suite = weighing is not None and weighing.of_suite
    estimate = estimate_spread(plain, values, known.total, weights=weights, of_suite=of_suite)
    estimate = _noted(estimate, _note(spread.runs, len(values), plain, estimate))
    if spread.agreement is None:
        return estimate
    agreement = (*spread.agreement, spread.systems)
    misfit = find_misfit(values, [spread.expected[index] for index in scored], agreement)
    return estimate if misfit is None else _noted(estimate, _warning(misfit, spread.agreement))


def _noted(estimate: Estimate, note: Sentence) -> Estimate:
    return replace(estimate, note=say("{note}; {more}", note=estimate.note, more=note) if estimate.note else note)


def _warning(misfit: float, agreement: tuple[float, float]) -> Sentence:
    return say(
        "what stored runs know of these samples no longer fits: what they found hard is not what this run does (correlation {found}, theirs {theirs}); the number does not rest on it",
        found=f"{misfit:.2f}",
        theirs=f"{math.tanh(agreement[0]):.2f}",
    )


def _note(runs: int, samples: int, plain: Estimate, found: Estimate) -> Sentence:
    """Return what the draw gained; few samples, or a small gain, allow no such number."""
    known = say("a stored run knows these samples") if runs == 1 else say("{count} stored runs know these samples", count=runs)  # fmt: skip
    if found is plain:
        return say("{known}, which makes the interval no narrower here", known=known)
    low, high = (f"{100 * (end or 0):.1f}" for end in (plain.low, plain.high))
    times = times_as_many(plain, found)
    if samples < FEWEST or times < LEAST_TIMES:
        return say("{known}; by themselves [{low}, {high}]", known=known, low=low, high=high)
    return say(
        "{known}: as good as {times} times as many; by themselves [{low}, {high}]",
        known=known,
        times=f"{times:.1f}",
        low=low,
        high=high,
    )
