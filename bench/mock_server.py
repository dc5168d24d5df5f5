"""An OpenAI-compatible endpoint that costs almost no CPU, for measuring what a client costs.

    python bench/mock_server.py --port 0 --latency-ms 50 --port-file /tmp/port

POST …/chat/completions answers after the latency; the reply is a pure function of the conversation: the sum for a
prompt with "A + B" (one too many when the sum is a multiple of `wrong_every`), else a checksum of the last message.
GET /stats gives counters, POST /reset zeroes them, POST /config sets the fields of `Settings`. Faults are drawn from
a seeded sequence, so the same order of requests gets the same faults.
"""

import argparse
import asyncio
import json
import os
import re
import resource
import signal
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import msgspec

SUM = re.compile(r"(\d+) \+ (\d+)")
FAULTS = ("429", "500", "503", "reset", "cut", "bad_json", "html", "hang")
HTML = b"<html><head><title>Bad gateway</title></head><body>try later</body></html>"


class Settings(msgspec.Struct):
    """What can be changed while it runs. Shares of the faults are between 0 and 1, and add up."""

    latency_ms: float = 50.0
    jitter_ms: float = 0.0
    rate_429: float = 0.0
    rate_500: float = 0.0
    rate_503: float = 0.0
    rate_reset: float = 0.0
    rate_cut: float = 0.0
    rate_bad_json: float = 0.0
    rate_html: float = 0.0
    rate_hang: float = 0.0
    retry_after: float = 0.05
    capacity: int = 0  # requests in flight above this get a 429; 0 is no limit
    tool_calls: bool = False
    wrong_every: int = 10


class Counters(msgspec.Struct):
    """What happened since the last reset."""

    requests: int = 0
    in_flight: int = 0
    max_in_flight: int = 0
    connections: int = 0
    s200: int = 0
    s429: int = 0
    s500: int = 0
    faults: int = 0
    first: float = 0.0
    last: float = 0.0


class Function(msgspec.Struct):
    name: str
    parameters: dict[str, Any] = {}


class Tool(msgspec.Struct):
    function: Function


class Message(msgspec.Struct):
    role: str = "user"
    content: str | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "".join(str(part.get("text", "")) for part in self.content)
        return self.content or ""


class Request(msgspec.Struct):
    model: str = "mock"
    messages: list[Message] = []
    tools: list[Tool] = []
    stream: bool = False
    stream_options: dict[str, Any] = {}


settings = Settings()
counters = Counters()
_decoder = msgspec.json.Decoder(Request)
_encode = msgspec.json.Encoder().encode
_seed = 0x2545F491


def answer(text: str) -> str:
    """What the model says to a text.

    >>> answer("What is 2 + 3?"), answer("5 + 5")
    ('5', '11')
    """
    sums = SUM.findall(text)
    if not sums:
        return f"{zlib.crc32(text.encode()):08x}"
    total = int(sums[-1][0]) + int(sums[-1][1])  # the last one counts, as examples come first
    return str(total + (settings.wrong_every > 0 and total % settings.wrong_every == 0))


def completion(request: Request) -> bytes:
    """The complete response to a request."""
    last = request.messages[-1] if request.messages else Message()
    reason, message = "stop", {"role": "assistant", "content": answer(last.text)}
    if settings.tool_calls and request.tools and last.role != "tool":
        reason, message = "tool_calls", _tool_call(request.tools[0].function, last.text)
    words = sum(len(one.text) for one in request.messages) // 4 + 1
    usage = {"prompt_tokens": words, "completion_tokens": 3, "total_tokens": words + 3}
    head = {"id": f"chatcmpl-{counters.requests}", "created": 1700000000, "model": request.model}
    if not request.stream:
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return response(200, _encode({**head, "object": "chat.completion", "choices": [choice], "usage": usage}))
    events: list[dict[str, Any]] = [
        {**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
    ]
    if request.stream_options.get("include_usage"):
        events.append({**head, "choices": [], "usage": usage})
    data = b"".join(b"data: %s\n\n" % _encode(event) for event in events)
    return response(200, data + b"data: [DONE]\n\n", "text/event-stream")


def response(status: int, body: bytes, kind: str = "application/json", extra: str = "") -> bytes:
    """A response as it goes over the wire."""
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{extra}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Connection(asyncio.Protocol):
    """One keep-alive connection; requests with a Content-Length, also several at once."""

    def __init__(self) -> None:
        self.buffer = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's are no subclass
        counters.connections += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end]
            found = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
            stop = end + 4 + (int(found[1]) if found else 0)
            if len(self.buffer) < stop:
                return
            body, self.buffer = self.buffer[end + 4 : stop], self.buffer[stop:]
            self.handle(head.split(b" ", 2)[1].partition(b"?")[0].decode(), body)

    def handle(self, path: str, body: bytes) -> None:
        if not path.endswith("/chat/completions"):
            self.write(_control(path, body))
            return
        counters.requests += 1
        counters.in_flight += 1
        counters.max_in_flight = max(counters.max_in_flight, counters.in_flight)
        counters.first = counters.first or time.time()
        send = self.prepared(body)
        wait = (settings.latency_ms + (settings.jitter_ms * _draw() if settings.jitter_ms else 0.0)) / 1000
        if wait:
            asyncio.get_running_loop().call_later(wait, self.finish, send)
        else:
            self.finish(send)

    def prepared(self, body: bytes) -> Callable[[], None]:
        """What to do when the latency is over."""
        fault = _fault()
        if settings.capacity and counters.in_flight > settings.capacity:
            fault = "429"
        if fault is None:
            counters.s200 += 1
            reply = completion(_decoder.decode(body))
            return lambda: self.write(reply)
        counters.faults += 1
        if fault in ("429", "500", "503"):
            counters.s429 += fault == "429"
            counters.s500 += fault == "500"
            wait = f"Retry-After: {settings.retry_after:g}\r\n" if fault != "500" else ""
            failure = response(int(fault), _encode({"error": {"message": "on demand", "code": fault}}), extra=wait)
            return lambda: self.write(failure)
        if fault == "reset":
            return self.abort
        if fault == "hang":
            return lambda: None
        whole = completion(_decoder.decode(body))
        if fault == "cut":
            return lambda: self.abort(whole[:-20])
        page = response(200, HTML, "text/html") if fault == "html" else response(200, b'{"choices": [')
        return lambda: self.write(page)

    def finish(self, send: Callable[[], None]) -> None:
        counters.in_flight -= 1
        counters.last = time.time()
        send()

    def write(self, data: bytes) -> None:
        if self.transport is not None:
            self.transport.write(data)

    def abort(self, last: bytes = b"") -> None:
        self.write(last)
        if self.transport is not None:
            self.transport.close()


def _tool_call(function: Function, text: str) -> dict[str, Any]:
    numbers = re.findall(r"\d+", text)
    arguments = _filled(function.parameters, numbers, 0)
    call = {"name": function.name, "arguments": json.dumps(arguments)}
    id = f"call_{zlib.crc32(text.encode()):08x}"
    return {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": call}]}


def _filled(schema: dict[str, Any], numbers: list[str], place: int) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "integer" | "number":
            return int(numbers[place % len(numbers)]) if numbers else place
        case "boolean":
            return True
        case "array":
            return [_filled(schema.get("items", {}), numbers, place)]
        case "object" | None:
            fields = schema.get("properties", {})
            return {name: _filled(field, numbers, number) for number, (name, field) in enumerate(fields.items())}
    return "x"


def _draw() -> float:
    global _seed  # noqa: PLW0603 - one sequence for the server
    _seed = (_seed * 1103515245 + 12345) & 0x7FFFFFFF
    return _seed / 0x7FFFFFFF


def _fault() -> str | None:
    if not any(getattr(settings, f"rate_{name}") for name in FAULTS):
        return None
    drawn = _draw()
    for name in FAULTS:
        drawn -= getattr(settings, f"rate_{name}")
        if drawn < 0:
            return name
    return None


def _control(path: str, body: bytes) -> bytes:
    global settings, counters, _seed  # noqa: PLW0603 - one server in a process
    if path.endswith("/models"):
        return response(200, _encode({"object": "list", "data": [{"id": "mock", "object": "model"}]}))
    if path == "/stats":
        use = resource.getrusage(resource.RUSAGE_SELF)
        more = {"cpu_s": use.ru_utime + use.ru_stime, "rss_kb": use.ru_maxrss, "pid": os.getpid()}
        return response(200, _encode({**msgspec.to_builtins(counters), **more}))
    if path == "/reset":
        counters, _seed = Counters(in_flight=counters.in_flight), 0x2545F491
        return response(200, b"{}")
    if path == "/config":
        settings = msgspec.convert({**msgspec.to_builtins(settings), **msgspec.json.decode(body or b"{}")}, Settings)
        return response(200, b"{}")
    return response(404, b'{"error": {"message": "not found"}}')


async def serve(port: int, port_file: Path | None) -> None:
    """Serve on the loopback address until SIGTERM or SIGINT."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", port, backlog=4096)
    bound = server.sockets[0].getsockname()[1]
    if port_file is not None:
        written = port_file.with_suffix(".tmp")
        written.write_text(f"{bound} {os.getpid()}\n")
        written.replace(port_file)
    print(f"http://127.0.0.1:{bound}/v1", flush=True)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await stop.wait()
    server.close()


def main() -> None:
    """Read the arguments and serve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file", type=Path)
    for field in msgspec.structs.fields(Settings):
        flag = "--" + field.name.replace("_", "-")
        if field.type is bool:
            parser.add_argument(flag, action="store_true")
        else:
            parser.add_argument(flag, type=float if field.type is float else int, default=field.default)
    given = vars(parser.parse_args())
    port, port_file = given.pop("port"), given.pop("port_file")
    for name, value in given.items():
        setattr(settings, name, value)
    try:
        import uvloop
    except ImportError:
        asyncio.run(serve(port, port_file))
    else:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve(port, port_file))


if __name__ == "__main__":
    main()
