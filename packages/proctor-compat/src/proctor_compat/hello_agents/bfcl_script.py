"""`04_run_bfcl_evaluation.py` of the chapter: evaluate the model of `LLM_MODEL_ID`, `LLM_BASE_URL` and `LLM_API_KEY`."""

import argparse

from proctor_compat.hello_agents._settings import model_id
from proctor_compat.hello_agents.bfcl_tool import BFCLEvaluationTool


def add_flags(flags: argparse.ArgumentParser) -> None:
    flags.add_argument("--category", default="simple_python", help="category of BFCL v4 (default: %(default)s)")
    flags.add_argument("--samples", type=int, default=5, help="questions to ask; 0 is all (default: %(default)s)")
    flags.add_argument("--model-name", help="name to file official results under; LLM_MODEL_ID when not given")


def run(args: argparse.Namespace) -> tuple[str, int]:
    """Return nothing to print, and 2 when nothing could be evaluated, which was reported."""
    name = args.model_name or model_id()
    results = BFCLEvaluationTool().run(category=args.category, max_samples=args.samples, model_name=name)
    return "", 2 if "error" in results else 0
