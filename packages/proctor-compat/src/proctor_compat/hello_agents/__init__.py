"""The names of chapter 12 of HelloAgents, on Proctor's parts: change the import line, keep the rest.

    from proctor_compat.hello_agents import BFCLEvaluationTool

Arguments, result keys and files are those of hello-agents 0.2.7 and its companion code. The numbers come from the official
rules where the original's did not, and `docs/hello-agents.md` says where. A name is loaded when it is first asked for.
"""

from importlib import import_module
from typing import Any

MODULE_BY_NAME = {
    "BFCLDataset": "bfcl_dataset",
    "BFCL_EDGE_CASES": "bfcl_dataset",
    "BFCLEvaluator": "bfcl_evaluator",
    "BFCLMetrics": "bfcl_metrics",
    "BFCLIntegration": "bfcl_integration",
    "BFCLEvaluationTool": "bfcl_tool",
    "GAIADataset": "gaia_dataset",
    "GAIAEvaluator": "gaia_evaluator",
    "GAIAMetrics": "gaia_metrics",
    "GAIAEvaluationTool": "gaia_tool",
    "GAIA_SYSTEM_PROMPT": "gaia_dataset",
    "AIDataset": "ai_dataset",
    "LLMJudgeEvaluator": "llm_judge",
    "WinRateEvaluator": "win_rate",
    "LLMJudgeTool": "judging_tools",
    "WinRateTool": "judging_tools",
    "AIMEGenerator": "generation",
    "run_complete_evaluation": "generation",
    "generate_comprehensive_report": "generation",
    "HumanVerificationUI": "verification",
    "EvaluationConfig": "universal",
    "EvaluationDimension": "universal",
    "UniversalDataset": "universal",
    "UniversalLLMJudgeEvaluator": "universal",
    "UniversalWinRateEvaluator": "universal",
}

__all__ = list(MODULE_BY_NAME)


def __getattr__(name: str) -> Any:
    if name not in MODULE_BY_NAME:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = getattr(import_module(f"{__name__}.{MODULE_BY_NAME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(MODULE_BY_NAME)
