"""Two runs on the same samples: what differs, by how much, and whether that could be chance."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.run import RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.judges._figures import compared as judges_compared
from proctor.stats import paired, power
from proctor.stats.multiple import holm

LISTED = 200


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One metric in one slice: both means over the samples in common, and their paired difference (second - first).

    `p_adjusted` is Holm's, over all rows of the comparison. `smallest` is the difference that so many samples
    find four times in five; `more` how many samples more would decide if the difference seen is the true one.
    """

    metric: str
    slice: str
    first: float
    second: float
    difference: paired.Difference
    p_adjusted: float
    smallest: float | None
    more: int | None
    verdict: Sentence


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison of two runs; the lists hold sample ids, at most 200 each.

    `not_comparable` counts samples by why they are in no row.
    """

    first: RunRecord
    second: RunRecord
    rows: Sequence[Row]
    wins: Sequence[str]
    losses: Sequence[str]
    ties: int
    not_comparable: Mapping[str, int]
    notes: Sequence[Sentence] = ()


class _Sample(msgspec.Struct):
    cluster: str
    tags: Mapping[str, str]
    total: float = 0.0
    attempts: int = 0
    why: str = ""


def compare(
    first: tuple[RunRecord, Store], second: tuple[RunRecord, Store], *, level: float = 0.95, seed: int = 0
) -> Comparison:
    """Compare the second run (the new one) with the first on the samples both have scored.

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
    rows: list[Row] = []
    found = [_both(first, second, scorer) for scorer in scorers]
    for scorer, (pairs, _) in zip(scorers, found, strict=True):
        prefix = f"{scorer}." if len(scorers) > 1 else ""
        rows.extend(_rows(prefix, pairs, level=level, seed=seed))
    adjusted = holm([row.difference.p_value for row in rows])
    pairs, left_out = found[0]
    moved = {id: _pair(old, new).difference for id, (old, new) in pairs.items()}
    wins = [id for id, difference in moved.items() if difference > 0]
    losses = [id for id, difference in moved.items() if difference < 0]
    return Comparison(
        first=one,
        second=other,
        rows=[_judged(row, p, 1 - level) for row, p in zip(rows, adjusted, strict=True)],
        wins=wins[:LISTED],
        losses=losses[:LISTED],
        ties=len(moved) - len(wins) - len(losses),
        not_comparable=left_out,
        notes=_notes(first, second),
    )


def _both(
    first: tuple[RunRecord, Store], second: tuple[RunRecord, Store], scorer: str
) -> tuple[dict[str, tuple[_Sample, _Sample]], Counter[str]]:
    old, new = _by_sample(*first, scorer), _by_sample(*second, scorer)
    left_out: Counter[str] = Counter()
    pairs = {}
    for id in dict.fromkeys([*old, *new]):
        if id not in new or id not in old:
            left_out["only in the second run" if id in new else "only in the first run"] += 1
        elif old[id].attempts and new[id].attempts:
            pairs[id] = old[id], new[id]
        else:
            left_out[old[id].why if not old[id].attempts else new[id].why] += 1
    return pairs, left_out


def _by_sample(record: RunRecord, store: Store, scorer: str) -> dict[str, _Sample]:
    found: dict[str, _Sample] = {}
    for value in store.values(record.id, scorer):
        sample = found.get(value.sample_id)
        if sample is None:
            sample = found[value.sample_id] = _Sample(value.cluster, value.tags)
        if value.value is None:
            sample.why = value.why
        else:
            sample.total += value.value
            sample.attempts += 1
    return found


def _rows(prefix: str, pairs: Mapping[str, tuple[_Sample, _Sample]], *, level: float, seed: int) -> list[Row]:
    by_slice: dict[str, list[tuple[_Sample, _Sample]]] = {"": list(pairs.values())}
    for old, new in pairs.values():
        for key, value in old.tags.items():
            by_slice.setdefault(f"{key}={value}", []).append((old, new))
    name = f"{prefix}{_metric(pairs)}"
    return [_row(name, slice_, members, level=level, seed=seed) for slice_, members in by_slice.items()]


def _metric(pairs: Mapping[str, tuple[_Sample, _Sample]]) -> str:
    whole = all(sample.total in (0.0, sample.attempts) for both in pairs.values() for sample in both)
    return "accuracy" if whole else "score"


def _row(name: str, slice_: str, members: Sequence[tuple[_Sample, _Sample]], *, level: float, seed: int) -> Row:
    pairs = [_pair(old, new) for old, new in members]
    single = all(sample.attempts == 1 for both in members for sample in both)
    difference = paired.compare(pairs, level=level, single=single, seed=seed)
    error = difference.standard_error
    return Row(
        metric=name,
        slice=slice_,
        first=sum(pair.second for pair in pairs) / len(pairs),
        second=sum(pair.first for pair in pairs) / len(pairs),
        difference=difference,
        p_adjusted=1.0,
        smallest=power.smallest_difference(len(pairs), error**2 * len(pairs), alpha=1 - level) if error else None,
        more=power.more_samples(difference.value, error, len(pairs), alpha=1 - level) if error else None,
        verdict=say("no significant difference"),
    )


def _pair(old: _Sample, new: _Sample) -> paired.Pair:
    return paired.Pair(cluster=old.cluster, first=new.total / new.attempts, second=old.total / old.attempts)


def _judged(row: Row, p_adjusted: float, alpha: float) -> Row:
    verdict = say("no significant difference")
    if p_adjusted <= alpha:
        verdict = say("the second is better") if row.difference.value > 0 else say("the second is worse")
    return replace(row, p_adjusted=p_adjusted, verdict=verdict)


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
    notes.extend(
        say("The run {run} is {state}.", run=record.id, state=say(record.state))
        for record in (one, other)
        if record.state != "finished"
    )
    return notes


def _scorer_changed(first: tuple[RunRecord, Store], second: tuple[RunRecord, Store], scorer: str) -> Iterator[Sentence]:
    """What is to be said of a scorer that gave its verdicts in another version in each run."""
    old, new = (next(store.verdicts(record.id, scorer=scorer), None) for record, store in (first, second))
    if old is not None and new is not None and old.scorer_version != new.scorer_version:
        yield say(
            "The versions of the scorer {scorer} differ: {first} and {second}. Score the first run again to compare like with like.",
            scorer=scorer,
            first=old.scorer_version[:12],
            second=new.scorer_version[:12],
        )
