"""Scorers made of other scorers: call the parts, wait for those that must be waited for, and put them together."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say

Result = Score | Unscored


def together(results: Sequence[Any], put: Callable[[list[Result]], Result]) -> Result | Awaitable[Result]:
    """What `put` makes of the results; something to await when one of them is."""
    if any(inspect.isawaitable(result) for result in results):
        return _awaited(results, put)
    return put([_as_result(result) for result in results])


def listed(sentences: Sequence[Sentence]) -> Sentence | str:
    """Several sentences as one, in their order.

    >>> str(listed([say("a"), say("b"), say("c")]))
    'a; b; c'
    """
    if len(sentences) < 2:
        return sentences[0] if sentences else ""
    return say("{first}; {rest}", first=sentences[0], rest=listed(sentences[1:]))


async def _awaited(results: Sequence[Any], put: Callable[[list[Result]], Result]) -> Result:
    waiting = [result for result in results if inspect.isawaitable(result)]
    arrived = iter(await asyncio.gather(*waiting))
    return put([_as_result(next(arrived) if inspect.isawaitable(result) else result) for result in results])


def _as_result(result: Any) -> Result:
    return result if isinstance(result, Score | Unscored) else Score(points=float(result))
