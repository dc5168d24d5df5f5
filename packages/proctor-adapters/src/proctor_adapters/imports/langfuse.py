"""Read traces of Langfuse with their scores: one trace as the page downloads it, or what its API lists.

Read as Langfuse 3 writes them (`Trace`, `Score` of its public API; a downloaded trace has its observations next to it):

    {"id": "…", "timestamp": "2026-01-01T00:00:00Z", "name": "answer", "input": …, "output": …, "latency": 1.2, "totalCost": 0.01,
      "scores": [{"name": "correct", "value": 1, "dataType": "BOOLEAN", "stringValue": "True", "comment": "…"}], "observations": […]}
"""

from collections.abc import Iterator, Mapping
from functools import partial

import msgspec

from proctor.core.parts import ImportPart
from proctor.core.score import Score, Unscored
from proctor_adapters.imports._foreign import ForeignRun, ForeignTrial, LogReading
from proctor_adapters.imports._records import outcome_of, sample, trajectory
from proctor_adapters.imports._source import ImportSource
from proctor_adapters.imports._values import by_name, mappings, moment, scores, seconds, tags, usage


class _Trace(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    timestamp: object = None
    name: str | None = None
    input: object = None
    output: object = None
    metadata: object = None
    latency: object = None
    total_cost: object = None
    scores: object = None
    observations: object = None


class _Download(msgspec.Struct, frozen=True):
    trace: _Trace
    observations: object = None


def knows(source: ImportSource) -> bool:
    head: Mapping[str, object] = source.head
    return (
        _is_trace(head)
        or ("trace" in head and "observations" in head)
        or (head.keys() <= {"data", "meta"} and "data" in head)
    )


def _is_trace(head: Mapping[str, object]) -> bool:
    return {"id", "timestamp", "input", "output", "scores"} <= head.keys()


def read(source: ImportSource, how: LogReading) -> list[ForeignRun]:
    """Return the run of a file: traces name no task, so that is the name of the file."""
    return [ForeignRun(format="langfuse", task=source.stem, agent="langfuse", trials=partial(_trials, source, how))]


def _traces(source: ImportSource) -> Iterator[_Trace]:
    if not source.is_lines and "trace" in source.head:
        download = source.document(_Download)
        yield msgspec.structs.replace(download.trace, observations=download.observations)
    elif not source.is_lines and _is_trace(source.head) and not source.is_list:
        yield source.document(_Trace)
    else:
        yield from source.records(_Trace, "data")


def _trials(source: ImportSource, how: LogReading) -> Iterator[ForeignTrial]:
    for trace in _traces(source):
        metadata = trace.metadata if isinstance(trace.metadata, dict) else {}
        observations = mappings(trace.observations)
        outcome, failure = outcome_of(_error(observations) if trace.output is None else None)
        yield ForeignTrial(
            sample=sample(trace.id, trace.input, metadata.get("expected_output"), tags(metadata, how.tags), metadata),
            outcome=outcome,
            failure=failure,
            trajectory=trajectory(trace.output),
            started=moment(trace.timestamp),
            seconds=seconds(trace.latency),
            usage=usage(
                input=_tokens(observations, "input"), output=_tokens(observations, "output"), cost=trace.total_cost
            ),
            scores=by_name(_scores(trace.scores, how)),
        )


def _error(observations: list[Mapping[str, object]]) -> object:
    return next(
        (
            observation.get("statusMessage") or "error"
            for observation in observations
            if observation.get("level") == "ERROR"
        ),
        None,
    )


def _tokens(observations: list[Mapping[str, object]], side: str) -> float:
    details = (observation.get("usageDetails") or observation.get("usage") or {} for observation in observations)
    found = (detail.get(side) for detail in details if isinstance(detail, Mapping))
    return sum(value for value in found if isinstance(value, int | float) and value > 0)


def _scores(raw: object, how: LogReading) -> Iterator[tuple[str, Score | Unscored]]:
    """Yield the scores, given as a list of objects or, in a table that was exported, as an object of name and value or values."""
    if isinstance(raw, Mapping):
        for name, value in raw.items():
            yield from scores(name, value[0] if isinstance(value, list) and len(value) == 1 else value, how.scales)
        return
    for score in mappings(raw):  # a list of the API holds only ids
        value = score.get("value")
        value = score.get("stringValue") if value is None or score.get("dataType") == "CATEGORICAL" else value
        yield from scores(str(score.get("name", "")), value, how.scales, reason=str(score.get("comment") or ""))


PART = ImportPart(read=read, knows=knows)
