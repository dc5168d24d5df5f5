"""Find the sentence of a reply whose place and form make it the answer to a question of an amount, before any word of it is weighed.

A reply that begins with an amount and nothing else has claimed it, and what follows is background. A derivation ends with its result.
"""

import re
from collections.abc import Sequence

from proctor_judging.matching.amount_wording import CHECKS, OPENING, STATED_CONCLUSION
from proctor_judging.matching.amounts import SPAN
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.sentences import COURTESY, split

LONE = compile_later(
    r"(?:(?:the (?:final |correct )?answer|it|that|there)(?:['’]s| is| are| was| were) |是|为|共|一共|总共)?"
    r"(?:exactly |about |around |approximately |roughly |only |just |大约|约)?[-+$€£¥]?"
)
NOUN = compile_later(
    r"(?:[\u3400-\u9fff]{0,4}|(?:\s?(?!(?:of|out|is|are|was|were|\w+ed)\b)[A-Za-zÀ-ɏμΩ°]{1,14}[²³]?(?:/[A-Za-z]{1,6})?){0,3})"
    r"(?:\s?\([^()]{1,80}\)|（[^（）]{1,80}）)?\W{0,3}"
)
LAST_STEP = compile_later(
    r"\s*\*\*|[^=\n]*[\d)]\s?=|\W*(?:\d\. )?(?:(?:in )?total|sum|altogether|answer|合计|总计|总共|一?共|总和)[*_ ]{0,3}[:：]",
    re.IGNORECASE,
)
ASIDE = compile_later(r"\(.*\)\W*|（.*）\W*")
HAN_VERB = compile_later(r"[是有了为吃坐卖花占在行需]")
CONCLUDES_WITHIN = compile_later(
    r"^\W*(?:so|that means|this means|leaving|which leaves|making)\b|\b(?:therefore|thus|hence|in total|altogether|(?:amounts|comes|adds up) to|total is)\b|所以|因此|那么|^[故则即共]|得出?(?=\d)|答[:：]",
    re.IGNORECASE,
)
OPERATOR = r"\s?(?:[+−–×xX*÷/·-]|\b(?:plus|minus|times|divided by|multiplied by)\b|乘以?|除以|加上?|减去?)\s?"
BEFORE_OPERATOR = compile_later(rf"[)）]?(?:\s?[^\W\d_]{{1,12}})?{OPERATOR}[-(（$€£¥]{{0,3}}(?:\d|[a-z]\b)")
AFTER_OPERATOR = compile_later(rf"[\d)）%°²³\w]{OPERATOR}[-(（$€£¥]{{0,3}}$")
OPERATION = compile_later(r"\d\s?[-/]\s?\d")
LEAVES = compile_later(
    r"\b(?:left|leav\w+|remain\w*|in fact|actually|oops)\b|^\W*(?:or|no)\b|[还只]?[剩余]下?|其实|不对", re.IGNORECASE
)
EQUALS = compile_later(r"[=≈]|\b(?:is|makes|gives|equals)\b|等于|得")
RESULT = compile_later(
    rf"(?:\b(?:get|gives?|giving|makes?|making|leaves?|leaving|yields?|left \w+ with)|得[到出]?|[=≈]\s?等于)\s?[$€£¥]?$|(?:(?:\d|[)）%])[^=,，]{{0,24}}|(?<![A-Za-z\d])[a-z]\s?|{OPERATOR}[^=,，]{{1,24}})[=≈]\s?[$€£¥]?$"
)


def answering(sentences: Sequence[str]) -> list[str]:
    """Return the sentences that may answer: an amount alone at the start or the end, else all that are neither courtesy nor a check.

    >>> answering(["5 slices", "They ate 7 in all"]), answering(["They ate 7", "5"])
    (['5 slices'], ['5'])
    >>> answering(["Sure, it is 5", "Let me know!"])
    ['it is 5']
    """
    plain = [OPENING.sub("", sentence) or sentence for sentence in sentences]
    plain = [sentence for sentence in plain if not COURTESY.match(sentence) and not CHECKS.match(sentence)] or plain
    with_amount = [sentence for sentence in plain if SPAN.search(sentence)]
    if any(not ASIDE.fullmatch(sentence) for sentence in with_amount):
        plain, with_amount = ([each for each in those if not ASIDE.fullmatch(each)] for those in (plain, with_amount))
    if len(with_amount) < 2:
        return plain
    lone = [is_lone(sentence) for sentence in with_amount]
    again = any(STATED_CONCLUSION.match(sentence) or LEAVES.search(sentence) for sentence in with_amount[1:])
    if lone[0] and not any(lone[1:]) and not again:
        return with_amount[:1]
    if lone[-1] and not any(lone[:-1]):
        return with_amount[-1:]
    return plain


def is_lone(sentence: str) -> bool:
    """True if a sentence is an amount with its noun, and nothing else: `23 years old`, `5块`, `It is 8`.

    >>> is_lone("23 years old"), is_lone("They ate 7"), is_lone("**5块**"), is_lone("12 - 7 = 5")
    (True, False, True, False)
    """
    text = sentence.strip(" *_`")
    start = LONE.match(text)
    amount = SPAN.match(text, start.end() if start is not None else 0)
    rest = NOUN.fullmatch(text, amount.end()) if amount is not None and not amount["tuple"] else None
    return rest is not None and HAN_VERB.search(rest[0].partition("（")[0]) is None


def last_step(reply: str) -> list[str]:
    """Return the last line of a list, where it is a total or an equation, to which the other lines lead: `- Total: 48 + 24 = 72`.

    >>> last_step("1. 4 + 3 = 7\\n2. 12 - 7 = 5"), last_step("- 5 cats\\n- 3 dogs")
    (['12 - 7 = 5'], [])
    """
    last = reply.rstrip().rpartition("\n")[2]
    return split(last)[-1:] if LAST_STEP.match(last) else []


def is_result(clause: str, start: int) -> bool:
    """True if the amount that begins at `start` is what arithmetic or an unknown equals: the 5 of `12 - 7 = 5`, the 4 of `x = 4`."""
    return RESULT.search(clause[:start]) is not None


def is_operand(clause: str, start: int, end: int) -> bool:
    """True if arithmetic is done with the amount from `start` to `end` of a clause: the 12 and the 7 of `12 - 7 = 5`."""
    end = start + len(clause[start:end].rstrip(" +-−–"))
    before, after = clause[:start], clause[end:]
    if OPERATION.search(clause[start:end]) and after.lstrip()[:1] == "=":
        return True
    if "=" not in clause and EQUALS.search(after) is None:
        return False
    return BEFORE_OPERATOR.match(after) is not None or AFTER_OPERATOR.search(before) is not None
