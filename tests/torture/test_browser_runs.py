"""A server whose user has just started a run is killed at any moment, and begins again: the run goes on, or is said not to."""

import json
import random
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest
from stage import wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals as POSIX has them")

SAMPLES = 30
AGENT = """
import asyncio, os
from proctor import Sample, Task
calls = os.open("calls.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

def count() -> Task:
    return Task(name="count", samples=[Sample.ask(str(n), str(n), target=str(n)) for n in range(30)], scorers=["exact"])

async def answer(question):
    os.write(calls, f"{question}\\n".encode())
    await asyncio.sleep(0.05)
    return question
"""


class Server:
    """`proctor web` on a port of its own, and a program that asks it."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        words = ["web", "--json", "--no-open", "--port", port, "--store", str(folder / "runs.db"), "--agents", "agents"]
        command = [sys.executable, "-m", "proctor", *words]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder
        )
        assert self.process.stdout is not None
        said = json.loads(self.process.stdout.readline())
        self._address, self._token = said["address"].rstrip("/"), said["people"][0]["token"]

    def ask(self, path: str, body: object = None) -> Any:
        """Return the reply; the status where it is an error."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        try:
            with urlopen(Request(f"{self._address}/api/v1/{path}", data=data, headers=headers), timeout=60) as reply:
                return json.loads(reply.read())
        except HTTPError as error:
            return error.code

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def server_in(folder: Path) -> Iterator[Server]:
    server = Server(folder)
    try:
        yield server
    finally:
        server.kill()


@pytest.mark.fault(
    "kill -9 of the web app while a run is started in it",
    "SIGKILL at 12 random moments around the start",
    "the run goes on and is shown, or the start is; nothing is asked twice",
)
def test_a_run_that_was_started_in_the_browser_outlives_the_server(tmp_path: Path, long: bool) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "mine.py").write_text(AGENT, encoding="utf-8")
    draw, ends = random.Random(4), Counter[str]()
    for number in range(12 if long else 2):
        run = f"r{number}"
        asked = {"task": "agents/mine.py:count", "agent": "agents/mine.py:answer", "run": run, "concurrency": 2}
        with suppress(FileNotFoundError):
            (tmp_path / "calls.txt").unlink()
        with server_in(tmp_path) as server:
            asking = threading.Thread(target=ask_in_vain, args=(server, asked))
            asking.start()
            time.sleep(draw.random() * (1.5 if number % 2 else 0.2))
        asking.join()
        with server_in(tmp_path) as server:
            found = state(server, run)
            ends[found] += 1
            if found in ("", "not_started"):  # who sees that starts it again; two of them are never at one run
                server.ask("runs", asked)
            wait_until(lambda run=run, server=server: state(server, run) == "finished")  # type: ignore[misc]
        assert calls(tmp_path) == {str(sample): 1 for sample in range(SAMPLES)}
    assert set(ends) <= {"", "not_started", "starting", "running", "finished"}


def state(server: Server, run: str) -> str:
    now = server.ask(f"runs/{run}/progress")
    return "" if isinstance(now, int) else str(now["state"])


def calls(folder: Path) -> Counter[str]:
    return Counter((folder / "calls.txt").read_text(encoding="ascii").split())


def ask_in_vain(server: Server, asked: object) -> None:
    with suppress(URLError, OSError):  # the server is killed meanwhile
        server.ask("runs", asked)
