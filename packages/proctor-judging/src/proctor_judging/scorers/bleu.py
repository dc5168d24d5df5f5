"""BLEU of one sentence, by sacrebleu; Chinese is cut with its `zh` tokenizer.

Short sentences use the n-grams they have (effective order) with exponential smoothing, so that an identical answer
is 1 however short it is. The mean over samples is no corpus BLEU.
"""

from typing import Any, Literal

import msgspec

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_judging.scorers import _bleu

Tokenize = Literal["auto", "13a", "zh", "char", "intl", "none"]


class BleuOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The tokenizer (`auto` chooses by the script of the target), and whether case matters."""

    tokenize: Tokenize = "auto"
    lowercase: bool = False


def bleu(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """BLEU of the answer against the target, or all targets of a list, from 0 to 1.

    >>> bleu(Sample.ask("a", "?", target="今天天气很好"), Trajectory.of("今天天气很好")).points
    1.0
    """
    return _bleu.score(sample, trajectory, _metric, BleuOptions())


def _metric(options: BleuOptions, targets: str) -> Any:
    how = _bleu.tokenizer_for(targets) if options.tokenize == "auto" else options.tokenize
    return _bleu.package().BLEU(effective_order=True, tokenize=how, lowercase=options.lowercase)


PART = _bleu.part(bleu, BleuOptions, _metric, "bleu")
