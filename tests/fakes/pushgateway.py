"""A Prometheus push gateway as far as a push meets it: groups by path, basic authentication, bodies that must parse."""

import base64
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import unquote

from prometheus_client.parser import text_string_to_metric_families

Labels = tuple[tuple[str, str], ...]


class PushGateway:
    """A gateway in a thread of its own.

    Attributes:
        groups: what was pushed last, by the path of its group: {(name, labels): value}.
    """

    def __init__(self, *, username: str = "", password: str = "") -> None:
        self.groups: dict[str, dict[tuple[str, Labels], float]] = {}
        self.wants = f"Basic {base64.b64encode(f'{username}:{password}'.encode()).decode()}" if username else None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, name="pushgateway", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def value(self, name: str, **labels: str) -> float | None:
        """A value of the one group there is."""
        [group] = self.groups.values()
        return group.get((name, tuple(sorted(labels.items()))))

    def labels(self, name: str, label: str) -> list[str]:
        """The values of a label of a gauge, in order."""
        [group] = self.groups.values()
        return [dict(labels)[label] for key, labels in group if key == name]


def _handler(gateway: PushGateway) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if gateway.wants is not None and self.headers.get("Authorization") != gateway.wants:
                self._end(401)
                return
            families = text_string_to_metric_families(body.decode())
            group = unquote(self.path)
            gateway.groups[group] = {
                (sample.name, tuple(sorted(sample.labels.items()))): sample.value
                for family in families
                for sample in family.samples
            }
            self._end(200)

        def _end(self, status: int) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
