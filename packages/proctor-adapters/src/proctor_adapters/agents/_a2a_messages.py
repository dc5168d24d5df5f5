"""Convert messages of A2A to steps, and turns to its messages."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from proctor.chat.agent_replies import call_of, clean
from proctor.chat.message_text import as_json, file_bytes, text_of
from proctor.core.sample import File, Message, Part, Reasoning, Text, ToolResult, Turn
from proctor.core.trajectory import Step, Usage

if TYPE_CHECKING:
    from a2a import types

OCTETS = "application/octet-stream"


def message_of(turn: Turn, **ids: str) -> "types.Message":
    """Return a turn as a message of the user; of several messages the text, with the roles."""
    from a2a import types
    from google.protobuf.json_format import ParseDict

    files = [part for message in turn.messages for part in message.parts if isinstance(part, File)]
    parts = [_file(file) for file in files]
    words = turn.messages[0].text if len(turn.messages) == 1 else text_of(turn.messages)
    if words or not parts:
        parts.insert(0, {"text": words})
    given = {"role": "ROLE_USER", "parts": parts, **{name: value for name, value in ids.items() if value}}
    message: types.Message = ParseDict(given, types.Message())
    return message


def steps_of(parts: Sequence[Part], metadata: Mapping[str, object] = {}) -> list[Step]:
    """Return the parts of one message as steps: what the agent says and calls, and the results of its tools."""
    author = str(metadata.get("adk_author") or "agent")
    said = tuple(part for part in parts if not isinstance(part, ToolResult))
    results = tuple(part for part in parts if isinstance(part, ToolResult))
    steps = []
    if said:
        usage = _usage(metadata.get("adk_usage_metadata"))
        steps.append(Step(message=Message(role="assistant", parts=said), author=author, usage=usage))
    if results:
        steps.append(Step(message=Message(role="tool", parts=results), author=author))
    return steps


def parts_of(parts: "Iterable[types.Part]") -> tuple[Part, ...]:
    """Convert the parts of a message or artifact; metadata as ADK's tell which data parts are calls or results."""
    return tuple(map(_part, parts))


def plain(struct: object) -> dict[str, object]:
    """Return metadata as plain data."""
    from google.protobuf.json_format import MessageToDict

    fields: dict[str, object] = _whole_numbers(MessageToDict(struct))
    return fields


def _part(part: "types.Part") -> Part:
    from google.protobuf.json_format import MessageToDict

    metadata = plain(part.metadata)
    match part.WhichOneof("content"):
        case "text":
            text = clean(part.text)
            return Reasoning(text=text) if metadata.get("adk_thought") else Text(text=text)
        case "raw":
            return File(name=part.filename, media_type=part.media_type or OCTETS, data=part.raw)
        case "url":
            return File(name=part.filename, media_type=part.media_type or OCTETS, url=part.url)
    data = _whole_numbers(MessageToDict(part.data)) if part.HasField("data") else None
    kind = metadata.get("adk_type", metadata.get("type"))
    if isinstance(data, dict) and isinstance(data.get("name"), str):
        name, id = data["name"], str(data.get("id") or "")
        if kind == "function_call":
            return call_of(name, data.get("args") or {}, id)
        if kind == "function_response":
            response = data.get("response")
            failed = isinstance(response, dict) and bool(response.get("error"))
            return ToolResult(name=name, content=clean(as_json(response)), id=id, is_error=failed)
    return Text(text=clean(as_json(data)))


def _file(file: File) -> dict[str, object]:
    about = {"filename": file.name, "mediaType": file.media_type}
    if file.data is None and file.url is not None:
        return {"url": file.url, **about}
    return {"raw": base64.b64encode(file_bytes(file)).decode(), **about}


def _usage(used: object) -> Usage | None:
    if not isinstance(used, dict):
        return None
    counts = {name: value for name, value in used.items() if isinstance(value, int)}
    taken = counts.get("promptTokenCount", 0)
    thoughts = counts.get("thoughtsTokenCount", 0)
    given = counts.get("totalTokenCount", 0) - taken
    return Usage(
        input_tokens=taken,
        output_tokens=given if given > 0 else counts.get("candidatesTokenCount", 0) + thoughts,
        cached_tokens=counts.get("cachedContentTokenCount", 0),
        reasoning_tokens=thoughts,
    )


def _whole_numbers(value: object) -> Any:
    """Return the value with 1 for 1.0, as every number of the protocol is a double, and with sorted keys."""
    match value:
        case dict():
            return {key: _whole_numbers(value[key]) for key in sorted(value)}
        case list():
            return [_whole_numbers(item) for item in value]
        case float() if value.is_integer():
            return int(value)
    return value
