"""Numbers in Chinese characters, ordinary and financial, with digits among them: `两百`, `廿三`, `肆拾贰`, `3亿5千万`."""

from fractions import Fraction

from proctor_judging.matching.patterns import compile_later

Value = int | Fraction

DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | dict.fromkeys("两兩", 2) | {"〇": 0}
DIGITS |= {char: value for value, char in enumerate("壹贰叁肆伍陆柒捌玖", start=1)}
DIGITS |= {"貳": 2, "參": 3, "叄": 3, "参": 3, "陸": 6}
SMALL = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
LARGE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
ROUND = {"百": 100, "千": 1000, "万": 10_000}
WRITTEN_OUT = {"廿": "二十", "卅": "三十", "卌": "四十"}
CHARACTERS = frozenset([*DIGITS, *SMALL, *LARGE, *WRITTEN_OUT, *"负負点點半又分之第个個成的0123456789.,- "])
PIECE = compile_later(r"\d[\d,]*(?:\.\d+)?|.")
FRACTION = compile_later(r"(?:(.+)又)?(.+?)分之(.+)")
POINT = compile_later(r"([^点點]*)[点點]([零〇一二三四五六七八九壹贰叁肆伍陆柒捌玖0-9]+)([百千]?[万萬亿億]*)")
ROUGHLY = compile_later(  # 三五个, 七八个: from three to five; 十来个, 一百多
    r"(?:一二|[二两]三|三[四五]|四五|五六|六七|七八|八九)[个個]"
)
POSITIONAL = compile_later("[零〇一二三四五六七八九壹贰叁肆伍陆柒捌玖]{2,}")
GROUPED = compile_later(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
LONGEST = 60


def chinese_number(text: str) -> tuple[Value, bool] | None:
    """Return the value of a text that is a number, and whether it is an ordinal; None for other texts.

    >>> chinese_number("两万零三百"), chinese_number("百分之五十"), chinese_number("第三"), chinese_number("三国")
    ((20300, False), (Fraction(1, 2), False), (3, True), None)
    >>> chinese_number("一万二"), chinese_number("二〇二四"), chinese_number("三点一四"), chinese_number("一个半")
    ((12000, False), (2024, False), (Fraction(157, 50), False), (Fraction(3, 2), False))
    """
    if len(text) > LONGEST or not CHARACTERS.issuperset(text) or ROUGHLY.fullmatch(text):
        return None
    text = text.replace(" ", "").replace("负的", "负")
    if text[:1] == "第":
        place = _whole(text[1:].rstrip("个個"))
        return (place, True) if isinstance(place, int) else None
    sign = -1 if text[:1] in ("负", "負") else 1
    value = _amount(text[1:] if sign < 0 else text)
    return None if value is None else (value * sign, False)


def _amount(text: str) -> Value | None:
    if not text:
        return None
    if text[-1] in "个個" and len(text) > 1:
        text = text[:-1]
    if text in ("半", "一半"):
        return Fraction(1, 2)
    if text[-2:] in ("个半", "個半"):
        whole = _whole(text[:-2])
        return None if whole is None else whole + Fraction(1, 2)
    if text[-1] == "成" and (tenths := _whole(text[:-1])) is not None and 0 < tenths <= 10:
        return Fraction(tenths) / 10
    if (match := FRACTION.fullmatch(text)) is not None:
        return _fraction(*match.groups())
    if (match := POINT.fullmatch(text)) is not None:
        return _decimal(*match.groups())
    return _whole(text)


def _fraction(whole: str | None, below: str, above: str) -> Value | None:
    part = ROUND.get(above) or _amount(above)
    parts = ROUND.get(below) or _whole(below)
    before = _whole(whole) if whole else 0
    if part is None or not parts or before is None or "分之" in above:
        return None
    return before + Fraction(part) / parts


def _decimal(whole: str, behind: str, scale: str) -> Value | None:
    before = _whole(whole) if whole else 0
    if before is None:
        return None
    digits = "".join(char if char.isascii() else str(DIGITS[char]) for char in behind)
    value = before + Fraction(int(digits), 10 ** len(digits))
    for char in scale:
        value *= SMALL.get(char) or LARGE[char]
    return value


def _whole(text: str) -> Value | None:
    """Return a number of digits and units; a last digit without a unit counts in the next lower one (一万二 is 12000)."""
    if POSITIONAL.fullmatch(text):
        return int("".join(str(DIGITS[char]) for char in text))
    for short, long in WRITTEN_OUT.items():
        text = text.replace(short, long)
    high: Value = 0  # 亿 and above
    middle: Value = 0  # 万
    low: Value = 0
    digit: Value | None = None
    smallest, last, after_zero = 10_000, 1, False
    for piece in PIECE.findall(text):
        if piece in SMALL:
            unit = SMALL[piece]
            if unit >= smallest or (digit is None and unit > 10 and (high or middle or low or piece == text)):
                return None
            low += unit * (1 if digit is None else digit)
            digit, smallest, last, after_zero = None, unit, unit, False
        elif piece in LARGE:
            low += digit or 0
            last = LARGE[piece]
            if last == 10**4 and low and not middle:
                middle = low * last
            elif last == 10**8 and (middle or low) and not high:
                high, middle = (middle + low) * last, 0
            else:
                return None
            low, digit, smallest, after_zero = 0, None, 10_000, False
        elif digit is not None or (read := _digit(piece)) is None:
            return None
        elif read == 0 and piece in "零〇" and piece != text:
            after_zero = True
        else:
            digit = read
    total = high + middle + low
    if digit is None:
        return total or None
    if last > 10 and total and not after_zero and isinstance(digit, int) and digit < 10:
        return total + digit * last // 10
    return total + digit


def _digit(piece: str) -> Value | None:
    if piece in DIGITS:
        return DIGITS[piece]
    if GROUPED.fullmatch(piece):
        value = Fraction(piece.replace(",", ""))
        return value.numerator if value.denominator == 1 else value
    return None
