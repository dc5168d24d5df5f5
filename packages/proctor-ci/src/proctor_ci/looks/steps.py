"""Look at a run while it goes on, and admit no further trial once what it was to show is decided.

A look is valid only if the part of the run that it sees is a fair part of the whole. What was finished first is none: quick
samples differ from slow ones. So looks go along the order of the plan, which for such a run is the random order in which
samples are visited, as far as everything in it has ended: a step is a cluster with all its samples and attempts.

A trial without a result is no 0. A step that misses some is known between two values, those if all that is missing were 0,
and 1; GO then has to hold with the one and NO-GO with the other.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from proctor.core.run import Looked
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.tally import PREPARATION
from proctor.core.trial import IN_THE_MEAN, Trial, Verdict
from proctor_ci.stats.looks import Decision, Looks, LooksQuestion, StepsLook, looks

NOT_APPLICABLE = "not_applicable"


class Between(NamedTuple):
    """A mean, known exactly if both ends are equal."""

    low: float
    high: float

    def less(self, other: "Between") -> "Between":
        return Between(self.low - other.high, self.high - other.low)

    @staticmethod
    def mean(parts: Sequence["Between"]) -> "Between":
        return Between(*(math.fsum(ends) / len(parts) for ends in zip(*parts, strict=True)))


class _Cell:
    """The attempts at a sample that have ended."""

    __slots__ = ("missing", "seen", "total")

    def __init__(self) -> None:
        self.seen: set[int] = set()
        self.total = 0.0
        self.missing = 0


class Steps:
    """The steps of a plan, as far as all before them are complete.

    Args:
        planned: the samples in the order of the plan.
        attempts: how often each is tried.
    """

    def __init__(self, planned: Iterable[Sample], attempts: int) -> None:
        self._attempts = attempts
        self._cells: dict[str, _Cell] = {}
        self._step_by_id: dict[str, int] = {}
        self._ids: list[list[str]] = []
        self._left: list[int] = []  # attempts of a step that have not ended
        number_by_cluster: dict[str, int] = {}
        for sample in planned:
            if PREPARATION in sample.tags:
                continue
            number = number_by_cluster.setdefault(sample.cluster or sample.id, len(self._ids))
            if number == len(self._ids):
                self._ids.append([])
                self._left.append(0)
            self._ids[number].append(sample.id)
            self._left[number] += attempts
            self._step_by_id[sample.id] = number
        self.position_by_id = {id: at for at, id in enumerate(self._step_by_id)}
        self.complete = 0

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> Sequence[Sequence[str]]:
        """Return the samples of each step."""
        return self._ids

    def add(self, id: str, attempt: int, value: float | None, why: str = "") -> None:
        """Take what an attempt earned; None is missing, or does not count if the scorer does not apply to it."""
        step = self._step_by_id.get(id)
        cell = self._cells.setdefault(id, _Cell())
        if step is None or attempt in cell.seen:
            return
        cell.seen.add(attempt)
        if value is not None:
            cell.total += value
        elif why != NOT_APPLICABLE:
            cell.missing += 1
        else:
            cell.total = math.nan
        self._left[step] -= 1
        while self.complete < len(self._left) and not self._left[self.complete]:
            self.complete += 1

    def step(self, number: int) -> dict[str, Between]:
        """Return what each sample of a complete step earned; those to which the scorer does not apply are left out."""
        found = {}
        for id in self._ids[number]:
            cell = self._cells[id]
            if not math.isnan(cell.total):
                low = cell.total / self._attempts
                found[id] = Between(low, low + cell.missing / self._attempts)
        return found


def earned(trial: Trial, verdicts: Sequence[Verdict], scorer: str) -> tuple[float | None, str]:
    """Return what a trial earned from a scorer, as a store does: the value, or None and why there is none."""
    if trial.outcome not in IN_THE_MEAN:
        return None, trial.outcome
    if trial.outcome == "agent_failed":
        return 0.0, ""
    result = next((verdict.result for verdict in reversed(verdicts) if verdict.scorer == scorer), None)
    if isinstance(result, Score):
        return result.value, ""
    return None, "not_scored" if result is None else result.why


class Decider:
    """Decides a question from steps that may be known only between two values."""

    def __init__(self, question: LooksQuestion) -> None:
        self._question = question
        self._fed: list[tuple[Between, float, float | None]] = []
        self._low = looks(question)
        self._high: Looks | None = None  # the same as `_low` until a step misses something
        self._ends: tuple[StepsLook, StepsLook] | None = None

    @property
    def method(self) -> str:
        return self._low.method

    @property
    def steps(self) -> int:
        """Return how many steps were looked at."""
        return len(self._fed)

    def add(self, step: Between, weight: float = 1.0, expected: float | None = None) -> None:
        if self._question.binary and not {step.low, step.high} <= {self._question.low, 0.0, self._question.high}:
            self._question = replace(self._question, binary=False)
            self._begin_again()
        if self._high is None and step.low != step.high:
            self._high = looks(self._question)
            for earlier, weighs, known in self._fed:
                self._high.add(earlier.high, weighs, known)
        self._fed.append((step, weight, expected))
        low = self._low.add(step.low, weight, expected)
        self._ends = low, (low if self._high is None else self._high.add(step.high, weight, expected))

    def end(self) -> None:
        """Look as after the last step: the scorer does not apply to any that is left."""
        if self._ends is not None:
            low = self._low.end()
            self._ends = low, (low if self._high is None else self._high.end())

    @property
    def decision(self) -> Decision | None:
        """Return the decision, which stays as it was made first; None while there is none."""
        if self._ends is None:
            return None
        bad, good = self._ends if self._question.higher else reversed(self._ends)
        if bad.decision == "go":
            return "go"
        if good.decision == "no_go":
            return "no_go"
        return "futile" if bad.decision is not None and good.decision is not None else None

    def looked(self, most: int, saved: int) -> Looked:
        """Return what was found, for the record of the run."""
        low, high = self._ends or (None, None)
        return Looked(
            decision=self.decision,
            method=self.method,
            steps=self.steps,
            most=most,
            value=low.value if low is not None and high is not None and low.value == high.value else None,
            low=None if low is None else low.low,
            high=None if high is None else high.high,
            saved=saved,
            times=1 / max((end.gain.share for end in (low, high) if end is not None), default=1.0),
        )

    def _begin_again(self) -> None:
        fed, self._fed = self._fed, []
        self._low, self._high, self._ends = looks(self._question), None, None
        for step, weighs, known in fed:
            self.add(step, weighs, known)
