"""Find the amount that a sentence states in answer to its question: what follows the last `is`, of the kind that is asked for."""

import re
from collections.abc import Collection, Sequence

from proctor_judging.matching.amount_claims import Amount
from proctor_judging.matching.amount_wording import BEFORE_CHANGE, LABEL, SET_UP
from proctor_judging.matching.amounts import (
    COMPARATIVE,
    CURRENCIES,
    END_OF_NOUN,
    LONE_ONE,
    MONTHS,
    OUT_OF,
    ROSE_FROM,
    SPAN,
    SUBJECT,
    YEAR,
    AmountSpan,
    amount_spans,
)
from proctor_judging.matching.asked import MEASURES, QuestionForm
from proctor_judging.matching.contradictions import contradicts
from proctor_judging.matching.dates import read_moments
from proctor_judging.matching.number_words import with_digits
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.quantities import read_quantity
from proctor_judging.matching.question_words import echo
from proctor_judging.matching.sentences import CLAUSE, COPULA, asked_clause, chosen, plain_statement, split
from proctor_judging.matching.text import tidy

NOUN = 40
BRACKETED_UNIT = compile_later(r"(?<=\d)\s?\(((?:[a-zA-Zμ°℃%]|[\u3400-\u9fff]){1,6}(?:[²³]|\^[23])?(?:/[a-z]{1,3})?)\)")
HAN_ROSE_FROM = compile_later(r"[从由][^，。,]{1,20}?[涨升降跌增减调提落变扩缩滑攀][\u3400-\u9fff]{0,2}?[到至为]了?")
SHARE = compile_later(r"[%/]|per ?cent")
ASKS_SHARE = compile_later(
    r"\b(?:percent\w*|per cent|share|proportion|fraction|probability|rate)\b|百分|占|比例|概率|几成|[^效频功]率",
    re.IGNORECASE,
)
MOMENTS = (
    (compile_later(r"\btime\b|几点|何时", re.IGNORECASE), compile_later(r":|[点點时時]|[ap]\.?m|past|to ")),
    (compile_later(r"\byear\b|哪一?年|年份", re.IGNORECASE), compile_later(r"[12]\d{3}|\d年|\bBC|\bAD|公元")),
    (compile_later(r"\bmonth\b|几月|哪个月", re.IGNORECASE), compile_later(r"月|[A-Za-z]{3}")),
)


ASKS_TIME = compile_later(r"\b(?:time|date|day|month|year|when)s?\b|[年月日时]", re.IGNORECASE)
A_DATE = compile_later(rf"\b{MONTHS}|年.*月", re.IGNORECASE)


def stated_amounts(sentences: Sequence[str], asked: QuestionForm, question: str) -> list[Amount] | None:
    """Return the amounts that may answer a question, in the last of the answering sentences that has any.

    One amount is the answer; several leave it open; None if a sentence with an amount takes it back, or is not sure.
    """
    given = (
        {span.text for sentence in split(question) for span in amount_spans(with_digits(sentence.rstrip("?")))}
        if question
        else set()
    )
    answering = chosen([with_digits(sentence) for sentence in sentences], asked.clause)
    if answering and SPAN.fullmatch(with_digits(answering[-1])):
        answering = answering[-1:]  # a line that is nothing but an amount concludes
    for sentence in reversed(answering):
        plain = plain_statement(sentence)
        if plain is None or contradicts(plain := asked_clause(plain, asked.clause), asked.clause):
            if any(True for _ in amount_spans(with_digits(sentence))):
                return None
            continue
        plain = HAN_ROSE_FROM.sub("为", ROSE_FROM.sub(r"\1 to ", with_digits(BRACKETED_UNIT.sub(r" \1", plain))))
        plain = OUT_OF.sub("", plain)
        spans = _answering_spans(plain, given, asked)
        if asked.kind == "amount" and not ASKS_TIME.search(asked.clause):
            spans = [span for span in spans if not A_DATE.search(span.text)]
        if spans:
            if not all(span.sure for span in spans):
                return None
            different = {span.text: span for span in spans}.values()
            return [_amount(span.text, plain) for span in different]
    return []


def _answering_spans(plain: str, given: Collection[str], asked: QuestionForm) -> list[AmountSpan]:
    """Return the amounts in the complement of a statement, else in all of it, without those that only set the scene."""
    complement = list(COPULA.finditer(plain))
    after = plain[complement[-1].end() :] if complement else ""
    before = plain[: complement[-1].start()] if complement and COMPARATIVE.match(after) else ""
    in_complement = any(True for _ in amount_spans(after))
    for part, whole in ((before, False), (after, False), (plain, True)):
        if whole and after and not asked.clause and "=" in plain and in_complement:
            break  # `60 km/h × 2 h = 120 km` is about kilometres
        separate = complement and CLAUSE.search(plain[: complement[-1].start()])
        if whole and after and not (separate or in_complement or SUBJECT.match(plain)):
            break  # of `The element with number 79 is gold` the number is no answer
        spans = [span for span in amount_spans(part, asked.clause) if not LABEL.search(part[: span.start])]
        first = spans[0].start == 0 if spans and complement and not whole else False
        if first and complement[-1][0].strip() == "=" and not CLAUSE.search(after):
            spans = spans[:1]  # = 6 ways to arrange 3 books
        spans = _narrowed(spans, part, () if part is after else given, asked)
        if spans:
            return spans
    return []


def _narrowed(spans: list[AmountSpan], sentence: str, given: Collection[str], asked: QuestionForm) -> list[AmountSpan]:
    """Return the amounts without those of the question, those of another kind, and those that count something else, while others are left."""
    for narrow in (
        lambda those: [span for span in those if span.text not in given],
        lambda those: _fitting(those, asked),
        lambda those: [
            span for span in those if BEFORE_CHANGE.search(asked.clause) or not SET_UP.search(sentence[: span.start])
        ],
        lambda those: [span for span in those if span.start >= _end_of_measure(sentence, asked)],
        lambda those: [span for span in those if not LONE_ONE.match(span.text)],
        lambda those: [span for span in those if asked.kind == "moment" or not YEAR.fullmatch(span.text.rstrip("年"))],
        lambda those: _counted(those, sentence, asked),
    ):
        if len({span.text for span in spans}) > 1:
            spans = narrow(spans) or spans
    return spans


def _end_of_measure(sentence: str, asked: QuestionForm) -> int:
    """Return where the last measure that is asked for ends, as in `当x=2时取最小值-1`; 0 without one."""
    measures = [match for match in MEASURES.finditer(sentence) if match[0].casefold() in asked.clause.casefold()]
    return measures[-1].end() if measures else 0


def _fitting(spans: list[AmountSpan], asked: QuestionForm) -> list[AmountSpan]:
    """Return the amounts of the kind that is asked for; none if no kind is."""
    if asked.kind == "moment":
        wanted = next((form for pattern, form in MOMENTS if pattern.search(asked.clause)), None)
        moments = [span for span in spans if YEAR.fullmatch(span.text.rstrip("年")) or read_moments(tidy(span.text))]
        return [span for span in moments if wanted is not None and wanted.search(span.text)] or moments
    if asked.kind != "amount":
        return spans
    pairs = [(span, read_quantity(tidy(span.text))) for span in spans]
    same_unit = [span for span, amount in pairs if amount is not None and amount.unit in asked.units]
    kinds = [unit.dimensions for unit in asked.units] + list(CURRENCIES if asked.money else ())
    same_kind = [span for span, amount in pairs if amount is not None and amount.unit.dimensions in kinds]
    shares = [span for span in spans if SHARE.search(span.text)] if ASKS_SHARE.search(asked.clause) else []
    return same_unit or same_kind or shares or [span for span in spans if not read_moments(tidy(span.text))]


def _counted(spans: list[AmountSpan], sentence: str, asked: QuestionForm) -> list[AmountSpan]:
    """Return the amount whose counted noun the question names, of `3 gold and 2 silver medals`; none when none is nearer to it."""
    nouns = [END_OF_NOUN.split(sentence[span.end :].lstrip(), maxsplit=1)[0].strip(" .") for span in spans]
    near = [len(asked.stems & echo(noun)) for noun in nouns]
    best = max(near)
    return [spans[near.index(best)]] if asked.stems and all(nouns) and near.count(best) == 1 else []


def _amount(text: str, sentence: str) -> Amount:
    at = sentence.find(text)
    return Amount(text, sentence[at + len(text) :][:NOUN].strip(), sentence[:at][-NOUN:])
