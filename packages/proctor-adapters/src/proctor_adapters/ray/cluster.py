"""Connect to a Ray cluster, or start one on this machine that nobody else can see.

Each setting answers an observation with Ray 2.60: by itself it listens on every interface, keeps its access token in a file
that all users can read, sends usage statistics, takes the handler of SIGTERM, and leaves its logs.
"""

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import cache, partial

from proctor.core.errors import BadInput, MissingExtra
from proctor.core.installing import is_installed
from proctor.transport.redact import quoted, redact
from proctor_adapters.ray.folder import session_folder

CONNECT_SECONDS = 5.0
OBJECT_STORE_BYTES = 100_000_000
ONE_MACHINE = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}  # everything listens on 127.0.0.1
QUIET = {"RAY_USAGE_STATS_ENABLED": "0"}
OWN = {  # of a cluster that is started here
    **ONE_MACHINE,
    "RAY_AUTH_MODE": "token",
    "RAY_health_check_period_ms": "1000",  # a node that hangs is given up after 8 seconds rather than 63
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "3",
}


def check(address: str) -> str:
    """Return the address of `ray:ADDRESS`; "" for `ray`, a cluster of this machine alone.

    Raises:
        BadInput: it is an address of a kind that does not work.
        MissingExtra: Ray is not installed.

    >>> check("10.0.0.1:6379"), check("")
    ('10.0.0.1:6379', '')
    """
    if "://" in address or (address and address != "auto" and not _host_and_port(address)):
        raise BadInput(
            "'{address}' is no address of a Ray cluster: write HOST:PORT as 'ray start' shows it, or auto, and start the run on a machine of the cluster.",
            address=redact(address),
        )
    if not is_installed("ray"):
        raise MissingExtra("ray", "--on ray")
    return address


@asynccontextmanager
async def connected(address: str, cpus: int) -> AsyncIterator[str]:
    """Connect to the cluster at an address, or start one of this machine alone; yields the address of this machine in it.

    A connection that the caller's program has already is used, and left as it was. What Ray prints about lost machines goes
    to standard error.

    Raises:
        BadInput: nothing answers there, or it runs other versions.
    """
    variables = OWN | QUIET | {"RAY_AUTH_TOKEN": token()}
    if address:
        variables = QUIET | (ONE_MACHINE if address != "auto" and await _is_on_loopback(address) else {})
    if os.environ.get("RAY_USE_TLS") == "1":
        raise BadInput(
            "The trials of a run travel between the machines in plain text, but RAY_USE_TLS asks for TLS. Run it in a network of its own."
        )
    with (
        contextlib.redirect_stdout(sys.stderr),
        session_folder(is_needed=not address) as (folder, mark),
    ):
        is_ours = False
        try:
            with _variables({**variables, **mark}):  # for Ray alone, not for what the caller starts meanwhile
                import ray

                is_ours = not ray.is_initialized()
                if is_ours:
                    await _start(address, cpus, folder)
                here = "127.0.0.1" if is_ours and not address else str(ray.util.get_node_ip_address())
            yield here
        finally:
            if is_ours:
                await asyncio.to_thread(ray.shutdown)


async def _start(address: str, cpus: int, folder: str) -> None:
    import ray

    logging.getLogger("ray").setLevel(logging.ERROR)
    options = {"num_cpus": cpus, "include_dashboard": False, "object_store_memory": OBJECT_STORE_BYTES, "_temp_dir": folder}  # fmt: skip
    start = partial(
        ray.init,
        address=address or "local",
        log_to_driver=False,
        logging_level=logging.ERROR,
        **({} if address else options),
    )
    try:
        await asyncio.to_thread(start)  # in another thread it leaves the handlers of signals alone
    except (ConnectionError, RuntimeError, TimeoutError, ValueError) as error:
        raise BadInput("Ray cannot be used: {error}", error=quoted(error).partition("\n")[0]) from error


def is_local(address: str) -> bool:
    """True if a cluster of this machine alone has to be started."""
    if address:
        return False
    ray = sys.modules.get("ray")
    return ray is None or not ray.is_initialized()


@cache
def token() -> str:
    """Return the token of this process's clusters: Ray reads the variable once; without it, it writes a file."""
    return secrets.token_hex(32)


def _host_and_port(address: str) -> tuple[str, int] | None:
    host, _, port = address.rpartition(":")
    return (host, int(port)) if host and port.isdecimal() and int(port) < 65_536 else None


async def _is_on_loopback(address: str) -> bool:
    """True if a cluster listens on the loopback address alone, where Ray by itself looks for it at another address.

    Raises:
        BadInput: nothing listens there; Ray would try for minutes.
    """
    host_and_port = _host_and_port(address)
    assert host_and_port is not None
    host, port = host_and_port
    try:
        await _knock(host, port)
    except (OSError, TimeoutError) as error:
        raise BadInput("No Ray cluster answers at {address}: {error}", address=address, error=quoted(error)) from None
    if host not in ("127.0.0.1", "localhost"):
        return False
    with contextlib.suppress(OSError, TimeoutError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        way.connect(("192.0.2.1", 9))  # nothing is sent; it names the address of this machine
        await _knock(way.getsockname()[0], port)
        return False
    return True


async def _knock(host: str, port: int) -> None:
    async with asyncio.timeout(CONNECT_SECONDS):
        _, writer = await asyncio.open_connection(host, port)
    writer.close()


@contextmanager
def _variables(ours: Mapping[str, str]) -> Iterator[None]:
    """Set variables of the environment for as long as they are needed."""
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in before.items():
            _set(name, value)


def _set(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
