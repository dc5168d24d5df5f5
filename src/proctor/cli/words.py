"""The language of the command line, chosen once a process, and texts in it."""

import os
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence
from proctor.i18n import LANGUAGES, chosen_language, is_spoken, language, speak

_chosen = language()
_by_name = chosen_language() is not None


def choose(asked: str | None) -> None:
    """Speak the language asked for, else that of the environment or the project. Called before a command is loaded.

    Raises:
        BadInput: the language asked for, or `PROCTOR_LANG`, is none that we speak.
    """
    for name, value in (("--lang", asked), ("PROCTOR_LANG", os.environ.get("PROCTOR_LANG"))):
        if value and not is_spoken(value):
            raise BadInput(
                "{name}: '{value}' is not a language of Proctor. Known: {known}.",
                name=name,
                value=value,
                known=", ".join(LANGUAGES),
            )
    global _chosen, _by_name  # noqa: PLW0603 - the one setting of the process that help texts need before any option is parsed
    _chosen = language(asked)
    _by_name = chosen_language(asked) is not None


def lang() -> str:
    """The language in force."""
    return _chosen


def is_chosen() -> bool:
    """True if somebody named the language; that of the locale is only a guess."""
    return _by_name


def t(sentence: str | Sentence, /, **values: Any) -> str:
    """A text in the language in force."""
    return speak(sentence, _chosen, **values)
