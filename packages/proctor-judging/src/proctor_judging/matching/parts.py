"""Say whether a text may hold another one among its parts, generously: the same numbers, or half of the words."""

import re
from fractions import Fraction

from proctor_judging.matching.number_words import with_digits
from proctor_judging.matching.numbers import read_number
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import echo
from proctor_judging.matching.text import tidy

NUMBER = compile_later(r"(?<!\d)\d{1,60}(?!\d)(?:\.\d{1,60}(?!\d))?")
HAN_NUMERAL = compile_later(r"[零〇一二两三四五六七八九十百千万亿点]{1,20}")
WORD = compile_later(r"[a-z]{3,12}")
LONGEST = 20_000
SPELT = {
    "half": "0.5 50",
    "半": "0.5 50",
    "quarter": "0.25 25 15",
    "third": "3",
    "twice": "2",
    "double": "2",
    "俩": "2",
}
SPELT |= {"tripl": "3", "仨": "3", "dozen": "12", "none": "0", "no": "0", "没": "0", "无": "0"}


def holds_part(reply: str, text: str, question: str = "") -> bool:
    """True if a reply has a part that may mean a text: the words of the question aside, half of its words or numbers.

    >>> holds_part("Bizet's opera", "Georges Bizet"), holds_part("It has two wheels.", "2"), holds_part("Lyon", "Paris")
    (True, True, False)
    """
    if has_words(reply, text):
        return True
    reply, text = tidy(reply[-LONGEST:]).casefold(), tidy(text[:LONGEST]).casefold()
    if numbers := _numbers(text):
        return len(numbers & _numbers_said(reply)) * 2 >= len(numbers)
    pieces = echo(text) - echo(question) or echo(text)
    return len(pieces & echo(reply)) * 2 >= len(pieces) > 0


def has_words(reply: str, text: str) -> bool:
    """True if a reply has the words of a text one after another.

    >>> has_words("the beta cells", "beta cells"), has_words("North Korea", "South Korea")
    (True, False)
    """
    words = re.escape(tidy(text[:LONGEST]).casefold())
    return re.search(rf"(?<![a-z\d]){words}(?![a-z\d])", tidy(reply[-LONGEST:]).casefold()) is not None


def _numbers(text: str) -> set[Fraction]:
    digits = with_digits(text).replace(",", "").replace(":00", "")
    return {Fraction(number) for number in NUMBER.findall(digits)}


def _numbers_said(reply: str) -> set[Fraction]:
    """Return the numbers of a reply, also those in words that may be no numbers: `第四`, `the fourth`, `三天半`."""
    numerals = [*HAN_NUMERAL.findall(reply), *WORD.findall(reply)]
    spelt = {Fraction(number.value) for word in numerals if (number := read_number(word)) is not None}
    said = (
        _numbers(reply)
        | spelt
        | {Fraction(value) for word, values in SPELT.items() if word in reply for value in values.split()}
    )
    return said | {number + Fraction(1, 2) for number in said} if "半" in reply or "half" in reply else said
