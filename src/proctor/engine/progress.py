"""How far a run is: counted by the engine, drawn by whoever wants to show it."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence

from proctor.core.run import Budget
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence
from proctor.core.trajectory import NOTHING
from proctor.core.trial import Outcome, Trial, Verdict
from proctor.engine.budget import BudgetTracker, Forecast
from proctor.transport.retry import Wait


def _log(sentence: Sentence) -> None:
    logging.getLogger("proctor").warning("%s", sentence)


class Progress:
    """Counts of a run; a display reads them as often as it likes, so that the engine never waits for it.

    `tell` is given each warning at once, from any thread; without one it is logged, which shows it on standard error.
    """

    def __init__(self, tell: Callable[[Sentence], None] = _log) -> None:
        self.warnings: list[Sentence] = []
        self._tell = tell
        self.total = 0
        self.done = 0
        self.here = 0  # finished in this process, for the rate
        self.in_flight = 0
        self.booked = 0  # requests of this process that are in the usage of trials
        self.outcomes: Counter[Outcome] = Counter()
        self.tracker = BudgetTracker(Budget())
        self.points = 0.0
        self.scored = 0
        self.judge_failed = 0
        self.waits: Callable[[], Sequence[Wait]] = tuple  # the requests that wait to be sent again
        self.started = time.monotonic()

    def begin(self, total: int, done: int, tracker: BudgetTracker) -> None:
        """Say how many trials there are, how many were finished before, and what there is to spend."""
        self.total, self.done, self.tracker = total, done, tracker
        self.started = time.monotonic()

    def add(self, trial: Trial, verdicts: list[Verdict]) -> None:
        """Count a trial that is on disk, and what it cost."""
        self.done += 1
        self.here += 1
        self.outcomes[trial.outcome] += 1
        usage = trial.usage
        for verdict in verdicts:
            if verdict.usage is not None:
                usage = usage + verdict.usage
            if isinstance(verdict.result, Unscored):
                self._unscored(verdict.result)
        self.tracker.spend(usage)
        self.booked += usage.requests
        if verdicts and isinstance(verdicts[0].result, Score):
            self.scored += 1
            self.points += verdicts[0].result.value
        elif trial.outcome == "agent_failed":
            self.scored += 1  # as 0

    def judged(self, verdict: Verdict) -> None:
        """Count what a verdict cost, and that there is none where a judge failed."""
        self.tracker.spend(verdict.usage or NOTHING)
        if isinstance(verdict.result, Unscored):
            self._unscored(verdict.result)

    def _unscored(self, result: Unscored) -> None:
        if result.why == "judge_failed":
            self.judge_failed += 1

    def warn(self, sentence: Sentence) -> None:
        """Note something that a person should know of while the run goes on."""
        self.warnings.append(sentence)
        self._tell(sentence)

    def tell(self, sentence: Sentence) -> None:
        """Say something that is not kept with the run."""
        self._tell(sentence)

    @property
    def rate(self) -> float:
        """Trials a second in this process; 0 before the first."""
        seconds = time.monotonic() - self.started
        return self.here / seconds if seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """At the rate so far; None before the first trial."""
        return (self.total - self.done) / self.rate if self.rate > 0 else None

    @property
    def forecast(self) -> Forecast | None:
        """What the whole run is expected to use; None before the first few trials."""
        return self.tracker.forecast(self.done, self.total) if self.here else None
