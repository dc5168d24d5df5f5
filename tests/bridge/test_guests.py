"""Samples that another program plays in a worker, with a program that stands in for Inspect; the real one is in tests/compat."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from endpoint import Answer, Endpoint, Request, data

import proctor
from proctor.api import resolve
from proctor.core.errors import BadInput, ProviderFailed
from proctor.core.run import Budget, Limits
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.task import AgentChoice
from proctor.isolation import WorkerProgram
from proctor_adapters.bridge import inspect as bridged
from proctor_adapters.bridge.asked import AskedModels, GuestAsk
from proctor_adapters.bridge.options import GuestOptions

BUSY = data({"error": "busy"}, 429, retry_after="1")
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
    assert official == {
        "match/accuracy@inspect": 10 / 12,
        "parts.length/range@inspect": None,  # all texts have one character, and nothing says that this is the most
        "worker/milliseconds@inspect": pytest.approx(16),
    }
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
    ("task", "outcome", "kind"),
    [
        ("runs_calls_slowly", "agent_failed", "time_limit"),
        ("grades_slowly", "environment_failed", "worker_hung"),
    ],
)
async def test_a_call_of_the_agent_that_never_ends_is_no_guest_that_hangs(
    task: str, outcome: str, kind: str, tmp_path: Path
) -> None:
    async with Endpoint(calls) as endpoint:
        run = await run_of(endpoint, tmp_path, task, first=1, options={"bridge": {"seconds": 0.5}})
    (trial,) = run.trials()
    assert trial.failure is not None
    assert (trial.outcome, trial.failure.kind) == (outcome, kind)


async def test_a_guest_that_hangs_is_ended_and_the_next_sample_is_played(tmp_path: Path) -> None:
    async with Endpoint(adds()) as endpoint:
        run = await run_of(endpoint, tmp_path, "hangs", concurrency=1, options={"bridge": {"seconds": 0.5}})
    assert run.outcomes == {"scored": 5, "environment_failed": 1}


async def test_samples_of_a_guest_that_is_started_again_are_compared_with_the_plan(tmp_path: Path) -> None:
    async with Endpoint(adds()) as endpoint:
        with pytest.raises(BadInput, match=re.escape("gives other samples each time it is loaded (6 of 6 differ)")):
            await run_of(endpoint, tmp_path, "changes", concurrency=1)


async def test_values_without_a_known_range_stop_the_run_and_the_option_is_named(tmp_path: Path) -> None:
    async with Endpoint(adds()) as endpoint:
        with pytest.raises(BadInput, match=re.escape("--set bridge.scale.match=LOW:HIGH")):
            await run_of(endpoint, tmp_path, "rated", concurrency=1)
        scaled = await run_of(endpoint, tmp_path, "rated", options={"bridge": {"scale": {"match": "1:6"}}})
        none = await run_of(endpoint, tmp_path, "rated", options={"bridge": {"scale": {"match": "none"}}})
    points = {one.sample_id: one.result.value for one in scaled.store.verdicts(scaled.id, scorer="match@inspect")}
    assert points == {f"s{n}": n / 5 for n in range(6)}
    assert {type(one.result) for one in none.store.verdicts(none.id, scorer="match@inspect")} == {Unscored}


@pytest.mark.parametrize(
    ("task", "bridge", "is_doubtful"),
    [
        ("all_ones", {}, True),
        ("all_ones", {"scale": {"match": "0:1"}}, False),
        ("all_ones", {"scale": {"match": "1:10"}}, False),
        ("all_right", {}, False),
        ("sums", {}, False),
    ],
)
async def test_full_marks_of_an_unknown_range_are_doubted(
    task: str, bridge: Any, is_doubtful: bool, tmp_path: Path
) -> None:
    async with Endpoint(adds()) as endpoint:
        run = await run_of(endpoint, tmp_path, task, options={"bridge": bridge})
    notes = [str(estimate.note) for estimate in run.estimates if estimate.name == "match/range@inspect"]
    assert len(notes) == is_doubtful
    assert all("--set bridge.scale.match=LOW:HIGH" in note for note in notes)


@pytest.mark.parametrize("task", ["slow_to_start", "grades_slowly"])
async def test_time_of_the_other_program_is_not_the_agents(task: str, tmp_path: Path) -> None:
    async with Endpoint(adds()) as endpoint:
        run = await run_of(endpoint, tmp_path, task, first=1, limits=Limits(seconds=1))
    assert run.outcomes == ({"scored": 1} if task == "slow_to_start" else {"environment_failed": 1})
    assert run.usage.input_tokens == 7


async def calls(request: Request, writer: Any) -> None:
    """Answer with a tool call."""
    function = {"name": "bash", "arguments": '{"command": "sleep 1000"}'}
    message = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c", "type": "function", "function": function}],
    }
    await data({"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": {}})(request, writer)


@pytest.mark.parametrize(
    ("task", "outcome"), [("runs_calls_slowly", "agent_failed"), ("grades_slowly", "environment_failed")]
)
async def test_what_a_call_of_the_agent_takes_is_the_agents_time(task: str, outcome: str, tmp_path: Path) -> None:
    async with Endpoint(calls) as endpoint:
        run = await run_of(endpoint, tmp_path, task, first=1, limits=Limits(seconds=1))
    (trial,) = run.trials()
    assert trial.failure is not None
    assert (trial.outcome, trial.failure.kind) == (outcome, "time_limit")
    assert ("a tool call of the agent had not ended" in str(trial.failure.reason)) == (outcome == "agent_failed")


@pytest.mark.parametrize(
    ("task", "script", "outcome"),
    [
        ("ends_at_time", [adds()], "environment_failed"),
        ("ends_at_time", [adds(seconds=1)], "agent_failed"),
        ("ends_at_time", [BUSY, adds(seconds=0.4)], "environment_failed"),
        ("ends_at_working", [BUSY, adds(seconds=0.4)], "agent_failed"),
    ],
)
async def test_a_limit_of_time_is_the_agents_where_it_took_most_of_it(
    task: str, script: list[Answer], outcome: str, tmp_path: Path
) -> None:
    async with Endpoint(*script) as endpoint:
        run = await run_of(endpoint, tmp_path, task, first=1, agent_options={"retries": 2})
    (trial,) = run.trials()
    assert trial.failure is not None
    assert (trial.outcome, trial.failure.kind) == (outcome, f"{task.removeprefix('ends_at_')}_limit")


async def test_the_other_program_is_told_what_a_reply_took_and_when_it_waits(tmp_path: Path) -> None:
    async with Endpoint(BUSY, adds(seconds=0.1)) as endpoint:
        run = await run_of(endpoint, tmp_path, "reports_times", first=1, agent_options={"retries": 2})
    (verdict,) = run.store.verdicts(run.id, scorer="match@inspect")
    metadata = verdict.result.details["inspect"]["metadata"]
    assert metadata["waits"] == [True, False]
    assert 0.1 <= metadata["seconds"] < 0.9


async def test_an_agent_that_takes_too_long_has_failed(tmp_path: Path) -> None:
    async with Endpoint(adds(seconds=5)) as endpoint:
        run = await run_of(endpoint, tmp_path, first=1, limits=Limits(seconds=0.5))
    assert run.outcomes == {"agent_failed": 1}


@pytest.mark.parametrize(
    ("task", "outcome", "kind"),
    [
        ("ends_in_an_error", "environment_failed", "ValueError"),
        ("is_cancelled", "environment_failed", "cancelled"),
        ("ends_at_message", "agent_failed", "message_limit"),
        ("ends_at_custom", "environment_failed", "custom_limit"),
        ("ends_at_cost", "environment_failed", "cost_limit"),
        ("ends_at_operator", "environment_failed", "cancelled"),
    ],
)
async def test_how_a_sample_ended_says_whose_it_is_and_keeps_what_was_said(
    task: str, outcome: str, kind: str, tmp_path: Path
) -> None:
    async with Endpoint(adds()) as endpoint:
        run = await run_of(endpoint, tmp_path, task, first=1)
    (trial,) = run.trials()
    assert trial.failure is not None
    assert (trial.outcome, trial.failure.kind) == (outcome, kind)
    assert [step.message.text for step in trial.trajectory.steps if step.message.role == "assistant"] == ["3"]
    assert (run.usage.requests, run.usage.input_tokens) == (1, 7)


@pytest.mark.parametrize("task", ["writes_a_number", "writes_failed", "writes_half_an_ask", "writes_half_a_trial"])
async def test_a_line_that_nobody_expects_is_no_fault_of_the_agent(task: str, tmp_path: Path) -> None:
    async with Endpoint(adds()) as endpoint, asyncio.timeout(60):
        run = await run_of(endpoint, tmp_path, task, concurrency=1)
    assert run.outcomes == {"scored": 5, "environment_failed": 1}


async def test_loading_has_a_time_limit(tmp_path: Path) -> None:
    async with Endpoint(adds()) as endpoint, asyncio.timeout(50):
        with pytest.raises(BadInput, match=re.escape("A longer limit: --set bridge.seconds=N")):
            await run_of(endpoint, tmp_path, "slow_to_load", options={"bridge": {"seconds": 0.5}})


async def test_official_figures_say_how_many_of_the_planned_trials_they_are_of(tmp_path: Path) -> None:
    async with Endpoint(adds()) as endpoint:
        run = await run_of(endpoint, tmp_path, "dies", concurrency=1)
    official = next(one for one in run.estimates if one.name == "match/accuracy@inspect")
    assert (official.scored, official.planned) == (5, 6)
    assert "5 of 6" in str(official.note)


@pytest.mark.parametrize(
    ("config", "is_refused"), [({"logprobs": True}, True), ({"top_logprobs": 1}, True), ({"num_choices": 1}, False)]
)
async def test_what_a_model_does_not_give_is_refused(config: Any, is_refused: bool) -> None:
    agent, _ = resolve.agent("openai:m", {"base_url": "http://127.0.0.1:1", "retries": 0})
    models = AskedModels(agent, AgentChoice(name="openai:m", options={"base_url": "http://127.0.0.1:1", "retries": 0}), GuestOptions(), "inspect:x")  # fmt: skip
    ask = GuestAsk(kind="agent", model="agent", messages=[{"role": "user", "content": "?"}], config=config)
    with pytest.raises(BadInput if is_refused else ProviderFailed):
        await models.answer(ask, Sample(id="1", turns=()))
    await models.close()


@pytest.mark.parametrize(
    ("bridge", "sentence"),
    [
        ({"sandbox": "local"}, "names an image or a compose file in 2 of 6 samples"),
        ({"sandbox": "local", "confined": False}, "--set bridge.sandbox=local together with bridge.confined=false"),
        ({"sandbox": "docker"}, "--set bridge.sandbox takes 'local' only"),
    ],
)
async def test_the_worker_is_a_sandbox_only_where_that_is_safe(bridge: Any, sentence: str, tmp_path: Path) -> None:
    async with Endpoint(adds()) as endpoint:
        with pytest.raises(BadInput, match=re.escape(sentence)):
            await run_of(endpoint, tmp_path, "in_images", options={"bridge": bridge})


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
