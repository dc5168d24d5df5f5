"""Runs as OpenTelemetry traces: in files, at a collector, and while they go on; what is written is read back."""

import gc
import gzip
import json
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import example_runs
import pytest
from collector import OtlpReceiver
from memory_store import MemoryStore

from proctor import Sample, Task, evaluate, score
from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput
from proctor.core.run import RunRecord
from proctor.core.sample import File, Message, Reasoning, Text, ToolCall, ToolResult, Turn
from proctor.core.score import Unscored
from proctor.core.trajectory import Step, Trajectory, Usage
from proctor.core.trial import Trial, TrialFailure, Verdict
from proctor.engine.progress import Progress
from proctor.stores.files import files_in
from proctor.testing.records import a_record, a_sample, a_trial, a_verdict, begun
from proctor_adapters.exports import otel
from proctor_adapters.exports._trial_spans import SpanMaker
from proctor_adapters.exports.otlp import LiveTraces, endpoint_of, wants_content
from proctor_adapters.traces import protobuf, read

START = 1_790_000_000.25
SUFFIXES = ["jsonl", "json", "pb", "binpb"]


def said(role: Any, *parts: Any) -> Message:
    return Message(role=role, parts=tuple(Text(text=part) if isinstance(part, str) else part for part in parts))


def shopping() -> tuple[Sample, Trial]:
    """Two turns with reasoning, two tools at once of which one fails, and arguments that are no JSON."""
    call, broken = (
        ToolCall(name="order", arguments={"id": 7, "名": "é"}, id="c1"),
        ToolCall(name="map", raw="{x", id="c2"),
    )
    usage = Usage(input_tokens=11, output_tokens=5, cached_tokens=3, reasoning_tokens=2, requests=1, cost=0.5)
    steps = (
        Step(message=said("assistant", Reasoning(text="hm"), "I look.", call, broken), started=START, seconds=1.5, usage=usage),
        Step(message=said("tool", ToolResult(name="order", content="on its way", id="c1")), author="tool", started=START + 2, seconds=0.125),
        Step(message=said("tool", ToolResult(name="map", content="no map", id="c2", is_error=True)), author="tool", started=START + 2, seconds=0.25),
        Step(message=said("assistant", "It is on its way."), started=START + 3, seconds=1, usage=usage),
        Step(message=said("assistant", "You are welcome."), turn=1, started=START + 6, seconds=1, usage=usage, stop="length"),
    )  # fmt: skip
    turns = tuple(Turn(messages=(said("user", text),)) for text in ("Where is my order 7?", "Thanks"))
    sample = Sample(id="shop", turns=turns, tags={"kind": "two turns"})
    trial = a_trial("shop", trajectory=Trajectory(steps=steps, tools="native"), started=START - 1, seconds=9.0)
    return sample, trial


async def stored(
    *played: tuple[Sample, Trial, list[Verdict]], agent: str = "openai:gpt-x"
) -> tuple[RunRecord, MemoryStore]:
    store, record = MemoryStore(), a_record()
    record = type(record)(**{**{name: getattr(record, name) for name in record.__struct_fields__}, "agent": agent,
                             "spec": type(record.spec)(task="capitals", agent=agent)})  # fmt: skip
    await begun(store, [sample for sample, _, _ in played], record)
    for sample, trial, verdicts in played:
        await store.add(trial, verdicts, sample)
    return record, store


def spans_in(path: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [span for line in lines for resource in line["resourceSpans"] for span in resource["scopeSpans"][0]["spans"]]


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {one["key"]: next(iter(one["value"].values()), None) for one in span.get("attributes", [])}


@pytest.mark.parametrize("suffix", SUFFIXES)
async def test_what_is_written_is_read_back_equal(tmp_path: Path, suffix: str) -> None:
    sample, trial = shopping()
    record, store = await stored((sample, trial, [a_verdict("shop")]))
    (path,) = otel.write(record, store, tmp_path / f"run.{suffix}", options={"content": True})
    (found,) = read([path]).whole
    assert (found.id, found.sample) == ("r/shop/0", "shop")
    assert [turn.messages for turn in sample.turns] == [(turn,) for turn in found.turns]
    was, now = trial.trajectory.steps, found.trajectory.steps
    assert [step.message for step in now] == [step.message for step in was]
    assert [(step.turn, step.usage, step.stop) for step in now] == [(step.turn, step.usage, step.stop) for step in was]
    times = [(step.started, step.seconds) for step in was]
    assert [(step.started, step.seconds) for step in now] == [pytest.approx(pair, abs=1e-6) for pair in times]


async def test_the_spans_follow_the_conventions(tmp_path: Path) -> None:
    sample, trial = shopping()
    graded = a_verdict("shop", points=0.5, scorer="half")
    missing = Verdict(run_id="r", sample_id="shop", scorer="judge", result=Unscored(why="judge_failed"))
    record, store = await stored((sample, trial, [a_verdict("shop", reason="as it should be"), graded, missing]))
    spans = spans_in(otel.write(record, store, tmp_path / "run.jsonl")[0])
    names = ["evaluate capitals", "invoke_agent openai:gpt-x", "chat gpt-x", "execute_tool order", "execute_tool map"]
    assert [span["name"] for span in spans] == [*names, "chat gpt-x", "invoke_agent openai:gpt-x", "chat gpt-x"]
    root, first, chat, _, tool, _, last, _ = spans
    assert [span.get("parentSpanId") for span in (root, first, chat, last)] == [
        None,
        root["spanId"],
        first["spanId"],
        root["spanId"],
    ]
    assert attributes(chat)["gen_ai.provider.name"] == "openai"
    assert attributes(chat)["gen_ai.usage.cache_read.input_tokens"] == "3"
    assert attributes(chat)["proctor.cost"] == 0.5
    assert attributes(tool)["error.type"] == "tool_error"
    assert tool["status"] == {"code": 2}
    assert attributes(root)["proctor.tag.kind"] == "two turns"
    events = [attributes(event) for event in last["events"]]
    assert {event["name"] for event in last["events"]} == {"gen_ai.evaluation.result"}
    assert [one["gen_ai.evaluation.name"] for one in events] == ["exact", "half", "judge"]
    assert [one.get("gen_ai.evaluation.score.value") for one in events] == [1, 0.5, None]
    assert [one.get("gen_ai.evaluation.score.label") for one in events] == ["pass", None, None]
    assert events[2]["error.type"] == "judge_failed"


async def test_without_content_nothing_that_was_said_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", raising=False)
    sample, trial = shopping()
    record, store = await stored((sample, trial, [a_verdict("shop", reason="the words of it")]))
    written = otel.write(record, store, tmp_path / "run.jsonl")[0].read_text(encoding="utf-8")
    for words in ("order 7", "on its way", "hm", "no map", "words of it", "名"):
        assert words not in written
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    assert "the words of it" in otel.write(record, store, tmp_path / "run.jsonl")[0].read_text(encoding="utf-8")
    assert [wants_content(asked, {}) for asked in (True, False)] == [True, False]


async def test_every_way_a_trial_ends_is_a_trace(tmp_path: Path) -> None:
    for make in (example_runs.small_run, example_runs.hostile_run):
        store = MemoryStore()
        record, _ = await make(store)
        (path,) = otel.write(record, store, tmp_path / "run.jsonl", options={"content": True})
        roots = [span for span in spans_in(path) if "parentSpanId" not in span]
        trials = {(trial.sample_id, trial.attempt): trial for trial in store.trials(record.id)}
        assert len(roots) == len(trials) == len({root["traceId"] for root in roots})
        assert sorted(attributes(root)["proctor.outcome"] for root in roots) == sorted(
            t.outcome for t in trials.values()
        )
        lines = otel.write(record, store, tmp_path / "again.jsonl", options={"content": True})[0]
        assert [span["spanId"] for span in spans_in(lines)] == [span["spanId"] for span in spans_in(path)]


async def test_numbers_beyond_all_bounds_are_written(tmp_path: Path) -> None:
    usage = Usage(input_tokens=2**70, requests=2**64)
    steps = (Step(message=said("assistant", "a"), turn=10**9, started=-5.0, seconds=1e300, usage=usage),)
    trial = a_trial("shop", trajectory=Trajectory(steps=steps), started=float("nan"), usage=usage)
    sample = Sample(id="shop", turns=(Turn(messages=(said("user", "a"),)),), tags={f"t{n}": "x" for n in range(300)})
    record, store = await stored((sample, trial, []))
    for suffix in SUFFIXES:
        (path,) = otel.write(record, store, tmp_path / f"run.{suffix}")
        if suffix == "jsonl":
            assert attributes(spans_in(path)[0])["proctor.sample.id"] == "shop"


async def test_a_failure_is_the_status_of_its_trace(tmp_path: Path) -> None:
    failure = TrialFailure(kind="timeout", reason="It took too long.")
    record, store = await stored((a_sample("fr"), a_trial("fr", outcome="agent_failed", failure=failure), []))
    spans = spans_in(otel.write(record, store, tmp_path / "run.jsonl")[0])
    assert [attributes(span).get("error.type") for span in spans if span["status"]] == ["timeout", "timeout"]


async def test_traces_are_scored_as_recorded_replies(tmp_path: Path) -> None:
    samples = [
        Sample.ask(id, "Which capital?", target=id, tags={}) for id in ("Paris", "Rome")
    ]  # words do not tell them apart
    task = Task(name="capitals", samples=samples, scorers=["exact"])
    played: list[tuple[Sample, Trial, list[Verdict]]] = [
        (sample, a_trial(sample.id, trajectory=Trajectory.of(sample.id)), []) for sample in samples
    ]
    record, store = await stored(*played)
    (path,) = otel.write(record, store, tmp_path / "run.pb", options={"content": True})
    assert score(task, replies=path, store=":memory:").estimate("accuracy").value == 1


async def test_a_collector_gets_the_traces_with_the_headers_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    sample, trial = shopping()
    record, store = await stored((sample, trial, [a_verdict("shop")]))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=sk-secret-1234567890")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "shop-eval")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
    with OtlpReceiver() as receiver:
        assert "1 traces sent" in str(otel.send(record, store, receiver.url))
        assert receiver.paths == ["/v1/traces"]
        assert receiver.headers[0]["x-key"] == "sk-secret-1234567890"
        assert len(receiver.spans) == 8
        names = {one["key"]: one["value"] for one in receiver.resources[0]["attributes"]}
        assert names["service.name"] == {"stringValue": "shop-eval"}
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url + "/base")
        otel.send(record, store, "env")
        assert receiver.paths[1] == "/base/v1/traces"
    with OtlpReceiver(status=307, location="http://127.0.0.1:9/elsewhere") as receiver:  # keys follow no redirect
        with pytest.raises(BadInput, match="did not reach") as caught:
            otel.send(record, store, receiver.url)
        assert len(receiver.paths) == 1
        assert "sk-secret" not in str(caught.value)


async def test_a_run_sends_its_trials_while_it_goes_on() -> None:
    samples = [Sample.ask(f"s{number}", f"{number}?", target="Paris") for number in range(40)]
    heard: list[str] = []
    with OtlpReceiver() as receiver:
        arrived = threading.Event()

        def answer(question: str) -> str:
            if question == "39?":
                receiver.asked.wait(20)
                arrived.set()
            return "Paris"

        run = evaluate(
            Task(name="capitals", samples=samples, scorers=["exact"]),
            agent=answer,
            store=":memory:",
            order="official",
            concurrency=1,
            trace_to=receiver.url,
            progress=Progress(tell=lambda sentence: heard.append(str(sentence))),
        )
        roots = [span for span in receiver.spans if "parentSpanId" not in span]
    assert arrived.is_set()
    assert len(roots) == 40
    assert not heard
    assert run.outcomes == {"scored": 40}


@pytest.mark.parametrize(
    ("trouble", "reason"), [("dead", "Connection refused"), ("hangs", "no reply"), ("refuses", "401")]
)
def test_a_collector_in_trouble_neither_slows_nor_ends_a_run(
    trouble: str, reason: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("proctor_adapters.exports.otlp.END_SECONDS", 0.5)
    samples = [Sample.ask(f"s{number}", f"{number}?", target="Paris") for number in range(20)]
    heard: list[str] = []
    with OtlpReceiver(hangs=trouble == "hangs", status=401) as receiver:
        run = evaluate(
            Task(name="capitals", samples=samples, scorers=["exact"]),
            agent=lambda question: "Paris",
            store=":memory:",
            run_id="r",
            trace_to="http://user:hunter2@127.0.0.1:9" if trouble == "dead" else receiver.url,
            progress=Progress(tell=lambda sentence: heard.append(str(sentence))),
        )
    assert run.estimate("accuracy").value == 1
    assert run.record.state == "finished"
    assert len(heard) == 1
    assert heard[0].startswith("20 of 20 traces did not reach 127.0.0.1:")
    assert "proctor runs export r --format otel" in heard[0]
    assert reason in heard[0]
    assert "hunter2" not in heard[0]
    assert not capfd.readouterr().err


async def test_what_is_too_much_for_a_collector_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor_adapters.exports.otlp.END_SECONDS", 0.2)
    sample, trial = shopping()
    record, _ = await stored((sample, trial, []))
    with OtlpReceiver(hangs=True) as receiver:
        live = LiveTraces(record, receiver.url, content=False)
        began = time.monotonic()
        for _ in range(2_000):
            live.add(trial, [], sample)
        assert time.monotonic() - began < 10
        said = live.close()
    assert str(said).startswith("2000 of 2000 traces did not reach")
    assert "no reply in time" in str(said)


@pytest.mark.parametrize(
    "address",
    ["", "localhost:4318", "ftp://x", "http://", "file:///etc/passwd", "http://[::1", "http://x:y", "http://x:99999"],
)
def test_a_wrong_address_is_found_before_the_run(address: str) -> None:
    task = Task(name="capitals", samples=[Sample.ask("fr", "?", target="Paris")], scorers=["exact"])
    with pytest.raises(BadInput, match="is no address of a collector"):
        evaluate(task, agent=lambda question: pytest.fail("was called"), store=":memory:", trace_to=address)


def test_variables_that_cannot_be_followed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    with pytest.raises(BadInput, match="OTEL_EXPORTER_OTLP_ENDPOINT is not set"):
        endpoint_of("env")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4317")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    with pytest.raises(BadInput, match="not by grpc"):
        endpoint_of("env")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    with pytest.raises(BadInput, match="OTEL_SDK_DISABLED"):
        LiveTraces(a_record(), "http://localhost:4318", content=False)


def delimited(path: Path, framing: Callable[[bytes], bytes]) -> list[bytes]:
    """The resources of a single protobuf file as messages of their own, each with its length."""
    with path.open("rb") as file:
        return [framing(one) for one in protobuf._records(path, protobuf._Bytes(path, file, 10**9))]


async def test_lengths_before_messages_are_read_in_both_forms_and_compressed(tmp_path: Path) -> None:
    store = MemoryStore()
    record, _ = await example_runs.small_run(store)
    (single,) = otel.write(record, store, tmp_path / "run.pb", options={"content": True})
    wanted = read([single])
    for name, framing in (
        ("four.binpb", lambda one: len(one).to_bytes(4) + one),
        ("varint.pb", lambda one: protobuf._varint(len(one)) + one),
    ):
        data = b"".join(delimited(single, framing))
        (tmp_path / name).write_bytes(data + data)  # spans that are there twice count once
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(data))
        assert read([tmp_path / name]).whole == wanted.whole
        assert read([tmp_path / f"{name}.gz"]).whole == wanted.whole


async def test_protobuf_that_is_broken_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    record, _ = await example_runs.small_run(store)
    (path,) = otel.write(record, store, tmp_path / "run.pb")
    whole = path.read_bytes()
    deep = b""
    for _ in range(500):  # an attribute in an attribute in an attribute
        deep = b"\x2a" + protobuf._varint(len(deep) + 3) + b"\x0a" + protobuf._varint(len(deep)) + deep
    for data in (
        whole[:-5],
        whole[:1],
        b"\x0a\xff\xff\xff\xff\x7f",
        b"{}",
        b"\0\0\0\x05hello",
        b"\x05hello",
        whole + b"\x12\x00",
        b"\x0a\x03\xff\xff\xff",
        deep,
    ):
        path.write_bytes(data)
        with pytest.raises(BadInput):
            read([path])
    monkeypatch.setattr("proctor_adapters.traces.span_files.MOST_BYTES", 1_000)
    path.write_bytes(gzip.compress(whole + b"\x0a\x00" * 1_000_000))  # a bomb
    with pytest.raises(BadInput, match="larger than"):
        read([path.rename(tmp_path / "bomb.pb.gz")])


@pytest.mark.parametrize("suffix", SUFFIXES)
async def test_memory_does_not_grow_with_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    record, store = await stored((*shopping(), []))
    real = otel._batches
    alive: list[weakref.ref[Any]] = []

    class Batch(list[Any]):
        """A list that can be watched."""

    def watched(*given: Any) -> Iterator[Any]:
        for _ in range(20):
            batch = Batch(next(real(*given)))
            alive.append(weakref.ref(batch))
            yield batch
            del batch
            gc.collect(0)
            assert sum(one() is not None for one in alive) <= 2  # what the loop holds, and the first

    monkeypatch.setattr(otel, "_batches", watched)
    otel.write(record, store, tmp_path / f"run.{suffix}")
    assert len(alive) == 20


@pytest.mark.parametrize("suffix", SUFFIXES)
async def test_trials_that_the_sampler_leaves_out_leave_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(otel, "AT_ONCE", 2)
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.3")
    asked = [Sample.ask(f"s{n}", "?", target="x") for n in range(30)]
    record, store = await stored(*((sample, a_trial(sample.id), []) for sample in asked))
    maker = SpanMaker(record, content=True)
    wanted = sum(bool(maker.make(trial, [], None)) for trial in store.trials(record.id))
    assert 0 < wanted < 30
    (path,) = otel.write(record, store, tmp_path / f"run.{suffix}")
    data = path.read_bytes()
    assert data.count(b"evaluate capitals") == wanted


async def test_files_are_named_by_what_they_are(tmp_path: Path) -> None:
    files = (File(name="a.png", media_type="image/png", data=b"x"), File(url="https://x.example/a.pdf"))
    sample = Sample.ask("files", "What is it?", files=files)
    record, store = await stored((sample, a_trial("files"), []))
    spans = spans_in(otel.write(record, store, tmp_path / "run.jsonl", options={"content": True})[0])
    [message] = json.loads(attributes(spans[1])["gen_ai.input.messages"])
    assert [part.get("modality") for part in message["parts"]] == [None, "image", "document"]
    assert [part["type"] for part in message["parts"]] == ["text", "blob", "uri"]


async def test_files_of_results_come_back_from_the_spans_byte_for_byte_and_a_large_one_by_its_digest(
    tmp_path: Path,
) -> None:
    shot = File(name="", media_type="image/png", data=b"\x89PNG\r\n\x1a\n\x00")
    large = File(name="", media_type="application/zip", data=bytes(80_000))
    call = ToolCall(name="shoot", arguments={}, id="c1")
    result = ToolResult(name="shoot", content="Done.", id="c1", files=(shot, large))
    said = (
        Message(role="assistant", parts=(call,)),
        Message(role="tool", parts=(result,)),
        Message.of("assistant", "A cat."),
    )
    steps = tuple(
        Step(message=message, usage=Usage(requests=1) if message.role == "assistant" else None) for message in said
    )
    record, store = await stored(
        (Sample.ask("a", "What?"), a_trial("a", trajectory=Trajectory(steps=steps, tools="native")), [])
    )
    (path,) = otel.write(record, store, tmp_path / "run.jsonl", options={"content": True})
    (found,) = read([path]).whole
    kept = [file for step in found.trajectory.steps for file in files_in(step.message)]
    assert [(file.media_type, file.data, file.name) for file in kept] == [
        ("image/png", shot.data, ""),
        ("application/zip", None, digest_bytes(large.data or b"")),
    ]


async def test_another_suffix_is_refused_before_a_file_is_made(tmp_path: Path) -> None:
    record, store = await stored((*shopping(), []))
    with pytest.raises(BadInput, match=r"ends in \.jsonl"):
        otel.write(record, store, tmp_path / "run.txt")
    assert list(tmp_path.iterdir()) == []
