"""How often a gate errs that is asked again with the samples it asked for, and how often it then decides: by simulation, with a seed."""

import random
from collections.abc import Iterator
from statistics import quantiles

import msgspec

from bench.figure import Figure
from proctor.stats.paired import PairedSample
from proctor_ci.evidence import RuleEvidence
from proctor_ci.gate import needed_samples
from proctor_ci.policy import PolicyRule, default_policy
from proctor_ci.stats.bounds import Moved, moved
from proctor_ci.stats.forecast import expect_difference

ROUNDS = 3_000
MOST = 0.055
SUITES = [(30, 0.07, 0.05), (60, 0.07, 0.05), (60, 0.02, 0.05), (60, 0.10, 0.10), (200, 0.10, 0.05)]
"""Samples of the first gate, the share won at either truth, and the margin."""


class Followed(msgspec.Struct, frozen=True, kw_only=True):
    """What happened: GO at the first gate and in all, the share that was decided of those that followed, and what was advised."""

    first: float
    go: float
    decided: float
    advice: tuple[float, float, float]


def follow(count: int, won: float, margin: float, rounds: int, *, is_equal: bool = False, seed: int = 0) -> Followed:
    """Ask a gate, and where it is inconclusive once more, with as many samples as it says. The truth is the margin, or that both are equal."""
    source = random.Random(seed)
    rule = PolicyRule(metric="exact", not_worse_by=margin)
    policy = default_policy()
    lost = won if is_equal else won + margin
    now, later = policy.error_of(rule, is_last=False), policy.error_of(rule, look=1)
    first = go = followed = decided = 0
    advised: list[int] = []
    known: dict[tuple[float, float], int | None] = {}
    for _ in range(rounds):
        pairs = [*_draw(source, count, won, lost)]
        found = moved(pairs)
        bounds = found.bounds(now)
        assert bounds is not None
        first += bounds.low > -margin
        if not bounds.low <= -margin <= bounds.high:
            continue
        if (found.won, found.lost) not in known:
            known[found.won, found.lost] = _advice(found, rule, now, later)
        more = known[found.won, found.lost]
        if more is None:
            continue
        advised.append(more)
        pairs += _draw(source, more, won, lost)
        after = moved(pairs).bounds(later)
        assert after is not None
        followed += 1
        go += after.low > -margin
        decided += not after.low <= -margin <= after.high
    cuts = quantiles(advised, n=10)
    return Followed(
        first=first / rounds,
        go=(first + go) / rounds,
        decided=decided / followed,
        advice=(cuts[0], cuts[4], cuts[8]),
    )


def _advice(found: Moved, rule: PolicyRule, now: float, later: float) -> int | None:
    evidence = RuleEvidence(
        rule=rule,
        slice="",
        value=found.value,
        limit=-rule.bound,
        higher=True,
        sampled=found.bounds,
        unit="points",
        samples=found.pairs,
        clusters=found.clusters,
        expected=expect_difference(found),
    )
    wanted = needed_samples(evidence, now, later)
    return None if wanted is None else wanted.samples


def _draw(source: random.Random, count: int, won: float, lost: float) -> Iterator[PairedSample]:
    for _ in range(count):
        drawn = source.random()
        first, second = (1, 0) if drawn < won else (0, 1) if drawn < won + lost else (1, 1)
        yield PairedSample(cluster=str(source.random()), first=first, second=second)


def measure() -> Iterator[Figure]:
    """Simulate both truths."""
    for count, won, margin in SUITES:
        what = f"{count} samples, {won} won, margin {margin}"
        wrong = follow(count, won, margin, ROUNDS)
        right = follow(count, won, margin, ROUNDS // 3, is_equal=True)
        low, middle, high = wrong.advice
        yield Figure(what=f"{what}: wrong GO at once", value=wrong.first, unit="")
        yield Figure(what=f"{what}: wrong GO, advice followed", value=wrong.go, unit="", at_most=MOST)
        yield Figure(what=f"{what}: advice, {low:.0f} to {high:.0f}", value=middle, unit="")
        yield Figure(what=f"{what}: GO of equal agents at once", value=right.first, unit="")
        yield Figure(what=f"{what}: GO of equal agents in all", value=right.go, unit="")
        yield Figure(what=f"{what}: decided where the advice was followed", value=right.decided, unit="")
