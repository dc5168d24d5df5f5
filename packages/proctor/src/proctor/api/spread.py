"""Give the mean of a run whose samples were drawn by what stored runs know the interval of such a draw."""

from msgspec.structs import replace

from proctor.core.run import Estimate, RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
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
    scored = [earned[id] for id in known.spread.ids if id in earned and earned[id].attempts]
    if len({one.cluster for one in scored}) < len(scored) or len(scored) < sum(
        one.attempts > 0 for one in earned.values()
    ):
        return plain
    weights: list[float] = []
    if weighing is not None:
        strata = [weighing.stratum_of("", one.tags) for one in scored]
        counts = {name: strata.count(name) for name in set(strata)}
        by_stratum = weight_by_stratum(weighing.sizes.get("", {}), counts)
        weights = [by_stratum.get(name, 1.0) for name in strata]
    of_suite = weighing is not None and weighing.of_suite
    found = estimate_spread(plain, [one.mean for one in scored], known.total, weights=weights, of_suite=of_suite)
    if found is plain or plain.low is None or plain.high is None:
        return plain
    note = _note(known.spread.runs, plain, found)
    return replace(found, note=say("{note}; {more}", note=plain.note, more=note) if plain.note else note)


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
