"""What a set is scored by: `test_config.json` beside it, or ADK's defaults.

    {"criteria": {"tool_trajectory_avg_score": {"threshold": 1.0, "match_type": "IN_ORDER"}, "response_match_score": 0.5}}

Source: google/adk-python, src/google/adk/evaluation, eval_config.py and eval_metrics.py, release 2.7.1.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.evalsets.schema import Rubric
from proctor.judges.adk_judged import METRICS, Criterion
from proctor.registry import unknown
from proctor.scorers._adk import MatchType, match_type

FILE = "test_config.json"
OURS = ("tool_trajectory_avg_score", "response_match_score")
JUDGED = METRICS
REFUSED = (
    "response_evaluation_score",
    "safety_v1",
    "hallucinations_v1",
    "per_turn_user_simulator_quality_v1",
    "multi_turn_task_success_v1",
    "multi_turn_trajectory_quality_v1",
    "multi_turn_tool_use_quality_v1",
    "rubric_based_multi_turn_trajectory_quality_v1",
)
TOLD = ("tool_call_count_v1", "inference_call_count_v1", "token_usage_v1", "invocation_duration_v1")
CONFIG_KEYS = {"criteria", "custom_metrics", "user_simulator_config", "live_model_config"}
CRITERION_KEYS = {
    "tool_trajectory_avg_score": {"threshold", "match_type", "ignore_args", "include_intermediate_responses_in_final"},
    "response_match_score": {"threshold", "count_thoughts", "include_intermediate_responses_in_final"},
}
JUDGED_KEYS = {
    "threshold", "judge_model_options", "rubrics", "include_intermediate_responses_in_final",
    "evaluate_intermediate_nl_responses",
}  # fmt: skip
DEFAULT = {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}


class Criteria(msgspec.Struct, frozen=True, kw_only=True):
    """Thresholds by metric, how trajectories are matched, and what a judge is asked. The default is ADK's.

    ignore_args: calls are compared by their names alone (google-adk 2.13).
    count_thoughts: what a model thought is part of its answer and of the reference, as ADK has it.
    """

    thresholds: Mapping[str, float] = msgspec.field(default_factory=DEFAULT.copy)
    match_type: MatchType = "EXACT"
    ignore_args: bool = False
    count_thoughts: bool = False
    judged: Mapping[str, Criterion] = {}


def beside(path: Path) -> Criteria:
    """The criteria of the folder of a file.

    Raises:
        BadInput: as `read`.
    """
    found = path.parent / FILE
    return read(found) if found.is_file() else Criteria()


def read(path: Path) -> Criteria:
    """The criteria of a file.

    Raises:
        BadInput: it cannot be read, names no criterion, one that needs a judge of Google's, or one that is unknown.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error.strerror or error) from None
    except (ValueError, RecursionError) as error:
        raise BadInput("{path} is no JSON object: {error}.", path=path, error=error) from None
    if not isinstance(value, Mapping):
        raise BadInput("{path} is no JSON object: {error}.", path=path, error=type(value).__name__)
    config = {_snake(key): one for key, one in value.items()}
    for key in config:
        if key not in CONFIG_KEYS:
            raise _unknown(path, key, sorted(CONFIG_KEYS))
    return of(config.get("criteria"), str(path), custom=config.get("custom_metrics") or {})


def of(given: Any, where: str = "criteria", custom: Mapping[str, Any] | None = None) -> Criteria:
    """The criteria of an object: a threshold, or an object with one, for each metric.

    Raises:
        BadInput: as `read`.

    >>> of({"response_match_score": 0.5}).thresholds
    {'response_match_score': 0.5}
    """
    if not isinstance(given, Mapping) or not given:
        raise BadInput("{where} names no criteria, so nothing could be scored.", where=where)
    thresholds: dict[str, float] = {}
    judged: dict[str, Criterion] = {}
    how: MatchType = "EXACT"
    flags: dict[str, bool] = {}
    for name, value in given.items():
        _check_name(name, where, custom or {})
        criterion = (
            {_snake(key): one for key, one in value.items()} if isinstance(value, Mapping) else {"threshold": value}
        )
        known = JUDGED_KEYS if name in JUDGED else CRITERION_KEYS[name]
        for key in criterion:
            if key not in known:
                raise _unknown(f"{where}: {name}", key, sorted(known))
        threshold = _threshold(criterion.get("threshold"), f"{where}: {name}")
        if name in JUDGED:
            judged[name] = _judged(criterion, threshold, f"{where}: {name}")
            continue
        thresholds[name] = threshold
        if "match_type" in criterion:
            how = match_type(criterion["match_type"])
        for key in ("ignore_args", "count_thoughts"):
            if key in criterion:
                flags[key] = _flag(criterion[key], f"{where}: {name}", key)
    return Criteria(thresholds=thresholds, match_type=how, judged=judged, **flags)


def _check_name(name: str, where: str, custom: Mapping[str, Any]) -> None:
    if name in custom:
        raise BadInput(
            "{where}: '{name}' is a function of your own for ADK's objects; give it as a scorer instead: --scorer ./metrics.py:{name}",
            where=where,
            name=name,
        )
    if name in TOLD:
        raise BadInput(
            "{where}: '{name}' tells a number and never fails, so it is no criterion. Take it out; every run counts calls, tokens and seconds anyway.",
            where=where,
            name=name,
        )
    if name in REFUSED:
        raise BadInput(
            "{where}: '{name}' needs a judge of Google's, so it cannot be computed here. Take it out, or choose: --set criteria.final_response_match_v2=0.8",
            where=where,
            name=name,
        )
    if name not in (*OURS, *JUDGED):
        raise unknown("criterion", name, [*OURS, *JUDGED, *REFUSED], paths=False)


def _judged(criterion: Mapping[str, Any], threshold: float, where: str) -> Criterion:
    """How often a judge is asked, and which properties it looks at; which model it is says the run."""
    options = criterion.get("judge_model_options")
    count = (
        {_snake(key): one for key, one in options.items()}.get("num_samples") if isinstance(options, Mapping) else None
    )
    try:
        rubrics = [Rubric.model_validate(one) for one in criterion.get("rubrics") or ()]
        return msgspec.convert(
            {
                "threshold": threshold,
                "num_samples": count or 5,
                "rubrics": {one.rubric_id: one.rubric_content.text_property or "" for one in rubrics},
            },
            Criterion,
        )
    except (ValueError, TypeError) as error:
        raise BadInput("{what}: {error}.", what=where, error=error) from None


def _threshold(value: Any, where: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise BadInput(
            "{where}: the threshold is a number, not {value}.", where=where, value=json.dumps(value)
        ) from None


def _flag(value: Any, where: str, key: str) -> bool:
    if not isinstance(value, bool):
        raise BadInput("{where}: {key} is true or false, not {value}.", where=where, key=key, value=json.dumps(value))
    return value


def _unknown(where: object, key: str, known: list[str]) -> BadInput:
    return BadInput(
        "{where}: the key '{key}' is not known. Known: {known}.", where=where, key=key, known=", ".join(known)
    )


def _snake(key: str) -> str:
    return "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in key)
