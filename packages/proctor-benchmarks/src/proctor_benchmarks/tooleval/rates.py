"""Count judgements: the pass rates of both editions, and who wins.

Source: StableToolBench aa4ed9f4737a and ToolBench d56fdd89faf8, `toolbench/tooleval/eval_pass_rate.py`, `eval_preference.py`.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import msgspec

from proctor_benchmarks.tooleval import judging
from proctor_benchmarks.tooleval.answers import ToolEvalExample, is_finished, names_are_offered, steps
from proctor_benchmarks.tooleval.conversion import Edition
from proctor_benchmarks.tooleval.judging import AnswerStatus, JudgeAsk, TaskStatus

POINTS: Mapping[str, float] = {"Solved": 1.0, "Unsure": 0.5, "Unsolved": 0.0}
UNFINISHED = "No answer"
Toss = Callable[[], bool]


class PassVote(msgspec.Struct, frozen=True, kw_only=True):
    """One judgement of an answer; `passed` and `task` are those of ToolBench, whose Unsure is a toss of a coin."""

    status: AnswerStatus
    passed: bool
    task: TaskStatus = "Solvable"
    reason: str = ""
    is_sure: bool = True


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """A mean over repeated judgements, and how far they lie apart (as a population)."""

    mean: float
    deviation: float = 0.0


async def vote(ask: JudgeAsk, example: ToolEvalExample, edition: Edition, toss: Toss) -> PassVote:
    """Judge an answer once; one that was not finished with `Finish` is not solved, and nobody is asked."""
    if not is_finished(steps(example.answer["answer_details"])[1]):
        return PassVote(status="Unsolved", passed=False, reason=UNFINISHED)
    status, why = await judging.judge_answer(ask, example.query, example.answer, reason=True)
    if edition == "stable":
        return PassVote(status=status, passed=status == "Solved", reason=why)
    task, task_why = await judging.judge_task(ask, example.query, example.available_tools, is_solved=status == "Solved", reason=True)  # fmt: skip
    passed = judging.has_passed(status, task)
    return PassVote(
        status=status,
        passed=toss() if passed is None else passed,
        task=task,
        reason=f"Is solved: {why}\nTask solvable: {task_why}",
        is_sure=passed is not None,
    )


def check_names(example: ToolEvalExample) -> bool:
    """Say what ToolBench records as `not_hallucinate`: True also where a call cannot be read; messages become texts on the way."""
    try:
        return names_are_offered(example.answer["answer_details"], example.offered)
    except (KeyError, TypeError, IndexError):
        return True


def passes(votes: Sequence[PassVote]) -> bool:
    """True if an answer passes in ToolBench's pass rate: a tie does."""
    return sum(not vote.passed for vote in votes) <= sum(vote.passed for vote in votes)


def solvable_pass_rate(statuses: Sequence[Sequence[str]], times: int) -> Rate:
    """Return StableToolBench's pass rate over the answers there are: the mean of each round of judgements, and of these.

    A round that an answer lacks counts 0.
    """
    rounds = [sum(POINTS.get(status[number], 0.0) if number < len(status) else 0.0 for status in statuses) / len(statuses) for number in range(times)]  # fmt: skip
    mean = sum(rounds) / len(rounds)  # added up as officially, since the result is rounded to a digit
    return Rate(mean=mean, deviation=math.sqrt(sum((share - mean) ** 2 for share in rounds) / len(rounds)))


def outright(edition: Edition, reference: Mapping[str, str], candidate: Mapping[str, str]) -> int | None:
    """Return who wins by the pass-rate files alone: 0 is the reference, 1 the candidate, None where the judge is asked."""
    field, good, bad = ("machine_label", "passed", "failed") if edition == "toolbench" else ("is_solved", "AnswerStatus.Solved", "AnswerStatus.Unsolved")  # fmt: skip
    values = (reference[field], candidate[field])
    return {(good, bad): 0, (bad, good): 1}.get(values)


def label(reference: int, candidate: int) -> str:
    """Return the official label of a query by its wins: 1 is the reference, 2 the candidate, 3 a tie."""
    return "1" if reference > candidate else "2" if candidate > reference else "3"
