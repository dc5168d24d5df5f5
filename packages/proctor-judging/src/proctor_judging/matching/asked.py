"""Say what kind of answer a question asks for, and in which unit: only the question is looked at, so that a reply is read without its target."""

import re
from functools import lru_cache
from typing import Literal

import msgspec

from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import AUXILIARY, EMPTY_WORDS, MOST_CHARACTERS, echo, interrogative
from proctor_judging.matching.unit_table import MeasureUnit, read_unit

Kind = Literal["truth", "moment", "amount", "words", ""]
HAN_POLAR = r"吗|(?P<verb>[\u4e00-\u9fff])[不没](?P=verb)|[是能可会应有]否|(?:[是会能有]|可以|属于)[^，,。]{1,20}吧(?=[?？]?$)|(?<=[\u4e00-\u9fff])(?:不|没有?|(?<![什怎这那要多])么)(?=[?？]?$)"
POLAR = compile_later(
    r"^判断(?!.{0,12}[（(](?![对错是否真假√×])[^（）()/]{1,8}/)(?:题|正误|对错|下列)?|[对正]确?还是[错误]|真命题还是假|真还是假|"
    rf"{HAN_POLAR}|"
    rf"^(?:(?:and|so|but|then|ok(?:ay)?|now|also|hey|hi|quick q(?:uestion)?)[, ]\s?)*(?:(?:in|on|at|for|with|under|by|according to|based on) [^,?]{{1,60}}, )?{AUXILIARY}(?:n['’]t)?\b|"
    rf"^(?!.*\b(?:what|which|who|whom|whose|when|where|why|how)\b).*,\s{AUXILIARY}\s(?:i|you|he|she|it|we|they|this|that|there|the|an?|my|our)\b[^,?]*\??$|"
    r"\b(?:tell|told|ask|say|know|decide|check|determine|judge) (?:me |us |them )?(?:whether|if)\b|\bor (?:nah|no|not)\b\W*$|"
    r"\b(?:true or false|yes or no|right or wrong|correct or incorrect)\b",
    re.IGNORECASE,
)
HAN_OPEN = compile_later(
    rf"(?:谁|什么|哪|多少|几(?!乎)|怎|如何|为何)[^。；？?]*?(?:{HAN_POLAR.removeprefix('吗|')})"
)  # whether it is so, within
ALTERNATIVES = compile_later(r"\bor\b|还是", re.IGNORECASE)
TRUTH_OR = compile_later(
    r"\b(?:true or false|yes or no|right or wrong|correct or incorrect|or (?:not|nah|no)(?! [a-z]))\b|[对真正]确?(?:命题)?还是(?:[错假]|不)",
    re.IGNORECASE,
)
MOMENT = compile_later(
    r"\b(?:when|(?:at )?what time(?! zone)|(?:which|what) (?:exact )?(?:year|date|day|month|century|decade|weekday))\b|"
    r"哪一?[年月天日]|几[月日点]|几号(?![线楼店门口车桌馆厅院])|何[时年日]|什么时[候间]|星期几|周几|日期|哪个(?:世纪|年代|月)|几世纪",
    re.IGNORECASE,
)
AMOUNT = compile_later(
    r"\bhow (?:many|much|old|late|early|long|far|tall|high|fast|deep|wide|heavy|thick|hot|cold|big|large|loud|often)\b|"
    r"\bhow \w+(?:er) (?:is|was|are|were|did|does)\b|\b(?:what|which) (?:percentage|percent|proportion|fraction|share|number|amount|floor)\b|"
    r"\bby (?:how much|what)\b|多少|(?<![这那])几(?!何)|多[大高长远久重快深宽厚]|占比|[率比]例?(?:是|为)(?!谁|哪|什么)",
    re.IGNORECASE,
)
WORDS = compile_later(
    r"\b(?:who|whom|whose|where|why)\b|\b(?:which|what)(?: of the (?:\w+ )?\w+)?(?: \w+){0,2} (?:city|town|country|continent|planet|river|ocean|mountain|island|team|side|company|person|player|author|"
    r"writer|artist|composer|scientist|king|queen|president|actor|actress|director|university|language|nation|brand|phone|car|candidate|student|animal|species|metal|gas|element|bone|organ|"
    r"vitamin|ingredient|instrument|tree|fruit|vegetable|bird|fish|sport|currency|religion|material|tool|operator|keyword|command|method)\b(?!.*\b(?:number|many|much|year|symbol|formula)\b)|"
    r"\b(?:which|what) of the (?:\w+ )?(?:phones|cars|cities|countries|teams|players|students|planets|rivers|mountains|metals|alloys|animals|companies|candidates|options)\b|谁|哪[里儿位家些]|哪一?[个座条种类所支颗国省市片部首家款张艘瓶笔台辆枚把架份](?![^，？?]{0,4}(?<!函)数(?![据学组]))|何[处地人]|(?:[号码址箱牌话]|ID)[是为](?:多少|什么)|什么(?:地方|人|原因|颜色|语言|城市|国家|(?:函数|命令|方法|公式|工具|软件|仪器|定律|定理)(?!值))|为什么|为何",
    re.IGNORECASE,
)
ASKING: tuple[tuple[Kind, re.Pattern[str]], ...] = (("moment", MOMENT), ("amount", AMOUNT), ("words", WORDS))
MEASURES = compile_later(
    r"\b(?:(?:boiling|melting|freezing) point|distance|speed|velocity|time(?! complexity| zone)|height|length|weight|mass|area|volume|age|rate|temperature|price|cost|probability|sum|difference|(?<!what )(?<!which )product|quotient|average|median|the mean|mean of|"
    r"total|percentage|population|perimeter|circumference|diameter|radius|width|mode|range|gcd|lcm|depth|salary|profit|discount|change|value|remainder|factorial)\b|"
    r"速度|路程|距离|高度|长度|重量|质量|面积|体积|年龄|温度|价格|单价|总价|概率|平均|总和|周长|半径|直径|宽度|深度|利润|人口|数量|比例|利率|成本|余数|最[大小]值|斜率|截距|众数|中位数|极差|方差",
    re.IGNORECASE,
)
NAMED = compile_later(r"(?<=\w{3}) (?:called|by which|below|above)\b", re.IGNORECASE)
WHICH_WHEN = compile_later(r".*\b(?:which|what|who)\b.* when$", re.IGNORECASE)
ASKS_OBJECT = compile_later(
    r"(?:which|what) (?:\w+ ){1,3}?(?:do|does|did|should|can|would|will|must|stores?|holds?|takes?|returns?)\b",
    re.IGNORECASE,
)
IMPERATIVE = compile_later(
    r"(?:please )?(?:name|identify|state|give|find|specify|tell me|list) (?:me )?(?:the|an?|one|any|two|three)\b",
    re.IGNORECASE,
)
TIME = compile_later(r"\b(?:year|date|day|month|time|century|decade)s?\b", re.IGNORECASE)
LISTS = compile_later(r"(?:please )?(?:list|rank|name|order|sort|arrange)\b", re.IGNORECASE)
RANKS = compile_later(
    r"(?:please )?(?:list|rank|name|order|sort|arrange) (?!.*\b(?:how|number|values?|numbers|years?|dates?)\b).*\bby ",
    re.IGNORECASE,
)
WHICH_ONE = compile_later(
    r"which (?:one )?(?:is|was|grew|fell|has|had|did|costs?)?\b.*\b(?:in percentage terms|by percentage|by area|by population|by weight)\b",
    re.IGNORECASE,
)
QUALIFIED = compile_later(r"\s(?:when|where)\b", re.IGNORECASE)
OPEN_END = compile_later(r"([\u3400-\u9fff]{2,4})[是为叫][?？]$")
MONEY = compile_later(
    r"\b(?:pay|cost|price|spend|spent|earn|change|money|worth|owe|charge|fee|salary|profit|dollars?|euros?)\b|[钱元价费]|利润|工资",
    re.IGNORECASE,
)
SET = compile_later(
    r"哪些|哪[两三四五几]|分别|[两三四五六七八九十]大|\b(?:what|which) (?:are|were)\b|\b(?:what|which) (?:two|three|four|five|six)\b|\b(?:what|which) (?:[a-z-]+ )?(?!series|species|means|always)[a-z]{3,}[^siu\W]s (?:do|does|did|are|were|have|can|will|should|failed|[a-z]+ed)\b|\bwho (?:are|were) the [a-z]+s\b(?! \w+ing)|(?<!the )(?<!\ba )(?<!'s )(?<!’s )(?<!its )(?<!his )(?<!her )(?<!your )(?<!file )(?<!first )(?<!last )(?<!full )\b(?:name|list)\b(?! of\b)",
    re.IGNORECASE,
)
ORDER = compile_later(
    r"\b(?:largest|smallest|highest|lowest|oldest|newest|biggest|longest|shortest|earliest|best|most \w+) first\b|\b(?:left to right|right to left|top to bottom|first to last)\b|\border|\bsteps?\b|\bsort|\brank|\bsequence|顺序|步骤|排[序列]|依次|先后",
    re.IGNORECASE,
)
HAN_PASSAGE = compile_later(r"(?<=[？?。：:])\s?“[^”]{9,}”\s*$|^“[^”]{20,}”(?=[\u3400-\u9fff])")
WORD = compile_later(r"[^\W\d_/]{1,20}(?:/[^\W\d_]{1,6})?[²³]?")
MARK = compile_later(r"[?？]")
HAN_UNIT = compile_later(r"(?:多少|几)个?([\u3400-\u9fff]{1,5})")


class QuestionForm(msgspec.Struct, frozen=True):
    """What a question asks for.

    Attributes:
        kind: `truth` (yes or no), `moment` (a date or time), `amount`, `words`; '' if the question does not tell.
        clause: the clause that asks.
        stems: its words, as `echo` returns them.
        units: the units that it names.
        money: True if it asks for an amount of money.
        several: True if it asks for several things, in any order.
    """

    kind: Kind
    clause: str
    stems: frozenset[str]
    units: tuple[MeasureUnit, ...] = ()
    money: bool = False
    several: bool = False


@lru_cache(maxsize=512)
def read_asked(question: str) -> QuestionForm:
    """Return what kind of answer a question asks for.

    >>> read_asked("How tall is it?").kind, read_asked("In which year did it end?").kind, read_asked("谁写的？").kind
    ('amount', 'moment', 'words')
    >>> read_asked("Is 7 prime?").kind, read_asked("What is a noun?").kind
    ('truth', '')
    """
    question = question[-MOST_CHARACTERS:]
    question = HAN_PASSAGE.sub("", question) or question
    clause = interrogative(question).strip()
    if (end := MARK.search(clause)) is not None and echo(clause[: end.end()]):
        clause = clause[: end.end()]  # and what follows is read, not asked
    words = WORD.findall(clause) + [
        match[1][:size] for match in HAN_UNIT.finditer(clause) for size in range(1, len(match[1]) + 1)
    ]
    units = [unit for word in words if _may_be_unit(word) if (unit := read_unit(word)) is not None]
    return QuestionForm(
        "truth" if TRUTH_OR.search(question) and not ASKS_OBJECT.match(clause) else _kind(clause),
        clause,
        frozenset(echo(clause)),
        tuple(units),
        MONEY.search(clause) is not None,
        SET.search(clause) is not None and ORDER.search(question) is None,
    )


def _may_be_unit(word: str) -> bool:
    """True unless a word is one letter, or a small word such as `in` or `are`."""
    return (len(word) > 1 or not word.isascii()) and word.casefold() not in EMPTY_WORDS


def _kind(clause: str) -> Kind:
    if (
        POLAR.search(clause)
        and not ASKS_OBJECT.match(clause)
        and not HAN_OPEN.search(clause)
        and (not ALTERNATIVES.search(clause) or TRUTH_OR.search(clause))
    ):
        return "truth"
    if IMPERATIVE.match(clause) and not TIME.search(named := QUALIFIED.split(clause, maxsplit=1)[0]):
        clause = named  # the rule that applies when weights are negative is no time
    if RANKS.match(clause) or WHICH_ONE.match(clause):
        return "words"
    asking = [(match.start(), kind) for kind, pattern in ASKING if (match := pattern.search(clause)) is not None]
    if asking:
        start, kind = min(asking, key=lambda pair: pair[0])
        return (
            "" if kind == "moment" and WHICH_WHEN.match(clause, 0, start + 4) else kind
        )  # who was president when it ended
    asking_for = ASKS_OBJECT.match(clause)
    open_end = OPEN_END.search(clause)
    named = NAMED.split(clause)[0] if asking_for is None else asking_for[0]
    measured = MEASURES.search(named if open_end is None else open_end[1])
    return "amount" if measured and not ALTERNATIVES.search(clause) else ""
