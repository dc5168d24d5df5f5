"""Add up the sufficient statistics of a mean with clusters: stores do the same, and `estimate` turns them into numbers."""

from collections.abc import Iterable

import msgspec

PREPARATION = "preparation"
"""The tag of samples that are played only so that others can follow them: they earn nothing, and no number counts them."""


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over clusters c of n_c samples with totals t_c (a sample's value is the mean of its attempts).

    Attributes:
        clusters, samples: how many with at least one scored trial.
        total, squares, cross, sizes: sums over clusters of t_c, t_c squared, n_c t_c and n_c squared.
        sample_squares: sum over samples of the squared sample value (for t over samples).
        points, out_of: sums over scored trials (for the metric `points`).
        point_squares, point_cross, out_of_squares: sums over clusters of their points squared, points times out_of, and
            out_of squared (for the interval of `points`).
        binary: every trial's value is 0 or 1, and every sample has one scored attempt.
        all_or_nothing: every trial's value is 0 or 1.
        scored, planned: trials.
    """

    clusters: int = 0
    samples: int = 0
    total: float = 0.0
    squares: float = 0.0
    cross: float = 0.0
    sizes: float = 0.0
    sample_squares: float = 0.0
    points: float = 0.0
    out_of: float = 0.0
    point_squares: float = 0.0
    point_cross: float = 0.0
    out_of_squares: float = 0.0
    binary: bool = True
    all_or_nothing: bool = True
    scored: int = 0
    planned: int = 0


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """The values of a sample's scored attempts (0 to 1), and how many attempts were planned."""

    cluster: str
    values: tuple[float, ...]
    planned: int
    points: float = 0.0
    out_of: float = 0.0


def tally(cases: Iterable[Case]) -> Tally:
    """Add up samples; those without a scored attempt count in `planned` only.

    >>> tally([Case(cluster="a", values=(1.0, 0.0), planned=2), Case(cluster="b", values=(), planned=2)]).total
    0.5
    """
    size_by_cluster: dict[str, int] = {}
    total_by_cluster: dict[str, float] = {}
    points_by_cluster: dict[str, float] = {}
    out_of_by_cluster: dict[str, float] = {}
    sample_squares = 0.0
    scored = planned = 0
    single = whole = True
    for case in cases:
        planned += case.planned
        if not case.values:
            continue
        mean = sum(case.values) / len(case.values)
        size_by_cluster[case.cluster] = size_by_cluster.get(case.cluster, 0) + 1
        total_by_cluster[case.cluster] = total_by_cluster.get(case.cluster, 0.0) + mean
        sample_squares += mean * mean
        scored += len(case.values)
        points_by_cluster[case.cluster] = points_by_cluster.get(case.cluster, 0.0) + case.points
        out_of_by_cluster[case.cluster] = out_of_by_cluster.get(case.cluster, 0.0) + case.out_of
        single = single and len(case.values) == 1
        whole = whole and all(value in (0.0, 1.0) for value in case.values)
    return Tally(
        clusters=len(size_by_cluster),
        samples=sum(size_by_cluster.values()),
        total=sum(total_by_cluster.values()),
        squares=sum(total**2 for total in total_by_cluster.values()),
        cross=sum(size_by_cluster[name] * total for name, total in total_by_cluster.items()),
        sizes=sum(size**2 for size in size_by_cluster.values()),
        sample_squares=sample_squares,
        points=sum(points_by_cluster.values()),
        out_of=sum(out_of_by_cluster.values()),
        point_squares=sum(points**2 for points in points_by_cluster.values()),
        point_cross=sum(points * out_of_by_cluster[name] for name, points in points_by_cluster.items()),
        out_of_squares=sum(out_of**2 for out_of in out_of_by_cluster.values()),
        binary=single and whole,
        all_or_nothing=whole,
        scored=scored,
        planned=planned,
    )
