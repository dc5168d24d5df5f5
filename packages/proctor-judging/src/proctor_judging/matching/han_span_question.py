"""Read a Chinese question for what its answer can be recognised by: its interrogative, the words around that, and its characters."""

from functools import lru_cache

import msgspec

from proctor_judging.matching.asked import read_asked
from proctor_judging.matching.han_question import BEFORE_GAP, read_han_question
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.text import negations, tidy

INTERROGATIVE = compile_later(
    "(?P<why>为什么|为何|什么原因|为啥)|(?P<when>什么时[候间]|何[时日年月]|哪一?[年天月日]|几[月点号日]|几几年|(?:星期|周)几|哪个?(?:世纪|年代|月份?)|啥时候|时间是)|(?P<where>哪里|哪儿|何[处地]|什么地方|啥地方)|"
    "(?P<who>谁|哪一?位|什么人|何人)|(?P<amount>多少|几|多[大高长远久重快深宽厚])|(?P<how>怎么样?|怎样|如何)|(?P<which>哪一?[个座条种类所支项颗国省市只片本部首家位款面门段篇句层间场届名张艘瓶笔台辆枚把架份些]?)|(?P<what>什么|啥|何)|(?P<option>还是)"
)
ASKING = compile_later("谁|什么|啥|何|哪|多少|几|怎么样?|怎样|如何|为什么|为何|吗|呢")
SPACED = compile_later(r"(?<=[\u3400-\u9fff])[ \t]+(?=\S)|(?<=\S)[ \t]+(?=[\u3400-\u9fff])")
WORD = compile_later(r"[A-Za-z\d_.]+")


class SpanQuestion(msgspec.Struct, frozen=True):
    """A question, as a reader of spans sees it.

    Attributes:
        kind: its interrogative: who, where, when, amount, which, what, why, how, option; or open.
        clause: the clause that asks; `text` is all of the question.
        left: what precedes the interrogative, without `是`, `在` and the like; `before` has them.
        right: what follows the interrogative and its noun `head`.
        measure: the measure word of an amount, the last character of what asks for a moment.
        options: the things that it offers.
        pairs, characters: the neighbouring characters of its clause, its single ones and its words.
        several: True if it asks for several things.
        denied: True if it denies.
        verbs: the verbs that may answer its own.
    """

    kind: str
    clause: str
    text: str
    before: str
    left: str
    right: str
    head: str
    measure: str
    options: tuple[str, ...]
    pairs: frozenset[str]
    characters: frozenset[str]
    several: bool
    denied: bool
    verbs: tuple[str, ...]


def without_spaces(text: str) -> str:
    """Return a text without the spaces next to Chinese characters.

    >>> without_spaces("3 月 2 日由 MU 5102 执飞")
    '3月2日由MU 5102执飞'
    """
    return SPACED.sub("", text)


@lru_cache(maxsize=512)
def read_span_question(question: str) -> SpanQuestion | None:
    """Return what a Chinese question looks for; None for a question for yes or no, and for one that is not Chinese.

    >>> question = read_span_question("土耳其的首都是哪座城市？")
    >>> question.kind, question.left, question.head
    ('which', '土耳其的首都', '城市')
    """
    asked = read_asked(question)
    if asked.kind == "truth" or question.isascii():
        return None
    clause, text = without_spaces(tidy(asked.clause)), without_spaces(tidy(question))
    plain = ASKING.sub("\n", clause)
    gap = INTERROGATIVE.search(clause)
    kind = (gap.lastgroup if gap is not None else None) or "open"
    if "还是" in clause and kind in ("which", "what"):
        kind = "option"
    before = clause[: gap.start()] if gap is not None else clause.rstrip("?？")
    after = clause[gap.end() :].rstrip("?？呢啊呀吗的 ") if gap is not None else ""
    han = read_han_question(question)
    head = han.head if han is not None else ""
    measure = after[:1] if kind == "amount" else gap[0][-1] if gap is not None and kind == "when" else ""
    return SpanQuestion(
        kind=kind,
        clause=clause,
        text=text,
        before=before,
        left=BEFORE_GAP.sub("", before),
        right=after.removeprefix(head).lstrip("的"),
        head=head,
        measure=measure,
        options=han.options if han is not None else (),
        pairs=frozenset(plain[at : at + 2] for at in range(len(plain) - 1)),
        characters=frozenset({*plain, *WORD.findall(plain)}),
        several=asked.several,
        denied=kind != "why" and bool(negations(clause)),  # what is denied there needs a reason
        verbs=han.verbs if han is not None else (),
    )
