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

from proctor import evaluate
from proctor.cli import app
from proctor.engine.progress import Progress
from proctor.transport.retry import Wait

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


@pytest.mark.parametrize("workers", [1, 2])
def test_a_request_that_waits_is_shown_while_it_waits(workers: int) -> None:
    stray = data({"error": "busy"}, 503, retry_after="0.6")
    progress, over = Progress(), threading.Event()
    seen: list[Wait] = []

    def watch() -> None:
        while not over.wait(0.02):
            seen.extend(progress.status.waits())

    watcher = threading.Thread(target=watch)
    with served(chat(), stray, chat(), stray, chat()) as endpoint:
        watcher.start()
        try:
            evaluate(
                f"{Path.cwd()}/questions.py:questions",
                agent="openai:some-model",
                agent_options={"base_url": f"{endpoint.url}/v1"},
                workers=workers,
                concurrency=2,
                store=":memory:",
                progress=progress,
            )
        finally:
            over.set()
            watcher.join()
    assert {(one.host.partition(":")[0], one.status, one.asked) for one in seen} == {("127.0.0.1", 503, 0.6)}
    assert len({one.until for one in seen}) == 2
    assert not progress.status.waits()


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


@pytest.mark.parametrize("workers", [(), ("--workers", "2")])
def test_a_budget_in_money_holds_a_model_at_its_price(folder: Path, workers: tuple[str, ...]) -> None:
    prices = '[prices."some-model"]\ninput = 100000\noutput = 100000\n'  # so that a reply of 7 and 3 tokens costs 1
    (folder / "proctor.toml").write_text(prices, encoding="utf-8")
    with served(chat()) as endpoint:
        url = f"{endpoint.url}/v1"
        code, out, error = run(url, "--budget", "money=3.5", "--concurrency", "1", "--json", *workers)
    assert code == 3, error
    assert json.loads(out)["outcomes"] == {"scored": 4, "skipped": 6}
    assert json.loads(out)["usage"]["cost"] == pytest.approx(4)


def test_a_budget_in_money_names_the_model_that_has_no_price(folder: Path) -> None:
    code, _, error = run("http://127.0.0.1:9/v1", "--budget", "money=3")
    assert (code, 'prices."some-model"' in error) == (2, True)
    asked = ["run", "./questions.py:questions", "--agent", "http:http://127.0.0.1:9/", "--budget", "money=3"]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 2
    assert "cannot hold the agent http:127.0.0.1" in result.stderr


@pytest.mark.parametrize(
    ("broken", "more", "each"),
    [
        (data({"error": "broken"}, 500), ("--agent-set", "retries=1"), 2),
        (data({"error": "not so"}, 400), (), 1),
        (chat(seconds=5), ("--time-limit", "0.1"), 1),
    ],
)
def test_requests_that_fail_count_in_a_budget_of_requests(broken: Answer, more: tuple[str, ...], each: int) -> None:
    with served(broken) as endpoint:
        code, out, error = run(f"{endpoint.url}/v1", "--budget", "requests=4", "--concurrency", "1", "--json", *more)
    assert code == 3, error
    assert (len(endpoint.requests), json.loads(out)["usage"]["requests"]) == (4, 4)
    assert json.loads(out)["outcomes"]["skipped"] == 10 - 4 // each


def test_requests_of_a_judge_that_fail_count_in_a_budget_of_requests_and_are_in_the_trial(folder: Path) -> None:
    with served(data({"error": "broken"}, 500)) as endpoint:
        url = f"base_url={endpoint.url}/v1"
        result = CliRunner().invoke(
            app,
            [
                *("run", "./questions.py:questions", "--agent", "baseline:echo", "--scorer", "rubric:answer-quality"),
                *("--judge", "openai:judge", "--judge-set", url, "--judge-set", "retries=1", "--json", "--quiet"),
                *("--budget", "requests=4", "--concurrency", "1", "--run", "j", "--order", "official"),
            ],
        )
        assert result.exit_code == 3, result.stderr
    assert (len(endpoint.requests), json.loads(result.stdout)["usage"]["requests"]) == (4, 4)
    shown = CliRunner().invoke(app, ["runs", "explain", "j", "0"])
    assert shown.output.count("asked again after http_500: broken") == 2
    assert shown.output.count("not asked again after") == 1
