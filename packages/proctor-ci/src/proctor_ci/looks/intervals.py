"""Give the estimates of a run that was looked at while it went on intervals that hold for any number of looks.

An interval of a fixed number of samples is too narrow there: a run that ends when it looks good has looked good.
"""

import math
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from proctor.core.main_number import kinds
from proctor.core.run import Estimate, Looked, RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.stats.anytime import ANYTIME, bounds
from proctor.stats.rate import Interval
from proctor_ci.looks.rules import question, read_rule, read_steps, scorer_of, stored_values
from proctor_ci.looks.steps import Between, Decider

NONE = "no interval: looked at"

Fed = list[tuple[Between, float]]
Stored = tuple[RunRecord, Store]


def anytime(record: RunRecord, store: Store, found: Sequence[Estimate], *, scorer: str | None = None) -> list[Estimate]:
    """Return estimates with intervals that hold for any number of looks; what is no mean of a scorer has none that does.

    Args:
        scorer: whose numbers they are, where their names do not say it.
    """
    if record.spec.until is None:
        return list(found)
    scorer = record.scorers[0] if scorer is None and len(record.scorers) == 1 else scorer
    seen: dict[str, SeenSteps] = {}
    return [_anytime(estimate, scorer, record, store, seen) for estimate in found]


def _anytime(
    one: Estimate, scorer: str | None, record: RunRecord, store: Store, seen: "dict[str, SeenSteps]"
) -> Estimate:
    named, _, metric = one.name.rpartition(".")
    scorer = scorer or named
    held = None
    if scorer in record.scorers and metric in kinds(record, scorer) and one.value is not None:
        if scorer not in seen:
            seen[scorer] = SeenSteps(record, store, scorer)
        held = seen[scorer].bounds(one.slice, (1 - one.level) / 2)
    plain = replace(one, standard_error=None, degrees=None, error_from_samples=None, error_from_attempts=None)
    if held is None or one.value is None:
        note = one.note or (
            say("no interval of this number allows for looks at the run while it went on")
            if one.low is not None
            else ""
        )
        return replace(plain, low=None, high=None, method=NONE, note=note)
    ends = seen[scorer].between(one.slice)
    decided = decision_of((record, store), None, scorer) if not one.slice else None
    if decided is not None:
        held = decided.bounds
        plain = replace(plain, level=1 - 2 * decided.error, note=one.note or decided.note)
    return replace(
        plain,
        low=min(held.low, one.value),
        high=max(held.high, one.value),
        floor=one.value if ends.low == ends.high else min(ends.low, one.value),
        ceiling=one.value if ends.low == ends.high else max(ends.high, one.value),
        method=ANYTIME,
        clusters=seen[scorer].steps(one.slice),
    )


class SeenSteps:
    """What a run shows of a scorer: its steps, as far as they are complete, for each slice."""

    def __init__(self, record: RunRecord, store: Store, scorer: str) -> None:
        self._record = record
        steps = read_steps(record, store, scorer)
        slices = {
            sample.id: ("", *(f"{key}={value}" for key, value in sample.tags.items()))
            for sample in store.planned(record.id)
        }
        self._is_whole = steps.complete == len(steps)
        self._fed: dict[str, Fed] = {}
        self._sizes: dict[str, list[int]] = {}
        for number, ids in enumerate(steps.ids):
            planned: dict[str, int] = {}
            seen: dict[str, list[Between]] = {}
            part = steps.step(number) if number < steps.complete else {}
            for id in ids:
                for slice_ in slices[id]:
                    planned[slice_] = planned.get(slice_, 0) + 1
                    if id in part:
                        seen.setdefault(slice_, []).append(part[id])
            for slice_, size in planned.items():
                self._sizes.setdefault(slice_, []).append(size)
            for slice_, values in seen.items():
                self._fed.setdefault(slice_, []).append((Between.mean(values), len(values)))

    def steps(self, slice_: str) -> int:
        """Return how many steps of a slice are complete."""
        return len(self._fed.get(slice_, ()))

    def between(self, slice_: str) -> Between:
        """Return the mean over samples of a slice, if all that is missing were 0, and 1."""
        fed = self._fed.get(slice_, [])
        size = math.fsum(weight for _, weight in fed)
        return Between(*(math.fsum(step[end] * weight for step, weight in fed) / size for end in (0, 1)))

    def bounds(self, slice_: str, error: float) -> Interval | None:
        """Return the bounds of a slice, each wrong with a chance of at most `error`; None of less than two steps."""
        fed = self._fed.get(slice_, [])
        if len(fed) < 2:
            return None
        sizes = self._sizes[slice_]
        asked = question(0.5, error, self._record, sizes)
        if asked.target == "suite":
            decider = Decider(asked)
            for step, weight in fed:
                decider.add(step, weight)
            if self._is_whole:
                decider.end()
            found = decider.looked(len(sizes), 0)
            return None if found.low is None or found.high is None else Interval(low=found.low, high=found.high)
        lows, highs = ([(step[end], weight) for step, weight in fed] for end in (0, 1))
        low = bounds(lows, error, heaviest=asked.heaviest).low
        return Interval(low=low, high=bounds(highs, error, heaviest=asked.heaviest).high)


class DecidedInterval(msgspec.Struct, frozen=True, kw_only=True):
    """The interval by which a run was decided, each end of which is wrong with a chance of at most `error`."""

    bounds: Interval
    method: str
    error: float

    @property
    def note(self) -> Sentence:
        """Return the note that explains an interval which holds at every look."""
        return say(
            "its interval is that of the decision, each end wrong with a chance of at most {error}",
            error=f"{100 * self.error:g}%",
        )


def decision_of(run: Stored, against: Stored | None, scorer: str) -> DecidedInterval | None:
    """Return how a run was decided, by itself or against another one; None if it was not, or went on since."""
    record, store = run
    if record.spec.until is None or record.looked is None:
        return None
    error = record.spec.until.error
    interval = decided_by(run, against, scorer, "", error)
    ended = sum(
        count for outcome, count in store.outcomes(record.id).items() if outcome not in ("skipped", "cancelled")
    )
    if interval is None or ended > record.planned - record.looked.saved:  # more than what was under way then
        return None
    return DecidedInterval(bounds=interval, method=record.looked.method, error=error)


def decision_between(first: Stored, second: Stored, scorer: str) -> DecidedInterval | None:
    """Return how the second of two runs was decided against the first, or the first against the second."""
    interval = decision_of(second, first, scorer)
    if interval is not None or (turned := decision_of(first, second, scorer)) is None:
        return interval
    return replace(turned, bounds=Interval(low=-turned.bounds.high, high=-turned.bounds.low))


def decided_by(run: Stored, against: Stored | None, scorer: str, slice_: str, error: float) -> Interval | None:
    """Return the bounds that ended a run, if they are about this very question: a gate then decides as the run did.

    None if the run was not decided by them, or the scores that they rest on were changed since.
    """
    record = run[0]
    until, looked = record.spec.until, record.looked
    if until is None or looked is None or looked.low is None or looked.high is None or slice_:
        return None
    asked_of = "" if against is None else against[0].id
    is_same = until.against == asked_of if not until.among else until.among == (asked_of, record.id)
    is_sure = error == until.error and (not until.among or read_rule(until.rule).bound > 0)
    is_same = is_same and scorer_of(read_rule(until.rule).metric, record) == scorer
    if (
        not is_same
        or not is_sure
        or looked.decision not in ("go", "no_go")
        or not _still_holds(run, against, scorer, looked)
    ):
        return None
    return Interval(low=looked.low, high=looked.high)


def _still_holds(run: Stored, against: Stored | None, scorer: str, looked: Looked) -> bool:
    """True if the steps that were looked at have the same mean in the store as then."""
    old = None
    if against is not None:
        old = stored_values(*against, scorer)
    steps = read_steps(*run, scorer)
    total = weight = count = 0.0
    for number in range(steps.complete):
        step = steps.step(number)
        parts = [step[id] if old is None else step[id].less(old[id]) for id in step if old is None or id in old]
        if parts and count < looked.steps:
            total, weight, count = total + math.fsum(part.low for part in parts), weight + len(parts), count + 1
    return (
        looked.value is not None and count == looked.steps and math.isclose(total / weight, looked.value, abs_tol=1e-9)
    )
