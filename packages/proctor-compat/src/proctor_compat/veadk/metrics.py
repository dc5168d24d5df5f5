"""`GEval` and `ToolCorrectnessMetric` with DeepEval's names and arguments, for where DeepEval is not installed.

    metrics = [GEval(name="Base Evaluation", criteria="...", threshold=0.8, model=evaluator.judge_model,
                     evaluation_params=[LLMTestCaseParams.INPUT, LLMTestCaseParams.ACTUAL_OUTPUT])]

They are scorers of Proctor: points from 0 to 1 for each turn, and their mean for the case. Names and rules: DeepEval
4.3.1; equal calls are counted as often as they were made, where DeepEval takes them for one.
"""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import TracebackType
from typing import Any, Self

from msgspec.structs import replace

from proctor.core.digest import digest
from proctor.core.sample import Message, Sample, Turn
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.task import Model
from proctor.core.trajectory import Trajectory
from proctor.models.named import model
from proctor.trajectory_matching.assignment import best
from proctor.trajectory_matching.call_order import in_sequence
from proctor_judging.judges.deepeval import Calls, DeepevalTurn, played
from proctor_judging.judges.rubric import RubricJudge, made
from proctor_judging.matching.adk_rules import mean


class LLMTestCaseParams(StrEnum):
    """The fields of a turn that a judge sees."""

    INPUT = "input"
    ACTUAL_OUTPUT = "actual_output"
    EXPECTED_OUTPUT = "expected_output"
    TOOLS_CALLED = "tools_called"
    EXPECTED_TOOLS = "expected_tools"


SingleTurnParams = LLMTestCaseParams


class ToolCallParams(StrEnum):
    """The fields of a call that are compared in addition to its name."""

    INPUT_PARAMETERS = "input_parameters"


FIELDS: Mapping[str, str] = {  # what the judge of Proctor calls it
    "input": "question",
    "actual_output": "answer",
    "expected_output": "reference",
    "tools_called": "solution",
    "expected_tools": "reference",
}


class _Metric:
    """A score for each turn, a threshold, and the mean."""

    inline = True

    def __init__(self, name: str, threshold: float, strict_mode: bool) -> None:
        self.name = name
        self.threshold = 1.0 if strict_mode else threshold
        self.strict_mode = strict_mode
        self.version = digest([type(self).__name__, name, self.threshold])[:12]

    def _score(self, turns: Sequence[tuple[float, str | Sentence]]) -> Score:
        values = [0.0 if self.strict_mode and value < self.threshold else value for value, _ in turns]
        passed = [value >= self.threshold for value in values]
        worst = values.index(min(values))
        return Score(
            points=mean(values),
            reason=turns[worst][1],
            details={
                "turns": values,
                "passed_turns": passed,
                "reasons": [str(reason) for _, reason in turns],
                "threshold": self.threshold,
                "passed": all(passed),
            },
        )


class GEval(_Metric):
    """A judge's opinion by criteria in words, or by steps.

    Args:
        evaluation_params: what the judge is shown.
        model: the judge: `openai:MODEL` or another name of a model, an object with `complete`, or DeepEval's of an
            OpenAI-compatible endpoint.
    """

    def __init__(
        self,
        name: str,
        evaluation_params: Sequence[Any],
        criteria: str | None = None,
        evaluation_steps: Sequence[str] | None = None,
        model: object = None,
        threshold: float = 0.5,
        strict_mode: bool = False,
    ) -> None:
        super().__init__(f"{name} [GEval]", threshold, strict_mode)
        if not criteria and not evaluation_steps:
            raise ValueError("Either criteria or evaluation_steps are needed.")
        if model is None:
            raise ValueError("A judge is needed: model=evaluator.judge_model")
        self.criteria = criteria
        self.evaluation_params = [LLMTestCaseParams(getattr(param, "value", param)) for param in evaluation_params]
        task = "\n".join(part for part in (criteria, *(evaluation_steps or ())) if part)
        self._rubric = made(
            name=name,
            scale=(0, 10),
            judges="item",
            en={"task": task},
            dimensions=[{"name": "opinion", "en": {"text": task}}],
        )
        self._judge = RubricJudge(self._rubric, judge_of(model))
        self.version = digest([self.version, self._judge.version, self.evaluation_params])[:12]

    async def __aenter__(self) -> Self:
        await self._judge.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._judge.__aexit__(kind, error, trace)

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        pairs: list[tuple[float, str | Sentence]] = []
        for turn in played(sample, trajectory):
            item = self._item(turn)
            if isinstance(item, Unscored):
                return item
            shown = replace(sample, turns=(Turn(messages=(Message.of("user", turn.asked),)),), meta={"item": item})
            score = await self._judge(shown, Trajectory.of(turn.answer))
            if isinstance(score, Unscored):
                return score
            pairs.append((score.value, score.reason))
        return self._score(pairs)

    def _item(self, turn: DeepevalTurn) -> dict[str, str] | Unscored:
        texts = {
            "input": turn.asked,
            "actual_output": turn.answer,
            "expected_output": turn.expected_answer,
            "tools_called": _text(turn.calls),
            "expected_tools": None if turn.expected_calls is None else _text(turn.expected_calls),
        }
        item: dict[str, str] = {}
        for param in self.evaluation_params:
            text = texts[param]
            if text is None:
                reason = say(
                    "{metric} needs '{field}', which the case does not have.",
                    metric=self.name,
                    field=str(param),
                )
                return Unscored(why="not_applicable", reason=reason)
            field = FIELDS[param]
            item[field] = f"{item[field]}\n{text}" if field in item else text
        return item


class ToolCorrectnessMetric(_Metric):
    """The share of the expected calls that were made; calls beyond them cost nothing.

    Args:
        evaluation_params: with INPUT_PARAMETERS a call counts by the share of its arguments that are equal.
        model: not used: there is no judgement in it.
        should_consider_ordering: calls have to come in the order that is expected.
        should_exact_match: 1 when the calls are those expected, in their order and with their arguments; else 0.
    """

    def __init__(
        self,
        threshold: float = 0.5,
        evaluation_params: Sequence[Any] = (),
        model: object = None,
        should_consider_ordering: bool = False,
        should_exact_match: bool = False,
        strict_mode: bool = False,
    ) -> None:
        super().__init__("Tool Correctness", threshold, strict_mode)
        self._by_arguments = bool([ToolCallParams(getattr(param, "value", param)) for param in evaluation_params])
        self._in_order = should_consider_ordering
        self._exact = should_exact_match

    def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        turns = [turn for turn in played(sample, trajectory) if turn.expected_calls is not None]
        if not turns:
            return Unscored(why="not_applicable", reason=say("No turn says which calls it expects."))
        return self._score([self._of_turn(turn.calls, turn.expected_calls or ()) for turn in turns])

    def _of_turn(self, calls: Calls, expected: Calls) -> tuple[float, Sentence]:
        reason = say(
            "expected {expected}, called {calls}",
            expected=", ".join(name for name, _, _ in expected) or "-",
            calls=", ".join(name for name, _, _ in calls) or "-",
        )
        return self._points(calls, expected), reason

    def _points(self, calls: Calls, expected: Calls) -> float:
        if not expected:
            return 0.0 if calls else 1.0
        if self._exact:
            return float([one[:2] for one in calls] == [one[:2] for one in expected])
        weights = [[self._similarity(call, wanted) for call in calls] for wanted in expected]
        if self._in_order:
            above_zero = [{column: weight for column, weight in enumerate(row) if weight} for row in weights]
            pairs = in_sequence(above_zero, len(calls))
        else:
            pairs = best(weights)
        return sum(weights[row][column] for row, column in pairs.items()) / len(expected)

    def _similarity(self, call: tuple[str, object, object], wanted: tuple[str, object, object]) -> float:
        if call[0] != wanted[0]:
            return 0.0
        return share_equal(call[1] or {}, wanted[1] or {}) if self._by_arguments else 1.0


def share_equal(one: object, other: object) -> float:
    """Return how much of two objects is equal: the share of all their keys, and of those inside likewise.

    >>> share_equal({"a": 1, "b": {"x": 1, "y": 2}}, {"a": 1, "b": {"x": 1}}), share_equal({}, {})
    (0.75, 1.0)
    """
    if not (isinstance(one, Mapping) and isinstance(other, Mapping)):
        return float(isinstance(one, bool) == isinstance(other, bool) and bool(one == other))
    keys = {*one, *other}
    if not keys:
        return 1.0
    return sum(share_equal(one[key], other[key]) for key in keys if key in one and key in other) / len(keys)


def judge_of(given: Any) -> Model:
    """Return the model of a name, of an object with `complete`, or of DeepEval's object for an endpoint."""
    if isinstance(given, str):
        return model(given)
    if callable(getattr(given, "complete", None)):
        found: Model = given
        return found
    base, key = getattr(given, "base_url", None), getattr(given, "local_model_api_key", None)
    if base is None or key is None:
        raise ValueError(
            f"{type(given).__name__} is no model that can be asked here; give a name such as openai:MODEL."
        )
    return endpoint(str(given.get_model_name()).removesuffix(" (Local Model)"), str(base), key.get_secret_value())


def endpoint(name: str, base: str, key: str) -> Model:
    """Return a model at an OpenAI-compatible endpoint."""
    from proctor.models.openai import ChatModel, OpenAIOptions

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return ChatModel(name, OpenAIOptions(base_url=base, headers=headers, temperature=0.0))


def _text(calls: Calls) -> str:
    return (
        "\n".join(f"{name}({json.dumps(arguments, ensure_ascii=False, default=str)})" for name, arguments, _ in calls)
        or "-"
    )
