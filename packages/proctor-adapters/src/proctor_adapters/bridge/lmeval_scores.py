"""Score the replies to a prompt of lm-eval by its own filters and metrics, in a worker."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Verdict
from proctor.isolation import Workers
from proctor.models.named import OpenedModels
from proctor_adapters.bridge.scoring import Scales, scored

SUFFIX = "@lmeval"


class LmEvalMetric(msgspec.Struct, frozen=True):
    """A metric of a task, computed from what one of the task's filters extracts from the replies.

    Attributes:
        higher_is_better: None if lm-eval does not say.
        is_mean: False if it is defined over all documents together only, such as BLEU.
    """

    name: str
    filter: str
    higher_is_better: bool | None = None
    is_mean: bool = True

    @property
    def shown(self) -> str:
        return f"{self.name},{self.filter}"


class LmEvalScorer(OpenedModels):
    """Scores replies by one metric of a task, computed from what one filter extracts from them.

    Args:
        metric: the metric and its filter.
        listed: the metrics that the task lists, in the first scorer of a filter, which keeps the values of those that it does not; None in the others.
    """

    is_async = True
    version = "1"

    def __init__(
        self,
        metric: LmEvalMetric,
        workers: Workers,
        about: Mapping[str, object],
        stops: Sequence[str],
        scales: Scales,
        listed: Sequence[str] | None = None,
    ) -> None:
        super().__init__([workers])
        self.name = f"{metric.shown}{SUFFIX}"
        self.__qualname__ = self.name  # by which a stored run finds it again
        self._metric = metric
        self._workers = workers
        self._about = about
        self._stops = stops
        self._scales = scales
        self._listed = listed

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        replies = [cut(text, self._stops) for text in replies_of(sample, trajectory)]
        scores = await self._workers.run("score", **self._about, id=sample.id, replies=replies)
        metric, values = self._metric, scores.get(self._metric.filter, {})
        kept = {"value": values[metric.name]} if metric.name in values else {}
        if self._listed is not None:
            unlisted = {name: value for name, value in values.items() if name not in self._listed}
            kept |= {"unlisted": unlisted} if unlisted else {}
        result = self._result(values, replies[0] if replies else None)
        return msgspec.structs.replace(result, details={**result.details, "lmeval": kept})

    def _result(self, values: Mapping[str, object], answer: str | None) -> Score | Unscored:
        """Return the score of a document, or why its value is no score; whether more is better is never guessed."""
        metric, reason = self._metric, None
        if metric.name not in values:
            reason = say("lm-eval has no '{metric}' for this document.", metric=metric.name)
        elif is_undeclared(metric, self._scales):
            reason = say(
                "lm-eval does not say whether more is better in '{metric}', so its values are no scores; the official figure has them. If more is better, name their range: --set bridge.scale.{metric}=LOW:HIGH",
                metric=metric.shown,
            )
        elif not metric.is_mean or isinstance(values[metric.name], list):
            reason = say("This metric counts only over all documents together; the official figure has it.")
        elif metric.higher_is_better is False:
            reason = say("Less is better in this metric, which points do not say; the official figure has it.")
        if reason is not None:
            return Unscored(why="not_applicable", reason=reason)
        return scored(metric.shown, values[metric.name], self._scales, answer=answer)


def is_undeclared(metric: LmEvalMetric, scales: Scales) -> bool:
    """True if neither lm-eval nor the user, by a range, says whether more is better in a metric."""
    return metric.higher_is_better is None and metric.shown not in scales


def values_of(verdict: Verdict) -> Iterator[tuple[str, object]]:
    """Yield the values of lm-eval that a verdict keeps, by metric and filter, also those of metrics that the task does not list."""
    raw, shown = verdict.result.details.get("lmeval"), verdict.scorer.removesuffix(SUFFIX)
    if not isinstance(raw, Mapping) or shown == verdict.scorer:
        return
    if "value" in raw:
        yield shown, raw["value"]
    for name, value in raw.get("unlisted", {}).items():
        yield f"{name},{shown.rpartition(',')[2]}", value


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
