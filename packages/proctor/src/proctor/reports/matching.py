"""Match the samples of two runs: what each earned in both, and how much a sample counts."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from proctor.core.run import RunRecord
from proctor.core.sentence import Sentence
from proctor.core.task import Store
from proctor.reports.drawn import strata_in_common
from proctor.reports.verdicts import Untested
from proctor.stats import paired
from proctor.stats.allocation import name_in_stage, stage_by_sample, stage_sizes
from proctor.stats.strata import weight_by_stratum

NOT_RUN = "not_run"  # of a run that ended early it is not missing either: where the run ended is accounted for
NOT_MISSING = "not_applicable"  # the scorer has nothing to say of such a sample, however it is answered


class Earned(msgspec.Struct):
    """What a sample earned in one run; `attempts` are those scored, of all that were `planned`.

    `whole` is false once an attempt earned part of the points.
    """

    cluster: str
    tags: Mapping[str, str]
    planned: int
    total: float = 0.0
    attempts: int = 0
    why: str = NOT_RUN
    whole: bool = True

    @property
    def mean(self) -> float:
        return self.total / self.attempts

    @property
    def least(self) -> float:
        """Return the mean if every attempt without a score had been 0."""
        return self.total / max(self.planned, self.attempts)

    @property
    def most(self) -> float:
        """Return the mean if every attempt without a score had been 1."""
        return self.least + max(self.planned - self.attempts, 0) / max(self.planned, self.attempts)


class MatchedSample(msgspec.Struct):
    """A sample that was planned in both runs; `pair` is None unless it is scored in both.

    `stands_for` is how many samples of its stratum of the task there are to each that was planned in both runs. `looked_at`
    if one of the runs was looked at while it went on, so that it may have ended because of what it showed.
    """

    id: str
    old: Earned
    new: Earned
    pair: paired.PairedSample | None
    stratum: str = ""
    stands_for: float = 1.0
    looked_at: bool = False

    @property
    def floor(self) -> float:
        return self.new.least - self.old.most

    @property
    def ceiling(self) -> float:
        return self.new.most - self.old.least

    @property
    def is_complete(self) -> bool:
        return all(sample.attempts >= sample.planned for sample in (self.old, self.new))


class Adjusted(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs as earlier runs adjust them, with the variance that this adds to their mean, and a note on what it gained.

    Attributes:
        old: the mean of the first run, adjusted too, so that the difference is one of the numbers that are shown with it.
        slope: by which differences were adjusted; None where they are as they were.
    """

    pairs: Sequence[paired.PairedSample]
    added: float
    note: Sentence
    old: float
    slope: float | None = None


def earned_by_sample(record: RunRecord, store: Store, scorer: str) -> dict[str, Earned]:
    """Return what each planned sample of a run earned from a scorer, in the order of the plan as far as it was run."""
    attempts = record.spec.attempts
    found: dict[str, Earned] = {}
    for value in store.values(record.id, scorer):
        sample = found.get(value.sample_id)
        if sample is None:
            sample = found[value.sample_id] = Earned(value.cluster, value.tags, attempts)
        if value.value is None:
            sample.why = value.why
        else:
            sample.total += value.value
            sample.attempts += 1
            sample.whole = sample.whole and value.value in (0, 1)
    if len(found) * attempts < record.planned:
        for planned in store.planned(record.id):
            if planned.id not in found:
                found[planned.id] = Earned(planned.cluster or planned.id, planned.tags, attempts)
    return found


def match_samples(
    first: RunRecord, second: RunRecord, old: Mapping[str, Earned], new: Mapping[str, Earned]
) -> tuple[dict[str, MatchedSample], Counter[str]]:
    """Pair the samples planned in both runs to which the scorer applies; count why others are left out.

    Args:
        old, new: what the samples earned in the first run and in the second, from the same scorer.
    """
    left_out: Counter[str] = Counter()
    planned = {}
    known = strata_in_common(first, second)
    sizes = {} if known is None else stage_sizes(known)
    stages = {} if known is None else stage_by_sample(known)
    by = "" if known is None else known.by
    stratum_by_id = {id: name_in_stage(old[id].tags.get(by, ""), stages.get(id, 0)) for id in old if id in new}
    counts = Counter(stratum_by_id.values())
    looked_at = any(record.spec.until is not None for record in (first, second))
    for id in dict.fromkeys([*old, *new]):
        if id not in new or id not in old:
            left_out["only in the second run" if id in new else "only in the first run"] += 1
            continue
        unscored = [sample.why for sample in (old[id], new[id]) if not sample.attempts]
        if unscored:
            left_out[unscored[0]] += 1
        if NOT_MISSING not in unscored and not (looked_at and NOT_RUN in unscored):
            pair = None if unscored else _pair(old[id], new[id])
            stratum = stratum_by_id.get(id, "")
            stands_for = sizes[stratum] / counts[stratum] if stratum in sizes else 1.0
            planned[id] = MatchedSample(id, old[id], new[id], pair, stratum, stands_for, looked_at)
    return planned, left_out


def metric_of(planned: Iterable[MatchedSample]) -> str:
    """Return the name of the mean: `accuracy` where all attempts are right or wrong, else `score`."""
    return "accuracy" if all(both.old.whole and both.new.whole for both in planned) else "score"


def untested_row(
    name: str,
    slice_: str,
    planned: Sequence[MatchedSample],
    *,
    level: float = 0.95,
    seed: int = 0,
    adjusted: Adjusted | None = None,
) -> Untested:
    """Return the paired difference of a metric in a slice ('' is the whole), before it is tested with others.

    Args:
        adjusted: the pairs as earlier runs adjust them.

    Raises:
        BadInput: no sample has a score in both runs.
    """
    raw = list(weighted_pairs(planned))
    pairs = raw if adjusted is None else adjusted.pairs
    shift = _mean(pairs) - _mean(raw)  # what earlier runs adjusted
    in_all = math.fsum(both.stands_for for both in planned)
    single = all(max(both.old.attempts, both.new.attempts) <= 1 for both in planned)
    return Untested(
        metric=name,
        slice=slice_,
        pairs=pairs,
        difference=paired.compare(
            pairs,
            level=level,
            single=single,
            looked_at=any(both.looked_at for both in planned),
            seed=seed,
            added=0.0 if adjusted is None else adjusted.added,
        ),
        floor=shift + math.fsum(both.stands_for * both.floor for both in planned) / (in_all or 1.0),
        ceiling=shift + math.fsum(both.stands_for * both.ceiling for both in planned) / (in_all or 1.0),
        missing=sum(not both.is_complete for both in planned),
        old=None if adjusted is None or adjusted.slope is None else adjusted.old,
    )


def weighted_pairs(planned: Sequence[MatchedSample]) -> Iterator[paired.PairedSample]:
    """Yield the pairs, weighted by the size of their stratum in the task, as in the estimates of a single run."""
    sizes: dict[str, float] = {}
    counts = Counter[str]()
    for both in planned:
        sizes[both.stratum] = sizes.get(both.stratum, 0.0) + both.stands_for
        counts[both.stratum] += both.pair is not None
    weights = weight_by_stratum(sizes, counts)
    for both in planned:
        if both.pair is not None:
            weight = weights[both.stratum]
            yield both.pair if math.isclose(weight, 1.0) else replace(both.pair, weight=weight)


def _mean(pairs: Sequence[paired.PairedSample]) -> float:
    size = math.fsum(pair.weight for pair in pairs)
    return math.fsum(pair.weight * pair.difference for pair in pairs) / size if size else 0.0


def _pair(old: Earned, new: Earned) -> paired.PairedSample:
    return paired.PairedSample(cluster=old.cluster, first=new.mean, second=old.mean)
