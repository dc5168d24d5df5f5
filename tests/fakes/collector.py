"""An OTLP receiver over HTTP: keeps the spans it is sent, and misbehaves on demand."""

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class OtlpReceiver:
    """A receiver in a thread of its own.

    Args:
        status: what it answers, with `location` in the header of that name.
        hangs: it answers nothing until it is closed.

    Attributes:
        spans: those it was sent, in the form of JSON.
        headers: those of each request, with small letters.
    """

    def __init__(self, *, status: int = 200, hangs: bool = False, location: str = "") -> None:
        self.status, self.hangs, self.location = status, hangs, location
        self.spans: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.resources: list[dict[str, Any]] = []
        self.asked, self.closing = threading.Event(), threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, name="otlp-receiver", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def take(self, body: bytes) -> None:
        for resource in MessageToDict(ExportTraceServiceRequest.FromString(body))["resourceSpans"]:
            self.resources.append(resource["resource"])
            self.spans += [span for scope in resource["scopeSpans"] for span in scope["spans"]]


def _handler(receiver: OtlpReceiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.asked.set()
            receiver.paths.append(self.path)
            receiver.headers.append({name.lower(): value for name, value in self.headers.items()})
            if receiver.hangs:
                receiver.closing.wait(60)
                return
            if receiver.status == 200:
                receiver.take(gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body)
            self.send_response(receiver.status)
            if receiver.location:
                self.send_header("Location", receiver.location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
