"""`MultiAssertionEvaluator` of the article: scores by type, with its YAML settings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import msgspec

from proctor.benchmarks.multi.official import RULES
from proctor.config import converted, unknown_option
from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.trajectory import Trajectory
from proctor.scorers._article import Settings, scorer


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

    def __init__(self, config: str | Path | Mapping[str, Any] | None = None) -> None:
        self.config = None if config is None else settings_of(config)
        self.unknown_types: dict[str, int] = {}

    def evaluate(
        self, prediction: str, label: str, question_type: str, config: Mapping[str, Any] | str | Path | None = None
    ) -> tuple[float, float]:
        """(score, total) of one answer; types without a function are 0 of 0, and counted in `unknown_types`."""
        from proctor.compat.multi import EvaluateFuncDict, evaluate_question

        settings = settings_of(config) if config is not None else self.config
        if question_type not in EvaluateFuncDict:
            self.unknown_types[question_type] = self.unknown_types.get(question_type, 0) + 1
            return 0, 0
        if settings is not None and question_type in RULES:
            return _configured(prediction or "", label, question_type, settings)
        args = settings.evaluation_settings if settings is not None else None
        score, total, _ = evaluate_question(question_type, prediction or "", label, args)
        return score, total

    def evaluate_batch(
        self, predictions: Mapping[str, Any], ground_truth: Mapping[str, Mapping[str, Any]]
    ) -> list[Result]:
        """Every prediction that has a truth: `{id: text or {"answer": …}}` against `{id: {"correct_answer", "type"}}`."""
        results: list[Result] = []
        for id, predicted in predictions.items():
            if (truth := ground_truth.get(id)) is None:
                continue
            answer = (
                predicted.get("answer", predicted.get("prediction")) if isinstance(predicted, Mapping) else predicted
            )
            label = truth.get("correct_answer", truth.get("answer", ""))
            score, total = self.evaluate(str(answer or ""), str(label), str(truth.get("type", "")))
            accuracy = score / total if total > 0 else 0
            results.append(Result(question_id=id, score=score, total_score=total, accuracy=accuracy))
        return results

    def generate_report(self, results: list[Result]) -> str:
        """The results in a few lines, and the types that could not be scored."""
        return report_of(results, self.unknown_types)


def report_of(results: Sequence[Mapping[str, Any]], unknown: Mapping[str, int] | None = None) -> str:
    """Write results in a few lines, with the types that could not be scored."""
    score, total = sum(one["score"] for one in results), sum(one["total_score"] for one in results)
    share = f"{score / total:.2%}" if total else "-"
    lines = [f"Questions: {len(results)}", f"Absolute Score: {score:.2f}/{total:g}, {share}"]
    lines += [f"Unknown type {kind!r}: {count}" for kind, count in (unknown or {}).items()]
    lines += [f"{one['question_id']}: {one['score']:g}/{one['total_score']:g}" for one in results]
    return "\n".join(lines)


def settings_of(config: str | Path | Mapping[str, Any]) -> Settings:
    """Read settings from a YAML file or its content.

    Raises:
        BadInput: no such file, no YAML, an unknown key (the nearest is named), or a wrong value.
    """
    values = config if isinstance(config, Mapping) else _yaml(Path(config))
    sections = {field.name: field.type for field in msgspec.structs.fields(Settings)}
    made = {}
    for name, value in values.items():
        if name not in sections:
            raise unknown_option("multi", str(name), list(sections))
        if not isinstance(value, Mapping):
            raise BadInput("{where}: expected settings with names and values.", where=name)
        made[name] = converted(value, sections[name], name)
    return Settings(**made)


def _yaml(path: Path) -> Mapping[str, Any]:
    import yaml

    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise BadInput("{path}: {error}.", path=path, error=error) from None
    if not isinstance(found, Mapping):
        raise BadInput("{where}: expected settings with names and values.", where=path)
    return found


def _configured(prediction: str, label: str, kind: str, settings: Settings) -> tuple[float, float]:
    """(score, total) by the scorer that `--scorer SETTINGS.yaml` makes of the same settings."""
    result = scorer(settings)(Sample.ask("", "", target=label, meta={"type": kind}), Trajectory.of(prediction))
    return (result.points, result.out_of) if isinstance(result, Score) else (0, 0)
