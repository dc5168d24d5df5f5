"""The dialect of OpenAI's Responses API.

The shapes are those of the `openai` package, release 3.54.0 (types/responses). Nothing is stored at the provider: reasoning
comes back encrypted, and goes with the next request, right before the item that it led to.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from proctor.chat.dialect import CallIds, Json, ModelReply, Request, TimedReply, count_of, opaque_of, stop_of
from proctor.chat.message_text import MediaBytes, data_url, file_note, media_of_result, media_to_send, result_text
from proctor.chat.messages import OutputDetails, PromptDetails
from proctor.chat.streaming import Ear
from proctor.core.media_type import PDF
from proctor.core.sample import File, Message, Part, Reasoning, Text, Tool, ToolCall, ToolResult
from proctor.core.trajectory import Usage
from proctor.transport.faults import RequestFault, fault_of_status

API = "responses"
_STATUS_BY_ERROR = {"rate_limit_exceeded": 429, "server_error": 500, "vector_store_timeout": 504}
_FILTERED = ("bio_policy", "misalignment_policy_violation", "image_content_policy_violation")
_DELTAS = {
    "response.output_text.delta": False,
    "response.refusal.delta": False,
    "response.reasoning_summary_text.delta": True,
    "response.reasoning_text.delta": True,
}
KINDS = ("image/", PDF)
_ENDS = ("response.completed", "response.incomplete", "response.failed")


class OutputPiece(msgspec.Struct, gc=False):
    text: str | None = None
    refusal: str | None = None


class OutputItem(msgspec.Struct, gc=False):
    """An item of the output: a message, reasoning, or a call."""

    type: str = ""
    id: str | None = None
    content: list[OutputPiece] | None = None
    summary: list[OutputPiece] | None = None
    encrypted_content: str | None = None
    phase: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None


class ResponsesTokens(msgspec.Struct, gc=False):
    input_tokens: int | float | None = None
    output_tokens: int | float | None = None
    input_tokens_details: PromptDetails | None = None
    output_tokens_details: OutputDetails | None = None


class Incomplete(msgspec.Struct, gc=False):
    reason: str | None = None


class ResponsesReply(msgspec.Struct, gc=False):
    output: list[OutputItem] | None = None
    status: str | None = None
    incomplete_details: Incomplete | None = None
    usage: ResponsesTokens | None = None
    error: object = None


class ResponsesEvent(msgspec.Struct, gc=False):
    type: str = ""
    delta: str | None = None
    response: ResponsesReply | None = None
    code: str | None = None
    message: str | None = None
    error: object = None


_reply = msgspec.json.Decoder(ResponsesReply)
_kind = msgspec.json.Decoder(ResponsesEvent)


def to_body(fixed: Json, request: Request) -> Json:
    body = dict(fixed)
    ids = CallIds()
    body["input"] = [item for message in request.messages for item in _items(message, request, ids)]
    if request.tools:
        body["tools"] = [_tool(tool, request.names) for tool in request.tools]
    if request.response_format is not None:
        schema = request.response_format.get("json_schema")
        form = {"type": request.response_format.get("type"), **(schema if isinstance(schema, Mapping) else {})}
        body["text"] = {**body.get("text", {}), "format": form}
    if request.is_streamed:
        body["stream"] = True
    return body


def read(data: bytes) -> ModelReply:
    """Return what a reply says.

    Raises:
        Fault: it failed, or has no output.
        msgspec.DecodeError: it is no JSON, or not of this form.
    """
    return to_reply(_reply.decode(data))


def to_reply(reply: ResponsesReply) -> ModelReply:
    """Return what a response says.

    Raises:
        Fault: it failed, or has no output.
    """
    if reply.error:
        code = reply.error.get("code") if isinstance(reply.error, dict) else None
        if code in _FILTERED:
            return ModelReply(usage=to_usage(reply.usage), stop="filtered")
        raise _fault(reply.error, code)
    if reply.output is None or reply.status in ("failed", "cancelled"):
        raise RequestFault("no_reply", f"a response without output (status: {reply.status})")
    parts = tuple(part for item in reply.output for part in _read_item(item))
    usage = to_usage(reply.usage)
    reason = reply.incomplete_details.reason if reply.incomplete_details is not None else None
    if reason == "content_filter":
        return ModelReply(parts=parts, usage=usage, stop="filtered")
    if reason is not None:
        return ModelReply(parts=parts, usage=usage, stop="length")
    refused = any(piece.refusal for item in reply.output for piece in item.content or ())
    return ModelReply(parts=parts, usage=usage, stop="refused" if refused else stop_of(parts))


def to_usage(tokens: ResponsesTokens | None) -> Usage:
    if tokens is None:
        return Usage(requests=1)
    cached, thought = tokens.input_tokens_details, tokens.output_tokens_details
    return Usage(
        input_tokens=count_of(tokens.input_tokens),
        output_tokens=count_of(tokens.output_tokens),
        cached_tokens=count_of(cached.cached_tokens) if cached is not None else 0,
        reasoning_tokens=count_of(thought.reasoning_tokens) if thought is not None else 0,
        requests=1,
        cache_write_tokens=count_of(cached.cache_write_tokens) if cached is not None else 0,
    )


class ResponseStream:
    """Listens to the events of a stream; the last one holds the whole response."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        self._ear = Ear(secrets)
        self._said: ModelReply | None = None
        self._is_whole = False

    def add(self, data: bytes) -> bool:
        """Add one event; True at the last one."""
        event = _kind.decode(data)
        if event.type == "error" or event.error:
            raise _fault(event.error or {"message": event.message, "code": event.code}, event.code)
        if event.type in _DELTAS:
            self._ear.tell(event.delta or "", is_thought=_DELTAS[event.type])
        if event.delta:
            self._ear.note_token()
        if event.type in _ENDS and event.response is not None:
            self._said = to_reply(event.response)
        return self._said is not None

    def whole(self, body: bytes) -> None:
        self._said, self._is_whole = read(body), True

    def done(self) -> TimedReply:
        """Return the reply.

        Raises:
            Fault: the stream ended before the model did.
        """
        if self._said is None:
            raise RequestFault("truncated", "the stream ended before the model did")
        self._ear.end()
        return TimedReply(self._said, None if self._is_whole else self._ear.first_token_seconds)


def _fault(error: object, code: object) -> RequestFault:
    status = _STATUS_BY_ERROR.get(str(code), 400) if code else 500  # without a code it is not about the request
    return fault_of_status(status, {}, msgspec.json.encode({"error": error}))


def _read_item(item: OutputItem) -> Iterator[Part]:
    match item.type:
        case "reasoning":
            thought = "\n".join(piece.text or "" for piece in item.summary or item.content or ())
            kept = None
            if item.encrypted_content:
                summary = [{"type": "summary_text", "text": piece.text or ""} for piece in item.summary or ()]
                kept = {API: {"id": item.id, "summary": summary, "encrypted_content": item.encrypted_content}}
            if thought or kept:
                yield Reasoning(text=thought, opaque=kept)
        case "message":
            if item.phase is not None:
                yield Reasoning(text="", opaque={API: {"phase": item.phase}})
            yield Text(text="".join(piece.text or piece.refusal or "" for piece in item.content or ()))
        case "function_call":
            yield ToolCall.from_text(item.name or "", item.arguments or "{}", id=item.call_id or item.id or "")


def _items(message: Message, request: Request, ids: CallIds) -> Iterator[Json]:
    """Yield the items of a message; reasoning that led to nothing is left out, as the API refuses it."""
    content: list[Json] = []
    waiting: list[Json] = []
    phase: Json = {}
    for part in message.parts:
        fields: Json | None = None
        match part:
            case Text(text=text) if message.role == "assistant":
                fields = {"role": "assistant", "content": text, **phase} if text else None
                phase = {}
            case Text(text=text):
                content.append({"type": "input_text", "text": text})
            case File():
                content.append(_file(part, request.kinds))
            case Reasoning():
                kept = opaque_of(part, API)
                if "phase" in kept:
                    phase = {"phase": kept["phase"]}
                elif "encrypted_content" in kept:
                    waiting.append({"type": "reasoning", **kept})
            case ToolCall():
                name, id = request.names.get(part.name, part.name), ids.of_call(part.id)
                fields = {"type": "function_call", "call_id": id, "name": name, "arguments": part.arguments_text()}
            case ToolResult():
                id = ids.of_result(part.id)
                fields = {"type": "function_call_output", "call_id": id, "output": _output(part, request.result_media)}
        if fields is not None:
            yield from waiting
            waiting = []
            yield fields
    if content:
        only = content[0]["text"] if len(content) == 1 and content[0]["type"] == "input_text" else content
        yield {"role": "user" if message.role == "tool" else message.role, "content": only}


def _output(result: ToolResult, result_media: Collection[str]) -> str | list[Json]:
    text = result_text(result, result_media)
    media = [
        _worded(file.name, MediaBytes(file.media_type, data)) for file, data in media_of_result(result, result_media)
    ]
    return [*([{"type": "input_text", "text": text}] if text else []), *media] if media else text


def _tool(tool: Tool, names: Mapping[str, str]) -> Json:
    return {
        "type": "function",
        "name": names.get(tool.name, tool.name),
        "description": tool.description,
        "parameters": tool.parameters or {"type": "object", "properties": {}},
        "strict": False,  # else the API wants every parameter to be required
        **tool.extra,
    }


def _file(file: File, kinds: Sequence[str]) -> Json:
    sent = media_to_send(file, kinds, KINDS)
    return {"type": "input_text", "text": file_note(file)} if sent is None else _worded(file.name, sent)


def _worded(name: str, sent: MediaBytes) -> Json:
    url = data_url(sent.media_type, sent.data) if sent.url is None else sent.url
    if sent.media_type != PDF:
        return {"type": "input_image", "image_url": url}
    if sent.url is not None:
        return {"type": "input_file", "file_url": url}
    return {"type": "input_file", "filename": name or "file.pdf", "file_data": url}
