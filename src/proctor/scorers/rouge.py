"""How much of a reference text is in the answer, and the other way round: ROUGE, in every script.

The target is the reference, or a list of references of which the closest counts. Words are compared in lower case
and without punctuation; the same text always gives 1. Words of Chinese need the extra `zh`.
"""

from collections.abc import Callable, Sequence

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.scorers._rouge import Rouge, rouge_l, rouge_n
from proctor.scorers._tokens import tokens

_Measure = Callable[[Sequence[str], Sequence[str]], Rouge]


def rouge(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """ROUGE-L: F of the longest common subsequence of words.

    >>> rouge(Sample.ask("q", "?", target="the cat sat"), Trajectory.of("The cat sat.")).points
    1.0
    """
    return _best(sample, trajectory, rouge_l)


def one(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """ROUGE-1: F of single words.

    >>> one(Sample.ask("q", "?", target="the cat"), Trajectory.of("cat the")).points
    1.0
    """
    return _best(sample, trajectory, lambda made, expected: rouge_n(made, expected, 1))


def two(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """ROUGE-2: F of pairs of words; of single ones where a reference has only one.

    >>> two(Sample.ask("q", "?", target="the cat"), Trajectory.of("cat the")).points
    0.0
    """
    return _best(sample, trajectory, lambda made, expected: rouge_n(made, expected, min(2, len(expected))))


rouge.version = one.version = two.version = "1"  # type: ignore[attr-defined]  # scorers are functions with a version


def _best(sample: Sample, trajectory: Trajectory, measure: _Measure) -> Score | Unscored:
    targets = sample.target if isinstance(sample.target, list | tuple) else [sample.target]
    references = [found for target in targets if target is not None and (found := tokens(str(target)))]
    if not references:
        return Unscored(why="not_applicable", reason=say("The sample has no reference text to compare with."))
    made = tokens(trajectory.answer)
    best = max((measure(made, reference) for reference in references), key=lambda figures: figures.f)
    reason = say(
        "{precision} of the answer is in the reference, {recall} of the reference is in the answer.",
        precision=f"{best.precision:.0%}",
        recall=f"{best.recall:.0%}",
    )
    details = {"precision": best.precision, "recall": best.recall}
    return Score(points=min(best.f, 1.0), answer=trajectory.answer, reason=reason, details=details)
