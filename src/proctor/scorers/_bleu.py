"""Share what BLEU and chrF need: the package, the tokenizer for a text, and a score from a number."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from proctor.core.errors import needs
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import quote, say
from proctor.core.trajectory import Trajectory
from proctor.scorers._texts import answer_of, no_target, targets_of

CHARACTERS = 20_000
HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
NO_BLANKS = re.compile("[\u3040-\u30ff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")  # kana, Thai, Lao, Burmese, Khmer


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


def score(
    sample: Sample, trajectory: Trajectory, measure: Callable[[str, Sequence[str]], tuple[float, str]]
) -> Score | Unscored:
    """Return the number of a measure (0 to 100, and how it was taken) as points from 0 to 1."""
    targets = [target[:CHARACTERS] for target in targets_of(sample)]
    if not targets:
        return no_target()
    answer = answer_of(trajectory, CHARACTERS)
    if not answer:
        return Score(points=0, answer=answer, reason=say("The answer is empty."))
    number, how = measure(answer, targets)
    points = min(max(number / 100, 0.0), 1.0)
    points = 1.0 if any(answer == target for target in targets) else round(points, 12)
    reason = say("{number} of 100 ({how}) against {target}.", number=f"{number:.2f}", how=how, target=quote(targets[0]))
    return Score(points=points, answer=answer, reason=reason, details={"how": how})
