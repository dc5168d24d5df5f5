"""Run boxes by docker or podman, through their command line, which is the interface that all their forms share.

Files are copied in and out; mounted, and that read-only, are only the folder of a model's socket and the programs of a coding
agent. A box has no network unless it is asked for, no capability that
its root does not need for its own files, and is removed when the attempt is over; those of dead processes when the next begins.
"""

import asyncio
import io
import itertools
import os
import posixpath
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import IO, Literal, Self

import msgspec

from proctor.core.errors import EnvironmentDied, EnvironmentFailed
from proctor.runtime.alive import is_alive
from proctor_benchmarks.boxes.archives import READ_BY_ENGINES, rename_entry
from proctor_benchmarks.boxes.contract import (  # fmt: skip
    ARTEFACT_BYTES,
    ARTEFACT_ENTRIES,
    Backend,
    BoxLimits,
    CommandResult,
    TooMuch,
)
from proctor_benchmarks.boxes.first_process import Ends
from proctor_benchmarks.boxes.temporary_folders import temporary_folder

Engine = Literal["docker", "podman"]
CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "SETUID", "SETGID", "KILL")
LATE, KILLED = 124, 137
ANSWER_SECONDS = 60.0  # for the engine itself
START_SECONDS = 900.0  # an image may have to be fetched
KILL_SECONDS = 2.0  # from the first signal to a late command until the last
PROBE_SECONDS = 10.0
OUTPUT_BYTES = 64 << 10  # of what the engine itself says
LABEL = "proctor.process"
FIRST_PROGRAM = (
    "while :; do sleep 86400 & wait; done"  # takes note of the ends of all processes, which count until then
)
_OWN = (f"sh -c {FIRST_PROGRAM}", "sleep 86400")
_LISTING = {"docker": ("-eo", "pid,stat,args"), "podman": ("hpid", "state", "args")}
_DIGEST = re.compile(r"(sha256:)?[0-9a-f]{64}")
_KILLED = "Killed"  # what a shell says of a part of its command; only then is the engine asked why
_COMPLAINTS = ("Error", "Cannot connect", "OCI runtime", "error during connect")  # how an engine begins its own
_GONE = ("no such file", "could not find", "not found in container", "no such path")
_numbers = itertools.count()
_cleared: set[Engine] = set()
_with_timeout: set[str] = set()  # images, by content, that have a program which ends late commands


class EngineBox:
    """A container that belongs to one attempt."""

    def __init__(
        self, engine: Engine, image: str, limits: BoxLimits, *, is_open: bool = False, mounted: Mapping[str, str] = {}
    ) -> None:
        self.backend: Backend = engine
        self.not_held: Sequence[str] = ("disk_mb",)
        self._engine: Engine = engine
        self.image = image
        self._limits = limits
        self._is_open = is_open
        self._mounted = mounted
        self._name = f"proctor-{os.getpid()}-{next(_numbers)}"
        self._kills = 0
        self._has_timeout = True
        self._is_stopped = False

    async def __aenter__(self) -> Self:
        await remove_left_boxes(self._engine)
        arguments = start_arguments(self._name, self.image, self._limits, self._mounted, is_open=self._is_open)
        own = own_limits() if self._engine == "podman" else []
        started = await self._ask(START_SECONDS, arguments[0], *own, *arguments[1:])
        if started.code != 0:
            await self._remove()
            raise EnvironmentFailed("{engine} cannot start {image}: {error}", kind="image", engine=self._engine, image=self.image, error=_said(started))  # fmt: skip
        content = await self._ask(ANSWER_SECONDS, "inspect", "--format", "{{.Image}}", self._name)
        self.image = content.output.strip() if content.code == 0 else self.image
        if content.code != 0 or self.image not in _with_timeout:
            probe = await self._ask(ANSWER_SECONDS, "exec", self._name, "timeout", "-k", "1", "10", "true")
            self._has_timeout = probe.code == 0
            _with_timeout.update([self.image] if self._has_timeout and content.code == 0 else [])
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._remove()

    async def run(
        self,
        command: Sequence[str],
        seconds: float,
        *,
        folder: str = "/",
        user: str | None = None,
        variables: Mapping[str, str] = {},
    ) -> CommandResult:
        how = ["-w", folder, *(("-u", user) if user is not None else ())]
        how += [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]
        limit = ["timeout", "-k", f"{KILL_SECONDS:g}", f"{seconds:g}"] if self._has_timeout else []
        if self._is_stopped:
            await self._start_again()
        result = await self._exec([*how, self._name, *limit, *command], seconds)
        if result.code != 0 and result.output.lstrip().startswith(_COMPLAINTS):  # a command may say that too
            await self._check_running()
        was_late = result.code in (LATE, KILLED) and result.seconds >= seconds
        shows_kill = result.code == KILLED or _KILLED in result.output
        killed = shows_kill and not was_late and await self._was_out_of_memory()
        return CommandResult(
            code=KILLED if was_late else result.code,
            head=result.head,
            tail=result.tail,
            dropped_bytes=result.dropped_bytes,
            was_late=was_late,
            was_out_of_memory=killed,
            seconds=result.seconds,
        )

    async def put(self, archive: bytes) -> None:
        if not archive.strip(b"\0"):  # podman refuses one without entries
            return
        copied = await self._ask(ANSWER_SECONDS, "cp", "-", f"{self._name}:/", given=archive)
        if copied.code != 0:
            raise self._died(_said(copied))

    async def take(self, paths: Sequence[str], most_bytes: int = ARTEFACT_BYTES) -> bytes:
        buffer = io.BytesIO()
        left = most_bytes
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as whole:
            for path in paths:
                code, data, error = await _collect([self._engine, "cp", f"{self._name}:{path}", "-"], left + (1 << 20), ANSWER_SECONDS)  # fmt: skip
                if code != 0 and any(word in error.lower() for word in _GONE):
                    continue
                if code != 0:
                    raise self._died(error)
                left -= len(data)
                if left < 0:
                    raise TooMuch(f"{path}: > {most_bytes} bytes")
                _merge(data, posixpath.dirname(path), whole)
        return buffer.getvalue()

    async def list_processes(self) -> frozenset[str]:
        listed = await self._ask(ANSWER_SECONDS, "top", self._name, *_LISTING[self._engine])
        if listed.code != 0 or listed.dropped_bytes:
            raise self._died(_said(listed))
        rows = [words for line in listed.head.splitlines()[1:] if len(words := line.strip().split(maxsplit=2)) > 1]
        return frozenset(row[0] for row in rows if row[1][0] not in "ZX" and row[2:] not in ([own] for own in _OWN))

    async def stop_processes(self) -> None:
        stopped = await self._ask(ANSWER_SECONDS, "stop", "-t", "0", self._name)
        if stopped.code != 0:
            raise self._died(_said(stopped))
        self._is_stopped = True

    async def _start_again(self) -> None:
        started = await self._ask(ANSWER_SECONDS, "start", self._name)
        if started.code != 0:
            raise self._died(_said(started))
        self._is_stopped = False

    async def _exec(self, arguments: Sequence[str], seconds: float) -> CommandResult:
        """Run a command; one whose end never comes costs its box, as the end of our side ends nothing in there.

        In an image that cannot end it, a late command costs all processes of the box.
        """
        wait_seconds = seconds + KILL_SECONDS + ANSWER_SECONDS if self._has_timeout else seconds
        try:
            return await _command([self._engine, "exec", *arguments], self._limits.output_bytes, wait_seconds)
        except TimeoutError:
            if not self._has_timeout:
                await self.stop_processes()
                return CommandResult(code=KILLED, seconds=seconds)
            await self._remove()
            raise EnvironmentDied("The box does not answer any more.", kind="stuck") from None

    async def _check_running(self) -> None:
        """Raise EnvironmentDied if the container does not run, or its engine does not answer."""
        state = await self._ask(ANSWER_SECONDS, "inspect", "--format", "{{.State.Running}}", self._name)
        if state.output.strip() != "true":
            raise self._died(_said(state))

    async def _was_out_of_memory(self) -> bool:
        """True if the kernel has ended processes of the box for want of memory since this was last asked."""
        script = "cat /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control 2>/dev/null"
        counted = await self._ask(ANSWER_SECONDS, "exec", self._name, "sh", "-c", script)
        counts = [int(words[1]) for line in counted.head.splitlines() if len(words := line.split()) == 2 and words[0] == "oom_kill" and words[1].isdigit()]  # fmt: skip
        before, self._kills = self._kills, max(counts, default=0)
        return self._kills > before

    async def _remove(self) -> None:
        with suppress(EnvironmentFailed):
            await self._ask(ANSWER_SECONDS, "rm", "-f", self._name)

    async def _ask(self, seconds: float, *arguments: str, given: bytes | None = None) -> CommandResult:
        try:
            return await _command([self._engine, *arguments], OUTPUT_BYTES, seconds, given)
        except TimeoutError:
            raise self._died(f"{self._engine} {arguments[0]}: {seconds:g} s") from None

    def _died(self, error: str) -> EnvironmentDied:
        return EnvironmentDied("The box failed: {error}", kind="engine", error=error)


def start_arguments(
    name: str, image: str, limits: BoxLimits, mounted: Mapping[str, str] = {}, *, is_open: bool = False
) -> list[str]:
    """Return the arguments that start a box and keep it until it is removed."""
    memory = f"{limits.memory_mb}m"
    return [
        *("run", "-d", "--name", name, "--label", f"{LABEL}={owner_of_boxes()}", "--network", "bridge" if is_open else "none"),
        *("--cap-drop", "ALL", *(word for capability in CAPABILITIES for word in ("--cap-add", capability))),
        *("--security-opt", "no-new-privileges", "--pids-limit", str(limits.processes)),
        *("--memory", memory, "--memory-swap", memory, "--cpus", f"{limits.cpus:g}"),
        *(word for inside, outside in mounted.items() for word in ("-v", f"{outside}:{inside}:ro")),
        *("--stop-signal", "KILL", "--entrypoint", "sh", image, "-c", FIRST_PROGRAM),
    ]  # fmt: skip


def own_limits() -> list[str]:
    """Return the limits of this process as arguments of podman, which else asks for more than it may give where it may not raise them."""
    if sys.platform != "linux":
        return []
    import resource

    names = {"nofile": (resource.RLIMIT_NOFILE, "fs/nr_open"), "nproc": (resource.RLIMIT_NPROC, "kernel/pid_max")}
    arguments = []
    for name, (limit, most_of_kernel) in names.items():
        own, most = resource.getrlimit(limit)[1], int(Path("/proc/sys", most_of_kernel).read_text("ascii"))
        number = most if own == resource.RLIM_INFINITY else min(own, most)
        arguments += ["--ulimit", f"{name}={number}:{number}"]
    return arguments


def find_engine(engine: Engine) -> bool:
    """True if an engine answers."""
    try:
        asked = subprocess.run(  # noqa: S603 - a program of two
            [engine, "version", "--format", "{{.Server.Version}}"],
            capture_output=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0


async def has_any_image(engine: Engine, images: Sequence[str]) -> bool:
    """True if an engine has one of these images on this machine."""
    listed = await _command([engine, "image", "inspect", "--format", "{{.Id}}", *images], OUTPUT_BYTES, ANSWER_SECONDS)
    return any(_DIGEST.fullmatch(line) for line in listed.output.splitlines())


async def fetch_image(engine: Engine, image: str) -> None:
    """Fetch an image from where its name says.

    Raises:
        EnvironmentFailed: it cannot be fetched.
    """
    try:
        fetched = await _command([engine, "pull", "-q", image], OUTPUT_BYTES, START_SECONDS)
        error = "" if fetched.code == 0 else _said(fetched)
    except TimeoutError:
        error = f"{START_SECONDS:g} s"
    if error:
        raise EnvironmentFailed("{engine} cannot fetch the image {image}. Check its name, or bring it to this machine first ({engine} pull, load or build): {error}", kind="image", engine=engine, image=image, error=error)  # fmt: skip


async def build_image(engine: Engine, folder: Path, digest: str, leave_out: Collection[str] = ()) -> str:
    """Return an image that is built of a folder with a Dockerfile, once for its content.

    Args:
        leave_out: names in the folder that do not go to the engine.

    Raises:
        EnvironmentFailed: it cannot be built.
    """
    tag = f"proctor-box:{digest}"
    known = await _command([engine, "image", "inspect", tag], OUTPUT_BYTES, ANSWER_SECONDS)
    if known.code != 0:
        try:
            with temporary_folder() as parent:
                is_copied = bool(leave_out) or any((folder / name).is_symlink() for name in READ_BY_ENGINES)
                context = Path(parent, "context") if is_copied else folder
                if is_copied:
                    await asyncio.to_thread(_copy_context, folder, context, leave_out)
                built = await _command(
                    [engine, "build", "-q", "-t", tag, str(context.absolute())], OUTPUT_BYTES, START_SECONDS
                )
        except TimeoutError:
            raise EnvironmentFailed("{engine} did not build {folder} in {seconds} seconds.", kind="image", engine=engine, folder=folder, seconds=f"{START_SECONDS:g}") from None  # fmt: skip
        if built.code != 0:
            raise EnvironmentFailed("{engine} cannot build {folder}: {error}", kind="image", engine=engine, folder=folder, error=_said(built))  # fmt: skip
    return tag


def _copy_context(folder: Path, context: Path, leave_out: Collection[str]) -> None:
    def left_out(parent: str, _: list[str]) -> list[str]:
        return list(leave_out) if Path(parent) == folder else []

    shutil.copytree(folder, context, symlinks=True, ignore=left_out)
    for name in READ_BY_ENGINES:
        if (context / name).is_symlink() and (folder / name).is_file():
            (context / name).unlink()
            shutil.copy(folder / name, context / name)


async def remove_left_boxes(engine: Engine) -> None:
    """Remove the boxes of processes of this machine that are dead; once for a process of ours."""
    if engine in _cleared:
        return
    _cleared.add(engine)
    listing = await _command([engine, "ps", "-aq", "--filter", f"label={LABEL}"], 1 << 20, ANSWER_SECONDS)
    template = f'{{{{.Id}}}} {{{{index .Config.Labels "{LABEL}"}}}}'
    for container in listing.head.split() if listing.code == 0 else ():
        shown = await _command([engine, "inspect", "--format", template, container], OUTPUT_BYTES, ANSWER_SECONDS)
        name, _, owner = shown.head.strip().partition(" ")
        where, _, process = owner.rpartition(":")
        if shown.code == 0 and where == socket.gethostname() and process.isdigit() and not is_alive(int(process)):
            await _command([engine, "rm", "-f", name], OUTPUT_BYTES, ANSWER_SECONDS)


def owner_of_boxes() -> str:
    """Return what the boxes of this process are labelled with."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _merge(data: bytes, folder: str, whole: tarfile.TarFile) -> None:
    with tarfile.open(fileobj=io.BytesIO(data)) as part:
        for number, entry in enumerate(part):
            if number >= ARTEFACT_ENTRIES:
                raise TooMuch(f"{folder}: > {ARTEFACT_ENTRIES} entries")
            rename_entry(entry, folder)
            whole.addfile(entry, part.extractfile(entry) if entry.isreg() else None)


def _said(result: CommandResult) -> str:
    return result.output.strip()[-800:] or f"exit code {result.code}"


async def _command(command: Sequence[str], kept_bytes: int, seconds: float, given: bytes | None = None) -> CommandResult:  # fmt: skip
    """Run a command of an engine, and return how it ended with the beginning and end of what it printed.

    Raises:
        EnvironmentFailed: the program is not there.
        TimeoutError: it did not end; it is killed.
    """
    begun, output = time.monotonic(), Ends(kept_bytes)
    async with asyncio.timeout(seconds), _started(command, given) as running:
        while data := await running.output.read(1 << 16):
            output.add(data)
        code = await running.end()
    texts = output.texts()
    return CommandResult(code=code, head=texts["head"], tail=texts["tail"], dropped_bytes=texts["cut"], seconds=time.monotonic() - begun)  # fmt: skip


async def _collect(command: Sequence[str], most_bytes: int, seconds: float) -> tuple[int, bytes, str]:
    """Return exit code, output and errors of a command; what is over `most_bytes` is not read."""
    data = bytearray()
    with TemporaryFile() as errors:
        try:
            async with asyncio.timeout(seconds), _started(command, errors=errors) as running:
                while piece := await running.output.read(1 << 16):
                    data += piece
                    if len(data) > most_bytes:
                        raise TooMuch(f"{' '.join(command[1:])}: > {most_bytes} bytes")
                code = await running.end()
        except TimeoutError:
            return KILLED, b"", f"{command[1]}: {seconds:g} s"
        errors.seek(0)
        return code, bytes(data), errors.read(OUTPUT_BYTES).decode("utf-8", "replace")


class RunningCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command of an engine, and what it prints."""

    process: "subprocess.Popen[bytes]"
    output: asyncio.StreamReader

    async def end(self) -> int:
        """Return the exit code of a command that prints nothing any more."""
        return await asyncio.to_thread(self.process.wait)


@asynccontextmanager
async def _started(
    command: Sequence[str], given: bytes | None = None, errors: IO[bytes] | None = None
) -> AsyncIterator[RunningCommand]:
    """Start a command, and end it when the block is left.

    It is not started by the event loop: that of a run leaves copies of its pipes open in each process, so that the end of what
    an engine prints would only come with the end of what it starts.
    """
    with temporary_folder() if given is not None else nullcontext(gettempdir()) as folder:
        process, output = _spawn(command, given, errors, folder), asyncio.StreamReader()
        transport: asyncio.BaseTransport | None = None
        try:
            loop = asyncio.get_running_loop()
            transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(output), process.stdout)
            yield RunningCommand(process=process, output=output)
        finally:
            process.kill()  # nothing happens to one that has ended
            process.wait()
            if transport is not None:
                transport.close()


def _spawn(
    command: Sequence[str], given: bytes | None, errors: IO[bytes] | None, folder: str
) -> "subprocess.Popen[bytes]":
    """Start a command, which may leave files where it runs, and of what it is given a copy in its folder for such."""
    with TemporaryFile() as source:
        source.write(given or b"")
        source.seek(0)
        variables = os.environ if given is None else {**os.environ, "TMPDIR": folder}
        try:
            return subprocess.Popen(  # noqa: S603 - a program of two
                command,
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=errors or subprocess.STDOUT,
                cwd=folder,
                env=variables,
            )
        except OSError as error:
            raise EnvironmentFailed("{engine} cannot be run: {error}", kind="engine", engine=command[0], error=error) from error  # fmt: skip
