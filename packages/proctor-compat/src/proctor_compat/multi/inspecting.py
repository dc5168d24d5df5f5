"""The article's functions around the assertions: read files, score them, add up, report, and say why one failed."""

import argparse
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor.runtime.json_file import read_json
from proctor_benchmarks.multi import dataset, official, prediction_scores
from proctor_benchmarks.multi.predictions import predictions, text_of
from proctor_benchmarks.multi.tables import absolute
from proctor_compat.multi import metrics
from proctor_compat.multi.evaluator import report_of
from proctor_compat.multi.functions import EvaluateFuncDict, evaluate_question

LETTERS = re.compile("[a-zA-Z]")


def evaluate_every_problem(args: Any) -> dict[str, dict[str, object]]:
    """Score `args.prediction_file` against `args.label_file` as the original does, and write `score.json` next to it.

    Returns:
        `{question id: {"question_id", "score", "total_score"}}`, what the file holds too.

    Raises:
        BadInput: a file that is missing or in another layout.
    """
    given = argparse.Namespace(**{"answer_position": "start", **vars(args)})
    reference = getattr(args, "reference_file", None)
    report = metrics.scored(given, reference)
    detail = bool(getattr(args, "detail", False))
    prediction_scores.write_files(report, Path(args.prediction_file), detail=detail)
    return {row.id: {"question_id": row.id, "score": row.score, "total_score": row.total} for row in report.rows}


def calculate_score(args: Any) -> tuple[float, float, float]:
    """Add up `args.score_file`, print the absolute score, and return (score, total, percent); NaN per cent of no points.

    Raises:
        BadInput: the file is missing or in another layout.
    """
    score, total = prediction_scores.added_up(Path(args.score_file))
    print(absolute(score, total))
    return score, total, 100 * score / total if total else math.nan


def load_predictions(path: str | Path) -> dict[str, dict[str, object]]:
    """Read answers by question id: `{id: {"answer": …}}`, `{id: text}`, or a prediction file of the original.

    Every entry of the result has `answer`.

    Raises:
        BadInput: the file is missing or in another layout.
    """
    by_id = _object(path)
    if by_id and all(isinstance(line, Mapping) and "question_id" in line for line in by_id.values()):
        return {id: {"answer": text_of(line.prediction) or ""} for id, line in predictions(Path(path)).items()}
    return {id: {**line} if isinstance(line, Mapping) else {"answer": str(line or "")} for id, line in by_id.items()}


def load_ground_truth(path: str | Path) -> dict[str, dict[str, object]]:
    """Read right answers by question id: `{id: {"correct_answer": …, "type": …}}`, or a problem file of the original.

    Raises:
        BadInput: the file is missing or in another layout.
    """
    by_id = _object(path)
    if any(isinstance(line, Mapping) and "problem_content_list" in line for line in by_id.values()):
        questions = dataset.questions(Path(path))
        return {question.id: {"correct_answer": question.label or "", "type": question.type} for question in questions}
    for id, line in by_id.items():
        if not isinstance(line, Mapping) or "correct_answer" not in line or "type" not in line:
            raise BadInput("{path}: '{id}' needs 'correct_answer' and 'type'.", path=path, id=id)
    return {id: dict(line) for id, line in by_id.items()}


def generate_evaluation_report(results: Sequence[Mapping[str, object]]) -> str:
    """Print the results of a batch in a few lines, and return them."""
    text = report_of(results)
    print(text)
    return text


def debug_assertion(pred: str, label: str, question_type: str, args: object = None) -> tuple[float, float]:
    """Print the input and the result of an assertion, with the reasons if it earned nothing; return (score, total)."""
    print(f"题目类型: {question_type}\n预测答案: {pred!r}\n标准答案: {label!r}")
    if question_type not in EvaluateFuncDict:
        print(f"错误: 未知题目类型 {question_type!r}")
        return 0, 0
    score, total, _ = evaluate_question(question_type, pred, label, args)
    print(f"断言结果: {score:g}/{total:g}" + (f" = {score / total:.2%}" if total else ""))
    if not score:
        print("失败原因分析:")
        analyze_failure(pred, label, question_type)
    return score, total


def analyze_failure(pred: str, label: str, question_type: str) -> list[str]:
    """Print, and return, what an answer lacks: the letters found and expected, or the lines that differ."""
    lines: list[str] = []
    if question_type in ("单选", "多选"):
        letters = LETTERS.findall(pred)
        lines = [f"找到的字母: {letters}" if letters else "预测答案中没有找到英文字母", f"期望的字母: {label}"]
    elif question_type == "填空":
        made, expected = pred.split("\n"), label.split("\n")
        lines = [f"预测行数: {len(made)}", f"期望行数: {len(expected)}"]
        lines += [
            f"第{number}行不匹配: {given.strip()!r} vs {wanted.strip()!r}"
            for number, (given, wanted) in enumerate(zip(made, expected, strict=False), start=1)
            if official.blanks(given, wanted).score == 0
        ]
    elif question_type == "解答":
        lines = [f"预测字数: {len(pred.strip())}", f"标准字数: {len(label.strip())}"]
    for line in lines:
        print(f"  - {line}")
    return lines


def _object(path: str | Path) -> dict[str, Any]:
    value = read_json(Path(path))
    if not isinstance(value, dict):
        raise BadInput("{path} holds no object by question id.", path=path)
    return value
