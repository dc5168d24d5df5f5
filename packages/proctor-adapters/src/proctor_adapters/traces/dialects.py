"""Read what one span recorded, whichever convention wrote it.

Three conventions are read side by side, as several recorders may write to one span; where they disagree the first counts:
OpenInference, OpenTelemetry's GenAI in its new (`gen_ai.input.messages`) and old forms (`gen_ai.prompt.0.content`, span events),
and the names of ADK and VeADK (`call_llm`, `execute_tool f`, `gcp.vertex.agent.*`).

Sources: Arize-ai/openinference, spec/semantic_conventions.md, 2026; open-telemetry/semantic-conventions-genai, docs/gen-ai,
version 1.37 and before; traceloop/openllmetry for `gen_ai.prompt.N` and `traceloop.*`; google/adk-python,
src/google/adk/telemetry/tracing.py, release 2.13; volcengine/veadk-python, veadk/tracing/telemetry/attributes, release 1.1.19.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from proctor.chat.agent_replies import call_of, clean
from proctor.core.sample import Message, ToolCall, ToolResult
from proctor.core.trajectory import Usage
from proctor_adapters.traces.attributes import at, decode_json, first_leaf, identity, items, leaf, number, text, tree
from proctor_adapters.traces.messages import as_text, message, message_list, messages
from proctor_adapters.traces.span_files import TraceSpan

Kind = Literal["model", "tool", "agent", "chain", ""]

LOOKED_FOR = "gen_ai.*, openinference.span.kind, llm.*, call_llm, execute_tool (ADK, VeADK)"
KIND_PATHS = (
    "openinference.span.kind",
    "gen_ai.operation.name",
    "gen_ai.span.kind",
    "traceloop.span.kind",
    "llm.request.type",
)
KINDS: Mapping[str, Kind] = {
    "llm": "model", "chat": "model", "text_completion": "model", "completion": "model", "generate_content": "model",
    "tool": "tool", "execute_tool": "tool",
    "agent": "agent", "invoke_agent": "agent",
    "chain": "chain", "workflow": "chain", "invoke_workflow": "chain",
}  # fmt: skip
MODEL_PATHS = (
    "gen_ai.prompt",
    "gen_ai.completion",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.response.model",
)
ADK_NAMES: Mapping[str, Kind] = {
    "call_llm": "model", "execute_tool": "tool", "invoke_agent": "agent", "agent_run": "agent", "invocation": "chain",
}  # fmt: skip
USAGE_PATHS = (
    {
        "input_tokens": ("llm.token_count.prompt",),
        "output_tokens": ("llm.token_count.completion",),
        "cached_tokens": ("llm.token_count.prompt_details.cache_read",),
        "cache_write_tokens": ("llm.token_count.prompt_details.cache_write",),
        "reasoning_tokens": ("llm.token_count.completion_details.reasoning",),
    },
    {
        "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
        "output_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        "cached_tokens": ("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"),
        "cache_write_tokens": ("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens"),
        "reasoning_tokens": ("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens"),
    },
)
TOOL_NAMES = ("tool.name", "tool_call.function.name", "gen_ai.tool.name", "traceloop.entity.name")
CALL_IDS = ("tool_call.id", "tool.id", "gen_ai.tool.call.id")
NO_TOOLS = ("(merged", "handoff to ")  # ADK's span for several calls; how OpenAI's agents record a handoff
DETAILS = "gen_ai.client.inference.operation.details"
EVENTS = {"gen_ai.user.message": "user", "gen_ai.assistant.message": "assistant", "gen_ai.tool.message": "tool"}
QUESTION_KEYS = (
    "question",
    "query",
    "input",
    "user_input",
    "prompt",
    "task",
    "message",
    "new_message",
    "text",
    "content",
)
ANSWER_KEYS = ("answer", "output", "response", "result", "text", "content", "message")


class TracedToolRun(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that ran; `result` is None where it was not recorded."""

    call: ToolCall
    result: str | None = None


def kind_of(span: TraceSpan) -> Kind:
    """Return the kind of operation that a span describes; '' where no convention knows it."""
    for path in KIND_PATHS:
        if kind := KINDS.get(text(span.attributes, path).lower()):
            return kind
    if at(span.attributes, "gen_ai.tool.name"):
        return "tool"
    if any(at(span.attributes, path) is not None for path in MODEL_PATHS) or any(
        event.name == "gen_ai.choice" for event in span.events
    ):
        return "model"
    return ADK_NAMES.get(span.name.partition(" ")[0], "")


def covers_run(span: TraceSpan) -> bool:
    """True for a span that holds one model call after the other, as OpenInference 1.0 leaves it on google-adk 2.13.

    Its messages are those of all calls, written over each other; only those of the last call are complete.
    """
    return span.name.startswith("invoke_agent") and text(span.attributes, "openinference.span.kind").upper() == "LLM"


def prompt_of(span: TraceSpan) -> list[object]:
    """Return what a model was sent, from the first message on, in a form that `message` can read."""
    return next((prompt for prompt in _prompts(span) if any(message(raw) is not None for raw in reversed(prompt))), [])


def reply_of(span: TraceSpan) -> list[Message]:
    """Return what a model replied."""
    return next(
        (found for found in (*_openinference_replies(span), *_genai_replies(span), _adk_reply(span)) if found), []
    )


def usage_of(span: TraceSpan) -> Usage:
    """Return the tokens of a model call, by the first convention that counts any."""
    cost: Any = first_leaf(span.attributes, "llm.cost.total", "proctor.cost")
    known = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost <= 1e6
    for paths in USAGE_PATHS:
        tokens = {field: number(span.attributes, *names) for field, names in paths.items()}
        if any(tokens.values()):
            return Usage(**tokens, cost=float(cost) if known else None)
    return Usage(cost=float(cost)) if known else Usage()


def tool_run_of(span: TraceSpan) -> TracedToolRun | None:
    """Return the call of a tool; what one convention leaves out another may have recorded."""
    recorded = text(span.attributes, *TOOL_NAMES)
    name = recorded or span.name.removeprefix("execute_tool").strip()
    call_id, result = _result(span)
    arguments = next((argument for argument in _arguments(span) if argument is not None), None)
    if not name or name.startswith(NO_TOOLS) or not (recorded or arguments is not None or result is not None):
        return None
    return TracedToolRun(call=call_of(clean(name), arguments, clean(call_id)), result=result)


def question_of(span: TraceSpan) -> str:
    """Return the question that an agent got, in the user's words."""
    if words := _words(leaf(span.attributes, "input.value"), QUESTION_KEYS, "user").strip():
        return words
    for attributes in _message_holders(span):
        users = [
            each.text for each in messages(at(attributes, "gen_ai.input.messages")) if each.role == "user" and each.text
        ]
        if users:
            return users[-1].strip()
    return ""


def answer_of(span: TraceSpan) -> str:
    """Return what an agent answered."""
    if words := _words(leaf(span.attributes, "output.value"), ANSWER_KEYS, "assistant").strip():
        return words
    reply = next((found for found in _genai_replies(span) if found), [])
    return next((each.text.strip() for each in reversed(reply) if each.text), "")


def _prompts(span: TraceSpan) -> Iterator[list[object]]:
    if not covers_run(span):
        yield message_list(at(span.attributes, "llm.input_messages"))
    value = decode_json(leaf(span.attributes, "input.value"))
    if isinstance(value, dict):
        value = value.get("messages") or value.get("contents") or value.get("input")
    yield message_list(value)
    for attributes in _message_holders(span):
        yield message_list(at(attributes, "gen_ai.input.messages"))
    noted = ({"role": EVENTS[event.name], **event.attributes} for event in span.events if event.name in EVENTS)
    yield [event for event in noted if message(event) is not None]
    yield message_list(_old_messages(span, "gen_ai.prompt", "gen_ai.content.prompt"))
    yield message_list(_member(span, "gcp.vertex.agent.llm_request", "contents"))


def _openinference_replies(span: TraceSpan) -> Iterator[list[Message]]:
    if not covers_run(span):
        yield messages(at(span.attributes, "llm.output_messages"), "assistant")
    value = decode_json(leaf(span.attributes, "output.value"))
    if isinstance(value, dict):
        choice = next(iter(items(value.get("choices"))), None)
        value = (choice if choice is not None else value.get("message")) or value.get("output") or value
        value = value.get("content", value) if covers_run(span) else value
    reply = message(value, "assistant")
    yield [reply] if reply is not None else []


def _genai_replies(span: TraceSpan) -> Iterator[list[Message]]:
    for attributes in _message_holders(span):
        yield _first_choice(items(at(attributes, "gen_ai.output.messages")))
    yield _first_choice([event.attributes for event in span.events if event.name == "gen_ai.choice"])
    value = _old_messages(span, "gen_ai.completion", "gen_ai.content.completion")
    yield _first_choice(items(value)) or messages(value, "assistant")


def _adk_reply(span: TraceSpan) -> list[Message]:
    reply = message(_member(span, "gcp.vertex.agent.llm_response", "content"), "assistant")
    return [reply] if reply is not None else []


def _message_holders(span: TraceSpan) -> list[Mapping[str, object]]:
    """Return the attributes that may hold messages: the span's own, and those of the event with its details."""
    return [span.attributes, *(event.attributes for event in span.events if event.name == DETAILS)]


def _old_messages(span: TraceSpan, path: str, event_name: str) -> object:
    """Return an old attribute, a branch with numbers or JSON text, of the span or of an event."""
    value = at(span.attributes, path)
    if value is None:
        value = next((at(event.attributes, path) for event in span.events if event.name == event_name), None)
    if isinstance(value, dict) and not any(name.isdecimal() for name in value):
        return value.get("", value)
    return value


def _first_choice(choices: list[object]) -> list[Message]:
    """Return the first of several answers; a message without a finish reason belongs to the one that follows."""
    made = []
    for choice in choices:
        if (reply := message(choice, "assistant")) is not None:
            made.append(reply)
        if isinstance(choice, dict) and "finish_reason" in (
            tree(choice) if any("." in key for key in choice) else choice
        ):
            break
    return made


def _is_openinference_tool(span: TraceSpan) -> bool:
    return KINDS.get(text(span.attributes, "openinference.span.kind").lower()) == "tool"


def _arguments(span: TraceSpan) -> Iterator[object]:
    """Yield the arguments as each convention has them; None where it has none."""
    if _is_openinference_tool(span):
        given = first_leaf(span.attributes, "tool_call.function.arguments", "input.value")
        read = decode_json(given)
        wrapped = isinstance(read, dict) and isinstance(read.get("kwargs"), dict) and read.keys() <= {"args", "kwargs"}
        yield read["kwargs"] if wrapped else given if read is None else read
    yield leaf(span.attributes, "gen_ai.tool.call.arguments")
    yield _keywords(decode_json(leaf(span.attributes, "traceloop.entity.input")))
    for given in (
        _member(span, "gen_ai.tool.input", "parameters"),
        decode_json(leaf(span.attributes, "gcp.vertex.agent.tool_call_args")),
    ):
        yield given if isinstance(given, dict) else None


def _keywords(given: object) -> object:
    """Return the arguments a decorated function was called with: its keywords, else what it was given."""
    for name in ("kwargs", "inputs"):
        if isinstance(given, dict) and isinstance(given.get(name), dict) and given[name]:
            return given[name]
    return None if not isinstance(given, dict) or {"args", "kwargs"} & given.keys() else given


def _result(span: TraceSpan) -> tuple[str, str | None]:
    """Return the id of a tool's call, and what the tool returned as text."""
    output = decode_json(leaf(span.attributes, "gen_ai.tool.output"))
    call_id = identity(span.attributes, *CALL_IDS) or identity(output, "id")
    result = leaf(span.attributes, "output.value") if _is_openinference_tool(span) else None
    inside = decode_json(result)
    if isinstance(inside, dict) and inside.keys() == {"id", "name", "response"}:  # google-adk's own wrapping
        result = as_text(inside["response"])
    answer = message(result, "tool") if "tool_call_id" in str(result) else None
    if answer is not None and isinstance(reported := answer.parts[0], ToolResult):  # LangChain's message of the tool
        call_id, result = call_id or reported.id, reported.content
    if result is None:
        result = first_leaf(span.attributes, "gen_ai.tool.call.result", "traceloop.entity.output")
    if result is None and isinstance(output, dict):
        result = output.get("response")
    if result is None:
        result = leaf(span.attributes, "gcp.vertex.agent.tool_response")
    return call_id, None if result is None else as_text(result)


def _member(span: TraceSpan, path: str, key: str) -> object:
    value = decode_json(leaf(span.attributes, path))
    return value.get(key) if isinstance(value, dict) else None


def _words(value: object, keys: tuple[str, ...], role: str) -> str:
    """Return the words in what an agent was given or returned: plain text, messages, or the member that has them."""
    value = decode_json(value)
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        inner = value.get("messages")
        if inner is None and value.keys() & {"role", "parts"}:
            inner = [value]
        if inner is None:
            inner = next((value[key] for key in keys if value.get(key)), None)
            return _words(inner, keys, role) if isinstance(inner, str | dict) and inner is not value else ""
        value = inner
    texts = [each.text for each in messages(value) if each.role == role and each.text]
    return texts[-1] if texts else ""
