"""Chat models by the APIs of Anthropic, Google and OpenAI's Responses, against servers that refuse what those refuse."""

from collections.abc import Mapping
from typing import Any

import pytest
from endpoint import Answer, Endpoint, data, events
from memory_store import MemoryStore
from model_apis import SIGNATURE, Anthropic, Gemini, Responses
from msgspec.structs import replace

from proctor import Sample, Task, evaluate_async
from proctor.core.around import around
from proctor.core.errors import BadInput, EndpointRefused, ProviderFailed
from proctor.core.sample import File, Message, Reasoning, Text, Tool, ToolCall, ToolResult
from proctor.core.trajectory import Step
from proctor.models.named import model
from proctor.models.openai import ChatModel
from proctor.transport import retry
from proctor.transport.client import Client
from proctor.transport.retry import RetryPolicy

QUICK = RetryPolicy(attempts=2, wait_seconds=0.001)
ASKED = (Message.of("system", "Be short."), Message.of("user", "Weather?"))
WEATHER = Tool(name="the.weather", description="w", parameters={"properties": {"city": {"type": "string"}}})
APIS: Mapping[str, tuple[Any, str, Mapping[str, Any]]] = {
    "anthropic": (Anthropic(), "ANTHROPIC_API_KEY", {"thinking": 2048}),
    "gemini": (Gemini(), "GEMINI_API_KEY", {"thinking": -1}),
    "responses": (Responses(), "OPENAI_API_KEY", {"reasoning_effort": "low"}),
}
KINDS = sorted(APIS)


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for api, variable, _ in APIS.values():
        monkeypatch.setenv(variable, api.key)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def made(kind: str, endpoint: Endpoint, **options: Any) -> ChatModel:
    base = endpoint.url + ("/v1" if kind == "responses" else "")
    found = model(f"{kind}:m", {"base_url": base, **APIS[kind][2], **options})
    assert isinstance(found, ChatModel)
    return found


async def ask(kind: str, *script: Answer, messages: tuple[Message, ...] = ASKED, **options: Any) -> tuple[Step, Any]:
    async with Endpoint(*(script or (APIS[kind][0],))) as endpoint, Client(policy=QUICK):
        step = await made(kind, endpoint, **options).complete(messages)
    return step, endpoint.requests[-1].json


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_tool_is_called_and_thoughts_go_back_unchanged_with_its_result(kind: str, stream: bool) -> None:
    async with Endpoint(APIS[kind][0]) as endpoint, Client(policy=QUICK):
        asked = made(kind, endpoint, stream=stream)
        first = await asked.complete(ASKED, [WEATHER])
        (call,) = first.message.calls
        result = ToolResult(name=call.name, content="sunny", id=call.id)
        conversation = [*ASKED, first.message, Message(role="tool", parts=(result,))]
        second = await asked.complete(conversation, [WEATHER])
        third = await asked.complete([*conversation, second.message, Message.of("user", "And now?")], [WEATHER])
    assert (call.name, call.arguments) == ("the.weather", {"city": "Rome"})
    thoughts = [part for part in first.message.parts if isinstance(part, Reasoning)]
    assert thoughts[0].text == "They want weather."
    assert SIGNATURE in str(thoughts)
    assert (second.message.text, second.stop) == ("It is sunny.", "done")
    assert third.stop == "done"
    assert first.usage is not None
    assert (first.usage.input_tokens, first.usage.cached_tokens, first.usage.output_tokens) == (60, 30, 7)
    assert (first.usage.reasoning_tokens, first.usage.requests) == (4, 1)
    written = (first.usage.cache_write_tokens, first.usage.cache_write_1h_tokens)
    assert written == {"anthropic": (20, 8), "gemini": (0, 0), "responses": (20, 0)}[kind]
    assert (first.first_token_seconds is not None) == stream
    headers = str([request.headers for request in endpoint.requests])
    assert APIS[kind][0].key in headers
    assert all(APIS[kind][0].key not in request.path for request in endpoint.requests)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_whole_run_goes_over_each_api_and_is_replayed_from_the_cache(kind: str) -> None:
    task = Task(name="t", samples=[Sample.ask("fr", "Capital of France?", target="Paris")], scorers=["exact"])
    async with Endpoint(APIS[kind][0]) as endpoint:
        options = {"base_url": endpoint.url + ("/v1" if kind == "responses" else "")}
        how: dict[str, Any] = {"agent": f"{kind}:m", "agent_options": options, "store": MemoryStore(), "cache": True}
        first = await evaluate_async(task, **how)
        again = await evaluate_async(task, **{**how, "store": MemoryStore()})
    assert first.outcomes == again.outcomes == {"scored": 1}
    assert first.estimate("accuracy").value == 1.0
    assert (first.usage.requests, again.usage.requests, len(endpoint.requests)) == (1, 0, 1)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_wrong_key_is_refused_and_never_shown(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(APIS[kind][1], "sk-another-key-0123456789")
    with pytest.raises(EndpointRefused, match="refuses the key") as caught:
        await ask(kind)
    assert "0123456789" not in str(caught.value)
    assert APIS[kind][1] in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_schema_is_sent_as_the_api_words_it(kind: str) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    form = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}
    async with Endpoint(APIS[kind][0]) as endpoint, Client(policy=QUICK):
        step = await made(kind, endpoint).complete(ASKED, response_format=form)
    assert step.message.text == '{"city": "Paris"}'


@pytest.mark.parametrize("kind", KINDS)
async def test_text_is_heard_while_it_comes_without_a_key_that_is_echoed(kind: str) -> None:
    heard: list[str] = []
    token = around.set(replace(around.get(), hear=lambda text, is_thought, begins: heard.append(text)))
    try:
        step, _ = await ask(kind)
    finally:
        around.reset(token)
    assert "".join(heard) == step.message.text == "Paris"
    assert len(heard) > 2


@pytest.mark.parametrize("kind", KINDS)
async def test_a_stream_that_breaks_off_is_begun_again(kind: str) -> None:
    begun = {
        "anthropic": {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Par"}},
        "gemini": {"candidates": [{"content": {"parts": [{"text": "Par"}]}}]},
        "responses": {"type": "response.output_text.delta", "delta": "Par"},
    }[kind]
    failed = retry.record_calls()
    step, _ = await ask(kind, events(begun, end=False), APIS[kind][0], stream=True)
    assert step.message.text == "Paris"
    assert [call.cause.partition(":")[0] for call in failed] == ["truncated"]


@pytest.mark.parametrize(
    ("kind", "reply", "stop", "text"),
    [
        ("anthropic", {"content": [{"type": "text", "text": "Par"}], "stop_reason": "max_tokens"}, "length", "Par"),
        ("anthropic", {"content": [], "stop_reason": "end_turn"}, "empty", ""),
        (
            "anthropic",
            {"content": [], "stop_reason": "refusal", "stop_details": {"type": "refusal", "explanation": "No."}},
            "refused",
            "No.",
        ),
        ("anthropic", {"content": [{"type": "server_tool_use"}], "stop_reason": "pause_turn"}, "length", ""),
        ("gemini", {"promptFeedback": {"blockReason": "SAFETY"}}, "filtered", ""),
        ("gemini", {"candidates": [{"finishReason": "SAFETY"}]}, "filtered", ""),
        ("gemini", {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}, "empty", ""),
        (
            "gemini",
            {"candidates": [{"content": {"parts": [{"text": "Par"}]}, "finishReason": "MAX_TOKENS"}]},
            "length",
            "Par",
        ),
        ("responses", {"output": [], "incomplete_details": {"reason": "max_output_tokens"}}, "length", ""),
        ("responses", {"output": [], "incomplete_details": {"reason": "content_filter"}}, "filtered", ""),
        (
            "responses",
            {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]},
            "refused",
            "No.",
        ),
        ("responses", {"status": "failed", "error": {"code": "bio_policy", "message": "x"}}, "filtered", ""),
    ],
)
async def test_why_a_model_stopped_is_kept(kind: str, reply: Any, stop: str, text: str) -> None:
    step, _ = await ask(kind, data(reply))
    assert (step.stop, step.message.text) == (stop, text)


@pytest.mark.parametrize(
    ("kind", "answer", "error", "cause"),
    [
        ("anthropic", data({"type": "error", "error": {"type": "overloaded_error"}}, 529), ProviderFailed, "http_529"),
        (
            "anthropic",
            data({"error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}}, 400),
            EndpointRefused,
            "http_402",
        ),
        ("anthropic", data({"type": "message"}), ProviderFailed, "no_reply"),
        ("anthropic", data({"content": "Paris"}), ProviderFailed, "not_json"),
        (
            "gemini",
            data({"error": {"code": 429, "details": [{"violations": [{"quotaId": "RequestsPerDay"}]}]}}, 429),
            EndpointRefused,
            "quota",
        ),
        ("gemini", data({"candidates": []}), ProviderFailed, "no_reply"),
        ("gemini", data({"error": {"code": 503, "message": "x"}}), ProviderFailed, "http_503"),
        (
            "responses",
            data({"status": "failed", "error": {"code": "server_error", "message": "x"}}),
            ProviderFailed,
            "http_500",
        ),
        ("responses", data({"id": "r"}), ProviderFailed, "no_reply"),
        ("responses", data({"status": "failed", "error": {"code": ["x"]}}), ProviderFailed, "http_400"),
        ("responses", data({"status": "failed", "error": {"code": None, "message": "x"}}), ProviderFailed, "http_500"),
    ],
)
async def test_what_goes_wrong_is_named(kind: str, answer: Answer, error: type[Exception], cause: str) -> None:
    with pytest.raises(error) as caught:
        await ask(kind, answer)
    assert getattr(caught.value, "kind", "") == cause


async def test_an_error_in_a_stream_of_anthropic_is_sent_again() -> None:
    broken = events({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, end=False)
    step, _ = await ask("anthropic", broken, APIS["anthropic"][0], stream=True)
    assert step.message.text == "Paris"


async def test_the_wait_that_google_asks_for_is_kept() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.003s"}]
    busy = data({"error": {"code": 429, "message": "slow down", "details": details}}, 429)
    failed = retry.record_calls()
    step, _ = await ask("gemini", busy, APIS["gemini"][0])
    assert step.message.text == "Paris"
    assert 0.003 <= failed[0].waited_seconds <= 0.004


async def test_options_are_sent_where_each_api_wants_them() -> None:
    common: dict[str, Any] = {"temperature": 0, "top_p": 0.5, "max_tokens": 4000}
    _, sent = await ask("anthropic", **common, reasoning_effort="high", thinking="adaptive", stop="x", top_k=3)
    assert sent == {
        "model": "m",
        "max_tokens": 4000,
        "temperature": 0,
        "top_p": 0.5,
        "top_k": 3,
        "stop_sequences": ["x"],
        "output_config": {"effort": "high"},
        "thinking": {"type": "adaptive"},
        "system": "Be short.",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Weather?"}]}],
    }
    _, sent = await ask(
        "gemini",
        **common,
        seed=3,
        stop=["x"],
        extra_body={"generationConfig": {"candidateCount": 1}, "safetySettings": []},
    )
    assert sent == {
        "safetySettings": [],
        "systemInstruction": {"parts": [{"text": "Be short."}]},
        "contents": [{"role": "user", "parts": [{"text": "Weather?"}]}],
        "generationConfig": {
            "temperature": 0,
            "topP": 0.5,
            "maxOutputTokens": 4000,
            "seed": 3,
            "stopSequences": ["x"],
            "thinkingConfig": {"thinkingBudget": -1, "includeThoughts": True},
            "candidateCount": 1,
        },
    }
    _, sent = await ask("responses", **common)
    assert sent == {
        "model": "m",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "temperature": 0,
        "top_p": 0.5,
        "max_output_tokens": 4000,
        "reasoning": {"effort": "low", "summary": "auto"},
        "input": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Weather?"}],
    }


@pytest.mark.parametrize(
    ("kind", "field"), [("anthropic", "output_config"), ("gemini", "generationConfig"), ("responses", "text")]
)
@pytest.mark.parametrize("value", [5, None, "x", [1]])
def test_a_field_that_the_model_adds_to_has_to_be_an_object(kind: str, field: str, value: Any) -> None:
    with pytest.raises(BadInput, match=f"{field}.*object"):
        model(f"{kind}:m", {"extra_body": {field: value}})


async def test_a_model_that_does_not_reason_is_asked_without_encrypted_reasoning_from_then_on() -> None:
    async with Endpoint(Responses(reasons=False)) as endpoint, Client(policy=QUICK):
        asked = made("responses", endpoint)
        for _ in range(2):
            assert (await asked.complete(ASKED)).message.text == "Paris"
    assert ["include" in request.json for request in endpoint.requests] == [True, False, False]


UNVERIFIED = "Your organization must be verified to generate reasoning summaries. Please go to: https://x.example"


@pytest.mark.parametrize("reasoning", [{"effort": "low", "summary": "auto"}, {"summary": "auto"}])
async def test_an_organisation_that_is_not_verified_is_asked_without_summaries(reasoning: Any) -> None:
    refused = data({"error": {"message": UNVERIFIED, "param": "reasoning.summary", "code": "unsupported_value"}}, 400)
    options: dict[str, Any] = {"extra_body": {"reasoning": reasoning}, "reasoning_effort": None}
    step, sent = await ask("responses", refused, APIS["responses"][0], **options)
    assert (step.message.text, "summary" in sent["reasoning"]) == ("Paris", False)
    with pytest.raises(ProviderFailed, match="must be verified"):
        await ask("responses", refused, **{**options, "extra_body": {"reasoning": None}})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kept", [{}, {"x": 1}, [1], "s"])
async def test_reasoning_without_what_the_api_wants_back_stays_here(kind: str, kept: Any) -> None:
    thought = Reasoning(text="hm", opaque={kind: kept})
    said = Message(role="assistant", parts=(thought, Text(text="Rome?")))
    step, sent = await ask(kind, messages=(*ASKED, said, Message.of("user", "And?")))
    assert step.message.text == "Paris"
    assert "'hm'" not in str(sent)


async def test_a_thought_that_was_cut_does_not_go_back_without_its_signature() -> None:
    reply = {"content": [{"type": "thinking", "thinking": "Let me", "signature": ""}], "stop_reason": "max_tokens"}
    step, _ = await ask("anthropic", data(reply))
    assert step.message.parts[0] == Reasoning(text="Let me")


async def test_images_and_documents_are_sent_as_each_api_takes_them() -> None:
    parts = (
        Text(text="Look:"),
        File(media_type="image/png", data=b"png"),
        File(name="a.pdf", media_type="application/pdf", data=b"%PDF-1.7"),
        File(media_type="image/jpeg", url="https://a.example/b.jpg"),
        File(name="t.bin", data=b"1"),
    )
    messages = (Message(role="user", parts=parts),)
    _, sent = await ask("anthropic", messages=messages)
    kinds = [(block["type"], block.get("source", {}).get("type")) for block in sent["messages"][0]["content"]]
    assert kinds == [("text", None), ("image", "base64"), ("document", "base64"), ("image", "url"), ("text", None)]
    _, sent = await ask("gemini", messages=messages)
    assert [sorted(part) for part in sent["contents"][0]["parts"]] == [
        ["text"],
        ["inlineData"],
        ["inlineData"],
        ["fileData"],
        ["text"],
    ]
    _, sent = await ask("responses", messages=messages)
    items = [item["type"] for item in sent["input"][0]["content"]]
    assert items == ["input_text", "input_image", "input_file", "input_image", "input_text"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_picture_of_a_result_is_sent_in_it_and_another_file_is_named(kind: str) -> None:
    files = (
        File(name="a.png", media_type="image/png", data=b"\x00\x01", path="/etc/passwd", url="http://127.0.0.1/"),
        File(name="b.zip", media_type="application/zip", data=b"PK"),
        File(name="c.svg", media_type="image/svg+xml", data=b"<svg/>"),
    )
    async with Endpoint(APIS[kind][0]) as endpoint, Client(policy=QUICK):
        asked = made(kind, endpoint)
        first = await asked.complete(ASKED, [WEATHER])
        (call,) = first.message.calls
        result = ToolResult(name=call.name, content="Look:", id=call.id, files=files)
        await asked.complete([*ASKED, first.message, Message(role="tool", parts=(result,))], [WEATHER])
    sent = endpoint.requests[-1].json
    text = "\n".join(
        (
            "Look:",
            "[1 file left out: b.zip (application/zip, 2 bytes); it cannot be shown here.]",
            "[1 file left out: c.svg (image/svg+xml, 6 bytes); it cannot be shown here.]",
        )
    )
    match kind:
        case "anthropic":
            source = {"type": "base64", "media_type": "image/png", "data": "AAE="}
            (block,) = sent["messages"][-1]["content"]
            assert block["content"] == [{"type": "text", "text": text}, {"type": "image", "source": source}]
        case "responses":
            picture = {"type": "input_image", "image_url": "data:image/png;base64,AAE="}
            assert sent["input"][-1]["output"] == [{"type": "input_text", "text": text}, picture]
        case "gemini":
            (part,) = sent["contents"][-1]["parts"]
            assert part["functionResponse"]["response"] == {"output": text}
            assert part["functionResponse"]["parts"] == [{"inlineData": {"mimeType": "image/png", "data": "AAE="}}]


async def test_calls_without_ids_and_arguments_that_are_no_json_still_make_a_request() -> None:
    call, broken = ToolCall(name="f", arguments={"x": 1}), ToolCall(name="f", raw="{oh", id="a b")
    history = (
        *ASKED,
        Message(role="assistant", parts=(Text(text=" "), call, broken)),
        Message(
            role="tool",
            parts=(ToolResult(name="f", content="1"), ToolResult(name="f", content="no", id="a b", is_error=True)),
        ),
        Message.of("user", "So?"),
    )
    step, sent = await ask("anthropic", messages=history, thinking="disabled")
    assert step.stop == "done"
    used, given = sent["messages"][1]["content"], sent["messages"][2]["content"]
    assert [block["id"] for block in used] == [block["tool_use_id"] for block in given[:2]] == ["call-0", "a_b"]
    assert (used[1]["input"], given[1]["is_error"]) == ({"arguments": "{oh"}, True)


def test_options_that_an_api_does_not_have_are_refused() -> None:
    for kind, option in (("anthropic", "seed"), ("gemini", "max_completion_tokens"), ("responses", "seed")):
        with pytest.raises(BadInput, match=option):
            model(f"{kind}:m", {option: 1})
    with pytest.raises(BadInput, match="stop"):
        model("responses:m", {"stop": "x"})
    with pytest.raises(BadInput, match="max_tokens"):
        model("anthropic:m", {"max_tokens": 1024, "thinking": 2048})
    with pytest.raises(BadInput, match="exclude each other"):
        model("gemini:m", {"reasoning_effort": "low", "thinking": 100})
    with pytest.raises(BadInput, match="GEMINI_API_KEY"):
        model("gemini:m", {"api_key": "x"})


async def test_the_version_of_the_api_is_one_that_takes_the_options() -> None:
    async with Endpoint(APIS["anthropic"][0]) as endpoint, Client(policy=QUICK):
        for options in ({}, {"temperature": 0.0}):
            assert (await made("anthropic", endpoint, thinking="disabled", **options).complete(ASKED)).stop == "done"
    versions = [request.headers["anthropic-version"] for request in endpoint.requests]
    assert versions == ["2026-10-21", "2023-06-01"]


async def test_a_date_in_a_reply_is_no_key() -> None:
    step, _ = await ask("anthropic", data({"content": [{"type": "text", "text": "on 2026-10-21"}]}))
    assert step.message.text == "on 2026-10-21"
