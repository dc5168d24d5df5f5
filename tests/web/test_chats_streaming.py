"""What agents say comes while they say it: google-adk event by event, chat models piece by piece."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import endpoint
import pytest
from adk_shop import write_shop
from endpoint import Endpoint

from proctor.core.sample import Message, Reasoning, ToolCall, ToolResult
from proctor.core.sentence import say as say_why
from proctor_web.chats import choices, service
from proctor_web.chats.sessions import Chat, Chats, ChatTurn
from proctor_web.chats.wire import Piece
from proctor_web.workspace import Workspace


@pytest.fixture
async def chats(tmp_path: Path) -> AsyncIterator[Chats]:
    made = Chats(Workspace({}, agents=tmp_path))
    yield made
    await made.end()


async def say(chats: Chats, chat: Chat, text: str) -> ChatTurn:
    turn = await chats.send(chat, Message.of("user", text))
    async with asyncio.timeout(60):
        await turn.ended.wait()
    return turn


async def pieces(chat: Chat) -> list[tuple[Piece, float]]:
    """Everything that comes until the reply is over, with the time when it came."""
    found = []
    async for update in chat.watch():
        if update is not None and update.piece is not None:
            found.append((update.piece, time.time()))
        if update is not None and update.kind == "over":
            break
    return found


async def test_an_adk_agent_streams_calls_thoughts_and_text_and_its_state_is_kept(chats: Chats, tmp_path: Path) -> None:
    pytest.importorskip("google.adk", reason="needs the extra 'adk'")
    write_shop(tmp_path)
    chat = chats.create(choices.choose("shop", tmp_path), state={"lang": "zh"})
    await say(chats, chat, "warm up")
    watching = asyncio.create_task(pieces(chat))
    turn = await say(chats, chat, "What does A cost?")
    heard = await watching
    assert "".join(piece.text for piece, _ in heard) == "Model A costs 100 元. "
    late = [at - piece.event["customMetadata"]["said"] for piece, at in heard if piece.event]
    assert min(late) < 0.05  # the machine may be busy at one of them, not at all
    parts = [part for step in turn.steps for part in step.message.parts]
    assert [type(part) for part in parts[:3]] == [Reasoning, ToolCall, ToolResult]
    assert turn.steps[-1].message.text == "Model A costs 100 元."
    assert turn.usage.input_tokens == 10
    assert chat.state == {"lang": "zh", "asked": 2}
    assert [event["author"] for event in turn.events] == ["user", "shop", "shop", "shop"]
    spans = {(span.kind, span.name) for span in turn.spans}
    assert spans == {("agent", "shop"), ("model", "shop"), ("tool", "lookup_price")}

    # a process that ends is started again, and knows what was said, but not the turn that it ended in
    assert (await say(chats, chat, "crash")).how == "failed"
    turn = await say(chats, chat, "count")
    assert turn.steps[-1].message.text == "9 messages"  # two turns of four, and this one
    assert chat.state == {"lang": "zh", "asked": 2}

    # a turn that failed or was stopped leaves nothing either
    failed = await say(chats, chat, "fail")
    assert "no model here" in str(failed.why)
    stopped = await chats.send(chat, Message.of("user", "wait"))
    await asyncio.sleep(0.3)
    chats.stop(chat)
    await asyncio.wait_for(stopped.ended.wait(), 60)
    assert stopped.how == "stopped"
    assert (await say(chats, chat, "count")).steps[-1].message.text == "11 messages"

    case = service.case_of_chat(chat, "prices")
    assert [turn.user_content.parts[0].text for turn in case.conversation or () if turn.user_content.parts] == [
        "warm up",
        "What does A cost?",
        "count",
        "count",
    ]
    assert case.session_input is not None
    assert (case.session_input.app_name, case.session_input.state) == ("shop", {"lang": "zh"})
    assert case.final_session_state == {"lang": "zh", "asked": 2}


async def test_a_chat_model_streams_and_is_told_what_was_said_before(
    chats: Chats, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def delta(**what: object) -> dict[str, object]:
        return {"choices": [{"delta": what}]}

    first = [delta(reasoning_content="hm"), delta(content="Pa"), delta(content="ris sk-secr"), delta(content="et-1 ok")]
    async with Endpoint(endpoint.events(*first, delta(content="!"))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1")
        chat = chats.create(choices.choose("openai:gpt-x", tmp_path))
        watching = asyncio.create_task(pieces(chat))
        turn = await say(chats, chat, "Capital of France?")
        heard = [piece for piece, _ in await watching]
        assert heard[0].again
        assert "".join(piece.text for piece in heard if piece.is_thought) == "hm"
        shown = "".join(piece.text for piece in heard if not piece.is_thought)
        assert shown.startswith("Paris ")
        assert shown.endswith(" ok!")
        assert "secret" not in shown
        assert "secret" not in turn.steps[-1].message.text
        assert chat.process is not None
        chat.process.kill(say_why("killed"))  # a new process knows what was said
        await say(chats, chat, "And its river?")
        assert [one["role"] for one in server.requests[-1].json["messages"]] == ["user", "assistant", "user"]
