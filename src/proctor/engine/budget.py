"""The budget of a run: what is spent, whether a bound is reached, and a forecast from the first samples."""

import time
from collections.abc import Sequence

import msgspec

from proctor.core.run import Budget
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Usage

FIRST = 5  # samples after which a forecast is worth saying


class Purse:
    """Counts what a run spends against its bounds; it is asked before each trial, so only what is in flight overshoots.

    >>> purse = Purse(Budget(tokens=100))
    >>> purse.spend(Usage(input_tokens=90, output_tokens=20))
    >>> str(purse.reached())
    'The budget of 100 tokens is spent (110).'
    """

    def __init__(self, budget: Budget, *, spent: Usage | None = None, seconds: float = 0.0) -> None:
        self.budget = budget
        self.spent = spent or Usage()
        self.is_bounded = budget != Budget()
        self._started = time.monotonic() - seconds

    @property
    def minutes(self) -> float:
        """How long the run has taken, over all its processes."""
        return (time.monotonic() - self._started) / 60

    def spend(self, usage: Usage) -> None:
        """Count what a trial or a judge used."""
        self.spent = self.spent + usage

    def reached(self) -> Sentence | None:
        """The sentence that says which bound is reached; None while there is something left."""
        if not self.is_bounded:
            return None
        for bound, used, sentence in self._bounds():
            if bound is not None and used >= bound:
                return say(sentence, bound=f"{bound:g}", used=f"{used:.6g}")
        return None

    def uncounted(self, usage: Usage) -> Sequence[str]:
        """The bounds that a trial which used this adds nothing to.

        >>> Purse(Budget(tokens=100, requests=5)).uncounted(Usage(requests=1))
        ['tokens']
        """
        tokens = _tokens(usage)
        used = {"money": usage.cost or tokens, "tokens": tokens, "requests": usage.requests}
        return [kind for kind, amount in used.items() if not amount and getattr(self.budget, kind) is not None]

    def forecast(self, done: int, total: int) -> "Forecast | None":
        """What `total` trials will take at the mean of the `done` ones; None before the first few."""
        if done < min(FIRST, total):
            return None
        times = total / done
        return Forecast(
            money=self.spent.cost * times if self.spent.cost is not None else None,
            tokens=round(_tokens(self.spent) * times),
            requests=round(self.spent.requests * times),
        )

    def _bounds(self) -> tuple[tuple[float | None, float, str], ...]:
        budget, spent = self.budget, self.spent
        return (
            (budget.money, spent.cost or 0.0, "The budget of {bound} in money is spent ({used})."),
            (budget.tokens, _tokens(spent), "The budget of {bound} tokens is spent ({used})."),
            (budget.requests, spent.requests, "The budget of {bound} requests is spent ({used})."),
            (budget.minutes, self.minutes, "The budget of {bound} minutes is spent ({used})."),
        )


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """What the whole run is expected to use; money only where a price is known."""

    money: float | None
    tokens: int
    requests: int

    def above(self, budget: Budget) -> bool:
        """Whether some bound will not be enough."""
        return (
            (budget.money is not None and self.money is not None and self.money > budget.money)
            or (budget.tokens is not None and self.tokens > budget.tokens)
            or (budget.requests is not None and self.requests > budget.requests)
        )


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens
