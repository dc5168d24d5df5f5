"""Real coding-agent programs against a scripted provider, where a folder with them is named.

npm install --prefix FOLDER @anthropic-ai/claude-code @openai/codex
PROCTOR_TEST_PROGRAMS=FOLDER python -m pytest tests/benchmarks/boxes/test_real_programs.py
"""

import json
import os
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from proctor.api import evaluate
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.task import Task
from proctor.core.trajectory import Trajectory
from proctor_benchmarks.boxes import blobs
from proctor_benchmarks.boxes.archives import FileSet
from proctor_benchmarks.boxes.box_task import BoxTask, sample_of
from proctor_benchmarks.boxes.cli_agents import make
from proctor_benchmarks.boxes.namespace import lacks
from proctor_benchmarks.boxes.tasks import BoxTaskOptions, task_in_boxes

FOLDER = os.environ.get("PROCTOR_TEST_PROGRAMS", "")
KEY = "a-key-that-stays-outside"
COMMAND = "echo 55 > sum.txt"
INPUT, OUTPUT = 100, 7  # tokens of each reply
pytestmark = pytest.mark.skipif(bool(lacks()) or not FOLDER, reason="needs real coding agents")


class ScriptedProvider(ThreadingHTTPServer):
    """A provider that has a command run first, and then says that it is done; in two protocols."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ScriptedReply)
        self.seen: list[tuple[str, Mapping[str, Any]]] = []
        self.keys: set[str] = set()


class ScriptedReply(BaseHTTPRequestHandler):
    server: ScriptedProvider

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.keys.add(self.headers["x-api-key"] or self.headers["authorization"] or "")
        path = self.path.partition("?")[0]
        self.server.seen.append((path, body))
        events = _messages(body) if path.endswith("/messages") else _responses(body)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in events:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, *_: object) -> None:
        pass


def _messages(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    is_done = "tool_result" in json.dumps(body["messages"])
    block = {"type": "text", "text": ""} if is_done else {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    arguments = json.dumps({"command": COMMAND, "description": "write"})
    delta = {"type": "text_delta", "text": "Done."} if is_done else {"type": "input_json_delta", "partial_json": arguments}  # fmt: skip
    message = {"id": "m", "type": "message", "role": "assistant", "model": body["model"], "content": [], "stop_reason": None, "usage": {"input_tokens": INPUT, "output_tokens": 1}}  # fmt: skip
    yield {"type": "message_start", "message": message}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    stop = "end_turn" if is_done else "tool_use"
    yield {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": OUTPUT}}
    yield {"type": "message_stop"}


def _responses(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    is_done = "function_call_output" in json.dumps(body["input"])
    names = [tool.get("name") for tool in body.get("tools", ())]
    name, arguments = ("exec_command", {"cmd": COMMAND}) if "exec_command" in names else ("shell", {"command": ["bash", "-c", COMMAND]})  # fmt: skip
    call = {"type": "function_call", "id": "f", "call_id": "c1", "name": name, "arguments": json.dumps(arguments)}
    text = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Done.", "annotations": []}]}  # fmt: skip
    usage = {"input_tokens": INPUT, "output_tokens": OUTPUT, "total_tokens": INPUT + OUTPUT, "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
    item = text if is_done else call
    yield {"type": "response.created", "response": {"id": "r"}}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": {"id": "r", "output": [item], "usage": usage}}


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_a_program_solves_a_task_and_the_proxy_counts_what_it_used(
    name: str, provider: ScriptedProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blobs, "data_folder", lambda: tmp_path)
    monkeypatch.setenv("TEST_KEY", KEY)
    tests = FileSet(texts={"test.sh": "#!/bin/sh\n[ \"$(cat sum.txt)\" = 55 ] && echo 'ok 1 - sum'\n"})
    task = BoxTask(instruction="Write 55 into sum.txt.", tests=tests, seconds=120)
    options = BoxTaskOptions(backend="bubblewrap", programs=FOLDER)
    upstream = f"http://127.0.0.1:{provider.server_address[1]}"
    agent = make(name, {"model": "some-model", "upstream": upstream, "key": "TEST_KEY"})
    run = evaluate(task_in_boxes("sums", [sample_of("sum", task)], options), agent=agent, store=":memory:")
    (trial,) = run.trials()
    assert trial.outcome == "scored", trial.failure
    (verdict,) = run.verdicts()
    notes = (trial.trajectory.state or {})["cli"]
    assert isinstance(verdict.result, Score), (trial.failure, notes)
    assert verdict.result.points == 1, notes
    assert trial.trajectory.answer == "Done."
    assert [str(call.arguments) for call in trial.trajectory.calls() if COMMAND in str(call.arguments)], notes
    usage, count = trial.trajectory.usage, len(provider.seen)
    assert (usage.requests, usage.input_tokens, usage.output_tokens) == (count, count * INPUT, count * OUTPUT)
    assert (notes["model_requests"], notes["exit_code"]) == (count, 0)
    assert all(key.endswith(KEY) for key in provider.keys)


def has_sum(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=(trajectory.state or {})["files"].get("/app/sum.txt") == "55\n")


def test_a_program_works_in_the_container_of_any_task(
    provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    upstream = f"http://127.0.0.1:{provider.server_address[1]}"
    agent = make("claude-code", {"model": "some-model", "upstream": upstream, "key": "TEST_KEY"})
    sample = Sample.ask("sum", "Write 55 into sum.txt.")
    task = Task(name="sums", samples=[sample], scorers=[has_sum], environment="container:bubblewrap")
    run = evaluate(task, agent=agent, store=":memory:", environment_options={"programs": FOLDER})
    (trial,) = run.trials()
    (verdict,) = run.verdicts()
    assert isinstance(verdict.result, Score), trial.failure
    assert verdict.result.points == 1, trial.trajectory.state
