"""The two metrics of ADK that need no judge, with exactly its verdicts, under its names and by match type.

Each turn gets a score; the sample gets their average, and passes when that reaches the threshold. A turn without
recorded calls counts as none, and a response without a reference gets 0, as in ADK; `trajectory` and `response` are
the metrics that see this otherwise. Rules and source: `proctor_judging.matching.adk_rules`.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from proctor.config import converted
from proctor.core.declared import scorer
from proctor.core.parts import ScorerPart
from proctor.core.sample import Reasoning, Sample, Text, ToolCall
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Trajectory
from proctor.trajectory_matching import expectation
from proctor.trajectory_matching.arguments import ArgumentFault
from proctor.trajectory_matching.options import compared
from proctor_judging.matching.adk_rules import AdkCall, MatchType, calls_match, match_type, mean, rouge_1

Metric = Literal["tool_trajectory_avg_score", "response_match_score"]


class AdkCriteriaOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Criteria as in `test_config.json`; `criteria` are those that `passed` asks for.

    count_thoughts: thoughts of the agent are part of its answer, as ADK has it.
    """

    match_type: object = "EXACT"
    ignore_args: bool = False
    count_thoughts: bool = False
    trajectory_threshold: float = 1.0
    response_threshold: float = 0.8
    criteria: tuple[Metric, ...] = ("tool_trajectory_avg_score", "response_match_score")


VERSION = "google-adk 2.7.1 / 1"


@scorer(version=VERSION)
def tool_trajectory_avg_score(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Compare the calls of each turn, by the match type of the criteria (EXACT without), if they name it."""
    if "tool_trajectory_avg_score" not in _options(sample).criteria:
        return _not_asked()
    return _trajectory(sample, trajectory, None)


@scorer(version=VERSION)
def response_match_score(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """ROUGE-1 of the response of each turn, if the criteria name it."""
    if "response_match_score" not in _options(sample).criteria:
        return _not_asked()
    return response_match(sample, trajectory)


@scorer(version=VERSION)
def exact(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """`tool_trajectory_avg_score` with match type EXACT."""
    return _trajectory(sample, trajectory, "EXACT")


@scorer(version=VERSION)
def in_order(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """`tool_trajectory_avg_score` with match type IN_ORDER."""
    return _trajectory(sample, trajectory, "IN_ORDER")


@scorer(version=VERSION)
def any_order(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """`tool_trajectory_avg_score` with match type ANY_ORDER."""
    return _trajectory(sample, trajectory, "ANY_ORDER")


@scorer(version=VERSION)
def response_match(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """`response_match_score`, whether or not the criteria name it."""
    options = _options(sample)
    scores = [
        rouge_1(
            _with_thoughts(trajectory, turn) if options.count_thoughts else turn.answer, turn.expected.response or ""
        )
        for turn in expectation.turns(sample, trajectory)
    ]
    return _average(scores, options.response_threshold, say("ROUGE-1 of the texts"))


@scorer(version=VERSION)
def passed(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """1 when every criterion reaches its threshold, as ADK counts a case as passed."""
    by_metric = {"tool_trajectory_avg_score": tool_trajectory_avg_score, "response_match_score": response_match_score}
    results = {name: by_metric[name](sample, trajectory) for name in _options(sample).criteria}
    scores = {name: result for name, result in results.items() if isinstance(result, Score)}
    if not scores:
        return Unscored(why="not_applicable", reason=say("The case has no turn that could be evaluated."))
    failed = [name for name, score in scores.items() if not score.details["passed"]]
    reason = say("Below its threshold: {names}.", names=", ".join(failed)) if failed else ""
    return Score(points=not failed, reason=reason)


def _trajectory(sample: Sample, trajectory: Trajectory, how: MatchType | None) -> Score | Unscored:
    options = _options(sample)
    chosen = match_type(options.match_type) if how is None else how
    names_only = options.ignore_args
    scores = [
        float(calls_match([*map(made_call, turn.made)], _wanted(turn.expected), chosen, names_only=names_only))
        for turn in expectation.turns(sample, trajectory)
    ]
    return _average(scores, options.trajectory_threshold, say("calls compared as {match_type}", match_type=chosen))


def sides(sample: Sample, trajectory: Trajectory, metric: str) -> list[dict[str, object]]:
    """Return the calls of every turn with those it expects, by the match type of a metric such as `adk:in_order`.

    They are those of `trajectory`, except that arguments that are `null` are not `{}`.

    Raises:
        BadInput: a reference that cannot be understood.
    """
    options = _options(sample)
    name = metric.partition(":")[2]
    how = match_type(name if name in ("exact", "in_order", "any_order") else options.match_type)
    fixed = {"order": how.lower(), "arguments": "ignore" if options.ignore_args else "equal"}
    return compared(sample, trajectory, check=None if options.ignore_args else _null_fault, **fixed)


def _null_fault(expected: expectation.ExpectedCall, made: ToolCall) -> ArgumentFault | None:
    """Return what differs between calls whose arguments are alike: one has none, the other an empty object."""
    wanted, given = expected.arguments, made_call(made).args
    if (wanted is None) == (given is None):
        return None
    return ArgumentFault(kind="wrong_param_value", argument="", expected=wanted, made=given)


def made_call(call: ToolCall) -> AdkCall:
    """Return a call as ADK would have recorded it: missing arguments are an empty object, `null` arguments are none."""
    if call.raw is None:
        return AdkCall(call.name, call.arguments)
    if not call.raw.strip():
        return AdkCall(call.name, {})
    return AdkCall(call.name, None if call.raw.strip() == "null" else {"": call.raw})


def _with_thoughts(trajectory: Trajectory, turn: expectation.ExpectedTurn) -> str:
    """Return the answer of a turn with what was thought in the same message."""
    for step in reversed(trajectory.steps):
        if step.turn == turn.place and step.message.role == "assistant":
            texts = [part.text for part in step.message.parts if isinstance(part, Text | Reasoning) and part.text]
            if texts:
                return "\n".join(texts)
    return ""


def _wanted(expected: expectation.ExpectedCalls) -> list[AdkCall]:
    return [AdkCall(call.name, call.arguments) for call in expected.calls or ()]


def _not_asked() -> Unscored:
    return Unscored(why="not_applicable", reason=say("The criteria of the set do not name this metric."))


def _average(scores: Sequence[float], threshold: float, rule: Sentence) -> Score | Unscored:
    if not scores:
        return Unscored(why="not_applicable", reason=say("The case has no turn that could be evaluated."))
    average = mean(scores)
    details = {"passed": average >= threshold, "threshold": threshold, "turns": list(scores)}
    reason = say(
        "{rule}: {scores}, threshold {threshold}",
        rule=rule,
        scores=" ".join(f"{score:g}" for score in scores),
        threshold=f"{threshold:g}",
    )
    return Score(points=min(average, 1.0), reason=reason, details=details)


def _options(sample: Sample) -> AdkCriteriaOptions:
    given = sample.meta.get("adk")
    return converted(given, AdkCriteriaOptions, "adk") if given else AdkCriteriaOptions()


PART = ScorerPart(
    others=(tool_trajectory_avg_score, response_match_score, exact, in_order, any_order, response_match, passed),
    sides=sides,
    options=AdkCriteriaOptions,
)
