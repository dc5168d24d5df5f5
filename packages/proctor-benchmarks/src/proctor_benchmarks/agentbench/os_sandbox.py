"""Give each attempt a computer that is thrown away: a small Linux of the system's own programs.

It is a box without an image (`proctor_benchmarks.boxes`), with a login shell that lives from command to command.
"""

import json
from collections.abc import Sequence
from typing import Any, Self

from proctor.core.errors import BadInput, EnvironmentFailed
from proctor_benchmarks.agentbench.os_loop import OsScript, Ran
from proctor_benchmarks.boxes.namespace import Namespace, lacks
from proctor_benchmarks.boxes.system_root import PROGRAMS, SYSTEM, files_of_a_fresh_system

SECONDS = 30.0  # of a command, as officially
SCRIPT_SECONDS = 180.0  # officially without a limit
DISK_BYTES = 256 << 20
LIMITS = {
    "RLIMIT_NPROC": 256, "RLIMIT_DATA": 512 << 20, "RLIMIT_AS": 2 << 30, "RLIMIT_FSIZE": DISK_BYTES, "RLIMIT_CORE": 0,
}  # fmt: skip
_LANGUAGES = {"bash": ("bash", "-c"), "python": ("python3", "-c")}
_COMPILERS = {"c": "gcc", "c++": "g++"}


class Sandbox:
    """A computer of one attempt."""

    def __init__(self) -> None:
        self._namespace = Namespace(DISK_BYTES)

    async def __aenter__(self) -> Self:
        await self._namespace.start()
        farms = {f"/usr/{name}": f"{SYSTEM}/{name}" for name in PROGRAMS}
        try:
            await self._ask("prepare", files=files_of_a_fresh_system(), farms=farms, limits=LIMITS)
        except BaseException:
            await self._namespace.end()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._namespace.end()

    async def type(self, command: str) -> str:
        """Return what the shell of the agent prints for a command, until it ends or is silent for five seconds."""
        return str(await self._ask("type", command=command, seconds=SECONDS))

    async def run(self, script: OsScript, *arguments: str) -> Ran:
        """Run a script outside of that shell, as root."""
        if script.language in _COMPILERS:
            return await self._run_compiled(script, arguments)
        if script.language not in _LANGUAGES:
            raise EnvironmentFailed("A script of this problem is in '{language}', which cannot be run.", kind="problem", language=script.language)  # fmt: skip
        dashes = ["--"] if script.language == "bash" and arguments else []  # $0 of the script
        return await self._run([*_LANGUAGES[script.language], script.code, *dashes, *arguments])

    async def _run_compiled(self, script: OsScript, arguments: Sequence[str]) -> Ran:
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
        return await self._namespace.ask(call, SCRIPT_SECONDS + SECONDS, **given)


def check_machine() -> None:
    """Raise `BadInput` where there are no sandboxes."""
    if lacks():
        raise BadInput(
            "The part os runs shell commands of the agent, and only in a sandbox, which needs Linux, bubblewrap, and Python at /usr/bin/python3 (apt-get install bubblewrap python3)."
        )
