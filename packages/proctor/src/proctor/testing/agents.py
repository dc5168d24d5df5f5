"""What every agent promises, however it is reached."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext

import msgspec
import pytest

from proctor.core.sample import Sample
from proctor.core.task import Agent
from proctor.core.trajectory import Step, Trajectory
from proctor.testing.loop import in_loop

SAMPLE = Sample.ask("fr", "Capital of France?", target="Paris")
OTHER = Sample.ask("de", "Which city governs Germany?", target="Berlin")


class AgentContract:
    """Tests of an agent that answers different questions differently; a subclass has the fixture `agent`.

    class TestParrot(AgentContract):
        @pytest.fixture
        def agent(self):
            return make("indeed", {})
    """

    def test_it_has_a_name_and_says_how_it_takes_tools(self, agent: Agent) -> None:
        assert agent.name
        assert agent.tools in ("native", "text")

    @in_loop
    async def test_it_answers_with_steps_that_can_be_stored(self, agent: Agent) -> None:
        async with running(agent):
            steps = await play(agent, SAMPLE)
        trajectory = Trajectory(steps=tuple(steps))
        assert steps[-1].message.role == "assistant"
        assert trajectory.answer
        assert msgspec.json.decode(msgspec.json.encode(trajectory), type=Trajectory) == trajectory

    @in_loop
    async def test_samples_at_the_same_time_get_answers_of_their_own(self, agent: Agent) -> None:
        async with running(agent):
            alone = [await play(agent, sample) for sample in (SAMPLE, OTHER)]
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(play(agent, sample)) for sample in (SAMPLE, OTHER) * 4]
        texts = [[step.message.text for step in steps] for steps in alone]
        assert [[step.message.text for step in task.result()] for task in tasks] == texts * 4
        assert texts[0] != texts[1]

    @in_loop
    async def test_a_session_that_is_left_without_a_turn_does_no_harm(self, agent: Agent) -> None:
        async with running(agent):
            async with agent.open(SAMPLE, None):
                pass
            assert await play(agent, SAMPLE)

    @in_loop
    async def test_a_session_that_breaks_does_not_break_the_next(self, agent: Agent) -> None:
        async with running(agent):
            with pytest.raises(RuntimeError, match="of the test"):
                async with agent.open(SAMPLE, None):
                    raise RuntimeError("of the test")
            assert await play(agent, SAMPLE)


def running(agent: Agent) -> AbstractAsyncContextManager[object]:
    """Enter an agent for the length of a run if it is a context manager, as the engine does."""
    return agent if isinstance(agent, AbstractAsyncContextManager) else nullcontext()


async def play(agent: Agent, sample: Sample) -> Sequence[Step]:
    async with agent.open(sample, None) as session:
        return [step for turn in sample.turns for step in await session.send(turn)]
