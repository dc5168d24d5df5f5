"""Tasks of the real Inspect, which lives in an environment of its own: its solver, tools and scorers, our models and store."""

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import throwaway
from click.testing import CliRunner
from endpoint import Answer, Endpoint, Request, data

import proctor
from proctor.cli import app
from proctor.core.errors import BadInput
from proctor.core.run import Budget
from proctor.core.score import Score, Unscored
from proctor_adapters.bridge import inspect as of_inspect
from proctor_adapters.bridge import lmeval as of_lmeval
from proctor_adapters.bridge.program import PYTHON

FILE = Path(__file__).with_name("inspect_tasks.py")
pytestmark = [pytest.mark.torture, pytest.mark.xdist_group("inspect")]


@pytest.fixture(autouse=True)
def guest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PYTHON, os.environ.get(PYTHON) or str(throwaway.python("inspect")))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-user")


def adds(wrong: int = -1) -> Answer:
    """Answer sums in the last message; those that begin with `wrong` wrongly."""

    async def answer(request: Request, writer: Any) -> None:
        text = json.dumps(request.json["messages"])
        x, y = map(int, re.findall(r"(\d+) \+ (\d+)", text)[-1])
        said = 0 if x == wrong else x + y
        message = {"role": "assistant", "content": str(said)}
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        await data({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage})(request, writer)

    return answer


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "runs.db")


def results(run: Any, scorer: str) -> dict[tuple[str, int], Score | Unscored]:
    return {(one.sample_id, one.attempt): one.result for one in run.store.verdicts(run.id, scorer=scorer)}


async def test_a_task_is_played_by_inspect_and_asks_through_our_transport(store: str) -> None:
    async with Endpoint(adds(wrong=2)) as endpoint:
        options = {"base_url": endpoint.url}
        run = await proctor.evaluate_async(
            f"inspect:{FILE}@sums",
            agent="openai:m",
            agent_options=options,
            options={"count": 4},
            attempts=2,
            store=store,
        )
    assert run.outcomes == {"scored": 8}
    assert run.estimate("accuracy").value == 0.75
    assert run.usage.requests == len(endpoint.requests) == 8
    assert (run.usage.input_tokens, run.usage.output_tokens) == (56, 24)
    first = endpoint.requests[0].json["messages"]
    assert first[0] == {"role": "system", "content": "Answer with the number only."}
    official = {one.name: one.value for one in run.estimates if "/" in one.name}
    assert official["match/accuracy@inspect"] == 0.75
    trial = next(iter(run.trials()))
    assert trial.trajectory.answer
    assert trial.trajectory.steps[-1].usage is not None
    assert trial.trajectory.steps[-1].usage.output_tokens == 3


async def test_settings_of_the_task_reach_the_endpoint_and_those_of_the_user_have_precedence(store: str) -> None:
    async with Endpoint(adds()) as endpoint:
        options = {"base_url": endpoint.url, "temperature": 1.0}
        await proctor.evaluate_async(f"inspect:{FILE}@cold", agent="openai:m", agent_options=options, store=store)
    sent = endpoint.requests[0].json
    assert {key: sent[key] for key in ("temperature", "max_tokens", "stop", "seed")} == {
        "temperature": 1.0,
        "max_tokens": 5,
        "stop": ["END"],
        "seed": 7,
    }


async def test_several_scorers_parts_of_values_and_nan_are_each_what_they_are(store: str) -> None:
    async with Endpoint(adds()) as endpoint:
        run = await proctor.evaluate_async(
            f"inspect:{FILE}@several",
            agent="openai:m",
            agent_options={"base_url": endpoint.url},
            options={"bridge": {"scale": {"parts": {"length": "0:10"}}}},
            store=store,
        )
    assert {one.name for one in run.estimates} >= {
        "match/accuracy@inspect",
        "length/mean@inspect",
        "moody/accuracy@inspect",
    }
    length = results(run, "parts.length@inspect")["s0", 0]
    assert isinstance(length, Score)
    assert (length.points, length.out_of) == (1, 10)
    nan, half = results(run, "moody@inspect")["s0", 0], results(run, "moody@inspect")["s1", 0]
    assert isinstance(nan, Unscored)
    assert str(nan.reason) == "no idea"
    assert isinstance(half, Score)
    assert half.points == 0.5


async def test_images_in_files_reach_the_endpoint_whichever_folder_they_are_in(store: str) -> None:
    async with Endpoint(adds()) as endpoint:
        run = await proctor.evaluate_async(
            f"inspect:{FILE}@pictured", agent="openai:m", agent_options={"base_url": endpoint.url}, store=store
        )
    assert run.outcomes == {"scored": 2}
    shown = [part for request in endpoint.requests for part in request.json["messages"][-1]["content"]]
    images = [part["image_url"]["url"] for part in shown if part["type"] == "image_url"]
    assert len({*images}) == 2
    assert all(image.startswith("data:image/png;base64,") for image in images)


@pytest.mark.parametrize(
    ("attempts", "official"), [(3, {"": 0.5, " (pass_at_2)": 0.5}), (1, {"": 0.5, " (pass_at_2)": None})]
)
async def test_figures_over_several_attempts_are_those_of_inspect_or_none(
    attempts: int, official: dict[str, float | None], store: str
) -> None:
    async with Endpoint(adds(wrong=1)) as endpoint:
        run = await proctor.evaluate_async(
            f"inspect:{FILE}@repeated",
            agent="openai:m",
            agent_options={"base_url": endpoint.url},
            attempts=attempts,
            store=store,
        )
    assert run.outcomes == {"scored": 2 * attempts}
    figures = {one.name: one.value for one in run.estimates if "/" in one.name}
    assert {key: figures[f"match/accuracy@inspect{key}"] for key in official} == official


async def test_metrics_of_one_name_keep_their_own_parameters(store: str) -> None:
    async with Endpoint(adds(wrong=1)) as endpoint:
        run = await proctor.evaluate_async(
            f"inspect:{FILE}@levels", agent="openai:m", agent_options={"base_url": endpoint.url}, store=store
        )
    official = {one.name: one.value for one in run.estimates if one.name.startswith("levelled/")}
    assert official == {
        "levelled/<Level.low: 'the low'>@inspect": 0.5,
        "levelled/<Level.high: 'the high'>@inspect": 0.5,
    }


async def test_errors_and_limits_are_no_zeros_of_the_wrong_kind(store: str) -> None:
    async with Endpoint(adds()) as endpoint:
        run = await proctor.evaluate_async(
            f"inspect:{FILE}@troubled", agent="openai:m", agent_options={"base_url": endpoint.url}, store=store
        )
    trials = {trial.sample_id: trial for trial in run.trials()}
    assert {id: trial.outcome for id, trial in trials.items()} == {
        "s0": "scored",
        "s1": "environment_failed",
        "s2": "scored",
        "s3": "scored",
    }
    assert trials["s1"].failure is not None
    assert trials["s1"].failure.kind == "ValueError"
    assert "the tool of this sample is broken" in str(trials["s1"].failure.reason)
    assert trials["s2"].trajectory.stop == "step_limit"
    assert run.usage.requests == len(endpoint.requests)


async def test_an_endpoint_that_fails_is_not_the_agents_failure(store: str) -> None:
    async with Endpoint(data({"error": "down"}, status=500)) as endpoint:
        run = await proctor.evaluate_async(
            f"inspect:{FILE}@cold",
            agent="openai:m",
            agent_options={"base_url": endpoint.url, "retries": 0},
            store=store,
        )
    assert run.outcomes == {"provider_failed": 2}


async def test_a_budget_holds_for_what_inspect_asks(store: str) -> None:
    async with Endpoint(adds()) as endpoint:
        run = await proctor.evaluate_async(
            f"inspect:{FILE}@sums",
            agent="openai:m",
            agent_options={"base_url": endpoint.url},
            budget=Budget(requests=3),
            store=store,
        )
    assert len(endpoint.requests) == 3
    assert run.outcomes["scored"] == 3


async def test_a_run_is_resumed_with_the_samples_that_are_missing(store: str) -> None:
    async with Endpoint(adds()) as endpoint:
        arguments: dict[str, Any] = {
            "agent": "openai:m",
            "agent_options": {"base_url": endpoint.url},
            "run_id": "r",
            "store": store,
        }
        await proctor.evaluate_async(f"inspect:{FILE}@sums", budget=Budget(requests=2), **arguments)
        run = await proctor.evaluate_async(f"inspect:{FILE}@sums", budget=Budget(requests=100), **arguments)
    assert run.outcomes == {"scored": 6}
    assert len(endpoint.requests) == 6


def test_without_a_network_it_is_said_which_data_to_fetch_and_where_they_belong() -> None:
    with pytest.raises(BadInput) as raised:
        of_inspect.task(f"{FILE}@of_the_hub")
    said = str(raised.value)
    assert "someone/sums at the revision v1" in said
    assert f"proctor data pull inspect:{FILE}@of_the_hub" in said
    assert f"{Path.home()}/.cache/huggingface" in said
    with pytest.raises(BadInput, match=r"gsm8k.*proctor data pull lmeval:gsm8k_cot\..*\.cache/huggingface"):
        of_lmeval.task("gsm8k_cot")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("graded", "needs the role 'grader'. Add --set role.grader=MODEL."),
        ("hinted", "asks the model 'anthropic/claude-x' by its name"),
        ("fresh", "gives other samples each time it is loaded (3 of 3 differ)"),
        ("nothing", "there is no task 'nothing'"),
    ],
)
async def test_what_a_task_lacks_is_said_before_the_first_call(name: str, sentence: str, store: str) -> None:
    async with Endpoint(adds()) as endpoint:
        with pytest.raises(BadInput, match=re.escape(sentence)):
            await proctor.evaluate_async(
                f"inspect:{FILE}@{name}", agent="openai:m", agent_options={"base_url": endpoint.url}, store=store
            )
    assert endpoint.requests == []


async def test_a_role_and_a_named_model_are_answered_by_who_the_user_says(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Endpoint(adds()) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        run = await proctor.evaluate_async(
            f"inspect:{FILE}@graded", agent="openai:m", options={"role": {"grader": "openai:judge"}}, store=store
        )
    models = [request.json["model"] for request in endpoint.requests]
    assert sorted(models) == ["judge", "judge", "m", "m"]
    assert run.usage.requests == 4


async def test_tools_of_the_task_are_offered_and_called(store: str) -> None:
    async def answer(request: Request, writer: Any) -> None:
        said = request.json["messages"]
        if said[-1]["role"] == "tool":
            message: dict[str, Any] = {"role": "assistant", "content": said[-1]["content"]}
        else:
            x, y = re.findall(r"(\d+) \+ (\d+)", said[-1]["content"])[-1]
            call = {"name": "add", "arguments": json.dumps({"x": int(x), "y": int(y)})}
            message = {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{x}", "type": "function", "function": call}],
            }
        await data({"choices": [{"message": message, "finish_reason": "stop"}], "usage": {}})(request, writer)

    async with Endpoint(answer) as endpoint:
        run = await proctor.evaluate_async(
            f"inspect:{FILE}@calculator", agent="openai:m", agent_options={"base_url": endpoint.url}, store=store
        )
    assert run.estimate("accuracy").value == 1.0
    assert endpoint.requests[0].json["tools"][0]["function"]["name"] == "add"
    trial = next(iter(run.trials()))
    assert [call.name for call in trial.trajectory.calls()] == ["add"]


async def naps(request: Request, writer: Any) -> None:
    call = {"name": "nap", "arguments": '{"seconds": 60}'}
    calls = [{"id": "c", "type": "function", "function": call}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    await data({"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": {}})(request, writer)


@pytest.mark.parametrize(("task", "outcome"), [("napping", "agent_failed"), ("graded_slowly", "environment_failed")])
async def test_what_a_call_of_the_agent_takes_is_the_agents_time_and_scoring_is_not(
    task: str, outcome: str, store: str
) -> None:
    async with Endpoint(naps) as endpoint:
        run = await proctor.evaluate_async(
            f"inspect:{FILE}@{task}",
            agent="openai:m",
            agent_options={"base_url": endpoint.url},
            limits={"seconds": 4},
            store=store,
        )
    (trial,) = run.trials()
    assert trial.failure is not None
    assert (trial.outcome, trial.failure.kind) == (outcome, "time_limit")


@pytest.mark.parametrize(("wait", "limit"), [("6", None), ("0", "working")])
async def test_waiting_for_an_endpoint_is_no_working_time(wait: str, limit: str | None, store: str) -> None:
    async def slowly(request: Request, writer: Any) -> None:
        await asyncio.sleep(0 if wait == "6" else 6)
        await adds()(request, writer)

    async with Endpoint(data({"error": "busy"}, 429, retry_after=wait), slowly) as endpoint:
        run = await proctor.evaluate_async(
            f"inspect:{FILE}@bounded", agent="openai:m", agent_options={"base_url": endpoint.url}, store=store
        )
    (trial,) = run.trials()
    assert (trial.outcome, (trial.trajectory.state or {})["inspect"].get("limit")) == ("scored", limit)
    assert run.estimate("accuracy").value == (1 if limit is None else 0)


async def test_a_worker_has_no_key_and_reaches_nothing(store: str) -> None:
    async with Endpoint(adds()) as endpoint:
        run = await proctor.evaluate_async(
            f"inspect:{FILE}@looking_around",
            agent="openai:m",
            agent_options={"base_url": endpoint.url},
            options={"port": int(endpoint.url.rpartition(":")[2]), "key": "sk-of"},
            store=store,
        )
    [result] = results(run, "confined@inspect").values()
    assert isinstance(result, Score)
    assert result.passed, result.reason
    assert endpoint.connections == 1, "ours"


def test_a_log_of_inspect_says_what_a_run_of_ours_says(store: str, tmp_path: Path) -> None:
    throwaway.run("inspect", str(FILE.with_name("in_inspect_log.py")), str(tmp_path / "logs"))
    [log] = (tmp_path / "logs").iterdir()
    imported = CliRunner().invoke(app, ["runs", "import", str(log), "--run", "log", "--store", store])
    assert imported.exit_code == 0, imported.output
    played = play_sums(store, "ours")
    read = proctor.open_run("log", store=store)
    assert points(played, "match@inspect") == points(read, read.record.main_scorer)
    assert len(points(played, "match@inspect")) == 8
    assert (played.usage.input_tokens, played.usage.output_tokens) == (56, 24)
    assert (read.usage.input_tokens, read.usage.output_tokens) == (56, 24)


def test_a_run_of_a_task_of_inspect_is_gated(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    play_sums(store, "before")
    play_sums(store, "after", wrong=-1)
    for words, code, said in (
        (["compare", "before", "after"], 0, "75.0% → 100.0%"),
        (["ci", "gate", "after", "--against", "before"], 3, "INCONCLUSIVE"),
        (["show", "after"], 0, "match/accuracy@inspect"),
        (["score", "--run", "after", "--scorer", "number"], 0, "100.0%"),
    ):
        result = CliRunner().invoke(app, [*words, "--store", store])
        assert (result.exit_code, said in result.output) == (code, True), result.output


def play_sums(store: str, run: str, wrong: int = 2) -> Any:
    """Play four sums twice each, of which the model gets one wrong."""

    async def play() -> Any:
        async with Endpoint(adds(wrong=wrong)) as endpoint:
            return await proctor.evaluate_async(
                f"inspect:{FILE}@sums",
                agent="openai:m",
                agent_options={"base_url": endpoint.url},
                options={"count": 4},
                attempts=2,
                store=store,
                run_id=run,
            )

    return asyncio.run(play())


def points(run: Any, scorer: str) -> dict[tuple[str, int], float]:
    return {key: getattr(result, "value", -1.0) for key, result in results(run, scorer).items()}


def test_an_agent_that_takes_no_tools_is_refused_where_the_task_offers_some(store: str) -> None:
    def agent(question: str) -> str:
        return "4"

    with pytest.raises(BadInput, match="cannot take the place of the model"):
        proctor.evaluate(f"inspect:{FILE}@calculator", agent=agent, store=store)


def test_an_agent_of_ours_answers_in_inspect() -> None:
    report = throwaway.run("inspect", str(FILE.with_name("in_inspect_agent.py")))
    assert report.split()[-1] == "0.8"
