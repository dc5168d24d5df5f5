"""What every agent promises, however it is reached. A new one joins with one line in AGENTS."""

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

import echoes
import msgspec
import pytest

from proctor.agents import baseline, function, process, replay
from proctor.core.sample import Sample
from proctor.core.task import Agent
from proctor.core.trajectory import Step, Trajectory

SAMPLE = Sample.ask("fr", "Capital of France?", target="Paris")
OTHER = Sample.ask("de", "Which city governs Germany?", target="Berlin")
PROGRAM = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"answer": "It is " + json.loads(line)["question"]}))
"""


async def whisper(question: str) -> str:
    return f"It is {question}"


def _process(folder: Path) -> Agent:
    (folder / "agent.py").write_text(PROGRAM, encoding="utf-8")
    return process.make(f"{sys.executable} {folder / 'agent.py'}", {"reuse": True})


def _replay(folder: Path) -> Agent:
    records = [{"id": sample.id, "answer": f"It is {sample.question}"} for sample in (SAMPLE, OTHER)]
    (folder / "replies.json").write_text(json.dumps(records), encoding="utf-8")
    return replay.make(str(folder / "replies.json"), {})


AGENTS: dict[str, Callable[[Path], Agent]] = {
    "function, async": lambda folder: function.wrap(whisper),
    "function, plain": lambda folder: function.wrap(lambda question: f"It is {question}"),
    "function, messages and tools": lambda folder: function.wrap(
        lambda messages, tools: f"It is {messages[-1]['content']}"
    ),
    "process": _process,
    "replay": _replay,
    "baseline:echo": lambda folder: baseline.make("echo", {}),
    "baseline:oracle": lambda folder: baseline.make("oracle", {}),
    "baseline:random": lambda folder: baseline.make("random", {}),
    "langgraph": lambda folder: function.wrap(echoes.langgraph()),
    "openai_agents": lambda folder: function.wrap(echoes.openai_agents()),
    "pydantic_ai": lambda folder: function.wrap(echoes.pydantic_ai()),
    "smolagents": lambda folder: function.wrap(echoes.smolagents()),
}


@pytest.fixture(params=AGENTS)
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> Agent:
    return AGENTS[request.param](tmp_path)


def running(agent: Agent) -> AbstractAsyncContextManager[object]:
    """As the engine does it: agents that hold something are context managers for the length of a run."""
    return agent if isinstance(agent, AbstractAsyncContextManager) else nullcontext()


async def play(agent: Agent, sample: Sample) -> Sequence[Step]:
    async with agent.open(sample, None) as session:
        return [step for turn in sample.turns for step in await session.send(turn)]


async def test_it_has_a_name_and_says_how_it_takes_tools(agent: Agent) -> None:
    assert agent.name
    assert agent.tools in ("native", "text")


async def test_it_answers_with_steps_that_can_be_stored(agent: Agent) -> None:
    async with running(agent):
        steps = await play(agent, SAMPLE)
    trajectory = Trajectory(steps=tuple(steps))
    assert steps[-1].message.role == "assistant"
    assert trajectory.answer
    assert msgspec.json.decode(msgspec.json.encode(trajectory), type=Trajectory) == trajectory


async def test_samples_at_the_same_time_get_answers_of_their_own(agent: Agent) -> None:
    async with running(agent):
        alone = [await play(agent, sample) for sample in (SAMPLE, OTHER)]
        together = await asyncio.gather(*(play(agent, sample) for sample in (SAMPLE, OTHER) * 4))
    texts = [[step.message.text for step in steps] for steps in alone]
    assert [[step.message.text for step in steps] for steps in together] == texts * 4
    assert texts[0] != texts[1]


async def test_a_session_that_is_left_without_a_turn_does_no_harm(agent: Agent) -> None:
    async with running(agent):
        async with agent.open(SAMPLE, None):
            pass
        assert await play(agent, SAMPLE)


async def test_a_session_that_breaks_does_not_break_the_next(agent: Agent) -> None:
    async with running(agent):
        with pytest.raises(RuntimeError, match="of the test"):
            async with agent.open(SAMPLE, None):
                raise RuntimeError("of the test")
        assert await play(agent, SAMPLE)
