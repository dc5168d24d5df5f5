"""OpenTelemetry's GenAI conventions, new (`gen_ai.input.messages`) and old (`gen_ai.prompt.0.content`, span events).

Source: open-telemetry/semantic-conventions-genai, docs/gen-ai, version 1.37 and before; traceloop/openllmetry for
`gen_ai.prompt.N` and `traceloop.*`.
"""

from collections.abc import Mapping
from typing import Any

from proctor.chat.agent_replies import call_of, clean
from proctor.core.sample import Message
from proctor.core.trajectory import Usage
from proctor.traces.attributes import at, decoded, identity, items, leaf, number, text, tree
from proctor.traces.messages import listed, message, messages
from proctor.traces.span import Kind, Ran
from proctor.traces.span_files import Span

LOOKED_FOR = "gen_ai.*"
KINDS: Mapping[str, Kind] = {
    "chat": "model", "text_completion": "model", "completion": "model", "generate_content": "model", "llm": "model",
    "execute_tool": "tool", "tool": "tool",
    "invoke_agent": "agent", "agent": "agent",
    "invoke_workflow": "chain", "workflow": "chain", "chain": "chain",
}  # fmt: skip
DETAILS = "gen_ai.client.inference.operation.details"
EVENTS = {"gen_ai.user.message": "user", "gen_ai.assistant.message": "assistant", "gen_ai.tool.message": "tool"}


def kind(span: Span) -> Kind:
    for path in ("gen_ai.operation.name", "gen_ai.span.kind", "traceloop.span.kind", "llm.request.type"):
        if found := KINDS.get(text(span.attributes, path).lower()):
            return found
    if at(span.attributes, "gen_ai.tool.name"):
        return "tool"
    known = (
        "gen_ai.prompt",
        "gen_ai.completion",
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.response.model",
    )
    if any(at(span.attributes, path) is not None for path in known):
        return "model"
    return "model" if any(event.name == "gen_ai.choice" for event in span.events) else ""


def sent(span: Span) -> list[Any]:
    for attributes in _places(span):
        if found := listed(at(attributes, "gen_ai.input.messages")):
            return found
    noted = [
        one
        for event in span.events
        if event.name in EVENTS and (one := message({"role": EVENTS[event.name], **event.attributes})) is not None
    ]
    return noted or listed(_of(span, "gen_ai.prompt", "gen_ai.content.prompt"))


def said(span: Span) -> list[Message]:
    for attributes in _places(span):
        if found := _first_choice(items(at(attributes, "gen_ai.output.messages"))):
            return found
    choices = [event.attributes for event in span.events if event.name == "gen_ai.choice"]
    if found := _first_choice(choices):
        return found
    value = _of(span, "gen_ai.completion", "gen_ai.content.completion")
    return _first_choice(items(value)) or messages(value, "assistant")


def usage(span: Span) -> Usage:
    used = at(span.attributes, "gen_ai.usage")
    return Usage(
        input_tokens=number(used, "input_tokens", "prompt_tokens"),
        output_tokens=number(used, "output_tokens", "completion_tokens"),
        cached_tokens=number(used, "cache_read.input_tokens", "cache_read_input_tokens"),
        reasoning_tokens=number(used, "reasoning.output_tokens", "reasoning_tokens"),
    )


def ran(span: Span) -> Ran | None:
    tool = at(span.attributes, "gen_ai.tool")
    name = text(tool, "name") or text(span.attributes, "traceloop.entity.name")
    if not name or name == "(merged tools)":  # ADK's span for several calls that have spans of their own
        return None
    given, result = leaf(tool, "call.arguments"), leaf(tool, "call.result")
    if given is None:
        given = _arguments(decoded(leaf(span.attributes, "traceloop.entity.input")))
        result = leaf(span.attributes, "traceloop.entity.output") if result is None else result
    return Ran(
        call=call_of(clean(name), given, clean(identity(tool, "call.id"))),
        told=given is not None,
        result=None if result is None else clean(result if isinstance(result, str) else str(result)),
    )


def asked(span: Span) -> str:
    for attributes in _places(span):
        users = [
            one.text for one in messages(at(attributes, "gen_ai.input.messages")) if one.role == "user" and one.text
        ]
        if users:
            return users[-1]
    return ""


def answered(span: Span) -> str:
    return next((one.text for one in reversed(said(span)) if one.text), "")


def _places(span: Span) -> list[Mapping[str, object]]:
    """Where messages may stand: the span itself, and the event that holds its details."""
    return [span.attributes, *(event.attributes for event in span.events if event.name == DETAILS)]


def _of(span: Span, path: str, event_name: str) -> Any:
    """An old attribute: a branch with numbers, or JSON text, of the span or of an event."""
    found = at(span.attributes, path)
    if found is None:
        found = next((at(event.attributes, path) for event in span.events if event.name == event_name), None)
    if isinstance(found, dict) and not any(name.isdecimal() for name in found):
        return found.get("", found)
    return found


def _first_choice(choices: list[Any]) -> list[Message]:
    """The messages of the first of several answers; a message without an end belongs to the one that follows."""
    made = []
    for one in choices:
        found = message(one, "assistant")
        if found is not None:
            made.append(found)
        if isinstance(one, dict) and "finish_reason" in (tree(one) if any("." in key for key in one) else one):
            break
    return made


def _arguments(given: object) -> Any:
    """The arguments out of what a decorated function was called with: its keywords, else what it was given."""
    for name in ("kwargs", "inputs"):
        if isinstance(given, dict) and isinstance(given.get(name), dict) and given[name]:
            return given[name]
    return None if not isinstance(given, dict) or {"args", "kwargs"} & given.keys() else given
