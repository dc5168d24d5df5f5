"""Run boxes by bubblewrap, on the programs of this machine: no engine, no image, a start of some milliseconds.

The memory and the number of processes are bounded for all processes together where this machine lets us make a control group;
elsewhere each process has a bound of its own, which `not_held` says.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Self

from proctor.core.errors import EnvironmentDied, EnvironmentFailed
from proctor_benchmarks.boxes.contract import (
    ARTEFACT_BYTES,
    ARTEFACT_ENTRIES,
    Backend,
    BoxLimits,
    CommandResult,
    TooMuch,
)
from proctor_benchmarks.boxes.control_groups import make_group
from proctor_benchmarks.boxes.namespace import Namespace
from proctor_benchmarks.boxes.system_root import PROGRAMS, SYSTEM, files_of_a_fresh_system

ANSWER_SECONDS = 60.0  # over what a command may take: packing and unpacking, and a machine that is busy
PIECE_BYTES = 4 << 20
SHARED_MEMORY_BYTES = 64 << 20
FILE_ROOM_BYTES = 256 << 20  # of an archive on its way, which is in no folder


class BubblewrapBox:
    """A box of this machine's own programs.

    Args:
        mounted: folders of this machine by where they are in the box, read-only.
    """

    backend: Backend = "bubblewrap"
    image = ""

    def __init__(self, limits: BoxLimits, mounted: Mapping[str, str] = {}) -> None:
        self._limits = limits
        self._group = make_group(limits.memory_mb, limits.processes)
        self._namespace = Namespace(limits.disk_mb << 20, SHARED_MEMORY_BYTES, self._group, mounted)
        self.not_held: Sequence[str] = ("cpus",) if self._group is not None else ("cpus", "memory_mb", "processes")

    async def __aenter__(self) -> Self:
        try:
            await self._namespace.start()
            farms = {f"/usr/{name}": f"{SYSTEM}/{name}" for name in PROGRAMS}
            await self._ask("prepare", files=files_of_a_fresh_system(), farms=farms, limits=self._process_limits())
        except BaseException:
            await self._namespace.end()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._namespace.end()

    async def run(
        self,
        command: Sequence[str],
        seconds: float,
        *,
        folder: str = "/",
        user: str | None = None,
        variables: Mapping[str, str] = {},
    ) -> CommandResult:
        kills = self._group.memory_kills() if self._group is not None else 0
        how = {"folder": folder, "user": user, "variables": dict(variables)}
        command = [part.replace("\0", "") for part in command]
        ended = await self._ask(
            "execute",
            wait_seconds=seconds,
            command=command,
            seconds=seconds,
            kept_bytes=self._limits.output_bytes,
            how=how,
        )
        return CommandResult(
            code=ended["code"] if ended["code"] >= 0 else 128 - ended["code"],
            head=ended["head"],
            tail=ended["tail"],
            dropped_bytes=ended["cut"],
            was_late=ended["late"],
            was_out_of_memory=self._group is not None and self._group.memory_kills() > kills,
            seconds=ended["seconds"],
        )

    async def put(self, archive: bytes) -> None:
        await self._ask("begin_pack")
        for start in range(0, len(archive), PIECE_BYTES):
            await self._ask("append_pack", data=base64.b64encode(archive[start : start + PIECE_BYTES]).decode("ascii"))
        await self._ask("spread_pack")

    async def take(self, paths: Sequence[str], most_bytes: int = ARTEFACT_BYTES) -> bytes:
        packed = await self._ask("fill_pack", paths=list(paths), most_bytes=most_bytes, most_entries=ARTEFACT_ENTRIES)
        if packed["too_much"]:
            raise TooMuch(f"{', '.join(paths)}: > {most_bytes} bytes")
        starts = range(0, packed["bytes"], PIECE_BYTES)
        pieces = [await self._ask("read_pack", start=start, size=PIECE_BYTES) for start in starts]
        return b"".join(map(base64.b64decode, pieces))

    async def list_processes(self) -> frozenset[str]:
        return frozenset(await self._ask("list_processes"))

    async def stop_processes(self) -> None:
        await self._ask("stop_all")

    def _process_limits(self) -> Mapping[str, int]:
        memory = self._limits.memory_mb << 20
        files = (self._limits.disk_mb << 20) + FILE_ROOM_BYTES
        limits = {"RLIMIT_FSIZE": files, "RLIMIT_CORE": 0}
        if self._group is None:
            limits |= {"RLIMIT_DATA": memory, "RLIMIT_NPROC": self._limits.processes}
        return limits

    async def _ask(self, call: str, wait_seconds: float = 0.0, **given: Any) -> Any:
        try:
            return await self._namespace.ask(call, ANSWER_SECONDS + wait_seconds, **given)
        except EnvironmentFailed as failure:
            raise EnvironmentDied(failure.sentence, kind=failure.kind) from failure
