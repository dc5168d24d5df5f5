"""The spans of ADK's own names (`call_llm`, `execute_tool f`, `gcp.vertex.agent.*`), and what VeADK adds to them.

Source: google/adk-python, src/google/adk/telemetry/tracing.py, release 2.13; volcengine/veadk-python,
veadk/tracing/telemetry/attributes, release 1.1.19.
"""

from collections.abc import Mapping
from typing import Any

from proctor.chat.agent_replies import call_of, clean
from proctor.core.sample import Message
from proctor.core.trajectory import Usage
from proctor.traces.attributes import decoded, identity, leaf, text
from proctor.traces.messages import listed, message, shown
from proctor.traces.span import Kind, Ran
from proctor.traces.span_files import Span

LOOKED_FOR = "call_llm, execute_tool (ADK, VeADK)"


def kind(span: Span) -> Kind:
    first = span.name.partition(" ")[0]
    found: Mapping[str, Kind] = {
        "call_llm": "model", "execute_tool": "tool", "invoke_agent": "agent", "agent_run": "agent", "invocation": "chain",
    }  # fmt: skip
    return found.get(first, "")


def sent(span: Span) -> list[object]:
    return listed(_member(span, "gcp.vertex.agent.llm_request", "contents"))


def said(span: Span) -> list[Message]:
    one = message(_member(span, "gcp.vertex.agent.llm_response", "content"), "assistant")
    return [one] if one is not None else []


def usage(span: Span) -> Usage:  # noqa: ARG001 - it is where GenAI has it
    return Usage()


def ran(span: Span) -> Ran | None:
    name = text(span.attributes, "gen_ai.tool.name") or span.name.partition(" ")[2]
    if not name or name == "(merged tools)":
        return None
    given = _member(span, "gen_ai.tool.input", "parameters")
    output = decoded(leaf(span.attributes, "gen_ai.tool.output"))
    call_id, result = identity(output, "id"), output.get("response") if isinstance(output, dict) else None
    if given is None:
        given = decoded(leaf(span.attributes, "gcp.vertex.agent.tool_call_args"))
    if result is None:
        result = leaf(span.attributes, "gcp.vertex.agent.tool_response")
    if not isinstance(given, dict) and result is None:
        return None
    return Ran(
        call=call_of(
            clean(name),
            given if isinstance(given, dict) else None,
            clean(call_id or identity(span.attributes, "gen_ai.tool.call.id")),
        ),
        told=isinstance(given, dict),
        result=None if result is None else shown(result),
    )


def asked(span: Span) -> str:  # noqa: ARG001 - agents are asked in their first call of a model
    return ""


def answered(span: Span) -> str:  # noqa: ARG001
    return ""


def _member(span: Span, path: str, key: str) -> Any:
    found = decoded(leaf(span.attributes, path))
    return found.get(key) if isinstance(found, dict) else None
