"""Score the replies to a prompt of lm-eval by its own filters and metrics, in a worker."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.isolation import Workers
from proctor.models.named import OpenedModels
from proctor_adapters.bridge.scoring import Scales, scored

SUFFIX = "@lmeval"


class LmEvalMetric(msgspec.Struct, frozen=True):
    """A metric behind one filter; `is_mean` is False where it counts only over all documents together."""

    name: str
    filter: str
    higher_is_better: bool | None = True
    is_mean: bool = True


class LmEvalScorer(OpenedModels):
    """The score of one metric behind one filter."""

    is_async = True
    version = "1"

    def __init__(
        self,
        metric: LmEvalMetric,
        workers: Workers,
        about: Mapping[str, Any],
        stops: Sequence[str],
        scales: Scales,
    ) -> None:
        super().__init__([workers])
        self.name = f"{metric.name},{metric.filter}{SUFFIX}"
        self.__qualname__ = self.name  # by which a stored run finds it again
        self._metric = metric
        self._workers = workers
        self._about = about
        self._stops = stops
        self._scales = scales

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        replies = [cut(text, self._stops) for text in replies_of(sample, trajectory)]
        scores = await self._workers.run("score", **self._about, id=sample.id, replies=replies)
        name, of = self._metric.name, scores.get(self._metric.filter, {})
        if name not in of:
            return Unscored(
                why="not_applicable", reason=say("lm-eval has no '{metric}' for this document.", metric=name)
            )
        value, details = of[name], {"lmeval": {"value": of[name]}}
        if not self._metric.is_mean or isinstance(value, list):
            reason = say("This metric counts only over all documents together; the official figure has it.")
            return Unscored(why="not_applicable", reason=reason, details=details)
        if self._metric.higher_is_better is False:
            reason = say("Less is better in this metric, which points do not say; the official figure has it.")
            return Unscored(why="not_applicable", reason=reason, details=details)
        shown = f"{name},{self._metric.filter}"
        result = scored(shown, value, self._scales, answer=replies[0] if replies else None)
        return msgspec.structs.replace(result, details={**result.details, **details})


def replies_of(sample: Sample, trajectory: Trajectory) -> list[str]:
    """Return the last text of each repeat; '' for one without."""
    texts = [""] * len(sample.turns)
    for step in trajectory.steps:
        if step.message.role == "assistant" and step.turn < len(texts):
            texts[step.turn] = step.message.text or texts[step.turn]
    return texts


def cut(text: str, stops: Sequence[str]) -> str:
    """Return a reply up to the first text at which it should have stopped.

    >>> cut("42. Q: next", ["Q:", "\\n"])
    '42. '
    """
    for stop in stops:
        text = text.split(stop, 1)[0]
    return text
