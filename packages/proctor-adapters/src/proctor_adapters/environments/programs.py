"""Start the program of an environment, with little of our own environment and a temporary folder that ends with it."""

import errno
import os
import shlex
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated

import msgspec

from proctor.core.declared import Blame
from proctor.core.errors import BadInput, EnvironmentFailed
from proctor.isolation import Confinement, confine
from proctor.runtime.program import RunningProgram
from proctor.runtime.visible import visible
from proctor.transport.redact import redact

LINE_BYTES = 16_000_000  # of one line that is read
SHOWN = 500
GIVEN = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TZ", "USER", "VIRTUAL_ENV")
OF_TEMPORARY = ("TMPDIR", "TEMP", "TMP")


def command_of(argument: str, kind: str) -> list[str]:
    """Return a command line as words; it is split as a shell would, but no shell runs it.

    Raises:
        BadInput: it cannot be read, or there is no such program.
    """
    try:
        command = shlex.split(argument)
    except ValueError as error:
        raise BadInput("The command '{command}' cannot be read: {error}.", command=argument, error=error) from None
    if not command:
        raise BadInput("{kind}: needs a command, for example {kind}:'python shop.py'.", kind=kind)
    if shutil.which(command[0]) is None:
        raise BadInput("There is no program '{program}' to start the environment with.", program=command[0])
    return command


def check_variables(names: Sequence[str], what: str) -> None:
    """Raise BadInput if a variable that the program should be given is not set."""
    for name in names:
        if "=" not in name and name not in os.environ:
            raise BadInput("{what} should be given the variable {name}, which is not set.", what=what, name=name)


class ProgramOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of an environment that is a program.

    Attributes:
        seconds: how long one call may take; half of the time limit of a sample if None. The model sees that a
            call took longer, if the program then answers again.
        blame_death: whose failure it is when the program ends, hangs or breaks the protocol after a call, while a fresh one is sound.
        variables: names of environment variables that the program is given, such as that of a key, and `NAME=value`, in which
            `{folder}` is its temporary folder.
        confined: without network, other processes, and files that it can write but those of its temporary folder; the machine has to
            allow it.
        memory_mb, processes, disk_mb: the bounds of what is confined: the memory of each process, how many processes and
            threads, and all that is written into the folder.
    """

    seconds: Annotated[float, msgspec.Meta(gt=0)] | None = None
    blame_death: Blame = "agent"
    variables: tuple[str, ...] = ()
    confined: bool = False
    memory_mb: Annotated[int, msgspec.Meta(gt=0)] = 4_000
    processes: Annotated[int, msgspec.Meta(gt=0)] = 1_000
    disk_mb: Annotated[int, msgspec.Meta(gt=0)] = 256


def confinement(options: ProgramOptions) -> Confinement | None:
    """Return the bounds of a program; None where it is not confined."""
    if not options.confined:
        return None
    return Confinement(memory_mb=options.memory_mb, processes=options.processes, disk_mb=options.disk_mb)


@asynccontextmanager
async def started(
    command: Sequence[str], variables: Sequence[str] = (), *, confined: Confinement | None = None
) -> AsyncIterator[RunningProgram]:
    """Run a program, and end it and all it started.

    Args:
        variables: what else it is given: the names of variables of our environment, and `NAME=value`, in which `{folder}` is
            its temporary folder.
        confined: the bounds within which it runs without network, other processes, and files that it can write but those of
            its temporary folder; None: it is not confined.

    Raises:
        EnvironmentFailed: it cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="proctor-", ignore_cleanup_errors=True) as folder:
        given = {name: os.environ[name] for name in (*GIVEN, *variables) if name in os.environ}
        set_here = (text.partition("=") for text in variables if "=" in text)
        given |= {name: value.replace("{folder}", folder) for name, _, value in set_here}
        try:
            program = await RunningProgram.start(
                command if confined is None else confine(command, folder, confined),
                variables=given | dict.fromkeys(OF_TEMPORARY, folder),
                line_bytes=LINE_BYTES,
            )
        except OSError as error:
            raise EnvironmentFailed(
                "The environment's program '{program}' cannot be started: {error}.",
                kind="machine" if error.errno in (errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM) else "start",
                program=command[0],
                error=error.strerror or str(error),
            ) from error
        try:
            yield program
        except BaseException:
            await program.end(at_once=True)
            raise
        await program.end()


async def failure_of(program: RunningProgram) -> EnvironmentFailed:
    """Return the failure of a program whose output ended."""
    if not await program.ends():
        return EnvironmentFailed(
            "The environment closed its output. Its standard error: {said}", kind="no_reply", said=_said(program)
        )
    return EnvironmentFailed(
        "The environment ended with code {code}. Its standard error: {said}",
        kind="exited",
        code=program.code,
        said=_said(program),
    )


def shown(text: str) -> str:
    """Return what a program wrote as a message may show it: short, without keys and control characters."""
    return visible(redact(text[: 4 * SHOWN]).strip()[:SHOWN]) or "-"


def _said(program: RunningProgram) -> str:
    return shown(program.said[-SHOWN:])
