"""A matcher that understands: `42` is `forty-two`, `四十二` and `4.2e1`; `1.5 km` is `1500 m`; `5 mg` is not `5 g`.

A cascade of rules, strict by default: the first rule that can tell decides and names itself in `details["rule"]`, and what
may mean something else is not right. The files beside this one are the rules and what they need; the scorer is `answer`.
"""

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.scorers._texts import no_target, targets_of
from proctor.scorers.answer.cascade import match
from proctor.scorers.answer.extract import final_answer
from proctor.scorers.answer.verdict import AnswerOptions, Match, Options

__all__ = ["AnswerOptions", "Match", "Options", "answer", "final_answer", "match", "matching", "semantic"]
VERSION = "1"


def answer(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Whether the final answer of the reply is the target, or one of the targets; `sample.meta` may hold `Options`.

    >>> score = answer(Sample.ask("n", "6 * 7?", target="42"), Trajectory.of("The answer is forty-two."))
    >>> score.points, score.details["rule"]
    (1, 'numeric')
    """
    return _judged(sample, trajectory, AnswerOptions())


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

    def answer(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        return _judged(sample, trajectory, options)

    answer.inline = options.semantic is None and options.judge is None  # type: ignore[attr-defined]
    return answer


answer.version = VERSION  # type: ignore[attr-defined]
semantic.version = VERSION  # type: ignore[attr-defined]
semantic.inline = False  # type: ignore[attr-defined]  # milliseconds each: not in the event loop


def _judged(sample: Sample, trajectory: Trajectory, options: AnswerOptions) -> Score | Unscored:
    targets = targets_of(sample)
    if not targets:
        return no_target()
    given = final_answer(trajectory.answer)
    if given is None:
        reason = say("The reply is long and marks no final answer.")
        return Score(points=0, reason=reason, details={"rule": "extraction"})
    verdict = _best(given, targets, options.of_sample(sample.meta))
    details = {"rule": verdict.rule} | ({"ambiguous": True} if verdict.ambiguous else {})
    return Score(points=verdict.right, answer=given, reason=verdict.reason, details=details)


def _best(given: str, targets: tuple[str, ...], options: AnswerOptions) -> Match:
    """The verdict against the first target that fits; else an ambiguous one, which says what to look at."""
    verdicts = []
    for target in targets:
        verdict = match(given, target, options=options)
        if verdict.right:
            return verdict
        verdicts.append(verdict)
    return next((one for one in verdicts if one.ambiguous), verdicts[0])


def _likeness(answer: str, target: str) -> float:
    from proctor.scorers._encoder import embedded

    rows = embedded([answer, target])
    return float(rows[0] @ rows[1])
