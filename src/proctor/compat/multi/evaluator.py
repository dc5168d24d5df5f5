"""`MultiAssertionEvaluator` of the article: scores by type, with its YAML settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict

import msgspec

from proctor.config import converted, unknown_option
from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.trajectory import Trajectory
from proctor.scorers import blanks, choice
from proctor.scorers import open as discussion


class General(msgspec.Struct, frozen=True, kw_only=True):
    """`evaluation_settings`."""

    answer_position: Literal["start", "end", "middle", "all"] = "end"
    case_sensitive: bool = False
    fuzzy_threshold: float = 1.0
    partial_credit: bool = True


class SingleChoice(msgspec.Struct, frozen=True, kw_only=True):
    """`single_choice`: strict is the official function; else the whole answer is read."""

    strict_mode: bool = True
    allow_multiple: bool = False


class MultipleChoice(msgspec.Struct, frozen=True, kw_only=True):
    """`multiple_choice`: whether a wrong option makes all 0, and the least share that counts."""

    penalty_wrong: bool = True
    min_correct_ratio: float = 0.0


class FillBlank(msgspec.Struct, frozen=True, kw_only=True):
    """`fill_blank`."""

    alternative_separator: str = "或"
    ignore_punctuation: bool = False


class OpenEnded(msgspec.Struct, frozen=True, kw_only=True):
    """`open_ended`."""

    rouge_type: Literal["rouge-1", "rouge-2", "rouge-l"] = "rouge-l"
    min_similarity: float = 0.0


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    evaluation_settings: General = General()
    single_choice: SingleChoice = SingleChoice()
    multiple_choice: MultipleChoice = MultipleChoice()
    fill_blank: FillBlank = FillBlank()
    open_ended: OpenEnded = OpenEnded()


class Result(TypedDict):
    """One line of a batch."""

    question_id: str
    score: float
    total_score: float
    accuracy: float


class MultiAssertionEvaluator:
    """Scores answers by question type: by the registered functions, or with a configuration by the fair scorers.

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
        made = _fair(prediction or "", label, question_type, settings) if settings is not None else None
        if made is not None:
            return made
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
        score, total = sum(one["score"] for one in results), sum(one["total_score"] for one in results)
        share = f"{score / total:.2%}" if total else "-"
        lines = [f"Questions: {len(results)}", f"Absolute Score: {score:.2f}/{total:g}, {share}"]
        lines += [f"Unknown type {kind!r}: {count}" for kind, count in self.unknown_types.items()]
        lines += [f"{one['question_id']}: {one['score']:g}/{one['total_score']:g}" for one in results]
        return "\n".join(lines)


def settings_of(config: str | Path | Mapping[str, Any]) -> Settings:
    """Settings from a YAML file or its content.

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


def _fair(prediction: str, label: str, kind: str, settings: Settings) -> tuple[float, float] | None:
    """(score, total) by the scorer for that type; None where the official function is asked for, or for own types."""
    general, single, several = settings.evaluation_settings, settings.single_choice, settings.multiple_choice
    trajectory = Trajectory.of(prediction)
    match kind:
        case "单选" if not single.strict_mode:
            scorer = choice.partial if single.allow_multiple else choice.choice
            result = scorer(_sample(label, "choice", {"wrong": "ignore"}), trajectory)
        case "多选" if not general.partial_credit:
            result = choice.choice(_sample(label, "choice", {}), trajectory)
        case "多选":
            wrong = "zero" if several.penalty_wrong else "ignore"
            options = {"wrong": wrong, "min_correct": several.min_correct_ratio}
            result = choice.partial(_sample(label, "choice", options), trajectory)
        case "填空":
            result = blanks.blanks(_sample(label, "blanks", _blank_options(settings)), trajectory)
        case "解答":
            open_ended = settings.open_ended
            options = {"measure": open_ended.rouge_type, "min_similarity": open_ended.min_similarity}
            result = discussion.open(_sample(label, "open", options), trajectory)
        case _:
            return None
    return (result.points, result.out_of) if isinstance(result, Score) else (0, 0)


def _blank_options(settings: Settings) -> dict[str, Any]:
    return {
        "separator": settings.fill_blank.alternative_separator,
        "ignore_punctuation": settings.fill_blank.ignore_punctuation,
        "case_sensitive": settings.evaluation_settings.case_sensitive,
        "min_similarity": settings.evaluation_settings.fuzzy_threshold,
    }


def _sample(label: str, scorer: str, options: Mapping[str, Any]) -> Sample:
    return Sample.ask("", "", target=label, meta={scorer: options})
