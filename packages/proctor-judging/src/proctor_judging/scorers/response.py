"""Compare the final response of each turn with its reference, in any script.

The same text always gives 1, also one of signs alone; Chinese and other scripts without blanks are compared by
characters and pairs of them, so that the same characters in another order are not the same answer. A turn without a
reference is left out. ADK's ROUGE-1 is `adk:response_match`.
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from proctor.core.declared import scorer
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.trajectory_matching import expectation
from proctor_judging.matching.adk_rules import tokens
from proctor_judging.matching.rouge_figures import figures


@scorer(version="1")
def response(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """The mean over the turns with a reference.

    >>> response(Sample.ask("q", "?", target="价格是一百元"), Trajectory.of("价格是一百元。")).points
    1.0
    """
    pairs = [
        (turn.place, similarity(turn.answer, turn.expected.response))
        for turn in expectation.turns(sample, trajectory)
        if turn.expected.response
    ]
    if not pairs:
        return Unscored(why="not_applicable", reason=say("No turn of the sample has a reference."))
    values = [value for _, value in pairs]
    details = {"turns": {str(number + 1): value for number, value in pairs}}
    reason = say("{values} against the references", values=" ".join(f"{value:.2f}" for value in values))
    return Score(points=min(sum(values) / len(values), 1.0), answer=trajectory.answer, reason=reason, details=details)


def similarity(answer: str, reference: str) -> float:
    """Return the token F1 of two texts; for scripts without spaces, the mean of that of single characters and pairs.

    >>> similarity("我爱你", "你爱我") < 1.0, similarity("…", "…"), similarity("Bye", "Hi")
    (True, 1.0, 0.0)
    """
    ours, theirs = _tokens(answer), _tokens(reference)
    single = _f(ours, theirs)
    if not any(_alone(token) for token in theirs) or min(len(ours), len(theirs)) < 2:
        return single
    return (single + _f(_pairs(ours), _pairs(theirs))) / 2


def _tokens(text: str) -> list[str]:
    """Those of ADK, or the signs of a text without any."""
    return tokens(text) or [sign for sign in unicodedata.normalize("NFKC", text) if not sign.isspace()]


def _pairs(found: Sequence[str]) -> list[str]:
    return [" ".join(pair) for pair in pairwise(found)]


def _alone(token: str) -> bool:
    return len(token) == 1 and not token.isascii() and token.isalnum()


def _f(ours: Sequence[str], theirs: Sequence[str]) -> float:
    counter, other = Counter(ours), Counter(theirs)
    return figures((counter & other).total(), counter.total(), other.total()).f


PART = ScorerPart(scorer=response)
