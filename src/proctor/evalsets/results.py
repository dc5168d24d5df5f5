"""Write a run as ADK keeps results: `<app>_<set>_<unix time>.evalset_result.json`, which its web page shows.

Source: google/adk-python, src/google/adk/evaluation, eval_result.py and local_eval_set_results_manager.py, release 2.7.1.
"""

import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, Text, ToolCall, ToolResult
from proctor.core.score import Score
from proctor.core.trajectory import Step
from proctor.core.trial import Trial
from proctor.scorers import adk

SUFFIX = ".evalset_result.json"
_UNSAFE = re.compile(r"[^\w.-]")
PASSED, FAILED, NOT_EVALUATED = 1, 2, 3
SCORERS = {
    "tool_trajectory_avg_score": (adk.tool_trajectory_avg_score, "trajectory_threshold"),
    "response_match_score": (adk.response_match_score, "response_threshold"),
}


def write(trials: Iterable[tuple[Sample, Trial]], folder: Path, app: str = "") -> list[Path]:
    """One file for each eval set among the trials, with a result for each trial.

    Raises:
        BadInput: a sample does not come from an eval set.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    apps: dict[str, str] = {}
    for sample, trial in trials:
        if "eval_set_id" not in sample.meta:
            raise BadInput("The sample '{id}' does not come from an eval-set file.", id=sample.id)
        set_id = sample.meta["eval_set_id"]
        found.setdefault(set_id, []).append(_case(sample, trial))
        apps.setdefault(set_id, app or _session(sample).get("app_name") or "app")
    folder.mkdir(parents=True, exist_ok=True)
    now = time.time()
    return [_file(folder, apps[set_id], set_id, results, now) for set_id, results in found.items()]


def read(path: Path) -> dict[str, Any]:
    """A result file; very old ones hold the JSON as a text.

    Raises:
        BadInput: it cannot be read, or is none.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        value = json.loads(value) if isinstance(value, str) else value
    except OSError as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error.strerror or error) from None
    except (ValueError, RecursionError) as error:
        raise BadInput("{path} is no JSON object: {error}.", path=path, error=error) from None
    if not isinstance(value, dict) or not {"eval_set_result_id", "evalSetResultId"} & value.keys():
        raise BadInput("{path} holds no results of an eval set.", path=path)
    return value


def _file(folder: Path, app: str, set_id: str, results: list[dict[str, Any]], now: float) -> Path:
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
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False, default=str), encoding="utf-8", errors="replace")
    return path


def _case(sample: Sample, trial: Trial) -> dict[str, Any]:
    options = sample.meta.get("adk", {})
    results = [_metric(name, sample, trial, options) for name in options.get("criteria", SCORERS)]
    overall = [result for result, _ in results]
    turns = [_per_turn(sample, trial, place, results) for place in range(len(sample.turns))]
    return {
        "eval_set_file": sample.meta["eval_set_id"],
        "eval_set_id": sample.meta["eval_set_id"],
        "eval_id": sample.meta["eval_id"],
        "final_eval_status": _final(trial, [result["eval_status"] for result in overall]),
        "overall_eval_metric_results": overall if trial.outcome == "scored" else [],
        "eval_metric_result_per_invocation": turns if trial.outcome == "scored" else [],
        "session_id": _session(sample).get("session_id") or "",
        "user_id": _session(sample).get("user_id") or "test_user_id",
    }


def _final(trial: Trial, statuses: Sequence[int]) -> int:
    if trial.outcome != "scored":
        return FAILED if trial.outcome == "agent_failed" else NOT_EVALUATED
    return FAILED if FAILED in statuses else PASSED if PASSED in statuses else NOT_EVALUATED


def _metric(
    name: str, sample: Sample, trial: Trial, options: Mapping[str, Any]
) -> tuple[dict[str, Any], Sequence[float]]:
    """The result of one metric over the case, and its score on each turn."""
    scorer, key = SCORERS[name]
    score = scorer(sample, trial.trajectory)
    threshold = options.get(key, getattr(adk.Options(), key))
    criterion = {"threshold": threshold}
    if name == "tool_trajectory_avg_score":
        criterion["match_type"] = options.get("match_type", "EXACT")
    if not isinstance(score, Score):
        return _result(name, criterion, None, NOT_EVALUATED), ()
    status = PASSED if score.details["passed"] else FAILED
    return _result(name, criterion, score.points, status), score.details["turns"]


def _result(name: str, criterion: Mapping[str, Any], score: float | None, status: int) -> dict[str, Any]:
    return {
        "metric_name": name,
        "threshold": criterion["threshold"],
        "criterion": dict(criterion),
        "score": score,
        "eval_status": status,
        "details": {},
    }


def _per_turn(
    sample: Sample, trial: Trial, place: int, results: Sequence[tuple[dict[str, Any], Sequence[float]]]
) -> dict[str, Any]:
    turn = sample.turns[place]
    known = sample.meta.get("invocations", [])
    invocation_id = known[place]["invocation_id"] if place < len(known) else ""
    asked = {"role": "user", "parts": [{"text": message.text} for message in turn.messages]}
    steps = [step for step in trial.trajectory.steps if step.turn == place]
    reference = turn.reference if isinstance(turn.reference, Mapping) else {}
    expected: dict[str, Any] = {"invocation_id": invocation_id, "user_content": asked}
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
                result["metric_name"],
                result["criterion"],
                scores[place],
                PASSED if scores[place] >= result["threshold"] else FAILED,
            )
            for result, scores in results
            if place < len(scores)
        ],
    }


def _actual(steps: Sequence[Step]) -> dict[str, Any]:
    """The last message with text is the answer; calls, results and the texts before it come between."""
    spoken = [step for step in steps if step.message.role == "assistant" and step.message.text]
    calls = [call for step in steps if step.message.role == "assistant" for call in step.message.calls]
    results = [part for step in steps for part in step.message.parts if isinstance(part, ToolResult)]
    made: dict[str, Any] = {
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
        made["final_response"] = _content(_texts(spoken[-1].message))
    return made


def _call(call: ToolCall) -> dict[str, Any]:
    seen = adk.made_call(call)
    made: dict[str, Any] = {"name": call.name}
    if seen.args is not None:
        made["args"] = dict(seen.args)
    return made | ({"id": call.id} if call.id else {})


def _content(found: Sequence[str]) -> dict[str, Any]:
    return {"role": "model", "parts": [{"text": text} for text in found]}


def _texts(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, Text) and part.text]


def _session(sample: Sample) -> Mapping[str, Any]:
    session: Mapping[str, Any] = sample.meta.get("session") or {}
    return session
