"""A matcher that understands: `42` is `forty-two`, `四十二` and `4.2e1`; `1.5 km` is `1500 m`; `5 mg` is not `5 g`.

A cascade of rules, strict by default: the first rule that applies decides, and is named in `details["rule"]`; an
ambiguous answer is wrong. The rules are in `answer_matching`; the scorer is `answer`.
"""

from proctor.core.declared import scorer
from proctor.core.installing import is_installed
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.scorers.targets import arguable, no_target, targets_of
from proctor_judging.matching.cascade import match
from proctor_judging.matching.extract import final_answer
from proctor_judging.matching.replies import best_match
from proctor_judging.matching.verdict import AnswerMatch, AnswerMatchOptions, AnswerOptions
from proctor_judging.matching.weighed_claims import read_weighed_claims as read_claims

__all__ = [
    "AnswerMatch",
    "AnswerMatchOptions",
    "AnswerOptions",
    "answer",
    "final_answer",
    "match",
    "matching",
    "read_claims",
    "semantic",
]
VERSION = "10" if is_installed("mpmath") else "10 without the extra 'math'"  # other verdicts: double precision, or none


@scorer(version=VERSION)
def answer(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Right when the final answer of the reply is the target, or one of the targets; `sample.meta` may hold `Options`.

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
    """Return a scorer with options of your own: a judge, another semantic function, a tolerance for all samples.

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
    options = options.of_sample(sample.meta)
    claims, verdict = best_match(trajectory.answer, targets, options, sample.question)
    if verdict.undecided:
        return undecided(verdict)
    if verdict.readings:
        return arguable(verdict.readings)
    details = {"rule": verdict.rule} | ({"ambiguous": True} if verdict.ambiguous else {})
    return Score(points=verdict.right, answer=claims.given, reason=verdict.reason, details=details)


def undecided(verdict: AnswerMatch) -> Unscored:
    """Return the result for a reply that a missing extra leaves undecided."""
    return Unscored(why="scorer_failed", reason=verdict.reason, details={"rule": verdict.rule})


def _likeness(answer: str, target: str) -> float:
    from proctor_judging.matching.sentence_encoder import embedded

    rows = embedded([answer, target])
    return float(rows[0] @ rows[1])


PART = ScorerPart(scorer=answer, others=(semantic,), options=AnswerMatchOptions)
