"""Call scorers, and keep what goes wrong in one from becoming a zero."""

import asyncio
import inspect
import traceback
from collections.abc import Sequence
from functools import partial

import msgspec

from proctor.core.errors import JudgeFailed
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.task import Scorer
from proctor.core.thread import in_thread
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Trial, Verdict

DETAIL_CHARACTERS = 4_000


class BoundScorer(msgspec.Struct, frozen=True, kw_only=True):
    """A scorer with the short name its numbers carry and the reference it can be found by again.

    `inline` scorers run in the event loop (ours are quick); others that are not async run in a thread.
    """

    name: str
    reference: str
    version: str
    function: Scorer
    inline: bool = False


async def judge(trial: Trial, sample: Sample, scorers: Sequence[BoundScorer]) -> list[Verdict]:
    """The verdicts of all scorers on one trial that was scored."""
    return [
        Verdict(
            run_id=trial.run_id,
            sample_id=trial.sample_id,
            attempt=trial.attempt,
            scorer=scorer.name,
            scorer_version=scorer.version,
            result=await _result(scorer, sample, trial.trajectory),
        )
        for scorer in scorers
    ]


async def _result(scorer: BoundScorer, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    try:
        if scorer.inline or inspect.iscoroutinefunction(scorer.function):
            result = scorer.function(sample, trajectory)
        else:
            result = await in_thread(partial(scorer.function, sample, trajectory))
        if isinstance(result, Score):  # the usual case
            return result
        if inspect.isawaitable(result):
            result = await result
        return _as_score(result)
    except JudgeFailed as error:
        return Unscored(why="judge_failed", reason=error.sentence, details={"kind": error.kind})
    except BaseException as error:  # a broken scorer is no zero
        if from_outside(error):
            raise
        reason = say("The scorer raised {kind}: {error}", kind=type(error).__name__, error=clip(str(error), 500))
        return Unscored(why="scorer_failed", reason=reason, details={"traceback": trace_of(error)})


def _as_score(result: object) -> Score | Unscored:
    if isinstance(result, Score | Unscored):
        return result
    if isinstance(result, bool | int | float):
        return Score(points=float(result))
    raise TypeError(
        f"a scorer returns a Score, an Unscored, True, False or a number from 0 to 1; got {type(result).__name__}"
    )


def from_outside(error: BaseException) -> bool:
    """Whether it is our own end that passes through a person's code, rather than something which that code raised."""
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is None or task.cancelling() > 0
    return isinstance(error, GeneratorExit)


def trace_of(error: BaseException) -> str:
    """The last part of a traceback, as kept with a failure."""
    return clip("".join(traceback.format_exception(error)), DETAIL_CHARACTERS, keep="end")


def clip(text: str, characters: int, *, keep: str = "start") -> str:
    """A text cut to a length, with a mark where something is missing.

    >>> clip("abcdef", 3), clip("abcdef", 3, keep="end")
    ('abc…', '…def')
    """
    if len(text) <= characters:
        return text
    return text[:characters] + "…" if keep == "start" else "…" + text[-characters:]
