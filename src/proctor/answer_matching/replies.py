"""Match a reply with its targets: as a whole, then by the answers that its sentences state."""

import re
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from proctor.answer_matching.amounts import without_asked_unit
from proctor.answer_matching.cascade import match
from proctor.answer_matching.claims import claimed
from proctor.answer_matching.question_words import MOST_CHARACTERS
from proctor.answer_matching.sentences import LEAD, QUESTION, without_guessing
from proctor.answer_matching.verdict import AnswerOptions, Match, refuse, shown
from proctor.core.sentence import say

SENTENCE = re.compile(r"[^\W\d_]{2,}\W*\s+\S|\S\s+[^\W\d_]{2,}|[\u3400-\u9fff]{2,}|[\u3400-\u9fff]\d|[:：\n<]")
IS = re.compile(r"\b(?:is|are)\b|[是为]")
ANNOUNCED, HAN_ANNOUNCED = "The answer is {given}", "答案是{given}"
WHOLE_VALUES = frozenset(["numeric", "units", "dates and times", "ranges", "versions"])


def best_match(given: str, targets: Sequence[str], options: AnswerOptions, question: str, *, announced: bool) -> Match:
    """Return the verdict on the first target that matches; else an ambiguous verdict, with the part of the reply to check."""
    verdicts = []
    if QUESTION.search(given) and not any(map(QUESTION.search, targets)):
        return refuse("sentences", say("The reply asks, and answers nothing."))
    for target in targets:
        verdict = match_asked(given, target, question, options)
        if verdict.right:
            return verdict
        verdicts.append(verdict)
    open_targets = [
        target for target, verdict in zip(targets, verdicts, strict=True) if not _is_value(given, target, verdict)
    ]
    sentence = (ANNOUNCED if given.isascii() else HAN_ANNOUNCED).format(given=given) if announced else given
    return (
        stated_match(sentence, open_targets, options, question)
        or _guessed(sentence, open_targets, options, question)
        or next((one for one in verdicts if one.undecided), None)
        or next((one for one in verdicts if one.ambiguous), verdicts[0])
    )


def _is_value(given: str, target: str, verdict: Match) -> bool:
    """True if the whole reply was read as a value, and another one than the target."""
    if verdict.rule in WHOLE_VALUES or "±" in given or "\\pm" in given:
        return True
    if "=" in given:
        return ("=" in target and IS.search(given) is None and LEAD.match(given) is None) or (
            verdict.rule == "lists" and IS.search(given) is None
        )
    return verdict.rule == "mathematics" or SENTENCE.search(given) is None


def stated_match(reply: str, targets: Sequence[str], options: AnswerOptions, question: str) -> Match | None:
    """Return the verdict on the answers that the sentences of a reply state; None if none of them matches a target."""
    plain = msgspec.structs.replace(options, semantic=None, judge=None)
    reply = without_guessing(reply) if options.guesses else reply
    for target in targets if options.sentences else ():
        fit = partial(match_asked, target=target, question=question, options=plain)
        found = claimed(reply, target, question, fits=partial(_is_right, fit))
        if found is not None:
            verdict = fit(found)
            reason = say("The reply states '{found}'. {reason}", found=shown(found), reason=verdict.reason)
            return msgspec.structs.replace(verdict, reason=reason)
    return None


def _is_right(fit: Callable[[str], Match], text: str) -> bool:
    return fit(text).right


def _guessed(reply: str, targets: Sequence[str], options: AnswerOptions, question: str) -> Match | None:
    """Return the refusal of a guess that would be right; None for any other reply."""
    if options.guesses or without_guessing(reply) == reply[-MOST_CHARACTERS:]:
        return None
    if stated_match(reply, targets, msgspec.structs.replace(options, guesses=True), question) is None:
        return None
    reason = say("The reply only guesses; with the option 'guesses' that counts.")
    return refuse("sentences", reason, ambiguous=True)


def match_asked(given: str, target: str, question: str, options: AnswerOptions) -> Match:
    """Match an answer with a target, where an amount needs no unit that the question names."""
    verdict = match(given, target, options=options)
    if verdict.right or verdict.rule != "units" or not verdict.ambiguous or options.unit:
        return verdict
    return match(without_asked_unit(given, question), without_asked_unit(target, question), options=options)
