"""The worker's side of a worker: the program of a process that knows nothing of Proctor, only the standard library.

The process started by the parent is a guard. It makes the namespaces, forks the worker that runs the program, waits for it,
and ends and removes all that it leaves: processes, also those that left its group, and the temporary folder. So that
works, too, when the parent was killed: the kernel sends SIGTERM to the guard then.

    parent ── pipes ── guard ─┬─ first process of the namespace: when it ends, the kernel ends all others in it
                              └─ worker: limits, then the program; reads requests, writes replies
"""

import ctypes
import fcntl
import importlib.util
import json
import os
import platform
import resource
import shutil
import signal
import socket
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, NoReturn

OUT_OF_MEMORY = 86  # the exit code of a worker that met its limit
MESSAGE_CHARACTERS = 2_000
MEGABYTE = 1 << 20

# from <linux/sched.h>, <linux/prctl.h>, <linux/mount.h>; mount_setattr has one number on all architectures but alpha
CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = (
    0x20000,
    0x8000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 22, 36, 38
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 0x4000, 0x40000
SYS_MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, MOUNT_ATTR_RDONLY = 442, -100, 0x8000, 1
CAPABILITIES_VERSION_3 = 0x20080522
SIOCSIFFLAGS, IFF_UP = 0x8914, 1  # from <linux/sockios.h>, <linux/if.h>

# from <linux/seccomp.h>, <linux/filter.h>, <linux/audit.h> and the tables of system calls
SECCOMP_MODE_FILTER, SECCOMP_REFUSE, SECCOMP_ALLOW = 2, 0x50000, 0x7FFF0000
LOAD, KEEP_BITS, JUMP_IF_EQUAL, JUMP_IF_NOT_LESS, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
NUMBER_AT, ARCHITECTURE_AT, FIRST_AT, SECOND_AT = 0, 4, 16, 24  # the lower halves of arguments
SOCKET_CALLS = {"x86_64": (0xC000003E, 41, 53), "aarch64": (0xC00000B7, 198, 199)}  # architecture, socket, socketpair
SYS_IO_URING_SETUP, FIRST_OF_X32 = 425, 0x40000000
FAMILIES, PAIRS = (
    (2, 10, 16),
    (1, 5),
)  # IPv4, IPv6, netlink: the namespace has none; streams and packets, which cannot be connected again
EPERM, EAFNOSUPPORT = 1, 97

# from <linux/landlock.h>; its system calls have one number on all architectures but alpha
SYS_LANDLOCK_CREATE_RULESET, SYS_LANDLOCK_ADD_RULE, SYS_LANDLOCK_RESTRICT_SELF = 444, 445, 446
LANDLOCK_RULE_PATH_BENEATH, LANDLOCK_WRITE_FILE = 1, 2
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def main() -> None:
    """Serve the parent (`child.py FOLDER`), or run a command: `child.py FOLDER MEGABYTES,PROCESSES,MEGABYTES COMMAND ...`.

    Settings are the first line of standard input, requests the others; replies go to standard output.
    """
    folder, *command = sys.argv[1:]
    if command:
        _guard(folder, (0, 1), lambda fault: _execute(folder, command[0], command[1:], fault))
    requests, replies = _take_pipes()
    line = requests.readline()
    if not line:  # the parent ended before it said anything, and cannot remove the folder
        shutil.rmtree(folder, ignore_errors=True)
        sys.exit(1)
    settings = json.loads(line)
    pipes = (requests.fileno(), replies.fileno())
    _guard(folder, pipes, lambda fault: _work(settings, folder, requests, replies, fault), settings["confined"])


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipes to the parent for ourselves: what the program prints goes where standard error goes, which is drained."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


def _guard(folder: str, pipes: Sequence[int], work: Callable[[str], object], confined: bool = True) -> NoReturn:
    """Run `work` in a process of its own, which is given why there are no namespaces, and remove all that it leaves."""
    code, children = 1, []
    try:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        fault = _leave_namespaces() if confined else "not asked for"
        _control(PR_SET_CHILD_SUBREAPER, 1)  # what the worker leaves becomes our child
        _control(PR_SET_PDEATHSIG, signal.SIGTERM)  # after the change of user, which resets it
        if not fault:
            children.append(_fork(_hold_namespace))
        children.append(_fork(lambda: work(fault)))
        for descriptor in pipes:
            os.close(descriptor)
        code = os.waitstatus_to_exitcode(os.waitpid(children[-1], 0)[1])
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _end_children(children)
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(code if code >= 0 else 128 - code)


def _fork(work: Callable[[], object]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _control(PR_SET_PDEATHSIG, signal.SIGKILL)
        work()
    except BaseException:  # noqa: BLE001 - a forked process must not run what its parent does at its end
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(1)


def _hold_namespace() -> None:
    """Be the first process of the namespace; the kernel removes its children when they end, as their ends are ignored."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    os.closerange(0, 100)
    while True:
        signal.pause()


def _end_children(known: Sequence[int]) -> None:
    """Kill the groups that we made, and then all children until none is left; those of a child that ended are ours."""
    for leader in known:
        with suppress(ProcessLookupError):
            os.killpg(leader, signal.SIGKILL)
    own = Path(f"/proc/self/task/{os.getpid()}/children")
    with suppress(OSError):  # a kernel without that list
        while children := own.read_text(encoding="ascii").split():
            for child in children:
                os.kill(int(child), signal.SIGKILL)
            os.waitpid(-1, 0)


# ── namespaces ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _leave_namespaces() -> str:
    """Enter namespaces without network, other processes and their memory; return why that cannot be, else ''."""
    if sys.platform != "linux":
        return sys.platform
    user, group = os.getuid(), os.getgid()
    try:
        _call("unshare", CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC)
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path("/proc/self", name).write_text(text, encoding="ascii")
        _raise_loopback()
    except OSError as error:
        return str(error)
    return ""


def _raise_loopback() -> None:
    """Let the processes of the namespace talk to each other, as they have no Unix sockets."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh", b"lo", IFF_UP))


def _close_files(folder: str, file_bytes: int) -> str:
    """Make all files read-only but for a fresh folder, and hide other processes; return why that cannot be, else ''."""
    try:
        _call("unshare", CLONE_NEWNS)
        _mount(b"none", b"/", None, MS_REC | MS_PRIVATE)
        try:
            _mount(b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
        except OSError:  # in a container that hides parts of it; the environment of our parent is in there
            _mount(b"none", b"/proc", b"tmpfs", MS_RDONLY)
        read_only = (ctypes.c_uint64 * 4)(MOUNT_ATTR_RDONLY, 0, 0, 0)
        _call("syscall", SYS_MOUNT_SETATTR, AT_FDCWD, b"/", AT_RECURSIVE, ctypes.byref(read_only), ctypes.c_size_t(32))
        _mount(b"none", os.fsencode(folder), b"tmpfs", MS_NOSUID | MS_NODEV, f"size={file_bytes},mode=700".encode())
    except OSError as error:
        return str(error)
    return ""


def _drop_rights(folder: str) -> str:
    """Drop what the namespaces leave open; return why that cannot be, else ''.

    What the first user of a namespace may do in it, such as mounting things writable again; sockets that are files; and
    writing to named pipes and devices, which a read-only mount allows.
    """
    try:
        _control(PR_SET_NO_NEW_PRIVS, 1)
        header, none = (ctypes.c_uint32 * 2)(CAPABILITIES_VERSION_3, 0), (ctypes.c_uint32 * 6)()
        _call("capset", header, none)
        _close_special_files(folder)
        _close_sockets()
    except OSError as error:
        return str(error)
    return ""


def _close_sockets() -> None:
    """Refuse all sockets but those of the network, which the namespace does not have, and pairs that are connected already.

    So a server's Unix socket, which is a file that a read-only mount does not close, cannot be reached.

    Raises:
        OSError: the machine has no filters of system calls, or is of an architecture that is not known here.
    """
    machine = platform.machine()
    if machine not in SOCKET_CALLS:
        raise OSError(EPERM, f"seccomp: {machine}")
    architecture, single, pair = SOCKET_CALLS[machine]
    refuse, allow = (RETURN, 0, 0, SECCOMP_REFUSE | EPERM), (RETURN, 0, 0, SECCOMP_ALLOW)
    no_family = (RETURN, 0, 0, SECCOMP_REFUSE | EAFNOSUPPORT)
    of_family = [
        *((JUMP_IF_EQUAL, len(FAMILIES) - n, 0, family) for n, family in enumerate(FAMILIES)),
        no_family,
        allow,
    ]
    of_pair = [*((JUMP_IF_EQUAL, len(PAIRS) - n, 0, kind) for n, kind in enumerate(PAIRS)), no_family, allow]
    program = [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (JUMP_IF_EQUAL, 1, 0, architecture),
        refuse,
        (LOAD, 0, 0, NUMBER_AT),
        (JUMP_IF_NOT_LESS, 3, 0, FIRST_OF_X32),
        (JUMP_IF_EQUAL, 2, 0, SYS_IO_URING_SETUP),  # which opens sockets without a system call
        (JUMP_IF_EQUAL, 3, 0, single),
        (JUMP_IF_EQUAL, 3 + len(of_family), 1, pair),
        refuse,
        allow,
        (LOAD, 0, 0, FIRST_AT),
        *of_family,
        (LOAD, 0, 0, SECOND_AT),
        (KEEP_BITS, 0, 0, 0xF),
        *of_pair,
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in program))
    head = ctypes.create_string_buffer(struct.pack("HP", len(program), ctypes.addressof(code)))
    _call("prctl", PR_SET_SECCOMP, ctypes.c_ulong(SECCOMP_MODE_FILTER), head)


def _close_special_files(folder: str) -> None:
    """Let files be opened for writing only in a folder, and a few devices.

    Raises:
        OSError: the kernel has no Landlock, which came with 5.13.
    """
    handled = (ctypes.c_uint64 * 1)(LANDLOCK_WRITE_FILE)
    rules = _number("syscall", SYS_LANDLOCK_CREATE_RULESET, handled, ctypes.c_size_t(8), 0)
    for path in (folder, *DEVICES):
        with suppress(FileNotFoundError):
            beneath = os.open(path, os.O_PATH)
            rule = ctypes.create_string_buffer(struct.pack("=Qi", LANDLOCK_WRITE_FILE, beneath))
            _call("syscall", SYS_LANDLOCK_ADD_RULE, rules, LANDLOCK_RULE_PATH_BENEATH, rule, 0)
            os.close(beneath)
    _call("syscall", SYS_LANDLOCK_RESTRICT_SELF, rules, 0)
    os.close(rules)


def _mount(source: bytes, target: bytes, kind: bytes | None, flags: int, options: bytes | None = None) -> None:
    _call("mount", source, target, kind, ctypes.c_ulong(flags), options)


def _control(what: int, value: int) -> None:
    if sys.platform == "linux":
        _call("prctl", what, ctypes.c_ulong(value), 0, 0, 0)


def _call(name: str, *arguments: object) -> None:
    _number(name, *arguments)


def _number(name: str, *arguments: object) -> int:
    """Return what a function of the C library returns.

    Raises:
        OSError: it returns -1.
    """
    result = int(getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments))
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


# ── a command ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _execute(folder: str, limits: str, command: Sequence[str], fault: str) -> NoReturn:
    memory, processes, disk = map(int, limits.split(","))
    if fault := fault or _close_files(folder, disk * MEGABYTE) or _drop_rights(folder):
        sys.stderr.write(f"This machine cannot confine a command ({fault}).\n")
        os._exit(1)
    _limit(resource.RLIMIT_DATA, memory * MEGABYTE)  # not of addresses, which Node and Java reserve by the gigabyte
    _limit(resource.RLIMIT_NPROC, processes)
    _limit(resource.RLIMIT_CORE, 0)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, and a program inherits
        signal.signal(number, signal.SIG_DFL)
    os.execvp(command[0], list(command))  # noqa: S606 - the user's command, and no shell


# ── the worker ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _work(settings: Mapping[str, Any], folder: str, requests: BinaryIO, replies: BinaryIO, fault: str) -> None:
    open_files = ""
    if not fault:
        faults = _close_files(folder, settings["file_bytes"]), _drop_rights(folder)
        open_files = "; ".join(filter(None, faults))
        _limit(resource.RLIMIT_NPROC, settings["processes"])  # counted in the namespace; elsewhere by user
    memory = settings["memory_bytes"]
    _limit(resource.RLIMIT_DATA, memory)
    _limit(resource.RLIMIT_AS, 4 * memory)  # also what is shared with children; libraries reserve more than they use
    _limit(resource.RLIMIT_FSIZE, settings["file_bytes"])
    _limit(resource.RLIMIT_CORE, 0)
    os.chdir(folder)
    _serve({**settings, "fault": fault, "open_files": open_files}, requests, replies)


def _serve(settings: Mapping[str, Any], requests: BinaryIO, replies: BinaryIO) -> NoReturn:
    """Answer requests until the parent closes the pipe."""
    served = _Served(settings["output_bytes"], replies)
    sys.path += settings["paths"]
    try:
        served.program = _load(settings["program"])
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except BaseException as error:  # noqa: BLE001 - the parent raises it
        served.reply({"id": 0, "raised": _described(error)})
        os._exit(1)
    served.reply({"id": 0, "value": [settings.get("fault", sys.platform), settings.get("open_files", "")]})
    if settings["talks"]:
        served.program.talk(requests, replies)
        os._exit(0)
    for line in requests:
        _limit_cpu(settings["seconds"])
        served.answer(json.loads(line))
    os._exit(0)  # without what the program wants to do at its end


class _Served:
    """The program, the instances that its functions returned, and the pipe for replies."""

    def __init__(self, output_bytes: int, replies: BinaryIO) -> None:
        self.program: ModuleType | None = None
        self._instance_by_id: dict[int, object] = {}
        self._output_bytes = output_bytes
        self._replies = replies

    def answer(self, request: Mapping[str, Any]) -> None:
        """Call what is asked for and reply; a request without a name drops an instance, and is not answered."""
        id, name, instance = request["id"], request.get("call"), request.get("of")
        if name is None:
            self._instance_by_id.pop(id, None)
            return
        try:
            if name.startswith("_"):
                raise AttributeError(f"'{name}' is not public")
            value = getattr(self.program if instance is None else self._instance_by_id[instance], name)(
                **request["with"]
            )
            if request.get("opens"):
                self._instance_by_id[id], value = value, None
            self.reply({"id": id, "value": value})
        except MemoryError:
            os._exit(OUT_OF_MEMORY)  # what the instances hold now is not certain
        except BaseException as error:  # noqa: BLE001 - the parent raises it
            self.reply({"id": id, "raised": _described(error)})

    def reply(self, reply: Mapping[str, Any]) -> None:
        """Write a reply as one line, or its size where it is too large."""
        line = json.dumps(reply, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
        if len(line) > self._output_bytes:
            line = b'{"id":%d,"too_large":%d}' % (reply["id"], len(line))
        self._replies.write(line + b"\n")
        self._replies.flush()


def _load(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _described(error: BaseException) -> tuple[str, str]:
    try:
        text = str(error)
    except Exception as another:  # noqa: BLE001 - of a class of the program
        text = f"<{type(another).__name__} in str()>"
    return type(error).__name__, text[:MESSAGE_CHARACTERS]


def _limit(what: int, most: int) -> None:
    with suppress(ValueError, OSError):  # the machine allows less, or does not know it
        resource.setrlimit(what, (most, most))


def _limit_cpu(seconds: float) -> None:
    """Bound the CPU time of one call, in case that the parent cannot: the kernel ends the process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime + seconds) + 2
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))


if __name__ == "__main__":
    main()
