"""Compare two texts word by word, as the last rule that needs no model: the same words in order, articles aside. Numbers and negations must agree."""

import re
from collections.abc import Sequence
from functools import lru_cache

from proctor.core.sentence import say
from proctor_judging.matching.english import SCALES, SMALL, TENS
from proctor_judging.matching.numbers import read_number
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.text import negations
from proctor_judging.matching.verdict import AnswerMatch, AnswerOptions, accept, refuse, shown

RULE = "similarity"
LONGEST = 4_000
WORD = compile_later(
    r"\d+(?:st|nd|rd|th)\b|(?<![\w)])-?\d+(?:[.,:]\d+)*%?|\d+(?:[.,:]\d+)*%?|[零〇一二两三四五六七八九十百千万亿]+(?=[个位名只条张本件次种人天年块章节页层楼台辆匹头棵朵支枝杯碗瓶双套间家座所部篇首幅队组班级岁步])|(?<=第)[零〇一二三四五六七八九十百千]+|[\u3400-\u9fff]|[^\W_]+(?:'[^\W\d_]+)?|[^\s\w.,;:!?'\"、。，]"
)
NUMBER_WORD = "|".join([*SMALL, *TENS, *(scale for scale in SCALES if len(scale) > 4), "hundred"])
NUMBER_WORDS = compile_later(rf"\b(?:{NUMBER_WORD})(?:(?:[ -]|\s+and\s+)(?:{NUMBER_WORD}))+\b", re.IGNORECASE)
CONTRACTED = compile_later(r"\b(\w+)(?:n't|not)\b", re.IGNORECASE)
SHORTENED = {"ca": "can", "wo": "will", "sha": "shall"}
ARTICLES = frozenset(["a", "an", "the"])
HYPHEN = compile_later(r"(?<=[^\W_])-(?=[^\W\d_])|\s-+\s")
OF = compile_later(r"(?<=[\u3400-\u9fff]{2})的(?=[\u3400-\u9fff])")


def similarity(answer: str, target: str, options: AnswerOptions) -> AnswerMatch:
    """Compare two texts by the share of words that agree in order; all must agree unless the options allow fewer."""
    if len(answer) > LONGEST or len(target) > LONGEST:
        return refuse(RULE, say("The texts differ, and are too long to be compared word by word."))
    blocked = blocker(answer, target)
    if blocked is not None:
        return blocked
    given, expected = words(answer), words(target)
    share = _share(given, expected) if options.similarity < 1 else float(given == expected and bool(given))
    if share >= options.similarity:
        return accept(RULE, say("The words are the same."))
    if options.similarity < 1:
        return refuse(
            RULE,
            say(
                "{share} of the words agree; {wanted} are asked for.",
                share=f"{share:.0%}",
                wanted=f"{options.similarity:.0%}",
            ),
        )
    return refuse(
        RULE, say("No rule finds '{answer}' the same as '{target}'.", answer=shown(answer), target=shown(target))
    )


def blocker(answer: str, target: str) -> AnswerMatch | None:
    """Return the refusal of texts that a similarity must not bring together: negations or numbers differ."""
    if len(negations(answer)) != len(negations(target)):
        return refuse(RULE, say("One of the texts negates what the other says."))
    if _numbers(words(answer)) != _numbers(words(target)):
        return refuse(RULE, say("The texts hold different numbers."))
    return None


@lru_cache(maxsize=256)
def words(text: str) -> tuple[str, ...]:
    """Return the words of a text, numbers in one form, without articles.

    >>> words("The five apples") == words("5 apples"), words("三个苹果") == words("3个苹果")
    (True, True)
    """
    tokens = []
    quantities = any(char.isdigit() for char in text)
    text = CONTRACTED.sub(lambda one: SHORTENED.get(one[1].lower(), one[1]) + " not", text)
    text = OF.sub("", HYPHEN.sub(" ", NUMBER_WORDS.sub(_in_digits, text)))
    parts = WORD.findall(text)
    for index, word in enumerate(parts, start=1):
        if index < len(parts) and (word in ARTICLES or word.lower() in ("an", "the") or (word == "A" and index == 1)):
            continue
        number = read_number(word if word.isupper() or not word.isascii() else word.lower())
        if number is not None and not number.doubtful:
            tokens.append(f"{number.value}{'.' if number.ordinal else ''}")
        else:  # beside digits the case of short words may tell units apart
            tokens.append(word if quantities and len(word) <= 2 else word.casefold())
    return tuple(tokens)


def _in_digits(found: re.Match[str]) -> str:
    number = read_number(found[0].lower())
    return found[0] if number is None or number.ordinal else str(number.value)


def _numbers(found: Sequence[str]) -> list[str]:
    return [word for word in found if any(char.isdigit() for char in word[:2])]


def _share(one: Sequence[str], other: Sequence[str]) -> float:
    """Twice the longest common subsequence over the number of words: an F1 that keeps the order."""
    if not one or not other:
        return 0.0
    row = [0] * (len(other) + 1)
    for first in one:
        above_left = 0
        for column, second in enumerate(other, start=1):
            above = row[column]
            row[column] = above_left + 1 if first == second else max(above, row[column - 1])
            above_left = above
    return 2 * row[-1] / (len(one) + len(other))
