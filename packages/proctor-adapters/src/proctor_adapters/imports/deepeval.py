"""Read test runs of DeepEval: `.deepeval/.latest_test_run.json`, and the files that `DEEPEVAL_RESULTS_FOLDER` collects.

Read as deepeval 4.3 writes them (`test_run/api.py`):

    {"testCases": [{"name": "sum", "input": "2+2?", "actualOutput": "4", "expectedOutput": "4", "success": true,
      "metricsData": [{"name": "Same", "threshold": 0.5, "success": true, "score": 1.0, "reason": "…", "error": null}]}]}
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import msgspec
from msgspec.structs import replace

from proctor.core.parts import ImportPart
from proctor.core.sample import Message, Text, ToolCall, ToolResult
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Step, Trajectory
from proctor_adapters.imports._foreign import ForeignRun, ForeignTrial, LogReading
from proctor_adapters.imports._messages import message, steps, text_of
from proctor_adapters.imports._records import number_attempts, sample
from proctor_adapters.imports._source import ImportSource
from proctor_adapters.imports._values import by_name, scores, seconds, tags, usage


class _DeepevalMetric(msgspec.Struct, frozen=True):
    name: str
    score: object = None
    success: bool | None = None
    reason: str | None = None
    error: str | None = None


class _Case(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    input: object = None
    actual_output: object = None
    expected_output: object = None
    expected_outcome: object = None
    scenario: str | None = None
    turns: list[dict[str, object]] | None = None
    tools_called: list[dict[str, object]] | None = None
    expected_tools: list[dict[str, object]] | None = None
    metrics_data: list[_DeepevalMetric] | None = None
    metadata: dict[str, object] | None = None
    token_cost: object = None
    input_token_count: object = None
    output_token_count: object = None
    completion_time: object = None


class _TestRun(msgspec.Struct, frozen=True, rename="camel"):
    test_cases: list[_Case] = []
    conversational_test_cases: list[_Case] = []
    hyperparameters: dict[str, object] | None = None
    dataset_alias: str | None = None
    identifier: str | None = None
    test_file: str | None = None
    run_duration: object = None


class _Latest(msgspec.Struct, frozen=True, rename="camel"):
    test_run_data: _TestRun


def knows(source: ImportSource) -> bool:
    return "testRunData" in source.head or {"testCases", "metricsScores"} <= source.head.keys()


def read(source: ImportSource, how: LogReading) -> list[ForeignRun]:
    run = source.document(_Latest).test_run_data if "testRunData" in source.head else source.document(_TestRun)
    parameters = run.hyperparameters or {}
    return [
        ForeignRun(
            format="deepeval",
            task=run.dataset_alias or run.identifier or run.test_file or "deepeval",
            agent=text_of(parameters.get("model")) or "deepeval",
            seconds=seconds(run.run_duration),
            trials=partial(_trials, run, how),
            provenance={"hyperparameters": parameters},
        )
    ]


@number_attempts
def _trials(run: _TestRun, how: LogReading) -> Iterator[ForeignTrial]:
    """Yield the cases; one of a name that came earlier is a further attempt where it asks the same, else another sample."""
    ids: dict[str, dict[str, str]] = {}  # of each name, by what is asked
    for index, case in enumerate((*run.test_cases, *run.conversational_test_cases)):
        asked = text_of(case.input if case.turns is None else case.turns)
        of_name = ids.setdefault(case.name, {})
        id = of_name.setdefault(asked, f"{case.name} ({index})" if of_name and case.name else case.name or str(index))
        yield _trial(case, id, how)


def _trial(case: _Case, id: str, how: LogReading) -> ForeignTrial:
    metadata = case.metadata or {}
    trajectory = Trajectory(steps=_steps(case))
    if case.turns is None:
        asked_sample = sample(id, text_of(case.input), case.expected_output, tags(metadata, how.tags), metadata)
    else:
        turns = [message(turn) for turn in case.turns]
        first = next((n for n, turn in enumerate(turns) if turn.role == "assistant"), len(turns))
        asked = [turn.text for turn in turns[:first]]
        asked_sample = sample(
            id, "\n".join(asked) or case.scenario or "", case.expected_outcome, tags(metadata, how.tags), metadata
        )
        trajectory = Trajectory(steps=steps(turns[first:]))
    if case.expected_tools:
        asked_sample = replace(asked_sample, meta={**asked_sample.meta, "expected_tools": case.expected_tools})
    return ForeignTrial(
        sample=asked_sample,
        trajectory=trajectory,
        seconds=seconds(case.completion_time),
        usage=usage(input=case.input_token_count, output=case.output_token_count, cost=case.token_cost),
        scores=by_name(_scores(case.metrics_data or (), how)),
    )


def _steps(case: _Case) -> tuple[Step, ...]:
    """Return the calls with their results, and the answer last: the log does not say in which order they were."""
    played = []
    for number, raw in enumerate(case.tools_called or ()):
        arguments = raw.get("inputParameters", raw.get("input_parameters"))
        call = ToolCall(
            name=str(raw.get("name", "")), id=str(number), arguments=arguments if isinstance(arguments, Mapping) else {}
        )
        result = ToolResult(name=call.name, id=call.id, content=text_of(raw.get("output")))
        played += [
            Step(message=Message(role="assistant", parts=(call,))),
            Step(message=Message(role="tool", parts=(result,))),
        ]
    answer = text_of(case.actual_output)
    return (*played, Step(message=Message(role="assistant", parts=(Text(text=answer),)))) if answer else tuple(played)


def _scores(metrics: Sequence[_DeepevalMetric], how: LogReading) -> Iterator[tuple[str, Score | Unscored]]:
    for metric in metrics:
        value = None if metric.error else metric.score
        reason = metric.error or metric.reason or ""
        yield from scores(metric.name, value, how.scales, reason=reason, passed=metric.success)


PART = ImportPart(read=read, knows=knows)
