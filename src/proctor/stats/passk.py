"""pass@k and pass^k: the chance that one of k attempts succeeds, and that all k do.

Both are the shares of all choices of k out of the n attempts made, which is unbiased; the powers (1 - p)^k and p^k of
the share p of successes are not: for n = 5, p = 0.5, k = 3 the expectation of p^k is 0.200 instead of 0.125.

Source: Chen et al. 2021, arXiv 2107.03374 (pass@k); Yao et al. 2024, arXiv 2406.12045 (pass^k).
"""

import math
from collections.abc import Callable, Iterable

from proctor.core.errors import BadInput
from proctor.core.run import Estimate
from proctor.core.tally import Case, tally
from proctor.stats.estimate import estimate

_SUCCESS = 1 - 1e-6  # as tau2 does, which counts a reward of 1 give or take 1e-6


def pass_at_k(attempts: int, successes: int, k: int) -> float:
    """The chance that at least one of k attempts succeeds.

    >>> [round(pass_at_k(5, 3, k), 6) for k in (1, 2, 3)]
    [0.6, 0.9, 1.0]

    Raises:
        BadInput: fewer than k attempts.
    """
    _check(attempts, successes, k)
    return 1 - math.comb(attempts - successes, k) / math.comb(attempts, k)


def pass_hat_k(attempts: int, successes: int, k: int) -> float:
    """The chance that all of k attempts succeed.

    >>> [round(pass_hat_k(5, 3, k), 6) for k in (1, 2, 3)]
    [0.6, 0.3, 0.1]

    Raises:
        BadInput: fewer than k attempts.
    """
    _check(attempts, successes, k)
    return math.comb(successes, k) / math.comb(attempts, k)


def estimate_at_k(cases: Iterable[Case], k: int, *, slice: str = "", level: float = 0.95) -> Estimate:
    """`pass@k`, the mean over samples with its interval; `scored` and `planned` count samples.

    A sample with fewer than k scored attempts is not scored, and widens floor and ceiling.

    Raises:
        BadInput: fewer than k attempts of a sample were planned.
    """
    return _estimate(f"pass@{k}", pass_at_k, cases, k, slice, level)


def estimate_hat_k(cases: Iterable[Case], k: int, *, slice: str = "", level: float = 0.95) -> Estimate:
    """`pass^k`, as `estimate_at_k`."""
    return _estimate(f"pass^{k}", pass_hat_k, cases, k, slice, level)


def _estimate(
    name: str, formula: Callable[[int, int, int], float], cases: Iterable[Case], k: int, slice: str, level: float
) -> Estimate:
    passed = []
    for case in cases:
        _check(case.planned, 0, k)
        attempts, successes = len(case.values), sum(value >= _SUCCESS for value in case.values)
        values = (formula(attempts, successes, k),) if attempts >= k else ()
        passed.append(Case(cluster=case.cluster, values=values, planned=1))
    return estimate(name, tally(passed), slice=slice, level=level)


def _check(attempts: int, successes: int, k: int) -> None:
    if k < 1:
        raise BadInput("k must be at least 1; it is {k}.", k=k)
    if k > attempts:
        raise BadInput(
            "{k} attempts cannot be chosen out of {attempts}. Run each sample at least {k} times, or ask for a smaller k.",
            k=k,
            attempts=attempts,
        )
    if not 0 <= successes <= attempts:
        raise ValueError(f"successes lie in 0 to the number of attempts: got {successes} of {attempts}")
