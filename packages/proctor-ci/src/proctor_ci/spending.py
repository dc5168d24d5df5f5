"""Say what a trial takes: money, tokens and time, from stored runs of the task; else assumed, and said."""

from collections.abc import Iterable, Sequence
from itertools import islice

import msgspec

from proctor.api.run import Run
from proctor.config import settings
from proctor.core.run import Price
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor.core.task import Task
from proctor.core.trajectory import Usage
from proctor.engine.input_size import InputSize

LOOKED_AT = 200  # samples whose prompts are read where nothing is stored
OUTPUT_TOKENS = 500
SECONDS = 10.0
AT_ONCE = 16


class Spending(msgspec.Struct, frozen=True, kw_only=True):
    """What one trial takes in the mean, with its judges; seconds are those that a run grows by."""

    tokens: float | None
    money: float | None
    seconds: float | None
    measured: tuple[Sentence, ...] = ()
    assumed: tuple[Sentence, ...] = ()

    def of(self, trials: int) -> dict[str, float | None]:
        """Return the estimated cost of a number of trials."""
        return {
            "money": None if self.money is None else self.money * trials,
            "tokens": None if self.tokens is None else self.tokens * trials,
            "minutes": None if self.seconds is None else self.seconds * trials / 60,
        }


def spending(task: Task, samples: Iterable[Sample], runs: Sequence[Run], agent: str | None = None) -> Spending:
    """Return what a trial took in the newest run, of this agent if one is named; without one, what the prompts say."""
    price = settings().prices.get(agent.rpartition(":")[2]) if agent is not None else None
    for run in runs:
        trials = sum(count for outcome, count in run.outcomes.items() if outcome not in ("skipped", "cancelled"))
        if trials and agent in (None, run.record.spec.agent, run.record.agent):
            return _stored(run, trials, price)
    return _assumed(task, samples, price)


def _stored(run: Run, trials: int, price: Price | None) -> Spending:
    used = run.usage
    for verdict in run.verdicts() if run.record.provenance.get("judges") else ():
        used += verdict.usage or Usage()
    tokens = used.input_tokens + used.output_tokens
    money = used.cost
    if money is None and price is not None and tokens:
        money = price.of(used)
    said = say("What a trial takes is the mean of {count} trials of the run {run}.", count=trials, run=run.id)
    return Spending(
        tokens=tokens / trials if tokens else None,
        money=None if money is None else money / trials,
        seconds=run.record.seconds / trials,
        measured=(said,),
    )


def _assumed(task: Task, samples: Iterable[Sample], price: Price | None) -> Spending:
    size, count = InputSize(), 0
    for sample in islice(samples, LOOKED_AT):
        size.add(sample if task.present is None else task.present(sample), "text")
        count += 1
    asked = size.requests / count if count else 1.0
    read, written = size.tokens / count if count else 0.0, OUTPUT_TOKENS * asked
    said = say(
        "No run of the task is stored: a trial is taken to send {requests} requests with about {input} tokens of prompts, to get {output} tokens each, and to take {seconds} s with {at_once} at once.",
        requests=f"{asked:.3g}",
        input=f"{read:,.0f}",
        output=OUTPUT_TOKENS,
        seconds=f"{SECONDS:g}",
        at_once=AT_ONCE,
    )
    money = price.of(Usage(input_tokens=round(read), output_tokens=round(written))) if price is not None else None
    return Spending(
        tokens=read + written,
        money=money,
        seconds=SECONDS / AT_ONCE,
        assumed=(said,),
    )
