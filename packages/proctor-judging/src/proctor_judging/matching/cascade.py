"""The rules in their order; the first one that can tell decides, and names itself in the verdict."""

from functools import partial

import msgspec

from proctor.core.sentence import say
from proctor_judging.matching.dates import dates
from proctor_judging.matching.lists import lists
from proctor_judging.matching.names import names
from proctor_judging.matching.numbers import numeric
from proctor_judging.matching.ranges import ranges
from proctor_judging.matching.similarity import RULE as WORDS
from proctor_judging.matching.similarity import blocker, similarity
from proctor_judging.matching.text import quasi_exact, tidy, units_differ_in_case
from proctor_judging.matching.units import units
from proctor_judging.matching.verdict import AnswerMatch, AnswerOptions, accept, refuse, two_readings
from proctor_judging.matching.versions import versions

LONGEST = 20_000
LONGEST_VALUE = 1_000  # of a number, a quantity or a date
DEFAULT = AnswerOptions()


def match(answer: str, target: str, *, options: AnswerOptions = DEFAULT) -> AnswerMatch:
    """Match an answer with the target by the first rule that can tell; ambiguous means no. Never raises.

    The order: quasi exact, numeric, units, dates and times, ranges, mathematics, lists, names, similarity, and, where
    the options bring them, semantic and judge.

    >>> match("forty-two", "42").rule, match("1,500 m", "1.5 km").right, match("03/05/2024", "2024-05-03").ambiguous
    ('numeric', True, True)
    """
    if len(answer) > LONGEST or len(target) > LONGEST:
        return _too_long(answer, target)
    given, expected = tidy(answer), tidy(target)
    if not given and expected:
        return refuse("quasi exact", say("The answer is empty."))
    if units_differ_in_case(given, expected):
        return units(given, expected, options) or two_readings("units", given)
    verdict = versions(given, expected) or quasi_exact(given, expected)
    if verdict is None and len(given) <= LONGEST_VALUE and len(expected) <= LONGEST_VALUE:
        verdict = numeric(given, expected, options) or units(given, expected, options) or dates(given, expected)
    return verdict or _slow(given, expected, options)


def _slow(answer: str, target: str, options: AnswerOptions) -> AnswerMatch:
    same = partial(match, options=_for_elements(options))
    verdict = (
        ranges(answer, target, options)
        or _mathematics(answer, target, options)
        or lists(answer, target, options, same)
        or names(answer, target)
        or similarity(answer, target, options)
    )
    if verdict.right or not (verdict.ambiguous or verdict.rule == WORDS):
        return verdict
    return _asked(answer, target, options) or verdict


def _mathematics(answer: str, target: str, options: AnswerOptions) -> AnswerMatch | None:
    from proctor_judging.matching.mathematics import mathematics  # slow to load, and most answers are settled before

    return mathematics(answer, target, options)


def _asked(answer: str, target: str, options: AnswerOptions) -> AnswerMatch | None:
    """Return what a model says, where the options bring one; texts with other numbers or negations are not shown to it."""
    if options.semantic is not None and blocker(answer, target) is None:
        value = options.semantic(answer, target)
        if value >= options.semantic_threshold:
            return accept("semantic", say("The meanings are alike ({value}).", value=f"{value:.2f}"))
    if options.judge is not None and (said := options.judge(answer, target)) is not None:
        if said:
            return accept("judge", say("The judge finds them the same."))
        return refuse("judge", say("The judge finds them different."))
    return None


def _for_elements(options: AnswerOptions) -> AnswerOptions:
    """Elements are compared as answers are, but nobody is asked about them."""
    if options is DEFAULT:
        return DEFAULT
    return msgspec.structs.replace(options, ordered=None, similarity=1.0, semantic=None, judge=None)


def _too_long(answer: str, target: str) -> AnswerMatch:
    if answer.strip() == target.strip():
        return accept("quasi exact", say("The texts are the same."))
    reason = say(
        "A text of {size} characters is too long to be understood; the limit is {limit}.",
        size=max(len(answer), len(target)),
        limit=LONGEST,
    )
    return refuse("quasi exact", reason)
