"""The numbers of a run that a judge gave: each with its interval and denominator, and marked as uncalibrated.

A verdict of a judge holds `figures` among its details: shares by name, such as `pass_rate`. They become estimates in the
same way as the score itself, over samples and clusters; on the scale of a rubric where they have one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from proctor import registry
from proctor.core.judge import PROVENANCE, JudgedFigure, JudgeInfo
from proctor.core.main_number import RESERVED
from proctor.core.run import Estimate, RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.tally import Case, Tally, tally
from proctor.core.task import Store
from proctor.core.trial import Value, Verdict
from proctor.stats import strata
from proctor.stats.estimate import estimate

Verdicts = Callable[[], Iterable[Verdict]]

DIMENSION = "dimension:"
CORRECTED = " (corrected)"  # after the name of a figure: what it would be if people had judged


def about(record: RunRecord, scorer: str) -> JudgeInfo | None:
    """Return what judged a run under the name of a scorer; None where no model did."""
    value = record.provenance.get(PROVENANCE, {}).get(scorer)
    return None if value is None else msgspec.convert(value, JudgeInfo)


def estimates(
    record: RunRecord,
    store: Store,
    scorer: str,
    judge: JudgeInfo,
    plain: Sequence[Estimate],
    *,
    prefix: str = "",
    weighing: strata.Weighing | None = None,
) -> list[Estimate]:
    """Return the estimates of a judge: those of its values, renamed and marked, then its figures.

    Args:
        plain: what `stats.estimate.metrics` makes of its values.
        weighing: how strata are weighted, where the run is not all of its task.
    """
    figures = list(plain)
    if judge.main:
        shown = [each for each in plain if not each.name.endswith("points")]
        figures = [replace(each, name=f"{prefix}{judge.main}") for each in shown if _is_told(each, judge)]
    cases = _Cases(record, store, scorer, judge, weighing)
    planned = {each.slice: each.planned for each in plain}
    for figure in judge.figures:
        if figure.name != judge.main:
            figures.extend(cases.estimates(figure, prefix, planned))
    note = marked(judge) if cases.versions < 2 else mixed(judge)
    if cases.from_cache:
        note = say("{note}; {count} replies from the cache", note=note, count=cases.from_cache)
    figures = [
        replace(each, note=say("{note}; {more}", note=note, more=each.note) if each.note else note) for each in figures
    ]
    concluded = registry.JUDGES.find(judge.kind).concluded if judge.kind else None
    if concluded is not None:
        figures = concluded(
            figures, lambda: store.verdicts(record.id, scorer=scorer), judge, prefix, cases.cluster_by_sample
        )
    return _beside(figures, {f"{prefix}{shown_name(each.name, judge)}": each for each in judge.corrected})


def shown_name(name: str, judge: JudgeInfo) -> str:
    """Return the name of a figure among the numbers of a run; one that another number has is qualified.

    >>> judge = JudgeInfo(model="m", main="score", figures=(JudgedFigure(name="accuracy"), JudgedFigure(name="tone")))
    >>> shown_name("accuracy", judge), shown_name("tone", judge)
    ('dimension:accuracy', 'tone')
    """
    plain = name.removesuffix(CORRECTED)
    is_figure = plain != judge.main and any(figure.name == plain for figure in judge.figures)
    return f"{DIMENSION}{name}" if is_figure and plain.casefold() in RESERVED else name


def _beside(found: Sequence[Estimate], corrected: Mapping[str, Estimate]) -> list[Estimate]:
    """Return the estimates of a judge, each followed by what it would be if people had judged, where that is known."""
    shown: list[Estimate] = []
    for each in found:
        shown.append(each)
        name = f"{each.name}{CORRECTED}"
        if not each.slice and name in corrected:
            shown.append(replace(corrected[name], name=name))
    return shown


def _is_told(one: Estimate, judge: JudgeInfo) -> bool:
    return not judge.by or one.slice.startswith(f"{judge.by}=")


def marked(judge: JudgeInfo) -> Sentence:
    """Return the note of every figure of a judge."""
    if not judge.calibration:
        return say("judged by {judge}, uncalibrated", judge=judge.model)
    if not judge.calibrated:
        return say("judged by {judge}, uncalibrated: {calibration}", judge=judge.model, calibration=judge.calibration)
    return say("judged by {judge}; {calibration}", judge=judge.model, calibration=judge.calibration)


def compared(one: RunRecord, other: RunRecord, scorer: str) -> Iterator[Sentence]:
    """Yield notes on a scorer's judges in two compared runs: which judge it was, or how they differ."""
    first, second = about(one, scorer), about(other, scorer)
    if first is None or second is None:
        return
    yield say("{scorer}: {judged}.", scorer=scorer, judged=marked(first))
    if (first.model, first.rubric_digest) != (second.model, second.rubric_digest):
        yield say(
            "The runs were judged in different ways by {scorer}: {first} and {second}.",
            scorer=scorer,
            first=f"{first.model} ({first.rubric})",
            second=f"{second.model} ({second.rubric})",
        )


def mixed(judge: JudgeInfo) -> Sentence:
    """Return the note on figures from verdicts of different versions of a judge."""
    return say(
        "{judged}; verdicts of different versions of the judge are mixed: judge the run again", judged=marked(judge)
    )


class _Cases:
    """The figures of every attempt, by the tag they are reported by.

    Attributes:
        versions: how many versions of the judge gave the verdicts that count.
        cluster_by_sample: the cluster of each sample.
        from_cache: how many of the replies that they rest on came from the cache.
    """

    def __init__(
        self, record: RunRecord, store: Store, scorer: str, judge: JudgeInfo, weighing: strata.Weighing | None
    ) -> None:
        self._judge = judge
        self._weighing = weighing
        self._attempts = record.spec.attempts
        self._by_key: dict[tuple[str, int], Mapping[str, float]] = {}
        self.from_cache = 0
        versions = set()
        for verdict in store.verdicts(record.id, scorer=scorer):
            self._by_key[verdict.sample_id, verdict.attempt] = verdict.result.known.figures
            versions.add(verdict.scorer_version)
            self.from_cache += verdict.result.known.replies_from_cache
        self.versions = len(versions)
        self._values: dict[str, dict[str, list[Value]]] = {}
        self.cluster_by_sample: dict[str, str] = {}
        for value in store.values(record.id, scorer):
            self.cluster_by_sample[value.sample_id] = value.cluster
            if judge.by in value.tags or not judge.by:
                key = f"{judge.by}={value.tags[judge.by]}" if judge.by else ""
                self._values.setdefault(key, {}).setdefault(value.sample_id, []).append(value)

    def estimates(self, figure: JudgedFigure, prefix: str, planned: Mapping[str, int]) -> Iterator[Estimate]:
        for slice_, by_sample in (self._values or {"": {}}).items():
            whole = replace(self._tally(figure, by_sample.values()), planned=planned.get(slice_, 0))
            name = f"{prefix}{shown_name(figure.name, self._judge)}"
            if self._weighing is None:
                computed = estimate(name, whole, slice=slice_)
            else:
                parts = self._weighing.strata(slice_, self._by_stratum(figure, by_sample.values()))
                of_suite = self._weighing.of_suite
                weighted = strata.estimate(name, parts, slice=slice_, clusters=whole.clusters, of_suite=of_suite)
                computed = replace(weighted, planned=whole.planned)
            if computed.value is None and figure.empty is not None and any(self._by_key.values()):
                computed = replace(computed, value=figure.empty, low=0.0, high=1.0)
            yield on_scale(computed, figure)

    def _tally(self, figure: JudgedFigure, samples: Iterable[Sequence[Value]]) -> Tally:
        return tally(self._case(figure, attempts) for attempts in samples)

    def _by_stratum(self, figure: JudgedFigure, samples: Iterable[Sequence[Value]]) -> dict[str, Tally]:
        by_stratum: dict[str, list[Sequence[Value]]] = {}
        for attempts in samples:
            attempt = attempts[0]
            stratum = "" if self._weighing is None else self._weighing.stratum_of(attempt.sample_id, attempt.tags)
            by_stratum.setdefault(stratum, []).append(attempts)
        return {stratum: self._tally(figure, members) for stratum, members in by_stratum.items()}

    def _case(self, figure: JudgedFigure, attempts: Iterable[Value]) -> Case:
        attempts = list(attempts)
        shares = [share for attempt in attempts if (share := self._share(figure, attempt)) is not None]
        return Case(
            cluster=attempts[0].cluster,
            values=tuple(shares),
            planned=self._attempts,
            points=sum(shares),
            out_of=len(shares),
        )

    def _share(self, figure: JudgedFigure, value: Value) -> float | None:
        known = self._by_key.get((value.sample_id, value.attempt))
        if known is not None:
            share = known.get(figure.name)
            return None if share is None else float(share)
        return figure.failed if value.value is not None else None


def on_scale(one: Estimate, figure: JudgedFigure) -> Estimate:
    """Convert an estimate from shares to the scale of its figure; a scale from 0 to 1 changes nothing.

    >>> on_scale(Estimate(name="average", value=0.5, low=0.25, high=0.75), JudgedFigure(name="average", low=1, high=5)).value
    3.0
    """
    low, width = figure.low, figure.high - figure.low
    if (low, width) == (0.0, 1.0):
        return one

    def at(share: float | None) -> float | None:
        return None if share is None else low + share * width

    error = None if one.standard_error is None else one.standard_error * width
    ends = {name: at(getattr(one, name)) for name in ("value", "low", "high", "floor", "ceiling")}
    return replace(one, **ends, standard_error=error, unit="number")
