"""Say why the number of a run is another one than that of an earlier run: parts in points that sum to the difference.

The samples of both runs are split as `proctor_ci.stats.decomposition` says. What changed of the same samples is the agent's, by the
class of error that cost the points, and the scorer's where its version is another one: every answer is then also taken at
the other version's word, and both orders (scorer first, agent first) count by half.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple, get_args

import msgspec
from msgspec.structs import replace

from proctor.api.run import Run
from proctor.core.errors import BadInput
from proctor.core.run import Budget, RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.trial import INFRASTRUCTURE
from proctor.engine.progress import Progress
from proctor.registry import unknown
from proctor.reports.compare import scorers_in_common
from proctor.reports.same_task import check_same_task
from proctor.runtime.garbage import gc_paused
from proctor.stats.anytime import ANYTIME
from proctor.stats.paired import Difference, PairedSample, compare
from proctor.stats.rate import Interval
from proctor_ci.changes import Change, changes_between
from proctor_ci.delta_samples import (
    CHANGED,
    CommonSample,
    Shared,
    changed_samples,
    gather_members,
    mean_of,
    shared_samples,
)
from proctor_ci.gate import blocking_changes
from proctor_ci.second_scores import Answers, Rescoring, SecondScores, read_answers, score_by_other
from proctor_ci.stats.bounds import moved
from proctor_ci.stats.decomposition import DifferencePart, Key, Member, Side, Split, decompose

Cause = Literal["agent", "scorer", "unknown", "infrastructure", "missing", "samples", "shares"]
CAUSES: tuple[Cause, ...] = get_args(Cause)
MOST_CLASSES = 15
OTHERS = "…"
EXAMPLES = 3
_LEAST = 1e-9


class DeltaExample(msgspec.Struct, frozen=True, kw_only=True):
    """A sample with what it earned in each run; None where nothing was scored."""

    sample: str
    first: float | None
    second: float | None


class DeltaPart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the difference, as a share of 1 like the numbers themselves, with 95 % bounds.

    Attributes:
        cause: the agent, the scorer, either of them (unknown), infrastructure failures, other missing scores, samples of one
            run only, shares of slices.
        name: the class of error, the reason for missing, or the slice.
        side: which run has the samples.
        samples: how many it rests on; of the agent and the scorer those that moved.
        before, after: what a class of error cost in each run, over the samples of both.
    """

    cause: Cause
    name: str = ""
    side: Side = "both"
    value: float
    low: float | None
    high: float | None
    samples: int = 0
    before: float | None = None
    after: float | None = None
    examples: tuple[DeltaExample, ...] = ()


class Delta(msgspec.Struct, frozen=True, kw_only=True):
    """The difference of a number between two runs, and the parts that sum to it.

    Attributes:
        before, after: the number in each run, over all that it scored.
        causes: the sum of each cause; these sum to `value`.
        parts: the same in more detail; these sum to `value` too.
        slices: what of `causes` the agent did in each slice of the tag `by`; these sum to that of the agent.
        tags: those by which slices can be named.
        versions: of the scorer in each run, where they differ.
        common: the samples that both runs scored.
        changes: what differs in how the runs were made.
    """

    first: RunRecord
    second: RunRecord
    scorer: str
    metric: str
    before: float
    after: float
    value: float
    low: float | None
    high: float | None
    causes: tuple[DeltaPart, ...]
    parts: tuple[DeltaPart, ...]
    slices: tuple[DeltaPart, ...]
    by: str
    tags: tuple[str, ...]
    versions: tuple[str, str] | None
    common: int
    changes: tuple[Change, ...]
    notes: tuple[Sentence, ...]


_NOTHING = (0.0, 0.0)
Losses = Callable[[Shared], tuple[float, float]]  # what a sample lost before and after, 0 to 1


@gc_paused()
def explain_delta(
    first: Run,
    second: Run,
    *,
    scorer: str = "",
    by: str | None = None,
    rescore: bool = True,
    ask_judge: bool = False,
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> Delta:
    """Say why the number of the second run differs from that of the first, in parts that sum to the difference.

    Args:
        scorer: whose mean it is; the first that both runs have by default.
        by: the tag that names slices; by default the one by which the task is drawn.
        rescore: score answers again where the version of the scorer differs and is not in the store; nothing is written.
        ask_judge: also where that asks a model, within the `budget`.

    Raises:
        BadInput: runs of other tasks, no scorer or no scored sample in common, an unknown scorer or tag.
    """
    how = Rescoring(allowed=rescore, ask_judge=ask_judge, budget=budget or Budget(), progress=progress or Progress())
    read = _read_runs((first, second), scorer, by)
    second_scores = _score_by_other(read, how)
    both = [*shared_samples(read.common, second_scores.others, read.by)]
    split = _split(read.members, looked_at=read.looked_at)
    same = _compare_the_same(both, looked_at=read.looked_at)
    parts = _parts(both, same, split, read.members)
    low, high = _interval(split, same, looked_at=read.looked_at)
    return Delta(
        first=first.record,
        second=second.record,
        scorer=read.scorer,
        metric=read.metric,
        before=mean_of(read.members, "first"),
        after=mean_of(read.members, "second"),
        value=split.whole.value,
        low=low,
        high=high,
        causes=tuple(_causes(parts, both, same, split)),
        parts=parts,
        slices=tuple(_by_slice(both, same)) if read.by else (),
        by=read.by,
        tags=read.tags,
        versions=second_scores.versions,
        common=len(both),
        changes=changes_between(first.record, second.record),
        notes=(*second_scores.notes, *_notes(read.runs, read.common)),
    )


class _ReadRuns(msgspec.Struct, frozen=True, kw_only=True):
    """What both runs answered, by sample, with the scorer and the tag of slices that the question means."""

    runs: tuple[Run, Run]
    scorer: str
    answers: tuple[Mapping[str, Answers], Mapping[str, Answers]]
    tags: tuple[str, ...]
    by: str
    members: Sequence[tuple[str, Member]]
    common: Sequence[CommonSample]

    @property
    def looked_at(self) -> bool:
        return any(run.record.spec.until is not None for run in self.runs)

    @property
    def metric(self) -> str:
        return "accuracy" if all(answers.is_whole for each in self.answers for answers in each.values()) else "score"


def _read_runs(runs: tuple[Run, Run], scorer: str, by: str | None) -> _ReadRuns:
    first, second = runs
    check_same_task(first.record, second.record)
    known = scorers_in_common([first.record, second.record])
    if scorer and scorer not in known:
        raise unknown("scorer", scorer, known, paths=False)
    scorer = scorer or known[0]
    answers = (read_answers(first, scorer), read_answers(second, scorer))
    tags = sorted({key for each in answers for one in each.values() for key in one.tags})
    if by and by not in tags:
        raise unknown("tag", by, tags, paths=False)
    by = _tag_of_the_draw(runs) if by is None else by
    changed = changed_samples(runs, answers) if blocking_changes(second, first) else frozenset[str]()
    members, common = gather_members(runs, scorer, answers, by, changed)
    if not common:
        raise BadInput("The two runs have no scored sample in common, so there is nothing to compare.")
    return _ReadRuns(runs=runs, scorer=scorer, answers=answers, tags=tuple(tags), by=by, members=members, common=common)


class _ByOther(NamedTuple):
    """What errors cost by the other version of the scorer; the versions are None where both runs have the same."""

    others: Mapping[str, SecondScores]
    versions: tuple[str, str] | None
    notes: Sequence[Sentence]


def _score_by_other(read: _ReadRuns, how: Rescoring) -> _ByOther:
    differing = [sample.id for sample in read.common if len(sample.old.versions | sample.new.versions) > 1]
    if not differing:
        return _ByOther({}, None, ())
    versions = (_main_version(read.answers[0]), _main_version(read.answers[1]))
    others, notes = score_by_other(read.runs, read.scorer, read.answers, differing, versions, how)
    return _ByOther(others, versions, notes)


def _tag_of_the_draw(runs: tuple[Run, Run]) -> str:
    strata = (run.record.strata for run in runs)
    return next((one.by for one in strata if one is not None and one.by), "")


def _split(members: Sequence[tuple[str, Member]], *, looked_at: bool) -> Split:
    """Split the difference; one of a run that was looked at has no intervals, which are of a fixed number of samples."""
    split = decompose([member for _, member in members], _cause_of)
    if not looked_at:
        return split
    return replace(
        split,
        whole=replace(split.whole, interval=None),
        parts=tuple(replace(piece, interval=None) for piece in split.parts),
        sums={name: replace(piece, interval=None) for name, piece in split.sums.items()},
    )


def _compare_the_same(both: Sequence[Shared], *, looked_at: bool) -> Difference:
    """Return the difference over the samples that both runs scored, with the interval that `compare` has for it."""
    pairs = [
        PairedSample(cluster=sample.cluster, first=sample.second, second=sample.first, weight=sample.weight)
        for sample in both
    ]
    return compare(pairs, single=all(sample.single for sample in both), looked_at=looked_at)


def _parts(
    both: Sequence[Shared], same: Difference, split: Split, members: Sequence[tuple[str, Member]]
) -> tuple[DeltaPart, ...]:
    """Return all parts, by cause and size."""
    parts = [*_of_the_same(both, same), *_of_others(split, members, both)]
    parts.sort(key=lambda part: (CAUSES.index(part.cause), part.name == OTHERS, -abs(part.value)))
    return tuple(parts)


def _of_the_same(both: Sequence[Shared], same: Difference) -> Iterator[DeltaPart]:
    """Yield the parts of the samples that both runs scored: the agent's by class of error, the scorer's, what is unknown."""
    cost: Counter[str] = Counter()
    for one in both:
        for costs in one.costs or ():
            cost.update(costs)
    chosen = [name for name, _ in cost.most_common(MOST_CLASSES)]
    for name in chosen:
        yield _moved("agent", name, both, same, partial(_of_class, names=frozenset([name])))
    if rest := frozenset(cost) - {*chosen}:
        yield _moved("agent", OTHERS, both, same, partial(_of_class, names=rest))
    if any(sample.by_scorer for sample in both):
        yield _moved("scorer", "", both, same, lambda one: one.by_scorer or _NOTHING)
    if any(sample.costs is None for sample in both):
        yield _moved("unknown", "", both, same, lambda one: _NOTHING if one.costs else (1 - one.first, 1 - one.second))


def _of_class(one: Shared, names: frozenset[str]) -> tuple[float, float]:
    before, after = (sum(costs.get(name, 0.0) for name in names) for costs in one.costs or ({}, {}))
    return before, after


def _of_agent(one: Shared) -> tuple[float, float]:
    before, after = (sum(costs.values()) for costs in one.costs or ({}, {}))
    return before, after


def _moved(cause: Cause, name: str, both: Sequence[Shared], same: Difference, losses: Losses) -> DeltaPart:
    """Return the part of the samples of both runs in which `losses` changed; one that is all of `same` has its interval."""
    each = [losses(sample) for sample in both]
    pairs = [
        PairedSample(cluster=sample.cluster, first=1 - after, second=1 - before, weight=sample.weight)
        for sample, (before, after) in zip(both, each, strict=True)
    ]
    found = moved(pairs, single=all(sample.single for sample in both))
    is_all = all(
        abs(pair.difference - (sample.second - sample.first)) <= _LEAST
        for pair, sample in zip(pairs, both, strict=True)
    )
    bounds: Interval | Difference | None = same if is_all else None if same.method == ANYTIME else found.bounds(0.025)
    changes = [
        (sample, sample.weight * (before - after) / len(both))
        for sample, (before, after) in zip(both, each, strict=True)
    ]
    changes = [(sample, change) for sample, change in changes if abs(change) > _LEAST / len(both)]
    same_way = [(sample, change) for sample, change in changes if change * found.value > 0 or not found.value]
    return DeltaPart(
        cause=cause,
        name=name,
        value=found.value,
        low=None if bounds is None else bounds.low,
        high=None if bounds is None else bounds.high,
        samples=len(changes),
        before=sum(sample.weight * cost for sample, (cost, _) in zip(both, each, strict=True)) / len(both),
        after=sum(sample.weight * cost for sample, (_, cost) in zip(both, each, strict=True)) / len(both),
        examples=tuple(
            DeltaExample(sample=sample.id, first=sample.first, second=sample.second)
            for sample, _ in sorted(same_way, key=lambda pair: -abs(pair[1]))[:EXAMPLES]
        ),
    )


def _cause_of(key: Key) -> Cause:
    match key.kind:
        case "same":
            return "agent"  # and the scorer
        case "shares" | "samples":
            return key.kind
        case _:
            return "infrastructure" if key.name in INFRASTRUCTURE else "samples" if key.name == CHANGED else "missing"


def _of_others(split: Split, members: Sequence[tuple[str, Member]], both: Sequence[Shared]) -> Iterator[DeltaPart]:
    """Yield the parts of samples that only one run scored, and of the shares of slices."""
    in_both = Counter(sample.slice for sample in both)
    for piece in split.parts:
        key = piece.key
        if key.kind == "same":
            continue
        of_piece = [(id, member) for id, member in members if member.cell[0] == key.side and member.why == key.name]
        shown = of_piece[:EXAMPLES] if key.kind != "shares" else []
        low, high = _ends(piece)
        yield DeltaPart(
            cause=_cause_of(key),
            name=key.name,
            side=key.side,
            value=piece.value,
            low=low,
            high=high,
            samples=in_both[key.name] if key.kind == "shares" else len(of_piece),
            examples=tuple(
                DeltaExample(
                    sample=id,
                    first=member.first if member.first_weight else None,
                    second=member.second if member.second_weight else None,
                )
                for id, member in shown
            ),
        )


def _ends(piece: DifferencePart) -> tuple[float | None, float | None]:
    return (None, None) if piece.interval is None else (piece.interval.low, piece.interval.high)


def _interval(split: Split, same: Difference, *, looked_at: bool) -> tuple[float | None, float | None]:
    """Return the interval of the whole: that of `compare` where both runs scored the same samples alike.

    Where the samples of either run are so alike that they show no spread, it is that one too, moved by the other parts.
    """
    if len(split.parts) > 1 and (looked_at or split.whole.interval is not None):
        return _ends(split.whole)
    moved_by = split.whole.value - same.value
    return None if same.low is None else same.low + moved_by, None if same.high is None else same.high + moved_by


def _causes(parts: Sequence[DeltaPart], both: Sequence[Shared], same: Difference, split: Split) -> Iterator[DeltaPart]:
    """Yield the sum of each cause that there is; the agent is always among them."""
    yield _moved("agent", "", both, same, _of_agent)
    yield from (part for part in parts if part.cause in ("scorer", "unknown"))
    for cause in CAUSES[3:]:
        if cause in split.sums:
            low, high = _ends(split.sums[cause])
            samples = sum(part.samples for part in parts if part.cause == cause)
            yield DeltaPart(cause=cause, value=split.sums[cause].value, low=low, high=high, samples=samples)


def _by_slice(both: Sequence[Shared], same: Difference) -> Iterator[DeltaPart]:
    """Yield what the agent did in each slice, in points of the whole."""
    for name in dict.fromkeys(sample.slice for sample in both):
        yield _moved("agent", name, both, same, partial(_of_slice, name=name))


def _of_slice(one: Shared, name: str) -> tuple[float, float]:
    return _of_agent(one) if one.slice == name else _NOTHING


def _main_version(answers: Mapping[str, Answers]) -> str:
    counts = Counter(version for answer in answers.values() for version in answer.versions)
    return next((version for version, _ in counts.most_common(1)), "")


def _notes(runs: tuple[Run, Run], common: Sequence[CommonSample]) -> Iterator[Sentence]:
    for run in runs:
        if run.record.state != "finished":
            yield say("The run {run} is {state}.", run=run.id, state=say(run.record.state))
    if any(run.record.spec.until is not None for run in runs):
        yield say("A run was looked at while it went on, and the parts have no interval that allows for it.")
    fewer = sum(len(sample.old.values) != len(sample.new.values) for sample in common)
    if fewer:
        yield say(
            "{count} samples have fewer scored attempts in one run than in the other; each counts by the mean of those it has.",
            count=fewer,
        )
