"""Our messages as chat completions want them, and their replies as messages of ours.

The form is that of OpenAI's chat completions, with the variants of other servers: content in parts, calls without
an id, arguments as an object, `reasoning_content` or `reasoning` besides the content, an error in a reply of 200.
"""

import re
from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.chat.dialect import Json, ModelReply, count_of, stop_of
from proctor.chat.message_text import MediaBytes, data_url, file_note, media_of_result, media_to_send, result_text
from proctor.chat.thinking import parted
from proctor.core.media_type import MP3, PDF, PICTURES, SOUNDS, WAV
from proctor.core.sample import File, Message, Part, Reasoning, Text, Tool, ToolCall, ToolResult
from proctor.core.trajectory import Stop, Usage
from proctor.transport.faults import RequestFault, fault_of_status, shown
from proctor.transport.repair import repaired

MOST_COST = 1e6  # of one request; what is above is no price, and would be in every sum
KINDS = ("image/", PDF, *sorted(SOUNDS))
ADDRESSED = ("image/",)
RESULT_MEDIA = PICTURES | SOUNDS | {PDF}
_SOUND_FORMATS = {WAV: "wav", MP3: "mp3"}
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")
_STOP_BY_REASON: Mapping[str | None, Stop] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",  # Mistral
    "content_filter": "filtered",
    "sensitive": "filtered",  # GLM
}
# OpenRouter, GLM, DeepSeek, vLLM
_BROKEN_OFF = frozenset({"error", "network_error", "insufficient_system_resource", "abort"})


class FunctionReply(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: Any = None


class CallReply(msgspec.Struct, gc=False):
    function: FunctionReply | None = None
    id: str | None = None
    index: int | None = None


class PartReply(msgspec.Struct, gc=False):
    text: str | None = None


class MessageReply(msgspec.Struct, gc=False):
    content: str | list[PartReply] | None = None
    tool_calls: list[CallReply] | None = None
    reasoning_content: str | None = None
    reasoning: Any = None
    refusal: str | None = None


class ChoiceReply(msgspec.Struct, gc=False):
    message: MessageReply | None = None
    delta: MessageReply | None = None
    finish_reason: str | None = None


class PromptDetails(msgspec.Struct, gc=False):
    cached_tokens: int | float | None = None
    cache_write_tokens: int | float | None = None


class OutputDetails(msgspec.Struct, gc=False):
    reasoning_tokens: int | float | None = None


class UsageReply(msgspec.Struct, gc=False):
    prompt_tokens: int | float | None = None
    completion_tokens: int | float | None = None
    prompt_tokens_details: PromptDetails | None = None
    completion_tokens_details: OutputDetails | None = None
    prompt_cache_hit_tokens: int | float | None = None  # DeepSeek
    cost: int | float | None = None  # OpenRouter


class ChatReply(msgspec.Struct, gc=False):
    """The fields of a reply, or of one event of a stream, that we need; all others are skipped."""

    choices: list[ChoiceReply] | None = None
    usage: UsageReply | None = None
    error: Any = None

    def first(self) -> ChoiceReply:
        """Return the first choice.

        Raises:
            Fault: there is none; as the error in the reply says.
        """
        if self.error:
            code = self.error.get("code") if isinstance(self.error, dict) else None
            status = code if isinstance(code, int) and 400 <= code < 600 else 0
            body = msgspec.json.encode({"error": self.error})
            raise fault_of_status(status, {}, body) if status else RequestFault("no_reply", shown(body.decode()))
        if not self.choices:
            raise RequestFault("no_reply", "a reply without choices")
        return self.choices[0]

    def said(self) -> tuple[ChoiceReply, MessageReply]:
        """Return the first choice, and the message in it.

        Raises:
            Fault: there is none, or the endpoint says that it broke off.
        """
        choice = self.first()
        if choice.message is None:
            raise RequestFault("no_reply", "a reply without a message")
        if choice.finish_reason in _BROKEN_OFF:
            raise RequestFault("no_reply", f"a reply that broke off (finish_reason: {choice.finish_reason})")
        return choice, choice.message


class _Unaccounted(ChatReply, gc=False):
    usage: Any = None


_decoder = msgspec.json.Decoder(ChatReply)
_lenient = msgspec.json.Decoder(_Unaccounted)


def read(data: bytes) -> ChatReply:
    """Decode a reply, or an event of a stream. A usage in a shape of its own is left out: no answer is lost for that.

    Raises:
        msgspec.DecodeError: it is no JSON, or not of this form.
    """
    try:
        return _decoder.decode(data)
    except msgspec.ValidationError:
        reply = _lenient.decode(data)
        return ChatReply(choices=reply.choices, error=reply.error)


def sent_names(tools: Sequence[Tool]) -> Mapping[str, str]:
    """Return the names that tools are offered under where endpoints would refuse theirs; empty when all will do.

    >>> sent_names([Tool(name="math.sum"), Tool(name="f")])
    {'math.sum': 'math_sum', 'f': 'f'}
    """
    if all(_NAME.fullmatch(tool.name) for tool in tools):
        return {}
    sent: dict[str, str] = {}
    taken = {tool.name for tool in tools if _NAME.fullmatch(tool.name)}
    for tool in tools:
        name = tool.name
        if not _NAME.fullmatch(name):
            short = _NOT_IN_A_NAME.sub("_", name)[:60] or "tool"
            name, number = short, 2
            while name in taken:
                name, number = f"{short}_{number}", number + 1
            taken.add(name)
        sent[tool.name] = name
    return sent


def to_tools(tools: Sequence[Tool], names: Mapping[str, str]) -> list[Json]:
    return [
        {
            "type": "function",
            "function": {
                "name": names.get(tool.name, tool.name),
                "description": tool.description,
                "parameters": tool.parameters or {"type": "object", "properties": {}},
                **tool.extra,
            },
        }
        for tool in tools
    ]


def to_messages(
    messages: Sequence[Message],
    names: Mapping[str, str],
    kinds: Sequence[str] = ADDRESSED,
    result_media: Collection[str] = PICTURES,
) -> list[Json]:
    """Return the messages of a request; reasoning is not sent back, and files that are not sent become a note.

    A result of a tool is text here, so its files follow all results of the same reply as a message of the user.

    Args:
        kinds: the beginnings of the media types of files that are sent; for agents those of images only.
        result_media: the media types of files that are sent with results of tools.
    """
    entries: list[Json] = []
    media: list[Json] = []
    for message in messages:
        parts = message.parts
        if message.role == "tool":
            results = (part for part in parts if isinstance(part, ToolResult))
            media.extend(part for result in results for part in _media(result, result_media))
        elif media:
            entries.append({"role": "user", "content": media})
            media = []
        if len(parts) == 1 and isinstance(parts[0], Text) and message.role != "tool":
            entries.append({"role": message.role, "content": parts[0].text})
        else:
            entries.extend(_of_parts(message, names, kinds, result_media))
    if media:
        entries.append({"role": "user", "content": media})
    return entries


def to_reply(reply: ChatReply) -> ModelReply:
    """Return what a reply says.

    Raises:
        Fault: nothing, or the endpoint says that it broke off.
    """
    choice, said = reply.said()
    message = to_message(said, {}, None)
    return ModelReply(parts=message.parts, usage=to_usage(reply.usage), stop=to_stop(choice, said, message))


def to_message(reply: MessageReply, names: Mapping[str, str], number: int | None) -> Message:
    """Return the message in a reply; `number` makes the ids of calls that have none, without it they stay so."""
    content = reply.content
    if isinstance(content, list):
        content = "".join(part.text or "" for part in content)
    parts: list[Part] = []
    thought = reply.reasoning_content or (reply.reasoning if isinstance(reply.reasoning, str) else "")
    if content and "think>" in content:
        said, content = parted(content)
        thought = "\n".join(filter(None, (thought, said)))
    if thought:
        parts.append(Reasoning(text=thought))
    if content or reply.refusal or (content is not None and not reply.tool_calls):  # "" is an answer, null is none
        parts.append(Text(text=content or reply.refusal or ""))
    if reply.tool_calls:
        own_names = {sent: own for own, sent in names.items()}
        for index, call in enumerate(reply.tool_calls):
            if call.function is not None:
                parts.append(_call(call, call.function, own_names, "" if number is None else f"call_{number}_{index}"))
    return Message(role="assistant", parts=tuple(parts))


def to_stop(choice: ChoiceReply, reply: MessageReply, message: Message) -> Stop:
    """Return why the model stopped; "empty" when it said nothing at all."""
    if choice.finish_reason in _STOP_BY_REASON:
        return _STOP_BY_REASON[choice.finish_reason]
    return "refused" if reply.refusal else stop_of(message.parts)


def to_usage(usage: UsageReply | None) -> Usage:
    if usage is None:
        return Usage(requests=1)
    cached, written, thought = usage.prompt_cache_hit_tokens, None, None
    if usage.prompt_tokens_details is not None:
        cached = usage.prompt_tokens_details.cached_tokens or cached
        written = usage.prompt_tokens_details.cache_write_tokens
    if usage.completion_tokens_details is not None:
        thought = usage.completion_tokens_details.reasoning_tokens
    return Usage(
        input_tokens=count_of(usage.prompt_tokens),
        output_tokens=count_of(usage.completion_tokens),
        cached_tokens=count_of(cached) if cached else 0,
        reasoning_tokens=count_of(thought) if thought else 0,
        requests=1,
        cost=None if usage.cost is None or usage.cost > MOST_COST else max(0.0, float(usage.cost)),
        cache_write_tokens=count_of(written) if written else 0,
    )


def _call(call: CallReply, function: FunctionReply, own_names: Mapping[str, str], id: str) -> ToolCall:
    name = own_names.get(function.name or "", function.name or "")
    id = call.id or id
    arguments = function.arguments
    if isinstance(arguments, dict):
        return ToolCall(name=name, arguments=arguments, id=id)
    if arguments is None or arguments == "":
        return ToolCall(name=name, id=id)
    if not isinstance(arguments, str):
        return ToolCall(name=name, id=id, raw=msgspec.json.encode(arguments).decode())
    tool_call = ToolCall.from_text(name, arguments, id=id)
    if tool_call.raw is not None and "\\u" in arguments:  # perhaps only for a lone surrogate
        try:
            tool_call = replace(ToolCall.from_text(name, repaired(arguments.encode()).decode(), id=id), written=None)
        except ValueError:
            return tool_call
    return tool_call


def _of_parts(
    message: Message, names: Mapping[str, str], kinds: Sequence[str], result_media: Collection[str]
) -> Iterator[Json]:
    texts: list[Json] = []
    calls: list[Json] = []
    results: list[Json] = []
    for part in message.parts:
        match part:
            case Text(text=text):
                texts.append({"type": "text", "text": text})
            case File():
                texts.append(_file(part, kinds))
            case ToolCall():
                function = {"name": names.get(part.name, part.name), "arguments": part.arguments_text()}
                calls.append({"id": part.id or f"call_{len(calls)}", "type": "function", "function": function})
            case ToolResult():
                content = result_text(part, result_media)
                results.append({"role": "tool", "tool_call_id": part.id or f"call_{len(results)}", "content": content})
            case Reasoning():
                pass
    yield from results
    if message.role == "tool" and results:
        return
    fields: Json = {"role": message.role, "content": texts}
    if all(part["type"] == "text" for part in texts):
        fields["content"] = "".join(part["text"] for part in texts)
    if calls:
        fields["content"] = fields["content"] or None
        fields["tool_calls"] = calls
    if fields["content"] or calls or not results:
        yield fields


def _media(result: ToolResult, result_media: Collection[str]) -> Iterator[Json]:
    for file, data in media_of_result(result, result_media):
        call = f"{result.name} ({result.id})" if result.id else result.name
        yield {"type": "text", "text": f"{file.name or 'A file'}, from the result of {call}:"}
        yield _worded(file.name, MediaBytes(file.media_type, data))


def _file(file: File, kinds: Sequence[str]) -> Json:
    sent = media_to_send(file, kinds, ADDRESSED)
    return {"type": "text", "text": file_note(file)} if sent is None else _worded(file.name, sent)


def _worded(name: str, sent: MediaBytes) -> Json:
    if sent.media_type in _SOUND_FORMATS:
        sound = {"data": b64encode(sent.data).decode(), "format": _SOUND_FORMATS[sent.media_type]}
        return {"type": "input_audio", "input_audio": sound}
    url = data_url(sent.media_type, sent.data) if sent.url is None else sent.url
    if sent.media_type == PDF:
        return {"type": "file", "file": {"filename": name or "file.pdf", "file_data": url}}
    return {"type": "image_url", "image_url": {"url": url}}
