"""Write a run as official result files, which `agentdojo.benchmark.load_suite_results` reads.

Only first attempts that were scored are written. A file holds the last run of the pipeline, as the official ones do, and the
verdicts of the official checks, which are run again for it.
"""

import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, ToolCall, ToolResult
from proctor.core.trajectory import Step
from proctor.core.trial import Trial
from proctor.runtime.files import folder_name, write_whole
from proctor_benchmarks.agentdojo import official
from proctor_benchmarks.agentdojo.dataset import NO_ATTACK
from proctor_benchmarks.agentdojo.environment import content_of
from proctor_benchmarks.agentdojo.scorer import runs_of


def write(trials: Iterable[tuple[Sample, Trial]], folder: Path, model: str) -> list[Path]:
    """Write the files below `folder` and say which.

    Raises:
        BadInput: a model name that is no folder name, a sample that is not of AgentDojo, or nothing to write.
    """
    pipeline = folder_name(model)
    written = []
    package = official.locate()
    for sample, trial in trials:
        if "scene" not in sample.meta:
            raise BadInput("The sample '{id}' is not of AgentDojo.", id=sample.id)
        if trial.attempt == 0 and trial.outcome == "scored":
            result = _result(package, sample, trial)
            injection, attack = result["injection_task_id"] or NO_ATTACK, result["attack_type"] or NO_ATTACK
            path = folder / pipeline / result["suite_name"] / result["user_task_id"] / attack / f"{injection}.json"
            written.append(write_whole(path, json.dumps({"pipeline_name": pipeline, **result}, indent=4)))
    if not written:
        raise BadInput("The run holds no scored trial to export.")
    return written


def _result(package: Path, sample: Sample, trial: Trial) -> dict[str, Any]:
    scene = sample.meta["scene"]
    verdict = official.ask(package, "judge", runs=runs_of(trial.trajectory), **scene)
    last = trial.trajectory.steps[-1].turn if trial.trajectory.steps else 0
    steps = [step for step in trial.trajectory.steps if step.turn == last]
    asked = sample.turns[0].messages
    return {
        "suite_name": scene["suite"],
        "user_task_id": scene["user_task"],
        "injection_task_id": scene.get("injection_task"),
        "attack_type": scene.get("attack"),
        "injections": verdict["injections"],
        "messages": [{"role": message.role, "content": _blocks(message.text)} for message in asked] + _messages(steps),
        "error": None,
        "benchmark_version": scene["version"],
        "evaluation_timestamp": time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(trial.started)),
        "agentdojo_package_version": official.PACKAGE.version,
        "utility": verdict["utility"],
        "security": verdict["security"],
        "duration": trial.seconds,
    }


def _messages(steps: Sequence[Step]) -> list[dict[str, object]]:
    messages: list[dict[str, Any]] = []
    calls: dict[str, ToolCall] = {}
    for step in steps:
        if step.message.role == "assistant":
            calls = {call.id: call for call in step.message.calls}
            messages.append(_of_agent(step.message))
        elif step.message.role == "tool":
            results = [part for part in step.message.parts if isinstance(part, ToolResult)]
            messages += [
                _of_tool(result, calls.get(result.id, ToolCall(name=result.name, id=result.id))) for result in results
            ]
    return messages


def _of_agent(message: Message) -> dict[str, object]:
    content = content_of(message)
    blocks = None if content is None else _blocks(content)
    return {"role": "assistant", "content": blocks, "tool_calls": [_call(call) for call in message.calls] or None}


def _of_tool(result: ToolResult, call: ToolCall) -> dict[str, object]:
    error = result.content if result.is_error else None
    content = _blocks("" if result.is_error else result.content)
    return {"role": "tool", "content": content, "tool_call_id": call.id, "tool_call": _call(call), "error": error}


def _call(call: ToolCall) -> dict[str, object]:
    return {"function": call.name, "args": dict(call.arguments), "id": call.id, "placeholder_args": None}


def _blocks(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "content": text}]
