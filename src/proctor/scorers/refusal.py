"""Say whether an agent declined to answer, in Chinese, English or another major language, or was refused by its endpoint."""

from proctor.core.declared import scorer
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.scorers.refusal_phrases import refusal_in


@scorer(version="2")
def refusal(sample: Sample, trajectory: Trajectory) -> Score:  # noqa: ARG001 - a scorer's arguments
    """1 when the reply declines to answer: the rate is that of refusals.

    >>> refusal(Sample.ask("q", "?"), Trajectory.of("缺少图片信息")).points
    1
    """
    phrase = _phrase(trajectory)
    return _score(int(phrase is not None), phrase, trajectory)


@scorer(version="2")
def answered(sample: Sample, trajectory: Trajectory) -> Score:  # noqa: ARG001 - a scorer's arguments
    """1 when the reply does not decline to answer.

    >>> answered(Sample.ask("q", "?"), Trajectory.of("B")).points
    1
    """
    phrase = _phrase(trajectory)
    return _score(int(phrase is None), phrase, trajectory)


def _phrase(trajectory: Trajectory) -> str | None:
    if trajectory.stop in ("refused", "filtered"):
        return trajectory.stop
    return refusal_in(trajectory.answer)


def _score(points: int, phrase: str | None, trajectory: Trajectory) -> Score:
    reason = say("Declines: {phrase}", phrase=phrase) if phrase is not None else say("Does not decline to answer.")
    return Score(points=points, answer=trajectory.answer, reason=reason)


PART = ScorerPart(scorer=refusal, others=(answered,))
