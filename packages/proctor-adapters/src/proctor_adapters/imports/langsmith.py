"""Read experiments of LangSmith: the rows of `evaluate(…)` as JSON, and the table that `to_pandas()` and the page download.

Read as langsmith 0.15 has them (`evaluation/_runner.py`, `schemas.py`):

    {"run": {"id": "…", "inputs": {…}, "outputs": {…}, "error": null, "start_time": "…"}, "example": {"id": "…", "inputs": {…},
      "outputs": {…}, "metadata": {…}}, "evaluation_results": {"results": [{"key": "exact", "score": 1, "comment": "…"}]}}
    inputs.question,outputs.answer,error,reference.answer,feedback.exact,execution_time,example_id,id
"""

from collections.abc import Iterator, Mapping
from functools import partial

import msgspec

from proctor.core.parts import ImportPart
from proctor.core.score import Score, Unscored
from proctor_adapters.imports._foreign import ForeignRun, ForeignTrial, LogReading
from proctor_adapters.imports._records import number_attempts, outcome_of, sample, trajectory
from proctor_adapters.imports._source import ImportSource
from proctor_adapters.imports._values import by_name, moment, scores, seconds, seconds_between, tags, usage

FEEDBACK = "feedback."


class _Run(msgspec.Struct, frozen=True):
    inputs: dict[str, object] | None = None
    outputs: dict[str, object] | None = None
    error: str | None = None
    start_time: object = None
    end_time: object = None
    prompt_tokens: object = None
    completion_tokens: object = None
    total_cost: object = None
    session_name: str | None = None


class _Example(msgspec.Struct, frozen=True):
    id: str
    inputs: dict[str, object] | None = None
    outputs: dict[str, object] | None = None
    metadata: dict[str, object] | None = None


class _Feedback(msgspec.Struct, frozen=True):
    key: str
    score: object = None
    value: object = None
    comment: str | None = None


class _LangsmithResults(msgspec.Struct, frozen=True):
    results: list[_Feedback] = []


class _LangsmithRow(msgspec.Struct, frozen=True):
    run: _Run
    example: _Example
    evaluation_results: _LangsmithResults = _LangsmithResults()


def knows(source: ImportSource) -> bool:
    """True if a file holds the rows or the table of an experiment."""
    if source.is_csv:
        columns = next(source.rows(), {}).keys()
        return "example_id" in columns and any(name and name.startswith(("inputs.", FEEDBACK)) for name in columns)
    return {"run", "example", "evaluation_results"} <= source.head.keys()


def read(source: ImportSource, how: LogReading) -> list[ForeignRun]:
    named = None if source.is_csv else next(source.records(_LangsmithRow), None)
    return [
        ForeignRun(
            format="langsmith",
            task=source.stem,
            agent=(named.run.session_name if named is not None else None) or "langsmith",
            trials=partial(_of_table if source.is_csv else _of_rows, source, how),
        )
    ]


@number_attempts
def _of_rows(source: ImportSource, how: LogReading) -> Iterator[ForeignTrial]:
    for row in source.records(_LangsmithRow):
        run, example = row.run, row.example
        outcome, failure = outcome_of(run.error)
        yield ForeignTrial(
            sample=sample(
                example.id, example.inputs, example.outputs, tags(example.metadata or {}, how.tags), example.metadata
            ),
            outcome=outcome,
            failure=failure,
            trajectory=trajectory(run.outputs),
            started=moment(run.start_time),
            seconds=seconds_between(run.start_time, run.end_time),
            usage=usage(input=run.prompt_tokens, output=run.completion_tokens, cost=run.total_cost),
            scores=by_name(_scores(row.evaluation_results, how)),
        )


def _scores(results: _LangsmithResults, how: LogReading) -> Iterator[tuple[str, Score | Unscored]]:
    for result in results.results:
        yield from scores(
            result.key, result.value if result.score is None else result.score, how.scales, reason=result.comment or ""
        )


@number_attempts
def _of_table(source: ImportSource, how: LogReading) -> Iterator[ForeignTrial]:
    for row in source.rows():
        outcome, failure = outcome_of(row.get("error"))
        asked = _columns(row, "inputs.", "input.")
        yield ForeignTrial(
            sample=sample(
                row.get("example_id") or "",
                asked,
                _columns(row, "reference.", "reference_outputs."),
                tags(asked, how.tags),
            ),
            outcome=outcome,
            failure=failure,
            trajectory=trajectory(_columns(row, "outputs.", "output.")),
            seconds=seconds(row.get("execution_time")),
            scores=by_name(
                score
                for column, value in row.items()
                if column and column.startswith(FEEDBACK) and value
                for score in scores(column.removeprefix(FEEDBACK), value, how.scales)
            ),
        )


def _columns(row: Mapping[str, str], *prefixes: str) -> dict[str, str]:
    """Return the entries of the columns that begin so; an empty cell is no entry."""
    found = (
        (name, prefix, value) for name, value in row.items() for prefix in prefixes if name and name.startswith(prefix)
    )
    return {name.removeprefix(prefix): value for name, prefix, value in found if value}


PART = ImportPart(read=read, knows=knows)
