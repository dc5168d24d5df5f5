"""Any metric of DeepEval as a scorer: the object itself among the scorers, or `deepeval:package.module:metric`.

    proctor.evaluate(task, agent=agent, scorers=[GEval(name="polite", criteria="...", evaluation_params=[...], model=judge)])

Each turn is one test case, with the calls made and expected and what was said before as its context; the score is the
mean of the turns. Metrics of whole conversations get all turns at once. DeepEval's telemetry is switched off.
"""

import copy
import inspect
import math
import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from proctor import registry
from proctor.config import unknown_option
from proctor.core.digest import digest
from proctor.core.errors import BadInput, JudgeFailed, MissingExtra
from proctor.core.installing import is_installed
from proctor.core.judge import NOT_CHOSEN, JudgeChoice, JudgeInfo
from proctor.core.parts import JudgePart
from proctor.core.sample import Message, Sample, ToolCall, ToolResult
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory, Usage, turns_of
from proctor.models import ledger
from proctor.runtime.threads import in_thread
from proctor.trajectory_matching import expectation
from proctor.transport.redact import quoted, redact
from proctor_judging.matching.adk_rules import mean

if TYPE_CHECKING:
    from deepeval.test_case import ConversationalTestCase, LLMTestCase

Calls = Sequence[tuple[str, Mapping[str, Any] | None, str | None]]  # name, arguments, what came back
REASON_CHARACTERS = 2_000


class DeepevalTurn(msgspec.Struct, frozen=True, kw_only=True):
    """One turn: its input, its output, and the expected output or None."""

    asked: str
    answer: str
    calls: Calls = ()
    expected_answer: str | None = None
    expected_calls: Calls | None = None


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a metric for one test case; `success` is the metric's own decision, as a lower score is better for some."""

    score: float
    success: bool | None
    reason: str = ""


def make(
    argument: str,
    options: Mapping[str, Any],
    chosen: JudgeChoice = NOT_CHOSEN,  # noqa: ARG001 - a metric has a model of its own
) -> "DeepEvalScorer":
    """Return the scorer `deepeval:package.module:metric` or `deepeval:./metrics.py:metric`: a metric, or a function that makes one.

    Raises:
        BadInput: there is no such metric, or it takes no options; `MissingExtra`.
    """
    name = f"deepeval:{argument}"
    for option in options:
        raise unknown_option(name, option, [])
    quiet()
    if not is_installed("deepeval"):
        raise MissingExtra("deepeval", name)
    if not argument:
        raise BadInput("Name the metric, for example deepeval:./metrics.py:polite")
    metric = registry.load_object(argument, "metric")
    return wrap(metric() if callable(metric) and not is_metric(metric) else metric, name=name)


def wrap(metric: object, *, name: str | None = None) -> "DeepEvalScorer":
    """Return a scorer that runs a metric.

    Raises:
        BadInput: it is not valid.
    """
    quiet()
    if not is_metric(metric):
        raise BadInput(
            "'{name}' is no metric of DeepEval: got {type}.", name=name or str(metric)[:80], type=type(metric).__name__
        )
    return DeepEvalScorer(metric, name or metric_name(metric))


def is_metric(given: object) -> bool:
    """True if an object is a metric of DeepEval or of a subclass; imports nothing."""
    module = sys.modules.get("deepeval.metrics.base_metric")
    kinds = tuple(getattr(module, name) for name in ("BaseMetric", "BaseConversationalMetric") if hasattr(module, name))
    return bool(kinds) and isinstance(given, kinds)


def metric_name(metric: Any) -> str:
    """Return the name of a metric in DeepEval's results."""
    return str(getattr(metric, "__name__", "") or type(metric).__name__)


def quiet() -> None:
    """Switch off DeepEval's telemetry and the files it writes to the working folder; call it before importing DeepEval."""
    os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
    os.environ.pop("DEEPEVAL_UPDATE_WARNING_OPT_IN", None)  # asks a server for the newest version


class DeepEvalScorer:
    """Measures each turn, or the whole conversation, with a copy of the metric, as metrics keep their results.

    `details` of the score has for each turn `turns`, `passed_turns` and `reasons`, and `threshold` and `passed`.
    """

    inline = True  # only waits for others

    def __init__(self, metric: Any, name: str) -> None:
        self.metric = metric
        self.name = name
        settings = [
            repr(getattr(metric, key, None))
            for key in ("threshold", "criteria", "evaluation_steps", "evaluation_params", "evaluation_model")
        ]
        model = getattr(metric, "evaluation_model", None)  # of the metrics that ask one
        self.judge = JudgeInfo(model=str(model), unpriced=(str(model),)) if model else None
        self.version = f"deepeval {_installed()} / {digest([type(metric).__qualname__, settings])[:8]}"

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        turns = played(sample, trajectory)
        if self._is_of_conversations():
            cases: list[Any] = [_conversation(turns, sample)]
        else:
            cases = [_case(turns, index, sample) for index in range(len(turns))]
        if not cases:
            return Unscored(why="not_applicable", reason=say("The case has no turn that could be evaluated."))
        found = [await self._measured(case) for case in cases]
        missing = [one for one in found if isinstance(one, Unscored)]
        measured = [one for one in found if isinstance(one, Measured)]
        if missing or not measured:
            return missing[0]
        return Score(
            points=mean([measurement.score for measurement in measured]),
            reason=_reason([measurement.reason for measurement in measured]),
            details={
                "turns": [measurement.score for measurement in measured],
                "passed_turns": [measurement.success for measurement in measured],
                "reasons": [measurement.reason for measurement in measured],
                "threshold": self.metric.threshold,
                "passed": all(measurement.success is not False for measurement in measured),
            },
        )

    def _is_of_conversations(self) -> bool:
        from deepeval.metrics import BaseConversationalMetric

        return isinstance(self.metric, BaseConversationalMetric)

    async def _measured(self, case: "LLMTestCase | ConversationalTestCase") -> Measured | Unscored:
        from deepeval.errors import MissingTestCaseParamsError

        metric = copy.copy(self.metric)
        metric.error = metric.score = metric.reason = metric.success = None
        try:
            await _measure(metric, case)
        except MissingTestCaseParamsError as error:
            return Unscored(why="not_applicable", reason=say("{metric}: {error}", metric=self.name, error=str(error)))
        except Exception as error:
            inner = _inner(error)
            url = getattr(getattr(inner, "request", None), "url", None)
            raise JudgeFailed(
                "The metric {metric} failed: {type}: {error}",
                kind="metric",
                metric=self.name,
                type=type(inner).__name__,
                error=quoted(inner) if url is None else f"{quoted(inner)} ({redact(str(url))})",
            ) from error
        _spend(metric)
        score = metric.score
        if metric.error or not isinstance(score, int | float) or not math.isfinite(score) or not 0 <= score <= 1:
            raise JudgeFailed(
                "The metric {metric} gave no score from 0 to 1: {score}",
                kind="metric",
                metric=self.name,
                score=str(metric.error or score)[:500],
            )
        return Measured(
            score=float(score), success=metric.is_successful(), reason=str(metric.reason or "")[:REASON_CHARACTERS]
        )


def played(sample: Sample, trajectory: Trajectory) -> list[DeepevalTurn]:
    """Return every turn as it was played, those of a simulated user too; the sample's target is that of the last turn unless turns have their own."""
    turns = turns_of(sample, trajectory)
    references = [turn.reference for turn in turns]
    if references and sample.target is not None and all(reference is None for reference in references):
        references[-1] = sample.target
    played_turns = []
    for index, (turn, reference) in enumerate(zip(turns, references, strict=True)):
        expected = expectation.expected_of(reference)
        played_turns.append(
            DeepevalTurn(
                asked="\n".join(message.text for message in turn.messages if message.role == "user" and message.text),
                answer=expectation.answer(trajectory, index),
                calls=tuple(_calls([step.message for step in trajectory.steps if step.turn == index])),
                expected_answer=expected.response,
                expected_calls=None
                if expected.calls is None
                else tuple((call.name, call.arguments, None) for call in expected.calls),
            )
        )
    return played_turns


def _calls(messages: Sequence[Message]) -> Iterator[tuple[str, Mapping[str, Any] | None, str | None]]:
    results = {part.id: part.content for message in messages for part in message.parts if isinstance(part, ToolResult)}
    for message in messages:
        if message.role == "assistant":
            for call in message.calls:
                yield call.name, _arguments(call), results.get(call.id) if call.id else None


def _arguments(call: ToolCall) -> Mapping[str, Any] | None:
    if call.raw is None:
        return call.arguments
    return None if call.raw.strip() in ("", "null") else {"": call.raw}


def _case(turns: Sequence[DeepevalTurn], place: int, sample: Sample) -> "LLMTestCase":
    from deepeval.test_case import LLMTestCase

    turn = turns[place]
    return LLMTestCase(
        name=sample.id if len(turns) == 1 else f"{sample.id}, {place + 1}",
        input=turn.asked,
        actual_output=turn.answer,
        expected_output=turn.expected_answer,
        context=_texts(sample.meta.get("context")) or _history(turns[:place]),
        retrieval_context=_texts(sample.meta.get("retrieval_context")),
        tools_called=_tools(turn.calls),
        expected_tools=None if turn.expected_calls is None else _tools(turn.expected_calls),
    )


def _conversation(turns: Sequence[DeepevalTurn], sample: Sample) -> "ConversationalTestCase":
    from deepeval.test_case import ConversationalTestCase, Turn

    said = []
    for turn in turns:
        said.append(Turn(role="user", content=turn.asked))
        said.append(Turn(role="assistant", content=turn.answer, tools_called=_tools(turn.calls)))
    return ConversationalTestCase(name=sample.id, turns=said, expected_outcome=turns[-1].expected_answer)


def _tools(calls: Calls) -> list[Any]:
    from deepeval.test_case import ToolCall as DeepEvalCall

    return [
        DeepEvalCall(name=name, input_parameters=None if arguments is None else dict(arguments), output=output)
        for name, arguments, output in calls
    ]


def _history(before: Sequence[DeepevalTurn]) -> list[str] | None:
    """Return what was said before, as it went and as it was expected; VeADK's two lines."""
    if not before:
        return None
    actual = "\n".join(f"user: {turn.asked}\nassistant: {turn.answer}" for turn in before)
    expected = "\n".join(f"user: {turn.asked}\nassistant: {turn.expected_answer or ''}" for turn in before)
    return [f"actual_conversation_history: {actual}", f"expect_conversation_history: {expected}"]


def _texts(given: Any) -> list[str] | None:
    return [str(value) for value in given] if isinstance(given, list | tuple) and given else None


async def _measure(metric: Any, case: Any) -> None:
    """As the metric wants it: waiting with others, or alone in a thread."""
    if getattr(metric, "async_mode", True):
        try:
            await _call(metric.a_measure, case)
            return
        except NotImplementedError:
            pass
    await in_thread(lambda: _call(metric.measure, case))


def _call(function: Callable[..., Any], case: Any) -> Any | Awaitable[Any]:
    """Without its progress bar, where it has one."""
    parameters = inspect.signature(function).parameters
    return function(case, _show_indicator=False) if "_show_indicator" in parameters else function(case)


def _spend(metric: object) -> None:
    usage = Usage(
        input_tokens=int(getattr(metric, "input_tokens", None) or 0),
        output_tokens=int(getattr(metric, "output_tokens", None) or 0),
        cost=getattr(metric, "evaluation_cost", None) or None,
    )
    if usage != Usage():
        ledger.spend(usage, model=str(getattr(metric, "evaluation_model", "") or ""))


def _reason(reasons: Sequence[str]) -> str:
    if len(reasons) == 1:
        return reasons[0]
    return "\n".join(f"{number}. {reason}" for number, reason in enumerate(reasons, start=1))


def _installed() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("deepeval")
    except PackageNotFoundError:
        return "-"


def _inner(error: BaseException) -> BaseException:
    """Return what tenacity gave up on, by which DeepEval asks again."""
    attempt = getattr(error, "last_attempt", None)
    inner = attempt.exception() if attempt is not None and attempt.done() else None
    return error if inner is None else _inner(inner)


PART = JudgePart(make=make, wrap=wrap)
