"""`metrics.py` of the original: score a prediction file against a label file, and write the files next to it.

Its functions are those registered in `EvaluateFuncDict`, so that a type of one's own is scored too.
"""

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor_benchmarks.multi import official, prediction_scores
from proctor_benchmarks.multi.tables import absolute, rejections
from proctor_compat.multi.functions import EvaluateFuncDict, evaluate_question
from proctor_compat.multi.running import SUPPORTED


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
        return absolute(*prediction_scores.added_up(Path(args.score_file))), 0
    if not args.prediction_file or not args.label_file:
        raise BadInput("Scoring needs --prediction_file and --label_file, or --score_file alone.")
    reference = args.reference_file or args.reference_dir
    report = scored(args, reference)
    prediction_scores.write_files(report, Path(args.prediction_file), detail=args.detail)
    total = sum(row.total for row in report.rows)
    lines = [absolute(sum(row.score for row in report.rows), total)]
    if report.improvement:
        lines.append(f"Improvement Score: {report.improvement:.2f}/{total:g}, {report.improvement / total:.2%}")
    lines += rejections(report.rows)
    unknown = Counter(detail["type"] for detail in report.details.values() if detail["type"] not in EvaluateFuncDict)
    lines += [f"Unknown type {kind!r}: {count} questions are not scored" for kind, count in unknown.items()]
    lines += [f"{report.dropped} predictions belong to no problem of the label file"] if report.dropped else []
    return "\n".join(lines), 0


def scored(args: Any, reference: str | Path | None) -> prediction_scores.PredictionReport:
    """Score `args.prediction_file` against `args.label_file` by the registered functions.

    Raises:
        BadInput: a file that is missing or in another layout, or nothing can be scored.
    """
    files = (Path(args.prediction_file), Path(args.label_file), Path(reference) if reference else None)
    return prediction_scores.score(*files, lambda kind, pred, label: evaluate_question(kind, pred, label, args))
