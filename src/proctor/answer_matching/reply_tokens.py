"""Cut a reply into tokens, and say what a question asks for, both as the ranker of claims sees them: words, signs and single Chinese characters."""

import re
from functools import lru_cache
from itertools import pairwise

import msgspec

from proctor.answer_matching.asked import Asked, read_asked
from proctor.answer_matching.english import SCALES, SMALL, TENS
from proctor.answer_matching.question_words import HAN, echo, stem
from proctor.runtime.patterns import compile_later

TOKEN = compile_later(rf"\\[a-zA-Z]+|\d[\d,]*(?:\.\d+)?|[^\W\d_{HAN}]+(?:['’][^\W\d_{HAN}]+)*|[{HAN}]|\n+|\S")
IS_HAN = compile_later(rf"[{HAN}]")
SMALL_WORDS = (
    "a an the of in on at by for with from to into as and or but nor so yet if then than that this these those it its he she they his her "
    "their him them we us our you your i my me is are was were be been being am do does did done has have had having can could will would "
    "shall should may might must not no never there here who whom whose which what where when why how because since while whereas although "
    "though unless until after before during between about over under above below up down out off again once only just also too very more "
    "most less least such same other another each every all both few some any many much own per via"
)
FUNCTION_WORDS = frozenset(SMALL_WORDS.split())
HAN_FUNCTION = frozenset(
    "的了是在和与或而但也都就才只不没有于由被把将从到对为以及等这那哪其之所则即便并且因故得着过又再已曾会能可要应该说称叫"
)
NUMBER_WORDS = frozenset([*SMALL, *TENS, *(word for word in SCALES if len(word) > 2), "hundred", "hundreds", "half"])
HAN_NUMBER = frozenset("零〇一二两三四五六七八九十百千万亿半几")
SIGNS = frozenset("=+-*/^×÷√π∞<>≤≥≠±∪∩∈{}[]|°%$€£¥₹~≈·−²³₁₂₃₀")
ASKS = tuple(
    (name, compile_later(pattern, re.IGNORECASE))
    for name, pattern in (
        ("who", r"\bwho(?:m|se)?\b|谁|何人|哪位"),
        ("where", r"\bwhere\b|哪里|哪儿|何处|何地|什么地方|哪个?(?:国|城|省|市|州|洲|地|大学|学校|街)"),
        ("year", r"\b(?:which|what) year\b|哪一?年|几几年|年份"),
        ("clock", r"\bwhat time\b|几点|什么时间"),
        ("date", r"\b(?:which|what) (?:date|day|month)\b|几月|几号|哪一?[天日]|星期几|周几"),
        ("when", r"\bwhen\b|何时|什么时候|世纪|century|decade"),
        ("money", r"how much|\bprice|cost|多少钱|多少元|价"),
        ("percent", r"percent|proportion|share|rate\b|probability|百分|比例|率|占"),
        (
            "many",
            r"how many|多少|几[^何]|多[大高长远久重快深宽厚]|number of|how (?:long|far|old|tall|high|fast|deep|wide|heavy|often)",
        ),
        ("why", r"\bwhy\b|为什么|为何|原因"),
        ("which", r"\bwhich\b|哪"),
        ("how", r"\bhow\b|怎|如何"),
        ("what", r"\bwhat\b|什么|何"),
    )
)
ASKED_NOUN = compile_later(
    r"\b(?:which|what|how)\s+(?:(?:is|are|was|were|of|the|a|an|kind|type|sort)\s+)*([a-z]+)|(?:哪一?|什么|几|多少)([\u3400-\u9fff]{1,2})",
    re.IGNORECASE,
)
ALTERNATIVES = compile_later(r"\bor\b|还是|[和与]")
ASKS_CODE = compile_later(
    r"`|code|symbol|formula|abbreviat|stand\sfor|keyword|command|operator|符号|代码|缩写|公式|关键字|命令",
    re.IGNORECASE,
)
ASKS_FORMULA = compile_later(
    r"[=+*/^√∫]|solve|simplif|factor|derivative|integral|equation|root|evaluate|解|方程|化简|导数|积分|求|计算|分解",
    re.IGNORECASE,
)


class Profile(msgspec.Struct, frozen=True):
    """A question as the ranker sees it.

    Attributes:
        kind: the interrogative (`who`, `year`, `many` …).
        noun: the stem of the noun that it names (`which colour`).
    """

    text: str
    folded: str
    asked: Asked
    stems: frozenset[str]
    kind: str
    noun: str
    alternatives: bool
    code: bool
    formula: bool


class Token(msgspec.Struct):
    """A token; `kind` is w (word), C (capitalised), A (capitals), n (digits), N (number word), H (Chinese), Z (Chinese number), m (sign) or p.

    `echo` is 1 for what the question says, too, and 0.5 for a lone character of it.
    """

    start: int
    end: int
    text: str
    folded: str
    kind: str
    echo: float = 0
    small: bool = False


@lru_cache(maxsize=512)
def read_profile(question: str) -> Profile:
    asked = read_asked(question)
    stems = frozenset(echo(question))
    clause = asked.clause if stems else ""
    noun = ASKED_NOUN.search(clause)
    return Profile(
        question,
        question.casefold(),
        asked,
        stems,
        next((name for name, pattern in ASKS if pattern.search(clause)), "none"),
        stem(noun[1] or noun[2]) if noun is not None else "",
        ALTERNATIVES.search(clause) is not None,
        ASKS_CODE.search(clause) is not None,
        ASKS_FORMULA.search(question) is not None,
    )


def tokens_of_reply(text: str, profile: Profile) -> list[Token]:
    tokens = [_token(found, profile) for found in TOKEN.finditer(text)]
    for one, other in pairwise(tokens):
        if one.kind in "HZ" and other.kind in "HZ" and one.end == other.start and one.text + other.text in profile.text:
            one.echo = other.echo = 1
    for token in tokens:
        if token.kind == "H" and not token.echo and not token.small and token.text in profile.stems:
            token.echo = 0.5
    return tokens


def _token(found: re.Match[str], profile: Profile) -> Token:
    text = found[0]
    first, folded = text[0], text.casefold()
    token = Token(found.start(), found.end(), text, folded, "p")
    if first.isdigit():
        token.kind, token.echo = "n", float(folded in profile.folded)
    elif IS_HAN.match(first):
        token.kind, token.small = "Z" if first in HAN_NUMBER else "H", first in HAN_FUNCTION
    elif first.isalpha():
        token.small = folded in FUNCTION_WORDS
        token.echo = float(not token.small and stem(text) in profile.stems)
        if folded in NUMBER_WORDS:
            token.kind = "N"
        else:
            token.kind = "A" if text.isupper() and len(text) > 1 else "C" if first.isupper() else "w"
    elif first == "\n":
        token.text = token.folded = "\n"
    elif first == "\\" or first in SIGNS:
        token.kind = "m"
    return token
