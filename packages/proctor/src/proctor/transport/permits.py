"""Show a worker process the pace of an endpoint: every slot is requested from the parent process."""

from collections.abc import Awaitable
from typing import Protocol

from proctor.transport.allowance import Allowance
from proctor.transport.client import Client
from proctor.transport.pace import Endpoint, PaceBounds
from proctor.transport.retry import Wait, clock_stopped
from proctor.transport.target import RequestTarget


class Parent(Protocol):
    """The way to the parent."""

    def ask(self, origin: str, bounds: PaceBounds | None) -> Awaitable[None]: ...

    def give_back(self, origin: str, *, seconds: float | None, refused: bool, asked: float | None) -> None: ...

    def tell(self, origin: str, *, pause: float = 0.0, tokens: int = 0) -> None: ...

    def never_left(self) -> None: ...

    def waits(self, number: int, wait: Wait | None) -> None: ...


class RemoteEndpoint(Endpoint):
    """An endpoint without slots of its own, so that every call waits in `enter` for the parent process."""

    def __init__(self, origin: str, parent: Parent) -> None:
        super().__init__()
        self.room = 0
        self._origin = origin
        self._parent = parent
        self._bounds: PaceBounds | None = None  # not yet sent

    def bound(self, bounds: PaceBounds) -> None:
        self._bounds = bounds

    async def enter(self) -> None:
        bounds, self._bounds = self._bounds, None
        with clock_stopped():
            await self._parent.ask(self._origin, bounds)
        self.in_flight += 1

    def leave(self) -> None:
        self._back()

    def answered(self, seconds: float) -> None:
        self.seen = True
        self._back(seconds=seconds)

    def refused(self, asked: float | None) -> None:
        self._back(refused=True, asked=asked)

    def pause(self, seconds: float) -> None:
        self._parent.tell(self._origin, pause=seconds)

    def spent(self, tokens: int) -> None:
        self._parent.tell(self._origin, tokens=tokens)

    def _back(self, *, seconds: float | None = None, refused: bool = False, asked: float | None = None) -> None:
        self.in_flight -= 1
        self._parent.give_back(self._origin, seconds=seconds, refused=refused, asked=asked)


class RemoteAllowance(Allowance):
    """Counts nothing: the parent does so with every place it grants."""

    def __init__(self, parent: Parent) -> None:
        super().__init__()
        self._parent = parent

    def take(self) -> None: ...

    def give_back(self) -> None:
        self._parent.never_left()

    def reserve(self) -> None: ...

    def release(self) -> None: ...


class RemoteClient(Client):
    """A pool of connections of a worker, at the pace of the parent."""

    def __init__(self, parent: Parent) -> None:
        super().__init__(allowance=RemoteAllowance(parent))
        self._parent = parent

    def begin_wait(self, wait: Wait) -> int:
        number = super().begin_wait(wait)
        self._parent.waits(number, wait)
        return number

    def end_wait(self, number: int) -> None:
        super().end_wait(number)
        self._parent.waits(number, None)

    def endpoint(self, target: RequestTarget) -> Endpoint:
        found = self._endpoints.get(target.key)
        if found is None:
            origin = target.key.partition(" ")[0]
            found = self._endpoints.setdefault(target.key, RemoteEndpoint(origin, self._parent))
            found.bound(target.terms.bounds)
        return found
