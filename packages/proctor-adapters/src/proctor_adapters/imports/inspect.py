"""Read logs of Inspect: `.eval`, a zip with a JSON file for each sample, and `.json`, one document.

Read as inspect_ai 0.3.285 writes and migrates them (`log/_log.py`, `log/_recorders/`; schema version 2 and what older files
hold), packed with Deflate or Zstandard. One whose run was cut off has no `header.json`: its parts are in `_journal/`.

    header.json, samples/7_epoch_1.json: {"id": 7, "epoch": 1, "input": "2+2?", "target": "4", "messages": [{"role": "user", …}],
      "scores": {"match": {"value": "C", "answer": "4"}}, "model_usage": {"openai/gpt-4o": {"input_tokens": 9, …}}}
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.parts import ImportPart
from proctor.core.run import RunState
from proctor.core.sample import Message, Sample, Turn
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import NOTHING, Stop, Trajectory, Usage
from proctor.core.trial import Outcome, TrialFailure
from proctor.transport.redact import redact
from proctor_adapters.imports._foreign import ForeignRun, ForeignTrial, LogReading, Reported
from proctor_adapters.imports._messages import message, steps, text_of
from proctor_adapters.imports._records import failure_of
from proctor_adapters.imports._source import MOST_DOCUMENT_BYTES, ImportSource, Unzipped
from proctor_adapters.imports._values import (
    by_name,
    mappings,
    moment,
    number,
    scores,
    seconds,
    seconds_between,
    tags,
    usage,
)

GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}  # value_to_float of inspect_ai/scorer/_metric.py
CANCELLED = ("CancelledError(", "Cancelled(")  # is_cancellation_message of inspect_ai/_util/error.py
STOPS: Mapping[str, Stop] = {"time": "time_limit", "working": "time_limit", "context": "length", "token": "length"}
ATTACHED = "attachment://"
MEANS = ("accuracy", "mean")
_SAMPLE = re.compile(r"samples/(.+)_epoch_(\d+)\.json", re.DOTALL)  # an id may have line breaks
_IN_CHUNKS = re.compile(r"samples/.+_epoch_\d+/sample\.json", re.DOTALL)


class _Score(msgspec.Struct, frozen=True):
    value: Any = None
    answer: Any = None
    explanation: str | None = None


class _Error(msgspec.Struct, frozen=True):
    message: str = ""


class _Limit(msgspec.Struct, frozen=True):
    type: str = ""


class InspectSample(msgspec.Struct, frozen=True):
    """A sample of a log; what is not named here, such as its events, is passed over without being built."""

    id: str | int
    epoch: int = 1
    input: str | list[dict[str, object]] = ""
    choices: list[str] | None = None
    target: Any = None
    messages: list[dict[str, Any]] | None = None
    output: dict[str, object] | None = None
    scores: dict[str, _Score] | None = None
    score: _Score | None = None
    metadata: dict[str, object] | None = None
    model_usage: dict[str, dict[str, object]] | None = None
    started_at: str | None = None
    total_time: float | None = None
    error: _Error | None = None
    attachments: dict[str, str] | None = None
    limit: _Limit | None = None


class _Dataset(msgspec.Struct, frozen=True):
    name: str | None = None
    location: str | None = None
    samples: int | None = None
    sample_ids: list[str | int] | None = None


class _Eval(msgspec.Struct, frozen=True):
    task: str = ""
    task_version: int | str = 0
    task_args: dict[str, object] = {}
    model: str = ""
    eval_id: str = ""
    created: str = ""
    dataset: _Dataset = _Dataset()
    packages: dict[str, object] = {}
    config: dict[str, Any] = {}


class _Stats(msgspec.Struct, frozen=True):
    started_at: str | None = None
    completed_at: str | None = None


class _Header(msgspec.Struct, frozen=True):
    eval: _Eval
    version: int = 1
    status: str = ""
    stats: _Stats | None = None
    results: dict[str, object] | None = None
    error: _Error | None = None


class _Document(_Header, frozen=True):
    samples: list[msgspec.Raw] | None = None


def knows(source: ImportSource) -> bool:
    if source.is_zip:
        return "header.json" in source.members or "_journal/start.json" in source.members
    return {"eval", "status", "plan"} <= source.head.keys() or {"eval", "samples", "version"} <= source.head.keys()


def read(source: ImportSource, how: LogReading) -> list[ForeignRun]:
    """Return the run that a log holds.

    Raises:
        BadInput: it is no log of Inspect, or of a later version.
    """
    if source.is_zip:
        header, trials = _zipped_header(source), partial(_zipped, source, how)
    else:
        document = source.document(_Document)
        header, trials = document, partial(_listed, source, document, how)
    if header.version > 2:
        raise BadInput(
            "{path} is a log of a later version of Inspect ({version}).", path=source.path, version=header.version
        )
    about, stats = header.eval, header.stats or _Stats()
    state, note = _ended(header)
    epochs = about.config.get("epochs")
    ids = about.dataset.sample_ids or []
    return [
        ForeignRun(
            format="inspect",
            version=str(about.packages.get("inspect_ai", "")),
            task=about.task or "inspect",
            task_version=str(about.task_version),
            agent=about.model or "inspect",
            created=moment(about.created),
            seconds=seconds_between(stats.started_at, stats.completed_at),
            trials=lambda: trials(about.model),
            planned=tuple(map(str, ids)),
            attempts=epochs if isinstance(epochs, int) and epochs > 0 else None,
            reported=tuple(_reported(header.results, how.scales)),
            state=state,
            note=note,
            provenance={
                "eval_id": about.eval_id,
                "dataset": msgspec.to_builtins(about.dataset.name),
                "task_args": about.task_args,
            },
        )
    ]


def _zipped_header(source: ImportSource) -> _Header:
    zipped = Unzipped(source)
    for name in ("header.json", "_journal/start.json"):
        if name in source.members:
            return zipped.member(name, _Header, most=MOST_DOCUMENT_BYTES)
    raise BadInput(
        "{path} has neither header.json nor _journal/start.json, so it is no log of Inspect.", path=source.path
    )


def _zipped(source: ImportSource, how: LogReading, model: str) -> Iterator[ForeignTrial]:
    zipped = Unzipped(source)
    for name in source.members:
        if _SAMPLE.fullmatch(name):
            yield _trial(zipped.member(name, InspectSample), how, model)
        elif _IN_CHUNKS.fullmatch(name):
            raise BadInput(
                "{path}: the sample {name} is stored in chunks. Rewrite the log first: inspect log convert --to json",
                path=source.path,
                name=name,
            )


def _listed(source: ImportSource, document: _Document, how: LogReading, model: str) -> Iterator[ForeignTrial]:
    for index, raw in enumerate(document.samples or ()):
        yield _trial(source.decode(bytes(raw), InspectSample, f"samples[{index}]"), how, model)


def _ended(header: _Header) -> tuple[RunState, Sentence | None]:
    if header.status == "success":
        return "finished", None
    if header.error is not None and header.error.message:
        return "stopped", say("Inspect ended with an error: {error}", error=redact(header.error.message[:500]))
    return "stopped", say("In the log, the status of this run is '{status}'.", status=header.status or "started")


def _reported(results: Mapping[str, object] | None, scales: Mapping[str, tuple[float, float]]) -> Iterator[Reported]:
    """Yield the means that the log states; those over another reduction than the mean of all epochs are not ours.

    A figure is yielded for both names that it may have: that of a scorer, and that of a part of what a scorer returns.
    """
    for score in mappings((results or {}).get("scores")):
        if score.get("reducer") in (None, "mean"):
            metrics = score.get("metrics")
            for metric, about in metrics.items() if isinstance(metrics, Mapping) else ():
                value = number(about.get("value")) if isinstance(about, Mapping) else None
                if metric in MEANS and value is not None:
                    for name in dict.fromkeys((f"{score.get('name')}", f"{score.get('scorer')}.{score.get('name')}")):
                        low, high = scales.get(name, (0.0, 1.0))
                        yield Reported(scorer=name, metric=metric, value=(value - low) / (high - low))


def _trial(raw: InspectSample, how: LogReading, model: str) -> ForeignTrial:
    attached = raw.attachments or {}
    messages = [message(_attach(each, attached)) for each in raw.messages or ()]
    asked = [message(_attach(each, attached)) for each in raw.input] if isinstance(raw.input, list) else []
    first = first_reply(raw, len(asked))
    prompt = messages[:first] or asked or [Message.of("user", _attach(raw.input, attached))]
    metadata = raw.metadata or {}
    target = raw.target[0] if isinstance(raw.target, list) and len(raw.target) == 1 else raw.target
    outcome, failure = _outcome(raw)
    return ForeignTrial(
        sample=Sample(
            id=str(raw.id),
            turns=(Turn(messages=tuple(prompt), reference=target),),
            target=target,
            tags=tags(metadata, how.tags),
            meta={"metadata": metadata, **({"options": raw.choices} if raw.choices else {})},
        ),
        attempt=raw.epoch - 1,
        outcome=outcome,
        failure=failure,
        trajectory=Trajectory(
            steps=steps(messages[first:]) or completion_of(raw),
            stop="done" if raw.limit is None else STOPS.get(raw.limit.type, "step_limit"),
            tools="native" if any(each.calls for each in messages) else "text",
        ),
        started=moment(raw.started_at),
        seconds=seconds(raw.total_time),
        usage=_used(raw, model),
        scores=by_name(_scores(raw, how)),
        notes={"used_by_other_models": others} if (others := _of_others(raw, model)) else {},
    )


def first_reply(raw: InspectSample, asked: int) -> int:
    """Return where the agent's own messages begin: those of a few-shot prompt are of the assistant too."""
    messages = raw.messages or []
    generated = [
        number for number, message in enumerate(messages) if message.get("source") == "generate" or message.get("model")
    ]
    if generated:
        return generated[0]
    replies = (n for n, message in enumerate(messages) if n >= asked and message.get("role") == "assistant")
    return next(replies, len(messages))


def completion_of(raw: InspectSample) -> tuple[Any, ...]:
    for choice in mappings((raw.output or {}).get("choices")):
        if isinstance(choice.get("message"), Mapping):
            return steps([message(choice["message"])])
    return ()


def _outcome(raw: InspectSample) -> tuple[Outcome, TrialFailure | None]:
    """Return how the sample ended: an error is never a zero, as the log does not say whose it was."""
    if raw.error is not None:
        if raw.error.message.startswith(CANCELLED):
            return "cancelled", failure_of(raw.error.message, "cancelled")
        return "environment_failed", failure_of(raw.error.message)
    if not raw.scores and raw.score is None and raw.limit is not None:
        return "skipped", TrialFailure(
            kind=f"{raw.limit.type}_limit",
            reason=say("It ended at the limit '{limit}', and was not scored.", limit=raw.limit.type),
        )
    return "scored", None


def _scores(raw: InspectSample, how: LogReading) -> Iterator[tuple[str, Score | Unscored]]:
    for name, score in (raw.scores or ({"score": raw.score} if raw.score is not None else {})).items():
        answer = None if score.answer is None else text_of(score.answer)
        yield from scores(name, score.value, how.scales, words=GRADES, answer=answer, reason=score.explanation or "")


def _used(raw: InspectSample, model: str) -> Usage:
    return sum((_usage(used) for name, used in (raw.model_usage or {}).items() if _is_of(name, model, raw)), NOTHING)


def _of_others(raw: InspectSample, model: str) -> dict[str, object]:
    """Return what models of scorers and tools used: the log does not say which of them."""
    return {
        n: msgspec.to_builtins(_usage(used)) for n, used in (raw.model_usage or {}).items() if not _is_of(n, model, raw)
    }


def _is_of(name: str, model: str, raw: InspectSample) -> bool:
    return name == model or len(raw.model_usage or {}) == 1


def _usage(raw: Mapping[str, object]) -> Usage:
    """Return a usage; Inspect counts cached input apart, and we count it as input too."""
    made = usage(
        input=raw.get("input_tokens"),
        output=raw.get("output_tokens"),
        cached=raw.get("input_tokens_cache_read"),
        reasoning=raw.get("reasoning_tokens"),
        cost=raw.get("total_cost"),
    )
    written = usage(input=raw.get("input_tokens_cache_write"), output=0).input_tokens
    input = made.input_tokens + made.cached_tokens + written
    return msgspec.structs.replace(made, input_tokens=input, cache_write_tokens=written)


def _attach(value: object, attached: Mapping[str, str]) -> Any:
    """Return a value with the texts that the sample keeps apart."""
    if not attached:
        return value
    if isinstance(value, str):
        return attached.get(value.removeprefix(ATTACHED), value) if value.startswith(ATTACHED) else value
    if isinstance(value, list):
        return [_attach(item, attached) for item in value]
    return {key: _attach(entry, attached) for key, entry in value.items()} if isinstance(value, dict) else value


PART = ImportPart(read=read, knows=knows)
