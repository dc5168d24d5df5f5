"""The pages of chats: choose an agent, and talk with it; what it says comes as server-sent events."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from proctor.core.errors import BadInput
from proctor.core.media_type import shown_type
from proctor.core.sample import File
from proctor.core.sentence import say
from proctor.i18n import speak
from proctor.runtime.threads import in_thread
from proctor_web import evalset_files as files
from proctor_web.app import page
from proctor_web.auth import form, session_of
from proctor_web.chats import choices, service
from proctor_web.chats.sessions import Chat, ChatTurn, Update
from proctor_web.chats.wire import Span
from proctor_web.folder_code import StartableAgent
from proctor_web.workspace import NotFound, Workspace

KINDS = {
    "adk": say("google-adk"),
    "python": say("Python"),
    "model": say("chat model"),
    "project": say("of this project"),
}
SPANS = {"model": say("model"), "tool": say("tool"), "agent": say("agent")}
TURNS_SHOWN = 50
EVENTS_SHOWN = 200
PREVIEW_CHARACTERS = 120
SHOWN_CHARACTERS = 50_000  # of one result or event
SENT_EVENTS = {"content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no"}


def routes(workspace: Workspace) -> Sequence[BaseRoute]:
    pages = ChatPages(workspace)
    return [
        Route("/chat", pages.choose),
        Route("/chat", pages.begin, methods=["POST"]),
        Route("/chat/{chat}", pages.chat),
        Route("/chat/{chat}/events", pages.events),
        Route("/chat/{chat}/messages", pages.send, methods=["POST"]),
        Route("/chat/{chat}/stop", pages.stop, methods=["POST"]),
        Route("/chat/{chat}/save", pages.save, methods=["POST"]),
        Route("/chat/{chat}/delete", pages.delete, methods=["POST"]),
        Route("/chat/{chat}/turns/{turn:int}/events", pages.turn_events),
        Route("/chat/{chat}/turns/{turn:int}/files/{step:int}/{part:int}", pages.file),
    ]


class ChatPages:
    """The pages of the chats of a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def choose(self, request: Request) -> Response:

        return await self._choose(request, {"agent": request.query_params.get("agent", "")})

    async def begin(self, request: Request) -> Response:
        given = await form(request)
        try:
            new = service.NewChat(
                agent=given.get("model", "").strip() or given.get("agent", ""),
                user=given.get("user", "").strip(),
                state=_state(given.get("state", "")),
            )
            started = await service.start_chat(self._workspace, new)
        except BadInput as error:
            return await self._choose(request, given, error)
        return RedirectResponse(f"/chat/{started.chat.id}", 303)

    async def chat(self, request: Request) -> Response:
        return await self._chat(request, self._find(request))

    async def send(self, request: Request) -> Response:
        """Send a message: a script gets 204, and the page itself when there is none."""
        chat = self._find(request)
        given = await form(request)
        try:
            await service.send_message(self._workspace, service.NewMessage(chat=chat.id, text=given.get("text", "")))
        except BadInput as error:
            if _is_script(request):
                return JSONResponse({"why": speak(error.sentence, request.state.lang)}, 422)
            return await self._chat(request, chat, wrong=error, text=given.get("text", ""))
        return _back(request, chat)

    async def stop(self, request: Request) -> Response:
        chat = self._find(request)
        service.chats_of(self._workspace).stop(chat)
        return _back(request, chat)

    async def delete(self, request: Request) -> Response:
        service.chats_of(self._workspace).forget(self._find(request))
        return RedirectResponse("/chat", 303)

    async def save(self, request: Request) -> Response:
        """Keep the session as a case."""
        chat = self._find(request)
        given = await form(request)
        file = given.get("file", "").strip() or given.get("new", "").strip()
        if file and "." not in file:
            file += ".evalset.json"
        try:
            wanted = service.SaveChat(chat=chat.id, file=file, case=given.get("case", "").strip())
            saved = await service.save_chat(self._workspace, wanted, session_of(request).person.name)
        except BadInput as error:
            return await self._chat(request, chat, unsaved=error, given=given)
        return await self._chat(request, chat, saved=saved)

    async def events(self, request: Request) -> Response:
        """Send the turns from `since` on, then everything that happens."""
        chat = self._find(request)
        since = request.query_params.get("since", "0")
        number = int(since) if since.isascii() and since.isdigit() and len(since) < 7 else 0
        updates = (
            ": still here\n\n" if update is None else self._sent(request, chat, update)
            async for update in chat.watch(number)
        )
        return StreamingResponse(updates, headers=SENT_EVENTS)

    async def turn_events(self, request: Request) -> Response:
        """Show the events of a turn as google-adk has them."""
        return JSONResponse(self._turn(request).events)

    async def file(self, request: Request) -> Response:
        """Send a picture or sound that the agent made; other files are for downloading."""
        turn, params = self._turn(request), request.path_params
        try:
            part = turn.steps[params["step"]].message.parts_with_files[params["part"]]
        except IndexError:
            part = None
        if not isinstance(part, File) or part.data is None:
            raise NotFound("There is no such file.")
        if shown := shown_type(part.data):
            return Response(part.data, media_type=shown)
        return Response(part.data, headers={"content-disposition": "attachment"}, media_type="application/octet-stream")

    def _sent(self, request: Request, chat: Chat, update: Update) -> str:
        data: dict[str, Any] = {}
        if (turn := update.turn) is not None:
            data["number"] = turn.number
        match update.kind:
            case "piece" if update.piece is not None:
                piece = update.piece
                data |= {"text": piece.text, "thought": piece.is_thought, "author": piece.author, "again": piece.again}
            case "said" if turn is not None:
                first = len(turn.steps) - len(update.steps)
                data["html"] = self._part(request, "chats/steps.html.jinja", chat, turn=turn, first=first)
            case "turn" | "over" if turn is not None:
                data |= {"html": self._part(request, "chats/turn.html.jinja", chat, turn=turn), "how": turn.how}
                if update.kind == "over":
                    data["side"] = self._part(request, "chats/side.html.jinja", chat)
            case "agent":
                data["html"] = self._part(request, "chats/status.html.jinja", chat)
        return f"event: {update.kind}\ndata: {json.dumps(data)}\n\n"

    def _part(self, request: Request, template: str, chat: Chat, **values: Any) -> str:
        return bytes(page(request, template, **self._about(chat), **values).body).decode()

    def _about(self, chat: Chat) -> dict[str, Any]:
        shown = chat.turns[-TURNS_SHOWN:]
        return {
            "chat": chat,
            "agent": service.chats_of(self._workspace).status(chat),
            "waterfalls": [(turn, waterfall(turn)) for turn in reversed(shown) if turn.spans],
            "events": [event for turn in shown for event in turn.events][-EVENTS_SHOWN:],
            "pretty": pretty,
            "preview": preview,
            "describe": describe,
            "shown_type": shown_type,
            "span_names": SPANS,
        }

    async def _choose(self, request: Request, given: Mapping[str, str], wrong: BadInput | None = None) -> Response:
        status = 422 if wrong is not None else 200
        agents: Sequence[StartableAgent] = ()
        try:
            agents = await in_thread(lambda: choices.list_agents(self._workspace.agents))
        except BadInput as error:
            wrong = wrong or error
        return page(
            request,
            "chats/choose.html.jinja",
            status=status,
            agents=agents,
            kind_names=KINDS,
            chats=[service.row_of(chat) for chat in service.chats_of(self._workspace).all()],
            given=given,
            wrong=wrong,
        )

    async def _chat(self, request: Request, chat: Chat, **values: Any) -> Response:
        shown = chat.turns if "all" in request.query_params else chat.turns[-TURNS_SHOWN:]
        wrong: BadInput | None = values.get("wrong") or values.get("unsaved")
        more = {"wrong": None, "unsaved": None, "saved": None, "text": "", "given": {}, **values}
        return page(
            request,
            "chats/chat.html.jinja",
            status=422 if wrong is not None else 200,
            shown=shown,
            others=[one for one in service.chats_of(self._workspace).all() if one is not chat][:8],
            sets=await in_thread(self._sets),
            last=next(reversed(chat.saved), ("", "")),
            row=service.row_of,
            **self._about(chat),
            **more,
        )

    def _sets(self) -> list[str] | None:
        """Return the eval-set files that a session can be added to; None where there is no folder for them."""
        try:
            return [file.file for file in files.list_sets(files.folder_of(self._workspace)) if file.problem is None]
        except NotFound:
            return None

    def _find(self, request: Request) -> Chat:
        return service.find(self._workspace, request.path_params["chat"])

    def _turn(self, request: Request) -> ChatTurn:
        chat = self._find(request)
        number: int = request.path_params["turn"]
        if not 0 <= number < len(chat.turns):
            raise NotFound("There is no such turn.")
        return chat.turns[number]


class SpanBar(msgspec.Struct, frozen=True, kw_only=True):
    """A span in a waterfall: where it begins and how wide it is, in percent of the turn."""

    span: Span
    left: float
    width: float
    first: float | None


def waterfall(turn: ChatTurn) -> list[SpanBar]:
    """Return the spans of a turn by their beginning, as parts of the time that they took together."""
    spans = sorted(turn.spans, key=lambda span: (span.started, -span.seconds))
    begin = min(span.started for span in spans)
    whole = max(max(span.started + span.seconds for span in spans) - begin, 1e-6)
    return [
        SpanBar(
            span=span,
            left=round(100 * (span.started - begin) / whole, 2),
            width=max(round(100 * span.seconds / whole, 2), 0.4),
            first=None if span.first_token_seconds is None else round(100 * span.first_token_seconds / whole, 2),
        )
        for span in spans
    ]


def pretty(value: object) -> str:
    """Return JSON with indents, cut where it is very long; a text that is JSON is read first."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return str(value)[:SHOWN_CHARACTERS]
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, default=str)[:SHOWN_CHARACTERS]
    except (ValueError, RecursionError):
        return str(value)[:SHOWN_CHARACTERS]


def preview(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text[: 4 * PREVIEW_CHARACTERS].split())
    return line if len(line) <= PREVIEW_CHARACTERS else f"{line[:PREVIEW_CHARACTERS]}…"


def describe(event: Mapping[str, object]) -> str:
    """Return in a few words what an event of google-adk holds."""
    words: list[str] = []
    content = event.get("content")
    for part in (content.get("parts") if isinstance(content, Mapping) else None) or ():
        match part:
            case {"functionCall": {"name": name}}:
                words.append(f"→ {name}")
            case {"functionResponse": {"name": name}}:
                words.append(f"← {name}")
            case {"text": str(text)}:
                words.append(preview(text))
    actions = event.get("actions")
    if isinstance(actions, Mapping) and actions.get("stateDelta"):
        words.append(", ".join(f"{key} =" for key in actions["stateDelta"]))
    if event.get("errorCode"):
        words.append(str(event["errorCode"]))
    return " · ".join(words)


def _state(text: str) -> Mapping[str, object]:
    """Return what a session begins with, as the user wrote it."""
    if not text.strip():
        return {}
    try:
        value = msgspec.json.decode(text.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput("The state of the session is no JSON: {error}.", error=error) from None
    if not isinstance(value, dict):
        raise BadInput('The state of the session has to be a JSON object, such as {"lang": "en"}.')
    return value


def _is_script(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")


def _back(request: Request, chat: Chat) -> Response:
    return Response(status_code=204) if _is_script(request) else RedirectResponse(f"/chat/{chat.id}", 303)
