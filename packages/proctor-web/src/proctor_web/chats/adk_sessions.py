"""The paths of google-adk's own server for sessions and replies, so that its clients work here: `/apps/…`, `/run`, `/run_sse`.

Source: google/adk-python, src/google/adk/cli/api_server.py, release 2.13. Its answers are in camelCase; requests may be in either
spelling. Sessions are the chats of this server, so the pages show them too.
"""

import json
import platform
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from proctor.core.errors import BadInput
from proctor.core.sample import Message
from proctor.core.version import __version__
from proctor.i18n import speak
from proctor.runtime.threads import in_thread
from proctor_adapters.evalsets.noun import camel
from proctor_web.chats import choices, service
from proctor_web.chats.sessions import Chat, Update
from proctor_web.chats.wire import Event
from proctor_web.workspace import NotFound, Workspace

USER = "/apps/{app}/users/{user}/sessions"
SESSION = USER + "/{session}"
SENT_EVENTS = {"cache-control": "no-store", "x-accel-buffering": "no"}
T = TypeVar("T", bound=msgspec.Struct)
Json = Mapping[str, Any]
Answer = Callable[[Any, Request], Awaitable[Response]]


class RunAgent(msgspec.Struct, frozen=True, kw_only=True, rename=camel):
    """The body of `/run` and `/run_sse`."""

    app_name: str
    user_id: str
    session_id: str
    new_message: Json | None = None
    streaming: bool = False
    state_delta: Json | None = None


class NewSession(msgspec.Struct, frozen=True, kw_only=True, rename=camel):
    """The body that creates a session."""

    session_id: str | None = None
    state: Json | None = None
    events: Sequence[Json] | None = None


class SessionStateChange(msgspec.Struct, frozen=True, kw_only=True, rename=camel):
    """The body that changes the state of a session."""

    state_delta: Json


def answered(call: Answer) -> Answer:
    """Return a handler whose errors are answered as FastAPI does."""

    @wraps(call)
    async def answer(pages: Any, request: Request) -> Response:
        try:
            return await call(pages, request)
        except RequestRefused as error:
            return JSONResponse({"detail": str(error)}, error.status)
        except BadInput as error:
            status = 404 if isinstance(error, NotFound) else 400
            return JSONResponse({"detail": speak(error.sentence, request.state.lang)}, status)

    return answer


class RequestRefused(Exception):
    """A request that is answered with another status than 400 or 404."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


def in_a_thread(call: Callable[[Any, Request, Json], object]) -> Answer:
    """Return a handler that a thread runs with the body, and whose result is answered as JSON."""

    @answered
    async def answer(pages: Any, request: Request) -> Response:
        given = await plain_body(request)
        return JSONResponse(await in_thread(lambda: call(pages, request, given)))

    return answer


def typed(given: Json, kind: type[T]) -> T:
    """Return a body, with keys in either spelling, as a struct.

    Raises:
        RequestRefused: it does not fit.
    """
    try:
        return msgspec.convert({camel(key): value for key, value in given.items()}, kind)
    except msgspec.ValidationError as error:
        raise RequestRefused(422, str(error)) from None


async def plain_body(request: Request) -> dict[str, Any]:
    """Return the JSON object of a request; an empty body is an empty one.

    Raises:
        RequestRefused: it is something else.
    """
    try:
        value = msgspec.json.decode(await request.body() or b"{}")
    except (msgspec.DecodeError, RecursionError) as error:
        raise RequestRefused(422, str(error)) from None
    if value is not None and not isinstance(value, dict):
        raise RequestRefused(422, "expected a JSON object")
    return value or {}


def routes(workspace: Workspace) -> Sequence[BaseRoute]:
    sessions = AdkSessions(workspace)
    version = {"version": __version__, "language": "python", "language_version": platform.python_version()}
    return [
        Route("/health", lambda _: JSONResponse({"status": "ok"})),
        Route("/version", lambda _: JSONResponse(version)),
        Route("/list-apps", sessions.list_apps),
        Route(USER, sessions.list_sessions),
        Route(USER, sessions.create, methods=["POST"]),
        Route(SESSION, sessions.get),
        Route(SESSION, sessions.create_with_id, methods=["POST"]),
        Route(SESSION, sessions.change_state, methods=["PATCH"]),
        Route(SESSION, sessions.delete, methods=["DELETE"]),
        Route("/run", sessions.run, methods=["POST"]),
        Route("/run_sse", sessions.run_sse, methods=["POST"]),
    ]


class AdkSessions:
    """Sessions of the agents of google-adk."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @answered
    async def list_apps(self, request: Request) -> Response:
        """List the agents of google-adk in the folder of agents."""
        agents = await in_thread(lambda: choices.list_agents(self._workspace.agents))
        apps = [agent for agent in agents if agent.kind == "adk"]
        if request.query_params.get("detailed", "").lower() not in ("1", "true", "yes", "on"):
            return JSONResponse([app.name for app in apps])
        about = [
            {"name": app.name, "rootAgentName": app.name, "description": app.about, "language": "python"}
            for app in apps
        ]
        return JSONResponse({"apps": about})

    @answered
    async def list_sessions(self, request: Request) -> Response:
        """List the sessions of a user, without their events."""
        user = request.path_params["app"], request.path_params["user"]
        chats = service.chats_of(self._workspace).all()
        sessions = [session_json(chat, events=False) for chat in chats if (chat.app, chat.user) == user]
        return JSONResponse(sessions)

    @answered
    async def create(self, request: Request) -> Response:
        new = typed(await plain_body(request), NewSession)
        return await self._create(request, new.session_id or str(uuid.uuid4()), new.state or {}, new.events or ())

    @answered
    async def create_with_id(self, request: Request) -> Response:
        """Create a session whose id is in the path; the body is its state."""
        return await self._create(request, request.path_params["session"], await plain_body(request), ())

    @answered
    async def get(self, request: Request) -> Response:
        return JSONResponse(session_json(self._session(request)))

    @answered
    async def change_state(self, request: Request) -> Response:
        chat, change = self._session(request), typed(await plain_body(request), SessionStateChange)
        if chat.running is not None:
            raise RequestRefused(409, "a reply is under way")
        event = {
            "id": str(uuid.uuid4()),
            "invocationId": f"p-{uuid.uuid4()}",
            "author": "user",
            "timestamp": time.time(),
            "actions": {"stateDelta": dict(change.state_delta)},
        }
        service.chats_of(self._workspace).append(chat, event, change.state_delta)
        return JSONResponse(session_json(chat))

    @answered
    async def delete(self, request: Request) -> Response:
        """Delete a session; one that is not there is no error."""
        with suppress(NotFound):
            service.chats_of(self._workspace).forget(self._session(request))
        return JSONResponse(None)

    @answered
    async def run(self, request: Request) -> Response:
        """Reply, and return the events of it."""
        events = []
        async for update in await self._reply(request):
            if update.kind == "said" and update.event is not None and update.event.get("author") != "user":
                events.append(update.event)
            if update.kind == "over" and update.turn is not None and update.turn.how != "done":
                raise RequestRefused(502, str(update.turn.why or update.turn.how))
        return JSONResponse(events)

    @answered
    async def run_sse(self, request: Request) -> Response:
        """Reply, and send each event as it comes."""
        reply = await self._reply(request)
        return StreamingResponse(_as_sent(reply), media_type="text/event-stream", headers=SENT_EVENTS)

    async def _create(
        self, request: Request, session: str, state: Mapping[str, Any], events: Sequence[Mapping[str, Any]]
    ) -> Response:
        app, user = request.path_params["app"], request.path_params["user"]
        chats = service.chats_of(self._workspace)
        choice = await in_thread(lambda: choices.choose(app, self._workspace.agents))
        if choice.kind != "adk":
            raise NotFound("'{name}' is no agent of google-adk.", name=app)
        if chats.session(app, user, session) is not None:
            raise RequestRefused(409, f"Session already exists: {session}")
        chat = chats.create(choice, app=app, user=user, session=session, state=state)
        for event in events:
            actions = event.get("actions")
            delta = (actions.get("stateDelta") or actions.get("state_delta")) if isinstance(actions, Mapping) else None
            chats.append(chat, event, delta if isinstance(delta, Mapping) else {})
        return JSONResponse(session_json(chat))

    async def _reply(self, request: Request) -> AsyncIterator[Update]:
        """Send the message of a request, and return what comes; the last update may be that of a failure."""
        asked = typed(await plain_body(request), RunAgent)
        chats = service.chats_of(self._workspace)
        chat = chats.session(asked.app_name, asked.user_id, asked.session_id)
        if chat is None:
            raise RequestRefused(404, f"Session not found: {asked.session_id}")
        if asked.new_message is None:
            raise RequestRefused(400, "newMessage is missing: a reply cannot be resumed here")
        message = Message.of("user", _text(asked.new_message))
        return await chats.reply(
            chat, message, content=asked.new_message, state_delta=asked.state_delta, streams=asked.streaming
        )

    def _session(self, request: Request) -> Chat:
        params = request.path_params
        chat = service.chats_of(self._workspace).session(params["app"], params["user"], params["session"])
        if chat is None:
            raise NotFound("Session not found")
        return chat


def session_json(chat: Chat, *, events: bool = True) -> dict[str, object]:
    """Return a chat as a session of google-adk."""
    return {
        "id": chat.session,
        "appName": chat.app,
        "userId": chat.user,
        "state": dict(chat.state),
        "events": [event for turn in chat.kept for event in turn.events] if events else [],
        "lastUpdateTime": chat.changed,
    }


async def _as_sent(reply: AsyncIterator[Update]) -> AsyncIterator[str]:
    """Yield the events of a reply as server-sent events, and a failure as google-adk sends one."""
    async for update in reply:
        if update.event is not None and update.event.get("author") != "user":
            yield f"data: {json.dumps(update.event, ensure_ascii=False)}\n\n"
        if update.kind == "over" and update.turn is not None and update.turn.how != "done":
            turn = update.turn
            why = str(turn.why or turn.how)
            kind = turn.error_type or turn.how
            details = {"error_type": kind, "error_message": why, "timestamp": time.time()}
            yield f"data: {json.dumps({'error': f'{kind}: {why}', 'error_details': details})}\n\n"


def _text(content: Event) -> str:
    parts = content.get("parts")
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []
    return "\n".join(text for text in texts if isinstance(text, str))
