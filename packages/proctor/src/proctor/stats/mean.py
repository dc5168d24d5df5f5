"""Compute the mean of numbers of any size with Student's interval, over clusters where samples are not independent.

SE² = G / (G - 1) · Σ_c (t_c - n_c · mean)² / n² over G clusters of n_c numbers that sum to t_c, with Kish's effective
number of clusters less 1 as degrees of freedom; both as in `estimate.py`, which is for values from 0 to 1. With one number
in each cluster they are the plain s² / n and n - 1.
"""

import math
from collections.abc import Sequence

from proctor.core.run import Estimate
from proctor.stats.distributions import t_quantile
from proctor.stats.estimate import NOTHING_SCORED, ONE_CLUSTER, ONE_SAMPLE
from proctor.stats.paired import T_OVER_CLUSTERS, T_OVER_SAMPLES

_LEAST_DEGREES = 0.5  # where one cluster is nearly all


def estimate_mean(
    name: str,
    values: Sequence[float],
    clusters: Sequence[str],
    *,
    planned: int,
    level: float = 0.95,
    least: float = -math.inf,
) -> Estimate:
    """Return the mean of `values`, each of the cluster at its position; no interval from one cluster.

    Args:
        planned: how many numbers there were to be.
        least: what no value can be below, such as 0 of a count.

    >>> found = estimate_mean("tokens", [10, 12, 30, 32], ["a", "a", "b", "b"], planned=4)
    >>> found.value, found.standard_error, found.degrees, found.method
    (21.0, 10.0, 1.0, 't over clusters')
    """
    size_by_cluster: dict[str, int] = {}
    total_by_cluster: dict[str, float] = {}
    for value, cluster in zip(values, clusters, strict=True):
        size_by_cluster[cluster] = size_by_cluster.get(cluster, 0) + 1
        total_by_cluster[cluster] = total_by_cluster.get(cluster, 0.0) + value
    count, groups = len(values), len(size_by_cluster)
    centre = math.fsum(values) / count if count else None
    error = degrees = half = None
    if centre is not None and groups > 1:
        squares = math.fsum((total_by_cluster[name] - size * centre) ** 2 for name, size in size_by_cluster.items())
        error = math.sqrt(squares * groups / (groups - 1)) / count
        degrees = max(count**2 / sum(size**2 for size in size_by_cluster.values()) - 1, _LEAST_DEGREES)
        half = error * t_quantile(0.5 + level / 2, degrees)
    return Estimate(
        name=name,
        value=centre,
        low=None if centre is None or half is None else max(centre - half, least),
        high=None if centre is None or half is None else centre + half,
        level=level,
        method=_method(count, groups),
        scored=count,
        planned=planned,
        clusters=groups,
        standard_error=error,
        degrees=degrees,
        unit="number",
    )


def _method(count: int, groups: int) -> str:
    if groups > 1:
        return T_OVER_SAMPLES if groups == count else T_OVER_CLUSTERS
    return NOTHING_SCORED if not count else ONE_SAMPLE if count == 1 else ONE_CLUSTER
