"""Score a trajectory by the official rule."""

from typing import Any

from proctor.core.declared import scorer
from proctor.core.sample import Sample, Text
from proctor.core.score import Score, Unscored
from proctor.core.sentence import clip, say
from proctor.core.trajectory import Trajectory
from proctor_benchmarks.bfcl import metrics
from proctor_benchmarks.bfcl.checker import CheckerRules, check
from proctor_benchmarks.bfcl.declared_types import language_of
from proctor_benchmarks.bfcl.decode import Mode
from proctor_benchmarks.bfcl.formats import wording_of
from proctor_benchmarks.bfcl.lenient import lenient

MOST_CALLS = 40
_SHOWN = 2000


VERSION = "bfcl-eval 2026.3.23 / 1"


@scorer(version=VERSION)
def bfcl(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """1 when the calls are the expected ones, or none was made where none fits; else 0, and what is wrong.

    `sample.meta` holds `category` and `functions`, `sample.target` the official `ground_truth`.
    """
    category, functions = sample.meta.get("category"), sample.meta.get("functions")
    if not isinstance(category, str) or functions is None:
        return Unscored(why="not_applicable", reason=say("The sample has no category and functions of BFCL."))
    output = model_output_of(sample, trajectory)
    form, category = wording_of(category, sample.id)
    native = trajectory.tools == "native"
    underscores = native and sample.meta.get("names") != "dotted"
    mode: Mode = "native" if native else "prompt"
    result = check(functions, sample.target, category, output, mode=mode, underscores=underscores, form=form)
    rules = CheckerRules(language_of(category), underscores)
    details = metrics.details(functions, sample.target, category, result, rules)
    if native and not isinstance(output, list) and result.error_type == "ast_decoder:decoder_failed":
        details["error_class"] = "missing_call"  # a message instead of calls; the official word is for both
    if not result.valid and result.calls and sample.target:
        details["lenient"] = lenient(functions, result.calls, sample.target, rules)
    if not result.valid and result.calls:
        details["calls"] = list(result.calls[:MOST_CALLS])  # for the table of expected against made, also of text
    return Score(points=int(result.valid), answer=_shown(output), reason=result.reason, details=details)


def model_output_of(sample: Sample, trajectory: Trajectory) -> Any:  # noqa: ARG001 - the exporter gives both
    """Return what an official result file would hold under `result`.

    Native calls as `[{name: arguments as JSON text}]` in their order. Without calls, and in text, the message: its
    text, '' when that is empty, None when there is no text at all.
    """
    if trajectory.tools == "native" and (calls := trajectory.calls()):
        return [{call.name: call.arguments_text()} for call in calls]
    if text := trajectory.answer:
        return text
    messages = [step.message for step in trajectory.steps if step.message.role == "assistant"]
    said = any(isinstance(part, Text) for message in messages for part in message.parts)
    return "" if said else None


def _shown(output: Any) -> str:
    """Return the output as text, cut to a length that can be kept with every score."""
    if isinstance(output, list):
        output = ", ".join(f"{name}({arguments})" for call in output for name, arguments in call.items())
    return clip(output or "", _SHOWN)
