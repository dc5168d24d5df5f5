"""MULTI's files, and which questions are asked."""

import json
from pathlib import Path
from typing import Any

import pytest
from tiny_multi import folder, problem, samples

from proctor.core.errors import BadInput
from proctor_benchmarks.multi import dataset, task

ONE = problem(contents=["甲？", "乙？"], types=["单选", "填空"], answers=["A", " 5 "])


def test_a_question_is_the_stem_and_its_part(tmp_path: Path) -> None:
    first, second = dataset.questions(folder(tmp_path, {"a_b_1": ONE}) / "problem_v1.json")
    assert (first.id, first.problem, first.text, first.label) == ("a_b_1_0", "a_b_1", "题干\n甲？", "A")
    assert (second.id, second.type, second.label, second.level) == ("a_b_1_1", "填空", "5", "JuH")


def test_a_list_of_problems_is_read_too(tmp_path: Path) -> None:
    path = folder(tmp_path, [{**ONE, "problem_id": "a_1"}]) / "problem_v1.json"
    assert [question.id for question in dataset.questions(path)] == ["a_1_0", "a_1_1"]


def test_the_file_with_answers_is_taken_before_a_newer_release(tmp_path: Path) -> None:
    root = folder(tmp_path, {"a_1": ONE})
    (root / "problem_v2_release.json").write_text("{}", encoding="utf-8")
    assert dataset.locate(str(root)).problems.name == "problem_v1.json"


def test_a_release_without_answers_runs_and_is_not_scored(tmp_path: Path) -> None:
    root = folder(tmp_path, {"a_1": problem(contents=["甲？"], types=["单选"])})
    assert [sample.target for sample in samples(task(data=str(root)))] == [None]


@pytest.mark.parametrize(
    ("subject", "education", "level"),
    [("驾考", "社会", "Driving"), ("行测", "社会", "AAT"), ("物理", "社会", "Soc"), ("物理", "小学", "Other")],
)
def test_two_subjects_are_levels_of_their_own(subject: str, education: str, level: str, tmp_path: Path) -> None:
    root = folder(tmp_path, {"a_1": {**ONE, "subject": [subject], "education": education}})
    assert {sample.tags["education"] for sample in samples(task(data=str(root)))} == {level}


def test_only_the_first_comma_of_a_caption_parts_it_and_quotes_mean_nothing(tmp_path: Path) -> None:
    path = tmp_path / "captions.csv"
    path.write_text('a.png,"x, y"\n\nb.png, z\n', encoding="utf-8")
    assert dataset.captions(path) == {"a.png": '"x, y"', "b.png": "z"}


@pytest.mark.parametrize(
    ("problems", "message"),
    [
        ({"a_1": {**ONE, "problem_type_list": ["单选"]}}, "2 questions, but 1 entries in problem_type_list"),
        ({"a_1": {**ONE, "problem_answer_list": []}}, "0 entries in problem_answer_list"),
        ({"a_1": {**ONE, "problem_content": 5}}, "expected a text, got a whole number"),
        ({"a_1": {"problem_content": "x"}}, "problem_content_list"),
        ([ONE], "has no problem_id"),
        ([{**ONE, "problem_id": "a"}] * 2, "'a' is there twice"),
        ("text", "expected"),
        ({"": ONE}, "expected"),
    ],
)
def test_a_wrong_layout_is_named(problems: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        task(data=str(folder(tmp_path, problems)))
    assert message in str(caught.value)
    assert "problem_v1.json" in str(caught.value)


def test_files_that_are_not_there_or_cut_short_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROCTOR_MULTI_DATA", raising=False)
    root = folder(tmp_path, {"a_1": ONE})
    with pytest.raises(BadInput, match="no MULTI folder"):
        task(data=str(tmp_path / "elsewhere"))
    with pytest.raises(BadInput, match="data=sample"):
        task()
    with pytest.raises(BadInput, match=r"captions_\*\.csv"):
        task(data=str(root), input_type=1)
    with pytest.raises(BadInput, match=r"knowledge_\*\.json"):
        task(data=str(root), knowledge=True)
    (root / "captions_v1.csv").write_text("a.png\n", encoding="utf-8")
    with pytest.raises(BadInput, match="line 1"):
        task(data=str(root), input_type=1)
    (root / "problem_v1.json").write_text('{"a', encoding="utf-8")
    with pytest.raises(BadInput, match=r"problem_v1\.json"):
        task(data=str(root))


MIXED = {
    "x_1": problem(contents=["甲", "乙[IMAGE_1]"], types=["单选", "多选"], answers=["A", "AB"], img_paths=["i.png"]),
    "y_1": problem(
        contents=["[IMAGE_1][IMAGE_2][IMAGE_1]", "丁"],
        types=["填空", "解答"],
        answers=["5", "好"],
        img_paths=["i.png", "j.png"],
        subject=["物理"],
    ),
    "y_2": problem(contents=["戊", "己"], types=["其他", "论述"], answers=["x", "y"], subject=["物理"]),
}


def ids(root: Path, category: Any = None, **options: Any) -> list[str]:
    return [sample.id for sample in samples(task(category, data=str(root), **options))]


def test_without_a_word_discussions_are_left_out(tmp_path: Path) -> None:
    assert ids(folder(tmp_path, MIXED)) == ["x_1_0", "x_1_1", "y_1_0"]


@pytest.mark.parametrize(
    ("category", "options", "chosen"),
    [
        ("SA", {}, ["x_1_0"]),
        ("0,3", {}, ["x_1_0", "y_1_1"]),
        (3, {}, ["y_1_1"]),
        (["多选", "FB"], {}, ["x_1_1", "y_1_0"]),
        ("all", {}, ["x_1_0", "x_1_1", "y_1_0", "y_1_1", "y_2_0", "y_2_1"]),
        ("all", {"image_type": "SI,2"}, ["x_1_1", "y_1_0"]),
        ("all", {"subject": "x"}, ["x_1_0", "x_1_1"]),
        ("all", {"subject": "物理", "image_type": 0}, ["y_1_1", "y_2_0", "y_2_1"]),
        ("all", {"eval_num": 2}, ["x_1_0", "x_1_1"]),
    ],
)
def test_filters_are_applied_together(
    category: Any, options: dict[str, Any], chosen: list[str], tmp_path: Path
) -> None:
    assert ids(folder(tmp_path, MIXED), category, **options) == chosen


def test_a_subset_keeps_the_order_and_the_other_filters(tmp_path: Path) -> None:
    root = folder(tmp_path, MIXED)
    (tmp_path / "hard.json").write_text(json.dumps(["y_1_1", "x_1_0", "gone"]), encoding="utf-8")
    assert ids(root, subset=str(tmp_path / "hard.json")) == ["x_1_0", "y_1_1"]
    assert ids(root, "SA", subset=str(tmp_path / "hard.json")) == ["x_1_0"]


def test_a_draw_repeats_with_its_seed_and_changes_with_another() -> None:
    drawn = [
        tuple(sample.id for sample in samples(task(data="sample", random=True, seed=seed, eval_num=10)))
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0]) == 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"category": "XX"}, "no question type 'XX'"),
        ({"image_type": "3"}, "no image class '3'"),
        ({"input_type": 4}, "'input_type' of multi cannot be '4'"),
        ({"lang": "fr"}, "'lang' of multi cannot be 'fr'"),
        ({"few_shot": 4}, "'few_shot' of multi cannot be '4'"),
        ({"scoring": "mild"}, "It can be: official, fair, both"),
        ({"answer_position": "last"}, "start, end, middle, all"),
        ({"subject": "gone"}, "No question"),
    ],
)
def test_an_unknown_value_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        task(data="sample", **options)
    assert message in str(caught.value)


def test_types_that_nobody_scores_are_counted_and_named(tmp_path: Path) -> None:
    assert task(data=str(folder(tmp_path, MIXED))).provenance["unknown_types"] == {"论述": 1}


def test_the_folder_may_be_named_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_MULTI_DATA", str(folder(tmp_path, MIXED)))
    assert len(samples(task("all"))) == 6


def test_the_sample_set_has_all_types_classes_and_levels() -> None:
    found = samples(task("all", data="sample", input_type=2, knowledge=True))
    assert len(found) >= 40
    assert {sample.tags["type"] for sample in found} == {"SA", "MA", "FB", "OP", "Other"}
    assert {sample.tags["image"] for sample in found} == {"NI", "SI", "MI"}
    assert {sample.tags["education"] for sample in found} == {"JuH", "SeH", "Uni", "Driving", "AAT"}
