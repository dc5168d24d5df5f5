"""Runs against an endpoint: what is refused stops at the first sample, what breaks is retried and told apart."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from endpoint import Answer, Endpoint, chat, data

from proctor.cli import app

QUESTIONS = """
from proctor import Sample, Task

def questions() -> Task:
    return Task(name="questions", samples=[Sample.ask(str(n), f"{n}?", target="Paris") for n in range(10)], scorers=["exact"])
"""


@contextmanager
def served(*script: Answer) -> Iterator[Endpoint]:
    """An endpoint that answers from a thread of its own."""
    endpoint = Endpoint(*script)
    ready, over = threading.Event(), threading.Event()

    async def serve() -> None:
        async with endpoint:
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait()
    try:
        yield endpoint
    finally:
        over.set()
        thread.join()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "questions.py").write_text(QUESTIONS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-user")
    return tmp_path


def run(url: str, *more: str) -> tuple[int, str, str]:
    arguments = [
        "run",
        f"{Path.cwd()}/questions.py:questions",
        "--agent",
        "openai:some-model",
        "--base-url",
        url,
        "--quiet",
    ]
    result = CliRunner().invoke(app, [*arguments, *more])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize(("status", "word"), [(401, "key"), (403, "refuse"), (404, "some-model")])
def test_a_refusal_is_one_clear_error_and_one_request(status: int, word: str, folder: Path) -> None:
    refusal = data({"error": {"message": f"refused: {word} some-model"}}, status)
    with served(refusal) as endpoint:
        code, out, error = run(f"{endpoint.url}/v1")
    assert (code, out, len(endpoint.requests)) == (2, "", 1)
    assert str(status) in error
    assert word in error
    assert "sk-secret" not in error
    assert CliRunner().invoke(app, ["runs"]).stdout == ""


def test_an_unreachable_endpoint_is_named_before_anything_else_is_tried() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    code, out, error = run(f"http://127.0.0.1:{port}/v1", "--agent-set", "retry_seconds=1")
    assert (code, out) == (2, "")
    assert f"127.0.0.1:{port}" in error
    assert "no other was tried" in error


def test_a_stray_failure_is_retried_and_every_sample_ends_scored(folder: Path) -> None:
    stray = data({"error": "busy"}, 503, retry_after="0.05")
    with served(chat(), stray, chat(), stray, chat()) as endpoint:
        code, out, error = run(f"{endpoint.url}/v1", "--json", "--concurrency", "2", "--run", "r")
    assert code == 0, error
    summary = json.loads(out)
    assert summary["outcomes"] == {"scored": 10}
    assert summary["usage"]["input_tokens"] == 70
    assert len(endpoint.requests) == 12
    assert b"sk-secret" not in b"".join(path.read_bytes() for path in folder.glob("*.db*"))
    assert {request.headers["authorization"] for request in endpoint.requests} == {"Bearer sk-secret-of-the-user"}


def test_a_failure_that_lasts_is_no_zero_and_makes_the_run_inconclusive() -> None:
    broken = data({"error": "broken"}, 500)
    with served(chat(), broken) as endpoint:
        more = ("--agent-set", "retries=1", "--agent-set", "retry_seconds=1", "--json")
        code, out, error = run(f"{endpoint.url}/v1", *more)
    assert code == 3, error
    summary = json.loads(out)
    assert summary["outcomes"] == {"scored": 1, "provider_failed": 9}
    accuracy = summary["estimates"][0]
    assert (accuracy["value"], accuracy["scored"], accuracy["planned"]) == (1.0, 1, 10)
    assert (accuracy["floor"], accuracy["ceiling"]) == (0.1, 1.0)


def test_a_budget_of_requests_overshoots_by_what_is_in_flight_and_goes_on_with_more() -> None:
    with served(chat()) as endpoint:
        code, out, error = run(
            f"{endpoint.url}/v1", "--budget", "requests=4", "--concurrency", "2", "--run", "b", "--json"
        )
        assert code == 3, error
        first = json.loads(out)["outcomes"]
        assert 4 <= first["scored"] <= 6
        assert first["scored"] + first["skipped"] == 10
        result = CliRunner().invoke(app, ["run", "--run", "b", "--budget", "requests=100", "--json", "--quiet"])
        assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["outcomes"] == {"scored": 10}
    assert len(endpoint.requests) == 10
