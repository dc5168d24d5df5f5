"""A sentence for people, kept apart from its values so that a door can say it in another language."""

from collections.abc import Mapping
from typing import Any

import msgspec


class Sentence(msgspec.Struct, frozen=True, tag="sentence"):
    """An English sentence with `{named}` places, and what stands in them.

    The English text is the key of the catalogues in `locales/`; values are never translated, except
    values that are sentences themselves.

    >>> str(say("No task is called '{name}'.", name="giaa"))
    "No task is called 'giaa'."
    """

    text: str
    values: Mapping[str, Any] = {}

    def __str__(self) -> str:
        return self.text.format_map(self.values) if self.values else self.text


def say(text: str, /, **values: Any) -> Sentence:
    """Make a `Sentence`; `text` is a literal, so that a test can hold the catalogues complete."""
    return Sentence(text, values)
