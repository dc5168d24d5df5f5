"""Say whether a Chinese claim and a target name one thing: what leaves a name what it is does not count, such as `在`, `她的`, or the noun of the question.

Both are read alike, so neither side helps the other. A noun of class counts only where both have one: 两栖类 and 两栖动物, not 法国 and 法语.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

from proctor_judging.matching.asked import read_asked
from proctor_judging.matching.han_names import REGION
from proctor_judging.matching.han_question import read_han_question
from proctor_judging.matching.names import known_name
from proctor_judging.matching.number_words import with_digits
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import HAN, table_lines
from proctor_judging.matching.similarity import blocker
from proctor_judging.matching.text import tidy

NUMERALS = "零一二两三四五六七八九十百千万半"
LONGEST = 40
BRACKET = compile_later(rf"^([{HAN}·]{{2,}}|[^（(]*[{HAN}]{{2}}[^（(]*)\s?[（(][^（()）]{{1,40}}[）)]$")
BEFORE = compile_later(
    r"^(?:(?:应该|应)?是|因为|由于|推荐|建议|改用|凭|因(?=..)|受(?=.+影响$)|通过|依靠|属于|位于|农历|公元(?=前)|大?约|[在于从由被用靠和跟与给向往叫]|(?:[他她它我你您其]|自己|本人)(?:们)?的?|一[个种位只条座款部项名篇首门幅段类套份双对瓶杯袋颗](?=.))+(?=.)"
)
AFTER = compile_later(
    r"(?<=.)(?:之一|左右|就?即可|就(?:行|够|可以|好)|[这那]一?[个篇步本首部件条种位家座款次项]|影响|引起|导致|的缘故|的|了|呢|吧|啊|呀|哦|中|里|内|[\s,，。!！、:：])+$"
)
INNER = compile_later(rf"(?<=[{HAN}])[的了](?=[{HAN}])|[\s,，、。·\"“”《》'‘’]+|(?<=[{HAN}])(?:[—-]+|和)(?=[{HAN}])")
MATHEMATICAL = compile_later(r"[=<>^+*/\\≤≥√±]|[A-Za-z]\(")
LIST_MARK, COUNT = (
    compile_later(rf"[、，,]|(?<=[{HAN}])[和与及](?=[{HAN}])"),
    compile_later(rf"(?<=[{HAN}])[两三四五六七八九十][个位种大]?[{HAN}]$"),
)
PLACEHOLDER = compile_later(rf"(?<=[a-z])(?: +(?:<[^<>]+>|\[[^\[\]]+\]|[{HAN}]+))+$")
OWNER = compile_later(r"(?:[他她它我你您其]|自己|本人)(?:们)?(?=的|[^\W\d_]{2})|[从由给向往]")
FLOORS, DEGREES, DISCOUNTS = (
    compile_later(r"几[楼层]|哪一?[楼层]"),
    compile_later(r"温|空调|烤箱|多热|多冷|[熔沸冰燃]点"),
    compile_later(r"折"),
)
PER, PER_AFTER = (
    compile_later(r"^每(秒|分钟|小时|天|周|月|年)(?=.*\d)(.+)$"),
    compile_later("每(?=(?:秒|分钟|小时|天|周|月|年)$)"),
)
UNTIL = compile_later(r"(?<=[\d年月日号点])[至~-](?=\d)")
DISCOUNT = compile_later(r"打?([\d一二三四五六七八九])[.点]?([\d一二三四五六七八九]?)折")
ROUGHLY = compile_later(rf"^(?:大约|约|大概|将?近|差不多)(?=[\d{NUMERALS}])|(?<=[{HAN}\d%])(?:左右|上下)$")
CALENDAR = compile_later(rf"^(?:农历|阴历|每[天年周日]|公元(?=前))(?=前?[\d{NUMERALS}])")
MEASURE = compile_later(r"(?:几|多少)([^度折\W])")
FREQUENCY = compile_later(
    rf"^每?隔?([\d{NUMERALS}]*)个?(年|季度|月|周|天|小时|分钟)[^第\W\d]{{0,4}}?([\d{NUMERALS}]+)[次届]$"
)
DATES, DAY_OF_MONTH = (
    compile_later("几[日号](?![线楼店门口车桌馆厅院])|哪一?天|日期|什么时候"),
    compile_later(rf"(?<=[\d{NUMERALS}])号$"),
)
SPACED = compile_later(r"(?<=[A-Za-z]) (?=\d)|(?<=\d) (?=[A-Za-z])")
COMPLEXITY = compile_later(r"^[OoΘΩ]\(.*\)$")
WEEK, DAY = compile_later("星期|礼拜"), compile_later("(?:[上下本这]?周[一二三四五六日天]|[今明后昨前]天)(?=.)")
WHY, SHORTEST_REASON = compile_later("为什么|为何|为啥|原因|怎么回事"), 4
TURNS = compile_later(
    "[不没非无未除或比]|[以之][前后外]|以[上下]|超过|至少|最多|附近|旁边"
)  # what they precede or follow
LONGEST_AMOUNT = 16
ANOTHER_THING = frozenset(("奖", "酒", "茶", "病"))  # than what its name has before
SHORT_STEMS = frozenset(("色", "颜色", "朝", "代", "朝代", "字", "族", "性", "队", "国", "市", "省", "型", "层", "楼"))


def same_name(given: str, target: str, question: str) -> bool:
    """True if both texts name the same in answer to a Chinese question.

    >>> same_name("妈妈", "她的妈妈", "小红和谁去的？"), same_name("两栖动物", "两栖类", "青蛙属于哪一类动物？")
    (True, True)
    >>> same_name("法国", "法语", "这是什么？"), same_name("距离单位", "时间", "光年是时间单位还是距离单位？")
    (False, False)
    """
    given, target = (COUNT.sub("", text) if LIST_MARK.search(text) is not None else text for text in (given, target))
    given, target = (SPACED.sub("", text) for text in (given, target))
    if max(len(given), len(target)) > LONGEST or blocker(given, target) is not None:
        return False
    if MATHEMATICAL.search(given + target):
        return False
    asked = read_han_question(question)
    if asked is not None and asked.options:
        meant = [_option(text, asked.options, question) for text in (given, target)]
        if all(meant):
            return meant[0] == meant[1]
    items, expected = LIST_MARK.split(tidy(given)), LIST_MARK.split(tidy(target))
    if len(items) == len(expected) > 1:
        return _same_items(items, expected, question)
    return _same(given, target, question)


def said_alike(given: str, target: str, question: str) -> tuple[str, str] | None:
    """Return two amounts or moments in the one spelling that a Chinese question allows: storeys as 楼, discounts as shares, weekdays as 周; None if that changes neither.

    >>> said_alike("星期四下午两点", "周四14:00", "几点开会？"), said_alike("大约340米", "340米", "有多高？")
    (('下午两点', '14:00'), ('340米', '340米'))
    """
    if len(given) > LONGEST_AMOUNT or len(target) > LONGEST_AMOUNT:
        return None
    plain = [_spelt(text, question) for text in (given, target)]
    days = [DAY.match(text) for text in plain]
    if days[0] is not None and days[1] is not None and days[0][0] == days[1][0]:
        plain = [text[days[0].end() :] for text in plain]
    return (plain[0], plain[1]) if plain != [given, target] else None


@lru_cache(maxsize=2048)
def _spelt(text: str, question: str) -> str:
    if (times := FREQUENCY.match(text)) is not None:
        is_asked = re.search(f"[每一]{times[2]}", question) and times[1] in ("", "一", "1")
        text = with_digits(f"{times[3]}次" if is_asked else f"{times[3]}次/{times[1] or 1}{times[2]}")
    text = ROUGHLY.sub("", CALENDAR.sub("", WEEK.sub("周", text.replace("周岁", "岁"))))
    text = text.replace(" ", "") if COMPLEXITY.match(text) else text
    text = re.sub("次/分$", "次/分钟", PER_AFTER.sub("/", PER.sub(r"\2/\1", UNTIL.sub("到", text))))
    is_date = DATES.search(question) is not None
    text = DAY_OF_MONTH.sub("日", text) if is_date else text
    text = text.removeprefix("第") if "第几" in question else text
    measure = MEASURE.search(question)
    if measure is not None and text[-1:] in ("日号" if is_date else measure[1]) and text[-2:-1].isnumeric():
        text = text[:-1]
    if FLOORS.search(question):
        text = re.sub("层$", "楼", text)
    if DEGREES.search(question):
        text = re.sub("(?<!摄氏)(?<!华氏)度$", "℃", text.rstrip("。"))
    return DISCOUNT.sub(_share, text) if DISCOUNTS.search(question) else text


def _share(discount: re.Match[str]) -> str:
    digits = "".join(str("一二三四五六七八九".find(digit) + 1 or digit) for digit in discount[1] + discount[2])
    return f"{digits:0<2}%"


def _same_items(given: Sequence[str], target: Sequence[str], question: str) -> bool:
    """True if two lists have the same items, in the same order unless the question asks for a set."""
    if not read_asked(question).several:
        return all(_same(one, other, question) for one, other in zip(given, target, strict=True))
    rest = list(target)
    for item in given:
        same = next((other for other in rest if _same(item, other, question)), None)
        if same is None:
            return False
        rest.remove(same)
    return True


def _same(given: str, target: str, question: str) -> bool:
    one, other = _plain(given), _plain(target)
    if len(other) >= SHORTEST_REASON and one.endswith(other) and WHY.search(question) is not None:
        return (
            TURNS.search(one.removesuffix(other)) is None
        )  # 公共物品具有非排他性, of which the question names the subject
    owners = {match[0] for match in map(OWNER.match, (tidy(given), tidy(target))) if match is not None}
    if not one or not other or len(owners) > 1:
        return False
    return one == other or any(
        stem == other_stem
        and (kind == other_kind or (not (kind and other_kind) and (kind or other_kind) not in ANOTHER_THING))
        for stem, kind in _stems(one, given, question)
        for other_stem, other_kind in _stems(other, target, question)
    )


def _option(text: str, options: Sequence[str], question: str) -> str:
    """Return the one option that a text is a part of, or that is part of it in words of the question; '' if none or several are."""
    plain = _plain(text)
    exact = [option for option in options if _plain(option) == plain]
    asked = _plain(question)
    near = exact or [
        option
        for option in options
        if plain and (plain in option or (_plain(option) in plain and plain.replace(_plain(option), "") in asked))
    ]
    return near[0] if len(near) == 1 else ""


@lru_cache(maxsize=2048)  # targets come again with every form of a claim
def _plain(text: str) -> str:
    text = PLACEHOLDER.sub("", tidy(text))
    if (bracketed := BRACKET.match(text)) is not None:
        text = bracketed[1]
    return INNER.sub("", (AFTER.sub("", BEFORE.sub("", text))))


@lru_cache(maxsize=2048)
def _stems(text: str, whole: str, question: str) -> frozenset[tuple[str, str]]:
    return frozenset(_of_kinds(text, whole, question))


def _of_kinds(text: str, whole: str, question: str) -> Iterable[tuple[str, str]]:
    """Yield a text of no kind, and without the noun or the region that says of which kind it is or where, with that."""
    yield known_name(text), ""
    asked = read_han_question(question)
    for size in range(min(5, len(text) - 1), 0, -1):
        noun, stem = text[-size:], text[:-size]
        kind = _kinds().get(noun, "")
        is_asked = noun in question if size > 1 else asked is not None and (asked.head or asked.right)[-1:] == noun
        if (
            (kind or is_asked)
            and text not in question
            and (len(stem) > 1 or noun in SHORT_STEMS or not stem.isalpha() or stem.isascii())
        ):
            yield known_name(stem), kind or noun
    noun = next(
        (text[:size] for size in (4, 3, 2) if asked is not None and asked.gap and asked.right.startswith(text[:size])),
        "",
    )
    if 1 < len(noun) < len(text):
        yield known_name(text.removeprefix(noun)), noun  # 方案乙, asked for 哪个方案
    is_place = asked is not None and asked.asks_where and LIST_MARK.search(whole) is None
    if is_place and (region := REGION.match(text)) is not None:
        yield known_name(text[region.end() :]), region[0]


@cache
def _kinds() -> dict[str, str]:
    return {noun: nouns[0] for nouns in map(str.split, table_lines("han_kinds.txt")) for noun in nouns}
