"""Names of runs and queues: they become parts of addresses, commands and file names."""

import re
from unicodedata import is_normalized, normalize

from proctor.core.errors import BadInput

NAME = re.compile(r"[^\W_][\w.-]*")
MOST_NAME_BYTES = 200  # a file name holds 255, and suffixes are added


def is_name(text: str, most: int) -> bool:
    """True if `text` is at most `most` letters and digits of any script, '.', '_' and '-', and begins with a letter or digit.

    A letter with a combining mark is taken in its composed form only: the other form looks the same.

    >>> is_name("bfcl-v2", 100), is_name("测试_1", 100), is_name("../x", 100), is_name("cafe\u0301", 100)
    (True, True, False, False)
    """
    return (
        len(text) <= most
        and NAME.fullmatch(text) is not None
        and is_normalized("NFC", text)
        and len(text.encode()) <= MOST_NAME_BYTES
    )


def check_run_id(run: str) -> None:
    """Refuse what cannot be a run id.

    Raises:
        BadInput: it is none.
    """
    if not is_name(run, 100):
        raise BadInput(
            "'{run}' cannot be a run id: use letters (of any language), digits, '.', '_' and '-', at most 100.", run=run
        )


def make_slug(text: str, most_bytes: int) -> str:
    """Return the letters and digits of `text`, joined by '-', as the beginning of a name.

    >>> make_slug("bfcl/simple_python,irrelevance", 40), make_slug("./客服.jsonl", 40), make_slug("?", 40)
    ('bfcl-simple-python-irrelevance', '客服-jsonl', 'run')
    """
    words = re.sub(r"[\W_]+", "-", normalize("NFC", text)).strip("-")
    return words.encode()[:most_bytes].decode(errors="ignore").strip("-") or "run"
