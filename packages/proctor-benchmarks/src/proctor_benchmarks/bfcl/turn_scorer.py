"""Score conversations of several turns by the official rule, in workers: states and results are compared after each turn.

    result: [["[cd(folder='a')]", "Done."], ["[ls()]", "Done."]]       turns of steps, in prompt mode
            [[[{"cd": "{\"folder\": \"a\"}"}], "Done."], ...]           in native mode

A step that is no call is skipped. A turn whose answer is empty is not checked: calls made there are run all the same.

Source: bfcl-eval 2026.3.23, `bfcl_eval/eval_checker/eval_runner.py` (`_evaluate_single_multi_turn_entry`).
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from proctor.core.sample import JsonObject, Sample, Text
from proctor.core.score import Score, Unscored
from proctor.core.sentence import clip, say
from proctor.core.trajectory import Step, Trajectory, carried_out
from proctor.isolation import Workers
from proctor.models.named import OpenedModels
from proctor_benchmarks.bfcl.agentic import is_agentic
from proctor_benchmarks.bfcl.agentic_checker import check_answer
from proctor_benchmarks.bfcl.dataset import MULTI_TURN
from proctor_benchmarks.bfcl.decode import Mode
from proctor_benchmarks.bfcl.environment import described
from proctor_benchmarks.bfcl.executable import executable_or_none
from proctor_benchmarks.bfcl.explain_turns import TurnsResult
from proctor_benchmarks.bfcl.scorer import VERSION, bfcl

OFFICIAL = "official_result"
"""The key of `Trajectory.state` that holds a recorded result which is no list of turns of replies."""

_SHOWN = 2_000
WITHIN_A_TURN = ("empty_turn_model_response", "instance_state_mismatch", "execution_response_mismatch")
_CLASSES = {
    "inference_error": "no_result",
    "force_terminated": "stopped_early",
    "empty_turn_model_response": "missing_call",
    "instance_state_mismatch": "wrong_state",
    "execution_response_mismatch": "missing_result",
    "no_last_message": "no_answer",
    "answer_not_found": "wrong_answer",
}


class ScorerOfAll(OpenedModels):
    """The scorer of tasks that hold conversations; samples of one turn are scored by `scorer.bfcl`."""

    name = "bfcl"
    version = VERSION
    inline = True
    is_async = True

    def __init__(self, workers: Workers) -> None:
        super().__init__([workers])
        self.workers = workers

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        mode: Mode = "native" if trajectory.tools == "native" else "prompt"
        if is_agentic(sample):
            return _score_answer(sample, trajectory, mode)
        if sample.meta.get("category") not in MULTI_TURN:
            return bfcl(sample, trajectory)
        [result] = await check_all(self.workers, [(described(sample), result_of(trajectory), mode)])
        return _score(result, trajectory)


async def check_all(workers: Workers, items: Sequence[tuple[JsonObject, object, Mode]]) -> list[TurnsResult]:
    """Return the verdicts on official results of samples, as `environment.described`; those that need it are run in a worker."""
    results: list[TurnsResult | None] = []
    samples, to_run = {}, []
    for sample, output, mode in items:
        turns = len(sample["answers"])
        if not isinstance(output, list):
            results.append(TurnsResult(error_type="multi_turn:inference_error", turns=turns))
        elif len(output) != turns:
            results.append(TurnsResult(error_type="multi_turn:force_terminated", turn=len(output), turns=turns))
        else:
            results.append(None)
            samples[sample["id"]] = sample
            to_run.append((sample["id"], [calls_of(turn, mode) for turn in output]))
    checked = iter(await workers.run("check_all", samples=samples, items=to_run) if to_run else ())
    return [
        msgspec.convert({"turns": len(sample["answers"]), **next(checked)}, TurnsResult) if result is None else result
        for result, (sample, _, _) in zip(results, items, strict=True)
    ]


def result_of(trajectory: Trajectory) -> object:
    """Return what an official result file would hold under `result`: turns of steps, each as the model gave it."""
    if trajectory.state is not None and OFFICIAL in trajectory.state:
        return trajectory.state[OFFICIAL]
    native = trajectory.tools == "native"
    return [[_reply(step, native=native) for step in steps] for steps in replies_by_turn(trajectory)]


def replies_by_turn(trajectory: Trajectory) -> list[list[Step]]:
    """Return the steps that are replies of the agent."""
    turns: list[list[Step]] = []
    for step in carried_out(trajectory).steps:
        if step.message.role == "assistant" and step.author != "user":
            turns += [[] for _ in range(step.turn + 1 - len(turns))]
            turns[step.turn].append(step)
    return turns


def _reply(step: Step, *, native: bool) -> object:
    if native and (calls := step.message.calls):
        return [{call.name: call.arguments_text()} for call in calls]
    texts = [part.text for part in step.message.parts if isinstance(part, Text)]
    return "".join(texts) if texts else None


def calls_of(steps: object, mode: Mode) -> list[list[str]]:
    """Return the calls of each step of a turn that has any, as they are run."""
    if not isinstance(steps, list | str | dict):
        return []
    decoded = (executable_or_none(step, mode) for step in steps)
    return [list(map(str, calls)) for calls in decoded if calls]


def _score_answer(sample: Sample, trajectory: Trajectory, mode: Mode) -> Score | Unscored:
    if sample.target is None:
        return Unscored(why="not_applicable", reason=say("Memory is written here; what is asked of it is scored."))
    result = check_answer(result_of(trajectory), sample.target, mode)
    details: dict[str, object] = {}
    if result.error_type is not None:
        kind = result.error_type.partition(":")[2]
        details = {"error_type": result.error_type, "error_class": _CLASSES.get(kind, "crash")}
    answer = clip(result.message, _SHOWN) if result.message else trajectory.answer or None
    return Score(points=int(result.error_type is None), answer=answer, reason=result.reason, details=details)


def _score(result: TurnsResult, trajectory: Trajectory) -> Score:
    passed: list[bool | None] = [True] * result.turns
    if result.error_type is not None:
        first = result.turn or 0
        checked = result.error_type.partition(":")[2] in WITHIN_A_TURN  # else no turn was looked at
        passed = [True if checked else None] * first + [False] + [None] * (result.turns - first - 1)
    details: dict[str, Any] = {"passed_turns": passed[: result.turns]}
    if result.error_type is not None:
        details |= {"error_type": result.error_type, "error_class": _CLASSES[result.error_type.partition(":")[2]]}
        for key in ("turn", "differences", "missing", "made", "expected"):
            if (value := getattr(result, key)) not in (None, ()):
                details[key] = value
    return Score(
        points=int(result.error_type is None), answer=trajectory.answer or None, reason=result.reason, details=details
    )
