"""Write a run as ADK keeps results: `<app>_<set>_<unix time>.evalset_result.json`, which its web page shows.

Source: google/adk-python, src/google/adk/evaluation, eval_result.py and local_eval_set_results_manager.py, release 2.7.1.
"""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.run import RunRecord
from proctor.core.sample import JsonObject, Message, Sample, Text, ToolCall, ToolResult, Turn
from proctor.core.task import Store
from proctor.core.trajectory import Step, turns_of
from proctor.core.trial import Trial
from proctor.core.validation import in_words
from proctor.runtime.files import write_whole
from proctor_adapters.evalsets.custom import KEY
from proctor_adapters.evalsets.outcomes import CaseOutcome, Status, TurnOutcome, outcomes, status_of
from proctor_adapters.scorers import adk
from proctor_judging.matching.adk_rules import mean

SUFFIX = ".evalset_result.json"
_UNSAFE = re.compile(r"[^\w.-]")
PASSED, FAILED, NOT_EVALUATED = 1, 2, 3
STATUSES: Mapping[Status, int] = {"passed": PASSED, "failed": FAILED, "not_evaluated": NOT_EVALUATED}


def write(
    record: RunRecord, store: Store, folder: Path, app: str = "", cases: Sequence[CaseOutcome] | None = None
) -> list[Path]:
    """Write a file for each eval set of a run, with the results of all metrics for each trial.

    Args:
        app: the app they are results of; that of the first case of a set if ''.
        cases: the outcomes of the run, if they are known already.

    Raises:
        BadInput: a sample does not come from an eval set; the folder cannot be written to.
    """
    by_id = {case.id: case for case in (outcomes(record, store) if cases is None else cases)}
    found: dict[str, list[dict[str, object]]] = {}
    apps: dict[str, str] = {}
    for trial in store.trials(record.id):
        if (sample := store.sample(record.id, trial.sample_id)) is None:
            continue
        set_id = sample.known.eval_set_id
        if not set_id:
            raise BadInput("The sample '{id}' does not come from an eval-set file.", id=sample.id)
        found.setdefault(set_id, []).append(case_result(sample, trial, by_id[sample.id]))
        apps.setdefault(set_id, app or _session(sample).get("app_name") or "app")
    now = time.time()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [_file(folder, apps[set_id], set_id, results, now) for set_id, results in found.items()]
    except OSError as error:
        raise BadInput("{path} cannot be written: {error}.", path=folder, error=error.strerror or error) from None


def read(path: Path) -> dict[str, Any]:
    """Return a result file; very old ones hold the JSON as a text.

    Raises:
        BadInput: it cannot be read, or is none.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        value = json.loads(value) if isinstance(value, str) else value
    except OSError as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error.strerror or error) from None
    except (ValueError, RecursionError) as error:
        raise BadInput("{path} is no JSON object: {error}.", path=path, error=in_words(error)) from None
    if not isinstance(value, dict) or not {"eval_set_result_id", "evalSetResultId"} & value.keys():
        raise BadInput("{path} holds no results of an eval set.", path=path)
    return value


def case_result(sample: Sample, trial: Trial, case: CaseOutcome) -> dict[str, object]:
    """Return an `EvalCaseResult` as JSON data: the results of each metric for one attempt, and for each of its turns."""
    results = _metrics(sample, trial, case)
    overall = [result.overall for result in results]
    played = enumerate(turns_of(sample, trial.trajectory))
    turns = [_per_turn(sample, turn, trial, index, results) for index, turn in played]
    return {
        "eval_set_file": sample.known.eval_set_id,
        "eval_set_id": sample.known.eval_set_id,
        "eval_id": sample.known.eval_id,
        "final_eval_status": _final(trial, [result["eval_status"] for result in overall]),
        "overall_eval_metric_results": overall if trial.outcome == "scored" else [],
        "eval_metric_result_per_invocation": turns if trial.outcome == "scored" else [],
        "session_id": _session(sample).get("session_id") or "",
        "user_id": _session(sample).get("user_id") or "test_user_id",
    }


def _file(folder: Path, app: str, set_id: str, results: list[dict[str, object]], now: float) -> Path:
    result_id = f"{app}_{set_id}_{now}"
    name = result_id.replace("/", "_")
    value = {
        "eval_set_result_id": result_id,
        "eval_set_result_name": name,
        "eval_set_id": set_id,
        "eval_case_results": results,
        "creation_timestamp": now,
    }
    path = folder / (_UNSAFE.sub("_", name) + SUFFIX)
    return write_whole(path, json.dumps(value, indent=2, ensure_ascii=False, default=str))


def _final(trial: Trial, statuses: Sequence[int]) -> int:
    if trial.outcome != "scored":
        return FAILED if trial.outcome == "agent_failed" else NOT_EVALUATED
    return FAILED if FAILED in statuses else PASSED if PASSED in statuses else NOT_EVALUATED


class _AdkMetric(msgspec.Struct, frozen=True):
    """What one metric said of an attempt, and of each of its turns."""

    overall: dict[str, Any]
    scores: Sequence[float | None]
    statuses: Sequence[int]
    details: Sequence[JsonObject] = ()


def _metrics(sample: Sample, trial: Trial, case: CaseOutcome) -> list[_AdkMetric]:
    turns = [turn for turn in case.turns if turn.attempt == trial.attempt]
    metrics = []
    for metric in case.metrics:
        scores = [turn.scores.get(metric.name) for turn in turns]
        statuses = [STATUSES[turn.statuses.get(metric.name, "not_evaluated")] for turn in turns]
        known = [score for score in scores if score is not None]
        average = mean(known) if known else None
        status = STATUSES[status_of(average, metric.threshold)]
        if metric.has_own_rule and average is not None:
            status = FAILED if FAILED in statuses else PASSED
        criterion: dict[str, object] = {"threshold": metric.threshold}
        if metric.name == "tool_trajectory_avg_score":
            criterion["match_type"] = sample.known.adk["match_type"]
        details = [_details(turn.rubrics.get(metric.name, {})) for turn in turns]
        rubrics: dict[str, list[float]] = {}
        for turn in turns:
            for rubric_id, points in turn.rubrics.get(metric.name, {}).items():
                rubrics.setdefault(rubric_id, []).append(points)
        overall = _details({rubric_id: mean(points) for rubric_id, points in rubrics.items()})
        result = _result(metric.name, criterion, average, status, overall)
        if function := sample.meta.get(KEY, {}).get("metrics", {}).get(metric.name, {}).get("function"):
            result["custom_function_path"] = function
        metrics.append(_AdkMetric(result, scores, statuses, details))
    return [*metrics, *_informational(trial, turns)]


def _informational(trial: Trial, turns: Sequence[TurnOutcome]) -> Iterator[_AdkMetric]:
    """Yield what google-adk 2.13 reports of every turn: numbers without a threshold, the mean over turns for the case.

    Their status is NOT_EVALUATED: the one of 2.13, INFORMATIONAL, would keep earlier releases from reading the file.
    """
    steps = [[step for step in trial.trajectory.steps if step.turn == turn.place] for turn in turns]
    used = [[step.usage for step in group if step.usage is not None] for group in steps]
    values: dict[str, list[float | None]] = {
        "tool_call_count_v1": [float(len(trial.trajectory.calls(turn.place))) for turn in turns],
        "inference_call_count_v1": [float(sum(usage.requests for usage in all_)) if all_ else None for all_ in used],
        "token_usage_v1": [
            float(sum(usage.input_tokens + usage.output_tokens for usage in all_)) if all_ else None for all_ in used
        ],
        "invocation_duration_v1": [turn.seconds for turn in turns],
    }
    for name, scores in values.items():
        known = [score for score in scores if score is not None]
        average = mean(known) if known else None
        yield _AdkMetric(_result(name, {}, average, NOT_EVALUATED), scores, [NOT_EVALUATED] * len(scores))


def _details(points: Mapping[str, float]) -> dict[str, object]:
    scores = [{"rubric_id": rubric_id, "score": score} for rubric_id, score in points.items()]
    return {"rubric_scores": scores} if scores else {}


def _result(
    name: str,
    criterion: Mapping[str, object],
    score: float | None,
    status: int,
    details: Mapping[str, object] = {},
) -> dict[str, object]:
    return {
        "metric_name": name,
        "threshold": criterion.get("threshold"),
        "criterion": dict(criterion) or None,
        "score": score,
        "eval_status": status,
        "details": dict(details),
    }


def _per_turn(sample: Sample, turn: Turn, trial: Trial, place: int, results: Sequence[_AdkMetric]) -> dict[str, object]:
    known = sample.known.invocations
    invocation_id = known[place].invocation_id if place < len(known) else ""
    asked = {"role": "user", "parts": [{"text": message.text} for message in turn.messages]}
    steps = [step for step in trial.trajectory.steps if step.turn == place]
    reference = turn.reference if isinstance(turn.reference, Mapping) else {}
    expected: dict[str, object] = {"invocation_id": invocation_id, "user_content": asked}
    if reference.get("response") is not None:
        expected["final_response"] = _content([reference["response"]])
    if reference.get("calls") is not None:
        expected["intermediate_data"] = {
            "tool_uses": [
                {("args" if key == "arguments" else key): value for key, value in call.items()}
                for call in reference["calls"]
            ]
        }
    return {
        "actual_invocation": {"invocation_id": invocation_id, "user_content": asked, **_actual(steps)},
        "expected_invocation": expected,
        "eval_metric_results": [
            _result(
                result.overall["metric_name"],
                result.overall["criterion"] or {},
                result.scores[place],
                result.statuses[place],
                result.details[place] if place < len(result.details) else {},
            )
            for result in results
            if place < len(result.scores)
        ],
    }


def _actual(steps: Sequence[Step]) -> dict[str, object]:
    """Return the last message with text is the answer; calls, results and the texts before it come between."""
    spoken = [step for step in steps if step.message.role == "assistant" and step.message.text]
    calls = [call for step in steps if step.message.role == "assistant" for call in step.message.calls]
    results = [part for step in steps for part in step.message.parts if isinstance(part, ToolResult)]
    fields: dict[str, object] = {
        "intermediate_data": {
            "tool_uses": list(map(_call, calls)),
            "tool_responses": [
                {"name": part.name, "response": {"result": part.content}} | ({"id": part.id} if part.id else {})
                for part in results
            ],
            "intermediate_responses": [
                [step.author, [{"text": text} for text in _texts(step.message)]] for step in spoken[:-1]
            ],
        },
        "creation_timestamp": steps[0].started if steps else 0.0,
    }
    if spoken:
        fields["final_response"] = _content(_texts(spoken[-1].message))
    return fields


def _call(call: ToolCall) -> dict[str, object]:
    seen = adk.made_call(call)
    shown: dict[str, object] = {"name": call.name}
    if seen.args is not None:
        shown["args"] = dict(seen.args)
    return shown | ({"id": call.id} if call.id else {})


def _content(found: Sequence[str]) -> dict[str, object]:
    return {"role": "model", "parts": [{"text": text} for text in found]}


def _texts(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, Text) and part.text]


def _session(sample: Sample) -> JsonObject:
    return sample.known.session
