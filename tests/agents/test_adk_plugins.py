"""Tool calls that are answered by what the case recorded: no tool runs, and the agent sees what it saw then."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="needs the extra 'adk'")

from adk_agents import agent, calls, says
from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner

from proctor import evaluate
from proctor.api import resolve
from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.sample import ToolResult
from proctor.core.trajectory import Trajectory
from proctor_adapters.agents import adk

ran: list[str] = []


def price(model: str) -> dict[str, Any]:
    """The price of a model."""
    ran.append(model)
    return {"price": 1}


def root(*asked: str) -> LlmAgent:
    return agent(calls(*(("price", {"model": model}) for model in asked)), says("done"), tools=[price])


def case(*results: tuple[str, int], shape: str = "lists") -> dict[str, Any]:
    made = [{"id": f"c{place}", "name": "price", "args": {"model": model}} for place, (model, _) in enumerate(results)]
    gave = [
        {"id": f"c{place}", "name": "price", "response": {"price": value}} for place, (_, value) in enumerate(results)
    ]
    events = [
        {"author": "root", "content": {"role": "model", "parts": [{"functionCall": one} for one in made]}},
        {"author": "root", "content": {"role": "user", "parts": [{"functionResponse": one} for one in gave]}},
    ]
    data = {"tool_uses": made, "tool_responses": gave[::-1]} if shape == "lists" else {"invocation_events": events}
    turn = {
        "user_content": {"parts": [{"text": "?"}]},
        "final_response": {"parts": [{"text": "done"}]},
        "intermediate_data": data,
    }
    return {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [turn]}]}


def play(tmp_path: Path, value: dict[str, Any], target: object, wanted: str) -> Trajectory:
    ran.clear()
    (tmp_path / "s.evalset.json").write_text(json.dumps(value))
    wrapped = adk._make_agent(target, "root", converted({"tool_results": wanted}, adk.AdkAgentOptions, "adk"))
    run = evaluate(str(tmp_path / "s.evalset.json"), agent=wrapped, store=":memory:")
    [trial] = run.trials()
    assert trial.outcome == "scored"
    return trial.trajectory


def results(made: Trajectory) -> list[Any]:
    return [
        json.loads(part.content) for step in made.steps for part in step.message.parts if isinstance(part, ToolResult)
    ]


@pytest.mark.parametrize("shape", ["lists", "events"])
def test_calls_get_the_results_that_were_recorded_for_them(shape: str, tmp_path: Path) -> None:
    made = play(tmp_path, case(("A", 100), ("B", 200), shape=shape), root("B", "A"), "recorded")
    assert results(made) == [{"price": 200}, {"price": 100}]
    assert made.answer == "done"
    assert ran == []


def test_a_result_is_used_once_and_a_call_without_one_is_an_error_for_the_agent(tmp_path: Path) -> None:
    made = play(tmp_path, case(("A", 100)), root("A", "A"), "recorded")
    assert results(made) == [{"price": 100}, {"error": "No result is recorded for this call."}]
    assert ran == []


def test_a_call_without_a_result_may_run_its_tool(tmp_path: Path) -> None:
    made = play(tmp_path, case(("A", 100)), root("A", "B"), "recorded_or_real")
    assert results(made) == [{"price": 100}, {"price": 1}]
    assert ran == ["B"]


def test_tools_run_where_nothing_else_is_said(tmp_path: Path) -> None:
    assert results(play(tmp_path, case(("A", 100)), root("A"), "real")) == [{"price": 1}]
    assert ran == ["A"]


def test_a_runner_has_recorded_results_too(tmp_path: Path) -> None:
    runner = InMemoryRunner(agent=root("A"), app_name="shop")
    assert results(play(tmp_path, case(("A", 100)), runner, "recorded")) == [{"price": 100}]


def test_a_hand_over_is_made_and_not_played_back(tmp_path: Path) -> None:
    clerk = agent(calls(("price", {"model": "A"})), says("done"), name="clerk", tools=[price])
    head = agent(calls(("transfer_to_agent", {"agent_name": "clerk"})), says("lost"), sub_agents=[clerk])
    made = play(tmp_path, case(("A", 100)), head, "recorded")
    assert made.answer == "done"
    assert {"price": 100} in results(made)


def test_another_word_is_refused() -> None:
    with pytest.raises(BadInput, match="tool_results"):
        converted({"tool_results": "fake"}, adk.AdkAgentOptions, "adk")


def test_an_agent_without_recorded_results_refuses_the_option() -> None:
    with pytest.raises(BadInput, match="tool_results"):
        resolve.agent("openai:m", {"tool_results": "recorded"})
