"""BLEU of one sentence, by sacrebleu; Chinese is cut with its `zh` tokenizer.

Short sentences use the n-grams they have (effective order) with exponential smoothing, so that an identical answer
is 1 however short it is. The mean over samples is no corpus BLEU.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from proctor.config import converted
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.scorers import _bleu

Tokenize = Literal["auto", "13a", "zh", "char", "intl", "none"]


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The tokenizer (`auto` chooses by the script of the target), and whether case matters."""

    tokenize: Tokenize = "auto"
    lowercase: bool = False


def bleu(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """BLEU of the answer against the target, or all targets of a list, from 0 to 1.

    >>> bleu(Sample.ask("a", "?", target="今天天气很好"), Trajectory.of("今天天气很好")).points
    1.0
    """
    return _score(sample, trajectory, Options())


def make(options: Mapping[str, Any]) -> Scorer:
    """Make a scorer with `Options`.

    Raises:
        MissingExtra: the extra `text` is not installed.
    """
    chosen = converted(options, Options, "bleu")
    _bleu.package()

    def bleu(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        return _score(sample, trajectory, chosen)

    return bleu


def _score(sample: Sample, trajectory: Trajectory, options: Options) -> Score | Unscored:
    def measure(answer: str, targets: Sequence[str]) -> tuple[float, str]:
        how = _bleu.tokenizer_for("".join(targets)) if options.tokenize == "auto" else options.tokenize
        metric = _bleu.package().BLEU(effective_order=True, tokenize=how, lowercase=options.lowercase)
        return metric.sentence_score(answer, list(targets)).score, str(metric.get_signature())

    return _bleu.score(sample, trajectory, measure)


PART = ScorerPart(scorer=bleu, make=make, options=Options)
