"""Reach what sends requests in batches, which a package brings."""

from collections.abc import Callable
from typing import Protocol

from proctor.chat.dialect import BatchKind, ModelReply
from proctor.models.addresses import EndpointOptions
from proctor.registry import offered
from proctor.transport.client import Client
from proctor.transport.target import RequestTarget


class BatchSender(Protocol):
    """Gathers the requests of a model, and gives each its reply.

    Attributes:
        most: how many requests one batch holds.
        share: of the price of single requests, what those of a batch cost.
    """

    most: int
    share: float

    async def reply(
        self, client: Client, key: str, body: bytes, read: Callable[[bytes], ModelReply], *, owner: str = ""
    ) -> ModelReply:
        """Return the reply to a request once its batch is over."""
        ...


def batch_sender(
    kind: BatchKind | None, options: EndpointOptions, target: RequestTarget, patient: RequestTarget
) -> BatchSender | None:
    """Return what sends the requests of a model in batches; None where it does not.

    Args:
        patient: the target without a policy of retries, as what sends batches and looks at them has its own.

    Raises:
        BadInput: a stream is asked for too, or the address is not one that batches go to.
        MissingExtra: the package of batches is not installed.
    """
    if kind is None:
        return None
    sender: BatchSender = offered("batches", kind.api, needed_for="batch")(kind.path, options, target, patient)
    return sender
