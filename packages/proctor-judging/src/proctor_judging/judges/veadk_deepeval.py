"""The judge and the two metrics of DeepEval that `veadk eval --evaluator deepeval` asks; the words for the judge are ours.

Source: volcengine/veadk-python, veadk/cli/cli_eval.py and veadk/evaluation/deepeval_evaluator, release 1.1.19.
"""

import os

from proctor.core.errors import needs
from proctor_judging.judges import deepeval

BASE = "https://ark.cn-beijing.volces.com/api/v3/"
NO_KEY = "none"  # for an endpoint that asks for none; DeepEval refuses an empty one before anything is sent

eval_principle_prompt = """
You judge the answer of another model.
- The answer may rest on tools whose results change from call to call, such as a web search or a random number. Where it
  does, do not ask for the same facts, figures or words as in the expected answer: ask whether it answers the question
  in a form that a person can read and use.
- Where nothing of that kind is involved, it has to agree with the expected answer in substance; wording and order are free.
"""

criteria_prompt = "Say whether the actual output is right in its facts, with the expected output as the measure."


def address_and_key(base: str = "", key: str = "") -> tuple[str, str]:
    """Return where the judge is: the arguments, else MODEL_JUDGE_API_BASE, and MODEL_JUDGE_API_KEY or MODEL_AGENT_API_KEY."""
    variables = os.environ
    return (
        base or variables.get("MODEL_JUDGE_API_BASE") or BASE,
        key or variables.get("MODEL_JUDGE_API_KEY") or variables.get("MODEL_AGENT_API_KEY") or NO_KEY,
    )


def judge_model(name: str, base: str = "", key: str = "") -> object:
    """Return DeepEval's object for an OpenAI-compatible judge.

    Raises:
        MissingExtra: DeepEval is not installed.
    """
    deepeval.quiet()
    with needs("deepeval", "DeepEval"):
        from deepeval.models import LocalModel
    address, known = address_and_key(base, key)
    return LocalModel(model=name, base_url=address, api_key=known)


def usual_scorers(judge: object) -> list[deepeval.DeepEvalScorer]:
    """Return how good the answer is by the judge (0.8), and whether the expected tools were called (0.5)."""
    from deepeval.metrics import GEval, ToolCorrectnessMetric
    from deepeval.test_case import SingleTurnParams

    answer = GEval(
        name="Base Evaluation",
        criteria=eval_principle_prompt,
        threshold=0.8,
        evaluation_params=[
            SingleTurnParams.INPUT,
            SingleTurnParams.ACTUAL_OUTPUT,
            SingleTurnParams.EXPECTED_OUTPUT,
        ],
        model=judge,
    )
    return [deepeval.wrap(answer), deepeval.wrap(ToolCorrectnessMetric(threshold=0.5, model=judge))]
