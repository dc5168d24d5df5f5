"""Find the answer that a reply sets off by its layout: the one part in bold, the one sentence in bold, a command in code, or the items of a list.

Chat models write `The capital is **Canberra**.`, `**The speed is 72 km/h.**` or `The colours are:` and a list. What is set off is
read only if its sentence says it for certain, and if it is more than words of the question.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from proctor_judging.matching.amounts import amount_spans
from proctor_judging.matching.asked import QuestionForm
from proctor_judging.matching.noun_phrases import first_verb, read_tokens
from proctor_judging.matching.number_words import with_digits
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import HAN, HAN_LETTER, echo
from proctor_judging.matching.sentences import CONCLUDES, CONTRAST, COPULA, GUESS, INSERTED, ITEM, OTHERS_SAY, split
from proctor_judging.matching.text import negations

BOLD = compile_later(r"\*\*(?=\S)([^*\n]{1,200}?)(?<=\S)\*\*|__(?=\S)([^_\n]{1,200}?)(?<=\S)__")
HEADING = compile_later(
    r"\W*(?:(?:step|case|part|option|note|fact)\b.*|(?:short |brief |key |final |detailed )?(?:explanation|reason(?:ing)?|rationale|notes?|solution|answer|conclusion|summary|details?|steps?|result|background|given|context|calculation)s?|"
    r"(?:第.{1,3}步|步骤|最终|简要|详细)?(?:解析|解释|说明|分析|理由|原因|注意?|解答?|答案|结论|总结|结果|计算|步骤|思路)[一二三四五\d]?)\W*",
    re.IGNORECASE,
)
IN_CLAUSE = compile_later(rf"[{HAN}]$")
LABEL_AFTER = compile_later(r"\s{0,2}[:：]")
SENTENCE_LIKE = compile_later(rf"\S+(?: \S+){{3,}}|[{HAN}\d]{{6,}}")
LIST_OF_BOLD = compile_later(r"\s?(?:,|，|、|;|；|,?\s?(?:and|&|和|与|以及|及))\s?(?:the |an? )?", re.IGNORECASE)
CODE = compile_later(
    rf"^\W*(?:(?:you (?:can|should|could|would) |simply |just |please )*(?:use|run|type|call|try|enter|execute)|(?:可以|应该?|请)?(?:使?用|运行|执行|输入|调用))(?: the)?(?: [a-z]+| ?[{HAN}]{{1,4}})?\s?`([^`\n]{{1,80}})`",
    re.IGNORECASE,
)
SPAN_OF_CODE = compile_later(r"(?<!`)`([^`\n]{1,80})`(?!`)")
COMPLEXITY = compile_later(r"[OoΘΩ]\([^()]*(?:\([^()]*\))?[^()]*\)")
DIGIT = compile_later(r"\d")
EXAMPLE = compile_later(r"(?:例如|比如|譬如)[:：]?\W*$")
INTRODUCES = compile_later(r"[:：]\W*$")
EXPLAINS = compile_later(r"[。！!].*(?:如下|步骤|过程|理由|原因|分析|依据|说明)[^，。]{0,4}[:：]\W*$")
EXAMPLE_OF_CODE = compile_later(
    r"[，,。；;（(\s](?:例如|比如|譬如|示例|用法)[^`\n]{0,12}\s*(?:```.*?```|`[^`\n]*`)", re.DOTALL
)
MARK_OF_ITEM = compile_later(r"\s*(?:[-*•·]|\(?\d{1,2}[.)、)）]|[①-⑳])\s*")
EXPLAINED = compile_later(r"\s[-–—]+\s.*$|[:：]\s?(?=\D).*$|\s?[(（].*$|[，,](?=.{12}).*$")
SETS_RIGHT = compile_later(r"\b(?:but|actually|however|in fact|instead|rather|not)\b|n['’]t\b", re.IGNORECASE)
END_OF_ITEM = " .。;；,，"
MOST_ITEMS = 30
LONGEST_ITEM = 200


def set_off(reply: str, asked: QuestionForm) -> str | None:
    """Return the part that a reply sets off as its answer, a value or a sentence; None without exactly one.

    >>> from proctor_judging.matching.asked import read_asked
    >>> set_off("It is **Canberra**, not Sydney.", read_asked("What is the capital of Australia?"))
    'Canberra'
    >>> set_off("It is not **Sydney**.", read_asked("What is the capital of Australia?"))
    """
    marks = ("**", "__") if BOLD.search(reply) else ("`",)
    sentences = split(re.sub("|".join(map(re.escape, marks)), "\x01", reply))
    if (code := CODE.match(reply)) is not None and not negations(reply[: code.end()]):
        return code[1]
    parts = _bold_parts(reply, asked) or _code_parts(reply, asked)
    lines = [line for line in reply.splitlines() if line.strip()]
    if len(set(parts)) > 1 and lines and (last := _bold_parts(lines[-1], asked)) and CONCLUDES.match(lines[-1]):
        parts = last
    if len(set(parts)) > 1 and HAN_LETTER.search(reply) and not any(map(CONCLUDES.match, lines)):
        first = split(reply.replace("`", "\x01"))[:1]
        parts = [part for part in parts if first and f"\x01{part}\x01" in first[0]]
    elif len(set(parts)) > 1:
        parts = _of_question(parts, sentences, asked)
    if len(set(parts)) != 1:
        return None
    part = parts[0]
    if EXAMPLE.search(reply[: reply.find(part)]):
        return None
    around = [sentence for sentence in sentences if f"\x01{part}\x01" in sentence] or [f"\x01{part}\x01"]
    return part if all(_says_for_certain(sentence, part) for sentence in around) else None


def _of_question(parts: Sequence[str], sentences: Sequence[str], asked: QuestionForm) -> list[str]:
    """Return the parts in the first sentence that has some, if it has most words of the question and no other sentence sets it right."""
    setting = [sentence for sentence in sentences if "\x01" in sentence]
    shares = [len(echo(sentence) & asked.stems) for sentence in setting]
    if (
        not shares
        or shares[0] * 2 < len(asked.stems)
        or max(shares) > shares[0]
        or any(map(SETS_RIGHT.search, sentences))
    ):
        return []
    return [part for part in parts if f"\x01{part}\x01" in setting[0]]


def _bold_parts(reply: str, asked: QuestionForm) -> list[str]:
    """Return the parts in bold that may be an answer: no headings, no labels, no words of the question."""
    parts = []
    for match in BOLD.finditer(reply):
        part = (match[1] or match[2]).strip()
        if HEADING.fullmatch(part) or part[-1:] in ":：":
            continue
        if LABEL_AFTER.match(reply, match.end()) and not IN_CLAUSE.search(reply[: match.start()]):
            continue
        amount = any(True for _ in amount_spans(with_digits(part)))
        if asked.kind in ("amount", "moment") and not amount and not COMPLEXITY.fullmatch(part):
            continue
        if not amount and all(word in asked.clause.casefold() for word in part.casefold().split()):
            continue
        parts.append(part.rstrip(".。!！"))
    return parts


def _code_parts(reply: str, asked: QuestionForm) -> list[str]:
    """Return the parts in code, where the question does not ask for an amount."""
    if asked.kind not in ("words", ""):
        return []
    codes = [match[1].strip() for match in SPAN_OF_CODE.finditer(reply) if match[1] not in asked.clause]
    return [code for code in codes if "多少" not in asked.clause or DIGIT.search(code)]


def _says_for_certain(sentence: str, part: str) -> bool:
    """True if a sentence, without what it contrasts, has the part and neither denies nor doubts it."""
    for pattern, instead in CONTRAST:
        sentence = pattern.sub(instead, sentence)
    if part not in sentence:
        return False
    before, _, after = INSERTED.sub("", sentence).partition(part)
    clause = re.split(r"[,，;；(（—]", before)[-1] + part + re.split(r"[,，;；(（—]", after)[0]
    around = clause.replace(part, "")
    return not (negations(around) or GUESS.search(sentence) or OTHERS_SAY.search(around))


def without_examples(reply: str) -> str:
    """Return a reply without the code that it gives as an example.

    >>> without_examples("用 `SUM` 函数，例如：`=SUM(A1:A9)`。")
    '用 `SUM` 函数。'
    """
    return EXAMPLE_OF_CODE.sub("", reply)


def is_sentence(part: str) -> bool:
    """True if a part that is set off is a sentence of its own, such as `The speed is 72 km/h`."""
    if COPULA.search(part) is not None:
        return SENTENCE_LIKE.search(part) is not None
    verb = first_verb(read_tokens(part)) if part.isascii() else None
    return verb is not None and verb + 1 < len(part.split())


def bold_list(reply: str) -> tuple[str, ...]:
    """Return the parts in bold that one sentence lists: `**red**, **green** and **blue**`; () otherwise.

    >>> bold_list("They are **red**, **green**, and **blue**."), bold_list("**A** is not **B**.")
    (('red', 'green', 'blue'), ())
    """
    matches = list(BOLD.finditer(reply))[:MOST_ITEMS]
    between = [reply[one.end() : two.start()] for one, two in pairwise(matches)]
    listed = len(matches) > 1 and all(map(LIST_OF_BOLD.fullmatch, between))
    return tuple(match[1] or match[2] for match in matches) if listed else ()


def listed(reply: str, *, is_asked: bool = False) -> tuple[str, ...]:
    r"""Return the items of the one list that a line introduces, without their explanations; () if a conclusion follows, or without one.

    Where a list is asked for, it may also come first, and have remarks after it.

    >>> listed("They are:\n1. Red – like blood\n2. **Green**"), listed("They are:\n- Red\nSo it is Red.")
    (('Red', 'Green'), ())
    """
    lines = [line for line in reply.splitlines() if line.strip()]
    at = next((number for number, line in enumerate(lines) if ITEM.match(line)), 0)
    heading = lines[at - 1] if at else ""
    opens = is_asked and not at and ITEM.match(lines[0] if lines else "") is not None
    if (
        not (opens or INTRODUCES.search(heading))
        or EXPLAINS.search(heading)
        or GUESS.search(heading)
        or negations(heading)
    ):
        return ()
    items = [line for line in lines[at:] if ITEM.match(line)]
    rest = lines[at + len(items) :]
    whole = lines[at : at + len(items)] == items and 1 < len(items) <= MOST_ITEMS
    if not whole or any(CONCLUDES.match(line) or (BOLD.search(line) and not is_asked) for line in rest):
        return ()
    return tuple(_item(line) for line in items) if max(map(len, items)) <= LONGEST_ITEM else ()


def _item(line: str) -> str:
    text = line[mark.end() :] if (mark := MARK_OF_ITEM.match(line)) is not None else line
    if (bold := BOLD.match(text)) is not None:
        text = bold[1] or bold[2]
    return (EXPLAINED.sub("", text) or text).strip(END_OF_ITEM)


def joined(items: Sequence[str]) -> str:
    return ", ".join(items)
