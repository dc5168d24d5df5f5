"""Ways out of a sandbox that are neither the network nor an ordinary file; each returns what it reached, or raises."""

import ctypes
import os
import socket
from pathlib import Path

HELLO = b"from inside"


def stream(path: str) -> str:
    with socket.socket(socket.AF_UNIX) as out:
        out.connect(path)
        out.sendall(HELLO)
    return "connected"


def packets(path: str) -> str:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as out:
        out.connect(path)
    return "connected"


def datagram(path: str) -> str:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        out.sendto(HELLO, path)
    return "sent"


def datagram_of_a_pair(path: str) -> str:
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(HELLO, path)
    return "sent"


def stream_of_a_pair(path: str) -> str:
    one, _ = socket.socketpair()
    one.connect(path)
    return "connected"


def abstract(path: str) -> str:
    return stream("\0" + path)


def machine_socket(path: str) -> str:
    with socket.socket(socket.AF_VSOCK):
        return "made"


def ring(path: str) -> str:
    """Make an io_uring, which opens and connects sockets without a system call of its own."""
    library = ctypes.CDLL(None, use_errno=True)
    if (made := library.syscall(425, 1, ctypes.create_string_buffer(256))) < 0:
        raise OSError(ctypes.get_errno(), "io_uring")
    os.close(made)
    return "made"


def pipe(path: str) -> str:
    os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), HELLO)
    return "written"


def device(path: str) -> str:
    for name in ("loop0", "loop-control", "kvm", "fuse", "kmsg", "sda", "vda", "tty0"):
        try:
            os.close(os.open(f"/dev/{name}", os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            continue
        return f"opened {name}"
    raise OSError("no device can be opened")


def ordinary(path: str) -> str:
    """Do what programs need: a pair of sockets, a pipe, /dev/null, a file in the folder, a process."""
    one, other = socket.socketpair()
    one.sendall(b"x")
    assert other.recv(1) == b"x"
    Path(os.devnull).write_bytes(b"x")
    Path(os.environ.get("TMPDIR", "."), "file").write_bytes(b"x")
    with os.popen("echo started") as program:
        return program.read().strip()
