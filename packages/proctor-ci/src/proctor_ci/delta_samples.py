"""Pair the samples of two runs with what each counts in the number of its run, and what errors cost it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from statistics import fmean
from typing import NamedTuple

import msgspec

from proctor.api import numbers
from proctor.api.run import Run
from proctor.stats.strata import weight_by_stratum
from proctor_ci.second_scores import Answers, Costs, SecondScores
from proctor_ci.stats.decomposition import Member, Side

CHANGED = "changed"  # why a sample of both runs is compared with none: it is not the same


class Shared(msgspec.Struct, frozen=True):
    """A sample that both runs scored.

    Attributes:
        weight: what it counts among these samples, whose mean is 1.
        first, second: what it earned in each run.
        costs: what each class of error cost in both runs, at the word of the same versions; None where these are not known.
        by_scorer: what the same answers lost at the word of the old version and of the new one.
        single: each value is of one attempt.
    """

    id: str
    cluster: str
    slice: str
    weight: float
    first: float
    second: float
    costs: tuple[Costs, Costs] | None
    by_scorer: tuple[float, float] | None
    single: bool


class CommonSample(NamedTuple):
    """A sample that both runs scored, with its weight in the number of each run."""

    id: str
    old: Answers
    new: Answers
    old_weight: float
    new_weight: float


def changed_samples(runs: tuple[Run, Run], answers: Sequence[Mapping[str, Answers]]) -> frozenset[str]:
    """Return the ids that name another question, or another expected answer, in each run."""
    old = {
        sample.id: (sample.turns, sample.target)
        for sample in runs[0].store.planned(runs[0].id)
        if sample.id in answers[1]
    }
    return frozenset(
        sample.id
        for sample in runs[1].store.planned(runs[1].id)
        if sample.turns and old.get(sample.id, ((), None))[0] and old[sample.id] != (sample.turns, sample.target)
    )


def _weights(run: Run, scorer: str, answers: Mapping[str, Answers]) -> dict[str, float]:
    """Return what each scored sample counts in the number of its run."""
    weighing = numbers.find_weighing(run.record, run.store, scorer)
    if weighing is None:
        return {id: 1.0 for id, answer in answers.items() if answer.values}
    strata = {id: weighing.stratum_of(id, answer.tags) for id, answer in answers.items() if answer.values}
    weights = weight_by_stratum(weighing.sizes.get("", {}), Counter(strata.values()))
    return {id: weights.get(stratum, 0.0) for id, stratum in strata.items()}


def gather_members(
    runs: tuple[Run, Run],
    scorer: str,
    answers: tuple[Mapping[str, Answers], Mapping[str, Answers]],
    by: str,
    changed: frozenset[str],
) -> tuple[list[tuple[str, Member]], list[CommonSample]]:
    """Return the samples of either run with their weights, and those that both have scored."""
    old, new = answers
    weighs = [_weights(run, scorer, each) for run, each in zip(runs, answers, strict=True)]
    members: list[tuple[str, Member]] = []
    both: list[CommonSample] = []
    for id in dict.fromkeys([*old, *new]):
        a, b = old.get(id), new.get(id)
        w, v = (each.get(id, 0.0) for each in weighs)
        either = a or b
        assert either is not None
        make = partial(Member, cluster=either.cluster, slice=either.tags.get(by, ""))
        if a is not None and b is not None and w > 0 and v > 0 and id not in changed:
            both.append(CommonSample(id, a, b, w, v))
            members.append((id, make(first_weight=w, second_weight=v, first=a.mean, second=b.mean)))
            continue
        lacking = "" if a is None or b is None else CHANGED if id in changed else (a.why if not w else b.why)
        if a is not None and w > 0:
            members.append((id, make(why=lacking, first_weight=w, first=a.mean)))
        if b is not None and v > 0:
            members.append((id, make(why=lacking, second_weight=v, second=b.mean)))
    return members, both


def shared_samples(common: Sequence[CommonSample], others: Mapping[str, SecondScores], by: str) -> Iterator[Shared]:
    """Yield the samples of both runs with what errors cost; those in `others` were scored by two versions."""
    first, second = sum(sample.old_weight for sample in common), sum(sample.new_weight for sample in common)
    for id, old, new, w, v in common:
        pairs, lost = [(old.costs, new.costs)], []
        if id in others:
            newer, older = others[id]
            pairs = [(newer, new.costs)] if newer is not None else []
            pairs += [(old.costs, older)] if older is not None else []
            lost += [(1 - old.mean, sum(newer.values()))] if newer is not None else []
            lost += [(sum(older.values()), 1 - new.mean)] if older is not None else []
        yield Shared(
            id=id,
            cluster=old.cluster,
            slice=old.tags.get(by, ""),
            weight=(w / first + v / second) / 2 * len(common),
            first=old.mean,
            second=new.mean,
            costs=(_average([pair[0] for pair in pairs]), _average([pair[1] for pair in pairs])) if pairs else None,
            by_scorer=(fmean(one[0] for one in lost), fmean(one[1] for one in lost)) if lost else None,
            single=len(old.values) == len(new.values) == 1,
        )


def _average(each: Sequence[Costs]) -> Costs:
    if len(each) == 1:
        return each[0]
    return {name: fmean(costs.get(name, 0.0) for costs in each) for name in dict.fromkeys(chain(*each))}


def mean_of(members: Sequence[tuple[str, Member]], side: Side) -> float:
    """Return the number of one run, as the weights of its samples make it."""
    weighed = [
        (member.first_weight, member.first) if side == "first" else (member.second_weight, member.second)
        for _, member in members
    ]
    return sum(weight * value for weight, value in weighed) / sum(weight for weight, _ in weighed)
