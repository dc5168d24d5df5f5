"""Assess generated data: all evidence there is, and a conclusion that follows from intervals and thresholds.

    answers and form   offline: the schema, the end of the solution; with a solver, the majority of its tries
    novelty            offline: against the reference set and within the data
    judge              a model, by a rubric
    win rate           a model, against the reference set, in both orders
    people             the verification file next to the data, if there is one; they also check and correct the judge

Every part can fail or be left out without harm to the others. The thresholds are those of Hello-Agents, chapter 12.4.8.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from proctor.api import Run, RunOptions, at
from proctor.core.judge import JudgedFigure
from proctor.core.run import Estimate
from proctor.core.sentence import Sentence, say
from proctor.engine.judge_figures import CORRECTED, on_scale
from proctor_judging.generation import answer_check, evidence_gathering
from proctor_judging.generation.answer_check import AnswerDoubt, SolverEvidence
from proctor_judging.generation.evidence import (
    FaultyItem,
    JudgeEvidence,
    NoveltyEvidence,
    PeopleEvidence,
    WinRateEvidence,
    Wish,
)
from proctor_judging.generation.generator import Generator, generator
from proctor_judging.judges.calibrate import TENTATIVE
from proctor_judging.judges.pairwise import is_unsteady
from proctor_judging.review.agree import AgreedScorer

__all__ = ["Quality", "QualityCheck", "Verdict", "Wish", "assess"]

Needs = Literal["items", "labels", ""]
Verdict = Literal["met", "missed", "open", "unknown"]
COUNTED = "counted"  # instead of an interval
MEAN, WIN, PASS, APPROVED = 4.0, 0.45, 0.80, 0.90
MEAN_SCALE = (1.0, 5.0)  # of the threshold of the mean
ENOUGH = 0.95  # of the items have to have a verdict of the judge


class QualityCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A threshold with the number compared with it: met or missed when all of its interval is on one side.

    Attributes:
        why: the number says nothing about the threshold, however narrow its interval.
        needs: of which more would decide it, where it is open.
    """

    name: Sentence
    threshold: float
    number: Estimate | None
    verdict: Verdict
    why: Sentence | None = None
    needs: Needs = ""

    @property
    def is_counted(self) -> bool:
        """True if the number is a plain count of the items, not an estimate."""
        return self.number is not None and self.number.method == COUNTED


class Quality(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence about the data; a part is None if it was left out or failed, and `failures` has the reason."""

    wish: Wish
    kind: Generator
    created: float
    data: str
    reference: str | None
    items: int
    topics: Sequence[tuple[str, int]]
    faulty: Sequence[FaultyItem]
    doubts: Sequence[AnswerDoubt]
    new: NoveltyEvidence | None = None
    solved: SolverEvidence | None = None
    judged: JudgeEvidence | None = None
    compared: WinRateEvidence | None = None
    people: PeopleEvidence | None = None
    failures: Mapping[str, Sentence] = {}

    @property
    def held(self) -> AgreedScorer | None:
        """Return the comparison of the judge with people; None without labels."""
        agreement = self.people.agreement if self.people is not None else None
        return agreement.held[0] if agreement is not None and agreement.held and agreement.held[0].rows else None

    def best(self, name: str) -> Estimate | None:
        """Return a figure of the judge, corrected by people where possible."""
        corrected = (
            {estimate.name.removesuffix(CORRECTED): estimate for estimate in self.held.corrected} if self.held else {}
        )
        figure = corrected.get(name)
        if figure is not None and figure.low is not None:
            return figure
        return self.judged.estimates.get(name) if self.judged is not None else None

    @property
    def checks(self) -> list[QualityCheck]:
        """Every threshold with the number that is compared with it."""
        approved = self.people.approved if self.people is not None else None
        return [
            _check(say("mean of the judge"), self._mean(), MEAN, self._untrusted("average")),
            _check(say("pass rate of the judge"), self.best("pass_rate"), PASS, self._untrusted("pass_rate")),
            _check(say("win rate against the reference set"), self._win_rate(), WIN, self._lots()),
            _check(say("approved by people"), approved, APPROVED, _few(approved) if approved else None, needs="labels"),
            _counted(say("new items"), self.new.share if self.new else None),
        ]

    @property
    def verdict(self) -> Verdict:
        """The verdict of all checks together: missed if one is, open if one is or nobody judged, else met."""
        verdicts = [check.verdict for check in self.checks]
        if "missed" in verdicts:
            return "missed"
        nobody_judged = all(verdict == "unknown" for verdict in verdicts[:-1])
        return "open" if "open" in verdicts or nobody_judged else "met"

    @property
    def is_uncalibrated(self) -> bool:
        """True if figures of a judge are used whose agreement with people was not shown to be enough."""
        unshown = self.held is None or not self.held.calibrated
        return self.compared is not None or (self.judged is not None and unshown)

    def _mean(self) -> Estimate | None:
        """Return the mean on the scale of its threshold."""
        estimate = self.best("average")
        if estimate is None or self.judged is None or self.judged.scale == MEAN_SCALE:
            return estimate
        low, high = self.judged.scale
        shares = {
            name: (end - low) / (high - low)
            for name in ("value", "low", "high", "floor", "ceiling")
            if (end := getattr(estimate, name)) is not None
        }
        return on_scale(
            replace(estimate, **shares), JudgedFigure(name="average", low=MEAN_SCALE[0], high=MEAN_SCALE[1])
        )

    def _win_rate(self) -> Estimate | None:
        return self.compared.estimates.get("win_rate") if self.compared is not None else None

    def _untrusted(self, name: str) -> Sentence | None:
        """Return why a raw figure of the judge decides nothing: people labelled items, and that could not correct it."""
        estimate = self.best(name)
        if estimate is None or estimate.name.endswith(CORRECTED):
            return None
        if (few := _few(estimate)) is not None:
            return few
        if self.held is None:
            return None
        row = next((row for row in self.held.rows if row.name == name), self.held.rows[0])
        if row.alpha.high is not None and row.alpha.high < TENTATIVE:
            return say("the judge does not agree with people")
        return None if self.held.corrected else say("what people labelled is no random draw that is labelled whole")

    def _lots(self) -> Sentence | None:
        consistency = self.compared.estimates.get("consistency") if self.compared is not None else None
        if is_unsteady(consistency):
            return say("the judge's verdict follows the order, not the texts")
        win_rate = self._win_rate()
        if win_rate is None:
            return None
        decided = self.compared.estimates.get("decisive_win_rate") if self.compared is not None else None
        misses = win_rate.high is not None and win_rate.high < WIN
        if misses and decided is not None and (decided.high is None or decided.high >= WIN):
            return say("most comparisons are ties, and those decided do not say that the reference set is better")
        return _few(win_rate)


def assess(
    wish: Wish,
    *,
    tell: Callable[[Sentence], None] | None = None,
    runs: Mapping[str, Run] = {},
    **given: object,
) -> Quality:
    """Gather all the requested evidence; a part that fails does not affect the others.

    Args:
        tell: called at once with what failed.
        runs: parts that were run before, `judge` or `win_rate`, and are not run again.
        given: keyword arguments of `proctor.evaluate`, such as store, concurrency, progress, and the budget, which is
            one for all parts together.

    Raises:
        BadInput: the file of items itself cannot be read, or is empty.
        Stopped: Ctrl-C or SIGTERM; the runs can be resumed.
    """
    kind = generator(wish.generator)
    options = RunOptions.of(given)
    steps = evidence_gathering.Gathering(wish, kind, replace(options, store=at(options.store)), tell, runs)
    quality = Quality(
        wish=wish,
        kind=kind,
        created=time.time(),
        data=wish.data,
        reference=wish.reference,
        items=len(steps.items),
        topics=evidence_gathering.topics(steps.items, kind),
        faulty=evidence_gathering.faulty(steps.items, kind),
        doubts=answer_check.own_doubts(steps.items, kind),
    )
    has_judge = wish.judge is not None
    judged = steps.attempt("judge", steps.judge) if has_judge or "judge" in runs else None
    return replace(
        quality,
        new=steps.attempt("novelty", steps.novelty),
        solved=steps.attempt("solver", steps.solve) if wish.solver is not None else None,
        judged=judged[1] if judged is not None else None,
        compared=steps.attempt("win_rate", steps.compare)
        if (has_judge and wish.reference is not None) or "win_rate" in runs
        else None,
        people=steps.attempt("people", lambda: steps.people(judged[0] if judged is not None else None)),
        failures=steps.failures,
    )


def _check(
    name: Sentence,
    number: Estimate | None,
    threshold: float,
    doubt: Sentence | None = None,
    *,
    needs: Needs = "items",
) -> QualityCheck:
    verdict: Verdict = "open"
    if number is None or number.value is None:
        verdict = "unknown" if number is None else "open"
    elif doubt is None and number.low is not None and number.high is not None:
        verdict = "met" if number.low >= threshold else "missed" if number.high < threshold else "open"
    if verdict != "open" or (doubt is not None and needs != "labels"):
        needs = ""
    elif number is not None and number.name.endswith(CORRECTED):
        needs = "labels"  # they are what its interval hangs on
    return QualityCheck(name=name, threshold=threshold, number=number, verdict=verdict, why=doubt, needs=needs)


def _counted(name: Sentence, number: Estimate | None) -> QualityCheck:
    """Return a check of what is counted, not sampled: no copy is allowed."""
    if number is None or number.value is None:
        return QualityCheck(name=name, threshold=1.0, number=number, verdict="unknown")
    counted = replace(number, low=None, high=None, method=COUNTED)
    return QualityCheck(name=name, threshold=1.0, number=counted, verdict="met" if number.value == 1 else "missed")


def _few(number: Estimate) -> Sentence | None:
    if number.planned and number.scored < ENOUGH * number.planned:
        return say("only {scored} of {planned} have a verdict", scored=number.scored, planned=number.planned)
    return None
