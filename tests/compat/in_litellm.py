"""`litellm:MODEL` with the real litellm; runs in the environment of litellm.txt."""

import asyncio
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import endpoint
import pytest
from endpoint import Endpoint

from proctor.core.errors import BadInput, EndpointRefused, ProviderFailed
from proctor.core.sample import Message, Reasoning, Tool, ToolCall, ToolResult
from proctor.models.named import model
from proctor.transport.client import Client
from proctor.transport.retry import RetryPolicy, record_calls

KEY = "sk-test-1234567890abcdef"
ASK = [Message.of("user", "Capital of France?")]
QUICK = RetryPolicy(attempts=3, wait_seconds=0.01)


@pytest.fixture(autouse=True)
def only_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Keys in the environment, a folder with a foreign `.env`, and no way but to this machine."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "MISTRAL_API_KEY"):
        monkeypatch.setenv(name, KEY)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "MY_OWN", "FROM_DOTENV"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LITELLM_LOG", "DEBUG")
    (tmp_path / ".env").write_text("FROM_DOTENV=1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    asked, way = [], socket.getaddrinfo

    def watched(host: Any, *rest: Any, **more: Any) -> Any:
        asked.append(host)
        return way(host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", watched)
    yield
    assert {str(host) for host in asked} <= {"127.0.0.1", "localhost", "None"}


def refuses(status: int, code: str, text: str, **headers: Any) -> endpoint.Answer:
    return endpoint.data({"error": {"message": text, "type": "x", "code": code, "param": None}}, status, **headers)


async def failed(*script: endpoint.Answer, **options: Any) -> Any:
    async with Endpoint(*script) as server, Client(policy=QUICK):
        asked = model("litellm:openai/gpt-4o", {"base_url": f"{server.url}/v1", **options})
        with pytest.raises((BadInput, ProviderFailed)) as caught:
            await asked.complete(ASK)
    assert KEY not in f"{caught.value!r} {caught.value} {caught.value.__cause__} {caught.value.__context__}"
    return caught.value, len(server.requests)


async def test_a_reply_with_its_tokens_and_calls(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": "巴黎"}'}}
    monkeypatch.setenv("MY_OWN", "my-own-key-123456")
    async with (
        Endpoint(endpoint.chat(None, tool_calls=[call]), endpoint.chat("Paris my-own-key-123456 \ud83d!")) as server,
        Client(),
    ):
        options = {
            "base_url": f"{server.url}/v1",
            "api_key_env": "MY_OWN",
            "headers": {"x-team": "a"},
            "temperature": 0,
        }
        asked = model("litellm:openai/gpt-4o", options)
        tool = Tool(
            name="find", description="finds", parameters={"type": "object", "properties": {"q": {"type": "string"}}}
        )
        step = await asked.complete([Message.of("user", "\ud83d?")], [tool])
        assert step.message.calls == (ToolCall(name="find", arguments={"q": "巴黎"}, id="c1"),)
        assert step.usage is not None
        assert (step.usage.input_tokens, step.usage.output_tokens, step.usage.cost) == (7, 3, None)
        result = Message(role="tool", parts=(ToolResult(name="find", content="found", id="c1"),))
        step = await asked.complete([*ASK, step.message, result], [tool])
    assert step.message.text.startswith("Paris [hidden]")
    first, second = server.requests
    assert first.headers["authorization"] == "Bearer my-own-key-123456"
    assert first.headers["x-team"] == "a"
    assert (first.json["model"], first.json["temperature"]) == ("gpt-4o", 0)
    assert "stream" not in first.json
    assert second.json["messages"][-1] == {"role": "tool", "tool_call_id": "c1", "content": "found"}
    assert capfd.readouterr() == ("", "")
    assert "FROM_DOTENV" not in os.environ
    assert sys.modules["litellm"].success_callback == sys.modules["litellm"].failure_callback == []


async def test_what_is_refused_stops_the_run() -> None:
    error, requests = await failed(refuses(401, "invalid_api_key", f"Incorrect key {KEY}"))
    assert isinstance(error, EndpointRefused)
    assert (error.kind, requests) == ("http_401", 1)
    assert "litellm:openai/gpt-4o refuses the key" in str(error)
    for status, code, kind in ((404, "x", "http_404"), (402, "x", "http_402"), (429, "insufficient_quota", "quota")):
        error, requests = await failed(refuses(status, code, "no"))
        assert (type(error), error.kind, requests) == (EndpointRefused, kind, 1)
    error, _ = await failed(refuses(400, "unsupported_parameter", "Unsupported parameter: 'top_p'"), top_p=0.5)
    assert (type(error), error.kind) == (EndpointRefused, "option")
    with pytest.raises(BadInput, match="no provider of 'nonsense'"):
        model("litellm:nonsense")
    with pytest.raises(BadInput, match="A key is no option"):
        model("litellm:openai/gpt-4o", {"api_key": KEY})
    with pytest.raises(BadInput, match="stream"):
        model("litellm:openai/gpt-4o", {"stream": True})


async def test_what_may_pass_is_sent_again_by_us_alone() -> None:
    calls = record_calls()
    busy = refuses(429, "rate_limit", "slow down", retry_after="0.01")
    page, reset = endpoint.body(b"<html>no"), endpoint.raw(b"")
    async with Endpoint(busy, endpoint.cut(), endpoint.chat("Paris")) as server, Client(policy=QUICK):
        step = await model("litellm:openai/gpt-4o", {"base_url": f"{server.url}/v1"}).complete(ASK)
    assert (step.message.text, len(server.requests)) == ("Paris", 3)
    assert [call.cause.partition(":")[0] for call in calls] == ["http_429", "reset"]
    for script, kind in (((reset,), "reset"), ((page,), "not_json"), ((refuses(529, "x", "over"),), "http_529")):
        error, requests = await failed(*script)
        assert (error.kind, requests) == (kind, 3)
    error, _ = await failed(endpoint.chat("late", seconds=20), timeout=0.2, retries=0)
    assert error.kind == "timeout"
    error, requests = await failed(refuses(400, "context_length_exceeded", "maximum context length is 10"))
    assert (error.kind, requests) == ("http_400", 1)
    async with Client(policy=QUICK):
        with pytest.raises(ProviderFailed, match="no connection to litellm:openai/gpt-4o") as caught:
            await model("litellm:openai/gpt-4o", {"base_url": "http://127.0.0.1:9/v1"}).complete(ASK)
    assert caught.value.kind == "connect"


async def test_a_filter_is_a_stop_and_no_failure() -> None:
    async with (
        Endpoint(refuses(400, "content_filter", "filtered due to the content management policy")) as server,
        Client(),
    ):
        step = await model("litellm:openai/gpt-4o", {"base_url": f"{server.url}/v1"}).complete(ASK)
    assert step.stop == "filtered"


async def test_signed_thoughts_go_back_to_the_provider() -> None:
    said = {"type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "id": "m", "stop_reason": "tool_use"}
    thought = {"type": "thinking", "thinking": "hmm", "signature": "SIG"}
    said["content"] = [thought, {"type": "tool_use", "id": "t1", "name": "find", "input": {"a": 1}}]  # type: ignore[assignment]
    said["usage"] = {"input_tokens": 5, "output_tokens": 6, "cache_read_input_tokens": 2}  # type: ignore[assignment]
    async with Endpoint(endpoint.data(said)) as server, Client():
        asked = model("litellm:anthropic/claude-sonnet-4-5", {"base_url": server.url, "reasoning_effort": "low"})
        step = await asked.complete(ASK, [Tool(name="find", description="finds")])
        assert step.message.parts[0] == Reasoning(text="hmm", opaque={"litellm": {"thinking_blocks": [thought]}})
        assert step.usage is not None
        assert (step.usage.input_tokens, step.usage.cached_tokens) == (7, 2)
        result = Message(role="tool", parts=(ToolResult(name="find", content="found", id="t1"),))
        await asked.complete([*ASK, step.message, result], [Tool(name="find", description="finds")])
        assert server.requests[1].json["messages"][1]["content"][0] == thought
        with pytest.raises(EndpointRefused, match="'seed'"):
            await model("litellm:anthropic/claude-sonnet-4-5", {"base_url": server.url, "seed": 1}).complete(ASK)
        assert len(server.requests) == 2


async def test_the_table_of_litellm_prices_what_its_own_providers_charge(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with Endpoint(endpoint.chat("Paris")) as server, Client():
        asked: Any = model("litellm:gpt-4o")
        assert asked.price_source.endswith("gpt-4o, 2.5 + 10")
        asked._more["api_base"] = f"{server.url}/v1"
        step = await asked.complete(ASK)
    assert step.usage is not None
    assert step.usage.cost == pytest.approx((7 * 2.5 + 3 * 10) / 1e6)
    for name, options in (
        ("openai/nonsense", {}),
        ("gpt-4o", {"base_url": "http://127.0.0.1:9/v1"}),
        ("ollama/llama3", {}),
    ):
        assert not getattr(model(f"litellm:{name}", options), "reports_cost")  # noqa: B009


def test_the_next_loop_asks_too() -> None:
    async def once() -> str:
        async with Endpoint(endpoint.chat("Paris")) as server, Client():
            return (await model("litellm:openai/gpt-4o", {"base_url": f"{server.url}/v1"}).complete(ASK)).message.text

    assert [asyncio.run(once()) for _ in range(2)] == ["Paris", "Paris"]
