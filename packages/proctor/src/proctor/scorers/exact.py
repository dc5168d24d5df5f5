"""Compare the answer with the target as text. Blanks around it never count; a list of targets means any of them."""

from collections.abc import Callable

from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory


def exact(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Right when the answer is the target, letter for letter.

    >>> exact(Sample.ask("fr", "Capital of France?", target="Paris"), Trajectory.of(" Paris ")).points
    1
    """
    return _compare(sample, trajectory, lambda answer, target: answer == target)


def ignore_case(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Right when the answer is the target in upper or lower case.

    >>> ignore_case(Sample.ask("fr", "?", target="Paris"), Trajectory.of("PARIS")).points
    1
    """
    return _compare(sample, trajectory, lambda answer, target: answer.casefold() == target.casefold())


def contains(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Right when the target occurs in the answer, in upper or lower case.

    >>> contains(Sample.ask("fr", "?", target="Paris"), Trajectory.of("It is Paris.")).points
    1
    """
    return _compare(sample, trajectory, lambda answer, target: target.casefold() in answer.casefold())


def _compare(sample: Sample, trajectory: Trajectory, same: Callable[[str, str], bool]) -> Score | Unscored:
    if sample.target is None:
        return Unscored(why="not_applicable", reason=say("The sample has no target to compare with."))
    answer = trajectory.answer.strip()
    targets = sample.target if isinstance(sample.target, list | tuple) else (sample.target,)
    texts = [str(target).strip() for target in targets]
    for text in texts:
        if same(answer, text):
            return Score(points=1, answer=answer)
    reason = say("Expected {target}, got {answer}.", target=" | ".join(texts), answer=answer or "''")
    return Score(points=0, answer=answer, reason=reason)


PART = ScorerPart(scorer=exact, others=(ignore_case, contains))
