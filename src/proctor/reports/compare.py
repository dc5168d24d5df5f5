"""Compare two runs on the same samples: what differs, by how much, and whether it could be chance."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape

import msgspec
from msgspec.structs import replace

from proctor.calibration.figures import compared as judges_compared
from proctor.core.errors import BadInput
from proctor.core.run import RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.reports.drawn import UNRECORDED, is_part, strata_in_common
from proctor.reports.verdicts import Outcome, Row, Untested, decide
from proctor.stats import paired, power
from proctor.stats.strata import weight_by_stratum

__all__ = ["Comparison", "Outcome", "Row", "compare"]

LISTED = 200
NOT_MISSING = "not_applicable"  # the scorer has nothing to say of such a sample, however it is answered


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison of two runs; the lists hold sample ids, at most 200 each.

    `not_comparable` counts samples by why they are in no row. `needed` says how many samples find the difference that
    was asked for.
    """

    first: RunRecord
    second: RunRecord
    rows: Sequence[Row]
    wins: Sequence[str]
    losses: Sequence[str]
    ties: int
    not_comparable: Mapping[str, int]
    needed: power.Needed | None = None
    notes: Sequence[Sentence] = ()

    def __str__(self) -> str:
        """Return one line for each row; the reports have more."""
        return "\n".join([f"{self.second.id} compared with {self.first.id}", *map(_line, self.rows)])

    def __repr__(self) -> str:
        main = self.rows[0]
        change = f"{main.metric} {main.first:.3f} -> {main.second:.3f}"
        return f"<Comparison of {self.second.id} with {self.first.id}: {change}, {main.outcome}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _line(row: Row) -> str:
    name = f"{row.metric} [{row.slice}]" if row.slice else row.metric
    found = row.difference
    interval = "" if found.low is None or found.high is None else f" [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"
    change = f"{row.first:.1%} -> {row.second:.1%}, {100 * found.value:+.1f} points{interval}"
    return f"  {name}: {change}, {found.pairs} samples: {row.verdict}"


class _Sample(msgspec.Struct):
    """What a sample earned in one run; `attempts` are those scored, of all that were `planned`.

    `whole` is false once an attempt earned part of the points.
    """

    cluster: str
    tags: Mapping[str, str]
    planned: int
    total: float = 0.0
    attempts: int = 0
    why: str = "not_run"
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


class _Both(msgspec.Struct):
    """A sample that was planned in both runs; `pair` is None unless it is scored in both.

    `stands_for` is how many samples of its stratum of the task there are to each that was planned in both runs.
    """

    old: _Sample
    new: _Sample
    pair: paired.Pair | None
    stratum: str = ""
    stands_for: float = 1.0

    @property
    def floor(self) -> float:
        return self.new.least - self.old.most

    @property
    def ceiling(self) -> float:
        return self.new.most - self.old.least

    @property
    def is_complete(self) -> bool:
        return all(sample.attempts >= sample.planned for sample in (self.old, self.new))


def compare(
    first: tuple[RunRecord, Store],
    second: tuple[RunRecord, Store],
    *,
    level: float = 0.95,
    seed: int = 0,
    detect: float | None = None,
) -> Comparison:
    """Compare the second run (the new one) with the first on the samples both have scored.

    Args:
        detect: a difference, 0 to 1; the comparison then says how many samples find it.

    Raises:
        BadInput: other tasks, no scorer in common, or no scored sample in common.
    """
    one, other = first[0], second[0]
    if one.task != other.task:
        raise BadInput("The runs are of different tasks: {first} and {second}.", first=one.task, second=other.task)
    scorers = [name for name in one.scorers if name in other.scorers]
    if not scorers:
        raise BadInput(
            "The runs have no scorer in common: {first} and {second}.",
            first=", ".join(one.scorers),
            second=", ".join(other.scorers),
        )
    untested: list[Untested] = []
    matches = [_both(first, second, scorer) for scorer in scorers]
    empty: list[Sentence] = []
    for scorer, (planned, _) in zip(scorers, matches, strict=True):
        if untested and not any(both.pair is not None for both in planned.values()):
            empty.append(say("{scorer}: no sample has a score in both runs.", scorer=scorer))
            continue
        prefix = f"{scorer}." if len(scorers) > 1 else ""
        untested.extend(_untested(prefix, list(planned.values()), level=level, seed=seed))
    planned, left_out = matches[0]
    moved = {id: both.pair.difference for id, both in planned.items() if both.pair is not None}
    wins = [id for id, difference in moved.items() if difference > 0]
    losses = [id for id, difference in moved.items() if difference < 0]
    return Comparison(
        first=one,
        second=other,
        rows=decide(untested, 1 - level),
        wins=wins[:LISTED],
        losses=losses[:LISTED],
        ties=len(moved) - len(wins) - len(losses),
        not_comparable=left_out,
        needed=None if detect is None else power.to_detect(untested[0].difference, detect, alpha=1 - level),
        notes=[*empty, *_notes(first, second)],
    )


def _both(
    first: tuple[RunRecord, Store], second: tuple[RunRecord, Store], scorer: str
) -> tuple[dict[str, _Both], Counter[str]]:
    """Pair the samples planned in both runs to which the scorer applies; count why others are left out."""
    old, new = _by_sample(*first, scorer), _by_sample(*second, scorer)
    left_out: Counter[str] = Counter()
    planned = {}
    known = strata_in_common(first[0], second[0])
    sizes = {} if known is None else known.sizes
    stratum_by_id = {} if known is None else {id: old[id].tags.get(known.by, "") for id in old if id in new}
    counts = Counter(stratum_by_id.values())
    for id in dict.fromkeys([*old, *new]):
        if id not in new or id not in old:
            left_out["only in the second run" if id in new else "only in the first run"] += 1
            continue
        unscored = [sample.why for sample in (old[id], new[id]) if not sample.attempts]
        if unscored:
            left_out[unscored[0]] += 1
        if NOT_MISSING not in unscored:
            pair = None if unscored else _pair(old[id], new[id])
            stratum = stratum_by_id.get(id, "")
            stands_for = sizes[stratum] / counts[stratum] if stratum in sizes else 1.0
            planned[id] = _Both(old[id], new[id], pair, stratum, stands_for)
    return planned, left_out


def _by_sample(record: RunRecord, store: Store, scorer: str) -> dict[str, _Sample]:
    attempts = record.spec.attempts
    found: dict[str, _Sample] = {}
    for value in store.values(record.id, scorer):
        sample = found.get(value.sample_id)
        if sample is None:
            sample = found[value.sample_id] = _Sample(value.cluster, value.tags, attempts)
        if value.value is None:
            sample.why = value.why
        else:
            sample.total += value.value
            sample.attempts += 1
            sample.whole = sample.whole and value.value in (0, 1)
    if len(found) * attempts < record.planned:
        for planned in store.planned(record.id):
            if planned.id not in found:
                found[planned.id] = _Sample(planned.cluster or planned.id, planned.tags, attempts)
    return found


def _untested(prefix: str, planned: Sequence[_Both], *, level: float, seed: int) -> Iterator[Untested]:
    """Yield the row of the whole, then of each slice that is not the whole under another name."""
    scored = sum(both.pair is not None for both in planned)
    name = f"{prefix}{_metric(planned)}"
    yield _row(name, "", planned, level=level, seed=seed)
    by_slice: dict[str, list[_Both]] = {}
    for both in planned:
        for key, value in both.old.tags.items():
            by_slice.setdefault(f"{key}={value}", []).append(both)
    for slice_, members in by_slice.items():
        if 0 < sum(both.pair is not None for both in members) < scored:
            yield _row(name, slice_, members, level=level, seed=seed)


def _metric(planned: Sequence[_Both]) -> str:
    return "accuracy" if all(both.old.whole and both.new.whole for both in planned) else "score"


def _row(name: str, slice_: str, planned: Sequence[_Both], *, level: float, seed: int) -> Untested:
    pairs = list(_weighted(planned))
    in_all = math.fsum(both.stands_for for both in planned)
    single = all(max(both.old.attempts, both.new.attempts) <= 1 for both in planned)
    return Untested(
        metric=name,
        slice=slice_,
        pairs=pairs,
        difference=paired.compare(pairs, level=level, single=single, seed=seed),
        floor=math.fsum(both.stands_for * both.floor for both in planned) / (in_all or 1.0),
        ceiling=math.fsum(both.stands_for * both.ceiling for both in planned) / (in_all or 1.0),
        missing=sum(not both.is_complete for both in planned),
    )


def _weighted(planned: Sequence[_Both]) -> Iterator[paired.Pair]:
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


def _pair(old: _Sample, new: _Sample) -> paired.Pair:
    return paired.Pair(cluster=old.cluster, first=new.mean, second=old.mean)


def _notes(first: tuple[RunRecord, Store], second: tuple[RunRecord, Store]) -> list[Sentence]:
    one, other = first[0], second[0]
    notes = []
    if one.task_version != other.task_version:
        notes.append(
            say("The task versions differ: {first} and {second}.", first=one.task_version, second=other.task_version)
        )
    if one.spec.task_options != other.spec.task_options:
        notes.append(
            say(
                "The task options differ: {first} and {second}.",
                first=dict(one.spec.task_options),
                second=dict(other.spec.task_options),
            )
        )
    for scorer in one.scorers:
        judged = list(judges_compared(one, other, scorer))
        notes.extend(judged or _scorer_changed(first, second, scorer))
    if any(map(is_part, (one, other))):
        known = strata_in_common(one, other)
        if known is not None:
            notes.append(
                say(
                    "Of the task a part was drawn: each value of the tag '{tag}' counts by its size in the task.",
                    tag=known.by,
                )
            )
        elif one.strata is None or other.strata is None:
            notes.append(say(UNRECORDED))
    notes.extend(
        say("The run {run} is {state}.", run=record.id, state=say(record.state))
        for record in (one, other)
        if record.state != "finished"
    )
    return notes


def _scorer_changed(first: tuple[RunRecord, Store], second: tuple[RunRecord, Store], scorer: str) -> Iterator[Sentence]:
    """Say that a scorer had another version in each run."""
    old, new = (next(store.verdicts(record.id, scorer=scorer), None) for record, store in (first, second))
    if old is not None and new is not None and old.scorer_version != new.scorer_version:
        yield say(
            "The versions of the scorer {scorer} differ: {first} and {second}. Score the first run again to compare like with like.",
            scorer=scorer,
            first=old.scorer_version[:12],
            second=new.scorer_version[:12],
        )
