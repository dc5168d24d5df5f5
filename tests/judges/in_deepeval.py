"""Runs where DeepEval is: its metrics as scorers, offline, and with a judge that is a scripted endpoint."""

import asyncio
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from endpoint import Endpoint, chat, data

from proctor import Sample, Score, Task, Trajectory, Unscored, evaluate_async
from proctor.core.errors import BadInput, JudgeFailed
from proctor.core.sample import Message, Text, ToolCall, ToolResult, Turn
from proctor.core.trajectory import Step
from proctor_judging.judges import deepeval

deepeval.quiet()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, and no way to any other machine."""
    monkeypatch.chdir(tmp_path)
    connect = socket.socket.connect

    def only_here(self: socket.socket, address: Any) -> None:
        assert address[0] == "127.0.0.1", f"a connection to {address}"
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", only_here)
    return tmp_path


def asked(*questions: str, calls: Any = None, response: str | None = None, **meta: Any) -> Sample:
    reference = {"calls": calls, "response": response}
    turns = tuple(Turn(messages=(Message.of("user", one),), reference=reference) for one in questions)
    return Sample(id="s", turns=turns, meta=meta)


def did(*turns: tuple[str, list[ToolCall]]) -> Trajectory:
    steps = []
    for place, (answer, calls) in enumerate(turns):
        for call in calls:
            steps.append(Step(message=Message(role="assistant", parts=(call,)), turn=place))
            result = ToolResult(name=call.name, content="42", id=call.id)
            steps.append(Step(message=Message(role="tool", parts=(result,)), turn=place))
        steps.append(Step(message=Message(role="assistant", parts=(Text(text=answer),)), turn=place))
    return Trajectory(steps=tuple(steps))


PRICE = ToolCall(name="price", arguments={"model": "A"}, id="1")
WANTED = [{"name": "price", "arguments": {"model": "A"}}]


def judge(endpoint: Endpoint) -> Any:
    from deepeval.models import LocalModel

    return LocalModel(model="judge-1", base_url=f"{endpoint.url}/v1", api_key="k")


def tool_correctness(**more: Any) -> Any:
    from deepeval.metrics import ToolCorrectnessMetric

    return ToolCorrectnessMetric(model=_no_model(), **more)


def _no_model() -> Any:
    from deepeval.models import LocalModel

    return LocalModel(model="unused", base_url="http://127.0.0.1:9/v1", api_key="k")


async def test_score_threshold_and_reason_of_each_turn_are_kept(folder: Path) -> None:
    scorer = deepeval.wrap(tool_correctness(threshold=0.7))
    assert scorer.name == "Tool Correctness"
    assert scorer.version.startswith("deepeval 4.3.1 / ")
    score = await scorer(asked("a", "b", calls=WANTED), did(("x", [PRICE]), ("y", [])))
    assert isinstance(score, Score)
    assert score.points == 0.5
    assert score.details["turns"] == [1.0, 0.0]
    assert score.details["passed_turns"] == [True, False]
    assert (score.details["threshold"], score.details["passed"]) == (0.7, False)
    assert "price" in score.details["reasons"][1]
    assert list(folder.iterdir()) == []
    assert os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] == "YES"


async def test_a_case_has_what_was_called_what_came_back_and_what_was_said_before() -> None:
    from deepeval.metrics import BaseMetric

    seen: list[Any] = []

    class Look(BaseMetric):  # type: ignore[misc]  # the library is not in the main environment
        threshold = 0.5

        def measure(self, test_case: Any) -> float:
            seen.append(test_case)
            self.score, self.reason = 1.0, "seen"
            return self.score

        async def a_measure(self, test_case: Any) -> float:
            return self.measure(test_case)

        def is_successful(self) -> bool:
            return True

    sample = asked("one", "two", calls=WANTED, response="fine", retrieval_context=["a document"])
    await deepeval.wrap(Look())(sample, did(("hello", [PRICE]), ("bye", [])))
    first, second = seen
    assert (first.input, first.actual_output, first.expected_output) == ("one", "hello", "fine")
    [call], [wanted] = first.tools_called, first.expected_tools
    assert (call.name, call.input_parameters, call.output) == ("price", {"model": "A"}, "42")
    assert (wanted.name, wanted.input_parameters) == ("price", {"model": "A"})
    assert first.context is None
    assert "user: one\nassistant: hello" in second.context[0]
    assert second.retrieval_context == ["a document"]


async def test_a_judge_of_deepeval_is_asked_and_its_reason_kept() -> None:
    from deepeval.metrics import GEval
    from deepeval.test_case import SingleTurnParams

    async with Endpoint(chat(json.dumps({"score": 8, "reason": "clear"}))) as endpoint:
        metric = GEval(
            name="Clear",
            evaluation_steps=["Is it clear?"],
            evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT],
            threshold=0.5,
            model=judge(endpoint),
        )
        scorer = deepeval.wrap(metric)
        score = await scorer(asked("q"), Trajectory.of("a"))
        assert isinstance(score, Score)
        assert (score.points, score.reason, score.details["passed"]) == (0.8, "clear", True)
        assert scorer.judge is not None
        assert scorer.judge.model == metric.evaluation_model  # so that its figures are marked as uncalibrated
        assert metric.score is None  # the object that was given is not changed


@pytest.mark.parametrize(
    "reply", [chat("no JSON at all"), chat('{"points": 1}'), data({"error": {"message": "no"}}, 400)]
)
async def test_a_judge_that_fails_is_no_zero(reply: Any) -> None:
    from deepeval.metrics import GEval
    from deepeval.test_case import SingleTurnParams

    async with Endpoint(reply) as endpoint:
        metric = GEval(
            name="Clear",
            evaluation_steps=["Is it clear?"],
            evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT],
            model=judge(endpoint),
        )
        with pytest.raises(JudgeFailed, match="Clear"):
            await deepeval.wrap(metric)(asked("q"), Trajectory.of("a"))
        task = Task(name="t", samples=[Sample.ask("q", "q", target="a")], scorers=[metric])
        run = await evaluate_async(task, agent=lambda question: "a", store=":memory:")
        [verdict] = run.verdicts()
        assert isinstance(verdict.result, Unscored)
        assert verdict.result.why == "judge_failed"


@pytest.mark.parametrize("score", [None, 7, -0.1, float("nan"), "good"])
async def test_what_is_no_share_is_no_score(score: Any) -> None:
    from deepeval.metrics import BaseMetric

    class Odd(BaseMetric):  # type: ignore[misc]  # the library is not in the main environment
        async def a_measure(self, test_case: Any, _show_indicator: bool = True) -> float:
            self.score = score
            return 0.0

    with pytest.raises(JudgeFailed, match="no score from 0 to 1"):
        await deepeval.wrap(Odd())(asked("q"), Trajectory.of("a"))


async def test_a_metric_that_does_not_wait_runs_beside_the_others() -> None:
    from deepeval.metrics import BaseMetric

    class Slow(BaseMetric):  # type: ignore[misc]  # the library is not in the main environment
        threshold = 1.0

        def measure(self, test_case: Any) -> float:
            import time

            time.sleep(0.05)
            self.score = 0.25
            return self.score

        async def a_measure(self, test_case: Any) -> float:
            raise NotImplementedError

    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.005)

    ticking = asyncio.create_task(tick())
    score = await deepeval.wrap(Slow())(asked("q"), Trajectory.of("a"))
    ticking.cancel()
    assert isinstance(score, Score)
    assert (score.points, score.details["passed"]) == (0.25, False)
    assert ticks > 2


async def test_what_a_metric_needs_and_the_case_has_not_is_not_applicable() -> None:
    score = await deepeval.wrap(tool_correctness())(asked("q"), Trajectory.of("a"))
    assert isinstance(score, Unscored)
    assert score.why == "not_applicable"
    assert "expected_tools" in str(score.reason)


async def test_a_metric_of_conversations_gets_all_turns_at_once() -> None:
    from deepeval.metrics import BaseConversationalMetric

    class Long(BaseConversationalMetric):  # type: ignore[misc]  # the library is not in the main environment
        threshold = 0.5

        async def a_measure(self, test_case: Any) -> float:
            self.score = len(test_case.turns) / 10
            self.reason = " ".join(turn.content for turn in test_case.turns)
            return self.score

        def measure(self, test_case: Any) -> float:
            raise NotImplementedError

    score = await deepeval.wrap(Long())(asked("a", "b"), did(("x", []), ("y", [PRICE])))
    assert isinstance(score, Score)
    assert (score.points, score.reason) == (0.4, "a x b y")


async def test_metrics_stand_among_the_scorers_of_a_run_and_samples_do_not_mix() -> None:
    from deepeval.metrics import BaseMetric

    class Length(BaseMetric):  # type: ignore[misc]  # the library is not in the main environment
        threshold = 0.5

        async def a_measure(self, test_case: Any) -> float:
            size = len(test_case.actual_output)
            await asyncio.sleep(0.001 * (20 - size))
            self.score, self.reason = size / 20, str(size)
            await asyncio.sleep(0.001 * (20 - size))
            return self.score

        @property
        def __name__(self) -> str:
            return "Length"

    samples = [Sample.ask(str(number), "x" * number) for number in range(1, 21)]
    task = Task(name="t", samples=samples, scorers=[])
    run = await evaluate_async(task, agent=lambda question: question, scorers=["exact", Length()], store=":memory:")
    results = {verdict.sample_id: verdict.result for verdict in run.verdicts(scorer="Length")}
    assert {id: (one.points, one.reason) for id, one in results.items() if isinstance(one, Score)} == {
        str(number): (number / 20, str(number)) for number in range(1, 21)
    }
    assert run.estimate("Length.score").value == pytest.approx(0.525)


async def test_a_metric_is_found_by_name(folder: Path) -> None:
    (folder / "mine.py").write_text(
        "from deepeval.metrics import ExactMatchMetric\n"
        "metric = ExactMatchMetric()\n"
        "def strict(): return ExactMatchMetric(threshold=1)\n"
        "other = 3\n"
    )
    for name in (f"{folder}/mine.py:metric", f"{folder}/mine.py", f"{folder}/mine.py:strict"):
        scorer = deepeval.make(name, {})
        assert scorer.name == f"deepeval:{name}"
        assert await scorer(asked("q", response="a"), Trajectory.of("a"))
    task = Task(name="t", samples=[Sample.ask("q", "q", target="a")], scorers=[f"deepeval:{folder}/mine.py:metric"])
    run = await evaluate_async(task, agent=lambda question: "a", store=":memory:")
    assert [verdict.result.points for verdict in run.verdicts() if isinstance(verdict.result, Score)] == [1.0]
    for name, message in (
        (f"{folder}/mine.py:other", "no metric of DeepEval"),
        (f"{folder}/mine.py:absent", "absent"),
        (f"{folder}/none.py", "There is no file"),
        ("", "Name the metric"),
    ):
        with pytest.raises(BadInput, match=message):
            deepeval.make(name, {})
    with pytest.raises(BadInput, match="threshold"):
        deepeval.make(f"{folder}/mine.py", {"threshold": 1})
