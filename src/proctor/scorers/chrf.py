"""chrF of one sentence, by sacrebleu: n-grams of characters, so that any language works without cutting words."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.config import converted
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.scorers import _bleu


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """`word_order` 2 makes chrF++; `lowercase` ignores case."""

    word_order: int = 0
    lowercase: bool = False


def chrf(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """chrF of the answer against the target, or the best of a list, from 0 to 1.

    >>> chrf(Sample.ask("a", "?", target="Paris"), Trajectory.of("Paris")).points
    1.0
    """
    return _score(sample, trajectory, Options())


def make(options: Mapping[str, Any]) -> Scorer:
    """Make a scorer with `Options`.

    Raises:
        MissingExtra: the extra `text` is not installed.
    """
    chosen = converted(options, Options, "chrf")
    _bleu.package()

    def chrf(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        return _score(sample, trajectory, chosen)

    return chrf


def _score(sample: Sample, trajectory: Trajectory, options: Options) -> Score | Unscored:
    def measure(answer: str, targets: Sequence[str]) -> tuple[float, str]:
        metric = _bleu.package().CHRF(word_order=options.word_order, lowercase=options.lowercase)
        return metric.sentence_score(answer, list(targets)).score, str(metric.get_signature())

    return _bleu.score(sample, trajectory, measure)


PART = ScorerPart(scorer=chrf, make=make, options=Options)
