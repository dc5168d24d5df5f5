"""Numbers in English words, with digits among them where people mix: `1.2 million`, `two and a half`, `3rd`."""

from collections.abc import Sequence
from fractions import Fraction

from proctor_judging.matching.patterns import compile_later

Value = int | Fraction
Read = tuple[Value, int]  # a value, and the position behind it

TO_NINETEEN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
TO_NINETY = "twenty thirty forty fifty sixty seventy eighty ninety"
FROM_HALVES = "half third quarter fifth sixth seventh eighth ninth tenth eleventh twelfth"
SMALL = {word: value for value, word in enumerate(TO_NINETEEN.split())}
TENS = {word: 10 * value for value, word in enumerate(TO_NINETY.split(), start=2)} | {"fourty": 40}
SCALES = {
    "dozen": 12,
    "thousand": 10**3,
    "k": 10**3,
    "lakh": 10**5,
    "million": 10**6,
    "mln": 10**6,
    "crore": 10**7,
    "billion": 10**9,
    "bn": 10**9,
    "trillion": 10**12,
}
SCALES |= {word + "s": value for word, value in SCALES.items() if len(word) > 4}
IRREGULAR = {"first": "one", "second": "two", "third": "three", "fifth": "five", "eighth": "eight", "ninth": "nine"}
IRREGULAR |= {"twelfth": "twelve"}
ORDINALS = IRREGULAR | {
    (word[:-1] + "ieth" if word in TENS else word + "th"): word
    for word in (*SMALL, *TENS, "hundred", "thousand", "million", "billion")
    if word not in IRREGULAR.values() and word != "zero"
}
PARTS = {word: value for value, word in enumerate(FROM_HALVES.split(), start=2)}
PARTS |= {"fourth": 4, "twentieth": 20, "hundredth": 100, "thousandth": 1000, "millionth": 10**6}
MANY_PARTS = {word + "s": value for word, value in PARTS.items()} | {"halves": 2}
OTHER = {"hundred", "hundreds", "and", "a", "an", "of", "point", "minus", "negative", "plus", "percent", "per", "cent"}
WORDS = {*SMALL, *TENS, *SCALES, *ORDINALS, *PARTS, *MANY_PARTS, *OTHER}
NUMERAL = compile_later(r"\d{1,40}(?:\.\d{1,40})?|\d{1,3}(?:,\d{3}){1,12}(?:\.\d{1,40})?")
GLUED = compile_later(r"(\d)(k|mln|bn|million|billion)\b")
LONGEST = 200
MOST_WORDS = 30


def english_number(text: str) -> tuple[Value, bool] | None:
    """Return the value of a text that is a number, and whether it is an ordinal; None for other texts.

    >>> english_number("one hundred and twenty-three thousand"), english_number("two thirds"), english_number("3 dogs")
    ((123000, False), (Fraction(2, 3), False), None)
    >>> english_number("twenty-first"), english_number("two and a half million"), english_number("two three")
    ((21, True), (Fraction(2500000, 1), False), None)
    """
    if len(text) > LONGEST:
        return None
    words = GLUED.sub(r"\1 \2", text.lower()).replace("-", " ").split()
    if len(words) > MOST_WORDS or not all(word in WORDS or NUMERAL.fullmatch(word) for word in words):
        return None
    sign = 1
    if words and words[0] in ("minus", "negative", "plus"):
        sign = 1 if words[0] == "plus" else -1
        words = words[1:]
    share = next((end for end in (["percent"], ["per", "cent"]) if words[-len(end) :] == end), [])
    words = words[: len(words) - len(share)]
    if not words:
        return None
    value = _amount(words)
    if value is not None:
        return (Fraction(value) / 100 if share else value) * sign, False
    if sign == 1 and not share and (number := _ordinal(words)) is not None:
        return number, True
    return None


def _amount(words: Sequence[str]) -> Value | None:
    for read in (_cardinal, _part, _with_part, _half_of, _with_point, _year):
        if (value := read(words)) is not None:
            return value
    return None


def _cardinal(words: Sequence[str]) -> Value | None:
    if len(words) == 1 and words[0] in ("zero", "0"):
        return 0
    total: Value = 0
    at, smallest = 0, 10**15
    while at < len(words):
        if total and words[at] == "and":
            at += 1
        value, behind = _group(words, at)
        if not value or (isinstance(value, Fraction) and behind == len(words) and total):
            return None
        at = behind
        if at < len(words):
            scale = SCALES.get(words[at], 0)
            if not scale or scale >= smallest:
                return None
            smallest = scale
            while at < len(words) and words[at] in SCALES:  # a thousand billion, two dozen thousand
                value *= SCALES[words[at]]
                at += 1
        elif words[0] in ("a", "an") and len(words) == 1:
            return None
        total += value
    return total or None


def _group(words: Sequence[str], at: int) -> Read:
    value, at = _below_hundred(words, at)
    if value and at < len(words) and words[at] in ("hundred", "hundreds"):
        value, at = value * 100, at + 1
        more, behind = _below_hundred(words, at + 1 if words[at : at + 1] == ["and"] else at)
        if more and words[behind - 1] not in ("a", "an"):
            value, at = value + more, behind
    return value, at


def _below_hundred(words: Sequence[str], at: int) -> Read:
    word = words[at] if at < len(words) else ""
    if word in TENS:
        unit = SMALL.get(words[at + 1], 0) if at + 1 < len(words) else 0
        return (TENS[word] + unit, at + 2) if 0 < unit < 10 else (TENS[word], at + 1)
    if word in SMALL:
        return SMALL[word], at + 1
    if word in ("a", "an"):
        return 1, at + 1
    if word and NUMERAL.fullmatch(word):
        value = Fraction(word.replace(",", ""))
        return (value.numerator if value.denominator == 1 else value), at + 1
    return 0, at


def _part(words: Sequence[str]) -> Value | None:
    if list(words) == ["half"]:
        return Fraction(1, 2)
    if len(words) < 2:
        return None
    if words[-1] in PARTS and list(words[:-1]) in (["a"], ["an"], ["one"], ["1"]):
        if words[-1] == "hundredth" and words[0] == "one":
            return None  # 1/100 or the place after 99
        return Fraction(1, PARTS[words[-1]])
    if words[-1] in MANY_PARTS or words[-1] == "half":
        above = _cardinal(words[:-1])
        return Fraction(above) / MANY_PARTS.get(words[-1], 2) if above is not None and above != 1 else None
    return None


def _with_part(words: Sequence[str]) -> Value | None:
    scale, end = 1, len(words)
    while end and words[end - 1] in SCALES:
        end -= 1
        scale *= SCALES[words[end]]
    places = [at for at in range(1, end) if words[at] == "and"]
    if not places:
        return None
    whole, part = _cardinal(words[: places[-1]]), _part(words[places[-1] + 1 : end])
    return (whole + part) * scale if whole and part and part < 1 else None


def _half_of(words: Sequence[str]) -> Value | None:
    if words[0] in ("half", "quarter") and len(words) > 1:
        rest = words[2:] if words[1] == "of" else words[1:]
        if rest and (rest[0] in ("a", "an") or rest[0] == "dozen"):
            whole = _cardinal(rest if rest[0] != "dozen" else ["a", *rest])
            return Fraction(whole) / PARTS[words[0]] if whole else None
    return None


def _with_point(words: Sequence[str]) -> Value | None:
    if "point" not in words:
        return None
    at = list(words).index("point")
    end = next((index for index in range(at, len(words)) if words[index] in SCALES), len(words))
    digits = [SMALL.get(word, 10) for word in words[at + 1 : end]]
    whole = _cardinal(words[:at]) if at else 0
    if whole is None or not digits or max(digits) > 9:
        return None
    value: Value = whole + Fraction(int("".join(map(str, digits))), 10 ** len(digits))
    for word in words[end:]:
        if word not in SCALES:
            return None
        value *= SCALES[word]
    return value


def _year(words: Sequence[str]) -> Value | None:
    """Nineteen eighty-four: two numbers side by side, as only years are said."""
    if any(word not in SMALL and word not in TENS for word in words):
        return None
    century, at = _below_hundred(words, 0)
    years, behind = _below_hundred(words, at)
    return century * 100 + years if behind == len(words) and 10 < century <= 20 and 10 <= years < 100 else None


def _ordinal(words: Sequence[str]) -> int | None:
    words = words[1:] if words[0] == "the" else words
    if not words or words[-1] not in ORDINALS:
        return None
    value = _cardinal([*words[:-1], ORDINALS[words[-1]]] if len(words) > 1 else _alone(ORDINALS[words[-1]]))
    return int(value) if value is not None and value == int(value) else None


def _alone(word: str) -> list[str]:
    return [word] if word in SMALL or word in TENS else ["a", word]
