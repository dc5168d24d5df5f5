"""Queues of answers for people to judge, drawn from runs, without the verdicts: what is scored next to a judge is blind to it.

A queue is a folder next to the store, `runs.db.reviews/NAME`: `items.jsonl` with what people see, the labels next to it as
`proctor judge review` writes them, and `queue.json` with the run and the sample that each item is of, which no reviewer is shown.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from proctor.api import Run
from proctor.api.names import is_name
from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor.core.trial import Trial
from proctor.engine.judge_figures import about
from proctor.registry import unknown
from proctor.reports.story import story
from proctor.runtime.files import write_whole
from proctor.runtime.folders import data_folder
from proctor_judging.judges import rubric_file
from proctor_judging.judges.ratings import AnswerKey
from proctor_judging.review import labels
from proctor_judging.review.agree import NOT_DRAWN, TEXTS, Agreement, agree
from proctor_judging.review.dimensions import ReviewDimension, of_rubric
from proctor_judging.review.label_sources import LabelDraw, LabelSource, labelled_by_all
from proctor_judging.review.queue import Review, Reviewers, ReviewProgress
from proctor_web.samples.sample import SampleAttempt
from proctor_web.workspace import Found, NotFound, Workspace

Choice = Literal["random", "failed", "marked"]
MOST_QUEUE_NAME = 60
MOST_ITEMS = 2_000
MOST_RUNS = 6
LOOKED_AT = 200_000  # trials of a run that items are drawn from
CHARACTERS = 20_000
RIGHT = (ReviewDimension(name="correctness"),)  # where no judge says what else to score


class NewQueue(msgspec.Struct, frozen=True, kw_only=True):
    """A queue to make: answers of one run, or of several mixed, drawn at random, among failures, or among those marked for review."""

    name: str
    run: Annotated[list[str], msgspec.Meta(min_length=1, max_length=MOST_RUNS)]
    count: Annotated[int, msgspec.Meta(ge=1, le=MOST_ITEMS)] = 50
    choose: Choice = "random"
    reviewer: list[str] = []
    each: Annotated[int, msgspec.Meta(ge=1)] | None = None
    adjudicator: str | None = None
    rubric: str = ""
    seed: int = 0


class Queue(msgspec.Struct, frozen=True, kw_only=True):
    """A queue as it is kept; `count` is how many answers were asked for, None in one that was made when that was not kept."""

    name: str
    runs: tuple[str, ...]
    choose: Choice
    count: int | None = None
    rubric: str
    seed: int
    sources: Mapping[str, SampleAttempt]


class QueueRow(msgspec.Struct, frozen=True, kw_only=True):
    """A queue in a list, with how far it is."""

    name: str
    runs: tuple[str, ...]
    items: int
    done: int
    conflicts: int
    reviewers: tuple[str, ...]
    adjudicator: str | None = None


class QueueNamed(msgspec.Struct, frozen=True, kw_only=True):
    """A queue, by its name."""

    queue: str


class RunAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """How people and judges agree on a run, or why that cannot be said."""

    agreement: Agreement | None = None
    why_not: Sentence | None = None


class QueueState(msgspec.Struct, frozen=True, kw_only=True):
    """How far a queue is, by reviewer, and for each of its runs how people and judges agree."""

    row: QueueRow
    progress: ReviewProgress
    by_reviewer: Mapping[str, ReviewProgress]
    agreement: Mapping[str, RunAgreement]


def list_queues(workspace: Workspace) -> list[QueueRow]:
    """List the queues for people."""
    folder = queues_folder(workspace)
    names = sorted(path.parent.name for path in folder.glob("*/queue.json")) if folder.is_dir() else []
    return [_row(workspace, name) for name in names]


def create_queue(workspace: Workspace, given: NewQueue) -> QueueRow:
    """Draw answers of runs for people to judge.

    Raises:
        BadInput: the name is taken or no name, the runs have no such answers, or the rubric cannot be read.
    """
    if not is_name(given.name, MOST_QUEUE_NAME):
        raise BadInput(
            "'{name}' cannot be the name of a queue: use letters (of any language), digits, '.', '_' and '-', at most 60.",
            name=given.name,
        )
    folder = queues_folder(workspace) / given.name
    if folder.exists():
        raise BadInput("There is a queue '{name}' already.", name=given.name)
    found = [workspace.find_run(reference) for reference in dict.fromkeys(given.run)]
    if given.rubric and given.rubric not in rubric_file.known():  # no path: the browser names no files of this machine
        raise unknown("rubric", given.rubric, rubric_file.known(), paths=False)
    judges = (about(run.record, scorer) for run in found for scorer in run.record.scorers)
    rubric = given.rubric or next((judge.rubric for judge in judges if judge is not None and judge.rubric), "")
    dimensions = of_rubric(rubric) if rubric else RIGHT
    drawn = _draw(found, given)
    if not drawn:
        raise BadInput("None of the answers of {runs} can be drawn like that.", runs=", ".join(given.run))
    folder.mkdir(parents=True)
    sources: dict[str, SampleAttempt] = {}
    lines: list[bytes] = []
    for number, (source, row) in enumerate(drawn, 1):
        sources[f"{number:04}"] = source
        lines.append(msgspec.json.encode({"id": f"{number:04}", **row}))
    write_whole(folder / "items.jsonl", b"\n".join(lines).decode() + "\n")
    kept = Queue(
        name=given.name,
        runs=tuple(run.reference for run in found),
        choose=given.choose,
        count=given.count,
        rubric=rubric,
        seed=given.seed,
        sources=sources,
    )
    reviewers = Reviewers(
        names=[name for name in given.reviewer if name.strip()],
        each=given.each,
        seed=given.seed,
        adjudicator=given.adjudicator or None,
    )
    Review(folder / "items.jsonl", reviewers, dimensions=dimensions)
    write_whole(folder / "queue.json", msgspec.json.encode(kept).decode())  # last: without it there is no queue
    return _row(workspace, given.name)


def show_queue(workspace: Workspace, given: QueueNamed) -> QueueState:
    """Show how far a queue is, and how people and judges agree."""
    review = review_of(workspace, given.queue)
    return QueueState(
        row=_row(workspace, given.queue),
        progress=review.progress(),
        by_reviewer={name: review.progress(name) for name in review.people()},
        agreement=dict(_agreement(workspace, find_queue(workspace, given.queue), review)),
    )


def queues_folder(workspace: Workspace) -> Path:
    """Return the folder of queues: next to the first store, or in the user's data folder where that is no file."""
    first = next(iter(workspace.stores.values()))
    path = Path(first.url)
    return path.with_name(f"{path.name}.reviews") if path.is_file() else data_folder() / "reviews"


def find_queue(workspace: Workspace, name: str) -> Queue:
    """Return a queue by its name.

    Raises:
        NotFound: there is none.
    """
    path = queues_folder(workspace) / name / "queue.json"
    if not is_name(name, MOST_QUEUE_NAME) or not path.is_file():
        raise NotFound("There is no queue '{name}'.", name=name)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Queue)
    except (OSError, msgspec.DecodeError) as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error) from None


def review_of(workspace: Workspace, name: str) -> Review:
    """Return the review of a queue; the same one each time, which notices labels of other processes."""
    queue = find_queue(workspace, name)
    return _review(queues_folder(workspace) / name / "items.jsonl", queue.rubric)


@lru_cache(maxsize=50)
def _review(items: Path, rubric: str) -> Review:
    return Review(items, dimensions=of_rubric(rubric) if rubric else RIGHT)


def _row(workspace: Workspace, name: str) -> QueueRow:
    queue, review = find_queue(workspace, name), review_of(workspace, name)
    return QueueRow(
        name=name,
        runs=queue.runs,
        items=len(review.items),
        done=review.progress().done,
        conflicts=len(review.conflicts()),
        reviewers=tuple(review.reviewers),
        adjudicator=review.adjudicator,
    )


def _draw(found: Sequence[Found], given: NewQueue) -> list[tuple[SampleAttempt, Mapping[str, str]]]:
    """Return the drawn answers with what a reviewer sees of them."""
    drawn: list[tuple[SampleAttempt, Mapping[str, str]]] = []
    for source in _sources(found, given):
        run = next(each for each in found if each.reference == source.run)
        trials = run.store.trials(run.record.id, sample_id=source.sample)
        trial = next(each for each in trials if each.attempt == source.attempt)
        drawn.append((source, _shown(trial, run.store.sample(run.record.id, source.sample))))
    return drawn


def _sources(found: Sequence[Found], given: NewQueue) -> list[SampleAttempt]:
    """Draw as many answers from each run, and shuffle them, so that their order says nothing of the run."""
    chosen: list[SampleAttempt] = []
    share = -(-given.count // len(found))
    for run in found:
        keys = sorted(_keys(run, given.choose))
        random.Random(given.seed).shuffle(keys)  # noqa: S311 - the same samples of every run
        chosen += [SampleAttempt(run=run.reference, sample=sample, attempt=attempt) for sample, attempt in keys[:share]]
    random.Random(given.seed).shuffle(chosen)  # noqa: S311 - an order, no secret
    return chosen[: given.count]


def _keys(one: Found, choose: Choice) -> Iterator[tuple[str, int]]:
    """Yield the attempts that can be drawn: all of those that have a score, those that failed, or those that are marked."""
    if choose == "marked":
        marks = one.store.annotations(one.record.id, kind="review")
        yield from {(mark.sample_id, mark.attempt) for mark in marks if mark.sample_id}
        return
    values = (value for scorer in one.record.scorers for value in one.store.values(one.record.id, scorer))
    seen: set[tuple[str, int]] = set()
    for value in islice(values, LOOKED_AT):
        key = (value.sample_id, value.attempt)
        if key not in seen and value.value is not None and (choose == "random" or value.value < 1):
            seen.add(key)
            yield key


def _shown(trial: Trial, sample: Sample | None) -> dict[str, str]:
    """Return what a reviewer sees of an answer: the question, the answer and the reference, no verdict and no name of a run."""
    item = sample.known.item if sample is not None else None
    if item is not None:  # as its judge saw it
        return {name: str(item.get(role, "")) for name, role in TEXTS.items()}
    known = story(trial, sample, (), characters=CHARACTERS)
    calls = "\n".join(f"{line.role}: {line.text}" for line in known.lines if line.kind in ("call", "result"))
    return {
        "problem": known.question,
        "answer": trial.trajectory.answer,
        "solution": known.expected,
        **({"calls": calls} if calls else {}),
    }


def _agreement(workspace: Workspace, queue: Queue, review: Review) -> Iterator[tuple[str, RunAgreement]]:
    """Compare the labels with the verdicts of each run, under the names that its samples have there."""
    runs = [workspace.find_run(reference) for reference in queue.runs]
    count = queue.count or len(queue.sources)
    asked = NewQueue(name=queue.name, run=[*queue.runs], count=count, choose=queue.choose, seed=queue.seed)
    is_as_drawn = queue.choose == "random" and [*queue.sources.values()] == _sources(runs, asked)
    for run in runs:
        source = _label_source(run, queue, review, is_as_drawn=is_as_drawn)
        if not source.records:
            yield run.reference, RunAgreement(why_not=say("Nobody has judged an answer of it yet."))
            continue
        try:
            agreement = agree([source, Run(run.record, run.store)], keep=False)
            yield run.reference, RunAgreement(agreement=agreement)
        except BadInput as error:
            yield run.reference, RunAgreement(why_not=error.sentence)


def _label_source(run: Found, queue: Queue, review: Review, *, is_as_drawn: bool) -> LabelSource:
    """Return the labels of a queue that are of one run."""
    records = review.records()
    item_by_key: dict[AnswerKey, str] = {
        (source.sample, source.attempt): item for item, source in queue.sources.items() if source.run == run.reference
    }
    of_run = {key: labels.record(key[0], records[item].entries) for key, item in item_by_key.items() if item in records}
    done = labelled_by_all(item_by_key, of_run, review.plan, item_by_key.__getitem__)
    changed = say("the run has other answers than when they were drawn")
    return LabelSource(
        name=queue.name,
        path=queue.name,
        records=of_run,
        draw=LabelDraw(answers=frozenset(item_by_key), done=done) if is_as_drawn else None,
        not_drawn=changed if queue.choose == "random" else NOT_DRAWN,
    )
