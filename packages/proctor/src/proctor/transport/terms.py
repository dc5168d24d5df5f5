"""Define the terms of requests: how long each may take, how many are sent, and how often again."""

import msgspec

from proctor.transport.pace import PaceBounds
from proctor.transport.retry import RetryPolicy

CONNECT_SECONDS = 15.0
TOTAL_SECONDS = 300.0


class RequestTerms(msgspec.Struct, frozen=True, kw_only=True):
    """The time limits of one request to a target, and the limits of all of them.

    Attributes:
        seconds: from sending a request to the end of its reply; None is the usual limit, as for `connect_seconds`.
        first_byte_seconds: the longest silence of the server.
        policy: how often to send again, where it is not that of the client.
    """

    seconds: float | None = None
    first_byte_seconds: float | None = None
    connect_seconds: float | None = None
    bounds: PaceBounds = PaceBounds()
    policy: RetryPolicy | None = None

    @property
    def total_seconds(self) -> float:
        return self.seconds or TOTAL_SECONDS
