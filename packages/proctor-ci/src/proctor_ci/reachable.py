"""Check the policy of a run that has not begun: its names, its thresholds, and whether so few samples could show anything.

A rule that no agent can meet keeps every job red: 0 failures of 50 are still compatible with 5.8 %, so "failed at most 5 %"
needs 59 samples, however good the agent is.
"""

import math
from collections.abc import Iterator, Sequence

from proctor.api.bars import check_bar
from proctor.core.errors import BadInput
from proctor.core.main_number import AMOUNTS, FAILED, main_names, scorer_meant
from proctor.core.run import RunRecord
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor.core.tally import PREPARATION, Case, tally
from proctor.registry import unknown
from proctor.stats.estimate import estimate
from proctor_ci.policy import LOWER_IS_BETTER, GatePolicy, PolicyRule
from proctor_ci.stats.bounds import one_sided


def check_policy(policy: GatePolicy, record: RunRecord, *, has_official: bool) -> None:
    """Refuse rules about numbers that the run will not have.

    Raises:
        BadInput: names the line.
    """
    for rule in policy.rules:
        if rule.metric in LOWER_IS_BETTER or not rule.metric:
            continue
        try:
            if not rule.compares:
                is_least = rule.kind == "at_least"
                check_bar(rule.metric, rule.bound, record, has_official=has_official, is_least=is_least)
            elif scorer_meant(rule.metric, record) is None:
                known = [*main_names(record), FAILED, *AMOUNTS]
                raise unknown("metric of a comparison", rule.metric, known, paths=False)
        except BadInput as error:
            raise BadInput("{place}: {problem}", place=policy.place(rule), problem=error.sentence) from None


def never_met(policy: GatePolicy, record: RunRecord, samples: Sequence[Sample]) -> Iterator[Sentence]:
    """Yield each rule that a perfect agent cannot meet with these samples, and how many would do."""
    shares = [(rule, share) for rule in policy.rules if (share := _share(rule, record)) is not None]
    if not shares:
        return
    clusters = _clusters(samples)
    for rule, share in shares:
        error = policy.error_of(rule)
        for slice_ in [name for name in clusters if name.startswith(f"{rule.each}=")] if rule.each else [rule.slice]:
            in_slice = clusters.get(slice_, ())
            if in_slice and not _can_be_shown(in_slice, record.spec.attempts, share, error):
                yield say(
                    "{place}: no agent can meet the rule about '{metric}' with {count} samples; without one failure it takes {needed} independent ones. Take more, or write by = \"value\" where these very samples are all that matters.",
                    place=policy.place(rule),
                    metric=f"{rule.metric}[{slice_}]" if slice_ else rule.metric,
                    count=len(in_slice),
                    needed=least_samples(share, error),
                )


def least_samples(share: float, error: float) -> int:
    """Return how many independent samples, all of them good, it takes to show that at least this share is good.

    >>> least_samples(0.95, 0.05), least_samples(0.8, 0.05)
    (59, 14)
    """
    return max(math.ceil(math.log(error) / math.log(share)), 2)


def _share(rule: PolicyRule, record: RunRecord) -> float | None:
    """Return the share of good samples that a rule wants shown; None where it wants none, or more than a bound can show."""
    if rule.compares or rule.by == "value":
        return None
    share = None
    if rule.metric == FAILED:
        share = 1 - rule.bound
    elif rule.metric in AMOUNTS:
        share = rule.quantile
    elif rule.kind == "at_least" and scorer_meant(rule.metric, record) is not None:
        share = rule.bound
    return share if share is not None and 0 < share < 1 else None


def _clusters(samples: Sequence[Sample]) -> dict[str, list[str]]:
    by_slice: dict[str, list[str]] = {}
    for sample in samples:
        if PREPARATION not in sample.tags:
            for slice_ in ("", *(f"{key}={value}" for key, value in sample.tags.items())):
                by_slice.setdefault(slice_, []).append(sample.cluster or sample.id)
    return by_slice


def _can_be_shown(clusters: Sequence[str], attempts: int, share: float, error: float) -> bool:
    """True if the bound of a perfect run reaches this share."""
    cases = (Case(cluster=cluster, values=(1.0,) * attempts, planned=attempts) for cluster in clusters)
    bounds = one_sided(estimate("", tally(cases)), error)
    return bounds is not None and bounds.low >= share
