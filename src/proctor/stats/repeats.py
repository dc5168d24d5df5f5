"""Compute what several attempts at each sample tell: pass@k, pass^k, and how much of the error comes from attempts.

A standard error has two sources: other samples would have been harder or easier, and the same samples would have gone
otherwise on another day. More attempts lessen the second one only. Of SE², the mean variance between the attempts at a
sample, over attempts and samples, is from attempts; the rest is from samples.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from proctor.core.run import Estimate
from proctor.core.tally import Case
from proctor.core.trial import Value
from proctor.stats.passk import estimate_at_k, estimate_hat_k
from proctor.stats.power import variance

_ALL_SHOWN = 5  # attempts; of more, only k = 2, 4, 8, … and all of them


def cases(values: Iterable[Value], attempts: int) -> list[Case]:
    """The samples of a run, from the values of their attempts in the order of the plan."""
    found = []
    for _, group in groupby(values, key=lambda value: value.sample_id):
        each = list(group)
        earned = tuple(value.value for value in each if value.value is not None)
        found.append(Case(cluster=each[0].cluster, values=earned, planned=attempts))
    return found


def pass_estimates(samples: Sequence[Case], attempts: int, planned: int, *, prefix: str = "") -> Iterator[Estimate]:
    """`pass@k` and `pass^k` for k from 2 to the number of attempts; k = 1 is the accuracy.

    Args:
        planned: samples of the run, also those of which nothing is stored.
    """
    unseen = [Case(cluster="", values=(), planned=attempts)] * (planned - len(samples))
    for made in (estimate_at_k, estimate_hat_k):
        for k in _shown(attempts):
            one = made([*samples, *unseen], k)
            yield replace(one, name=f"{prefix}{one.name}")


def split_error(estimate: Estimate, samples: Sequence[Case]) -> Estimate:
    """The estimate with its standard error split; unchanged where fewer than two samples have two attempts."""
    split = variance(case.values for case in samples)
    scored = sum(bool(case.values) for case in samples)
    if split is None or estimate.standard_error is None or not scored:
        return estimate
    attempts = estimate.scored / scored
    from_attempts = min(math.sqrt(split.within / attempts / scored), estimate.standard_error)
    from_samples = math.sqrt(max(estimate.standard_error**2 - from_attempts**2, 0.0))
    return replace(estimate, error_from_samples=from_samples, error_from_attempts=from_attempts)


def _shown(attempts: int) -> list[int]:
    if attempts <= _ALL_SHOWN:
        return list(range(2, attempts + 1))
    doubled = [2**power for power in range(1, attempts.bit_length()) if 2**power < attempts]
    return [*doubled, attempts]
