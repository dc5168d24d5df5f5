"""Listen on this machine or on the network, and serve an app until it is stopped."""

import asyncio
import errno
import socket
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from uvicorn import Server

ADDRESS = "127.0.0.1"
PORT = 7860  # that of the source's page
PORTS_TRIED = 100
SECONDS_TO_FINISH = 3
SECONDS_TO_ANSWER = 2.5  # less: what uvicorn has to cut off itself, it reports as a fault of the app


def listen(port: int, host: str = ADDRESS) -> socket.socket:
    """Open a socket on this port of an address of this machine, or on the next one that is free.

    Raises:
        BadInput: no port is free, or the address is not one of this machine.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError) as error:
        raise BadInput("{host} is no address of this machine: {error}.", host=host, error=error) from None
    for number in range(port, min(port + PORTS_TRIED, 65_536)):
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((address[0], number))
            made.listen(128)
        except OSError as error:
            made.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise BadInput(
                    "{address}:{port} cannot be used: {error}.", address=host, port=number, error=error.strerror
                ) from None
        else:
            return made
    raise BadInput(
        "No port from {first} to {last} is free. Name another one with --port.", first=port, last=port + PORTS_TRIED - 1
    )


def is_loopback(on: socket.socket) -> bool:
    """True if only programs of this machine reach the socket."""
    return ip_address(on.getsockname()[0]).is_loopback


def names(on: socket.socket, host: str) -> list[str]:
    """Return the names by which others reach the socket, the one for links first."""
    if is_loopback(on):
        return [host]
    bound = ip_address(on.getsockname()[0])
    own = [_own_address(on.family)] if bound.is_unspecified else [host, str(bound)]
    return list(dict.fromkeys([*own, socket.gethostname().lower()]))


def url_host(name: str) -> str:
    """Return a name as an address has it.

    >>> url_host("::1"), url_host("10.0.0.5")
    ('[::1]', '10.0.0.5')
    """
    return f"[{name}]" if ":" in name else name


def _own_address(family: int) -> str:
    """Return the address by which others reach this machine, as far as its routes say; nothing is sent for it."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("2001:db8::1" if family == socket.AF_INET6 else "192.0.2.1", 9))  # addresses for documentation
        return str(probe.getsockname()[0])
    return socket.gethostname().lower()


def serve(app: ASGIApp, on: socket.socket) -> None:
    """Serve until Ctrl-C or SIGTERM; requests under way are finished."""
    with suppress(KeyboardInterrupt):  # uvicorn raises it again after a clean end
        make_server(app).run(sockets=[on])


class Endable:
    """Wraps an app so that its answers can be ended: streams at once, which never finish, and others when they had their time."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._under_way: set[asyncio.Task[object]] = set()
        self._streams: set[asyncio.Task[object]] = set()
        self._is_over = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        task = asyncio.current_task()
        assert task is not None
        has_begun = False

        async def send_noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)
            if (b"content-type", b"text/event-stream") in [
                (name, value[:17]) for name, value in message.get("headers", ())
            ]:
                self._streams.add(task)
                if self._is_over:
                    task.cancel()

        self._under_way.add(task)
        try:
            await self._app(scope, receive, send_noted)
        except asyncio.CancelledError:
            if not self._is_over:
                raise
            with suppress(Exception):  # nobody listens any more, or the length was promised
                if not has_begun:
                    await send({"type": "http.response.start", "status": 503, "headers": []})
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._under_way.discard(task)
            self._streams.discard(task)

    def end(self) -> None:
        """End all streams now, and the other responses after a short delay."""
        self._is_over = True
        for task in self._streams:
            task.cancel()
        asyncio.get_running_loop().call_later(SECONDS_TO_ANSWER, self._cut_off)

    def _cut_off(self) -> None:
        for task in self._under_way:
            task.cancel()


def make_server(app: ASGIApp) -> "Server":
    """Return the server, which does not run yet."""
    import uvicorn

    from proctor_web._impatient import ImpatientProtocol

    endable = Endable(app)

    class _Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            endable.end()
            await super().shutdown(sockets)

    return _Server(
        uvicorn.Config(
            endable,
            http=ImpatientProtocol,
            lifespan="off",
            ws="none",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=SECONDS_TO_FINISH,
        )
    )
