"""Collect the requests that judges would send, without sending them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import msgspec

from proctor.core.errors import JudgeFailed
from proctor.core.sample import Message


class JudgeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request to a judge, by the name of its model."""

    judge: str
    messages: tuple[Message, ...]


_listed: ContextVar[list[JudgeRequest] | None] = ContextVar("proctor_judges_rehearsing", default=None)


@contextmanager
def rehearsing() -> Iterator[list[JudgeRequest]]:
    """Collect the requests that judges make inside, without sending them; each fails."""
    asked: list[JudgeRequest] = []
    token = _listed.set(asked)
    try:
        yield asked
    finally:
        _listed.reset(token)


def refuse_rehearsed(judge: str, messages: Sequence[Message]) -> None:
    """Note a request that is only rehearsed; a judge calls this before it sends one.

    Raises:
        JudgeFailed: inside of `rehearsing`.
    """
    if (listed := _listed.get()) is not None:
        listed.append(JudgeRequest(judge=judge, messages=tuple(messages)))
        raise JudgeFailed("This request is only rehearsed.", kind="rehearsed")
