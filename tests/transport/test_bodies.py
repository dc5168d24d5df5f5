"""Bodies as they come in: unpacked in bounded memory, read no faster than they are used, ended at once when cancelled."""

import asyncio
import gzip
import time
import tracemalloc
import zlib
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from endpoint import Answer, Endpoint, Request, body, chat, data, raw
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.errors import ProviderFailed
from proctor.transport import retry
from proctor.transport.client import Client
from proctor.transport.faults import RequestFault
from proctor.transport.retry import RetryPolicy
from proctor.transport.target import RequestTarget
from proctor.transport.terms import RequestTerms
from proctor.transport.unpacking import PIECE_BYTES, Unpacker

ONCE = RetryPolicy(attempts=1)
JSON = b'{"a":1}'


def raw_deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(content) + packer.flush()


async def post(client: Client, endpoint: Endpoint, **more: Any) -> Any:
    return await client.post(RequestTarget(endpoint.url + "/v1", **more), b"{}", msgspec.json.decode)


@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        ("gzip", gzip.compress(JSON, mtime=0)),
        ("x-gzip", gzip.compress(JSON, mtime=0)),
        ("GZIP", gzip.compress(JSON[:3], mtime=0) + gzip.compress(JSON[3:], mtime=0)),
        ("deflate", zlib.compress(JSON)),
        ("deflate", raw_deflate(JSON)),
        ("identity", JSON),
    ],
)
async def test_every_packing_that_we_accept_is_unpacked(coding: str, packed: bytes) -> None:
    async with Endpoint(body(packed, content_encoding=coding)) as endpoint, Client(policy=ONCE) as client:
        assert await post(client, endpoint) == {"a": 1}
    assert endpoint.requests[0].headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize(
    ("coding", "packed", "kind", "said"),
    [
        ("gzip", gzip.compress(JSON, mtime=0)[:-4], "truncated", "the body of the reply breaks off"),
        ("gzip", gzip.compress(JSON, mtime=0) + b"more", "truncated", "incorrect header"),
        ("gzip", JSON, "truncated", "incorrect header"),
        ("deflate", b"\xff" * 9, "truncated", "invalid"),
        ("br", JSON, "no_reply", "its body is encoded as 'br', which was not accepted"),
        ("gzip, gzip", gzip.compress(gzip.compress(JSON, mtime=0), mtime=0), "no_reply", "not accepted"),
    ],
)
async def test_a_packing_that_is_damaged_or_unknown_is_said(coding: str, packed: bytes, kind: str, said: str) -> None:
    async with Endpoint(body(packed, content_encoding=coding)) as endpoint, Client(policy=ONCE) as client:
        with pytest.raises(ProviderFailed, match=said) as raised:
            await post(client, endpoint)
    assert raised.value.kind == kind


@given(st.lists(st.binary(max_size=300), max_size=4), st.sampled_from(["gzip", "zlib", "raw"]), st.data())
def test_a_packed_body_is_the_same_however_it_is_cut(parts: list[bytes], form: str, data: st.DataObject) -> None:
    content = b"".join(parts)
    packed = {
        "gzip": b"".join(map(gzip.compress, parts)),
        "zlib": zlib.compress(content),
        "raw": raw_deflate(content),
    }[form]
    unpacker = Unpacker("gzip" if form == "gzip" else "deflate")
    cuts = [0, *sorted(data.draw(st.lists(st.integers(0, len(packed)), max_size=9))), len(packed)]
    pieces = [piece for i in range(len(cuts) - 1) for piece in unpacker.feed(packed[cuts[i] : cuts[i + 1]])]
    unpacker.check_end()
    assert b"".join(pieces) == content


def test_no_piece_of_an_unpacked_body_is_large() -> None:
    sizes = [len(piece) for piece in Unpacker("gzip").feed(gzip.compress(bytes(10_000_000)))]
    assert sum(sizes) == 10_000_000
    assert max(sizes) <= PIECE_BYTES


@pytest.mark.parametrize("status", [200, 500])
async def test_a_bomb_stops_at_the_limit_in_flat_memory(status: int) -> None:
    packer = zlib.compressobj(wbits=31)
    bomb = b"".join(packer.compress(bytes(1_000_000)) for _ in range(100)) + packer.flush()  # 100 MB in 100 kB
    async with (
        Endpoint(body(bomb, status, content_encoding="gzip")) as endpoint,
        Client(policy=ONCE, most_reply_bytes=1_000_000) as client,
    ):
        tracemalloc.start()
        with pytest.raises(ProviderFailed):
            await post(client, endpoint)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 8_000_000


async def test_a_server_that_sends_faster_than_we_read_has_to_wait() -> None:
    sent = 0
    piece = b"10000\r\n" + b"x" * 65_536 + b"\r\n"

    async def pour(request: Request, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(400):
            writer.write(piece)
            await writer.drain()
            sent += 65_536
        writer.write(b"0\r\n\r\n")

    async with Endpoint(pour) as endpoint, Client() as client:
        target = RequestTarget(endpoint.url, terms=RequestTerms(first_byte_seconds=1.0))
        reply = await client._sender(target).send(b"{}")
        await asyncio.sleep(1.5)  # longer than the silence that is allowed: it is ours, and not the server's
        before = sent
        size = 0
        async for part in reply.pieces(10**9):
            size += len(part)
        reply.close()
        assert await client.post(RequestTarget(endpoint.url), b"{}", len) == size
    assert before < 15_000_000, "what the system holds, and little more"
    assert size == 400 * 65_536
    assert endpoint.connections == 1


def dripping(pieces: Iterable[bytes], seconds: float) -> Answer:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(seconds)

    return answer


async def test_the_silence_that_is_allowed_is_that_between_two_parts() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"
    pieces = [head, *(JSON[i : i + 1] for i in range(len(JSON)))]
    async with Endpoint(dripping(pieces, 0.3)) as endpoint, Client(policy=ONCE) as client:
        assert await post(client, endpoint, terms=RequestTerms(first_byte_seconds=1.5)) == {"a": 1}
    async with Endpoint(dripping(pieces, 60.0)) as endpoint, Client(policy=ONCE) as client:
        started = time.monotonic()
        with pytest.raises(ProviderFailed) as raised:
            await post(client, endpoint, terms=RequestTerms(first_byte_seconds=0.1))
    assert raised.value.kind == "timeout"
    assert time.monotonic() - started < 50


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"])
async def test_a_call_that_is_cancelled_closes_its_connection_at_once(start: bytes) -> None:
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n{}")
        writer.write(start)
        await reader.read()
        writer.close()
        ended.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, Client() as client:
        call = asyncio.create_task(client.post(RequestTarget(url), b"{}", bytes))
        await asyncio.sleep(0.1)
        call.cancel()
        async with asyncio.timeout(60):
            await ended.wait()
        assert call.cancelled()


async def test_a_request_on_a_connection_that_ends_without_a_reply_counts_as_one() -> None:
    made = retry.record_calls()
    async with Endpoint(data({}), raw(b""), chat()) as endpoint, Client() as client:
        await post(client, endpoint)
        await post(client, endpoint)
        assert client.allowance.sent == len(endpoint.requests) == 3
    (call,) = made
    assert call.cause.startswith("reset: ")
    assert endpoint.connections == 2


async def test_a_reply_that_ends_with_its_connection_is_whole() -> None:
    whole = b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + JSON
    async with Endpoint(raw(whole)) as endpoint, Client(policy=ONCE) as client:
        assert [await post(client, endpoint) for _ in range(2)] == [{"a": 1}] * 2
    assert endpoint.connections == 2


async def test_a_request_for_a_head_waits_for_no_body() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"
    async with Endpoint(dripping([head], 0.0)) as endpoint, Client(policy=ONCE) as client:
        target = RequestTarget(endpoint.url, method="HEAD")
        assert [await client.post(target, None, len) for _ in range(3)] == [0] * 3
    assert endpoint.connections == 1


async def test_a_late_reply_is_nobody_elses() -> None:
    """The first request runs into its time limit; its reply comes while the second one waits."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.1 if request.body == b"1" else 0.2)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + request.body)

    async with Endpoint(answer) as endpoint, Client(policy=ONCE) as client:
        with pytest.raises(ProviderFailed):
            await client.post(RequestTarget(endpoint.url, terms=RequestTerms(seconds=0.05)), b"1", bytes)
        assert await client.post(RequestTarget(endpoint.url), b"2", bytes) == b"2"


def test_what_is_read_at_the_end_of_an_empty_body_is_nothing() -> None:
    unpacker = Unpacker("gzip")
    assert list(unpacker.feed(b"")) == []
    unpacker.check_end()
    with pytest.raises(RequestFault, match="no_reply"):
        Unpacker("zstd")
