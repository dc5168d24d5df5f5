"""Measure how far people and judges agree, from verification files and judged runs, and correct a judge's numbers by it."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from proctor.api.loop import run_in_loop
from proctor.api.prepare import open_existing
from proctor.api.run import Run
from proctor.config import settings
from proctor.core.annotation import Annotation
from proctor.core.errors import BadInput
from proctor.core.judge import PROVENANCE, JudgeInfo
from proctor.core.run import Estimate
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.engine.judge_figures import CORRECTED, about, on_scale
from proctor_judging.judges import calibrate
from proctor_judging.judges.calibrate import AgreementRow, Apart, Rated, Scale
from proctor_judging.judges.judgement_parsing import plain
from proctor_judging.judges.ratings import AVERAGE, AnswerKey
from proctor_judging.judges.rubric import rubric
from proctor_judging.review import labels
from proctor_judging.review.items import text_digest
from proctor_judging.review.label_sources import LabelSource, among, read_label_source, why_not_corrected

OTHER_KINDS = ("pairwise", "probe")  # what they say is of pairs, and no label of an item holds against it
SHOWN_APART = 5
UNNAMED = "labels"  # who labelled without a name
NOT_DRAWN = say("the items were not drawn at random")
TEXTS = {"problem": "question", "answer": "answer", "solution": "solution"}  # of a label, by what a judge calls them


class AgreedScorer(msgspec.Struct, frozen=True, kw_only=True):
    """A scorer of a run, compared with people.

    Labels that people gave to what they chose to look at, and those of a draw that is not labelled whole, correct no figure and
    calibrate no judge.

    Attributes:
        labels: answers that both have rated; `judged` is how many it judged in all.
        raw: its estimates unchanged; `corrected` estimates what they would be if people had judged.
        calibrated: the agreement was shown to be enough.
        left_out: what labels count nowhere, and why.
    """

    run: str
    scorer: str
    judge: str
    labels: int
    judged: int
    rows: tuple[AgreementRow, ...]
    raw: tuple[Estimate, ...] = ()
    corrected: tuple[Estimate, ...] = ()
    calibration: Sentence
    calibrated: bool = False
    left_out: tuple[Sentence, ...] = ()


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """Who was compared, and how far they agree: people, scorers, and each scorer with the people together."""

    people: tuple[str, ...] = ()
    scorers: tuple[str, ...] = ()
    items: int = 0
    scale: Scale = Scale()
    between_people: tuple[AgreementRow, ...] = ()
    between_scorers: tuple[AgreementRow, ...] = ()
    held: tuple[AgreedScorer, ...] = ()
    raters_apart: tuple[Apart, ...] = ()
    items_apart: tuple[Apart, ...] = ()

    def check(self) -> None:
        """Refuse an agreement of nobody.

        Raises:
            BadInput: no item was rated by two.
        """
        if not (self.between_people or self.between_scorers or any(scorer.rows for scorer in self.held)):
            raise BadInput(
                "No item was rated by two of them, so there is nothing to compare. Are the labels of other data?"
            )


def agree(
    sources: Sequence[str | Path | Run | LabelSource],
    *,
    scorer: str | None = None,
    scale: Scale | None = None,
    level: float = 0.95,
    least: float | None = None,
    store: str | Store | None = None,
    keep: bool = True,
) -> Agreement:
    """Return the agreement of all raters of the same items.

    Args:
        sources: verification files or labels, and runs (or their ids) whose scorers take part.
        scorer: only this one of the runs.
        scale: of the labels; without it that of the rubric of a run, or 1 to 5.
        least: what the lower end of alpha has to reach, so that a judge is no longer called uncalibrated; without it
            `least_agreement` of the settings.
        keep: keep with each run how its judge compares with people, so that its reports say it.

    Raises:
        BadInput: no such file or run, no item that two have rated, or points off the scale.
    """
    runs, given = _sorted_out(sources, store)
    scale = scale or _scale(runs) or Scale()
    judged = [each for run in runs for each in _judged(run, scorer, scale)]
    known = list(dict.fromkeys(name for each in judged for rating in each.rated for name in rating.points))
    people, decisions = _people(given, known)
    clusters = {sample.id: sample.cluster for run in runs for sample in run.store.planned(run.id) if sample.cluster}
    least = settings().least_agreement if least is None else least
    shared = _Shared(sources=given, scale=scale, clusters=clusters, level=level, least=least)
    compared = [_compared(each, people, decisions, given) for each in judged]
    # labels of different scorers are answers to different questions
    people = [*max((each.people for each in compared), key=len, default=_with_averages(people, {}))]
    of_scorers = [rated for each in judged for rated in each.rated]
    agreement = Agreement(
        people=tuple(dict.fromkeys(person.rater for person in people)),
        scorers=tuple(scorer.name for scorer in judged),
        items=len({rated.key for rated in [*people, *of_scorers]}),
        scale=scale,
        between_people=tuple(calibrate.agree(people, scale, clusters=clusters, level=level)),
        between_scorers=tuple(calibrate.agree(of_scorers, scale, clusters=clusters, level=level)),
        held=tuple(_held(each, shared) for each in compared) if people else (),
        raters_apart=tuple(calibrate.raters_apart(people, scale)),
        items_apart=tuple(item for item in calibrate.items_apart(people, scale) if item.distance)[:SHOWN_APART],
    )
    agreement.check()
    if keep:
        for judged_item, held in zip(judged, agreement.held, strict=False):
            _keep(judged_item, held)
    return agreement


class _JudgedItem(msgspec.Struct, frozen=True, kw_only=True):
    """A scorer of a run with what it said, and what people said of its verdicts in the web app.

    `weights` are those of the dimensions of its rubric: empty without a rubric, None where they are not known.
    """

    run: Run
    scorer: str
    name: str
    about: JudgeInfo | None
    weights: Mapping[str, float] | None
    rated: Sequence[Rated]
    labelled: Sequence[Rated] = ()


class _Compared(msgspec.Struct, frozen=True, kw_only=True):
    """A scorer with the labels of people for the answers that it judged: those of each, and those of all together.

    Attributes:
        left_out: what labels count nowhere, and why.
    """

    judged: _JudgedItem
    people: Sequence[Rated]
    together: Sequence[Rated]
    left_out: tuple[Sentence, ...]


class _Shared(msgspec.Struct, frozen=True, kw_only=True):
    """What is the same for all scorers of a comparison."""

    sources: Sequence[LabelSource]
    scale: Scale
    clusters: Mapping[str, str]
    level: float
    least: float


def _sorted_out(
    sources: Sequence[str | Path | Run | LabelSource], store: str | Store | None
) -> tuple[list[Run], list[LabelSource]]:
    """Return the runs and the labels among the sources."""
    runs: list[Run] = []
    given: list[LabelSource] = []
    for source in sources:
        if isinstance(source, LabelSource):
            given.append(source)
        elif isinstance(source, str | Path) and Path(source).is_file():
            given.append(read_label_source(Path(source)))
        else:
            runs.append(_run(source, store))
    return runs, given


def _compared(
    judged: _JudgedItem, people: Sequence[Rated], decisions: Sequence[Rated], given: Sequence[LabelSource]
) -> _Compared:
    """Return the labels of the answers that a scorer judged: those given, and of the web app where none was given."""
    people, decisions = (_with_averages(rated, judged.weights) for rated in (people, decisions))
    attempts: dict[str, set[int | None]] = {}
    for rating in judged.rated:
        attempts.setdefault(rating.item, set()).add(rating.attempt)
    changed = _changed_texts(judged.run, given)
    said = _of_attempts([rating for rating in people if rating.item not in changed], attempts, judged.run)
    decided = {rating.key: rating for rating in _of_attempts(decisions, attempts, judged.run)}
    known = {(rating.rater, rating.key) for rating in said}
    own = [rating for rating in judged.labelled if (rating.rater, rating.key) not in known]
    together = [decided.get(rating.key, rating) for rating in calibrate.together(said)]
    unclear = len(people) - len(said) - sum(rating.item in changed for rating in people)
    return _Compared(
        judged=judged,
        people=[*said, *own],
        together=calibrate.together([*together, *own]) if own else together,
        left_out=tuple(_left_out(len(changed), unclear)),
    )


def _left_out(changed: int, unclear: int) -> Iterator[Sentence]:
    if changed == 1:
        yield say("1 label is of a text that was changed; it is left out.")
    elif changed:
        yield say("{count} labels are of texts that were changed; they are left out.", count=changed)
    if unclear == 1:
        yield say("1 label does not say which attempt it is of; it is left out.")
    elif unclear:
        yield say("{count} labels do not say which attempt they are of; they are left out.", count=unclear)


def _of_attempts(rated: Iterable[Rated], attempts: Mapping[str, Collection[int | None]], run: Run) -> list[Rated]:
    """Return ratings with the attempt that they are of, without those that may be of several."""
    placed = []
    for rating in rated:
        known = attempts.get(rating.item, (rating.attempt,))
        is_single = len(known) == 1 and (None in known or run.record.spec.attempts == 1)
        if rating.attempt is not None and None not in known:
            placed.append(rating)
        elif is_single:
            placed.append(replace(rating, attempt=next(iter(known))))
    return placed


def _run(given: str | Path | Run, store: str | Store | None) -> Run:
    if isinstance(given, Run):
        return given
    name = str(given)
    if Path(name).suffix == ".json" or "/" in name:
        raise BadInput("There is no file {path}.", path=name)
    opened = open_existing(store)
    return Run(opened.run(name), opened)


def _scale(runs: Iterable[Run]) -> Scale | None:
    for run in runs:
        for verdict in run.verdicts():
            if (ends := verdict.result.known.scale) is not None:
                return Scale(low=ends[0], high=ends[1])
    return None


def _judged(run: Run, scorer: str | None, scale: Scale) -> list[_JudgedItem]:
    names = list(run.record.scorers)
    if scorer is not None and scorer not in names:
        raise BadInput(
            "The run {run} has no scorer '{scorer}'. It has: {known}.",
            run=run.id,
            scorer=scorer,
            known=", ".join(names),
        )
    abouts = {name: about(run.record, name) for name in names}
    usable = [name for name, judge_info in abouts.items() if judge_info is None or judge_info.kind not in OTHER_KINDS]
    asked = [name for name in usable if abouts[name] is not None] or usable
    answered = {sample.id for sample in run.store.planned(run.id) if sample.known.item is not None}
    items = []
    for name in asked if scorer is None else [scorer]:
        judge_info = abouts[name]
        rater = f"{judge_info.model if judge_info else name} ({run.id})"
        kept = [label for label in run.store.annotations(run.id, kind="label") if label.name == name]
        rated = calibrate.of_verdicts(run.verdicts(scorer=name), rater, scale, answered=answered)
        items.append(
            _JudgedItem(
                run=run,
                scorer=name,
                name=rater,
                about=judge_info,
                weights=_weights(judge_info),
                rated=rated,
                labelled=_labelled(kept, rated, scale, judge_info.passing if judge_info is not None else None),
            )
        )
    return items


def _labelled(
    kept: Sequence[Annotation], rated: Sequence[Rated], scale: Scale, passing: float | None
) -> Sequence[Rated]:
    """Return the labels of people as ratings, in what the scorer itself rates: points on average, passing, or both."""
    shares: dict[tuple[AnswerKey, str], list[float]] = {}
    known = {rating.key for rating in rated}
    for label in kept:
        if isinstance(label.value, int | float) and 0 <= label.value <= 1:
            key: AnswerKey = (label.sample_id, label.attempt)
            key = key if key in known else (label.sample_id, None)
            shares.setdefault((key, label.by or UNNAMED), []).append(float(label.value))
    has_points = any(rating.points for rating in rated)
    least = None if passing is None else scale.share(passing)
    mark = least if has_points else 0.5
    labelled = []
    for ((item, attempt), rater), values in shares.items():
        share = sum(values) / len(values)
        points = {AVERAGE: scale.points(share)} if has_points else {}
        passed = None if mark is None else share >= mark - 1e-9
        labelled.append(Rated(item=item, attempt=attempt, rater=rater, points=points, passed=passed))
    return labelled


def _weights(about: JudgeInfo | None) -> Mapping[str, float] | None:
    """Return the weights of the dimensions of its rubric; None where the run does not say them, and the rubric is gone or another now."""
    if about is None or not about.rubric:
        return {}
    if about.weights:
        return about.weights
    try:
        criteria = rubric(about.rubric)
    except BadInput:
        return None
    return criteria.weights if criteria.digest == about.rubric_digest else None


def _with_averages(rated: Iterable[Rated], weights: Mapping[str, float] | None) -> list[Rated]:
    """Return what people said with the average by the weights of a rubric; without it where these are not known."""
    return [rating if weights is None else calibrate.with_average(rating, weights) for rating in rated]


def _people(given: Sequence[LabelSource], known: Sequence[str]) -> tuple[list[Rated], list[Rated]]:
    """Return what each person said, and what an adjudicator decided."""
    own_name = {plain(name): name for name in known}
    seen: set[str] = set()
    said: list[Rated] = []
    decided: list[Rated] = []

    def rated(key: AnswerKey, entry: labels.LabelEntry, rater: str) -> Rated:
        points = {own_name.get(plain(name), name): float(score) for name, score in entry.scores.items()}
        return Rated(item=key[0], attempt=key[1], rater=rater, points=points, passed=entry.status == "approved")

    for source in given:
        names = {entry.reviewer for record in source.records.values() for entry in record.current}
        name_by_reviewer = {name: name or source.name for name in names}
        for name, shown in name_by_reviewer.items():
            name_by_reviewer[name] = f"{shown} ({source.path})" if shown in seen else shown
        seen |= {*name_by_reviewer.values()}
        for key, record in source.records.items():
            said += [rated(key, entry, name_by_reviewer[entry.reviewer]) for entry in record.current]
            if record.decision is not None:
                decided.append(rated(key, record.decision, calibrate.PEOPLE))
    return said, decided


def _changed_texts(run: Run, given: Sequence[LabelSource]) -> set[str]:
    """Return the samples whose labels are of another text than the run judged.

    Raises:
        BadInput: no label is of the text that was judged: they are of other data that happens to have the same ids.
    """
    digests = {
        key[0]: entry.item_digest
        for source in given
        for key, record in source.records.items()
        for entry in record.current
        if entry.item_digest
    }
    same: set[str] = set()
    changed: set[str] = set()
    for sample in run.store.planned(run.id):
        item = sample.known.item
        if sample.id in digests and item is not None:
            texts = {name: str(item.get(role, "")).strip() for name, role in TEXTS.items()}
            if not any(text.startswith(("[", "{")) for text in texts.values()):  # lists are written in different ways
                (same if digests[sample.id] == text_digest(texts) else changed).add(sample.id)
    if changed and not same:
        raise BadInput(
            "The labels are of other texts than those that the run {run} judged under the same ids ({count} of them).",
            run=run.id,
            count=len(changed),
        )
    return changed


def _held(compared: _Compared, shared: _Shared) -> AgreedScorer:
    judged = compared.judged
    keys = {rating.key for rating in judged.rated}
    both = [rating for rating in compared.together if rating.key in keys]
    reason = NOT_DRAWN if judged.labelled else None
    reason = reason or why_not_corrected(shared.sources, {rating.key for rating in both}, keys)
    if reason is None:
        both = _of_the_draw(both, keys, shared.sources)
    clusters, level = shared.clusters, shared.level
    rows = calibrate.agree([*both, *judged.rated], shared.scale, clusters=clusters, level=level) if both else []
    raters = {person.rater for person in compared.people if person.key in keys}
    corrected = []
    if both and reason is None:
        corrected = calibrate.corrected(judged.rated, both, shared.scale, clusters=clusters, level=level)
    calibration = calibrate.calibration(rows, len(both), len(raters), shared.least)
    if reason is not None:
        calibration = say("{calibration}; {reason}, so it corrects no figure", calibration=calibration, reason=reason)
    figures = {figure.name: figure for figure in judged.about.figures} if judged.about else {}
    main = judged.about.main if judged.about and judged.about.kind else "accuracy"
    shown = []
    for one in corrected:
        name = one.name.removesuffix(CORRECTED)
        if name in figures:
            shown.append(on_scale(one, figures[name]))
        elif not figures:
            shown.append(replace(one, name=one.name.replace(name, main, 1)))
    order = {name: index for index, name in enumerate(figures)}
    shown.sort(key=lambda one: order.get(one.name.removesuffix(CORRECTED), len(order)))
    raw_names = {estimate.name.removesuffix(CORRECTED) for estimate in shown}
    return AgreedScorer(
        run=judged.run.id,
        scorer=judged.scorer,
        judge=judged.about.model if judged.about else judged.scorer,
        labels=len(both),
        judged=len(judged.rated),
        rows=tuple(rows),
        raw=tuple(
            estimate
            for estimate in judged.run.estimates
            if not estimate.slice and estimate.name.removeprefix(f"{judged.scorer}.") in raw_names
        ),
        corrected=tuple(shown),
        calibration=calibration,
        calibrated=reason is None and calibrate.is_calibrated(rows, shared.least),
        left_out=compared.left_out,
    )


def _of_the_draw(both: list[Rated], judged: Collection[AnswerKey], sources: Sequence[LabelSource]) -> list[Rated]:
    """Return the labels of what was drawn; all of them where everything was labelled, so that nothing had to be drawn."""
    draw = next((source.draw for source in sources if source.draw is not None), None)
    if draw is None or len(both) == len(judged):
        return both
    drawn = among((rating.key for rating in both), draw.answers)
    return [rating for rating in both if rating.key in drawn]


def _keep(judged: _JudgedItem, held: AgreedScorer) -> None:
    """Note with the run how its judge compares with people; its estimates say it from then on."""
    if judged.about is None or not held.rows:
        return
    run = judged.run
    record = run.store.run(run.id)
    noted = replace(judged.about, calibration=held.calibration, calibrated=held.calibrated, corrected=held.corrected)
    abouts = {**record.provenance[PROVENANCE], judged.scorer: msgspec.to_builtins(noted)}
    record = replace(record, provenance={**record.provenance, PROVENANCE: abouts})

    async def save() -> None:
        await run.store.begin(record)
        await run.store.end(record)

    run_in_loop(lambda _: save())
