"""Give each attempt a computer that is thrown away: a small Linux of the system's own programs, by bubblewrap.

It has the programs of this machine, read-only, and nothing else of it: its other files are its own, in memory, as are its
users, processes and terminals; there is no network. What it may use is bounded. Its `root` is no user of this machine where
Proctor runs as root, and the user who runs Proctor elsewhere; then it has no other users.
"""

import asyncio
import json
import os
import pwd
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Self

from proctor.core.errors import BadInput, EnvironmentFailed
from proctor_benchmarks.agentbench import os_program
from proctor_benchmarks.agentbench.os_loop import Ran, Script

SECONDS = 30.0  # of a command, as officially
SCRIPT_SECONDS = 180.0  # officially without a limit
DISK_BYTES = 256 << 20
LIMITS = {
    "RLIMIT_NPROC": 256, "RLIMIT_DATA": 512 << 20, "RLIMIT_AS": 2 << 30, "RLIMIT_FSIZE": DISK_BYTES, "RLIMIT_CORE": 0,
}  # fmt: skip
LINE_BYTES = 16 << 20
FIRST_USER, USERS = 1_000_000, 65_536  # the users of a sandbox, as this machine numbers them
_AS_FIRST_USER = ("setpriv", f"--reuid={FIRST_USER}", f"--regid={FIRST_USER}", "--clear-groups")
CAPABILITIES = (  # of a container of docker
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD",
    "NET_BIND_SERVICE", "NET_RAW", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
)  # fmt: skip
HOME = "/root"
VARIABLES = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": HOME, "TERM": "xterm", "LANG": "C.UTF-8"}  # fmt: skip
SYSTEM = "/run/system"  # where the folders are to which programs are linked
_PROGRAMS = ("bin", "sbin")
_OWN = (*_PROGRAMS, "local")
_SHARED = ("alternatives", "ld.so.cache")
_COPIED = (
    "adduser.conf", "bash.bashrc", "default/useradd", "deluser.conf", "login.defs", "nsswitch.conf", "profile", "shells",
)  # fmt: skip
_FOLDERS = (
    HOME, "/home", "/tmp", "/var/tmp", "/opt", "/srv", "/mnt", "/media", "/usr/src",  # noqa: S108 - of the sandbox
    *(f"/usr/local/{name}" for name in ("bin", "sbin", "lib", "share", "etc")),
)  # fmt: skip
_SERVICES = ("su", "su-l", "sudo", "passwd", "chpasswd", "useradd", "other")
_PAM = "auth sufficient pam_rootok.so\nauth required pam_unix.so\naccount required pam_permit.so\nsession required pam_permit.so\npassword required pam_unix.so\n"  # fmt: skip
_HIDDEN = ("/proc/tty/driver",)  # of the real root alone
_LANGUAGES = {"bash": ("bash", "-c"), "python": ("python3", "-c")}
_COMPILERS = {"c": "gcc", "c++": "g++"}


class Sandbox:
    """A computer of one attempt."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        kept = []
        try:
            users = await _make_users() if os.geteuid() == 0 else None
            kept += [users] if users is not None else []
            kept.append(program := _open_program())
            self._process = await asyncio.create_subprocess_exec(
                *(() if users is None else _AS_FIRST_USER), *_command(users, program), stdin=pipe, stdout=pipe, stderr=pipe,
                limit=LINE_BYTES, env={"PATH": VARIABLES["PATH"]}, start_new_session=True, pass_fds=kept,
            )  # fmt: skip
        except OSError as error:
            raise EnvironmentFailed("The sandbox failed: {error}", kind="sandbox", error=error) from error
        finally:
            for end in kept:
                os.close(end)
        farms = {f"/usr/{name}": f"{SYSTEM}/{name}" for name in _PROGRAMS}
        try:
            await self._ask("prepare", files=_files(), farms=farms, limits=LIMITS)
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._end()

    async def type(self, command: str) -> str:
        """Return what the shell of the agent prints for a command, until it ends or is silent for five seconds."""
        return str(await self._ask("type", command=command, seconds=SECONDS))

    async def run(self, script: Script, *arguments: str) -> Ran:
        """Run a script outside of that shell, as root."""
        if script.language in _COMPILERS:
            return await self._run_compiled(script, arguments)
        if script.language not in _LANGUAGES:
            raise EnvironmentFailed("A script of this problem is in '{language}', which cannot be run.", kind="problem", language=script.language)  # fmt: skip
        dashes = ["--"] if script.language == "bash" and arguments else []  # $0 of the script
        return await self._run([*_LANGUAGES[script.language], script.code, *dashes, *arguments])

    async def _run_compiled(self, script: Script, arguments: Sequence[str]) -> Ran:
        # the text is written in JSON, as officially
        text = f'echo "{json.dumps(script.code)}" > /tmp/main.cpp && {_COMPILERS[script.language]} -o /tmp/a.out /tmp/main.cpp'
        await self._run(["bash", "-c", text])
        return await self._run(["/tmp/a.out", *arguments])  # noqa: S108 - that of the sandbox

    async def _run(self, command: Sequence[str]) -> Ran:
        code, output = await self._ask(
            "run", command=[part.replace("\0", "") for part in command], seconds=SCRIPT_SECONDS
        )
        return Ran(code=code, output=output)

    async def _ask(self, call: str, **given: object) -> Any:
        assert self._process is not None, "the sandbox was not entered"
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout(SCRIPT_SECONDS + SECONDS):
                self._process.stdin.write(json.dumps({"call": call, **given}).encode() + b"\n")
                await self._process.stdin.drain()
                line = await self._process.stdout.readline()
        except (OSError, ValueError, TimeoutError) as error:
            raise EnvironmentFailed(
                "The sandbox failed: {error}", kind="sandbox", error=type(error).__name__
            ) from error
        if not line:
            raise EnvironmentFailed("The sandbox failed: {error}", kind="sandbox", error=await self._said())
        reply = json.loads(line)
        if "error" in reply:
            raise EnvironmentFailed("The sandbox failed: {error}", kind="sandbox", error=reply["error"])
        return reply["value"]

    async def _said(self) -> str:
        assert self._process is not None
        assert self._process.stderr is not None
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                return (await self._process.stderr.read(2_000)).decode("utf-8", "replace").strip() or "-"
        return "-"

    async def _end(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()  # and with it, by the kernel, all that ran in its namespace
            await _wait_for(self._process)


def check_machine() -> None:
    """Raise `BadInput` where there are no sandboxes."""
    if sys.platform != "linux" or shutil.which("bwrap") is None or not Path("/usr/bin/python3").exists():
        raise BadInput(
            "The part os runs shell commands of the agent, and only in a sandbox, which needs Linux, bubblewrap, and Python at /usr/bin/python3 (apt-get install bubblewrap python3)."
        )


def _open_program() -> int:
    """Return the first program of a sandbox as an open file, as the sandbox cannot read the folder that it is in."""
    program = os.memfd_create("program")
    os.write(program, Path(os_program.__file__).read_bytes())
    os.lseek(program, 0, os.SEEK_SET)
    return program


def _command(users: int | None, program: int) -> list[str]:
    """Return the command that starts a sandbox, given the namespace of its users, and its first program."""
    command = ["bwrap", "--die-with-parent", "--new-session", "--as-pid-1"]
    command += [f"--unshare-{name}" for name in ("ipc", "pid", "net", "uts")]
    command += ["--unshare-user", "--uid", "0", "--gid", "0"] if users is None else ["--userns", str(users)]
    command += ["--cap-drop", "ALL", *(word for name in CAPABILITIES for word in ("--cap-add", f"CAP_{name}"))]
    command += ["--hostname", "ubuntu", "--perms", "0755", "--size", str(DISK_BYTES), "--tmpfs", "/"]
    for folder in ("/usr", "/etc", "/run", SYSTEM):
        command += ["--perms", "0755", "--dir", folder]
    for found in sorted(Path("/usr").iterdir()):
        if found.name not in _OWN and found.is_dir():
            command += ["--ro-bind", str(found), str(found)]
    for name in _PROGRAMS:
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
    for path in (*_closed_folders(), *_HIDDEN):  # what walks over all files is to meet no error
        command += ["--tmpfs", path, "--remount-ro", path] if Path(path).is_dir() else []
    command += ["--clearenv", *(word for key, value in VARIABLES.items() for word in ("--setenv", key, value))]
    return [*command, f"{SYSTEM}/bin/python3", "-I", "-S", f"{SYSTEM}/init"]


@cache
def _closed_folders() -> Sequence[str]:
    """Return the folders of the system's programs that only some of its users may read."""
    found = []
    for folder, names, _ in os.walk("/usr"):
        if folder == "/usr":
            names[:] = [name for name in names if name not in _OWN]
        closed = [name for name in names if Path(folder, name).stat(follow_symlinks=False).st_mode & 0o5 != 0o5]
        names[:] = [name for name in names if name not in closed]
        found += [f"{folder}/{name}" for name in closed if not Path(folder, name).is_symlink()]
    return found


@cache
def _files() -> Mapping[str, str]:
    """Return the files of a fresh system; of those of this machine, only what its packages brought."""
    found = {}
    for name in _COPIED:
        with suppress(OSError, ValueError):
            found[f"/etc/{name}"] = Path("/etc", name).read_text("utf-8")
    for name in (".bashrc", ".profile"):
        with suppress(OSError, ValueError):
            found[f"/etc/skel/{name}"] = found[f"{HOME}/{name}"] = Path("/etc/skel", name).read_text("utf-8")
    system = [user for user in pwd.getpwall() if 0 < user.pw_uid < 100 or user.pw_name == "nobody"]
    names = [
        ("root", 0, HOME, "/bin/bash"),
        *((user.pw_name, user.pw_uid, user.pw_dir, "/usr/sbin/nologin") for user in system),
    ]
    return {
        **found,
        **{f"{folder}/": "" for folder in _FOLDERS},
        "/etc/passwd": "".join(f"{name}:x:{id}:{id}:{name}:{home}:{shell}\n" for name, id, home, shell in names),
        "/etc/group": "".join(f"{name}:x:{id}:\n" for name, id, *_ in names) + "sudo:x:27:\nusers:x:100:\n",
        "/etc/shadow": "".join(f"{name}:*:19000:0:99999:7:::\n" for name, *_ in names),
        "/etc/gshadow": "",
        "/var/log/dpkg.log": "2024-01-01 00:00:00 startup archives unpack\n",
        "/etc/hosts": "127.0.0.1\tlocalhost\n127.0.1.1\tubuntu\n",
        "/etc/hostname": "ubuntu\n",
        "/etc/os-release": 'NAME="Ubuntu"\nID=ubuntu\nPRETTY_NAME="Ubuntu"\n',
        **{f"/etc/pam.d/{name}": _PAM for name in _SERVICES},
    }


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
        f"echo; read x; sh -c 'echo 0 > {_NAMESPACES}'; echo; read x",
    )
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        if not await process.stdout.readline():
            raise EnvironmentFailed("The sandbox failed: {error}", kind="sandbox", error="unshare --user")
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{process.pid}/{name}").write_text(f"0 {FIRST_USER} {USERS}", "ascii")  # noqa: ASYNC240 - at once
        process.stdin.write(b"\n")
        await process.stdout.readline()
        return os.open(f"/proc/{process.pid}/ns/user", os.O_RDONLY)
    finally:
        await _wait_for(process)


async def _wait_for(process: asyncio.subprocess.Process) -> None:
    """Wait for the end of a process and of its pipes, which its event loop may not outlive."""
    if process.stdin is not None:
        process.stdin.close()
    await process.communicate()
