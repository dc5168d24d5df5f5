"""ROUGE over lists of tokens: n-grams with their counts, and the longest common subsequence.

The definitions are those of `rouge-score` 0.1.2: precision and recall of counted n-grams (or of the subsequence),
F = 2PR / (P + R), and identical tokens give exactly 1. The lengths are found with bit vectors (Hyyrö 2004).
"""

from collections import Counter
from collections.abc import Sequence

import msgspec


class Rouge(msgspec.Struct, frozen=True, kw_only=True):
    """The three figures of a comparison."""

    precision: float = 0.0
    recall: float = 0.0
    f: float = 0.0


def rouge_n(made: Sequence[str], expected: Sequence[str], n: int) -> Rouge:
    """Return ROUGE of n-grams; all 0 if one side has none.

    >>> rouge_n("the cat sat".split(), "the cat".split(), 2).recall
    1.0
    """
    ours, theirs = _ngrams(made, n), _ngrams(expected, n)
    return figures((ours & theirs).total(), ours.total(), theirs.total())


def rouge_l(made: Sequence[str], expected: Sequence[str]) -> Rouge:
    """Return the longest common subsequence; all 0 where one side is empty.

    >>> rouge_l("a c b".split(), "a b".split()).recall
    1.0
    """
    return figures(common_length(made, expected), len(made), len(expected))


def figures(common: int, made: int, expected: int) -> Rouge:
    """Return precision, recall and F of the overlap."""
    if not common:
        return Rouge()
    precision, recall = common / made, common / expected
    return Rouge(precision=precision, recall=recall, f=2 * precision * recall / (precision + recall))


def common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    >>> common_length("abcbdab", "bdcaba")
    4
    """
    if len(one) < len(other):
        one, other = other, one
    places = places_of(other)
    full = (1 << len(other)) - 1
    row = full
    for token in one:
        if met := row & places.get(token, 0):
            row = ((row + met) | (row - met)) & full
    return len(other) - row.bit_count()


def places_of(tokens: Sequence[str]) -> dict[str, int]:
    """Return the positions of each token as the bits of a number."""
    places: dict[str, int] = {}
    for position, token in enumerate(tokens):
        places[token] = places.get(token, 0) | 1 << position
    return places


def _ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1))
