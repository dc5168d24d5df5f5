"""What pages and programs can do with chats: choose an agent, talk, stop, and keep a session as a case of an eval set."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.sample import Message
from proctor.core.sample import Turn as AskedTurn
from proctor.core.trajectory import Step
from proctor.runtime.threads import in_thread
from proctor_adapters.evalsets.recording import case_of
from proctor_adapters.evalsets.schema import EvalCase, SessionInput
from proctor_web import evalset_files as files
from proctor_web.chats import choices
from proctor_web.chats.sessions import Chat, Chats, ChatTurn
from proctor_web.chats.wire import Event, Span
from proctor_web.workspace import NotFound, Workspace

MOST_CHARACTERS = 200_000  # of a message
MOST_SECONDS = 600.0  # that a program waits for a reply
TITLE_CHARACTERS = 80


class AgentRow(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that can be chosen."""

    name: str
    kind: str
    about: str = ""


class NewChat(msgspec.Struct, frozen=True, kw_only=True):
    """A chat to begin, and what its session begins with."""

    agent: str
    user: str = ""
    state: Mapping[str, Any] = {}


class ChatReference(msgspec.Struct, frozen=True, kw_only=True):
    """A chat by its id."""

    chat: str


class NewMessage(ChatReference, frozen=True, kw_only=True):
    """A message to send; `wait` answers when the reply is over, for as many seconds at most."""

    text: str
    wait: float = 0.0


class SaveChat(ChatReference, frozen=True, kw_only=True):
    """Where to keep a session: the eval-set file, in the folder of eval sets, and the id of the case."""

    file: str
    case: str = ""


class TurnView(msgspec.Struct, frozen=True, kw_only=True):
    """What the user said, and what the agent made of it; `live` is the text of the message that is under way."""

    number: int
    asked: Message
    how: str
    steps: Sequence[Step]
    spans: Sequence[Span]
    events: Sequence[Event]
    live: str
    started: float
    seconds: float
    first_seconds: float | None
    note: str
    why: str


class ListedChat(msgspec.Struct, frozen=True, kw_only=True):
    """A chat in a list; `title` is the beginning of the first message."""

    id: str
    agent: str
    user: str
    created: float
    changed: float
    turns: int
    is_running: bool
    title: str


class ChatView(msgspec.Struct, frozen=True, kw_only=True):
    """A chat with all that was said; `agent_state` is that of the process, `fault` why it failed."""

    chat: ListedChat
    agent_state: str
    fault: str
    state: Mapping[str, Any]
    turns: Sequence[TurnView]


def list_agents(workspace: Workspace) -> list[AgentRow]:
    """Return the agents that can be chosen; a chat model is named `openai:MODEL`."""
    return [
        AgentRow(name=choice.name, kind=choice.kind, about=choice.about)
        for choice in choices.list_agents(workspace.agents)
    ]


async def list_chats(workspace: Workspace) -> list[ListedChat]:
    """Return the chats of this server, the last one first."""
    return [row_of(chat) for chat in chats_of(workspace).all()]


async def start_chat(workspace: Workspace, given: NewChat) -> ChatView:
    """Begin a chat with an agent, and start the agent.
    Raises:
        BadInput: there is no such agent, or nothing may be started here.
    """
    if workspace.read_only:
        raise BadInput("You can look at everything here, but start no agent.")
    chats = chats_of(workspace)
    choice = await in_thread(partial(choices.choose, given.agent, workspace.agents))
    chat = chats.create(choice, user=given.user, state=given.state)
    await chats.load(chat)
    return _view(workspace, chat)


async def get_chat(workspace: Workspace, given: ChatReference) -> ChatView:
    """Return a chat with all that was said in it."""
    return _view(workspace, find(workspace, given.chat))


async def send_message(workspace: Workspace, given: NewMessage) -> TurnView:
    """Send a message to the agent of a chat.
    Raises:
        BadInput: it is empty or too long, or a reply is under way.
    """
    if not given.text.strip():
        raise BadInput("Write a message first.")
    if len(given.text) > MOST_CHARACTERS:
        raise BadInput("A message has {most} characters at most.", most=MOST_CHARACTERS)
    chat = find(workspace, given.chat)
    turn = await chats_of(workspace).send(chat, Message.of("user", given.text))
    with suppress(TimeoutError):
        async with asyncio.timeout(min(max(given.wait, 0.0), MOST_SECONDS)):
            await turn.ended.wait()
    return _turn_view(turn)


async def stop_reply(workspace: Workspace, given: ChatReference) -> None:
    """Stop the reply that is under way."""
    chats_of(workspace).stop(find(workspace, given.chat))


async def delete_chat(workspace: Workspace, given: ChatReference) -> None:
    """Delete a chat."""
    chats_of(workspace).forget(find(workspace, given.chat))


async def save_chat(workspace: Workspace, given: SaveChat, by: str = "") -> files.Saved:
    """Keep a session as a case of an eval-set file; saved again under the same id, it replaces what it was."""
    chat = find(workspace, given.chat)
    case = case_of_chat(chat, given.case)
    saved: files.Saved = await in_thread(partial(_save, workspace, chat, given.file, case, by))
    chat.saved[given.file, saved.case] = saved.case_digest
    return saved


def chats_of(workspace: Workspace) -> Chats:
    return workspace.kept(Chats)


def find(workspace: Workspace, id: str) -> Chat:
    """Return the chat of an id.

    Raises:
        NotFound: there is none, or the server was started again since.
    """
    chat = chats_of(workspace).find(id)
    if chat is None:
        raise NotFound("There is no chat {id}. Chats live as long as the server, unless they are saved.", id=id)
    return chat


def case_of_chat(chat: Chat, case_id: str = "") -> EvalCase:
    """Return what belongs to a session as a case, as the agent said and did it.

    Raises:
        BadInput: nothing was answered yet.
    """
    asked = [turn for turn in chat.kept if turn.asked.parts]
    if not asked:
        raise BadInput("There is nothing to save yet: no message was answered.")
    is_adk = chat.choice.kind == "adk" or any(turn.events for turn in asked)
    session = SessionInput(app_name=chat.app, user_id=chat.user, state=dict(chat.began_with))
    case = case_of(
        case_id or f"chat_{time.strftime('%Y%m%d%H%M%S')}",
        [(AskedTurn(messages=(turn.asked,)), turn.steps) for turn in asked],
        session if is_adk or chat.began_with else None,
    )
    conversation = []
    for invocation, turn in zip(case.conversation or (), asked, strict=True):
        ids = (str(event["invocationId"]) for event in turn.events if event.get("invocationId"))  # of google-adk
        invocation_id = next(ids, invocation.invocation_id)
        conversation.append(replace(invocation, invocation_id=invocation_id, creation_timestamp=turn.started))
    changed = is_adk and dict(chat.state) != dict(chat.began_with)
    return replace(case, conversation=conversation, final_session_state=dict(chat.state) if changed else None)


def _view(workspace: Workspace, chat: Chat) -> ChatView:
    status = chats_of(workspace).status(chat)
    return ChatView(
        chat=row_of(chat),
        agent_state=status.state,
        fault=str(status.why or ""),
        state=chat.state,
        turns=[_turn_view(turn) for turn in chat.turns],
    )


def row_of(chat: Chat) -> ListedChat:
    first = next((turn.asked.text for turn in chat.turns if turn.asked.text), "")
    return ListedChat(
        id=chat.id,
        agent=chat.choice.name,
        user=chat.user,
        created=chat.created,
        changed=chat.changed,
        turns=len(chat.turns),
        is_running=chat.running is not None,
        title=" ".join(first.split())[:TITLE_CHARACTERS],
    )


def _turn_view(turn: ChatTurn) -> TurnView:
    return TurnView(
        number=turn.number,
        asked=turn.asked,
        how=turn.how,
        steps=tuple(turn.steps),
        spans=tuple(turn.spans),
        events=tuple(turn.events),
        live="".join(piece.text for piece in turn.live if not piece.is_thought),
        started=turn.started,
        seconds=turn.seconds,
        first_seconds=turn.first_seconds,
        note=str(turn.note or ""),
        why=str(turn.why or ""),
    )


def _save(workspace: Workspace, chat: Chat, file: str, case: EvalCase, by: str) -> files.Saved:
    """Write a case: a new one, or in place of the one that this chat was saved as under the id."""
    folder, history = files.folder_of(workspace), workspace.kept(files.History)
    before = chat.saved.get((file, case.eval_id))
    if before is not None:
        try:
            return files.save_case(
                folder, file, case, case_id=case.eval_id, expected_digest=before, history=history, by=by
            )
        except NotFound:
            pass  # it was deleted since
    return files.save_case(folder, file, case, history=history, by=by)
