"""The names of MULTI-Benchmark and of the article about it."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from proctor.core.errors import BadInput
from proctor_compat import multi

START, END = SimpleNamespace(answer_position="start"), SimpleNamespace(answer_position="end")
YAML = """
evaluation_settings: {answer_position: end, case_sensitive: false, fuzzy_threshold: 0.8, partial_credit: true}
single_choice: {strict_mode: true, allow_multiple: false}
multiple_choice: {penalty_wrong: true, min_correct_ratio: 0.6}
fill_blank: {alternative_separator: '或', ignore_punctuation: true}
open_ended: {rouge_type: rouge-l, min_similarity: 0.3}
"""


@pytest.fixture
def registry() -> Iterator[dict[str, Any]]:
    kept = dict(multi.EvaluateFuncDict)
    yield multi.EvaluateFuncDict
    multi.EvaluateFuncDict.clear()
    multi.EvaluateFuncDict.update(kept)


def test_the_functions_give_score_and_total() -> None:
    assert multi.SingleAnswerChoiceEval("The answer is C", "C", START) == (0, 1)
    assert multi.SingleAnswerChoiceEval("The answer is C", "C", END) == (1, 1)
    assert multi.MultipleAnswersChoiceEval("A, C", "AC", START) == (2, 2)
    assert multi.FillInTheBlankEval("京；5", "北京或京\n6", None) == (1, 2)
    assert multi.OpenendQuestionEval("发展经济", "发展经济", START) == (0.999999995, 1)


def test_args_may_be_missing_and_start_is_the_usual_position() -> None:
    assert (
        multi.SingleAnswerChoiceEval("A B", "A")
        == multi.SingleAnswerChoiceEval("A B", "A", SimpleNamespace())
        == (1, 1)
    )


def test_the_registry_is_a_plain_dict_that_users_assign_into(registry: dict[str, Any]) -> None:
    assert type(registry) is dict
    assert list(registry) == ["单选", "多选", "填空", "解答"]
    registry["自定义题型"] = lambda pred, label, args: (getattr(args, "points", 1) * (label in pred), 2)
    assert multi.evaluate_question("自定义题型", "a b", "a", SimpleNamespace(points=2)) == (2, 2, 0)
    registry["三值"] = lambda pred, label, args: (1, 2, 0.5)
    assert multi.evaluate_question("三值", "", "") == (1, 2, 0.5)
    assert multi.evaluate_question("论述", "x", "y") == (0, 0, 0)


def test_rejections_by_the_four_phrases_of_the_article_or_by_more() -> None:
    for phrase in ("题目缺少图片信息。", "无法回答", "信息不足", "需要更多信息"):
        assert multi.check_rejection(phrase)
    assert not multi.check_rejection("Lack of image information")
    assert multi.check_rejection("Lack of image information", extended=True)


@pytest.mark.parametrize(
    ("position", "found"), [("start", "A"), ("end", "D"), ("middle", "C"), ("all", ["A", "B", "C", "D"]), ("else", "D")]
)
def test_letters_by_position(position: str, found: object) -> None:
    assert multi.position_sensitive_extraction("a b c d", position) == found
    assert multi.position_sensitive_extraction("一", position) is None


def test_a_reference_gives_the_room_for_improvement() -> None:
    args = SimpleNamespace(question_type="多选", answer_position="start")
    assert multi.reference_comparison_assertion("A", "ABC", "AB", args) == (1, 3, 1)
    assert multi.reference_comparison_assertion("AB", "ABC", "A", None, "多选") == (2, 3, 0)


def test_a_batch_is_scored_and_reported_with_unknown_types_named() -> None:
    evaluator = multi.MultiAssertionEvaluator()
    results = evaluator.evaluate_batch(
        {"1": {"answer": "A"}, "2": "AC", "3": "x", "gone": "x"},
        {
            "1": {"correct_answer": "A", "type": "单选"},
            "2": {"correct_answer": "ABC", "type": "多选"},
            "3": {"correct_answer": "x", "type": "论述"},
        },
    )
    assert [(one["question_id"], one["score"], one["total_score"]) for one in results] == [
        ("1", 1, 1),
        ("2", 2, 3),
        ("3", 0, 0),
    ]
    report = evaluator.generate_report(results)
    assert "Absolute Score: 3.00/4, 75.00%" in report
    assert "Unknown type '论述': 1" in report
    assert "-" in evaluator.generate_report([])


@pytest.mark.parametrize(
    ("kind", "prediction", "label", "earned"),
    [
        ("单选", "The answer is C", "C", (1, 1)),
        ("多选", "The answer is A、C", "AC", (2, 2)),
        ("多选", "A", "AC", (0, 2)),
        ("多选", "A、B", "AC", (0, 2)),
        ("填空", "photosynthesys", "photosynthesis", (1, 1)),
        ("填空", "0.5", "1/2", (1, 1)),
        ("解答", "发展经济", "发展经济", (1, 1)),
        ("解答", "天气好", "发展经济", (0, 1)),
    ],
)
def test_a_yaml_file_makes_the_scoring_fair(
    kind: str, prediction: str, label: str, earned: tuple[float, float], tmp_path: Path
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(YAML, encoding="utf-8")
    assert multi.MultiAssertionEvaluator(path).evaluate(prediction, label, kind) == earned
    assert multi.MultiAssertionEvaluator().evaluate(prediction, label, kind, config=str(path)) == earned


def test_settings_change_the_score() -> None:
    evaluate = multi.MultiAssertionEvaluator().evaluate
    assert evaluate("选A", "A", "单选", {"single_choice": {"strict_mode": False}}) == (1, 1)
    assert evaluate("AB", "A", "单选", {"single_choice": {"strict_mode": False}}) == (0, 1)
    assert evaluate("AB", "A", "单选", {"single_choice": {"strict_mode": False, "allow_multiple": True}}) == (1, 1)
    assert evaluate("AB", "AC", "多选", {"multiple_choice": {"penalty_wrong": False}}) == (1, 2)
    assert evaluate("A", "AC", "多选", {"evaluation_settings": {"partial_credit": False}}) == (0, 1)
    assert evaluate("乙", "甲/乙", "填空", {"fill_blank": {"alternative_separator": "/"}}) == (1, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("evaluation_setings: {}", "Did you mean 'evaluation_settings'"),
        ("multiple_choice: {penalty_worng: true}", "Did you mean 'penalty_wrong'"),
        ("evaluation_settings: {answer_position: last}", "answer_position"),
        ("open_ended: {min_similarity: often}", "min_similarity"),
        ("single_choice: true", "expected settings"),
        ("- a", "must be a table"),
        ("a: [", "config.yaml"),
        ("!!python/object/apply:os.system ['true']", "config.yaml"),
    ],
)
def test_a_yaml_file_with_a_mistake_names_it(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        multi.MultiAssertionEvaluator(path)
    assert message in str(caught.value)


def test_the_functions_around_the_assertions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problems = {"x": {"subject": ["a"], "education": "初中", "problem_content": "题", "problem_content_list": ["甲", "乙"], "problem_type_list": ["单选", "填空"], "problem_answer_list": ["A", "北京或京"], "problem_analysis_list": ["", ""], "knowledge": [], "img_paths": []}}  # fmt: skip
    answers = {f"x_{n}": {"question_id": f"x_{n}", "prediction": text, "question_image_number": 0} for n, text in enumerate(["想\n\nB", "京"])}  # fmt: skip
    (tmp_path / "problem.json").write_text(json.dumps(problems), encoding="utf-8")
    (tmp_path / "prediction.json").write_text(json.dumps(answers), encoding="utf-8")
    args = SimpleNamespace(prediction_file=tmp_path / "prediction.json", label_file=tmp_path / "problem.json")
    scores = multi.evaluate_every_problem(args)
    assert {id: one["score"] for id, one in scores.items()} == {"x_0": 0, "x_1": 1}
    assert multi.calculate_score(SimpleNamespace(score_file=tmp_path / "score.json")) == (1, 2, 50)
    predictions = multi.load_predictions(tmp_path / "prediction.json")
    truth = multi.load_ground_truth(tmp_path / "problem.json")
    assert (predictions["x_1"]["answer"], truth["x_1"]) == ("京", {"correct_answer": "北京或京", "type": "填空"})
    results = multi.MultiAssertionEvaluator().evaluate_batch(predictions, truth)
    assert "Absolute Score: 1.00/2, 50.00%" in multi.generate_evaluation_report(results)
    capsys.readouterr()
    assert multi.debug_assertion("42", "A", "单选") == (0, 1)
    assert "预测答案中没有找到英文字母" in capsys.readouterr().out
    assert multi.analyze_failure("5\n6", "5\n7", "填空")[-1] == "第2行不匹配: '6' vs '7'"
    with pytest.raises(BadInput, match="cannot be read"):
        multi.load_predictions(tmp_path / "none.json")


def test_a_function_with_a_configuration_gets_it(registry: dict[str, Any]) -> None:
    def configurable(pred: str, label: str, args: Any, config: dict[str, Any]) -> tuple[float, float]:
        return float(pred.lower() == label.lower() if not config.get("case_sensitive", False) else pred == label), 1

    registry["自定义题型"] = configurable
    assert multi.evaluate_question("自定义题型", "A", "a") == (1, 1, 0)
    strict = SimpleNamespace(config={"case_sensitive": True})
    assert multi.evaluate_question("自定义题型", "A", "a", strict) == (0, 1, 0)


@pytest.mark.parametrize("kind", ["单选", "多选", "填空", "解答"])
def test_one_settings_file_gives_one_score(kind: str, tmp_path: Path) -> None:
    from proctor.core.sample import Sample
    from proctor.core.score import Score
    from proctor.core.trajectory import Trajectory
    from proctor.scorers import scorer_file

    path = tmp_path / "c.yaml"
    path.write_text(ARTICLE, encoding="utf-8")
    [configured] = scorer_file.load(str(path))
    evaluator = multi.MultiAssertionEvaluator(path)
    label = {"单选": "A", "多选": "AC", "填空": "是氧化反应\n1985年", "解答": "光合作用需要光"}[kind]
    for reply in (
        "A\nD\nE",
        "Ａ",
        "A, C",
        "AC",
        "是氧化反应；1985年",
        "不是氧化反应；1984年",
        "光合作用",
        "",
        "我选 A 因为",
    ):
        result = configured.scorer(Sample.ask("", "", target=label, meta={"type": kind}), Trajectory.of(reply))
        expected = (result.points, result.out_of) if isinstance(result, Score) else (0, 0)
        assert evaluator.evaluate(reply, label, kind) == expected, reply
    assert evaluator.evaluate("不是氧化反应", "是氧化反应", "填空")[0] == 0
    assert evaluator.evaluate("1984年", "1985年", "填空")[0] == 0


ARTICLE = """
evaluation_settings: {answer_position: end, case_sensitive: false, fuzzy_threshold: 0.8, partial_credit: true}
single_choice: {strict_mode: true, allow_multiple: false}
multiple_choice: {penalty_wrong: true, min_correct_ratio: 0.6}
fill_blank: {alternative_separator: 或, ignore_punctuation: true}
open_ended: {rouge_type: rouge-l, min_similarity: 0.3}
"""
