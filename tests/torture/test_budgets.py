"""Budgets hold whatever a sample takes, and a kill loses about the requests in flight."""

import asyncio
import os
import signal
import sys
from contextlib import closing

import pytest
from endpoint import Request, chat, data
from stage import RUN, Stage, ended, served, wait_until

import proctor

TASKS = """
from proctor import Sample, Task
from proctor.core.sample import Message, Turn

def talks(count, turns=10):
    said = lambda n: tuple(Turn(messages=(Message.of("user", f"What is {n}?"),)) for _ in range(turns))
    return Task(name="talks", scorers=["exact"], samples=lambda: (Sample(id=f"s{n}", target=str(n), turns=said(n)) for n in range(count)))

def judged(count):
    samples = lambda: (Sample.ask(f"s{n}", f"What is {n}?", target=str(n)) for n in range(count))
    return Task(name="judged", samples=samples, scorers=["exact", "rubric:answer-quality"])
"""


class Counting:
    """A model that takes a moment, counts what comes, and says 503 to each tenth request where it is `busy`."""

    def __init__(self, *, seconds: float = 0.02, busy: bool = False) -> None:
        self.asked = 0
        self._seconds = seconds
        self._busy = busy

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        self.asked += 1
        busy = self._busy and self.asked % 10 == 3
        await asyncio.sleep(self._seconds)
        await (data({"error": "busy"}, 503) if busy else chat("1"))(request, writer)


@pytest.mark.parametrize(
    ("task", "more", "busy"),
    [
        pytest.param(*values, marks=pytest.mark.fault(f"budget of requests: {name}", "a local server that counts", "never passed; inconclusive, exit 3"), id=name.replace(" ", "-"))
        for name, values in {
            "single questions": ("./questions.py:questions", (), False),
            "several turns": ("./tasks.py:talks", (), False),
            "retries": ("./questions.py:questions", ("--agent-set", "retry_seconds=20"), True),
            "attempts": ("./tasks.py:talks", ("--attempts", "3", "--set", "turns=3"), False),
            "a judge": ("./tasks.py:judged", (), False),
            "two processes": ("./tasks.py:talks", ("--workers", "2"), False),
        }.items()
    ],
)  # fmt: skip
def test_a_budget_of_requests_is_never_passed(stage: Stage, task: str, more: tuple[str, ...], busy: bool) -> None:
    stage.script("tasks.py", TASKS)
    model = Counting(busy=busy)
    with served(model) as endpoint:
        judge = ("--judge", "openai:judge", "--judge-set", f"base_url={endpoint.url}/v1") if "judged" in task else ()
        options = ("--budget", "requests=43", "--base-url", f"{endpoint.url}/v1", *more, *judge)
        done = stage.run_alone(stage.command("openai:m", "--set", "count=200", *options, task=task))
    assert done.code == 3, done.error
    assert 30 <= model.asked <= 43
    assert done.summary["state"] == "inconclusive"
    assert "budget of 43 requests" in str(done.summary["note"])
    assert done.summary["usage"]["requests"] == model.asked
    assert done.summary["outcomes"]["scored"] >= (3 if "talks" in task else 10)


@pytest.mark.fault("budget of tokens", "a local server", "passed by less than a tenth; inconclusive, exit 3")
@pytest.mark.parametrize("task", ["./questions.py:questions", "./tasks.py:talks"])
def test_a_budget_of_tokens_is_hardly_passed(stage: Stage, task: str) -> None:
    stage.script("tasks.py", TASKS)
    with served(Counting()) as endpoint:
        options = ("--budget", "tokens=500", "--base-url", f"{endpoint.url}/v1")
        done = stage.run(stage.command("openai:m", "--set", "count=200", *options, task=task))
    assert done.code == 3, done.error
    used = done.summary["usage"]
    assert 400 <= used["input_tokens"] + used["output_tokens"] <= 550


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals as POSIX has them")
@pytest.mark.fault(
    "kill -9 while samples take many requests", "10 turns a sample", "about the requests in flight are lost, and told"
)
def test_a_kill_loses_about_the_requests_in_flight(stage: Stage) -> None:
    stage.script("tasks.py", TASKS)
    model = Counting(seconds=0.05)
    with served(model) as endpoint:
        options = ("--set", "count=200", "--base-url", f"{endpoint.url}/v1")
        process = stage.start(stage.command("openai:m", *options, task="./tasks.py:talks"))
        wait_until(lambda: model.asked >= 900)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        with closing(proctor.open_run(RUN, store=str(stage.store)).store) as store:
            kept = len(store.finished(RUN))
            assert model.asked / 10 - kept <= 25
            lost = store.run(RUN).unbooked
        assert lost >= 16
        again = ended(stage.start([*stage.go_on("--budget", "requests=1200")]))
        assert f"at most {lost} requests" in again.error
        assert model.asked <= 1200
