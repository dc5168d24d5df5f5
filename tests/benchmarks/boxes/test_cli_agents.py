"""Coding-agent programs as agents: their event streams, and the proxy that counts and keeps the key outside of the box."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from proctor.api import Run, evaluate
from proctor.core.errors import BadInput, EndpointRefused
from proctor.core.score import Score
from proctor_benchmarks.boxes import blobs, cli_agents, cli_streams, model_proxy
from proctor_benchmarks.boxes.archives import FileSet
from proctor_benchmarks.boxes.box_maker import BoxMaker
from proctor_benchmarks.boxes.box_task import BoxTask, sample_of
from proctor_benchmarks.boxes.cli_agents import make
from proctor_benchmarks.boxes.model_proxy import ModelExchange, ModelProxy, usage_of
from proctor_benchmarks.boxes.model_requests import RequestRefused, check_body, check_target, plain_request
from proctor_benchmarks.boxes.namespace import has_users, lacks
from proctor_benchmarks.boxes.tasks import BoxTaskOptions, task_in_boxes

KEY = "a-key-that-stays-outside"


class Provider(ThreadingHTTPServer):
    """A provider with the messages protocol: it counts, waits for `seconds`, and fails with `status`, or what a request has as its own."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status = 200
        self.seconds = 0.0
        self.seen: list[tuple[str, str | None, Any]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append((self.path, self.headers["x-api-key"], body))
        text = json.dumps({"content": [{"type": "text", "text": "ok"}], "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 3}})  # fmt: skip
        time.sleep(self.server.seconds)
        self.send_response(body.get("own_status", self.server.status))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


PROGRAM = """#!/usr/bin/python3
import json, os, sys, urllib.error, urllib.request
def say(**event): print(json.dumps(event), flush=True)
say(type="system", subtype="init", model=os.environ["ANTHROPIC_MODEL"])
used = 0
for n in range(2):
    body = json.dumps({"model": os.environ["ANTHROPIC_MODEL"], "messages": [{"role": "user", "content": sys.argv[2]}]}).encode()
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body, {"x-api-key": os.environ["ANTHROPIC_API_KEY"]})
    try:
        urllib.request.urlopen(request).read()
    except urllib.error.HTTPError as error:
        say(type="result", subtype="success", is_error=True, result=f"API error {error.code}", usage={})
        sys.exit(1)
try:
    urllib.request.urlopen(urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/files", b"{}"))
except urllib.error.HTTPError as error:
    assert error.code == 403
open("sum.txt", "w").write("55")
say(type="assistant", message={"content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "echo 55 > sum.txt"}}]})
say(type="user", message={"content": [{"type": "tool_result", "tool_use_id": "t1", "content": ""}]})
say(type="assistant", message={"content": [{"type": "text", "text": "Done. " + " ".join(sorted(os.environ.values()))}]})
say(type="result", subtype="success", is_error=False, result="Done.", total_cost_usd=0.01, usage={"input_tokens": 20, "cache_read_input_tokens": 10, "output_tokens": 6})
"""


ASKING = """#!/usr/bin/python3
import json, os, sys, time, urllib.error, urllib.request
def ask(path="/v1/messages", **fields):
    body = json.dumps({"model": os.environ["ANTHROPIC_MODEL"], "messages": [], **fields}).encode()
    try:
        return urllib.request.urlopen(urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + path, body)).status
    except urllib.error.HTTPError as error:
        return error.code
"""


@pytest.mark.skipif(bool(lacks()), reason=f"needs {lacks()}")
class TestInABox:
    @pytest.fixture(autouse=True)
    def around(self, tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setattr(blobs, "data_folder", lambda: tmp_path / "data")
        monkeypatch.setenv("TEST_KEY", KEY)
        self.provider = provider
        with TemporaryDirectory() as folder:  # that of a test is closed to the users of boxes
            Path(folder).chmod(0o755)
            self.programs = Path(folder) / "programs"
            self.programs.mkdir(0o755)
            (self.programs / "claude").write_text(PROGRAM, "utf-8")
            (self.programs / "claude").chmod(0o755)
            yield

    def play(self, agent_user: str | None = None, seconds: float = 900.0) -> Run:
        task = BoxTask(
            agent_user=agent_user,
            seconds=seconds,
            instruction="Write 55 into sum.txt.",
            tests=FileSet(texts={"test.sh": "#!/bin/sh\n[ \"$(cat sum.txt)\" = 55 ] && echo 'ok 1 - sum'\n"}),
        )
        options = BoxTaskOptions(backend="bubblewrap", programs=str(self.programs))
        agent = make("claude-code", {"model": "some-model", "upstream": self.provider.address, "key": "TEST_KEY"})
        return evaluate(task_in_boxes("sums", [sample_of("sum", task)], options), agent=agent, store=":memory:")

    def test_a_program_solves_a_task_and_is_counted_to_the_token(self) -> None:
        run = self.play()
        (trial,) = run.trials()
        assert trial.outcome == "scored", trial.failure
        (verdict,) = run.verdicts()
        assert isinstance(verdict.result, Score)
        assert verdict.result.points == 1
        assert [(path, key) for path, key, _ in self.provider.seen] == [("/v1/messages", KEY)] * 2
        usage = trial.trajectory.usage
        assert (usage.requests, usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (2, 30, 10, 6)
        notes = (trial.trajectory.state or {})["cli"]
        assert (notes["exit_code"], notes["model_requests"], notes["refused_requests"], notes["usage_differs"]) == (0, 2, 1, False)  # fmt: skip
        assert [call.name for call in trial.trajectory.calls()] == ["Bash"]
        assert trial.trajectory.answer.startswith("Done.")
        assert KEY not in trial.trajectory.answer
        assert "other_models" not in notes

    def test_a_program_that_overcame_a_failure_is_judged(self) -> None:
        overcome = PROGRAM.replace(
            'result=f"API error {error.code}", usage={})\n        sys.exit(1)',
            'result="Done.", usage={}) if 0 else None',
        )
        (self.programs / "claude").write_text(overcome, "utf-8")
        self.provider.status = 529
        (trial,) = self.play().trials()
        assert trial.outcome == "scored", trial.failure

    def test_other_models_than_that_of_the_run_are_named(self) -> None:
        stronger = PROGRAM.replace(
            '{"model": os.environ["ANTHROPIC_MODEL"], ', '{"model": ["some-model", "stronger"][n], '
        )
        (self.programs / "claude").write_text(stronger, "utf-8")
        (trial,) = self.play().trials()
        assert (trial.trajectory.state or {})["cli"]["other_models"] == {"stronger": 1}

    @pytest.mark.skipif(not has_users(), reason="only root can give a box several users")
    def test_a_program_is_the_user_whom_its_task_names(self) -> None:
        program = PROGRAM.replace('text": "Done. "', 'text": f"user {os.getuid()} "').replace(
            'open("sum.txt"', 'open("/tmp/sum.txt"'
        )
        (self.programs / "claude").write_text(program, "utf-8")
        (trial,) = self.play(agent_user="nobody").trials()
        assert trial.trajectory.answer.startswith("user 65534"), trial.failure

    def test_a_failing_provider_is_no_failure_of_the_program(self) -> None:
        self.provider.status = 529
        (trial,) = self.play().trials()
        assert trial.outcome == "provider_failed"

    def write(self, body: str) -> None:
        """Write a program with a function `ask` that returns the status of a reply."""
        (self.programs / "claude").write_text(ASKING + body, "utf-8")

    def test_a_request_whose_program_is_ended_is_counted(self) -> None:
        self.provider.seconds = 3.0
        self.write("ask()\n")
        (trial,) = self.play(seconds=1.5).trials()
        assert trial.trajectory.stop == "time_limit"
        assert (trial.usage.requests, trial.usage.input_tokens, trial.usage.output_tokens) == (1, 15, 3)
        assert "unmetered_requests" not in (trial.trajectory.state or {})["cli"]

    def test_a_request_that_outlives_its_program_is_counted_as_one_without_usage(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cli_agents, "SETTLE_SECONDS", 0.1)
        self.provider.seconds = 6.0
        self.write("ask()\n")
        (trial,) = self.play(seconds=1.5).trials()
        assert (trial.usage.requests, trial.usage.input_tokens) == (1, 0)
        assert (trial.trajectory.state or {})["cli"]["unmetered_requests"] == 1

    def test_what_a_program_leaves_running_reaches_no_model(self) -> None:
        self.write("if os.fork():\n  ask(); sys.exit(0)\nos.setsid()\nwhile True: ask(); time.sleep(0.05)\n")
        (trial,) = self.play().trials()
        assert trial.usage.requests == len(self.provider.seen)

    @pytest.mark.parametrize(("body", "outcome"), [("ask(); sys.exit(3)", "agent_failed"), ("ask(own_status=529); sys.exit(3)", "undecided"), ("ask(); os.kill(os.getppid(), 9); time.sleep(9)", "agent_failed")])  # fmt: skip
    def test_what_a_program_used_before_it_failed_is_counted(self, body: str, outcome: str) -> None:
        self.write(body)
        (trial,) = self.play().trials()
        assert trial.outcome == outcome, trial.failure
        assert trial.usage.requests == len(self.provider.seen)
        assert trial.usage.input_tokens == 15 * len(self.provider.seen)

    @pytest.mark.parametrize(
        "body",
        [
            "ask(own_status=403)",
            "ask(); ask(own_status=401)",
            "ask(model='other', own_status=503)",
            "ask(own_status=503); ask('/v1/files')",
            "for _ in range(61): ask(own_status=429)",
        ],
    )
    def test_a_failure_that_a_program_provokes_is_its_own(self, body: str) -> None:
        self.write(f"{body}\nsys.exit(1)\n")
        (trial,) = self.play().trials()
        assert (trial.outcome, trial.failure and trial.failure.kind) == ("agent_failed", "exit_code")

    @pytest.mark.parametrize("status", [401, 403, 529])
    def test_a_failure_that_a_plain_request_meets_too_is_of_the_provider(self, status: int) -> None:
        self.provider.status = status
        self.write("ask(); ask(model='other'); ask('/v1/files')\nsys.exit(1)\n")
        if status in (401, 403):
            with pytest.raises(EndpointRefused, match=f"The provider failed .status {status}."):  # which ends the run
                self.play()
        else:
            (trial,) = self.play().trials()
            assert trial.outcome == "provider_failed"
        assert self.provider.seen[-1][2] == {"model": "some-model", "messages": [{"role": "user", "content": "Say: ok"}], "max_tokens": 16}  # fmt: skip

    @pytest.mark.parametrize("body", ["ask()", "ask(model='other'); ask('/v1/files')"])
    def test_a_limit_that_a_plain_request_meets_too_may_be_provoked_by_what_the_program_asked(self, body: str) -> None:
        self.provider.status = 429
        self.write(f"{body}\nsys.exit(1)\n")
        (trial,) = self.play().trials()
        assert (trial.outcome, trial.failure and trial.failure.kind) == ("undecided", "http_429")

    def test_a_failure_that_a_plain_request_does_not_meet_is_undecided(self) -> None:
        self.write("ask(own_status=529)\nsys.exit(1)\n")
        (trial,) = self.play().trials()
        assert (trial.outcome, trial.failure and trial.failure.kind) == ("undecided", "http_529")

    def test_a_program_that_is_not_there_ends_the_run_where_all_boxes_lack_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (self.programs / "claude").unlink()
        with pytest.raises(BadInput, match="The program claude is not in the box"):
            self.play()
        monkeypatch.setattr(
            BoxMaker, "__call__", lambda maker, sample: maker._make(sample)
        )  # as of tasks with several images
        (trial,) = self.play().trials()
        assert (trial.outcome, trial.failure and trial.failure.kind) == ("environment_failed", "agent_install"), (
            trial.failure
        )


def ask(folder: Path, target: bytes, body: bytes, header: bytes = b"x-api-key: none") -> int:
    """Return the status of the reply to a request as a program in a box could write it."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(folder / "model.sock"))
        connection.sendall(b"POST %s HTTP/1.1\r\nhost: x\r\n%s\r\ncontent-length: %d\r\n\r\n%s" % (target, header, len(body), body))  # fmt: skip
        reply = http.client.HTTPResponse(connection)
        reply.begin()
        reply.read()
        return reply.status


def test_the_proxy_takes_the_protocols_of_models_and_nothing_else(tmp_path: Path, provider: Provider) -> None:
    with ModelProxy(tmp_path, provider.address, KEY) as proxy:
        assert ask(tmp_path, b"/v1/messages?beta=true&key=own&%6bey=own", b'{"model": "m", "model": "n"}') == 200
        for target in (b"/v1/files", b"/v1/../v1/messages", b"/v1/models/\xb2:generateContent"):
            assert ask(tmp_path, target, b"{}") in (400, 403)
        assert ask(tmp_path, b"/v1/messages\x01", b"{}") == 400
        assert ask(tmp_path, b"/v1/messages", b"{}", b"x-note: \x01") == 400
        assert ask(tmp_path, b"/v1/messages", b"{}", b"x-note: a\r\n b") in (200, 400)
        assert ask(tmp_path, b"/v1/messages", b"no JSON") == 400
    assert proxy.count.refused >= 6
    assert proxy.count.last_status == 200
    assert proxy.count.models["n"] == 1
    assert provider.seen[0] == ("/v1/messages?beta=true", KEY, {"model": "n"})


def test_requests_under_way_are_counted_and_their_replies_read_although_nobody_listens(
    tmp_path: Path, provider: Provider
) -> None:
    provider.seconds = 0.5
    with ModelProxy(tmp_path, provider.address, KEY) as proxy:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(tmp_path / "model.sock"))
            connection.sendall(b'POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 14\r\n\r\n{"model": "m"}')
            while not provider.seen:
                time.sleep(0.01)
            assert (proxy.count.requests, proxy.count.models, proxy.count.unmetered) == (1, {"m": 1}, 1)
        proxy.settle(5)
        assert (proxy.count.requests, proxy.count.usage.input_tokens, proxy.count.unmetered) == (1, 15, 0)


def test_each_turn_has_a_count_of_its_own(tmp_path: Path, provider: Provider) -> None:
    with ModelProxy(tmp_path, provider.address, KEY) as proxy:
        for _ in range(2):
            proxy.begin_turn()
            assert ask(tmp_path, b"/v1/messages", b"{}") == 200
            proxy.end_turn()
            assert ask(tmp_path, b"/v1/messages", b"{}") == 403
            assert (proxy.count.requests, proxy.count.refused) == (1, 1)


def test_usage_at_the_end_of_a_long_reply_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_proxy, "KEPT_REPLY_BYTES", 100)
    exchange = ModelExchange(path="", model="m", begun=0.0, connection=http.client.HTTPConnection("x"))
    for piece in (
        b'data: {"usage": {"input_tokens": 4}}\n',
        b"data: {}\n" * 50,
        b'data: {"usage": {"output_tokens": 9}}\n',
    ):
        exchange.keep(piece)
    usage = usage_of(bytes(exchange.reply))
    assert (usage.input_tokens, usage.output_tokens, len(exchange.reply) < 300) == (4, 9, True)


def test_a_plain_request_is_made_in_every_protocol() -> None:
    for path in (MESSAGES, "/chat/completions", "/v1/responses", GEMINI):
        own_path, request = plain_request(path, "own")
        assert check_target(own_path, {}) == (own_path, "")
        assert check_body(own_path, request.body) == request


MESSAGES, GEMINI = "/v1/messages", "/v1beta/models/g:generateContent"
PLAIN: list[tuple[str, Any]] = [
    (MESSAGES, {"tools": [{"name": "Bash", "input_schema": {}}, {"type": "bash_20250124", "name": "bash"}, {"type": "custom", "name": "x"}]}),
    ("/v1/responses", {"tools": [{"type": "function", "name": "f"}, {"type": "local_shell"}, {"type": "shell", "environment": {"type": "local"}}]}),
    ("/v1/chat/completions", {"tools": [{"type": "function", "function": {"name": "search"}}], "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,aa"}}]}]}),
    (GEMINI, {"tools": [{"functionDeclarations": [{"name": "f"}]}]}),
]  # fmt: skip
SERVED: list[tuple[str, Any]] = [
    (MESSAGES, {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
    (MESSAGES, {"tools": {"type": "web_search_20250305"}}),
    (MESSAGES, {"mcp_servers": [{"type": "url", "url": "https://example.com"}]}),
    (MESSAGES, {"messages": [{"role": "user", "content": [{"type": "document", "source": {"type": "url", "url": "https://example.com"}}]}]}),
    ("/v1/responses", {"tools": [{"type": "mcp", "server_url": "https://example.com"}]}),
    ("/v1/responses", {"tools": [{"type": "shell", "environment": {"type": "container_auto"}}]}),
    ("/v1/responses", {"tools": [{"type": "namespace", "name": "n", "tools": [{"type": "web_search"}]}]}),
    ("/v1/responses", {"input": [{"role": "user", "content": [{"type": "input_file", "file_url": "https://example.com"}]}]}),
    ("/v1/chat/completions", {"web_search_options": {"a": 1}}),
    ("/v1/chat/completions", {"model": "gpt-4o-search-preview"}),
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.com/x.png"}}]}]}),
    (GEMINI, {"tools": [{"functionDeclarations": [], "googleSearch": {}}]}),
    (GEMINI, {"contents": [{"parts": [{"fileData": {"fileUri": "https://example.com"}}]}]}),
]  # fmt: skip


def test_what_a_provider_would_do_for_an_agent_is_refused_and_tools_of_its_own_are_not() -> None:
    for path, value in PLAIN:
        assert json.loads(check_body(path, json.dumps(value).encode()).body) == value
    for path, value in SERVED:
        with pytest.raises(RequestRefused) as refused:
            check_body(path, json.dumps(value).encode())
        assert refused.value.status == 403, value
    for body in (b"[]", b"\xff", b'{"a": NaN}', b"[" * 100_000, b'{"a": 1e999}'):
        with pytest.raises(RequestRefused) as refused:
            check_body(MESSAGES, body)
        assert refused.value.status == 400


@pytest.mark.parametrize(
    ("reply", "tokens"),
    [
        ('{"usage": {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3}}}', (7, 2, 3)),
        ('data: {"type": "message_start", "message": {"usage": {"input_tokens": 4, "cache_read_input_tokens": 6, "output_tokens": 1}}}\n\ndata: {"type": "message_delta", "usage": {"output_tokens": 9}}\n', (10, 9, 6)),
        ('data: {"type": "response.completed", "response": {"usage": {"input_tokens": 8, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 2}}}}\n', (8, 5, 2)),
        ('data: {"usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 1}}\ndata: {"usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4}}\n', (3, 4, 0)),
        ("no JSON", (0, 0, 0)),
    ],
)  # fmt: skip
def test_usage_is_read_of_every_protocol(reply: str, tokens: tuple[int, int, int]) -> None:
    usage = usage_of(reply.encode())
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == tokens


def lines(*events: object) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


STREAMS = {
    "codex": lines(
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.started", "item": {"id": "i0", "type": "command_execution", "command": "ls"}},
        {"type": "item.completed", "item": {"id": "i0", "type": "command_execution", "command": "ls", "aggregated_output": "a\n", "exit_code": 0}},
        {"type": "item.completed", "item": {"id": "i1", "type": "agent_message", "text": "Done."}},
        {"type": "turn.completed", "usage": {"input_tokens": 12, "cached_input_tokens": 2, "output_tokens": 4}},
        {"type": "brand.new"},
    ),
    "gemini": lines(
        {"type": "init", "model": "g"},
        {"type": "message", "role": "user", "content": "task"},
        {"type": "tool_use", "tool_name": "shell", "tool_id": "i0", "parameters": {"command": "ls"}},
        {"type": "tool_result", "tool_id": "i0", "status": "success", "output": "a"},
        {"type": "message", "role": "assistant", "content": "Do", "delta": True},
        {"type": "message", "role": "assistant", "content": "ne.", "delta": True},
        {"type": "result", "status": "success", "stats": {"input_tokens": 12, "output_tokens": 4, "cached": 2}},
        {"type": "brand.new"},
    ),
    "opencode": lines(
        {"type": "step_start", "part": {}},
        {"type": "tool_use", "part": {"tool": "bash", "callID": "i0", "state": {"status": "completed", "input": {"command": "ls"}, "output": "a"}}},
        {"type": "step_finish", "part": {"tokens": {"input": 5, "output": 1, "reasoning": 0, "cache": {"read": 2, "write": 0}}, "cost": 0.1}},
        {"type": "text", "part": {"text": "Done."}},
        {"type": "step_finish", "part": {"tokens": {"input": 5, "output": 3, "reasoning": 0, "cache": {"read": 0, "write": 0}}, "cost": 0.1}},
        {"type": "brand.new"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STREAMS)
def test_the_streams_of_programs_become_steps(name: str) -> None:
    stream = cli_streams.READERS[name](STREAMS[name])
    assert [step.message.role for step in stream.steps] == ["assistant", "tool", "assistant"]
    assert stream.steps[0].message.calls[0].arguments == {"command": "ls"}
    assert stream.steps[-1].message.text == "Done."
    assert stream.usage is not None
    assert (stream.usage.input_tokens, stream.usage.output_tokens, stream.usage.cached_tokens) == (12, 4, 2)
    assert (stream.unknown, stream.error) == (1, "")


def test_the_file_of_mini_swe_agent_becomes_steps() -> None:
    file = {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "task"}, {"role": "assistant", "content": "ls"}, {"role": "user", "content": "a"}], "info": {"model_stats": {"api_calls": 1, "instance_cost": 0.2}}}  # fmt: skip
    stream = cli_streams.read_mini(json.dumps(file))
    assert [step.message.role for step in stream.steps] == ["assistant", "tool"]
    assert stream.usage is not None
    assert (stream.usage.requests, stream.usage.cost) == (1, 0.2)
    assert cli_streams.read_mini("[]").unknown == 1


@pytest.mark.parametrize(
    ("argument", "options", "message"),
    [
        ("codex", {}, "needs a model"),
        ("codex", {"model": "m"}, "needs the key of its provider in OPENAI_API_KEY"),
        ("codexx 'do it'", {}, "known programs are claude-code, codex, gemini, opencode, mini-swe-agent"),
        ("./mine {task}", {"format": "xml", "upstream": "http://localhost"}, "there is no format 'xml'"),
    ],
)
def test_what_is_missing_is_said_before_anything_runs(
    argument: str, options: dict[str, object], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(BadInput, match=message):
        make(argument, options)
