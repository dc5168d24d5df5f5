"""Score a file of predictions against a file of labels, and write the files of the original next to it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.runtime.json_file import read_json
from proctor_benchmarks.multi import dataset, official
from proctor_benchmarks.multi.export import score_files
from proctor_benchmarks.multi.predictions import objects, predictions, text_of
from proctor_benchmarks.multi.tables import Scored

Evaluate = Callable[[str, str, str], tuple[float, float, float]]  # type, reply, label: (score, total, improvement)


class PredictionReport(msgspec.Struct, kw_only=True):
    """The scores of a file of predictions."""

    rows: list[Scored]
    details: dict[str, dict[str, Any]]
    improvement: float | None = None
    dropped: int = 0


def score(prediction_file: Path, label_file: Path, reference_file: Path | None, evaluate: Evaluate) -> PredictionReport:
    """Score every prediction by its type, cleaned as upstream.

    Raises:
        BadInput: a file in another layout, or no prediction for a problem of the label file.
    """
    questions = {question.id: question for question in dataset.questions(label_file)}
    others = predictions(reference_file) if reference_file else {}
    report = PredictionReport(rows=[], details={}, improvement=0.0 if reference_file else None)
    for id, line in sorted(objects(prediction_file).items(), key=lambda item: item[0].split("_")[0]):
        question = questions.get(id)
        if question is None:
            report.dropped += 1
            continue
        label = question.label or ""
        kind = question.type if question.label is not None else "其他"
        cleaned = official.clean(text_of(line.get("prediction")) or "")
        points, total, better = evaluate(kind, cleaned, label)
        if report.improvement is not None:
            reference = official.clean(text_of(others[id].prediction) or "") if id in others else ""
            if reference:
                better = max(better, evaluate(kind, reference, label)[0] - points)
            report.improvement += max(0, better)
        refused = official.is_rejection(cleaned)
        _keep(report, question, 0 if refused else points, total, refused=refused, line=line)
    if not report.rows:
        raise BadInput("{path} holds no prediction for a problem of {labels}.", path=prediction_file, labels=label_file)
    return report


def _keep(
    report: PredictionReport,
    question: dataset.SubQuestion,
    points: float,
    total: float,
    *,
    refused: bool,
    line: dict[str, object],
) -> None:
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


def write_files(report: PredictionReport, prediction_file: Path, *, detail: bool) -> None:
    """Write score.json and detail.json next to the predictions; with `detail` what sums them up too."""
    folder = prediction_file if prediction_file.is_dir() else prediction_file.parent
    score_files(folder, report.details, report.rows, folder.absolute().name, summarised=detail)


def added_up(path: Path) -> tuple[float, float]:
    """Return the score and the total of a `score.json`.

    Raises:
        BadInput: the file is missing or in another layout.
    """
    value = read_json(path)
    try:
        return sum(line["score"] for line in value.values()), sum(line["total_score"] for line in value.values())
    except (AttributeError, KeyError, TypeError) as error:
        raise BadInput("{path}: {error}.", path=path, error=error) from None
