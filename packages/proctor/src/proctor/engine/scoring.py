"""Call scorers, and keep a fault of a scorer from becoming a zero."""

import inspect
import os
import re
import time
import traceback
from collections.abc import Awaitable, Sequence
from functools import partial
from itertools import dropwhile
from pathlib import Path

import msgspec

from proctor.core.around import around
from proctor.core.errors import BudgetSpent, EndpointRefused, JudgeFailed, MissingScale, ProviderFailed
from proctor.core.own_code import own_folders
from proctor.core.sample import Sample
from proctor.core.score import FROM_CACHE, Score, Unscored, short_reason
from proctor.core.sentence import Sentence, clip, say
from proctor.core.task import Scorer
from proctor.core.trajectory import NOTHING, Usage
from proctor.core.trial import Trial, TrialFailure, Verdict
from proctor.engine.blame import from_outside
from proctor.models import cache, ledger
from proctor.runtime.threads import in_thread, is_async
from proctor.transport.deadline import Deadline
from proctor.transport.faults import reached
from proctor.transport.redact import quoted, redact

DETAIL_CHARACTERS = 4_000
BUDGET = "budget"  # the kind of what the budget cut off
MOST_SECONDS = 600.0  # for one verdict of a scorer that waits, or runs in a thread
FRAME = re.compile(r'^  File "(.+)", line (\d+)', re.MULTILINE)
STANDARD = f"{Path(os.__file__).parent}{os.sep}"


class BoundScorer(msgspec.Struct, frozen=True, kw_only=True):
    """A scorer with the short name of its numbers and the reference by which it is found again.

    `inline` scorers run in the event loop (ours are quick); others that are not async run in a thread.
    """

    name: str
    reference: str
    version: str
    function: Scorer
    inline: bool = False

    @property
    def is_async(self) -> bool:
        """True if it waits for something, as judges do."""
        return is_async(self.function)

    def verdict(
        self, trial: Trial, result: Score | Unscored, usage: Usage | None = None, seconds: float = 0.0
    ) -> Verdict:
        return Verdict(
            run_id=trial.run_id,
            sample_id=trial.sample_id,
            attempt=trial.attempt,
            scorer=self.name,
            scorer_version=self.version,
            result=result,
            usage=usage,
            seconds=seconds,
        )


async def score_trial(trial: Trial, sample: Sample, scorers: Sequence[BoundScorer]) -> list[Verdict]:
    """Return the verdicts of all scorers on a trial that was scored.

    Where the budget does not hold what a judge would ask, its verdict is of the kind "budget".
    """
    verdicts = []
    for scorer in scorers:
        spent: _Spent | None = None
        result: object
        try:
            if scorer.inline or inspect.iscoroutinefunction(scorer.function):
                result = scorer.function(sample, trial.trajectory)
            else:
                result = in_thread(partial(scorer.function, sample, trial.trajectory))
            if not isinstance(result, Score):  # the usual case goes on at once
                if inspect.isawaitable(result):
                    spent = _Spent()
                    result = await _within_time(result)
                    if inspect.isawaitable(result):  # a plain function that returned what it should have awaited
                        result = await _within_time(result)
                result = _as_score(result)
                if spent is not None:
                    result = spent.note_hits(result)
            if result.reason and (short := short_reason(result.reason)) is not result.reason:
                result = msgspec.structs.replace(result, reason=short)
        except BaseException as error:  # noqa: BLE001 - raised again, or kept as the reason
            result = _unscored(error)
        usage = spent.usage() if spent is not None else None
        seconds = spent.seconds() if spent is not None and usage is not None else 0.0
        verdicts.append(scorer.verdict(trial, result, usage, seconds))
    return verdicts


class _Spent:
    """Counts what an async scorer asks of models, from here on."""

    def __init__(self) -> None:
        self._clock = time.perf_counter()
        self._ledger = ledger.begin()
        self._hits = cache.hits()
        calls = around.get().failed
        self._calls = [] if calls is None else calls  # the list itself: failed requests are still to come
        self._before = len(self._calls)

    def note_hits(self, result: Score | Unscored) -> Score | Unscored:
        """Return the result with the number of replies that came from the cache, where some did."""
        hits = cache.hits() - self._hits
        return msgspec.structs.replace(result, details={**result.details, FROM_CACHE: hits}) if hits else result

    def seconds(self) -> float:
        """Return how long it has taken."""
        return time.perf_counter() - self._clock

    def usage(self) -> Usage | None:
        """Return the sum, with the requests that failed; None where nothing was asked."""
        usage = self._ledger.usage
        if len(self._calls) > self._before:
            usage = usage + Usage(requests=reached(self._calls[self._before :]))
        return usage if usage != NOTHING else None


async def _within_time(waited_for: Awaitable[object]) -> object:
    limit = Deadline(MOST_SECONDS)
    around.set(
        msgspec.structs.replace(around.get(), deadline=limit)
    )  # waiting for the endpoint of a judge does not count
    try:
        with limit:
            return await waited_for
    except TimeoutError:
        if limit.expired():
            raise _TooSlow from None
        raise


class _TooSlow(Exception):
    pass


def _unscored(error: BaseException) -> Unscored:
    """Turn the error of a broken scorer or an unreachable judge into `Unscored`; what comes from outside is raised again."""
    if from_outside(error) or isinstance(error, MissingScale):
        raise error
    if isinstance(error, BudgetSpent):
        return Unscored(why="judge_failed", reason=error.sentence, details={"kind": BUDGET})
    if isinstance(error, JudgeFailed | ProviderFailed | EndpointRefused):
        return Unscored(why="judge_failed", reason=error.sentence, details={"kind": error.kind})
    if isinstance(error, _TooSlow):
        return Unscored(
            why="scorer_failed", reason=say("The scorer took more than {seconds} seconds.", seconds=f"{MOST_SECONDS:g}")
        )
    reason = say("The scorer raised {kind}: {error}", kind=type(error).__name__, error=quoted(error))
    return Unscored(why="scorer_failed", reason=reason, details={"traceback": trace_of(error)})


def _as_score(result: object) -> Score | Unscored:
    if isinstance(result, Score | Unscored):
        return result
    if isinstance(result, bool | int | float):
        return Score(points=float(result))
    raise TypeError(
        f"a scorer returns a Score, an Unscored, True, False or a number from 0 to 1; got {type(result).__name__}"
    )


def trace_of(error: BaseException) -> str:
    """Return the last part of a traceback, without keys; it begins where the user's own code does."""
    told = traceback.TracebackException.from_exception(error)
    seen: list[traceback.TracebackException] = []
    todo: list[traceback.TracebackException | None] = [told]
    while todo:
        if (exception := todo.pop()) is not None and exception not in seen:
            seen.append(exception)
            frames = [*dropwhile(lambda frame: frame.filename.startswith((*own_folders(), STANDARD)), exception.stack)]
            exception.stack = traceback.StackSummary.from_list(frames or exception.stack)
            todo += [exception.__cause__, exception.__context__, *(exception.exceptions or ())]
    text = "".join(told.format())
    return clip(redact(text[-4 * DETAIL_CHARACTERS :]), DETAIL_CHARACTERS, keep="end")


def reason_with_line(failure: TrialFailure) -> Sentence | str:
    """Return the reason of a failure, with the line of the user's own code that raised it if that is known."""
    frame = FRAME.search(failure.detail)
    if frame is None:
        return failure.reason
    return say("{reason} ({file}, line {line})", reason=failure.reason, file=Path(frame[1]).name, line=frame[2])
