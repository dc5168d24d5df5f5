"""A chat model behind an OpenAI-compatible endpoint: what is sent, and what is made of the replies."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from endpoint import Answer, Endpoint, body, chat, cut, data, events, raw

from proctor.core.errors import BadInput, EndpointRefused, ProviderFailed
from proctor.core.sample import File, Message, Reasoning, Text, Tool, ToolCall, ToolResult
from proctor.core.trajectory import Step, Stop, Usage
from proctor.models.openai import ChatModel, OpenAIOptions, options_of
from proctor.transport import retry
from proctor.transport.client import Client
from proctor.transport.retry import RetryPolicy

QUICK = RetryPolicy(attempts=2, wait_seconds=0.001)
ASKED = (Message.of("system", "Be short."), Message.of("user", "Capital of France?"))
WEATHER = Tool(
    name="weather",
    description="The weather.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}},
)


async def complete(
    *script: Answer, tools: tuple[Tool, ...] = (), messages: tuple[Message, ...] = ASKED, **options: Any
) -> Step:
    return (await complete_and_see(*script, tools=tools, messages=messages, **options))[0]


async def complete_and_see(
    *script: Answer, tools: tuple[Tool, ...] = (), messages: tuple[Message, ...] = ASKED, **options: Any
) -> tuple[Step, Any]:
    async with Endpoint(*script) as endpoint, Client(policy=QUICK):
        model = ChatModel("m", options_of({"base_url": endpoint.url + "/v1", **options}))
        step = await model.complete(messages, tools)
    return step, endpoint.requests[-1].json


async def test_a_question_becomes_a_request_and_the_reply_a_step() -> None:
    step, sent = await complete_and_see(
        chat("Paris"), temperature=0, max_tokens=9, top_p=1, seed=3, stop=["\n"], extra_body={"reasoning_effort": "low"}
    )
    assert sent == {
        "model": "m",
        "temperature": 0,
        "max_tokens": 9,
        "top_p": 1,
        "seed": 3,
        "stop": ["\n"],
        "reasoning_effort": "low",
        "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Capital of France?"}],
    }
    assert (step.message, step.stop) == (Message.of("assistant", "Paris"), "done")
    assert step.usage is not None
    assert (step.usage.input_tokens, step.usage.output_tokens, step.usage.requests) == (7, 3, 1)
    assert step.seconds > 0
    assert step.started > 1e9


async def test_only_what_is_asked_for_is_sent() -> None:
    assert set((await complete_and_see(chat()))[1]) == {"model", "messages"}


async def test_tools_calls_and_results_are_sent_in_the_form_of_the_api() -> None:
    call = ToolCall(name="weather", arguments={"city": "北京"}, id="c1")
    history = (
        *ASKED,
        Message(role="assistant", parts=(Reasoning(text="hm"), call)),
        Message(
            role="tool",
            parts=(
                ToolResult(name="weather", content="sunny", id="c1"),
                ToolResult(name="weather", content="2", id="c2"),
            ),
        ),
        Message(role="assistant", parts=(Text(text="It is"), Text(text=" sunny."))),
    )
    _, sent = await complete_and_see(chat(), messages=history, tools=(WEATHER,))
    assert sent["messages"][2:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "北京"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
        {"role": "tool", "tool_call_id": "c2", "content": "2"},
        {"role": "assistant", "content": "It is sunny."},
    ]
    described = {"name": "weather", "description": WEATHER.description, "parameters": WEATHER.parameters}
    assert sent["tools"] == [{"type": "function", "function": described}]


async def test_images_are_sent_as_images_and_other_files_as_a_note(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(b"png")
    parts = (
        Text(text="Look:"),
        File(name="a.png", media_type="image/png", data=b"\x00\x01"),
        File(media_type="image/jpeg", url="https://a.example/b.jpg"),
        File(media_type="image/png", path=str(tmp_path / "x.png")),
        File(media_type="image/png", path=str(tmp_path / "gone.png")),
        File(name="t.csv", media_type="text/csv", data=b"1,2"),
    )
    _, sent = await complete_and_see(chat(), messages=(Message(role="user", parts=parts),))
    content = sent["messages"][0]["content"]
    assert [part.get("image_url", {}).get("url") for part in content[1:4]] == [
        "data:image/png;base64,AAE=",
        "https://a.example/b.jpg",
        "data:image/png;base64,cG5n",
    ]
    assert "gone.png" in content[4]["text"]
    assert content[5]["text"].strip() == "[Attached file: t.csv (text/csv)]"


async def test_pictures_of_results_follow_all_results_of_a_reply_and_other_files_are_named() -> None:
    shot = File(name="a.png", media_type="image/png", data=b"\x00\x01", path="/etc/passwd", url="http://127.0.0.1/")
    zipped = File(name="b.zip", media_type="application/zip", data=b"PK")
    history = (
        *ASKED,
        Message(role="assistant", parts=(ToolCall(name="shoot", id="c1"), ToolCall(name="shoot", id="c2"))),
        Message(role="tool", parts=(ToolResult(name="shoot", content="Done.", id="c1", files=(shot, zipped)),)),
        Message(role="tool", parts=(ToolResult(name="shoot", content="2", id="c2"),)),
    )
    _, sent = await complete_and_see(chat(), messages=history)
    assert sent["messages"][3:] == [
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": "Done.\n[1 file left out: b.zip (application/zip, 2 bytes); it cannot be shown here.]",
        },
        {"role": "tool", "tool_call_id": "c2", "content": "2"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "a.png, from the result of shoot (c1):"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAE="}},
            ],
        },
    ]
    _, again = await complete_and_see(chat(), messages=(*history, Message.of("assistant", "Two.")))
    assert again["messages"][3:6] == sent["messages"][3:]
    assert again["messages"][6]["role"] == "assistant"


async def test_names_the_api_would_refuse_are_sent_changed_and_come_back_as_they_were() -> None:
    tools = (Tool(name="math.sum"), Tool(name="math_sum"), Tool(name="求和"))
    calls = [
        {"id": f"c{n}", "function": {"name": name, "arguments": "{}"}}
        for n, name in enumerate(("math_sum", "math_sum_2", "__"))
    ]
    step, sent = await complete_and_see(chat(None, tool_calls=calls), tools=tools)
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["math_sum_2", "math_sum", "__"]
    assert [call.name for call in step.message.calls] == ["math_sum", "math.sum", "求和"]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            {"id": "c", "function": {"name": "f", "arguments": '{"x": [1]}'}},
            ToolCall(name="f", arguments={"x": [1]}, id="c"),
        ),
        ({"function": {"name": "f", "arguments": {"x": 1}}}, ToolCall(name="f", arguments={"x": 1}, id="call_2_0")),
        ({"id": None, "function": {"name": "f", "arguments": None}}, ToolCall(name="f", id="call_2_0")),
        ({"id": "c", "function": {"name": "f", "arguments": ""}}, ToolCall(name="f", id="c")),
        ({"id": "c", "function": {"name": "f", "arguments": "{broken"}}, ToolCall(name="f", id="c", raw="{broken")),
        ({"id": "c", "function": {"name": "f", "arguments": "[1]"}}, ToolCall(name="f", id="c", raw="[1]")),
        ({"id": "c", "function": {"name": "f", "arguments": 3}}, ToolCall(name="f", id="c", raw="3")),
        (
            {"id": "c", "function": {"name": "f", "arguments": '{"x": "\\ud800"}'}},
            ToolCall(name="f", arguments={"x": "\ufffd"}, id="c"),
        ),
        ({"id": "c", "function": {"name": None}}, ToolCall(name="", id="c")),
    ],
)
async def test_tool_calls_are_read_in_every_form_servers_give_them(call: Any, expected: ToolCall) -> None:
    step = await complete(chat(None, tool_calls=[call]))
    assert step.message.calls == (expected,)
    assert step.stop == "done"


async def test_parallel_calls_keep_their_order_and_get_ids_of_their_own() -> None:
    calls = [{"function": {"name": name, "arguments": "{}"}} for name in "abc"]
    step = await complete(chat("Let me see.", tool_calls=calls))
    assert [(call.name, call.id) for call in step.message.calls] == [
        ("a", "call_2_0"),
        ("b", "call_2_1"),
        ("c", "call_2_2"),
    ]
    assert step.message.text == "Let me see."


@pytest.mark.parametrize(
    ("message", "thought", "answer"),
    [
        ({"content": "4", "reasoning_content": "2+2"}, "2+2", "4"),
        ({"content": "4", "reasoning": "2+2"}, "2+2", "4"),
        ({"content": "<think>2+2</think>\n\n4"}, "2+2", "4"),
        ({"content": "2+2</think>4"}, "2+2", "4"),
        ({"content": "<think>2+2 is"}, "2+2 is", ""),
        ({"content": "<think></think>4"}, None, "4"),
        ({"content": "a <b> & <think1>"}, None, "a <b> & <think1>"),
    ],
)
async def test_reasoning_is_kept_apart_from_the_answer(message: Any, thought: str | None, answer: str) -> None:
    reply = {"choices": [{"message": message, "finish_reason": "stop"}]}
    step = await complete(data(reply))
    assert [part.text for part in step.message.parts if isinstance(part, Reasoning)] == ([thought] if thought else [])
    assert step.message.text == answer


@pytest.mark.parametrize(
    ("choice", "stop", "text"),
    [
        ({"message": {"content": "Par"}, "finish_reason": "length"}, "length", "Par"),
        ({"message": {"content": ""}, "finish_reason": "content_filter"}, "filtered", ""),
        ({"message": {"content": ""}, "finish_reason": "sensitive"}, "filtered", ""),
        ({"message": {"content": "Par"}, "finish_reason": "model_length"}, "length", "Par"),
        ({"message": {"content": None, "refusal": "I cannot."}, "finish_reason": "stop"}, "refused", "I cannot."),
        ({"message": {"content": None}, "finish_reason": "stop"}, "empty", ""),
        ({"message": {}, "finish_reason": None}, "empty", ""),
        ({"message": {"content": "<think>so</think>"}, "finish_reason": "stop"}, "empty", ""),
        ({"message": {"content": "x"}, "finish_reason": "something new"}, "done", "x"),
        ({"message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}, "done", "ab"),
    ],
)
async def test_how_a_reply_ended(choice: Any, stop: Stop, text: str) -> None:
    step = await complete(data({"choices": [choice]}))
    assert (step.stop, step.message.text) == (stop, text)


async def test_content_null_without_calls_is_a_message_without_parts() -> None:
    assert (await complete(chat(None))).message.parts == ()


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 4},
                "completion_tokens_details": {"reasoning_tokens": 2},
            },
            (9, 5, 4, 2, None),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 5, "prompt_cache_hit_tokens": 3, "prompt_tokens_details": None},
            (9, 5, 3, 0, None),
        ),
        ({"prompt_tokens": 9.0, "completion_tokens": None, "cost": 0.25}, (9, 0, 0, 0, 0.25)),
        (None, (0, 0, 0, 0, None)),
    ],
)
async def test_tokens_are_counted(usage: Any, expected: tuple[Any, ...]) -> None:
    step = await complete(data({"choices": [{"message": {"content": "x"}}], "usage": usage}))
    found = step.usage
    assert found is not None
    assert (
        found.input_tokens,
        found.output_tokens,
        found.cached_tokens,
        found.reasoning_tokens,
        found.cost,
    ) == expected
    assert found.requests == 1


@pytest.mark.parametrize(
    "broken",
    [
        data({}),
        data({"choices": []}),
        data({"choices": [{}]}),
        data({"choices": [{"message": None}]}),
        data({"choices": "none"}),
        data([]),
        data({"error": {"message": "overloaded", "code": 502}}),
        data({"error": "overloaded"}),
        *(
            data({"choices": [{"message": {"content": "Par"}, "finish_reason": reason}]})
            for reason in ("error", "network_error", "insufficient_system_resource", "abort")
        ),
        body(b"<html></html>", content_type="text/html"),
    ],
)
async def test_a_reply_that_is_none_is_asked_for_again(broken: Answer) -> None:
    made = retry.record_calls()
    assert (await complete(broken, chat())).message.text == "Paris"
    assert len(made) == 1


async def test_an_error_with_a_status_in_a_reply_of_200_counts_as_that_status() -> None:
    with pytest.raises(EndpointRefused, match="no such key"):
        await complete(data({"error": {"message": "no such key", "code": 401}}))


async def test_a_negative_usage_gives_nothing_back() -> None:
    reply = {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": -5, "cost": -1}}
    assert (await complete(data(reply))).usage == Usage(requests=1, cost=0.0)


async def test_a_prompt_that_was_filtered_is_an_answer_of_its_own_kind() -> None:
    step = await complete(data({"error": {"code": "content_filter", "message": "jailbreak"}}, 400))
    assert (step.stop, step.message.parts) == ("filtered", ())


async def test_a_request_that_is_too_long_is_no_answer() -> None:
    with pytest.raises(ProviderFailed, match="8192 tokens") as raised:
        await complete(data({"error": {"code": "context_length_exceeded", "message": "at most 8192 tokens"}}, 400))
    assert raised.value.kind == "http_400"


async def test_half_a_character_never_leaves_and_never_comes_in() -> None:
    reply = b'{"choices": [{"message": {"content": "a\\ud83d"}}]}'
    step, sent = await complete_and_see(body(reply), messages=(Message.of("user", "b\ud83d"),))
    assert step.message.text == "a\ufffd"
    assert sent["messages"][0]["content"] == "b\ufffd"


async def test_a_model_used_outside_a_run_opens_a_client_of_its_own() -> None:
    async with Endpoint(chat()) as endpoint:
        step = await ChatModel("m", OpenAIOptions(base_url=endpoint.url)).complete(ASKED)
    assert step.message.text == "Paris"
    assert endpoint.requests[0].path == "/chat/completions"


async def test_a_base_url_may_be_the_whole_address() -> None:
    async with Endpoint(chat()) as endpoint:
        await ChatModel("m", OpenAIOptions(base_url=endpoint.url + "/x/chat/completions?api-version=1")).complete(ASKED)
    assert endpoint.requests[0].path == "/x/chat/completions?api-version=1"


def delta(**fields: Any) -> Any:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


END = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
USAGE = {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}


async def test_a_stream_is_put_together_and_its_first_token_timed() -> None:
    pieces = [
        delta(role="assistant", content=""),
        delta(reasoning_content="2"),
        delta(reasoning_content="+2"),
        delta(content="4"),
        delta(content="!"),
    ]
    step, sent = await complete_and_see(events(*pieces, END, USAGE), stream=True)
    assert sent["stream"] is True
    assert sent["stream_options"] == {"include_usage": True}
    assert step.message.parts == (Reasoning(text="2+2"), Text(text="4!"))
    assert step.first_token_seconds is not None
    assert 0 < step.first_token_seconds <= step.seconds
    assert step.usage is not None
    assert step.usage.output_tokens == 2


async def test_a_stream_that_is_asked_for_in_more_fields_is_sent_as_it_is() -> None:
    step, sent = await complete_and_see(events(delta(content="4"), END), extra_body={"stream": True})
    assert (step.message.text, sent["stream"]) == ("4", True)
    assert "stream_options" not in sent, "not every server knows it"


async def test_tool_calls_of_a_stream_are_put_together_by_their_index() -> None:
    pieces = [
        delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}]),
        delta(tool_calls=[{"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}}]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": '{"x":'}}]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": " 1}"}}]),
    ]
    step = await complete(events(*pieces, END), stream=True)
    assert step.message.calls == (ToolCall(name="f", arguments={"x": 1}, id="a"), ToolCall(name="g", id="b"))


@pytest.mark.parametrize(
    "broken",
    [
        events(delta(content="Pa"), end=False),
        events("{no json"),
        events({"error": {"message": "overloaded"}}),
        events(),
        events({"object": "error", "message": "the engine is dead", "code": 500}),
        events(delta(content="Pa"), {"choices": [{"delta": {}, "finish_reason": "error"}]}),
        raw(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n5\r\ndata:"),
        cut(b"data: "),
    ],
)
async def test_a_stream_that_breaks_off_is_begun_again(broken: Answer) -> None:
    step = await complete(broken, events(delta(content="Paris"), END), stream=True)
    assert step.message.text == "Paris"


async def test_a_server_that_cannot_stream_is_understood() -> None:
    assert (await complete(chat("Paris"), stream=True)).message.text == "Paris"


@pytest.mark.parametrize(
    ("environment", "options", "address", "key"),
    [
        ({"OPENAI_BASE_URL": "{url}/a", "OPENAI_API_KEY": "key-one"}, {}, "/a/chat/completions", "key-one"),
        ({"LLM_BASE_URL": "{url}/b/", "LLM_API_KEY": "key-two"}, {}, "/b/chat/completions", "key-two"),
        (
            {"LLM_BASE_URL": "{url}/b", "LLM_API_KEY": "key-two", "OPENAI_API_KEY": "key-one"},
            {},
            "/b/chat/completions",
            "key-two",
        ),
        (
            {"LLM_API_KEY": "key-two", "OPENAI_API_KEY": "key-one"},
            {"base_url": "{url}/c"},
            "/c/chat/completions",
            "key-one",
        ),
        (
            {"MINE": "key-three", "OPENAI_API_KEY": "key-one"},
            {"base_url": "{url}", "api_key_env": "MINE"},
            "/chat/completions",
            "key-three",
        ),
        ({}, {"base_url": "{url}"}, "/chat/completions", None),
    ],
)
async def test_address_and_key_come_from_the_environment_and_belong_together(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], options: dict[str, str], address: str, key: str | None
) -> None:
    async with Endpoint(chat()) as endpoint:
        for name, value in environment.items():
            monkeypatch.setenv(name, value.replace("{url}", endpoint.url))
        options = {name: value.replace("{url}", endpoint.url) for name, value in options.items()}
        await ChatModel("m", options_of(options)).complete(ASKED)
    assert endpoint.requests[0].path == address
    assert endpoint.requests[0].headers.get("authorization") == (f"Bearer {key}" if key else None)


async def test_headers_may_be_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET_HEADER", "value-of-mine")
    async with Endpoint(chat("value-of-mine")) as endpoint:
        model = ChatModel(
            "m", OpenAIOptions(base_url=endpoint.url, headers={"X-Auth": "env:MY_SECRET_HEADER", "X-Plain": "1"})
        )
        step = await model.complete(ASKED)
    assert endpoint.requests[0].headers["x-auth"] == "value-of-mine"
    assert endpoint.requests[0].headers["x-plain"] == "1"
    assert step.message.text == "[hidden]"


@pytest.mark.parametrize("is_set", [True, False])
async def test_a_refused_key_names_endpoint_model_and_variable_but_never_the_key(
    monkeypatch: pytest.MonkeyPatch, is_set: bool
) -> None:
    if is_set:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-secret")
    with pytest.raises(EndpointRefused) as raised:
        await complete(data({"error": {"message": "Incorrect API key provided: sk-secret-secret"}}, 401))
    said = str(raised.value)
    assert "/v1/chat/completions" in said
    assert "Model: m" in said
    assert "OPENAI_API_KEY" in said
    assert ("is not set" in said) is not is_set
    assert "secret-secret" not in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"temprature": 0}, "no option 'temprature'. Did you mean 'temperature'"),
        ({"temperature": "hot"}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"timeout": -1}, "timeout"),
        ({"tools": "telepathy"}, "tools"),
        ({"api_key": "sk-1"}, "A key is no option.*api_key_env"),
        ({"api_key_env": "NOT_THERE"}, "NOT_THERE is not set"),
        ({"headers": {"X": "env:NOT_THERE"}}, "NOT_THERE, which is not set"),
        ({"base_url": "localhost:8000"}, "no address"),
    ],
)
def test_wrong_options_are_said_before_anything_is_sent(options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said) as raised:
        ChatModel("m", options_of(options))
    assert "sk-1" not in str(raised.value)


def test_the_model_comes_from_the_environment_or_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="LLM_MODEL_ID"):
        ChatModel()
    monkeypatch.setenv("LLM_MODEL_ID", "qwen")
    assert ChatModel().name == "qwen"
    assert ChatModel("m").name == "m"


@pytest.mark.parametrize("value", ["soon", "-1", "nan", "inf"])
def test_a_time_limit_of_the_environment_has_to_be_one(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("LLM_TIMEOUT", value)
    with pytest.raises(BadInput, match="LLM_TIMEOUT"):
        ChatModel("m")


async def test_options_as_texts_from_a_command_line_are_read() -> None:
    options = options_of({"temperature": "0.5", "max_tokens": "7", "stream": "true", "stop": "END"})
    assert (options.temperature, options.max_tokens, options.stream, options.stop) == (0.5, 7, True, "END")


async def test_retries_can_be_switched_off() -> None:
    async with Endpoint(data({}, 500)) as endpoint, Client():
        with pytest.raises(ProviderFailed):
            await ChatModel("m", OpenAIOptions(base_url=endpoint.url, retries=0)).complete(ASKED)
    assert len(endpoint.requests) == 1


async def test_a_fixed_number_of_requests_at_once_is_kept() -> None:
    import asyncio

    async with Endpoint(chat(seconds=0.01)) as endpoint, Client():
        model = ChatModel("m", OpenAIOptions(base_url=endpoint.url, concurrency=3))
        await asyncio.gather(*(model.complete(ASKED) for _ in range(12)))
    assert endpoint.most_at_once == 3


async def test_a_response_format_is_passed_on() -> None:
    async with Endpoint(chat()) as endpoint:
        await ChatModel("m", OpenAIOptions(base_url=endpoint.url)).complete(
            ASKED, response_format={"type": "json_object"}
        )
    assert endpoint.requests[0].json["response_format"] == {"type": "json_object"}


def test_nothing_of_a_key_is_in_what_python_shows_of_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-secret")
    model = ChatModel("m")
    assert "sk-secret" not in repr(model) + repr(model.options) + json.dumps(msgspec.to_builtins(model.options))


@pytest.mark.parametrize(
    "usage", [{"prompt_tokens": "12"}, {"prompt_tokens": 3, "prompt_tokens_details": []}, "12", [1]]
)
@pytest.mark.parametrize("streams", [False, True])
async def test_an_answer_with_a_usage_in_another_shape_is_no_lost_answer(usage: object, streams: bool) -> None:
    reply = {
        "choices": [{"message": {"content": "Paris"}, "delta": {"content": "Paris"}, "finish_reason": "stop"}],
        "usage": usage,
    }
    answer = events(reply) if streams else data(reply)
    async with Endpoint(answer) as endpoint:
        step = await ChatModel("m", OpenAIOptions(base_url=endpoint.url, stream=streams)).complete(ASKED)
    assert (step.message.text, step.usage) == ("Paris", Usage(requests=1))


async def test_a_token_limit_under_the_wrong_name_is_sent_under_the_other_one() -> None:
    text = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    no = data({"error": {"message": text, "param": "max_tokens", "code": "unsupported_parameter"}}, 400)
    async with Endpoint(no, chat("Paris"), chat("Oslo")) as endpoint, Client(policy=QUICK):
        model = ChatModel("m", options_of({"base_url": endpoint.url, "max_tokens": 5}))
        said = [(await model.complete(ASKED)).message.text for _ in range(2)]
    assert said == ["Paris", "Oslo"]
    sent = [{"max_tokens", "max_completion_tokens"} & set(one.json) for one in endpoint.requests]
    assert sent == [{"max_tokens"}, {"max_completion_tokens"}, {"max_completion_tokens"}], "learnt once"


async def test_the_newer_name_is_sent_under_the_older_one_where_only_that_is_known() -> None:
    no = data({"error": {"message": "Unrecognized request argument supplied: max_completion_tokens"}}, 400)
    long = data({"error": {"message": "'max_tokens' or 'max_completion_tokens' is too large: 5.", "code": 400}}, 400)
    with pytest.raises(ProviderFailed, match="too large"):
        await complete_and_see(long, chat("Paris"), max_tokens=5)
    _, sent = await complete_and_see(no, chat("Paris"), max_completion_tokens=5)
    assert (sent["max_tokens"], "max_completion_tokens" in sent) == (5, False)


@pytest.mark.parametrize(
    ("error", "option"),
    [
        (
            {
                "message": "Unsupported value: 'temperature' does not support 0 with this model.",
                "code": "unsupported_value",
            },
            "temperature",
        ),
        (
            {"message": "Unsupported parameter: 'reasoning_effort' is not supported.", "code": "unsupported_parameter"},
            "reasoning_effort",
        ),
        (
            {"message": "Unsupported parameter: 'temperature' is not supported with this model.", "code": None},
            "temperature",
        ),
        ({"message": "max_tokens: 99 > 10, the maximum.", "type": "invalid_request_error"}, "max_tokens"),
    ],
)
async def test_an_option_that_the_model_does_not_take_stops_the_run_and_is_named(
    error: dict[str, str | None], option: str
) -> None:
    with pytest.raises(EndpointRefused, match=f"the option '{option}'") as caught:
        await complete(data({"error": error}, 400), temperature=0, reasoning_effort="low", max_tokens=99)
    assert caught.value.kind == "option"


async def test_an_error_of_google_in_a_list_is_read() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
    error = {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT", "details": details}}
    with pytest.raises(EndpointRefused, match=r"refuses the key .*API key not valid"):
        await complete(data([error], 400))


async def test_a_refusal_that_only_quotes_a_word_is_one_of_this_request() -> None:
    error = {"message": "The text 'temperature' is too long.", "code": "context_length_exceeded"}
    with pytest.raises(ProviderFailed):
        await complete(data({"error": error}, 400), temperature=0)


async def test_reasoning_effort_is_an_option_of_its_own() -> None:
    _, sent = await complete_and_see(chat(), reasoning_effort="high")
    assert sent["reasoning_effort"] == "high"
    with pytest.raises(BadInput, match="reasoning_effort"):
        options_of({"reasoning_effort": "much"})
