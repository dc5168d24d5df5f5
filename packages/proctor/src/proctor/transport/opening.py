"""Open connections: look a name up, try its addresses, speak to a proxy, and begin TLS."""

import asyncio
import os
import socket
import ssl
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain, zip_longest
from typing import NamedTuple

from proctor.core.sentence import say
from proctor.transport.address import Address
from proctor.transport.connection import Connection
from proctor.transport.deadline import Deadline
from proctor.transport.faults import RequestFault, shown
from proctor.transport.parsing import Parser
from proctor.transport.tls import context_of

DNS_SECONDS = 300.0
HEAD_START_SECONDS = 0.25  # of an address over the next one, as RFC 8305 recommends
HANDSHAKE_SECONDS = 3600.0  # our own limit is the one that counts


class Route(NamedTuple):
    """The destination of a connection; connections with equal routes are interchangeable."""

    scheme: str
    host: str
    port: int
    proxy: Address | None = None
    certificate: str | None = None


class SocketAddress(NamedTuple):
    """A socket address and its family."""

    family: int
    address: tuple[object, ...]


class Opener:
    """Opens connections; all of them share resolved names and TLS contexts."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._known: dict[tuple[str, int], tuple[float, asyncio.Task[list[SocketAddress]]]] = {}
        self._contexts: dict[str | None, ssl.SSLContext] = {}

    async def open(self, route: Route, seconds: float) -> Connection:
        """Return a new connection that is ready for a request.

        Raises:
            Fault: no connection was made within that time.
        """
        try:
            with Deadline(seconds):
                return await self._opened(route, seconds)
        except TimeoutError:
            raise RequestFault("connect", say("it took too long")) from None

    def close(self) -> None:
        for _, task in self._known.values():
            task.cancel()
        self._known.clear()

    async def _opened(self, route: Route, seconds: float) -> Connection:
        host, port = (route.proxy.host, route.proxy.port) if route.proxy is not None else (route.host, route.port)
        connection = await self._connected(host, port)
        try:
            if route.proxy is not None and route.proxy.scheme == "https":
                await self._begin_tls(connection, route.proxy.host, None)
            if route.scheme == "https":
                if route.proxy is not None:
                    await _ask_for_tunnel(connection, route, route.proxy, seconds)
                await self._begin_tls(connection, route.host, route.certificate)
        except BaseException:
            connection.abort()
            raise
        return connection

    async def _connected(self, host: str, port: int) -> Connection:
        addresses = await self._addresses(host, port)
        try:
            stream = await _first_connected(addresses)
            _, connection = await self._loop.create_connection(Connection, sock=stream)
        except OSError as error:
            self._known.pop((host, port), None)  # the name may lead elsewhere by now
            raise RequestFault("connect", _seen(error)) from error
        return connection

    async def _begin_tls(self, connection: Connection, host: str, certificate: str | None) -> None:
        context = self._contexts.get(certificate)
        if context is None:
            context = self._contexts[certificate] = context_of(certificate)
        try:
            transport = await self._loop.start_tls(
                connection.transport,
                connection,
                context,
                server_hostname=host.rstrip("."),
                ssl_handshake_timeout=HANDSHAKE_SECONDS,
            )
        except (OSError, ValueError) as error:  # ValueError: a name that no certificate can hold
            raise RequestFault("tls", shown(str(error) or "the connection was closed")) from error
        if transport is None:  # it was closed meanwhile
            raise RequestFault("tls", "the connection was closed")
        connection.transport = transport

    async def _addresses(self, host: str, port: int) -> list[SocketAddress]:
        """Return the addresses of a name, looked up once for all who wait."""
        if (literal := _literal(host, port)) is not None:
            return [literal]
        until, task = self._known.get((host, port), (0.0, None))
        if task is None or (task.done() and until < self._loop.time()):
            task = self._loop.create_task(_look_up(self._loop, host, port))
            task.add_done_callback(_retrieve_error)
            self._known[host, port] = (self._loop.time() + DNS_SECONDS, task)
        try:
            return await asyncio.shield(task)
        except (OSError, UnicodeError) as error:
            self._known.pop((host, port), None)
            raise RequestFault("dns", _seen(error)) from error


def _seen(error: OSError | UnicodeError) -> str:
    """Return what the system says of a connection, without the call that asyncio names."""
    if isinstance(error, OSError) and error.errno:
        has_own_numbers = isinstance(error, socket.gaierror) or os.name == "nt"  # of getaddrinfo, and of Windows
        return shown(error.strerror or str(error) if has_own_numbers else os.strerror(error.errno))
    return shown(str(error))


async def _look_up(loop: asyncio.AbstractEventLoop, host: str, port: int) -> list[SocketAddress]:
    resolved = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    by_family: dict[int, list[SocketAddress]] = {}
    for family, _, _, _, address in resolved:
        by_family.setdefault(family, []).append(SocketAddress(family, address))
    in_turn = zip_longest(*by_family.values())  # so that a family that leads nowhere costs little
    return [address for address in chain.from_iterable(in_turn) if address is not None]


def _retrieve_error(task: "asyncio.Task[list[SocketAddress]]") -> None:
    """Look at an error that nobody may be waiting for any more, so that asyncio does not report it."""
    if not task.cancelled():
        task.exception()


def _literal(host: str, port: int) -> SocketAddress | None:
    """Return the socket address of a host that is an IP address already, which needs no thread to look it up."""
    for family, rest in ((socket.AF_INET, ()), (socket.AF_INET6, (0, 0))):
        with suppress(OSError):
            socket.inet_pton(family, host)
            return SocketAddress(family, (host, port, *rest))
    return None


async def _first_connected(addresses: Sequence[SocketAddress]) -> socket.socket:
    """Return a socket to the address that answers first; each has a head start over the next one (RFC 8305).

    Raises:
        OSError: none answers.
    """
    if len(addresses) == 1:
        return await _stream_to(addresses[0])
    untried, tasks = list(reversed(addresses)), list[asyncio.Task[socket.socket]]()
    winner = None
    try:
        while winner is None and (untried or not all(task.done() for task in tasks)):
            if untried:
                tasks.append(asyncio.create_task(_stream_to(untried.pop())))
            trying = [task for task in tasks if not task.done()]
            await asyncio.wait(
                trying, timeout=HEAD_START_SECONDS if untried else None, return_when=asyncio.FIRST_COMPLETED
            )
            winner = next((task for task in trying if task.done() and task.exception() is None), None)
    finally:
        for task in tasks:
            if task is not winner:
                task.cancel()
                task.add_done_callback(_close_stream)
    if winner is None:
        raise OSError("; ".join(dict.fromkeys(str(task.exception()) for task in tasks)))
    return winner.result()


def _close_stream(task: "asyncio.Task[socket.socket]") -> None:
    if not task.cancelled() and task.exception() is None:
        task.result().close()


async def _stream_to(address: SocketAddress) -> socket.socket:
    stream = socket.socket(address.family, socket.SOCK_STREAM)
    try:
        stream.setblocking(False)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # a model may think for minutes
        await asyncio.get_running_loop().sock_connect(stream, address.address)
    except BaseException:
        stream.close()
        raise
    return stream


async def _ask_for_tunnel(connection: Connection, route: Route, proxy: Address, seconds: float) -> None:
    host = f"[{route.host}]" if ":" in route.host else route.host
    lines = [f"CONNECT {host}:{route.port} HTTP/1.1", f"Host: {host}:{route.port}"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    parser = Parser(has_body=False)
    try:
        connection.send("\r\n".join([*lines, "", ""]).encode(), parser, seconds=seconds)
        while not parser.status:
            await connection.more()
    except RequestFault as fault:
        raise RequestFault("connect", say("the proxy made no tunnel: {text}", text=fault.text)) from fault
    finally:
        connection.finish()
        parser.drop()
    if parser.status == 407:
        raise RequestFault("http_407", say("user and password are missing or wrong"), status=407, again=False)
    if not 200 <= parser.status < 300:
        raise RequestFault("connect", say("the proxy answered with status {status}", status=parser.status))
