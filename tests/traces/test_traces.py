"""Conversations out of the spans of every dialect, as their recorders really write them."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from proctor.core.errors import BadInput
from proctor.core.sample import ToolResult
from proctor_adapters.traces import TracedConversation, Traces, is_trace, read

DATA = Path(__file__).parents[1] / "data" / "traces"
REAL = sorted(path.name for path in DATA.iterdir() if path.name != "openinference_adk213.jsonl")  # another talk
SECOND = 1_000_000_000


def span(name: str, attributes: dict[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    """A span of the trace `t`, as OTLP-JSON has it but for its plain attributes; times in seconds."""
    start, end = given.pop("start", 1.0), given.pop("end", None)
    found = {
        "traceId": "t",
        "spanId": name,
        "name": name,
        "startTimeUnixNano": str(int((1_700_000_000 + start) * SECOND)),
        "endTimeUnixNano": str(int((1_700_000_000 + (end if end is not None else start)) * SECOND)),
        "attributes": attributes or {},
    }
    return found | given


def chat(name: str, sent: list[Any], said: Any, **given: Any) -> dict[str, Any]:
    """A call of a model in the GenAI conventions."""
    more = given.pop("attributes", {})
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(sent),
        "gen_ai.output.messages": json.dumps([said] if said is not None else []),
        **more,
    }
    return span(name, attributes, **given)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"type": "text", "content": text}]}


def agent(text: str) -> dict[str, Any]:
    return {"role": "assistant", "parts": [{"type": "text", "content": text}], "finish_reason": "stop"}


def calling(*calls: tuple[str, str, Any]) -> dict[str, Any]:
    parts = [{"type": "tool_call", "id": id_, "name": name, "arguments": given} for id_, name, given in calls]
    return {"role": "assistant", "parts": parts, "finish_reason": "tool_calls"}


def result(id_: str, value: Any) -> dict[str, Any]:
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": id_, "response": value}]}


def written(path: Path, *spans: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in spans), encoding="utf-8")
    return path


def told(tmp_path: Path, *spans: dict[str, Any]) -> Traces:
    return read([written(tmp_path / "trace.jsonl", *spans)])


def only(traces: Traces) -> TracedConversation:
    assert not traces.broken
    [one] = traces.whole
    return one


def calls(one: TracedConversation) -> list[tuple[int, str, Any]]:
    return [
        (step.turn, call.name, dict(call.arguments)) for step in one.trajectory.steps for call in step.message.calls
    ]


def said(one: TracedConversation) -> list[tuple[int, str, str]]:
    return [
        (step.turn, step.author, step.message.text)
        for step in one.trajectory.steps
        if step.message.role == "assistant" and step.message.text
    ]


def results(one: TracedConversation) -> list[str]:
    return [
        part.content for step in one.trajectory.steps for part in step.message.parts if isinstance(part, ToolResult)
    ]


@pytest.mark.parametrize("name", REAL)
def test_a_real_recording_of_two_turns_is_one_conversation(name: str) -> None:
    one = only(read([DATA / name]))
    assert [turn.text for turn in one.turns] == ["What is the price of A?", "Thanks!"]
    assert [(turn, text) for turn, _, text in said(one)][-1][0] == 1
    assert {turn for turn, _, _ in calls(one)} == {0}
    assert "It costs 100." in [text for turn, _, text in said(one) if turn == 0]
    assert one.trajectory.tools == "native"
    assert one.trajectory.usage.input_tokens > 0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("adk.jsonl", ["transfer_to_agent", "price", "price"]),
        ("adk_legacy.jsonl", ["transfer_to_agent", "price", "price"]),
        ("langgraph.jsonl", ["price", "price"]),
        ("openai_agents.jsonl", ["transfer_to_pricer", "price", "price"]),
        ("openinference.jsonl", ["price", "stock"]),
        ("openllmetry.jsonl", ["price", "stock"]),
        ("otlp.json", ["price", "stock"]),
    ],
)
def test_each_call_of_a_real_recording_is_there_once_with_its_result(name: str, expected: list[str]) -> None:
    one = only(read([DATA / name]))
    assert [call for _, call, _ in calls(one)] == expected
    assert len(results(one)) == len(expected)


def test_another_agent_that_takes_over_is_the_author_of_its_steps() -> None:
    one = only(read([DATA / "adk.jsonl"]))
    assert [step.author for step in one.trajectory.steps if step.message.role == "assistant"] == [
        "root",
        "helper",
        "helper",
        "helper",
    ]


def test_the_same_recording_told_twice_counts_once(tmp_path: Path) -> None:
    data = (DATA / "openllmetry.jsonl").read_text(encoding="utf-8")
    (tmp_path / "a.jsonl").write_text(data, encoding="utf-8")
    (tmp_path / "b.jsonl").write_text(data, encoding="utf-8")
    assert only(read([tmp_path])) == only(read([DATA / "openllmetry.jsonl"]))


def test_parallel_calls_get_their_own_results_by_id_whatever_the_order(tmp_path: Path) -> None:
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "price"}
    one = only(
        told(
            tmp_path,
            chat("m1", [user("?")], calling(("a", "price", {"m": 1}), ("b", "price", {"m": 2})), start=1, end=2),
            span("x", {**tool, "gen_ai.tool.call.id": "b", "gen_ai.tool.call.result": "two"}, start=2, end=4),
            span("y", {**tool, "gen_ai.tool.call.id": "a", "gen_ai.tool.call.result": "one"}, start=2.5, end=3),
            chat(
                "m2",
                [
                    user("?"),
                    calling(("a", "price", {"m": 1}), ("b", "price", {"m": 2})),
                    result("a", "one"),
                    result("b", "two"),
                ],
                agent("Done."),
                start=5,
                end=6,
            ),
        )
    )
    assert calls(one) == [(0, "price", {"m": 1}), (0, "price", {"m": 2})]
    found = [part for step in one.trajectory.steps for part in step.message.parts if isinstance(part, ToolResult)]
    assert [(part.id, part.content) for part in found] == [("a", "one"), ("b", "two")]


def test_a_tool_whose_call_no_model_told_is_a_call(tmp_path: Path) -> None:
    one = only(
        told(
            tmp_path,
            span("root", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop", "gen_ai.input.messages": json.dumps([user("Hi")]), "gen_ai.output.messages": json.dumps([agent("Hello")])}, start=1, end=9),
            span("f", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f", "gen_ai.tool.call.arguments": '{"x": 1}', "gen_ai.tool.call.result": "{}"}, start=2, end=3, parentSpanId="root"),
        )
    )  # fmt: skip
    assert [turn.text for turn in one.turns] == ["Hi"]
    assert calls(one) == [(0, "f", {"x": 1})]
    assert said(one) == [(0, "shop", "Hello")]


def test_an_agent_below_a_tool_is_one_call_whose_tokens_count(tmp_path: Path) -> None:
    one = only(
        told(
            tmp_path,
            span("top", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "top"}, start=1, end=20),
            chat("m1", [user("Plan a trip")], calling(("c", "researcher", {"q": "Rome"})), start=2, end=3, parentSpanId="top"),
            span("tool", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "researcher", "gen_ai.tool.call.id": "c", "gen_ai.tool.call.result": "sunny"}, start=4, end=9, parentSpanId="top"),
            span("sub", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "sub"}, start=5, end=8, parentSpanId="tool"),
            chat("m2", [user("Research Rome")], calling(("d", "weather", {})), start=5, end=6, parentSpanId="sub", attributes={"gen_ai.usage.input_tokens": 7}),
            span("w", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather", "gen_ai.tool.call.id": "d"}, start=6, end=7, parentSpanId="sub"),
            chat("m3", [user("Research Rome"), calling(("d", "weather", {})), result("d", "20")], agent("Sunny."), start=7, end=8, parentSpanId="sub"),
            chat("m4", [user("Plan a trip"), calling(("c", "researcher", {"q": "Rome"})), result("c", "sunny")], agent("Go."), start=10, end=11, parentSpanId="top"),
        )
    )  # fmt: skip
    assert [turn.text for turn in one.turns] == ["Plan a trip"]
    assert calls(one) == [(0, "researcher", {"q": "Rome"})]
    assert said(one) == [(0, "top", "Go.")]
    assert results(one) == ["sunny"]
    assert one.trajectory.usage.input_tokens == 7
    assert one.trajectory.answer == "Go."


def test_what_a_framework_tells_its_model_in_the_users_name_is_no_turn(tmp_path: Path) -> None:
    one = only(
        told(
            tmp_path,
            span("top", {"gen_ai.operation.name": "invoke_agent"}, start=1, end=20),
            chat("m1", [user("Write a poem")], agent("Roses"), start=2, parentSpanId="top"),
            chat("m2", [user("Write a poem"), agent("Roses"), user("Critic: longer")], agent("Roses are red"), start=3, parentSpanId="top"),
        )
    )  # fmt: skip
    assert [turn.text for turn in one.turns] == ["Write a poem"]
    assert one.trajectory.answer == "Roses are red"


def test_a_tool_that_only_its_span_names_has_the_name_of_the_tool(tmp_path: Path) -> None:
    one = only(
        told(
            tmp_path,
            chat("m", [user("Hi")], agent("100"), start=1, end=2),
            span("execute_tool price", {"openinference.span.kind": "TOOL", "input.value": '{"m": "A"}', "output.value": "100"}, start=2, end=3),
            span("execute_tool (merged)", {"openinference.span.kind": "TOOL", "output.value": "100"}, start=2, end=3),
        )
    )  # fmt: skip
    assert (calls(one), results(one)) == ([(0, "price", {"m": "A"})], ["100"])


def test_turns_of_one_session_in_several_traces_are_in_the_order_of_time(tmp_path: Path) -> None:
    session = {"attributes": {"session.id": "s"}}
    one = only(
        told(
            tmp_path,
            chat("b", [user("second")], agent("2"), start=50, traceId="t2", **session),
            chat("a", [user("first")], agent("1"), start=10, traceId="t1", **session),
        )
    )
    assert (one.id, [turn.text for turn in one.turns]) == ("s", ["first", "second"])


def test_one_trace_with_two_sessions_is_two_conversations(tmp_path: Path) -> None:
    traces = told(
        tmp_path,
        span("batch", start=1, end=100),
        chat("a", [user("A?")], agent("A."), start=2, parentSpanId="batch", attributes={"gen_ai.conversation.id": "1"}),
        chat("b", [user("B?")], agent("B."), start=3, parentSpanId="batch", attributes={"gen_ai.conversation.id": "2"}),
    )
    assert [(one.id, one.turns[0].text) for one in traces.whole] == [("1", "A?"), ("2", "B?")]


def test_a_turn_whose_own_spans_were_lost_is_taken_from_what_was_sent_later(tmp_path: Path) -> None:
    history = [user("one"), calling(("a", "f", {"x": 1})), result("a", "7"), agent("first"), user("two")]
    one = only(told(tmp_path, chat("m", history, agent("second"))))
    assert [turn.text for turn in one.turns] == ["one", "two"]
    assert calls(one) == [(0, "f", {"x": 1})]
    assert [(turn, text) for turn, _, text in said(one)] == [(0, "first"), (1, "second")]


def test_an_agent_that_speaks_twice_before_it_is_answered_is_told_once(tmp_path: Path) -> None:
    begun = [user("Price?"), agent("Let me look.")]
    one = only(
        told(
            tmp_path,
            chat("a", [user("Price?")], agent("Let me look."), start=1),
            chat("b", begun, calling(("c", "price", {})), start=2),
            chat("c", [*begun, calling(("c", "price", {})), result("c", "7")], agent("It is 7."), start=3),
        )
    )
    assert [turn.text for turn in one.turns] == ["Price?"]
    assert [text for _, _, text in said(one)] == ["Let me look.", "It is 7."]
    assert (calls(one), results(one)) == ([(0, "price", {})], ["7"])


def test_the_same_words_again_are_another_turn(tmp_path: Path) -> None:
    session = {"attributes": {"session.id": "s"}}
    one = only(
        told(
            tmp_path,
            chat("a", [user("again")], agent("1"), start=1, traceId="t1", **session),
            chat("b", [user("again"), agent("1"), user("again")], agent("2"), start=2, traceId="t2", **session),
        )
    )
    assert [turn.text for turn in one.turns] == ["again", "again"]


def test_a_request_that_failed_and_was_sent_again_is_one_turn(tmp_path: Path) -> None:
    session = {"session.id": "s"}
    broken = chat(
        "a", [user("Hi")], None, start=1, traceId="t1", status={"code": 2, "message": "busy"}, attributes=session
    )
    one = only(
        told(tmp_path, broken, chat("b", [user("Hi")], agent("Hello"), start=2, traceId="t2", attributes=session))
    )
    assert [turn.text for turn in one.turns] == ["Hi"]


def test_two_recorders_of_one_call_of_a_model_tell_it_once(tmp_path: Path) -> None:
    outer = span("outer", {"openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Hi", "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "Hello"}, end=2)  # fmt: skip
    inner = chat("inner", [user("Hi")], agent("Hello"), start=1.1, end=1.9, parentSpanId="outer")
    assert said(only(told(tmp_path, outer, inner))) == [(0, "agent", "Hello")]


def test_times_and_tokens_are_those_of_the_spans(tmp_path: Path) -> None:
    used = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 4, "gen_ai.usage.cache_read.input_tokens": 3, "gen_ai.response.finish_reasons": ["length"]}  # fmt: skip
    [step] = only(
        told(tmp_path, chat("m", [user("?")], agent("!"), start=1, end=3.5, attributes=used))
    ).trajectory.steps
    assert step.usage is not None
    assert [step.started, step.seconds] == pytest.approx([1_700_000_001, 2.5])
    assert (step.usage.input_tokens, step.usage.output_tokens, step.usage.cached_tokens, step.usage.requests) == (10, 4, 3, 1)  # fmt: skip
    assert step.stop == "length"


OLD = {
    "gen_ai.prompt.0.role": "system", "gen_ai.prompt.0.content": "Be kind.",
    "gen_ai.prompt.1.role": "user", "gen_ai.prompt.1.content": "Price of A?",
    "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.finish_reason": "tool_calls",
    "gen_ai.completion.0.tool_calls.0.id": "c", "gen_ai.completion.0.tool_calls.0.name": "price",
    "gen_ai.completion.0.tool_calls.0.arguments": '{"m": "A"}',
    "gen_ai.completion.1.role": "assistant", "gen_ai.completion.1.content": "another choice",
}  # fmt: skip


def test_the_old_numbered_attributes_are_read_and_only_the_first_choice(tmp_path: Path) -> None:
    [one], why = [one for one, _ in told(tmp_path, span("openai.chat", OLD)).broken], "it has no answer"
    assert [turn.text for turn in one.turns] == ["Price of A?"]
    assert calls(one) == [(0, "price", {"m": "A"})]
    assert said(one) == []
    assert why


def test_messages_noted_as_events_are_read(tmp_path: Path) -> None:
    events = [
        {"name": "gen_ai.system.message", "attributes": [{"key": "content", "value": {"stringValue": "Be kind."}}]},
        {"name": "gen_ai.user.message", "attributes": [{"key": "content", "value": {"stringValue": "Hi"}}]},
        {"name": "gen_ai.choice", "attributes": [{"key": "index", "value": {"intValue": "0"}}, {"key": "message", "value": {"stringValue": '{"role": "assistant", "content": "Hello"}'}}, {"key": "finish_reason", "value": {"stringValue": "stop"}}]},
    ]  # fmt: skip
    one = only(told(tmp_path, span("chat m", {"gen_ai.operation.name": "chat"}, events=events)))
    assert (one.turns[0].text, said(one)) == ("Hi", [(0, "agent", "Hello")])


def test_prompt_and_completion_noted_as_one_event_each_are_read(tmp_path: Path) -> None:
    events = [
        {"name": "gen_ai.content.prompt", "attributes": {"gen_ai.prompt": '[{"role": "user", "content": "Hi"}]'}},
        {"name": "gen_ai.content.completion", "attributes": {"gen_ai.completion": '[{"role": "assistant", "content": "Hello"}]'}},
    ]  # fmt: skip
    one = only(told(tmp_path, span("chat m", {"gen_ai.operation.name": "chat"}, events=events)))
    assert (one.turns[0].text, said(one)) == ("Hi", [(0, "agent", "Hello")])


def test_typed_attributes_with_structure_are_read(tmp_path: Path) -> None:
    def typed(value: Any) -> dict[str, Any]:
        if isinstance(value, dict):
            return {"kvlistValue": {"values": [{"key": key, "value": typed(one)} for key, one in value.items()]}}
        if isinstance(value, list):
            return {"arrayValue": {"values": [typed(one) for one in value]}}
        return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}

    attributes = [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
        {"key": "gen_ai.input.messages", "value": typed([user("Hi")])},
        {"key": "gen_ai.output.messages", "value": typed([{**calling(("c", "f", {"n": 5})), "finish_reason": "stop"}, ])},
    ]  # fmt: skip
    envelope = {"resourceSpans": [{"scopeSpans": [{"spans": [{**span("m"), "attributes": attributes}]}]}]}
    [(one, _)] = told(tmp_path, envelope).broken
    assert calls(one) == [(0, "f", {"n": 5})]


VEADK = [
    {"trace_id": 7, "name": "call_llm", "start_time": 1700000000000000000, "attributes": {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Price?", "gen_ai.completion.0.tool_calls.0.function.name": "price", "gen_ai.completion.0.tool_calls.0.function.arguments": '{"m": "A"}', "gen_ai.completion.0.role": "model", "session.id": "s", "gen_ai.app.name": "shop", "gen_ai.user.id": "u", "gen_ai.span.kind": "llm"}},
    {"trace_id": 7, "name": "execute_tool price", "attributes": {"gen_ai.tool.name": "price", "gen_ai.tool.input": '{"parameters": {"m": "A"}}', "gen_ai.tool.output": '{"id": "c1", "name": "price", "response": {"result": 100}}'}},
    {"trace_id": 7, "name": "call_llm", "start_time": 1700000002000000000, "attributes": {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Price?", "gen_ai.prompt.1.tool_calls.0.function.name": "price", "gen_ai.prompt.1.tool_calls.0.function.arguments": '{"m": "A"}', "gen_ai.prompt.2.role": "user", "gen_ai.prompt.2.content": "{'result': 100}", "gen_ai.completion.0.role": "model", "gen_ai.completion.0.content": "It costs 100.", "session.id": "s"}},
]  # fmt: skip


def test_the_file_that_veadk_dumps_is_read(tmp_path: Path) -> None:
    path = tmp_path / "veadk.json"
    path.write_text(json.dumps(VEADK), encoding="utf-8")
    one = only(read([path]))
    assert (one.id, one.app, one.user) == ("s", "shop", "u")
    assert [turn.text for turn in one.turns] == ["Price?"]
    assert calls(one) == [(0, "price", {"m": "A"})]
    assert results(one) == ['{"result": 100}']
    assert said(one) == [(0, "agent", "It costs 100.")]


def test_the_least_that_a_veadk_file_holds_is_enough(tmp_path: Path) -> None:
    """As in the docstring of `evalsets.spans`: no ids of spans, and the calls only in the spans of tools."""
    spans: list[dict[str, Any]] = [
        {"trace_id": "1", "name": "call_llm", "start_time": 1700000000000000000, "attributes": {"gen_ai.prompt.0.content": "Hi", "gen_ai.completion.0.content": "Hello"}},
        {"trace_id": "1", "name": "execute_tool f", "attributes": {"gen_ai.tool.name": "f", "gen_ai.tool.input": '{"parameters": {"x": 1}}', "gen_ai.tool.output": '{"id": "c1"}'}},
    ]  # fmt: skip
    one = only(told(tmp_path, *spans))
    assert (one.turns[0].text, calls(one), one.trajectory.answer) == ("Hi", [(0, "f", {"x": 1})], "Hello")


def test_a_chain_with_words_of_its_own_is_one_turn_in_the_users_words(tmp_path: Path) -> None:
    kind = {"openinference.span.kind": "CHAIN"}
    one = only(
        told(
            tmp_path,
            span("rag", {**kind, "input.value": '{"question": "Who?"}', "output.value": "Ann."}, start=1, end=9),
            chat("a", [user("Rewrite: Who?")], agent("who is it"), start=2, parentSpanId="rag"),
            chat("b", [user("Context: … Answer: Who?")], agent("Ann."), start=3, parentSpanId="rag"),
        )
    )
    assert [turn.text for turn in one.turns] == ["Who?"]
    assert one.trajectory.answer == "Ann."


def test_without_a_model_or_a_tool_nobody_knows_whether_tools_were_called(tmp_path: Path) -> None:
    kind = {"openinference.span.kind": "AGENT", "input.value": "Hi", "output.value": "Hello"}
    one = only(told(tmp_path, span("a", kind, end=2)))
    assert (one.turns[0].text, one.trajectory.answer, one.trajectory.tools) == ("Hi", "Hello", "text")


def test_what_is_not_whole_is_told_with_what_is_missing(tmp_path: Path) -> None:
    traces = told(
        tmp_path,
        chat("a", [], agent("Hello"), traceId="t1"),
        chat("b", [user("Hi")], None, traceId="t2", status={"code": 2, "message": "key sk-abc123def456 refused"}),
        span(
            "c",
            {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 3},
            traceId="t3",
        ),
    )
    assert traces.whole == ()
    assert [str(why) for _, why in traces.broken] == [
        "it does not tell what the user said",
        "it has no answer: key [hidden] refused",
        "it does not tell what the user said",
    ]


@pytest.mark.parametrize("style", ["lines", "array", "pretty", "spread", "gz", "envelope"])
def test_every_way_to_write_spans_into_a_file_is_read(style: str, tmp_path: Path) -> None:
    spans = [chat("a", [user("A?")], agent("A."), traceId="1"), chat("b", [user("B?")], agent("B."), traceId="2")]
    text = {
        "lines": "\n".join(map(json.dumps, spans)),
        "array": json.dumps(spans, indent=2),
        "pretty": "\n".join(json.dumps(one, indent=4) for one in spans),
        "spread": "[\n" + ",\n".join(map(json.dumps, spans)) + "\n]",
        "gz": "\n".join(map(json.dumps, spans)),
        "envelope": json.dumps({"resource_spans": [{"instrumentationLibrarySpans": [{"spans": spans}]}]}),
    }[style]
    path = tmp_path / "trace.json"
    path.write_bytes(gzip.compress(text.encode()) if style == "gz" else b"\xef\xbb\xbf" + text.encode())
    assert is_trace(path)
    assert [one.turns[0].text for one in read([path]).whole] == ["A?", "B?"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"traceId": "t"}\n{"traceId": \n', "line 2: it is no JSON"),
        ('{\n "traceId": "t",\n "attributes": [}\n', "line 3: it is no JSON"),
        ('[{"traceId": "t"}, {"name": "x"}]', "line 1: expected spans: an object with 'resourceSpans'"),
        ('[{"traceId": "t"}, {"name": "x"}]', "at $[1]."),
        ('{"traceId": "t", "attributes": 5}', "expected an object, got a whole number at $.attributes."),
        ('{"traceId": "t", "events": {}}', "expected a list, got an object at $.events."),
        ('{"traceId": "t", "events": [3]}', "expected an object, got a whole number at $.events[0]."),
        ('{"resourceSpans": [{"scopeSpans": [{"spans": [7]}]}]}', "at $.resourceSpans[0].scopeSpans[0].spans[0]."),
        ('{"resourceSpans": {"a": 1}}', "expected a list, got an object at $.resourceSpans."),
        (
            '{"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "x"}]}]}]}',
            "'traceId' is missing at $.resourceSpans",
        ),
        ("[" * 100_000, "it is nested too deep"),
        (json.dumps({"traceId": "t", "attributes": {".".join("a" * 300): 1}}), "it is nested too deep"),
        ("\xff", "is no UTF-8 text"),
    ],
)
def test_a_bad_file_is_named_with_line_and_path(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(BadInput) as caught:
        read([path])
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_spans_of_no_known_dialect_say_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none of its 1 spans tells of a model.*gen_ai\.\*, openinference"):
        told(tmp_path, span("GET /", {"http.method": "GET"}))


def test_a_file_that_grows_beyond_the_limit_when_it_is_unpacked_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor_adapters.traces.span_files.MOST_BYTES", 10_000)
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(b" " * 1_000_000))
    assert path.stat().st_size < 10_000
    with pytest.raises(BadInput, match="is larger than"):
        read([path])


def test_a_compressed_file_that_is_cut_off_is_named(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress((DATA / "adk.jsonl").read_bytes())[:-20])
    with pytest.raises(BadInput, match="cannot be read"):
        read([path])


def test_spans_that_are_their_own_parents_are_read(tmp_path: Path) -> None:
    one = only(
        told(
            tmp_path,
            chat("a", [user("A?")], agent("A."), parentSpanId="b"),
            span("b", parentSpanId="c"),
            span("c", parentSpanId="b"),
        )
    )
    assert one.turns[0].text == "A?"


@pytest.mark.parametrize(
    "hostile",
    [
        {"gen_ai.input.messages": "[[[", "gen_ai.output.messages": '{"role": 5}'},
        {"gen_ai.input.messages": 5, "gen_ai.output.messages": [None, 1, "x", {"parts": 3}]},
        {"gen_ai.prompt.999999999999999999999.content": "x", "gen_ai.prompt": "y", "gen_ai.completion.-1": 2},
        {
            "gen_ai.output.messages": [
                {"role": "assistant", "parts": [{"type": "tool_call", "name": "f", "arguments": "{"}]}
            ]
        },
        {"gen_ai.usage.input_tokens": "many", "gen_ai.usage.output_tokens": -4, "gen_ai.conversation.id": ["x"]},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool": 5},
        {"openinference.span.kind": "LLM", "llm.input_messages": {"a": 1}, "output.value": "[1, 2"},
        {"openinference.span.kind": "TOOL", "input.value": {"x": {"y": "\ud800"}}, "output.value": 7},
    ],
)
def test_attributes_that_make_no_sense_break_nothing(hostile: dict[str, Any], tmp_path: Path) -> None:
    wrong = span("x", {"gen_ai.operation.name": "chat", **hostile}, start=5, traceId="other", startTimeUnixNano="soon")
    traces = told(tmp_path, chat("a", [user("A?")], agent("A.")), wrong)
    assert [one.turns[0].text for one in traces.whole] == ["A?"]


def test_other_files_are_no_traces(tmp_path: Path) -> None:
    for name, text in (("r.jsonl", '{"id": "a", "answer": "x"}'), ("e.json", '{"eval_set_id": "x", "eval_cases": []}'), ("b", "\x00"), ("n", "")):  # fmt: skip
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert not is_trace(tmp_path / name)
    assert not is_trace(tmp_path / "nowhere.json")


def test_openinference_on_a_newer_adk_makes_each_call_once_and_one_conversation() -> None:
    """On google-adk 2.13 OpenInference 1.0.5 writes all model calls of a run into one span; `inner` is an agent as a tool."""
    one = only(read([DATA / "openinference_adk213.jsonl"]))
    assert [turn.text for turn in one.turns] == ["Book A", "And C?"]
    assert calls(one) == [(0, "price", {"model": "A"}), (0, "book", {"model": "A"}), (1, "inner", {"request": "C?"})]
    assert results(one) == ['{"price": 100}', '{"ok": true}', '{"result": "C is 300."}']
    assert said(one) == [(0, "root", "Booked A."), (1, "root", "C costs 300.")]


@pytest.mark.parametrize("otlp", [True, False])
def test_what_a_log_record_tells_of_a_model_call_belongs_to_its_span(tmp_path: Path, otlp: bool) -> None:
    """google-adk 2.13 writes contents to log records where OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT is `true`."""
    contents = {
        "gen_ai.input.messages": json.dumps([user("Hi")]),
        "gen_ai.output.messages": json.dumps([agent("Hello")]),
    }
    name = "gen_ai.client.inference.operation.details"
    log: dict[str, Any]
    if otlp:
        attributes = [{"key": key, "value": {"stringValue": value}} for key, value in contents.items()]
        record = {"traceId": "t", "spanId": "m", "eventName": name, "attributes": attributes}
        other = {"traceId": "t", "spanId": "m", "body": {"stringValue": "not of a model"}}
        log = {"resourceLogs": [{"scopeLogs": [{"logRecords": [other, record]}]}]}
    else:
        log = {"body": None, "attributes": contents, "trace_id": "0xt", "span_id": "0xm", "event_name": name}
    call = span("m", {"gen_ai.operation.name": "generate_content"})
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join(json.dumps(one) for one in (call, log)))
    one = only(read([path]))
    assert ([turn.text for turn in one.turns], said(one)) == (["Hi"], [(0, "agent", "Hello")])
    assert read([path]).spans == 1
