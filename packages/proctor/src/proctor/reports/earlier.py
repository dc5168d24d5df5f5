"""Match the samples of a run with what earlier runs of the same task earned on them, to adjust its numbers by that."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.run import Estimate, RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.reports.matching import Adjusted, Earned, MatchedSample, earned_by_sample, weighted_pairs
from proctor.reports.same_task import check_same_population, check_same_task
from proctor.stats.covariate import CovariateFit, CovariateGroup, CovariateSample, Other, adjust, fit_groups, gain
from proctor.stats.paired import PairedSample

Side = tuple[RunRecord, Store]


class Earlier(msgspec.Struct, frozen=True, kw_only=True):
    """What earlier runs earned, in their mean, by sample.

    Attributes:
        runs: their ids.
        samples: of those that the run could have drawn.
        why_not: the reason why they cannot adjust the numbers of the run.
    """

    runs: Sequence[str]
    samples: Mapping[str, Earned]
    why_not: Sentence | None = None

    def groups(
        self,
        values: Mapping[str, tuple[str, str, float]],
        sizes: Mapping[str, float],
        stratum_of: Callable[[Mapping[str, str]], str],
        slice_: str = "",
    ) -> dict[str, CovariateGroup]:
        """Return the samples by stratum, those in `values` (cluster, stratum, value by id) and the others of the slice."""
        known = self.samples
        samples: dict[str, list[CovariateSample]] = {name: [] for name in sizes}
        others: dict[str, list[Other]] = {name: [] for name in sizes}
        for id, (cluster, stratum, value) in values.items():
            if stratum in samples:
                earlier = known[id].mean if id in known else None
                samples[stratum].append(CovariateSample(cluster=cluster, value=value, earlier=earlier))
        key, _, tag = slice_.partition("=")
        for id, points in known.items():
            if id not in values and (not slice_ or points.tags.get(key) == tag):
                others.get(stratum_of(points.tags), []).append(Other(cluster=points.cluster, earlier=points.mean))
        return {
            name: CovariateGroup(size=size, samples=samples[name], others=others[name]) for name, size in sizes.items()
        }

    def adjust(
        self, plain: Estimate, groups: Mapping[str, CovariateGroup], *, of_suite: bool, slope: float | None = None
    ) -> tuple[Estimate, float | None]:
        """Return the estimate as the earlier runs adjust it, and by which slope; a note says what that gained, or why it gained nothing.

        Args:
            slope: that of the whole, for a slice; None where the whole is not adjusted.
        """
        if plain.slice and slope is None:
            return plain, None
        runs = ", ".join(self.runs)
        adjusted, fit = (
            adjust(plain, groups, of_suite=of_suite, slope=slope) if self.why_not is None else (plain, self.why_not)
        )
        if isinstance(fit, Sentence):
            if plain.slice:
                return plain, None
            note = say("given {runs}: not adjusted: {why}", runs=runs, why=fit)
        elif plain.slice:
            note = say("given {runs}: adjusted as the whole", runs=runs)
        else:
            share, correlation = f"{gain(plain, adjusted):.0%}", f"{fit.correlation:.2f}"
            note = say(
                "given {runs}: interval {share} narrower, correlation {correlation}",
                runs=runs,
                share=share,
                correlation=correlation,
            )
        noted = replace(adjusted, note=say("{note}; {more}", note=plain.note, more=note) if plain.note else note)
        return noted, fit.slope if isinstance(fit, CovariateFit) else None

    def adjust_pairs(
        self, planned: Sequence[MatchedSample], slice_: str, by: str, slope: float | None = None
    ) -> Adjusted:
        """Return the pairs of a slice as the earlier runs adjust their differences.

        Args:
            by: the tag that names the strata of the pairs.
            slope: that of the whole, for a slice; None where the whole is not adjusted.
        """
        pairs = list(weighted_pairs(planned))
        scored = [both for both in planned if both.pair is not None]
        sizes: dict[str, float] = {}
        for both in planned:
            sizes[both.stratum] = sizes.get(both.stratum, 0.0) + both.stands_for

        def grouped(of: Callable[[PairedSample], float]) -> dict[str, CovariateGroup]:
            values = {both.id: (pair.cluster, both.stratum, of(pair)) for both, pair in zip(scored, pairs, strict=True)}
            return self.groups(values, sizes, lambda tags: tags.get(by, ""), slice_)

        fit = self.why_not or fit_groups(grouped(lambda pair: pair.difference), signed=True, slope=slope)
        runs = ", ".join(self.runs)
        if isinstance(fit, CovariateFit) and fit.narrower <= 0 and slope is None:
            fit = say("nothing is gained")
        old = math.fsum(pair.weight * pair.second for pair in pairs) / max(len(pairs), 1)
        if isinstance(fit, Sentence) or (slice_ and slope is None):
            why = fit if isinstance(fit, Sentence) else say("nothing is gained")
            note = say("given {runs}: not adjusted: {why}", runs=runs, why=why)
            return Adjusted(pairs=pairs, added=0.0, note=note, old=old)
        adjusted = {name: iter(values) for name, values in fit.values.items()}
        shifted = [
            replace(pair, shift=pair.difference - next(adjusted[both.stratum]))
            for both, pair in zip(scored, pairs, strict=True)
        ]
        if isinstance(of_old := fit_groups(grouped(lambda pair: pair.second)), CovariateFit):
            known = {name: iter(values) for name, values in of_old.values.items()}
            values = [pair.weight * next(known[both.stratum]) for both, pair in zip(scored, pairs, strict=True)]
            old = math.fsum(values) / len(pairs)
        change = math.fsum(pair.weight * pair.difference for pair in shifted) / len(pairs)
        return Adjusted(
            pairs=shifted,
            added=fit.variance,
            old=min(max(old, -change, 0.0), 1 - change, 1.0),
            slope=fit.slope,
            note=say(
                "given {runs}: interval {share} narrower, correlation {correlation}",
                runs=runs,
                share=f"{fit.narrower:.0%}",
                correlation=f"{fit.correlation:.2f}",
            ),
        )


def check_earlier(run: Side, earlier: Sequence[Side]) -> None:
    """Refuse earlier runs that say nothing about a run.

    Raises:
        BadInput: one is of another task or population, or the run itself, or shares trials with it; or they have none of its samples.
    """
    record, store = run
    for other, kept in earlier:
        check_same_task(record, other)
        if other.id == record.id:
            raise BadInput("The run {run} tells nothing about itself. Name an earlier one.", run=record.id)
        if record.shares_trials(other):
            raise BadInput(
                "Trials of {run} and of {other} are the same ones, so neither adds to the other.",
                run=record.id,
                other=other.id,
            )
        check_same_population(record, other, kept.planned(other.id))
    planned = {sample.id for sample in store.planned(record.id)}
    if all(planned.isdisjoint(sample.id for sample in kept.planned(other.id)) for other, kept in earlier):
        runs = ", ".join(other.id for other, _ in earlier)
        raise BadInput("{runs}: no sample in common with {run}.", runs=runs, run=record.id)


def read_earlier(run: Side, earlier: Sequence[Side], scorer: str, against: Side | None = None) -> Earlier:
    """Return what earlier runs earned from a scorer on the samples that a run could have drawn.

    Args:
        against: the run that it is compared with.
    """
    record, store = run
    sums: dict[str, Earned] = {}
    for other, kept in earlier:
        if scorer in other.scorers:
            for id, one in earned_by_sample(other, kept, scorer).items():
                if one.attempts:
                    points = sums.setdefault(id, Earned(one.cluster, one.tags, 0))
                    points.total += one.mean
                    points.attempts += 1
    sides = [run] if against is None else [run, against]
    for chosen in (each.spec.selection for each, _ in sides):
        if chosen.first is not None:
            planned = {sample.id for sample in store.planned(record.id)}
            sums = {id: points for id, points in sums.items() if id in planned}
        if chosen.ids:
            sums = {id: points for id, points in sums.items() if id in set(chosen.ids)}
        sums = {
            id: points
            for id, points in sums.items()
            if all(points.tags.get(key) == tag for key, tag in chosen.tags.items())
        }
    whys = [_why_not(*side, earlier, scorer) for side in sides]
    return Earlier(
        runs=[other.id for other, _ in earlier], samples=sums, why_not=next((why for why in whys if why), None)
    )


def _why_not(record: RunRecord, store: Store, earlier: Iterable[Side], scorer: str) -> Sentence | None:
    if not any(scorer in other.scorers for other, _ in earlier):
        return say("it has no verdict of {scorer}", scorer=scorer)
    if record.spec.until is not None:
        return say("its intervals hold at each look while it ran, and would no longer")
    is_whole = sum(store.outcomes(record.id).values()) >= record.planned and "skipped" not in store.outcomes(record.id)
    if record.strata is None or (record.strata.order == "official" and not is_whole):
        return say("the samples of the run are no random draw")
    return None
