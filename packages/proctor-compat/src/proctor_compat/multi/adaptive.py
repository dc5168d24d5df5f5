"""A similarity that counts only above a threshold, which follows how well recent answers did.

The threshold starts at 0.5; from the eleventh answer of a kind on it moves by 0.05 before each one: up (to 0.9) when
the mean of the last ten is above 0.8, down (to 0.3) when it is below 0.5. So the score of an answer depends on those
before it: take it to watch an agent, not to compare two. `--concurrency 1` makes the order that of the task.
"""

import threading
from collections import deque
from collections.abc import Awaitable, Mapping
from typing import Any

import msgspec

from proctor.config import converted
from proctor.core.declared import scorer
from proctor.core.parts import Find, ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Unscored
from proctor.core.sentence import say
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.scorers.composite import Result, together
from proctor.scorers.lookup import find_scorer, is_inline


class AdaptiveOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The similarity (any scorer) and how the threshold moves, for each kind of question (`meta["type"]`) apart."""

    scorer: Any = "rouge"
    start: float = 0.5
    step: float = 0.05
    lowest: float = 0.3
    highest: float = 0.9
    window: int = 10
    raise_above: float = 0.8
    lower_below: float = 0.5


class Threshold:
    """A threshold that adapts to the similarities seen so far.

    >>> threshold = Threshold(AdaptiveOptions())
    >>> [threshold.after(1.0) for _ in range(12)][9:]
    [0.5, 0.55, 0.6]
    """

    def __init__(self, options: AdaptiveOptions) -> None:
        self._options = options
        self._recent: deque[float] = deque(maxlen=options.window)
        self._value = options.start

    def now(self) -> float:
        """Return the threshold for the next answer."""
        bounds = self._options
        if len(self._recent) == bounds.window:
            mean = sum(self._recent) / bounds.window
            if mean > bounds.raise_above:
                return max(self._value, min(bounds.highest, round(self._value + bounds.step, 9)))
            if mean < bounds.lower_below:
                return min(self._value, max(bounds.lowest, round(self._value - bounds.step, 9)))
        return self._value

    def after(self, similarity: float) -> float:
        """Return the threshold for an answer of this similarity, which is noted for the next ones."""
        self._value = self.now()
        self._recent.append(similarity)
        return self._value


def make(options: Mapping[str, object], find: Find = find_scorer) -> Scorer:
    """Make a scorer with `AdaptiveOptions` and its own history."""
    chosen = converted(options, AdaptiveOptions, "adaptive")
    similarity = find(chosen.scorer) if isinstance(chosen.scorer, str) else chosen.scorer
    threshold_by_type: dict[str, Threshold] = {}
    lock = threading.Lock()  # the history, when the similarity is computed in threads

    def put(result: Result, kind: str) -> Result:
        if isinstance(result, Unscored):
            return result
        with lock:
            threshold = threshold_by_type.setdefault(kind, Threshold(chosen)).after(result.value)
        reason = say(
            "Similarity {similarity}, threshold {threshold} after the answers before it. {reason}",
            similarity=f"{result.value:.2f}",
            threshold=f"{threshold:.2f}",
            reason=result.reason,
        )
        details = {**result.details, "threshold": threshold, "similarity": result.value}
        points = result.points if result.value >= threshold else 0
        return msgspec.structs.replace(result, points=points, reason=reason, details=details)

    @scorer(inline=is_inline(similarity))
    def adaptive(sample: Sample, trajectory: Trajectory) -> Result | Awaitable[Result]:
        kind = str(sample.known.type)
        return together([similarity(sample, trajectory)], lambda found: put(found[0], kind))

    return adaptive


PART = ScorerPart(combine=make, options=AdaptiveOptions)
