"""Share what BLEU and chrF need: the package, the tokenizer for a text, and a score from a number."""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from proctor.config import converted
from proctor.core.errors import needs
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import quote, say
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.scorers.targets import answer_of, no_target, targets_of

CHARACTERS = 20_000
HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
NO_BLANKS = re.compile("[\u3040-\u30ff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")  # kana, Thai, Lao, Burmese, Khmer


Chosen = TypeVar("Chosen", bound=msgspec.Struct)
Metric = Callable[[Chosen, str], Any]  # of sacrebleu, from the options and the text of all targets


def tokenizer_for(text: str) -> str:
    """Return the tokenizer for a text: `zh`, `char` for other scripts without spaces, else `13a`.

    >>> tokenizer_for("The cat"), tokenizer_for("那只猫"), tokenizer_for("ねこがいる")
    ('13a', 'zh', 'char')
    """
    if NO_BLANKS.search(text):
        return "char"
    return "zh" if HAN.search(text) else "13a"


def package() -> Any:
    """Return the package sacrebleu.

    Raises:
        MissingExtra: it is not installed.
    """
    with needs("text", "BLEU and chrF"):
        import sacrebleu
    return sacrebleu


def part(scorer: Scorer, options: type[Chosen], metric: Metric[Chosen], name: str) -> ScorerPart:
    """Return the part of a metric: the scorer without options, and what makes one with them."""

    def make(given: Mapping[str, Any]) -> Scorer:
        chosen = converted(given, options, name)
        package()

        def configured(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
            return score(sample, trajectory, metric, chosen)

        return configured

    return ScorerPart(scorer=scorer, make=make, options=options)


def score(sample: Sample, trajectory: Trajectory, metric: Metric[Chosen], options: Chosen) -> Score | Unscored:
    """Return the number of a metric (0 to 100, and how it was taken) as points from 0 to 1."""
    targets = [target[:CHARACTERS] for target in targets_of(sample)]
    if not targets:
        return no_target()
    answer = answer_of(trajectory, CHARACTERS)
    if not answer:
        return Score(points=0, answer=answer, reason=say("The answer is empty."))
    by = metric(options, "".join(targets))
    number, how = by.sentence_score(answer, targets).score, str(by.get_signature())
    points = min(max(number / 100, 0.0), 1.0)
    points = 1.0 if any(answer == target for target in targets) else round(points, 12)
    reason = say("{number} of 100 ({how}) against {target}.", number=f"{number:.2f}", how=how, target=quote(targets[0]))
    return Score(points=points, answer=answer, reason=reason, details={"how": how})
