"""A local model is an agent whose server lives as long as the run."""

from pathlib import Path
from typing import Any

import pytest

from proctor.agents.openai import ChatAgent
from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample
from proctor.core.trajectory import Step
from proctor_adapters.agents.local import make
from proctor_adapters.models.local import LocalModel


async def test_the_server_starts_with_the_run_and_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[str] = []

    async def start(self: LocalModel) -> None:
        noted.append("start")

    async def complete(self: LocalModel, messages: Any, tools: Any = ()) -> Step:
        noted.append("ask")
        return Step(message=Message.of("assistant", "Paris"))

    async def stop(self: LocalModel) -> None:
        noted.append("stop")

    for one in (start, complete, stop):
        monkeypatch.setattr(LocalModel, one.__name__, one)
    sample = Sample.ask("fr", "Capital of France?")
    agent = make("smollm2-135m", {})
    assert isinstance(agent, ChatAgent)
    assert noted == []
    async with agent, agent.open(sample, None) as session:
        steps = await session.send(sample.turns[0])
    assert [step.message.text for step in steps] == ["Paris"]
    assert noted == ["start", "ask", "stop"]


@pytest.mark.parametrize(
    ("argument", "options", "words"),
    [
        ("smollm2", {}, "Did you mean 'smollm2-135m'"),
        ("", {}, "Known: smollm2-135m"),
        ("./none.gguf", {}, "cannot be read"),
        ("smollm2-135m", {"thread": 2}, "Did you mean 'threads'"),
        ("smollm2-135m", {"threads": 0}, "threads"),
        ("smollm2-135m", {"max_tokens": "many"}, "max_tokens"),
    ],
)
def test_what_cannot_run_is_said_before_the_run(argument: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        make(argument, options)


def test_options_may_come_as_text_and_a_path_gives_the_name_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF\x03\x00\x00\x00" + b"\x01" + b"\x00" * 15)
    agent = make(str(path), {"slots": "2", "must_call": "true"})
    assert isinstance(agent, ChatAgent)
    assert (agent.name, agent.concurrency) == ("local:model.gguf", 2)
