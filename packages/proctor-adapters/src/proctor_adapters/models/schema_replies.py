"""Tools as one bounded JSON schema, for servers that follow a schema but do not call tools by themselves.

A schema of parameters alone does not bound the length of a reply (a small model fills an open array until its
token limit), so it is bounded by `proctor.chat.tool_schema`. What comes back is `{"name": ..., "arguments": {...}}`, a list of
such calls, or `{"answer": "..."}`.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from proctor.chat.tool_schema import any_of, bounded, closed_object
from proctor.core.sample import Message, Part, Text, Tool, ToolCall

ANSWER_CHARACTERS = 1_000


def schema_of(tools: Sequence[Tool], *, answer: bool = True, calls: int = 1) -> dict[str, Any]:
    """Return the schema of a reply that calls one of the tools, up to `calls` of them, or answers in words if it may.

    >>> [one["required"] for one in schema_of([Tool(name="f")])["anyOf"]]
    [['name', 'arguments'], ['answer']]
    """
    one_call = [closed_object({"name": {"const": tool.name}, "arguments": bounded(tool.parameters)}) for tool in tools]
    ways: list[dict[str, object]] = one_call
    if calls > 1:
        ways = [{"type": "array", "items": any_of(one_call), "minItems": 1, "maxItems": calls}]
    if answer:
        ways = [*ways, closed_object({"answer": {"type": "string", "maxLength": ANSWER_CHARACTERS}})]
    return any_of(ways)


def message_of(text: str, names: Sequence[str]) -> Message:
    """Return the reply as a message: its calls, or its answer. What is neither stays text, as it came.

    >>> message_of('{"name": "f", "arguments": {"x": 1}}', ["f"]).calls[0].arguments
    {'x': 1}
    >>> message_of('{"answer": "Paris"}', ["f"]).text
    'Paris'
    """
    try:
        reply = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        reply = None
    if isinstance(reply, dict) and isinstance(reply.get("answer"), str):
        return Message.of("assistant", reply["answer"])
    values = reply if isinstance(reply, list) else [reply]
    parts: list[Part] = [
        ToolCall(name=value["name"], arguments=value["arguments"], id=f"call_{number}")
        for number, value in enumerate(values)
        if isinstance(value, dict) and value.get("name") in names and isinstance(value.get("arguments"), dict)
    ]
    if not parts or len(parts) != len(values):
        return Message(role="assistant", parts=(Text(text=text),) if text else ())
    return Message(role="assistant", parts=tuple(parts))
