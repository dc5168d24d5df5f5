"""An agent behind an HTTP address: request and reply in the JSON that it speaks."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from acting import TOOLS, Shop
from endpoint import Answer, Endpoint, Request, body, data, raw

from proctor.agents.http import make
from proctor.core.errors import AgentFailed, BadInput, EndpointRefused, ProviderFailed, Undecided
from proctor.core.sample import File, Message, Sample, Text, Tool, ToolCall, Turn
from proctor.core.trajectory import Step

SAMPLE = Sample.ask("s", "Capital of France?")


async def ask(
    *script: Answer, turns: tuple[Turn, ...] = SAMPLE.turns, path: str = "/ask", **options: Any
) -> tuple[list[Step], list[Request]]:
    async with Endpoint(*script) as endpoint:
        agent = make(endpoint.url + path, {"retries": 0, **options})
        steps: list[Step] = []
        async with agent.open(SAMPLE, None) as session:
            for turn in turns:
                steps.extend(await session.send(turn))
    return steps, endpoint.requests


async def answer(*script: Answer, **options: Any) -> str:
    return (await ask(*script, **options))[0][-1].message.text


@pytest.mark.parametrize("name", ["answer", "output", "text", "response", "content"])
async def test_by_default_a_question_is_sent_and_a_usual_name_read(name: str) -> None:
    steps, requests = await ask(data({"id": 1, name: "Paris"}))
    assert requests[0].json == {"question": "Capital of France?"}
    assert requests[0].method == "POST"
    assert steps[0].message == Message.of("assistant", "Paris")
    assert steps[0].seconds > 0


@pytest.mark.parametrize(
    "path", ["data.items[0].text", "$.data.items[0].text", "$['data'].items.0.text", "data['items'][0][\"text\"]"]
)
async def test_the_answer_is_read_where_the_path_says(path: str) -> None:
    assert await answer(data({"answer": "no", "data": {"items": [{"text": "Paris"}]}}), reply=path) == "Paris"


async def test_an_answer_that_is_no_text_becomes_json() -> None:
    assert await answer(data({"answer": {"city": "Paris"}})) == '{"city":"Paris"}'
    assert await answer(data({"answer": 0})) == "0"
    assert await answer(data("Paris")) == "Paris"


async def test_a_plain_text_is_an_answer_too() -> None:
    assert await answer(body("Paris、巴黎\n".encode(), content_type="text/plain")) == "Paris、巴黎"


async def test_the_template_is_filled_by_structure_so_that_no_question_can_break_it() -> None:
    question = 'He said "hi", {messages} \\ \n'
    tools = (Tool(name="f"),)
    turns = (Turn(messages=(Message.of("system", "Be short."), Message.of("user", question)), tools=tools),)
    template = {
        "q": "{question}",
        "text": "Q: {question} ({session})",
        "all": ["{messages}"],
        "tools": "{tools}",
        "n": 1,
    }
    _, requests = await ask(data({"answer": "x"}), turns=turns, body=template)
    sent = requests[0].json
    assert sent["q"] == question
    assert sent["text"].startswith(f"Q: {question} (")
    assert sent["all"] == [[{"role": "system", "content": "Be short."}, {"role": "user", "content": question}]]
    assert sent["tools"][0]["function"]["name"] == "f"
    assert sent["n"] == 1


async def test_a_template_may_come_as_text_from_the_command_line() -> None:
    _, requests = await ask(data({"answer": "x"}), body='{"input": "{question}"}')
    assert requests[0].json == {"input": "Capital of France?"}


async def test_a_conversation_keeps_its_session_and_its_messages() -> None:
    turns = (*SAMPLE.turns, Turn(messages=(Message.of("user", "Sure?"),)))
    script = data({"answer": "Paris"}), data({"answer": "Yes"})
    _, requests = await ask(*script, turns=turns, body={"s": "{session}", "m": "{messages}", "q": "{question}"})
    first, second = (request.json for request in requests)
    assert first["s"] == second["s"]
    assert len(first["s"]) == 32
    assert second["q"] == "Sure?"
    assert [message["content"] for message in second["m"]] == ["Capital of France?", "Paris", "Sure?"]


async def test_two_samples_have_two_sessions() -> None:
    _, one = await ask(data({"answer": "x"}), body={"s": "{session}"})
    _, other = await ask(data({"answer": "x"}), body={"s": "{session}"})
    assert one[0].json != other[0].json


async def test_with_get_the_question_stands_in_the_address() -> None:
    turns = (Turn(messages=(Message.of("user", "a&b=c+d? 中 #%41"),)),)
    _, requests = await ask(data({"answer": "x"}), turns=turns, method="GET", path="/ask?q={question}&s={session}")
    assert requests[0].method == "GET"
    assert parse_qs(urlsplit(requests[0].path).query)["q"] == ["a&b=c+d? 中 #%41"]
    assert requests[0].body == b""


async def test_calls_are_read_where_the_path_says_in_either_form() -> None:
    calls = [{"name": "f", "args": {"x": 1}}, {"id": "b", "function": {"name": "g", "arguments": "{}"}}]
    steps, _ = await ask(data({"trace": {"calls": calls}, "answer": "done"}), calls="trace.calls")
    assert steps[0].message.calls == (ToolCall(name="f", arguments={"x": 1}, id="call_1_0"), ToolCall(name="g", id="b"))
    assert steps[0].message.text == "done"


async def test_calls_without_an_answer_are_enough() -> None:
    steps, _ = await ask(data({"calls": [{"name": "f"}]}), calls="calls")
    assert [call.name for call in steps[0].message.calls] == ["f"]


async def test_an_agent_that_reports_calls_counts_as_one_with_tools_of_its_own() -> None:
    assert make("http://x", {"calls": "calls"}).tools == "native"
    assert make("http://x", {"body": {"t": "{tools}"}}).tools == "native"
    assert make("http://x", {}).tools == "text"


async def test_headers_are_sent_and_secrets_stay_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_AUTH", "token-of-mine")
    steps, requests = await ask(data({"answer": "you sent token-of-mine"}), headers={"X-Auth": "env:BOT_AUTH"})
    assert requests[0].headers["x-auth"] == "token-of-mine"
    assert steps[0].message.text == "you sent [hidden]"
    with pytest.raises(EndpointRefused) as raised:
        await ask(data({"detail": "bad token-of-mine"}, 401), headers={"X-Auth": "env:BOT_AUTH"})
    assert "token-of-mine" not in str(raised.value)
    assert "env:NAME" in str(raised.value)


@pytest.mark.parametrize(
    "reply",
    [data({"answer": None}), data({}), data([]), data(None), data({"other": "Paris"}), data({"data": {"answer": "x"}})],
)
async def test_a_reply_without_an_answer_is_a_failure_of_the_agent(reply: Answer) -> None:
    with pytest.raises(AgentFailed, match="no answer at"):
        await ask(reply)


async def test_a_path_that_leads_nowhere_says_what_there_is() -> None:
    with pytest.raises(AgentFailed, match=r"'data\.answer'\. It has: answer, id"):
        await ask(data({"answer": "Paris", "id": 1}), reply="data.answer")


async def test_an_empty_answer_is_an_answer() -> None:
    assert (await ask(data({"answer": ""})))[0][0].message.parts == ()


@pytest.mark.parametrize("calls", [[{"x": 1}], ["f"], [{"name": 3}]])
async def test_a_call_without_a_name_is_a_failure_of_the_agent(calls: Any) -> None:
    with pytest.raises(AgentFailed, match="tool call without a name"):
        await ask(data({"calls": calls}), calls="calls")


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (body(b"<html>", 502, content_type="text/html"), "http_502"),
        (body(b"<html>login</html>", content_type="text/html"), "not_json"),
        (body(b'{"answer": "Par'), "not_json"),
        (data({"error": "out of memory"}), "no_reply"),
        (raw(b""), "reset"),
    ],
)
async def test_what_is_wrong_with_the_endpoint_is_a_failure_of_the_provider(reply: Answer, kind: str) -> None:
    with pytest.raises(ProviderFailed) as raised:
        await ask(reply)
    assert raised.value.kind == kind


@pytest.mark.parametrize(("status", "kind"), [(500, "http_500"), (422, "http_422")])
async def test_what_code_of_the_service_may_have_raised_is_undecided(status: int, kind: str) -> None:
    with pytest.raises(Undecided) as raised:
        await ask(data({"detail": "bad field"}, status))
    assert raised.value.kind == kind


async def test_files_reach_the_agent_with_the_messages() -> None:
    parts = (Text(text="Look"), File(name="a.png", media_type="image/png", data=b"1"))
    turns = (Turn(messages=(Message(role="user", parts=parts),)),)
    _, requests = await ask(data({"answer": "x"}), turns=turns, body={"m": "{messages}"})
    assert requests[0].json["m"][0]["content"][1]["image_url"]["url"] == "data:image/png;base64,MQ=="


@pytest.mark.parametrize(
    ("url", "options", "said"),
    [
        ("bot.example/ask", {}, "no address"),
        ("http://x", {"bodi": {}}, "Did you mean 'body'"),
        ("http://x", {"body": "{question"}, "no JSON"),
        ("http://x", {"body": {"q": "{quesion}"}}, "nothing to fill in for {quesion}"),
        ("http://x/{id}", {}, "nothing to fill in for {id}"),
        ("http://x", {"reply": "a[0"}, "no path into a reply"),
        ("http://x", {"reply": "a..b"}, "no path into a reply"),
        ("http://x", {"method": "DELETE"}, "method"),
        ("http://x", {"headers": {"A": "env:NOT_THERE"}}, "NOT_THERE"),
    ],
)
def test_wrong_options_are_said_before_anything_is_sent(url: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        make(url, options)


def test_the_address_may_follow_the_name_as_it_is() -> None:
    assert make("//bot.example/ask", {}).name == "http:bot.example/ask"
    assert make("https://bot.example/ask", {}).name == "http:bot.example/ask"


def test_agents_at_two_paths_or_ports_of_a_host_have_names_of_their_own() -> None:
    urls = (
        "http://bot.example/a",
        "http://bot.example/b",
        "http://bot.example:81/a",
        "http://user:secret@bot.example/a/b?k=v",
    )
    assert [make(url, {}).name.removeprefix("http:bot.example") for url in urls] == ["/a", "/b", ":81/a", "/a/b"]


async def test_a_key_in_the_address_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_KEY", "a/key&of=mine")
    for method in ("POST", "GET"):
        _, requests = await ask(data({"answer": "Paris"}), path="/ask?key={env:BOT_KEY}", method=method)
        assert parse_qs(urlsplit(requests[0].path).query) == {"key": ["a/key&of=mine"]}
    monkeypatch.delenv("BOT_KEY")
    with pytest.raises(BadInput, match="BOT_KEY, which is not set"):
        make("https://bot.example/ask?key={env:BOT_KEY}", {})


async def test_calls_are_run_by_the_environment_and_their_results_sent() -> None:
    call = {"id": "c1", "name": "add", "arguments": {"item": "apple"}}
    shop = Shop()
    async with Endpoint(data({"calls": [call]}), data({"answer": "Done.", "calls": []})) as place:
        options = {"calls": "calls", "body": {"ask": "{question}", "log": "{messages}", "tools": "{tools}"}}
        agent = make(f"{place.url}/ask", options)
        async with agent.open(SAMPLE, shop) as session:
            steps = await session.send(Turn(messages=SAMPLE.turns[0].messages, tools=TOOLS))
    first, second = (request.json for request in place.requests)
    assert first["ask"] == SAMPLE.question
    assert [one["function"]["name"] for one in first["tools"]] == [tool.name for tool in TOOLS]
    assert second["ask"] == ""
    assert second["log"][-1] == {"role": "tool", "tool_call_id": "c1", "content": "added apple, 1 in the cart"}
    assert shop.cart == ["apple"]
    assert [step.author for step in steps] == ["agent", "tool", "agent"]
