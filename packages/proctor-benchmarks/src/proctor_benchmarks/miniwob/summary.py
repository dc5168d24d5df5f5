"""Estimate the mean rewards of the page, next to the success rate: over the first attempts, clustered by task."""

from collections.abc import Sequence

from proctor.core.run import Estimate
from proctor.core.score import Score
from proctor.core.task import Judged
from proctor.stats.mean import estimate_mean

REWARDS = ("raw_reward", "reward")


def summarise(estimates: Sequence[Estimate], judged: Judged) -> list[Estimate]:
    """Return the mean raw reward and the mean reward, each between -1 and 1."""
    pairs: list[tuple[str, Score]] = []
    for sample, verdict in judged():
        if verdict.attempt == 0 and isinstance(verdict.result, Score) and "raw_reward" in verdict.result.details:
            pairs.append((sample.cluster or sample.id, verdict.result))
    if not pairs:
        return []
    clusters = [cluster for cluster, _ in pairs]
    planned = max((estimate.planned for estimate in estimates if not estimate.slice), default=len(pairs))
    return [
        estimate_mean(
            f"mean_{name}", [float(score.details[name]) for _, score in pairs], clusters, planned=planned, least=-1
        )
        for name in REWARDS
    ]
