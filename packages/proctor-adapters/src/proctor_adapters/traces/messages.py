"""Read messages in all the shapes in which spans hold them.

{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "f", "arguments": {"x": 1}}]}      (GenAI)
{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}]}
{"role": "model", "parts": [{"function_call": {"name": "f", "args": {"x": 1}}}]}                             (Gemini)
{"message.role": "user", "message.content": "Hi"}                                                            (OpenInference)
"""

import binascii
import json
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from proctor.chat.agent_replies import call_of, clean
from proctor.core.media_type import OCTETS, media_type_of
from proctor.core.sample import File, JsonObject, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from proctor_adapters.traces.attributes import at, decode_json, first_leaf, identity, items, text, tree

ROLES: Mapping[str, Role] = {
    "user": "user", "human": "user",
    "assistant": "assistant", "ai": "assistant", "model": "assistant", "agent": "assistant",
    "tool": "tool", "function": "tool", "tool-response": "tool",
    "system": "system", "developer": "system",
}  # fmt: skip


def message_list(value: object, role: Role = "user") -> list[object]:
    """Return a list of messages unchanged, and a single text as a message of that role."""
    decoded = decode_json(value)
    if isinstance(decoded, dict) and any(key in decoded for key in ("role", "content", "parts", "message")):
        return [decoded]
    if isinstance(decoded, str):
        return [Message.of(role, clean(decoded))] if decoded.strip() else []
    return items(decoded)


def messages(value: object, role: Role = "user") -> list[Message]:
    """Return the messages of a list in any of the shapes, or of one text, which is of that role."""
    made = (message(entry, role) for entry in message_list(value, role))
    return [each for each in made if each is not None]


def message(value: object, role: Role = "user") -> Message | None:
    """Return one message; None when there is nothing in it that we know."""
    if isinstance(value, Message):
        return value
    value = decode_json(value)
    if isinstance(value, str):
        return Message.of(role, clean(value)) if value else None
    if isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(item, str) for item in value):
        return Message.of(ROLES.get(value[0], role), clean(value[1]))  # ("user", "Hi")
    if not isinstance(value, dict):
        return None
    if any("." in key for key in value if isinstance(key, str)):
        value = tree({str(key): entry for key, entry in value.items()})
    for key in ("message", "data", "kwargs"):  # the last two as LangChain writes messages
        inner = decode_json(value.get(key))
        if isinstance(inner, dict) and "content" not in value:
            value = {**value, **inner}
    said = ROLES.get(text(value, "role", "type", "author").lower(), role)
    parts = list(_parts(value, said))
    if any(isinstance(part, ToolResult) for part in parts):
        said = "tool"
    elif any(isinstance(part, ToolCall) for part in parts):
        said = "assistant"
    return Message(role=said, parts=_with_files(parts)) if parts else None


def join_replies(found: Iterable[Message]) -> list[Message]:
    """Join messages of the assistant that follow each other; some recorders write every part as a message."""
    made: list[Message] = []
    for each in found:
        if made and each.role == made[-1].role == "assistant":
            made[-1] = Message(role="assistant", parts=(*made[-1].parts, *each.parts))
        else:
            made.append(each)
    return made


def split_at_known(sent: Sequence[object], is_known: Callable[[Message], bool]) -> tuple[Message | None, list[Message]]:
    """Return the last known assistant message, and all messages after it; searched from the end, as histories can be long."""
    newest: list[Message] = []  # in reverse
    parts: tuple[Part, ...] = ()  # of messages of the assistant that follow each other
    for raw in (*reversed(sent), None):
        read = message(raw)
        if (read is not None and read.role == "system") or (read is None and raw is not None):
            continue
        if read is not None and read.role == "assistant":
            if not parts and is_known(read):
                return read, newest[::-1]
            parts = (*read.parts, *parts)
            continue
        if parts:
            reply = Message(role="assistant", parts=parts)
            if is_known(reply):
                return reply, newest[::-1]
            newest.append(reply)
            parts = ()
        if read is not None:
            newest.append(read)
    return None, newest[::-1]


def _parts(value: JsonObject, role: Role) -> Iterator[Part]:
    thought = text(value, "reasoning_content", "reasoning")
    if thought:
        yield Reasoning(text=clean(thought))
    if role == "tool" and not value.get("parts"):
        yield _result(value)
        return
    if "output" in value and "call_id" in value:  # items of their own, as the Responses API has them
        yield ToolResult(name="", content=as_text(value["output"]), id=text(value, "call_id"))
        return
    if (name := text(value, "name", "function.name")) and {"arguments", "call_id"} & value.keys():
        yield _call(value, name)
        return
    for key in ("parts", "content", "contents"):
        yield from _content(value.get(key))
    for entry in items(value.get("tool_calls")):
        call = at(entry, "tool_call") or entry
        name = text(call, "function.name", "name")
        if name:
            yield _call(call, name)
    if name := text(value, "function_call.name"):
        yield _call(value["function_call"], name)


def _content(value: object) -> Iterator[Part]:
    """Yield the parts of a content: text, or a list of parts, perhaps as JSON text."""
    decoded = decode_json(value)
    if isinstance(decoded, dict) and "" in decoded and len(decoded) > 1:
        decoded = {key: entry for key, entry in decoded.items() if key}
    message_list = items(decoded)
    if isinstance(decoded, str) or (message_list and not all(isinstance(entry, dict | str) for entry in message_list)):
        if isinstance(value, str) and value:
            yield Text(text=clean(value))
        return
    known = [part for entry in message_list for part in [_part(entry)] if part is not None]
    if not known and isinstance(value, str) and value:
        yield Text(text=clean(value))  # JSON that is an answer, not parts
    elif not known and isinstance(decoded, dict) and (part := _part(decoded)) is not None:
        yield part
    yield from known


def _part(value: object) -> Part | None:
    if isinstance(value, str):
        return Text(text=clean(value)) if value else None
    if not isinstance(value, dict):
        return None
    value = at(value, "message_content") or value
    for key, kind in (("function_call", "tool_call"), ("function_response", "tool_call_response")):
        inner = value.get(key) or value.get("functionCall" if key == "function_call" else "functionResponse")
        if isinstance(inner, dict):
            value = {**inner, "type": kind}
    match text(value, "type"):
        case "tool_call" | "tool_use" | "function_call" | "server_tool_call":
            name = text(value, "name")
            return _call(value, name) if name else None
        case "tool_call_response" | "tool_result" | "function_call_output" | "server_tool_call_response":
            return _result(value)
        case "reasoning" | "thinking":
            thought = text(value, "content", "text", "thinking")
            return Reasoning(text=clean(thought)) if thought else None
        case "blob" | "file" | "uri" | "image" | "image_url" | "input_image" | "audio" | "document":
            return _file(value)
    said = text(value, "content", "text")
    if said:
        return Reasoning(text=clean(said)) if value.get("thought") is True else Text(text=clean(said))
    return _file(value) if any(key in value for key in ("inline_data", "file_data", "image")) else None


def _call(value: Mapping[str, object], name: str) -> ToolCall:
    given = first_leaf(value, "function.arguments", "arguments", "args", "input", "parameters")
    return call_of(clean(name), given, clean(identity(value, "id", "call_id", "tool_call_id")))


def _result(value: Mapping[str, object]) -> ToolResult:
    content = next(
        (value[key] for key in ("response", "result", "output", "content") if value.get(key) is not None), ""
    )
    call_id = identity(value, "tool_call_id", "tool_use_id", "call_id", "id")
    failed = value.get("is_error") is True
    return ToolResult(name=clean(text(value, "name")), content=as_text(content), id=clean(call_id), is_error=failed)


def as_text(value: object) -> str:
    """Return what a tool returned as text; a list of text parts is their texts."""
    if isinstance(value, str):
        return clean(value)
    message_list = items(value)
    texts = [text(entry, "text", "content") for entry in message_list]
    if message_list and all(texts):
        return clean("\n".join(texts))
    return clean(json.dumps(value, ensure_ascii=False, default=str))


def _file(value: Mapping[str, object]) -> File:
    media_type = text(value, "mime_type", "inline_data.mime_type", "file_data.mime_type", "media_type")
    url = text(value, "uri", "file_data.file_uri", "image_url.url", "image.image.url", "image_url", "url")
    name, encoded = clean(text(value, "name", "file_id")), text(value, "content", "inline_data.data")
    if text(value, "type") == "blob" or (encoded and not url):
        try:
            data = b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            return File(name=name, media_type=media_type or OCTETS)
        return File(name=name, media_type=media_type_of(data, media_type), data=data)
    return File(name=name, media_type=media_type or OCTETS, url=clean(url))


def _with_files(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Return parts with each file that follows a tool's result in that result."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, File) and isinstance(last, ToolResult):
            joined[-1] = replace(last, files=(*last.files, part))
        else:
            joined.append(part)
    return tuple(joined)
