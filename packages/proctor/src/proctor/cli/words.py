"""The language of the command line, chosen once a process, and texts in it."""

import os
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence
from proctor.i18n import LANGUAGES, chosen_language, is_spoken, language, speak

_chosen: str | None = None
_by_name = False


def choose(asked: str | None) -> None:
    """Set the language: that of the option, else of the environment or the project. Called before a command is loaded.

    Raises:
        BadInput: the language of the option, or of `PROCTOR_LANG`, is not supported.
    """
    for name, value in (("--lang", asked), ("PROCTOR_LANG", os.environ.get("PROCTOR_LANG"))):
        if value and not is_spoken(value):
            raise BadInput(
                "{name}: '{value}' is not a language of Proctor. Known: {known}.",
                name=name,
                value=value,
                known=", ".join(LANGUAGES),
            )
    _choose(asked)


def lang() -> str:
    """Return the chosen language."""
    if _chosen is None:
        _choose(None)
    return _chosen or "en"


def is_chosen() -> bool:
    """True if the user named the language; that of the locale is only a guess."""
    return _by_name


def t(sentence: str | Sentence, /, **values: Any) -> str:
    """Return a text in the chosen language."""
    return speak(sentence, lang(), **values)


def _choose(asked: str | None) -> None:
    global _chosen, _by_name  # the one setting of the process that help texts need before any option is parsed
    named = chosen_language(asked)
    _chosen, _by_name = language(named), named is not None
