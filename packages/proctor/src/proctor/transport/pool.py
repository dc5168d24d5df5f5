"""Keep open connections for the next request, except those on which unrequested bytes arrived."""

import asyncio

from proctor.transport.connection import Connection
from proctor.transport.opening import Opener, Route


class ConnectionPool:
    """All connections of a client, by their destination.

    Args:
        keep_seconds: how long a connection is used again after it was used.
    """

    def __init__(self, *, keep_seconds: float) -> None:
        self._keep_seconds = keep_seconds
        self._opener = Opener()
        self._lane_by_route: dict[Route, Lane] = {}

    def lane(self, route: Route) -> "Lane":
        """Return the connections of a route; all who ask for it share them."""
        lane = self._lane_by_route.get(route)
        if lane is None:
            lane = self._lane_by_route[route] = Lane(route, self._opener, self._keep_seconds)
        return lane

    async def aclose(self) -> None:
        self._opener.close()
        for lane in self._lane_by_route.values():
            lane.close()
        await asyncio.sleep(0)  # the event loop closes sockets in its next round


class Lane:
    """The connections that lead to one place."""

    def __init__(self, route: Route, opener: Opener, keep_seconds: float) -> None:
        self._route = route
        self._opener = opener
        self._keep_seconds = keep_seconds
        self._loop = asyncio.get_running_loop()
        self._idle: list[Connection] = []  # the one used last at the end
        self._is_trusted = True

    def take(self) -> Connection | None:
        """Return an open connection that nobody uses."""
        while self._idle:
            connection = self._idle.pop()
            is_fresh = self._loop.time() - connection.idle_since <= self._keep_seconds
            if connection.is_open and is_fresh and connection.is_quiet():
                return connection
            connection.abort()
        return None

    async def open(self, seconds: float) -> Connection:
        """Return a new connection.

        Raises:
            Fault: no connection was made within that time.
        """
        return await self._opener.open(self._route, seconds)

    def keep(self, connection: Connection) -> None:
        """Keep a connection for the next request, unless a part of the last one is still to be sent."""
        if not self._is_trusted or not connection.is_open or connection.transport.get_write_buffer_size():
            connection.abort()
            return
        connection.on_stray = self.distrust
        connection.idle_since = self._loop.time()
        self._idle.append(connection)

    def distrust(self) -> None:
        """Use no connection twice from now on: a reply arrived that nobody had requested.

        HTTP cannot tell whose reply it is once there is one too many.
        """
        self._is_trusted = False
        self.close()

    def close(self) -> None:
        """Close the connections that nobody uses."""
        while self._idle:
            self._idle.pop().abort()
