"""A number or a quantity, within a tolerance; for replies that wrap it in words."""

import re
from collections.abc import Sequence

import msgspec

from proctor.core.declared import scorer
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.scorers.targets import arguable, no_target, targets_of
from proctor_judging.matching.amount_claims import Amount, read_amounts
from proctor_judging.matching.amounts import counted_noun, without_unit
from proctor_judging.matching.asked_amounts import units_asked
from proctor_judging.matching.extract import final_answer
from proctor_judging.matching.numbers import read_number
from proctor_judging.matching.quantities import read_quantity
from proctor_judging.matching.question_words import echo
from proctor_judging.matching.replies import match_asked
from proctor_judging.matching.syntax import read_tree
from proctor_judging.matching.text import tidy
from proctor_judging.matching.verdict import AnswerMatch, AnswerMatchOptions, AnswerOptions
from proctor_judging.scorers.answer import VERSION, undecided

__all__ = ["AnswerMatchOptions", "number", "read_claims"]
NUMERIC_RULES = ("quasi exact", "numeric", "units", "mathematics")
LONGEST = 2_000
FACTORIAL = re.compile(r"!|\\boxed|factorial|阶乘", re.IGNORECASE)
BELOW_ZERO = re.compile(r"^零下(?=\d)")
PER = re.compile(r"^(?:每(?:秒|小时|分钟|天)|时速)")
SCALE_ASKED = re.compile(r"\bin (thousands|millions|billions)\b|(?:多少|几)([万亿])(?=[元人吨个平辆台斤？?]|$)")
RATE_OF = re.compile(r"\s(?:per|an?|each)\s([a-z]{3,20})$", re.IGNORECASE)
ASKS_DATE = re.compile(r"\b(?:what|which) (?:date|day)\b(?! of the week)|几[号日]|哪一?[天日]", re.IGNORECASE)
ASKS_YEAR = re.compile(r"\b(?:what|which) year\b|哪一?年", re.IGNORECASE)
DATED = re.compile(r"(?<!\d)(\d{4})(?!\d)")
FRACTION = re.compile(r"\\[dt]?frac\{(\d{1,9})\}\{(\d{1,9})\}")
DAY = re.compile(r"(?:the )?(\d{1,2})(?:st|nd|rd|th)", re.IGNORECASE)
SHARE = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s?/\s?(\d{1,6})")
SPACE = ("", " ")  # before a unit in Chinese, and in other languages
SEVERAL = frozenset(["or", "±", "set", "tuple", "union", "empty", "relation", "∈"])


@scorer(version=VERSION)
def number(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Right when the answer is the target's number, in any unit of the same kind.

    `sample.meta` may hold `tolerance` (absolute, in the unit of the target), `relative_tolerance`, and `unit` for numbers
    that stand alone. The amount of a reply is read without the target; where it leaves open which of several is meant, and
    one would be right, there is no score.

    >>> sample = Sample.ask("d", "How far?", target="1.5 km", meta={"tolerance": 0.01})
    >>> number(sample, Trajectory.of("It is about 1504 m away.")).points
    1
    """
    targets = targets_of(sample)
    if not targets:
        return no_target()
    claims = read_claims(trajectory.answer, sample.question)
    if not claims.amounts:
        reason = say("The answer holds no number, or more than one.")
        return Score(points=0, answer=claims.given, reason=reason, details={"rule": "extraction"})
    options = AnswerOptions().of_sample(sample.meta, "number")
    verdicts = [_best(amount, targets, sample.question, options, alone=claims.alone) for amount in claims.amounts]
    if (open_verdict := next((verdict for verdict in verdicts if verdict.undecided), None)) is not None:
        return undecided(open_verdict)
    right = [verdict.right and verdict.rule in NUMERIC_RULES for verdict in verdicts]
    if any(right) and not all(right):
        return arguable([amount.text for amount in claims.amounts])
    verdict = verdicts[0]
    return Score(
        points=all(right), answer=claims.amounts[0].text, reason=verdict.reason, details={"rule": verdict.rule}
    )


class NumberClaims(msgspec.Struct, frozen=True):
    """The amounts that a reply may give as its answer: one, none, or those between which it leaves open.

    Attributes:
        given: the part of the reply that was read: what it marks as its answer, or all of it.
        amounts: the readings.
        alone: True if that part is the amount and nothing else.
    """

    given: str
    amounts: tuple[Amount, ...]
    alone: bool = False


def read_claims(reply: str, question: str = "") -> NumberClaims:
    """Read which amount a reply gives as its answer, without the target.

    >>> [amount.text for amount in read_claims("about 5 km away").amounts], read_claims("5 or 6").amounts
    (['5 km'], ())
    >>> [amount.text for amount in read_claims("In 2019 the plant made 530 cars.", "How many cars?").amounts]
    ['530']
    """
    given = FRACTION.sub(r"\1/\2", final_answer(reply) or reply)
    if given[-1:] == "!" and given != reply.strip() and not FACTORIAL.search(question + reply[: -len(given)]):
        given = given.rstrip("!")  # The answer is 42!
    if len(given) <= LONGEST:
        plain = tidy(given).lstrip("≈~约")
        if read_number(plain) is not None or read_quantity(plain) is not None or _is_expression(plain):
            return NumberClaims(given, (Amount(BELOW_ZERO.sub("-", plain)),), alone=True)
    return NumberClaims(given, read_amounts(given, question))


def _best(amount: Amount, targets: Sequence[str], question: str, options: AnswerOptions, *, alone: bool) -> AnswerMatch:
    verdicts = [_compared(amount, target, question, options, alone=alone) for target in targets]
    return next((verdict for verdict in verdicts if verdict.right or verdict.undecided), verdicts[0])


def _compared(amount: Amount, target: str, question: str, options: AnswerOptions, *, alone: bool) -> AnswerMatch:
    """Return the verdict on an amount; within a sentence its unit is what was counted when neither target nor question name one."""
    noun = counted_noun(target)
    counts = noun and amount.noun.casefold().startswith((noun[:-1] or noun).casefold())
    text = f"{amount.text}{' ' * noun.isascii()}{noun}" if counts else amount.text
    text = _of_one(text, question)
    verdict = match_asked(text, target, question, options)
    if verdict.right or options.unit:
        return verdict
    bare_target = read_number(tidy(target)) is not None
    for scale in SCALE_ASKED.findall(question) if bare_target else ():
        scaled = f"{target} {scale[0].removesuffix('s')}" if scale[0] else target + scale[1]
        if (asked := match_asked(_without_unit(PER.sub("", text)), scaled, question, options)).right:
            return asked
    units = units_asked(question) if bare_target else []
    for unit in units:
        in_unit = target + SPACE[unit.isalpha() and unit.isascii()] + unit
        if (asked := match_asked(text, in_unit, question, options)).right:
            return asked
    bare = _without_unit(PER.sub("", text))
    if units and echo(text.replace(bare, "")) <= echo(question):
        return match_asked(bare, target, question, options)  # 40 hours a week, where hours a week are asked for
    if units or verdict.rule != "units" or not verdict.ambiguous:
        return verdict
    strict = "%" in text or (alone and not echo(question))
    return verdict if strict else match_asked(bare, target, question, options)


def _of_one(amount: str, question: str) -> str:
    """Return an amount without that of which the question asks for one: `210 kcal` of `210 kcal per bar`, `87` of `87/100`.

    >>> _of_one("210 kcal per bar", "How many calories are in the bar?"), _of_one("87/100", "What is the score out of 100?")
    ('210 kcal', '87')
    """
    if (day := DAY.fullmatch(amount)) is not None and ASKS_DATE.search(question):
        return day[1]  # the 21st, asked what date it is
    if len(years := DATED.findall(amount)) == 1 and amount != years[0] and ASKS_YEAR.search(question):
        return str(years[0])  # 9 November 1989, asked which year
    rate, share = RATE_OF.search(amount), SHARE.fullmatch(amount)
    if rate is not None and rate[1].casefold() in question.casefold():
        return amount[: rate.start()]
    asked = share is not None and re.search(rf"(?:\bout of|满分(?:是|为)?)\s?{share[2]}(?!\d)", question, re.IGNORECASE)
    return share[1] if share is not None and asked else amount


def _without_unit(amount: str) -> str:
    """Return the bare number of an amount, in digits or words: `2.5` of `2.5 hours`, `two and a half` of `two and a half hours`."""
    if (bare := without_unit(amount)) != amount:
        return bare
    words = amount.split(" ")
    numbers = (" ".join(words[:count]) for count in range(len(words) - 1, 0, -1))
    if (number := next((words for words in numbers if read_number(tidy(words)) is not None), None)) is not None:
        return number
    quantity = read_quantity(tidy(amount))
    return str(quantity.amount) if quantity is not None and "块" in amount else amount  # 三块五


def _is_expression(text: str) -> bool:
    """Return True if it is mathematics with one value: no variables, no alternatives, no equation."""
    tree = read_tree(text)
    return tree is not None and not tree.variables() and all(node.op not in SEVERAL for node in tree.nodes())


PART = ScorerPart(scorer=number, options=AnswerMatchOptions)
