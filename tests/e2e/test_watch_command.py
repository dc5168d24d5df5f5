"""proctor ci watch as it runs: killed in the middle, started again, its alerts delivered to a web hook and by mail."""

import json
import os
import signal
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from proctor.stores import open_store

SAMPLES = 60
FILES = {
    "agent.py": """
import asyncio, os
async def agent(question):
    assert "ALERTS" not in os.environ
    with open("calls.txt", "a") as file:
        file.write(question + "\\n")
    while len(open("calls.txt").readlines()) > 4 and not os.path.exists("go"):
        await asyncio.sleep(0.01)
    return "no" if int(question) % 2 else "yes"
""",
    "shop.py": f"""
from proctor import Sample, Task
def task():
    return Task(name="shop", samples=[Sample.ask(str(n), str(n), target="yes") for n in range({SAMPLES})], scorers=["exact"])
""",
    "gate.toml": '[[rule]]\nmetric = "accuracy"\nat_least = 0.9\n',
    "proctor.toml": """
concurrency = 2
[tiers.quick]
tasks = [{ task = "./shop.py:task", gate = "gate.toml" }]
""",
    "watch.toml": """
channels = ["ALERTS"]
[[watch]]
name = "nightly"
tier = "quick"
agent = "./agent.py:agent"
schedule = "0 3 1 1 *"
controls = "controls.jsonl"
""",
    "controls.jsonl": "".join(json.dumps({"id": str(n), "answer": "yes"}) + "\n" for n in range(10)),
}


@pytest.fixture
def hook() -> Iterator[tuple[str, list[dict[str, object]]]]:
    """Yield the address of a web hook, and what it got."""
    got: list[dict[str, object]] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Hook)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"json://127.0.0.1:{server.server_port}/alerts", got
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def mail() -> Iterator[tuple[str, list[str]]]:
    """Yield the address of a mail server, and what it got."""
    got: list[str] = []

    class Sink(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 here\r\n")
            for line in self.rfile:
                if line.upper().startswith(b"DATA"):
                    self.wfile.write(b"354 go on\r\n")
                    got.append(b"".join(iter(self.rfile.readline, b".\r\n")).decode())
                self.wfile.write(b"250 fine\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Sink) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        port = server.server_address[1]
        yield f"mailto://127.0.0.1:{port}?from=watch@example.com&to=team@example.com&mode=insecure", got
        server.shutdown()
        thread.join()


def test_a_watch_that_is_killed_resumes_its_run_once_and_alerts_once(
    tmp_path: Path, hook: tuple[str, list[dict[str, object]]], mail: tuple[str, list[str]]
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    environment = os.environ | {"ALERTS": f"{hook[0]} {mail[0]}", "XDG_DATA_HOME": str(tmp_path / "data")}
    command = [sys.executable, "-m", "proctor", "ci", "watch", "--store", "runs.db"]
    calls = tmp_path / "calls.txt"

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100, check=False
        )

    with subprocess.Popen(
        [*command, "--now", "nightly"], cwd=tmp_path, env=environment, stderr=subprocess.PIPE
    ) as first:
        wait_for_calls(calls)
        twice, status = run("--now", "nightly"), run("--status").stdout
        first.send_signal(signal.SIGKILL)
    (tmp_path / "go").touch()
    assert twice.returncode == 2
    assert "is watched by process" in twice.stderr
    assert "running" in status

    again = run("--once")
    assert "resumed" in again.stderr, again.stderr
    assert again.returncode == 1, again.stderr  # an alert is on
    store = open_store(str(tmp_path / "runs.db"))
    [run_id] = [record.id for record in store.runs() if record.tier == "quick"]
    assert store.outcomes(run_id) == {"scored": SAMPLES}
    assert len(store.runs()) == 2  # and that of the controls
    store.close()
    assert SAMPLES <= len(calls.read_text().split()) <= SAMPLES + 4  # those in flight at the kill
    assert [one["title"] for one in hook[1]] == ["Proctor: an alert of nightly"]
    assert "NO-GO by the gate" in str(hook[1][0]["message"])
    [letter] = mail[1]
    assert "NO-GO by the gate" in letter

    assert run("--once").returncode == 1
    shown = json.loads(run("--json").stdout)
    assert shown["watches"][0]["alerts"] == ["gate shop"]
    assert shown["undelivered"] == []
    assert len(hook[1]) == 1
    assert run("--test").stdout.splitlines() == ["ALERTS#1: delivered", "ALERTS#2: delivered"]


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text.replace('channels = ["ALERTS"]', ""))
    environment = os.environ | {"XDG_DATA_HOME": str(tmp_path / "data")}
    command = [sys.executable, "-m", "proctor", "ci", "watch", "--store", "runs.db", "--now", "nightly"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as watch:
        wait_for_calls(tmp_path / "calls.txt")
        watch.send_signal(signal.SIGTERM)
        (tmp_path / "go").touch()
        said = watch.communicate(timeout=60)[1]
    assert "goes on from there at the next start" in said
    assert watch.returncode == 0


def wait_for_calls(calls: Path) -> None:
    until = time.monotonic() + 60
    while (not calls.exists() or len(calls.read_text().split()) < 6) and time.monotonic() < until:
        time.sleep(0.02)
