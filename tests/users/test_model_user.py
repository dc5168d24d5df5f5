"""A simulated user that is a model: what it is asked, what it costs, and what happens when it breaks."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import endpoint as server
import pytest

import proctor
from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, Tool
from proctor.core.score import Score
from proctor.core.task import Task
from proctor.core.trajectory import Step, Trajectory, Usage
from proctor.core.trial import Trial
from proctor.models.scripted import ScriptedModel
from proctor.users import model

SCENARIO = {"goal": "Book a room in Rome.", "knows": {"nights": 2}, "persona": "in a hurry"}
BEGUN = Sample(id="a", turns=(), meta={"scenario": SCENARIO})
RETRIES = {"retries": 0}


async def echo(question: str) -> str:
    return f"You said: {question}"


def always(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=1)


async def run_with(user: Any, *samples: Sample, **how: Any) -> proctor.Run:
    task = Task(name="talk", samples=samples or [BEGUN], scorers=[always])
    how = {"agent": echo, "store": ":memory:", "max_failed": 1.0, **how}
    return await proctor.evaluate_async(task, user=user, **how)


async def trial_with(user: Any, *samples: Sample, **how: Any) -> Trial:
    [trial] = (await run_with(user, *samples, **how)).trials()
    return trial


def user_of(*script: Any, **options: Any) -> tuple[model.ModelUser, ScriptedModel]:
    asked = ScriptedModel(script[0] if callable(script[0]) else script)
    return model.ModelUser(asked, model.ModelUserOptions(**options)), asked


async def test_the_model_sees_the_conversation_from_the_other_side() -> None:
    user, asked = user_of("A room, please.", "Two nights.", "[done]")
    await trial_with(user)
    last = asked.asked[-1]
    assert [one.role for one in last] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert [one.text for one in last[2:]] == [
        "A room, please.",
        "You said: A room, please.",
        "Two nights.",
        "You said: Two nights.",
    ]
    told = last[0].text
    for part in ("Book a room in Rome.", '{"nights": 2}', "in a hurry", "[DONE]"):
        assert part in told


async def test_calls_and_results_of_the_agent_are_not_shown() -> None:
    def agent(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        call = {"id": "1", "type": "function", "function": {"name": "secret_tool", "arguments": "{}"}}
        return [
            {"role": "assistant", "content": "One moment.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": "secret result"},
            {"role": "assistant", "content": "Booked."},
        ]

    user, asked = user_of("A room.", "[DONE]")
    await trial_with(user, agent=agent)
    assert asked.asked[-1][-1].text == "One moment.\n\nBooked."


async def test_the_instructions_are_in_the_language_of_the_goal() -> None:
    user, asked = user_of("[DONE]")
    await trial_with(user, Sample(id="a", turns=(), meta={"scenario": {"goal": "在罗马订一间房，住两晚。"}}))
    assert "你扮演" in asked.asked[0][0].text
    user, asked = user_of("[DONE]")
    await trial_with(user, Sample(id="a", turns=(), meta={"scenario": {**SCENARIO, "language": "French"}}))
    assert "Speak French." in asked.asked[0][0].text


async def test_options_are_for_samples_that_do_not_say() -> None:
    user, asked = user_of(lambda *_: "ENDE", goal="Ask anything.", persona="polite", stop="ENDE")
    await run_with(user, Sample.ask("plain", "Hello?"), BEGUN)
    told = [one[0].text for one in asked.asked]
    assert sum("Ask anything." in text and "polite" in text for text in told) == 1
    assert sum("Book a room in Rome." in text and "in a hurry" in text for text in told) == 1


async def test_a_sample_without_a_scenario_is_over_after_its_own_turns() -> None:
    user, asked = user_of("never")
    trial = await trial_with(user, Sample.ask("plain", "Hello?"))
    assert (trial.outcome, len(trial.trajectory.steps), asked.asked) == ("scored", 1, [])


async def test_the_first_words_and_the_system_message_of_the_agent_may_be_given() -> None:
    heard: list[Any] = []

    def agent(messages: list[dict[str, Any]]) -> str:
        heard.extend(messages)
        return "Yes."

    user, _ = user_of("[DONE]")
    scenario = {**SCENARIO, "opening": "Hi there.", "system": "You sell rooms."}
    await trial_with(user, Sample(id="a", turns=(), meta={"scenario": scenario}), agent=agent)
    assert [(one["role"], one["content"]) for one in heard] == [("system", "You sell rooms."), ("user", "Hi there.")]


async def test_words_that_leak_the_instructions_end_the_sample_as_the_users_failure() -> None:
    user, _ = user_of("Sure. " + model.RULES["en"][0])
    trial = await trial_with(user)
    assert trial.failure is not None
    assert (trial.outcome, trial.failure.kind) == ("user_failed", "leak")


async def test_failures_are_counted_by_kind() -> None:
    samples = [Sample.ask(str(number), "A room?", meta={"scenario": SCENARIO}) for number in range(4)]
    user, _ = user_of(" ", "How can I help you?", "  ", "[DONE]")
    run = await run_with(user, *samples, concurrency=1)
    kinds = sorted(trial.failure.kind for trial in run.trials(outcome="user_failed") if trial.failure is not None)
    assert kinds == ["empty", "empty", "role"]
    assert run.outcomes["user_failed"] == 3


@pytest.mark.parametrize(
    ("answer", "options", "kind"),
    [
        (server.data({"error": "down"}, 500), RETRIES, "http_500"),
        (server.chat(None), {}, "empty"),
        (server.chat("late", seconds=3), {**RETRIES, "timeout": 0.2}, "timeout"),
        (server.body(b"no json"), RETRIES, "broken_body"),
    ],
)
async def test_an_endpoint_that_fails_is_the_users_failure(answer: Any, options: dict[str, Any], kind: str) -> None:
    async with server.Endpoint(answer) as place:
        options = {"base_url": f"{place.url}/v1", **options}
        trial = await trial_with("model:openai:m", user_options=options)
    assert trial.outcome == "user_failed"
    assert trial.failure is not None
    assert trial.failure.kind == kind or kind == "broken_body"


async def test_a_user_that_takes_most_of_the_time_is_to_blame_for_its_end() -> None:
    async def sleeps(words: str) -> str | None:
        if words:
            await asyncio.sleep(30)
        return "A room?"

    trial = await trial_with(sleeps, limits={"seconds": 0.3})
    assert trial.failure is not None
    assert (trial.outcome, trial.failure.kind) == ("user_failed", "time_limit")
    assert trial.trajectory.answer == "You said: A room?"

    async def slow(question: str) -> str:
        await asyncio.sleep(30)
        return "late"

    user, _ = user_of("A room?")
    assert (await trial_with(user, agent=slow, limits={"seconds": 0.3})).outcome == "agent_failed"


async def test_a_refused_key_stops_the_run() -> None:
    async with server.Endpoint(server.data({"error": "no"}, 401)) as place:
        with pytest.raises(BadInput):
            await run_with("model:openai:m", user_options={"base_url": f"{place.url}/v1"})


async def test_what_the_model_uses_is_in_the_usage_and_in_the_budget() -> None:
    async with server.Endpoint(server.chat("And more?"), server.chat("[DONE]")) as place:
        options = {"base_url": f"{place.url}/v1"}
        trial = await trial_with("model:openai:m", user_options=options)
    assert (trial.usage.input_tokens, trial.usage.output_tokens, trial.usage.requests) == (14, 6, 2)


async def test_a_budget_that_ends_in_a_reply_of_the_user_skips_the_sample() -> None:
    samples = [Sample(id=str(number), turns=(), meta={"scenario": SCENARIO}) for number in range(5)]
    async with server.Endpoint(*(server.chat(f"And {number}?") for number in range(100))) as place:
        options = {"base_url": f"{place.url}/v1", "max_turns": 10, "at_limit": "score"}
        run = await run_with("model:openai:m", *samples, user_options=options, budget={"requests": 13}, concurrency=1)
        assert len(place.requests) <= 13
    assert run.record.state == "inconclusive"
    assert run.outcomes["scored"] == 1
    assert run.outcomes["skipped"] >= 1
    assert "user_failed" not in run.outcomes
    assert run.usage.requests <= 13


async def test_a_budget_in_money_needs_the_price_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    agent = "baseline:echo"
    with pytest.raises(BadInput, match=r'\[prices\."m"\]'):
        await run_with("model:openai:m", agent=agent, budget={"money": 1.0})
    (tmp_path / "proctor.toml").write_text("[prices.m]\ninput = 1.0\noutput = 2.0\n", encoding="utf-8")
    async with server.Endpoint(server.chat("[DONE]")) as place:
        options = {"base_url": f"{place.url}/v1"}
        run = await run_with("model:openai:m", agent=agent, user_options=options, budget={"money": 1.0})
    assert run.usage.cost == pytest.approx((7 * 1.0 + 3 * 2.0) / 1e6)


async def test_the_same_conversation_has_the_same_user_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    async with server.Endpoint(*(server.chat(f"Word {number}") for number in range(50))) as place:
        options = {"base_url": f"{place.url}/v1", "max_turns": 4, "at_limit": "score", "temperature": 1}
        runs = [
            await run_with("model:openai:m", user_options=options, cache=True, seed=seed, attempts=2)
            for seed in (5, 5, 6)
        ]
        seeds = [request.json["seed"] for request in place.requests]
    first, again, other = ([trial.trajectory.steps[0].message.text for trial in run.trials()] for run in runs)
    assert first == again
    assert set(first).isdisjoint(other)
    assert len(set(first)) == 2  # each attempt has a user of its own
    assert {*seeds} == {5, 6, 7}
    assert runs[1].usage.input_tokens == 0


async def test_a_user_may_be_priced_by_what_it_reports() -> None:
    def reply(messages: Sequence[Message], tools: Sequence[Tool]) -> Step:
        return Step(message=Message.of("assistant", "[DONE]"), usage=Usage(input_tokens=5, requests=1, cost=0.5))

    user, _ = user_of(reply)
    assert (await trial_with(user)).usage.cost == 0.5


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("model:", {}, "needs a model. Name one, for example --user model:openai:MODEL"),
        ("adk:", {}, "needs a model. Name one, for example --user adk:openai:MODEL"),
        ("model:nothing:m", {}, "No model is called"),
        ("openai:m", {}, "Did you mean 'model:openai:m'"),
        ("modle:openai:m", {}, "No simulated user is called"),
        ("model:openai:m", {"max_turns": 0}, "max_turns"),
        ("model:openai:m", {"at_limit": "go on"}, "at_limit"),
        ("model:openai:m", {"temprature": 0}, "Did you mean 'temperature'"),
        (None, {"max_turns": 3}, "There is no simulated user that could take options"),
        (lambda: None, {}, "is no simulated user"),
    ],
)
async def test_a_user_that_cannot_be_made_says_why(name: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        await run_with(name, user_options=options)


async def test_a_task_with_a_user_of_its_own_keeps_it() -> None:
    own, _ = user_of("[DONE]")
    task = Task(name="talk", samples=[BEGUN], scorers=[always], user=own)
    with pytest.raises(BadInput, match="has a simulated user of its own"):
        await proctor.evaluate_async(task, agent=echo, user="scripted", store=":memory:")


@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        ({"gaol": "x"}, "a scenario has no 'gaol'. Did you mean 'goal'"),
        ({"persona": "x"}, "neither a goal nor a script"),
        ({"goal": "x", "max_turns": 0}, "max_turns"),
    ],
)
async def test_a_malformed_scenario_is_refused(scenario: Any, said: str) -> None:
    user, _ = user_of("[DONE]")
    with pytest.raises(BadInput, match=said):
        await run_with(user, Sample(id="a", turns=(), meta={"scenario": scenario}))
