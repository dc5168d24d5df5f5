"""Say where the noise of a run with several attempts comes from: samples, attempts, a judge's repeats; what more of them buys."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal

import msgspec

from proctor.core.run import Estimate, RunRecord
from proctor.core.score import Score
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.engine.judge_figures import about
from proctor.reports.blocks import Block, Bullets, SectionBlock, TableBlock
from proctor.reports.words import ReportWords
from proctor.stats.components import AttemptValues, Component, Components, components
from proctor.stats.passk import is_success

MOST_SLICES = 100
MOST_UNSTEADY = 100
SHOWN_SLICES = 12
SHOWN_UNSTEADY = 10
FIGURE = "judge_variance"

SourceName = Literal["samples", "attempts", "judge"]
SOURCES: Mapping[SourceName, Sentence] = {
    "samples": say("between samples"),
    "attempts": say("between attempts"),
    "judge": say("between repeats of the judge"),
}


class NoiseSource(msgspec.Struct, frozen=True, kw_only=True):
    """One source of noise.

    Attributes:
        variance: of one trial (of one repeat, for a judge), with its interval; values are 0 to 1.
        share: of the variance of one trial.
        error: its part of the standard error of the run; the squares add up.
    """

    name: SourceName
    variance: Component
    share: float
    error: float


class SliceNoise(msgspec.Struct, frozen=True, kw_only=True):
    """The variances of one slice, and how many of its samples pass sometimes."""

    slice: str
    count: int
    samples: Component
    attempts: Component
    sometimes: int
    judge: Component | None = None


class Unsteady(msgspec.Struct, frozen=True, kw_only=True):
    """A sample whose attempts differ: how many of the scored ones passed, their mean, the lowest and the highest value."""

    sample_id: str
    passed: int
    attempts: int
    mean: float
    low: float
    high: float


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """Where the noise of a scorer's mean comes from.

    Attributes:
        metric: the estimate that `standard_error` belongs to.
        samples: those with two scored attempts or more, of which all else is said.
        always, never, sometimes: samples that got full marks in all attempts, in none, in some; `same` have one value in
            all attempts.
        is_rate: every attempt is right or wrong.
        unsteady: the samples whose attempts differ most.
        more_attempts: the standard error with one more attempt at each sample; `more_samples` with as many trials on further
            samples, None where the intervals are about this very suite; `more_repeats` with one more repeat of a judge.
    """

    scorer: str
    metric: str
    attempts: int
    samples: int
    standard_error: float
    sources: tuple[NoiseSource, ...]
    always: int
    never: int
    sometimes: int
    same: int
    is_rate: bool
    more_attempts: float
    more_samples: float | None
    more_repeats: float | None = None
    unsteady: tuple[Unsteady, ...] = ()
    slices: tuple[SliceNoise, ...] = ()


def noise(record: RunRecord, store: Store, estimates: Sequence[Estimate]) -> Iterator[Noise]:
    """Yield what is known of each scorer; nothing of a run with one attempt, or without two samples that have several."""
    if record.spec.attempts < 2:
        return
    several = len(record.scorers) > 1
    names = list(dict.fromkeys(estimate.slice for estimate in estimates if estimate.slice))[:MOST_SLICES]
    for scorer in record.scorers:
        prefix = f"{scorer}." if several else ""
        split = (estimate for estimate in estimates if not estimate.slice and estimate.error_from_samples is not None)
        main = next((figure for figure in split if figure.name.rpartition(".")[0] == prefix.rstrip(".")), None)
        if main is not None and (found := _of_scorer(record, store, main, scorer, names)) is not None:
            yield found


def _of_scorer(record: RunRecord, store: Store, main: Estimate, scorer: str, slices: Sequence[str]) -> Noise | None:
    samples, repeats = read_attempts(record, store, scorer)
    found = components(samples, repeats=repeats)
    if found is None:
        return None
    samples = [sample for sample in samples if len(sample.values) > 1]
    attempts = record.spec.attempts
    from_samples, from_attempts = main.error_from_samples or 0.0, main.error_from_attempts or 0.0
    one_more = attempts / (attempts + 1)
    passed = [(_passed(sample), len(sample.values)) for sample in samples]
    whole = math.hypot(from_samples, from_attempts)
    sources = tuple(_sources(found, repeats, from_samples, from_attempts))
    return Noise(
        scorer=scorer,
        metric=main.name,
        attempts=attempts,
        samples=len(samples),
        standard_error=whole,
        sources=sources,
        always=sum(count == of for count, of in passed),
        never=sum(count == 0 for count, _ in passed),
        sometimes=sum(0 < count < of for count, of in passed),
        same=sum(min(sample.values) == max(sample.values) for sample in samples),
        is_rate=all(value in (0, 1) for sample in samples for value in sample.values),
        more_attempts=math.hypot(from_samples, from_attempts * math.sqrt(one_more)),
        more_samples=whole * math.sqrt(one_more) if record.spec.target == "samples" else None,
        more_repeats=_more_repeats(sources, repeats),
        unsteady=tuple(_unsteady(samples)),
        slices=tuple(_slices(samples, slices, repeats)),
    )


def _sources(found: Components, repeats: float, from_samples: float, from_attempts: float) -> Iterator[NoiseSource]:
    """Yield the sources; what the standard error has from attempts is divided as the variance of a trial is."""
    judged = found.judge.variance / repeats if found.judge is not None else 0.0
    within = found.attempts.variance + judged
    total = (found.samples.variance + within) or 1.0
    part = judged / within if within else 0.0
    yield NoiseSource(name="samples", variance=found.samples, share=found.samples.variance / total, error=from_samples)
    yield NoiseSource(
        name="attempts",
        variance=found.attempts,
        share=found.attempts.variance / total,
        error=from_attempts * math.sqrt(1 - part),
    )
    if found.judge is not None:
        yield NoiseSource(
            name="judge", variance=found.judge, share=judged / total, error=from_attempts * math.sqrt(part)
        )


def _more_repeats(sources: Sequence[NoiseSource], repeats: float) -> float | None:
    """Return the standard error with one more repeat of each judgement; None where no judge repeated any."""
    errors = {source.name: source.error for source in sources}
    if "judge" not in errors:
        return None
    errors["judge"] *= math.sqrt(repeats / (repeats + 1))
    return math.hypot(*errors.values())


def read_attempts(record: RunRecord, store: Store, scorer: str) -> tuple[list[AttemptValues], float]:
    """Return the values of each sample with a scored attempt, and how often a judge repeated its judgement, in the mean."""
    variances, repeats = _of_judge(record, store, scorer)
    samples = []
    for _, group in groupby(store.values(record.id, scorer), key=lambda value: value.sample_id):
        scored = [value for value in group if value.value is not None]
        if scored:
            judged = [variances.get((entry.sample_id, entry.attempt), 0.0) for entry in scored] if variances else []
            samples.append(
                AttemptValues(
                    scored[0].sample_id,
                    scored[0].cluster,
                    scored[0].tags,
                    [entry.value for entry in scored if entry.value is not None],
                    [figure for figure in judged if figure is not None],
                )
            )
    return samples, repeats


def _of_judge(record: RunRecord, store: Store, scorer: str) -> tuple[Mapping[tuple[str, int], float | None], float]:
    """Return the variance of the repeats of each judgement, None where only one was usable, and their mean number.

    A trial without a verdict was not judged, and has no such variance.
    """
    if about(record, scorer) is None:
        return {}, 1.0
    variances: dict[tuple[str, int], float | None] = {}
    counts = []
    for verdict in store.verdicts(record.id, scorer=scorer):
        means = verdict.result.details.get("means") if isinstance(verdict.result, Score) else None
        known = verdict.result.known.figures.get(FIGURE)
        if isinstance(means, Sequence) and len(means) > 0:
            variances[verdict.sample_id, verdict.attempt] = known
            if known is not None:
                counts.append(len(means))
    return (variances, sum(counts) / len(counts)) if counts else ({}, 1.0)


def _passed(sample: AttemptValues) -> int:
    return sum(map(is_success, sample.values))


def _unsteady(samples: Sequence[AttemptValues]) -> Iterator[Unsteady]:
    """Yield the samples whose attempts differ most."""

    def spread(sample: AttemptValues) -> float:
        mean = math.fsum(sample.values) / len(sample.values)
        return math.fsum((value - mean) ** 2 for value in sample.values) / len(sample.values)

    differing = [sample for sample in samples if min(sample.values) < max(sample.values)]
    for sample in sorted(differing, key=spread, reverse=True)[:MOST_UNSTEADY]:
        yield Unsteady(
            sample_id=sample.sample_id,
            passed=_passed(sample),
            attempts=len(sample.values),
            mean=math.fsum(sample.values) / len(sample.values),
            low=min(sample.values),
            high=max(sample.values),
        )


def _slices(samples: Sequence[AttemptValues], names: Sequence[str], repeats: float) -> Iterator[SliceNoise]:
    """Yield the slices that estimates are reported of, unless one is all there is."""
    members: dict[str, list[AttemptValues]] = {name: [] for name in names}
    for sample in samples:
        for key, value in sample.tags.items():
            if (name := f"{key}={value}") in members:
                members[name].append(sample)
    for name, each in members.items():
        if len(each) < len(samples) and (found := components(each, repeats=repeats)) is not None:
            yield SliceNoise(
                slice=name,
                count=found.count,
                samples=found.samples,
                attempts=found.attempts,
                judge=found.judge,
                sometimes=sum(0 < _passed(sample) < len(sample.values) for sample in each),
            )


def sections(found: Sequence[Noise], words: ReportWords, *, is_short: bool = False) -> list[SectionBlock]:
    """Return the parts of a page about the noise of a run; `is_short` for a terminal."""
    t = words.t
    section_blocks = []
    for one in found:
        title = t("Where the noise comes from (points)")
        lines = [*_sentences(one, words)]
        if one.unsteady:
            lines.append(_unsteady_line(one, words, SHOWN_UNSTEADY if is_short else MOST_UNSTEADY))
        shown = one.slices[: SHOWN_SLICES if is_short else MOST_SLICES]
        if len(shown) < len(one.slices):
            lines.append(t("{count} more slices are in the report.", count=len(one.slices) - len(shown)))
        blocks: list[Block] = [_table(one, words), Bullets(lines)]
        blocks += [_slice_table(one, words, shown)] if shown else []
        section_blocks.append(SectionBlock(f"{title} · {one.scorer}" if len(found) > 1 else title, blocks))
    return section_blocks


def _table(one: Noise, words: ReportWords) -> TableBlock:
    t = words.t
    rows = [
        [
            t(SOURCES[source.name]),
            _deviation(source.variance),
            words.percent(source.share),
            f"±{_points(source.error)}",
        ]
        for source in one.sources
    ]
    columns = [t("Source"), t("Deviation [95%]"), t("Of the variance"), t("Standard error")]
    return TableBlock(columns, rows, right=(1, 2, 3))


def _sentences(one: Noise, words: ReportWords) -> Iterator[str]:
    """Say what more attempts or samples buy, and how many samples are steady."""
    t = words.t
    values = {"now": _finely(one.standard_error), "trials": words.count(one.samples)}
    if one.more_samples is None:
        yield t(
            "Standard error now: ±{now} points. One more attempt at each sample ({trials} trials): ±{attempts}.",
            attempts=_finely(one.more_attempts),
            **values,
        )
    else:
        yield t(
            "Standard error now: ±{now} points. One more attempt at each sample ({trials} trials): ±{attempts}. As many trials on further samples: ±{samples}. However many attempts: at least ±{least}.",
            attempts=_finely(one.more_attempts),
            samples=_finely(one.more_samples),
            least=_finely(one.sources[0].error),
            **values,
        )
    if one.more_repeats is not None:
        yield t("One more repeat of each judgement: ±{repeats}.", repeats=_finely(one.more_repeats))
    if one.is_rate:
        yield t(
            "Of {samples} samples {always} passed always, {never} never, {sometimes} sometimes (flaky).",
            samples=words.count(one.samples),
            always=words.count(one.always),
            never=words.count(one.never),
            sometimes=words.count(one.sometimes),
        )
    else:
        yield t(
            "Of {samples} samples {same} got the same score in all attempts; {always} got full marks always.",
            samples=words.count(one.samples),
            same=words.count(one.same),
            always=words.count(one.always),
        )


def _slice_table(one: Noise, words: ReportWords, shown: Sequence[SliceNoise]) -> TableBlock:
    t = words.t
    columns = [t("Slice"), t("Samples"), t("Deviation of samples"), t("Of attempts")]
    rows = [
        [each.slice, words.count(each.count), _deviation(each.samples), _deviation(each.attempts)] for each in shown
    ]
    if any(each.judge is not None for each in shown):
        columns.append(t("Of the judge"))
        cells = ["–" if each.judge is None else _deviation(each.judge) for each in shown]
        rows = [[*row, cell] for row, cell in zip(rows, cells, strict=True)]
    if one.is_rate:
        columns.append(t("Flaky"))
        rows = [[*row, words.count(each.sometimes)] for row, each in zip(rows, shown, strict=True)]
    return TableBlock(columns, rows, right=range(1, len(columns)))


def _unsteady_line(one: Noise, words: ReportWords, most: int) -> str:
    t = words.t
    shown = one.unsteady[:most]
    if one.is_rate:
        title, parts = t("Flaky samples"), [f"{each.sample_id} ({each.passed}/{each.attempts})" for each in shown]
    else:
        title = t("Samples whose attempts differ most")
        parts = [f"{each.sample_id} ({words.span(each.low, each.high)})" for each in shown]
    count = one.sometimes if one.is_rate else one.samples - one.same
    more = [] if len(shown) == count else [t("and {count} more", count=words.count(count - len(shown)))]
    return f"{title}: {', '.join([*parts, *more])}"


def _deviation(component: Component) -> str:
    value, low, high = (_points(math.sqrt(end)) for end in (component.variance, component.low, component.high))
    return f"{value} [{low}, {high}]"


def _finely(share: float) -> str:
    return f"{100 * share:.2f}"


def _points(share: float) -> str:
    return f"{100 * share:.1f}"
