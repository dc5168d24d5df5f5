"""chrF of one sentence, by sacrebleu: n-grams of characters, so that any language works without cutting words."""

from typing import Any

import msgspec

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_judging.scorers import _bleu


class ChrfOptions(msgspec.Struct, frozen=True, kw_only=True):
    """`word_order` 2 makes chrF++; `lowercase` ignores case."""

    word_order: int = 0
    lowercase: bool = False


def chrf(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """chrF of the answer against the target, or the best of a list, from 0 to 1.

    >>> chrf(Sample.ask("a", "?", target="Paris"), Trajectory.of("Paris")).points
    1.0
    """
    return _bleu.score(sample, trajectory, _metric, ChrfOptions())


def _metric(options: ChrfOptions, _targets: str) -> Any:
    return _bleu.package().CHRF(word_order=options.word_order, lowercase=options.lowercase)


PART = _bleu.part(chrf, ChrfOptions, _metric, "chrf")
