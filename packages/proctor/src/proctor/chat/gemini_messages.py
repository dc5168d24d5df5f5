"""The dialect of Google's Gemini API, `generateContent` of v1beta.

The shapes are those of the `google-genai` package, release 2.34.0 (types.py, and the converters to the Gemini API in models.py).
A signature of thought goes back with the part that it came with, as the API requires for calls of the same turn.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from proctor.chat.dialect import CallIds, Json, ModelReply, Request, TimedReply, count_of, opaque_of, schema_in, stop_of
from proctor.chat.message_text import file_note, media_of_result, media_to_send, result_text
from proctor.chat.streaming import Ear
from proctor.core.media_type import MP3, PDF
from proctor.core.sample import File, Message, Part, Reasoning, Text, Tool, ToolCall, ToolResult
from proctor.core.trajectory import Stop, Usage
from proctor.transport.faults import RequestFault, fault_of_status

API = "gemini"
PICTURES_TAKEN = ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")  # of its documentation: no GIF
KINDS = (*PICTURES_TAKEN, "audio/", "video/", "text/", PDF)
_STOPS: Mapping[str | None, Stop] = {
    "MAX_TOKENS": "length",
    "SAFETY": "filtered",
    "RECITATION": "filtered",
    "LANGUAGE": "filtered",
    "BLOCKLIST": "filtered",
    "PROHIBITED_CONTENT": "filtered",
    "SPII": "filtered",
    "IMAGE_SAFETY": "filtered",
}


class GeminiCall(msgspec.Struct, gc=False):
    name: str | None = None
    args: Any = None
    id: str | None = None


class GeminiPart(msgspec.Struct, gc=False, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: GeminiCall | None = None


class GeminiContent(msgspec.Struct, gc=False):
    parts: list[GeminiPart] | None = None


class Candidate(msgspec.Struct, gc=False, rename="camel"):
    content: GeminiContent | None = None
    finish_reason: str | None = None


class Feedback(msgspec.Struct, gc=False, rename="camel"):
    block_reason: str | None = None


class GeminiTokens(msgspec.Struct, gc=False, rename="camel"):
    """The tokens of a request; thoughts are not among those of the candidates."""

    prompt_token_count: int | float | None = None
    tool_use_prompt_token_count: int | float | None = None
    cached_content_token_count: int | float | None = None
    candidates_token_count: int | float | None = None
    thoughts_token_count: int | float | None = None


class GeminiReply(msgspec.Struct, gc=False, rename="camel"):
    """A reply, or one event of a stream."""

    candidates: list[Candidate] | None = None
    prompt_feedback: Feedback | None = None
    usage_metadata: GeminiTokens | None = None
    error: Any = None


_reply = msgspec.json.Decoder(GeminiReply)


def to_body(fixed: Json, request: Request) -> Json:
    body = dict(fixed)
    config: Json = dict(body.get("generationConfig", {}))
    system = [message.text for message in request.messages if message.role == "system"]
    if any(system):
        body["systemInstruction"] = {"parts": [{"text": "\n\n".join(filter(None, system))}]}
    body["contents"] = _contents(request)
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_tool(tool, request.names) for tool in request.tools]}]
    if request.response_format is not None:
        config["responseMimeType"] = "application/json"
        if (schema := schema_in(request.response_format)) is not None:
            config["responseJsonSchema"] = schema
    if request.seed is not None:
        config["seed"] = request.seed
    return {**body, "generationConfig": config} if config else body


def _contents(request: Request) -> list[Json]:
    """Return the messages without those of the system, with neighbours of one role joined."""
    entries: list[Json] = []
    ids = CallIds()
    for message in request.messages:
        if message.role == "system" or not (parts := list(_parts(message, request, ids))):
            continue
        role = "model" if message.role == "assistant" else "user"
        if entries and entries[-1]["role"] == role:
            entries[-1]["parts"].extend(parts)
        else:
            entries.append({"role": role, "parts": parts})
    return entries


def read(data: bytes) -> ModelReply:
    """Return what a reply says.

    Raises:
        Fault: it is an error, or has no candidate.
        msgspec.DecodeError: it is no JSON, or not of this form.
    """
    return to_reply(_reply.decode(data))


def to_reply(reply: GeminiReply) -> ModelReply:
    """Return what the first candidate says; a prompt that was blocked has none, and is filtered.

    Raises:
        Fault: it is an error, or has no candidate.
    """
    _check(reply)
    usage = to_usage(reply.usage_metadata)
    if not reply.candidates:
        if reply.prompt_feedback is not None and reply.prompt_feedback.block_reason:
            return ModelReply(usage=usage, stop="filtered")
        raise RequestFault("no_reply", "a reply without candidates")
    candidate = reply.candidates[0]
    content = candidate.content.parts if candidate.content is not None else None
    parts = tuple(part for gemini_part in content or () for part in _read_part(gemini_part))
    return ModelReply(parts=parts, usage=usage, stop=_STOPS.get(candidate.finish_reason) or stop_of(parts))


def to_usage(tokens: GeminiTokens | None) -> Usage:
    if tokens is None:
        return Usage(requests=1)
    thought = count_of(tokens.thoughts_token_count)
    return Usage(
        input_tokens=count_of(tokens.prompt_token_count) + count_of(tokens.tool_use_prompt_token_count),
        output_tokens=count_of(tokens.candidates_token_count) + thought,
        cached_tokens=count_of(tokens.cached_content_token_count),
        reasoning_tokens=thought,
        requests=1,
    )


class ContentStream:
    """Folds the events of a stream into one reply: each is a reply of its own, with the next parts."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        self._ear = Ear(secrets)
        self._parts: list[GeminiPart] = []
        self._texts: list[list[str]] = []
        self._whole = GeminiReply()
        self._reason: str | None = None

    def add(self, data: bytes) -> bool:
        """Add one event; the stream has no last one, its end is that of the body."""
        event = _reply.decode(data)
        _check(event)
        self._whole.usage_metadata = event.usage_metadata or self._whole.usage_metadata
        self._whole.prompt_feedback = event.prompt_feedback or self._whole.prompt_feedback
        for candidate in (event.candidates or ())[:1]:
            self._reason = candidate.finish_reason or self._reason
            for part in (candidate.content.parts if candidate.content is not None else None) or ():
                self._take(part)
            self._whole.candidates = [candidate]
        return False

    def whole(self, body: bytes) -> None:
        self._whole = _reply.decode(body)
        self._parts, self._texts = [], []
        self._reason = "whole"

    def done(self) -> TimedReply:
        """Return the reply.

        Raises:
            Fault: the stream ended before the model did.
        """
        if self._reason == "whole":
            return TimedReply(to_reply(self._whole))
        if self._whole.candidates:
            if self._reason is None:
                raise RequestFault("truncated", "the stream ended before the model did")
            self._ear.end()
            for part, texts in zip(self._parts, self._texts, strict=True):
                part.text = self._ear.joined(texts) if texts else part.text
            self._whole.candidates = [Candidate(content=GeminiContent(parts=self._parts), finish_reason=self._reason)]
        return TimedReply(to_reply(self._whole), self._ear.first_token_seconds)

    def _take(self, part: GeminiPart) -> None:
        if part.text or part.function_call is not None:
            self._ear.note_token()
        self._ear.tell(part.text or "", is_thought=bool(part.thought))
        last = self._parts[-1] if self._parts else None
        if last is not None and _continues(last, part):
            self._texts[-1].append(part.text or "")
            last.thought_signature = part.thought_signature
        else:
            self._parts.append(part)
            self._texts.append([part.text] if part.text is not None else [])


def _continues(last: GeminiPart, part: GeminiPart) -> bool:
    """True if a piece belongs to the preceding text: a signature ends that."""
    is_text = last.text is not None and part.text is not None
    return is_text and bool(last.thought) == bool(part.thought) and last.thought_signature is None


def _check(reply: GeminiReply) -> None:
    if reply.error:
        code = reply.error.get("code") if isinstance(reply.error, dict) else None
        status = code if isinstance(code, int) and 400 <= code < 600 else 500
        raise fault_of_status(status, {}, msgspec.json.encode({"error": reply.error}))


def _read_part(part: GeminiPart) -> Iterator[Part]:
    """Yield a part; a signature comes as an empty thought right before the part that it belongs to."""
    kept = {API: {"signature": part.thought_signature}} if part.thought_signature else None
    if part.thought:
        yield Reasoning(text=part.text or "", opaque={API: {**kept[API], "own": True}} if kept else None)
        return
    if kept:
        yield Reasoning(text="", opaque=kept)
    if part.function_call is not None:
        call = part.function_call
        arguments = call.args if isinstance(call.args, dict) else {}
        yield ToolCall(name=call.name or "", arguments=arguments, id=call.id or "")
    elif part.text is not None:
        yield Text(text=part.text)


def _parts(message: Message, request: Request, ids: CallIds) -> Iterator[Json]:
    signed: Json = {}
    for part in message.parts:
        fields: Json | None = None
        match part:
            case Reasoning():
                kept = opaque_of(part, API)
                if "signature" not in kept:
                    continue
                if kept.get("own"):
                    yield {"text": part.text, "thought": True, "thoughtSignature": kept["signature"]}
                else:
                    signed = {"thoughtSignature": kept["signature"]}
            case Text(text=text):
                fields = {"text": text} if text or signed else None
            case File():
                fields = _file(part, request.kinds)
            case ToolCall():
                id = ids.of_call(part.id)
                fields = {
                    "functionCall": {"id": id, "name": request.names.get(part.name, part.name), "args": part.arguments}
                }
            case ToolResult():
                id = ids.of_result(part.id)
                response = {"error" if part.is_error else "output": result_text(part, request.result_media)}
                name = request.names.get(part.name, part.name)
                media = [_inline(file.media_type, data) for file, data in media_of_result(part, request.result_media)]
                fields = {"id": id, "name": name, "response": response} | ({"parts": media} if media else {})
                fields = {"functionResponse": fields}
        if fields is not None:
            yield {**fields, **signed}
            signed = {}


def _inline(media_type: str, data: bytes) -> Json:
    name = "audio/mp3" if media_type == MP3 else media_type  # the name that the API documents
    return {"inlineData": {"mimeType": name, "data": b64encode(data).decode()}}


def _tool(tool: Tool, names: Mapping[str, str]) -> Json:
    schema = {"type": "object", "properties": {}, **tool.parameters}
    about = {"name": names.get(tool.name, tool.name), "description": tool.description}
    return {**about, "parametersJsonSchema": {**schema, "type": "object"}, **tool.extra}


def _file(file: File, kinds: Sequence[str]) -> Json:
    sent = media_to_send(file, kinds, KINDS)
    if sent is None:
        return {"text": file_note(file)}
    if sent.url is not None:
        return {"fileData": {"mimeType": sent.media_type, "fileUri": sent.url}}
    return _inline(sent.media_type, sent.data)
