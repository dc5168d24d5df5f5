"""Collect the requests that judges would send, without sending them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec.structs import replace

from proctor.core.around import JudgeRequest, around
from proctor.core.errors import JudgeFailed
from proctor.core.sample import Message


@contextmanager
def rehearsing() -> Iterator[list[JudgeRequest]]:
    """Collect the requests that judges make inside, without sending them; each fails."""
    asked: list[JudgeRequest] = []
    token = around.set(replace(around.get(), rehearsed=asked))
    try:
        yield asked
    finally:
        around.reset(token)


def refuse_rehearsed(judge: str, messages: Sequence[Message]) -> None:
    """Note a request that is only rehearsed; a judge calls this before it sends one.

    Raises:
        JudgeFailed: inside of `rehearsing`.
    """
    if (listed := around.get().rehearsed) is not None:
        listed.append(JudgeRequest(judge=judge, messages=tuple(messages)))
        raise JudgeFailed("This request is only rehearsed.", kind="rehearsed")
