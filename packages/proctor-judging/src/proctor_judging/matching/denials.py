"""Say from the form of a reply alone that it claims nothing: it denies, doubts, or offers alternatives."""

import re

from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.sentences import is_certain, split

CLAUSE = compile_later(
    r"[:：](?!\d)\s*(?=\S)|,(?!\d|\s\d{4}\b)\s*(?=\S)|[，;；]\s*(?=\S)|\s[-–—]+\s|--|\sand\s(?=(?:[a-z]+\s)?[a-z]+(?:s|ed|e)\s|\d|[A-Z]\w+\s(?:the\s)?[a-z])|而(?=[\u3400-\u9fff])"
)
COMPARES = compile_later(r"\b(?:as|than|reason|up to)\b|[过比]|\bother\b")
ALTERNATIVES = compile_later(r"\b(?:or|either)\b|或|还是", re.IGNORECASE)


def claims_nothing(text: str) -> bool:
    """True if a text is one clause that denies, doubts, or offers alternatives.

    >>> claims_nothing("It may be Paris."), claims_nothing("5 or 6"), claims_nothing("It lies on the Seine.")
    (True, True, False)
    """
    if len(split(text)) > 1 or CLAUSE.search(text):
        return False
    denies = not is_certain(text) and COMPARES.search(text) is None
    return denies or ALTERNATIVES.search(text) is not None
