"""Cut Chinese text into words by the most frequent ones, so that a span of a reply may be told from one that ends within a word."""

import math
from collections.abc import Mapping
from functools import cache

import msgspec

from proctor_judging.matching.question_words import table_lines

LONGEST = 4
OF_SINGLE = 9.0  # the cost of a character that is no part of a listed word


class HanWord(msgspec.Struct, frozen=True, gc=False):
    """A listed word in a text, where it starts and ends, and its class: n for a noun, v for a verb and so on, as `han_words.txt` says."""

    text: str
    start: int
    end: int
    kind: str


def words_of(text: str) -> list[HanWord]:
    """Return the listed words of a text, as the cheapest cut has them; the more frequent a word is, the cheaper.

    >>> [word.text for word in words_of("房产由小女儿苏曼继承")]
    ['房产', '女儿', '继承']
    """
    costs, sizes = [0.0], [0]
    for end in range(1, len(text) + 1):
        best, size = costs[-1] + OF_SINGLE, 1
        for length in range(2, min(LONGEST, end) + 1):
            listed = _words().get(text[end - length : end])
            if listed is not None and costs[end - length] + listed[0] < best:
                best, size = costs[end - length] + listed[0], length
        costs.append(best)
        sizes.append(size)
    words, end = [], len(text)
    while end:
        start = end - sizes[end]
        if end - start > 1:
            words.append(HanWord(text[start:end], start, end, _words()[text[start:end]][1]))
        end = start
    return words[::-1]


@cache
def _words() -> Mapping[str, tuple[float, str]]:
    """Return the listed words, each with its cost and its class."""
    words = " ".join(table_lines("han_words.txt")).split()
    return {word[:-1]: (3 + math.log(rank), word[-1]) for rank, word in enumerate(words, start=1)}
