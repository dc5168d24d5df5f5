"""Say sentences in the reader's language. English is in the code; other languages are in `locales/`."""

import os
import re
from collections.abc import Mapping
from functools import cache

from proctor.core.errors import BadInput
from proctor.core.project import project_table
from proctor.core.sentence import Sentence

LANGUAGES = ("en", "zh")
SYSTEM = frozenset(  # what the operating system says, in English, of a file or an address
    (
        "No such file or directory",
        "Is a directory",
        "Not a directory",
        "Permission denied",
        "File exists",
        "File name too long",
        "No space left on device",
        "Read-only file system",
        "Address already in use",
        "Connection refused",
        "Name or service not known",
    )
)


def language(asked: str | None = None) -> str:
    """Return the language to speak: the one that was chosen, else that of the locale; 'en' or 'zh'."""
    locale = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    name = chosen_language(asked) or next(filter(None, locale), "")
    return "zh" if name.lower().startswith("zh") else "en"


def chosen_language(asked: str | None = None) -> str | None:
    """Return the language of the option, else of `PROCTOR_LANG`, else of the project's settings; None if none is set."""
    return asked or os.environ.get("PROCTOR_LANG") or _project_language()


def _project_language() -> str | None:
    """Return the language that the project's file sets; None without one, or where a command will report its fault."""
    try:
        pair = project_table("")
    except (BadInput, OSError):
        return None
    lang = None if pair is None else pair[1].get("lang")
    return lang if lang in LANGUAGES else None


def is_spoken(asked: str) -> bool:
    """True if there are texts in a language; a country and a character set may follow its name.

    >>> [is_spoken(name) for name in ("zh_CN.UTF-8", "en", "fr")]
    [True, True, False]
    """
    return re.split(r"[-_.]", asked.lower())[0] in LANGUAGES


def speak(sentence: Sentence | str, lang: str, /, **values: object) -> str:
    """Return the sentence in a language, with its values set in; a text that is in no catalogue stays English.

    Never raises: a stored sentence that lacks a value is returned with its braces.

    >>> speak("{done} of {total} samples", "zh", done=1, total=2)
    '1 / 2 个样本'
    """
    if isinstance(sentence, str):
        sentence = Sentence(sentence, values)
    text = catalogue(lang).get(sentence.text, sentence.text)
    if not sentence.values:
        return text
    values = {name: _said(value, lang) for name, value in sentence.values.items()}
    try:
        return text.format_map(values)
    except (LookupError, ValueError, AttributeError, TypeError):
        return sentence.text


def _said(value: object, lang: str) -> object:
    if isinstance(value, Sentence):
        return speak(value, lang)
    return catalogue(lang).get(value, value) if isinstance(value, str) and value in SYSTEM else value


@cache
def catalogue(lang: str) -> Mapping[str, str]:
    """Return the translations by English sentence, of every package; empty for English. The tables of a file only order it."""
    if lang == "en":
        return {}
    import tomllib
    from importlib.resources import files

    from proctor.runtime.entry_points import entry_points

    said: dict[str, str] = {}
    for package in (
        *(point.value for point in entry_points("proctor.locales")),
        "proctor",
    ):  # the kernel's words go first
        try:
            file = files(package).joinpath("locales", f"{lang}.toml")
        except ImportError:  # of a package that is broken, which its parts say
            continue
        for table in tomllib.loads(file.read_text(encoding="utf-8") if file.is_file() else "").values():
            said |= table
    return said
