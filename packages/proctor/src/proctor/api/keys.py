"""Refuse API keys in the names, addresses, commands and options that are stored with a run."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from proctor.core.errors import BadInput
from proctor.transport.redact import KEY_NAME, redact

SHORTEST = 16  # of a header's value that is a key by its look alone
_PLACE = re.compile(r"\{[\w:]{1,100}\}")  # {question}, {env:NAME}: filled in later
_RANDOM = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9._~+/=-]+")
_OPEN_HEADERS = frozenset(
    {"accept", "accept-encoding", "accept-language", "content-type", "user-agent"}
    | {"openai-beta", "anthropic-version", "anthropic-beta"}
)


def refuse_keys(name: str, value: object) -> None:
    """Refuse a key, recognised by its form, by the name of its option, or as an argument of a command.

    Raises:
        BadInput: names the option, never its value.
    """
    for where, text in _texts(name, value):
        if _holds_key(where, text):
            raise BadInput(
                "'{name}' holds a key, and what a run is made of is stored with it. Put the key into an environment variable, and write env:NAME as the value of the header that carries it, or {place} in the address; a program finds it in its environment.",
                name=where,
                place="{env:NAME}",
            )


def _texts(name: str, value: object) -> Iterator[tuple[str, str]]:
    match value:
        case Mapping():
            for key, item in value.items():
                yield from _texts(f"{name}.{key}", item)
        case list() | tuple():
            for item in value:
                yield from _texts(name, item)
        case str() if value[:1] in ("{", "["):
            try:
                yield from _texts(name, json.loads(value))
            except (ValueError, RecursionError):
                yield name, value
        case str():
            yield name, value


def _holds_key(where: str, text: str) -> bool:
    if text.startswith("env:"):
        return False
    text = _PLACE.sub("", text)
    *above, last = where.split(".")
    if not text:
        return False
    if KEY_NAME.search(last):
        return True
    if above and above[-1] == "headers" and last.lower() not in _OPEN_HEADERS and _is_random(text):
        return True
    if text.startswith(("process:", "mcp:")):
        return any(map(_is_key_word, _pairs(text)))
    if len(text.split()) <= 2:
        shown = f"{last}: {text}"
        return redact(shown) != shown
    return redact(text) != text and any(redact(word) != word for word in text.split())  # prose, with a key in it


def _is_random(text: str) -> bool:
    return len(text) >= SHORTEST and _RANDOM.fullmatch(text) is not None


def _pairs(command: str) -> Iterator[tuple[str, str]]:
    """Yield each word of a command with the next one; `--name=value` is such a pair too."""
    try:
        words: Sequence[str] = shlex.split(command)
    except ValueError:
        words = command.split()
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, has_value, value = word.partition("=")
        yield (name, value) if has_value else (word, following)


def _is_key_word(pair: tuple[str, str]) -> bool:
    name, value = pair
    if redact(name) != name or redact(value) != value:
        return True
    is_named = name.startswith("-") and KEY_NAME.search(name.lstrip("-")) is not None
    return is_named and bool(value) and not value.startswith(("-", "$", "env:"))
