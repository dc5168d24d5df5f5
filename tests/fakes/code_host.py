"""A code host as `proctor ci comment` sees it: the comments of one request, by the API of GitHub and by that of GitLab.

Paths, methods and fields are those of the REST API of GitHub (version 2022-11-28) and of GitLab (v4).
"""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "ghs_this-is-a-secret-token"
ROUTES = re.compile(
    r"/(?:repos/shop/agent/issues/(?:7/comments|comments/(?P<hub>\d+))"
    r"|api/v4/projects/42/merge_requests/7/notes(?:/(?P<lab>\d+))?|(?P<user>api/v4/user))(?:\?per_page=(?P<size>\d+)&page=(?P<page>\d+))?"
)


class CodeHost:
    """Holds the comments, and what was asked; `refuses` makes it answer writes with 403, as tokens of forks are."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.refuses = False
        self.fails = False
        self.loses = 0  # so many comments are made, and answered with 502
        self.listed: Any = None  # in place of the comments
        self.url = ""

    def add(self, body: str, *, stranger: bool = False) -> None:
        """Add a comment, by the job itself or by a stranger."""
        user = {"type": "User" if stranger else "Bot"}
        self.comments.append({"id": len(self.comments) + 1, "body": body, "user": user, "author": {"id": 666 if stranger else 5}, "author_association": "NONE"})  # fmt: skip

    def answer(self, method: str, path: str, token: str, body: Any) -> tuple[int, Any]:
        """Return status and reply."""
        self.asked.append(f"{method} {path}")
        if self.fails:
            return 500, {"message": "broken"}
        if (found := ROUTES.fullmatch(path)) is None:
            return 404, {"message": "Not Found"}
        if token != TOKEN:
            return 401, {"message": "Bad credentials"}
        if found["user"]:
            return 200, {"id": 5}
        if method == "GET":
            if self.listed is not None:
                return 200, self.listed
            size, page = int(found["size"]), int(found["page"])
            return 200, self.comments[size * (page - 1) : size * page]
        if self.refuses:
            return 403, {"message": "Resource not accessible by integration"}
        if len(body["body"]) > 65_536:
            return 422, {"message": "body is too long"}
        if method == "POST":
            self.add(body["body"])
            if self.loses:
                self.loses -= 1
                return 502, {"message": "Bad Gateway"}
            return 201, self.comments[-1]
        assert method == ("PATCH" if found["hub"] else "PUT")
        comment = self.comments[int(found["hub"] or found["lab"]) - 1]
        comment["body"] = body["body"]
        return 200, comment


@contextmanager
def serve() -> Iterator[CodeHost]:
    """Serve a code host on this machine."""
    host = CodeHost()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            token = self.headers.get("PRIVATE-TOKEN") or (self.headers.get("Authorization") or "").removeprefix(
                "Bearer "
            )
            status, reply = host.answer(self.command, self.path, token, body)
            text = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = do_PUT = handle_any  # noqa: N815 - as http.server names them

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        host.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield host
        finally:
            server.shutdown()
            thread.join()
