"""Measure how far people and judges agree, from verification files and judged runs, and correct a judge's numbers by it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from proctor.core.trial import Verdict
from proctor.engine.judge_figures import CORRECTED, about, on_scale
from proctor_judging.judges import calibrate
from proctor_judging.judges.calibrate import AgreementRow, Apart, Rated, Scale
from proctor_judging.judges.judgement_parsing import plain
from proctor_judging.judges.ratings import AVERAGE
from proctor_judging.judges.rubric import rubric
from proctor_judging.review import labels
from proctor_judging.review.items import text_digest

OTHER_KINDS = ("pairwise", "probe")  # what they say is of pairs, and no label of an item holds against it
SHOWN_APART = 5
UNNAMED = "labels"  # who labelled without a name
TEXTS = {"problem": "question", "answer": "answer", "solution": "solution"}  # of a label, by what a judge calls them


class AgreedScorer(msgspec.Struct, frozen=True, kw_only=True):
    """A scorer of a run, compared with people.

    Labels of the web app are of samples that people chose to look at, not of samples that were drawn: by those no figure is
    corrected and no judge calibrated.

    Attributes:
        labels: items that both have rated; `judged` is how many it judged in all.
        raw: its estimates unchanged; `corrected` estimates what they would be if people had judged.
        calibrated: the agreement was shown to be enough.
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
    sources: Sequence[str | Path | Run],
    *,
    scorer: str | None = None,
    scale: Scale | None = None,
    level: float = 0.95,
    least: float | None = None,
    store: str | Store | None = None,
    keep: bool = True,
    drawn: bool = True,
) -> Agreement:
    """Return the agreement of all raters of the same items.

    Args:
        sources: verification files, and runs (or their ids) whose scorers take part.
        scorer: only this one of the runs.
        scale: of the labels; without it that of the rubric of a run, or 1 to 5.
        least: what the lower end of alpha has to reach, so that a judge is no longer called uncalibrated; without it
            `least_agreement` of the settings.
        keep: keep with each run how its judge compares with people, so that its reports say it.
        drawn: the items in the files were drawn at random; else they correct no figure and calibrate no judge.

    Raises:
        BadInput: no such file or run, no item that two have rated, or points off the scale.
    """
    files = [Path(source) for source in sources if not isinstance(source, Run) and Path(source).is_file()]
    runs = [_run(source, store) for source in sources if isinstance(source, Run) or not Path(source).is_file()]
    scale = scale or _scale(runs) or Scale()
    judged = [
        replace(each, is_drawn=drawn and not each.labelled) for run in runs for each in _judged(run, scorer, scale)
    ]
    known = list(dict.fromkeys(name for each in judged for rating in each.rated for name in rating.points))
    people, together, digests = _people(files, known)
    for run in runs:
        _check_texts(run, digests)
    weights = judged[0].weights if judged else {}
    clusters = {sample.id: sample.cluster for run in runs for sample in run.store.planned(run.id) if sample.cluster}
    least = settings().least_agreement if least is None else least
    people, together = ([calibrate.with_average(rating, weights) for rating in rated] for rated in (people, together))
    said, joint = _with_labels(people, together, judged)
    people = max(said, key=len, default=people)  # labels of different scorers are answers to different questions
    of_scorers = [rated for each in judged for rated in each.rated]
    agreement = Agreement(
        people=tuple(dict.fromkeys(person.rater for person in people)),
        scorers=tuple(scorer.name for scorer in judged),
        items=len({rated.item for rated in [*people, *of_scorers]}),
        scale=scale,
        between_people=tuple(calibrate.agree(people, scale, clusters=clusters, level=level)),
        between_scorers=tuple(calibrate.agree(of_scorers, scale, clusters=clusters, level=level)),
        held=tuple(
            _held(each, of_people, of_all, scale, clusters, level, least)
            for each, of_people, of_all in zip(judged, said, joint, strict=True)
        )
        if people
        else (),
        raters_apart=tuple(calibrate.raters_apart(people, scale)),
        items_apart=tuple(item for item in calibrate.items_apart(people, scale) if item.distance)[:SHOWN_APART],
    )
    agreement.check()
    if keep:
        for judged_item, held in zip(judged, agreement.held, strict=False):
            _keep(judged_item, held)
    return agreement


def _with_labels(
    people: Sequence[Rated], together: Sequence[Rated], judged: "Sequence[_JudgedItem]"
) -> tuple[list[list[Rated]], list[Sequence[Rated]]]:
    """Return for each scorer what people said of it, apart and together: in files, and in the web app where no file has it."""
    said: list[list[Rated]] = []
    joint: list[Sequence[Rated]] = []
    in_files = {(person.rater, person.item) for person in people}
    for each in judged:
        labelled = [rated for rated in each.labelled if (rated.rater, rated.item) not in in_files]
        said.append([*people, *labelled])
        joint.append(calibrate.together([*together, *labelled]) if labelled else together)
    return said, joint


class _JudgedItem(msgspec.Struct, frozen=True, kw_only=True):
    """A scorer of a run with what it said, and what people said of its verdicts in the web app.

    Attributes:
        is_drawn: the items that people labelled were drawn at random.
    """

    run: Run
    scorer: str
    name: str
    about: JudgeInfo | None
    weights: Mapping[str, float]
    rated: Sequence[Rated]
    labelled: Sequence[Rated] = ()
    is_drawn: bool = True


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
    items = []
    for name in asked if scorer is None else [scorer]:
        judge_info = abouts[name]
        rater = f"{judge_info.model if judge_info else name} ({run.id})"
        kept = [label for label in run.store.annotations(run.id, kind="label") if label.name == name]
        rated = calibrate.of_verdicts(_with_the_same_attempts(run.verdicts(scorer=name), kept), rater, scale)
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


def _with_the_same_attempts(verdicts: Iterable[Verdict], kept: Sequence[Annotation]) -> Iterator[Verdict]:
    """Yield the verdicts without those on other attempts at a sample than the ones that people labelled."""
    labelled: dict[str, set[int]] = {}
    for label in kept:
        labelled.setdefault(label.sample_id, set()).add(label.attempt)
    for verdict in verdicts:
        if verdict.attempt in labelled.get(verdict.sample_id, {verdict.attempt}):
            yield verdict


def _labelled(
    kept: Sequence[Annotation], rated: Sequence[Rated], scale: Scale, passing: float | None
) -> Sequence[Rated]:
    """Return the labels of people as ratings, in what the scorer itself rates: points on average, passing, or both."""
    shares: dict[tuple[str, str], list[float]] = {}
    for label in kept:
        if isinstance(label.value, int | float) and 0 <= label.value <= 1:
            shares.setdefault((label.sample_id, label.by or UNNAMED), []).append(float(label.value))
    has_points = any(rating.points for rating in rated)
    least = None if passing is None else scale.share(passing)
    found = []
    for (item, rater), values in shares.items():
        share = sum(values) / len(values)
        mark = least if has_points else 0.5
        points = {AVERAGE: scale.points(share)} if has_points else {}
        found.append(
            Rated(item=item, rater=rater, points=points, passed=None if mark is None else share >= mark - 1e-9)
        )
    return found


def _weights(about: JudgeInfo | None) -> Mapping[str, float]:
    """Return the weights of the dimensions of its rubric; none where the rubric is gone or another now."""
    if about is None or not about.rubric:
        return {}
    try:
        criteria = rubric(about.rubric)
    except BadInput:
        return {}
    return criteria.weights if criteria.digest == about.rubric_digest else {}


def _people(files: Sequence[Path], known: Sequence[str]) -> tuple[list[Rated], list[Rated], Mapping[str, str]]:
    """Return what each person said, what they say together (as an adjudicator decided, where one did), and of which texts."""
    own_name = {plain(name): name for name in known}
    seen: set[str] = set()
    found: list[Rated] = []
    decided: dict[str, Rated] = {}
    digests: dict[str, str] = {}

    def rated(item: str, entry: labels.LabelEntry, rater: str) -> Rated:
        points = {own_name.get(plain(name), name): float(score) for name, score in entry.scores.items()}
        return Rated(item=item, rater=rater, points=points, passed=entry.status == "approved")

    for path in files:
        records = labels.records(path)
        names = {entry.reviewer for record in records.values() for entry in record.current}
        name_by_reviewer = {name: name or path.stem for name in names}
        for name, shown in name_by_reviewer.items():
            name_by_reviewer[name] = f"{shown} ({path})" if shown in seen else shown
        seen |= {*name_by_reviewer.values()}
        for item, record in records.items():
            for entry in record.current:
                found.append(rated(item, entry, name_by_reviewer[entry.reviewer]))
                if entry.item_digest:
                    digests[item] = entry.item_digest
            resolution = record.decision
            if resolution is not None:
                decided[item] = rated(item, resolution, calibrate.PEOPLE)
    return found, [decided.get(rating.item, rating) for rating in calibrate.together(found)], digests


def _check_texts(run: Run, digests: Mapping[str, str]) -> None:
    """Refuse labels of other data that happens to have the same ids: no label is of the text that was judged."""
    told = []
    for sample in run.store.planned(run.id):
        item = sample.known.item
        if sample.id in digests and item is not None:
            texts = {name: str(item.get(role, "")).strip() for name, role in TEXTS.items()}
            if not any(text.startswith(("[", "{")) for text in texts.values()):  # lists are written in different ways
                told.append((digests[sample.id], text_digest(texts)))
    if told and all(labelled != judged for labelled, judged in told):
        raise BadInput(
            "The labels are of other texts than those that the run {run} judged under the same ids ({count} of them).",
            run=run.id,
            count=len(told),
        )


def _held(
    judged: _JudgedItem,
    people: Sequence[Rated],
    together: Sequence[Rated],
    scale: Scale,
    clusters: Mapping[str, str],
    level: float,
    least: float,
) -> AgreedScorer:
    items = {rating.item for rating in judged.rated}
    both = [rating for rating in together if rating.item in items]
    rows = calibrate.agree([*both, *judged.rated], scale, clusters=clusters, level=level) if both else []
    raters = {person.rater for person in people if person.item in items}
    corrected = []
    if both and judged.is_drawn:
        corrected = calibrate.corrected(judged.rated, both, scale, clusters=clusters, level=level)
    calibration = calibrate.calibration(rows, len(both), len(raters), least)
    if not judged.is_drawn:
        calibration = say(
            "{calibration}; the items were not drawn at random, so it corrects no figure", calibration=calibration
        )
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
        calibrated=judged.is_drawn and calibrate.is_calibrated(rows, least),
    )


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
