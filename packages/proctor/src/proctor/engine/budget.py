"""Track the budget of a run: what is spent, how many samples fit into the rest, and a forecast from the first ones."""

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from proctor.core.run import Budget
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import NOTHING, Usage

FIRST = 5  # samples after which a forecast is worth saying
GROWTH = 2  # with a budget, samples under way for each sample whose cost is known


class _Bound(NamedTuple):
    """A bound: what was used of it, the most that one sample took, and what a sample needs that is admitted alone."""

    kind: str
    bound: float
    used: float
    most: float
    alone: float
    spent: str


class BudgetTracker:
    """Counts what a run spends against its bounds, and tells how many samples the rest can hold.

    Requests are counted when they leave, too (`transport.allowance`), so their bound is never passed. Tokens and money
    are known when a sample is done: no more samples are under way than the rest holds if each takes as much as the
    costliest so far.

    Args:
        spent: what earlier processes of the run used.
        trials: how many trials they ran.
        seconds: how long they took.

    Attributes:
        most_requests: the most requests that one sample took.

    >>> tracker = BudgetTracker(Budget(tokens=100))
    >>> tracker.spend(Usage(input_tokens=30, output_tokens=10))
    >>> tracker.holds(1), tracker.holds(2)
    (True, False)
    >>> tracker.spend(Usage(input_tokens=50, output_tokens=20))
    >>> str(tracker.spent_bound())
    'The budget of 100 tokens is spent (110).'
    """

    def __init__(self, budget: Budget, *, spent: Usage | None = None, trials: int = 0, seconds: float = 0.0) -> None:
        self.budget = budget
        self.spent = spent or Usage()
        self.is_bounded = budget != Budget()
        self._is_counted = budget != Budget(minutes=budget.minutes)
        self._trials = trials
        self._most = _mean_usage(self.spent, trials)
        self.most_requests = self._most.requests
        self._started = time.monotonic() - seconds

    @property
    def minutes(self) -> float:
        """Return how long the run has taken, over all its processes."""
        return (time.monotonic() - self._started) / 60

    def spend(self, usage: Usage) -> None:
        """Count what a sample and its judges used."""
        self._trials += 1
        if usage == NOTHING:
            return
        self.spent = self.spent + usage
        self.most_requests = max(self.most_requests, usage.requests)
        if not self._is_counted:
            return
        most = self._most
        self._most = Usage(
            input_tokens=max(_tokens(most), _tokens(usage)),
            requests=max(most.requests, usage.requests),
            cost=max(most.cost or 0.0, usage.cost or 0.0),
        )

    def spent_bound(self) -> Sentence | None:
        """Return a sentence that says which bound is reached; None while there is something left."""
        if not self.is_bounded:
            return None
        for bound in self._bounds():
            if bound.used >= bound.bound:
                return say(bound.spent, bound=f"{bound.bound:g}", used=f"{bound.used:.6g}")
        return None

    def too_small(self) -> Sentence | None:
        """Return a sentence that says that too few requests are left for another sample; None where they suffice."""
        for bound in self._bounds():
            if bound.used + bound.alone > bound.bound:
                return say(
                    "The rest of the budget of {bound} requests does not hold another sample ({used} spent, {mean} a sample).",
                    bound=f"{bound.bound:g}",
                    used=f"{bound.used:.6g}",
                    mean=f"{bound.alone:.3g}",
                )
        return None

    def holds(self, samples: int) -> bool:
        """True if the rest of every bound suffices for this many samples under way.

        A single one is admitted while any money and tokens are left, with the requests a sample usually takes: requests
        are cut off at their bound. Until enough samples are known, few are admitted: the first may have been cheap.
        """
        if not self.is_bounded:
            return True
        if samples == 1:
            return all(bound.used + bound.alone <= bound.bound for bound in self._bounds())
        if self._is_counted and samples > GROWTH * self._trials:
            return False
        return all(bound.used + samples * bound.most <= bound.bound for bound in self._bounds())

    def uncounted_bounds(self, usage: Usage) -> Sequence[str]:
        """Return the bounds to which a trial with this usage adds nothing.

        >>> BudgetTracker(Budget(tokens=100, requests=5)).uncounted_bounds(Usage(requests=1))
        ['tokens']
        """
        tokens = _tokens(usage)
        used = {"money": usage.cost or tokens, "tokens": tokens, "requests": usage.requests}
        bounded = {bound.kind for bound in self._bounds()}
        return [kind for kind, amount in used.items() if not amount and kind in bounded]

    def forecast(self, done: int, total: int) -> "Forecast | None":
        """Estimate what `total` trials will use, from the mean of the `done` ones; None before the first few."""
        if done < min(FIRST, total):
            return None
        times = total / done
        return Forecast(
            money=self.spent.cost * times if self.spent.cost is not None else None,
            tokens=round(_tokens(self.spent) * times),
            requests=round(self.spent.requests * times),
        )

    def _bounds(self) -> Iterator[_Bound]:
        budget, spent, most = self.budget, self.spent, self._most
        if budget.money is not None:
            sentence = "The budget of {bound} in money is spent ({used})."
            yield _Bound("money", budget.money, spent.cost or 0.0, most.cost or 0.0, 0.0, sentence)
        if budget.tokens is not None:
            sentence = "The budget of {bound} tokens is spent ({used})."
            yield _Bound("tokens", budget.tokens, _tokens(spent), _tokens(most), 0.0, sentence)
        if budget.requests is not None:
            sentence = "The budget of {bound} requests is spent ({used})."
            usual = _mean_usage(spent, self._trials).requests
            yield _Bound("requests", budget.requests, spent.requests, most.requests, usual, sentence)
        if budget.minutes is not None:
            sentence = "The budget of {bound} minutes is spent ({used})."
            yield _Bound("minutes", budget.minutes, self.minutes, 0.0, 0.0, sentence)


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """The expected usage of the whole run; in money only if prices are known."""

    money: float | None
    tokens: int
    requests: int

    def above(self, budget: Budget) -> bool:
        """True if the forecast exceeds some bound."""
        return (
            (budget.money is not None and self.money is not None and self.money > budget.money)
            or (budget.tokens is not None and self.tokens > budget.tokens)
            or (budget.requests is not None and self.requests > budget.requests)
        )


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


def _mean_usage(usage: Usage, trials: int) -> Usage:
    """Return the mean usage of a trial, in whole tokens and requests."""
    if not trials:
        return Usage()
    cost = None if usage.cost is None else usage.cost / trials
    return Usage(input_tokens=_tokens(usage) // trials, requests=usage.requests // trials, cost=cost)
