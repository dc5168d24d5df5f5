"""`metrics.py` of the original: score a prediction file against a label file, and write the files beside it.

Its functions are those registered in `EvaluateFuncDict`, so that a type of one's own is scored too.
"""

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from proctor.benchmarks.multi import dataset, official
from proctor.benchmarks.multi.export import score_files
from proctor.benchmarks.multi.predictions import objects, predictions, text_of
from proctor.benchmarks.multi.tables import Scored, rejections
from proctor.compat.multi.functions import EvaluateFuncDict, evaluate_question
from proctor.compat.multi.running import SUPPORTED
from proctor.core.errors import BadInput
from proctor.runtime.json_file import read_json


class Report(msgspec.Struct, kw_only=True):
    """What scoring a file gave."""

    rows: list[Scored]
    details: dict[str, dict[str, Any]]
    improvement: float | None = None
    unknown: Counter[str]
    dropped: int = 0


def add_flags(flags: argparse.ArgumentParser) -> None:
    """Add the flags of the original's `metrics.py`."""
    flags.add_argument("--label_file", help="the problem file with answers")
    flags.add_argument("--prediction_file", help="prediction.json, or the folder of a run")
    flags.add_argument("--score_file", help="only add up this score.json")
    flags.add_argument("--reference_file", help="predictions of another model, for the improvement")
    flags.add_argument("--reference_dir", help="a folder with prediction.json of another model")
    flags.add_argument(
        "--detail", action="store_true", help="write statistics.csv, summary.md, leaderboard.json and the pictures too"
    )
    flags.add_argument("--answer_position", choices=official.POSITIONS, default="start")
    flags.add_argument("--only_past", action="store_true", help="accepted, and without effect, as upstream")
    flags.add_argument("--model_list", "-l", action="store_true", help="print which models can be run")


def run(args: argparse.Namespace) -> tuple[str, int]:
    """Do what the flags say, and give back the lines to print and the exit code.

    Raises:
        BadInput: a flag is missing, a file cannot be read, or nothing can be scored.
    """
    if args.model_list:
        return SUPPORTED, 0
    if args.score_file and not args.prediction_file:
        return absolute(*added_up(Path(args.score_file))), 0
    if not args.prediction_file or not args.label_file:
        raise BadInput("Scoring needs --prediction_file and --label_file, or --score_file alone.")
    reference = args.reference_file or args.reference_dir
    report = score(Path(args.prediction_file), Path(args.label_file), Path(reference) if reference else None, args)
    write_files(report, Path(args.prediction_file), detail=args.detail)
    total = sum(row.total for row in report.rows)
    lines = [absolute(sum(row.score for row in report.rows), total)]
    if report.improvement:
        lines.append(f"Improvement Score: {report.improvement:.2f}/{total:g}, {report.improvement / total:.2%}")
    lines += rejections(report.rows)
    lines += [f"Unknown type {kind!r}: {count} questions are not scored" for kind, count in report.unknown.items()]
    lines += [f"{report.dropped} predictions belong to no problem of the label file"] if report.dropped else []
    return "\n".join(lines), 0


def score(prediction_file: Path, label_file: Path, reference_file: Path | None, args: Any) -> Report:
    """Score every prediction by the function of its type, cleaned as upstream.

    Raises:
        BadInput: a file in another layout, or no prediction for a problem of the label file.
    """
    questions = {question.id: question for question in dataset.questions(label_file)}
    others = predictions(reference_file) if reference_file else {}
    report = Report(rows=[], details={}, unknown=Counter(), improvement=0.0 if reference_file else None)
    for id, line in sorted(objects(prediction_file).items(), key=lambda item: item[0].split("_")[0]):
        question = questions.get(id)
        if question is None:
            report.dropped += 1
            continue
        label = question.label or ""
        kind = question.type if question.label is not None else "其他"
        cleaned = official.clean(text_of(line.get("prediction")) or "")
        points, total, better = evaluate_question(kind, cleaned, label, args)
        if report.improvement is not None:
            reference = official.clean(text_of(others[id].prediction) or "") if id in others else ""
            if reference:
                better = max(better, evaluate_question(kind, reference, label, args)[0] - points)
            report.improvement += max(0, better)
        refused = official.is_rejection(cleaned)
        _keep(report, question, 0 if refused else points, total, refused=refused, line=line)
    if not report.rows:
        raise BadInput("{path} holds no prediction for a problem of {labels}.", path=prediction_file, labels=label_file)
    return report


def _keep(
    report: Report, question: dataset.Question, points: float, total: float, *, refused: bool, line: dict[str, Any]
) -> None:
    if question.type not in EvaluateFuncDict:
        report.unknown[question.type] += 1
    report.rows.append(
        Scored(
            id=question.id,
            problem=question.problem,
            education=question.level,
            subject=question.subject,
            type=dataset.TYPES.get(question.type, "Other"),
            image=official.image_class(question.image_number),
            score=points,
            total=total,
            rejected=refused,
        )
    )
    report.details[question.id] = {
        **line,
        "analysis": question.analysis,
        "answer": question.label or "",
        "score": points,
        "total_score": total,
        "type": question.type,
        "education": question.education,
        "subject": question.subject,
    }


def write_files(report: Report, prediction_file: Path, *, detail: bool) -> None:
    """Write score.json and detail.json next to the predictions; with `detail` what sums them up too."""
    folder = prediction_file if prediction_file.is_dir() else prediction_file.parent
    score_files(folder, report.details, report.rows, folder.absolute().name, summarised=detail)


def added_up(path: Path) -> tuple[float, float]:
    """Return (score, total) of a score.json.

    Raises:
        BadInput: the file is missing or in another layout.
    """
    value = read_json(path)
    try:
        return sum(line["score"] for line in value.values()), sum(line["total_score"] for line in value.values())
    except (AttributeError, KeyError, TypeError) as error:
        raise BadInput("{path}: {error}.", path=path, error=error) from None


def absolute(score: float, total: float) -> str:
    """Write a score as the original prints it."""
    share = f"{score / total:.2%}" if total else "-"
    return f"Absolute Score: {score:.2f}/{total:g}, {share}"
