"""Read a conversation in a cell: messages with role and content, as chat endpoints, OpenAI evals and ShareGPT write them.

[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Capital of France?"}]
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import File, Message, Part, Role, Text
from proctor.core.sentence import Sentence
from proctor.datasets._inline import file_of

ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "model": "assistant",
}


class ChatRow(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation up to the question, and the answer that it ends with, if any."""

    before: tuple[Message, ...]
    question: str
    files: tuple[File, ...] = ()
    answer: str | None = None


def chat_of(value: object, where: Sentence, column: str) -> ChatRow | None:
    """Read a conversation; None where the cell holds something else.

    Raises:
        BadInput: a message without role or text, one of a tool, or no message of the user at the end.
    """
    messages = _list_messages(value)
    if messages is None:
        return None
    read = [_message(message, where, column) for message in messages]
    answer = read.pop().text if read[-1].role == "assistant" else None
    if not read or read[-1].role != "user":
        raise BadInput("{where}: the conversation in '{column}' does not end with a message of the user.", where=where, column=column)  # fmt: skip
    asked = read.pop()
    files = tuple(part for part in asked.parts if isinstance(part, File))
    return ChatRow(before=tuple(read), question=asked.text, files=files, answer=answer)


def _list_messages(value: object) -> Sequence[Mapping[str, object]] | None:
    if isinstance(value, str) and value.lstrip().startswith("[{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, list) or not value:
        return None
    return value if all(isinstance(item, Mapping) and ("role" in item or "from" in item) for item in value) else None


def _message(message: Mapping[str, object], where: Sentence, column: str) -> Message:
    name = str(message.get("role", message.get("from")))
    role = ROLES.get(name)
    if role is None or message.get("tool_calls"):
        raise BadInput(
            "{where}: '{column}' holds a message of '{role}'; conversations with tools belong into an eval set.",
            where=where,
            column=column,
            role=name if role is None else "tool_calls",
        )
    content = message.get("content", message.get("value"))
    parts = _parts(content, where, column) if isinstance(content, list) else [Text(text=content)] if isinstance(content, str) else []  # fmt: skip
    if not parts:
        raise BadInput("{where}: '{column}' holds a message without text.", where=where, column=column)
    return Message(role=role, parts=tuple(parts))


def _parts(content: Sequence[Any], where: Sentence, column: str) -> list[Part]:
    parts: list[Part] = []
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind in ("text", "input_text") and isinstance(part.get("text"), str):
            parts.append(Text(text=part["text"]))
        elif kind == "image_url" and (file := file_of(_address(part["image_url"]))) is not None:
            parts.append(file)
        else:
            raise BadInput("{where}: '{column}' holds a message with a part that is neither text nor image.", where=where, column=column)  # fmt: skip
    return parts


def _address(value: object) -> object:
    return value.get("url") if isinstance(value, Mapping) else value
