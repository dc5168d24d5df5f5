"""A hub on this machine: data sets by name and commit, with the digests that the real one lists, and faults on demand."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import unquote

Files = Mapping[str, bytes]
Fault = Callable[["Handler", bytes], None]
COMMIT = "c0ffee" * 6 + "cafe"


class Hub:
    """What the hub holds.

    Attributes:
        sets: the files of each data set, as they are now.
        token: who gets an answer; everybody when empty.
        faults: what happens instead of a good answer, by the end of the path.
        asked, tokens: the paths that came, and what stood in their `Authorization`.
    """

    def __init__(self, sets: Mapping[str, Files], token: str = "") -> None:
        self.sets = dict(sets)
        self.token = token
        self.faults: dict[str, Fault] = {}
        self.asked: list[str] = []
        self.tokens: list[str | None] = []
        self.url = ""
        self.page = 2

    def listing(self, name: str) -> list[dict[str, object]]:
        """The list of files; every second one as a large file, which has another digest."""
        entries: list[dict[str, object]] = [{"type": "directory", "path": "d", "oid": "0", "size": 0}]
        for number, (path, data) in enumerate(self.sets[name].items()):
            git = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
            entry: dict[str, object] = {"type": "file", "path": path, "size": len(data), "oid": git}
            if number % 2:
                entry |= {
                    "oid": "pointer",
                    "lfs": {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130},
                }
            entries.append(entry)
        return entries


class Handler(BaseHTTPRequestHandler):
    hub: Hub

    def do_GET(self) -> None:
        hub = self.hub
        path, _, query = self.path.partition("?")
        path = unquote(path)
        if self.command == "GET":
            hub.asked.append(path)
        hub.tokens.append(self.headers.get("Authorization"))
        name = "/".join(path.removeprefix("/api").split("/")[2:4])
        if hub.token and self.headers.get("Authorization") != f"Bearer {hub.token}":
            return self.send(b"no", status=401)
        if name not in hub.sets:
            return self.send(b"no", status=404)
        link = ""
        if "/revision/" in path:
            data = json.dumps({"id": name, "sha": COMMIT, "private": False}).encode()
        elif "/tree/" in path:
            start = int(query.rpartition("cursor=")[2]) if "cursor=" in query else 0
            entries = hub.listing(name)
            data = json.dumps(entries[start : start + hub.page]).encode()
            if start + hub.page < len(entries):
                link = f'<{hub.url}{path}?recursive=true&cursor={start + hub.page}>; rel="next"'
        else:
            data = hub.sets[name][path.partition(f"/resolve/{COMMIT}/")[2]]
        for end, fault in hub.faults.items():
            if path.endswith(end):
                return fault(self, data)
        self.send(data, link=link)
        return None

    do_HEAD = do_GET  # noqa: N815 - what the hub's library asks first

    def send(self, data: bytes, *, status: int = 200, length: int | None = None, link: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(data) if length is None else length))
        if link:
            self.send_header("Link", link)
        self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def served(hub: Hub) -> Iterator[str]:
    """The address of a hub."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Here", (Handler,), {"hub": hub}))
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    hub.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub.url
    finally:
        server.shutdown()
        server.server_close()
