"""Count finished and failed trials and their cost; by these counts the engine decides how a run ends."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from proctor.core.run import Budget
from proctor.core.sample import ToolCall
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import NOTHING
from proctor.core.trial import Outcome, Trial, Verdict
from proctor.engine.approving import text_of_call
from proctor.engine.budget import BudgetTracker, Forecast
from proctor.engine.looking import LookWatch
from proctor.transport.retry import Wait


class Observer(Protocol):
    """Follows a run; `engine.progress` has the one that displays are built on."""

    def begin(self, status: "RunStatus") -> None: ...

    def added(self, trial: Trial, verdicts: Sequence[Verdict]) -> None: ...

    def tell(self, sentence: Sentence) -> None: ...


class RunStatus:
    """Counts of a run in this process; they are plain attributes, so that reading them costs the engine nothing.

    Attributes:
        total: how many trials there are.
        done: how many have ended, those of earlier processes too.
        here: how many ended in this process.
        in_flight: how many are under way.
        in_a_row: how many trials have ended like the last one.
        booked: requests of this process that are in the usage of trials.
        points: the sum of what scored trials earned, of the first scorer.
        scored: how many trials count in that sum, with failed agents as 0.
        judge_failed: verdicts that are missing because a judge failed.
        unanswered: trials with points in which a call has no recorded result.
        waits: returns the requests that wait to be sent again.
        watch: looks at each trial that is on disk; None where nothing may end the run early.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self.total = 0
        self.done = 0
        self.here = 0
        self.in_flight = 0
        self.in_a_row = 0
        self.booked = 0
        self.outcomes: Counter[Outcome] = Counter()
        self.tracker = BudgetTracker(Budget())
        self.points = 0.0
        self.scored = 0
        self.judge_failed = 0
        self.unanswered = 0
        self._first_unanswered: tuple[str, ToolCall] | None = None
        self.warnings: list[Sentence] = []
        self.waits: Callable[[], Sequence[Wait]] = tuple
        self.watch: LookWatch | None = None
        self._last: Outcome | None = None
        self._started = time.monotonic()

    def begin(self, total: int, done: int, tracker: BudgetTracker) -> None:
        """Note how many trials there are, how many ended before, and what there is to spend."""
        self.total, self.done, self.tracker = total, done, tracker
        self._started = time.monotonic()
        self._observer.begin(self)

    def add(self, trial: Trial, verdicts: Sequence[Verdict]) -> None:
        """Count a trial that is on disk, and what it cost."""
        self.done += 1
        self.here += 1
        self.outcomes[trial.outcome] += 1
        self.in_a_row = self.in_a_row + 1 if trial.outcome == self._last else 1
        self._last = trial.outcome
        usage = trial.usage
        for verdict in verdicts:
            if verdict.usage is not None:
                usage = usage + verdict.usage
            if isinstance(verdict.result, Unscored):
                self._count_judge(verdict.result)
        self.tracker.spend(usage)
        self.booked += usage.requests
        if verdicts and isinstance(verdicts[0].result, Score):
            self.scored += 1
            value = verdicts[0].result.value
            self.points += value
            if value and (calls := trial.trajectory.unanswered):
                self.unanswered += 1
                self._first_unanswered = self._first_unanswered or (trial.sample_id, calls[0])
        elif trial.outcome == "agent_failed":
            self.scored += 1  # as 0
        if self.watch is not None:
            self.watch.add(trial, verdicts)
        self._observer.added(trial, verdicts)

    def add_verdicts(self, trials: int, verdicts: Sequence[Verdict]) -> None:
        """Count stored trials that have new verdicts, and what those cost."""
        self.done += trials
        self.here += trials
        for verdict in verdicts:
            self.tracker.spend(verdict.usage or NOTHING)
            if isinstance(verdict.result, Unscored):
                self._count_judge(verdict.result)

    def warn(self, sentence: Sentence) -> None:
        """Keep a sentence with the run, and tell the user at once; may be called from any thread."""
        self.warnings.append(sentence)
        self._observer.tell(sentence)

    def warn_of_unanswered_calls(self) -> None:
        """Say which trials earned points although a call of theirs has no result."""
        if self._first_unanswered is not None:
            sample, call = self._first_unanswered
            self.warn(
                say(
                    "Trials with points in which a call has no recorded result: {count}. The first is '{sample}', where {call} was carried out elsewhere, or never.",
                    count=self.unanswered,
                    sample=sample,
                    call=text_of_call(call, 200),
                )
            )

    @property
    def is_complete(self) -> bool:
        """True when every trial has ended."""
        return self.done >= self.total

    @property
    def is_decided(self) -> bool:
        """True if what the run was to show is decided, so that no further trial is needed."""
        return self.watch is not None and self.watch.is_over

    @property
    def spent(self) -> Sentence | None:
        """Return which bound is reached, or leaves too little for another sample; None where the budget lasts."""
        reached = self.tracker.spent_bound()
        return reached if reached is not None or self.is_complete or self.is_decided else self.tracker.too_small()

    @property
    def rate(self) -> float:
        """Return trials per second in this process; 0 before the first."""
        seconds = time.monotonic() - self._started
        return self.here / seconds if seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimate how long the rest takes at the rate so far; None before the first trial."""
        return (self.total - self.done) / self.rate if self.rate > 0 else None

    @property
    def forecast(self) -> Forecast | None:
        """Return the expected usage of the whole run; None before the first few trials."""
        return self.tracker.forecast(self.done, self.total) if self.here else None

    def _count_judge(self, result: Unscored) -> None:
        if result.why == "judge_failed":
            self.judge_failed += 1
