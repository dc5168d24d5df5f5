"""The official tools as an environment, and the pipeline's rule for beginning again.

The official pipeline asks the model at most 16 times and executes the calls of 15 replies; those of the 16th are left. Where the
last message has no text at all (`null`; an empty text is one), the whole pipeline runs again in the environment as it is by
then, three times at most.

Source: agentdojo 0.1.35, `agent_pipeline/tool_execution.py`, `task_suite/task_suite.py` (`run_task_with_pipeline`).
"""

from collections.abc import Mapping, Sequence
from typing import Self

from proctor.core.sample import FreshTurn, JsonObject, Message, Sample, Text, Tool, ToolCall, ToolResult, Turn
from proctor.core.trajectory import Trajectory
from proctor.isolation import Instance, Workers
from proctor.models.named import OpenedModels

ROUNDS = 15
RUNS = 3
NO_ARGUMENTS = "The arguments are no JSON object."  # upstream ends there with an exception


class Worlds(OpenedModels):
    """Makes the environment of each sample; its workers start with the run."""

    def __init__(self, workers: Workers, tools_by_suite: Mapping[str, Sequence[Tool]]) -> None:
        super().__init__([workers])
        self._workers = workers
        self._tools_by_suite = tools_by_suite

    def __call__(self, sample: Sample) -> "AgentDojoWorld":
        scene = sample.meta["scene"]
        return AgentDojoWorld(self._workers, scene, self._tools_by_suite[scene["suite"]])


class AgentDojoWorld:
    """The environment of one sample, in a worker.

    Attributes:
        tools: those of its suite.
    """

    def __init__(self, workers: Workers, scene: Mapping[str, str], tools: Sequence[Tool]) -> None:
        self.tools = tools
        self._workers = workers
        self._scene = scene
        self._world: Instance | None = None
        self._rounds = 0
        self._calls = 0

    async def __aenter__(self) -> Self:
        self._world = await self._workers.open("World", **self._scene)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._world is not None:
            await self._world.close()

    async def call(self, call: ToolCall) -> ToolResult:
        """Execute one call; agents that execute their calls themselves count their rounds themselves."""
        return (await self._execute([call]))[0]

    async def call_all(self, calls: Sequence[ToolCall]) -> Sequence[ToolResult] | None:
        """Execute the calls of one message; None in the round that the official pipeline does not execute any more."""
        self._rounds += 1
        return await self._execute(calls) if self._rounds <= ROUNDS else None

    async def state(self) -> JsonObject:
        """Return the digest of the environment, and what in it is not as it was; the engine looks at it between turns."""
        assert self._world is not None
        self._rounds = 0
        state: dict[str, object] = await self._world.call("state")
        return {**state, "calls": self._calls}

    async def _execute(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        assert self._world is not None
        self._calls += len(calls)
        sent = [{"name": call.name, "arguments": call.arguments} for call in calls if call.raw is None]
        results = iter(await self._world.call("call", calls=sent) if sent else ())
        return [_result(call, next(results) if call.raw is None else None) for call in calls]


class PipelineAgain:
    """The simulated user: asks the same again in a new conversation while the answer is `null`."""

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
        """Return the first turn again, or None when there is an answer or no run is left."""
        step = next((step for step in reversed(trajectory.steps) if step.message.role == "assistant"), None)
        runs = 1 + (trajectory.steps[-1].turn if trajectory.steps else 0)
        if runs >= RUNS or (step is not None and step.turn == runs - 1 and content_of(step.message) is not None):
            return None
        return FreshTurn(messages=sample.turns[0].messages)


def content_of(message: Message) -> str | None:
    """Return the official content of a message: its texts in lines, None where it has none."""
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    return "\n".join(texts) if texts else None


def _result(call: ToolCall, result: JsonObject | None) -> ToolResult:
    error = NO_ARGUMENTS if result is None else result["error"]
    content = error if error is not None or result is None else result["content"]
    return ToolResult(name=call.name, id=call.id, content=content, is_error=error is not None)
