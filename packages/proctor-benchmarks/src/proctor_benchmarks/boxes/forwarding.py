"""Carry what programs in a box send to a port of their own machine to a socket of ours, in a folder that the box only reads."""

from pathlib import Path

import msgspec

from proctor.core.errors import EnvironmentFailed
from proctor_benchmarks.boxes.contract import Box

DOOR = "/run/door"  # where the folder of the sockets is in the box
START_SECONDS = 30.0
_FORWARDER = "forward.py"


class Forwarded(msgspec.Struct, frozen=True, kw_only=True):
    """A port of the box, and the name of the socket to which it leads."""

    port: int
    socket: str


MODEL, HOSTS = Forwarded(port=8700, socket="model.sock"), Forwarded(port=8701, socket="hosts.sock")
_PROGRAM = f"""
import os, socket, sys, threading
def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    try:
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
def carry(client, other):
    other.connect("{DOOR}/" + sys.argv[2])
    pairs = [threading.Thread(target=pump, args=pair, daemon=True) for pair in ((client, other), (other, client))]
    for pair in pairs: pair.start()
    for pair in pairs: pair.join()
    client.close(); other.close()
server = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=128)
if os.fork(): os._exit(0)
os.setsid()
for number in (0, 1, 2): os.dup2(os.open(os.devnull, os.O_RDWR), number)
while True:
    client, _ = server.accept()
    try:
        threading.Thread(target=carry, args=(client, socket.socket(socket.AF_UNIX)), daemon=True).start()
    except (OSError, RuntimeError):
        client.close()
"""


async def start_forwarder(box: Box, door: Path, forwarded: Forwarded) -> None:
    """Start the program in the box that carries a port to a socket in its door; when it returns, the port is open.

    Raises:
        EnvironmentFailed: the box has no Python, or the port is taken.
    """
    (door / _FORWARDER).write_text(_PROGRAM, "utf-8")
    command = f"exec $(command -v python3 || echo python3) {DOOR}/{_FORWARDER} {forwarded.port} {forwarded.socket}"
    started = await box.run(["sh", "-c", command], START_SECONDS)
    if started.code != 0:
        raise EnvironmentFailed("The way out of the box needs Python in it, and could not be opened: {error}", kind="forwarder", error=started.output[-400:] or "-")  # fmt: skip
