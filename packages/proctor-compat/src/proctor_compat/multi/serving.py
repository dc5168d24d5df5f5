"""The command `serve`: listen, and say under which address and with which token the service answers."""

import argparse
import secrets
import signal
import socket
from pathlib import Path

from proctor.core.errors import BadInput, needs
from proctor.i18n import language, speak


def add_flags(flags: argparse.ArgumentParser) -> None:
    """Add the flags of the service; the original has none."""
    flags.add_argument("--label-folder", required=True, help="a folder with problem*.json that have answers")
    flags.add_argument("--host", default="127.0.0.1")
    flags.add_argument("--port", type=int, default=5000)
    flags.add_argument("--token", help="what callers have to send; a new one is made and printed if not given")
    flags.add_argument("--no-token", action="store_true", help="serve everybody, as the original does")
    flags.add_argument("--seconds", type=float, default=300.0, help="time limit of one submission")


def run(args: argparse.Namespace) -> tuple[str, int]:
    """Serve until it is stopped.

    Raises:
        BadInput: no label files in the folder, or the address is taken.
    """
    with needs("web", "python -m proctor_compat.multi serve"):
        from proctor_compat.multi.service import application, versions
        from proctor_web.serving import serve

    token = None if args.no_token else args.token or secrets.token_urlsafe(24)
    folder = Path(args.label_folder)
    if not versions(folder):
        raise BadInput("{folder} holds no label file: there is no problem*.json in it.", folder=folder)
    where = f"{args.host}:{args.port}"
    try:
        family = socket.getaddrinfo(args.host, args.port, type=socket.SOCK_STREAM)[0][0]
        on = socket.create_server((args.host, args.port), family=family)
    except OSError as error:
        raise BadInput("{where} cannot be served: {error}.", where=where, error=error.strerror) from None
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # `serve` takes it for Ctrl-C, and ends without an error
    with on:
        _announce(on, args, token)
        serve(application(folder, token, seconds=args.seconds), on)
    return "", 0


def _announce(on: socket.socket, args: argparse.Namespace, token: str | None) -> None:
    print(f"http://{args.host}:{on.getsockname()[1]}/generate", flush=True)
    if token is None:
        print(speak("Everybody who reaches this address is served.", language()), flush=True)
    elif not args.token:
        print(f"Authorization: Bearer {token}", flush=True)
