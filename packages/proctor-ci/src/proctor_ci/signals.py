"""Say what a signal looks like now, so that it can be seen when it changes: a commit, files, or the reply of an address."""

import asyncio
import subprocess
from functools import lru_cache
from pathlib import Path

import msgspec

from proctor.api.loop import run_in_loop
from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput, ProctorError
from proctor.transport.client import Client
from proctor.transport.retry import RetryPolicy
from proctor.transport.target import RequestTarget
from proctor.transport.terms import RequestTerms

GIT = "git"
SCHEMES = ("http://", "https://")
SECONDS = 20.0
MOST_FILES = 10_000
MOST_BYTES = 20_000_000  # of a file; of a larger one size and time count


def look(signal: str) -> str:
    """Return what identifies the present state of a signal.

    Raises:
        BadInput: it cannot be seen now, as the endpoint does not answer or git is not there.
    """
    if signal == GIT:
        return _commit()
    return _reply(signal) if signal.startswith(SCHEMES) else _files(signal)


def _commit() -> str:
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"],  # noqa: S607 - the user's own
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadInput("The commit cannot be read: {error}.", error=error) from None
    if done.returncode:
        raise BadInput("The commit cannot be read: {error}.", error=done.stderr.strip()[:200] or done.returncode)
    return done.stdout.strip()


def _files(pattern: str) -> str:
    folder = Path(Path(pattern).anchor or ".")
    paths = sorted(path for path in folder.glob(str(Path(pattern).relative_to(Path(pattern).anchor))) if path.is_file())
    if len(paths) > MOST_FILES:
        raise BadInput("{pattern} names more than {most} files.", pattern=pattern, most=MOST_FILES)
    parts = []
    for path in paths:
        try:
            status = path.stat()
            parts.append(f"{path}\0{_digest(path, status.st_mtime_ns, status.st_size)}")
        except OSError:  # gone meanwhile, or not ours to read
            parts.append(f"{path}\0-")
    return digest_bytes("\n".join(parts).encode("utf-8", "surrogateescape"))


@lru_cache(maxsize=MOST_FILES)
def _digest(path: Path, modified: int, size: int) -> str:
    return digest_bytes(path.read_bytes()) if size <= MOST_BYTES else f"{modified} {size}"


def _reply(signal: str) -> str:
    address, _, pointer = signal.partition("#")
    target = RequestTarget(address, method="GET", terms=RequestTerms(seconds=SECONDS, policy=RetryPolicy(attempts=1)))

    async def ask(_: asyncio.Event) -> bytes:
        async with Client() as client:
            return await client.post(target, None, bytes)

    try:
        body = run_in_loop(ask)
    except ProctorError as error:
        raise BadInput("{address} does not answer: {error}.", address=target.where, error=error.sentence) from None
    return digest_bytes(body) if not pointer else digest_bytes(_at(pointer, body, target.where))


def _at(pointer: str, body: bytes, where: str) -> bytes:
    """Return the part of a JSON text that a pointer names (RFC 6901)."""
    try:
        value = msgspec.json.decode(body)
        for part in pointer.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            value = value[int(key)] if isinstance(value, list) else value[key]
    except (msgspec.DecodeError, KeyError, IndexError, ValueError, TypeError):
        raise BadInput("The reply of {address} has no {pointer}.", address=where, pointer=pointer) from None
    return msgspec.json.encode(value, order="deterministic")
