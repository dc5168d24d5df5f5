"""Read the replies of agents that know nothing of our types: texts and the plain dicts of chat completions."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from proctor.core.errors import AgentFailed
from proctor.core.sample import Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from proctor.core.trajectory import Step, Trajectory

ROLES = get_args(Role)


def steps_of(reply: object) -> list[Step]:
    """Return an agent's reply as steps: it may be a text, a message (ours or a dict), a list of messages, steps, a trajectory.

    Raises:
        AgentFailed: None, or anything else.
    """
    if isinstance(reply, Trajectory):
        return list(reply.steps)
    if isinstance(reply, list | tuple):
        return [_step(value) for value in reply]
    if isinstance(reply, str):
        return [Step(message=_message("assistant", [Text(text=clean(reply))] if reply else []))]
    return [_step(reply)]


def message_of(reply: Mapping[str, Any]) -> Message:
    """Convert a message of chat completions; the role is the assistant's when none is named.

    >>> message_of({"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}).calls[0].name
    'f'

    Raises:
        AgentFailed: it is no such message.
    """
    role, content, calls = reply.get("role", "assistant"), reply.get("content"), reply.get("tool_calls") or ()
    known = isinstance(role, str) and role in ROLES and ("content" in reply or "tool_calls" in reply)
    if not known or not isinstance(calls, list | tuple):
        raise _no_message(reply)
    text = content if isinstance(content, str) else _text_of(reply, content)
    if role == "tool":
        name, call_id = str(reply.get("name", "")), str(reply.get("tool_call_id", ""))
        return _message("tool", [ToolResult(name=name, content=clean(text), id=call_id)])
    thought = reply.get("reasoning_content") or reply.get("reasoning")
    parts: list[Part] = [Reasoning(text=clean(thought))] if isinstance(thought, str) else []
    if text:
        parts.append(Text(text=clean(text)))
    parts.extend(_call(reply, call) for call in calls)
    return _message(role, parts)


def call_of(name: str, arguments: object, id: str = "") -> ToolCall:
    """Return a call; its arguments are JSON text or a dict of anything, in which what is no JSON becomes text."""
    if isinstance(arguments, Mapping):
        try:
            arguments = json.dumps(arguments, default=str, skipkeys=True, ensure_ascii=False)
        except (ValueError, RecursionError):
            arguments = str(arguments)
    return ToolCall.from_text(name, clean(str(arguments if arguments is not None else "{}")), id=id)


def clean(text: str) -> str:
    """Return the text without lone surrogates, which nothing can store.

    >>> clean("a" + chr(0xD800))
    'a?'
    """
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _step(one: object) -> Step:
    match one:
        case Step():
            return one
        case Message():
            return Step(message=one)
        case Mapping() if (answer := _plain_answer(one)) is not None:
            return Step(message=_message("assistant", [Text(text=clean(answer))] if answer else []))
        case Mapping():
            message = message_of(one)
            return Step(message=message, author="tool" if message.role == "tool" else "agent")
        case None:
            raise AgentFailed("The agent returned None. It has to return its answer as text.", kind="returned_none")
    raise AgentFailed(
        "The agent returned {type}. It has to return text, a message, or a list of messages.",
        kind="wrong_type",
        type=type(one).__name__,
    )


def _plain_answer(reply: Mapping[str, object]) -> str | None:
    """Return the text of `{"answer": ...}`, as agents behind HTTP and programs write it; None for a message or anything else."""
    answer = reply.get("answer")
    return answer if isinstance(answer, str) and not {"role", "content", "tool_calls"} & reply.keys() else None


def _message(role: Role, parts: Sequence[Part]) -> Message:
    return Message(role=role, parts=tuple(parts))


def _text_of(reply: Mapping[str, object], content: object) -> str:
    if content is None:
        return ""
    if not isinstance(content, list | tuple):
        raise _no_message(reply)
    parts = [value for value in content if isinstance(value, Mapping) and isinstance(value.get("text"), str)]
    return "".join(part["text"] for part in parts)


def _call(reply: Mapping[str, object], call: object) -> ToolCall:
    function = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(call, Mapping) or not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise _no_message(reply)
    return call_of(function["name"], function.get("arguments"), str(call.get("id") or ""))


def _no_message(reply: Mapping[str, object]) -> AgentFailed:
    return AgentFailed(
        "The agent returned a dict that is no message: {keys}. A message has 'content' or 'tool_calls', and a 'role'.",
        kind="wrong_type",
        keys=", ".join(repr(key)[:40] for key in list(reply)[:8]) or "-",
    )
