"""Choose the clause of a Chinese reply that answers for an amount or a moment: the one that concludes, or that shares the time its question is about."""

import re
from collections.abc import Sequence, Set

from proctor_judging.matching.amounts import SPAN
from proctor_judging.matching.asked import QuestionForm
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import HAN
from proctor_judging.matching.sentences import CONCLUDES, GUESS, OTHERS_SAY
from proctor_judging.matching.similarity import words
from proctor_judging.matching.text import negations

CLAUSE_END = compile_later(r"[，；;。！!\n→]|,(?!\d{3})")
DIGIT = compile_later(r"[\d零〇一二两三四五六七八九十百千万亿半]")
TIMES_OF = compile_later(
    r"今年|去年|前年|明年|上次|下次|上个?月|下个?月|本月|昨天|今天|明天|上周|下周|本周|上半年|下半年|第[一二三四]季度|现在|目前|原来|原价|现价|实际|计划|上午|下午"
)
ASKS_DIFFERENCE = compile_later(
    rf"比[^，]{{1,12}}[多少高低大小重轻快慢贵长短晚早深浅宽窄厚薄远近粗细矮]|相差|差多少|差几|便宜了?[多几]|[{HAN}](?:贵|便宜)了?多少"
)
DIFFERENCE = compile_later(
    r"^[^，\d]{0,6}?(?:相差|差值?|多|少|高|矮|低|重|轻|快|慢|贵|便宜|大|小|长|短|早|晚)(?:出|了|着|是|为)?(?=\d|[一二两三四五六七八九十百])"
)
ASKS_LONG = compile_later(r"多久|多长时间")
ASKS_TOTAL = compile_later(r"[一总]共|合计|总[计和数额]|全部|两种|加起来|一起")
TOTAL = compile_later(r"^(?:所以|因此)?(?:合计|总计|[一总]?共(?:计|持续|历时)?|加起来|两者共)")
RESULT = compile_later(
    r"^(?:所以|因此|则|故)?(?:商|积|和|得数|平均数?|结果|化简后?|也就是|即|换句话说)(?:就?是|为|等于|得)?(?=[\d零一二两三四五六七八九十百千万-]|公元|[上下]午|[早晚]上|凌晨|中午)"
)
SHARE_ASKED, SHARE = compile_later(r"几分之几|百分之几|几成|占比|比例"), compile_later(r"^占.{0,4}(?:\d|分之|成)")
CUES = (
    (ASKS_DIFFERENCE, DIFFERENCE),
    (ASKS_TOTAL, TOTAL),
    (ASKS_LONG, TOTAL),
    (None, RESULT),
    (SHARE_ASKED, SHARE),
)
CONDITION = compile_later(
    r"当[^，,。]{1,16}?时[，,]?|[，,]\s?(?:此时|在)[^，,。]{1,16}?处?(?:取[得到]?|达到)(?=$|[，,。])"
)
RENAMED = compile_later(r"[，,](?:也就?叫|又叫|又称|也称|亦称|简称|约合|折合)[^，。]{1,20}(?=$|[。，,])")
ASKS_DAY = compile_later(r"哪一?天")
ASKS_WEEKDAY = compile_later(
    r"(?:星期|周|礼拜)几|\b(?:what|which) (?:day of the week|weekday|day (?:is|was|will)\b)", re.IGNORECASE
)
WEEKDAY = compile_later(r"(?:星期|周|礼拜)[一二三四五六日天]|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b")
LAST_WEEKDAY = compile_later(rf"(?:\bis(?: a)? |是|为)({WEEKDAY.pattern})\W*$")
GAP = compile_later(r"(?:大?约)?(?:多少|几|哪一?[年月天日])")
NUMERALS = "零一二两三四五六七八九十百千万"
MEASURE_WORD = compile_later("(?<!第)(?:几|多少)([节对条只颗根块张本座句章轮届层门辆艘架支枚瓣粒])")
ASKS_ORDINAL = compile_later(rf"第几([{HAN}]{{1,4}})[?？]?$")
BOUND_ASKED = compile_later(
    r"((?:不得|不能|不应|不可|不)?(?:小于|大于|低于|高于|少于|多于|早于|晚于|超过)|至少|至多|最多|最少)[^，。与和差]{0,3}?(?:多|几)"
)
CLOCK = compile_later(r"\d{1,2}:\d\d")
LIMIT = compile_later("至少|最多|至多|不到|超过|比")
ONE_OF_THEM = compile_later(rf"其中有?[一1][{HAN}]是")
SHORTEST_SUBJECT = 4
SAID_OF = compile_later(
    r"(?:就|应该|应|大?约)?(?:是|为|等于|即)(?=[约大]{0,2}[-−]?[\d零一二两三四五六七八九十百千万])(.+)"
)
GONE = compile_later(r"(?:刚刚?|已经?)(?:开走|发车|出发|走了|结束|过去)|错过")
CASE = compile_later(r"[，,][^，,。]{1,10}的话[^，,。]{1,14}$")
HAN_SPAN = compile_later(
    rf"(?:每(?:秒|分钟|小时|天|周|月|年))?(?:\d+月)?\d+(?:\.\d+)?(?:[年月日点时岁元度%℃]|°C|个?小时|分钟|个)?(?:到|至|-|~|—)(?:次年|次日|第二天)?\d+(?:\.\d+)?(?:个?(?:小时|工作日|月)|分钟|[{HAN}%℃]|°C)"
)
DIGITS = compile_later(r"\d")
CHANGED = compile_later(r"原[价定来本先计]|改[到为成期]|现在|现价|=|曾|此前")
DATED = compile_later(r"\d年|\d{1,2}月|\d[点时:]\d?|[零一二三四五六七八九十]{1,4}[年月点时]")
DATE_OF, WEEKDAY_ASIDE = compile_later(r"年的(?=\d{1,2}月)"), compile_later(r"[（(](?:星期|周)[一二三四五六日天][）)]")


def answering_clause(sentences: Sequence[str], asked: QuestionForm) -> list[str]:
    """Return the clause that answers for an amount or a moment, where one does and the others do not; else the sentences unchanged.

    >>> from proctor_judging.matching.asked import read_asked
    >>> answering_clause(["小红有20颗，小明有12颗，差8颗"], read_asked("小红比小明多几颗糖？"))
    ['是8颗']
    >>> answering_clause(["去年产量为800吨，今年增至1000吨"], read_asked("今年产量是多少？"))
    ['今年增至1000吨']
    """
    question = asked.clause
    if asked.kind not in ("amount", "moment") or question.isascii() or not sentences:
        return list(sentences)
    sentences = _without_asides(sentences, question)
    certain = [sentence for sentence in sentences if not OTHERS_SAY.search(sentence)]
    if not certain or any(map(GUESS.search, sentences)):
        return list(sentences)
    sentences = certain
    if asked.kind == "amount" and (bounded := _bounded(sentences, question)):
        return [bounded]
    clauses = [clause.strip() for sentence in sentences for clause in CLAUSE_END.split(sentence)]
    clauses = [clause for clause in clauses if DIGIT.search(clause)]
    if asked.kind == "moment":
        clauses = [clause for clause in clauses if not GONE.search(clause)] or clauses
    elif len(timeless := [clause for clause in clauses if DIGIT.search(CLOCK.sub("", clause))]) == 1 < len(clauses):
        return timeless
    if counted := _counted(clauses, question):
        return ["是" + counted]
    if len(whole := _without_one_of_them(clauses, question)) == 1 < len(clauses):
        return whole
    clauses = whole
    dated = [clause for clause in clauses if DATED.search(clause)]
    if asked.kind == "moment" and len(dated) == 1 and not negations(dated[0]):
        return dated
    if len(clauses) < 2:
        return list(sentences)
    if said := _echoed(clauses, question) or _cued(clauses, question):
        return ["是" + said]
    times = TIMES_OF.findall(question)
    about = [clause for clause in clauses if times and times[0] in clause]
    of_then = [clause for clause in clauses if times and set(TIMES_OF.findall(clause)) - set(times)]
    if times and not about and len(clauses) - len(of_then) == 1:
        return [clause for clause in clauses if clause not in of_then]
    others = [clause for clause in clauses if TIMES_OF.search(clause) and clause not in about]
    if len(about) == 1 and others and not negations(about[0]) and len(list(SPAN.finditer(about[0]))) == 1:
        return about
    return _nearest(clauses, question) or list(sentences)


def _bounded(sentences: Sequence[str], question: str) -> str:
    """Return the amount that the one clause with the bound of the question gives: `是六个月` of `不得超过六个月`, asked what it may not exceed."""
    asked = BOUND_ASKED.search(question)
    clauses = [clause for sentence in sentences for clause in CLAUSE_END.split(sentence)]
    said = [rest for clause in clauses if asked is not None and DIGIT.search(rest := clause.partition(asked[1])[2])]
    return "是" + said[0] if len(said) == 1 else ""


def _cued(clauses: Sequence[str], question: str) -> str:
    """Return what the last clause says after the word that gives a total, a difference or a result; '' without one."""
    last, before = clauses[-1], clauses[-2]
    for asks, says in CUES:
        applies = asks is None or asks.search(question)
        cue = says.match(last)
        if applies and cue is not None and not (asks is None and _is_amount(before)):
            return last if asks is SHARE_ASKED else last[cue.end() :]
    return ""


def _nearest(clauses: Sequence[str], question: str) -> list[str]:
    """Return the clause that shares most words with the question, if it is one and the others share none."""
    if any(CHANGED.search(clause) for clause in clauses):
        return []
    pairs = {question[at : at + 2] for at in range(len(question) - 1)}
    shared = [_shared(clause, pairs) for clause in clauses]
    near = [clause for clause, share in zip(clauses, shared, strict=True) if share]
    return near if len(near) == 1 and not negations(near[0]) else []


def _without_one_of_them(clauses: list[str], question: str) -> list[str]:
    """Return the clauses without those about one of what is counted: 其中一名是守门员, unless the question is about it."""
    pairs = {question[at : at + 2] for at in range(len(question) - 1)}
    return [clause for clause in clauses if not ONE_OF_THEM.match(clause) or _shared(clause, pairs)] or clauses


def _shared(clause: str, pairs: Set[str]) -> int:
    return sum(clause[at : at + 2] in pairs for at in range(len(clause) - 1))


def _counted(clauses: Sequence[str], question: str) -> str:
    """Return the one amount of several that has the measure word or the ordinal of the question: `4节` of `每节12分钟，共4节`, asked for 几节."""
    measure = MEASURE_WORD.search(question)
    plain = "，".join(clauses)
    if measure is None or negations(plain):
        return ""
    number = rf"(?<![^，是有共为：:、])[\d{NUMERALS}]+{measure[1]}"
    counted = {match[0] for match in re.finditer(number, plain)}
    others = re.sub(number, "", plain)
    sure = DIGIT.search(others) and not re.search(rf"[\d{NUMERALS}]{measure[1]}", others) and not LIMIT.search(plain)
    return counted.pop() if len(counted) == 1 and sure else ""


def ordinal(sentences: Sequence[str], question: str) -> tuple[str, ...]:
    """Return which of a row a reply names, with and without the noun of the question; () unless it names one.

    >>> ordinal(["《命运》是贝多芬的第五交响曲", "第六是《田园》"], "《命运》是第几交响曲？")
    ('第五交响曲', '第五', '五')
    """
    asked, text = ASKS_ORDINAL.search(question), "，".join(sentences)
    if asked is None or GUESS.search(text) or OTHERS_SAY.search(text) or negations(text):
        return ()
    named = set(re.findall(rf"第([\d{NUMERALS}]+){asked[1]}", text))
    if len(named) != 1:
        return ()
    number = named.pop()
    return f"第{number}{asked[1]}", f"第{number}", number


def _without_asides(sentences: Sequence[str], question: str) -> list[str]:
    """Return the sentences without weekdays in brackets, former names and, unless the question has one, conditions."""
    kept = [WEEKDAY_ASIDE.sub("", DATE_OF.sub("年", sentence)) for sentence in sentences]
    if "当" not in question:
        kept = [CONDITION.sub("", sentence) for sentence in kept]
    return [RENAMED.sub("", CASE.sub("", sentence)) for sentence in kept]


def _echoed(clauses: Sequence[str], question: str) -> str:
    """Return what a clause says after the words of its question: `7` of `-7的相反数是7`; '' unless exactly one does."""
    subject = GAP.split(question, maxsplit=1)[0].rstrip("是为等于的约大")
    sides = [clause.partition("=") for clause in clauses]
    equal = [right.strip() for left, _, right in sides if right and words(left) == words(subject)]
    if len(equal) == 1 and "=" not in equal[0]:
        return equal[0]
    if len(subject) < SHORTEST_SUBJECT or GAP.search(question) is None:
        return ""
    rests = [clause[len(subject) :] for clause in clauses if clause.startswith(subject)]
    said = [match[1] for rest in rests if (match := SAID_OF.match(rest)) is not None]
    return said[0] if len(rests) == len(said) == 1 else ""


def span_of(sentences: Sequence[str]) -> str:
    """Return the one range of amounts or months that Chinese sentences state, if they state no other amount; '' otherwise.

    >>> span_of(["它们一天大约要睡12到16个小时"]), span_of(["从9月到次年3月，共7个月"])
    ('12到16个小时', '')
    """
    clauses = [clause for sentence in sentences for clause in CLAUSE_END.split(sentence)]
    first = next((clause for clause in clauses if DIGITS.search(clause)), "")
    text = first if HAN_SPAN.search(first) and not any(map(TOTAL.match, clauses)) else "，".join(sentences)
    spans = [match[0] for match in HAN_SPAN.finditer(text)]
    rest = HAN_SPAN.sub("", text)
    sure = not (GUESS.search(text) or OTHERS_SAY.search(text) or negations(text) or DIGITS.search(rest))
    return spans[0] if len(spans) == 1 and sure else ""


def weekday(sentences: Sequence[str], asked: QuestionForm) -> str:
    """Return the day of the week that the clause of a reply names whose day the question asks for; '' if none or several do.

    >>> from proctor_judging.matching.asked import read_asked
    >>> weekday(["昨天星期二，所以今天是星期三"], read_asked("今天星期几？"))
    '星期三'
    """
    dated = any(map(DIGIT.search, (WEEKDAY.sub("", sentence) for sentence in sentences)))
    if ASKS_WEEKDAY.search(asked.clause) is None and (dated or ASKS_DAY.search(asked.clause) is None):
        return ""
    concluding = [sentence for sentence in sentences[-1:] if len(set(WEEKDAY.findall(sentence))) == 1]
    clauses = [clause for sentence in concluding or sentences for clause in CLAUSE_END.split(sentence)]
    clauses = [clause for clause in clauses if WEEKDAY.search(clause)]
    concluded = next((at for at, clause in enumerate(clauses) if at and CONCLUDES.match(clause)), 0)
    times = TIMES_OF.findall(asked.clause)
    clauses = [clause for clause in clauses[concluded:] if times and times[-1] in clause] or clauses[concluded:]
    days = {day for clause in clauses if not negations(clause) for day in WEEKDAY.findall(clause)}
    days = days - set(WEEKDAY.findall(asked.clause)) or days
    if len(days) > 1 and (last := LAST_WEEKDAY.search(clauses[-1])) is not None:
        return last[1]  # 10 days after Monday is Thursday
    return days.pop() if len(days) == 1 else ""


def _is_amount(clause: str) -> bool:
    """True if a clause is an amount and nothing else, so that `也就是` says the same in other words."""
    return (
        re.fullmatch(r"(?:大?约|大概)?[\d.,零一二两三四五六七八九十百千万亿半]+个?[\u3400-\u9fffA-Za-z%]{0,3}", clause)
        is not None
    )
