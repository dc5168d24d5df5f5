"""Numbers as people write them, in digits and in words; compared as exact fractions."""

import re
from fractions import Fraction
from functools import lru_cache

import msgspec

from proctor.core.sentence import say
from proctor_judging.matching.chinese import chinese_number
from proctor_judging.matching.english import english_number
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.verdict import AnswerMatch, AnswerOptions, accept, differ, refuse, two_readings

RULE = "numeric"
PER_CENT = ("%", "percent", "per cent", "百分比")
LONGEST = 1_000
HIGHEST_EXPONENT = 1_000
PLAIN = compile_later(r"[+-]?(?:[1-9]\d*|0)")
NUMERAL = r"(?:\d[\d,.'_]*(?: \d{3}(?!\d))*(?:\.\d+)?|\.\d+)"
SCIENTIFIC = compile_later(
    rf"(?:({NUMERAL})\s*(?:[×xX*·]|\\times|\\cdot)\s*)?10\s*(?:\^|\*\*)\s*[({{]?\s*([+-]?\d{{1,4}})[)}}]?"
)
EXPONENT = compile_later(rf"({NUMERAL})[eE]([+-]?\d{{1,4}})")
MIXED = compile_later(r"(?:(\d+)\s+)?(\d+)\s*/\s*(\d+)")
DECIMAL_FRACTION = compile_later(rf"({NUMERAL})\s*/\s*({NUMERAL})")
SIGN = compile_later(r"([+-])\s?")
SHARE = compile_later(r"\s*(?:(%|per ?cent\b|pct)|(‰|per mill?e))$", re.IGNORECASE)
SCALED = compile_later(r"(\d[\d,]*(?:\.\d+)?)\s?([kKMB]|mn|bn|mln)")
SCALES = {"k": 10**3, "K": 10**3, "M": 10**6, "mn": 10**6, "mln": 10**6, "B": 10**9, "bn": 10**9}
TWICE = compile_later(r"([^()]{1,60}?)\s?\(([^()]{1,60})\)")
COUNTED = compile_later(r"(\d+)(?:st|nd|rd|th)", re.IGNORECASE)
ROMAN = compile_later(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
FORMS = (  # (form, marks to drop, decimal mark); a comma is no decimal mark in English or Chinese
    (compile_later(r"(?:\d+(?:\.\d*)?|\.\d+)"), "", "."),
    (compile_later(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?"), ",", "."),
    (compile_later(r"[1-9]\d{0,2}(?: \d{3})+(?:\.\d*)?"), " ", "."),
    (compile_later(r"[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d*)?"), ",", "."),  # Indian: 10,00,000
    (compile_later(r"[1-9]\d{0,2}(?:'\d{3})+(?:\.\d*)?"), "'", "."),
    (compile_later(r"[1-9]\d{0,2}(?:_\d{3})+(?:\.\d*)?"), "_", "."),
    (compile_later(r"[1-9]\d{0,2}(?:\.\d{3})+,\d+"), ".", ","),
    (compile_later(r"[1-9]\d{0,2}(?:\.\d{3}){2,}"), ".", ","),
)
DOUBTFUL = compile_later(r"\d+,\d+")
LEADING_ZERO = compile_later(r"0\d")


class Number(msgspec.Struct, frozen=True):
    """A number; `ordinal` for third, `doubtful` when the text has another reading, such as 1,5 or 007."""

    value: int | Fraction
    ordinal: bool = False
    doubtful: bool = False


@lru_cache(maxsize=4096)
def read_number(text: str) -> Number | None:
    """Return the number, if a normalized text is one; else None.

    >>> [read_number(text).value for text in ("4.2e1", "forty-two", "肆拾贰", "1.2万", "1,234")]
    [42, 42, 42, 12000, 1234]
    >>> read_number("50%").value, read_number("3 1/2").value, read_number("二分之一").value
    (Fraction(1, 2), Fraction(7, 2), Fraction(1, 2))
    >>> read_number("1,5").doubtful, read_number("第三").ordinal, read_number("5 km")
    (True, True, None)
    """
    if len(text) > LONGEST:
        return None
    if PLAIN.fullmatch(text):
        return Number(int(text))
    sign = SIGN.match(text)
    body = text[sign.end() :] if sign else text
    if not body:
        return None
    share = SHARE.search(body) if body[-1] in "%‰tTeE" else None
    number = _amount(body[: share.start()] if share else body)
    if number is None and text[-1] == ")" and (twice := TWICE.fullmatch(text)) is not None:  # five (5)
        number = read_number(twice[1].strip().lower())
        return number if number is not None and number == read_number(twice[2].strip().lower()) else None
    if number is None or (number.ordinal and (sign or share)):
        return None
    if not sign and not share:
        return number
    value = number.value * (-1 if sign and sign[1] == "-" else 1)
    if share:
        value = _plain(Fraction(value, 100 if share[1] else 1000))
    return Number(value, doubtful=number.doubtful)


def numeric(answer: str, target: str, options: AnswerOptions) -> AnswerMatch | None:
    """Compare two numbers, exactly or within the tolerance. An ordinal never equals a cardinal."""
    expected = read_number(target) if options.unit not in PER_CENT else None
    number = read_number(answer) if expected is not None else None
    if number is None or expected is None:
        return None
    if number.ordinal != expected.ordinal:
        return refuse(
            RULE,
            say("One of '{answer}' and '{target}' counts a place, the other an amount.", answer=answer, target=target),
            ambiguous=number.value == expected.value,
        )
    if not close(number.value, expected.value, options):
        return differ(RULE, answer, target)
    if number.doubtful or expected.doubtful:
        doubtful = answer if number.doubtful else target
        return two_readings(RULE, doubtful, readings_of(doubtful))
    return accept(RULE, say("Both are the same number."))


def readings_of(text: str) -> tuple[str, str]:
    """Return what a doubtful numeral may mean: `1,5` a decimal or two numbers, `007` a number or a code.

    >>> readings_of("1,5"), readings_of("007")
    (('1.5', '1, 5'), ('7', '007'))
    """
    return (text.replace(",", "."), text.replace(",", ", ")) if "," in text else (text.lstrip("0"), text)


def close(made: int | Fraction, expected: int | Fraction, options: AnswerOptions, *, scale: int | Fraction = 1) -> bool:
    """True if two numbers are equal, or within the tolerances; `scale` converts the tolerance's unit."""
    if made == expected:
        return True
    if not options.tolerance and not options.relative_tolerance:
        return False
    absolute = Fraction(repr(options.tolerance)) * scale  # 0.01 as written, not its double
    relative = Fraction(repr(options.relative_tolerance)) * abs(Fraction(expected))
    return bool(abs(Fraction(made) - expected) <= max(absolute, relative))


def _amount(text: str) -> Number | None:
    if not text:
        return None
    if text[0] in "0123456789.":
        if (number := _numeral(text)) is not None:
            return number
        for pattern, read in _COMPOSED:
            if (match := pattern.fullmatch(text)) is not None:
                return read(match)
    if not text.isascii():
        return chinese_part(text)
    if text.isupper() and text.isalpha() and (value := _roman(text)):
        return Number(value)
    found_words = english_number(text)
    return Number(_plain(found_words[0]), ordinal=found_words[1]) if found_words else None


def chinese_part(text: str) -> Number | None:
    """Return a number in Chinese characters, alone or mixed with digits."""
    pair = chinese_number(text)
    return Number(_plain(pair[0]), ordinal=pair[1]) if pair else None


def _numeral(text: str) -> Number | None:
    for form, mark, point in FORMS:
        if form.fullmatch(text):
            digits = text.replace(mark, "") if mark else text
            return Number(_decimal(digits.replace(point, ".")), doubtful=LEADING_ZERO.match(digits) is not None)
    if DOUBTFUL.fullmatch(text):
        return Number(_decimal(text.replace(",", ".")), doubtful=True)
    return None


def _decimal(digits: str) -> int | Fraction:
    whole, _, decimals = digits.partition(".")
    decimals = decimals.rstrip("0")
    value = int(whole + decimals or "0")
    return _plain(Fraction(value, 10 ** len(decimals))) if decimals else value


def _power(found: re.Match[str]) -> Number | None:
    factor = _numeral(found[1]) if found[1] else Number(1)
    exponent = int(found[2])
    if factor is None or factor.doubtful or abs(exponent) > HIGHEST_EXPONENT:
        return None
    return Number(_plain(factor.value * Fraction(10) ** exponent))


def _mixed(found: re.Match[str]) -> Number | None:
    if not int(found[3]):
        return None
    return Number(_plain(int(found[1] or 0) + Fraction(int(found[2]), int(found[3]))))


def _quotient(found: re.Match[str]) -> Number | None:
    above, below = _numeral(found[1]), _numeral(found[2])
    if above is None or below is None or above.doubtful or below.doubtful or not below.value:
        return None
    return Number(_plain(Fraction(above.value) / below.value))


def _scaled(found: re.Match[str]) -> Number | None:
    amount = _numeral(found[1])
    return None if amount is None or amount.doubtful else Number(_plain(Fraction(amount.value) * SCALES[found[2]]))


def _ordinal(found: re.Match[str]) -> Number | None:
    return Number(int(found[1]), ordinal=True)


_COMPOSED = (
    (EXPONENT, _power),
    (SCIENTIFIC, _power),
    (MIXED, _mixed),
    (DECIMAL_FRACTION, _quotient),
    (COUNTED, _ordinal),
    (SCALED, _scaled),
)


def _roman(text: str) -> int:
    """Return a Roman numeral that can be nothing else: of I, V and X alone, or long; `XL` and `MIX` are also words."""
    if len(text) < 2 or not ROMAN.fullmatch(text) or (len(text) < 4 and not set(text) <= set("IVX")):
        return 0
    values = [ROMAN_VALUES[letter] for letter in text]
    return sum(
        -value if value < following else value for value, following in zip(values, [*values[1:], 0], strict=True)
    )


def _plain(value: int | Fraction) -> int | Fraction:
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value
