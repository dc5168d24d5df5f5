"""Define what VeADK's evaluators keep: cases with expected and actual outputs, and the results of metrics.

Source: volcengine/veadk-python, veadk/evaluation/base_evaluator.py and types.py, release 1.1.19.
"""

import math
from dataclasses import dataclass
from typing import Any, Self

import msgspec


def _foreign(value: Any) -> object:
    """Return objects of google-adk inside ours as plain data."""
    return value.model_dump(mode="json", exclude_none=True)


class Record(msgspec.Struct, kw_only=True):
    """A mutable record made with keywords, like the pydantic models of VeADK."""

    def model_dump(self, **_: object) -> dict[str, object]:
        plain: dict[str, object] = msgspec.to_builtins(self, enc_hook=_foreign)
        return plain

    @classmethod
    def model_validate(cls, value: object) -> Self:
        """Return an object of the class from plain data, or unchanged if it is one.

        Raises:
            ValueError: it is not valid.
        """
        return msgspec.convert(value, cls, from_attributes=True)

    def model_dump_json(self, **_: object) -> str:
        return msgspec.json.encode(self, enc_hook=_foreign).decode()


class ToolInvocation(Record, kw_only=True):
    """A call of a tool."""

    tool_name: str
    tool_args: dict[str, object] = {}
    tool_result: object = None


class Invocation(Record, kw_only=True):
    """One turn; tools are dicts with `name` and `args`, `latency` is milliseconds as text.

    `error` is why the agent gave no output; VeADK has no such field, as there the first error ends everything.
    """

    invocation_id: str = ""
    input: str
    actual_output: str
    expected_output: str
    actual_tool: list[dict[str, object]] = []
    expected_tool: list[dict[str, object]] = []
    latency: str = ""
    error: str = ""


class EvalTestCase(Record, kw_only=True):
    """One case: its turns."""

    invocations: list[Invocation]


class MetricResult(Record, kw_only=True):
    """The result of one metric for a case; `score` is None if it could not be measured."""

    metric_type: str
    success: bool
    score: float | None
    reason: str


class EvalResultData(Record, kw_only=True):
    """The results of all metrics for a case.

    >>> result = EvalResultData(metric_results=[MetricResult(metric_type="m", success=True, score=1.0, reason="fine")])
    >>> result.call_before_append()
    >>> result.average_score, result.total_reason
    (1.0, 'm:fine')
    """

    metric_results: list[MetricResult]
    average_score: float = math.nan
    total_reason: str = ""

    def calculate_average_score(self) -> None:
        """Set `average_score` to the mean of the scores that exist; NaN without any."""
        scores = [result.score for result in self.metric_results if result.score is not None]
        self.average_score = sum(scores) / len(scores) if scores else math.nan

    def generate_total_reason(self) -> None:
        """Return one line `type:reason` for each metric."""
        self.total_reason = "\n".join(f"{result.metric_type}:{result.reason}" for result in self.metric_results)

    def call_before_append(self) -> None:
        """Compute average and reason; called before the result is appended to `result_list`."""
        self.calculate_average_score()
        self.generate_total_reason()


@dataclass
class EvalResultCaseData:
    """A turn as it is pushed to Prometheus; `status` is PASSED or FAILURE."""

    id: str
    input: str
    actual_output: str
    expected_output: str
    score: str
    reason: str
    status: str
    latency: str


@dataclass
class EvalResultMetadata:
    """The models of an evaluation."""

    tested_model: str
    judge_model: str
