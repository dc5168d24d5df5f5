"""Numbers with units: `5 km`, `$1.2M`, `三个半小时`, `5 ft 3 in`, `二十摄氏度`."""

import re
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import msgspec

from proctor_judging.matching.numbers import Number, read_number
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.unit_table import MeasureUnit, read_unit

LONGEST = 120
HEAD = compile_later(  # digits, a power of ten or a fraction, and a word of scale
    r"(?:10\s?(?:\^|\*\*)\s?[({]?[+-]?\d{1,3}[)}]?|[+-]?\s?(?:\d[\d,]*(?:\.\d+)?|\.\d+))(?:[eE][+-]?\d{1,3}(?!\d))?"
    r"(?:\s*(?:[×xX*·]|\\times)\s*10\s*(?:\^|\*\*)\s*[({]?[+-]?\d{1,3}[)}]?)?(?:\s?/\s?\d+|\s\d+/\d+)?"
    r"(?:(?:\s+(?:hundred|thousand|million|billion|trillion|dozen))+(?![a-z])|(?:mln|bn)\b)?",
    re.IGNORECASE,
)
HAN_NUMBER = compile_later(
    r"[+-]?[\d,.零〇一二两兩三四五六七八九十百千万亿萬億廿卅半负負壹贰叁肆伍陆柒捌玖拾佰仟点又分之]+个?半?"
)
HAN = compile_later(r"[\u3400-\u9fff]")
SIGNS = {"$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "₹": "INR", "₩": "KRW", "₽": "RUB", "₿": "BTC"}
SIGNS |= {"HK$": "HKD", "NT$": "TWD", "A$": "AUD", "AU$": "AUD", "C$": "CAD", "CA$": "CAD", "S$": "SGD"}
SIGNS |= {"人民币": "CNY", "¥": "¥", "RMB": "CNY"}
CODES = "USD|EUR|GBP|CNY|JPY|KRW|INR|HKD|TWD|AUD|CAD|SGD|CHF|RUB|BTC"
MONEY = compile_later(
    r"([+-]?)\s?(" + "|".join(re.escape(sign) for sign in sorted(SIGNS, key=len, reverse=True)) + rf"|{CODES})\s?(.+)"
)
MONEY_SCALE = compile_later(r"(.*[\d.])\s?([kKmMbBtT])")
MONEY_SCALES = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
TRAILING_CODE = compile_later(rf"(.+?)\s*({CODES}|RMB|元|美元|欧元|英镑|日元)")
FEET = compile_later(r"(\d+)\s?'(?:\s?(\d+(?:\.\d+)?)\s?(?:\"|'')?)?")
ARTICLE = compile_later(r"(half|a quarter of|quarter of|a|an)\s+(?:an?\s+)?([a-z].*)", re.IGNORECASE)
ARTICLES = {"a": Fraction(1), "an": Fraction(1), "half": Fraction(1, 2)}
AND_A_HALF = compile_later(r"(.+?)\s+and\s+a\s+(half|quarter)", re.IGNORECASE)
REWRITES = (
    (compile_later(r"(摄氏|华氏)(零下|负)?(.+)度"), r"\2\3\1度"),
    (compile_later(r"(摄氏|华氏)?零下(摄氏|华氏)?(.+)"), r"-\3"),
    (compile_later(r"每小时(.+)"), r"\1/小时"),
    (compile_later(r"时速(.+)"), r"\1/小时"),
    (compile_later(r"每秒(.+)"), r"\1/秒"),
    (compile_later(r"(.+)/时"), r"\1/小时"),
    (compile_later(r"(.+)(米|块)([1-9一二三四五六七八九])"), r"\1\2又零点\3\2"),  # 一米八
)
NUMERALS = "零〇一二两三四五六七八九十百千半"
PIECE = compile_later(
    rf"((?:\d[\d,]*(?:\.\d+)?|两|零点[\d一二三四五六七八九]|[{NUMERALS}]+)(?:\s?个)?)\s*(两(?![{NUMERALS}])|[^\d\s{NUMERALS}][^\d{NUMERALS}]*)"
)
JOINED = compile_later(r"(?:\s*,\s*|\s+and|\s+|又|零)*$", re.IGNORECASE)
LETTER = compile_later(r"[^\W\d]|[°$€£¥₹₩₽¢'\"]")


class Quantity(msgspec.Struct, frozen=True):
    """An amount in base units, and the unit it was written in."""

    amount: Fraction
    unit: MeasureUnit
    doubtful: bool = False
    written: int = 0  # digits behind the decimal point, in the unit it was written in


@lru_cache(maxsize=4096)
def read_quantity(text: str) -> Quantity | None:
    """Return the quantity, if a normalized text is a number with a known unit; else None.

    >>> read_quantity("1 h 30 min").amount == read_quantity("一个半小时").amount == read_quantity("90分钟").amount
    True
    >>> read_quantity("$1.2M").amount, read_quantity("5 ducks")
    (Fraction(1200000, 1), None)
    """
    if len(text) > LONGEST or not LETTER.search(text):
        return None
    for pattern, plain in REWRITES if not text.isascii() else ():
        if pattern.fullmatch(text):
            text = pattern.sub(plain, text)
    return _money(text) or _single(text) or _mixed(text)


def with_unit(number: Number, unit: str) -> Quantity | None:
    """Return a bare number in a unit; None when the unit is unknown."""
    measure_unit = read_unit(unit)
    return None if measure_unit is None else _quantity(number, measure_unit)


def _money(text: str) -> Quantity | None:
    match = MONEY.fullmatch(text)
    if match is None:
        return None
    sign, code, rest = match.groups()
    code = SIGNS.get(code, code)
    if (trailing := TRAILING_CODE.fullmatch(rest)) is not None:
        last = read_unit(trailing[2])
        if code == "¥":
            code = "JPY" if trailing[2] in ("JPY", "日元") else "CNY"
        if last != read_unit(code):
            return None
        rest = trailing[1]
    scale = MONEY_SCALE.fullmatch(rest)
    number = read_number(scale[1] if scale else rest)
    if number is None or number.ordinal or rest[0] in "+-" or rest[-1] == "%":
        return None
    value = number.value * (MONEY_SCALES[scale[2].lower()] if scale else 1) * (-1 if sign == "-" else 1)
    unit = MeasureUnit(Fraction(1), (("¥", 1),)) if code == "¥" else read_unit(code)
    return None if unit is None else _quantity(Number(value, doubtful=number.doubtful), unit)


def _single(text: str) -> Quantity | None:
    head = HEAD.match(text)
    if head is not None and (quantity := _split_at(text, head.end())) is not None:
        return quantity
    if not text.isascii() and (han := HAN_NUMBER.match(text)) is not None:
        for end in range(han.end(), 0, -1):
            if (quantity := _split_at(text, end)) is not None:
                return quantity
    if head is None and text[:1].isalpha() and text.isascii():
        return _in_words(text)
    return None


def _split_at(text: str, end: int) -> Quantity | None:
    name = text[end:].strip()
    extra = Fraction(0)
    if name[:1] in "个個" and name[1:2] == "半":
        name, extra = name[2:], Fraction(1, 2)
    if len(name) > 1 and name[-1] == "半" and HAN.match(name):
        name, extra = name[:-1], Fraction(1, 2)
    if not name:
        return None
    unit = read_unit(name) or (read_unit(name[1:]) if name[0] in "个個-" else None)
    if unit is None or (name == "年" and end >= 4):  # 2024年 is a date
        return None
    number = read_number(text[:end].strip())
    if number is None or number.ordinal:
        return None
    return _quantity(Number(number.value + extra, doubtful=number.doubtful), unit, _written(text[:end]))


def _in_words(text: str) -> Quantity | None:
    if (match := AND_A_HALF.fullmatch(text)) is not None and (whole := _single(match[1])) is not None:
        part = Fraction(1, 2) if match[2].lower() == "half" else Fraction(1, 4)
        return msgspec.structs.replace(whole, amount=whole.amount + part * whole.unit.factor)
    words = text.split(" ")
    for end in range(min(len(words) - 1, 12), 0, -1):
        head = " ".join(words[:end])
        if (number := read_number(head)) is not None and not number.ordinal:
            unit = read_unit(" ".join(words[end:]))
            if unit is not None:
                return _quantity(number, unit)
    if (article := ARTICLE.fullmatch(text)) is not None and (unit := read_unit(article[2])) is not None:
        share = ARTICLES.get(article[1].lower(), Fraction(1, 4))
        return _quantity(Number(share), unit)
    if len(words) == 1 and "-" in text:  # five-kilometre
        number_part, _, unit_part = text.rpartition("-")
        number, unit = read_number(number_part), read_unit(unit_part)
        if number is not None and unit is not None:
            return _quantity(number, unit)
    return None


def _mixed(text: str) -> Quantity | None:
    """`1 h 30 min`: units of one kind, each smaller than the one before."""
    if (feet := FEET.fullmatch(text)) is not None:
        text = f"{feet[1]} ft" + (f" {feet[2]} in" if feet[2] else "")
        if not feet[2]:
            return _single(text)
    sign = -1 if text[:1] == "-" else 1
    pieces: list[Quantity] = []
    at = 1 if sign < 0 else 0
    for match in PIECE.finditer(text):
        if JOINED.sub("", text[at : match.start()]):
            return None
        at = match.end()
        number = read_number(match[1].rstrip("个 "))
        unit = _piece_unit(JOINED.sub("", match[2]), pieces)
        if number is None or unit is None or unit.zero or number.ordinal:
            return None
        pieces.append(_quantity(number, unit))
    if len(pieces) < 2 or JOINED.sub("", text[at:]):
        return None
    for quantity, following in pairwise(pieces):
        if quantity.unit.dimensions != following.unit.dimensions or not 0 <= following.amount < quantity.unit.factor:
            return None
    total = sum((piece.amount for piece in pieces), Fraction(0))
    return Quantity(total * sign, pieces[-1].unit, any(piece.doubtful for piece in pieces))


def _piece_unit(name: str, before: list[Quantity]) -> MeasureUnit | None:
    if name in ("时", "点"):
        return read_unit("小时")
    if name == "分" and before:
        return read_unit("分钱" if before[0].unit.dimensions == (("CNY", 1),) else "分钟")
    if name == "m" and before and before[-1].unit.dimensions == (("s", 1),):
        return read_unit("min")
    return read_unit(name)


def _quantity(number: Number, unit: MeasureUnit, written: int = 0) -> Quantity:
    return Quantity(number.value * unit.factor + unit.zero, unit, number.doubtful, written)


def _written(digits: str) -> int:
    match = re.fullmatch(r"[+-]?[\d,]*\.(\d+)", digits.strip())
    return len(match[1]) if match else 0
