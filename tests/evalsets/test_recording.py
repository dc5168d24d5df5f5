"""Conversations become cases of eval-set files."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.core.errors import AgentFailed, BadInput
from proctor.core.sample import File, Message, Reasoning, Sample, Text, ToolCall, ToolResult, Turn
from proctor.core.task import Task
from proctor.core.trajectory import Step
from proctor_adapters.evalsets import recording
from proctor_adapters.evalsets.noun import as_json
from proctor_adapters.evalsets.read import read
from proctor_adapters.evalsets.recording import case_of, save_case

adk = pytest.importorskip("google.adk", reason="needs the extra 'adk'")

from adk_agents import agent, calls, last_said, lookup_price, says  # noqa: E402
from google.adk.evaluation.eval_set import EvalSet  # noqa: E402
from google.adk.runners import InMemoryRunner  # noqa: E402
from google.genai import types  # noqa: E402

from proctor_compat.veadk import EvalSetRecorder  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


def shop(*, name: str = "shop_agent") -> Any:
    return agent(
        lambda request: (
            calls(("lookup_price", {"model": "A"}), text="Let me look.")
            if last_said(request)
            else says("Model A costs 100.", thought="found it")
        ),
        name=name,
        tools=[lookup_price],
    )


async def talked(runner: InMemoryRunner, *said: str, state: dict[str, Any] | None = None) -> Any:
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u", state=state)
    for text in said:
        content = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=content):
            pass
    return await runner.session_service.get_session(app_name=runner.app_name, user_id="u", session_id=session.id)


async def test_a_session_becomes_a_case_that_its_own_agent_passes(tmp_path: Path) -> None:
    path = tmp_path / "shop.evalset.json"
    session = await talked(InMemoryRunner(shop(), app_name="shop"), "What does A cost?", "And now?")
    assert await proctor.save_eval_set(session, path, eval_id="price") == path
    [case] = read(path).eval_set.eval_cases
    assert (case.eval_id, case.session_input and case.session_input.app_name) == ("price", "shop")
    assert [len(turn.intermediate_data.calls()) for turn in case.conversation or () if turn.intermediate_data] == [1, 1]
    run = await proctor.evaluate_async(str(path), agent=shop())
    assert run.estimate("adk:passed.accuracy").value == 1.0
    run = await proctor.evaluate_async(str(path), agent=agent(says("No idea.")))
    assert run.estimate("adk:tool_trajectory_avg_score.accuracy").value == 0.0


async def test_ids_times_and_roles_of_a_session_are_kept(tmp_path: Path) -> None:
    session = await talked(InMemoryRunner(shop(), app_name="shop"), "What does A cost?", "And now?")
    path = await proctor.save_eval_set(session, tmp_path / "shop.evalset.json")
    [case] = read(path).eval_set.eval_cases
    asked = [event for event in session.events if event.author == "user"]
    turns = case.conversation or []
    assert [(turn.invocation_id, turn.creation_timestamp) for turn in turns] == [
        (event.invocation_id, event.timestamp) for event in asked
    ]
    events = turns[0].intermediate_data.invocation_events if turns[0].intermediate_data else []
    assert [event.content and event.content.role for event in events] == ["model", "user", "model"]


async def test_a_recorder_manages_its_sets_by_the_names_of_adk(tmp_path: Path) -> None:
    recorder = EvalSetRecorder(None, agents_dir=tmp_path)
    recorder.create_eval_set("shop", "first")
    made = {"evalId": "a", "conversation": [{"userContent": {"parts": [{"text": "Hi"}]}}]}
    recorder.add_eval_case("shop", "first", made)
    recorder.update_eval_case("shop", "first", {**made, "creation_timestamp": 7})
    found = recorder.get_eval_case("shop", "first", "a")
    assert found is not None
    assert found.creation_timestamp == 7
    assert recorder.list_eval_sets("shop") == ["first"]
    recorder.delete_eval_case("shop", "first", "a")
    left = recorder.get_eval_set("shop", "first")
    assert left is not None
    assert left.eval_cases == []
    assert recorder.get_eval_case("shop", "first", "a") is None
    assert recorder.get_eval_set("shop", "second") is None
    for wrong in (
        lambda: recorder.delete_eval_case("shop", "first", "a"),
        lambda: recorder.create_eval_set("shop", "first"),
        lambda: recorder.list_eval_sets("other"),
    ):
        with pytest.raises(BadInput):
            wrong()


async def test_google_adk_itself_loads_what_was_recorded(tmp_path: Path) -> None:
    path = tmp_path / "shop.evalset.json"
    runner = InMemoryRunner(shop(), app_name="shop")
    for question in ("What does A cost?", "你好，A 多少钱？"):
        await proctor.save_eval_set(await talked(runner, question, state={"lang": "zh"}), path)
    loaded = EvalSet.model_validate_json(path.read_text(encoding="utf-8"))
    assert len(loaded.eval_cases) == 2
    assert len({case.eval_id for case in loaded.eval_cases}) == 2
    [turn] = loaded.eval_cases[1].conversation or []
    assert turn.user_content.parts is not None
    assert turn.user_content.parts[0].text == "你好，A 多少钱？"
    assert turn.final_response is not None
    assert [part.text for part in turn.final_response.parts or ()] == ["Model A costs 100."]


async def test_a_runner_is_asked_for_its_session(tmp_path: Path) -> None:
    runner = InMemoryRunner(shop(), app_name="shop")
    session = await talked(runner, "What does A cost?")
    path = await proctor.save_eval_set(runner, tmp_path / "a.evalset.json", session_id=session.id, user_id="u")
    assert len(read(path).eval_set.eval_cases) == 1
    with pytest.raises(BadInput, match="'shop' has no session 'nothing' of the user 'u'"):
        await proctor.save_eval_set(runner, path, session_id="nothing", user_id="u")
    with pytest.raises(BadInput, match="A runner has many sessions"):
        await proctor.save_eval_set(runner, path, session_id=session.id)
    with pytest.raises(BadInput, match="is needed to save an eval set, not int"):
        await proctor.save_eval_set(3, path)


async def test_the_state_at_the_beginning_and_at_the_end_are_told_apart(tmp_path: Path) -> None:
    def buy(tool_context: Any) -> str:
        """Buy."""
        tool_context.state["bought"] = 1
        tool_context.state["temp:note"] = "x"
        return "ok"

    from google.adk.tools.tool_context import ToolContext

    buy.__annotations__["tool_context"] = ToolContext
    buyer = agent(lambda request: calls(("buy", {})) if last_said(request) else says("done"), tools=[buy])
    session = await talked(InMemoryRunner(buyer, app_name="shop"), "buy", state={"lang": "zh"})
    path = await proctor.save_eval_set(session, tmp_path / "s.evalset.json")
    [case] = read(path).eval_set.eval_cases
    assert case.session_input is not None
    assert case.session_input.state == {"lang": "zh"}
    assert case.final_session_state == {"lang": "zh", "bought": 1}


async def test_the_steps_of_sub_agents_keep_their_authors(tmp_path: Path) -> None:
    clerk = agent(says("100"), name="clerk")
    desk = agent(calls(("transfer_to_agent", {"agent_name": "clerk"})), name="desk", sub_agents=[clerk])
    path = await proctor.save_eval_set(
        await talked(InMemoryRunner(desk, app_name="shop"), "?"), tmp_path / "s.evalset.json"
    )
    [turn] = read(path).eval_set.eval_cases[0].conversation or []
    assert turn.intermediate_data is not None
    assert [event.author for event in turn.intermediate_data.invocation_events] == ["desk", "desk"]
    assert [call.name for call in turn.intermediate_data.calls()] == ["transfer_to_agent"]


async def test_a_session_in_which_nothing_was_asked_is_no_case(tmp_path: Path) -> None:
    session = await talked(InMemoryRunner(shop(), app_name="shop"))
    with pytest.raises(BadInput, match="nothing was asked"):
        await proctor.save_eval_set(session, tmp_path / "s.evalset.json")
    assert not list(tmp_path.iterdir())


async def test_the_file_is_called_after_its_set_when_it_is_not_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    session = await talked(InMemoryRunner(shop(), app_name="shop"), "?")
    assert await proctor.save_eval_set(session) == Path("default.evalset.json")
    assert await proctor.save_eval_set(session, eval_set_id="mine-2") == Path("mine-2.evalset.json")
    assert read("mine-2.evalset.json").eval_set.eval_set_id == "mine-2"
    with pytest.raises(BadInput, match="is no id of an eval set"):
        await proctor.save_eval_set(session, eval_set_id="../elsewhere")


async def test_an_id_that_is_taken_is_refused_and_one_of_ours_gets_a_number(tmp_path: Path) -> None:
    path = tmp_path / "s.evalset.json"
    session = await talked(InMemoryRunner(shop(), app_name="shop"), "?")
    await proctor.save_eval_set(session, path, eval_id="a")
    before = path.read_bytes()
    with pytest.raises(BadInput, match="has a case 'a' already"):
        await proctor.save_eval_set(session, path, eval_id="a")
    assert path.read_bytes() == before
    for _ in range(3):
        await proctor.save_eval_set(session, path)
    ids = [case.eval_id for case in read(path).eval_set.eval_cases]
    assert len(set(ids)) == 4


def played(*texts: str) -> list[tuple[Turn, list[Step]]]:
    return [
        (Turn(messages=(Message.of("user", text),)), [Step(message=Message.of("assistant", "ok"))]) for text in texts
    ]


def test_what_stands_in_the_file_is_kept_and_an_older_shape_copied(tmp_path: Path) -> None:
    path = tmp_path / "old.evalset.json"
    path.write_text('[{"name": "first", "data": [{"query": "Hi", "reference": "Hello"}]}]', encoding="utf-8")
    assert save_case(path, case_of("second", played("Hi"))) == "second"
    assert [case.eval_id for case in read(path).eval_set.eval_cases] == ["first", "second"]
    assert json.loads((tmp_path / "old.evalset.json.bak").read_text())[0]["name"] == "first"


def test_a_file_that_is_broken_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "broken.evalset.json"
    path.write_text('{"eval_set_id": ', encoding="utf-8")
    with pytest.raises(BadInput, match=r"broken\.evalset\.json"):
        save_case(path, case_of("a", played("Hi")))
    assert path.read_text(encoding="utf-8") == '{"eval_set_id": '
    assert [one.name for one in tmp_path.iterdir()] == ["broken.evalset.json"]


def test_a_place_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="cannot be written"):
        save_case(tmp_path / "file" / "a.evalset.json", case_of("a", played("Hi")))


def test_many_may_record_into_one_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "many.evalset.json"
    threads = [
        threading.Thread(target=save_case, args=(path, case_of(f"c{number % 5}", played("Hi")))) for number in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = [case.eval_id for case in read(path).eval_set.eval_cases]
    assert len(set(ids)) == 20


def test_every_kind_of_part_is_kept(tmp_path: Path) -> None:
    asked = Message(
        role="user", parts=(Text(text="Look"), File(name="a.png", media_type="image/png", data=b"\x89PNG\xff"))
    )
    steps = [
        Step(
            message=Message(
                role="assistant",
                parts=(
                    Reasoning(text="hm"),
                    Text(text="wait"),
                    ToolCall(name="f", arguments={"x": [1, {"y": None}]}, id="1"),
                    ToolCall(name="g", raw="null"),
                ),
            ),
            author="helper",
        ),
        Step(message=Message(role="tool", parts=(ToolResult(name="f", content='{"ok": true}', id="1"),))),
        Step(message=Message(role="tool", parts=(ToolResult(name="g", content="plain words"),))),
        Step(message=Message(role="assistant", parts=(Text(text="It is"), Text(text="a cat.")))),
    ]
    path = tmp_path / "parts.evalset.json"
    save_case(path, case_of("a", [(Turn(messages=(asked,)), steps)]))
    EvalSet.model_validate_json(path.read_text(encoding="utf-8"))
    [turn] = read(path).eval_set.eval_cases[0].conversation or []
    assert as_json(turn)["user_content"]["parts"][1]["inline_data"]["data"] == "iVBOR/8="
    assert turn.intermediate_data is not None
    assert [(call.name, call.args) for call in turn.intermediate_data.calls()] == [
        ("f", {"x": [1, {"y": None}]}),
        ("g", None),
    ]
    parts = [
        part
        for event in turn.intermediate_data.invocation_events
        for part in (event.content and event.content.parts) or ()
    ]
    assert [part.function_response.response for part in parts if part.function_response] == [
        {"ok": True},
        {"result": "plain words"},
    ]
    assert [(part.text, part.thought) for part in parts if part.text] == [("hm", True), ("wait", None)]
    assert turn.final_response is not None
    assert [part.text for part in turn.final_response.parts or ()] == ["It is", "a cat."]


def test_a_turn_without_an_answer_is_a_case_of_calls_alone(tmp_path: Path) -> None:
    steps = [Step(message=Message(role="assistant", parts=(ToolCall(name="f"),)))]
    case = case_of("a", [(Turn(messages=(Message.of("user", "go"),)), steps)])
    [turn] = case.conversation or []
    assert turn.final_response is None
    assert turn.intermediate_data is not None
    assert [call.name for call in turn.intermediate_data.calls()] == ["f"]


async def test_every_conversation_of_any_agent_becomes_a_case(tmp_path: Path) -> None:
    def reply(messages: list[dict[str, Any]]) -> str:
        if messages[-1]["content"] == "break":
            raise AgentFailed("broken")
        return f"{len(messages)}: {messages[-1]['content']}"

    session = {"app_name": "shop", "user_id": "u", "state": {"lang": "en"}}
    samples = [
        Sample(
            id="talk",
            turns=tuple(Turn(messages=(Message.of("user", text),)) for text in ("one", "two")),
            meta={"session": session},
        ),
        Sample.ask("breaks", "break"),
    ]
    path = tmp_path / "new" / "talks.evalset.json"
    task = Task(name="t", samples=samples, scorers=["exact"])
    await proctor.evaluate_async(task, agent=proctor.record(reply, path), attempts=2)
    cases = read(path).eval_set.eval_cases
    assert sorted(case.eval_id for case in cases) == ["talk", "talk-2"]
    assert cases[0].session_input is not None
    assert cases[0].session_input.state == {"lang": "en"}
    run = await proctor.evaluate_async(str(path), agent=reply, options={"criteria": {"response_match_score": 1.0}})
    assert run.estimate("accuracy").value == 1.0


async def test_a_recorded_agent_is_opened_and_closed_as_itself(tmp_path: Path) -> None:
    root = shop()
    path = tmp_path / "s.evalset.json"
    task = Task(name="t", samples=[Sample.ask("a", "What does A cost?")], scorers=["exact"])
    run = await proctor.evaluate_async(task, agent=proctor.record(root, path))
    [trial] = run.trials()
    assert trial.trajectory.tools == "native"
    assert trial.trajectory.state == {}
    [case] = read(path).eval_set.eval_cases
    [turn] = case.conversation or []
    assert turn.intermediate_data is not None
    assert [call.name for call in turn.intermediate_data.calls()] == ["lookup_price"]


def test_a_session_of_the_wrong_shape_is_told_of() -> None:
    assert recording.session_input(None) is None
    made = recording.session_input({"app_name": "a", "user_id": None, "state": {"x": 1}})
    assert made is not None
    assert (made.app_name, made.user_id, made.state) == ("a", "", {"x": 1})
