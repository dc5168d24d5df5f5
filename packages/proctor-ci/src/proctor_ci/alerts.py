"""Decide what is worth an alert after a watch was run: each thing is said once when it begins, and once when it is over."""

import time
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from proctor.api.run import Run
from proctor.core.run import RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.core.trial import INFRASTRUCTURE
from proctor.reports.words import ReportWords
from proctor_ci.firing import Fired
from proctor_ci.trends import TrendRun, TrendShift, find_shifts
from proctor_ci.watch_file import WatchRule

Kind = Literal["failures", "infrastructure", "gate", "fall", "judge", "spend"]
NEWEST = 200  # runs in which changes are looked for
LEAST_RUNS = 20.0  # in which one false alarm is accepted, however seldom a watch runs
_WORDS = ReportWords("en")  # figures have one form in both languages
_PERCENT = _WORDS.percent


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """An alert; `is_over` is a recovery."""

    watch: str
    kind: Kind
    text: Sentence
    created: float
    is_over: bool = False


class AlertHistory(msgspec.Struct, kw_only=True):
    """What is known of a watch from one run to the next.

    Attributes:
        on: the alerts that are on, by what they are about, with the direction of a change.
        failed: how many runs in a row failed.
        month, spent: what was spent in a calendar month, by unit.
    """

    on: dict[str, str] = {}
    failed: int = 0
    month: str = ""
    spent: dict[str, float] = {}


class Assessment:
    """Collects the notices about one run of a watch."""

    def __init__(self, watch: WatchRule, history: AlertHistory, now: float) -> None:
        self._watch, self._history, self._now = watch, history, now
        self.notices: list[Notice] = []

    def switch(self, kind: Kind, about: str, is_on: bool | None, text: Sentence, over: Sentence) -> None:
        """Say that something began or is over, if that is new; None is not known, so nothing changes."""
        key = f"{kind} {about}"
        if is_on and key not in self._history.on:
            self._history.on[key] = ""
            self._tell(kind, text)
        elif is_on is False and self._history.on.pop(key, None) is not None:
            self._tell(kind, over, is_over=True)

    def move(self, kind: Kind, about: str, shift: TrendShift, text: Sentence) -> None:
        """Say that a number moved; back again is the end of it."""
        key = f"{kind} {about}"
        if self._history.on.get(key, shift.direction) != shift.direction:
            del self._history.on[key]
            self._tell(kind, text, is_over=True)
        elif kind == "judge" or shift.direction == "down":
            self._history.on[key] = shift.direction
            self._tell(kind, text)

    def _tell(self, kind: Kind, text: Sentence, *, is_over: bool = False) -> None:
        self.notices.append(Notice(watch=self._watch.name, kind=kind, text=text, created=self._now, is_over=is_over))


def assess(
    watch: WatchRule,
    history: AlertHistory,
    fired: Fired,
    store: Store | None,
    *,
    began: float,
    now: float,
    a_year: float,
) -> list[Notice]:
    """Return the alerts that a run of a watch gives rise to.

    Args:
        store: where its runs are; None where it cannot be opened.
        began: when it began.
        a_year: how often a year it is run.
    """
    assessment = Assessment(watch, history, now)
    runs = [] if store is None else [Run(store.run(id), store) for id in fired.runs]
    _failures(assessment, watch, history, fired, runs)
    for run in runs:
        _infrastructure(assessment, watch, run)
    for run, decision in zip(runs, fired.decisions, strict=False):
        _decided(assessment, run, decision)
    if store is not None:
        controls = [Run(store.run(id), store) for id in fired.controls]
        _changes(assessment, watch, runs, controls, began=began, a_year=a_year)
        _spending(assessment, watch, history, [*runs, *controls], now)
    return assessment.notices


def _failures(
    assessment: Assessment, watch: WatchRule, history: AlertHistory, fired: Fired, runs: Sequence[Run]
) -> None:
    """Count the runs in a row that failed or were cut off."""
    cut = next((run for run in runs if run.record.state == "inconclusive"), None)
    why = fired.error or (cut.record.note or say("inconclusive") if cut is not None else None)
    history.failed = history.failed + 1 if why is not None else 0
    assessment.switch(
        "failures",
        "",
        history.failed >= watch.failures if why is not None else False,
        say("Failed {count} times in a row: {why}", count=history.failed, why=why or ""),
        say("It runs again."),
    )


def _decided(assessment: Assessment, run: Run, decision: str | None) -> None:
    values = {"task": run.record.task, "run": run.id, "value": value_of(run)}
    assessment.switch(
        "gate",
        run.record.task,
        {"no_go": True, "go": False}.get(decision or ""),
        say("{task}: NO-GO by the gate, run {run} ({value}).", **values),
        say("{task}: GO by the gate again, run {run} ({value}).", **values),
    )


def _infrastructure(found: Assessment, watch: WatchRule, run: Run) -> None:
    lost = sum(count for outcome, count in run.outcomes.items() if outcome in INFRASTRUCTURE)
    trials = sum(run.outcomes.values())
    values = {"task": run.record.task, "lost": lost, "trials": trials, "run": run.id}
    found.switch(
        "infrastructure",
        run.record.task,
        lost > watch.failed * trials if trials else None,
        say("{task}: {lost} of {trials} trials were lost to infrastructure, run {run}.", **values),
        say("{task}: infrastructure holds again, {lost} of {trials} trials lost, run {run}.", **values),
    )


def _changes(
    found: Assessment, watch: WatchRule, runs: Sequence[Run], controls: Sequence[Run], *, began: float, a_year: float
) -> None:
    shares = len(runs) + 2 * len(controls)  # of the alarms; a judge can move both ways
    runs_per_alarm = max(a_year * shares / watch.false_alarms_per_year, LEAST_RUNS)
    moved = False
    for run in controls:
        for shift in _new(_like(run), began, run.store, runs_per_alarm):
            moved = True
            found.move(
                "judge", run.record.task, shift, _moved(run, shift, say("the control items moved, so the judge did"))
            )
    for run in runs:
        for shift in _new(_like(run), began, run.store, runs_per_alarm):
            if shift.direction == "down" and shift.before - shift.after < watch.drop:
                continue
            cause: Sentence | str = ""
            if controls and run is runs[0]:
                cause = (
                    say("the control items moved too, so it may be the judge")
                    if moved
                    else say("the control items did not move, so the judge is not shown to have")
                )
            found.move("fall", run.record.task, shift, _moved(run, shift, cause))


def _like(run: Run) -> list[RunRecord]:
    """Return the newest runs that measure the same as this one, the oldest first; what only repeats others is none."""
    same = [
        record
        for record in run.store.runs()
        if (record.task, record.agent, record.tier) == (run.record.task, run.record.agent, run.record.tier)
        and record.state not in ("running", "copying", "stopped")
        and not record.taken_over
    ]
    return sorted(same, key=lambda one: one.created)[-NEWEST:]


def _new(records: Sequence[RunRecord], began: float, store: Store, runs_per_alarm: float) -> Iterator[TrendShift]:
    fresh = {record.id for record in records if record.created >= began}
    shifts = find_shifts([TrendRun(store, record) for record in records], runs_per_alarm)
    return (shift for shift in shifts if shift.found in fresh)


def _moved(run: Run, shift: TrendShift, cause: Sentence | str) -> Sentence:
    values = {
        "task": run.record.task,
        "since": shift.since,
        "before": _PERCENT(shift.before),
        "count": shift.runs,
        "after": _PERCENT(shift.after),
        "cause": say("; {cause}", cause=cause) if cause else "",
    }
    if shift.direction == "down":
        return say("{task}: a fall since {since}, from {before} (mean of {count} runs) to {after}{cause}.", **values)
    return say("{task}: a rise since {since}, from {before} (mean of {count} runs) to {after}{cause}.", **values)


def _spending(found: Assessment, watch: WatchRule, history: AlertHistory, runs: Sequence[Run], now: float) -> None:
    month = time.strftime("%Y-%m", time.localtime(now))
    if month != history.month:
        history.month, history.spent = month, {}
    for run in runs:
        if run.record.taken_over:
            continue
        usage = run.usage
        for unit, amount in (
            ("money", usage.cost or 0.0),
            ("tokens", usage.input_tokens + usage.output_tokens),
            ("requests", usage.requests),
            ("minutes", run.record.seconds / 60),
        ):
            history.spent[unit] = history.spent.get(unit, 0.0) + amount
    for unit, most in watch.per_month.items():
        spent = history.spent.get(unit, 0.0)
        values = {"unit": say(unit), "spent": f"{spent:,.6g}", "most": f"{most:,.6g}", "month": month}
        found.switch(
            "spend",
            unit,
            spent > most,
            say("More was spent in {month} than {most} {unit}: {spent}.", **values),
            say("A new month: {spent} of {most} {unit} are spent in {month}.", **values),
        )


def value_of(run: Run) -> str:
    """Return the main number of a run with its interval, in the form of both languages; '–' for none."""
    main = run.headline
    if main is None or main.value is None:
        return "–"
    interval = "" if main.low is None else f" [{_WORDS.interval(main)}]"
    return f"{_PERCENT(main.value)}{interval}"
