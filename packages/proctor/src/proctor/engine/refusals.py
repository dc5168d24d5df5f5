"""Distinguish a sample that an endpoint refuses from an endpoint that refuses every sample.

A firewall that rejects one prompt answers 403, as does an endpoint whose key was revoked. So a refused sample is held
until the next ones are known. An answer to a sample that began later means that only this sample was refused: it is kept
as failed. The run ends instead, without a record of those held (a resumed run tries them last), when

- the key itself is refused (401), or the endpoint has never answered in this run;
- a resumed run has 3 samples in a row refused before anything was answered;
- after the first refusal all in flight are refused, and at least 4 in a row: until that is known, no other sample begins;
- later, 10 samples in a row are refused, or twice as many as are in flight.
"""

import time
from collections.abc import Collection, Sequence
from typing import NamedTuple

from proctor.core.sample import Sample
from proctor.core.score import Unscored
from proctor.core.sentence import Sentence
from proctor.core.trial import Trial, TrialFailure, Verdict
from proctor.engine.scoring import BUDGET

OF_THE_KEY = ("http_401", "refused")  # never of one sample
KINDS = (*OF_THE_KEY, "http_402", "http_403", "http_404", "http_407", "quota", *(f"http_{n}" for n in range(300, 400)))
AT_FIRST = 3
UNKNOWN = 4
IN_A_ROW = 10

Key = tuple[str, int]


class PlayedTrial(NamedTuple):
    """A trial with its verdicts and its sample."""

    trial: Trial
    verdicts: list[Verdict]
    sample: Sample

    @property
    def key(self) -> Key:
        return self.trial.sample_id, self.trial.attempt


class HeldRefusals:
    """Holds refused trials until the meaning of the refusals is known.

    Args:
        answered: True if the endpoint has answered in this run before.
        before: samples that were held when an earlier process of the run ended.

    Attributes:
        reason: why the endpoint is of no use to any sample; None as long as it may be.
        held: trials that were refused in a row.
    """

    def __init__(self, *, answered: bool, before: Collection[Key] = ()) -> None:
        self.reason: str | Sentence | None = None
        self.held: list[PlayedTrial] = []
        self._answered_before = answered
        self._before = before
        self._answered = False
        self._in_a_row = 0
        self._since = 0.0  # when the first of those held was refused
        self._in_flight = 0  # when it was
        self._are_single = False  # a refusal was known to be the sample's own

    @property
    def is_open(self) -> bool:
        """True until a sample has been answered; the next one then runs alone too."""
        return not self._answered

    @property
    def is_unknown(self) -> bool:
        """True while it is not known what the first refusal means, so that no other sample should begin."""
        return bool(self.held) and not self._are_single

    def refuse(self, reason: Sentence) -> None:
        """Note that the key itself is refused."""
        self.reason = self.reason or reason

    def take(self, played: PlayedTrial, in_flight: int = 1) -> Sequence[PlayedTrial]:
        """Add a trial, and return those that can be kept now, in order."""
        failure = refusal_in(played.trial, played.verdicts)
        if failure is None:
            self._answered = True
            if self.reason is not None or 0 < played.trial.started < self._since:
                return [played]  # it had its answer before the others were refused
            self._are_single = self._are_single or bool(self.held)
            kept, self.held = [*self.held, played], []
            return kept
        if played.key in self._before and failure.kind not in OF_THE_KEY:
            return [played]
        if not self.held:
            self._since, self._in_flight = time.time(), in_flight
        self.held.append(played)
        if failure.kind in OF_THE_KEY or len(self.held) >= self._most(in_flight):
            self.reason = self.reason or failure.reason
        return ()

    def take_verdicts(self, verdicts: Sequence[Verdict], in_flight: int = 1) -> bool:
        """True if new verdicts on stored trials can be kept; False where the budget or the endpoint cut one off."""
        kinds = [verdict.result.known.kind for verdict in verdicts if isinstance(verdict.result, Unscored)]
        if BUDGET in kinds:
            return False
        failure = _first_of_judges(verdicts)
        if failure is None:
            self._answered, self._in_a_row = True, 0
            return True
        self._in_a_row += 1
        if failure.kind in OF_THE_KEY or self._in_a_row >= self._most(in_flight):
            self.reason = failure.reason
        return self.reason is None

    def rest(self) -> Sequence[PlayedTrial]:
        """Return the trials that were held back and may now be stored; none if `reason` stopped the run."""
        return () if self.reason is not None else self.held

    def _most(self, in_flight: int) -> int:
        if self._are_single:
            return max(IN_A_ROW, 2 * in_flight)
        if self._answered:
            return max(UNKNOWN, self._in_flight)
        return AT_FIRST if self._answered_before else 1


def refusal_in(trial: Trial, verdicts: Sequence[Verdict]) -> TrialFailure | None:
    """Return the refusal by the endpoint of the agent's model or of a judge; None without one."""
    if trial.outcome == "provider_failed" and trial.failure is not None and trial.failure.kind in KINDS:
        return trial.failure
    return _first_of_judges(verdicts)


def _first_of_judges(verdicts: Sequence[Verdict]) -> TrialFailure | None:
    for verdict in verdicts:
        result = verdict.result
        if isinstance(result, Unscored) and result.why == "judge_failed" and result.known.kind in KINDS:
            return TrialFailure(kind=result.known.kind, reason=result.reason)
    return None
