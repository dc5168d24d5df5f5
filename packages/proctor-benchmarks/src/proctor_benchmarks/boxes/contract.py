"""Define what every box does, whatever runs it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Protocol

import msgspec

Backend = Literal["docker", "podman", "bubblewrap"]
Network = Literal["none", "open"] | tuple[str, ...]
"""`open` is that of the machine; hosts with their ports (`api.example.com:443`) are all that the box reaches."""
Count = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]

ARTEFACT_BYTES = 64 << 20
ARTEFACT_ENTRIES = 100_000


class BoxLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What a box may use.

    Attributes:
        memory_mb, processes: of all its processes together, where the machine can bound them so.
        disk_mb: of its own files.
        output_bytes: of what a command prints the beginning, and again of its end; the middle is dropped and counted.
    """

    memory_mb: Count = 2048
    disk_mb: Count = 2048
    processes: Count = 512
    cpus: Annotated[float, msgspec.Meta(gt=0)] = 1.0
    output_bytes: Count = 64 << 10


class CommandResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a command ended.

    Attributes:
        code: its exit code; 128 and the signal that killed it.
        head, tail: what it printed; where nothing was dropped, all of it is the head.
        dropped_bytes: what was printed between them.
        was_late: True if it was killed at its time limit.
        was_out_of_memory: True if processes were killed for want of memory meanwhile.
    """

    code: int
    head: str = ""
    tail: str = ""
    dropped_bytes: int = 0
    was_late: bool = False
    was_out_of_memory: bool = False
    seconds: float = 0.0

    @property
    def output(self) -> str:
        return self.head if not self.dropped_bytes else f"{self.head}\n[{self.dropped_bytes} bytes were dropped here]\n{self.tail}"  # fmt: skip


class Box(Protocol):
    """A computer that belongs to one attempt.

    Attributes:
        backend: what runs it.
        not_held: limits that this machine cannot hold for all processes together.
        image: the content of its image, as the engine names it; '' where there is none.
    """

    backend: Backend
    not_held: Sequence[str]
    image: str

    async def run(
        self,
        command: Sequence[str],
        seconds: float,
        *,
        folder: str = "/",
        user: str | None = None,
        variables: Mapping[str, str] = {},
    ) -> CommandResult:
        """Run a command; one that is late or killed has a result like any other.

        Raises:
            EnvironmentFailed: the box does not answer.
        """
        ...

    async def put(self, archive: bytes) -> None:
        """Unpack a tar archive, also where processes were stopped."""
        ...

    async def take(self, paths: Sequence[str], most_bytes: int = ARTEFACT_BYTES) -> bytes:
        """Return a tar archive of what is at absolute paths; what is not there is left out.

        Raises:
            TooMuch: it has more bytes or entries than may be taken.
        """
        ...

    async def list_processes(self) -> frozenset[str]:
        """Return a name of each process that runs or is stopped, but for the box's own, as no command in the box can tell it."""
        ...

    async def stop_processes(self) -> None:
        """End all that commands left running."""
        ...


class TooMuch(Exception):
    """What is to be taken out of a box has more bytes or entries than may be taken."""
