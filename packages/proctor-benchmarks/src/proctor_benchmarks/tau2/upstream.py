"""The official code of one copy of the repository, in worker processes, and what it says of tasks and conversations."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec

from proctor.core.errors import BadInput, MissingExtra
from proctor.isolation import Instance, Workers, find_packages
from proctor_benchmarks.tau2 import wording
from proctor_benchmarks.tau2.messages import OfficialMessage
from proctor_benchmarks.tau2.rewards import Replayed

NEEDED = ("pydantic", "docstring_parser", "addict", "toml", "yaml")
PROGRAM = Path(__file__).with_name("worker_program.py")

RawTask = Mapping[str, object]


class DescribedDomain(msgspec.Struct, frozen=True, kw_only=True):
    """A domain as its environment describes it: the policy, both tool lists, and which tools read and which write."""

    policy: str
    tools: tuple[dict[str, Any], ...]
    user_tools: tuple[dict[str, Any], ...]
    types: Mapping[str, str]


class Upstream:
    """Worker processes with the official domains; `async with` it for as long as they may run.

    Raises:
        MissingExtra: a package that the official code imports is not installed.
    """

    def __init__(self, root: Path) -> None:
        try:
            packages = find_packages(*NEEDED)
        except BadInput:
            raise MissingExtra("tau2", "tau2") from None
        self.root = root
        self.words = wording.read(root)
        self._workers = Workers(
            PROGRAM, paths=[root / "src", *packages], variables={"TAU2_DATA_DIR": str(root / "data")}
        )
        self._described: dict[tuple[str, bool], DescribedDomain] = {}

    async def __aenter__(self) -> Self:
        await self._workers.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._workers.__aexit__(*raised)

    async def describe(self, domain: str, *, solo: bool = False) -> DescribedDomain:
        """Return what a domain offers; asked once."""
        key = (domain, solo)
        if key not in self._described:
            described = await self._workers.run("describe", domain=domain, solo=solo)
            self._described[key] = msgspec.convert(described, DescribedDomain)
        return self._described[key]

    async def start(self, domain: str, task: RawTask, *, solo: bool = False) -> Instance:
        """Return the environment of a task in its start state."""
        return await self._workers.open("start", domain=domain, task=task, solo=solo)

    async def gold(self, domain: str, task: RawTask) -> dict[str, Any]:
        """Return the database digests of the start and of the expected end, and which expected actions fail."""
        result: dict[str, Any] = await self._workers.run("gold", domain=domain, task=task)
        return result

    async def replay(
        self,
        domain: str,
        task: RawTask,
        messages: Sequence[OfficialMessage],
        *,
        solo: bool = False,
        strict: bool = True,
    ) -> Replayed:
        """Replay a conversation, and compare where it ends with what the task expects."""
        result = await self._workers.run(
            "evaluate", domain=domain, task=task, messages=messages, solo=solo, strict=strict
        )
        return msgspec.convert(result, Replayed)

    async def complete(self, domain: str, task: RawTask, messages: Sequence[OfficialMessage]) -> dict[str, Any]:
        """Return a conversation with the results that were left out (`content_sha256`), by making its calls, and where they end."""
        result: dict[str, Any] = await self._workers.run("complete", domain=domain, task=task, messages=messages)
        return result
