"""The names of google-adk's evaluation: the nouns of its files, and its two metrics that need no judge.

    result = TrajectoryEvaluator(threshold=1.0).evaluate_invocations(actual_invocations, expected_invocations)
    result.overall_eval_status is EvalStatus.PASSED

Invocations may be ours or ADK's own. Source: google/adk-python, src/google/adk/evaluation, release 2.7.1.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import msgspec

from proctor_adapters.evalsets.outcomes import status_of
from proctor_adapters.evalsets.schema import (
    AppDetails,
    Content,
    ConversationScenario,
    EvalCase,
    EvalSet,
    FunctionCall,
    FunctionResponse,
    IntermediateData,
    Invocation,
    InvocationEvent,
    Part,
    Rubric,
    RubricContent,
    SessionInput,
    texts,
)
from proctor_compat.veadk.sets import plain
from proctor_compat.veadk.types import Record
from proctor_judging.matching.adk_rules import AdkCall, MatchType, calls_match, joined, match_type, mean, rouge_1

InvocationEvents = IntermediateData  # one noun holds either: lists of calls, or the events of a recording

__all__ = [
    "AppDetails",
    "Content",
    "ConversationScenario",
    "EvalCase",
    "EvalMetric",
    "EvalSet",
    "EvalStatus",
    "EvaluationResult",
    "Evaluator",
    "FunctionCall",
    "FunctionResponse",
    "IntermediateData",
    "Invocation",
    "InvocationEvent",
    "InvocationEvents",
    "Part",
    "PerInvocationResult",
    "ResponseEvaluator",
    "RougeEvaluator",
    "Rubric",
    "RubricContent",
    "RubricScore",
    "SessionInput",
    "TrajectoryEvaluator",
]


class EvalStatus(Enum):
    """The status in which an evaluation ended."""

    PASSED = 1
    FAILED = 2
    NOT_EVALUATED = 3


class EvalMetric(msgspec.Struct, kw_only=True):
    """A metric with its threshold; the criterion may hold `threshold` and `match_type`."""

    metric_name: str
    threshold: float | None = None
    criterion: object = None


class RubricScore(Record, kw_only=True):
    """The score of one property of a rubric."""

    rubric_id: str
    rationale: str | None = None
    score: float | None = None


class PerInvocationResult(Record, kw_only=True):
    """The result of one turn."""

    actual_invocation: object
    expected_invocation: object = None
    score: float | None = None
    eval_status: EvalStatus = EvalStatus.NOT_EVALUATED
    rubric_scores: list[RubricScore] | None = None


class EvaluationResult(Record, kw_only=True):
    """The result of a case: the mean of its turns, compared with the threshold."""

    overall_score: float | None = None
    overall_eval_status: EvalStatus = EvalStatus.NOT_EVALUATED
    per_invocation_results: list[PerInvocationResult] = msgspec.field(default_factory=list)
    overall_rubric_scores: list[RubricScore] | None = None


class Evaluator:
    """A metric over the turns of a case; a subclass says how."""

    def evaluate_invocations(
        self,
        actual_invocations: Sequence[object],
        expected_invocations: Sequence[object] | None = None,
        conversation_scenario: object = None,
    ) -> EvaluationResult:
        """Score the turns; both lists are equally long."""
        raise NotImplementedError


class _TurnEvaluator(Evaluator, ABC):
    """Scores every turn for itself."""

    _threshold: float

    def evaluate_invocations(
        self,
        actual_invocations: Sequence[object],
        expected_invocations: Sequence[object] | None = None,
        conversation_scenario: object = None,
    ) -> EvaluationResult:
        return _evaluate(actual_invocations, expected_invocations, self._score, self._threshold)

    @abstractmethod
    def _score(self, made: Invocation, expected: Invocation) -> float: ...


class TrajectoryEvaluator(_TurnEvaluator):
    """`tool_trajectory_avg_score`: 1 or 0 a turn, by match type EXACT, IN_ORDER or ANY_ORDER."""

    def __init__(self, threshold: float | None = None, eval_metric: EvalMetric | object | None = None) -> None:
        criterion = _criterion(eval_metric)
        self._threshold = _threshold(threshold, eval_metric, criterion, 1.0)
        self._match_type: MatchType = match_type(_value(criterion.get("match_type", "EXACT")))
        self._names_only = bool(criterion.get("ignore_args"))

    def _score(self, made: Invocation, expected: Invocation) -> float:
        return float(calls_match(_calls(made), _calls(expected), self._match_type, names_only=self._names_only))


class RougeEvaluator(_TurnEvaluator):
    """`response_match_score`: ROUGE-1 of the final response of each turn."""

    def __init__(self, eval_metric: EvalMetric | object | None = None, *, threshold: float | None = None) -> None:
        self._threshold = _threshold(threshold, eval_metric, _criterion(eval_metric), 0.8)

    def _score(self, made: Invocation, expected: Invocation) -> float:
        return rouge_1(joined(texts(made.final_response)), joined(texts(expected.final_response)))


class ResponseEvaluator(RougeEvaluator):
    """The evaluator of responses under its other name; `response_evaluation_score` needs Google's judge and is not supported."""

    def __init__(
        self,
        threshold: float | None = None,
        metric_name: str | None = None,
        eval_metric: EvalMetric | object | None = None,
    ) -> None:
        name = metric_name or getattr(eval_metric, "metric_name", None) or "response_match_score"
        if name != "response_match_score":
            raise ValueError(f"`{name}` is not supported.")
        super().__init__(eval_metric, threshold=threshold)


def status(score: float | None, threshold: float) -> EvalStatus:
    """Return what a score is worth, in ADK's words."""
    return EvalStatus[status_of(score, threshold).upper()]


def _evaluate(
    actual: Sequence[object],
    expected: Sequence[object] | None,
    score: Callable[[Invocation, Invocation], float],
    threshold: float,
) -> EvaluationResult:
    if expected is None:
        raise ValueError("expected_invocations is needed by this metric.")
    if len(actual) != len(expected):
        raise ValueError(
            "actual_invocations and expected_invocations must have the same length;"
            f" got {len(actual)} and {len(expected)}."
        )
    scores = [
        score(_invocation(turn), _invocation(reference)) for turn, reference in zip(actual, expected, strict=True)
    ]
    overall = mean(scores) if scores else None
    return EvaluationResult(
        overall_score=overall,
        overall_eval_status=status(overall, threshold),
        per_invocation_results=[
            PerInvocationResult(
                actual_invocation=turn, expected_invocation=reference, score=value, eval_status=status(value, threshold)
            )
            for turn, reference, value in zip(actual, expected, scores, strict=True)
        ],
    )


def _invocation(given: object) -> Invocation:
    return given if isinstance(given, Invocation) else Invocation.model_validate(plain(given))


def _calls(invocation: Invocation) -> list[AdkCall]:
    data = invocation.intermediate_data
    return [AdkCall(call.name, call.args) for call in (data.calls() if data is not None else ())]


def _criterion(eval_metric: object) -> dict[str, object]:
    criterion = plain(getattr(eval_metric, "criterion", None))
    return criterion if isinstance(criterion, dict) else {}


def _threshold(given: float | None, eval_metric: object, criterion: dict[str, Any], usual: float) -> float:
    thresholds = (given, criterion.get("threshold"), getattr(eval_metric, "threshold", None), usual)
    return next(float(threshold) for threshold in thresholds if threshold is not None)


def _value(given: object) -> object:
    """Return the value of a match type: those of ADK are members of an enumeration, whose values are 0, 1 and 2."""
    return given.value if isinstance(given, Enum) else given
