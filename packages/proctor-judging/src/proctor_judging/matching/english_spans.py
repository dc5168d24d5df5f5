"""List the spans of an English reply that may be its answer, with the features by which `span_model` weighs them."""

import re
from collections.abc import Iterator, Sequence

from proctor_judging.matching.contradictions import contradicts
from proctor_judging.matching.english_replies import AskedForm, Clauses, EnglishReply
from proctor_judging.matching.english_span_features import (
    features_after,
    features_before,
    features_of_sentence,
    features_within,
    newness_of,
)
from proctor_judging.matching.noun_phrases import Token
from proctor_judging.matching.number_words import with_digits
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.phrase_forms import forms_of
from proctor_judging.matching.sentences import asked_clause
from proctor_judging.matching.span_model import ReplySpan
from proctor_judging.matching.stated_words import shorter_names, variants

MOST_TOKENS, MOST_FORMS = 12, 4
NOT_FIRST = frozenset(["preposition", "conjunction", "auxiliary", "possessive", "negation"])
NOT_LAST = frozenset(["determiner", "preposition", "conjunction", "auxiliary", "negation", "possessive"])
BOUNDING = frozenset(["least", "most"])  # at least 18
NOT_ALONE = frozenset(["mark", "determiner", "pronoun", "adverb"])
OPENING, CLOSING, ENDING = "\"“`$(['-", "\"”`$)]'%", ";!?"
BOUND = compile_later(
    r"\b(?:at (?:least|most)|under|over|(?:more|less|fewer|greater|smaller|larger) than|up to|between|between \S{1,20} and|below|above|beyond|exceed\w*|after|before|"
    r"factor of|multiple of)\s[$£€]?$",
    re.IGNORECASE,
)
NOT_THERE = compile_later(r"\b(?:near|against|except|without|unlike|besides)\s(?:(?:the|a|an)\s)?$", re.IGNORECASE)
OFFERS = compile_later(r"\bor\b|[,:;\"'“\n.]\s?\S")
RANGE_START = compile_later(r"(?<![\w.,/-])[$€£]?\d[\d.,]*\s?[-–]\s?$")
RANGE_END = compile_later(r"\s?[-–]\s?\d")
DASHES = "-–—"


def read_english_spans(reply: EnglishReply, *, only_sure: bool = False) -> Iterator[ReplySpan]:
    """Yield the spans that may be claimed, with their features; `only_sure` takes them from plain statements alone.

    >>> from proctor_judging.matching.english_replies import read_english_reply
    >>> reply = read_english_reply("The capital isn't Sydney but Canberra.", "What is the capital of Australia?")
    >>> [span.text for span in read_english_spans(reply)]
    ['Canberra']
    """
    for index, sentence in enumerate(reply.sentences):
        if contradicts(asked_clause(sentence.text, reply.query.asked.clause), reply.query.asked.clause):
            continue
        silent = sentence.silent(only_sure=only_sure)
        shared = features_of_sentence(reply, index)
        after: dict[int, list[str]] = {}
        for first in range(len(sentence.tokens)):
            ends = [*_ends(sentence, first, silent)]
            before = features_before(reply, index, first) if ends else []
            for last, text in ends:
                if not _may_answer(reply.query, sentence.tokens[first : last + 1], text, only_sure=only_sure):
                    continue
                if last not in after:
                    after[last] = features_after(reply, index, last)
                within = features_within(reply, index, first, last, text)
                yield ReplySpan(text, (*shared, *before, *after[last], *within), index, first, last)


def _may_answer(query: AskedForm, tokens: Sequence[Token], text: str, *, only_sure: bool) -> bool:
    """True unless a span has no number where an amount is asked for; with `only_sure`, nor only words of a question that offers no choice."""
    if query.kind == "amount" and not any(map(str.isdigit, with_digits(text))):
        return False
    return not only_sure or newness_of(tokens) != "old" or OFFERS.search(query.text) is not None


def forms_of_span(span: ReplySpan, reply: EnglishReply) -> tuple[str, ...]:
    """Return a span with and without its article, modifiers, titles and remarks, and its other names."""
    sentence, query = reply.sentences[span.sentence], reply.query
    within = (span.first, span.last + 1)
    forms = [span.text, *forms_of(sentence.tokens, within, sentence.text, sentence.text, query.gap)]
    forms += [*shorter_names(forms, query.asked), *list(variants(span.text))[:MOST_FORMS]]
    return tuple(dict.fromkeys(form for form in forms if form))


def _ends(sentence: Clauses, first: int, silent: Sequence[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """Yield the last token and the text of each span that begins with a token."""
    tokens, start = sentence.tokens, sentence.tokens[first]
    if RANGE_START.search(sentence.text[: start.start]) is not None:
        return
    is_silent = any(begin <= start.start < end for begin, end in silent)
    if (
        is_silent
        or start.kind in NOT_FIRST
        or start.word in BOUNDING
        or NOT_THERE.search(sentence.text[: start.start]) is not None
        or (start.kind == "mark" and start.text not in OPENING)
    ):
        return
    for last in range(first, min(len(tokens), first + MOST_TOKENS)):
        end = tokens[last]
        is_dash = end.text in DASHES and sentence.text[end.start - 1] == " "
        is_bound = end.kind == "number" and BOUND.search(sentence.text[: end.start]) is not None
        if is_bound or is_dash or (end.kind == "mark" and end.text in ENDING):
            break
        if end.kind in NOT_LAST or (end.kind == "mark" and end.text not in CLOSING):
            continue
        if first == last and end.kind in NOT_ALONE:
            continue
        if end.kind == "number" and RANGE_END.match(sentence.text, end.end) is not None:
            continue
        if text := _stripped(sentence.text[start.start : end.end]):
            yield last, text


def _stripped(text: str) -> str:
    """Return a span without quotes, ends of sentences and a bracket that is not closed in it."""
    text = text.strip('"“”`[] ').rstrip(",.:;/ ")
    if text.count("(") != text.count(")"):
        text = text.rstrip(")") if text.count("(") < text.count(")") else text.lstrip("(")
    return text[1:-1] if text[:1] == "(" and text[-1:] == ")" and text.count("(") == 1 else text
