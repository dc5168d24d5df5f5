"""What `answer` gives for a reply."""

from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.trajectory import Trajectory
from proctor_judging.scorers.answer import answer


def points(question: str, reply: str, target: str) -> float | None:
    """Return the share of the points that a reply gets; None without a score."""
    score = answer(Sample.ask("q", question, target=target), Trajectory.of(reply))
    return score.points / score.out_of if isinstance(score, Score) else None
