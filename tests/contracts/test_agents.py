"""What every agent promises, however it is reached. A new one joins with one line in AGENTS."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import echoes
import pytest

from proctor.agents import baseline, function, process, replay
from proctor.core.task import Agent
from proctor.testing import AgentContract
from proctor.testing.agents import OTHER, SAMPLE

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


class TestEveryAgent(AgentContract):
    @pytest.fixture(params=AGENTS)
    def agent(self, request: pytest.FixtureRequest, tmp_path: Path) -> Agent:
        return AGENTS[request.param](tmp_path)
