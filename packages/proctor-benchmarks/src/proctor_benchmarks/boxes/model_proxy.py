"""Pass the requests of an agent in a box on to its model, and count them: the key stays outside, and nothing else is reached.

The agent's program talks to 127.0.0.1 in its box. A forwarder there carries that to a Unix socket in a folder that the box only
reads, where this proxy answers. It takes the four protocols of chat models, and no other path of the provider; what the provider
would fetch, search or run for the agent is refused (`model_requests.py`).
"""

import http.client
import json
import socket
import socketserver
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from proctor.core.trajectory import Usage
from proctor_benchmarks.boxes.forwarding import MODEL
from proctor_benchmarks.boxes.model_requests import (
    ModelRequest,
    RequestRefused,
    check_body,
    check_target,
    plain_request,
)

ADDRESS = f"http://127.0.0.1:{MODEL.port}"
UPSTREAM_SECONDS = 600.0
MOST_REQUEST_BYTES = 64 << 20
MOST_MODELS = 20  # whose requests are counted apart
_MOST_DIGITS = 12  # of a length
KEPT_REPLY_BYTES = 8 << 20  # of which usage is read, half of it from the end
MOST_BEGUN = 1_000  # requests whose time is known
SETTLE_STEP_SECONDS = 0.02
PLAIN_SECONDS = 60.0
ANTHROPIC_VERSION = "2023-06-01"
_OWN_HEADERS = {"host", "connection", "content-length", "transfer-encoding", "accept-encoding", "content-encoding", "content-type", "authorization", "x-api-key", "x-goog-api-key"}  # fmt: skip


class ModelExchange(msgspec.Struct, kw_only=True, eq=False):
    """A request that was passed on, and what has come back.

    Attributes:
        status: 0 until there is a reply.
        reply: its beginning and its end.
        is_whole: true once all of it has come.
        error: what broke it off.
    """

    path: str
    model: str
    begun: float
    connection: http.client.HTTPConnection
    status: int = 0
    reply: bytearray = msgspec.field(default_factory=bytearray)
    is_whole: bool = False
    error: str = ""

    def keep(self, piece: bytes) -> None:
        self.reply += piece
        if len(self.reply) > 2 * KEPT_REPLY_BYTES:
            del self.reply[KEPT_REPLY_BYTES // 2 : -KEPT_REPLY_BYTES // 2]


class ModelCount(msgspec.Struct, kw_only=True):
    """What passed the proxy.

    Attributes:
        requests, usage, models: also of requests under way; usage as far as it was reported, and requests by model.
        unmetered: requests whose usage is not, or not fully, known: they are under way, broke off, or their reply has none.
        refused: requests that were not passed on.
        was_refused_last: true if no request was passed on after one that was refused.
        last_status: of the reply to the request that began last; 0 if it broke off, None if there was none.
        last_path, last_model: what was asked for by that request.
        in_a_minute: how many requests began in the minute before that reply.
    """

    requests: int = 0
    usage: Usage = Usage()
    models: dict[str, int] = {}
    unmetered: int = 0
    refused: int = 0
    was_refused_last: bool = False
    last_status: int | None = None
    last_path: str = ""
    last_model: str = ""
    in_a_minute: int = 0

    def add(self, exchange: ModelExchange) -> None:
        usage = usage_of(bytes(exchange.reply))
        self.requests += 1
        self.usage = self.usage + usage
        if exchange.model in self.models or len(self.models) < MOST_MODELS:
            self.models[exchange.model] = self.models.get(exchange.model, 0) + 1
        is_billed = exchange.status in range(200, 300) and not exchange.path.endswith("/count_tokens")
        if not exchange.is_whole or (is_billed and not (usage.input_tokens or usage.output_tokens)):
            self.unmetered += 1


class ModelProxy:
    """Answers at a Unix socket while it is open.

    Args:
        upstream: the base address of the provider, without the path of a protocol.
        key: goes into each request; None for a server that needs none.
    """

    def __init__(self, folder: Path, upstream: str, key: str | None) -> None:
        self._folder = folder
        self._upstream = upstream
        self._key = key
        self._lock = threading.Lock()  # of what follows, which the threads of all requests change
        self._is_taking = True
        self._ended = ModelCount()
        self._open: list[ModelExchange] = []
        self._begun: deque[float] = deque(maxlen=MOST_BEGUN)
        self._refused_at = self._last_begun = 0.0

    @property
    def count(self) -> ModelCount:
        """Return what has passed until now."""
        with self._lock:
            count = msgspec.structs.replace(self._ended, models=dict(self._ended.models))
            for exchange in self._open:
                count.add(exchange)
            return count

    def __enter__(self) -> "ModelProxy":
        def answer(asked: BaseHTTPRequestHandler) -> None:
            self.pass_on(asked)

        methods = {"do_POST": answer, "log_message": _say_nothing, "address_string": _name_the_client}
        handler = type("ModelHandler", (BaseHTTPRequestHandler,), {"protocol_version": "HTTP/1.1", **methods})

        class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
            daemon_threads = True

        path = self._folder / MODEL.socket
        self._server = Server(str(path), handler)
        path.chmod(0o666)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        (self._folder / MODEL.socket).unlink(missing_ok=True)
        with self._lock:
            for exchange in self._open:  # nobody waits for the rest of the reply
                with suppress(OSError, AttributeError):
                    exchange.connection.sock.shutdown(socket.SHUT_RDWR)

    def begin_turn(self) -> None:
        """Take requests, and begin their count again."""
        with self._lock:
            self._is_taking, self._ended = True, ModelCount()

    def end_turn(self) -> None:
        """Refuse what a program left running asks for, as it would be in no count."""
        with self._lock:
            self._is_taking = False

    def settle(self, seconds: float) -> None:
        """Wait for the replies that are still to come, so that they are counted though their program was ended."""
        deadline = time.monotonic() + seconds
        while self._open and time.monotonic() < deadline:
            time.sleep(SETTLE_STEP_SECONDS)

    def pass_on(self, asked: BaseHTTPRequestHandler) -> None:
        """Send a request to the provider and its reply back, as it comes."""
        try:
            path, query = check_target(asked.path, dict(asked.headers.items()))
            request = check_body(path, _read_body(asked))
            if not self._is_taking:
                raise RequestRefused(403, "the program has ended")
        except RequestRefused as refused:
            with self._lock:
                self._ended.refused += 1
                self._ended.was_refused_last = True
                self._refused_at = time.monotonic()
            asked.send_error(refused.status, str(refused))
            return
        headers = {name: value for name, value in asked.headers.items() if name.lower() not in _OWN_HEADERS}
        exchange = self._exchange(path + (f"?{query}" if query else ""), request, headers, asked)
        if exchange.status == 0:
            asked.send_error(502, exchange.error)
        elif exchange.is_whole:
            with suppress(OSError):
                asked.wfile.write(b"0\r\n\r\n")  # what was counted is counted when the program sees the end
        else:
            asked.close_connection = True

    def find_status(self, model: str) -> int:
        """Return the status of a plain request of ours for a model, in the protocol of the last request that was passed on."""
        path, request = plain_request(self._ended.last_path, model)
        return self._exchange(path, request, {"anthropic-version": ANTHROPIC_VERSION}, None, PLAIN_SECONDS).status

    def _exchange(self, target: str, request: ModelRequest, headers: Mapping[str, str], asked: BaseHTTPRequestHandler | None, seconds: float = UPSTREAM_SECONDS) -> ModelExchange:  # fmt: skip
        """Send a request to the provider, and what comes back to who asked."""
        where, path = urlsplit(self._upstream), target.partition("?")[0]
        kind = http.client.HTTPSConnection if where.scheme == "https" else http.client.HTTPConnection
        exchange = ModelExchange(path=path, model=request.model, begun=time.monotonic(), connection=kind(where.netloc, timeout=seconds))  # fmt: skip
        with self._lock:
            self._open.append(exchange)
            self._begun.append(exchange.begun)
        try:
            headers = {**headers, "content-type": "application/json", **_key_header(path, self._key)}
            exchange.connection.request("POST", where.path.rstrip("/") + target, request.body, headers)
            response = exchange.connection.getresponse()
            exchange.status = response.status
            _begin_reply(asked, response)
            while piece := response.read1(1 << 16):
                with self._lock:
                    exchange.keep(piece)
                _send_piece(asked, piece)
            exchange.is_whole = True
        except (OSError, http.client.HTTPException) as error:
            exchange.error = type(error).__name__
        finally:
            exchange.connection.close()
            self._end(exchange)
        return exchange

    def _end(self, exchange: ModelExchange) -> None:
        with self._lock:
            self._open.remove(exchange)
            count, now = self._ended, time.monotonic()
            count.add(exchange)
            if exchange.begun < self._last_begun:
                return  # a program that has seen its status asked again before it ended
            self._last_begun = exchange.begun
            count.was_refused_last = self._refused_at > exchange.begun
            count.last_status = exchange.status if exchange.is_whole else 0
            count.last_path, count.last_model = exchange.path, exchange.model
            count.in_a_minute = sum(begun > now - 60 for begun in self._begun)


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


def _begin_reply(asked: BaseHTTPRequestHandler | None, response: http.client.HTTPResponse) -> None:
    """Send the beginning of a reply, which comes in pieces; it is read also if nobody listens any more."""
    if asked is None:
        return
    asked.send_response(response.status)
    asked.send_header("content-type", response.headers.get("content-type", "application/json"))
    asked.send_header("transfer-encoding", "chunked")
    with suppress(OSError):
        asked.end_headers()


def _send_piece(asked: BaseHTTPRequestHandler | None, piece: bytes) -> None:
    if asked is not None:
        with suppress(OSError):
            asked.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            asked.wfile.flush()


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


def _counts(value: object) -> Iterator[Mapping[str, object]]:
    """Yield what a value calls its usage, or that of the message or response in it."""
    for holder in (value, *(value.get(name) for name in ("message", "response") if isinstance(value, dict))):
        for name in ("usage", "usageMetadata"):
            if isinstance(holder, dict) and isinstance(holder.get(name), dict):
                yield holder[name]
