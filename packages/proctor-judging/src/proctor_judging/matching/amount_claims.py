"""Read which amounts a reply gives as its answer, from the reply and the question alone.

Amounts that only set the scene (years, labels, ordinals, model names, what the question itself says) are set aside while another
one is left. Then the sentence that concludes, the clause nearest to the question and what follows the last `=` or `is` decide.
What still differs after that is a reading each: nobody can know which one is meant.
"""

import re
from collections.abc import Callable, Sequence

import msgspec

from proctor_judging.matching import amount_wording as wording
from proctor_judging.matching.amount_derivation import AmountCandidate, derived, is_rate, value_of
from proctor_judging.matching.amount_evidence import (
    AmountEvidence,
    asks_for_whole,
    cell_of,
    counted,
    lead_of,
    leading,
    subject_in,
)
from proctor_judging.matching.amount_layout import answering, is_result, last_step
from proctor_judging.matching.amounts import (
    COUNTS,
    END_OF_NOUN,
    LONE_ONE,
    ROSE_FROM,
    SPAN,
    YEAR,
    AmountSpan,
    amount_spans,
)
from proctor_judging.matching.asked_amounts import (
    dimensions_asked,
    units_asked,
    words_in,
)
from proctor_judging.matching.contradictions import contradicts
from proctor_judging.matching.dates import read_moments
from proctor_judging.matching.number_words import with_digits
from proctor_judging.matching.numbers import read_number
from proctor_judging.matching.quantities import read_quantity
from proctor_judging.matching.question_words import echo, interrogative
from proctor_judging.matching.sentences import (
    CLAUSE,
    CONTRAST,
    COPULA,
    GUESS,
    HARMLESS,
    LEAD,
    OTHERS_SAY,
    split,
    statements,
)
from proctor_judging.matching.text import negations, tidy
from proctor_judging.matching.unit_table import read_unit

MOST_READINGS = 4
LONGEST_CONNECTIVE = 24


class Amount(msgspec.Struct, frozen=True):
    """An amount or date as a reply writes it, with its unit, the words after it, which may name what it counts, and those before."""

    text: str
    noun: str = ""
    before: str = ""


def read_amounts(reply: str, question: str = "") -> tuple[Amount, ...]:
    """Return the amount that a reply gives as its answer; several where the reply leaves open which one, none where it gives none.

    >>> [amount.text for amount in read_amounts("In 2019 the plant made 530 cars.")]
    ['530']
    >>> [amount.text for amount in read_amounts("一共有12个苹果。")], read_amounts("at least 5")
    (['12'], ())
    >>> [amount.text for amount in read_amounts("two cats and 3 dogs")]
    ['two', '3']
    """
    asked = question if echo(question) else ""
    sentences = answering(statements(reply) or last_step(reply))
    candidates = [
        candidate for order, sentence in enumerate(sentences) for candidate in _candidates(sentence, asked, order * 100)
    ]
    for narrow in _narrowings(asked):
        if len(_values(candidates)) > 1:
            candidates = narrow(candidates) or candidates
    if "%" in units_asked(asked):
        candidates = [candidate for candidate in candidates if "%" in candidate.text] or candidates  # 45/60 = 75%
    values = _values(candidates)
    if any(candidate.vague or candidate.contrary for candidate in values.values()):
        return ()
    return tuple(
        Amount(one.text, one.after[: wording.NOUN].strip(), one.before[-wording.NOUN :])
        for one in list(values.values())[:MOST_READINGS]
    )


def _values(candidates: Sequence[AmountCandidate]) -> dict[object, AmountCandidate]:
    """Return one candidate for each different value, one that is said outright if there is any."""
    found: dict[object, AmountCandidate] = {}
    for candidate in candidates:
        value = value_of(candidate.text)
        found[value] = candidate if value not in found or found[value].vague else found[value]
    return found


def _candidates(sentence: str, question: str, order: int) -> list[AmountCandidate]:
    """Return the amounts of a sentence that are not denied, by clause."""
    while (
        (lead := LEAD.match(sentence)) is not None
        and 0 < lead.end() < len(sentence)
        and not wording.CONCLUDING.match(sentence)
    ):
        sentence = sentence[lead.end() :]
    sentence = wording.HEADING.sub("", sentence) or sentence
    for pattern, instead in CONTRAST:
        sentence = pattern.sub(instead, sentence)
    sentence = wording.DIVIDED.sub(
        r"余\2" if wording.ASKS_REMAINDER.search(question) else r"=\1", wording.ONLY_ONE.sub(r"\g<1>1", sentence)
    )
    sentence = wording.WITH_FRACTION.sub(lambda found: with_digits(found[0]), wording.BETWEEN.sub(r"\1 to ", sentence))
    sentence = wording.AND_PART.sub(r"\1 ", sentence)
    sentence = wording.MONEY_TENTHS.sub(r"\1.\2元", wording.OLD_TENS.sub(lambda found: wording.OLD[found[0]], sentence))
    if (shorter := wording.BRACKET.sub("", sentence)) != sentence and any(True for _ in amount_spans(shorter)):
        sentence = shorter
    if wording.BEFORE_CHANGE.search(question) is None:
        sentence = wording.CHANGED.sub(" to ", ROSE_FROM.sub(r"\1 to ", sentence))
    found = []
    clauses = _clauses(sentence)
    for index, clause in enumerate(clauses):
        bare = index > 0 and SPAN.fullmatch(clause.strip(" .。!！")) is not None
        previous = clauses[index - 1] if index else ""
        led_by = lead_of(sentence, clause, question) if subject_in(clause) is None or index == 0 else ""
        those = _of_clause(clause, question, order + index, previous + " " + clause if bare else clause)
        found += [
            msgspec.structs.replace(candidate, lead=led_by, preceding=tuple(clauses[:index])) for candidate in those
        ]
    return found + _no_such_thing(sentence, question, order)


def _no_such_thing(sentence: str, question: str, order: int) -> list[AmountCandidate]:
    """Return a zero where a sentence says that there is none of what the question counts: `Tom has no siblings`."""
    noun = counted(question)
    if negations(question) or not (noun or wording.ASKS_PEOPLE.search(question)):
        return []
    if not noun:
        none = None
    elif noun.isascii():
        stem = re.escape(noun[:-1] if noun.endswith("s") and len(noun) > 3 else noun)
        none = re.search(
            rf"\b(?:no|without(?: any)?) {stem}(?:s|es)?\b(?! (?:other|more|less) than)", sentence, re.IGNORECASE
        )
    else:
        none = re.search(rf"(?:没有?|无)(?:任何)?{re.escape(noun)}(?=$|[，,。！；])", sentence)
    none = none or _nobody(sentence, question) or (wording.NONE_AT_ALL.search(sentence) if noun else None)
    if none is None:
        return []
    return [
        AmountCandidate(
            "0", none[0], 0, len(none[0]), order, vague=False, segment=none[0], cell=none[0], context=none[0]
        )
    ]


def _nobody(sentence: str, question: str) -> re.Match[str] | None:
    """Match `No one` where nobody did what the question asks how many people did, and nothing else is said."""
    nobody = wording.NOBODY.match(sentence) if wording.ASKS_PEOPLE.search(question) else None
    return nobody if nobody is not None and echo(sentence[nobody.end() :]) <= echo(question) else None


def _clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence; a mere connective (`in other words`) belongs to the clause that follows."""
    clauses: list[str] = []
    for piece in CLAUSE.split(wording.EXPLAINING.sub(r"\1; ", sentence)):
        if clauses and len(clauses[-1]) < LONGEST_CONNECTIVE and wording.STATED_CONCLUSION.fullmatch(clauses[-1]):
            clauses[-1] += ", " + piece
        elif piece.strip():
            clauses.append(wording.CONNECTIVE.sub("", piece.strip(), count=1))
    return clauses


def _of_clause(clause: str, question: str, order: int, context: str) -> list[AmountCandidate]:
    plain = HARMLESS.sub(lambda found: "·" * len(found[0]), clause)
    if wording.CONTRASTED.match(clause) is not None or wording.CHECKS.match(clause) is not None:
        return []
    plain_clause = wording.RANK_OF_SCENE.sub("", clause) if "第" not in question else clause
    plain_clause = wording.PARTICIPLE.sub("", plain_clause)
    plain_clause = wording.OWN_RANK.sub("", plain_clause) if "第几" in question else plain_clause
    clause_is_contrary = bool(question) and contradicts(plain_clause, question)
    found = []
    spans = list(amount_spans(clause, question))
    spans = [span for span in spans if span.text[0].isdigit() or span.text not in question] or spans
    for index, span in enumerate(spans):
        since = spans[index - 1].end if index else 0
        until = spans[index + 1].start if index + 1 < len(spans) else len(clause)
        noun = END_OF_NOUN.split(clause[span.end : until], maxsplit=1)[0]
        segment = (END_OF_NOUN.split(clause[since : span.start])[-1] if index else clause[: span.start]) + " " + noun
        before = plain[: span.start]
        denied = (negations(before) and not negations(question)) or wording.DENIED_AFTER.match(clause, span.end)
        if denied or OTHERS_SAY.search(before) or span.text in "百千万亿":
            continue
        rivals = [other for other in spans if other is span or ("%" in other.text) == ("%" in span.text)]
        at = rivals.index(span)
        cell = cell_of(
            clause,
            span.start,
            span.end,
            rivals[at - 1].end if at and "=" not in before else 0,
            rivals[at + 1].start if at + 1 < len(rivals) else len(clause),
        )
        cell = wording.DIGITS.sub("", cell) if "=" in clause else cell
        contrary = clause_is_contrary and (len(spans) < 2 or contradicts(f"{cell.strip()} {span.text}", question))
        doubted = GUESS.search(plain) is not None or "?" in clause
        candidate = msgspec.structs.replace(
            _candidate(clause, span, order, doubted=doubted),
            segment=segment,
            context=context,
            contrary=contrary,
            cell=cell,
        )
        if not _is_label(candidate, question):
            found.append(candidate)
    return found


def _candidate(clause: str, span: AmountSpan, order: int, *, doubted: bool) -> AmountCandidate:
    text, end = span.text, span.end
    before, after = clause[: span.start], clause[span.end :]
    if (tenths := wording.TENTHS.match(after)) is not None and (whole := read_number(tidy(text))) is not None:
        part = (
            {"半": 5, "": 0}.get(tenths[1] or "")
            if tenths[1] in (None, "半")
            else "一二三四五六七八九".index(tenths[1]) + 1
        )
        text, end = f"{int(whole.value) * 10 + (part or 0)}%", end + tenths.end()
    if (thousands := wording.THOUSANDS.match(after)) is not None and text[-1:].isdigit():
        text, end = text + thousands[0], end + thousands.end()
    if after.startswith("折") and re.fullmatch("[一二三四五六七八九]{2}", text) is not None:
        text = ".".join(str("一二三四五六七八九".index(digit) + 1) for digit in text)  # 打七五折
    if (minus := wording.MINUS.search(before)) is not None and not text.startswith("-"):
        text = ("-" if text[:1].isdigit() else minus[0]) + text
        before = before[: minus.start()]
    vague = (
        doubted
        or (not span.sure and before[-1:] != "第")
        or wording.VAGUE_BEFORE.search(before) is not None
        or wording.VAGUE_AFTER.match(after) is not None
    )
    vague = vague or (wording.ROUGH.match(span.text) is not None)
    return AmountCandidate(text, clause, span.start, end, order, vague)


def _narrowings(question: str) -> list[Callable[[Sequence[AmountCandidate]], list[AmountCandidate]]]:
    """Return the rules that leave fewer candidates, in order; one that would leave none does not apply."""
    words = words_in(interrogative(question)) if question else set()
    said = {value_of(span.text) for piece in split(question) for span in amount_spans(piece)} if question else set()
    asks_year = wording.ASKS_YEAR.search(question) is not None
    units = [name for name in units_asked(question) if name not in COUNTS]
    negative = bool(negations(question))
    asks_each = wording.EACH.search(interrogative(question)) is not None
    counters = wording.COUNTER_ASKED.findall(interrogative(question))
    counter = counters[-1] if counters else ""
    asks_before = wording.BEFORE_CHANGE.search(question) is not None
    asks_whole = asks_for_whole(question)
    asks_total = asks_whole or wording.TOTAL.search(question) is not None or re.search("共", question) is not None
    asks_duration = wording.ASKS_YEARS.search(question) is not None
    asks_difference = wording.ASKS_DIFFERENCE.search(question) is not None
    asks_speed = wording.ASKS_SPEED.search(question) is not None
    asks_rest = wording.ASKS_REST.search(question) is not None
    dimensions = dimensions_asked(question)
    return [
        lambda those: _of_subject(those, question),
        lambda those: _unrounded(those, question),
        lambda those: derived(those, question),
        lambda those: [each for each in those if asks_year == (_is_year(each) and not asks_duration)],
        lambda those: [each for each in those if not _is_model(each)],
        lambda those: [each for each in those if each.text == "0" and each.cell == each.clause],
        lambda those: _with_unit(those, units) if units else [],
        lambda those: [
            each for each in those if counter and (counter in each.text or each.after.lstrip().startswith(counter))
        ],
        lambda those: [each for each in those if dimensions and _dimensions(each) == dimensions],
        lambda those: [each for each in those if value_of(each.text) not in said or _is_stated(each, those, words)],
        lambda those: [each for each in those if asks_speed and is_rate(each)],
        lambda those: [each for each in those if asks_rest and wording.REST_BEFORE.search(each.before)],
        lambda those: [each for each in those if asks_difference == _is_difference(each)],
        lambda those: those[1:] if not asks_total and _is_whole(those) else [],
        lambda those: [each for each in those if _is_of_year(each, said)],
        lambda those: [each for each in those if asks_before or _is_base(each) == asks_whole],
        lambda those: [each for each in those if wording.ASKS_MONEY.search(question) and _is_money(each)],
        lambda those: [each for each in those if asks_each or not is_rate(each)],
        lambda those: [each for each in those if wording.EACH_OF.search(interrogative(question)) and is_rate(each)],
        lambda those: [each for each in those if not LONE_ONE.match(each.text)],
        lambda those: [each for each in those if wording.TIMES.search(question) or not _is_multiplier(each)],
        lambda those: [each for each in those if negative and negations(HARMLESS.sub("·", each.clause))],
        lambda those: [each for each in those if negative or not negations(HARMLESS.sub("·", each.after))],
        lambda those: _totals(those) if wording.TOTAL.search(question) else [],
        lambda those: _latest(those, question),
        lambda those: _concluding(those, question),
        lambda those: [each for each in those if each.start > each.clause.rfind("=")],
        lambda those: _of_winner(those, question),
        lambda those: _asked_for(those, question),
        lambda those: _on_the_matter(those, words),
        lambda those: _nearest(those, words),
        lambda those: _counted(those, words, noun_only=True),
        lambda those: _counted(those, words, noun_only=False),
        lambda those: [each for each in those if wording.CONCLUDING.search(each.clause)],
        lambda those: [each for each in those if _is_complement(each)],
        lambda those: [
            each
            for each in those
            if each.before.strip(" :：,，") == "" and each.after.strip(" .。") == "" and each.order == those[-1].order
        ],
        lambda those: [each for each in those if not each.vague],
    ]


def _is_stated(one: AmountCandidate, those: Sequence[AmountCandidate], words: set[str]) -> bool:
    """True for the result of an equation, and for the only amount of a sentence among several, where it follows `is`: no repeated datum."""
    sentence = one.order // 100
    is_only = all(each is one or each.order // 100 != sentence for each in those)
    is_about_it = sentence > 0 or bool(words & words_in(one.before))
    return is_result(one.clause, one.start) or (is_only and is_about_it and _is_complement(one))


def _totals(those: Sequence[AmountCandidate]) -> list[AmountCandidate]:
    """Return the amounts of the last clause that gives a total."""
    totals = [each for each in those if wording.TOTAL.search(each.clause)]
    return [each for each in totals if each.order == totals[-1].order]


def _is_year(one: AmountCandidate) -> bool:
    text = one.text.rstrip("年")
    if wording.EQUALS_BEFORE.search(one.before):
        return False
    if YEAR.fullmatch(text) is None:
        return ("年" in one.text and bool(read_moments(tidy(one.text)))) or (
            not text.isdigit() and bool(read_moments(tidy(one.text)))
        )
    return (
        one.text.endswith("年")
        or one.after.startswith("年")
        or wording.IN_A_YEAR.search(one.before) is not None
        or not re.match(r"\s?[A-Za-z\u3400-\u9fff]", one.after)
    )


def _of_subject(those: Sequence[AmountCandidate], question: str) -> list[AmountCandidate]:
    """Return the last amount of the clause that gives the subject of a question by name: `利息=…=600元`, asked for the 利息."""
    subject = wording.SUBJECT_ASKED.search(interrogative(question)) if question else None
    if subject is None:
        return []
    gives = re.compile(rf"(?:所以|因此|[故则即])?(?:[其他她它]们?的?)?{subject[1]}(?:约?[是为]|等于|\s?[=:：])")
    last = {candidate.clause: candidate for candidate in those if gives.match(candidate.clause)}
    return [*last.values()][-1:] if len(_values([*last.values()])) == 1 else []


def _latest(those: Sequence[AmountCandidate], question: str) -> list[AmountCandidate]:
    """Return the amounts of which a reply says that they are so now, else those of its last sentence, where a question asks how it is now."""
    if not wording.ASKS_NOW.search(interrogative(question)):
        return []
    now = [candidate for candidate in those if wording.ASKS_NOW.search(candidate.clause)]
    return now or [candidate for candidate in those if candidate.order // 100 == those[-1].order // 100]


def _unrounded(those: Sequence[AmountCandidate], question: str) -> list[AmountCandidate]:
    """Return the amounts without those that round an earlier one; where a rounded one is asked for, only these."""
    rounds = [candidate for candidate in those[1:] if wording.ROUNDED.search(candidate.before)]
    if counted(question) and not units_asked(question):
        return []  # 15.7 buses are 16
    if wording.ASKS_ROUNDED.search(question):
        return [msgspec.structs.replace(candidate, vague=False) for candidate in rounds]
    return [candidate for candidate in those if candidate not in rounds]


def _is_label(one: AmountCandidate, question: str) -> bool:
    """True if a number only names something, unless the question asks which: `step 3`, `第7题`, `the 3rd team`, `204室`."""
    if wording.ASKS_WHICH.search(question) is not None:
        return False
    ordinal = re.search(r"\d(?:st|nd|rd|th)$", one.text) is not None and one.after.strip(" .") != ""
    label = wording.LABEL.search(one.before)
    asked = label is not None and len(label[0]) > 3 and label[0].strip("# ").casefold() in question.casefold()
    return ordinal or (label is not None and not asked) or wording.LABELLED.match(one.after) is not None


def _is_model(one: AmountCandidate) -> bool:
    """True for the number in the name of a product: `GPT-3`, `the Boeing 737`, `RTX 4090`, `Python 3.12`."""
    model = None if wording.PLACE.search(one.before) is not None else wording.MODEL.search(one.before)
    named = model is not None and model[0].strip(" -").split(" ")[-1].casefold() not in wording.NOT_A_MODEL
    return named or ("." in one.text and re.fullmatch(r"[A-Z][a-z]+\s", one.before) is not None)


def _with_unit(those: Sequence[AmountCandidate], units: Sequence[str]) -> list[AmountCandidate]:
    """Return the amounts in one of the units, and later ones that leave it out: `the first takes 95 minutes, the second 110`."""
    with_unit = [candidate for candidate in those if _has_unit(candidate, units)]
    with_unit = [candidate for candidate in with_unit if _is_in_unit(candidate, units)] or with_unit
    return [
        candidate
        for candidate in those
        if candidate in with_unit or (with_unit and _leaves_unit_out(candidate, with_unit[0]))
    ]


def _leaves_unit_out(one: AmountCandidate, earlier: AmountCandidate) -> bool:
    noun = END_OF_NOUN.split(one.after, maxsplit=1)[0].strip(" .。")
    bare = wording.BARE.fullmatch(one.text) is not None and noun == "" and "=" not in one.clause
    return bare and earlier.order < one.order < earlier.order + 100


def _has_unit(one: AmountCandidate, units: Sequence[str]) -> bool:
    quantity = read_quantity(tidy(one.text))
    kinds = [unit.dimensions for name in units if name != "%" and (unit := read_unit(name)) is not None]
    return _is_in_unit(one, units) or (quantity is not None and quantity.unit.dimensions in kinds)


def _is_in_unit(one: AmountCandidate, units: Sequence[str]) -> bool:
    """True if an amount is in one of the units itself: 42 km for kilometres, not 26 miles."""
    quantity = read_quantity(tidy(one.text))
    said = any(name in one.text + END_OF_NOUN.split(one.after[: wording.NOUN], maxsplit=1)[0] for name in units)
    return said or (quantity is not None and quantity.unit in [read_unit(name) for name in units])


def _concluding(those: Sequence[AmountCandidate], question: str) -> list[AmountCandidate]:
    """Return the amounts from the last clause on that concludes, unless it concludes something else than what is asked."""
    concluding = [candidate for candidate in those if wording.STATED_CONCLUSION.match(candidate.clause)]
    if not concluding:
        return []
    last = [candidate for candidate in those if candidate.order >= concluding[-1].order]
    subject = subject_in(last[0].preceding[-1]) if last[0].preceding else None
    if subject is not None and question and subject not in question and any(candidate.lead for candidate in those):
        return []
    sentence = [candidate for candidate in those if candidate.order // 100 == last[0].order // 100]
    asked = _asked_for(sentence, question)
    return last if any(one in last for one in asked) else []


def _asked_for(those: Sequence[AmountCandidate], question: str) -> list[AmountCandidate]:
    """Return the amounts with which the words go that the question asks about, rather than with the others."""
    evidence = []
    for candidate in those:
        others = [
            other.order % 100 for other in those if other.order // 100 == candidate.order // 100 and not other.vague
        ]
        since = max((other + 1 for other in others if other < candidate.order % 100), default=0)
        carried = [
            clause
            for clause in candidate.preceding[since:]
            if wording.ELLIPTIC.search(clause) or SPAN.search(clause) is None
        ]
        evidence.append(
            AmountEvidence(
                " ".join([*carried, candidate.cell]),
                END_OF_NOUN.split(candidate.after[: wording.NOUN], maxsplit=1)[0].strip(),
                candidate.lead,
            )
        )
    return [those[index] for index in leading(evidence, question)] if question else list(those)


def _of_winner(those: Sequence[AmountCandidate], question: str) -> list[AmountCandidate]:
    """Return the amounts before the verb of `A beat B` where a question asks for the winner's, those after it for the loser's."""
    if not wording.ASKS_WINNER.search(question) and not wording.ASKS_LOSER.search(question):
        return []
    after = [
        wording.DEFEATS.search(" ".join([*candidate.preceding, candidate.before])) is not None for candidate in those
    ]
    wanted = wording.ASKS_LOSER.search(question) is not None
    return [candidate for candidate, later in zip(those, after, strict=True) if later == wanted] if any(after) else []


def _is_base(one: AmountCandidate) -> bool:
    """True for what was there before, was expected, or of which the answer is a part: `of the 40 rooms`."""
    return (
        wording.SET_UP.search(one.before) is not None
        or wording.BASE.match(one.before) is not None
        or wording.OF_THEM.match(one.after) is not None
    )


def _is_whole(those: Sequence[AmountCandidate]) -> bool:
    """True if the first amount is a total of which the others are parts: `合起来40颗，其中黑的26颗`."""
    return (
        "%" not in those[0].text
        and wording.WHOLE_SAID.search(those[0].before) is not None
        and all(
            0 < candidate.order - those[0].order < 100
            and not (
                candidate.vague or wording.TOTAL.search(candidate.clause) or wording.BESIDES.search(candidate.before)
            )
            for candidate in those[1:]
        )
    )


def _is_difference(one: AmountCandidate) -> bool:
    return (
        wording.DIFFERENCE_BEFORE.search(one.before) is not None
        or wording.DIFFERENCE_AFTER.match(one.after) is not None
    )


def _dimensions(one: AmountCandidate) -> object:
    quantity = read_quantity(tidy(one.text))
    return None if quantity is None else quantity.unit.dimensions


def _on_the_matter(those: Sequence[AmountCandidate], words: set[str]) -> list[AmountCandidate]:
    """Return the amounts whose clause is not about something else, unless only those share words with the question."""
    return [candidate for candidate in those if not candidate.contrary and words & words_in(candidate.context)]


def _nearest(those: Sequence[AmountCandidate], words: set[str]) -> list[AmountCandidate]:
    """Return the amounts of the clauses that share most words with the question."""
    shared = [(len(words & words_in(candidate.context)), len(words & echo(candidate.context))) for candidate in those]
    return [candidate for candidate, count in zip(those, shared, strict=True) if any(count) and count == max(shared)]


def _counted(those: Sequence[AmountCandidate], words: set[str], *, noun_only: bool) -> list[AmountCandidate]:
    """Return the amounts that the question names by the words around them: of `3 gold and 2 silver medals` the gold ones."""
    around = [
        END_OF_NOUN.split(candidate.after, maxsplit=1)[0] if noun_only else candidate.segment for candidate in those
    ]
    shared = [len({word for word in words & words_in(text) if len(word) > 1 or not word.isascii()}) for text in around]
    return [candidate for candidate, count in zip(those, shared, strict=True) if count and count == max(shared)]


def _is_of_year(one: AmountCandidate, said: set[object]) -> bool:
    """True if the year next to an amount is one that the question names: `18,000 in 2020`, `2021年5万台`."""
    year = wording.OF_A_YEAR.match(one.after) or wording.YEAR_BEFORE.search(one.before)
    return year is not None and value_of(year[1]) in said


def _is_multiplier(one: AmountCandidate) -> bool:
    return wording.TIMES.match(one.after) is not None or re.search(r"times$|倍$", one.text) is not None


def _is_money(one: AmountCandidate) -> bool:
    quantity = read_quantity(tidy(one.text))
    return quantity is not None and any(name.isupper() and len(name) == 3 for name, _ in quantity.unit.dimensions)


def _is_complement(one: AmountCandidate) -> bool:
    """True if the amount follows the last `=` or `is` of its clause."""
    copulas = list(COPULA.finditer(one.clause))
    return bool(copulas) and one.start >= copulas[-1].end() - 1
