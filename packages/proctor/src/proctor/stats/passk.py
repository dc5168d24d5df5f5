"""Estimate pass@k and pass^k: the chance that one of k attempts succeeds, and that all k do.

Both are the shares of all choices of k out of the n attempts made, which is unbiased; the powers (1 - p)^k and p^k of
the share p of successes are not: for n = 5, p = 0.5, k = 3 the expectation of p^k is 0.200 instead of 0.125.

Source: Chen et al. 2021, arXiv 2107.03374 (pass@k); Yao et al. 2024, arXiv 2406.12045 (pass^k).
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.tally import Case, Tally, tally

_SUCCESS = 1 - 1e-6  # as tau2 does, which counts a reward of 1 give or take 1e-6


def pass_at_k(attempts: int, successes: int, k: int) -> float:
    """Return the chance that at least one of k attempts succeeds.

    >>> [round(pass_at_k(5, 3, k), 6) for k in (1, 2, 3)]
    [0.6, 0.9, 1.0]

    Raises:
        BadInput: fewer than k attempts.
    """
    _check(attempts, successes, k)
    return 1 - math.comb(attempts - successes, k) / math.comb(attempts, k)


def pass_hat_k(attempts: int, successes: int, k: int) -> float:
    """Return the chance that all of k attempts succeed.

    >>> [round(pass_hat_k(5, 3, k), 6) for k in (1, 2, 3)]
    [0.6, 0.3, 0.1]

    Raises:
        BadInput: fewer than k attempts.
    """
    _check(attempts, successes, k)
    return math.comb(successes, k) / math.comb(attempts, k)


def is_success(value: float) -> bool:
    """True if an attempt got full marks."""
    return value >= _SUCCESS


def tally_by(formula: Callable[[int, int, int], float], cases: Iterable[Case], k: int) -> Tally:
    """Add up samples by `pass_at_k` or `pass_hat_k`.

    Samples of the same counts have the same value, which is what makes a hundred thousand of them quick.

    Raises:
        BadInput: fewer than k attempts of a sample were planned.
    """
    samples = list(cases)
    scored = [case for case in samples if len(case.values) >= k]
    for planned in {case.planned for case in samples}:
        _check(planned, 0, k)
    counts = [(len(case.values), sum(map(is_success, case.values))) for case in scored]
    value_by_counts = {each: formula(*each, k) for each in set(counts)}
    if len({case.cluster for case in scored}) < len(scored):
        pairs = zip(scored, counts, strict=True)
        sums = tally(Case(cluster=case.cluster, values=(value_by_counts[each],), planned=1) for case, each in pairs)
    else:
        sums = _independent([(value_by_counts[each], count) for each, count in Counter(counts).items()])
    return replace(sums, planned=len(samples))


def _independent(values: Sequence[tuple[float, int]]) -> Tally:
    """Return the tally of samples that are clusters of their own: each value, and how many samples have it."""
    samples = sum(count for _, count in values)
    total = math.fsum(value * count for value, count in values)
    squares = math.fsum(value * value * count for value, count in values)
    whole = all(value in (0, 1) for value, _ in values)
    return Tally(
        clusters=samples,
        samples=samples,
        total=total,
        squares=squares,
        cross=total,
        sizes=samples,
        sample_squares=squares,
        binary=whole,
        all_or_nothing=whole,
        scored=samples,
    )


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
