"""A log of Inspect, `.eval`: read by Inspect's own viewer and functions (schema version 2 of inspect_ai 0.3.285).

Values are shares from 0 to 1. An agent that failed has the zeros it is counted with; what was not measured is an error there,
which is in no mean, and a verdict that could not be given is NaN, as Inspect itself writes it. Where no sample was measured,
the log as a whole is one that failed.
"""

import json
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from proctor.chat.message_text import data_url
from proctor.core.media_type import SOUNDS, WAV, type_by_bytes
from proctor.core.parts import ExportPart
from proctor.core.run import RunRecord
from proctor.core.sample import File, JsonObject, Message, Part, Reasoning, Sample, Text, ToolCall, ToolResult
from proctor.core.score import Score, Unscored
from proctor.core.task import Store
from proctor.core.trajectory import Step, Trajectory, Usage
from proctor.core.trial import Trial, Verdict
from proctor.runtime.files import draft_of
from proctor.stores.reading import trials_with_verdicts

STATUS = {"finished": "success", "inconclusive": "success", "stopped": "cancelled", "running": "started"}
LIMITS = {"length": "token", "step_limit": "message", "time_limit": "time"}
STOPS = {"length": "max_tokens", "filtered": "content_filter"}
NOT_GIVEN = {"no_evidence": "scoring_failed", "judge_failed": "grader_failed", "scorer_failed": "scoring_failed"}
NOTHING_MEASURED = {"message": "No sample was measured.", "traceback": "", "traceback_ansi": ""}
SUMMARY_CHARACTERS = 1_000
IN_MEMORY = 8_000_000


def write(record: RunRecord, store: Store, path: Path) -> list[Path]:
    """Write the log of a run and return the file; memory does not grow with the number of trials.

    Raises:
        BadInput: the file cannot be written.
    """
    name, planned = "", Sample(id="", turns=())
    with (
        draft_of(path) as draft,
        zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as zipped,
        tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as summaries,
    ):
        for trial, verdicts in trials_with_verdicts(store, record.id):
            if trial.outcome == "skipped" and not trial.trajectory.steps:
                continue  # it was planned, and never begun; an imported one may have met a limit
            if trial.sample_id != name:
                name = trial.sample_id
                planned = store.sample(record.id, name) or Sample(id=name, turns=())
            sample = _sample(record, planned, trial, verdicts)
            zipped.writestr(f"samples/{_member(name)}_epoch_{trial.attempt + 1}.json", _json(sample))
            summaries.write((b"[" if summaries.tell() == 0 else b",") + _json(_summary(sample)))
        summaries.write(b"[]" if summaries.tell() == 0 else b"]")
        member = zipfile.ZipInfo("summaries.json", time.localtime()[:6])
        member.compress_type, member.file_size = zipfile.ZIP_DEFLATED, summaries.tell()
        summaries.seek(0)
        with zipped.open(member, "w") as listed:
            shutil.copyfileobj(summaries, listed)
        zipped.writestr("header.json", _json(_header(record, store)))
    return [path]


def _json(value: object) -> bytes:
    """Return JSON as Inspect writes it, with NaN."""
    return json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "replace")


def _member(id: str) -> str:
    """Return the id for the name of a member, so that none leads out of the folder that it is unpacked to, or ends early."""
    id = id.replace("\0", "%00")
    parts = id.replace("\\", "/").split("/")
    return id.replace("/", "%2F").replace("\\", "%5C") if len(parts) > 1 and {"", ".", ".."} & {*parts} else id


def _header(record: RunRecord, store: Store) -> dict[str, object]:
    ids = [sample.id for sample in store.planned(record.id)]
    created = _time(record.created)
    about = {
        "eval_id": record.id,
        "run_id": record.id,
        "task_id": record.id,
        "created": created,
        "task": record.task,
        "task_version": record.task_version,
        "dataset": {"name": record.task, "samples": len(ids), "sample_ids": ids},
        "model": record.agent,
        "config": {"epochs": record.spec.attempts, "epochs_reducer": ["mean"]},
        "packages": {"proctor": record.proctor_version},
        "metadata": {"state": record.state, "seed": record.spec.seed},
    }
    completed = sum(
        count for outcome, count in store.outcomes(record.id).items() if outcome in ("scored", "agent_failed")
    )
    status = STATUS.get(record.state, "error")
    nothing = status == "success" and record.planned and not completed
    return {
        "version": 2,
        "status": "error" if nothing else status,
        **({"error": NOTHING_MEASURED} if nothing else {}),
        "eval": about,
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": record.planned,
            "completed_samples": completed,
            "scores": [figure for name in record.scorers if (figure := _figure(record, store, name))],
        },
        "stats": {"started_at": created, "completed_at": _time(record.created + record.seconds), "model_usage": {}},
    }


def _figure(record: RunRecord, store: Store, scorer: str) -> dict[str, object] | None:
    sums = store.tallies(record.id, scorer).get("")
    if sums is None or not sums.samples:
        return None
    metric = "accuracy" if sums.all_or_nothing else "mean"
    figure = {"name": metric, "value": sums.total / sums.samples, "params": {}}
    unscored = sums.planned - sums.scored
    return {
        "name": scorer, "scorer": scorer, "reducer": "mean", "scored_samples": sums.scored, "unscored_samples": unscored,
        "params": {}, "metrics": {metric: figure},
    }  # fmt: skip


def _sample(record: RunRecord, sample: Sample, trial: Trial, verdicts: Sequence[Verdict]) -> dict[str, object]:
    first = [message for turn in sample.turns[:1] for message in turn.messages]
    asked, messages = _messages(first), _messages([*first, *_conversation(sample, trial.trajectory)])
    last = next((each for each in reversed(messages[len(asked) :]) if each["role"] == "assistant"), None)
    target = sample.target
    stop, options = trial.trajectory.stop, sample.known.options
    return {
        "id": sample.id,
        "epoch": trial.attempt + 1,
        "input": asked or "",
        "choices": [str(option) for option in (options.values() if isinstance(options, Mapping) else options)] or None,
        "target": [_text(value) for value in target] if isinstance(target, list | tuple) else _text(target),
        "messages": messages,
        "output": {
            "model": record.agent,
            "choices": [{"message": last, "stop_reason": STOPS.get(stop, "stop")}] if last else [],
            "completion": trial.trajectory.answer,
        },
        "scores": _scores(record, trial, verdicts) or None,
        "metadata": {**dict(sample.tags), **msgspec.to_builtins(sample.meta, enc_hook=str), "outcome": trial.outcome},
        "store": {},
        "events": [],
        "model_usage": {record.agent: _usage(trial.usage)},
        "total_time": trial.seconds or None,
        **({"started_at": _time(trial.started)} if trial.started else {}),
        "error": _error(trial),
        "attachments": {},
        "limit": {"type": LIMITS[stop], "limit": 0} if stop in LIMITS else None,
    }


def _conversation(sample: Sample, trajectory: Trajectory) -> Iterator[Message | Step]:
    """Yield the messages after the first turn: those of later turns come before the steps that answer them."""
    turn = 0
    for step in trajectory.steps:
        while turn < step.turn:
            turn += 1
            yield from sample.turns[turn].messages if turn < len(sample.turns) else ()
        yield step


def _messages(parts: Sequence[Message | Step]) -> list[dict[str, object]]:
    """Return messages as Inspect has them, where each result of a tool is a message by itself."""
    forms = [
        form
        for part in parts
        for form in (_of_step(part) if isinstance(part, Step) else _results(part) or [_message(part)])
    ]
    return [{"id": f"m{number}", **form} for number, form in enumerate(forms)]


def _of_step(step: Step) -> list[dict[str, object]]:
    """Return the messages of a step; what it used is in the metadata of the first, as Inspect has no other field for that."""
    first, *rest = _results(step.message) or [_message(step.message)]
    used = {} if step.usage is None else {"usage": _usage(step.usage)}
    return [{**first, **({"metadata": about} if (about := used | _timed(step)) else {})}, *rest]


def _timed(step: Step) -> dict[str, object]:
    return {"seconds": step.seconds, "started": step.started} if step.seconds else {}


def _results(message: Message) -> list[dict[str, object]]:
    results = [part for part in message.parts if isinstance(part, ToolResult)] if message.role == "tool" else []
    return [
        {
            "role": "tool", "content": _with_files(result), "tool_call_id": result.id, "function": result.name,
            **({"error": {"type": "unknown", "message": result.content[:SUMMARY_CHARACTERS]}} if result.is_error else {}),
        }
        for result in results
    ]  # fmt: skip


def _with_files(result: ToolResult) -> str | list[dict[str, Any]]:
    files = [content for file in result.files if (content := _content(file))]
    return (
        [*([{"type": "text", "text": result.content}] if result.content else []), *files] if files else result.content
    )


def _message(message: Message) -> dict[str, object]:
    fields: dict[str, object] = {"role": message.role}
    if message.role == "tool":
        return {**fields, "content": message.text}
    parts = [content for part in message.parts if (content := _content(part))]
    fields["content"] = parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else parts or ""
    if message.role == "assistant":
        fields |= {"source": "generate", **({"tool_calls": calls} if (calls := [*map(_call, message.calls)]) else {})}
    return fields


def _content(part: Part) -> dict[str, object] | None:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Reasoning():
            return {"type": "reasoning", "reasoning": part.text}
        case File() if part.media_type.startswith("image/") and (part.data is not None or part.url):
            return {"type": "image", "image": part.url if part.data is None else data_url(part.media_type, part.data)}
        case File(data=bytes() as data) if (kind := type_by_bytes(data)) in SOUNDS:
            return {"type": "audio", "audio": data_url(kind, data), "format": "wav" if kind == WAV else "mp3"}
        case File(data=bytes() as data):
            document = data_url(part.media_type, data)
            return {"type": "document", "document": document, "filename": part.name, "mime_type": part.media_type}
        case File():
            return {"type": "text", "text": f"[{part.name or part.media_type}]"}
        case _:
            return None


def _call(call: ToolCall) -> dict[str, object]:
    arguments = msgspec.to_builtins(call.arguments, enc_hook=str) if call.raw is None else {}
    error = {} if call.raw is None else {"parse_error": call.raw[:SUMMARY_CHARACTERS]}
    return {"id": call.id or call.name, "function": call.name, "arguments": arguments, "type": "function", **error}


def _scores(record: RunRecord, trial: Trial, verdicts: Sequence[Verdict]) -> dict[str, object]:
    if trial.outcome == "agent_failed":
        why = "" if trial.failure is None else str(trial.failure.reason)
        return {name: {"value": 0.0, "explanation": why, "reason": "no_response"} for name in record.scorers}
    return (
        {verdict.scorer: score for verdict in verdicts if (score := _score(verdict.result))}
        if trial.outcome == "scored"
        else {}
    )


def _score(result: Score | Unscored) -> dict[str, object] | None:
    if isinstance(result, Score):
        about = {"points": result.points, "out_of": result.out_of}
        return {"value": result.value, "answer": result.answer, "explanation": str(result.reason), "metadata": about}
    if result.why == "not_applicable":
        return None
    return {"value": float("nan"), "explanation": str(result.reason), "reason": NOT_GIVEN[result.why]}


def _error(trial: Trial) -> dict[str, str] | None:
    if trial.outcome in ("scored", "agent_failed", "skipped"):
        return None
    why = trial.outcome if trial.failure is None else str(trial.failure.reason)
    return {
        "message": f"CancelledError({why!r})" if trial.outcome == "cancelled" else why,
        "traceback": "",
        "traceback_ansi": "",
    }


def _usage(usage: Usage) -> dict[str, object]:
    return {
        "input_tokens": max(0, usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens),  # apart in Inspect
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "input_tokens_cache_read": usage.cached_tokens,
        "input_tokens_cache_write": usage.cache_write_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "total_cost": usage.cost,
    }


def _summary(sample: JsonObject) -> dict[str, object]:
    """Return what the viewer lists of a sample."""
    asked = sample["input"]
    text = (
        next((_text(message["content"]) for message in reversed(asked) if message["role"] == "user"), "")
        if asked
        else ""
    )
    error = sample["error"]
    return {
        **{key: sample[key] for key in ("id", "epoch", "target", "model_usage", "total_time")},
        "input": text[:SUMMARY_CHARACTERS],
        "scores": {name: {"value": score["value"]} for name, score in (sample["scores"] or {}).items()} or None,
        "error": None if error is None else error["message"][:SUMMARY_CHARACTERS],
        "limit": sample["limit"]["type"] if sample["limit"] else None,
        "completed": True,
        "message_count": len(sample["messages"]),
    }


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


PART = ExportPart(write=write, suffix=".eval")
