"""Find the answer that a reply sets off by its layout: the one part in bold, the one sentence in bold, a command in code, or the items of a list.

Chat models write `The capital is **Canberra**.`, `**The speed is 72 km/h.**` or `The colours are:` and a list. What is set off is
read only if its sentence says it for certain, and if it is more than words of the question.
"""

import re
from collections.abc import Sequence

from proctor_judging.matching.amounts import amount_spans
from proctor_judging.matching.asked import QuestionForm
from proctor_judging.matching.noun_phrases import first_verb, read_tokens
from proctor_judging.matching.number_words import with_digits
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import HAN
from proctor_judging.matching.sentences import CONCLUDES, CONTRAST, COPULA, GUESS, INSERTED, ITEM, OTHERS_SAY, split
from proctor_judging.matching.text import negations

BOLD = compile_later(r"\*\*(?=\S)([^*\n]{1,200}?)(?<=\S)\*\*|__(?=\S)([^_\n]{1,200}?)(?<=\S)__")
SENTENCE_LIKE = compile_later(rf"\S+(?: \S+){{3,}}|[{HAN}\d]{{6,}}")
SPAN_OF_CODE = compile_later(r"(?<!`)`([^`\n]{1,80})`(?!`)")
HAN_LETTER = compile_later(f"[{HAN}]")
INTRODUCES = compile_later(r"[:：]\W*$")
EXPLAINS = compile_later(r"[。！!].*(?:如下|步骤|过程|理由|原因|分析|依据|说明)[^，。]{0,4}[:：]\W*$")
EXAMPLE_OF_CODE = compile_later(
    r"[，,。；;（(\s](?:例如|比如|譬如|示例|用法)[^`\n]{0,12}\s*(?:```.*?```|`[^`\n]*`)", re.DOTALL
)
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
    parts = _bold_parts(reply, asked) or _code_parts(reply, asked)
    lines = [line for line in reply.splitlines() if line.strip()]
    if len(set(parts)) > 1 and HAN_LETTER.search(reply) and not any(map(CONCLUDES.match, lines)):
        first = split(reply.replace("`", "\x01"))[:1]
        parts = [part for part in parts if first and f"\x01{part}\x01" in first[0]]
    if len(set(parts)) != 1:
        return None
    part = parts[0]
    around = [sentence for sentence in sentences if f"\x01{part}\x01" in sentence] or [f"\x01{part}\x01"]
    return part if all(_says_for_certain(sentence, part) for sentence in around) else None


def _bold_parts(reply: str, asked: QuestionForm) -> list[str]:
    """Return the parts in bold that may be an answer: no headings, no labels, no words of the question."""
    parts = []
    for match in BOLD.finditer(reply):
        part = (match[1] or match[2]).strip()
        amount = any(True for _ in amount_spans(with_digits(part)))
        if not amount and all(word in asked.clause.casefold() for word in part.casefold().split()):
            continue
        parts.append(part.rstrip(".。!！"))
    return parts


def _code_parts(reply: str, asked: QuestionForm) -> list[str]:
    """Return the parts in code, where the question does not ask for an amount."""
    if asked.kind not in ("words", "") or "多少" in asked.clause:
        return []
    return [match[1].strip() for match in SPAN_OF_CODE.finditer(reply) if match[1] not in asked.clause]


def _says_for_certain(sentence: str, part: str) -> bool:
    """True if a sentence, without what it contrasts, has the part and neither denies nor doubts it."""
    for pattern, instead in CONTRAST:
        sentence = pattern.sub(instead, sentence)
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


def listed(reply: str) -> tuple[str, ...]:
    r"""Return the items of the one list that a line introduces; () if a conclusion follows, or without one.

    >>> listed("They are:\n1. Red – like blood\n2. **Green**"), listed("They are:\n- Red\nSo it is Red.")
    (('1. Red – like blood', '2. **Green**'), ())
    """
    lines = [line for line in reply.splitlines() if line.strip()]
    at = next((number for number, line in enumerate(lines) if ITEM.match(line)), 0)
    if not at or INTRODUCES.search(lines[at - 1]) is None or EXPLAINS.search(lines[at - 1]) is not None:
        return ()
    items = [line for line in lines[at:] if ITEM.match(line)]
    rest = lines[at + len(items) :]
    whole = lines[at : at + len(items)] == items and 1 < len(items) <= MOST_ITEMS
    if not whole or any(CONCLUDES.match(line) or BOLD.search(line) for line in rest):
        return ()
    return tuple(items) if max(map(len, items)) <= LONGEST_ITEM else ()


def joined(items: Sequence[str]) -> str:
    return ", ".join(items)
