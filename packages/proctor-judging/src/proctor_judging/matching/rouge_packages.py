"""The figures of the packages `rouge` 1.0.1, `rouge_chinese` 1.0.3 and `rouge-score` 0.1.2, to the last digits.

They differ in what a token and a sentence is, and in the rule. `rouge` and `rouge_chinese` count *distinct* n-grams and
add 1e-8 to P + R, so that identical texts give 0.999999995. ROUGE-L of `rouge` counts the distinct tokens along one
particular longest common subsequence of each pair of sentences; that of `rouge_chinese` is the plain length.

Source: pltrdy/rouge 1.0.1 and Isaac-JL-Chen/rouge_chinese 1.0.3, `rouge.py` and `rouge_score.py`;
google-research/google-research, rouge 0.1.2, `tokenize.py` and `rouge_scorer.py`.
"""

import re
from collections.abc import Sequence

from proctor_judging.matching.rouge_figures import Rouge, common_length, places_of

_NOT_PLAIN = re.compile("[^a-z0-9]+")
_BREAKS = (
    re.compile("([。！？?])([^”’])"),
    re.compile(r"(\.{6})([^”’])"),
    re.compile("(…{2})([^”’])"),
    re.compile("([。！？?][”’])([^，。！？?])"),
)


def tokens(text: str) -> list[str]:
    """Return the tokens of `rouge-score` without a stemmer: runs of ASCII letters and digits, in lower case.

    >>> tokens("The cat's 2 toys")
    ['the', 'cat', 's', '2', 'toys']
    """
    return [token for token in _NOT_PLAIN.split(text.lower()) if token]


def distinct_n(made: Sequence[str], expected: Sequence[str], n: int) -> Rouge:
    """Return ROUGE-N as `rouge` and `rouge_chinese` compute it, from the tokens of all sentences."""
    ours, theirs = _distinct(made, n), _distinct(expected, n)
    return _almost(len(ours & theirs), len(ours), len(theirs))


def chinese_l(made: Sequence[str], expected: Sequence[str]) -> Rouge:
    """Return ROUGE-L as `rouge_chinese` computes it, from the tokens of all sentences.

    >>> chinese_l(["发展"], ["发展"]).f
    0.999999995
    """
    return _almost(common_length(made, expected), len(made), len(expected))


def sentences_l(made: Sequence[Sequence[str]], expected: Sequence[Sequence[str]]) -> Rouge:
    """Return ROUGE-L as `rouge` computes it, from the tokens of each sentence."""
    common = {token for theirs in expected for ours in made for token in _one_common(theirs, ours)}
    ours, theirs = ({token for sentence in side for token in sentence} for side in (made, expected))
    return _almost(len(common), len(ours), len(theirs))


def english_sentences(text: str) -> list[list[str]]:
    """Return the tokens of `rouge`: sentences end at full stops, words at white space."""
    return [_words(part) for part in text.split(".") if part]


def chinese_tokens(text: str) -> list[str]:
    """Return the tokens that `rouge_chinese` sees in a text whose words are separated by spaces."""
    for pattern in _BREAKS:
        text = pattern.sub(r"\1\n\2", text)
    return [word for part in text.rstrip().split("\n") if part for word in _words(part)]


def _words(sentence: str) -> list[str]:
    return sentence.split() or [""]  # upstream, a sentence of blanks is one empty word


def _distinct(tokens: Sequence[str], n: int) -> set[tuple[str, ...]]:
    return {tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1)}


def _almost(common: int, made: int, expected: int) -> Rouge:
    precision = common / made if made else 0.0
    recall = common / expected if expected else 0.0
    return Rouge(precision=precision, recall=recall, f=2.0 * ((precision * recall) / (precision + recall + 1e-8)))


def _one_common(rows: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return the common subsequence that upstream walks back along: a match first, then the row above only where it is longer."""
    places = places_of(columns)
    full = (1 << len(columns)) - 1
    row = full
    above: list[int] = []
    for token in rows:
        if met := row & places.get(token, 0):
            row = ((row + met) | (row - met)) & full
        above.append(row)
    common: list[str] = []
    i, j = len(rows), len(columns)
    while i and j:
        if rows[i - 1] == columns[j - 1]:
            common.append(rows[i - 1])
            i, j = i - 1, j - 1
        elif above[i - 1] >> (j - 1) & 1:
            j -= 1  # this column adds nothing to the length, so the cell on the left is as long
        else:
            i -= 1
    return common
