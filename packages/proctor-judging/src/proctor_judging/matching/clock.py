"""Times of day, in English and Chinese: `3:30 pm`, `15:30`, `下午三点半`, `noon`."""

import re

import msgspec

from proctor_judging.matching.numbers import read_number
from proctor_judging.matching.patterns import compile_later

MINUTES_OF_ZONE = {"utc": 0, "gmt": 0, "z": 0, "北京时间": 480, "协调世界时": 0, "世界时": 0}
MINUTES_OF_ZONE |= {
    "cet": 60,
    "central european time": 60,
    "cest": 120,
    "est": -300,
    "edt": -240,
    "pst": -480,
    "pdt": -420,
}
ZONE = r"utc|gmt|z\b|北京时间|central european time|ces?t\b|[ep][sd]t\b"
OFFSET = r"(?:utc|gmt)?[+-]\d{1,2}(?::?\d{2})?"
CLOCK = compile_later(
    r"(?P<part>凌晨|早上|早晨|清晨|上午|中午|下午|午后|傍晚|晚上|夜里|晚|am|pm)?\s*"
    r"(?P<hour>\d{1,2})(?::|\.(?=\d\d\s?[ap]\.?\s?m\b))(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.0+)?)?"
    r"\s*(?P<half>[ap]\.?\s?m\b\.?)?\s*(?P<zone>" + ZONE + r")?(?P<offset>" + OFFSET + r")?"
)
HOUR_ALONE = compile_later(
    r"(?P<hour>\d{1,2})(?:\s*(?P<half>[ap]\.?\s?m\b\.?)|\s+in the (?P<part>morning|afternoon|evening))\s*(?P<zone>"
    + ZONE
    + r")?"
)
OCLOCK = compile_later(
    r"(?P<word>\d{1,2}|[a-z]+)\s+o'?clock(?:\s*(?:in the\s+)?(?P<when>morning|afternoon|evening|[ap]\.?m\b\.?))?"
)
PAST = compile_later(
    r"(?:at )?(?P<share>half|(?:a )?quarter|[a-z-]+(?: minutes)?|\d{1,2} minutes) (?P<way>past|to|after) (?P<word>\d{1,2}|[a-z]+)"
    r"(?:\s*(?:in the\s+)?(?P<when>morning|afternoon|evening|[ap]\.?m\b\.?))?"
)
HAN_NUMBER = compile_later(
    r"[零〇一二两三四五六七八九十]+(?=[点點时時分秒])|(?<=[点點时時分])[零〇一二三四五六七八九十]+$"
)
HAN_CLOCK = compile_later(
    r"(?P<part>凌晨|早上|早晨|清晨|上午|中午|正午|下午|午后|傍晚|晚上|夜里|晚|午夜)?\s*(?P<hour>\d{1,2})[点點时時]钟?"
    r"(?:(?P<exact>整)|(?P<share>半|一刻|三刻)|(?P<minute>\d{1,2})分?(?:(?P<second>\d{1,2})秒)?)?"
)
WORDS = compile_later(r"(?:12\s+)?(?P<word>noon|midday|midnight|正午|午夜)")
MORNING = frozenset(["凌晨", "早上", "早晨", "清晨", "上午", "am", "morning"])
AFTERNOON = frozenset(["下午", "午后", "傍晚", "晚上", "夜里", "晚", "pm", "afternoon", "evening"])
SHARES = {"half": 30, "quarter": 15, "a quarter": 15, "半": 30, "一刻": 15, "三刻": 45}


class Time(msgspec.Struct, frozen=True):
    """A time of day; `unclear` when it may be before or after noon, `zone` in minutes east of UTC.

    The hour is 24 for the end of a day, which differs from its beginning when a date is given.
    """

    hour: int
    minute: int = 0
    second: int = 0
    unclear: bool = False
    zone: int | None = None


def find_time(text: str) -> tuple[Time, str] | None:
    """Return the time in a lower-case text, and the rest of the text; None without a valid time.

    >>> find_time("3:30 pm")[0] == find_time("15:30")[0] == find_time("下午三点半")[0]
    True
    >>> find_time("3:30")[0].unclear, find_time("2024-05-03t15:30:00")[1], find_time("25:00")
    (True, '2024-05-03t', None)
    """
    text = HAN_NUMBER.sub(_in_digits, text)
    for pattern in (CLOCK, HAN_CLOCK, OCLOCK, PAST, HOUR_ALONE, WORDS):
        if (match := pattern.search(text)) is not None and (time := _time(match)) is not None:
            return time, text[: match.start()] + " " * (match.start() > 0 and match.end() < len(text)) + text[
                match.end() :
            ]
    return None


def minutes_in_utc(time: Time) -> int:
    """Return the minutes since midnight UTC; below 0, or more than a day, if the time zone moves the time to another date."""
    return time.hour * 60 + time.minute - (time.zone or 0)


def _time(found: re.Match[str]) -> Time | None:
    given = found.groupdict()
    if "word" in given and "hour" not in given:
        return _said(given)
    hour, minute, second = int(given["hour"]), int(given.get("minute") or 0), int(given.get("second") or 0)
    if share := given.get("share"):
        minute = SHARES[share]
    part = given.get("part") or (given.get("half") or "").replace(".", "").replace(" ", "")
    unclear = not part and 0 < hour < 12 and len(given["hour"]) != 2
    if part:
        moved = _moved(hour, part)
        if moved is None:
            return None
        hour = moved
    if hour > 24 or minute > 59 or second > 59 or (hour == 24 and (minute or second)):
        return None
    zone = _zone(given)
    return Time(hour, minute, second, unclear, zone)


def _said(given: dict[str, str | None]) -> Time | None:
    word = given["word"] or ""
    if word in ("noon", "midday", "正午"):
        return Time(12)
    if word in ("midnight", "午夜"):
        return Time(0)
    hour = read_number(word)
    if hour is None or hour.ordinal or not 1 <= hour.value <= 12:
        return None
    minutes = int(hour.value) * 60
    if share := given.get("share"):
        number = read_number(share.removesuffix(" minutes"))
        offset = SHARES.get(share) or (int(number.value) if number is not None and 0 < number.value < 60 else 0)
        if not offset:
            return None
        minutes += -offset if given["way"] == "to" else offset
    when = (given.get("when") or "").replace(".", "")
    at = _moved(minutes // 60, when) if when else minutes // 60
    return None if at is None else Time(at % 24, minutes % 60, 0, not when)


def _moved(hour: int, part: str) -> int | None:
    if part in ("中午", "正午"):
        return hour if 10 <= hour <= 12 else hour + 12 if 1 <= hour <= 2 else None
    if part == "午夜":
        return 0 if hour in (0, 12, 24) else None
    if part in MORNING:
        return None if hour > 12 else hour % 12
    if hour > 12 and part not in ("pm",):
        return hour  # 下午15:30
    if part in AFTERNOON:
        if hour > 12:
            return None
        return 24 if hour == 12 and part in ("晚上", "夜里", "晚") else hour % 12 + 12
    return None


def _zone(given: dict[str, str | None]) -> int | None:
    zone = MINUTES_OF_ZONE.get(given.get("zone") or "")
    offset = given.get("offset")
    if not offset:
        return zone
    sign = -1 if "-" in offset else 1
    digits = re.split(r"[+-]", offset)[1].replace(":", "")
    hours, minutes = (int(digits[:-2]), int(digits[-2:])) if len(digits) > 2 else (int(digits), 0)
    return sign * (hours * 60 + minutes)


def _in_digits(found: re.Match[str]) -> str:
    number = read_number(found[0])
    return str(number.value) if number is not None else found[0]
