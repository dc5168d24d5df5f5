"""Pass the requests of an agent in a box on to its model, and count them: the key stays outside, and nothing else is reached.

The agent's program talks to 127.0.0.1 in its box. A forwarder there carries that to a Unix socket in a folder that the box only
reads, where this proxy answers. It takes the four protocols of chat models, and no other path of the provider; what the provider
would fetch, search or run for the agent is refused (`model_requests.py`).
"""

import http.client
import json
import socketserver
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from proctor.core.trajectory import Usage
from proctor_benchmarks.boxes.model_requests import RequestRefused, check_body, check_target

SOCKET, FORWARDER, PORT = "model.sock", "forward.py", 8700
ADDRESS = f"http://127.0.0.1:{PORT}"
UPSTREAM_SECONDS = 600.0
MOST_REQUEST_BYTES = 64 << 20
MOST_MODELS = 20  # whose requests are counted apart
_MOST_DIGITS = 12  # of a length
KEPT_REPLY_BYTES = 8 << 20  # of which usage is read
_OWN_HEADERS = {"host", "connection", "content-length", "transfer-encoding", "accept-encoding", "content-encoding", "content-type", "authorization", "x-api-key", "x-goog-api-key"}  # fmt: skip
FORWARD = f"""
import socket, threading
def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    try:
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
server = socket.create_server(("127.0.0.1", {PORT}))
while True:
    client, _ = server.accept()
    model = socket.socket(socket.AF_UNIX)
    model.connect("/run/door/{SOCKET}")
    for pair in ((client, model), (model, client)):
        threading.Thread(target=pump, args=pair, daemon=True).start()
"""


class ModelCount(msgspec.Struct, kw_only=True):
    """What passed the proxy: requests, their usage, refused ones, the status of the last reply (0: no reply), and requests by model."""

    requests: int = 0
    usage: Usage = Usage()
    refused: int = 0
    last_status: int | None = None
    models: dict[str, int] = {}


class ModelProxy:
    """Answers at a Unix socket while it is open.

    Args:
        upstream: the base address of the provider, without the path of a protocol.
        key: goes into each request; None for a server that needs none.
    """

    def __init__(self, folder: Path, upstream: str, key: str | None) -> None:
        self.count = ModelCount()
        self._folder = folder
        self._upstream = upstream
        self._key = key
        self._lock = threading.Lock()  # of the count, which the threads of all requests change

    def __enter__(self) -> "ModelProxy":
        def answer(asked: BaseHTTPRequestHandler) -> None:
            self.pass_on(asked)

        methods = {"do_POST": answer, "log_message": _say_nothing, "address_string": _name_the_client}
        handler = type("ModelHandler", (BaseHTTPRequestHandler,), {"protocol_version": "HTTP/1.1", **methods})

        class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
            daemon_threads = True

        path = self._folder / SOCKET
        (self._folder / FORWARDER).write_text(FORWARD, "utf-8")
        self._server = Server(str(path), handler)
        path.chmod(0o666)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        (self._folder / SOCKET).unlink(missing_ok=True)

    def pass_on(self, asked: BaseHTTPRequestHandler) -> None:
        """Send a request to the provider and its reply back, as it comes."""
        try:
            path, query = check_target(asked.path, dict(asked.headers.items()))
            request = check_body(path, _read_body(asked))
        except RequestRefused as refused:
            with self._lock:
                self.count.refused += 1
            asked.send_error(refused.status, str(refused))
            return
        headers = {name: value for name, value in asked.headers.items() if name.lower() not in _OWN_HEADERS}
        headers |= {"content-type": "application/json", **_key_header(path, self._key)}
        where = urlsplit(self._upstream)
        kind = http.client.HTTPSConnection if where.scheme == "https" else http.client.HTTPConnection
        connection = kind(where.netloc, timeout=UPSTREAM_SECONDS)
        target = where.path.rstrip("/") + path + (f"?{query}" if query else "")
        status, reply = 0, b""
        try:
            connection.request("POST", target, request.body, headers)
            response = connection.getresponse()
            status = response.status
            reply = _answer(asked, response)
        except (OSError, http.client.HTTPException) as error:
            if status == 0:
                asked.send_error(502, type(error).__name__)
        finally:
            connection.close()
            with self._lock:
                self.count.requests += 1
                if request.model in self.count.models or len(self.count.models) < MOST_MODELS:
                    self.count.models[request.model] = self.count.models.get(request.model, 0) + 1
                self.count.last_status = status
                self.count.usage = self.count.usage + usage_of(reply)
        if status:
            with suppress(OSError):
                asked.wfile.write(b"0\r\n\r\n")  # what was counted is counted when the program sees the end


def _read_body(asked: BaseHTTPRequestHandler) -> bytes:
    """Return the body of a request.

    Raises:
        RequestRefused: its length is not given, or is too much.
    """
    length = asked.headers.get("content-length", "")
    if not (length.isascii() and length.isdigit()) or len(length) > _MOST_DIGITS or int(length) > MOST_REQUEST_BYTES:
        raise RequestRefused(403, "a body without a length, or one that is too long")
    return asked.rfile.read(int(length))


def _say_nothing(*_: object) -> None:
    """Write no log: requests are the agent's."""


def _name_the_client(_: object) -> str:
    """Return a name for who is at the other end of the socket, which has no address."""
    return "box"


def _answer(asked: BaseHTTPRequestHandler, response: http.client.HTTPResponse) -> bytes:
    """Send a reply on in pieces, all but its end, and return its beginning; it is read also if nobody listens any more."""
    asked.send_response(response.status)
    asked.send_header("content-type", response.headers.get("content-type", "application/json"))
    asked.send_header("transfer-encoding", "chunked")
    asked.end_headers()
    kept = b""
    while piece := response.read1(1 << 16):
        kept += piece[: KEPT_REPLY_BYTES - len(kept)]
        with suppress(OSError):
            asked.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            asked.wfile.flush()
    return kept


def _key_header(path: str, key: str | None) -> dict[str, str]:
    if key is None:
        return {}
    if path.endswith(("/messages", "/count_tokens")):
        return {"x-api-key": key}
    return {"x-goog-api-key": key} if "enerateContent" in path else {"authorization": f"Bearer {key}"}


def usage_of(reply: bytes) -> Usage:
    """Return the usage that a reply of any of the protocols reports, whole or as a stream of events.

    >>> usage_of(b'{"usage": {"prompt_tokens": 7, "completion_tokens": 2}}').output_tokens
    2
    """
    most: dict[str, int] = {}
    for value in _values(reply):
        for counts in _counts(value):
            for name, count in counts.items():
                if isinstance(count, int):
                    most[name] = max(most.get(name, 0), count)
                elif isinstance(count, dict) and isinstance(count.get("cached_tokens"), int):
                    most["cached_tokens"] = max(most.get("cached_tokens", 0), count["cached_tokens"])
    cached, written = most.get("cache_read_input_tokens", 0), most.get("cache_creation_input_tokens", 0)
    return Usage(
        input_tokens=max(most.get("input_tokens", 0) + cached + written, most.get("prompt_tokens", 0), most.get("promptTokenCount", 0)),
        output_tokens=max(most.get("output_tokens", 0), most.get("completion_tokens", 0), most.get("candidatesTokenCount", 0)),
        cached_tokens=max(cached, most.get("cached_tokens", 0), most.get("cachedContentTokenCount", 0)),
        cache_write_tokens=written,
        requests=1,
    )  # fmt: skip


def _values(reply: bytes) -> Iterator[Any]:
    texts = [line[5:] for line in reply.split(b"\n") if line.startswith(b"data:")] or [reply]
    for text in texts:
        with suppress(ValueError, RecursionError):
            yield json.loads(text)


def _counts(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield what a value calls its usage, or that of the message or response in it."""
    for holder in (value, *(value.get(name) for name in ("message", "response") if isinstance(value, dict))):
        for name in ("usage", "usageMetadata"):
            if isinstance(holder, dict) and isinstance(holder.get(name), dict):
                yield holder[name]
