"""`run_complete_evaluation.py` of the chapter: generate, judge, compare, report, with the model of `LLM_MODEL_ID`."""

import argparse

from proctor_compat.hello_agents.generation import run_complete_evaluation


def add_flags(flags: argparse.ArgumentParser) -> None:
    flags.add_argument("num_problems", type=int, nargs="?", default=30, help="problems to write (default: %(default)s)")
    flags.add_argument(
        "delay_seconds", type=float, nargs="?", default=3.0, help="seconds between requests (default: %(default)s)"
    )
    flags.add_argument("--reference", metavar="FILE", help="real problems; those of the hub when not given")
    flags.add_argument("--judge-model", metavar="NAME", help="model that judges; that of LLM_MODEL_ID when not given")


def run(args: argparse.Namespace) -> tuple[str, int]:
    """Return nothing to print, and 2 when a step failed, which was reported."""
    results = run_complete_evaluation(
        args.num_problems,
        args.delay_seconds,
        reference_data_path=args.reference,
        judge_model=args.judge_model,
    )
    return "", 0 if results["llm_judge_result"] is not None and results["win_rate_result"] is not None else 2
