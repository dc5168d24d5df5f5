"""GAIA's official rule: the ground truth alone decides whether numbers, lists or strings are compared.

Source: the scorer of the GAIA leaderboard (gaia-benchmark/leaderboard, scorer.py), described in its paper
(arXiv 2311.12983). The oddities are the rule: `34` answers `3/4`, and what is no number counts as infinity.
"""

import re
import string

import msgspec

from proctor.core.declared import scorer
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Trajectory
from proctor_benchmarks.gaia.answer import Fallback, final_answer

BLANKS = re.compile(r"\s")
SEPARATORS = re.compile("[,;]")
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
NO_NUMBER_SIGNS = str.maketrans("", "", "$%,")
VERSION = "gaia leaderboard / 1"


class GaiaMatch(msgspec.Struct, frozen=True, kw_only=True):
    """Whether an answer is right, by which branch of the rule, and a sentence that says why not."""

    right: bool
    branch: str
    reason: Sentence


def question_score(answer: str | None, truth: str) -> GaiaMatch:
    """Compare an answer with the ground truth; no answer becomes the text `None`, as officially.

    >>> question_score("$1,234.00", "1234").right, question_score("1234", "1,234").right
    (True, False)
    """
    answer = "None" if answer is None else answer
    if _number(truth) is not None:
        return _as_number(answer, truth)
    if SEPARATORS.search(truth):
        return _as_list(answer, truth)
    right = _plain(answer).translate(NO_PUNCTUATION) == _plain(truth).translate(NO_PUNCTUATION)
    reason = say(
        "Compared as text without blanks, case and punctuation: '{answer}' against '{truth}'.",
        answer=answer,
        truth=truth,
    )
    return GaiaMatch(right=right, branch="text", reason=reason)


@scorer(version=VERSION)
def gaia(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """The official verdict on the answer after the last `FINAL ANSWER:`.

    The target is the ground truth; samples of the test split have none and stay unscored.
    """
    if sample.target is None:
        return Unscored(why="not_applicable", reason=say("The test split has no answers."))
    fallback: Fallback = sample.meta.get("fallback", "none")
    answer = final_answer(trajectory.answer, fallback=fallback)
    match = question_score(answer, str(sample.target))
    reason, details = match.reason, {"branch": match.branch}
    if not match.right:
        details |= {"error_class": "wrong_answer", "error_type": match.branch}
        if answer is None:
            reason = say("The reply holds no 'FINAL ANSWER:'.")
            details |= {"error_class": "format_error", "error_type": "no_final_answer"}
    return Score(points=match.right, answer=answer, reason=reason, details=details)


@scorer(version=f"{VERSION}, partial 2")
def partial(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """An unofficial extra of the HelloAgents course: 1 for an exact answer, 0.5 if one text contains the other or 70 % of the words agree.

    Whole words count, so that `13` does not contain `3`; a number is right or wrong, and never half of it.
    """
    exact = gaia(sample, trajectory)
    if isinstance(exact, Unscored) or exact.points:
        return exact
    answer, truth = _words(exact.answer or ""), _words(str(sample.target))
    overlap = len(set(answer) & set(truth)) / len(set(truth)) if truth else 0.0
    is_number = _number(str(sample.target)) is not None
    half = not is_number and (overlap >= 0.7 or _contains(answer, truth) or _contains(truth, answer))
    reason = say("{share} of the expected words are in the answer.", share=f"{overlap:.0%}")
    return Score(points=0.5 if half else 0.0, answer=exact.answer, reason=reason)


def _as_number(answer: str, truth: str) -> GaiaMatch:
    value = _cleaned_number(answer)
    reason = say(
        "Compared as numbers: '{answer}' is {value}, expected {truth}.", answer=answer, value=f"{value:g}", truth=truth
    )
    return GaiaMatch(right=value == float(truth), branch="number", reason=reason)


def _as_list(answer: str, truth: str) -> GaiaMatch:
    made, expected = SEPARATORS.split(answer), SEPARATORS.split(truth)
    if len(made) != len(expected):
        reason = say("A list of {made} elements, expected {expected}.", made=len(made), expected=len(expected))
        return GaiaMatch(right=False, branch="list", reason=reason)
    for number, (element, other) in enumerate(zip(made, expected, strict=True), start=1):
        if not _same_element(element, other):
            reason = say(
                "Element {place} is '{one}', expected '{other}'.",
                place=number,
                one=element.strip(),
                other=other.strip(),
            )
            return GaiaMatch(right=False, branch="list", reason=reason)
    return GaiaMatch(
        right=True, branch="list", reason=say("All {count} elements are as expected.", count=len(expected))
    )


def _same_element(made: str, expected: str) -> bool:
    if (number := _number(expected)) is not None:
        return _cleaned_number(made) == number
    return _plain(made) == _plain(expected)  # punctuation stays here, officially


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _cleaned_number(text: str) -> float:
    number = _number(text.translate(NO_NUMBER_SIGNS))
    return float("inf") if number is None else number


def _plain(text: str) -> str:
    return BLANKS.sub("", text).lower()


def _contains(words: list[str], some: list[str]) -> bool:
    """True if the words occur in this order, side by side, among others."""
    places = range(len(words) - len(some) + 1)
    return bool(some) and any(words[start : start + len(some)] == some for start in places)


def _words(text: str) -> list[str]:
    return text.lower().translate(NO_PUNCTUATION).split()
