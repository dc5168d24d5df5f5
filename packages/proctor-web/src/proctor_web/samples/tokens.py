"""Split texts into the tokens that are searched for, and what a person types into a query for them.

Words are runs of letters or digits, without case. Chinese and Japanese have no spaces: there every two neighbouring characters are
a token, and each single one is in a column of its own, so that words of any length are found.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple
from unicodedata import normalize

MOST_CHARACTERS = 64  # of a token
MOST_TERMS = 32  # of a query
MOST_TYPED = 1_000  # characters of a query
_HAN = "぀-ヿ㐀-䶿一-鿿가-힯豈-﫿\U00020000-\U0003ffff"
_RUN = re.compile(rf"[{_HAN}]+|[^\W_{_HAN}]+")
_FIRST_HAN = _HAN[0]
_HAN_RUN = re.compile(rf"[{_HAN}]")
_PIECE = re.compile(r'"([^"]*)"?|(\S+)')


class Tokens(NamedTuple):
    """The tokens of a text: words and pairs of characters in their order, and each single character once."""

    words: str
    letters: str


def tokens(text: str) -> Tokens:
    """Return the tokens of a text, separated by spaces.

    >>> tokens("Get_weather in 北京市!")
    Tokens(words='get weather in 北京 京市', letters='京 北 市')
    """
    words: list[str] = []
    letters: set[str] = set()
    for run in _runs(text):
        if run[0] < _FIRST_HAN or not _HAN_RUN.match(run):
            words.append(run[:MOST_CHARACTERS])
        else:
            letters.update(run)
            words += _pairs(run)
    return Tokens(" ".join(words), " ".join(sorted(letters)))


def query(text: str) -> str | None:
    """Return what FTS5 is asked for a text: all its pieces, each in one piece; None if there is nothing to look for.

    Quotes hold several words together, and a star at the end of a word leaves its end open.

    >>> query('get_weather 北京市 "new york" tim*')
    'words:"get weather" AND words:"北京 京市" AND words:"new york" AND words:"tim"*'
    >>> query("京"), query("!?")
    ('letters:"京"', None)
    """
    terms: list[str] = []
    for piece in _PIECE.finditer(text[:MOST_TYPED]):
        quoted, bare = piece.groups()
        terms += _terms(quoted if quoted is not None else bare)
    return " AND ".join(dict.fromkeys(terms[:MOST_TERMS])) or None


def _terms(piece: str) -> Iterator[str]:
    """Yield what has to be there for a piece: each phrase of words, and each run of characters."""
    phrase: list[str] = []
    for run in _runs(piece):
        if not _HAN_RUN.match(run):
            phrase.append(run[:MOST_CHARACTERS])
            continue
        if phrase:
            yield _quoted("words", phrase)
            phrase = []
        yield _quoted("words", _pairs(run)) if len(run) > 1 else _quoted("letters", [run])
    if phrase:
        yield _quoted("words", phrase) + ("*" if piece.endswith("*") else "")


def _quoted(column: str, phrase: list[str]) -> str:
    return f'{column}:"{" ".join(phrase)}"'


def _runs(text: str) -> list[str]:
    return _RUN.findall(text.lower() if text.isascii() else normalize("NFKC", text).casefold())


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]
