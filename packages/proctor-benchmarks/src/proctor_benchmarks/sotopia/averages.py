"""Average the rewards of a model over episodes, with the official margin of error.

Source: sotopia a0aaafb440e5, `cli/benchmark/benchmark.py` (`get_avg_reward`). The t quantile is exact here; the official one is
estimated from a million random draws.
"""

import math
from collections.abc import Mapping, Sequence

import msgspec

from proctor.stats.distributions import t_quantile

SETTINGS, EPISODES = "setting_num", "episode_count"


class EpisodeResult(msgspec.Struct, frozen=True, array_like=True):
    """An episode: its environment, the models of the judge and of both players, and the points of both players by dimension."""

    environment: str
    models: tuple[str, ...]
    rewards: tuple[Mapping[str, float], ...]


def averages(results: Sequence[EpisodeResult], model: str) -> tuple[dict[str, float], dict[str, float]]:
    """Return the mean of each dimension, and its margin at 95 %; a model that plays itself counts as the first player.

    The variance is that within a setting, which is an environment with a seat, averaged over settings; that of a single
    episode is 0.

    Raises:
        ValueError: episodes of different dimensions, or fewer than two, which have no margin.
    """
    by_setting: dict[tuple[str, int], list[Mapping[str, float]]] = {}
    for result in results:
        seat = int(result.models[1] != model)
        by_setting.setdefault((result.environment, seat), []).append(result.rewards[seat])
    rewards = [reward for group in by_setting.values() for reward in group]
    if len(rewards) < 2:
        raise ValueError("a margin needs two episodes")
    if any(reward.keys() != rewards[0].keys() for reward in rewards):
        raise ValueError("the episodes have different dimensions")
    quantile = t_quantile(0.975, len(rewards) - 1)
    means: dict[str, float] = {}
    margins: dict[str, float] = {}
    for name in rewards[0]:
        means[name] = sum(reward[name] for reward in rewards) / len(rewards)
        variances = [_variance([reward[name] for reward in group]) for group in by_setting.values()]
        margins[name] = quantile * math.sqrt(sum(variances) / len(variances) / len(rewards))
    counts = {SETTINGS: float(len(by_setting)), EPISODES: float(len(rewards))}
    return means | counts, margins | dict.fromkeys(counts, 0.0)


def _variance(values: Sequence[float]) -> float:
    if len(values) == 1:
        return 0.0
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)
