"""Agents behind A2A: real servers of google-adk and a2a-sdk on this machine."""

import asyncio
import json
import socket
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

pytest.importorskip("a2a", reason="needs the extra 'a2a'")
pytest.importorskip("google.adk", reason="needs the extra 'adk'")

import uvicorn
from a2a import types
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from adk_agents import agent, calls, last_said, lookup_price, model_of, says
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent
from google.protobuf.json_format import ParseDict
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

import proctor
from proctor.core.errors import BadInput
from proctor.core.sample import File, Message, Reasoning, Sample, Text, ToolResult, Turn
from proctor.core.task import Task
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Trial
from proctor_adapters.agents.a2a import A2aAgent, make

pytestmark = pytest.mark.filterwarnings(
    "ignore::UserWarning", "ignore::DeprecationWarning"
)  # ADK's A2A is experimental

Answer = Callable[[RequestContext, TaskUpdater], Awaitable[None]]


@asynccontextmanager
async def served(made: Callable[[int], Any]) -> AsyncIterator[str]:
    """An application on a free port; `made` gets the port, as the card has to name it."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(made(port), log_level="error", lifespan="on"))
    serving = asyncio.create_task(server.serve([listening]))
    while not server.started:  # noqa: ASYNC110 - it has no event
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await serving


def adk_app(root: LlmAgent) -> Callable[[int], Any]:
    return lambda port: to_a2a(root, host="127.0.0.1", port=port)


class Scripted(AgentExecutor):
    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[RequestContext] = []

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        self.asked.append(context)
        assert context.message is not None
        updater = TaskUpdater(event_queue, context.task_id or "", context.context_id or "")
        if context.current_task is None:
            task = types.Task(id=context.task_id, context_id=context.context_id, history=[context.message])
            task.status.state = types.TaskState.TASK_STATE_SUBMITTED
            await event_queue.enqueue_event(task)
        await self.answer(context, updater)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


def sdk_app(executor: AgentExecutor, *, streaming: bool = False, rest: bool = False) -> Callable[[int], Any]:
    def made(port: int) -> Starlette:
        binding = "HTTP+JSON" if rest else "JSONRPC"
        interface = {"url": f"http://127.0.0.1:{port}/rpc", "protocolBinding": binding, "protocolVersion": "1.0"}
        about = {"name": "clerk", "description": "-", "version": "1", "skills": [], "supportedInterfaces": [interface]}
        card = ParseDict({**about, "capabilities": {"streaming": streaming}}, types.AgentCard())
        handler = DefaultRequestHandler(agent_executor=executor, task_store=InMemoryTaskStore(), agent_card=card)
        ways = (
            create_rest_routes(handler, path_prefix="/rpc") if rest else create_jsonrpc_routes(handler, rpc_url="/rpc")
        )
        return Starlette(routes=[*create_agent_card_routes(card), *ways])

    return made


def ask(*questions: str) -> Sample:
    return Sample(id="s", turns=tuple(Turn(messages=(Message.of("user", question),)) for question in questions))


async def trials_of(target: object, *samples: Sample, **how: Any) -> list[Trial]:
    task = Task(name="t", samples=list(samples), scorers=["exact"])
    return list((await proctor.evaluate_async(task, agent=target, **{"order": "official", **how})).trials())


async def play(target: object, *questions: str, **how: Any) -> Trajectory:
    [trial] = await trials_of(target, ask(*questions), **how)
    assert trial.outcome == "scored", trial.failure
    return trial.trajectory


def message(updater: TaskUpdater, *texts: str) -> types.Message:
    return updater.new_agent_message([types.Part(text=text) for text in texts])


@pytest.mark.parametrize("stream", [True, False])
async def test_an_agent_of_adk_tells_its_calls_results_and_thoughts(stream: bool) -> None:
    root = agent(
        calls(("lookup_price", {"model": "A"}), ("lookup_price", {"model": "B"})),
        says("A costs 100.", "B costs 200.", thought="compare"),
        tools=[lookup_price],
    )
    async with served(adk_app(root)) as url:
        made = await play(f"a2a:{url}", "What do A and B cost?", agent_options={"stream": stream})
    assert [(call.name, call.arguments) for call in made.calls()] == [
        ("lookup_price", {"model": "A"}),
        ("lookup_price", {"model": "B"}),
    ]
    results = [part for step in made.steps for part in step.message.parts if isinstance(part, ToolResult)]
    assert [json.loads(result.content) for result in results] == [{"price": 100}, {"price": 200}]
    last = (Reasoning(text="compare"), Text(text="A costs 100."), Text(text="B costs 200."))
    assert [step.message.parts for step in made.steps if step.message.text] == [last]
    assert made.tools == "native"
    assert made.steps[-1].seconds > 0
    if stream:
        assert (made.usage.input_tokens, made.usage.output_tokens) == (17, 8)
        assert made.steps[-1].author == "root"


async def test_a_conversation_keeps_its_context() -> None:
    root = agent(lambda request: says(f"{last_said(request)} after {len(request.contents) - 1}"))
    async with served(adk_app(root)) as url:
        trials = await trials_of(f"a2a:{url}", ask("one", "two", "three"), attempts=2)
    for trial in trials:
        assert [step.message.text for step in trial.trajectory.steps] == ["one after 0", "two after 2", "three after 4"]
        assert [step.turn for step in trial.trajectory.steps] == [0, 1, 2]
    assert len(model_of(root).asked) == 6


@pytest.mark.parametrize("rest", [False, True])
@pytest.mark.parametrize("streaming", [False, True])
async def test_a_task_that_wants_more_is_gone_on_with(rest: bool, streaming: bool) -> None:
    async def answer(context: RequestContext, updater: TaskUpdater) -> None:
        said = context.get_user_input()
        if said == "book":
            await updater.requires_input(message(updater, "Which day?"))
        else:
            await updater.add_artifact([types.Part(text=f"booked {said}")])
            await updater.complete()

    executor = Scripted(answer)
    async with served(sdk_app(executor, rest=rest, streaming=streaming)) as url:
        made = await play(f"a2a:{url}", "book", "monday", "tuesday")
    assert [(step.turn, step.message.text) for step in made.steps] == [
        (0, "Which day?"),
        (1, "booked monday"),
        (2, "booked tuesday"),
    ]
    tasks = [context.task_id for context in executor.asked]
    assert tasks[0] == tasks[1] != tasks[2]
    assert len({context.context_id for context in executor.asked}) == 1
    assert made.tools == "text"  # nothing says that this server would tell of calls


async def test_a_task_that_is_still_under_way_is_asked_for_until_it_is_done() -> None:
    class Slow(Scripted):
        async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
            raise AssertionError("not used")

    states = ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]

    async def rpc(request: Request) -> Response:
        asked = await request.json()
        state = states.pop(0)
        task: dict[str, Any] = {"id": "t1", "contextId": "c1", "status": {"state": state}}
        if state == states_end:
            task["artifacts"] = [{"artifactId": "a", "parts": [{"text": "done"}]}]
        result = {"task": task} if asked["method"] == "SendMessage" else task
        return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": result})

    states_end = states[-1]
    async with served(plain_app(rpc)) as url:
        assert (await play(f"a2a:{url}", "?")).answer == "done"
    assert not states


def plain_app(
    rpc: Callable[[Request], Awaitable[Response]], *, card_path: str = "/.well-known/agent-card.json", **card: Any
) -> Callable[[int], Any]:
    def made(port: int) -> Starlette:
        url = f"http://127.0.0.1:{port}/rpc"
        about = {"name": "x", "url": url, "protocolVersion": "1.0", "preferredTransport": "JSONRPC", **card}
        app = Starlette()
        app.add_route(card_path, lambda request: JSONResponse(about))
        app.add_route("/rpc", rpc, methods=["POST"])
        return app

    return made


async def answers(request: Request) -> Response:
    asked = await request.json()
    said = {"messageId": uuid.uuid4().hex, "role": "ROLE_AGENT", "parts": [{"text": "hello"}]}
    return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": {"message": said}})


@pytest.mark.parametrize(
    ("end", "kind"), [("failed", "task_failed"), ("reject", "task_rejected"), ("requires_auth", "task_auth_required")]
)
async def test_a_task_that_failed_is_the_agents_failure(end: str, kind: str) -> None:
    async def answer(context: RequestContext, updater: TaskUpdater) -> None:
        await getattr(updater, end)(message(updater, "The shop is closed."))

    async with served(sdk_app(Scripted(answer))) as url:
        [trial] = await trials_of(f"a2a:{url}", ask("?"))
    assert (trial.outcome, trial.failure and trial.failure.kind) == ("agent_failed", kind)
    assert trial.failure is not None
    assert "The shop is closed." in str(trial.failure.reason)


async def test_a_canceled_task_is_the_agents_failure() -> None:
    async def answer(context: RequestContext, updater: TaskUpdater) -> None:
        await updater.cancel()

    async with served(sdk_app(Scripted(answer))) as url:
        [trial] = await trials_of(f"a2a:{url}", ask("?"))
    assert (trial.outcome, trial.failure and trial.failure.kind) == ("agent_failed", "task_canceled")


async def test_a_server_that_raises_is_the_agents_failure() -> None:
    async def answer(context: RequestContext, updater: TaskUpdater) -> None:
        raise RuntimeError("broken")

    async with served(sdk_app(Scripted(answer))) as url:
        [trial] = await trials_of(f"a2a:{url}", ask("?"))
    assert trial.outcome == "agent_failed"


async def test_files_and_data_go_both_ways() -> None:
    given: list[types.Part] = []

    async def answer(context: RequestContext, updater: TaskUpdater) -> None:
        assert context.message is not None
        given.extend(context.message.parts)
        picture = types.Part(raw=b"\x89PNG", media_type="image/png", filename="map.png")
        data = ParseDict({"data": {"rooms": 3, "price": 1.5}}, types.Part())
        page = types.Part(url="https://pages.example/a", media_type="text/html")
        await updater.add_artifact([types.Part(text="here"), picture, data, page])
        await updater.complete()

    parts = (Text(text="Look:"), File(name="a.txt", media_type="text/plain", data=b"words"))
    sample = Sample(id="s", turns=(Turn(messages=(Message(role="user", parts=parts),)),))
    async with served(sdk_app(Scripted(answer))) as url:
        [trial] = await trials_of(f"a2a:{url}", sample)
    assert given[0].text == "Look:"
    assert (given[1].raw, given[1].media_type, given[1].filename) == (b"words", "text/plain", "a.txt")
    assert trial.trajectory.steps[-1].message.parts == (
        Text(text="here"),
        File(name="map.png", media_type="image/png", data=b"\x89PNG"),
        Text(text='{"price": 1.5, "rooms": 3}'),
        File(media_type="text/html", url="https://pages.example/a"),
    )


async def test_a_text_that_comes_in_pieces_is_one_text() -> None:
    async def answer(context: RequestContext, updater: TaskUpdater) -> None:
        await updater.add_artifact([types.Part(text="It co")], artifact_id="a")
        await updater.add_artifact([types.Part(text="sts 100.")], artifact_id="a", append=True, last_chunk=True)
        await updater.complete()

    async with served(sdk_app(Scripted(answer), streaming=True)) as url:
        assert (await play(f"a2a:{url}", "?")).steps[-1].message.parts == (Text(text="It costs 100."),)


@pytest.mark.parametrize(("path", "asked"), [("/.well-known/agent.json", ""), ("/cards/shop.json", "/cards/shop.json")])
async def test_a_card_is_found_in_its_older_place_and_by_its_own_address(path: str, asked: str) -> None:
    async with served(plain_app(answers, card_path=path)) as url:
        assert (await play(f"a2a:{url}{asked}", "?")).answer == "hello"


async def test_an_older_protocol_is_spoken() -> None:
    async def rpc(request: Request) -> Response:
        asked = await request.json()
        assert asked["method"] == "message/send"
        said = {"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "old"}]}
        return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": said})

    async with served(plain_app(rpc, protocolVersion="0.3.0", capabilities={}, skills=[], version="1")) as url:
        assert (await play(f"a2a:{url}", "?")).answer == "old"


def guarded(rpc: Callable[[Request], Awaitable[Response]], seen: list[str]) -> Callable[[Request], Awaitable[Response]]:
    async def checked(request: Request) -> Response:
        seen.append(request.headers.get("Authorization", ""))
        if seen[-1] != "Bearer right-token-123":
            return PlainTextResponse("who are you?", status_code=401)
        return await rpc(request)

    return checked


async def test_a_token_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "Bearer right-token-123")
    headers = {"headers": {"Authorization": "env:SHOP_TOKEN"}}
    async with served(plain_app(guarded(answers, []))) as url:
        assert (await play(f"a2a:{url}", "?", agent_options=headers)).answer == "hello"
    monkeypatch.delenv("SHOP_TOKEN")
    with pytest.raises(BadInput, match="wants the environment variable SHOP_TOKEN"):
        make(url, headers)


async def test_a_wrong_token_stops_the_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "Bearer wrong-token-456")
    seen: list[str] = []
    async with served(plain_app(guarded(answers, seen))) as url:
        with pytest.raises(BadInput, match=r"refuses the key \(status 401\).*env:NAME") as caught:
            await play(f"a2a:{url}", "?", "??", agent_options={"headers": {"Authorization": "env:SHOP_TOKEN"}})
    assert seen == ["Bearer wrong-token-456"]
    assert "wrong-token-456" not in str(caught.value)


async def test_a_token_is_not_sent_to_another_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "Bearer right-token-123")
    seen: list[str] = []
    options: dict[str, Any] = {"headers": {"Authorization": "env:SHOP_TOKEN"}}
    async with (
        served(plain_app(guarded(answers, seen))) as other,
        served(plain_app(answers, url=f"{other}/rpc")) as url,
    ):
        with pytest.raises(BadInput, match="another host"):
            await play(f"a2a:{url}", "?", agent_options=options)
    assert not seen


async def test_a_card_that_names_a_wrong_address_can_be_put_right() -> None:
    async with served(plain_app(answers, url="http://127.0.0.1:9/rpc")) as url:
        made = await play(f"a2a:{url}", "?", agent_options={"address": f"{url}/rpc"})
    assert made.answer == "hello"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://127.0.0.1:9", "There is no connection to 127.0.0.1:9"),
        ("http://nowhere.invalid", "(cannot be found|no connection)"),
    ],
)
async def test_a_server_that_cannot_be_reached_stops_the_run(url: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        await play(f"a2a:{url}", "?", agent_options={"retries": 0})


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (PlainTextResponse("nothing here", status_code=404), "does not know this address"),
        (JSONResponse(["no card"]), "has no card of an A2A agent"),
        (JSONResponse({"name": "x"}), "offers no way to talk"),
        (JSONResponse({"name": "x", "url": "http://x.example", "preferredTransport": "GRPC"}), "offers no way to talk"),
        (PlainTextResponse("<html>a page</html>"), "no JSON"),
    ],
    ids=["404", "list", "no-way", "grpc", "page"],
)
async def test_an_address_without_a_card_says_so(reply: Response, said: str) -> None:
    def made(port: int) -> Starlette:
        app = Starlette()
        app.add_route("/{path:path}", lambda request: reply)
        return app

    async with served(made) as url:
        with pytest.raises(BadInput, match=said):
            await play(f"a2a:{url}", "?", agent_options={"retries": 0})


async def test_a_server_that_breaks_down_is_no_failure_of_the_agent() -> None:
    asked: list[str] = []

    async def rpc(request: Request) -> Response:
        asked.append("x")
        return await answers(request) if len(asked) == 1 else PlainTextResponse("oops", status_code=500)

    samples = [Sample.ask(id, "?") for id in "ab"]
    async with served(plain_app(rpc)) as url:
        trials = await trials_of(
            f"a2a:{url}", *samples, concurrency=1, max_failed=1.0, agent_options={"retries": 1, "retry_seconds": 5}
        )
    assert [trial.outcome for trial in trials] == ["scored", "provider_failed"]
    assert len(asked) == 3


@pytest.mark.parametrize("argument", ["shop.example", "ftp://shop.example", "http://", ""])
def test_what_is_no_address_is_refused(argument: str) -> None:
    with pytest.raises(BadInput, match="is no address"):
        make(argument, {})


def test_the_name_holds_the_host_alone() -> None:
    assert A2aAgent("https://user:secret@shop.example:8443/a?key=1").name == "a2a:shop.example"


def test_options_are_checked() -> None:
    with pytest.raises(BadInput, match="Did you mean 'headers'"):
        make("http://x.example", {"header": {}})
