"""`ADKEvaluator`: the two metrics of ADK that need no judge, on every case as often as asked.

Source: volcengine/veadk-python, veadk/evaluation/adk_evaluator/adk_evaluator.py, release 1.1.19.
"""

import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from proctor.agents.function import identity
from proctor.api.resolve import AgentLike
from proctor_adapters.evalsets.criteria import EvalCriteria
from proctor_adapters.evalsets.outcomes import CaseOutcome, MetricOutcome, TurnOutcome, outcomes
from proctor_adapters.evalsets.schema import (
    Content,
    EvalSet,
    FunctionCall,
    IntermediateData,
    Invocation,
    Part,
)
from proctor_compat.veadk import sets
from proctor_compat.veadk.adk import EvalStatus, EvaluationResult, PerInvocationResult
from proctor_compat.veadk.base_evaluator import BaseEvaluator, english, fill
from proctor_compat.veadk.types import EvalResultData, MetricResult

TRAJECTORY, RESPONSE = "tool_trajectory_avg_score", "response_match_score"
Results = list[list[EvaluationResult]]


class ADKEvaluator(BaseEvaluator):
    """Scores tool trajectory and response match.

    results, failures = await ADKEvaluator(agent=agent).evaluate(eval_set_file_path="tests/")
    assert not failures
    """

    def __init__(self, agent: AgentLike, name: str = "veadk_adk_evaluator") -> None:
        super().__init__(agent, name)

    async def evaluate(
        self,
        eval_set: EvalSet | object | None = None,
        eval_set_file_path: str | Path | None = None,
        eval_id: str | None = None,
        tool_score_threshold: float = 1.0,
        response_match_score_threshold: float = 0.8,
        num_runs: int = 2,
        print_detailed_results: bool = True,
    ) -> tuple[Results, list[str]]:
        """Run every case `num_runs` times, score it, and fill `invocation_list` and `result_list`.

        Args:
            eval_set: the cases; else those of `eval_set_file_path`, a file or a folder with `*.test.json`.
            eval_id: a name for this evaluation; nothing depends on it.

        Returns:
            For each file a list with two results for each case, and a sentence for each metric of a case that failed.

        Raises:
            UnusableEvalSet: a ValueError: nothing to evaluate, or a file that cannot be read.
        """
        criteria = EvalCriteria(
            thresholds={TRAJECTORY: tool_score_threshold, RESPONSE: response_match_score_threshold}, match_type="EXACT"
        )
        paths = sets.test_files(eval_set_file_path) if eval_set is None else [eval_set_file_path]
        sources = [self._source(eval_set, path, criteria, several=len(paths) > 1) for path in paths]
        self._load(sources)
        run = await self._run([f"adk:{name}" for name in criteria.thresholds], num_runs)
        case_outcomes = list(outcomes(run.record, run.store))
        fill(self.invocation_list, case_outcomes, attempt=num_runs - 1)
        self.result_list = list(map(result_of, case_outcomes))
        if print_detailed_results:
            show(case_outcomes)
        rest = iter(case_outcomes)
        results = [
            [_evaluation(case, metric) for case in islice(rest, len(source.chosen)) for metric in case.metrics]
            for source in sources
        ]
        return results, [line for case in case_outcomes for line in failures(case, self._name())]

    def _name(self) -> str:
        given = self.agent if isinstance(self.agent, str) else getattr(self.agent, "name", "")
        return str(given) or identity(self.agent)


def failures(case: CaseOutcome, agent: str) -> list[str]:
    """Return a sentence for each metric of a case that did not pass: as ADK words it, the case, and why the agent failed."""
    why = f" {english(case.failure)}" if case.failure else ""
    return [
        f"{metric.name} for {agent} Failed. Expected {metric.threshold}, but got {metric.score}. Case: {case.id}.{why}"
        for metric in case.metrics
        if metric.status != "passed"
    ]


def show(cases: Sequence[CaseOutcome]) -> None:
    """Print a grid for each case and metric."""
    from rich.console import Console

    from proctor_adapters.evalsets.printed_cases import details

    details(cases, "en", Console(file=sys.stdout, highlight=False))


def result_of(case: CaseOutcome) -> EvalResultData:
    """Return what the metrics said of a case, as `result_list` holds it."""
    result = EvalResultData(
        metric_results=[
            MetricResult(
                metric_type=metric.name,
                success=metric.status == "passed",
                score=metric.score,
                reason=english(case.failure or metric.reason),
            )
            for metric in case.metrics
        ]
    )
    result.call_before_append()
    return result


def _evaluation(case: CaseOutcome, metric: MetricOutcome) -> EvaluationResult:
    return EvaluationResult(
        overall_score=metric.score,
        overall_eval_status=EvalStatus[metric.status.upper()],
        per_invocation_results=[
            PerInvocationResult(
                actual_invocation=_invocation(turn, turn.response, turn.calls),
                expected_invocation=_invocation(turn, turn.expected_response, turn.expected_calls),
                score=turn.scores.get(metric.name),
                eval_status=EvalStatus[turn.statuses[metric.name].upper()],
            )
            for turn in case.turns
        ],
    )


def _invocation(turn: TurnOutcome, response: str | None, calls: Any) -> Invocation:
    return Invocation(
        user_content=Content(role="user", parts=[Part(text=turn.asked)]),
        final_response=None if response is None else Content(role="model", parts=[Part(text=response)]),
        intermediate_data=None
        if calls is None
        else IntermediateData(tool_uses=[FunctionCall(name=call["name"], args=call["args"]) for call in calls]),
    )
