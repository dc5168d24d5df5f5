"""Read the event streams of coding-agent programs as steps: Claude Code, Codex, Gemini CLI, OpenCode, mini-swe-agent.

What is no event, or of a kind that is not known, is counted and left out: a newer release is no error.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from proctor.core.sample import Message, Part, Reasoning, Text, ToolCall, ToolResult
from proctor.core.trajectory import Step, Usage

Event = Mapping[str, Any]


class CliStream(msgspec.Struct, frozen=True, kw_only=True):
    """What a program reported.

    Attributes:
        usage: its own figures; None if it reported none.
        error: how it says that it failed.
        unknown: how many lines were no event that is known.
    """

    steps: tuple[Step, ...] = ()
    usage: Usage | None = None
    error: str = ""
    unknown: int = 0


Read = Callable[[str], CliStream]


def _events(text: str) -> Iterator[Event | None]:
    for line in filter(str.strip, text.split("\n")):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        yield value if isinstance(value, dict) else None


def _says(*parts: Part) -> Step:
    return Step(message=Message(role="assistant", parts=parts))


def _result(name: str, content: object, id: object, *, is_error: bool = False) -> Step:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return Step(
        message=Message(role="tool", parts=(ToolResult(name=name, content=text, id=str(id), is_error=is_error),))
    )


def _call(name: object, arguments: object, id: object) -> ToolCall:
    return ToolCall(
        name=str(name), arguments=arguments if isinstance(arguments, dict) else {"input": arguments}, id=str(id)
    )


def _number(values: object, *names: str) -> int:
    found = [values.get(name) for name in names] if isinstance(values, dict) else []
    return sum(value for value in found if isinstance(value, int) and not isinstance(value, bool))


def _collect(text: str, read: Callable[[Event, list[Step]], Mapping[str, Any] | None]) -> CliStream:
    """Read every event; `read` adds steps and returns further fields, or None for an event that it does not know."""
    steps: list[Step] = []
    fields: dict[str, Any] = {}
    unknown = 0
    for event in _events(text):
        try:
            more = None if event is None else read(event, steps)
        except (KeyError, TypeError, AttributeError):
            more = None
        if more is None:
            unknown += 1
        elif "usage" in more and "usage" in fields:
            fields |= {**more, "usage": fields["usage"] + more["usage"]}
        else:
            fields |= more
    return CliStream(steps=tuple(steps), unknown=unknown, **fields)


def read_claude(text: str) -> CliStream:
    """Read `claude --output-format stream-json`; a `result` of the subtype `success` may be an error all the same."""
    name_by_id: dict[str, str] = {}

    def read(event: Event, steps: list[Step]) -> Mapping[str, Any] | None:
        match event["type"]:
            case "system":
                return {}
            case "assistant":
                parts: list[Part] = []
                for block in event["message"]["content"]:
                    if block["type"] == "text":
                        parts.append(Text(text=block["text"]))
                    elif block["type"] == "thinking":
                        parts.append(Reasoning(text=block["thinking"]))
                    elif block["type"] == "tool_use":
                        name_by_id[block["id"]] = block["name"]
                        parts.append(_call(block["name"], block["input"], block["id"]))
                steps.append(_says(*parts))
                return {}
            case "user":
                blocks = event["message"]["content"]
                for block in blocks if isinstance(blocks, list) else ():
                    if block["type"] == "tool_result":
                        id = block["tool_use_id"]
                        steps.append(_result(name_by_id.get(id, ""), block.get("content", ""), id, is_error=bool(block.get("is_error"))))  # fmt: skip
                return {}
            case "result":
                counts = event.get("usage", {})
                usage = Usage(
                    input_tokens=_number(
                        counts, "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"
                    ),
                    output_tokens=_number(counts, "output_tokens"),
                    cached_tokens=_number(counts, "cache_read_input_tokens"),
                    cost=event.get("total_cost_usd"),
                )
                return {"usage": usage, "error": str(event.get("result", "")) if event.get("is_error") else ""}
        return None

    return _collect(text, read)


def read_codex(text: str) -> CliStream:
    """Read `codex exec --json`."""

    def read(event: Event, steps: list[Step]) -> Mapping[str, Any] | None:
        match event["type"]:
            case "thread.started" | "turn.started" | "item.started" | "item.updated":
                return {}
            case "item.completed":
                item = event["item"]
                match item["type"]:
                    case "agent_message":
                        steps.append(_says(Text(text=item["text"])))
                    case "reasoning":
                        steps.append(_says(Reasoning(text=item["text"])))
                    case "command_execution":
                        steps.append(_says(_call("shell", {"command": item["command"]}, item["id"])))
                        steps.append(_result("shell", item.get("aggregated_output", ""), item["id"], is_error=bool(item.get("exit_code"))))  # fmt: skip
                    case "error":
                        return {"error": str(item.get("message", ""))}
                    case _:
                        return None
                return {}
            case "turn.completed":
                counts = event["usage"]
                return {"usage": Usage(input_tokens=_number(counts, "input_tokens"), output_tokens=_number(counts, "output_tokens"), cached_tokens=_number(counts, "cached_input_tokens"))}  # fmt: skip
            case "turn.failed" | "error":
                error = event.get("error", event)
                return {"error": str(error.get("message", "failed"))}
        return None

    return _collect(text, read)


def read_gemini(text: str) -> CliStream:
    """Read `gemini --output-format stream-json`; pieces of one message follow each other."""

    def read(event: Event, steps: list[Step]) -> Mapping[str, Any] | None:
        match event["type"]:
            case "init":
                return {}
            case "message":
                if event["role"] == "assistant":
                    last = steps[-1].message if steps else None
                    if event.get("delta") and last is not None and last.role == "assistant" and last.text:
                        steps[-1] = _says(Text(text=last.text + event["content"]))
                    else:
                        steps.append(_says(Text(text=event["content"])))
                return {}
            case "tool_use":
                steps.append(_says(_call(event["tool_name"], event["parameters"], event["tool_id"])))
                return {}
            case "tool_result":
                steps.append(
                    _result("", event.get("output", ""), event["tool_id"], is_error=event.get("status") == "error")
                )
                return {}
            case "result":
                counts = event.get("stats", {})
                usage = Usage(input_tokens=_number(counts, "input_tokens"), output_tokens=_number(counts, "output_tokens"), cached_tokens=_number(counts, "cached"))  # fmt: skip
                return {
                    "usage": usage,
                    "error": "" if event.get("status") == "success" else str(event.get("error", "")),
                }
        return None

    return _collect(text, read)


def read_opencode(text: str) -> CliStream:
    """Read `opencode run --format json`; its request for a title is in no event."""

    def read(event: Event, steps: list[Step]) -> Mapping[str, Any] | None:
        part = event.get("part", {})
        match event["type"]:
            case "step_start":
                return {}
            case "text":
                steps.append(_says(Text(text=part["text"])))
                return {}
            case "tool_use":
                state = part["state"]
                steps.append(_says(_call(part["tool"], state.get("input", {}), part["callID"])))
                steps.append(_result(part["tool"], state.get("output", state.get("error", "")), part["callID"], is_error=state.get("status") == "error"))  # fmt: skip
                return {}
            case "step_finish":
                counts = part["tokens"]
                cache = counts.get("cache", {})
                usage = Usage(
                    input_tokens=_number(counts, "input") + _number(cache, "read", "write"),
                    output_tokens=_number(counts, "output"),
                    cached_tokens=_number(cache, "read"),
                    reasoning_tokens=_number(counts, "reasoning"),
                    cost=part.get("cost"),
                )
                return {"usage": usage}
            case "error":
                return {"error": json.dumps(event.get("error", ""), ensure_ascii=False)}
        return None

    return _collect(text, read)


def read_mini(text: str) -> CliStream:
    """Read the file of `mini -o FILE`: messages of a conversation in which the user's are results of commands."""
    try:
        value = json.loads(text)
        messages: Sequence[Any] = value["messages"]
        stats = value.get("info", {}).get("model_stats", {})
        later = [message for message in messages if isinstance(message, dict)][2:]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return CliStream(unknown=1)
    steps = [
        _says(Text(text=str(message.get("content", "")))) if message.get("role") == "assistant" else _result("bash", message.get("content", ""), "")
        for message in later
    ]  # fmt: skip
    return CliStream(
        steps=tuple(steps), usage=Usage(requests=_number(stats, "api_calls"), cost=stats.get("instance_cost"))
    )


def read_text(text: str) -> CliStream:
    """Read a program without a format: what it prints is its answer."""
    return CliStream(steps=(_says(Text(text=text.strip())),) if text.strip() else ())


READERS: Mapping[str, Read] = {
    "claude-code": read_claude,
    "codex": read_codex,
    "gemini": read_gemini,
    "opencode": read_opencode,
    "mini-swe-agent": read_mini,
    "text": read_text,
}
