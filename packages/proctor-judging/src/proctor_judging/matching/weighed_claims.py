"""Read what a reply claims by rules, and weigh it against the other spans of the reply: the claim holds unless another is far more probable."""

import re
from collections.abc import Sequence

from proctor_judging.matching.asked import QuestionForm, read_asked
from proctor_judging.matching.claims import (
    ANNOUNCED,
    ARTICLE,
    HAN_WORD,
    Claim,
    Claims,
    claimed_forms,
    is_value,
    read_claims,
)
from proctor_judging.matching.english_replies import read_english_reply
from proctor_judging.matching.english_spans import forms_of_span, read_english_spans
from proctor_judging.matching.extract import final_answer
from proctor_judging.matching.han_span_forms import span_forms
from proctor_judging.matching.han_spans import read_han_spans
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.phrase_answers import SO
from proctor_judging.matching.question_words import MOST_CHARACTERS, echo
from proctor_judging.matching.span_model import Language, ReplySpan, weigh
from proctor_judging.matching.text import FENCED, tidy

MEASURED = ("amount", "moment")
TIMES = {"en": 10, "zh": 20}  # as probable must another span be
LONGEST = 600  # characters of a reply that is weighed: the time grows with its spans
LEAST_SURE = 0.3  # with less, the reply can be read in both ways, and says nothing where rules read nothing
DECLINES = compile_later(
    r"\b(?:(?:do|does|did|could|can|was|were|is|are|am)(?:n['’]t| not)|cannot|unable to)\b.{0,20}\b(?:have|know|find|say|tell|help|answer|confirm|provide|mention\w*|able|access)\b|"
    r"抱歉|对不起|无法|不知道|不清楚|没有(?:找到|查到|提供|提到|相关)|未(?:找到|查到|提供|提及)",
    re.IGNORECASE,
)
CHANGED = compile_later("原计划|原定|推迟|提前到|延期|改到")
WHICH = compile_later("哪一?[种个座条项门部本位款支家所](?:的)?([\u3400-\u9fff]{1,4})[？?]")
REMARK = compile_later(r"\s*[.!;:(–—\n]")  # after a claim that comes first
LIST = compile_later(r", |，|、| and |和|及")


def read_weighed_claims(reply: str, question: str = "", *, guesses: bool = False) -> Claims:
    """Return what a reply claims in answer to a question, as `read_claims` does, where no other span is far more probable.

    >>> reply = "John Major succeeded her in November 1990. He was followed by Tony Blair in 1997."
    >>> [str(claim) for claim in read_weighed_claims(reply, "Who succeeded Margaret Thatcher?").readings]
    ['John Major']
    """
    claims = read_claims(reply, question, guesses=guesses)
    asked = read_asked(question)
    if guesses or len(reply) > LONGEST or _is_settled(claims, reply, question, asked):
        return claims
    if not claims.readings and DECLINES.search(reply):
        return claims
    is_han = HAN_WORD.search(question) is not None
    other = _read_han(claims, reply, question) if is_han else _read_english(claims, reply, question, asked)
    return claims if other is None else Claims(claims.given, other, claims.asks)


def _read_han(claims: Claims, reply: str, question: str) -> tuple[Claim, ...] | None:
    """Return what a Chinese reply claims rather than what rules read; None if that holds."""
    spans = read_han_spans(reply, question, only_sure=not claims.readings)
    best = _more_probable(claims, spans, "zh")
    if best is None or (claims.readings and CHANGED.search(reply)):
        return None
    kind = WHICH.search(question)
    if kind is not None and claims.readings and kind[1] in str(claims.readings[0]) and kind[1] not in best[0].text:
        return None  # 维生素C, asked for a 维生素
    return _with_doubt(claims, span_forms(best[0], reply, question), best[1])


def _read_english(claims: Claims, reply: str, question: str, asked: QuestionForm) -> tuple[Claim, ...] | None:
    """Return what an English reply claims rather than what rules read; None if that holds."""
    english = read_english_reply(reply, question)
    best = _more_probable(claims, list(read_english_spans(english, only_sure=not claims.readings)), "en")
    if best is None:
        return None
    amounts = claimed_forms(ANNOUNCED.format(given=best[0].text), question) if asked.kind in MEASURED else ()
    return _with_doubt(claims, tuple(dict.fromkeys([*forms_of_span(best[0], english), *amounts])), best[1])


def _more_probable(claims: Claims, spans: Sequence[ReplySpan], language: Language) -> tuple[ReplySpan, float] | None:
    """Return the most probable span, with its probability, if it is far more probable than the claim; None if that holds.

    A claim that no span says cannot be weighed, and rules know better where a phrase ends: both hold.
    """
    weighed = _by_text(spans, weigh(spans, language))
    if not weighed:
        return None
    best, probability = max(weighed.values(), key=lambda pair: pair[1])
    if not claims.readings:
        return (best, probability) if probability >= LEAST_SURE else None
    stated = weighed.keys() & {_plain(form) for form in claims.readings[0].forms}
    text = _plain(best.text)
    is_within = any(text in form or form in text for form in stated)
    holds = not stated or is_within or sum(weighed[form][1] for form in stated) * TIMES[language] >= probability
    return None if holds else (best, probability)


def _with_doubt(claims: Claims, forms: tuple[str, ...], probability: float) -> tuple[Claim, ...]:
    """Return a claim; before it that of the rules, where the reply can be read in both ways."""
    return (*(claims.readings if probability < LEAST_SURE else ()), Claim(forms))


def _is_settled(claims: Claims, reply: str, question: str, asked: QuestionForm) -> bool:
    """True where rules alone read a reply: a value, what a reply marks as its answer, begins with or concludes, yes or no, a list, code."""
    if not echo(question) or claims.asks or asked.kind == "truth" or FENCED.search(reply[:MOST_CHARACTERS]):
        return True
    marked = final_answer(reply)
    if marked is not None and (marked != reply.strip() or is_value(tidy(marked))):
        return True
    if len(claims.readings) > 1 or any(claim.truth is not None for claim in claims.readings):
        return True
    if claims.readings and REMARK.match(reply.strip().removeprefix(str(claims.readings[0]))):
        return True
    if claims.readings and len(parts := SO.split(reply)) > 1 and str(claims.readings[0]) in parts[-1]:
        return True
    return asked.several and bool(claims.readings) and LIST.search(str(claims.readings[0])) is not None


def _by_text(spans: Sequence[ReplySpan], probabilities: Sequence[float]) -> dict[str, tuple[ReplySpan, float]]:
    """Return the spans that differ, each with the probability of all that read like it."""
    weighed: dict[str, tuple[ReplySpan, float]] = {}
    for span, probability in sorted(zip(spans, probabilities, strict=True), key=lambda pair: -pair[1]):
        text = _plain(span.text)
        kept, before = weighed.get(text, (span, 0.0))
        weighed[text] = kept, before + probability
    return weighed


def _plain(text: str) -> str:
    return ARTICLE.sub("", text).casefold().strip(' .,"“”')
