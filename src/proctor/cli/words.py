"""The language of the command line, chosen once a process, and texts in it."""

from typing import Any

from proctor.core.sentence import Sentence
from proctor.i18n import language, speak

_chosen = language()


def choose(asked: str | None) -> None:
    """Speak the language asked for; that of the environment when None. Called before a command is loaded."""
    global _chosen  # noqa: PLW0603 - the one setting of the process that help texts need before any option is parsed
    _chosen = language(asked)


def lang() -> str:
    """The language in force."""
    return _chosen


def t(sentence: str | Sentence, /, **values: Any) -> str:
    """A text in the language in force."""
    return speak(sentence, _chosen, **values)
