"""Read the criteria that score a set: its `test_config.json`, or ADK's defaults.

    {"criteria": {"tool_trajectory_avg_score": {"threshold": 1.0, "match_type": "IN_ORDER"}, "response_match_score": 0.5}}

Source: google/adk-python, src/google/adk/evaluation, eval_config.py and eval_metrics.py, release 2.7.1.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import JsonObject
from proctor.core.sentence import Sentence, say
from proctor.core.validation import in_words, mismatch
from proctor.registry import unknown
from proctor_adapters.evalsets.custom import CustomMetric
from proctor_adapters.evalsets.schema import Rubric
from proctor_judging.judges.adk_judged import METRICS, Criterion
from proctor_judging.matching.adk_rules import MatchType, match_type

FILE = "test_config.json"
OURS = ("tool_trajectory_avg_score", "response_match_score")
JUDGED = METRICS
REFUSED = (
    "response_evaluation_score",
    "safety_v1",
    "multi_turn_task_success_v1",
    "multi_turn_trajectory_quality_v1",
    "multi_turn_tool_use_quality_v1",
)
TOLD = ("tool_call_count_v1", "inference_call_count_v1", "token_usage_v1", "invocation_duration_v1")
CONFIG_KEYS = {"criteria", "custom_metrics", "user_simulator_config", "live_model_config"}
IN_FINAL = "include_intermediate_responses_in_final"
CRITERION_KEYS = {
    "tool_trajectory_avg_score": {"threshold", "match_type", "ignore_args", IN_FINAL},
    "response_match_score": {"threshold", "count_thoughts", IN_FINAL},
    **{name: {"threshold", "judge_model_options", "rubrics", IN_FINAL} for name in JUDGED},
}
CRITERION_KEYS["hallucinations_v1"].add("evaluate_intermediate_nl_responses")
CRITERION_KEYS["per_turn_user_simulator_quality_v1"].add("stop_signal")
READS_INTERMEDIATE = ("final_response_match_v2", "rubric_based_final_response_quality_v1")
# how often the judge is asked where the criterion does not say; ADK asks this one once
SAMPLES = {"hallucinations_v1": 1}
FIRST_KEYS = ("thresholds", "match_type", "ignore_args", "judged")
FIRST_JUDGED_KEYS = ("threshold", "num_samples", "rubrics")
INFO_KEYS = {"metric_name", "description", "metric_value_info", "requires_threshold"}
INTERVAL_KEYS = {"min_value", "max_value", "open_at_min", "open_at_max"}
JUDGE_KEYS = {"num_samples", "judge_model", "judge_model_config", "parallelism_limit"}
USER_KEYS = {
    "type", "model", "model_configuration", "max_allowed_invocations", "custom_instructions", "include_function_calls",
}  # fmt: skip
DEFAULT = {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}


class EvalCriteria(msgspec.Struct, frozen=True, kw_only=True):
    """Thresholds by metric, how trajectories are matched, and the criteria of judges. The defaults are ADK's.

    ignore_args: calls are compared by their names alone (google-adk 2.13).
    count_thoughts: what a model thought is part of its answer and of the reference, as ADK has it.
    custom: functions of the user. max_turns: how many turns a simulated user has at most. notes: settings of the file that have no effect here.
    """

    thresholds: Mapping[str, float] = msgspec.field(default_factory=DEFAULT.copy)
    match_type: MatchType = "EXACT"
    ignore_args: bool = False
    count_thoughts: bool = False
    judged: Mapping[str, Criterion] = {}
    custom: Mapping[str, CustomMetric] = {}
    max_turns: int | None = None
    notes: tuple[Sentence, ...] = ()


def as_first(criteria: EvalCriteria) -> bytes:
    """Return the criteria as the JSON that a task's version is computed from; newer fields appear only where they are set, so that old versions stay valid."""
    usual, usual_judged = msgspec.to_builtins(EvalCriteria()), msgspec.to_builtins(Criterion(threshold=0.0))
    given = msgspec.to_builtins(msgspec.structs.replace(criteria, notes=()), order="deterministic")
    kept = {key: value for key, value in given.items() if key in FIRST_KEYS or value != usual[key]}
    kept["judged"] = {
        name: {key: value for key, value in criterion.items() if key in FIRST_JUDGED_KEYS or value != usual_judged[key]}
        for name, criterion in given["judged"].items()
    }
    return msgspec.json.encode(kept)


def criteria_next_to(path: Path, *, allow_code: bool = False) -> EvalCriteria:
    """Read the criteria of the folder of a file.

    Raises:
        BadInput: as `read`.
    """
    file = path.parent / FILE
    return read(file, allow_code=allow_code) if file.is_file() else EvalCriteria()


def read(path: Path, *, allow_code: bool = False) -> EvalCriteria:
    """Return the criteria of a file.

    Args:
        allow_code: functions that the file names under `custom_metrics` may run.

    Raises:
        BadInput: it cannot be read, names no criterion, one that needs a judge of Google's, one that is unknown, or
            code that is not allowed to run.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error.strerror or error) from None
    except (ValueError, RecursionError) as error:
        raise BadInput("{path} is no JSON object: {error}.", path=path, error=in_words(error)) from None
    if not isinstance(value, Mapping):
        raise BadInput("{path} is no JSON object: {error}.", path=path, error=mismatch("object", value))
    return of_config(value, str(path), allow_code=allow_code)


def of_config(given: Mapping[str, object], where: str = "eval_config", *, allow_code: bool = False) -> EvalCriteria:
    """Return the criteria of the JSON object in an eval config file.

    Raises:
        BadInput: as `read`.
    """
    config = _options(given, CONFIG_KEYS, where)
    custom = config.get("custom_metrics")
    criteria = of(config.get("criteria"), where, custom={} if custom is None else custom, allow_code=allow_code)
    max_turns, notes = _simulated_user(config.get("user_simulator_config"), f"{where}: user_simulator_config")
    if config.get("live_model_config") is not None:
        notes = (*notes, _without_effect(f"{where}: live_model_config", say("agents are not run live here")))
    return msgspec.structs.replace(criteria, max_turns=max_turns, notes=(*criteria.notes, *notes))


def of(
    given: object,
    where: str = "criteria",
    *,
    custom: Mapping[str, object] = MappingProxyType({}),
    allow_code: bool = False,
) -> EvalCriteria:
    """Return the criteria of a JSON object that has, for each metric, a threshold or an object with one.

    Raises:
        BadInput: as `read`.

    >>> of({"response_match_score": 0.5}).thresholds
    {'response_match_score': 0.5}
    """
    if not isinstance(given, Mapping) or not given:
        raise BadInput("{where} names no criteria, so nothing could be scored.", where=where)
    thresholds: dict[str, float] = {}
    judged: dict[str, Criterion] = {}
    own: dict[str, CustomMetric] = {}
    how: MatchType = "EXACT"
    flags: dict[str, bool] = {}
    notes: list[Sentence] = []
    for name, value in given.items():
        criterion = (
            {_snake(key): entry for key, entry in value.items()} if isinstance(value, Mapping) else {"threshold": value}
        )
        if name in custom:
            threshold = _threshold(criterion.get("threshold"), f"{where}: {name}")
            metric = _custom(name, custom[name], threshold, where, allow_code=allow_code)
            own[name] = msgspec.structs.replace(metric, criterion=value) if isinstance(value, Mapping) else metric
            continue
        _check_keys(name, criterion, where)
        threshold = _threshold(criterion.get("threshold"), f"{where}: {name}")
        intermediate = _flag(criterion.get(IN_FINAL, False), f"{where}: {name}", IN_FINAL)
        if intermediate and name not in READS_INTERMEDIATE:
            notes.append(
                _without_effect(f"{where}: {name}: {IN_FINAL}", say("this metric reads no intermediate texts"))
            )
        if name in JUDGED:
            judged[name] = _judge_criterion(name, criterion, threshold, where)
            notes.extend(_of_judge(criterion.get("judge_model_options"), f"{where}: {name}"))
            continue
        thresholds[name] = threshold
        if "match_type" in criterion:
            how = match_type(criterion["match_type"])
        for key in ("ignore_args", "count_thoughts"):
            if key in criterion:
                flags[key] = _flag(criterion[key], f"{where}: {name}", key)
    return EvalCriteria(thresholds=thresholds, match_type=how, judged=judged, custom=own, notes=tuple(notes), **flags)


def _check_keys(name: str, criterion: Mapping[str, object], where: str) -> None:
    _check_name(name, where)
    known = CRITERION_KEYS[name]
    for key in criterion:
        if key not in known:
            raise _unknown(f"{where}: {name}", key, sorted(known))


def _custom(name: str, given: object, threshold: float, where: str, *, allow_code: bool) -> CustomMetric:
    """Return a metric that is a function of the user.

    Raises:
        BadInput: its entry cannot be understood, or its code is not allowed to run.
    """
    at = f"{where}: custom_metrics.{name}"
    entry = _options(given, {"code_config", "metric_info", "description"}, at)
    code = _options(entry.get("code_config"), {"name", "args"}, f"{at}.code_config")
    function = code.get("name")
    if not isinstance(function, str) or not function.rpartition(".")[0]:
        raise BadInput(
            "{where}: name is the dotted path of a function, such as shop.metrics.polite, not {value}.",
            where=f"{at}.code_config",
            value=json.dumps(function),
        )
    if not allow_code:
        raise BadInput(
            "{where}: '{name}' runs code that the file names: {function}. Look at it, then allow it: --allow-code in proctor adk eval, --set allow_code=true elsewhere, allow_code=True in Python.",
            where=where,
            name=name,
            function=function,
        )
    info = _options(entry.get("metric_info"), INFO_KEYS, f"{at}.metric_info")
    kind = _options(info.get("metric_value_info"), {"interval"}, f"{at}.metric_value_info")
    interval = _options(kind.get("interval"), INTERVAL_KEYS, f"{at}.interval")
    least, most = (
        _threshold(interval.get(key, usual), f"{at}.interval.{key}")
        for key, usual in (("min_value", 0), ("max_value", 1))
    )
    if not least < most:
        raise BadInput("{where}: min_value is less than max_value.", where=f"{at}.interval")
    return CustomMetric(function=function, threshold=threshold, least=least, most=most)


def _check_name(name: str, where: str) -> None:
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


def _judge_criterion(name: str, criterion: JsonObject, threshold: float, where: str) -> Criterion:
    """Return how often a judge is asked, which properties it looks at, and what it is shown."""
    where = f"{where}: {name}"
    options = _options(criterion.get("judge_model_options"), JUDGE_KEYS, f"{where}: judge_model_options")
    own = {key: criterion[key] for key in Criterion.__struct_fields__ if key in criterion}
    try:
        rubrics = [Rubric.model_validate(rubric) for rubric in criterion.get("rubrics") or ()]
        return msgspec.convert(
            {
                **own,
                "threshold": threshold,
                "num_samples": options.get("num_samples") or SAMPLES.get(name, 5),
                "rubrics": {rubric.rubric_id: rubric.rubric_content.text_property or "" for rubric in rubrics},
            },
            Criterion,
        )
    except (ValueError, TypeError) as error:
        raise BadInput("{what}: {error}.", what=where, error=in_words(error)) from error


def _of_judge(given: object, where: str) -> Iterator[Sentence]:
    """Yield what a criterion says of its judge without effect."""
    for key in ("judge_model", "judge_model_config"):
        if _options(given, JUDGE_KEYS, where).get(key) is not None:
            reason = say("the judge is that of the run: --judge openai:MODEL, with --judge-set for its options")
            yield _without_effect(f"{where}: {key}", reason)


def _simulated_user(given: object, where: str) -> tuple[int | None, tuple[Sentence, ...]]:
    """Return how many turns a simulated user has at most, and which settings have no effect.

    Raises:
        BadInput: a setting that changes what the user says and cannot be followed.
    """
    config = _options(given, USER_KEYS, where)
    kind = config.get("type") or "llm_backed"
    for key, wanted in (
        ("type", kind != "llm_backed"),
        ("custom_instructions", config.get("custom_instructions") is not None),
        ("include_function_calls", bool(config.get("include_function_calls"))),
    ):
        if wanted:
            raise BadInput("{where}: '{key}' cannot be followed here. Take it out of the file.", where=where, key=key)
    most = config.get("max_allowed_invocations")
    if most is not None and (not isinstance(most, int) or isinstance(most, bool) or (most < 1 and most != -1)):
        raise BadInput(
            "{where}: max_allowed_invocations is a whole number from 1, or -1 for no limit, not {value}.",
            where=where,
            value=json.dumps(most),
        )
    reason = say("name the model of the simulated user with --set user=openai:MODEL")
    notes = (_without_effect(f"{where}: {key}", reason) for key in ("model", "model_configuration") if config.get(key))
    return (sys.maxsize if most == -1 else most), tuple(notes)


def _options(given: object, known: set[str], where: str) -> dict[str, Any]:
    """Return an object of the file with keys in snake_case; {} where there is none.

    Raises:
        BadInput: it is no object, or has a key that is not known.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise BadInput("{where} is an object, not {value}.", where=where, value=json.dumps(given))
    fields = {_snake(key): value for key, value in given.items()}
    for key in fields:
        if key not in known:
            raise _unknown(where, key, sorted(known))
    return fields


def _without_effect(what: str, reason: Sentence) -> Sentence:
    return say("{what} has no effect here: {reason}.", what=what, reason=reason)


def _threshold(value: Any, where: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise BadInput(
            "{where}: the threshold is a number, not {value}.", where=where, value=json.dumps(value)
        ) from None


def _flag(value: object, where: str, key: str) -> bool:
    if not isinstance(value, bool):
        raise BadInput("{where}: {key} is true or false, not {value}.", where=where, key=key, value=json.dumps(value))
    return value


def _unknown(where: object, key: str, known: list[str]) -> BadInput:
    return BadInput(
        "{where}: the key '{key}' is not known. Known: {known}.", where=where, key=key, known=", ".join(known)
    )


def _snake(key: str) -> str:
    return "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in key)
