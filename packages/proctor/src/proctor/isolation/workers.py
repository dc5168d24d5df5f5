"""A few long-lived worker processes that many asyncio tasks share, and the objects that live in them."""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Self

import msgspec

from proctor.core.errors import BadInput, EnvironmentFailed
from proctor.isolation.limits import MEGABYTE, WorkerLimits, WorkerRaised
from proctor.isolation.process import Gone, WorkerProcess, WorkerProgram, WorkerReply
from proctor.runtime.concurrent import run_to_the_end

MEMORY_OF_ALL = 1536 * MEGABYTE
LOG_BYTES = 4 * MEGABYTE  # of an instance's calls, which are kept so that it can be made again
DEFAULT = WorkerLimits()
VARIABLE = "PROCTOR_ISOLATED_WORKERS"  # also set for each of several processes of one run


class Workers:
    """Processes that run the functions of one program. They start when they are needed, and end with the last `async with`.

    Args:
        program: a Python file of ours; it can import the standard library and what is in `paths`.
        paths: folders from which it imports; see `find_packages` for what is installed.
        size: how many processes at most; by default one for each core, or as many as fit into 1.5 GB.
        limits: of each process.
        variables: what its environment holds in addition to the little that Python needs.
        confined: in namespaces, where the machine allows them; False leaves the program the network and the user's files.
        python: the interpreter; the one that runs us if None.
    """

    def __init__(
        self,
        program: Path,
        *,
        paths: Sequence[Path] = (),
        size: int | None = None,
        limits: WorkerLimits = DEFAULT,
        variables: Mapping[str, str] = {},
        confined: bool = True,
        python: Path | None = None,
    ) -> None:
        self.size = size or default_size(limits)
        self._program = WorkerProgram(
            path=program, paths=paths, variables=variables, limits=limits, confined=confined, python=python
        )
        self._entered = 0
        self._unusable: WorkerRaised | None = None
        self._processes: list[WorkerProcess] = []
        self._ids = count(1)

    async def __aenter__(self) -> Self:
        self._entered += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        self._entered -= 1
        if not self._entered:
            processes, self._processes = self._processes, []
            await run_to_the_end(*(process.close() for process in processes))

    async def run(self, function: str, /, **arguments: object) -> Any:
        """Call a function of the program in any worker and return its value; arguments and value are JSON.

        Raises:
            WorkerRaised: the function raised.
            EnvironmentFailed: the worker died, hung or outgrew its limits; the next call has another one.
        """
        id = next(self._ids)
        request = encode_request({"id": id, "call": function, "with": arguments})
        while True:
            try:
                reply, _ = await self.least_busy().ask(id, request)
            except Gone:
                continue
            return value_of(reply, self._program)

    async def open(self, function: str, /, **arguments: object) -> "Instance":
        """Call a function of the program, and keep the object that it returns in its worker.

        Raises:
            WorkerRaised: the function raised.
            EnvironmentFailed: the worker died, hung or outgrew its limits.
        """
        id = next(self._ids)
        request = encode_request({"id": id, "call": function, "with": arguments, "opens": True})
        instance = Instance(self, id, self._program)
        try:
            await instance.ask(id, request)
        except BaseException:
            await instance.close()
            raise
        return instance

    def least_busy(self, *, for_instance: bool = False) -> WorkerProcess:
        """Return the worker with the least to do, a new one where all have something and there may be more."""
        if not self._entered:
            raise RuntimeError("enter the workers first")
        for process in self._processes:
            self._unusable = process.unusable or self._unusable
        if self._unusable is not None:
            raise WorkerRaised(self._unusable.type, self._unusable.message)  # another one could not import it either
        self._processes = [process for process in self._processes if not process.is_closed]
        alive = [process for process in self._processes if process.fault is None]
        chosen = min(alive, key=lambda one: (one.load + one.instances * for_instance, one.load), default=None)
        if chosen is None or (chosen.load + chosen.instances * for_instance and len(alive) < self.size):
            chosen = WorkerProcess(self._program)
            self._processes.append(chosen)
        return chosen

    def next_id(self) -> int:
        return next(self._ids)


class Instance:
    """An object in a worker.

    If its worker dies while the object is idle, it is made again in another one by repeating its calls, and each has to come
    out as it did; the object therefore has to be deterministic. If it dies during a call, or a call is cancelled, the object
    is lost.
    """

    def __init__(self, workers: Workers, id: int, program: WorkerProgram) -> None:
        self._workers = workers
        self._id = id
        self._program = program
        self._process: WorkerProcess | None = None
        self._turn = asyncio.Lock()  # one call at a time, in the order they came, also while it is made again
        self._log: list[tuple[int, bytes, int]] | None = []  # id and text of each request, and what its reply was
        self._log_bytes = 0
        self._fault: EnvironmentFailed | None = None

    async def call(self, method: str, /, **arguments: object) -> Any:
        """Call a method of the object and return its value; arguments and value are JSON.

        Raises:
            WorkerRaised: the method raised.
            EnvironmentFailed: the worker died, hung or outgrew its limits; the object is lost.
        """
        id = self._workers.next_id()
        return await self.ask(id, encode_request({"id": id, "call": method, "of": self._id, "with": arguments}))

    async def close(self) -> None:
        """Drop the object; no method of it is called, and nothing is waited for."""
        if self._fault is None:
            self._lose(EnvironmentFailed("The object in the worker of {program} was closed.", kind="worker_killed", program=self._program.path.name))  # fmt: skip

    async def ask(self, id: int, request: bytes) -> Any:
        """Send a request of this object to the worker that has it, or has it again."""
        async with self._turn:
            if self._fault is not None:
                raise EnvironmentFailed(self._fault.sentence, kind=self._fault.kind)
            try:
                reply, digest = await self._answered(id, request)
            except BaseException as error:
                self._lose(error)
                raise
            self._remember(id, request, digest)
            return value_of(reply, self._program)

    async def _answered(self, id: int, request: bytes) -> tuple[WorkerReply, int]:
        while True:
            try:
                if self._process is None or self._process.fault is not None:
                    await self._move()
                assert self._process is not None
                return await self._process.ask(id, request)
            except Gone:
                continue

    async def _move(self) -> None:
        """Find a worker, and make the object in it as it was."""
        if self._log is None:
            raise EnvironmentFailed("The worker of {program} ended, and too much was done in it to be repeated.", kind="worker_killed", program=self._program.path.name)  # fmt: skip
        self._process = process = self._workers.least_busy(for_instance=True)
        process.instances += 1
        for id, request, digest in self._log:
            _, again = await process.ask(id, request)
            if again != digest:
                raise EnvironmentFailed("The worker of {program} ended, and what was done in it came out otherwise when it was repeated.", kind="worker_killed", program=self._program.path.name)  # fmt: skip

    def _remember(self, id: int, request: bytes, digest: int) -> None:
        self._log_bytes += len(request)
        if self._log_bytes > LOG_BYTES:
            self._log = None
        if self._log is not None:
            self._log.append((id, request, digest))

    def _lose(self, error: BaseException) -> None:
        """Never answer again: what state the object is in is not known, or it never came to be."""
        if not isinstance(error, EnvironmentFailed):
            error = EnvironmentFailed("A call in the worker of {program} was given up.", kind="worker_killed", program=self._program.path.name)  # fmt: skip
        self._fault = error
        self._log = None
        if self._process is not None:
            self._process.drop(self._id)


def encode_request(request: Mapping[str, object]) -> bytes:
    """Return a request as a line of JSON, also with what only Python's JSON has: lone surrogates, NaN."""
    try:
        return msgspec.json.encode(request) + b"\n"
    except (UnicodeEncodeError, TypeError):
        return json.dumps(request).encode() + b"\n"


def value_of(reply: WorkerReply, program: WorkerProgram) -> object:
    """Return the value of a reply.

    Raises:
        WorkerRaised: it says that the function raised.
        EnvironmentFailed: the value exceeds the limit, and was not sent.
    """
    if reply.raised is not None:
        raise WorkerRaised(*reply.raised)
    if reply.too_large is not None:
        raise EnvironmentFailed("A result of the worker of {program} has {size} bytes of JSON; the limit is {limit}.", kind="worker_output", program=program.path.name, size=reply.too_large, limit=program.limits.output_bytes)  # fmt: skip
    return reply.value


def default_size(limits: WorkerLimits) -> int:
    """Return one worker for each core, and no more than fit into the memory of all; or what the environment says.

    Raises:
        BadInput: it says no number.
    """
    if (given := os.environ.get(VARIABLE)) is None:
        return max(1, min(os.cpu_count() or 1, MEMORY_OF_ALL // limits.memory_bytes))
    if not given.isdecimal() or not int(given):
        raise BadInput("{variable} has to be a number from 1, not '{value}'.", variable=VARIABLE, value=given)
    return int(given)
