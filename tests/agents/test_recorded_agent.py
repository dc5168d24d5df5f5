"""The agent that gives what came with the sample."""

import pytest

from proctor.agents import recorded
from proctor.core.errors import AgentFailed, BadInput
from proctor.core.sample import Sample


async def test_the_text_of_the_sample_is_its_answer() -> None:
    sample = Sample.ask("a", "?", meta={"recorded": "A story."})
    async with recorded.make("", {}).open(sample, None) as session:
        [step] = await session.send(sample.turns[0])
    assert step.message.text == "A story."


async def test_a_sample_without_a_text_fails_and_the_agent_takes_nothing() -> None:
    with pytest.raises(AgentFailed, match="no recorded reply"):
        recorded.make("", {}).open(Sample.ask("a", "?"), None)
    with pytest.raises(BadInput):
        recorded.make("x", {})
    with pytest.raises(BadInput):
        recorded.make("", {"x": 1})
