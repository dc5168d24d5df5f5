"""Keep the sentences of messages apart from their values, so that they can be shown in another language."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

QUOTED_CHARACTERS = 200


class Sentence(msgspec.Struct, frozen=True, tag="sentence"):
    """An English sentence with `{named}` fields, and their values.

    The English text is the key of the catalogues in `locales/`; values are never translated, except
    values that are sentences themselves.

    >>> str(say("No task is called '{name}'.", name="giaa"))
    "No task is called 'giaa'."
    """

    text: str
    values: Mapping[str, Any] = {}

    def __post_init__(self) -> None:
        """Turn values that are dicts into sentences again: that is how nested sentences come out of a store."""
        if any(isinstance(value, dict) and value.get("type") == "sentence" for value in self.values.values()):
            values = {name: _revive(value) for name, value in self.values.items()}
            msgspec.structs.force_setattr(self, "values", values)

    def __str__(self) -> str:
        return self.text.format_map(self.values) if self.values else self.text


def _revive(value: object) -> object:
    if isinstance(value, dict) and value.get("type") == "sentence":
        return msgspec.convert(value, Sentence)
    return value


def say(text: str, /, **values: object) -> Sentence:
    """Make a `Sentence`; `text` is a literal, so that a test can hold the catalogues complete."""
    return Sentence(text, values)


def listed(sentences: Sequence[Sentence]) -> Sentence | str:
    """Join several sentences into one; "" for none.

    >>> str(listed([say("a"), say("b"), say("c")]))
    'a; b; c'
    """
    if len(sentences) < 2:
        return sentences[0] if sentences else ""
    return say("{first}; {rest}", first=sentences[0], rest=listed(sentences[1:]))


def clip(text: str, characters: int, *, keep: Literal["start", "end"] = "start") -> str:
    """Shorten a long text, and mark where something is missing.

    >>> clip("abcdef", 3), clip("abcdef", 3, keep="end")
    ('abc…', '…def')
    """
    if len(text) <= characters:
        return text
    return text[:characters] + "…" if keep == "start" else "…" + text[-characters:]


def quote(text: str, characters: int = QUOTED_CHARACTERS) -> str:
    """Quote a text for a reason or a message, and cut it where it is long.

    >>> quote("Paris"), quote("abcdef", 3)
    ("'Paris'", "'abc…'")
    """
    return f"'{clip(text, characters)}'"
