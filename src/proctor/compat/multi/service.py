"""Serve scoring over HTTP, so that those who submit predictions never see the answers.

POST /get_version and POST /generate take and give the JSON of the original's `deploy.py`. It keeps nothing: what one
caller sends is seen by no other, and neither its email nor its file names touch the disk.
"""

import argparse
import asyncio
import secrets
import signal
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from proctor.compat.multi import submission
from proctor.core.errors import BadInput
from proctor.i18n import language, speak

MOST_REQUEST_BYTES = submission.MOST_ZIP_BYTES // 3 * 4 + 100_000  # the largest zip in base64, and the rest
AT_ONCE = 2
_UPLOAD_SECONDS = 120.0
_PREFIX = "problem"


class _Asked(msgspec.Struct):
    zip_file: Any = None
    version: Any = None
    email: Any = None


def parser() -> argparse.ArgumentParser:
    """The flags of the service; the original has none."""
    flags = argparse.ArgumentParser(prog="python -m proctor.compat.multi serve", description=__doc__)
    flags.add_argument("--label-folder", required=True, help="a folder with problem*.json that have answers")
    flags.add_argument("--host", default="127.0.0.1")
    flags.add_argument("--port", type=int, default=5000)
    flags.add_argument("--token", help="what callers have to send; a new one is made and printed if not given")
    flags.add_argument("--no-token", action="store_true", help="serve everybody, as the original does")
    flags.add_argument("--seconds", type=float, default=300.0, help="time limit of one submission")
    return flags


def run(args: argparse.Namespace) -> tuple[str, int]:
    """Serve until stopped.

    Raises:
        BadInput: no label files in the folder, or the address is taken.
    """
    token = None if args.no_token else args.token or secrets.token_urlsafe(24)
    folder = Path(args.label_folder)
    if not versions(folder):
        raise BadInput("{folder} holds no label file: there is no problem*.json in it.", folder=folder)
    asyncio.run(_serve(args, application(folder, token, seconds=args.seconds), token))
    return "", 0


def application(folder: Path, token: str | None, *, seconds: float = 300.0) -> web.Application:
    """The service over the label files of a folder; None as token serves everybody."""
    made = web.Application(client_max_size=MOST_REQUEST_BYTES, middlewares=[_guard(token)])
    turn = asyncio.Semaphore(AT_ONCE)

    async def get_version(request: web.Request) -> web.Response:  # noqa: ARG001 - a handler's argument
        return _said("success", {"versions": versions(folder)})

    async def generate(request: web.Request) -> web.Response:
        asked = await _asked(request)
        for name in ("zip_file", "version", "email"):
            if getattr(asked, name) is None:
                return _said(f"{name} is None")
        if asked.version not in versions(folder):
            return _said("version is invalid")
        if not isinstance(asked.zip_file, str):
            return _said("unzip error")
        async with turn:
            done = await submission.scored(asked.zip_file, folder / asked.version, seconds)
        return _said(done.said, {"zip_file": done.zip_file, "other": {}})

    made.router.add_post("/get_version", get_version)
    made.router.add_post("/generate", generate)
    return made


def versions(folder: Path) -> list[str]:
    """The label files of a folder; a caller can name only these."""
    return sorted(path.name for path in folder.glob(f"{_PREFIX}*.json") if path.is_file())


def _guard(token: str | None) -> Middleware:
    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").encode("utf-8", "surrogateescape")
        if token is not None and not secrets.compare_digest(given, f"Bearer {token}".encode()):
            return _said("a token is needed: Authorization: Bearer TOKEN", status=401)
        try:
            return await handler(request)
        except BadInput as error:
            return _said(speak(error.sentence, language()))
        except web.HTTPException as error:
            return _said(error.reason, status=error.status)

    return guard


async def _asked(request: web.Request) -> _Asked:
    if request.content_type != "application/json":  # other sites cannot make a browser send this unasked
        raise web.HTTPUnsupportedMediaType
    try:
        async with asyncio.timeout(_UPLOAD_SECONDS):
            return msgspec.json.decode(await request.read(), type=_Asked)
    except TimeoutError:
        raise web.HTTPRequestTimeout from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise web.HTTPBadRequest(reason="the request is no JSON object") from None


def _said(message: str, data: dict[str, Any] | None = None, *, status: int = 200) -> web.Response:
    result = "false" if data is None else "true"
    return web.json_response({"result": result, "data": data, "message": message}, status=status)


async def _serve(args: argparse.Namespace, made: web.Application, token: str | None) -> None:
    runner = web.AppRunner(made, access_log=None, shutdown_timeout=5)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, args.host, args.port).start()
        except OSError as error:
            where = f"{args.host}:{args.port}"
            raise BadInput("{where} cannot be served: {error}.", where=where, error=error.strerror) from None
        _announce(runner, args, token)
        stopped = asyncio.Event()
        for one in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(one, stopped.set)
        await stopped.wait()
    finally:
        await runner.cleanup()


def _announce(runner: web.AppRunner, args: argparse.Namespace, token: str | None) -> None:
    port = runner.addresses[0][1]
    print(f"http://{args.host}:{port}/generate", flush=True)
    if token is None:
        print(speak("Everybody who reaches this address is served.", language()), flush=True)
    elif not args.token:
        print(f"Authorization: Bearer {token}", flush=True)
