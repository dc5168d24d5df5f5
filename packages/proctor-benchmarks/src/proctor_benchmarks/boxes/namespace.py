"""Start a first process in namespaces of its own, by bubblewrap, and ask it to run commands.

Its `root` is no user of this machine where Proctor runs as root, and the user who runs Proctor elsewhere; then it has no other
users. There is no network. It ends with Proctor, and all that runs in it ends with it.
"""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from proctor.core.errors import EnvironmentFailed
from proctor.runtime.program import start_whole, state_of_process
from proctor_benchmarks.boxes import first_process
from proctor_benchmarks.boxes.control_groups import ControlGroup
from proctor_benchmarks.boxes.system_root import HOME, OWN, PROGRAMS, SYSTEM, closed_folders

LINE_BYTES = 16 << 20
FIRST_USER, USERS = 1_000_000, 65_536  # the users of a box, as this machine numbers them
_AS_FIRST_USER = ("setpriv", f"--reuid={FIRST_USER}", f"--regid={FIRST_USER}", "--clear-groups")
CAPABILITIES = (  # of a container of docker
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD",
    "NET_BIND_SERVICE", "NET_RAW", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
)  # fmt: skip
VARIABLES = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": HOME, "TERM": "xterm", "LANG": "C.UTF-8"}  # fmt: skip
_SHARED = ("alternatives", "ld.so.cache")
_HIDDEN = ("/proc/tty/driver",)  # of the real root alone


class Namespace:
    """The first process of a box.

    Args:
        disk_bytes: what its files may take; they are in memory.
        shared_memory_bytes: what /dev/shm may take; 0 for none.
        mounted: folders of this machine by where they are in the box, read-only.
        group: bounds all of its processes together, where this machine has such groups.
    """

    def __init__(
        self,
        disk_bytes: int,
        shared_memory_bytes: int = 0,
        group: ControlGroup | None = None,
        mounted: Mapping[str, str] = {},
    ) -> None:
        self._mounted = mounted
        self._disk_bytes = disk_bytes
        self._shared_memory_bytes = shared_memory_bytes
        self._group = group
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start the first process.

        Raises:
            EnvironmentFailed: this machine refuses.
        """
        pipe = asyncio.subprocess.PIPE
        kept = []
        try:
            users = await _make_users() if has_users() else None
            kept += [users] if users is not None else []
            kept.append(program := _open_program())
            command = [*(() if users is None else _AS_FIRST_USER), *self._command(users, program)]
            starting = asyncio.create_subprocess_exec(
                *(command if self._group is None else self._group.command(command)), stdin=pipe, stdout=pipe, stderr=pipe,
                limit=LINE_BYTES, env={"PATH": VARIABLES["PATH"]}, start_new_session=True, pass_fds=kept,
            )  # fmt: skip
            self._process = await start_whole(starting, state_of_process)
        except OSError as error:
            raise _failed(error) from error
        finally:
            for end in kept:
                os.close(end)

    async def ask(self, call: str, wait_seconds: float, **given: object) -> Any:
        """Return what the first process answers.

        Raises:
            EnvironmentFailed: it does not answer, or could not do it.
        """
        assert self._process is not None, "the box was not entered"
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout(wait_seconds):
                if self._process.stdin.is_closing():
                    raise BrokenPipeError  # the box is dead; uvloop raises a RuntimeError for what is written to it
                self._process.stdin.write(json.dumps({"call": call, **given}).encode() + b"\n")
                await self._process.stdin.drain()
                line = await self._process.stdout.readline()
        except (OSError, ValueError, TimeoutError) as error:
            raise _failed(type(error).__name__) from error
        if not line:
            raise _failed(await self._last_words())
        reply = json.loads(line)
        if "error" in reply:
            raise _failed(reply["error"])
        return reply["value"]

    async def end(self) -> None:
        """End the first process, and with it, by the kernel, all that ran in its namespace."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await _wait_for(self._process)
        if self._group is not None:
            await self._group.remove()

    async def _last_words(self) -> str:
        assert self._process is not None
        assert self._process.stderr is not None
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                return (await self._process.stderr.read(2_000)).decode("utf-8", "replace").strip() or "-"
        return "-"

    def _command(self, users: int | None, program: int) -> list[str]:
        """Return the command that starts it, given the namespace of its users, and the program, both as open files."""
        command = ["bwrap", "--die-with-parent", "--new-session", "--as-pid-1"]
        command += [f"--unshare-{name}" for name in ("ipc", "pid", "net", "uts")]
        command += (
            ["--unshare-user", "--disable-userns", "--uid", "0", "--gid", "0"]
            if users is None
            else ["--userns", str(users)]
        )
        command += ["--cap-drop", "ALL", *(word for name in CAPABILITIES for word in ("--cap-add", f"CAP_{name}"))]
        command += ["--hostname", "ubuntu", "--perms", "0755", "--size", str(self._disk_bytes), "--tmpfs", "/"]
        for folder in ("/usr", "/etc", "/run", SYSTEM):
            command += ["--perms", "0755", "--dir", folder]
        for directory in sorted(Path("/usr").iterdir()):
            if directory.name not in OWN and directory.is_dir():
                command += ["--ro-bind", str(directory), str(directory)]
        for name in PROGRAMS:
            command += ["--ro-bind", f"/usr/{name}", f"{SYSTEM}/{name}"]
        for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
            if Path("/", name).is_symlink():
                command += ["--symlink", f"usr/{name}", f"/{name}"]
            elif Path("/", name).is_dir():
                command += ["--ro-bind", f"/{name}", f"/{name}"]
        for name in _SHARED:
            command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
        command += ["--perms", "0444", "--ro-bind-data", str(program), f"{SYSTEM}/init", "--proc", "/proc"]
        command += ["--dev", "/dev", "--remount-ro", "/dev", "--chdir", "/"]
        if self._shared_memory_bytes:
            command += ["--perms", "1777", "--size", str(self._shared_memory_bytes), "--tmpfs", "/dev/shm"]  # noqa: S108
        for inside, outside in self._mounted.items():
            for parent in [*Path(inside).parents][-2::-1]:  # else they are closed to the other users of the box
                command += ["--perms", "0755", "--dir", str(parent)]
            command += ["--ro-bind", outside, inside]
        for path in (*closed_folders(), *_HIDDEN):  # what walks over all files is to meet no error
            command += ["--tmpfs", path, "--remount-ro", path] if Path(path).is_dir() else []
        command += ["--clearenv", *(word for key, value in VARIABLES.items() for word in ("--setenv", key, value))]
        return [*command, f"{SYSTEM}/bin/python3", "-I", "-S", f"{SYSTEM}/init"]


def has_users() -> bool:
    """True if boxes have users of their own; only root can give them some."""
    return os.geteuid() == 0


def lacks() -> str:
    """Return what this machine lacks for such boxes; '' if nothing."""
    if sys.platform != "linux":
        return "Linux"
    if shutil.which("bwrap") is None:
        return "bubblewrap (apt-get install bubblewrap)"
    return "" if Path("/usr/bin/python3").exists() else "Python at /usr/bin/python3 (apt-get install python3)"


def _failed(error: object) -> EnvironmentFailed:
    return EnvironmentFailed("The sandbox failed: {error}", kind="sandbox", error=error)


def _open_program() -> int:
    """Return the first program of a box as an open file, as the box cannot read the folder that it is in."""
    program = os.memfd_create("program")
    os.write(program, Path(first_process.__file__).read_bytes())
    os.lseek(program, 0, os.SEEK_SET)
    return program


_NAMESPACES = "/proc/sys/user/max_user_namespaces"  # in one of its own, an agent could mount memory without a bound


async def _make_users() -> int:
    """Return a namespace in which `FIRST_USER` is root and others follow it, as an open file; only root can make one."""
    pipe = asyncio.subprocess.PIPE
    command = (
        *_AS_FIRST_USER,
        "unshare",
        "--user",
        "sh",
        "-c",
        f"echo; read x; sh -c 'echo 0 > {_NAMESPACES}; cat {_NAMESPACES}' || echo; read x",  # the first shell may not
    )
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        if not await process.stdout.readline():
            raise _failed("unshare --user")
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{process.pid}/{name}").write_text(f"0 {FIRST_USER} {USERS}", "ascii")  # noqa: ASYNC240 - at once
        process.stdin.write(b"\n")
        if (await process.stdout.readline()).strip() != b"0":
            raise _failed(_NAMESPACES)
        return os.open(f"/proc/{process.pid}/ns/user", os.O_RDONLY)
    finally:
        await _wait_for(process)


async def _wait_for(process: asyncio.subprocess.Process) -> None:
    """Wait for the end of a process and of its pipes, which its event loop may not outlive."""
    if process.stdin is not None:
        process.stdin.close()
    await process.communicate()
