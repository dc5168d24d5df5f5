"""Describe tools in words to a model that the API cannot offer them to, and read its calls back from its text."""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import msgspec

from proctor.chat.message_text import media_of_result, result_text
from proctor.core.media_type import PICTURES
from proctor.core.sample import Message, Part, Text, Tool, ToolCall, ToolResult

MOST_CALLS = 64
OF_A_CALL = frozenset({"name", "arguments", "parameters", "id", "type"})
_LANGUAGE = re.compile(r"[a-zA-Z_]{0,40}\n?")
_DESCRIBED = """You can call these functions. Each line is one function as JSON, with a JSON schema of its parameters.

{tools}

To call functions, reply with nothing but a JSON list, one object for each call:
[{{"name": "function_name", "arguments": {{"parameter": "value"}}}}]
If no function is needed, answer in plain words."""


def describe_tools(tools: Sequence[Tool]) -> Message:
    """Return a system message that describes the tools."""
    return Message.of("system", _DESCRIBED.format(tools=tool_lines(tools)))


def tool_lines(tools: Sequence[Tool]) -> str:
    """Return the tools as JSON, one a line."""
    described = [{"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools]
    return "\n".join(json.dumps(tool, ensure_ascii=False) for tool in described)


def read_calls(message: Message, tools: Sequence[Tool]) -> Message:
    """Return the message with the tool calls parsed from its text; a name that is no tool is not a call.

    >>> read_calls(Message.of("assistant", '[{"name": "f", "arguments": {"x": 1}}]'), [Tool(name="f")]).calls[0].arguments
    {'x': 1}
    """
    names = {tool.name for tool in tools}
    calls = [
        ToolCall(name=value["name"], arguments=value.get("arguments", value.get("parameters", {})), id=f"call_{number}")
        for number, value in enumerate(_values(message.text))
        if _is_call(value, names) and number < MOST_CALLS
    ]
    kept: list[Part] = [part for part in message.parts if not calls or not isinstance(part, Text)]
    return Message(role=message.role, parts=(*kept, *calls)) if calls else message


def results_message(results: Sequence[ToolResult], media: Collection[str] = PICTURES) -> Message:
    """Return the results of calls as a user message, their files of the media types that are sent after the text."""
    content = [
        {"name": result.name, "error" if result.is_error else "result": result_text(result, media)}
        for result in results
    ]
    text = Text(text="Results of the calls:\n" + json.dumps(content, ensure_ascii=False))
    files = (file for result in results for file, _ in media_of_result(result, media))
    return Message(role="user", parts=(text, *files))


def _values(text: str) -> Iterator[Any]:
    """Yield the JSON objects in a reply: the whole of it, in fences or tags, or a list or object among words."""
    for candidate in _candidates(text):
        try:
            value = msgspec.json.decode(candidate)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            continue
        if isinstance(value, list | dict):
            yield from value if isinstance(value, list) else (value,)
            if not candidate.startswith("{"):
                return


def _candidates(text: str) -> Iterator[str]:
    tagged = list(_between(text, "<tool_call>", "</tool_call>"))
    if tagged:
        yield from (piece.strip() for piece in tagged)
        return
    fenced = list(_between(text, "```", "```"))
    if fenced:
        yield from (_LANGUAGE.sub("", piece, count=1).strip() for piece in fenced)
        return
    whole = text.strip()
    yield whole
    start, end = whole.find("["), whole.rfind("]")
    if 0 < start < end or (start == 0 and 0 < end < len(whole) - 1):
        yield whole[start : end + 1]


def _between(text: str, opening: str, closing: str) -> Iterator[str]:
    """Yield the texts between two marks; the work is linear where a regular expression's is quadratic."""
    end = 0
    while (start := text.find(opening, end)) >= 0:
        start += len(opening)
        end = text.find(closing, start)
        if end < 0:
            return
        yield text[start:end]
        end += len(closing)


def _is_call(value: object, names: set[str]) -> bool:
    """True for an object with nothing but what a call has: a quoted result names a tool too."""
    return (
        isinstance(value, dict)
        and value.get("name") in names
        and value.keys() <= OF_A_CALL
        and isinstance(value.get("arguments", value.get("parameters", {})), dict)
    )
