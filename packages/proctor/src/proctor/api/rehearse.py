"""Show the requests to judges: those about any answers, and those of a stored verdict.

Nothing is sent. A judge makes its prompt from its rubric, the sample and the answer, so the prompt of a stored verdict is made again,
as long as the judge is still the one that gave it.
"""

import asyncio
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import cast

import msgspec

from proctor.api import resolve
from proctor.api.loop import run_in_loop
from proctor.api.run import Run
from proctor.core.around import JudgeRequest
from proctor.core.errors import BadInput, EnvironmentFailed, JudgeFailed, ProctorError
from proctor.core.judge import JudgeChoice
from proctor.core.known import KnownDetails
from proctor.core.sample import Sample, Tool
from proctor.core.sentence import Sentence, say
from proctor.core.task import ListsTools, MakeEnvironment
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Verdict
from proctor.engine.acting import entered
from proctor.engine.judge_figures import about
from proctor.engine.scoring import BoundScorer
from proctor.models.judge_requests import rehearsing
from proctor.models.named import OpenedModels
from proctor.stores.reading import trial_of, verdicts_of

Judged = tuple[Sample, Trajectory]


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """The requests and replies of a stored verdict, or why the requests are not known."""

    scorer: str
    asked: tuple[JudgeRequest, ...] = ()
    replies: tuple[str, ...] = ()
    why_not: Sentence | None = None


def tools_of(make: object, sample: Sample) -> list[Tool]:
    """Return the tools of the environment of a sample, which is made for that and left again unless what makes it lists them.

    Raises:
        BadInput: it broke.
    """

    async def look(_: asyncio.Event) -> list[Tool]:
        async with OpenedModels((make,)), entered(cast(MakeEnvironment, make), sample) as environment:
            return [*environment.tools] if environment is not None else []

    if isinstance(make, ListsTools) and isinstance(make.tools, tuple):  # that of a class may be a property
        return [*make.tools]
    try:
        return run_in_loop(look)
    except EnvironmentFailed as error:
        raise BadInput(error.sentence) from error


def exchanges(run: Run, sample_id: str, attempt: int = 0) -> list[Exchange]:
    """Return the requests to judges about one stored attempt, and their replies."""
    trial = trial_of(run.store, run.id, sample_id, attempt)
    sample = run.store.sample(run.id, sample_id)
    if trial is None or sample is None:
        return []
    verdicts = verdicts_of(run.store, run.id, sample_id, attempt)
    return [
        _exchange(run, verdict, (sample, trial.trajectory))
        for verdict in verdicts
        if about(run.record, verdict.scorer) is not None
    ]


def _exchange(run: Run, verdict: Verdict, judged: Judged) -> Exchange:
    exchange = Exchange(scorer=verdict.scorer, replies=tuple(_replies(verdict.result.known)))
    try:
        spec = run.record.spec
        bound = resolve.scorers(spec.scorers, JudgeChoice(model=spec.judge, options=spec.judge_options))
    except ProctorError as error:
        return msgspec.structs.replace(exchange, why_not=error.sentence)
    same = [scorer for scorer in bound if (scorer.name, scorer.version) == (verdict.scorer, verdict.scorer_version)]
    if not same:
        why_not = say("The judge or its rubric has changed since, so what it was asked cannot be shown.")
        return msgspec.structs.replace(exchange, why_not=why_not)
    return msgspec.structs.replace(exchange, asked=tuple(requests_of(same, [judged])[0]))


def _replies(known: KnownDetails) -> Iterator[str]:
    """Yield the replies that a verdict rests on, of one judge, of both orders, or of a jury."""
    yield from known.replies
    yield from chain.from_iterable(comparison.replies for comparison in known.comparisons)
    yield from chain.from_iterable(judge.replies for judge in known.judges.values())


def requests_of(judges: Sequence[BoundScorer], answers: Sequence[Judged]) -> list[list[JudgeRequest]]:
    """Return what the judges would be asked of each answer."""

    async def list_all() -> list[list[JudgeRequest]]:
        return [await _asked(judges, *answer) for answer in answers]

    return run_in_loop(lambda _: list_all())


async def _asked(judges: Sequence[BoundScorer], sample: Sample, trajectory: Trajectory) -> list[JudgeRequest]:
    with rehearsing() as asked:
        for judge in judges:
            with suppress(JudgeFailed):  # as every request does here
                said = judge.function(sample, trajectory)
                if isinstance(said, Awaitable):
                    await said
    return asked
