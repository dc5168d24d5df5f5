"""Run the sessions of an agent of google-adk: its own runner, and every event as it comes."""

import copy
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from proctor.agents.agent_errors import map_agent_errors
from proctor.chat.agent_replies import clean
from proctor.core.sample import Turn
from proctor.core.trajectory import Step
from proctor_adapters.agents import adk
from proctor_adapters.agents.adk_events import content_of, plain, steps_of
from proctor_web.chats.wire import Event, Open, Piece, Said, Send, Span, SpanKind, State, Tell

if TYPE_CHECKING:
    from google.adk import events
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.runners import Runner
    from google.adk.sessions import BaseSessionService, Session

# the chat, and who listens
_heard: ContextVar[tuple[str, Tell] | None] = ContextVar("proctor_chat_heard", default=None)


class AdkHost:
    """One runner for each app name, so that its sessions share memory, artifacts and the state of their user."""

    def __init__(self, agent: adk.AdkAgent) -> None:
        self.agent = agent
        self._sessions = _session_service()
        self._runners: dict[str, Runner] = {}

    @asynccontextmanager
    async def open(self, begin: Open) -> AsyncIterator["AdkTalk"]:
        """Create the session, and append the events of the one that it takes the place of."""
        from google.adk.events import Event as AdkEvent

        if begin.app not in self._runners:
            runner = self._runners[begin.app] = self.agent.runner_for(begin.app, self._sessions)
            runner.plugin_manager.register_plugin(_stopwatch())
        runner = self._runners[begin.app]
        names = {"app_name": begin.app, "user_id": begin.user, "session_id": begin.session}
        service = runner.session_service
        session = await service.create_session(**names, state=copy.deepcopy(dict(begin.state)))
        for event in begin.events:
            await service.append_event(session, AdkEvent.model_validate(event))
        try:
            yield AdkTalk(begin.chat, runner, names)
        finally:
            await service.delete_session(**names)


class AdkTalk:
    """A session of google-adk."""

    remembers = True

    def __init__(self, chat: str, runner: "Runner", place: Mapping[str, str]) -> None:
        self._chat = chat
        self._runner = runner
        self._place: dict[str, Any] = dict(place)

    async def send(self, command: Send, tell: Tell) -> State:
        """Call the runner, and tell each event; raises what the agent raised, as our own errors."""
        from google.adk.agents import run_config
        from google.genai import types

        _heard.set((self._chat, tell))
        if command.content is None:
            content = content_of(Turn(messages=(command.message,)))
        else:
            content = types.Content.model_validate(command.content)
        run_as = run_config.RunConfig.model_validate({"streaming_mode": "sse" if command.streams else None})
        more: dict[str, Any] = {} if command.state_delta is None else {"state_delta": dict(command.state_delta)}
        made: list[Step] = []
        last = None
        with map_agent_errors(adk.raised_by):
            run = self._runner.run_async(
                user_id=self._place["user_id"],
                session_id=self._place["session_id"],
                new_message=content,
                run_config=run_as,
                **more,
            )
            async with aclosing(run) as stream:
                started, clock = time.time(), time.perf_counter()
                async for event in stream:
                    if event.partial:
                        for piece in self._pieces(event):
                            tell(piece)
                        continue
                    now = time.perf_counter()
                    steps = [replace(step, started=started, seconds=now - clock) for step in steps_of(event)]
                    tell(Said(chat=self._chat, steps=steps, event=as_json(event)))
                    started, clock, last = time.time(), now, event
                    made.extend(steps)
            if last is not None and last.error_code and not (last.content and last.content.parts):
                adk.check_end(last, made)
        session = await self._runner.session_service.get_session(**self._place)
        return None if session is None else plain({k: v for k, v in session.state.items() if not k.startswith("temp:")})

    def _pieces(self, event: "events.Event") -> Iterator[Piece]:
        """Yield the texts of a partial event; the event itself goes with the first of them."""
        whole: Event | None = as_json(event)
        author = event.author or "agent"
        for part in (event.content.parts if event.content else None) or ():
            if part.text:
                text = clean(part.text)
                yield Piece(chat=self._chat, text=text, is_thought=bool(part.thought), author=author, event=whole)
                whole = None
        if whole is not None:
            yield Piece(chat=self._chat, author=author, event=whole)


def as_json(event: "events.Event") -> Event:
    """Return an event as google-adk's own server writes it."""
    return event.model_dump(mode="json", by_alias=True, exclude_none=True, fallback=str)


def _session_service() -> "BaseSessionService":
    """Return sessions in memory that tell of the user's events, which a runner appends and does not yield."""
    from google.adk.sessions import InMemorySessionService

    class Sessions(InMemorySessionService):
        async def append_event(self, session: "Session", event: "events.Event") -> "events.Event":
            kept = await super().append_event(session, event)
            heard = _heard.get()
            if heard is not None and kept.author == "user" and not kept.partial:
                chat, tell = heard
                tell(Said(chat=chat, event=as_json(kept)))
            return kept

    return Sessions()


class RunningSpans:
    """What is under way in the sessions of a host; each span is reported when it ends."""

    def __init__(self) -> None:
        self._began: dict[tuple[str, ...], tuple[float, float]] = {}
        self._first: dict[tuple[str, ...], float] = {}

    def begin(self, *key: str) -> None:
        self._began[key] = (time.time(), time.perf_counter())
        self._first.pop(key, None)

    def note_token(self, *key: str) -> None:
        """Note when the first token came."""
        if key not in self._first and key in self._began:
            self._first[key] = time.perf_counter() - self._began[key][1]

    def end(self, kind: SpanKind, name: str, *key: str, failed: bool = False) -> None:
        """Report a span to whoever listens to the chat."""
        started, clock = self._began.pop(key, (0.0, 0.0))
        heard = _heard.get()
        if started and heard is not None:
            chat, tell = heard
            span = Span(
                chat=chat,
                kind=kind,
                name=name,
                started=started,
                seconds=time.perf_counter() - clock,
                first_token_seconds=self._first.pop(key, None),
                failed=failed,
            )
            tell(span)


def _stopwatch() -> "BasePlugin":
    """Return a plugin that measures models, tools and the agents inside."""
    from google.adk.plugins.base_plugin import BasePlugin

    class Stopwatch(BasePlugin):
        def __init__(self) -> None:
            super().__init__(name="proctor_stopwatch")
            self._spans = RunningSpans()

        async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
            self._spans.begin(callback_context.invocation_id, agent.name)

        async def after_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
            self._spans.end("agent", agent.name, callback_context.invocation_id, agent.name)

        async def before_model_callback(self, *, callback_context: Any, llm_request: object) -> None:
            self._spans.begin("model", callback_context.invocation_id, callback_context.agent_name)

        async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
            key = ("model", callback_context.invocation_id, callback_context.agent_name)
            self._spans.note_token(*key)
            if not llm_response.partial:
                self._spans.end("model", callback_context.agent_name, *key, failed=bool(llm_response.error_code))

        async def on_model_error_callback(self, *, callback_context: Any, llm_request: object, error: object) -> None:
            key = ("model", callback_context.invocation_id, callback_context.agent_name)
            self._spans.end("model", callback_context.agent_name, *key, failed=True)

        async def before_tool_callback(self, *, tool: Any, tool_args: object, tool_context: Any) -> None:
            self._spans.begin("tool", tool_context.function_call_id or tool.name)

        async def after_tool_callback(self, *, tool: Any, tool_args: object, tool_context: Any, result: object) -> None:
            failed = isinstance(result, Mapping) and bool(result.get("error"))
            self._spans.end("tool", tool.name, "tool", tool_context.function_call_id or tool.name, failed=failed)

        async def on_tool_error_callback(
            self, *, tool: Any, tool_args: object, tool_context: Any, error: object
        ) -> None:
            self._spans.end("tool", tool.name, "tool", tool_context.function_call_id or tool.name, failed=True)

    return Stopwatch()
