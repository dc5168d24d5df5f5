"""Keep the chats of a server: what was said in each, who watches it, and the process of its agent.

The server's record is the session: a process that ended is started again, and given what was said before. A turn that failed or
was stopped is shown, but leaves nothing in the session.
"""

import asyncio
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Any, Literal

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Message
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Step, Usage
from proctor.runtime.threads import in_thread
from proctor_web.chats import wire
from proctor_web.chats.choices import digest_code
from proctor_web.chats.process import AgentProcess
from proctor_web.folder_code import StartableAgent
from proctor_web.workspace import Workspace

MOST_CHATS = 500
MOST_PROCESSES = 6
MOST_BYTES = 50_000_000  # of what the agent sends in one chat
MOST_BEHIND = 10_000  # updates that a watcher has not read yet
BEAT_SECONDS = 15.0  # so that a connection without news is not closed, and one that is gone is noticed
USER = "user"
STOP_SECONDS = 3.0  # for an agent to stop its reply, before its process is ended

Kind = Literal["turn", "piece", "said", "span", "over", "agent", "gone"]


class ChatTurn(msgspec.Struct, kw_only=True):
    """What the user said, and what the agent made of it.

    Attributes:
        live: the pieces of the message that is not complete yet.
        note: what the user has to know before the reply, such as that the agent was loaded again.
        printed: the end of what the process printed, where it ended.
    """

    number: int
    asked: Message
    started: float
    steps: list[Step] = []
    events: list[wire.Event] = []
    spans: list[wire.Span] = []
    live: list[wire.Piece] = []
    how: wire.How | Literal["running"] = "running"
    seconds: float = 0.0
    first_seconds: float | None = None
    note: Sentence | None = None
    why: Sentence | None = None
    error_type: str = ""
    printed: str = ""
    is_stopping: bool = False
    ended: asyncio.Event = msgspec.field(default_factory=asyncio.Event)

    @property
    def usage(self) -> Usage:
        """Return what its models used, as far as they tell."""
        return sum((step.usage for step in self.steps if step.usage is not None), Usage())

    def hear_piece(self, piece: wire.Piece) -> None:
        """Add a piece to the message that is not complete."""
        if piece.again:
            self.live.clear()
        if piece.text:
            self._note_first()
            self.live.append(piece)

    def hear_steps(self, said: wire.Said) -> None:
        """Add steps that are complete; the pieces before them are in them."""
        if said.event is not None:
            self.events.append(said.event)
        if said.steps:
            self._note_first()
            self.live.clear()
            self.steps.extend(said.steps)

    def _note_first(self) -> None:
        if self.first_seconds is None:
            self.first_seconds = time.time() - self.started


class Update(msgspec.Struct, frozen=True, kw_only=True):
    """Something new in a chat; `turn` is None where it is about the agent."""

    kind: Kind
    turn: ChatTurn | None = None
    piece: wire.Piece | None = None
    steps: tuple[Step, ...] = ()
    event: wire.Event | None = None


class Chat:
    """One session with an agent."""

    def __init__(self, choice: StartableAgent, *, app: str, user: str, session: str, state: Mapping[str, Any]) -> None:
        self.id = secrets.token_hex(6)
        self.choice = choice
        self.app = app
        self.user = user
        self.session = session or self.id
        self.began_with = dict(state)
        self.state: Mapping[str, Any] = self.began_with
        self.created = self.changed = time.time()
        self.turns: list[ChatTurn] = []
        self.process: AgentProcess | None = None
        self.is_open = False  # in that process
        self.remembers = False
        self.size = 0
        self.saved: dict[tuple[str, str], str] = {}  # the digest of each case that it was saved as, by file and id
        self._watchers: set[Watcher] = set()

    @property
    def running(self) -> ChatTurn | None:
        return self.turns[-1] if self.turns and self.turns[-1].how == "running" else None

    @property
    def kept(self) -> list[ChatTurn]:
        """Return the turns that belong to the session."""
        return [turn for turn in self.turns if turn.how == "done"]

    def tell(self, update: Update) -> None:
        for watcher in list(self._watchers):
            watcher.put(update)

    async def watch(self, since: int = 0) -> AsyncIterator[Update | None]:
        """Yield the turns from number `since` on, then every update; None where nothing happens for a while."""
        watcher = self.attach()
        try:
            number = max(since, 0)
            while number < len(self.turns):
                watcher.updates.clear()  # what they say is in the turn
                yield Update(kind="turn", turn=self.turns[number])
                number += 1
            yield Update(kind="agent")
            while True:
                update = await watcher.next()
                yield update
                if update is not None and update.kind == "gone":
                    return
        finally:
            self.detach(watcher)

    def attach(self) -> "Watcher":
        """Subscribe to updates, and return the watcher that receives them."""
        watcher = Watcher()
        self._watchers.add(watcher)
        return watcher

    def detach(self, watcher: "Watcher") -> None:
        self._watchers.discard(watcher)


class Watcher:
    """What one watcher has not read yet."""

    def __init__(self) -> None:
        self.updates: deque[Update] = deque()
        self._news = asyncio.Event()

    def put(self, update: Update) -> None:
        if len(self.updates) >= MOST_BEHIND and update.turn is not None:
            self.updates.clear()
            update = Update(kind="turn", turn=update.turn)  # which has all of it
        self.updates.append(update)
        self._news.set()

    async def next(self) -> Update | None:
        if not self.updates:
            self._news.clear()
            try:
                async with asyncio.timeout(BEAT_SECONDS):
                    await self._news.wait()
            except TimeoutError:
                return None
        return self.updates.popleft()


class Chats:
    """All chats of a server, and the processes of their agents."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._chats: dict[str, Chat] = {}
        self._processes: dict[str, _Loaded] = {}  # by the agent
        self._retired: list[AgentProcess] = []
        self._closing: set[asyncio.Task[None]] = set()

    async def end(self) -> None:
        """End every process, and wait for that."""
        self._retired += [loaded.process for loaded in self._processes.values()]
        self._processes = {}
        async with asyncio.TaskGroup() as group:
            for process in self._retired:
                group.create_task(process.close())
        if self._closing:
            await asyncio.wait(self._closing)

    def close(self) -> None:
        """End every process; the event loop is gone by now, and they with it where it ended as it should."""
        for process in [*self._retired, *(loaded.process for loaded in self._processes.values())]:
            process.kill(say("The server ended."))

    def all(self) -> list[Chat]:
        """Return the chats, those that were changed last first."""
        return sorted(self._chats.values(), key=lambda chat: -chat.changed)

    def find(self, id: str) -> Chat | None:
        return self._chats.get(id)

    def session(self, app: str, user: str, session: str) -> Chat | None:
        """Return the chat that is a session of google-adk by these names."""
        wanted = (app, user, session)
        return next((chat for chat in [*self._chats.values()] if (chat.app, chat.user, chat.session) == wanted), None)

    def create(
        self, choice: StartableAgent, *, app: str = "", user: str = "", session: str = "", state: Mapping[str, Any] = {}
    ) -> Chat:
        """Begin a chat; nothing is started yet.

        Raises:
            BadInput: there are too many.
        """
        if len(self._chats) >= MOST_CHATS:
            raise BadInput("There are {count} chats already. Delete some of them first.", count=MOST_CHATS)
        app = app or (choice.folder.name if choice.kind == "adk" and choice.folder is not None else choice.name)
        chat = Chat(choice, app=app, user=user or USER, session=session, state=state)
        self._chats[chat.id] = chat
        return chat

    async def load(self, chat: Chat) -> None:
        """Start the agent of a chat, if it does not run."""
        await self._process_of(chat)

    async def send(
        self,
        chat: Chat,
        message: Message,
        *,
        content: wire.Event | None = None,
        state_delta: Mapping[str, Any] | None = None,
        streams: bool = True,
    ) -> ChatTurn:
        """Send a message; the reply comes to those who watch the chat.

        Raises:
            BadInput: a reply is under way.
        """
        if chat.running is not None:
            raise BadInput("A reply is under way. Wait for it, or stop it.")
        turn = ChatTurn(number=len(chat.turns), asked=message, started=time.time())
        before, chat.changed = chat.turns[-1:], turn.started
        chat.turns.append(turn)
        loaded = await self._process_of(chat)
        if before and before[0].how != "done" and chat.remembers:
            chat.is_open = False  # begins again without that turn
        if loaded.process is not chat.process:
            if chat.process is not None:
                turn.note = loaded.why
            chat.process, chat.is_open = loaded.process, False
        if not chat.is_open:
            loaded.process.send(_opening(chat))
            chat.is_open = True
        loaded.used = time.monotonic()
        chat.tell(Update(kind="turn", turn=turn))
        send = wire.Send(chat=chat.id, message=message, content=content, state_delta=state_delta, streams=streams)
        loaded.process.send(send)
        return turn

    async def reply(self, chat: Chat, message: Message, **more: Any) -> AsyncIterator[Update]:
        """Send a message as `send` does, and return the updates of the reply; who stops listening stops the reply.

        Raises:
            BadInput: a reply is under way.
        """
        watcher = chat.attach()
        try:
            turn = await self.send(chat, message, **more)
        except BaseException:
            chat.detach(watcher)
            raise

        async def updates() -> AsyncIterator[Update]:
            try:
                over = False
                while not over:
                    update = await watcher.next()
                    if update is not None and update.turn is turn:
                        yield update
                        over = update.kind == "over"
            finally:
                chat.detach(watcher)
                if turn.how == "running":
                    self.stop(chat)

        return updates()

    def stop(self, chat: Chat) -> None:
        """Stop the reply that is under way; an agent that does not stop is ended."""
        turn = chat.running
        if turn is None or turn.is_stopping or chat.process is None:
            return
        turn.is_stopping = True
        process = chat.process
        if process.withdraw(chat.id):
            self._finish(chat, turn, wire.Over(chat=chat.id, how="stopped"))
            return
        process.send(wire.Stop(chat=chat.id))

        def end() -> None:
            if turn.how == "running":
                process.kill(say("The agent did not stop its reply, so its process was ended."))

        asyncio.get_running_loop().call_later(STOP_SECONDS, end)

    def forget(self, chat: Chat) -> None:
        self.stop(chat)
        if chat.process is not None:
            chat.process.send(wire.Forget(chat=chat.id))
        self._chats.pop(chat.id, None)
        chat.tell(Update(kind="gone"))

    def append(self, chat: Chat, event: wire.Event, state: Mapping[str, Any]) -> None:
        """Put an event into a session between two turns, such as a change of its state."""
        now = time.time()
        turn = ChatTurn(number=len(chat.turns), asked=Message(role="user"), started=now, how="done", events=[event])
        chat.turns.append(turn)
        chat.state, chat.changed, chat.is_open = {**chat.state, **state}, now, False
        chat.tell(Update(kind="turn", turn=turn))

    def status(self, chat: Chat) -> "Status":
        """Return whether the agent of a chat runs."""
        loaded = self._processes.get(chat.choice.target)
        if loaded is None:
            return Status(state="idle")
        if loaded.process.fault is not None:
            return Status(state="failed", why=loaded.process.fault, printed=loaded.process.printed)
        return Status(state="ready" if loaded.process.is_ready else "loading", printed=loaded.process.printed)

    async def _process_of(self, chat: Chat) -> "_Loaded":
        """Return the process of a chat's agent: a new one if it ended, or the code changed."""
        choice = chat.choice
        code = await in_thread(partial(digest_code, choice.folder))
        loaded = self._processes.get(choice.target)
        why = say("The agent was started again.")
        if loaded is not None and loaded.process.fault is None:
            if loaded.code == code:
                return loaded
            why = say("The agent's code was changed, so it was loaded again.")
        process = AgentProcess(choice.target, choice.options, self._hear, self._ended)
        self._processes[choice.target] = made = _Loaded(process, code, why)
        if loaded is not None:
            self._retired.append(loaded.process)
        while len(self._processes) > MOST_PROCESSES:
            oldest = min(self._processes, key=lambda name: self._processes[name].used)
            self._retired.append(self._processes.pop(oldest).process)
        self._close_retired()
        self._tell_agent(process)
        return made

    def _close_retired(self) -> None:
        """Close processes that are not needed any more, once no reply of theirs is under way."""
        busy = {id(chat.process) for chat in self._chats.values() if chat.running is not None}
        for process in [retired for retired in self._retired if id(retired) not in busy]:
            self._retired.remove(process)
            task = asyncio.create_task(process.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def _hear(self, process: AgentProcess, report: wire.Report, size: int) -> None:
        if isinstance(report, wire.Ready | wire.Unusable):
            self._tell_agent(process)
            return
        chat = self._chats.get(report.chat)
        if chat is None or chat.process is not process or (turn := chat.running) is None:
            return
        chat.size += size
        if chat.size > MOST_BYTES and not turn.is_stopping:
            turn.why = say("The reply was stopped: the chat is larger than {megabytes} MB.", megabytes=MOST_BYTES >> 20)
            self.stop(chat)
        match report:
            case wire.ChatOpened():
                chat.remembers = report.remembers
                if not report.remembers and any(earlier.how == "done" for earlier in chat.turns):
                    turn.note = say("The agent was started again, and does not know what was said before.")
                    chat.tell(Update(kind="turn", turn=turn))
            case wire.Piece():
                turn.hear_piece(report)
                chat.tell(Update(kind="piece", turn=turn, piece=report, event=report.event))
            case wire.Said():
                turn.hear_steps(report)
                chat.tell(Update(kind="said", turn=turn, steps=tuple(report.steps), event=report.event))
            case wire.Span():
                turn.spans.append(report)
                chat.tell(Update(kind="span", turn=turn))
            case wire.Over():
                if report.how == "done" and report.state is not None:
                    chat.state = report.state
                self._finish(chat, turn, report)

    def _finish(self, chat: Chat, turn: ChatTurn, over: wire.Over, printed: str = "") -> None:
        turn.how, turn.why, turn.error_type = over.how, turn.why or over.why, over.error_type
        turn.seconds, turn.live, turn.printed = time.time() - turn.started, [], printed
        chat.changed = time.time()
        turn.ended.set()
        chat.tell(Update(kind="over", turn=turn))
        self._close_retired()

    def _ended(self, process: AgentProcess) -> None:
        """End the replies that a process owes, and say why."""
        for chat in self._chats.values():
            if chat.process is process and (turn := chat.running) is not None:
                how: wire.How = "stopped" if turn.is_stopping else "failed"
                self._finish(chat, turn, wire.Over(chat=chat.id, how=how, why=process.fault), process.printed)
        self._tell_agent(process)

    def _tell_agent(self, process: AgentProcess) -> None:
        targets = {target for target, loaded in self._processes.items() if loaded.process is process}
        for chat in self._chats.values():
            if chat.choice.target in targets:
                chat.tell(Update(kind="agent"))


class _Loaded(msgspec.Struct):
    """The process of an agent, and the code that it was started with."""

    process: AgentProcess
    code: str
    why: Sentence  # it was started, for chats that had another
    used: float = msgspec.field(default_factory=time.monotonic)


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The state of an agent's process."""

    state: Literal["idle", "loading", "ready", "failed"]
    why: Sentence | None = None
    printed: str = ""


def _opening(chat: Chat) -> wire.Open:
    """Return the command that opens a session with what was said before."""
    kept = chat.kept
    return wire.Open(
        chat=chat.id,
        app=chat.app,
        user=chat.user,
        session=chat.session,
        state=chat.began_with,
        events=[event for turn in kept for event in turn.events],
        messages=[message for turn in kept for message in (turn.asked, *(step.message for step in turn.steps))],
    )
