"""Find the parts of a reply that may be its answer: runs of words, amounts, what is quoted, set equal, listed or said of the subject."""

from collections.abc import Iterable, Sequence

from proctor.answer_matching.amounts import SPAN
from proctor.answer_matching.reply_tokens import Token
from proctor.runtime.patterns import compile_later

MOST_WORDS, MOST_HAN, MOST_TOKENS = 7, 12, 20
MORE_IN_FORMULAS = 6
LONGEST_PIECE = 90
MOST_SPANS = 400
INNER = frozenset("-–.'’·/:&_()")
PARTICLES = frozenset("的了着")
LIST = compile_later(
    r"[\w《》\u3400-\u9fff·'’ -]{1,40}(?:[,、，] ?[\w《》\u3400-\u9fff·'’ -]{1,40}){0,12}(?:,? (?:and|or|&) |[和与及]|、|, ?)[\w《》\u3400-\u9fff·'’ -]{1,40}"
)
EQUAL_TO = compile_later(r"=\s?([^=,，。;；\n]{1,80}?)(?=\s?(?:[=,，。;；\n]|\.(?:\s|$)|$|\s[a-z]{2}))")
MARKED = compile_later(
    r"\"([^\"\n]{1,80})\"|“([^”\n]{1,80})”|《([^》\n]{1,40})》|`([^`\n]{1,80})`|\*\*([^*\n]{1,80})\*\*|「([^」\n]{1,80})」|\$([^$\n]{1,80})\$"
    r"|(?<!\w)'([^'\n]{1,60})'(?!\w)"
)
LEADS = compile_later(
    r"\b(?:is|are|was|were|means?|called|to|stands\sfor|equals|includes?|has|have|had)\s|[是为叫有在:：]\s?"
)
PIECE = compile_later(r"[^,，。;；:：\n!?！？()（）]+")


def spans_of(text: str, tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Return pairs of the first and the last token of each part that may be the answer."""
    starts = {token.start: at for at, token in enumerate(tokens)}
    ends = {token.end: at for at, token in enumerate(tokens)}
    spans = set(_runs(tokens))
    for first, last in _parts(text):
        part = text[first:last]
        start, end = last - len(part.lstrip(' \t"*')), first + len(part.rstrip(' \t."*'))
        if start in starts and end in ends and starts[start] <= ends[end]:
            spans.add((starts[start], ends[end]))
    return sorted(spans)[:MOST_SPANS]


def _runs(tokens: Sequence[Token]) -> Iterable[tuple[int, int]]:
    """Yield runs of a few words that neither begin nor end with a function word."""
    for start, first in enumerate(tokens):
        if first.kind == "p" or (first.small and first.kind == "w"):
            continue
        words = han = 0
        formula = False
        for end in range(start, min(len(tokens), start + MOST_TOKENS)):
            token = tokens[end]
            formula = formula or token.kind == "m"
            if token.kind == "p":
                if not _goes_on(tokens, start, end, formula=formula):
                    break
                continue
            words, han = words + (token.kind not in "HZ"), han + (token.kind in "HZ")
            if han > MOST_HAN or words > MOST_WORDS + MORE_IN_FORMULAS * formula:
                break
            if (not token.small or token.kind == "H") and token.text not in PARTICLES:
                yield start, end


def _goes_on(tokens: Sequence[Token], start: int, at: int, *, formula: bool) -> bool:
    """True if a run may go on over a punctuation mark: `St. Mary`, `9:30`, `(x + 1)`, `May 5, 2020`, a list in Chinese."""
    mark = tokens[at].text
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    number = following is not None and following.kind == "n"
    if mark in ",，":
        return number
    if mark == "、":
        return True
    if mark not in INNER:
        return False
    if mark == ".":
        apart = following is not None and following.start != tokens[at].end
        return not apart or (at > start and len(tokens[at - 1].text) <= 2)
    if mark == ":":
        return number and tokens[at - 1].kind == "n"
    return formula if mark in "()" else True


def _parts(text: str) -> Iterable[tuple[int, int]]:
    """Yield the bounds of amounts, formulas, quoted words, lists, and pieces between punctuation, with and without what leads to them."""
    for found in SPAN.finditer(text):
        yield found.span()
    for found in EQUAL_TO.finditer(text):
        yield found.span(1)
    for found in MARKED.finditer(text):
        yield found.span(found.lastindex or 0)
    for pattern in (LIST, PIECE):
        for found in pattern.finditer(text):
            if pattern is LIST or len(found[0]) <= LONGEST_PIECE:
                yield found.span()
            for lead in LEADS.finditer(found[0]):
                if len(found[0]) - lead.end() <= LONGEST_PIECE:
                    yield found.start() + lead.end(), found.end()
