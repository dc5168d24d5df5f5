"""Agents and runners of VeADK itself as systems under test, and their sessions as eval sets; run by `test_veadk_library.py`."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_AGENT_API_KEY", "not-a-key")
    monkeypatch.setenv("LOGGING_LEVEL", "ERROR")


def _agent(**more: Any) -> Any:
    from adk_agents import ScriptedLlm, calls, last_said, lookup_price, says
    from veadk import Agent

    def where(tool_context: Any) -> dict[str, Any]:
        """Where we are."""
        return {"user": tool_context.user_id, "state": tool_context.state.to_dict()}

    from google.adk.tools.tool_context import ToolContext

    where.__annotations__["tool_context"] = ToolContext
    replies = [
        lambda request: (
            calls(("lookup_price", {"model": "A"}), ("where", {})) if last_said(request) else says("Model A costs 100.")
        )
    ]
    model = ScriptedLlm(replies=replies, asked=[])
    return Agent(name="shop", instruction="Sell.", model=model, tools=[lookup_price, where], **more)


async def _played(target: Any, **meta: Any) -> Any:
    import proctor

    samples = [proctor.Sample.ask(id, "What does A cost?", meta=meta) for id in ("a", "b")]
    task = proctor.Task(name="t", samples=samples, scorers=["exact"])
    trials = list((await proctor.evaluate_async(task, agent=target)).trials())
    assert [trial.outcome for trial in trials] == ["scored", "scored"], trials[0].failure
    return trials[0].trajectory


async def test_an_agent_runs_in_a_session_of_its_own() -> None:
    made = await _played(_agent(), session={"app_name": "other", "user_id": "u", "state": {"lang": "zh"}})
    assert [call.name for call in made.calls()] == ["lookup_price", "where"]
    assert made.answer == "Model A costs 100."
    assert made.state == {"lang": "zh"}
    assert '"user": "u"' in made.steps[1].message.parts[1].content


@pytest.mark.parametrize("session", [{}, {"app_name": "other", "user_id": "u", "session_id": "s"}])
async def test_a_runner_runs_with_its_own_memory(session: dict[str, Any]) -> None:
    from veadk import Runner
    from veadk.memory.short_term_memory import ShortTermMemory

    runner = Runner(_agent(), short_term_memory=ShortTermMemory(), app_name="mine", user_id="me")
    made = await _played(runner, session=session)
    assert made.answer == "Model A costs 100."
    assert f'"user": "{session.get("user_id", "me")}"' in made.steps[1].message.parts[1].content


async def test_sub_agents_of_a_workflow_are_told_apart() -> None:
    from adk_agents import ScriptedLlm, says
    from veadk import Agent
    from veadk.agents.sequential_agent import SequentialAgent

    parts = [Agent(name=name, model=ScriptedLlm(replies=[says(name)], asked=[])) for name in ("draft", "final")]
    made = await _played(SequentialAgent(name="row", sub_agents=parts))
    assert [(step.author, step.message.text) for step in made.steps] == [("draft", "draft"), ("final", "final")]


async def test_a_session_of_a_runner_becomes_an_eval_set(tmp_path: Path) -> None:
    from veadk import Runner
    from veadk.memory.short_term_memory import ShortTermMemory

    import proctor
    from proctor_adapters.evalsets.read import read

    runner = Runner(_agent(), short_term_memory=ShortTermMemory(), app_name="mine", user_id="me")
    assert await runner.run("What does A cost?", session_id="s1") == "Model A costs 100."
    path = await proctor.save_eval_set(runner, tmp_path / "shop.evalset.json", session_id="s1")
    [case] = read(path).eval_set.eval_cases
    assert case.session_input is not None
    assert (case.session_input.app_name, case.session_input.user_id) == ("mine", "me")
    run = await proctor.evaluate_async(str(path), agent=_agent())
    assert run.estimate("adk:passed.accuracy").value == 1.0


def test_a_folder_of_veadk_is_loaded(tmp_path: Path) -> None:
    from proctor_adapters.agents import adk

    folder = tmp_path / "ve_shop"
    folder.mkdir()
    (folder / "agent.py").write_text("from veadk import Agent\nroot_agent = Agent(name='shop', model_api_key='x')\n")
    assert adk.make(str(folder), {}).name == f"adk:{folder}"
