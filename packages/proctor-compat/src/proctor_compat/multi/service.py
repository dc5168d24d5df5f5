"""Serve scoring over HTTP, so that those who submit predictions never see the answers.

POST /get_version and POST /generate take and give the JSON of the original's `deploy.py`. It keeps nothing: what one
caller sends is seen by no other, and neither its email nor its file names touch the disk.
"""

import asyncio
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from proctor.core.errors import BadInput
from proctor.i18n import language, speak
from proctor_benchmarks.multi import submission

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

MOST_REQUEST_BYTES = submission.MOST_ZIP_BYTES // 3 * 4 + 100_000  # the largest zip in base64, and the rest
AT_ONCE = 2
SCORING = (sys.executable, "-m", "proctor_compat.multi", "metrics")
_UPLOAD_SECONDS = 120.0
_PREFIX = "problem"


class _Asked(msgspec.Struct):
    zip_file: object = None
    version: object = None
    email: object = None


def application(folder: Path, token: str | None, *, seconds: float = 300.0) -> Starlette:
    """Return the service over the label files of a folder; None as token serves everybody."""
    slot = asyncio.Semaphore(AT_ONCE)

    async def get_version(request: Request) -> Response:  # noqa: ARG001 - a handler's argument
        return _reply("success", {"versions": versions(folder)})

    async def generate(request: Request) -> Response:
        asked = await _read_request(request)
        for name, value in msgspec.structs.asdict(asked).items():
            if value is None:
                return _reply(f"{name} is None")
        if asked.version not in versions(folder):
            return _reply("version is invalid")
        if not isinstance(asked.zip_file, str):
            return _reply("unzip error")
        async with slot:
            done = await submission.scored(asked.zip_file, folder / asked.version, seconds, SCORING)
        return _reply(done.said, {"zip_file": done.zip_file, "other": {}})

    return Starlette(
        routes=[Route(f"/{call.__name__}", call, methods=["POST"]) for call in (get_version, generate)],
        exception_handlers={HTTPException: _refusal, BadInput: _complaint},
        middleware=[Middleware(_Guard, token=token)],
    )


def versions(folder: Path) -> list[str]:
    """Return the label files of a folder; a caller can name only these."""
    return sorted(path.name for path in folder.glob(f"{_PREFIX}*.json") if path.is_file())


class _Guard:
    """Lets nobody in without the token, to whatever path."""

    def __init__(self, app: "ASGIApp", token: str | None) -> None:
        self._app = app
        self._expected = None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        given = Headers(scope=scope).get("Authorization", "").encode("latin-1")
        app: ASGIApp = self._app
        if self._expected is not None and not secrets.compare_digest(given, self._expected):
            app = _reply("a token is needed: Authorization: Bearer TOKEN", status=401)
        await app(scope, receive, send)


def _complaint(request: Request, error: Exception) -> Response:  # noqa: ARG001 - a handler's argument
    assert isinstance(error, BadInput)
    return _reply(speak(error.sentence, language()))


def _refusal(request: Request, error: Exception) -> Response:  # noqa: ARG001 - a handler's argument
    assert isinstance(error, HTTPException)
    return _reply(error.detail, status=error.status_code)


async def _read_request(request: Request) -> _Asked:
    if request.headers.get("Content-Type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415)  # other sites cannot make a browser send this type unasked
    try:
        async with asyncio.timeout(_UPLOAD_SECONDS):
            return msgspec.json.decode(await _body(request), type=_Asked)
    except TimeoutError:
        raise HTTPException(408) from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise HTTPException(400, "the request is no JSON object") from None


async def _body(request: Request) -> bytes:
    pieces, size = [], 0
    async for piece in request.stream():
        pieces.append(piece)
        size += len(piece)
        if size > MOST_REQUEST_BYTES:
            raise HTTPException(413)
    return b"".join(pieces)


def _reply(message: str, data: dict[str, object] | None = None, *, status: int = 200) -> Response:
    result = "false" if data is None else "true"
    return JSONResponse({"result": result, "data": data, "message": message}, status_code=status)
