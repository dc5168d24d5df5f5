"""The proxy between a program in a box and its model, spoken to at its socket."""

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from proctor_benchmarks.boxes.forwarding import MODEL
from proctor_benchmarks.boxes.model_proxy import ModelProxy

BODY = b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'


class Provider(BaseHTTPRequestHandler):
    """Fails, and ends that reply late; answers from then on."""

    may_end = threading.Event()
    asked: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.asked.append(self.path)
        is_first = len(self.asked) == 1
        self.send_response(503 if is_first else 200)
        self.send_header("content-length", "2")
        self.end_headers()
        if is_first:
            self.may_end.wait(30)
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def provider() -> Iterator[str]:
    Provider.may_end.clear()
    Provider.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    Provider.may_end.set()
    server.shutdown()
    server.server_close()


def _ask(folder: Path, path: str) -> tuple[socket.socket, bytes]:
    """Return a connection on which a request was sent, and the beginning of its reply."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(folder / MODEL.socket))
    head = (
        f"POST {path} HTTP/1.1\r\nhost: model\r\ncontent-type: application/json\r\ncontent-length: {len(BODY)}\r\n\r\n"
    )
    connection.sendall(head.encode() + BODY)
    return connection, connection.recv(100)


def test_a_refused_request_is_the_last_one_though_the_reply_to_one_before_ends_later(
    provider: str, tmp_path: Path
) -> None:
    with ModelProxy(tmp_path, provider, None) as proxy:
        first, failed = _ask(tmp_path, "/v1/chat/completions")
        second, refused = _ask(tmp_path, "/v1/files")
        assert (b" 503 " in failed, b" 403 " in refused) == (True, True)
        Provider.may_end.set()
        proxy.settle(30)
        assert (proxy.count.was_refused_last, proxy.count.last_status) == (True, 503)
        third, _ = _ask(tmp_path, "/v1/chat/completions")
        proxy.settle(30)
        assert not proxy.count.was_refused_last
    for connection in (first, second, third):
        connection.close()


def test_the_last_status_is_that_of_the_request_that_began_last(provider: str, tmp_path: Path) -> None:
    with ModelProxy(tmp_path, provider, None) as proxy:
        first, _ = _ask(tmp_path, "/v1/chat/completions")
        second, _ = _ask(tmp_path, "/v1/chat/completions")
        while proxy.count.last_status is None:
            second.recv(100)
        Provider.may_end.set()
        proxy.settle(30)
        assert (proxy.count.requests, proxy.count.last_status) == (2, 200)
    for connection in (first, second):
        connection.close()
