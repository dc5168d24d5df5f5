"""Define what code inside a run sees without an argument: between it and the run is code of the user or of a library."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Protocol

import msgspec

from proctor.core.errors import BadInput
from proctor.core.run import Limits
from proctor.core.sample import Message
from proctor.core.trajectory import NOTHING, Usage
from proctor.core.trial import FailedRequest

Hear = Callable[[str, bool, bool], None]


class MovableLimit(Protocol):
    """The time limit of an attempt, which stops while it waits for an endpoint."""

    @property
    def seconds(self) -> float: ...

    def expired(self) -> bool: ...

    def when(self) -> float | None: ...

    def move(self, when: float | None) -> None: ...


class SpendLedger:
    """The sum of what was spent since it was opened."""

    def __init__(self) -> None:
        self.usage = NOTHING

    def add(self, usage: Usage) -> None:
        self.usage = self.usage + usage


class JudgeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request to a judge, by the name of its model."""

    judge: str
    messages: tuple[Message, ...]


class Around(msgspec.Struct, frozen=True, kw_only=True):
    """What surrounds the code under way; each task and thread inherits it, and changes its own.

    Attributes:
        limits: those of the attempt, for agents that can keep to them themselves.
        deadline: the time limit of the attempt, or of its scorer.
        failed: gets every request that fails.
        ledger: gets the usage of models that scorers and simulated users ask.
        client: the open HTTP client; `Client.current` knows its type.
        hear: is called with the text of a reply while it comes, whether it is the model's thought, and whether the reply begins again.
        rehearsed: gets the requests of judges, in place of a model.
        refuse: gets the error of each row of a data file that cannot be read, which is left out then.
    """

    limits: Limits = Limits()
    deadline: MovableLimit | None = None
    failed: list[FailedRequest] | None = None
    ledger: SpendLedger | None = None
    client: Any = None
    hear: Hear | None = None
    rehearsed: list[JudgeRequest] | None = None
    refuse: Callable[[BadInput], None] | None = None


around: ContextVar[Around] = ContextVar("proctor_around", default=Around())  # noqa: B039 - frozen
