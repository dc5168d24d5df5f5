"""What `proctor init` asks, writes and runs: every answer ends with a number, its interval and the next command."""

import json
import os
import pty
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor import open_run
from proctor.cli import app
from proctor.cli.found import look_into

SPAN = {
    "name": "chat m",
    "traceId": "5b8e",
    "spanId": "1",
    "startTimeUnixNano": "1700000000000000000",
    "endTimeUnixNano": "1700000001000000000",
    "attributes": {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Where is my order?"}]}],
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "On its way."}]}],
    },
}
FRAMEWORK = "from langchain_core.runnables import RunnableLambda\n\nchain = RunnableLambda(lambda text: 'Paris')\n"
BRANCHES = {  # the answer: what is in the folder before, and what is written
    "function": ({"bot.py": "def reply(question):\n    return 'Paris'\n"}, {"task.py", "test_agent.py"}),
    "endpoint": ({}, {"task.py", "test_agent.py"}),
    "framework": ({"graph.py": FRAMEWORK}, {"task.py", "test_agent.py"}),
    "traces": ({"spans.jsonl": json.dumps(SPAN)}, {"cases.evalset.json", "checks.py"}),
    "data": ({"own.csv": "question,target\nOf France?,Paris\n"}, {"test_agent.py"}),
    "benchmark": ({}, set()),
}
PLAY = """
import os, sys
from proctor.cli import app
for folder in sys.argv[1:]:
    os.chdir(folder)
    print(f"\\n<{os.path.basename(folder)}>", flush=True)
    try:
        app.main(["init"], prog_name="proctor")
    except SystemExit as end:
        print(f"\\n[{end.code}]", flush=True)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "LLM_BASE_URL", "LLM_API_KEY", "LLM_MODEL_ID"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


class Model(BaseHTTPRequestHandler):
    """An endpoint with one model that knows one capital."""

    def do_GET(self) -> None:
        self._send({"data": [{"id": "small"}]})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": "Paris"}
        self._send({"choices": [{"message": message, "finish_reason": "stop"}]})

    def _send(self, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("lang", "asks", "number", "interval", "follows"),
    [("en", "What do you want to evaluate?", "accuracy: ", "interval ", "Next: "), ("zh", "你想评测什么？", "准确率：", "区间 ", "接下来：")],
)  # fmt: skip
def test_each_answer_at_a_terminal_ends_with_a_number_and_the_next_command(
    lang: str, asks: str, number: str, interval: str, follows: str, folder: Path, address: str
) -> None:
    for name, (files, _) in BRANCHES.items():
        (folder / name).mkdir()
        for file, text in files.items():
            (folder / name / file).write_text(text, encoding="utf-8")
    typed = "".join(f"{place}\n" for place, _ in enumerate(BRANCHES, start=1))
    more = {"PROCTOR_LANG": lang, "OPENAI_BASE_URL": address, "COLUMNS": "200"}
    shown = at_a_terminal([str(folder / name) for name in BRANCHES], typed, more)
    for name, (files, written) in BRANCHES.items():
        part = shown.partition(f"<{name}>")[2].partition("\n[")
        assert part[2].startswith("0]"), f"{name}: {part[0]}{part[2][:3]}"
        assert asks in part[0]
        assert all(re.search(rf"← \./?{file}|← {file}", part[0]) for file in files), part[0]
        [line] = [one for one in part[0].splitlines() if number in one and interval in one]
        assert re.search(r"\d+\.\d%", line)
        assert f"{follows}proctor show" in part[0]
        assert {path.name for path in (folder / name).iterdir()} - {*files, "__pycache__"} == written, name


def at_a_terminal(folders: list[str], typed: str, more: dict[str, str]) -> str:
    """Return what is shown when the answers are typed, one in each folder, at one pseudo-terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", PLAY, *folders]
    with subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=os.environ | more, encoding="utf-8"
    ) as process:
        os.close(theirs)
        os.write(ours, typed.encode())
        shown, _ = process.communicate(timeout=120)
    os.close(ours)
    return shown


@pytest.mark.parametrize(
    ("files", "likeliest"),
    [
        ({}, "function"),
        ({"own.csv": "question,target\na,b\n"}, "data"),
        ({"own.csv": "question,target\na,b\n", "agent.py": "async def ask(text): ..."}, "function"),
        ({"x.py": "from pydantic_ai import Agent\nagent = Agent('m')\n"}, "framework"),
        ({"spans.jsonl": json.dumps(SPAN)}, "traces"),
        ({"delete.py": "def delete_all(path): ...", "two.py": "def answer(a, b): ...", "bad.py": "def ("}, "function"),
    ],
)
def test_without_a_terminal_what_was_found_is_taken_at_once(
    files: dict[str, str], likeliest: str, folder: Path
) -> None:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    result = CliRunner().invoke(app, ["--lang", "en", "init"], input="3\n")
    assert f"There is no terminal to ask on, so it is '{likeliest}'." in result.stderr


def test_an_open_pipe_is_not_waited_for(folder: Path) -> None:
    command = [sys.executable, "-m", "proctor", "init"]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.wait(timeout=60) == 0  # nothing is written, and the pipe stays open
        assert "66.7%" in (process.stdout.read() if process.stdout else "")


def test_an_example_has_an_agent_a_task_and_a_gate(folder: Path) -> None:
    made = CliRunner().invoke(app, ["--lang", "en", "init", "project"])  # as it was called before
    assert (made.exit_code, "66.7%" in made.stdout) == (0, True), made.output
    typed = next(line for line in made.stderr.splitlines() if line.startswith("$ proctor run"))
    assert open_run(shlex.split(typed)[-1]).estimate("exact.accuracy").value == pytest.approx(2 / 3)
    assert 'thresholds={"accuracy": 0.6}' in (folder / "test_agent.py").read_text(encoding="utf-8")


def test_nothing_is_written_over_and_what_is_there_is_used(folder: Path) -> None:
    (folder / "other").mkdir()
    (folder / "other" / "agent.py").write_text("def answer(question):\n    return 'Tokyo'\n", encoding="utf-8")
    first, again = (CliRunner().invoke(app, ["init", "function", "other"]) for _ in range(2))
    assert "33.3%" in first.stdout, first.output
    assert ("Wrote task.py" in first.stderr, "Wrote" in again.stderr) == (True, False)
    (folder / "agent.py").write_text("mine = 1\n", encoding="utf-8")
    refused = CliRunner().invoke(app, ["init", "function"])
    assert (refused.exit_code, "--agent ./agent.py:NAME" in refused.stderr) == (2, True), refused.output
    assert (folder / "agent.py").read_text(encoding="utf-8") == "mine = 1\n"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("framework", "proctor run TASK --agent ./FILE.py:OBJECT"),
        ("data", "questions.csv"),
        ("traces", "proctor init traces"),
        ("endpoint", "export OPENAI_BASE_URL="),
    ],
)
def test_what_is_not_here_is_named_with_what_to_do(kind: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OLLAMA_HOST", "VLLM_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
    result = CliRunner().invoke(app, ["init", kind])
    assert (result.exit_code, said in result.stderr) == (2, True), result.output


def test_a_key_alone_names_no_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdefghij")
    (folder / "own.csv").write_text("question,target\nOf France?,Paris\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["init", "endpoint"])
    assert (result.exit_code, "export LLM_MODEL_ID=MODEL" in result.stderr) == (2, True), result.output
    assert "100.0%" in CliRunner().invoke(app, ["init", "data"]).stdout  # by the example


def test_only_what_is_called_as_agents_are_is_an_agent(folder: Path) -> None:
    (folder / "tools.py").write_text("def wipe(path): ...\ndef run(*, now): ...\ndef answer(a, b): ...\n")
    assert look_into(folder).agent == ""
    (folder / "tools.py").write_text("def run(text, loud=False): ...\n")
    (folder / "my_agent.py").write_text("def generate(text): ...\n")
    assert look_into(folder).agent == "./my_agent.py:generate"


@pytest.mark.parametrize("where", [(), ("a b",)])
def test_the_step_that_init_ci_names_is_the_next_one(where: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder with nothing, too: the tiers name files that `init` writes."""
    typed = CliRunner().invoke(app, ["init", "ci", *where]).stderr.strip().partition(": ")[2]
    for step in typed.split(" && "):
        words = shlex.split(step)
        if words[0] == "cd":
            monkeypatch.chdir(words[1])
        else:
            done = CliRunner().invoke(app, words[1:])
            assert done.exit_code == 0, done.output
    again = CliRunner().invoke(app, ["init", "ci"]).stderr
    assert again.rstrip().endswith("Next: proctor ci tier smoke"), "there is an agent now"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("shop", "proctor init function shop"),
        ("./shop", "proctor init function ./shop"),
        ("gaet", "Did you mean 'gate'"),
    ],
)
def test_a_folder_in_place_of_a_template_is_answered_with_what_to_type(kind: str, said: str) -> None:
    result = CliRunner().invoke(app, ["--lang", "en", "init", kind])
    assert (result.exit_code, said in result.output) == (2, True), result.output
