"""Convert events of google-adk to steps, and turns to its messages."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from proctor.chat.agent_replies import call_of, clean
from proctor.chat.message_text import as_json, file_bytes, text_of
from proctor.core.sample import File, Message, Part, Reasoning, Text, ToolCall, ToolResult, Turn
from proctor.core.trajectory import Step, Stop, Usage

if TYPE_CHECKING:
    from google.adk.events import Event
    from google.adk.models.llm_response import LlmResponse
    from google.genai import types

OCTETS = "application/octet-stream"
FILTERED = (
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "MODEL_ARMOR",
    "JAILBREAK",
)


def steps_of(event: "Event") -> Iterator[Step]:
    """Yield an event as the message of its author and the results of tools.

    An event without content is no step, but its tokens are kept, and why it was cut or filtered.
    """
    parts = [made for part in (event.content.parts if event.content else None) or () for made in _parts_of(part)]
    if not parts and (output := getattr(event, "output", None)) is not None:  # of a node of a workflow
        parts = [Text(text=clean(output if isinstance(output, str) else as_json(output)))]
    said = tuple(part for part in parts if not isinstance(part, ToolResult))
    results = tuple(part for part in parts if isinstance(part, ToolResult))
    stop, usage, author = _stop(event), usage_of(event), event.author or "agent"
    if said or stop != "done" or usage is not None:
        yield Step(message=Message(role="assistant", parts=said), author=author, usage=usage, stop=stop)
    if results:
        yield Step(message=Message(role="tool", parts=results), author=author)


def said_by_user(event: "Event") -> Iterator[Message]:
    """Yield the message in an event of the user, if it says anything."""
    parts = tuple(made for part in (event.content.parts if event.content else None) or () for made in _parts_of(part))
    if parts:
        yield Message(role="user", parts=parts)


def usage_of(event: "Event | LlmResponse") -> Usage | None:
    """Return what a reply of a model used, if it tells."""
    used = event.usage_metadata
    if used is None:
        return None
    thoughts = used.thoughts_token_count or 0
    taken = (used.prompt_token_count or 0) + (used.tool_use_prompt_token_count or 0)
    given = (used.candidates_token_count or 0) + thoughts  # of some models the candidates have the thoughts in them
    return Usage(
        input_tokens=taken,
        output_tokens=max((used.total_token_count or 0) - taken, 0) or given,
        cached_tokens=used.cached_content_token_count or 0,
        reasoning_tokens=thoughts,
        requests=1,
    )


def content_of(turn: Turn) -> "types.Content":
    """Return a turn as content: the parts of the one user message; of several messages the text, with the roles."""
    from google.genai import types

    parts: list[types.Part] = []
    if len(turn.messages) == 1:
        for part in turn.messages[0].parts:
            parts.extend(_given(part))
    else:
        parts.append(types.Part(text=text_of(turn.messages)))
        parts.extend(
            made
            for message in turn.messages
            for part in message.parts
            if isinstance(part, File)
            for made in _given(part)
        )
    return types.Content(role="user", parts=parts or [types.Part(text="")])


def as_object(text: str) -> dict[str, object]:
    """Return the result of a tool as the object that ADK wants it to be.

    >>> as_object('{"price": 100}'), as_object("100 euros")
    ({'price': 100}, {'result': '100 euros'})
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    return value if isinstance(value, dict) else {"result": value}


def plain(value: Mapping[str, object]) -> dict[str, object]:
    """Return a mapping, such as the state of a session, as JSON can hold it."""
    try:
        text = json.dumps(value, default=str, skipkeys=True)
        data: dict[str, object] = json.loads(clean(text))
    except (ValueError, RecursionError):
        return {str(key): str(entry)[:1000] for key, entry in value.items()}
    return data


def _parts_of(part: "types.Part") -> Iterator[Part]:
    if part.text:
        text = clean(part.text)
        yield Reasoning(text=text) if part.thought else Text(text=text)
    if (call := part.function_call) is not None:
        yield _call(call)
    if (result := part.function_response) is not None:
        response = result.response or {}
        failed = isinstance(response, Mapping) and bool(response.get("error"))
        yield ToolResult(name=result.name or "", content=clean(as_json(response)), id=result.id or "", is_error=failed)
    if (blob := part.inline_data) is not None:
        yield File(name=blob.display_name or "", media_type=blob.mime_type or OCTETS, data=blob.data or b"")
    if (file := part.file_data) is not None:
        yield File(name=file.display_name or "", media_type=file.mime_type or OCTETS, url=file.file_uri)
    if (code := part.executable_code) is not None and code.code:
        yield Reasoning(text=clean(code.code))
    if (output := part.code_execution_result) is not None and output.output:
        yield Reasoning(text=clean(output.output))


def _call(call: "types.FunctionCall") -> ToolCall:
    if call.args is None:  # ADK compares it as such; empty arguments are something else
        return ToolCall(name=call.name or "", id=call.id or "", raw="null")
    return call_of(call.name or "", call.args, call.id or "")


def _given(part: Part) -> Iterator["types.Part"]:
    from google.genai import types

    match part:
        case Text(text=text):
            yield types.Part(text=text)
        case File(url=str(url)) if part.data is None:
            yield types.Part(
                file_data=types.FileData(file_uri=url, mime_type=part.media_type, display_name=part.name or None)
            )
        case File():
            blob = types.Blob(data=file_bytes(part), mime_type=part.media_type, display_name=part.name or None)
            yield types.Part(inline_data=blob)
        case ToolResult():
            response = types.FunctionResponse(name=part.name, response=as_object(part.content), id=part.id or None)
            yield types.Part(function_response=response)
        case _:
            pass


def _stop(event: "Event") -> Stop:
    reasons: Sequence[object] = (event.finish_reason, event.error_code)
    names = [str(getattr(reason, "name", reason)) for reason in reasons if reason]
    if "MAX_TOKENS" in names:
        return "length"
    return "filtered" if any(name in FILTERED for name in names) else "done"
