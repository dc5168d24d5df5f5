"""Find the amounts and dates in a sentence, and the single one of a kind that is its answer."""

import re
from collections.abc import Iterable

import msgspec

from proctor_judging.matching.asked import read_asked
from proctor_judging.matching.chinese import ROUGHLY
from proctor_judging.matching.dates import read_moments
from proctor_judging.matching.english import PARTS, SMALL, TENS
from proctor_judging.matching.numbers import read_number
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.quantities import read_quantity
from proctor_judging.matching.sentences import LONGEST
from proctor_judging.matching.text import tidy
from proctor_judging.matching.unit_table import read_unit

COMPARED = compile_later(
    r"(?:\b(?:than|at least|at most|(?<!add )(?<!adds )(?<!sum )up to|anywhere from|(?:half|twice|double|triple|thirds?|quarters?)(?: of)?(?: the)?|short of|shy of|(?:multiple|factor|divisor|power) of|except|but|besides|without|unlike|not|over|under|above|below|exceed(?:s|ed|ing)?|nearly|almost|"
    r"between|no|by a factor of|before|until|past|beyond|prior to)|[大小多少高低超快慢早晚]于|(?:超过|不足|不到|至少|至多|最多|最少)[\u3400-\u9fff]{0,3}|介于|还?差|将近|接近|没有|不是|比|[<>≤≥≈~])\s?[$€£¥]?$",
    re.IGNORECASE,
)
COUNTED = "个個位名只隻条條张張本件次种種人天年块塊章节節页頁层樓楼台辆輛匹头頭棵朵支枝杯碗瓶双雙套间間家座所倍成折公里英部篇首幅队隊组組班级級岁歲步元角度分秒米克吨斤升盏扇把枚栋艘架床堆束群款笔封集寸亩丈丸座回圈遍摄颗粒批届场場顿户戶盒包箱袋筐桶罐排串片滴册卷"
WORD_NUMBERS = "|".join(sorted({*SMALL, *TENS} - {"one", "a", "an"}, key=len, reverse=True))
WORD_PARTS = "|".join(sorted(PARTS, key=len, reverse=True))
MONTHS = r"(?:january|february|march|april|june|july|august|september|october|november|december|may|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b"
AT_TIME = r"(?:,? at \d{1,2}(?::\d\d)?(?: ?[ap]\.?m\b\.?)?)?"
SPAN = compile_later(
    r"(?P<compound>\b\d{1,4}\s?(?:(?:hours?|hrs?|h|minutes?|mins?|m|years?|weeks?|days?|feet|foot|ft|pounds?|lbs?)\.?,?\s(?:and\s)?)\d{1,2}\s?"
    r"(?:months?|days?|hours?|minutes?|mins?|m|seconds?|secs?|s|inch(?:es)?|in|ounces?|oz)\b|\d{1,3}(?:小时|个小时|分钟?|天|年)零?\d{1,2}(?:小时|个小时|分钟?|秒|个月|天)|\d{1,3}秒\d{1,3})"
    r"|(?P<clock>(?:half|(?:a )?quarter) (?:past|to) \w{1,6}\b(?: in the (?:morning|afternoon|evening))?|[一二三四五六七八九十]{1,3}[点點](?:半|整|钟|[一三]刻|[一二三四五六七八九十]{1,3}分)|(?:上午|下午|晚上|早上|凌晨|中午|傍晚)(?:\d{1,2}|[一二三四五六七八九十]{1,3})[点點时時](?:半|整|[一三]刻|\d{1,2}分?|[一二三四五六七八九十]{1,3}分?)?)"
    r"|(?P<tuple>\((?:[-+\d./√πa-z\\ ]+,)+[-+\d./√πa-z\\ ]+\)|(?<![\d:.])\d{1,3}:\d{1,3}(?![\d:])(?!\s?[ap]\.?m)|(?<![\d.-])\d{1,3}-\d{1,3}(?![\d.-])(?!\s?[\w%°]))|(?P<date>公元前?\d+年(?:\d{1,2}月(?:\d{1,2}[日号號])?)?|\d{4}年\d{1,2}月(?:\d{1,2}[日号號](?:(?:上午|下午|晚上|凌晨|中午)?\d{1,2}(?:[点點时時](?:\d{1,2}分?|半)?|:\d\d))?)?|\d{1,2}月\d{1,2}[日号號]|\d{4}-\d{1,2}-\d{1,2}"
    rf"|(?:{MONTHS})\.? (?:\d{{1,2}}(?:st|nd|rd|th)?(?:, ?| )\d{{4}}{AT_TIME}|\d{{4}}|\d{{1,2}}(?:st|nd|rd|th)?\b)"
    rf"|(?:the )?\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{MONTHS})\.?(?:,? \d{{4}}{AT_TIME})?"
    r"|\d{1,4} (?:BCE?|AD|CE)\b|\d{1,2}(?::\d\d){1,2}(?: ?[ap]\.?m\b\.?)?|\d{1,2}\.\d\d ?[ap]\.?m\b\.?|\d{1,2} ?[ap]\.?m\b\.?|\d{1,2}(?:st|nd|rd|th) century|\d{1,2}世纪)"
    r"|(?P<number>(?<![A-Za-z_\d.^])[-+]?(?:[$€£¥₹]\d[\d,]*(?:\.\d+)?\s?(?:[KMB]|bn|mn)(?![A-Za-z])|[$€£¥₹]?\d[\d,]*(?:\.\d+)?)(?:[eE][-+]?\d+| ?[×x*] ?10\^?\{?[-+]?\d+\}?)?(?: ?/ ?\d+(?:,\d{3})*)?π?(?:(?: ?[%°万亿]| per ?cent\b| (?:million|billion|thousand|trillion|hundred|dozen)"
    r"\b|(?:st|nd|rd|th)\b))?)"
    rf"|(?P<part>\b(?:one|a|{WORD_NUMBERS})[ -](?:half|{WORD_PARTS})s?\b)"
    rf"|(?P<words>\b(?:{WORD_NUMBERS})(?:[ -](?:and )?(?:{WORD_NUMBERS}|hundred|thousand|million|billion))*\b(?: hundred| thousand| million| billion| dozen)*(?: and a (?:half|quarter)\b)?|\b(?:half )?a (?:dozen|hundred|thousand|million)\b)"
    rf"|(?P<han>(?:百分之|负)?(?!百分[点之])[零〇一二两三四五六七八九十百千万亿]+(?:分之[一二三四五六七八九十百]+)?(?=[{COUNTED}]|大[洲洋类]|$))",
    re.IGNORECASE,
)
AMOUNT_AND_UNIT = compile_later(
    r"(?P<sign>(?:US|HK|[AC])?[$€£¥]|USD|EUR|GBP|CNY|RMB|JPY|)\s?(?P<amount>[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+|[万亿]|\s?[×x*]\s?10\^?\{?[-+]?\d+\}?|\s(?:million|billion|thousand|hundred|dozen))?|[零〇一二两三四五六七八九十百千万亿]{2,})\s?(?P<unit>[^\s\d].{0,30})?"
)
SUBJECT = compile_later(
    r"(?:there|exactly|only|about|approximately|around|a total of|一共|共|约)?\s?[-+$€£¥]?[\d一二三四五六七八九十两百千]|(?:exactly|only|about|around)?\W*(?:"
    + WORD_NUMBERS
    + r")\b",
    re.IGNORECASE,
)
HOW_MANY = compile_later(r"(?:多少|几)个?([\u3400-\u9fff]{1,5})")  # 多少摄氏度
HOW_OLD = compile_later(r"how old|\bage\b|多大|几岁|年龄", re.IGNORECASE)
SHORT_SCALE = compile_later(r"[$€£¥₹]\s?[\d.,]+\s?(?:[KMB]|bn|mn)")
UNIT_PER = compile_later(r"\b[A-Za-z]{1,6}/[A-Za-z]{1,6}\b")
CURRENCIES = tuple(
    {unit.dimensions for code in ("USD", "EUR", "GBP", "CNY", "JPY", "INR") if (unit := read_unit(code)) is not None}
)
LONE_ONE = compile_later(r"一(?![零一二两三四五六七八九十百千万亿])")  # 一年有365天
COUNTS = ("人", "分", "块", "people", "persons")  # what is counted, rather than a unit
VERSION_OF = compile_later(r"(?:\bversion|\bsection|\bchapter|\bv|§)\s?$", re.IGNORECASE)
MORE_THAN = compile_later(
    r"\s?(?:[^\W\d_]{1,20}\s){0,2}?(?:more|less|fewer|cheaper|\w{2,20}er)\s(?:\w{1,20}\s){0,2}?than\b", re.IGNORECASE
)  # $5 less than him
HAN_MORE_THAN = compile_later(
    r"比[^，。,]{1,16}[多少高低大小重轻快慢长短贵宜厚薄深浅宽窄远近晚早][\u3400-\u9fff]?[了出]?$"
)
ROSE_FROM = compile_later(
    r"(\b(?:rose|rises?|risen|fell|falls?|fallen|declined|dipped|slipped|shrank|slid|sank|plunged|soared|dropped|grew|went|changed|moved|climbed|increased|decreased|improved|jumped))\sfrom\s[^,]{1,40}?\sto\s",
    re.IGNORECASE,
)
COUNT_OF = compile_later(
    rf"([\d,.]{{1,20}}|[一二三四五六七八九十百两千万]{{1,9}}|[a-z-]{{3,20}}(?= ))\s?([{COUNTED}][\u3400-\u9fff]{{0,3}}|(?<=\s)[a-z]{{3,20}})"
)
END_OF_NOUN = compile_later(r"[,;，；、和\d]|\b(?:and|for|in|at|on|with|every|per|from|to)\b", re.IGNORECASE)
ASKS_MORE = compile_later(
    r"\b(?:than|difference|exceeds?)\b|比|差|多几|少几|相差|(?:便宜|[贵多少大小高低快慢长短重轻早晚宽厚])了?(?:多少|几)",
    re.IGNORECASE,
)
CHANGED_BY = compile_later(
    r"(?:\b(?:rose|risen|(?:in|de)creased|raised|reduced|dropped|declined|climbed|slowed|lowered|shortened|fell|fallen|grew|grown|cut|(?:went|gone) (?:up|down)|\w{3,}er) by|[涨降升跌增减加宜贵]了?)\s?[$€£¥]?$"
)
ASKS_CHANGE = compile_later(
    r"\b(?:by|ris|rose|grow|grew|fall|fell|drop|(?:in|de)creas|chang|up|down|reduc|differ|more|less)|[涨降升跌增减加宜贵变差多少几]了|变化",
    re.IGNORECASE,
)
COMPARATIVE = compile_later(r"(?:the )?(?:\w{2,20}er|more|less)\b(?! of)")  # 9.9 is larger than 9.11
OUT_OF = compile_later(r"(?<=\d) (?:out )?of (?:the )?\d+(?= [a-z])")  # 24 out of 30 students
OFF = compile_later(
    r"\s(late|early|off|too|short|away from|(longer|shorter|more|less|later|earlier|older|younger|taller|heavier))\b"
)
AFTER = compile_later(r"\b(after|since)\s(?:the\s)?$", re.IGNORECASE)
PER = compile_later(r"(?:每(?:秒|小时|分钟)|时速)$")
AROUND = compile_later(
    r"\s?年?(?:以上|以下|以后|以来|之前|以前|前后|or (?:earlier|later|before|after)\b|at the (?:earliest|latest)|的(?:倍数|平方|立方|一半|[\d一二三四五六七八九十两百]+倍)|times as\b|squared\b)"
)
YEAR = compile_later(r"(?:1\d|20)\d\d")


class AmountSpan(msgspec.Struct, frozen=True):
    """An amount or date in a sentence with its unit; `sure` if it is said outright: not `more than 5`."""

    text: str
    start: int
    end: int
    sure: bool


def without_asked_unit(text: str, question: str) -> str:
    """Return an amount without the unit that the question asks for: `5` for `5 km`, where it asks for kilometres.

    >>> without_asked_unit("5 km", "How many kilometres is it?"), without_asked_unit("5 km", "How far?")
    ('5', '5 km')
    """
    match = AMOUNT_AND_UNIT.fullmatch(tidy(text))
    quantity = read_quantity(tidy(text))
    if match is None or quantity is None:
        return text
    name = match["unit"] or match["sign"]
    words = re.findall(r"[^\W\d_]{1,20}[²³]?", question[:LONGEST]) + UNIT_PER.findall(question[:LONGEST])
    words += [how[1][:size] for how in HOW_MANY.finditer(question[:LONGEST]) for size in range(1, len(how[1]) + 1)]
    old = HOW_OLD.search(question) is not None and quantity.unit == read_unit("year")
    paid = quantity.unit.dimensions in CURRENCIES and quantity.unit.factor == 1 and read_asked(question).money
    named = old or paid or name in COUNTS or (name in question if not name.isascii() or name == "$" else name in words)
    return (
        without_unit(text)
        if named or quantity.unit in [read_unit(word) for word in words if len(word) > 1 or not word.isascii()]
        else text
    )


def without_unit(text: str) -> str:
    """Return the bare number of an amount; another text unchanged."""
    if SHORT_SCALE.fullmatch(tidy(text)) and (quantity := read_quantity(tidy(text))) is not None:
        return str(quantity.amount / quantity.unit.factor)  # $4.2M
    match = AMOUNT_AND_UNIT.fullmatch(tidy(text))
    return text if match is None else match["amount"]


def counted_noun(target: str) -> str:
    """Return the noun of a target that counts something we have no unit for; '' for another target.

    >>> counted_noun("15本"), counted_noun("15 books"), counted_noun("15 km"), counted_noun("Catch 22")
    ('本', 'books', '', '')
    """
    match = COUNT_OF.fullmatch(tidy(target))
    if match is None or (match[2] != "岁" and read_quantity(tidy(target))) or read_moments(tidy(target)):
        return ""
    return match[2] if read_number(match[1]) is not None else ""


def amount_spans(sentence: str, question: str = "") -> Iterable[AmountSpan]:
    """Yield the amounts and dates of a sentence with their units."""
    for match in SPAN.finditer(sentence):
        text, sure = (
            match[0].strip().rstrip(","),
            COMPARED.search(sentence[max(0, match.start() - 24) : match.start()]) is None,
        )
        text = text if text.startswith("公元前") else text.removeprefix("公元")
        if match["han"] and ROUGHLY.fullmatch(sentence[match.start() : match.end() + 1]):
            sure = False
        if AROUND.match(sentence, match.end()) or (sentence[match.start() - 1 : match.start()] == "第" != question[:1]):
            sure = False
        if (match["date"] or YEAR.fullmatch(text)) and (after := AFTER.search(sentence[: match.start()])) is not None:
            sure = sure and after[1].casefold() in question.casefold().split()
        if match["date"] or match["tuple"] or match["compound"] or match["clock"]:
            yield AmountSpan(text, match.start(), match.end(), sure)
            continue
        text = (per[0] if (per := PER.search(sentence[: match.start()])) else "") + text
        if "." in text and (label := VERSION_OF.search(sentence[: match.start()])) is not None:
            text = label[0] + text
        rest = sentence[match.end() :]
        if re.match(
            r"\s?(?:or more|or less|or so|以上|以下|多[个元米]?|左右|[\u3400-\u9fff]{0,4}多(?=$|[，。,的]))",
            rest,
        ):
            sure = False
        unit = _unit(text, rest)
        if re.match(r"['’]?s\b", rest) or AROUND.match(rest, len(unit)):
            sure = False  # the 1990s, 3 days or more
        if (off := OFF.match(rest, len(unit))) is not None and off[1] not in question and (question or not off[2]):
            sure = False  # 15 minutes late, $30 off
        compared = MORE_THAN.match(rest) or HAN_MORE_THAN.search(sentence[max(0, match.start() - 24) : match.start()])
        if compared and not ASKS_MORE.search(question):
            sure = False
        if question and CHANGED_BY.search(sentence[: match.start()]) and not ASKS_CHANGE.search(question):
            sure = False
        yield AmountSpan(text + unit, match.start(), match.end() + len(unit), sure)


def _unit(amount: str, rest: str) -> str:
    """Return the unit that follows an amount."""
    words = re.match(r"\s?[^\s\d,.;，。；!！][^\s,.;，。；!！]{0,11}(?:\s[^\s\d,.;，。；!！]{1,12}){0,2}", rest)
    if words is None:
        return ""
    text = words[0][: rest.index(" in ")] if " in " in rest else words[0]  # He died at 35 in Vienna
    pieces = [text[: match.end()] for match in re.finditer(r"\S+", text)][::-1]
    if not text.isascii():
        pieces += [text[:size] for size in range(min(len(text), 6), 0, -1)]
    return next(
        (
            piece
            for piece in pieces
            if not piece[-1:].isdigit() or "^" in piece
            if read_quantity(tidy(amount + piece)) is not None
        ),
        "",
    )
