"""F1 of words matched by their embeddings, in the manner of BERTScore but with another encoder: not comparable with it.

Every word of the answer takes the nearest word of the target (precision), and the other way round (recall). Words
with digits match only themselves. A Chinese character counts as a word.
"""

import re
from typing import Any

from proctor.core.declared import scorer
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.scorers.targets import answer_of, no_target, targets_of
from proctor_judging.matching.sentence_encoder import embedded
from proctor_judging.scorers._bleu import HAN, NO_BLANKS

WORDS = 300
WORD = re.compile(rf"{HAN.pattern}|{NO_BLANKS.pattern}|[\d.,]*\d|\w+")


@scorer(inline=False)  # milliseconds each: not in the event loop
def token_embedding_f1(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """The F1 of the answer against the target, the best of a list; only the first 300 words count.

    >>> score = token_embedding_f1(Sample.ask("a", "?", target="a big cat"), Trajectory.of("a large cat"))
    >>> 0.5 < score.points < 1
    True
    """
    targets = [words for text in targets_of(sample) if (words := _words(text))]
    if not targets:
        return no_target()
    answer = answer_of(trajectory, WORDS * 50)
    answer_words = _words(answer)
    if not answer_words:
        return Score(points=0, answer=answer, reason=say("The answer is empty."))
    precision, recall, f1 = max((_f1(answer_words, target) for target in targets), key=lambda found: found[2])
    reason = say("Precision {precision}, recall {recall}.", precision=f"{precision:.2f}", recall=f"{recall:.2f}")
    return Score(points=f1, answer=answer, reason=reason, details={"precision": precision, "recall": recall})


def _words(text: str) -> list[str]:
    return [match[0].casefold() for match, _ in zip(WORD.finditer(text), range(WORDS), strict=False)]


def _f1(made: list[str], wanted: list[str]) -> tuple[float, float, float]:
    near = _similarities(made, wanted)
    precision, recall = (round(float(near.max(axis=axis).mean()), 6) for axis in (1, 0))
    total = precision + recall
    return precision, recall, min(2 * precision * recall / total, 1.0) if total else 0.0


def _similarities(made: list[str], wanted: list[str]) -> Any:
    import numpy

    unique = sorted({*made, *wanted})
    index_by_word = {word: at for at, word in enumerate(unique)}
    rows = embedded(unique)
    near = numpy.clip(rows @ rows.T, 0.0, 1.0)
    exact = numpy.array([any(char.isdigit() for char in word) for word in unique])
    near[exact[:, None] | exact[None, :]] = 0.0
    numpy.fill_diagonal(near, 1.0)
    return near[numpy.ix_([index_by_word[word] for word in made], [index_by_word[word] for word in wanted])]


PART = ScorerPart(scorer=token_embedding_f1)
