"""Mark the words in which two texts differ, in time and memory that hostile texts cannot drive up.

A word is a run of letters, a number, one character of a script that is written without spaces, one other character, or
a run of whitespace. What stays is the longest common subsequence of words, found with bit vectors (Hyyrö 2004), so that
it takes about the same time however often words repeat.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import msgspec

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"\s+|\d+(?:[.,]\d+)*|[{_UNSPACED}]|(?:(?![{_UNSPACED}\d_])\w)+|.", re.DOTALL)
_WIDE = re.compile(rf"[{_UNSPACED}]")
MOST_WORDS = 4_000  # of either text; the rows of bits are then some MB
_LEAST_KEPT = 3  # letters; shorter common words between two changes only cut the changes into pieces


class WordDiffPiece(msgspec.Struct, frozen=True):
    """A part of a text; `changed` if the other text does not have it there."""

    text: str
    changed: bool = False


def diff_words(first: str, second: str) -> tuple[list[WordDiffPiece], list[WordDiffPiece]]:
    """Split both texts into what they share and what only one of them has.

    Of longer texts the first 4,000 words that may differ are compared, and all after them is marked as changed.

    >>> [[(piece.text, piece.changed) for piece in side] for side in diff_words("Paris is big", "Rome is big")]
    [[('Paris', True), (' is big', False)], [('Rome', True), (' is big', False)]]
    """
    words, other = words_of(first), words_of(second)
    start = _common(words, other)
    end = _common(words[start:][::-1], other[start:][::-1])
    stay_one, stay_other = [True] * len(words), [True] * len(other)
    middle, its = words[start : len(words) - end], other[start : len(other) - end]
    stay_one[start : len(words) - end] = [False] * len(middle)
    stay_other[start : len(other) - end] = [False] * len(its)
    matches = _subsequence(middle[:MOST_WORDS], its[:MOST_WORDS])
    for at, to in _without_crumbs(matches, middle):
        stay_one[start + at] = stay_other[start + to] = True
    return _pieces(words, stay_one), _pieces(other, stay_other)


def words_of(text: str) -> list[str]:
    """Split a text into words; joined they are the text again.

    >>> words_of("f(x=1.5) 你好 don't")
    ['f', '(', 'x', '=', '1.5', ')', ' ', '你', '好', ' ', 'don', "'", 't']
    """
    return _WORD.findall(text)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words at the start are the same."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _subsequence(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Return the positions of a longest common subsequence, in order.

    In row `at`, bit `to` is 0 where the longest subsequence of the first at + 1 and to + 1 words is longer than without
    word `to`.
    """
    places: dict[str, int] = {}
    for to, word in enumerate(other):
        places[word] = places.get(word, 0) | 1 << to
    full = (1 << len(other)) - 1
    row, rows = full, []
    for word in one:
        met = row & places.get(word, 0)
        row = ((row + met) | (row - met)) & full
        rows.append(row)
    pairs = []
    at, to = len(one) - 1, len(other) - 1
    while at >= 0 and to >= 0:
        if rows[at] >> to & 1:
            to -= 1
        elif at and not rows[at - 1] >> to & 1:
            at -= 1
        else:
            pairs.append((at, to))
            at, to = at - 1, to - 1
    return pairs[::-1]


def _without_crumbs(matches: Sequence[tuple[int, int]], words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the matches but those of short runs between two changes, such as one common letter or a space."""
    runs: list[list[tuple[int, int]]] = []
    for at, to in matches:
        if runs and runs[-1][-1] == (at - 1, to - 1):
            runs[-1].append((at, to))
        else:
            runs.append([(at, to)])
    for run in runs:
        if _weight(words[at] for at, _ in run) >= _LEAST_KEPT or "\n" in "".join(words[at] for at, _ in run):
            yield from run


def _weight(words: Iterable[str]) -> int:
    return sum(2 if _WIDE.match(word) else len(word.strip()) for word in words)


def _pieces(words: Sequence[str], stay: Sequence[bool]) -> list[WordDiffPiece]:
    return [
        WordDiffPiece("".join(word for word, _ in members), not kept)
        for kept, members in groupby(zip(words, stay, strict=True), key=lambda pair: pair[1])
    ]
