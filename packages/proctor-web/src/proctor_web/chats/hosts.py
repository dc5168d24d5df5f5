"""Run the sessions of an agent in its process: those of google-adk event by event, a chat model piece by piece, others reply by reply."""

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from msgspec.structs import replace

from proctor.agents.agent_errors import map_agent_errors
from proctor.api import resolve
from proctor.core.around import around
from proctor.core.declared import SessionInfo, declared
from proctor.core.sample import Sample, ToolResult, Turn
from proctor.core.task import Agent, Resumes, Session
from proctor.core.trajectory import Step
from proctor_web.chats.wire import Open, Piece, Said, Send, Span, State, Tell


class Talk(Protocol):
    """An open session; `remembers` says that it can be opened again with what was said before."""

    remembers: bool

    async def send(self, command: Send, tell: Tell) -> State:
        """Tell what the agent says and does, and return the state of the session after it."""
        ...


class ChatHost(Protocol):
    """An agent whose sessions are opened here."""

    @property
    def agent(self) -> Agent: ...

    def open(self, begin: Open) -> AbstractAsyncContextManager[Talk]: ...


def host_of(name: str, options: Mapping[str, object]) -> ChatHost:
    """Return the host of an agent.

    Raises:
        BadInput: there is no such agent, or its code raises when it is imported.
    """
    from proctor_adapters.agents.adk import AdkAgent

    agent, _ = resolve.agent(name, options)
    if isinstance(agent, AdkAgent):
        from proctor_web.chats.adk_host import AdkHost

        return AdkHost(agent)
    return AgentHost(agent)


class AgentHost:
    """Sessions of any of Proctor's agents."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    @asynccontextmanager
    async def open(self, begin: Open) -> AsyncIterator[Talk]:
        start = {"app_name": begin.app, "user_id": begin.user, "session_id": begin.session, "state": dict(begin.state)}
        async with self.agent.open(Sample(id="chat", turns=(), meta={"session": start}), None) as session:
            if isinstance(session, Resumes):
                session.resume(begin.messages)
            yield AgentTalk(begin.chat, session)


class AgentTalk:
    """A session that replies as a whole; the text of a chat model is passed on while it comes."""

    def __init__(self, chat: str, session: Session) -> None:
        self.remembers = isinstance(session, Resumes)
        self._chat = chat
        self._session = session

    async def send(self, command: Send, tell: Tell) -> State:
        def hear(text: str, is_thought: bool, again: bool) -> None:
            tell(Piece(chat=self._chat, text=text, is_thought=is_thought, again=again))

        around.set(replace(around.get(), hear=hear if command.streams else None))  # of this task only
        started, clock = time.time(), time.perf_counter()
        with map_agent_errors():
            steps = await self._session.send(Turn(messages=(command.message,)))
        tell(Said(chat=self._chat, steps=steps))
        whole = Span(chat=self._chat, kind="agent", name="", started=started, seconds=time.perf_counter() - clock)
        for span in [self._span(step) for step in steps if step.started] or [whole]:
            tell(span)
        return declared(SessionInfo, self._session).state

    def _span(self, step: Step) -> Span:
        results = [part for part in step.message.parts if isinstance(part, ToolResult)]
        return Span(
            chat=self._chat,
            kind="tool" if results else "model",
            name=", ".join(result.name for result in results) or step.author,
            started=step.started,
            seconds=step.seconds,
            first_token_seconds=step.first_token_seconds,
            failed=any(result.is_error for result in results),
        )
