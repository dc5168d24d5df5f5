"""A run as a log of Inspect: what Inspect reads of it was compared once with inspect_ai 0.3.285 itself."""

import json
import zipfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from proctor import Sample, Score, Task, Trajectory, evaluate
from proctor.api.files import export
from proctor.api.run import Run
from proctor.core.errors import AgentFailed, ProviderFailed
from proctor.core.sample import File, Message, ToolCall, ToolResult, Turn
from proctor.core.score import Unscored
from proctor.core.task import Environment, Session
from proctor.core.trajectory import Step, ToolStyle, Usage
from proctor.stores import open_store
from proctor_adapters.importing import import_log
from proctor_adapters.imports import LogReading

LOGS = Path(__file__).parents[1] / "data" / "imports"


def answer(question: str) -> str:
    if question == "breaks":
        raise AgentFailed("it broke")
    if question == "down":
        raise ProviderFailed("503")
    return question


def judge(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    if sample.id == "silent":
        return Unscored(why="judge_failed", reason="it did not answer")
    return Score(points=3, out_of=4, reason="good", answer=trajectory.answer)


@pytest.fixture
def run() -> Run:
    ids = ["a", "silent", "breaks", "down", "../up"]
    task = Task(
        name="t", samples=[Sample.ask(id, id, target=id, tags={"level": "x"}) for id in ids], scorers=["exact", judge]
    )
    return evaluate(task, agent=answer, store=":memory:", max_failed=1.0)


def members(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as zipped:
        assert zipped.testzip() is None
        return {name: json.loads(zipped.read(name)) for name in zipped.namelist()}


def test_a_run_of_which_nothing_was_measured_is_no_success(tmp_path: Path) -> None:
    samples = [Sample.ask(id, "down", target=id) for id in "ab"]
    run = evaluate(Task(name="t", samples=samples, scorers=["exact"]), agent=answer, store=":memory:", max_failed=1.0)
    (path,) = export(run, "inspect", str(tmp_path / "log.eval"))
    header = members(path)["header.json"]
    assert (header["status"], header["error"]["message"]) == ("error", "No sample was measured.")
    assert header["results"] == {"total_samples": 2, "completed_samples": 0, "scores": []}


def test_outcomes_scores_and_figures_are_in_the_log(run: Run, tmp_path: Path) -> None:
    (path,) = export(run, "inspect", str(tmp_path / "log.eval"))
    found = members(path)
    header = found["header.json"]
    assert (header["status"], header["version"], header["eval"]["task"]) == ("success", 2, "t")
    figures = {
        one["name"]: {name: metric["value"] for name, metric in one["metrics"].items()}
        for one in header["results"]["scores"]
    }
    assert figures == {"exact": {"accuracy": 0.75}, "judge": {"mean": pytest.approx(0.5)}}
    assert found["samples/a_epoch_1.json"]["scores"]["judge"] == {
        "value": 0.75,
        "answer": "a",
        "explanation": "good",
        "metadata": {"points": 3.0, "out_of": 4.0},
    }
    unscored = found["samples/silent_epoch_1.json"]["scores"]["judge"]
    assert unscored["value"] != unscored["value"]  # NaN
    assert unscored["reason"] == "grader_failed"
    failed = found["samples/breaks_epoch_1.json"]
    assert (failed["error"], failed["scores"]["exact"]["value"]) == (None, 0.0)
    assert found["samples/down_epoch_1.json"]["error"]["message"] == "503"
    assert found["samples/down_epoch_1.json"]["scores"] is None
    assert "samples/..%2Fup_epoch_1.json" in found
    assert {one["id"] for one in found["summaries.json"]} == {"a", "silent", "breaks", "down", "../up"}


def test_a_run_that_is_exported_and_imported_has_the_same_figures(run: Run, tmp_path: Path) -> None:
    (path,) = export(run, "inspect", str(tmp_path / "log.eval"))
    (found,) = import_log(path, store=run.store, run_id="again")
    assert {one.scorer: one.is_equal for one in found.figures} == {"exact@inspect": True, "judge": True}
    for name, theirs in (("exact", "exact@inspect"), ("judge", "judge")):
        ours = {value.sample_id: value.value for value in run.store.values(run.id, name)}
        assert {value.sample_id: value.value for value in run.store.values("again", theirs)} == ours


def test_a_recorded_log_comes_back_with_its_messages_calls_and_scores(tmp_path: Path) -> None:
    store = open_store(":memory:")
    (first,) = import_log(
        LOGS / "inspect.eval", store=store, run_id="first", how=LogReading(scales={"parts.length": (0, 10)})
    )
    (path,) = export(first.run, "inspect", str(tmp_path / "log.eval"))
    import_log(path, store=store, run_id="second")
    for one, other in zip(store.trials("first"), store.trials("second"), strict=True):
        assert (one.outcome, one.trajectory, one.usage) == (other.outcome, other.trajectory, other.usage)
    before, after = (
        [(one.sample_id, one.attempt, one.scorer, getattr(one.result, "value", None)) for one in store.verdicts(name)]
        for name in ("first", "second")
    )
    assert before == after


def test_odd_ids_come_back(tmp_path: Path) -> None:
    store, ids = open_store(":memory:"), ["a\nb", "a\0b", "../up", "\x1b[31m", "中文"]
    samples = [{"id": id, "epoch": 1, "input": "q", "scores": {"m": {"value": "C"}}} for id in ids]
    log = tmp_path / "log.json"
    log.write_text(json.dumps({"version": 2, "status": "success", "eval": {"task": "t"}, "samples": samples}))
    (first,) = import_log(log, store=store, run_id="first")
    (path,) = export(first.run, "inspect", str(tmp_path / "log.eval"))
    (second,) = import_log(path, store=store, run_id="second")
    assert {one.sample_id for one in store.trials("second")} == {*ids}
    assert second.run.outcomes == {"scored": 5}


def test_each_result_of_tools_that_were_called_at_once_is_a_message(tmp_path: Path) -> None:
    calls = [ToolCall(name="order", id="c1"), ToolCall(name="map", id="c2")]
    results = [
        ToolResult(name="order", content="sent", id="c1"),
        ToolResult(name="map", content="x", id="c2", is_error=True),
    ]
    said = [
        Message(role="assistant", parts=tuple(calls)),
        Message(role="tool", parts=tuple(results)),
        Message.of("assistant", "It is sent."),
    ]
    steps = tuple(Step(message=message) for message in said)
    task = Task(name="t", samples=[Sample.ask("a", "where?", target="sent")], scorers=["exact"])
    run = evaluate(task, agent=lambda question: Trajectory(steps=steps), store=":memory:")
    (path,) = export(run, "inspect", str(tmp_path / "log.eval"))
    messages = members(path)["samples/a_epoch_1.json"]["messages"]
    assert [one["id"] for one in messages] == ["m0", "m1", "m2", "m3", "m4"]
    assert [(one["content"], one["tool_call_id"]) for one in messages if one["role"] == "tool"] == [
        ("sent", "c1"),
        ("x", "c2"),
    ]


def test_what_met_a_limit_and_was_not_scored_comes_back(tmp_path: Path) -> None:
    store = open_store(":memory:")
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    sample = {"id": 1, "epoch": 1, "input": "q", "messages": messages, "limit": {"type": "time"}}
    log = tmp_path / "log.json"
    log.write_text(json.dumps({"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [sample]}))
    (first,) = import_log(log, store=store, run_id="first")
    (path,) = export(first.run, "inspect", str(tmp_path / "log.eval"))
    (second,) = import_log(path, store=store, run_id="second")
    assert first.run.outcomes == second.run.outcomes == {"skipped": 1}


def test_the_messages_of_steps_say_what_each_used(tmp_path: Path) -> None:
    class Paid:
        name = "paid"
        tools: ToolStyle = "text"

        @asynccontextmanager
        async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
            yield self

        async def send(self, turn: Turn) -> Sequence[Step]:
            usage = Usage(input_tokens=9, output_tokens=2, requests=1, cost=0.25)
            return [Step(message=Message.of("assistant", "yes"), started=100.0, seconds=1.5, usage=usage)]

    task = Task(name="t", samples=[Sample.ask("a", "yes?", target="yes")], scorers=["exact"])
    (path,) = export(evaluate(task, agent=Paid(), store=":memory:"), "inspect", str(tmp_path / "log.eval"))
    (asked, answered) = members(path)["samples/a_epoch_1.json"]["messages"]
    assert "metadata" not in asked
    assert answered["metadata"]["usage"]["total_cost"] == 0.25
    assert answered["metadata"]["seconds"] == 1.5


def test_files_of_results_come_back_from_the_log_byte_for_byte(tmp_path: Path) -> None:
    files = (
        File(name="image", media_type="image/png", data=b"\x89PNG\r\n\x1a\n\x00"),
        File(name="b.zip", media_type="application/zip", data=bytes(range(256))),
        File(name="empty", media_type="text/plain", data=b""),
        File(name="audio", media_type="audio/wav", data=b"RIFF\x24\x00\x00\x00WAVEfmt "),
        File(name="audio", media_type="audio/mpeg", data=b"ID3\x04\x00"),
    )
    results = [
        ToolResult(name="f", content=text, id=str(number), files=files[: number + 1])
        for number, text in enumerate(("Look:", "", "[1]", "Hear:", "too"))
    ]
    calls = tuple(ToolCall(name="f", id=result.id) for result in results)
    steps = [
        Step(message=Message(role="assistant", parts=calls)),
        *(Step(message=Message(role="tool", parts=(result,)), author="tool") for result in results),
    ]

    class Told:
        name, tools, concurrency = "told", "native", 1

        @asynccontextmanager
        async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
            yield self

        async def send(self, turn: Turn) -> Sequence[Step]:
            return [*steps, *Trajectory.of("Yes.").steps]

    task = Task(name="t", samples=[Sample.ask("a", "?", target="Yes.")], scorers=["exact"])
    run = evaluate(task, agent=Told(), store=":memory:")
    (path,) = export(run, "inspect", str(tmp_path / "log.eval"))
    (imported,) = import_log(path, store=run.store, run_id="again")
    (trial,) = imported.run.trials()
    read = [part for step in trial.trajectory.steps for part in step.message.parts if isinstance(part, ToolResult)]
    assert [(result.content, result.id) for result in read] == [(result.content, result.id) for result in results]
    for result, kept in zip(results, read, strict=True):
        assert [(file.media_type, file.data) for file in kept.files] == [
            (file.media_type, file.data) for file in result.files
        ]
