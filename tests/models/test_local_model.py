"""The local model calls tools by a schema, answers in words, and comes back after its server was killed."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.errors import BadInput, ProviderFailed
from proctor.core.sample import Message, Tool, ToolCall, ToolResult
from proctor.core.trajectory import Step
from proctor.models import openai
from proctor_adapters.models import local
from proctor_adapters.models.local import LocalModel, LocalModelOptions

TEMPERATURE = Tool(
    name="get_temperature",
    description="The temperature of a city",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["C", "F"]}},
        "required": ["city", "unit"],
    },
)
ASKED = [Message.of("user", "How warm is it in Paris, in C?")]


class Server:
    """Stands for llama.cpp's server; keeps what was asked of it."""

    started = 0
    address = "http://127.0.0.1:9"
    key = "k"
    running = False

    def __init__(self, path: Path, **settings: Any) -> None:
        self.settings = settings

    async def start(self) -> None:
        Server.started += 1
        self.running = True

    async def stop(self) -> None:
        self.running = False

    async def watched(self, work: Any) -> Any:
        return await work


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[dict[str, Any]]:
    """A model without a server: what is asked of it, and `{"answer": "Warm."}` as every reply."""
    seen: list[dict[str, Any]] = []

    async def complete(
        self: openai.ChatModel, messages: Sequence[Message], *, response_format: Mapping[str, Any] | None = None
    ) -> Step:
        seen.append({"messages": messages, "format": response_format, "options": self.options})
        await asyncio.sleep(0)
        return Step(message=Message.of("assistant", '{"answer": "Warm."}'), stop="length")

    monkeypatch.setattr(Server, "started", 0)
    monkeypatch.setattr(local, "LocalServer", Server)
    monkeypatch.setattr(local, "file_of", lambda name: tmp_path)
    monkeypatch.setattr(openai.ChatModel, "complete", complete)
    return seen


async def test_one_server_is_started_however_many_ask_first(asked: list[dict[str, Any]]) -> None:
    model = LocalModel("smollm2-135m")
    await asyncio.gather(*(model.complete(ASKED) for _ in range(4)))
    assert (Server.started, len(asked)) == (1, 4)
    await model.stop()
    await model.complete(ASKED)
    assert Server.started == 2


async def test_tools_become_a_schema_and_words_before_the_samples_own(asked: list[dict[str, Any]]) -> None:
    step = await LocalModel("smollm2-135m").complete([Message.of("system", "Be brief."), *ASKED], [TEMPERATURE])
    system, user = asked[0]["messages"]
    assert (system.role, user) == ("system", ASKED[0])
    assert "get_temperature" in system.text
    assert system.text.endswith("\n\nBe brief.")
    assert asked[0]["format"]["json_schema"]["schema"]["anyOf"][0]["properties"]["name"] == {"const": "get_temperature"}
    assert (step.message.text, step.stop) == ("Warm.", "length")


async def test_without_tools_nothing_is_added_and_nothing_is_read_out_of_the_reply(asked: list[dict[str, Any]]) -> None:
    step = await LocalModel("smollm2-135m").complete(ASKED)
    assert (list(asked[0]["messages"]), asked[0]["format"]) == (ASKED, None)
    assert step.message.text == '{"answer": "Warm."}'


async def test_calls_and_results_are_told_in_words_a_simple_template_can_show(asked: list[dict[str, Any]]) -> None:
    history = [
        *ASKED,
        Message(role="assistant", parts=(ToolCall(name="get_temperature", arguments={"city": "Paris"}),)),
        Message(role="tool", parts=(ToolResult(name="get_temperature", content="21"),)),
    ]
    await LocalModel("smollm2-135m").complete(history, [TEMPERATURE])
    told = [(message.role, message.text) for message in asked[0]["messages"][2:]]
    assert told == [
        ("assistant", '{"name": "get_temperature", "arguments": {"city": "Paris"}}'),
        ("user", "get_temperature returned: 21"),
    ]


async def test_a_key_of_somebody_else_is_never_sent(
    asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://example.invalid/v1")
    await LocalModel("smollm2-135m").complete(ASKED)
    assert asked[0]["options"].base_url == "http://127.0.0.1:9/v1"
    assert asked[0]["options"].headers == {"Authorization": "Bearer k"}


async def test_a_list_of_calls_and_no_way_out_are_offered_when_asked_for(asked: list[dict[str, Any]]) -> None:
    await LocalModel("smollm2-135m", LocalModelOptions(calls=4, must_call=True)).complete(ASKED, [TEMPERATURE])
    assert asked[0]["format"]["json_schema"]["schema"]["maxItems"] == 4
    assert "none of them fits" not in asked[0]["messages"][0].text


def test_a_model_that_is_not_known_is_told_before_anything_starts() -> None:
    with pytest.raises(BadInput, match="Did you mean 'smollm2-135m'"):
        LocalModel("smollm2-35m")


@pytest.mark.model
@pytest.mark.slow
async def test_the_real_model_calls_a_tool_the_same_way_twice_and_survives_the_end_of_its_server() -> None:
    model = LocalModel("smollm2-135m")
    try:
        first = await model.complete(ASKED, [TEMPERATURE])
        again = await model.complete(ASKED, [TEMPERATURE])
        assert [call.name for call in first.message.calls] == ["get_temperature"]
        assert first.message.calls[0].arguments["city"] == "Paris"
        assert first.message.calls[0].arguments["unit"] in ("C", "F")
        assert first.message == again.message
        assert first.usage is not None
        assert first.usage.input_tokens > 50
        assert first.usage.output_tokens > 5

        server = model._server
        assert server is not None
        assert server.process_id is not None
        waiting = asyncio.create_task(model.complete([Message.of("user", "Tell a very long story.")]))
        await asyncio.sleep(0.3)
        os.kill(server.process_id, signal.SIGKILL)
        with pytest.raises(ProviderFailed, match="ended with code -9"):
            await waiting
        assert (await model.complete(ASKED, [TEMPERATURE])).message == first.message
    finally:
        await model.stop()


@pytest.mark.model
@pytest.mark.slow
async def test_a_reply_cut_at_the_token_limit_says_so() -> None:
    model = LocalModel("smollm2-135m", LocalModelOptions(max_tokens=4))
    try:
        assert (await model.complete(ASKED)).stop == "length"
        cut = await model.complete(ASKED, [TEMPERATURE])
        assert (cut.stop, cut.message.calls) == ("length", ())
    finally:
        await model.stop()


@given(description=st.text(max_size=20))
def test_an_instruction_is_one_line_a_tool_whatever_is_in_it(description: str) -> None:
    text = local._instruction([Tool(name="f", description=description), Tool(name="g")], LocalModelOptions())
    assert len(text.split("\n")) == 4
