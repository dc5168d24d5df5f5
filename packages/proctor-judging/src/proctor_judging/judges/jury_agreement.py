"""Measure how the judges of a jury agree over a whole run: coefficients, each judge's leaning, outliers, abstentions and cost."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean, median, quantiles, stdev
from typing import Any

import msgspec

from proctor.core.judge import JudgeInfo
from proctor.core.run import Estimate
from proctor.core.sentence import Sentence, say
from proctor.core.tally import Case, tally
from proctor.core.trial import Verdict
from proctor.engine.judge_figures import marked
from proctor.stats.estimate import estimate
from proctor.stats.mean import estimate_mean
from proctor_judging.stats.agreement import cohen_kappa, krippendorff_alpha

Z = 3.0  # standard deviations from which a score is an outlier
FENCE = 1.5  # the same in ranges between the quartiles (Tukey)
LEANING = 1 / 8  # of the scale: half a point on a scale of 1 to 5
NAMED = 5


class Outlier(msgspec.Struct, frozen=True, kw_only=True):
    """A score far from those of its jury; `apart` is from the median of all its judges, `z` in standard deviations."""

    sample: str
    judge: str
    points: float
    apart: float
    z: float


class _Item(msgspec.Struct, frozen=True, kw_only=True):
    sample: str
    cluster: str
    judges: Mapping[str, Mapping[str, Any]]
    scale: tuple[float, float]
    passing: float | None


def numbers(
    verdicts: Iterable[Verdict], judge: JudgeInfo, prefix: str = "", clusters: Mapping[str, str] = {}
) -> Iterator[Estimate]:
    """Yield the estimates; judges that the controls left out are named in the notes.

    Args:
        clusters: of samples that are not independent, by sample.
    """
    items, excluded = _items(verdicts, judge, clusters)
    names = [name for name in judge.model.split(", ") if name not in excluded]
    note: str | Sentence = marked(judge)
    if excluded:
        note = say("{note}; left out after the controls: {names}", note=note, names=", ".join(excluded))
    means = {name: [item.judges.get(name, {}).get("mean") for item in items] for name in names}
    grouped = [item.cluster for item in items]
    units = list(zip(*means.values(), strict=True)) if items else []
    alpha = krippendorff_alpha(units, scale="interval", clusters=grouped if units else [])
    yield _noted(alpha, f"{prefix}alpha", "", note)
    passing = next((item.passing for item in items), None)
    if passing is not None:
        passed = {name: [_passes(mean, passing) for mean in column] for name, column in means.items()}
        for first, second in combinations(names, 2):
            yield _noted(
                cohen_kappa(passed[first], passed[second], clusters=grouped),
                f"{prefix}kappa",
                f"judges={first} · {second}",
                note,
            )
    found = outliers(items)
    for name in names:
        yield from _of_judge(name, items, [outlier for outlier in found if outlier.judge == name], prefix, note)


def outliers(items: Sequence[_Item]) -> list[Outlier]:
    """Return scores that are unusually far from the jury's median, compared with all such distances of the run (z and IQR)."""
    apart = [(item, *row) for item in items for row in _apart(item)]
    distances = [distance for *_, distance in apart]
    if len(distances) < 4:
        return []
    centre, deviation = fmean(distances), stdev(distances)
    lower, _, upper = quantiles(distances, n=4, method="inclusive")
    reach = FENCE * (upper - lower)
    found = []
    for item, name, mean, distance in apart:
        z = (distance - centre) / deviation if deviation else 0.0
        beyond = reach > 0 and not lower - reach <= distance <= upper + reach
        if abs(z) > Z or beyond:
            found.append(Outlier(sample=item.sample, judge=name, points=mean, apart=distance, z=z))
    return sorted(found, key=lambda one: -abs(one.apart))


def _items(
    verdicts: Iterable[Verdict], judge: JudgeInfo, clusters: Mapping[str, str] = {}
) -> tuple[list[_Item], list[str]]:
    items: list[_Item] = []
    excluded: dict[str, None] = {}
    average = next(figure for figure in judge.figures if figure.name == "average")
    for verdict in verdicts:
        details = verdict.result.details
        excluded |= dict.fromkeys(details.get("excluded", ()))
        if isinstance(judges := details.get("judges"), Mapping):
            items.append(
                _Item(
                    sample=verdict.sample_id,
                    cluster=clusters.get(verdict.sample_id, verdict.sample_id),
                    judges=judges,
                    scale=(average.low, average.high),
                    passing=judge.passing,
                )
            )
    return items, list(excluded)


def _of_judge(
    name: str, items: Sequence[_Item], found: Sequence[Outlier], prefix: str, note: str | Sentence
) -> Iterator[Estimate]:
    slice_ = f"judge={name}"
    width = items[0].scale[1] - items[0].scale[0] if items else 1.0
    apart = [(item, distance) for item in items for judge, _, distance in _apart(item) if judge == name]
    leaning = _noted(_mean(apart, len(items)), f"{prefix}leaning", slice_, note)
    if leaning.value is not None and abs(leaning.value) > LEANING * width and _is_clear(leaning):
        far = say("an outlier among the judges: it {way} than the others", way=_way(leaning.value))
        leaning = msgspec.structs.replace(leaning, note=say("{note}; {more}", note=note, more=far))
    yield leaning
    given = [item for item in items if name in item.judges]
    said = [item.judges[name] for item in given]
    scored = [item for item in given if item.judges[name].get("mean") is not None]
    outlying = {(outlier.sample, outlier.apart) for outlier in found}
    away = {id(item): (item.sample, distance) for item, distance in apart}
    rate = _rate(f"{prefix}outlier_rate", slice_, scored, (away.get(id(one)) in outlying for one in scored), note)
    if found:
        samples = ", ".join(one.sample for one in found[:NAMED])
        rate = msgspec.structs.replace(rate, note=say("{note}; first of all {samples}", note=note, samples=samples))
    yield rate
    abstained = (not record.get("failed") and record.get("mean") is None for record in said)
    yield _rate(f"{prefix}abstained_rate", slice_, given, abstained, note)
    yield _rate(f"{prefix}failed_rate", slice_, given, (bool(record.get("failed")) for record in said), note)
    tokens = [(item, float(record.get("tokens", 0))) for item, record in zip(given, said, strict=True)]
    yield _noted(_mean(tokens, len(items), least=0.0), f"{prefix}tokens", slice_, note)
    costs = [
        (item, float(record["cost"]))
        for item, record in zip(given, said, strict=True)
        if record.get("cost") is not None
    ]
    if costs:
        yield _noted(_mean(costs, len(items), least=0.0), f"{prefix}cost", slice_, note)


def _mean(values: Sequence[tuple[_Item, float]], planned: int, *, least: float = -math.inf) -> Estimate:
    return estimate_mean(
        "", [value for _, value in values], [item.cluster for item, _ in values], planned=planned, least=least
    )


def _apart(item: _Item) -> Iterator[tuple[str, float, float]]:
    """Yield each judge with its points and their distance from the median; of fewer than three, nobody knows who is off."""
    means = {name: mean for name, judge in item.judges.items() if (mean := judge.get("mean")) is not None}
    if len(means) > 2:
        middle = median(means.values())
        yield from ((name, mean, mean - middle) for name, mean in means.items())


def _is_clear(one: Estimate) -> bool:
    """True if the interval excludes 0."""
    return one.low is not None and one.high is not None and not one.low <= 0 <= one.high


def _way(leaning: float) -> Sentence:
    return say("gives more") if leaning > 0 else say("gives less")


def _passes(mean: float | None, passing: float) -> str | None:
    return None if mean is None else "pass" if mean >= passing - 1e-9 else "fail"


def _rate(name: str, slice_: str, items: Sequence[_Item], counted: Iterable[bool], note: str | Sentence) -> Estimate:
    cases = (
        Case(cluster=item.cluster, values=(float(one),), planned=1) for item, one in zip(items, counted, strict=True)
    )
    return _noted(estimate(name, tally(cases)), name, slice_, note)


def _noted(one: Estimate, name: str, slice_: str, note: str | Sentence) -> Estimate:
    together = say("{note}; {more}", note=note, more=one.note) if one.note else note
    return msgspec.structs.replace(one, name=name, slice=slice_, note=together)
