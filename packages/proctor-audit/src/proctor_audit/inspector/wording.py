"""Sentences of a text, with the letters they have there, so that a span occurs literally."""

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from proctor_judging.matching.patterns import compile_later

SENTENCE = compile_later(r"[^\n。！？；]+?(?:[.!?](?=\s|$)|[。！？；]|$|(?=\n))", re.MULTILINE)
WORD = compile_later(r"[\w’']+", re.UNICODE)
MOST = 300


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of a text, letter for letter; a point within a number or a name ends none.

    >>> list(sentences_of("It costs 3.5 euro. Paid? 好的。完成了"))
    ['It costs 3.5 euro.', 'Paid?', '好的。', '完成了']
    """
    for match in SENTENCE.finditer(text):
        if sentence := match.group().strip():
            yield sentence


def holds_any(text: str, stems: Iterable[str]) -> bool:
    """True if a text in small letters holds one of some words: quicker than the pattern that has them all."""
    return any(stem in text for stem in stems)


def sentence_at(text: str, start: int) -> str:
    """Return the sentence that holds a position."""
    for match in SENTENCE.finditer(text):
        if match.start() <= start < match.end():
            return match.group().strip()[:MOST]
    return text[start : start + MOST]


def span_near(text: str, phrase: str) -> str:
    """Return the sentence of a text that is most like a phrase, which may be written in another form."""
    sentences = list(sentences_of(text)) or [text.strip()]
    return max(sentences, key=lambda sentence: SequenceMatcher(None, sentence.lower(), phrase.lower()).ratio())[:MOST]


def words_in(text: str) -> list[str]:
    """Return the words of a text in small letters; of Chinese text pairs of characters.

    >>> words_in("Write a poem，写首诗")
    ['write', 'a', 'poem', '写首', '首诗']
    """
    words: list[str] = []
    for run in re.findall(r"[\u4e00-\u9fff]+|[^\W\u4e00-\u9fff]+(?:[’'][^\W]+)?", text.lower()):
        if "\u4e00" <= run[0] <= "\u9fff":
            words += [run[index : index + 2] for index in range(max(1, len(run) - 1))]
        else:
            words.append(run)
    return words
