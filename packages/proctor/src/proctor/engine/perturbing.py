"""Put faults between an agent and its tools, at a stated rate and the same ones for the same seed."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from proctor.core.run import Perturb
from proctor.core.sample import ToolCall, ToolResult
from proctor.core.trajectory import FaultKind, InjectedFault

UNAVAILABLE = "Error: the service is temporarily unavailable. Nothing was done. Try again."
LOST = "Error: the connection broke before the result arrived. The call may have been carried out."

Run = Callable[[Sequence[ToolCall]], Awaitable[Sequence[ToolResult] | None]]


class Faults:
    """The faults of one attempt.

    Attributes:
        made: those so far.
    """

    def __init__(self, perturb: Perturb, seed: int, sample_id: str, attempt: int) -> None:
        self.made: list[InjectedFault] = []
        self._perturb = perturb
        self._draw = random.Random(f"{seed}/{attempt}/{sample_id}")  # noqa: S311 - no secret
        self._calls = 0

    async def around(self, calls: Sequence[ToolCall], run: Run) -> Sequence[ToolResult] | None:
        """Run the calls of a message that no fault keeps from it, and return a result for each; None if `run` refuses them."""
        kinds = [self._drawn(call) for call in calls]
        carried_out = [call for call, kind in zip(calls, kinds, strict=True) if kind != "error"]
        if "delay" in kinds:
            await asyncio.sleep(self._perturb.seconds)
        results = await run(carried_out) if carried_out else []
        if results is None:
            return None
        left = iter(results)
        return [
            _error(call, UNAVAILABLE) if kind == "error" else _disturbed(call, next(left), kind)
            for call, kind in zip(calls, kinds, strict=True)
        ]

    def _drawn(self, call: ToolCall) -> FaultKind | None:
        rates: tuple[tuple[FaultKind, float], ...] = (
            ("error", self._perturb.errors),
            ("lost", self._perturb.lost),
            ("delay", self._perturb.delays),
            ("cut", self._perturb.cuts),
        )
        number, self._calls = self._calls, self._calls + 1
        drawn = self._draw.random()
        for kind, rate in rates:
            if drawn < rate:
                self.made.append(InjectedFault(call=number, tool=call.name, kind=kind))
                return kind
            drawn -= rate
        return None


def _disturbed(call: ToolCall, result: ToolResult, kind: FaultKind | None) -> ToolResult:
    if kind == "lost":
        return _error(call, LOST)
    if kind == "cut":
        return msgspec.structs.replace(result, content=result.content[: len(result.content) // 2])
    return result


def _error(call: ToolCall, text: str) -> ToolResult:
    return ToolResult(name=call.name, id=call.id, content=text, is_error=True)
