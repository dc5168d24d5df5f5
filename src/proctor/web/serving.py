"""Listen on this machine, and serve an app until somebody stops it."""

import errno
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from uvicorn import Server

ADDRESS = "127.0.0.1"
PORT = 7860  # that of the source's page
PORTS_TRIED = 100
SECONDS_TO_FINISH = 3


def listen(port: int) -> socket.socket:
    """A socket on this port of this machine, or on the next one that is free.

    Raises:
        BadInput: none is free, or this machine does not let us listen.
    """
    for one in range(port, min(port + PORTS_TRIED, 65_536)):
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((ADDRESS, one))
            made.listen(128)
        except OSError as error:
            made.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise BadInput(
                    "{address}:{port} cannot be used: {error}.", address=ADDRESS, port=one, error=error.strerror
                ) from None
        else:
            return made
    raise BadInput(
        "No port from {first} to {last} is free. Name another one with --port.", first=port, last=port + PORTS_TRIED - 1
    )


def serve(app: "ASGIApp", on: socket.socket) -> None:
    """Serve until Ctrl-C or SIGTERM; what is being answered is finished."""
    with suppress(KeyboardInterrupt):  # uvicorn raises it again after a clean end
        make_server(app).run(sockets=[on])


def make_server(app: "ASGIApp") -> "Server":
    """Return the server, which does not run yet."""
    import uvicorn

    from proctor.web._impatient import ImpatientProtocol

    return uvicorn.Server(
        uvicorn.Config(
            app,
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
