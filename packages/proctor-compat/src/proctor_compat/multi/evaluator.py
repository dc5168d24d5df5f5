"""`MultiAssertionEvaluator` of the article: scores by type, with its YAML settings."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from proctor.core.sample import JsonObject, Sample
from proctor.core.score import Score
from proctor.core.trajectory import Trajectory
from proctor.scorers.scorer_file import read
from proctor_benchmarks.multi.official import RULES
from proctor_benchmarks.multi.tables import absolute
from proctor_compat.multi.functions import EvaluateFuncDict, evaluate_question
from proctor_judging.scorers.article_settings import ArticleSettings, scorer, settings


class Result(TypedDict):
    """One line of a batch."""

    question_id: str
    score: float
    total_score: float
    accuracy: float


class MultiAssertionEvaluator:
    """Scores answers by question type: by the registered functions, or with a configuration as `--scorer` does with that file.

    Args:
        config: a YAML file or its content; None uses `EvaluateFuncDict` as it is.
    """

    def __init__(self, config: str | Path | Mapping[str, object] | None = None) -> None:
        self.config = None if config is None else settings_of(config)
        self.unknown_types: dict[str, int] = {}

    def evaluate(
        self, prediction: str, label: str, question_type: str, config: Mapping[str, object] | str | Path | None = None
    ) -> tuple[float, float]:
        """Return (score, total) of one answer; types without a function get 0 of 0, and are counted in `unknown_types`."""
        chosen = settings_of(config) if config is not None else self.config
        if question_type not in EvaluateFuncDict:
            self.unknown_types[question_type] = self.unknown_types.get(question_type, 0) + 1
            return 0, 0
        if chosen is not None and question_type in RULES:
            return _score_by_settings(prediction or "", label, question_type, chosen)
        args = chosen.evaluation_settings if chosen is not None else None
        score, total, _ = evaluate_question(question_type, prediction or "", label, args)
        return score, total

    def evaluate_batch(
        self, predictions: Mapping[str, object], ground_truth: Mapping[str, Mapping[str, object]]
    ) -> list[Result]:
        """Return every prediction that has a truth: `{id: text or {"answer": …}}` against `{id: {"correct_answer", "type"}}`."""
        results: list[Result] = []
        for id, predicted in predictions.items():
            if (truth := ground_truth.get(id)) is None:
                continue
            answer = (
                predicted.get("answer", predicted.get("prediction")) if isinstance(predicted, Mapping) else predicted
            )
            label = truth.get("correct_answer", truth.get("answer", ""))
            score, total = self.evaluate(str(answer or ""), str(label), str(truth.get("type", "")))
            accuracy = score / total if total > 0 else math.nan  # of an unknown type, or worth no points
            results.append(Result(question_id=id, score=score, total_score=total, accuracy=accuracy))
        return results

    def generate_report(self, results: list[Result]) -> str:
        """Return the results in a few lines, and the types that could not be scored."""
        return report_of(results, self.unknown_types)


def report_of(results: Sequence[JsonObject], unknown: Mapping[str, int] | None = None) -> str:
    """Write results in a few lines, with the types that could not be scored."""
    score, total = sum(result["score"] for result in results), sum(result["total_score"] for result in results)
    lines = [f"Questions: {len(results)}", absolute(score, total)]
    lines += [f"Unknown type {kind!r}: {count}" for kind, count in (unknown or {}).items()]
    lines += [f"{result['question_id']}: {result['score']:g}/{result['total_score']:g}" for result in results]
    return "\n".join(lines)


def settings_of(config: str | Path | Mapping[str, object]) -> ArticleSettings:
    """Read settings from a YAML file or its content.

    Raises:
        BadInput: no such file, no YAML, an unknown key (the nearest is named), or a wrong value.
    """
    return settings(config if isinstance(config, Mapping) else read(Path(config)))


def _score_by_settings(prediction: str, label: str, kind: str, chosen: ArticleSettings) -> tuple[float, float]:
    """(score, total) by the scorer that `--scorer SETTINGS.yaml` makes of the same settings."""
    result = scorer(chosen)(Sample.ask("", "", target=label, meta={"type": kind}), Trajectory.of(prediction))
    return (result.points, result.out_of) if isinstance(result, Score) else (0, 0)
