"""Say plainly what idioms mean that deny only in form, and on which side of an equation the amount is that is asked for."""

import re

from proctor_judging.matching.asked import QuestionForm
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import stem

IDIOMS = (
    (compile_later(r"\bthere(?:['’]s| is| can be) no (?:doubt|question|denying) that (?=(?-i:[A-Z])|(?:the|an?|it|he|she|they|this) )", re.IGNORECASE), ""),
    (compile_later(r"\ban? (?:\w+ ){1,3}by the name of (?=(?-i:[A-Z]))", re.IGNORECASE), ""),
    (compile_later(r"\bnone other than ", re.IGNORECASE), ""),
    (compile_later(r"\bI could(?:n['’]t| not) be happier to help[.:!,]* ", re.IGNORECASE), ""),
    (compile_later(r"\b(?:I )?can(?:no|['’])t help but (?:say )?", re.IGNORECASE), ""),
    (compile_later(r"\bI (?:do(?:n['’]t| not)|wo(?:n['’]t|uld not)) mind (?:telling you|saying) (?:that )?", re.IGNORECASE), ""),
    (compile_later("(?:毫无疑问|毋庸置疑)[，,]?(?=就?是)"), ""),
    (compile_later("非([^，。,不]{1,12}?)莫属"), r"是\1"),
)  # fmt: skip
BOUNDS = (  # of what is asked for, they are the amount itself
    (compile_later(r"\b(?:max\w*|most|limit|can|may|allowed|capacity|holds?)\b", re.IGNORECASE), compile_later(r"\bup to (?=[$€£]?(?:\d|(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|a (?:dozen|hundred|thousand))\b))", re.IGNORECASE)),
    (compile_later(r"\b(?:min\w*|least|lowest|youngest)\b", re.IGNORECASE), compile_later(r"\bat least (?=[$€£]?\d)", re.IGNORECASE)),
    (compile_later(r"\b(?:(?:about|around) how|approximate(?:ly)?|roughly|estimated?|about\W*$)", re.IGNORECASE), compile_later(r"\b(?:about|approximately|roughly|around) (?=[$€£]?\d)", re.IGNORECASE)),
)  # fmt: skip
ASKS_BEST = compile_later(r"\b(?:best|should|recommend|prefer|choose|pick)\b", re.IGNORECASE)
ASKS_WORST = compile_later(r"\b(?:avoid|worst|not|never)\b|n['’]t\b", re.IGNORECASE)
PRAISE = (
    (compile_later(r"\bcan(?:no|['’])t recommend ([^,;:.!?]{1,60}?) (?:highly|strongly|warmly) enough\b", re.IGNORECASE), r"recommend \1"),
    (compile_later(r"\b(?:you )?can(?:no|['’])t go wrong with ", re.IGNORECASE), "choose "),
    (compile_later(r"\bnothing (?:beats|tops) ", re.IGNORECASE), "the best is "),
)  # fmt: skip
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
    if asked.kind != "amount":
        return reply
    for is_asked, bound in BOUNDS:
        reply = bound.sub("", reply) if is_asked.search(asked.clause) else reply
    return _turned(reply, asked)


def _turned(reply: str, asked: QuestionForm) -> str:
    equation, unit = EQUATION.fullmatch(reply), HOW_MANY.search(asked.clause)
    if equation is None or unit is None:
        return reply
    left, of_left, right, of_right = equation.groups()
    is_left = stem(of_left) == stem(unit[1]) if unit[1] else unit[2].startswith(of_left)
    return f"{right} = {left}" if is_left and stem(of_left) != stem(of_right) else reply
