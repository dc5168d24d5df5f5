"""Say plainly what idioms mean that deny only in form, and on which side of an equation the amount is that is asked for."""

import re

from proctor_judging.matching.asked import QuestionForm
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import echo, stem

IDIOMS = (
    (compile_later(r"\bthere(?:['’]s| is| can be) no (?:doubt|question|denying) that (?=(?-i:[A-Z])|(?:the|an?|it|he|she|they|this) )", re.IGNORECASE), ""),
    (compile_later(r"\ban? (?:\w+ ){1,3}by the name of (?=(?-i:[A-Z]))", re.IGNORECASE), ""),
    (compile_later(r"\bnone other than ", re.IGNORECASE), ""),
    (compile_later(r"\bI could(?:n['’]t| not) be happier to help[.:!,]* ", re.IGNORECASE), ""),
    (compile_later(r"\b(?:I )?can(?:no|['’])t help but (?:say )?", re.IGNORECASE), ""),
    (compile_later(r"\bI (?:do(?:n['’]t| not)|wo(?:n['’]t|uld not)) mind (?:telling you|saying) (?:that )?", re.IGNORECASE), ""),
    (compile_later(r"\b(is|was|are|were|has|had) only (?=\d)"), r"\1 "),
    (compile_later("(?:毫无疑问|毋庸置疑)[，,]?(?=就?是)"), ""),
    (compile_later("非([^，。,不]{1,12}?)莫属"), r"是\1"),
)  # fmt: skip
BOUNDS = (  # of what is asked for, they are the amount itself
    (compile_later(r"\b(?:max\w*|most|limit|can|may|allowed|safe|capacity|holds?)\b", re.IGNORECASE), compile_later(r"\b(?:up to|at most|no more than) (?=[$€£]?(?:\d|(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|a (?:dozen|hundred|thousand))\b))", re.IGNORECASE)),
    (compile_later(r"\bwithin (?:how many|what)\b", re.IGNORECASE), compile_later(r"(?<=\*\*)within (?=\d)", re.IGNORECASE)),
    (compile_later(r"\b(?:min\w*|least|lowest|youngest)\b", re.IGNORECASE), compile_later(r"\bat least (?=[$€£]?\d)", re.IGNORECASE)),
    (compile_later(r"\b(?:(?:about|around) how|approximate(?:ly)?|roughly|estimated?|about\W*$)", re.IGNORECASE), compile_later(r"\b(?:about|approximately|roughly|around) (?=[$€£]?\d)", re.IGNORECASE)),
)  # fmt: skip
HAN_BOUNDS = (
    (compile_later("上限|限额|封顶|最[长多高大晚迟](?:可|能|允许|限)"), compile_later(r"不[得能可应]?(?:超过|多于|高于|长于|晚于|大于)(?=[^，,。；;]{0,9}?[\d一二两三四五六七八九十百千])(?![^，,。；;]{0,24}或)")),
    (compile_later("下限|至少|最[短少低小早](?:可|能|要|得|需)"), compile_later(r"不[得能可应]?(?:少于|低于|短于|早于|小于)(?=[^，,。；;]{0,9}?[\d一二两三四五六七八九十百千])(?![^，,。；;]{0,24}或)")),
)  # fmt: skip
HAN_CHANGED = compile_later(
    "如果|假如|若|的话|除非|否则|其他|其它|例外|改[为成到]|原[来先定本]|以前|之前|曾|现在|目前|说法|据说|有人|或者?|[？?]"
)
SUPERLATIVE = compile_later("最[长多高大晚迟短少低小早]|[总金数]额|总[数计]|期限")
HAN_CLAUSE_END, HAN_SENTENCE_END = compile_later(r"[，,。；;：:！!？?\n]"), compile_later(r"[。；;！!？?\n]")
ASKS_BEST = compile_later(r"\b(?:best|should|recommend|prefer|choose|pick)\b", re.IGNORECASE)
ASKS_WORST = compile_later(r"\b(?:avoid|worst|not|never)\b|n['’]t\b", re.IGNORECASE)
PRAISE = (
    (compile_later(r"\bcan(?:no|['’])t recommend ([^,;:.!?]{1,60}?) (?:highly|strongly|warmly) enough\b", re.IGNORECASE), r"recommend \1"),
    (compile_later(r"\b(?:you )?can(?:no|['’])t go wrong with ", re.IGNORECASE), "choose "),
    (compile_later(r"\bnothing (?:beats|tops) ", re.IGNORECASE), "the best is "),
)  # fmt: skip
FORWARD = compile_later(
    r"\b(carry|carries|carried|hand(?:ed|s)?|turn(?:ed|s)?|left) over (?=(?:up to )?[$€£]?\d|(?:up to )?(?:one|two|three|four|five|six|seven|eight|nine|ten)\b)",
    re.IGNORECASE,
)  # not more than
WEEKDAYS = compile_later(r"\b((?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)s\b")
NONE = compile_later(r"^\W*(?:none|nobody|no one)\b(?=\W*$|[.,;:]| [–—-])", re.IGNORECASE)
RANGE = compile_later(
    r"\bbetween ([$€£]?\d[\d.,]*) and (?=\d)|(?<!from )(?<![\w.,:/+-])([$€£]?\d[\d.,]*) to (?=\d[\d.,]* (?!in\b|at\b|on\b)[a-z]{3})"
)  # of one amount: 60-100 beats
EQUATION = compile_later(
    r"\s*(\d[\d.,]*\s?([^\W\d_]+))\s*(?:=|equals?|makes?|等于|相当于|[是为])\s*(\d[\d.,]*\s?([^\W\d_]+))\s*[.。]?\s*"
)
HOW_MANY = compile_later(r"\bhow many ([a-z]+)|(?:几|多少)个?([\u3400-\u9fff]{1,4})", re.IGNORECASE)


def said_plainly(reply: str, asked: QuestionForm) -> str:
    """Return a reply without idioms that deny only in form, and an equation with the unit that is asked for on its right.

    >>> from proctor_judging.matching.asked import read_asked
    >>> said_plainly("There's no doubt that Ann won.", read_asked("Who won?"))
    'Ann won.'
    >>> said_plainly("12 inches = 1 foot", read_asked("How many inches are in a foot?"))
    '1 foot = 12 inches'
    """
    asks_best = ASKS_BEST.search(asked.clause) and not ASKS_WORST.search(asked.clause)
    for idiom, plain in (*IDIOMS, *(PRAISE if asks_best else ())):
        reply = idiom.sub(plain, reply)
    if asked.kind == "moment":
        return WEEKDAYS.sub(r"\1", reply)
    if asked.kind != "amount":
        return reply
    reply = NONE.sub("0", FORWARD.sub(r"\1 ", reply) if " over" in asked.clause else reply)
    for is_asked, bound in BOUNDS:
        reply = bound.sub("", reply) if is_asked.search(asked.clause) else reply
    reply = RANGE.sub(lambda ends: f"{ends[1] or ends[2]}-", reply)
    for is_asked, bound in HAN_BOUNDS:
        reply = _as_amount(bound, reply, asked) if is_asked.search(asked.clause) else reply
    return _turned(reply, asked)


def _as_amount(bound: re.Pattern[str], reply: str, asked: QuestionForm) -> str:
    """Return a reply in which the bound of what the question is about is stated as the amount; unchanged where several are as near to it.

    A bound with a subject that the question lacks is of another thing: `休息不得超过10分钟`, asked how long a meeting may be.
    Where a reply has conditions, or tells of changes, which bound holds is not known.
    """
    if HAN_CHANGED.search(reply):
        return reply
    near = []
    for limit in bound.finditer(reply):
        before = reply[: limit.start()]
        subject = SUPERLATIVE.sub("", HAN_CLAUSE_END.split(before)[-1].strip())
        if echo(subject) <= set(asked.clause):
            near.append((len(echo(HAN_SENTENCE_END.split(before)[-1]) & asked.stems), limit))
    nearest = [limit for share, limit in near if share == max(near, key=lambda pair: pair[0])[0]]
    return f"{reply[: nearest[0].start()]}为{reply[nearest[0].end() :]}" if len(nearest) == 1 else reply


def _turned(reply: str, asked: QuestionForm) -> str:
    equation, unit = EQUATION.fullmatch(reply), HOW_MANY.search(asked.clause)
    if equation is None or unit is None:
        return reply
    left, of_left, right, of_right = equation.groups()
    is_left = stem(of_left) == stem(unit[1]) if unit[1] else unit[2].startswith(of_left)
    return f"{right} = {left}" if is_left and stem(of_left) != stem(of_right) else reply
