"""A conversation in the official form, and as models get it.

Official form, as in result files; what is left out has its default (`requestor` assistant, `error` false):

    {"role": "assistant", "content": null, "tool_calls": [{"id": "call_0", "name": "get_user", "arguments": {"id": "1"}}]}
    {"role": "tool", "id": "call_0", "content": "{…}", "requestor": "assistant", "error": false}
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from proctor.core.sample import JsonObject, Message, Part, Text, ToolCall, ToolResult
from proctor.core.trajectory import Step

STOP = "###STOP###"
JSON = dict[str, Any]
OfficialMessage = JsonObject


def arguments_of(call: ToolCall) -> dict[str, object] | None:
    """Return the arguments as Python reads them, NaN and large numbers included; None where they are no JSON object."""
    if call.raw is None:
        return dict(call.arguments)
    try:
        arguments = json.loads(call.raw)
    except (ValueError, RecursionError):
        return None
    return arguments if isinstance(arguments, dict) else None


def official(messages: Iterable[Message], *, ends_with: str = "") -> list[JSON]:
    """Return messages in the official form; system prompts are no part of it.

    Args:
        ends_with: the tool of an agent without a user that ends the task; the message that calls it becomes a stop signal.

    >>> official([Message.of("user", "Hi")])
    [{'role': 'user', 'content': 'Hi'}]
    """
    entries: list[JSON] = []
    requestor = "assistant"
    for message in messages:
        if message.role == "tool":
            entries.extend(_result(part, requestor) for part in message.parts if isinstance(part, ToolResult))
        elif message.role != "system":
            entry: JSON = {"role": message.role, "content": content_of(message)}
            if ends_with and any(call.name == ends_with for call in message.calls):
                entry["content"] = STOP
            elif message.calls:
                requestor = message.role
                entry["tool_calls"] = [
                    {"id": call.id, "name": call.name, "arguments": arguments_of(call) or {}, "requestor": requestor}
                    for call in message.calls
                ]
            entries.append(entry)
    return entries


def _result(result: ToolResult, requestor: str) -> JSON:
    return {
        "role": "tool",
        "id": result.id,
        "content": result.content,
        "requestor": requestor,
        "error": result.is_error,
    }


def content_of(message: Message) -> str | None:
    """Return the text of a message; None where it has none, which is not the same as an empty one."""
    return message.text if any(isinstance(part, Text) for part in message.parts) else None


def is_blank(message: Message) -> bool:
    """True if a message says nothing and calls nothing, which the official code refuses."""
    return not message.calls and not message.text.strip()


def from_official(message: OfficialMessage) -> Message:
    """Return a message of ours; that of a tool has one result.

    >>> from_official({"role": "user", "content": "Hi"}).text
    'Hi'
    """
    content = message.get("content")
    if message["role"] == "tool":
        result = ToolResult(
            name="", content=content or "", id=message.get("id") or "", is_error=bool(message.get("error"))
        )
        return Message(role="tool", parts=(result,))
    parts: list[Part] = [] if content is None else [Text(text=content)]
    calls = message.get("tool_calls") or ()
    parts += [ToolCall(name=call["name"], arguments=call["arguments"], id=call.get("id") or "") for call in calls]
    return Message(role="user" if message["role"] == "user" else "assistant", parts=tuple(parts))


def steps_of(messages: Sequence[OfficialMessage]) -> tuple[Step, ...]:
    """Return the steps of a recorded conversation; those of the user and of its tools have the author "user"."""
    steps = []
    for message in messages:
        is_users = message["role"] == "user" or message.get("requestor") == "user"
        author = "user" if is_users else "tool" if message["role"] == "tool" else "agent"
        steps.append(Step(message=from_official(message), author=author))
    return tuple(steps)


def flipped(message: Message) -> Message:
    """Return a message as the model of the user gets it: what the user said is its own."""
    if message.role == "tool":
        return message
    return Message(role="assistant" if message.role == "user" else "user", parts=message.parts)


def as_sent(messages: Iterable[Message]) -> list[JSON]:
    """Return messages exactly as the official code gives them to its model library; a call's name stands twice."""
    sent: list[JSON] = []
    for message in messages:
        match message.role:
            case "tool":
                sent.extend(
                    {"role": "tool", "content": part.content, "tool_call_id": part.id}
                    for part in message.parts
                    if isinstance(part, ToolResult)
                )
            case "assistant":
                calls = [
                    {
                        "id": call.id,
                        "name": call.name,
                        "function": {"name": call.name, "arguments": json.dumps(arguments_of(call))},
                        "type": "function",
                    }
                    for call in message.calls
                ]
                sent.append({"role": "assistant", "content": content_of(message), "tool_calls": calls or None})
            case role:
                sent.append({"role": role, "content": content_of(message)})
    return sent
