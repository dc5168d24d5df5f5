"""Keep what a confined worker does not allow apart from what is wrong with a scorer."""

import inspect
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor.core.task import Scorer, Task
from proctor.core.trajectory import Trajectory
from proctor.engine.scoring import BoundScorer

NOT_ALLOWED = "not_allowed"
FAULTS = {
    "time_limit": say("it took longer than the limit"),
    "worker_hung": say("it took longer than the limit"),
    "worker_killed": say("its process ended"),
    "worker_memory": say("it needs more memory than its process has"),
    "too_many_faults": say("its process ended too often"),
    "not_again": say("a second try gave another verdict"),
    "outside": say("a call failed on something outside the task, such as a connection"),
    "environment_failed": say("the environment failed"),
    "provider_failed": say("an endpoint failed"),
    "user_failed": say("the simulated user failed"),
    "judge_failed": say("a judge failed"),
    "not_by_main": say("other scorers give full points, and the main one asks a model or gives no score"),
    "unscored": say("the scorer gives them no score"),
    "no_evidence": say("it looks for what a scripted answer does not have"),
}


class NotAllowedError(GeneratorExit):  # as `engine.blame.from_outside` knows it, so that it becomes no verdict
    """User code needs the network, a file or memory that the worker does not give."""


def describe_fault(fault: str) -> Sentence:
    """Return in words what kept a scorer from an answer."""
    kind, _, error = fault.partition(" ")
    if kind == NOT_ALLOWED:
        return say("it needs what the confined worker does not allow ({error})", error=error)
    return FAULTS.get(fault, say("{reason}", reason=fault))


def watch_scorer(scorer: BoundScorer) -> BoundScorer:
    """Return the scorer with errors of the network, files and memory raised as `NotAllowedError`."""
    function: Any = scorer.function

    async def wait(sample: Sample, trajectory: Trajectory) -> Any:
        try:
            result = function(sample, trajectory)
            return await result if inspect.isawaitable(result) else result
        except Exception as error:
            _raise_if_not_allowed(error)
            raise

    return replace(scorer, function=wait if scorer.is_async else _watched(function))


def watch_oracle(task: Task) -> Task:
    """Return the task with its function for right answers watched in the same way."""
    return task if task.oracle is None else replace(task, oracle=_watched(task.oracle))


def _watched(function: Callable[..., Any]) -> Scorer:
    def call(*given: Any) -> Any:
        try:
            return function(*given)
        except Exception as error:
            _raise_if_not_allowed(error)
            raise

    return call


def _raise_if_not_allowed(error: Exception) -> None:
    """Raise `NotAllowedError` if the error, or one that it was raised from, is of the network, a file or memory."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        if isinstance(cause, OSError | MemoryError):
            raise NotAllowedError(type(cause).__name__) from error
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__
