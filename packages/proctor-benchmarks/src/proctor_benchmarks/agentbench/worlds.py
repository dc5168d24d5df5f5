"""Make what plays each part when a run begins: what a part lacks is named then, before the agent is asked anything."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import Any, Self

import msgspec

from proctor.core.sample import Sample
from proctor_benchmarks.agentbench.alfworld import AlfworldPart
from proctor_benchmarks.agentbench.alfworld_games import Games
from proctor_benchmarks.agentbench.cards import CardsPart
from proctor_benchmarks.agentbench.conversation import History, Loop, Play
from proctor_benchmarks.agentbench.database import Databases, Engine
from proctor_benchmarks.agentbench.db import DatabasePart
from proctor_benchmarks.agentbench.knowledge import KnowledgePart, Ontology
from proctor_benchmarks.agentbench.knowledge_base import SparqlBase
from proctor_benchmarks.agentbench.official import Part
from proctor_benchmarks.agentbench.os_loop import OsPart
from proctor_benchmarks.agentbench.os_sandbox import Sandbox, check_machine
from proctor_benchmarks.agentbench.puzzles import PuzzlesPart, PuzzleWording
from proctor_benchmarks.agentbench.puzzles_host import PuzzleHost


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """What the user gives for the worlds of the parts; see the options of the benchmark."""

    database: Engine
    python: str
    host: PuzzleHost
    sparql: str | None
    alfworld: str | None


class AgentBenchWorld:
    """A part that is made when the run begins."""

    def __init__(self, make: Callable[[], tuple[Play, object]]) -> None:
        self._make = make
        self._stack = AsyncExitStack()
        self._play: Play | None = None

    async def __aenter__(self) -> Self:
        self._play, held = self._make()
        if isinstance(held, AbstractAsyncContextManager):
            await self._stack.enter_async_context(held)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def __call__(self, sample: Sample, history: History) -> Loop:
        assert self._play is not None, "the part was not entered"
        return self._play(sample, history)


def worlds(root: Path, needs: Needs) -> Mapping[Part, AgentBenchWorld]:
    """Return the parts that can be played."""

    def database() -> tuple[Play, object]:
        part = DatabasePart(root, Databases(needs.database))
        return part, part

    def cards() -> tuple[Play, object]:
        part = CardsPart(root, needs.python)
        return part, part

    def system() -> tuple[Play, object]:
        check_machine()
        return OsPart(root, Sandbox), None

    def knowledge() -> tuple[Play, object]:
        base = SparqlBase(root, needs.sparql)
        return KnowledgePart(root, Ontology(root), base), base

    def puzzles() -> tuple[Play, object]:
        return PuzzlesPart(PuzzleWording(root), needs.host), needs.host

    def household() -> tuple[Play, object]:
        games = Games(needs.alfworld)
        return AlfworldPart(root, games.open), games

    makers: dict[Part, Any] = {
        "os": system,
        "db": database,
        "cards": cards,
        "kg": knowledge,
        "puzzles": puzzles,
        "alfworld": household,
    }
    return {part: AgentBenchWorld(make) for part, make in makers.items()}
