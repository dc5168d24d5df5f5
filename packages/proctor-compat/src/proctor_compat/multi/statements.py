"""Compare what two texts state, by words: clauses with their numbers and denials, and marks of reasoning.

It compares words, so paraphrases are not found. Chinese and English.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice

from proctor_judging.matching.rouge_figures import rouge_l

_WORDS, _CLAUSES = 2000, 200
_SHARED = 0.8
_WORD = re.compile(r"[\u4e00-\u9fff]|\d+(?:[.,]\d+)*%?|[^\W\d_]+")
_CLAUSE = re.compile(r"[。！？；，\n!?;]|[.,](?!\d)")
_NOT = re.compile(r"不|没|无|非|未|\b(?:not|no|never|cannot)\b|n't\b", re.IGNORECASE)
_LOGIC: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "reason": r"因为|由于|\b(?:because|since)\b",
        "conclusion": r"所以|因此|故而|从而|\b(?:therefore|thus|hence|so)\b",
        "condition": r"如果|若|假如|只要|只有|\b(?:if|unless)\b",
        "contrast": r"但是|然而|虽然|尽管|\b(?:but|however|although)\b",
        "all": r"所有|一切|任何|\b(?:all|every|any)\b",
        "some": r"有些|部分|某些|\bsome\b",
        "not": _NOT.pattern,
    }.items()
}


def stated_share(text: str, reference: str) -> float | None:
    """Return the share of the clauses of `reference` that `text` states; None if it has none.

    A clause is stated by one with at least 80 % of its words, all of its numbers, and as many denials.

    >>> stated_share("光合作用发生在叶绿体中", "光合作用发生在叶绿体中，需要光")
    0.5
    """
    expected, statements = _statements(reference), _statements(text)
    if not expected:
        return None
    stated = sum(
        any(_same_words(statement, clause) and statement.denied == clause.denied for statement in statements)
        for clause in expected
    )
    return stated / len(expected)


def contradicts_none(text: str, others: Iterable[str]) -> bool:
    """True unless a clause of `text` denies another one: the same words, with and without a 'not'."""
    earlier = [clause for other in others for clause in _statements(other)]
    return not any(
        _same_words(statement, other) and statement.denied != other.denied
        for statement in _statements(text)
        for other in earlier
    )


def structure_f1(text: str, reference: str) -> float:
    """Return how far both texts use the same words of reasoning (because, so, if, but, all, some, not), as F1 of their counts.

    It sees words that mark a structure, not whether the reasoning holds. Two texts without any are alike; an empty text is 0.

    >>> structure_f1("因为下雨，所以地湿", "由于下雨，因此地面潮湿")
    1.0
    """
    if not text.strip():
        return 0.0
    structure, expected = _structure(text), _structure(reference)
    both = structure.total() + expected.total()
    return 2 * (structure & expected).total() / both if both else 1.0


def word_similarity(text: str, reference: str) -> float:
    """Return the F of the longest common subsequence of words; a Chinese character counts as a word.

    >>> word_similarity("今天天气很好", "今天天气很好"), round(word_similarity("今天天气很坏", "今天天气很好"), 2)
    (1.0, 0.83)
    """
    return rouge_l(_words(text), _words(reference)).f


class _Statement:
    def __init__(self, clause: str) -> None:
        words = _words(clause)
        self.words = Counter(word for word in words if not _NOT.fullmatch(word))
        self.numbers = {word for word in words if word[0].isdigit()}
        self.denied = len(_NOT.findall(clause)) % 2


def _statements(text: str) -> list[_Statement]:
    clauses = (clause for clause in _CLAUSE.split(text[: _WORDS * 20]) if _WORD.search(clause))
    return [_Statement(clause) for clause in islice(clauses, _CLAUSES)]


def _same_words(one: _Statement, wanted: _Statement) -> bool:
    return one.numbers >= wanted.numbers and (one.words & wanted.words).total() >= _SHARED * wanted.words.total() > 0


def _words(text: str) -> list[str]:
    return [match[0].casefold() for match in islice(_WORD.finditer(text), _WORDS)]


def _structure(text: str) -> Counter[str]:
    return Counter({name: len(pattern.findall(text[: _WORDS * 20])) for name, pattern in _LOGIC.items()})
