"""Decide how many samples of each stratum a further stage draws, and how much those of each stage count.

The next sample says most where outcomes are uncertain: with weights W_h and standard deviations s_h of the strata, n samples
tell most about the mean if stratum h has n · W_h s_h / Σ W s of them (Neyman 1934). s_h is that of the samples so far, to
which the spread within all strata is added as ten observations: of a stratum where all happened to be right it is not known
that all are.

A stratum that happened to do well gets few further samples, so the mean over all its samples would keep that good luck. Each
stage is unbiased by itself, whatever the earlier ones showed. So the means of the stages are weighted by numbers that do not
depend on outcomes: the share of stage k in all samples drawn, in strata of which it has some. That takes the part of the gain
of Neyman's allocation that is the share of the later stages.

Source: Cochran, Sampling Techniques, 3rd edition, 5.5; two-phase designs in Hahn, Hirano and Karlan 2011.
"""

import math
from collections.abc import Mapping

from proctor.core.run import Strata
from proctor.core.tally import Tally

_OWN = 10.0  # observations as which the spread within all strata counts


def allocate(
    sizes: Mapping[str, int], drawn: Mapping[str, int], tallies: Mapping[str, Tally], more: int
) -> dict[str, int]:
    """Return how many further samples to draw of each stratum: at least one where some are left.

    Args:
        sizes: samples of the task.
        drawn: those that were drawn until now.
        tallies: what they earned.

    >>> sure, unsure = (Tally(samples=20, total=total, sample_squares=total) for total in (20, 10))
    >>> allocate({"a": 500, "b": 500}, {"a": 20, "b": 20}, {"a": sure, "b": unsure}, 100)
    {'a': 31, 'b': 69}
    """
    left = {name: size - drawn.get(name, 0) for name, size in sizes.items() if size > drawn.get(name, 0)}
    more = min(more, sum(left.values()))
    spreads = _spreads(tallies, left)
    counts = dict.fromkeys(left, 1)
    for _ in range(more - sum(counts.values())):  # the next one goes where it lessens the variance most
        name = max(
            (name for name in left if counts[name] < left[name]),
            key=lambda name: (sizes[name] * spreads[name]) ** 2 / (counts[name] * (counts[name] + 1)),
        )
        counts[name] += 1
    return counts


def narrowing(
    sizes: Mapping[str, int], drawn: Mapping[str, int], tallies: Mapping[str, Tally], counts: Mapping[str, int]
) -> float:
    """Return by about what share the interval is narrower than if as many further samples were drawn in proportion.

    >>> sure, unsure = (Tally(samples=20, total=total, sample_squares=total) for total in (20, 10))
    >>> sizes, drawn = {"a": 500, "b": 500}, {"a": 20, "b": 20}
    >>> round(narrowing(sizes, drawn, {"a": sure, "b": unsure}, {"a": 63, "b": 137}), 3)
    0.052
    >>> narrowing(sizes, drawn, {"a": sure, "b": unsure}, {"a": 100, "b": 100})
    0.0
    """
    spreads, total = _spreads(tallies, sizes), sum(sizes.values())
    first, later = sum(drawn.values()), sum(counts.values())

    def variance(of: Mapping[str, float]) -> float:
        return math.fsum((sizes[name] / total * spreads[name]) ** 2 / count for name, count in of.items() if count)

    alike = {name: later * size / total for name, size in sizes.items()}
    before = first**2 * variance(drawn)
    return 1 - math.sqrt((before + later**2 * variance(counts)) / (before + later**2 * variance(alike)))


def _spreads(tallies: Mapping[str, Tally], names: Mapping[str, int]) -> dict[str, float]:
    own = {
        name: max(tally.sample_squares - tally.total**2 / tally.samples, 0.0)
        for name, tally in tallies.items()
        if tally.samples
    }
    freedom = sum(tally.samples - 1 for tally in tallies.values() if tally.samples)
    pooled = math.fsum(own.values()) / freedom if freedom else 0.0
    if not pooled:
        return dict.fromkeys(names, 1.0)
    counts = {name: tallies[name].samples if name in own else 1 for name in names}
    return {name: math.sqrt((own.get(name, 0.0) + _OWN * pooled) / (counts[name] - 1 + _OWN)) for name in names}


def name_in_stage(stratum: str, stage: int) -> str:
    """Return the name under which the samples that a stage drew of a stratum are a stratum of their own."""
    return f"{stratum} ({stage + 1})" if stage else stratum


def stage_by_sample(known: Strata) -> dict[str, int]:
    """Return the stage of each sample that a later stage drew; none where stages need no weights of their own."""
    return {id: at for at, stage in enumerate(known.stages) for id in stage.ids} if _is_weighted(known) else {}


def stage_sizes(known: Strata) -> dict[str, float]:
    """Return how many samples of the task the samples of each stratum and stage represent."""
    if not _is_weighted(known):
        return {name: float(size) for name, size in known.sizes.items()}
    totals = [sum(stage.counts.values()) for stage in known.stages]
    sizes: dict[str, float] = {}
    for name, size in known.sizes.items():
        among = {at: totals[at] for at, stage in enumerate(known.stages) if stage.counts.get(name)}
        if not among:
            sizes[name] = float(size)
        for at, total in among.items():
            sizes[name_in_stage(name, at)] = size * total / sum(among.values())
    return sizes


def _is_weighted(known: Strata) -> bool:
    """True if where samples were drawn depends on outcomes: not with one stratum, nor where all were drawn."""
    return len(known.stages) > 1 and len(known.sizes) > 1 and known.drawn < known.total
