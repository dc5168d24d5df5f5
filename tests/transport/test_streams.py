"""Streams as the standard allows them, and as servers send them; memory that does not grow with what is broken."""

import asyncio
import gc
import time
import tracemalloc
from collections.abc import Awaitable
from typing import Any

import msgspec
import pytest
from endpoint import Answer, Endpoint, Request, body, chat, events
from hypothesis import given
from hypothesis import strategies as st

from proctor.chat.streaming import Stream
from proctor.core.errors import ProviderFailed
from proctor.core.sample import Message
from proctor.models.openai import ChatModel, OpenAIOptions
from proctor.transport.client import Client
from proctor.transport.events import Splitter
from proctor.transport.retry import RetryPolicy
from proctor.transport.target import RequestTarget

KEY = "sk-this-is-the-key-1234"
PIECE = '{"choices":[{"delta":{"content":"Pa"}}]}'
LAST = '{"choices":[{"delta":{"content":"ris"},"finish_reason":"stop"}]}'
WHOLE = '{"choices":[{"message":{"content":"Paris"},"finish_reason":"stop"}]}'
QUICK = {"retry_seconds": 5.0, "retries": 1}


async def ask(*script: Answer, **options: Any) -> str:
    """What a streaming model says to "Hello"."""
    async with Endpoint(*script) as endpoint, Client():
        settings = OpenAIOptions(stream=True, base_url=f"{endpoint.url}/v1", **(QUICK | options))
        return (await ChatModel("m", settings).complete([Message.of("user", "Hello")])).message.text


def stream(text: str, kind: str = "text/event-stream") -> Answer:
    return body(text.encode(), content_type=kind)


@pytest.mark.parametrize(
    "answer",
    [
        stream(f"data:\n\ndata: {PIECE}\n\ndata: {LAST}\n\ndata: [DONE]\n\n"),
        stream(f"data: {PIECE}\r\rdata: {LAST}\r\rdata: [DONE]\r\r"),
        stream(f"data: {PIECE}\r\n\r\ndata: {LAST}\r\n\r\ndata: [DONE]\r\n\r\n"),
        stream(f"data: {PIECE}\ndata: {LAST}\ndata: [DONE]\n"),
        stream(f"\ufeffevent: x\nid: 1\ndata\ndata: {PIECE}\n\n: ping\n\ndata:{LAST}\n\ndata:[DONE]"),
        stream(f"data: {PIECE[:12]}\ndata: {PIECE[12:]}\n\ndata: {LAST}\n\ndata: [DONE]\n\n"),
        stream(f"data: {PIECE}\n\ndata: {LAST}\n\ndata: [DONE]\n\n", "application/json"),
        stream(f"data: {PIECE}\n\ndata: {LAST}\n\ndata: [DONE]\n\n", "text/plain"),
        stream(WHOLE),
        stream(f"  \n{WHOLE}", "text/plain"),
        stream(f"data: {WHOLE}\n\ndata: [DONE]\n\n".replace("message", "delta")),
    ],
)
async def test_a_stream_is_read_in_every_form_of_the_standard(answer: Answer) -> None:
    assert await ask(answer, retries=0) == "Paris"


async def test_a_stream_is_complete_at_its_end_even_if_the_connection_stays_open() -> None:
    async def hold(request: Request, writer: asyncio.StreamWriter) -> None:
        data = f"data: {PIECE}\n\ndata: {LAST}\n\ndata: [DONE]\n\n".encode()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await asyncio.sleep(3600)

    async with asyncio.timeout(60):
        assert await ask(hold, retries=0) == "Paris"


async def test_the_connection_of_a_stream_is_used_again_when_its_end_comes_a_moment_later() -> None:
    async def late_end(request: Request, writer: asyncio.StreamWriter) -> None:
        data = b"data: 1\n\ndata: [DONE]\n\n"
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await writer.drain()
        await asyncio.sleep(0.005)
        writer.write(b"0\r\n\r\n")

    async with Endpoint(late_end) as endpoint, Client() as client:
        for _ in range(3):
            await client.stream(RequestTarget(endpoint.url), b"{}", Nothing)
        assert endpoint.connections == 1


@pytest.mark.parametrize(
    "wrong",
    [
        events(*({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": a}}]}}]} for a in ({"x": 1}, "y"))),
        events(*({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": a}}]}}]} for a in ("y", ["x"]))),
        events({"choices": [{"delta": {"content": 7}}]}),
        body(b'data: {"choices":[{"delta":{"content":"\xff"}}]}\n\ndata: [DONE]\n\n', content_type="text/event-stream"),
    ],
)  # fmt: skip
async def test_a_stream_of_wrong_types_is_asked_for_again(wrong: Answer) -> None:
    assert await ask(wrong, chat(), retries=1) == "Paris"
    with pytest.raises(ProviderFailed):
        await ask(wrong, retries=0)


async def test_a_key_that_comes_back_in_two_pieces_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    halves = ({"choices": [{"delta": {"content": half}, "finish_reason": None}]} for half in (KEY[:9], KEY[9:]))
    assert await ask(events("{}", *halves)) == "[hidden]"


@pytest.mark.parametrize("usage", ["1e999", "9" * 5000, "1e308", "-5", '"many"'])
@pytest.mark.parametrize("streams", [True, False])
async def test_no_number_of_a_provider_loses_an_answer_or_leaves_the_range(usage: str, streams: bool) -> None:
    counts = f'"usage": {{"prompt_tokens": {usage}, "completion_tokens": {usage}, "cost": {usage}}}'
    answer = stream(f"{WHOLE[:-1]}, {counts}}}", "application/json")
    async with Endpoint(answer) as endpoint, Client():
        settings = OpenAIOptions(stream=streams, base_url=f"{endpoint.url}/v1", retries=0)
        step = await ChatModel("m", settings).complete([Message.of("user", "Hello")])
    assert step.message.text == "Paris"
    assert step.usage is not None
    assert step.usage.cost in (None, 0.0)
    assert step.usage.input_tokens == step.usage.output_tokens == 0


@given(st.lists(st.text('ab{}1"', min_size=1).filter(lambda text: text.strip() == text)), st.data())
def test_events_are_the_same_however_they_are_cut_and_ended(datas: list[str], data: st.DataObject) -> None:
    end = data.draw(st.sampled_from(["\n", "\r", "\r\n"]))
    sent = "".join(f"data: {one}{end}{end}" for one in datas).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(sent)), max_size=6)))
    splitter = Splitter()
    got = [event for start, stop in zip([0, *cuts], [*cuts, len(sent)], strict=True) for event in splitter.feed(sent[start:stop])]  # fmt: skip
    assert [event.decode() for event in [*got, *splitter.end()]] == datas


def test_one_long_line_in_small_pieces_costs_what_its_length_is() -> None:
    def seconds(pieces: int) -> float:
        splitter, started = Splitter(), time.process_time()
        for _ in range(pieces):
            assert not list(splitter.feed(b"x" * 1000))
        list(splitter.end())
        return time.process_time() - started

    small, large = min(seconds(500) for _ in range(3)), seconds(5000)
    assert large < 40 * small, "ten times the pieces cost some ten times the time"


class Nothing:
    """Folds events into nothing."""

    def add(self, data: bytes) -> bool:
        return data == b"[DONE]"

    def whole(self, body: bytes) -> None: ...

    def done(self) -> None: ...


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize(
    "bad",
    [
        body(b"<html>" + b"x" * 1_000_000, content_type="text/html"),
        body(b'{"a": "' + b"x" * 1_000_000),
        body(b" " * 2_000_000),
        body(b"x" * 1_000_000, 500),
    ],
)
async def test_memory_does_not_grow_with_the_number_of_bad_replies(bad: Answer, streams: bool) -> None:
    async def fail(client: Client, times: int) -> None:
        for _ in range(times):
            request: Awaitable[object] = (
                client.stream(target, b"{}", Stream) if streams else client.post(target, b"{}", msgspec.json.decode)
            )
            with pytest.raises(ProviderFailed):
                await request

    policy = RetryPolicy(attempts=2, attempts_at_first=2, wait_seconds=0.0)
    async with Endpoint(bad) as endpoint, Client(policy=policy, most_reply_bytes=1_500_000) as client:
        target = RequestTarget(endpoint.url + "/v1")
        gc.collect(1)  # of what is new; what all tests have imported is a second's work
        gc.disable()
        try:
            tracemalloc.start()
            await fail(client, 2)
            before, _ = tracemalloc.get_traced_memory()
            await fail(client, 6)
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
            gc.enable()
    assert after - before < 1_000_000, "twelve replies of a megabyte each leave less than one"
