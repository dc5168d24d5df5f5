"""Turn what tools return and what objects hold into text and JSON values."""

from collections.abc import Mapping, Sequence, Set
from enum import Enum
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import msgspec

from proctor.chat.agent_replies import clean
from proctor.chat.message_text import describe_file
from proctor.core.sample import File, Text, ToolCall, ToolResult
from proctor.transport.redact import quoted

MOST_CHARACTERS = 200_000  # of a result that a model is shown
DEEPEST = 40
_ABSENT = object()
_CODE = (type, FunctionType, MethodType, BuiltinFunctionType, ModuleType)


def result_of(call: ToolCall, content: str, *, is_error: bool = False, files: Sequence[File] = ()) -> ToolResult:
    """Return the result of a call; of a very long one the beginning, with a note for the model that says so."""
    content = clean(content)
    if len(content) > MOST_CHARACTERS:
        content = f"{content[:MOST_CHARACTERS]}\n[The result has {len(content)} characters; the rest is cut off.]"
    return ToolResult(name=call.name, content=content, id=call.id, is_error=is_error, files=tuple(files))


def result_of_value(call: ToolCall, value: object) -> ToolResult:
    """Return what a tool returned as the result of its call: a value, a `File`, or a list of texts, values and files.

    The text names each file where it was in the list.
    """
    values = value if isinstance(value, list | tuple) else (value,)
    files = [part for part in values if isinstance(part, File)]
    if not files:
        return result_of(call, text_of_value(value))
    return result_of(call, "\n".join(map(_text_of_part, values)), files=files)


def _text_of_part(value: object) -> str:
    match value:
        case File():
            return f"[{describe_file(value)}]"
        case Text(text=text):
            return text
    return text_of_value(value)


def refusal(call: ToolCall, reason: object) -> ToolResult:
    """Return the result of a call that was not run, with the reason for the model."""
    return result_of(call, str(reason), is_error=True)


def raised(call: ToolCall, error: BaseException) -> ToolResult:
    return refusal(call, f"{type(error).__name__}: {quoted(error)}")


def text_of_value(value: object) -> str:
    """Return what a tool returned as text: a text itself, all else as JSON.

    >>> text_of_value("sold out"), text_of_value({"left": 2}), text_of_value(None)
    ('sold out', '{"left":2}', 'null')
    """
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(value, enc_hook=_encode).decode()
    except (TypeError, ValueError, RecursionError):  # keys that are no text, or a circle
        return msgspec.json.encode(plain(value), enc_hook=str).decode()


def plain(value: object) -> Any:
    """Return a copy of a value as JSON: of objects the public attributes, deep; what is no data is left out.

    >>> class Shop:
    ...     def __init__(self): self.stock, self._log, self.price = {"tea": {3}}, [1], len
    >>> plain(Shop())
    {'stock': {'tea': [3]}}
    """
    result = _plain(value, ())
    return None if result is _ABSENT else result


def _encode(value: object) -> object:
    encoded = plain(value)
    return str(value) if encoded is None else encoded


def _plain(value: Any, within: tuple[int, ...]) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            value = value.value if isinstance(value, Enum) else value
            return clean(value) if isinstance(value, str) else value
        case Enum():
            return _plain(value.value, within)
    if isinstance(value, _CODE) or id(value) in within or len(within) > DEEPEST:
        return _ABSENT
    within = (*within, id(value))
    match value:
        case Mapping():
            return {str(key): one for key, item in value.items() if (one := _plain(item, within)) is not _ABSENT}
        case Set():
            items = [one for item in value if (one := _plain(item, within)) is not _ABSENT]
            return sorted(items, key=lambda one: msgspec.json.encode(one, enc_hook=str))
        case bytes() | bytearray():
            return value.decode("utf-8", "replace")
        case PurePath():
            return str(value)
        case Sequence():
            return [one for item in value if (one := _plain(item, within)) is not _ABSENT]
    attributes = _public(value)
    if attributes is not None:
        return _plain(attributes, within)
    try:  # dates, decimals, ids of the standard library
        return msgspec.to_builtins(value)
    except (TypeError, ValueError):
        return _ABSENT


def _public(value: object) -> dict[str, object] | None:
    """Return the public attributes of an object; None for one that has no attributes of its own."""
    if isinstance(value, msgspec.Struct):
        names: Any = value.__struct_fields__
    else:
        slots = [name for kind in type(value).__mro__ for name in _names(vars(kind).get("__slots__", ()))]
        names = [*getattr(value, "__dict__", ()), *slots]
        if not hasattr(value, "__dict__") and not slots:
            return None
        if type(value).__module__ in ("datetime", "decimal", "uuid"):
            return None
    return {name: getattr(value, name) for name in names if not name.startswith("_") and hasattr(value, name)}


def _names(slots: object) -> Sequence[str]:
    return (slots,) if isinstance(slots, str) else tuple(slots)  # type: ignore[arg-type]
