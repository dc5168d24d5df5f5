"""Samples that another program plays in a worker, with a program that stands in for Inspect; the real one is in tests/compat."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from endpoint import Answer, Endpoint, Request, data

import proctor
from proctor.core.errors import BadInput
from proctor.core.run import Budget
from proctor.core.score import Score
from proctor.isolation import WorkerProgram
from proctor_adapters.bridge import inspect as bridged

PROGRAM = Path(__file__).with_name("guest_program_of_tests.py")


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridged, "program_of", lambda *_: WorkerProgram(path=PROGRAM))


def adds(status: int = 200, seconds: float = 0.0) -> Answer:
    async def answer(request: Request, writer: Any) -> None:
        x, y = map(int, re.findall(r"(\d+) \+ (\d+)", request.body.decode())[-1])
        message = {"role": "assistant", "content": str(x + y if x != 4 else 0)}
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        reply = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
        await data(reply, status, seconds=seconds)(request, writer)

    return answer


async def run_of(endpoint: Endpoint, tmp_path: Path, task: str = "sums", **more: Any) -> Any:
    options = {"base_url": endpoint.url, "retries": 0, **more.pop("agent_options", {})}
    store = str(tmp_path / "runs.db")
    return await proctor.evaluate_async(f"inspect:{task}", agent="openai:m", agent_options=options, store=store, **more)


async def test_a_sample_is_played_there_and_asks_here(tmp_path: Path) -> None:
    async with Endpoint(adds()) as endpoint:
        run = await run_of(endpoint, tmp_path, attempts=2)
    assert run.outcomes == {"scored": 12}
    assert (run.usage.requests, run.usage.input_tokens) == (12, 84)
    assert len(endpoint.requests) == 12
    assert endpoint.requests[0].json["temperature"] == 0.0
    official = {one.name: one.value for one in run.estimates if "/" in one.name}
    assert official == {"match/accuracy@inspect": 10 / 12, "worker/milliseconds@inspect": pytest.approx(16)}
    verdicts = {one.sample_id: one.result for one in run.store.verdicts(run.id, scorer="match@inspect")}
    right, wrong = verdicts["s1"], verdicts["s4"]
    assert isinstance(right, Score)
    assert isinstance(wrong, Score)
    assert (right.points, right.answer, wrong.points) == (1, "4", 0)
    trial = next(iter(run.trials()))
    assert trial.trajectory.answer == trial.trajectory.steps[-1].message.text
    assert trial.trajectory.steps[-1].usage is not None


async def test_many_samples_ask_at_once(tmp_path: Path) -> None:
    everyone, answer = asyncio.Event(), adds()

    async def wait_for_all(request: Request, writer: Any) -> None:
        if endpoint.at_once == 200:
            everyone.set()
        if len(endpoint.requests) > 1:  # the first runs alone
            await everyone.wait()
        await answer(request, writer)

    async with Endpoint(wait_for_all) as endpoint, asyncio.timeout(120):
        await run_of(endpoint, tmp_path, attempts=35, concurrency=200)
    assert len(endpoint.requests) == 210
    assert endpoint.most_at_once == 200


async def test_a_request_that_failed_outside_is_no_zero(tmp_path: Path) -> None:
    async with Endpoint(adds(status=500)) as endpoint:
        run = await run_of(endpoint, tmp_path, first=2)
    assert run.outcomes == {"provider_failed": 2}


async def test_what_the_budget_does_not_hold_is_skipped_and_resumed(tmp_path: Path) -> None:
    async with Endpoint(adds()) as endpoint:
        first = dict((await run_of(endpoint, tmp_path, budget=Budget(requests=2), run_id="r")).outcomes)
        again = await run_of(endpoint, tmp_path, budget=Budget(requests=100), run_id="r")
    assert first["scored"] == 2
    assert again.outcomes == {"scored": 6}
    assert len(endpoint.requests) == 6


async def test_a_guest_that_dies_fails_what_it_had_and_is_started_again(tmp_path: Path) -> None:
    async with Endpoint(adds()) as endpoint:
        run = await run_of(endpoint, tmp_path, "dies", concurrency=1)
    trials = {trial.sample_id: trial for trial in run.trials()}
    assert trials["s2"].failure is not None
    assert (trials["s2"].outcome, trials["s2"].failure.kind) == ("environment_failed", "worker_killed")
    assert run.outcomes == {"scored": 5, "environment_failed": 1}


async def test_a_guest_that_computes_for_too_long_is_no_fault_of_the_agent(tmp_path: Path) -> None:
    async with Endpoint(adds()) as endpoint:
        run = await run_of(endpoint, tmp_path, "hangs", ids=["s2"], concurrency=1, options={"bridge": {"seconds": 0.5}})
    failures = [trial.failure.kind for trial in run.trials() if trial.failure is not None]
    assert failures == ["worker_hung"]


@pytest.mark.parametrize(
    ("task", "sentence"),
    [
        ("graded", "inspect:graded needs the role 'grader'. Add --set role.grader=MODEL."),
        ("hinted", "inspect:hinted asks the model 'openai/x' by its name"),
        ("fresh", "gives other samples each time it is loaded (6 of 6 differ)"),
    ],
)
async def test_what_is_missing_is_said_before_the_first_call(task: str, sentence: str, tmp_path: Path) -> None:
    async with Endpoint(adds()) as endpoint:
        with pytest.raises(BadInput, match=re.escape(sentence)):
            await run_of(endpoint, tmp_path, task)
    assert endpoint.requests == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"role": "openai:x"}, "written args.role"),
        ({"role": {"grader": 3}}, "--set role.grader takes a text, not 3."),
        ({"bridge": {"scale": {"match": "10"}}}, "--set bridge.scale.match is LOW:HIGH"),
        ({"bridge": {"sandbx": "local"}}, "sandbx"),
    ],
)
async def test_an_option_of_the_bridge_is_checked(options: Any, sentence: str, tmp_path: Path) -> None:
    async with Endpoint(adds()) as endpoint:
        with pytest.raises(BadInput, match=re.escape(sentence)):
            await run_of(endpoint, tmp_path, options=options)
