"""Compare a judge with people: how far they agree, and what its numbers would be if people had judged.

All numbers are points on the scale of the people, to which the judge's shares are converted. What people say of an item
together is the mean of their points, and that it passes when all of them pass it.
"""

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from statistics import fmean

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.run import Estimate
from proctor.core.sentence import Sentence, say
from proctor.engine.judge_figures import CORRECTED
from proctor.stats.paired import PairedSample, compare
from proctor_judging.judges.ratings import (
    AVERAGE,
    PASSES,
    PEOPLE,
    AnswerKey,
    Rated,
    Scale,
    of_verdicts,
    together,
    with_average,
)
from proctor_judging.stats import correction
from proctor_judging.stats.agreement import cohen_kappa, krippendorff_alpha, share_equal

__all__ = [
    "PEOPLE",
    "AgreementRow",
    "Apart",
    "Rated",
    "Scale",
    "agree",
    "calibration",
    "corrected",
    "is_calibrated",
    "items_apart",
    "of_verdicts",
    "raters_apart",
    "reading",
    "together",
    "with_average",
]

WANTED_LABELS = (
    50  # from which on the corrected figures are narrow enough to be of use; below 10 the labels alone count
)
RELIABLE, TENTATIVE = 0.8, 2 / 3  # Krippendorff 2004, "Reliability in Content Analysis"


class AgreementRow(msgspec.Struct, frozen=True, kw_only=True):
    """The agreement of raters on one dimension.

    Attributes:
        equal: how often they say the same, to the nearest whole point.
        kappa: of two raters, with quadratic weights for points; None for more than two.
        difference: the second of two raters minus the first, in points (of passing: in shares); None for more than two.
    """

    name: str
    alpha: Estimate
    equal: Estimate
    kappa: Estimate | None = None
    difference: Estimate | None = None
    verdict: Sentence


class Apart(msgspec.Struct, frozen=True, kw_only=True):
    """The mean distance of a rater, or of the ratings of an item, from the other ratings, as a share of the scale."""

    name: str
    distance: float
    ratings: int


def agree(
    rated: Sequence[Rated], scale: Scale, *, clusters: Mapping[str, str] = {}, level: float = 0.95
) -> list[AgreementRow]:
    """Return how far raters agree, by dimension; what only one of them rated is left out.

    Args:
        clusters: of items that are not independent, such as those of one document, by item; attempts at one never are.

    Raises:
        BadInput: a rater rated an item twice.
    """
    raters = list(dict.fromkeys(rating.rater for rating in rated))
    by_item: dict[AnswerKey, dict[str, dict[str, float]]] = {}
    for rating in rated:
        said = by_item.setdefault(rating.key, {})
        if rating.rater in said:
            raise BadInput("{rater} rated the item '{item}' twice.", rater=rating.rater, item=rating.item)
        said[rating.rater] = rating.values()
    names = dict.fromkeys(name for rating in rated for name in rating.values())
    tables = {name: _table(by_item.values(), raters, name) for name in names}
    of_items = [clusters.get(item, item) for item, _ in by_item]
    if len({*of_items}) == len(of_items):
        of_items = []
    return [
        _row(name, table, of_items, scale, level)
        for name, table in tables.items()
        if any(_count(unit) > 1 for unit in table)
    ]


def raters_apart(rated: Sequence[Rated], scale: Scale) -> list[Apart]:
    """Return raters by their distance from the mean of the others, the farthest first."""
    distances: dict[str, list[float]] = {}
    for values_by_rater in _by_item_and_name(rated, scale).values():
        for rater, value in values_by_rater.items():
            others = [other for name, other in values_by_rater.items() if name != rater]
            if others:
                distances.setdefault(rater, []).append(abs(value - fmean(others)))
    return _sorted(distances)


def items_apart(rated: Sequence[Rated], scale: Scale) -> list[Apart]:
    """Return items by the spread of their ratings, the widest first; those with one rater are left out."""
    distances: dict[str, list[float]] = {}
    for ((item, attempt), _), values_by_rater in _by_item_and_name(rated, scale).items():
        if len(values_by_rater) > 1:
            name = f"{item} #{attempt + 1}" if attempt else item
            distances.setdefault(name, []).append(max(values_by_rater.values()) - min(values_by_rater.values()))
    return _sorted(distances)


def corrected(
    judged: Sequence[Rated],
    people: Sequence[Rated],
    scale: Scale,
    *,
    clusters: Mapping[str, str] = {},
    level: float = 0.95,
) -> list[Estimate]:
    """Return what the mean of each dimension and the pass rate would be if people had judged; shares from 0 to 1.

    All are corrected by PPI++, which takes the labelled items for a random draw. The note of each says from how many labels.
    """
    human = {rating.key: rating for rating in people}
    labelled = [(human[rating.key], rating) for rating in judged if rating.key in human]
    names = [
        name
        for name in dict.fromkeys(n for rating in judged for n in rating.points)
        if any(name in h.points for h, _ in labelled)
    ]
    shares = {
        name: {rating.key: scale.share(rating.points[name]) for rating in judged if name in rating.points}
        for name in names
    }
    wanted = {
        name: {rating.key: scale.share(rating.points[name]) for rating in people if name in rating.points}
        for name in names
    }
    if any(person.passed is not None and judge.passed is not None for person, judge in labelled):
        shares[PASSES] = {rating.key: float(rating.passed) for rating in judged if rating.passed is not None}
        wanted[PASSES] = {rating.key: float(rating.passed) for rating in people if rating.passed is not None}
    return [_mean(name, shares[name], wanted[name], human.keys(), clusters, level) for name in shares]


def is_calibrated(rows: Sequence[AgreementRow], least: float) -> bool:
    """True if all of the interval of alpha lies at or above the threshold."""
    main = _main(rows)
    return main is not None and main.alpha.low is not None and main.alpha.low >= least


def calibration(rows: Sequence[AgreementRow], labels: int, raters: int, least: float) -> Sentence:
    """Return the note on a judge's figures after a comparison with people; `least` is the agreement that is enough."""
    main = _main(rows)
    if main is None or main.alpha.value is None or main.alpha.low is None or main.alpha.high is None:
        return say("checked against {labels} labelled items, agreement cannot be told", labels=labels)
    values = {
        "labels": labels,
        "raters": raters,
        "alpha": f"{main.alpha.value:.2f}",
        "low": f"{main.alpha.low:.2f}",
        "high": f"{main.alpha.high:.2f}",
        "least": f"{least:.2g}",
    }
    if is_calibrated(rows, least):
        return say(
            "checked against {labels} items labelled by {raters}: alpha {alpha} [{low}, {high}], at least {least}",
            **values,
        )
    return say(
        "checked against {labels} items labelled by {raters}: alpha {alpha} [{low}, {high}], not shown to reach {least}",
        **values,
    )


def reading(alpha: Estimate) -> Sentence:
    """Describe the agreement in words, by its interval.

    >>> str(reading(Estimate(name="alpha", value=0.9, low=0.85, high=0.95, unit="number")))
    'reliable'
    """
    if alpha.low is None or alpha.high is None:
        return say("cannot be told")
    if alpha.low >= RELIABLE:
        return say("reliable")
    if alpha.low >= TENTATIVE:
        return say("at least tentative")
    return say("too low to rely on") if alpha.high < TENTATIVE else say("not enough evidence")


def _main(rows: Sequence[AgreementRow]) -> AgreementRow | None:
    """Return the row by which a judge is trusted or not: its average, else passing, else the first dimension."""
    return next((row for name in (AVERAGE, PASSES) for row in rows if row.name == name), rows[0] if rows else None)


def _table(
    items: Iterable[Mapping[str, Mapping[str, float]]], raters: Sequence[str], name: str
) -> list[tuple[float | None, ...]]:
    return [tuple(said.get(rater, {}).get(name) for rater in raters) for said in items]


def _row(
    name: str, table: Sequence[tuple[float | None, ...]], clusters: Sequence[str], scale: Scale, level: float
) -> AgreementRow:
    is_pass = name == PASSES
    alpha = krippendorff_alpha(table, scale="nominal" if is_pass else "ordinal", clusters=clusters, level=level)
    kappa = difference = None
    if len(table[0]) == 2:
        first, second = ([unit[rater] for unit in table] for rater in (0, 1))
        kappa = cohen_kappa(first, second, weights=None if is_pass else "quadratic", clusters=clusters, level=level)
        named = clusters or [str(index) for index in range(len(table))]
        told = [
            (cluster, a, b)
            for cluster, a, b in zip(named, first, second, strict=True)
            if a is not None and b is not None
        ]
        difference = _difference(told, Scale(low=0, high=1) if is_pass else scale, level)
    return AgreementRow(
        name=name,
        alpha=alpha,
        equal=share_equal(
            [[_nearest(value, scale) for value in unit] for unit in table], clusters=clusters, level=level
        ),
        kappa=kappa,
        difference=difference,
        verdict=reading(alpha),
    )


def _nearest(value: float | None, scale: Scale) -> float | None:
    """Return the nearest whole point, where a scale has some."""
    return value if value is None or scale.high - scale.low < 2 else math.floor(value + 0.5)


def _difference(pairs: Sequence[tuple[str, float, float]], scale: Scale, level: float) -> Estimate:
    """Return the mean of second - first, in points."""
    width = scale.high - scale.low
    difference = compare(
        [
            PairedSample(cluster=cluster, first=scale.share(second), second=scale.share(first))
            for cluster, first, second in pairs
        ],
        level=level,
    )
    return Estimate(
        name="difference",
        value=difference.value * width,
        low=None if difference.low is None else difference.low * width,
        high=None if difference.high is None else difference.high * width,
        level=level,
        method=difference.method,
        scored=len(pairs),
        planned=len(pairs),
        clusters=difference.clusters,
        unit="number",
    )


def _mean(
    name: str,
    judged: Mapping[AnswerKey, float],
    people: Mapping[AnswerKey, float],
    labelled: Container[AnswerKey],
    clusters: Mapping[str, str],
    level: float,
) -> Estimate:
    pairs = [
        correction.Labelled(human=people[key], judge=share, cluster=clusters.get(key[0], key[0]))
        for key, share in judged.items()
        if key in people
    ]
    others = [key for key in judged if key not in labelled]
    estimate = correction.ppi(
        pairs,
        [judged[key] for key in others],
        clusters=[clusters.get(item, item) for item, _ in others],
        level=level,
    )
    return _named(name, estimate)


def _named(name: str, found: Estimate) -> Estimate:
    note = found.note or say(
        "what people would say, from {labels} labels among {judged} judged items",
        labels=found.scored,
        judged=found.planned,
    )
    return replace(found, name=f"{name}{CORRECTED}", note=note)


def _by_item_and_name(rated: Sequence[Rated], scale: Scale) -> dict[tuple[AnswerKey, str], dict[str, float]]:
    found: dict[tuple[AnswerKey, str], dict[str, float]] = {}
    for rating in rated:
        for name, points in rating.points.items():
            if name != AVERAGE:
                found.setdefault((rating.key, name), {})[rating.rater] = scale.share(points)
        if rating.passed is not None and not rating.points:
            found.setdefault((rating.key, PASSES), {})[rating.rater] = float(rating.passed)
    return found


def _sorted(distances: Mapping[str, Sequence[float]]) -> list[Apart]:
    found = [Apart(name=name, distance=fmean(values), ratings=len(values)) for name, values in distances.items()]
    return sorted(found, key=lambda one: (-one.distance, one.name))


def _count(unit: Iterable[float | None]) -> int:
    return sum(rating is not None for rating in unit)
