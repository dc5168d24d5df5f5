"""Cases that are scenarios, played with a simulated user."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import proctor
from proctor.core.errors import BadInput, ProviderFailed
from proctor.core.sample import Message, Sample, Tool
from proctor.core.score import Score
from proctor.core.trajectory import Step, Trajectory, Usage
from proctor.core.trial import Trial
from proctor.models.scripted import Script, ScriptedModel
from proctor_adapters.evalsets.task import task_of
from proctor_adapters.users.adk import ScenarioUser, user_of

PLAN = "Book a room in Rome, then say thanks."


def scenario(**more: Any) -> dict[str, Any]:
    return {"starting_prompt": "I want to travel.", "conversation_plan": PLAN, **more}


def set_file(folder: Path, *cases: dict[str, Any]) -> Path:
    path = folder / "trips.evalset.json"
    path.write_text(json.dumps({"eval_set_id": "trips", "eval_cases": list(cases)}), encoding="utf-8")
    return path


def echo(question: str) -> str:
    return f"You said: {question}"


def always(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=1)


async def played(path: Path, script: Script, *, agent: Any = echo, max_turns: int = 20, **how: Any) -> list[Trial]:
    task = _with(path, ScenarioUser(ScriptedModel(script), max_turns))
    return list((await proctor.evaluate_async(task, agent=agent, scorers=[always], **how)).trials())


def _with(path: Path, user: ScenarioUser) -> proctor.Task:
    return replace(task_of(path, user="openai:another"), user=user)


async def test_the_user_follows_until_the_plan_is_done(tmp_path: Path) -> None:
    path = set_file(tmp_path, {"eval_id": "a", "conversation_scenario": scenario()})
    [trial] = await played(path, ["A room in Rome, please.", "Thanks!", "</finished>"])
    assert trial.outcome == "scored", trial.failure
    assert [(step.turn, step.author, step.message.text) for step in trial.trajectory.steps] == [
        (0, "agent", "You said: I want to travel."),
        (1, "user", "A room in Rome, please."),
        (1, "agent", "You said: A room in Rome, please."),
        (2, "user", "Thanks!"),
        (2, "agent", "You said: Thanks!"),
    ]


async def test_the_model_of_the_user_is_told_the_plan_the_persona_and_what_was_said(tmp_path: Path) -> None:
    persona = {"id": "hasty", "description": "always in a hurry", "behaviors": []}
    path = set_file(tmp_path, {"eval_id": "a", "conversation_scenario": scenario(user_persona=persona)})
    model = ScriptedModel(["Rome.", "I am done. </FINISHED>"])
    task = _with(path, ScenarioUser(model))
    await proctor.evaluate_async(task, agent=echo, scorers=[always])
    first, last = model.asked
    assert PLAN in first[0].text
    assert "always in a hurry" in first[0].text
    assert "</finished>" in first[0].text
    assert "user: I want to travel.\n\nagent: You said: I want to travel." in first[1].text
    assert "user: Rome.\n\nagent: You said: Rome." in last[1].text


async def test_a_known_persona_is_told_in_words(tmp_path: Path) -> None:
    path = set_file(tmp_path, {"eval_id": "a", "conversation_scenario": scenario(user_persona="NOVICE")})
    model = ScriptedModel(["</finished>"])
    await proctor.evaluate_async(_with(path, ScenarioUser(model)), agent=echo, scorers=[always])
    assert "You know little of the subject." in model.asked[0][0].text


async def test_a_conversation_ends_at_its_limit_of_turns(tmp_path: Path) -> None:
    path = set_file(tmp_path, {"eval_id": "a", "conversation_scenario": scenario()})
    [trial] = await played(path, lambda *_: "and then?", max_turns=3)
    assert {step.turn for step in trial.trajectory.steps} == {0, 1, 2}


@pytest.mark.parametrize(
    "said", [ProviderFailed("the endpoint is down", kind="http_503"), "   ", RuntimeError("broken")]
)
async def test_a_user_that_fails_is_no_failure_of_the_agent(tmp_path: Path, said: Any) -> None:
    path = set_file(tmp_path, {"eval_id": "a", "conversation_scenario": scenario()})
    [trial] = await played(path, [said], max_failed=1.0)
    assert trial.outcome == "user_failed"
    assert trial.trajectory.answer == "You said: I want to travel."


async def test_the_other_cases_of_the_set_are_left_as_they_are(tmp_path: Path) -> None:
    turn = {"user_content": {"parts": [{"text": "Hi"}]}, "final_response": {"parts": [{"text": "You said: Hi"}]}}
    path = set_file(
        tmp_path,
        {"eval_id": "plain", "conversation": [turn]},
        {"eval_id": "sim", "conversation_scenario": scenario()},
    )
    replies = tmp_path / "user.jsonl"
    replies.write_text('"Rome."\n"</finished>"\n', encoding="utf-8")
    run = await proctor.evaluate_async(str(path), agent=echo, options={"user": f"scripted:{replies}"})
    trials = {trial.sample_id: trial for trial in run.trials()}
    assert [step.author for step in trials["plain"].trajectory.steps] == ["agent"]
    assert len(trials["sim"].trajectory.steps) == 3
    estimate = run.estimate("adk:response_match_score.accuracy")
    assert (estimate.value, estimate.scored) == (1.0, 1)  # of a scenario nothing is expected


async def test_what_the_user_spends_is_counted(tmp_path: Path) -> None:
    def reply(messages: Sequence[Message], tools: Sequence[Tool]) -> Step:
        usage = Usage(input_tokens=11, output_tokens=2, requests=1)
        return Step(message=Message.of("assistant", "</finished>"), usage=usage)

    path = set_file(tmp_path, {"eval_id": "a", "conversation_scenario": scenario()})
    [trial] = await played(path, reply)
    assert (trial.usage.input_tokens, trial.usage.requests) == (11, 1)


def test_without_a_user_the_task_says_what_is_missing(tmp_path: Path) -> None:
    path = set_file(tmp_path, {"eval_id": "a", "conversation_scenario": scenario()})
    with pytest.raises(BadInput, match="needs a simulated user: name a model for it with --set user=openai:MODEL"):
        task_of(path)


def test_a_scenario_that_begins_with_nothing_is_refused(tmp_path: Path) -> None:
    path = set_file(tmp_path, {"eval_id": "a", "conversation_scenario": scenario(starting_prompt=" ")})
    with pytest.raises(BadInput, match="the user says nothing"):
        task_of(path, user="openai:m")


def test_the_user_is_a_name_or_a_name_with_options() -> None:
    assert user_of("openai:m").model.name == "m"
    assert user_of({"model": "openai:m", "temperature": 0, "max_turns": 5}).model.name == "m"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nothing:m", "No model is called"),
        ({"temperature": 0}, "user: 'model' is missing"),
        ({"model": "openai:m", "max_turns": 0}, "user: 'max_turns': expected a whole number >= 1"),
        ({"model": "openai:m", "temperatur": 0}, "Did you mean 'temperature'"),
    ],
)
def test_a_user_that_cannot_be_made_says_why(given: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        user_of(given)


def test_the_oracle_has_no_answer_to_a_scenario(tmp_path: Path) -> None:
    path = set_file(tmp_path, {"eval_id": "a", "conversation_scenario": scenario()})
    task = task_of(path, user="openai:m")
    [sample] = list(task.samples() if callable(task.samples) else task.samples)
    assert task.oracle is not None
    assert task.oracle(sample).answer == ""
