"""Compute what several attempts at each sample show: pass@k, pass^k, and how much of the error comes from attempts.

A standard error has two sources: other samples would have been harder or easier, and the same samples would have gone
otherwise on another day. More attempts lessen the second one only. Of SE², the mean variance between the attempts at a
sample, over attempts and samples, is from attempts; the rest is from samples.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from msgspec.structs import replace

from proctor.core.run import Estimate
from proctor.core.tally import Case
from proctor.core.trial import Value
from proctor.stats import strata
from proctor.stats.components import sample_variance
from proctor.stats.estimate import estimate
from proctor.stats.passk import pass_at_k, pass_hat_k, tally_by

_ALL_SHOWN = 5  # attempts; of more, only k = 2, 4, 8, … and all of them


def cases(values: Iterable[Value], attempts: int, weighing: strata.Weighing | None = None) -> dict[str, list[Case]]:
    """Return the samples of a run by stratum, from the values of their attempts in the order of the plan."""
    found: dict[str, list[Case]] = {}
    for _, group in groupby(values, key=lambda value: value.sample_id):
        each = list(group)
        earned = tuple(value.value for value in each if value.value is not None)
        case = Case(cluster=each[0].cluster, values=earned, planned=attempts)
        stratum = "" if weighing is None else weighing.stratum_of(each[0].sample_id, each[0].tags)
        found.setdefault(stratum, []).append(case)
    return found


def pass_estimates(
    samples: Mapping[str, Sequence[Case]],
    attempts: int,
    planned: Mapping[str, int],
    *,
    prefix: str = "",
    weighing: strata.Weighing | None = None,
) -> Iterator[Estimate]:
    """Estimate `pass@k` and `pass^k` for k from 2 to the number of attempts; k = 1 is the accuracy.

    Args:
        samples: by stratum; under '' alone without `weighing`.
        planned: samples of the run by stratum, also those of which nothing is stored.
        weighing: how strata are weighted, where the run is not all of its task.
    """
    for name, formula in (("pass@", pass_at_k), ("pass^", pass_hat_k)):
        for k in _shown(attempts):
            tallies = {
                stratum: replace(tally_by(formula, samples.get(stratum, ()), k), planned=count)
                for stratum, count in planned.items()
            }
            if weighing is None:
                yield estimate(f"{prefix}{name}{k}", tallies[""])
            else:
                clusters = {case.cluster for each in samples.values() for case in each if len(case.values) >= k}
                yield strata.estimate(
                    f"{prefix}{name}{k}",
                    weighing.strata("", tallies),
                    clusters=len(clusters),
                    of_suite=weighing.of_suite,
                )


def split_error(estimate: Estimate, samples: Sequence[Case]) -> Estimate:
    """Return the estimate with its standard error split; unchanged where fewer than two samples have two attempts."""
    within = [sample_variance(case.values) for case in samples if len(case.values) > 1]
    scored = sum(bool(case.values) for case in samples)
    if len(within) < 2 or estimate.standard_error is None or not scored:
        return estimate
    attempts = estimate.scored / scored
    from_attempts = min(math.sqrt(math.fsum(within) / len(within) / attempts / scored), estimate.standard_error)
    from_samples = math.sqrt(max(estimate.standard_error**2 - from_attempts**2, 0.0))
    return replace(estimate, error_from_samples=from_samples, error_from_attempts=from_attempts)


def _shown(attempts: int) -> list[int]:
    if attempts <= _ALL_SHOWN:
        return list(range(2, attempts + 1))
    doubled = [2**power for power in range(1, attempts.bit_length()) if 2**power < attempts]
    return [*doubled, attempts]
