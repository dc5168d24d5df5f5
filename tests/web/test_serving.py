"""Where the pages listen, and what this machine is called there."""

import asyncio
import logging
import socket
import threading
import time
from collections.abc import AsyncIterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from proctor.core.errors import BadInput
from proctor_web import serving


def test_this_machine_only_unless_told_otherwise() -> None:
    with serving.listen(18_860) as on:
        assert serving.is_loopback(on)
        assert serving.names(on, serving.ADDRESS) == ["127.0.0.1"]


def test_every_network_has_an_address_for_links_and_the_name_of_the_machine() -> None:
    with serving.listen(18_870, "0.0.0.0") as on:
        assert not serving.is_loopback(on)
        first, *others = serving.names(on, "0.0.0.0")
        assert first not in ("", "0.0.0.0")
        assert socket.gethostname().lower() in (first, *others)


def test_a_port_that_is_taken_leads_to_the_next() -> None:
    with serving.listen(18_880) as one, serving.listen(one.getsockname()[1]) as other:
        assert other.getsockname()[1] > one.getsockname()[1]


@pytest.mark.parametrize("host", ["no such host", "192.0.2.1", "a" * 300])
def test_an_address_of_another_machine_is_refused(host: str) -> None:
    with pytest.raises(BadInput):
        serving.listen(18_890, host)


async def endless(_: Request) -> Response:
    async def lines() -> AsyncIterator[bytes]:
        yield b"data: one\n\n"
        await asyncio.Event().wait()

    return StreamingResponse(lines(), media_type="text/event-stream")


async def hang(_: Request) -> Response:
    await asyncio.Event().wait()
    raise AssertionError


def test_open_streams_and_answers_that_hang_end_with_the_server_without_an_error(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "SECONDS_TO_ANSWER", 0.5)
    listening = serving.listen(18_890)
    server = serving.make_server(Starlette(routes=[Route("/stream", endless), Route("/hang", hang)]))
    monkeypatch.setattr(logging.getLogger("uvicorn.error"), "propagate", True)
    logging.getLogger("uvicorn.error").addHandler(caplog.handler)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    opened = []
    for path in ("stream", "stream", "hang"):
        one = socket.create_connection(listening.getsockname(), timeout=10)
        one.sendall(f"GET /{path} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
        opened.append(one)
    assert b"200 OK" in opened[0].recv(1_000)
    assert b"200 OK" in opened[1].recv(1_000)
    time.sleep(0.1)  # until the last one hangs
    server.should_exit = True
    thread.join(timeout=serving.SECONDS_TO_FINISH)
    assert not thread.is_alive()
    assert b"503" in opened[2].recv(1_000)
    for one in opened:
        one.close()
    assert [one.getMessage() for one in caplog.records if one.levelno >= logging.ERROR] == []
