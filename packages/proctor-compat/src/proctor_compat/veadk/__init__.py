"""The names of VeADK's evaluation, and those of google-adk that go with it, on Proctor's parts.

    from proctor_compat.veadk import ADKEvaluator                        # veadk.evaluation.adk_evaluator
    results, failures = await ADKEvaluator(agent=root_agent).evaluate(eval_set_file_path="tests/simple.test.json")

Agents may be VeADK's, ADK's, or anything else Proctor can run. `Invocation` here is VeADK's; ADK's is in `.adk`.
"""

from proctor_compat.veadk.adk import (
    EvalCase,
    EvalSet,
    EvalStatus,
    EvaluationResult,
    Evaluator,
    IntermediateData,
    InvocationEvents,
    SessionInput,
)
from proctor_compat.veadk.adk_evaluator import ADKEvaluator
from proctor_compat.veadk.agent_evaluator import AgentEvaluator
from proctor_compat.veadk.base_evaluator import BaseEvaluator
from proctor_compat.veadk.deepeval_evaluator import DeepevalEvaluator
from proctor_compat.veadk.metrics import (
    GEval,
    LLMTestCaseParams,
    SingleTurnParams,
    ToolCallParams,
    ToolCorrectnessMetric,
)
from proctor_compat.veadk.prometheus import PrometheusPushgatewayConfig, push_to_prometheus
from proctor_compat.veadk.recording import EvalSetRecorder, save_eval_set
from proctor_compat.veadk.sets import UnusableEvalSet, load_eval_set_from_file
from proctor_compat.veadk.types import (
    EvalResultCaseData,
    EvalResultData,
    EvalResultMetadata,
    EvalTestCase,
    Invocation,
    MetricResult,
    ToolInvocation,
)
from proctor_judging.judges.veadk_deepeval import criteria_prompt, eval_principle_prompt

__all__ = [
    "ADKEvaluator",
    "AgentEvaluator",
    "BaseEvaluator",
    "DeepevalEvaluator",
    "EvalCase",
    "EvalResultCaseData",
    "EvalResultData",
    "EvalResultMetadata",
    "EvalSet",
    "EvalSetRecorder",
    "EvalStatus",
    "EvalTestCase",
    "EvaluationResult",
    "Evaluator",
    "GEval",
    "IntermediateData",
    "Invocation",
    "InvocationEvents",
    "LLMTestCaseParams",
    "MetricResult",
    "PrometheusPushgatewayConfig",
    "SessionInput",
    "SingleTurnParams",
    "ToolCallParams",
    "ToolCorrectnessMetric",
    "ToolInvocation",
    "UnusableEvalSet",
    "criteria_prompt",
    "eval_principle_prompt",
    "load_eval_set_from_file",
    "push_to_prometheus",
    "save_eval_set",
]
