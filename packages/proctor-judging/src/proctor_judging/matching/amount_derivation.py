"""Find what a derivation comes to, among the amounts of a reply: a result that no later step uses, or what is concluded from it."""

from collections.abc import Collection, Sequence

import msgspec

from proctor_judging.matching import amount_wording as wording
from proctor_judging.matching.amount_layout import CONCLUDES_WITHIN, is_operand, is_result
from proctor_judging.matching.asked_amounts import words_in
from proctor_judging.matching.numbers import read_number
from proctor_judging.matching.question_words import interrogative
from proctor_judging.matching.text import tidy


class AmountCandidate(msgspec.Struct, frozen=True):
    text: str
    clause: str
    start: int
    end: int
    order: int  # of the clause in the reply
    vague: bool
    contrary: bool = False  # its clause is about something else than the question
    segment: str = ""  # the words around it, up to the amounts on either side
    context: str = ""  # the clause, with the one before it where it is an amount and nothing else
    cell: str = ""  # the words that belong to it alone
    lead: str = ""  # the words that lead its sentence
    preceding: tuple[str, ...] = ()  # the clauses before, in the same sentence

    @property
    def before(self) -> str:
        return self.clause[: self.start]

    @property
    def after(self) -> str:
        return self.clause[self.end :]


def derived(those: Sequence[AmountCandidate], question: str) -> list[AmountCandidate]:
    """Return the amounts that a derivation comes to: its last result that no later step uses, or what is concluded from it.

    Nothing is decided where an amount that no step uses was stated before the result, unless the two are the same.
    """
    operands = [each for each in those if is_operand(each.clause, each.start, each.end)]
    asks_each = wording.EACH.search(interrogative(question)) is not None
    left = [each for each in those if each not in operands and not _is_scene(each)]
    given = _figures(question)
    checks = {each.clause for each in left if _figures(each.text) <= given and is_result(each.clause, each.start)}
    left = [each for each in left if not _is_used(each, operands, checks)]
    results = [each for each in left if is_result(each.clause, each.start) and each.clause not in checks]
    if not results:
        return left
    result = results[-1]
    left = [each for each in left if asks_each or each is result or not is_rate(each)]
    later = [each for each in left if _position(each) > _position(result)]
    concluded = [each.order for each in later if CONCLUDES_WITHIN.search(each.clause)]
    if concluded:
        return [each for each in later if each.order >= concluded[0]]
    known = given.union(*(_figures(each.text) for each in (*operands, result)))
    new = [each for each in left if not _figures(each.text) <= known]
    words = {word for word in words_in(interrogative(question)) if not word.isdigit()}
    near = len(words & words_in(result.clause))
    nearer = [each for each in new if len(words & words_in(each.clause)) > near]
    if nearer or any(each not in results for each in new):
        return [each for each in nearer if each in later] or left
    return [result]


def value_of(text: str) -> object:
    number = read_number(tidy(text))
    return number.value if number is not None else tidy(text).casefold()


def is_rate(one: AmountCandidate) -> bool:
    """True for an amount of each thing, which is no total: `2 wheels each`, `每圈400米`."""
    return (
        wording.RATE_BEFORE.search(one.before) is not None
        or wording.RATE_AFTER.match(one.after) is not None
        or wording.RATE_UNIT.search(one.text) is not None
    )


def _figures(text: str) -> set[str]:
    return set(wording.PARTS.findall(text.replace(",", ""))) or {text.casefold()}


def _is_used(one: AmountCandidate, operands: Sequence[AmountCandidate], checks: Collection[str]) -> bool:
    """True if a later step starts from an amount; arithmetic that comes to what the question says only checks a statement."""
    is_derived = is_result(one.clause, one.start)
    return any(
        _position(each) > _position(one) and _figures(each.text) & _figures(one.text)
        for each in operands
        if is_derived or each.clause not in checks
    )


def _position(one: AmountCandidate) -> tuple[int, int]:
    return one.order, one.start


def _is_scene(one: AmountCandidate) -> bool:
    """True for what a multiple of an unknown equals, and for the time or place of what a clause says: `2m = 26`, `after 8 minutes`."""
    in_han = one.before == "" and wording.HAN_SCENE.match(one.after) is not None
    return in_han or any(pattern.search(one.before) for pattern in (wording.SCENE, wording.MULTIPLE))
