"""Build scorers from other scorers: call the parts, await those that are async, and combine the results."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from proctor.core.declared import ScorerInfo, declared
from proctor.core.digest import digest
from proctor.core.judge import JudgeInfo
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.models.named import OpenedModels
from proctor.runtime.concurrent import run_together
from proctor.runtime.threads import is_async
from proctor.scorers.lookup import is_inline

Result = Score | Unscored


class Composite(OpenedModels):
    """A scorer made of others: it runs inline if all of them do, opens them with the run, and lists the judges that they ask.

    Attributes:
        judge: what is recorded of the models that its parts ask; None if no part asks one.
        is_async: True if any part is async.
    """

    def __init__(self, score: Callable[[Sample, Trajectory], Any], parts: Sequence[Scorer]) -> None:
        self.inline = all(map(is_inline, parts))
        self.judge = judged_by(parts)
        self.is_async = any(map(is_async, parts))
        self._score = score
        super().__init__(parts)

    def __call__(self, sample: Sample, trajectory: Trajectory, /) -> Any:
        return self._score(sample, trajectory)


def judged_by(parts: Sequence[Scorer]) -> JudgeInfo | None:
    """Return the models that parts of a scorer ask, as one record; None if no part asks one."""
    judges = [judge for part in parts if (judge := recorded_judge(part)) is not None]
    if not judges:
        return None
    return JudgeInfo(
        model=", ".join(dict.fromkeys(judge.model for judge in judges)),
        rubric_digest=digest([judge.rubric_digest for judge in judges]),
        unpriced=tuple(dict.fromkeys(model for judge in judges for model in judge.unpriced)),
    )


def recorded_judge(scorer: object) -> JudgeInfo | None:
    """Return what is recorded of the model that a scorer asks; a user's scorer may use the name `judge` for something else."""
    judge = declared(ScorerInfo, scorer).judge
    return judge if isinstance(judge, JudgeInfo) else None


def together(results: Sequence[object], put: Callable[[list[Result]], Result]) -> Result | Awaitable[Result]:
    """Return `put` of the results; an awaitable if one of them is."""
    if any(inspect.isawaitable(result) for result in results):
        return _awaited(results, put)
    return _put([_as_result(result) for result in results], put)


async def _awaited(results: Sequence[object], put: Callable[[list[Result]], Result]) -> Result:
    waiting = [result for result in results if inspect.isawaitable(result)]
    arrived = iter(await run_together(*waiting))
    return _put([_as_result(next(arrived) if inspect.isawaitable(result) else result) for result in results], put)


def _put(results: list[Result], put: Callable[[list[Result]], Result]) -> Result:
    """Return `put` of the results; no score where one of them waits to know whether the agent reports its calls."""
    waiting = [result for result in results if isinstance(result, Unscored) and result.without_calls is not None]
    if not waiting:
        return put(results)
    known = [result.without_calls or result if isinstance(result, Unscored) else result for result in results]
    whole = put(known)
    if isinstance(whole, Unscored):
        return whole
    return Unscored(why="no_evidence", reason=waiting[0].reason, without_calls=whole)


def _as_result(result: Any) -> Result:
    return result if isinstance(result, Score | Unscored) else Score(points=float(result))
