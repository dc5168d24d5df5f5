"""Read the date or time that a Chinese reply gives: the only one of the kind that its question asks for, dates of others aside."""

import re
from collections.abc import Iterable, Sequence

from proctor_judging.matching.contradictions import contradicts
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import HAN
from proctor_judging.matching.sentences import GUESS, HARMLESS, OTHERS_SAY, TITLE
from proctor_judging.matching.text import negations

NUMBER = r"(?:\d+|[零〇一二两三四五六七八九十]+)"
DAY_OF_WEEK = r"(?:[上下本这每]个?)?(?:周|星期|礼拜)[一二三四五六日天末]"
UNIT = (
    rf"(?:公元)?前?(?:\d{{1,4}}|[零〇一二三四五六七八九]{{2,4}}|[元一二三四五六七八九十]{{1,3}})年(?:代|初|底|末|春|夏|秋|冬)?|(?:公元)?前?{NUMBER}世纪(?:{NUMBER}年代|初|末|中叶)?|{NUMBER}年代|"
    rf"(?:农历|阴历|公历|阳历)?(?:{NUMBER}|正|腊|冬)月(?:初(?!{NUMBER})|[上中下]旬|[中月]?底|末|初?{NUMBER}[日号]?)?|(?<![\d零〇一二两三四五六七八九十]){NUMBER}[日号](?![{HAN}]?[楼线店馆门])|{DAY_OF_WEEK}|[今明后昨前]天|[今明去前后]年|"
    rf"上午|下午|早上|晚上|中午|凌晨|傍晚|清晨|{NUMBER}(?:点|时(?!期|代))(?:整|半|一刻|{NUMBER}分?)?|\d{{1,2}}:\d\d|[春夏秋冬][天季]|除夕|立春"
)
MOMENT = compile_later(rf"(?:每年|每天|每周)?(?:{UNIT})(?:[ ,，]?的?(?:{UNIT}))*")
KINDS = (  # what the question asks for, and that part of a moment
    (
        compile_later(r"哪一?年|何年|几几年"),
        compile_later(r"(?:公元)?前?[\d零〇一二三四五六七八九元]+年(?!代)|.*世纪.*"),
    ),
    (compile_later(r"哪个?世纪|几世纪|什么年代|哪个年代"), compile_later(".*(?:世纪|年代).*")),
    (compile_later(r"几月[几哪]?[日号]|[几哪]号|几日|哪月哪|日期"), compile_later(".*[月日号].*")),
    (compile_later(r"几月|哪个?月"), compile_later(f"(?:农历)?{NUMBER}月")),
    (compile_later(r"几点|几时|什么钟"), compile_later(".*[点时:].*")),
    (compile_later(r"星期几|周几|礼拜几"), compile_later(DAY_OF_WEEK)),
    (compile_later(r"哪一?天"), compile_later(".*(?:[月日号天周]|星期|除夕).*")),
    (compile_later(""), compile_later(".+")),
)
PARTS = (  # of a moment, where no more is asked for
    compile_later(r"^(?:公元)?前?[\d零〇一二三四五六七八九元]+年(?=.)"),
    compile_later(rf"(?:[上下]午|晚上)?(?:{NUMBER}[点时]\S*|\d{{1,2}}:\d\d)$"),
)
CLAUSE_END = compile_later(r"[；;。！!\n→]|[，,](?!\s?(?:\d+[日号]|[上下]午))|——")
BRACKET = compile_later(r"\s?[（(]([^（()）]{1,30})[）)]")
OF_OTHERS = compile_later(
    r"原[来先定本计]|以前|从前|此前|之前|曾(?![祖孙])|去年|上次|起初|本来|取代|不再|一说|也有说法"
)
BEFORE = compile_later(r"(?:[之以]?[前后]|前夕|以来)(?!后)")
END_ASKED = compile_later(r"(?:到|至|从|自)(?:几[点时月日号]|什么时候|何时|哪一?[天年])")
LUNAR = compile_later("^(?:农历|阴历|公历|阳历|每年|公元(?!前))+")
TIME = compile_later(rf"(?:上午|下午|早上|晚上|中午|凌晨|傍晚|清晨)?(?:{NUMBER}[点时]\S*|\d{{1,2}}:\d\d)?$")


def read_han_moment(sentences: Sequence[str], question: str) -> tuple[str, ...]:
    """Return the moment that a Chinese reply gives, with and without its parts; () if it gives none for certain, or several.

    >>> read_han_moment(["例会改到周四下午三点（15:00）开"], "例会现在什么时候开？")
    ('周四下午三点', '下午三点')
    >>> read_han_moment(["端午节在每年农历五月初五", "人们吃粽子"], "端午节是农历几月几日？")
    ('每年农历五月初五', '五月初五')
    >>> read_han_moment(["原定周二，可能改到周四"], "例会什么时候开？")
    ()
    """
    if any(GUESS.search(sentence) for sentence in sentences):
        return ()
    kind = next(has for asks, has in KINDS if asks.search(question))
    clauses = [clause.strip() for sentence in sentences for clause in CLAUSE_END.split(sentence) if clause.strip()]
    given = [(moment, clause) for clause in clauses for moment in _moments(clause, kind, question)]
    if (end := END_ASKED.search(question)) is not None:
        ends = "到至" if end[0][0] in "到至" else "从自"
        given = [pair for pair in given if pair[1][max(pair[1].find(pair[0]) - 1, 0)] in ends][:1] or given
    if len({moment for moment, _ in given}) != 1:
        return ()
    return tuple(dict.fromkeys(_forms(given[-1][0], kind)))


def _moments(clause: str, kind: re.Pattern[str], question: str) -> Iterable[str]:
    """Yield the moments of the kind asked for that a clause gives for certain, of one that changes them the new one."""
    plain = TITLE.sub("·", BRACKET.sub("", clause))
    if (
        negations(HARMLESS.sub("·", plain))
        or OTHERS_SAY.search(plain)
        or (OF_OTHERS.search(plain) and not OF_OTHERS.search(question))
        or contradicts(plain, question)
    ):
        return
    for match in MOMENT.finditer(plain):
        if kind.search(match[0]) and match[0] not in question and not BEFORE.match(plain, match.end()):
            yield match[0]


def _forms(moment: str, kind: re.Pattern[str]) -> Iterable[str]:
    """Yield a moment, without the calendar and without the time of day."""
    yield moment
    plain = LUNAR.sub("", moment)
    yield plain
    if (day := TIME.sub("", plain)) and len(day) > 1 and "月" in day:
        yield day
    for pattern in (kind, *PARTS):
        if (part := pattern.search(plain)) is not None:
            yield part[0]
