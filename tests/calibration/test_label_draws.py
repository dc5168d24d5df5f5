"""Only labels of a random draw that is labelled whole speak for answers that nobody labelled."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from proctor.api import evaluate
from proctor.api.run import Run
from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.task import Task
from proctor_judging.judges.ratings import AnswerKey
from proctor_judging.review.agree import AgreedScorer, agree
from proctor_judging.review.label_sources import LabelSource
from proctor_judging.review.labels import LabelEntry, LabelRecord, record
from proctor_judging.review.plan import order_at_random
from proctor_judging.review.queue import Review, Reviewers

SCORES = {"correctness": 5, "clarity": 5, "difficulty_match": 5, "completeness": 5}


def test_labels_that_were_not_drawn_correct_nothing(tmp_path: Path) -> None:
    review = Review(items(tmp_path))
    label(review, count=30)
    held = against(review, tmp_path)
    assert (held.labels, held.corrected, held.calibrated) == (30, (), False)
    assert "it is not known how the labelled items were chosen" in str(held.calibration)


def test_labels_of_a_whole_draw_correct(tmp_path: Path) -> None:
    review = Review(items(tmp_path), Reviewers(draw=30))
    label(review)
    held = against(review, tmp_path)
    assert [(figure.name, figure.scored, figure.planned) for figure in held.corrected] == [
        ("accuracy (corrected)", 30, 80)
    ]


def test_a_draw_that_was_stopped_early_corrects_nothing_yet(tmp_path: Path) -> None:
    review = Review(items(tmp_path), Reviewers(draw=30))
    label(review, count=29)
    held = against(review, tmp_path)
    assert (held.labels, held.corrected, held.calibrated) == (29, (), False)
    assert "1 of the 30 drawn items are not labelled yet" in str(held.calibration)


def test_a_draw_is_labelled_when_all_who_were_asked_have_labelled_it(tmp_path: Path) -> None:
    review = Review(items(tmp_path), Reviewers(names=("ann", "bob"), draw=30))
    label(review, "ann")
    label(review, "bob", count=10)
    assert "20 of the 30 drawn items are not labelled yet" in str(against(review, tmp_path).calibration)
    label(review, "bob")
    assert against(review, tmp_path).corrected


def test_labels_of_everything_need_no_draw(tmp_path: Path) -> None:
    review = Review(items(tmp_path))
    label(review)
    assert against(review, tmp_path).corrected


def test_labels_outside_the_draw_do_not_count(tmp_path: Path) -> None:
    data = items(tmp_path)
    early = Review(data)
    for item in early.items[:20]:
        early.label(item.id, "", SCORES, "approved")
    review = Review(data, Reviewers(draw=30))
    label(review)
    assert against(review, tmp_path).labels == 30


def test_a_draw_says_nothing_of_items_that_it_was_not_drawn_from(tmp_path: Path) -> None:
    data = items(tmp_path)
    review = Review(data, Reviewers(draw=30))
    label(review)
    judged = [f"p{number}" for number in range(200)]
    first = order_at_random(judged, 0)[:30]
    assert {*first} != {item.id for item in review.items}
    held = against(review, tmp_path, judged)
    assert not held.corrected
    assert "the judged items are others than those that were drawn from" in str(held.calibration)


def test_a_label_is_of_one_attempt(tmp_path: Path) -> None:
    run = two_attempts(tmp_path)
    [held] = agree([source({("a", 0): True, ("a", 1): False, ("b", 0): True, ("b", 1): False}), run]).held
    assert (held.labels, held.judged) == (4, 4)
    assert held.rows[0].equal.value == 1


def test_a_label_that_names_no_attempt_is_of_none_of_several(tmp_path: Path) -> None:
    run = two_attempts(tmp_path)
    [held] = agree([source({("a", None): True, ("b", 0): True}), run]).held
    assert held.labels == 1
    assert [str(sentence) for sentence in held.left_out] == [
        "1 label does not say which attempt it is of; it is left out."
    ]


def test_a_draw_stays_the_same(tmp_path: Path) -> None:
    data = items(tmp_path)
    drawn = [item.id for item in Review(data, Reviewers(draw=30)).items]
    assert [item.id for item in Review(data, Reviewers(names=("ann",))).items] == drawn
    with pytest.raises(BadInput, match="30 items were drawn before"):
        Review(data, Reviewers(draw=31))


def test_a_draw_of_more_than_there_are_is_one_of_all_and_begins_again(tmp_path: Path) -> None:
    data = items(tmp_path, count=20)
    for _ in range(2):
        assert len(Review(data, Reviewers(draw=200)).items) == 20


def items(folder: Path, count: int = 80) -> Path:
    path = folder / "items.jsonl"
    rows = [{"id": f"p{number}", "problem": f"Question {number}?", "answer": "yes"} for number in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def label(review: Review, reviewer: str = "", count: int | None = None) -> None:
    for item in review.items[:count]:
        status = "rejected" if int(item.id[1:]) % 7 == 0 else "approved"
        review.label(item.id, reviewer, SCORES, status)


def against(review: Review, folder: Path, judged: Sequence[str] | None = None) -> AgreedScorer:
    """Compare the labels with a run of as many samples, of which the scorer passes 3 of 4."""
    names = [f"p{number}" for number in range(80)] if judged is None else judged
    samples = [Sample.ask(name, name, target="yes" if int(name[1:]) % 4 else "no") for name in names]
    run = evaluate(
        Task(name="t", samples=samples, scorers=["exact"]), agent=lambda _: "yes", store=str(folder / "runs.db")
    )
    [held] = agree([review.file, run], keep=False).held
    return held


def two_attempts(folder: Path) -> Run:
    """Two attempts at each of two samples, of which the first is right and the second is wrong."""
    said = iter(("yes", "no") * 2)
    samples = [Sample.ask(name, name, target="yes") for name in "ab"]
    return evaluate(
        Task(name="t", samples=samples, scorers=["exact"]),
        agent=lambda _: next(said),
        store=str(folder / "runs.db"),
        attempts=2,
        concurrency=1,
    )


def source(approved: Mapping[AnswerKey, bool]) -> LabelSource:
    records: dict[AnswerKey, LabelRecord] = {}
    for key, passes in approved.items():
        entry = LabelEntry(number=1, reviewer="ann", scores={}, status="approved" if passes else "rejected")
        records[key] = record(key[0], [entry])
    return LabelSource(name="ann", path="ann.json", records=records)
