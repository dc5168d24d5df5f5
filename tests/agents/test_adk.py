"""Agents of google-adk itself, with a model that says what it is told to."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="needs the extra 'adk'")

import httpx
import openai
from adk_agents import ScriptedLlm, agent, calls, last_said, lookup_price, model_of, says
from google.adk.agents import BaseAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.apps import App
from google.adk.events import Event
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.long_running_tool import LongRunningFunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import errors, types
from played import conversations, outline

import proctor
from proctor.core.errors import BadInput
from proctor.core.run import Limits
from proctor.core.sample import File, Message, Reasoning, Sample, Text, ToolResult, Turn
from proctor.core.task import Task
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Trial
from proctor_adapters.agents import adk

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the library's own, of its newest version


def ask(*questions: str, id: str = "s", **meta: Any) -> Sample:
    turns = tuple(Turn(messages=(Message.of("user", question),)) for question in questions)
    return Sample(id=id, turns=turns, meta=meta)


async def trial_of(target: object, *samples: Sample, **how: Any) -> list[Trial]:
    task = Task(name="t", samples=list(samples), scorers=["exact"])
    return list((await proctor.evaluate_async(task, agent=target, **{"order": "official", **how})).trials())


async def play(target: object, *questions: str, **meta: Any) -> Trajectory:
    [trial] = await trial_of(target, ask(*questions, **meta))
    assert trial.outcome == "scored", trial.failure
    return trial.trajectory


async def test_calls_results_answer_usage_and_times_become_steps() -> None:
    root = agent(
        calls(("lookup_price", {"model": "A"}), ("lookup_price", {"model": "B"}), text="One moment."),
        says("A costs 100.", "B costs 200.", thought="compare them"),
        tools=[lookup_price],
    )
    made = await play(root, "What do A and B cost?")
    assert [(call.name, call.arguments) for call in made.calls()] == [
        ("lookup_price", {"model": "A"}),
        ("lookup_price", {"model": "B"}),
    ]
    [results] = [step.message.parts for step in made.steps if step.message.role == "tool"]
    assert [json.loads(part.content) for part in results if isinstance(part, ToolResult)] == [
        {"price": 100},
        {"price": 200},
    ]
    assert [part.id for part in results if isinstance(part, ToolResult)] == [call.id for call in made.calls()]
    assert made.steps[-1].message.parts == (
        Reasoning(text="compare them"),
        Text(text="A costs 100."),
        Text(text="B costs 200."),
    )
    assert made.tools == "native"
    assert (made.usage.input_tokens, made.usage.output_tokens, made.usage.requests) == (17, 8, 2)
    assert all(step.started > 0 and step.seconds >= 0 for step in made.steps)
    assert sum(step.seconds for step in made.steps) > 0


async def test_a_conversation_is_one_session_and_its_state_is_kept() -> None:
    def note(key: str, tool_context: ToolContext) -> str:
        """Note something."""
        tool_context.state["noted"] = [*tool_context.state.get("noted", []), key]
        return "ok"

    def reply(request: LlmRequest) -> LlmResponse:
        said = last_said(request)
        if said:
            return calls(("note", {"key": said}))
        return says(f"I have seen {sum(content.role == 'user' for content in request.contents)} messages.")

    made = await play(agent(reply, tools=[note]), "one", "two", session={"app_name": "shop", "user_id": "u"})
    assert [step.turn for step in made.steps] == [0, 0, 0, 1, 1, 1]
    assert made.answer == "I have seen 4 messages."  # two of the user, two results of tools
    assert made.state == {"noted": ["one", "two"]}


async def test_a_session_begins_as_the_case_says() -> None:
    def where(tool_context: ToolContext) -> dict[str, Any]:
        """Where we are."""
        session = tool_context.session
        return {
            "app": session.app_name,
            "user": session.user_id,
            "id": session.id,
            "state": tool_context.state.to_dict(),
        }

    session = {"app_name": "my shop!", "user_id": "u-1", "session_id": "fixed", "state": {"lang": "zh"}}
    made = await play(agent(calls(("where", {})), says("done"), tools=[where]), "?", session=session)
    [result] = [part for step in made.steps for part in step.message.parts if isinstance(part, ToolResult)]
    assert json.loads(result.content) == {"app": "my shop!", "user": "u-1", "id": "fixed", "state": {"lang": "zh"}}


@pytest.mark.parametrize("session", [None, {}, {"app_name": "", "user_id": "", "session_id": None, "state": {}}])
async def test_a_case_without_a_session_runs_too(session: Any) -> None:
    assert (await play(agent(says("hi")), "?", **({} if session is None else {"session": session}))).answer == "hi"


async def test_a_session_of_the_wrong_type_is_an_error() -> None:
    with pytest.raises(BadInput, match="session of the sample 's': 'app_name': expected a text"):
        await play(agent(says("hi")), "?", session={"app_name": 3})


@pytest.mark.parametrize("given", ["agent", "runner"])
async def test_no_attempt_sees_what_another_one_left(given: str) -> None:
    def count(tool_context: ToolContext) -> str:
        """Count."""
        tool_context.state["count"] = tool_context.state.get("count", 0) + 1
        tool_context.state["list"].append(1)
        return "ok"

    def reply(request: LlmRequest) -> LlmResponse:
        return calls(("count", {})) if last_said(request) else says("done")

    root = agent(reply, tools=[count])
    target = root if given == "agent" else InMemoryRunner(root, app_name="shop")
    session = {"app_name": "shop", "user_id": "u", "session_id": "the-same", "state": {"list": []}}
    samples = [ask("go", id=str(number), session=session) for number in range(3)]
    trials = await trial_of(target, *samples, attempts=2, concurrency=6)
    assert [trial.trajectory.state for trial in trials] == [{"count": 1, "list": [1]}] * 6


async def test_the_agent_is_called_once_for_each_attempt_and_turn() -> None:
    root = agent(lambda request: says(last_said(request)))
    await trial_of(root, *(ask("a", "b", id=str(number)) for number in range(5)), attempts=3)
    assert len(model_of(root).asked) == 5 * 2 * 3


async def test_a_transfer_is_a_call_and_the_steps_are_those_of_the_sub_agent() -> None:
    clerk = agent(calls(("lookup_price", {"model": "A"})), says("100"), name="clerk", tools=[lookup_price])
    root = agent(calls(("transfer_to_agent", {"agent_name": "clerk"})), name="desk", sub_agents=[clerk])
    made = await play(root, "price of A?")
    assert [call.name for call in made.calls()] == ["transfer_to_agent", "lookup_price"]
    assert [step.author for step in made.steps] == ["desk", "desk", "clerk", "clerk", "clerk"]
    assert made.answer == "100"


async def test_agents_in_a_row_and_side_by_side_are_told_apart() -> None:
    row = SequentialAgent(name="row", sub_agents=[agent(says("draft"), name="a"), agent(says("final"), name="b")])
    made = await play(row, "write")
    assert [(step.author, step.message.text) for step in made.steps] == [("a", "draft"), ("b", "final")]
    assert made.answer == "final"
    both = ParallelAgent(name="both", sub_agents=[agent(says("x"), name="c"), agent(says("y"), name="d")])
    assert {step.author for step in (await play(both, "write")).steps} == {"c", "d"}


async def test_an_agent_as_a_tool_is_one_call() -> None:
    inner = agent(calls(("lookup_price", {"model": "A"})), says("100"), name="inner", tools=[lookup_price])
    made = await play(agent(calls(("inner", {"request": "A?"})), says("It is 100."), tools=[AgentTool(inner)]), "A?")
    assert [(call.name, call.arguments) for call in made.calls()] == [("inner", {"request": "A?"})]
    assert made.answer == "It is 100."


async def test_a_long_running_call_is_kept_with_what_it_said_so_far() -> None:
    def approve(amount: int) -> dict[str, str]:
        """Ask for approval."""
        return {"status": "pending"}

    root = agent(calls(("approve", {"amount": 3})), says("I asked."), tools=[LongRunningFunctionTool(approve)])
    [trial] = await trial_of(root, ask("approve 3"))
    assert trial.outcome == "awaiting_approval"
    assert [call.name for call in trial.trajectory.calls()] == ["approve"]
    assert trial.trajectory.answer == "I asked."


async def test_arguments_that_are_none_are_not_empty_ones() -> None:
    def ping() -> str:
        """Ping."""
        return "pong"

    made = await play(agent(calls(("ping", None), ("ping", {})), says("ok"), tools=[ping]), "?")
    assert [call.arguments_text() for call in made.calls()] == ["null", "{}"]


async def test_a_wrong_tool_is_answered_by_the_library_and_marked() -> None:
    made = await play(agent(calls(("nothing", {})), says("sorry")), "?")
    [result] = [part for step in made.steps for part in step.message.parts if isinstance(part, ToolResult)]
    assert result.is_error
    assert made.answer == "sorry"


async def test_images_and_files_are_given_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "plan.png").write_bytes(b"\x89PNG")
    root = agent(says("seen"))
    parts = (
        Text(text="What is this?"),
        File(name="plan.png", media_type="image/png", path=str(tmp_path / "plan.png")),
        File(media_type="text/plain", data=b"words"),
        File(media_type="image/png", url="https://pictures.example/a.png"),
    )
    await trial_of(root, Sample(id="s", turns=(Turn(messages=(Message(role="user", parts=parts),)),)))
    [given] = model_of(root).asked[0]
    blobs = [part.inline_data for part in given.parts or () if part.inline_data]
    assert [(blob.mime_type, blob.data) for blob in blobs] == [("image/png", b"\x89PNG"), ("text/plain", b"words")]
    assert [part.file_data.file_uri for part in given.parts or () if part.file_data] == [
        "https://pictures.example/a.png"
    ]


async def test_several_messages_are_told_with_their_roles() -> None:
    root = agent(says("ok"))
    messages = (Message.of("system", "Be brief."), Message.of("user", "Hi"))
    await trial_of(root, Sample(id="s", turns=(Turn(messages=messages),)))
    assert model_of(root).asked[0][0].parts[0].text == "system: Be brief.\n\nuser: Hi"


@pytest.mark.parametrize("looping", ["model", "agents", "events"])
async def test_an_agent_that_loops_ends_at_the_step_limit(looping: str) -> None:
    class Endless(BaseAgent):
        async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            while True:
                yield Event(author=self.name, content=types.Content(parts=[types.Part(text="")]), error_code="SAFETY")

    target: BaseAgent
    match looping:
        case "model":
            target = agent(calls(("lookup_price", {"model": "A"})), tools=[lookup_price])
        case "agents":
            body = agent(calls(("lookup_price", {"model": "A"})), name="body", tools=[lookup_price])
            target = LoopAgent(name="loop", sub_agents=[body])
        case _:
            target = Endless(name="endless")
    [trial] = await trial_of(target, ask("go"), limits=Limits(steps=6))
    assert (trial.outcome, trial.failure and trial.failure.kind) == ("agent_failed", "step_limit")
    assert trial.trajectory.stop == "step_limit"
    assert sum(step.message.role == "assistant" for step in trial.trajectory.steps) == 6


async def test_a_loop_that_has_answered_is_scored_with_what_it_said() -> None:
    target = LoopAgent(name="loop", sub_agents=[agent(says("still here"), name="body")])
    [trial] = await trial_of(target, ask("go"), limits=Limits(steps=3))
    assert (trial.outcome, trial.trajectory.stop, trial.trajectory.answer) == ("scored", "step_limit", "still here")


async def test_a_tool_that_raises_is_the_agents_failure() -> None:
    def broken(x: int) -> str:
        """Break."""
        raise ConnectionError("the database is down")

    [trial] = await trial_of(agent(calls(("broken", {"x": 1})), tools=[broken]), ask("go"))
    assert trial.outcome == "agent_failed"
    assert trial.failure is not None
    assert trial.failure.kind == "raised"
    assert "ConnectionError: the database is down" in str(trial.failure.reason)


async def test_an_agent_that_raises_fails_only_its_own_case() -> None:
    def reply(request: LlmRequest) -> LlmResponse:
        if last_said(request) == "bad":
            raise RuntimeError("cannot do that")
        return says("fine")

    trials = await trial_of(agent(reply), ask("good", id="a"), ask("bad", id="b"), ask("good", id="c"))
    assert [trial.outcome for trial in trials] == ["scored", "agent_failed", "scored"]


_request: Any = httpx.Request("POST", "https://models.example/v1")


def _answered(status: int) -> Any:
    return httpx.Response(status, request=_request)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (openai.RateLimitError("slow down", response=_answered(429), body=None), "http_429"),
        (openai.APIConnectionError(request=_request), "connect"),
        (openai.APITimeoutError(request=_request), "timeout"),
        (openai.InternalServerError("oops", response=_answered(500), body=None), "http_500"),
        (errors.ServerError(503, {"error": {"message": "overloaded", "status": "UNAVAILABLE"}}), "http_503"),
        (errors.ClientError(429, {"error": {"message": "quota", "status": "RESOURCE_EXHAUSTED"}}), "http_429"),
        (httpx.ConnectError("refused"), "connect"),
        (ConnectionResetError("reset"), "connect"),
        (TimeoutError("too slow"), "timeout"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
@pytest.mark.parametrize("where", ["root", "inner"])
async def test_what_the_models_endpoint_did_is_no_failure_of_the_agent(error: Exception, kind: str, where: str) -> None:
    good = lambda request: says("fine")  # noqa: E731
    bad = agent(error, name="inner")
    root = bad if where == "root" else agent(calls(("inner", {"request": "x"})), tools=[AgentTool(bad)])
    first = [ask("x", id="a"), ask("y", id="b")]
    model_of(bad).replies.insert(0, good)  # the first sample is the probe
    if where == "inner":
        model_of(root).replies[:] = [calls(("inner", {"request": "x"})), says("ok"), calls(("inner", {"request": "x"}))]
    trials = await trial_of(root, *first, concurrency=1, max_failed=1.0)
    assert [trial.outcome for trial in trials] == ["scored", "provider_failed"]
    assert trials[1].failure is not None
    assert trials[1].failure.kind == kind


async def test_a_key_that_the_models_endpoint_refuses_stops_the_run() -> None:
    refused = openai.AuthenticationError("wrong key sk-abcdefghijklmnop", response=_answered(401), body=None)
    root = agent(refused)
    with pytest.raises(BadInput, match="refuses the key") as caught:
        await trial_of(root, ask("x", id="a"), ask("y", id="b"))
    assert "sk-abcdefghijklmnop" not in str(caught.value)
    assert len(model_of(root).asked) == 1


async def test_an_error_in_place_of_an_answer_is_told() -> None:
    overloaded = LlmResponse(error_code="503", error_message="overloaded")
    trials = await trial_of(
        agent(says("ok"), overloaded, LlmResponse(error_code="MALFORMED", error_message="no sense")),
        *(ask("?", id=id) for id in "abc"),
        concurrency=1,
        max_failed=1.0,
    )
    assert [trial.outcome for trial in trials] == ["scored", "provider_failed", "agent_failed"]


async def test_an_agent_that_is_a_tool_is_one_call_whose_tokens_count() -> None:
    inner = agent(calls(("lookup_price", {"model": "C"})), says("C is 300."), name="inner", tools=[lookup_price])
    root = agent(calls(("inner", {"request": "C?"})), says("C costs 300."), tools=[AgentTool(inner)])
    made = await play(root, "And C?")
    assert [call.name for call in made.calls()] == ["inner"]
    assert (made.usage.input_tokens, made.usage.output_tokens, made.usage.requests) == (34, 16, 4)


async def test_a_malformed_call_fails_the_agent_and_its_tokens_are_counted() -> None:
    used = types.GenerateContentResponseUsageMetadata(prompt_token_count=9, candidates_token_count=4)
    broken = LlmResponse(
        content=types.Content(role="model", parts=[]),
        error_code="MALFORMED_FUNCTION_CALL",
        error_message="no JSON",
        usage_metadata=used,
    )
    [trial] = await trial_of(agent(broken), ask("?"), max_failed=1.0)
    assert trial.outcome == "agent_failed"
    assert trial.failure is not None
    assert "MALFORMED_FUNCTION_CALL" in str(trial.failure.reason)
    made = trial.trajectory
    assert (len(made.steps), made.usage.input_tokens, made.usage.output_tokens, made.usage.requests) == (1, 9, 4, 1)


@pytest.mark.parametrize(
    ("reply", "stop"),
    [
        (LlmResponse(error_code="SAFETY", error_message="no"), "filtered"),
        (says("half an ans").model_copy(update={"finish_reason": types.FinishReason.MAX_TOKENS}), "length"),
        (says(), "empty"),
    ],
)
async def test_a_reply_that_was_cut_or_filtered_is_scored_and_told(reply: LlmResponse, stop: str) -> None:
    assert (await play(agent(reply), "?")).stop == stop


async def test_a_time_limit_ends_the_agent_too() -> None:
    ended = asyncio.Event()

    async def slow() -> str:
        """Wait."""
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return "late"

    [trial] = await trial_of(agent(calls(("slow", {})), tools=[slow]), ask("go"), limits=Limits(seconds=0.5))
    assert (trial.outcome, trial.failure and trial.failure.kind) == ("agent_failed", "time_limit")
    assert [call.name for call in trial.trajectory.calls()] == ["slow"]
    assert ended.is_set()


async def test_a_runner_keeps_its_own_services_and_the_sessions_in_them() -> None:
    clerk = agent(lambda request: says("100"), name="clerk")
    root = agent(lambda request: calls(("transfer_to_agent", {"agent_name": "clerk"})), name="desk", sub_agents=[clerk])
    runner = InMemoryRunner(root, app_name="desk_app")
    sessions = [{"app_name": "", "user_id": "u"}, {"app_name": "other", "user_id": "u"}]
    trials = await trial_of(runner, *(ask("?", id=str(n), session=one) for n, one in enumerate(sessions)))
    assert [trial.trajectory.answer for trial in trials] == ["100", "100"]
    assert [step.author for step in trials[0].trajectory.steps] == ["desk", "desk", "clerk"]
    for app_name in ("desk_app", "other"):
        assert len((await runner.session_service.list_sessions(app_name=app_name, user_id="u")).sessions) == 1
    assert runner.app_name == "desk_app"


async def test_a_session_that_was_prepared_in_the_runner_is_used() -> None:
    runner = InMemoryRunner(agent(says("hi")), app_name="shop")
    await runner.session_service.create_session(app_name="shop", user_id="u", session_id="mine", state={"color": "red"})
    made = await play(runner, "?", session={"app_name": "shop", "user_id": "u", "session_id": "mine"})
    assert made.state == {"color": "red"}
    assert await runner.session_service.get_session(app_name="shop", user_id="u", session_id="mine") is not None


async def test_an_app_keeps_its_name() -> None:
    def where(tool_context: ToolContext) -> str:
        """Where we are."""
        return tool_context.session.app_name

    root = agent(calls(("where", {})), says("done"), tools=[where])
    made = await play(App(name="the_app", root_agent=root), "?")
    [result] = [part for step in made.steps for part in step.message.parts if isinstance(part, ToolResult)]
    assert json.loads(result.content) == {"result": "the_app"}


async def test_toolsets_are_closed_after_the_run() -> None:
    from google.adk.tools.base_toolset import BaseToolset

    class Tools(BaseToolset):
        closed = 0

        async def get_tools(self, readonly_context: Any = None) -> list[Any]:
            return []

        async def close(self) -> None:
            Tools.closed += 1

    await trial_of(agent(says("hi"), tools=[Tools()]), ask("?", id="a"), ask("?", id="b"))
    assert Tools.closed == 1


FOLDER = """
from google.adk.agents import LlmAgent
from adk_agents import ScriptedLlm, says
from played import conversations, outline
root_agent = LlmAgent(name="from_folder", model=ScriptedLlm(replies=[says({text!r})], asked=[]))
"""


def _folder(path: Path, text: str, *, init: str | None = None) -> Path:
    path.mkdir(parents=True)
    (path / "agent.py").write_text(FOLDER.format(text=text), encoding="utf-8")
    if init is not None:
        (path / "__init__.py").write_text(init, encoding="utf-8")
    return path


@pytest.mark.parametrize("init", [None, "", "from . import agent", "from .agent import root_agent"])
@pytest.mark.parametrize("name", ["shop_{}", "shop-{}", "json"])
async def test_a_folder_is_found_by_its_root_agent(tmp_path: Path, init: str | None, name: str) -> None:
    name = name.format(abs(hash(str(init))))
    folder = _folder(tmp_path / "agents" / name, f"hello of {init!r}", init=init)
    made = await play(f"adk:{folder}", "?")
    assert made.answer == f"hello of {init!r}"


@pytest.mark.parametrize("init", [None, "from . import agent"])
async def test_two_folders_of_one_name_are_two_agents(tmp_path: Path, init: str | None) -> None:
    for place in ("one", "two"):
        folder = _folder(tmp_path / place / f"twice_{init is None}", place, init=init)
        assert (await play(f"adk:{folder}", "?")).answer == place


async def test_an_agent_may_use_the_files_beside_it_and_its_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_GREETING", "")
    monkeypatch.delenv("SHOP_GREETING")
    folder = tmp_path / "shop_beside"
    folder.mkdir()
    (folder / ".env").write_text("SHOP_GREETING=good day", encoding="utf-8")
    (folder / "shop_words.py").write_text("import os\nWORDS = os.environ['SHOP_GREETING']\n", encoding="utf-8")
    text = FOLDER.replace("{text!r}", "WORDS")
    (folder / "agent.py").write_text(f"from .shop_words import WORDS\nimport shop_words\n{text}", encoding="utf-8")
    assert (await play(f"adk:{folder}", "?")).answer == "good day"


async def test_a_path_or_module_names_the_object(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "shop_by_path", "by path")
    assert (await play(f"adk:{folder / 'agent.py'}", "?")).answer == "by path"
    assert (await play(f"adk:{folder / 'agent.py'}:root_agent", "?")).answer == "by path"


async def test_a_sub_agent_is_evaluated_by_its_name(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "shop_sub", "root")
    with (folder / "agent.py").open("a", encoding="utf-8") as file:
        file.write("clerk = LlmAgent(name='clerk', model=ScriptedLlm(replies=[says('clerk')], asked=[]))\n")
        file.write(
            "root_agent = LlmAgent(name='root', model=ScriptedLlm(replies=[says('root')]), sub_agents=[clerk])\n"
        )
    [trial] = await trial_of(f"adk:{folder}", ask("?"), agent_options={"sub_agent": "clerk"})
    assert trial.trajectory.answer == "clerk"
    with pytest.raises(BadInput, match="has no sub-agent 'boss'"):
        adk.make(str(folder), {"sub_agent": "boss"})


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "has no 'root_agent'"),
        ({"agent.py": "agent = 1\n"}, "has no 'root_agent'"),
        (
            {"agent.py": "root_agent = 'text'\n"},
            "is no agent of google-adk: expected an agent, an App or a Runner, got str",
        ),
        ({"agent.py": "import nothing_of_this_name\n"}, "raises when it is imported: ModuleNotFoundError"),
        ({"agent.py": "raise SystemExit(3)\n"}, "ends the program when it is imported"),
        ({"__init__.py": "1 / 0\n", "agent.py": ""}, "__init__.py raises when it is imported: ZeroDivisionError"),
        ({"agent.py": "root_agent = (\n"}, "SyntaxError"),
        ({"root_agent.yaml": "name: x\nagent_class: Nothing\n"}, "makes no agent"),
    ],
)
def test_a_folder_that_cannot_be_used_says_why(tmp_path: Path, files: dict[str, str], said: str) -> None:
    folder = tmp_path / f"broken_{abs(hash(said + str(files)))}"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match="(?s)" + said.replace("(", r"\(")):
        adk.make(str(folder), {})


def test_a_folder_that_is_not_there_says_so() -> None:
    with pytest.raises(BadInput, match="There is no folder nowhere/shop"):
        adk.make("nowhere/shop", {})


def test_an_object_of_the_library_that_is_no_agent_is_refused() -> None:
    with pytest.raises(BadInput, match="is no agent of google-adk"):
        adk.wrap(ScriptedLlm())


def test_options_are_checked() -> None:
    with pytest.raises(BadInput, match="Did you mean 'max_steps'"):
        adk.make(".", {"max_step": 3})


async def _decided(target: object, folder: Path, **given: Any) -> Trial:
    run = await proctor.evaluate_async(conversations(1, 1), agent=target, store=str(folder / "runs.db"), **given)
    [trial] = run.trials()
    return trial


def _outline(trial: Trial) -> list[str]:
    return [text.partition("#")[0] for _, text in outline(trial.trajectory.steps)]


@pytest.mark.parametrize("status", [None, "pending", "done"])
@pytest.mark.parametrize("approve", [None, "all", "none"])
async def test_a_long_running_tool_waits_until_its_response(
    approve: str | None, status: str | None, tmp_path: Path
) -> None:
    def reimburse(amount: int) -> dict[str, Any] | None:
        """Ask for money back."""
        return None if status is None else {"status": status, "ticket": 7}

    replies = [calls(("reimburse", {"amount": 3})), says("Well."), says("Well.")]
    root = agent(*replies, tools=[LongRunningFunctionTool(reimburse)])
    trial = await _decided(root, tmp_path, approve=approve)
    if status == "done":
        assert (trial.outcome, trial.trajectory.approvals) == ("scored", ())
        return
    assert [one.call.arguments for one in trial.trajectory.approvals] == [{"amount": 3}]
    ticket = {} if status is None else {"ticket": 7}
    before = [] if status is None else ['reimburse -> {"status": "pending", "ticket": 7}', "Well."]
    if approve is None:
        assert (trial.outcome, _outline(trial)[1:]) == ("awaiting_approval", before)
        return
    told = {"status": "approved"} if approve == "all" else {"status": "rejected", "reason": "This call was denied."}
    [_, *texts] = _outline(trial)
    assert texts[: len(before)] == before
    assert texts[-1] == "Well."
    assert json.loads(texts[len(before)].removeprefix("reimburse -> ")) == {**ticket, **told}


async def test_a_tool_that_asks_itself_waits_in_a_sub_agent_too(tmp_path: Path) -> None:
    sent: list[str] = []

    def send(to: str, tool_context: ToolContext) -> dict[str, Any]:
        """Send a letter."""
        if tool_context.tool_confirmation is None:
            tool_context.request_confirmation(hint=f"A letter to {to}?")
            return {"status": "waits"}
        if not tool_context.tool_confirmation.confirmed:
            return {"status": "not sent"}
        sent.append(to)
        return {"status": "sent"}

    clerk = agent(calls(("send", {"to": "Ada"})), says("I asked."), says("Sent."), name="clerk", tools=[send])
    root = agent(calls(("transfer_to_agent", {"agent_name": "clerk"})), name="root", sub_agents=[clerk])
    trial = await _decided(root, tmp_path, approve="send")
    assert (trial.outcome, sent) == ("scored", ["Ada"])
    assert _outline(trial)[2:] == ['send({"to": "Ada"})', "I asked.", 'send -> {"status": "sent"}', "Sent."]
    [approval] = trial.trajectory.approvals
    assert (approval.call.name, approval.hint) == ("send", "A letter to Ada?")


@pytest.mark.parametrize("words", ["Oslo", None])
async def test_a_question_of_the_model_is_answered_by_the_next_turn(words: str | None, tmp_path: Path) -> None:
    request_input = pytest.importorskip("google.adk.tools._request_input_tool").request_input
    asks = calls(("adk_request_input", {"message": "Which city?"}))
    root = agent(asks, says("Fine."), tools=[request_input])
    script = tmp_path / "user.json"
    script.write_text(json.dumps([words]))
    trial = await _decided(root, tmp_path, user=f"scripted:{script}")
    if words is None:
        assert trial.outcome == "awaiting_approval"
        return
    assert trial.outcome == "scored"
    assert _outline(trial)[1:] == ["Which city?", "Oslo", 'adk_request_input -> {"result": "Oslo"}', "Fine."]
