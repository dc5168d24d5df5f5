"""The verification file: the source's format is read and written, and several reviewers have their labels in it."""

import json
from pathlib import Path
from typing import Any

import pytest
import review_data
from review_data import SCORES

from proctor.core.errors import BadInput
from proctor_judging.review import labels
from proctor_judging.review.labels import LabelEntry, ReviewLabel
from proctor_judging.review.queue import Review, Reviewers

OF_THE_SOURCE = {
    "gen_aime_1": {
        "problem_id": "gen_aime_1",
        "scores": {"correctness": 5, "clarity": 4, "difficulty_match": 4, "completeness": 5},
        "total_score": 4.5,
        "status": "approved",
        "comments": "Problem quality is very good, logic is rigorous",
        "verified_at": "2025-01-10T12:00:00",
    }
}


def written(folder: Path, value: Any) -> Path:
    path = folder / "aime_verifications.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def as_the_source_reads(path: Path) -> dict[str, Any]:
    """The statistics of HumanVerificationUI: total, per status, mean; it takes every value for a verdict."""
    verifications = json.loads(path.read_text(encoding="utf-8"))
    return {
        "verified": len(verifications),
        "approved": sum(1 for v in verifications.values() if v["status"] == "approved"),
        "mean": sum(v["total_score"] for v in verifications.values()) / len(verifications),
    }


def test_a_file_of_the_source_is_read(tmp_path: Path) -> None:
    assert labels.read(written(tmp_path, OF_THE_SOURCE)) == [
        ReviewLabel(
            item="gen_aime_1",
            reviewer="",
            scores=SCORES,
            status="approved",
            comments="Problem quality is very good, logic is rigorous",
            when="2025-01-10T12:00:00",
        )
    ]


def test_a_mark_of_an_editor_in_front_is_no_fault(tmp_path: Path) -> None:
    data = review_data.write(tmp_path)
    labels.file_of(data).write_text(json.dumps(OF_THE_SOURCE), encoding="utf-8-sig")
    Review(data).label("gen_aime_2", "", SCORES, "approved")
    assert len(labels.read(labels.file_of(data))) == 2


def test_our_file_is_read_by_the_source(tmp_path: Path) -> None:
    review = Review(review_data.write(tmp_path), Reviewers(names=["ann", "bob"]))
    review.label("gen_aime_1", "ann", SCORES, "approved", "good")
    review.label("gen_aime_1", "bob", {**SCORES, "clarity": 2}, "approved")
    review.label("gen_aime_2", "ann", dict.fromkeys(SCORES, 1), "rejected")
    assert as_the_source_reads(review.file) == {"verified": 2, "approved": 1, "mean": pytest.approx((4.25 + 1) / 2)}


def test_the_record_of_one_label_is_that_of_the_source(tmp_path: Path) -> None:
    review = Review(review_data.write(tmp_path))
    review.label("gen_aime_1", "", SCORES, "approved", "fine")
    record = json.loads(review.file.read_text())["gen_aime_1"]
    assert {key: record[key] for key in OF_THE_SOURCE["gen_aime_1"]} == {
        "problem_id": "gen_aime_1",
        "scores": SCORES,
        "total_score": 4.5,
        "status": "approved",
        "comments": "fine",
        "verified_at": record["reviews"][0]["verified_at"],
    }
    assert all(isinstance(score, int) for score in record["scores"].values())


def test_several_reviewers_have_a_label_each_and_one_verdict(tmp_path: Path) -> None:
    review = Review(review_data.write(tmp_path), Reviewers(names=["ann", "bob"]))
    review.label("gen_aime_1", "ann", SCORES, "approved", "good")
    review.label("gen_aime_1", "bob", {**SCORES, "clarity": 2}, "rejected", "vague")
    review.label("gen_aime_1", "ann", SCORES, "approved", "very good")
    assert [(one.reviewer, one.status, one.comments) for one in labels.read(review.file)] == [
        ("ann", "approved", "very good"),
        ("bob", "rejected", "vague"),
    ]
    [verdict] = labels.verdicts(review.file)
    assert (verdict.status, verdict.scores["clarity"]) == ("needs_revision", 3)
    assert verdict.comments == "ann: very good\nbob: vague"


def test_the_decision_of_an_adjudicator_is_the_verdict_until_somebody_says_more(tmp_path: Path) -> None:
    review = Review(review_data.write(tmp_path), Reviewers(names=["ann", "bob"]))
    review.label("gen_aime_1", "ann", SCORES, "approved")
    review.label("gen_aime_1", "bob", SCORES, "rejected")
    review.label("gen_aime_1", "zoe", SCORES, "approved", decides=True)
    assert [one.status for one in labels.verdicts(review.file)] == ["approved"]
    assert {one.reviewer for one in labels.read(review.file)} == {"ann", "bob"}
    review.label("gen_aime_1", "bob", SCORES, "needs_revision")
    assert [one.status for one in labels.verdicts(review.file)] == ["needs_revision"]


def test_labels_of_an_earlier_text_do_not_count_beside_one_of_the_present_text(tmp_path: Path) -> None:
    data = review_data.write(tmp_path, 3)
    Review(data).label("gen_aime_1", "ann", SCORES, "rejected")
    data.write_text(json.dumps([review_data.problem(1, problem="Another text."), review_data.problem(2)]))
    Review(data).label("gen_aime_1", "bob", SCORES, "approved")
    assert [(one.reviewer, one.status) for one in labels.read(labels.file_of(data))] == [("bob", "approved")]


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ("[]", "expected an object, got a list"),
        ("not json", "a character that does not belong there"),
        ('{"a": {"scores": {}}}', "status"),
        ('{"a": {"scores": {}, "status": "perfect"}}', "[...].status"),
        ('{"a": {"scores": {"clarity": "5"}, "status": "approved"}}', "[...].scores[...]"),
        ('{"a": {"scores": {"clarity": true}, "status": "approved"}}', "[...].scores[...]"),
        ('{"a": {"scores": {"clarity": 1e999}, "status": "approved"}}', "no verification file"),
        ('{"a": ' * 5000, "no verification file"),
    ],
)
def test_what_is_no_verification_file_is_refused(value: str, place: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as raised:
        labels.read(written(tmp_path, value))
    assert place in str(raised.value)
    assert "aime_verifications.json" in str(raised.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        labels.read(tmp_path / "none.json")


@pytest.mark.parametrize(
    "data", ["aime.json", "aime.jsonl", "my.json.d/aime.json", "aime.txt", "aime", "a_verifications.json"]
)
def test_the_labels_stand_beside_the_data_and_never_in_its_place(data: str) -> None:
    path = Path(data)
    assert labels.file_of(path).parent == path.parent
    assert labels.file_of(path).name == f"{path.stem}_verifications.json"
    assert labels.file_of(path) != path


def test_disagreement_is_told_by_status_and_by_distance() -> None:
    one = LabelEntry(reviewer="ann", scores={"clarity": 5, "correctness": 4}, status="approved")
    other = LabelEntry(reviewer="bob", scores={"clarity": 3, "correctness": 3}, status="rejected")
    assert labels.differ([one, other], 1) == ("status", "clarity")
    assert labels.differ([one, other], 2) == ("status",)
    assert labels.differ([one], 0) == ()
