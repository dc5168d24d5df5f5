"""`DeepevalEvaluator`: metrics of DeepEval on every turn of every case.

Source: volcengine/veadk-python, veadk/evaluation/deepeval_evaluator/deepeval_evaluator.py, release 1.1.19.
"""

import os
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from proctor.api.resolve import AgentLike
from proctor.core.installing import is_installed
from proctor.core.task import Scorer
from proctor.runtime.threads import in_thread
from proctor_adapters.evalsets.criteria import EvalCriteria
from proctor_adapters.evalsets.outcomes import CaseOutcome, MetricOutcome, TurnOutcome, outcomes
from proctor_adapters.evalsets.schema import EvalSet
from proctor_adapters.exports import prometheus
from proctor_compat.veadk.adk_evaluator import result_of
from proctor_compat.veadk.base_evaluator import BaseEvaluator, english, fill
from proctor_compat.veadk.metrics import endpoint
from proctor_compat.veadk.prometheus import PrometheusPushgatewayConfig, push_to_prometheus
from proctor_compat.veadk.types import EvalResultCaseData, EvalResultMetadata
from proctor_judging.judges import deepeval
from proctor_judging.judges.veadk_deepeval import address_and_key, judge_model

JUDGE = "doubao-seed-1-6-250615"

deepeval.quiet()  # who imports this module will import DeepEval next


class DeepevalEvaluator(BaseEvaluator):
    """Scores with metrics of DeepEval.

        evaluator = DeepevalEvaluator(agent=agent)
        result = await evaluator.evaluate(metrics=[GEval(..., model=evaluator.judge_model)], eval_set_file_path="a.test.json")

    The judge is an OpenAI-compatible model: key, name and address are the arguments, else MODEL_JUDGE_API_KEY (or
    MODEL_AGENT_API_KEY), MODEL_JUDGE_NAME and MODEL_JUDGE_API_BASE.

    Attributes:
        judge_model: for the `model` of a metric.
    """

    def __init__(
        self,
        agent: AgentLike,
        judge_model_api_key: str = "",
        judge_model_name: str = "",
        judge_model_api_base: str = "",
        name: str = "veadk_deepeval_evaluator",
        prometheus_config: PrometheusPushgatewayConfig | None = None,
    ) -> None:
        super().__init__(agent, name)
        self.judge_model_name = judge_model_name or os.environ.get("MODEL_JUDGE_NAME") or JUDGE
        self.prometheus_config = prometheus_config
        self._base, self._key = judge_model_api_base, judge_model_api_key

    @cached_property
    def judge_model(self) -> Any:
        """The judge as an object of DeepEval; without DeepEval one for Proctor's own metrics of the same names."""
        if not is_installed("deepeval"):
            return endpoint(self.judge_model_name, *address_and_key(self._base, self._key))
        return judge_model(self.judge_model_name, self._base, self._key)

    async def evaluate(
        self,
        metrics: Sequence[object],
        eval_set: EvalSet | Any | None = None,
        eval_set_file_path: str | Path | None = None,
        eval_id: str | None = None,
    ) -> Any:
        """Run every case once, measure it, fill `invocation_list` and `result_list`, and push if there is a config.

        Args:
            metrics: objects of DeepEval, or scorers of Proctor.
            eval_id: what the results are called at the push gateway; `test_` and the time if None.

        Returns:
            DeepEval's `EvaluationResult`, with a result for each turn in the order of the cases.

        Raises:
            UnusableEvalSet: a ValueError: nothing to evaluate, or a file that cannot be read.
            ValueError: no metric.
        """
        if not metrics:
            raise ValueError("metrics are needed: without one there is nothing to measure.")
        self._load([self._source(eval_set, eval_set_file_path, EvalCriteria(thresholds={}))])
        scorers = _scorers(metrics)
        run = await self._run(scorers)
        case_outcomes = list(outcomes(run.record, run.store))
        fill(self.invocation_list, case_outcomes)
        self.result_list = list(map(result_of, case_outcomes))
        if self.prometheus_config is not None:
            await self._push(case_outcomes, eval_id or f"test_{time.strftime('%Y%m%d%H%M%S')}", self.prometheus_config)
        thresholds = {
            scorer.name: scorer.metric.threshold for scorer in scorers if isinstance(scorer, deepeval.DeepEvalScorer)
        }
        return _evaluation(case_outcomes, thresholds)

    def export_results(self, eval_id: str, test_results: Any) -> None:
        """Push the results of `evaluate` to the gateway of `prometheus_config`, else to that of the environment.

        Raises:
            BadInput: no address, or the gateway cannot be reached or refuses.
        """
        config = self.prometheus_config or PrometheusPushgatewayConfig()
        results = list(test_results.test_results)
        push_to_prometheus(
            eval_id,
            len(results),
            sum(not result.success for result in results),
            sum(bool(result.success) for result in results),
            [_case_data(index, result) for index, result in enumerate(results)],
            EvalResultMetadata(**self._models()),
            url=config.url,
            username=config.username,
            password=config.password,
        )

    def _models(self) -> dict[str, str]:
        return {
            "tested_model": str(getattr(self.agent, "model_name", "") or getattr(self.agent, "name", "")),
            "judge_model": self.judge_model_name,
        }

    async def _push(self, found: Sequence[CaseOutcome], eval_id: str, config: PrometheusPushgatewayConfig) -> None:
        figures = prometheus.figures_of(eval_id, found, self._models())
        gateway = prometheus.Gateway(url=config.url, username=config.username, password=config.password)
        await in_thread(lambda: prometheus.push(figures, gateway))


def _case_data(place: int, result: Any) -> EvalResultCaseData:
    first = next(iter(result.metrics_data or ()), None)
    return EvalResultCaseData(
        id=str(place),
        input=str(result.input),
        actual_output=str(result.actual_output),
        expected_output=str(result.expected_output),
        score=str(first.score if first is not None else None),
        reason=str((first.reason if first is not None else "") or ""),
        status="PASSED" if result.success else "FAILURE",
        latency=str((result.metadata or {}).get("latency", "")),
    )


def _scorers(metrics: Sequence[Any]) -> list[Scorer]:
    """Scorers with names that are different, as two metrics may be called the same."""
    scorers: list[Any] = []
    for metric in metrics:
        scorer = deepeval.wrap(metric) if deepeval.is_metric(metric) else metric
        names = [earlier.name for earlier in scorers if isinstance(earlier, deepeval.DeepEvalScorer)]
        if isinstance(scorer, deepeval.DeepEvalScorer) and scorer.name in names:
            scorer.name = f"{scorer.name} {sum(name.startswith(scorer.name) for name in names) + 1}"
        scorers.append(scorer)
    return scorers


def _evaluation(found: Sequence[CaseOutcome], thresholds: Mapping[str, float | None]) -> object:
    try:
        from deepeval.evaluate.types import EvaluationResult, TestResult
        from deepeval.test_run import MetricData
    except ImportError:  # scorers of our own need no DeepEval
        EvaluationResult = TestResult = MetricData = SimpleNamespace  # noqa: N806 - classes
    results = [
        TestResult(
            name=f"{case.id}, {turn.place + 1}",
            success=all(turn.statuses.get(metric.name) == "passed" for metric in case.metrics) and bool(case.metrics),
            metrics_data=[MetricData(**_metric_data(metric, turn, thresholds)) for metric in case.metrics],
            conversational=False,
            input=turn.asked,
            actual_output=turn.response,
            expected_output=turn.expected_response,
            metadata={"latency": str(turn.seconds * 1000)},
        )
        for case in found
        for turn in case.turns
    ]
    return EvaluationResult(test_results=results, confident_link=None, test_run_id=None)


def _metric_data(metric: MetricOutcome, turn: TurnOutcome, thresholds: Mapping[str, float | None]) -> dict[str, object]:
    score = turn.scores.get(metric.name)
    reason = english(turn.failure or turn.reasons.get(metric.name, ""))
    return {
        "name": metric.name,
        "threshold": thresholds.get(metric.name, metric.threshold),
        "success": turn.statuses.get(metric.name) == "passed",
        "score": score,
        "reason": reason,
        "error": reason if score is None or turn.failure else None,
    }
