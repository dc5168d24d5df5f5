"""Read chat messages of others, in the forms that Inspect, OpenAI and LangChain write them."""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping, Sequence

from proctor.core.media_type import media_type_of
from proctor.core.sample import File, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from proctor.core.trajectory import Step

ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
FILES = ("image", "audio", "video", "document")


def message(raw: Mapping[str, object]) -> Message:
    """Return a message; what is not known of it is kept as JSON text rather than lost."""
    role = ROLES.get(str(raw.get("role", raw.get("type", "user"))), "user")
    content = raw.get("content")
    if role == "tool":
        failed = raw.get("error")
        said, files = _result_of(content)
        text = said or (text_of(failed.get("message")) if isinstance(failed, Mapping) else "")
        name, identity = str(raw.get("function") or raw.get("name") or ""), str(raw.get("tool_call_id") or "")
        part = ToolResult(name=name, content=text, id=identity, is_error=bool(failed), files=files)
        return Message(role="tool", parts=(part,))
    calls = raw.get("tool_calls")
    parts = (
        *_parts(content),
        *(_call(call) for call in (calls if isinstance(calls, list) else ()) if isinstance(call, Mapping)),
    )
    return Message(role=role, parts=parts)


def steps(messages: Sequence[Message], *, model: str = "agent") -> tuple[Step, ...]:
    """Return messages that followed the question as steps; with each message of the user a turn begins."""
    found: list[Step] = []
    turn = 0
    for each in messages:
        by_user = each.role in ("user", "system")
        if by_user and (not found or found[-1].message.role not in ("user", "system")):
            turn += 1
        found.append(Step(message=each, turn=turn, author="user" if by_user else model))
    return tuple(found)


def text_of(value: object) -> str:
    """Return a value as text: a text unchanged, the texts of a list of parts, anything else as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list) and all(
        isinstance(item, Mapping) and isinstance(item.get("text"), str) for item in value
    ):
        return "\n".join(item["text"] for item in value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _result_of(content: object) -> tuple[str, tuple[File, ...]]:
    """Return the text and the files of a tool's result."""
    is_file = (
        [isinstance(raw, Mapping) and raw.get("type") in FILES for raw in content] if isinstance(content, list) else []
    )
    if not isinstance(content, list) or not any(is_file):
        return text_of(content), ()
    texts = [raw for raw, file in zip(content, is_file, strict=True) if not file]
    files = (part for raw, file in zip(content, is_file, strict=True) if file for part in _part(raw))
    return text_of(texts) if texts else "", tuple(part for part in files if isinstance(part, File))


def _parts(content: object) -> Iterator[Part]:
    if isinstance(content, str):
        if content:
            yield Text(text=content)
        return
    for raw in content if isinstance(content, list) else [] if content is None else [content]:
        if isinstance(raw, str):
            yield Text(text=raw)
        elif not isinstance(raw, Mapping):
            yield Text(text=text_of(raw))
        else:
            yield from _part(raw)


def _part(raw: Mapping[str, object]) -> Iterator[Part]:
    kind = str(raw.get("type", "text"))
    if kind in ("text", "input_text", "output_text"):
        yield Text(text=text_of(raw.get("text")))
    elif kind in ("reasoning", "thinking"):
        yield Reasoning(
            text=text_of(raw.get("summary") if raw.get("redacted") else raw.get("reasoning", raw.get("thinking")))
        )
    elif kind == "tool_use" and "result" in raw:  # run by the provider itself
        identity = str(raw.get("id") or "")
        name = str(raw.get("name") or "")
        yield ToolCall.from_text(name, text_of(raw.get("arguments")), id=identity)
        yield ToolResult(
            name=name, content=text_of(raw.get("error") or raw["result"]), id=identity, is_error=bool(raw.get("error"))
        )
    elif kind in FILES or kind == "image_url":
        named = raw.get(kind)
        yield _file(
            kind.removesuffix("_url"),
            named.get("url") if isinstance(named, Mapping) else named,
            str(raw.get("filename") or ""),
        )
    elif kind != "data":
        yield Text(text=text_of(raw))


def _file(kind: str, where: object, name: str) -> File:
    """Return an image or another file; a path is kept as a name only, as the file is not with the log."""
    address = str(where or "")
    if address.startswith(("http://", "https://")):
        return File(name=name, media_type=f"{kind}/*", url=address)
    head, comma, data = address.partition(",")
    if head.startswith("data:") and comma:
        try:
            decoded = base64.b64decode(data, validate=True)
            return File(name=_last(name), media_type=media_type_of(decoded, head[5:]), data=decoded)
        except (binascii.Error, ValueError):
            return File(name=_last(name) or kind)
    return File(name=_last(name or address[:500]) or kind)


def _last(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _call(raw: Mapping[str, object]) -> ToolCall:
    function = raw.get("function", raw.get("name", ""))
    arguments = raw.get("arguments", raw.get("args"))
    if isinstance(function, Mapping):  # as OpenAI writes it
        function, arguments = function.get("name", ""), function.get("arguments")
    name, identity = str(function), str(raw.get("id") or "")
    if isinstance(arguments, Mapping):
        return ToolCall(name=name, arguments=arguments, id=identity)
    return ToolCall.from_text(name, text_of(arguments), id=identity)
