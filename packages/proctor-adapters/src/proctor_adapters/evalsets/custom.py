"""Metrics of the user's own that a criteria file names: functions as google-adk calls them for `custom_metrics`.

    {"criteria": {"polite": 0.5}, "custom_metrics": {"polite": {"code_config": {"name": "shop.metrics.polite"}}}}

    def polite(eval_metric, actual_invocations, expected_invocations, conversation_scenario) -> EvaluationResult: ...

They get google-adk's own objects, and may be async. The file that names them is data, so they run only where the user
allowed it. Source: google/adk-python, src/google/adk/evaluation, custom_metric_evaluator.py, release 2.13.
"""

import inspect
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.digest import digest, digest_bytes
from proctor.core.errors import BadInput, needs
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory, turns_of
from proctor.registry import load_object
from proctor_adapters.evalsets.noun import as_json
from proctor_adapters.evalsets.recording import case_of
from proctor_judging.matching.adk_rules import mean

KEY = "adk_custom"  # where a sample has the metrics of its criteria, and its case as ADK's objects are made of
SAME = 1e-9  # a mean of turns that differs by no more is the score of the case


class CustomMetric(msgspec.Struct, frozen=True, kw_only=True):
    """A function by its dotted path, the criterion as the file has it, and the lowest and highest value."""

    function: str
    threshold: float
    criterion: Mapping[str, object] = {}
    least: float = 0.0
    most: float = 1.0


class CustomScorer:
    """Calls the function of a metric with a whole case; not applicable to cases whose set does not name the metric."""

    inline = False  # code of the user runs in a thread

    def __init__(self, name: str, path: str, function: Callable[..., object]) -> None:
        self.name = name
        self._path = path
        self._function = function
        self.__module__, self.__qualname__ = path.rpartition(".")[0], name  # what a record tells of it
        self.version = digest([path, _source(function)])[:12]

    def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored | Awaitable[Score | Unscored]:
        given = sample.meta.get(KEY, {}).get("metrics", {}).get(self.name)
        if given is None or given["function"] != self._path:
            return Unscored(why="not_applicable", reason=say("The criteria of the set do not name this metric."))
        metric = msgspec.convert(given, CustomMetric)
        result = self._function(*_arguments(self.name, metric, sample, trajectory))
        if inspect.isawaitable(result):
            return _score_later(result, metric, trajectory)
        return _score(result, metric, trajectory)


def scorer_of(name: str, path: str, folder: Path) -> CustomScorer:
    """Load the function of a metric; it may also be in the folder of the set, or next to it.

    Raises:
        BadInput: there is no such module or function, or the code raises; `MissingExtra` without google-adk.
    """
    with needs("adk", "custom_metrics"):
        import google.adk.evaluation.eval_metrics  # noqa: F401
    module, _, attribute = path.rpartition(".")
    for root in (folder.resolve(), folder.resolve().parent):
        top = root / module.partition(".")[0]
        if (top.is_dir() or top.with_suffix(".py").is_file()) and str(root) not in sys.path:
            sys.path.append(str(root))
    function = load_object(f"{module}:{attribute}", attribute)
    if not callable(function):
        raise BadInput("'{path}' is no function.", path=path)
    return CustomScorer(name, path, function)


def _source(function: Callable[..., object]) -> str | None:
    try:
        return digest_bytes(inspect.getsource(function).encode("utf-8", "replace"))
    except (OSError, TypeError):
        return None


def _arguments(
    name: str, metric: CustomMetric, sample: Sample, trajectory: Trajectory
) -> tuple[object, object, object, object]:
    """Return what google-adk gives: the metric without its threshold, the turns as played and as expected, the scenario."""
    from google.adk.evaluation.eval_case import Invocation
    from google.adk.evaluation.eval_metrics import BaseCriterion, EvalMetric

    case = sample.meta[KEY].get("conversation")
    steps = {turn: list(group) for turn, group in groupby(trajectory.steps, key=lambda step: step.turn)}
    played = [
        (turn, [step for step in steps.get(index, ()) if step.message.role != "user"])
        for index, turn in enumerate(turns_of(sample, trajectory))
    ]
    invocations = [as_json(invocation) for invocation in case_of(sample.id, played).conversation or ()]
    for known, invocation in zip(case or (), invocations, strict=False):
        invocation |= {key: known[key] for key in ("invocation_id", "user_content") if key in known}
    criterion = BaseCriterion.model_validate({**metric.criterion, "threshold": metric.threshold})
    return (
        EvalMetric(metric_name=name, criterion=criterion, custom_function_path=metric.function),
        [Invocation.model_validate(invocation) for invocation in invocations],
        None if case is None else [Invocation.model_validate(invocation) for invocation in case],
        _scenario(sample.known.scenario),
    )


def _scenario(given: Mapping[str, object] | None) -> object:
    if given is None:
        return None
    from google.adk.evaluation.eval_case import ConversationScenario

    return ConversationScenario.model_validate(given)


async def _score_later(result: Awaitable[object], metric: CustomMetric, trajectory: Trajectory) -> Score | Unscored:
    return _score(await result, metric, trajectory)


def _score(result: object, metric: CustomMetric, trajectory: Trajectory) -> Score | Unscored:
    """Return the score of a case: the share of the way from the least to the most; thresholds compare with the raw value.

    The metric's own verdict counts; where it gives none, the threshold decides.
    """
    from google.adk.evaluation.evaluator import EvaluationResult

    if not isinstance(result, EvaluationResult):
        kind = type(result).__name__
        reason = say("A custom metric returns an EvaluationResult of google-adk, not {kind}.", kind=kind)
        return Unscored(why="scorer_failed", reason=reason)
    value = result.overall_score
    if value is None:
        return Unscored(why="not_applicable", reason=say("The metric gave the case no score."))
    if not metric.least <= value <= metric.most:
        reason = say(
            "The metric gave {value}, which is not in {least} to {most}. Say what it gives in metric_info.metric_value_info.interval of the criteria file.",
            value=value,
            least=metric.least,
            most=metric.most,
        )
        return Unscored(why="scorer_failed", reason=reason)
    reached = value >= metric.threshold
    verdict = result.overall_eval_status.name
    passed = reached if verdict not in ("PASSED", "FAILED") else verdict == "PASSED"
    turns = _of_turns(result, value, 1 + max((step.turn for step in trajectory.steps), default=0))
    details: dict[str, object] = {"turns": turns, "threshold": metric.threshold, "passed": passed}
    if passed != reached:  # a rule of its own
        details["passed_turns"] = [passed] * len(turns)
    return Score(points=(value - metric.least) / (metric.most - metric.least), details=details)


def _of_turns(result: Any, value: float, count: int) -> Sequence[float]:
    """Return the scores of the turns where the metric tells them and their mean is that of the case, else that for each."""
    scores = [turn.score for turn in result.per_invocation_results]
    if len(scores) == count and None not in scores and abs(mean(scores) - value) <= SAME:
        return scores
    return [value] * count
