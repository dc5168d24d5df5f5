"""Requests that break off, come from strangers, or never come to their end, at the real server."""

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import review_data
from review_site import Site

from proctor_web import _impatient, guard
from proctor_web.serving import listen, make_server
from proctor_web.users.ledger import Person

SAVED = "status=approved&" + "&".join(f"score:{name}={score}" for name, score in review_data.SCORES.items())


class Running(NamedTuple):
    """A review that is being served."""

    site: Site
    port: int
    token: str


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    monkeypatch.setattr(_impatient, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.3)
    site = Site(review_data.write(tmp_path))
    on = listen(17_860)
    server = make_server(site.app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [on]})
    thread.start()
    yield Running(site, on.getsockname()[1], site.access.token(Person(name="")))
    server.should_exit = True
    thread.join()
    on.close()


def head(running: Running, length: int, *, token: str | None = None) -> bytes:
    lines = [
        "POST /items/1 HTTP/1.1",
        f"Host: 127.0.0.1:{running.port}",
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {length}",
        f"Authorization: Bearer {running.token if token is None else token}",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def exchange(running: Running, data: bytes, *, ends: bool = False) -> tuple[bytes, float]:
    """What the server answers until it closes the connection, and after how many seconds; `ends` closes our half."""
    started = time.monotonic()
    with socket.create_connection(("127.0.0.1", running.port), timeout=8) as way:
        way.sendall(data)
        if ends:
            way.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := way.recv(65_536):
            answer += piece
            if b"\r\n\r\n" in answer and b" 303 " in answer:
                break
    return answer, time.monotonic() - started


def test_a_write_that_comes_whole_is_saved(running: Running) -> None:
    body = f"{SAVED}&comments=this+comment+is+whole".encode()
    answer, _ = exchange(running, head(running, len(body)) + body)
    assert b" 303 " in answer
    assert "whole" in running.site.review.file.read_text(encoding="utf-8")


@pytest.mark.parametrize("ends", [True, False])
def test_a_write_that_breaks_off_or_stalls_is_not_saved(running: Running, ends: bool) -> None:
    body = f"{SAVED}&comments=this+comment+is+cut+off+here+and".encode()
    answer, seconds = exchange(running, head(running, len(body) + 50) + body, ends=ends)
    assert b" 303 " not in answer
    assert seconds < 5
    time.sleep(0.1)
    assert not running.site.review.file.exists()


def test_of_a_stranger_no_body_is_waited_for(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BODY_SECONDS", 60)
    answer, seconds = exchange(running, head(running, 200_000, token="none") + b"x" * 1000)
    assert answer.startswith(b"HTTP/1.1 401")
    assert seconds < 8, "refused before the time for a body is over"


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "])
def test_a_request_that_never_gets_on_is_ended(running: Running, begun: bytes) -> None:
    _, seconds = exchange(running, begun)
    assert 0.2 < seconds < 5
