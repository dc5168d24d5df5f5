"""OpenInference: `openinference.span.kind`, `llm.input_messages.0.message.role`, `tool.name`, `input.value`.

Source: Arize-ai/openinference, spec/semantic_conventions.md, 2026.
"""

from collections.abc import Mapping
from typing import Any

from proctor.chat.agent_replies import call_of, clean
from proctor.core.sample import Message, ToolResult
from proctor.core.trajectory import Usage
from proctor.traces.attributes import at, decoded, identity, items, leaf, number, text
from proctor.traces.messages import listed, message, messages, shown
from proctor.traces.span import Kind, Ran
from proctor.traces.span_files import Span

LOOKED_FOR = "openinference.span.kind, llm.*"
KINDS: Mapping[str, Kind] = {"LLM": "model", "TOOL": "tool", "AGENT": "agent", "CHAIN": "chain"}
WORDS = ("question", "query", "input", "user_input", "prompt", "task", "message", "new_message", "text", "content")
ANSWERS = ("answer", "output", "response", "result", "text", "content", "message")


def kind(span: Span) -> Kind:
    return KINDS.get(text(span.attributes, "openinference.span.kind").upper(), "")


def covers_run(span: Span) -> bool:
    """True for a span that holds one model call after the other, as OpenInference 1.0 leaves it on google-adk 2.13.

    Its messages are those of all calls, one written over the other; what was sent and said last is whole.
    """
    return span.name.startswith("invoke_agent") and kind(span) == "model"


def sent(span: Span) -> list[object]:
    found = listed(at(span.attributes, "llm.input_messages"))
    if found and not covers_run(span):
        return found
    value = decoded(leaf(span.attributes, "input.value"))
    if isinstance(value, dict):
        value = value.get("messages") or value.get("contents") or value.get("input")
    return listed(value)


def said(span: Span) -> list[Message]:
    found = messages(at(span.attributes, "llm.output_messages"), "assistant")
    if found and not covers_run(span):
        return found
    value = decoded(leaf(span.attributes, "output.value"))
    if isinstance(value, dict):
        choice = next(iter(items(value.get("choices"))), None)
        value = (choice if choice is not None else value.get("message")) or value.get("output") or value
        value = value.get("content", value) if covers_run(span) else value
    one = message(value, "assistant")
    return [one] if one is not None else []


def usage(span: Span) -> Usage:
    count = at(span.attributes, "llm.token_count")
    cost = leaf(span.attributes, "llm.cost.total")
    return Usage(
        input_tokens=number(count, "prompt"),
        output_tokens=number(count, "completion"),
        cached_tokens=number(count, "prompt_details.cache_read"),
        reasoning_tokens=number(count, "completion_details.reasoning"),
        cost=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost <= 1e6 else None,
    )


def ran(span: Span) -> Ran | None:
    name = text(span.attributes, "tool.name", "tool_call.function.name") or span.name
    if not name or name.startswith("handoff to "):  # how OpenAI's agents tell of a handoff, beside its call
        return None
    given = _first(span, "tool_call.function.arguments", "input.value")
    read = decoded(given)
    if isinstance(read, dict) and isinstance(read.get("kwargs"), dict) and read.keys() <= {"args", "kwargs"}:
        read = read["kwargs"]
    result = _first(span, "output.value")
    call_id = identity(span.attributes, "tool_call.id", "tool.id")
    inside = decoded(result)
    if isinstance(inside, dict) and inside.keys() == {"id", "name", "response"}:  # google-adk's own wrapping
        result = shown(inside["response"])
    answer = message(result, "tool") if "tool_call_id" in str(result) else None
    if answer is not None and isinstance(told := answer.parts[0], ToolResult):  # LangChain's message of the tool
        call_id, result = call_id or told.id, told.content
    return Ran(
        call=call_of(clean(name), given if read is None else read, clean(call_id)),
        told=given is not None,
        result=None if result is None else clean(result if isinstance(result, str) else str(result)),
    )


def asked(span: Span) -> str:
    return _words(leaf(span.attributes, "input.value"), WORDS, "user")


def answered(span: Span) -> str:
    return _words(leaf(span.attributes, "output.value"), ANSWERS, "assistant")


def _first(span: Span, *paths: str) -> Any:
    return next((one for path in paths if (one := leaf(span.attributes, path)) is not None), None)


def _words(value: object, keys: tuple[str, ...], role: str) -> str:
    """The words of a person in what an agent was given or gave: plain text, messages, or the member that has them."""
    value = decoded(value)
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        listed = value.get("messages")
        if listed is None and value.keys() & {"role", "parts"}:
            listed = [value]
        if listed is None:
            inner = next((value[key] for key in keys if value.get(key)), None)
            return _words(inner, keys, role) if isinstance(inner, str | dict) and inner is not value else ""
        value = listed
    texts = [one.text for one in messages(value) if one.role == role and one.text]
    return texts[-1] if texts else ""
