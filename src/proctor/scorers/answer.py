"""A matcher that understands: `42` is `forty-two`, `四十二` and `4.2e1`; `1.5 km` is `1500 m`; `5 mg` is not `5 g`.

A cascade of rules, strict by default: the first rule that can tell decides and names itself in `details["rule"]`, and what
may mean something else is not right. The files beside this one are the rules and what they need; the scorer is `answer`.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec

import msgspec

from proctor.answer_matching.amounts import without_asked_unit
from proctor.answer_matching.cascade import match
from proctor.answer_matching.claims import claimed
from proctor.answer_matching.extract import final_answer
from proctor.answer_matching.sentences import LEAD, MOST_CHARACTERS, QUESTION, conclusion, without_guessing
from proctor.answer_matching.verdict import AnswerOptions, Match, Options, refuse, shown
from proctor.core.declared import scorer
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.scorers._texts import no_target, targets_of

__all__ = ["AnswerOptions", "Match", "Options", "answer", "final_answer", "match", "matching", "semantic"]
VERSION = "2" if find_spec("mpmath") else "2 without the extra 'math'"  # other verdicts: double precision, or none
SENTENCE = re.compile(r"[^\W\d_]{2,}\W*\s+\S|\S\s+[^\W\d_]{2,}|[\u3400-\u9fff]{2,}|[\u3400-\u9fff]\d|[:：\n<]")
IS = re.compile(r"\b(?:is|are)\b|[是为]")
ANNOUNCED, HAN_ANNOUNCED = "The answer is {given}", "答案是{given}"
WHOLE_VALUES = frozenset(["numeric", "units", "dates and times", "ranges", "versions"])


@scorer(version=VERSION)
def answer(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Whether the final answer of the reply is the target, or one of the targets; `sample.meta` may hold `Options`.

    >>> score = answer(Sample.ask("n", "6 * 7?", target="42"), Trajectory.of("The answer is forty-two."))
    >>> score.points, score.details["rule"]
    (1, 'numeric')
    """
    return _judged(sample, trajectory, AnswerOptions())


@scorer(version=VERSION, inline=False)  # milliseconds each: not in the event loop
def semantic(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """`answer`, and where no rule decides, whether the meanings are alike.

    Raises:
        MissingExtra: the extra `semantic` is not installed.
    """
    return _judged(sample, trajectory, AnswerOptions(semantic=_likeness))


def matching(options: AnswerOptions) -> Scorer:
    """A scorer with options of your own: a judge, another semantic function, a tolerance for all samples.

    >>> near = matching(AnswerOptions(relative_tolerance=0.01))
    >>> near(Sample.ask("pi", "?", target="3.14159"), Trajectory.of("3.14")).points
    1
    """

    @scorer(inline=options.semantic is None and options.judge is None)
    def answer(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        return _judged(sample, trajectory, options)

    return answer


def _judged(sample: Sample, trajectory: Trajectory, options: AnswerOptions) -> Score | Unscored:
    targets = targets_of(sample)
    if not targets:
        return no_target()
    given = final_answer(trajectory.answer)
    options = options.of_sample(sample.meta)
    if given is None:
        given = conclusion(trajectory.answer)
        verdict = _stated(given, targets, options, sample.question) if given else None
        if verdict is None:
            reason = say("The reply is long and marks no final answer.")
            return Score(points=0, reason=reason, details={"rule": "extraction"})
    else:
        announced = given != trajectory.answer.strip()
        verdict = _best(given, targets, options, sample.question, announced=announced)
    if verdict.undecided:
        return undecided(verdict)
    details = {"rule": verdict.rule} | ({"ambiguous": True} if verdict.ambiguous else {})
    return Score(points=verdict.right, answer=given, reason=verdict.reason, details=details)


def _best(given: str, targets: Sequence[str], options: AnswerOptions, question: str, *, announced: bool) -> Match:
    """The verdict against the first target that fits; else an ambiguous one, which says what to look at."""
    verdicts = []
    if QUESTION.search(given) and not any(map(QUESTION.search, targets)):
        return refuse("sentences", say("The reply asks, and answers nothing."))
    for target in targets:
        verdict = fitting(given, target, question, options)
        if verdict.right:
            return verdict
        verdicts.append(verdict)
    open_targets = [
        target for target, verdict in zip(targets, verdicts, strict=True) if not _is_value(given, target, verdict)
    ]
    sentence = (ANNOUNCED if given.isascii() else HAN_ANNOUNCED).format(given=given) if announced else given
    return (
        _stated(sentence, open_targets, options, question)
        or _guessed(sentence, open_targets, options, question)
        or next((one for one in verdicts if one.undecided), None)
        or next((one for one in verdicts if one.ambiguous), verdicts[0])
    )


def _is_value(given: str, target: str, verdict: Match) -> bool:
    """Whether the whole reply was read as a value, and another one than the target."""
    if verdict.rule in WHOLE_VALUES or "±" in given or "\\pm" in given:
        return True
    if "=" in given:
        return ("=" in target and IS.search(given) is None and LEAD.match(given) is None) or (
            verdict.rule == "lists" and IS.search(given) is None
        )
    return verdict.rule == "mathematics" or SENTENCE.search(given) is None


def _stated(reply: str, targets: Sequence[str], options: AnswerOptions, question: str) -> Match | None:
    """The verdict on what the sentences of a reply give as its answer; None when that is no target."""
    plain = msgspec.structs.replace(options, semantic=None, judge=None)
    reply = without_guessing(reply) if options.guesses else reply
    for target in targets if options.sentences else ():
        fit = partial(fitting, target=target, question=question, options=plain)
        found = claimed(reply, target, question, fits=partial(_fits, fit))
        if found is not None:
            verdict = fit(found)
            reason = say("The reply states '{found}'. {reason}", found=shown(found), reason=verdict.reason)
            return msgspec.structs.replace(verdict, reason=reason)
    return None


def _fits(fit: Callable[[str], Match], text: str) -> bool:
    return fit(text).right


def _guessed(reply: str, targets: Sequence[str], options: AnswerOptions, question: str) -> Match | None:
    """The refusal of a guess that would be right; None for any other reply."""
    if options.guesses or without_guessing(reply) == reply[-MOST_CHARACTERS:]:
        return None
    if _stated(reply, targets, msgspec.structs.replace(options, guesses=True), question) is None:
        return None
    reason = say("The reply only guesses; with the option 'guesses' that counts.")
    return refuse("sentences", reason, ambiguous=True)


def fitting(given: str, target: str, question: str, options: AnswerOptions) -> Match:
    """`match`, where an amount needs no unit that the question names."""
    verdict = match(given, target, options=options)
    if verdict.right or verdict.rule != "units" or not verdict.ambiguous or options.unit:
        return verdict
    return match(without_asked_unit(given, question), without_asked_unit(target, question), options=options)


def undecided(verdict: Match) -> Unscored:
    """The score of what a missing extra leaves open: none."""
    return Unscored(why="scorer_failed", reason=verdict.reason, details={"rule": verdict.rule})


def _likeness(answer: str, target: str) -> float:
    from proctor.text_measures.sentence_encoder import embedded

    rows = embedded([answer, target])
    return float(rows[0] @ rows[1])


PART = ScorerPart(scorer=answer, others=(semantic,), options=Options)
