"""An agent that knows how some tasks are done: `solutions.js` looks at the page and names the next actions, which are the tools.

It acts with what every agent has, so it also shows that the tools suffice; it is no part of the official benchmark.
"""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from itertools import count
from pathlib import Path

from proctor.core.errors import AgentFailed, EpisodeOver
from proctor.core.sample import Message, Sample, ToolCall, Turn
from proctor.core.task import Environment, Session
from proctor.core.trajectory import Step, ToolStyle
from proctor.engine.acting import Acting
from proctor_benchmarks.miniwob.environment import MiniwobEpisode

MOST_LOOKS = 60


@cache
def _script() -> str:
    return Path(__file__).with_name("solutions.js").read_text(encoding="utf-8")


@cache
def tasks() -> frozenset[str]:
    """Return the names of the tasks that have a solution."""
    return frozenset(re.findall(r'^  "([\w.-]+)":', _script(), re.MULTILINE))


class ScriptedAgent:
    """Does the tasks that have a solution."""

    name = "baseline:oracle"
    tools: ToolStyle = "native"
    reports_cost = True

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        assert isinstance(environment, Acting)
        yield _Solving(environment)


class _Solving:
    def __init__(self, environment: Acting) -> None:
        self.received: list[Step] = []
        self._environment = environment

    async def send(self, turn: Turn) -> Sequence[Step]:
        """Look and act until the page ends the episode."""
        episode = self._environment.environment
        assert isinstance(episode, MiniwobEpisode)
        name, numbers = episode.episode["task"], count()
        if name not in tasks():
            raise AgentFailed("The task '{name}' has no scripted solution.", name=name, kind="no_target")
        for _ in range(MOST_LOOKS):
            look = await episode.look()
            actions = await episode.window.do(
                episode.window.page.evaluate(_script(), {"task": name, "utterance": look.utterance})
            )
            for tool, arguments in actions or [["none", {}]]:
                call = ToolCall(name=tool, arguments=arguments, id=f"call_{next(numbers)}")
                self.received.append(Step(message=Message(role="assistant", parts=(call,))))
                try:
                    result = await self._environment.call(call)
                except EpisodeOver as over:
                    self.received += [
                        Step(message=Message(role="tool", parts=(tool_result,)), author="tool")
                        for tool_result in over.results
                    ]
                    raise
                self.received.append(Step(message=Message(role="tool", parts=(result,)), author="tool"))
        return self.received
