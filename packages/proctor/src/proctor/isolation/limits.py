"""Define what a worker may use, and the exception raised for one of its program."""

import msgspec

MEGABYTE = 1 << 20


class WorkerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of one worker process.

    Attributes:
        seconds: of one call; a worker that takes longer is ended.
        start_seconds: from the start of the process until the program is imported.
        memory_bytes: of each process of the worker.
        output_bytes: of one result, as JSON.
        printed_bytes: what the program may print during one call; it is read and thrown away.
        file_bytes: of all that it writes into its temporary folder.
        processes: how many the worker may consist of.
    """

    seconds: float = 20.0
    start_seconds: float = 60.0
    memory_bytes: int = 512 * MEGABYTE
    output_bytes: int = 8 * MEGABYTE
    printed_bytes: int = 16 * MEGABYTE
    file_bytes: int = 64 * MEGABYTE
    processes: int = 32


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of a confined command.

    Attributes:
        memory_mb: of each process, what it has written to.
        processes: how many it may consist of, threads included; not enforced for root.
        disk_mb: of all that it writes into its temporary folder.
    """

    memory_mb: int = 4_000
    processes: int = 1_000
    disk_mb: int = 256


class WorkerRaised(Exception):
    """A function of the program raised.

    Attributes:
        type: the name of the exception's class.
        message: its text, cut where it is long.
    """

    def __init__(self, type: str, message: str) -> None:
        super().__init__(f"{type}: {message}")
        self.type = type
        self.message = message
