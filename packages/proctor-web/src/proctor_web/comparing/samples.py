"""The samples of runs that are compared: those that moved, and one with the answers of all runs side by side."""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Literal

import msgspec

from proctor.core.score import Score
from proctor.core.sentence import Sentence
from proctor.core.trial import Outcome, Value
from proctor.reports.both import attempt_to_show, expected_text, made_text
from proctor.reports.story import Story, StoryFinding, story
from proctor.runtime.visible import one_line
from proctor_web.comparing.columns import FLAGS, GROUPS, Columns, Group, groups_of
from proctor_web.comparing.comparison import find_runs, kept, position
from proctor_web.comparing.word_diff import WordDiffPiece, diff_words
from proctor_web.workspace import Found, NotFound, Workspace

ONE_LINE = 200  # characters of a text in the list
TEXT = 20_000


class SamplesGiven(msgspec.Struct, frozen=True, kw_only=True):
    """Samples of the runs that are compared; `of` is the letter of the run that moved them, none for any.

    `tag` is key=value, `id` a part of the id, `after` the id after which the list goes on.
    """

    run: tuple[str, ...] = ()
    scorer: str = ""
    group: Literal["moved", "broken", "fixed", "wrong", "right", "not_compared", "all"] = "moved"
    of: str = ""
    tag: str = ""
    id: str = ""
    after: str = ""
    size: Annotated[int, msgspec.Meta(ge=1, le=200)] = 50


class SampleGiven(SamplesGiven, frozen=True, kw_only=True):
    """One sample of the runs that are compared, and the list that it is opened from."""

    sample: str


class ComparedSampleRow(msgspec.Struct, frozen=True, kw_only=True):
    """A sample of the list: what it earned in each run, and the beginning of each answer, '' where there is none."""

    id: str
    question: str
    values: tuple[float | None, ...]
    answers: tuple[str, ...] = ()


class ComparedSamplePage(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the list; `next` is what to give as `after` for the rest, '' at the end."""

    rows: tuple[ComparedSampleRow, ...]
    total: int
    next: str


class SampleSide(msgspec.Struct, frozen=True, kw_only=True):
    """What one run made of a sample: of several attempts the one that tells most; the outcome is None where it has none.

    Attributes:
        value: the mean of all attempts that have a score.
        pieces: the answer with its calls; those are `changed` that the run it is compared with has not.
    """

    run: str
    value: float | None
    outcome: Outcome | None = None
    attempt: int = 0
    attempts: int = 0
    pieces: tuple[WordDiffPiece, ...] = ()
    findings: tuple[StoryFinding, ...] = ()
    reason: str | Sentence = ""
    seconds: float = 0.0


class SampleAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """A sample with the answers of all runs.

    The first answer is compared with that of the run that `of` names (or the second), all others with the first.
    """

    id: str
    tags: Mapping[str, str]
    question: str
    expected: str
    sides: tuple[SampleSide, ...]
    previous: str = ""
    next: str = ""


def list_compared_samples(workspace: Workspace, given: SamplesGiven) -> ComparedSamplePage:
    """List the samples of runs that are compared, in the order of the plan."""
    runs = find_runs(workspace, given.run)
    return page_of_samples(runs, kept(workspace, runs, given.scorer).columns, given)


def page_of_samples(runs: Sequence[Found], columns: Columns, given: SamplesGiven) -> ComparedSamplePage:
    """Return the samples that are asked for, a page at a time."""
    places = _places(columns, runs, given)
    start = 0
    if given.after:
        start = next((end for end, at in enumerate(places, 1) if columns.ids[at] == given.after), len(places))
    shown = places[start : start + given.size]
    return ComparedSamplePage(
        rows=tuple(_row(runs, columns, at, position(given.of, runs)) for at in shown),
        total=len(places),
        next=columns.ids[shown[-1]] if start + given.size < len(places) else "",
    )


def compare_sample(workspace: Workspace, given: SampleGiven) -> SampleAnswers:
    """Return one sample with the answers of all runs, and the words in which they differ."""
    runs = find_runs(workspace, given.run)
    found = kept(workspace, runs, given.scorer)
    columns = found.columns
    if given.sample not in columns.ids:
        raise NotFound("None of these runs has a sample '{sample}'.", sample=given.sample)
    of = position(given.of, runs)
    values = columns.row(columns.ids.index(given.sample))
    groups = {*groups_of(values, of)}
    answers = _answers(runs, given.sample, columns.scorer, groups)
    texts = [made_text(story) if story is not None else "" for story, _ in answers]
    pieces = [diff_words(texts[0], texts[of or 1])[0], *(diff_words(texts[0], text)[1] for text in texts[1:])]
    known = next((story for story, _ in answers if story is not None), None)
    order = [columns.ids[at] for at in _places(columns, runs, given)]
    here = order.index(given.sample) if given.sample in order else None
    sides = zip(runs, values, answers, pieces, strict=True)
    return SampleAnswers(
        id=given.sample,
        tags=known.tags if known else {},
        question=known.question if known else "",
        expected=expected_text(known) if known else "",
        sides=tuple(_side(run, value, story, attempts, marked) for run, value, (story, attempts), marked in sides),
        previous=order[here - 1] if here else "",
        next=order[here + 1] if here is not None and here + 1 < len(order) else "",
    )


def _places(columns: Columns, runs: Sequence[Found], given: SamplesGiven) -> list[int]:
    flags = columns.flags(position(given.of, runs))
    wanted = sum(FLAGS[group] for group in GROUPS if given.group in (group, "all"))
    if given.group == "moved":
        wanted = FLAGS["broken"] | FLAGS["fixed"]
    places = [at for at, flag in enumerate(flags) if flag & wanted]
    if given.tag:
        key, _, value = given.tag.partition("=")
        places = [at for at in places if columns.tags[at].get(key) == value]
    return [at for at in places if given.id in columns.ids[at]] if given.id else places


def _row(runs: Sequence[Found], columns: Columns, at: int, of: int) -> ComparedSampleRow:
    """Return a row of the list: the answers are those of the attempts that tell most, as the page of the sample shows them."""
    id, values = columns.ids[at], columns.row(at)
    stories = [story for story, _ in _answers(runs, id, columns.scorer, {*groups_of(values, of)})]
    known = next((story for story in stories if story is not None), None)
    return ComparedSampleRow(
        id=id,
        question=one_line(known.question, ONE_LINE) if known is not None else "",
        values=values,
        answers=tuple(one_line(made_text(story), ONE_LINE) if story is not None else "" for story in stories),
    )


def _answers(
    runs: Sequence[Found], sample_id: str, scorer: str, groups: Collection[Group]
) -> Sequence[tuple[Story | None, int]]:
    """Return what tells most of each run: of the first one what the others broke, of those what they fixed."""
    return [
        _tell(run, sample_id, scorer, best=("broken" if at == 0 else "fixed") in groups) for at, run in enumerate(runs)
    ]


def _tell(run: Found, sample_id: str, scorer: str, *, best: bool) -> tuple[Story | None, int]:
    """Return the story of the attempt that tells most, the best or the worst, and how many attempts there are."""
    trials = list(run.store.trials(run.record.id, sample_id=sample_id))
    if not trials:
        return None, 0
    verdicts = list(run.store.verdicts(run.record.id, sample_id=sample_id))
    value_by_attempt: dict[int, float | None] = {
        trial.attempt: 0.0 if trial.outcome == "agent_failed" else None for trial in trials
    }
    for verdict in verdicts:
        if verdict.scorer == scorer and isinstance(verdict.result, Score):
            value_by_attempt[verdict.attempt] = verdict.result.value
    values = [
        Value(sample_id=sample_id, attempt=attempt, cluster=sample_id, value=value)
        for attempt, value in value_by_attempt.items()
    ]
    shown = attempt_to_show(values, best=best)
    trial = next(trial for trial in trials if trial.attempt == shown)
    own = [verdict for verdict in verdicts if verdict.attempt == shown]
    return story(trial, run.store.sample(run.record.id, sample_id), own, characters=TEXT), len(trials)


def _side(
    run: Found, value: float | None, one: Story | None, attempts: int, pieces: Sequence[WordDiffPiece]
) -> SampleSide:
    if one is None:
        return SampleSide(run=run.reference, value=value)
    return SampleSide(
        run=run.reference,
        value=value,
        outcome=one.outcome,
        attempt=one.attempt,
        attempts=attempts,
        pieces=tuple(pieces),
        findings=one.findings,
        reason=one.failure.reason if one.failure is not None else "",
        seconds=one.seconds,
    )
