"""Connections: the shortcut for plain replies, what is used again, and what never gets into the next reply."""

import asyncio
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from endpoint import Answer, Endpoint, Request, chat, data

from proctor.core.errors import BadInput, ProctorError
from proctor.transport import retry
from proctor.transport.client import Client
from proctor.transport.connection import Connection
from proctor.transport.faults import NotAccepted, RequestFault
from proctor.transport.retry import RetryPolicy
from proctor.transport.target import RequestTarget
from proctor.transport.terms import RequestTerms

ONCE = RetryPolicy(attempts=1)
OK = b"HTTP/1.1 200 OK\r\n"
BODY = b'{"a":1}'
PLAIN = OK + b"Content-Type: application/json\r\nContent-Length: 7\r\n\r\n" + BODY


def pieces(*parts: bytes, pause: float = 0.01) -> Answer:
    """These bytes, one piece after the other; the connection stays open."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)

    return answer


async def post(client: Client, endpoint: Endpoint, body: bytes = b"{}", **more: Any) -> Any:
    return await client.post(RequestTarget(endpoint.url + "/v1", **more), body, msgspec.json.decode)


@pytest.mark.parametrize(
    "parts",
    [
        [PLAIN],
        [PLAIN.lower().replace(b"http/1.1", b"HTTP/1.1")],
        [PLAIN[:9], PLAIN[9:40], PLAIN[40:-3], PLAIN[-3:]],
        [b"HTTP/1.1 100 Continue\r\n\r\n" + PLAIN],
        [b"HTTP/1.1 103 Early Hints\r\n\r\n", PLAIN],
        [OK + b"Connection: keep-alive\r\nContent-Length: 7\r\n\r\n" + BODY],
        [OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\n" + BODY[:3] + b"\r\n4\r\n" + BODY[3:] + b"\r\n0\r\n\r\n"],
        [OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\n" + BODY[:3], b"\r\n4\r\n" + BODY[3:] + b"\r\n0\r\n\r\n"],
        [OK + b"x-ratelimit-remaining-requests: 5\r\nContent-Length: 7\r\n\r\n" + BODY],
        [b"HTTP/1.1 201 Created\r\nContent-Length: 7\r\n\r\n" + BODY],
    ],
)
async def test_a_reply_is_the_same_in_whatever_form_and_pieces_it_comes(parts: Sequence[bytes]) -> None:
    async with Endpoint(pieces(*parts)) as endpoint, Client(policy=ONCE) as client:
        assert [await post(client, endpoint) for _ in range(3)] == [{"a": 1}] * 3
        assert endpoint.connections == 1


@pytest.mark.parametrize("after", [PLAIN, b"junk"])
async def test_what_nobody_asked_for_is_never_the_next_reply(after: bytes) -> None:
    async with Endpoint(pieces(PLAIN, after), data({"a": 2})) as endpoint, Client(policy=ONCE) as client:
        assert await post(client, endpoint) == {"a": 1}
        await asyncio.sleep(0.05)
        assert await post(client, endpoint) == {"a": 2}
        assert endpoint.connections == 2


def answering_twice(pause: float) -> Answer:
    """Every answer comes again, `pause` seconds after the first."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        reply = b'{"asked":%s}' % request.body
        head = OK + b"Content-Length: %d\r\n\r\n" % len(reply)
        writer.write(head + reply)
        await writer.drain()
        await asyncio.sleep(pause)
        writer.write(head + reply)

    return answer


async def test_where_one_reply_was_too_many_each_request_has_a_connection_of_its_own() -> None:
    async with Endpoint(answering_twice(0.01)) as endpoint, Client(policy=ONCE) as client:
        assert await post(client, endpoint, b"1") == {"asked": 1}
        await asyncio.sleep(0.05)
        for number in range(2, 8):
            assert await post(client, endpoint, b"%d" % number) == {"asked": number}
        assert endpoint.connections == 7


async def test_bytes_that_wait_on_a_connection_end_it_before_it_is_used_again() -> None:
    """A server in a thread of its own, so that the loop of the client does not run between its two replies."""
    ready, port = threading.Event(), 0
    requests: list[bytes] = []

    def serve() -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            nonlocal port
            port = server.getsockname()[1]
            ready.set()
            for reply in (b'{"a":1}', b'{"a":2}'):
                way, _ = server.accept()
                requests.append(way.recv(65536))
                way.sendall(OK + b"Content-Length: 7\r\n\r\n" + reply)
                time.sleep(0.02)
                way.sendall(PLAIN)  # nobody has asked for it
                ways.append(way)

    ways: list[socket.socket] = []
    thread = threading.Thread(target=serve)
    thread.start()
    ready.wait()
    async with Client(policy=ONCE) as client:
        target = RequestTarget(f"http://127.0.0.1:{port}/v1")
        assert await client.post(target, b"{}", msgspec.json.decode) == {"a": 1}
        time.sleep(0.1)  # noqa: ASYNC251 - the loop must not read meanwhile
        assert await client.post(target, b"{}", msgspec.json.decode) == {"a": 2}
    thread.join()
    for way in ways:
        way.close()
    assert len(requests) == 2


async def test_a_reply_before_the_request_is_refused() -> None:
    tasks: list[asyncio.Task[None] | None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.append(asyncio.current_task())
        writer.write(PLAIN)
        with suppress(ConnectionError):
            await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, Client(policy=ONCE) as client:
        sender = client._sender(RequestTarget(url))
        opened = sender._opened

        async def slowly_opened() -> Connection:
            connection = await opened()
            await asyncio.sleep(0.05)  # a handshake, or a loop that is busy
            return connection

        sender._opened = slowly_opened  # type: ignore[method-assign]  # a pause that a test cannot make otherwise
        with pytest.raises(RequestFault, match="no_reply"):
            await sender.send(b"{}")
        await asyncio.gather(*(task for task in tasks if task is not None))


async def test_what_follows_a_reply_in_the_same_piece_ends_the_connection() -> None:
    async with Endpoint(pieces(PLAIN + PLAIN), data({"a": 2})) as endpoint, Client(policy=ONCE) as client:
        assert await post(client, endpoint) == {"a": 1}
        assert await post(client, endpoint) == {"a": 2}
        assert endpoint.connections == 2


async def test_a_connection_that_the_server_closed_meanwhile_is_not_used_again() -> None:
    async def once(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(PLAIN)
        await writer.drain()
        writer.close()

    made = retry.record_calls()
    async with Endpoint(once, data({"a": 2})) as endpoint, Client() as client:
        await post(client, endpoint)
        await asyncio.sleep(0.05)
        assert await post(client, endpoint) == {"a": 2}
    assert made == []


async def test_a_connection_that_was_idle_for_long_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.transport.client.KEEP_ALIVE_SECONDS", 0.05)
    async with Endpoint(chat()) as endpoint, Client() as client:
        await asyncio.gather(post(client, endpoint), post(client, endpoint))
        await post(client, endpoint)
        assert endpoint.connections == 2
        await asyncio.sleep(0.1)
        await post(client, endpoint)
        assert endpoint.connections == 3


async def test_targets_at_the_same_address_share_connections() -> None:
    async with Endpoint(chat()) as endpoint, Client() as client:
        first = RequestTarget(endpoint.url + "/v1", method="GET")
        for path in ("/a", "/b?c=1", "/d"):
            await client.post(first.at(endpoint.url + path), None, msgspec.json.decode)
        await post(client, endpoint)
        assert endpoint.connections == 1
    assert [request.path for request in endpoint.requests] == ["/a", "/b?c=1", "/d", "/v1"]
    assert "content-length" not in endpoint.requests[0].headers


async def test_an_answer_before_all_was_sent_is_heard_and_the_connection_not_used_again() -> None:
    tasks: list[asyncio.Task[None] | None] = []
    over = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.append(asyncio.current_task())
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        await over.wait()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, Client(policy=ONCE) as client:
        for _ in range(2):
            with pytest.raises(NotAccepted):
                await client.post(RequestTarget(url), b"x" * 30_000_000, msgspec.json.decode)
        over.set()
        await asyncio.gather(*(task for task in tasks if task is not None))
    assert len(tasks) == 2, "one connection each"


async def test_a_request_cut_short_leaves_nothing_behind() -> None:
    async with Endpoint(pieces(PLAIN, pause=0.2), data({"a": 2})) as endpoint, Client(policy=ONCE) as client:
        hanging = asyncio.create_task(post(client, endpoint))
        await asyncio.sleep(0)
        hanging.cancel()
        await asyncio.gather(hanging, return_exceptions=True)
        assert await asyncio.gather(*(post(client, endpoint) for _ in range(3)))
        assert client.endpoint(RequestTarget(endpoint.url)).in_flight == 0


async def test_the_time_limit_of_a_body_is_that_of_the_request() -> None:
    head = OK + b"Content-Length: 700\r\n\r\n" + BODY
    async with Endpoint(pieces(head, pause=5.0)) as endpoint, Client(policy=ONCE) as client:
        with pytest.raises(ProctorError) as raised:
            await post(client, endpoint, terms=RequestTerms(seconds=0.05))
    assert getattr(raised.value, "kind", "") == "timeout"


@pytest.mark.parametrize(
    "headers",
    [{"X-Secret": "abc\r\nHost: evil"}, {"X-Secret": "abc\0"}, {"X Secret": "abc"}, {"X:Secret": "abc"}, {"": "abc"}],
)
def test_a_header_that_would_break_out_of_its_line_is_refused_without_showing_it(headers: dict[str, str]) -> None:
    with pytest.raises(BadInput, match="cannot be sent") as raised:
        RequestTarget("http://localhost/v1", headers=headers)
    assert "abc" not in str(raised.value)


async def test_headers_are_sent_as_given_and_framing_is_ours() -> None:
    headers = {"X-Name": "Zoë", "content-length": "3", "Transfer-Encoding": "chunked", "Accept": "text/x"}
    async with Endpoint(chat()) as endpoint, Client() as client:
        await post(client, endpoint, b"{   }", headers=headers)
    (request,) = endpoint.requests
    assert request.body == b"{   }"
    assert request.headers["x-name"].encode("latin-1").decode() == "Zoë"
    assert request.headers["accept"] == "text/x"
    assert "transfer-encoding" not in request.headers
    assert request.headers["host"] == endpoint.url.removeprefix("http://")
