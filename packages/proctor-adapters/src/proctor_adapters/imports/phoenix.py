"""Read experiments of Phoenix as it offers them for download: `GET /v1/experiments/ID/json`.

Read as arize-phoenix writes them (`server/api/routers/v1/experiments.py`, at 01c7f23):

    [{"example_id": "RGF0…", "repetition_number": 1, "input": {…}, "reference_output": {…}, "output": …, "error": null,
      "latency_ms": 812.0, "start_time": "…", "prompt_token_count": 9, "completion_token_count": 3,
      "annotations": [{"name": "exact", "label": null, "score": 1.0, "explanation": "…", "error": null}]}]
"""

from collections.abc import Iterator
from functools import partial

import msgspec

from proctor.core.parts import ImportPart
from proctor.core.score import Score, Unscored
from proctor_adapters.imports._foreign import ForeignRun, ForeignTrial, LogReading
from proctor_adapters.imports._records import outcome_of, sample, trajectory
from proctor_adapters.imports._source import ImportSource
from proctor_adapters.imports._values import by_name, moment, scores, seconds, tags, usage


class _Annotation(msgspec.Struct, frozen=True):
    name: str
    label: str | None = None
    score: object = None
    explanation: str | None = None
    error: str | None = None


class _Record(msgspec.Struct, frozen=True):
    example_id: str
    repetition_number: int = 1
    input: object = None
    reference_output: object = None
    output: object = None
    error: str | None = None
    latency_ms: object = None
    start_time: object = None
    prompt_token_count: object = None
    completion_token_count: object = None
    annotations: list[_Annotation] = []


def knows(source: ImportSource) -> bool:
    return {"example_id", "repetition_number", "annotations"} <= source.head.keys()


def read(source: ImportSource, how: LogReading) -> list[ForeignRun]:
    """Return the run of a file; it names neither data set nor model, so its own name is the task."""
    return [ForeignRun(format="phoenix", task=source.stem, agent="phoenix", trials=partial(_trials, source, how))]


def _trials(source: ImportSource, how: LogReading) -> Iterator[ForeignTrial]:
    for record in source.records(_Record):
        texts = record.input if isinstance(record.input, dict) else {}
        outcome, failure = outcome_of(record.error)
        yield ForeignTrial(
            sample=sample(record.example_id, record.input, record.reference_output, tags(texts, how.tags)),
            attempt=record.repetition_number - 1,
            outcome=outcome,
            failure=failure,
            trajectory=trajectory(record.output),
            started=moment(record.start_time),
            seconds=seconds(record.latency_ms) / 1000,
            usage=usage(input=record.prompt_token_count, output=record.completion_token_count),
            scores=by_name(_scores(record, how)),
        )


def _scores(record: _Record, how: LogReading) -> Iterator[tuple[str, Score | Unscored]]:
    for annotation in record.annotations:
        value = None if annotation.error else annotation.label if annotation.score is None else annotation.score
        yield from scores(annotation.name, value, how.scales, reason=annotation.error or annotation.explanation or "")


PART = ImportPart(read=read, knows=knows)
