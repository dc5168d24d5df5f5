"""The rule for dates and times. A date that can be read two ways (03/05/2024) is right only if both are."""

import calendar
import datetime
import re
from functools import lru_cache
from itertools import product

import msgspec

from proctor.core.sentence import say
from proctor_judging.matching.clock import Time, find_time, minutes_in_utc
from proctor_judging.matching.numbers import read_number
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.verdict import AnswerMatch, accept, differ, two_readings

RULE = "dates and times"
LONGEST = 80
MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
MONTHS |= {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}
WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
WEEKDAYS |= {name[:3]: number for name, number in WEEKDAYS.items()} | {"tues": 1, "wednes": 2, "thur": 3, "thurs": 3}
HAN_WEEKDAYS = {char: number for number, char in enumerate("一二三四五六")} | {"日": 6, "天": 6}
MONTH = "(?P<month_name>" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\.?"
DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
YEAR = r"(?P<year>\d{4})"
FORMS = tuple(
    compile_later(form)
    for form in (
        r"(?P<year>\d{4})([-/.])(?P<month>\d{1,2})\2(?P<day>\d{1,2})",
        r"(?P<year>\d{4})年\s*(?P<month>\d{1,2})月\s*(?P<day>\d{1,2})[日号號]?",
        r"(?P<month>\d{1,2})月\s*(?P<day>\d{1,2})[日号號]?",
        r"(?P<year>\d{4})年\s*(?P<month>\d{1,2})月(?:份)?",
        r"(?P<month>\d{1,2})月(?:份)?",
        r"(?P<year>\d{4})[-/](?P<month>\d{2})",
        r"(?P<first>\d{1,2})([-/.])(?P<second>\d{1,2})\2(?P<year>\d{4})",
        rf"{MONTH}\s*(?:the\s+)?{DAY}(?:\s*,\s*|\s+(?:of\s+)?){YEAR}",
        rf"(?:the\s+)?{DAY}[\s-]*(?:of\s+)?{MONTH}[\s,-]*(?:of\s+)?{YEAR}",
        rf"{MONTH}\s*(?:the\s+)?{DAY}",
        rf"(?:the\s+)?{DAY}\s*(?:of\s+)?{MONTH}",
        rf"{MONTH}[\s,-]*(?:of\s+)?{YEAR}",
        rf"{YEAR}[\s,-]*{MONTH}(?:\s+{DAY})?",
        MONTH,
        r"(?:公元)?(?P<year>\d{3,4})年",
        r"(?:公元前)(?P<bc>\d{1,4})年?",
        r"(?P<bc>\d{1,4})\s*b\.?c\.?(?:e\.?)?",
        r"(?:公元|ad |a\.d\. )(?P<year>\d{1,4})年?|(?P<ad>\d{1,4})\s*(?:ad|a\.d\.?|ce|c\.e\.?)",
        r"(?:the\s+)?(?P<decade>\d{3}0)'?s",
        r"(?P<century>\d{1,2})世纪(?P<tens>\d0)年代",
        r"(?P<decade>\d{3}0)年代",
        r"(?:the\s+)?(?P<century>\d{1,2})(?:st|nd|rd|th)?[\s-]century(?:\s*(?:ad|ce))?",
        r"(?:公元)?(?P<century>\d{1,2})世纪",
        r"(?:on\s+)?(?P<weekday>" + "|".join(sorted(WEEKDAYS, key=len, reverse=True)) + r")\.?",
        r"(?:星期|周|礼拜)(?P<han_weekday>[一二三四五六日天])",
    )
)
WEEKDAY_BESIDE = compile_later(
    r"^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|tue|wed|thu|fri|sat|sun)\.?)(?:\s*,\s*|\s+)|"
    r"[\s,(（]*(?:星期|周|礼拜)[一二三四五六日天][)）]?"
)
HAN_NUMBER = compile_later(
    r"[零〇一二两三四五六七八九十百千廿卅]+(?=[年月日号號世]|年代)|(?<=月)[零〇一二三四五六七八九十廿卅]+$"
)
WORD_DAY = compile_later(r"\b(?:twenty|thirty)?-?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|"
                      r"eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|"
                      r"twentieth|thirtieth)\b")  # fmt: skip
HINT = compile_later(
    r"\d[-/.:年月点點时時世]|[ap]\.?\s?m\b|\d{3}0'?s|\b(?:"
    + "|".join(name[:3] for name in MONTHS if len(name) > 3)
    + r"|may|"
    r"mon|tue|wed|thu|fri|sat|sun|noon|mid|b\.?c|a\.?d|ce\b|century|in the (?:morn|after|even)|o'?clock|half past|quarter)|[月年点點时時周世]|星期|礼拜|"
    r"正午|午夜|公元|(?:past|to) [a-z]",
    re.IGNORECASE,
)
BARE_YEAR = compile_later(r"[12]\d{3}")


class Moment(msgspec.Struct, frozen=True):
    """A date and time as far as a text states it; unstated fields are None. Years before Christ are negative."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    time: Time | None = None
    weekday: int | None = None
    decade: int | None = None
    century: int | None = None


@lru_cache(maxsize=4096)
def read_moments(text: str) -> tuple[Moment, ...]:
    """Return every reading of a normalized text as a date, a time or both; none if it is neither.

    >>> read_moments("May 3, 2024") == read_moments("2024年5月3日") == read_moments("3 May 2024")
    True
    >>> len(read_moments("03/05/2024")), len(read_moments("13/05/2024")), read_moments("31/02/2024")
    (2, 1, ())
    """
    if len(text) > LONGEST or not HINT.search(text):
        return ()
    text = text.lower()
    if dates := _dates(text):
        return dates
    pair = find_time(text)
    if pair is None:
        return ()
    time, rest = pair
    rest = re.sub(r"^(?:at|on|t)\b|\b(?:at|on)$", "", rest.strip(" ,、的在")).strip(" ,、的在")
    rest = rest[:-1] if rest[-2:-1].isdigit() and rest[-1] == "t" else rest
    if not rest:
        return (Moment(time=time),)
    return tuple(msgspec.structs.replace(date, time=time) for date in _dates(rest) if date.day is not None)


def dates(answer: str, target: str) -> AnswerMatch | None:
    """Compare two dates or times; they are equal only if every possible reading of them is."""
    expected = read_moments(target)
    given = read_moments(answer)
    if not given and not expected:
        return None
    given = given or _bare_year(answer, expected)
    expected = expected or _bare_year(target, given)
    if not given or not expected:
        return None
    verdicts = {_equal(moment, other) for moment, other in product(given, expected)}
    if verdicts == {True}:
        return accept(RULE, say("Both are the same date or time."))
    if verdicts == {False}:
        return differ(RULE, answer, target)
    doubtful = target if len(expected) > 1 or _unclear(expected) else answer
    return two_readings(RULE, doubtful, _readings(expected if doubtful == target else given))


def _readings(moments: tuple[Moment, ...]) -> list[str]:
    """Return what a doubtful date or time may be: `2024-03-05` and `2024-05-03`, `3:30` and `15:30`."""
    times = [moment.time for moment in moments if moment.time is not None and moment.time.unclear]
    if times:
        return [f"{(times[0].hour + later) % 24}:{times[0].minute:02}" for later in (0, 12)]
    return [_shown(moment) for moment in moments]


def _shown(moment: Moment) -> str:
    """Return the date of a reading, such as `2024-05-03`; what is not stated is left out."""
    return "-".join(f"{part:02}" for part in (moment.year, moment.month, moment.day) if part is not None)


def _dates(text: str) -> tuple[Moment, ...]:
    text = WEEKDAY_BESIDE.sub("", text) if len(text) > 8 else text
    text = HAN_NUMBER.sub(_in_digits, text)
    text = WORD_DAY.sub(_in_digits, text).strip()
    text = re.sub(r"^(?:in|on)\s+(?=\w)", "", text)
    for form in FORMS:
        if (match := form.fullmatch(text)) is not None and (moments := _moments(match.groupdict())):
            return moments
    return ()


def _moments(given: dict[str, str | None]) -> tuple[Moment, ...]:
    numbers = {key: int(value) for key, value in given.items() if value and value.isdigit()}
    if name := given.get("month_name"):
        numbers["month"] = MONTHS[name]
    if "first" in numbers:
        first, second = numbers["first"], numbers["second"]
        pairs = {(first, second), (second, first)}  # (month, day)
        return tuple(
            sorted((Moment(numbers["year"], *pair) for pair in pairs if _exists(numbers["year"], *pair)), key=str)
        )
    if weekday := given.get("weekday"):
        return (Moment(weekday=WEEKDAYS[weekday]),)
    if weekday := given.get("han_weekday"):
        return (Moment(weekday=HAN_WEEKDAYS[weekday]),)
    if "tens" in numbers:
        return (Moment(decade=(numbers["century"] - 1) * 100 + numbers["tens"]),)
    if "decade" in numbers or "century" in numbers:
        return (Moment(decade=numbers.get("decade"), century=numbers.get("century")),)
    year = -numbers["bc"] if "bc" in numbers else numbers.get("ad", numbers.get("year"))
    if not _exists(year, numbers.get("month"), numbers.get("day")):
        return ()
    return (Moment(year, numbers.get("month"), numbers.get("day")),)


def _exists(year: int | None, month: int | None, day: int | None) -> bool:
    if month is not None and not 1 <= month <= 12:
        return False
    leap = year is None or year <= 0 or calendar.isleap(year)
    return day is None or (month is not None and 1 <= day <= calendar.monthrange(2000 if leap else 2001, month)[1])


def _bare_year(text: str, other: tuple[Moment, ...]) -> tuple[Moment, ...]:
    """`1969` beside `1969年` or `1969 AD`."""
    if len(other) == 1 and other[0] == Moment(year=other[0].year) and BARE_YEAR.fullmatch(text):
        return (Moment(year=int(text)),)
    return ()


def _equal(one: Moment, other: Moment) -> bool | None:
    """None when they are equal in one reading of an unclear hour only."""
    first, second = one.time, other.time
    if first is None or second is None or first == second:
        return one == other
    if first.second != second.second:
        return False
    if first.zone is not None and second.zone is not None:
        return _minutes(one, first) == _minutes(other, second)
    if first.zone != second.zone or first.minute != second.minute:
        return False
    if msgspec.structs.replace(one, time=None) != msgspec.structs.replace(other, time=None):
        return False
    if second.unclear and not first.unclear and first.hour == second.hour:
        return True  # a target of `8:45`, as it is written
    if first.unclear or second.unclear:
        return None if first.hour % 12 == second.hour % 12 else False
    return first.hour == second.hour if one.day is not None else first.hour % 24 == second.hour % 24


def _minutes(moment: Moment, time: Time) -> tuple[int, ...]:
    minutes = minutes_in_utc(time)
    if moment.year is None or moment.month is None or moment.day is None or moment.year < 1:
        return (minutes % 1440, moment.month or 0, moment.day or 0)
    return (datetime.date(moment.year, moment.month, moment.day).toordinal() * 1440 + minutes,)


def _unclear(moments: tuple[Moment, ...]) -> bool:
    return any(moment.time is not None and moment.time.unclear for moment in moments)


def _in_digits(found: re.Match[str]) -> str:
    number = read_number(found[0])
    return str(number.value) if number is not None else found[0]
