"""Compare two runs on the same samples: what differs, by how much, and whether it could be chance."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.run import RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.engine.judge_figures import compared as judges_compared
from proctor.reports.drawn import LOOKED_AT, SHARED, UNRECORDED, is_part, strata_in_common
from proctor.reports.earlier import Earlier, read_earlier
from proctor.reports.matching import (
    Adjusted,
    Earned,
    MatchedSample,
    earned_by_sample,
    match_samples,
    metric_of,
    untested_row,
)
from proctor.reports.same_task import check_same_task
from proctor.reports.verdicts import MetricRow, Outcome, Untested, decide_each
from proctor.stats import power
from proctor.stats.rate import Interval

__all__ = ["MetricRow", "Outcome", "RunComparison", "compare", "compare_several"]

LISTED = 200

Side = tuple[RunRecord, Store]


class DecidedBy(Protocol):
    """The interval by which one of two runs was ended early; found by what looked at it."""

    @property
    def bounds(self) -> Interval: ...

    @property
    def method(self) -> str: ...

    @property
    def error(self) -> float: ...

    @property
    def note(self) -> Sentence: ...


Deciding = Callable[[Side, Side, str], DecidedBy | None]  # the second run against the first, by a scorer


class RunComparison(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison of two runs; the lists hold sample ids, at most 200 each.

    `not_comparable` counts samples by why they are in no row. `needed` says how many samples find the difference that
    was asked for.
    """

    first: RunRecord
    second: RunRecord
    rows: Sequence[MetricRow]
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


def _line(row: MetricRow) -> str:
    name = f"{row.metric} [{row.slice}]" if row.slice else row.metric
    difference = row.difference
    interval = (
        ""
        if difference.low is None or difference.high is None
        else f" [{round(100 * difference.low, 9):+.1f}, {round(100 * difference.high, 9):+.1f}]"
    )
    change = f"{row.first:.1%} -> {row.second:.1%}, {round(100 * difference.value, 9):+.1f} points{interval}"
    return f"  {name}: {change}, {difference.pairs} samples: {row.verdict}"


def compare(
    first: Side,
    second: Side,
    *,
    level: float = 0.95,
    seed: int = 0,
    detect: float | None = None,
    given: Sequence[Side] = (),
    decided: Deciding | None = None,
) -> RunComparison:
    """Compare the second run (the new one) with the first on the samples both have scored.

    Args:
        decided: returns the interval by which one of them was ended, which is then that of the first row.
        given: earlier runs of the same task, by which the differences are adjusted; the first run may be one.
        detect: a difference, 0 to 1; the comparison then says how many samples find it.

    Raises:
        BadInput: other tasks, no scorer in common, or no scored sample in common.
    """
    return compare_several(first, [second], level=level, seed=seed, detect=detect, given=given, decided=decided)[0]


def compare_several(
    first: Side,
    others: Sequence[Side],
    *,
    scorers: Sequence[str] = (),
    level: float = 0.95,
    seed: int = 0,
    detect: float | None = None,
    given: Sequence[Side] = (),
    decided: Deciding | None = None,
) -> list[RunComparison]:
    """Compare each of the others with the first run.

    With several, the first rows are tested together, corrected by Holm, and no other rows are tested.

    Args:
        scorers: those to compare by, the main one first; by default all that the runs have in common.
        decided: as of `compare`; only of two runs, as the tests of several are corrected for their number.

    Raises:
        BadInput: other tasks, no scorer in common, or no scored sample in common.
    """
    for other in others:
        check_same_task(first[0], other[0])
    scorers = scorers or scorers_in_common([first[0], *(record for record, _ in others)])
    earned = {scorer: earned_by_sample(*first, scorer) for scorer in scorers}
    drafts = [_draft(first, other, earned, given, level=level, seed=seed) for other in others]
    if decided is not None and len(drafts) == 1 and not given:
        drafts = [_with_decision(drafts[0], decided(first, others[0], scorers[0]))]
    tested = decide_each([draft.rows for draft in drafts], 1 - level)
    return [
        RunComparison(
            first=first[0],
            second=other[0],
            rows=rows,
            wins=draft.wins[:LISTED],
            losses=draft.losses[:LISTED],
            ties=draft.rows[0].difference.ties,
            not_comparable=draft.left_out,
            needed=None if detect is None else power.to_detect(draft.rows[0].difference, detect, alpha=1 - level),
            notes=[*draft.empty, *_notes(first, other)],
        )
        for other, draft, rows in zip(others, drafts, tested, strict=True)
    ]


def scorers_in_common(records: Sequence[RunRecord]) -> list[str]:
    """Return the scorers that all runs have, in the order of the first.

    Raises:
        BadInput: there is none.
    """
    scorers = [name for name in records[0].scorers if all(name in record.scorers for record in records)]
    if not scorers:
        other = next((record for record in records[1:] if not {*records[0].scorers} & {*record.scorers}), records[-1])
        raise without_common_scorer(records[0], other)
    return scorers


def without_common_scorer(first: RunRecord, second: RunRecord) -> BadInput:
    """Return the error for two runs that no scorer scored both of, with the command that gives one a scorer of the other."""
    again, model = (first, second) if first.is_imported and not second.is_imported else (second, first)
    scorer = next((name for name in model.spec.scorers if name.endswith(model.main_scorer)), model.main_scorer)
    return BadInput(
        "The runs have no scorer in common: {first} and {second}.{advice}",
        first=", ".join(first.scorers) or "–",
        second=", ".join(second.scorers) or "–",
        advice=say(
            " Score one again as the other: proctor score --run {run} --scorer {scorer}", run=again.id, scorer=scorer
        )
        if scorer
        else "",
    )


class _Draft(msgspec.Struct):
    """A comparison of two runs that is not tested yet."""

    rows: Sequence[Untested]
    wins: Sequence[str]
    losses: Sequence[str]
    left_out: Mapping[str, int]
    empty: Sequence[Sentence]


def _draft(
    first: Side,
    second: Side,
    earned: Mapping[str, Mapping[str, Earned]],
    given: Sequence[Side],
    *,
    level: float,
    seed: int,
) -> _Draft:
    rows: list[Untested] = []
    empty: list[Sentence] = []
    wins: list[str] = []
    losses: list[str] = []
    left_out: Mapping[str, int] = {}
    for scorer, old in earned.items():
        planned, without = match_samples(first[0], second[0], old, earned_by_sample(*second, scorer))
        if rows and not any(match.pair is not None for match in planned.values()):
            empty.append(say("{scorer}: no sample has a score in both runs.", scorer=scorer))
            continue
        if not rows:
            moved = {id: match.pair.difference for id, match in planned.items() if match.pair is not None}
            wins = [id for id, difference in moved.items() if difference > 0]
            losses = [id for id, difference in moved.items() if difference < 0]
            left_out = without
        prefix = f"{scorer}." if len(earned) > 1 else ""
        earlier = read_earlier(second, given, scorer, first) if given else None
        known = strata_in_common(first[0], second[0])

        by = known.by if known else ""
        whole = None if earlier is None else earlier.adjust_pairs([*planned.values()], "", by)

        def adjusted(
            slice_: str,
            matches: Sequence[MatchedSample],
            earlier: Earlier | None = earlier,
            by: str = by,
            whole: Adjusted | None = whole,
        ) -> Adjusted | None:
            if earlier is None or whole is None or not slice_:
                return whole
            return earlier.adjust_pairs(matches, slice_, by, whole.slope)

        made = list(_untested(prefix, list(planned.values()), adjusted, level=level, seed=seed))
        if whole is not None:
            empty.append(whole.note)
        rows.extend(made)
    return _Draft(rows, wins, losses, left_out, empty)


def _with_decision(draft: _Draft, decided: DecidedBy | None) -> _Draft:
    """Return the draft with the interval by which one of the runs was ended in its first row."""
    if decided is None:
        return draft
    main, *rest = draft.rows
    difference = replace(
        main.difference,
        low=decided.bounds.low,
        high=decided.bounds.high,
        level=1 - 2 * decided.error,
        method=decided.method,
    )
    note = say("{metric}: {note}.", metric=main.metric, note=decided.note)
    rows = [replace(main, difference=difference, is_decided=True), *rest]
    return replace(draft, rows=rows, empty=[*draft.empty, note])


def _untested(
    prefix: str,
    planned: Sequence[MatchedSample],
    adjusted: Callable[[str, Sequence[MatchedSample]], Adjusted | None],
    *,
    level: float,
    seed: int,
) -> Iterator[Untested]:
    """Yield the row of the whole, then of each slice that is not the whole under another name."""
    scored = sum(match.pair is not None for match in planned)
    name = f"{prefix}{metric_of(planned)}"
    yield untested_row(name, "", planned, level=level, seed=seed, adjusted=adjusted("", planned))
    by_slice: dict[str, list[MatchedSample]] = {}
    for match in planned:
        for key, value in match.old.tags.items():
            by_slice.setdefault(f"{key}={value}", []).append(match)
    for slice_, members in by_slice.items():
        if 0 < sum(match.pair is not None for match in members) < scored:
            found = adjusted(slice_, members)
            yield untested_row(name, slice_, members, level=level, seed=seed, adjusted=found)


def _notes(first: Side, second: Side) -> list[Sentence]:
    run_record, other = first[0], second[0]
    notes = []
    if run_record.task_version != other.task_version:
        notes.append(
            say(
                "The task versions differ: {first} and {second}.",
                first=run_record.task_version,
                second=other.task_version,
            )
        )
    if run_record.spec.task_options != other.spec.task_options:
        notes.append(
            say(
                "The task options differ: {first} and {second}.",
                first=dict(run_record.spec.task_options),
                second=dict(other.spec.task_options),
            )
        )
    for scorer in run_record.scorers:
        judged = list(judges_compared(run_record, other, scorer))
        notes.extend(judged or _scorer_changed(first, second, scorer))
    if any(map(is_part, (run_record, other))):
        known = strata_in_common(run_record, other)
        if known is not None:
            notes.append(
                say(
                    "Of the task a part was drawn: each value of the tag '{tag}' counts by its size in the task.",
                    tag=known.by,
                )
            )
        elif run_record.strata is None or other.strata is None:
            notes.append(say(UNRECORDED))
    if any(record.spec.until is not None for record in (run_record, other)):
        notes.append(say(LOOKED_AT))
    if run_record.shares_trials(other):
        notes.append(say(SHARED))
    notes.extend(
        say("The run {run} is {state}.", run=record.id, state=say(record.state))
        for record in (run_record, other)
        if record.state != "finished"
    )
    return notes


def _scorer_changed(first: Side, second: Side, scorer: str) -> Iterator[Sentence]:
    """Say that a scorer had another version in each run."""
    old, new = (next(store.verdicts(record.id, scorer=scorer), None) for record, store in (first, second))
    if old is not None and new is not None and old.scorer_version != new.scorer_version:
        yield say(
            "The versions of the scorer {scorer} differ: {first} and {second}. Score the first run again to compare like with like.",
            scorer=scorer,
            first=old.scorer_version[:12],
            second=new.scorer_version[:12],
        )
