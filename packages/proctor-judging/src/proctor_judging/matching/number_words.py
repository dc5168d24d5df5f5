"""Write the numbers of a sentence in digits, whatever they were written in: `two and a half hours`, `三成`, `七点五折`, `一九一二年三月五日`."""

import re
from fractions import Fraction

from proctor_judging.matching.english import MANY_PARTS, PARTS, SCALES, SMALL, TENS
from proctor_judging.matching.numbers import read_number
from proctor_judging.matching.patterns import compile_later

LONGEST_RUN = 12  # words of a number
_NUMBER = "|".join(sorted({*SMALL, *TENS}, key=len, reverse=True))
_SCALE = "|".join(sorted({"hundred", *(word for word in SCALES if len(word) > 4)}, key=len, reverse=True))
_PART = "|".join(sorted((*MANY_PARTS, *(part for part in PARTS if part != "second")), key=len, reverse=True))
RUN = compile_later(
    rf"\b(?:(?:minus|negative)\s)?(?:(?:{_NUMBER}|\d[\d,]*(?:\.\d+)?)|(?:half\s)?an?(?=[ -](?:half|quarter|third|hundred|thousand|million|billion|dozen)\b))"
    rf"(?:[ -](?:and[ -](?:an?[ -])?)?(?:{_NUMBER}|{_SCALE}|{_PART}|point)\b)*(?!\w|-[a-z])",
    re.IGNORECASE,
)
_DIGITS = "零〇一二两三四五六七八九"
HAN_RUN = compile_later(
    rf"(?P<below>零下|负)?(?P<number>百分之[{_DIGITS}十百点\d.]+|千分之[{_DIGITS}十百点\d.]+|[{_DIGITS}十百千万亿\d]+分之[{_DIGITS}十百千万亿\d]+"
    rf"|[{_DIGITS}十百千万亿]+点[{_DIGITS}]+[万亿]?|[{_DIGITS}十百千万亿]+|\d+(?:\.\d+)?)"
    rf"(?P<half>个半(?=小?时|月|钟头)|(?<![点])半(?=[倍]))?(?P<tail>折|成[{_DIGITS}半]|成(?![为了功立员长果熟本都绩])|多?)"
)
MEASURE_AFTER = compile_later(
    r"\s?(?:[个個位名只隻条條张張本件次种種人天年月日号块塊章节節页頁层層樓楼台辆輛匹头頭棵朵支枝杯碗瓶双雙套间間家座所倍公里英部篇首幅队隊组組班级級岁歲步元角度分秒米克吨斤升折成%世周克千毫厘平立摄厘两世小钟]|$|[,，。.;；、)）!！])"
)
CLOCK_AFTER = compile_later(r"[点點](?:半|整|钟|[一二三四五六七八九十\d]{1,3}分|$|[，,。])|[点點]")
APPROXIMATE = compile_later(r"(?:^|[十百千])(?:一二|[二两]三|三[四五]|四五|五六|六七|七八|八九)$")
HAN_VERSUS = compile_later(
    r"([一二三四五六七八九十零])比([一二三四五六七八九十零])(?![\u3400-\u9fff]{0,3}[大小多少高低])"
)
VERSUS = compile_later(r"(?<![\d.])(\d{1,3})\s?比\s?(\d{1,3})(?![\d.])")
SPACED = compile_later(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?![\d,])")
CLOCK_WORDS = compile_later(r"(?:an?\s)?(?:half|quarter)\s(?:past|to)\s\w", re.IGNORECASE)
MONEY_TENTHS = compile_later(
    rf"(?<![\d{_DIGITS}十百千])([{_DIGITS}十百千]+|\d+)(块)([一二三四五六七八九1-9])(?![\d{_DIGITS}十百千])"
)  # 三十五块五


def with_digits(sentence: str) -> str:
    """Return a sentence with its numbers in digits; words that may be no numbers stay.

    >>> with_digits("It lasted two and a half hours"), with_digits("minus four degrees"), with_digits("the one")
    ('It lasted 2.5 hours', '-4 degrees', 'the one')
    >>> with_digits("降低了三成"), with_digits("打七点五折"), with_digits("一九一二年三月五日"), with_digits("一般")
    ('降低了30%', '打75%', '1912年3月5日', '一般')
    """
    sentence = SPACED.sub(lambda found: found[0].replace(" ", ","), sentence)
    if not sentence.isascii():
        sentence = HAN_VERSUS.sub(
            lambda found: ":".join(str(number.value) for group in found.groups() if (number := read_number(group))),
            sentence,
        )
        sentence = MONEY_TENTHS.sub(_with_tenths, sentence)
        sentence = VERSUS.sub(r"\1:\2", HAN_RUN.sub(_from_han, sentence))
    return RUN.sub(_from_english, sentence)


def _with_tenths(found: re.Match[str]) -> str:
    whole, tenths = read_number(found[1]), read_number(found[3])
    return found[0] if whole is None or tenths is None else f"{whole.value}.{tenths.value}{found[2]}"


def _from_english(found: re.Match[str]) -> str:
    if CLOCK_WORDS.match(found.string, found.start()):
        return found[0]
    words = re.split(r"(?<=\w)([ -])(?=\w)", found[0])
    if words[0].lower() in ("one", "a", "an") and len(words) == 1:
        return found[0]
    for end in range(min(len(words), 2 * LONGEST_RUN), 0, -2):
        head = "".join(words[:end])
        number = read_number(head.lower())
        if number is not None and not number.ordinal and not number.doubtful:
            if re.fullmatch(r"-?\d[\d,.]*", head):
                return found[0]
            return _written(number.value) + "".join(words[end:])
    return found[0]


def _from_han(found: re.Match[str]) -> str:
    text, half, tail = found["number"], found["half"], found["tail"]
    after = found.string[found.end() :]
    sign = "-" if found["below"] else ""
    fixed = "分之" in text or half or sign or "折" in tail or "成" in tail
    if text.isascii() and not (sign or half or "折" in tail or "成" in tail):
        return found[0]
    if not fixed and (tail or not MEASURE_AFTER.match(after) or APPROXIMATE.search(text) or CLOCK_AFTER.match(after)):
        return found[0]
    if (text == "一" and not (fixed or after[:1] in "月日号点")) or found.string[: found.start()].endswith("第"):
        return found[0]
    if "折" in tail and re.fullmatch(r"[1-9]\d", text):
        text = f"{text[0]}.{text[1]}"  # 85折
    if "折" in tail and (digits := re.fullmatch(rf"([{_DIGITS}])([{_DIGITS}])", text)) is not None:
        text = f"{digits[1]}点{digits[2]}"  # 七五折
    number = read_number(text)
    if number is None or number.ordinal or number.doubtful:
        return found[0]
    value = Fraction(number.value) + (Fraction(1, 2) if half else 0)
    if "折" in tail or "成" in tail:
        more = read_number(tail[1:].replace("半", "五")) if len(tail) > 1 else None
        value = value / 10 + (Fraction(more.value) / 100 if more is not None else 0)
        return sign + _percent(value)
    if "百分之" in text:
        return sign + _percent(value)
    written = _written(value)
    return sign + (written if after[:1] != "年" or len(written) < 5 else text)


def _percent(value: Fraction) -> str:
    return _written(value * 100) + "%"


def _written(value: int | Fraction) -> str:
    """Return a number in decimals, or as a fraction where the decimals do not end."""
    value = Fraction(value)
    below = value.denominator
    for factor in (2, 5):
        while below % factor == 0:
            below //= factor
    if below != 1:
        return f"{value.numerator}/{value.denominator}"
    if value.denominator == 1:
        return str(value.numerator)
    text = f"{float(value):.12f}".rstrip("0")
    return text if Fraction(text) == value else f"{value.numerator}/{value.denominator}"
