"""An agent in its process: it streams, crashes, hangs, is stopped, and is loaded again when its code changes."""

import asyncio
import os
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from proctor.core.errors import BadInput
from proctor.core.sample import Message
from proctor_web.chats import choices, sessions
from proctor_web.chats.sessions import Chat, Chats, ChatTurn
from proctor_web.workspace import Workspace

AGENT = """
import os, signal, sys, time

def answer(messages: list) -> str:
    asked = messages[-1]["content"]
    if asked == "crash":
        print("about to crash", file=sys.stderr)
        os.kill(os.getpid(), signal.SIGSEGV)
    if asked == "exit":
        os._exit(3)
    if asked == "raise":
        raise ValueError("no <b>such</b> thing")
    if asked == "flood":
        return "x" * 80_000_000
    if asked == "print":
        print("a line on standard output")
        os.write(1, b"not a report\\n")
    return f"{len(messages)} messages, process {os.getpid()}"

async def hang(messages: list) -> str:
    asked = messages[-1]["content"]
    if asked == "block":
        while True:
            time.sleep(0.1)  # the event loop itself
    if asked == "wait":
        import asyncio
        await asyncio.sleep(600)
    return f"{asked}, process {os.getpid()}"

class Shop:
    def __init__(self):
        self.told = []
    def run(self, text: str) -> str:
        self.told.append(text)
        return ", ".join(self.told)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(AGENT)
    return tmp_path


@pytest.fixture
async def chats(folder: Path) -> AsyncIterator[Chats]:
    made = Chats(Workspace({}, agents=folder))
    yield made
    await made.end()


@pytest.fixture
def begin(chats: Chats, folder: Path) -> Callable[[str], Chat]:
    return lambda name: chats.create(choices.choose(name, folder))


async def over(turn: ChatTurn) -> ChatTurn:
    async with asyncio.timeout(120):
        await turn.ended.wait()
    return turn


async def say(chats: Chats, chat: Chat, text: str) -> ChatTurn:
    return await over(await chats.send(chat, Message.of("user", text)))


def text_of(turn: ChatTurn) -> str:
    return "".join(step.message.text for step in turn.steps)


async def test_a_chat_is_a_conversation_and_two_chats_share_a_process(
    chats: Chats, begin: Callable[[str], Chat]
) -> None:
    first, second = begin("shop.py:Shop"), begin("shop.py:Shop")
    assert text_of(await say(chats, first, "tea")) == "tea"
    assert text_of(await say(chats, second, "rice")) == "rice"
    assert text_of(await say(chats, first, "milk")) == "tea, milk"
    assert first.process is second.process


async def test_a_crash_ends_the_reply_and_nothing_else(chats: Chats, begin: Callable[[str], Chat]) -> None:
    chat = begin("shop.py:answer")
    turn = await say(chats, chat, "crash")
    assert turn.how == "failed"
    assert "SIGSEGV" in str(turn.why)
    assert "about to crash" in turn.printed
    turn = await say(chats, chat, "exit")
    assert "exit code 3" in str(turn.why)
    turn = await say(chats, chat, "well?")
    assert turn.how == "done"
    assert "started again" in str(turn.note)


async def test_what_an_agent_raises_is_said_and_the_process_lives_on(
    chats: Chats, begin: Callable[[str], Chat]
) -> None:
    chat = begin("shop.py:answer")
    turn = await say(chats, chat, "raise")
    assert (turn.how, turn.error_type) == ("failed", "ValueError")
    assert "no <b>such</b> thing" in str(turn.why)
    process = chat.process
    assert (await say(chats, chat, "well?")).how == "done"
    assert chat.process is process


async def test_what_an_agent_prints_is_no_report(chats: Chats, begin: Callable[[str], Chat]) -> None:
    chat = begin("shop.py:answer")
    assert (await say(chats, chat, "print")).how == "done"
    assert chats.status(chat).state == "ready"
    async with asyncio.timeout(60):
        while "not a report" not in chats.status(chat).printed:  # noqa: ASYNC110 - it comes through another pipe
            await asyncio.sleep(0.01)
    assert "a line on standard output" in chats.status(chat).printed


async def test_a_reply_that_is_too_large_ends_the_process(chats: Chats, begin: Callable[[str], Chat]) -> None:
    chat = begin("shop.py:answer")
    turn = await say(chats, chat, "flood")
    assert turn.how == "failed"
    assert "more than can be taken" in str(turn.why)


async def test_a_reply_that_waits_is_stopped_and_the_process_lives_on(
    chats: Chats, begin: Callable[[str], Chat]
) -> None:
    chat = begin("shop.py:hang")
    await say(chats, chat, "hello")
    process = chat.process
    turn = await chats.send(chat, Message.of("user", "wait"))
    await asyncio.sleep(0.1)
    chats.stop(chat)
    assert (await over(turn)).how == "stopped"
    assert chat.process is process
    assert (await say(chats, chat, "well?")).how == "done"


async def test_a_message_to_an_agent_that_is_being_loaded_is_taken_back_at_once(
    chats: Chats, begin: Callable[[str], Chat]
) -> None:
    chat = begin("shop.py:answer")
    turn = await chats.send(chat, Message.of("user", "hello"))
    assert chats.status(chat).state == "loading"
    chats.stop(chat)
    assert turn.how == "stopped"
    assert text_of(await say(chats, chat, "well?")).startswith("1 messages")


async def test_an_agent_that_does_not_stop_is_ended_and_the_event_loop_goes_on(
    chats: Chats, begin: Callable[[str], Chat], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "STOP_SECONDS", 0.2)
    chat, other = begin("shop.py:hang"), begin("shop.py:hang")
    await say(chats, other, "hello")
    turn = await chats.send(chat, Message.of("user", "block"))
    behind = await chats.send(other, Message.of("user", "well?"))
    await asyncio.sleep(0.3)
    began = time.monotonic()
    chats.stop(chat)
    assert (await over(turn)).how == "stopped"
    assert time.monotonic() - began < 60, "it would never stop"
    assert (await over(behind)).how == "failed"
    assert "did not stop" in str(behind.why)
    assert (await say(chats, other, "again")).how == "done"


async def test_changed_code_is_loaded_at_the_next_message(
    chats: Chats, begin: Callable[[str], Chat], folder: Path
) -> None:
    chat = begin("shop.py:answer")
    await say(chats, chat, "one")
    (folder / "shop.py").write_text("def answer(messages: list) -> str:\n    return 'new'\n")
    turn = await say(chats, chat, "two")
    assert text_of(turn) == "new"
    assert "code was changed" in str(turn.note) or "does not know" in str(turn.note)
    (folder / "shop.py").write_text("def answer(messages: list) -> str:\n    return 'new\n")
    turn = await say(chats, chat, "three")
    assert turn.how == "failed"
    assert "raises when it is imported: SyntaxError" in str(turn.why)


async def test_a_reply_under_way_goes_on_in_the_old_code(
    chats: Chats, begin: Callable[[str], Chat], folder: Path
) -> None:
    chat, other = begin("shop.py:hang"), begin("shop.py:hang")
    turn = await chats.send(chat, Message.of("user", "wait"))
    await say(chats, other, "hello")
    (folder / "extra.py").write_text("x = 1\n")
    await say(chats, other, "hello again")
    assert turn.how == "running"
    assert chat.process is not other.process
    chats.stop(chat)
    assert (await over(turn)).how == "stopped"


async def test_the_process_ends_with_the_server(chats: Chats, begin: Callable[[str], Chat]) -> None:
    chat = begin("shop.py:answer")
    pid = int(text_of(await say(chats, chat, "hello")).rpartition(" ")[2])
    await chats.end()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_process_that_is_just_ending_is_killed_and_reaped_though_the_event_loop_is_closed(folder: Path) -> None:
    note = folder / "process"
    deaf = f"os.rename({str(note)!r} + '.new', {str(note)!r})\n    os.closerange(0, 100)\n    time.sleep(600)\n"
    (folder / "shop.py").write_text(
        "import os, pathlib, time\n\ndef answer(text: str) -> str:\n"
        f"    pathlib.Path({str(note)!r} + '.new').write_text(str(os.getpid()))\n    {deaf}"
    )

    async def chat_and_leave() -> None:
        chats = Chats(Workspace({}, agents=folder))
        chat = chats.create(choices.choose("shop.py:answer", folder))
        await chats.send(chat, Message.of("user", "close your pipes, and stay"))
        async with asyncio.timeout(60):
            while not note.exists():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)

    asyncio.run(chat_and_leave())
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


async def test_those_who_watch_see_every_update_once(chats: Chats, begin: Callable[[str], Chat]) -> None:
    chat = begin("shop.py:answer")
    seen = []

    async def watch() -> None:
        async for update in chat.watch():
            seen.append(update.kind if update is not None else "beat")
            if seen[-1] == "over":
                return

    watching = asyncio.create_task(watch())
    await asyncio.sleep(0)
    await say(chats, chat, "hello")
    await asyncio.wait_for(watching, 60)
    assert [kind for kind in seen if kind != "agent"] == ["turn", "said", "span", "over"]


def test_only_agents_of_the_folder_and_models_by_name_may_be_chosen(folder: Path, tmp_path: Path) -> None:
    (folder / "tools.py").write_text(textwrap.dedent("def add(a, b, c):\n    pass\n\ndef _hidden(text):\n    pass\n"))
    (folder / "broken.py").write_text("def (")
    (folder / "adk").mkdir()
    (folder / "adk" / "agent.py").write_text("root_agent = None\n")
    (folder / "link").symlink_to("/etc")
    known = {one.name: one.target for one in choices.list_agents(folder)}
    assert known == {
        "adk": f"adk:{folder / 'adk'}",
        "shop.py:answer": f"{folder / 'shop.py'}:answer",
        "shop.py:hang": f"{folder / 'shop.py'}:hang",
        "shop.py:Shop": f"{folder / 'shop.py'}:Shop",
    }
    assert choices.choose("openai:gpt-x", folder).kind == "model"
    for name in (
        "process:rm -rf /",
        "/etc/passwd.py:x",
        "../x.py:f",
        "local:/etc/x.gguf",
        "function:os:system",
        "adk:/",
    ):
        with pytest.raises(BadInput):
            choices.choose(name, folder)
