"""The dialect of Anthropic's Messages API, versions 2026-10-21 and 2023-06-01.

The shapes are those of the `anthropic` package, release 2.12.0 (types/message_create_params.py, types/message.py and the
events of a stream). Blocks of thinking go back unchanged, with their signatures, as the API requires next to tool calls.
"""

from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from proctor.chat.dialect import CallIds, Json, ModelReply, Request, TimedReply, count_of, opaque_of, schema_in, stop_of
from proctor.chat.message_text import file_note, media_of_result, media_to_send, result_text
from proctor.chat.streaming import Ear
from proctor.core.media_type import PDF, PICTURES
from proctor.core.sample import File, Message, Part, Reasoning, Text, Tool, ToolCall, ToolResult
from proctor.core.trajectory import Stop, Usage
from proctor.transport.faults import RequestFault, fault_of_status

API = "anthropic"
ADDRESSED = (*sorted(PICTURES), PDF)
KINDS = (*ADDRESSED, "text/")
_STOPS: Mapping[str | None, Stop] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "length",  # of a long turn with tools of the provider, which is not over
    "refusal": "refused",
}
STATUS_BY_ERROR = {
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class ContentBlock(msgspec.Struct, gc=False):
    """A block of content, or what an event adds to one."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    partial_json: str | None = None


class AnthropicOutputDetails(msgspec.Struct, gc=False):
    thinking_tokens: int | float | None = None


class CacheCreation(msgspec.Struct, gc=False):
    ephemeral_1h_input_tokens: int | float | None = None


class AnthropicTokens(msgspec.Struct, gc=False):
    """The tokens of a request; `input_tokens` are those that were neither written to the prompt cache nor read from it."""

    input_tokens: int | float | None = None
    cache_creation_input_tokens: int | float | None = None
    cache_creation: CacheCreation | None = None
    cache_read_input_tokens: int | float | None = None
    output_tokens: int | float | None = None
    output_tokens_details: AnthropicOutputDetails | None = None


class StopDetails(msgspec.Struct, gc=False):
    explanation: str | None = None


class AnthropicReply(msgspec.Struct, gc=False):
    """A message, or what an event changes in one."""

    content: list[ContentBlock] | None = None
    stop_reason: str | None = None
    stop_details: StopDetails | None = None
    usage: AnthropicTokens | None = None
    error: Any = None


class AnthropicEvent(msgspec.Struct, gc=False):
    type: str = ""
    index: int = 0
    message: AnthropicReply | None = None
    content_block: ContentBlock | None = None
    delta: msgspec.Raw = msgspec.Raw()
    usage: AnthropicTokens | None = None
    error: Any = None


_reply = msgspec.json.Decoder(AnthropicReply)
_event = msgspec.json.Decoder(AnthropicEvent)
_block = msgspec.json.Decoder(ContentBlock)
_change = msgspec.json.Decoder(AnthropicReply)


def to_body(fixed: Json, request: Request) -> Json:
    body = dict(fixed)
    system, messages = _messages(request)
    if system:
        body["system"] = system
    body["messages"] = messages
    if request.tools:
        body["tools"] = [_tool(tool, request.names) for tool in request.tools]
    if request.response_format is not None and (schema := schema_in(request.response_format)) is not None:
        form = {"format": {"type": "json_schema", "schema": schema}}
        body["output_config"] = {**body.get("output_config", {}), **form}
    if request.is_streamed:
        body["stream"] = True
    return body


def _messages(request: Request) -> tuple[str, list[Json]]:
    """Return the system prompt, and the other messages with neighbours of one role joined.

    A system message after the first other one is sent as the user's, as not every model takes it in between.
    """
    system: list[str] = []
    entries: list[Json] = []
    ids = CallIds()
    for message in request.messages:
        if message.role == "system" and not entries:
            system.append(message.text)
            continue
        role = "assistant" if message.role == "assistant" else "user"
        blocks = list(_blocks(message, request, ids))
        if not blocks:
            continue
        if entries and entries[-1]["role"] == role:
            entries[-1]["content"].extend(blocks)
        else:
            entries.append({"role": role, "content": blocks})
    return "\n\n".join(filter(None, system)), entries


def read(data: bytes) -> ModelReply:
    """Return what a reply says.

    Raises:
        Fault: it is an error, or no message.
        msgspec.DecodeError: it is no JSON, or not of this form.
    """
    return to_reply(_reply.decode(data))


def to_reply(reply: AnthropicReply) -> ModelReply:
    """Return what a message says; the reason of a refusal where it says nothing else.

    Raises:
        Fault: it is an error, or no message.
    """
    if reply.error:
        raise _fault(reply.error)
    if reply.content is None:
        raise RequestFault("no_reply", "a reply without content")
    parts = tuple(part for block in reply.content if (part := _part(block)) is not None)
    stop = _STOPS.get(reply.stop_reason) or stop_of(parts)
    if stop == "refused" and stop_of(parts) == "empty" and reply.stop_details and reply.stop_details.explanation:
        parts = (*parts, Text(text=reply.stop_details.explanation))
    return ModelReply(parts=parts, usage=to_usage(reply.usage), stop=stop)


def to_usage(tokens: AnthropicTokens | None) -> Usage:
    """Return the tokens of a request; what the prompt cache held, or was given, counts as input too."""
    if tokens is None:
        return Usage(requests=1)
    details = tokens.output_tokens_details
    cached, written = count_of(tokens.cache_read_input_tokens), count_of(tokens.cache_creation_input_tokens)
    for_an_hour = count_of(tokens.cache_creation.ephemeral_1h_input_tokens) if tokens.cache_creation is not None else 0
    return Usage(
        input_tokens=count_of(tokens.input_tokens) + written + cached,
        output_tokens=count_of(tokens.output_tokens),
        cached_tokens=cached,
        reasoning_tokens=count_of(details.thinking_tokens) if details is not None else 0,
        requests=1,
        cache_write_tokens=written,
        cache_write_1h_tokens=min(for_an_hour, written),
    )


class MessageStream:
    """Folds the events of a stream into one reply."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        self._ear = Ear(secrets)
        self._blocks: dict[int, ContentBlock] = {}
        self._pieces: dict[int, list[str]] = {}
        self._reply = AnthropicReply()
        self._tokens = AnthropicTokens()
        self._whole: ModelReply | None = None
        self._is_over = False

    def add(self, data: bytes) -> bool:
        """Add one event; True at the last one."""
        event = _event.decode(data)
        if event.error:
            raise _fault(event.error)
        if event.message is not None:
            self._count(event.message.usage)
        if event.content_block is not None:
            self._blocks[event.index] = event.content_block
            self._take(event.index, event.content_block)
        elif event.type == "content_block_delta":
            self._take(event.index, _block.decode(event.delta))
        elif event.type == "message_delta":
            change = _change.decode(event.delta)
            self._reply.stop_reason = change.stop_reason or self._reply.stop_reason
            self._reply.stop_details = change.stop_details or self._reply.stop_details
            self._count(event.usage)
        self._is_over = self._is_over or event.type == "message_stop"
        return self._is_over

    def whole(self, body: bytes) -> None:
        self._whole = read(body)

    def done(self) -> TimedReply:
        """Return the reply.

        Raises:
            Fault: the stream ended before the model did.
        """
        if self._whole is not None:
            return TimedReply(self._whole)
        if not self._is_over and self._reply.stop_reason is None:
            raise RequestFault("truncated", "the stream ended before the model did")
        self._ear.end()
        for index, block in self._blocks.items():
            text = self._ear.joined(self._pieces.get(index, ()))
            match block.type:
                case "thinking":
                    block.thinking = text
                case "text":
                    block.text = text
                case "tool_use" if text:
                    block.input = text
        self._reply.content = [self._blocks[index] for index in sorted(self._blocks)]
        self._reply.usage = self._tokens
        return TimedReply(to_reply(self._reply), self._ear.first_token_seconds)

    def _take(self, index: int, piece: ContentBlock) -> None:
        if piece.signature and (block := self._blocks.get(index)) is not None:
            block.signature = piece.signature
        said = piece.text or piece.thinking or piece.partial_json
        if said or piece.type == "tool_use":
            self._ear.note_token()
        if said:
            self._pieces.setdefault(index, []).append(said)
        if piece.partial_json is None and said:
            self._ear.tell(said, is_thought=piece.thinking is not None)

    def _count(self, tokens: AnthropicTokens | None) -> None:
        """Keep the newest counts: each is the sum until then."""
        for field in AnthropicTokens.__struct_fields__ if tokens is not None else ():
            if (value := getattr(tokens, field)) is not None:
                setattr(self._tokens, field, value)


def _fault(error: object) -> RequestFault:
    kind = error.get("type") if isinstance(error, dict) else None
    return fault_of_status(STATUS_BY_ERROR.get(str(kind), 400), {}, msgspec.json.encode({"error": error}))


def _part(block: ContentBlock) -> Part | None:
    match block.type:
        case "text" if block.text is not None:
            return Text(text=block.text)
        case "thinking":
            kept = {API: {"signature": block.signature}} if block.signature else None  # one that was cut has none
            return Reasoning(text=block.thinking or "", opaque=kept)
        case "redacted_thinking":
            return Reasoning(text="", opaque={API: {"data": block.data or ""}})
        case "tool_use":
            name, id = block.name or "", block.id or ""
            if isinstance(block.input, dict):
                return ToolCall(name=name, arguments=block.input, id=id)
            if isinstance(block.input, str):  # joined from the pieces of a stream
                return ToolCall.from_text(name, block.input, id=id)
            return ToolCall(name=name, id=id)
    return None  # of the provider's own tools, which are not ours to run


def _blocks(message: Message, request: Request, ids: CallIds) -> Iterator[Json]:
    for part in message.parts:
        match part:
            case Text(text=text):
                if text.strip():  # the API refuses others
                    yield {"type": "text", "text": text}
            case File():
                yield _file(part, request.kinds)
            case Reasoning():
                kept = opaque_of(part, API)
                if "data" in kept:
                    yield {"type": "redacted_thinking", "data": kept["data"]}
                elif "signature" in kept:
                    yield {"type": "thinking", "thinking": part.text, "signature": kept["signature"]}
            case ToolCall():
                arguments = dict(part.arguments) if part.raw is None else {"arguments": part.raw}
                name = request.names.get(part.name, part.name)
                yield {"type": "tool_use", "id": ids.of_call(part.id), "name": name, "input": arguments}
            case ToolResult():
                content = _result(part, request.result_media)
                result = {"type": "tool_result", "tool_use_id": ids.of_result(part.id), "content": content}
                yield {**result, "is_error": True} if part.is_error else result


def _result(result: ToolResult, result_media: Collection[str]) -> str | list[Json]:
    text = result_text(result, result_media)
    media = [_encoded(file.media_type, data) for file, data in media_of_result(result, result_media)]
    return [*([{"type": "text", "text": text}] if text.strip() else []), *media] if media else text


def _tool(tool: Tool, names: Mapping[str, str]) -> Json:
    schema = {"type": "object", "properties": {}, **tool.parameters}
    return {
        "name": names.get(tool.name, tool.name),
        "description": tool.description,
        "input_schema": {**schema, "type": "object"},
        **tool.extra,
    }


def _encoded(media_type: str, data: bytes) -> Json:
    kind = "document" if media_type == PDF else "image"
    return {"type": kind, "source": {"type": "base64", "media_type": media_type, "data": b64encode(data).decode()}}


def _file(file: File, kinds: Sequence[str]) -> Json:
    sent = media_to_send(file, kinds, ADDRESSED)
    if sent is None:
        return {"type": "text", "text": file_note(file)}
    if sent.url is not None:
        kind = "document" if sent.media_type == PDF else "image"
        return {"type": kind, "source": {"type": "url", "url": sent.url}}
    if sent.media_type.startswith("text/"):
        source = {"type": "text", "media_type": "text/plain", "data": sent.data.decode("utf-8", "replace")}
        return {"type": "document", "source": source, **({"title": file.name} if file.name else {})}
    return _encoded(sent.media_type, sent.data)
