"""The pages of chats, as a browser asks for them: choose, talk, stop, save, delete; hostile words; read only."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from web_site import ADDRESS, AppSite

from proctor_web.chats import service
from proctor_web.chats.service import ChatReference
from proctor_web.users.ledger import Person
from proctor_web.workspace import NotFound

HOSTILE = "<script>alert(1)</script> \x1b[31m [x](javascript:alert(1)) ![](http://evil.example/p.png)"
AGENT = f"""
import json

def answer(text: str) -> str:
    '''Repeat <b>what</b> was said.'''
    if text == "raise":
        raise ValueError({HOSTILE!r})
    return {HOSTILE!r} if text == "hostile" else "You said: " + text

async def slow(text: str) -> str:
    import asyncio
    await asyncio.sleep(600)
"""


class Browser:
    """A browser in the event loop of the test, which its chats live in too."""

    def __init__(self, site: AppSite) -> None:
        self.site = site
        self.client = httpx2.AsyncClient(transport=httpx2.ASGITransport(site.app), base_url=ADDRESS)
        self.client.headers["authorization"] = f"Bearer {site.access.token(Person(name='Li'))}"

    async def get(self, path: str) -> httpx2.Response:
        return await self.client.get(path)

    async def post(self, path: str, **fields: str) -> httpx2.Response:
        return await self.client.post(path, data=fields)

    async def begin(self, **fields: str) -> str:
        """Begin a chat; its address."""
        answer = await self.post("/chat", **fields)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    async def say(self, chat: str, text: str) -> httpx2.Response:
        """Send a message, and return the page once the reply is over."""
        assert (await self.post(f"{chat}/messages", text=text)).status_code == 303
        turn = self.chat(chat).turns[-1]
        await turn.ended.wait()
        return await self.get(chat)

    def chat(self, address: str) -> Any:
        return service.find(self.site.workspace, address.removeprefix("/chat/"))


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncIterator[Browser]:
    site = AppSite(tmp_path)
    (site.agents / "shop.py").write_text(AGENT)
    made = Browser(site)
    yield made
    await made.client.aclose()
    await service.chats_of(site.workspace).end()
    site.workspace.close()


async def test_a_chat_is_chosen_talked_in_and_listed(browser: Browser) -> None:
    page = await browser.get("/chat")
    assert "shop.py:answer" in page.text
    assert "Repeat &lt;b&gt;what&lt;/b&gt; was said." in page.text
    chat = await browser.begin(agent="shop.py:answer", state='{"lang": "zh"}', user="Li")
    assert "Say something to shop.py:answer." in (await browser.get(chat)).text
    page = await browser.say(chat, "hello 你好")
    assert "You said: hello 你好" in page.text
    assert 'data-how="done"' in page.text
    page = await browser.get("/chat")
    assert f'href="{chat}">hello 你好</a>' in page.text
    assert (await browser.post(f"{chat}/delete")).headers["location"] == "/chat"
    assert (await browser.get(chat)).status_code == 404


async def test_hostile_words_are_shown_and_nothing_else(browser: Browser) -> None:
    chat = await browser.begin(agent="shop.py:answer")
    await browser.say(chat, "hostile")
    page = (await browser.say(chat, "raise")).text
    page += (await browser.say(chat, HOSTILE)).text
    assert "<script>alert" not in page
    assert 'href="javascript' not in page
    assert "<img" not in page
    assert "\x1b" not in page
    assert not re.search(r'\sstyle="', page)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"agent": "nobody"}, "No agent is called"),
        ({"agent": "process:rm -rf /"}, "cannot be started from the browser"),
        ({"agent": "shop.py:answer", "state": "{"}, "no JSON"),
        ({"agent": "shop.py:answer", "state": "[1]"}, "has to be a JSON object"),
        ({}, "No agent is called"),
    ],
)
async def test_what_cannot_be_started_is_said(browser: Browser, fields: dict[str, str], why: str) -> None:
    answer = await browser.post("/chat", **fields)
    assert answer.status_code == 422
    assert why in answer.text.replace("&#39;", "'")
    assert not service.chats_of(browser.site.workspace).all()


async def test_a_message_during_a_reply_is_refused_and_the_reply_can_be_stopped(browser: Browser) -> None:
    chat = await browser.begin(agent="shop.py:slow")
    assert (await browser.post(f"{chat}/messages", text=" ")).status_code == 422
    await browser.post(f"{chat}/messages", text="one")
    page = await browser.get(chat)
    assert 'data-how="running"' in page.text
    refused = await browser.client.post(
        f"{chat}/messages", data={"text": "two"}, headers={"accept": "application/json"}
    )
    assert refused.json() == {"why": "A reply is under way. Wait for it, or stop it."}
    assert "replying" in (await browser.get("/chat")).text
    await browser.post(f"{chat}/stop")
    await browser.chat(chat).turns[-1].ended.wait()
    assert "Stopped; that turn is not kept." in (await browser.get(chat)).text


async def test_a_session_is_saved_as_a_case_and_saved_again_in_its_place(browser: Browser) -> None:
    chat = await browser.begin(agent="shop.py:answer")
    assert (await browser.post(f"{chat}/save", new="shop")).status_code == 422
    await browser.say(chat, "one")
    page = await browser.post(f"{chat}/save", new="shop", case="greeting")
    assert "Saved as greeting in shop.evalset.json." in page.text
    await browser.say(chat, "two")
    await browser.post(f"{chat}/save", file="shop.evalset.json", case="greeting")
    written = json.loads((browser.site.evalsets / "shop.evalset.json").read_text())
    [case] = written["eval_cases"]
    assert case["eval_id"] == "greeting"
    assert [turn["final_response"]["parts"][0]["text"] for turn in case["conversation"]] == [
        "You said: one",
        "You said: two",
    ]
    other = await browser.begin(agent="shop.py:answer")
    await browser.say(other, "one")
    page = await browser.post(f"{other}/save", file="shop.evalset.json", case="greeting")
    assert "Saved as greeting-2" in page.text
    for bad in ("../out.evalset.json", "/tmp/out.evalset.json", ".hidden/x.evalset.json"):
        answer = await browser.post(f"{chat}/save", new=bad)
        assert answer.status_code == 422
        assert "is no file of the folder of eval sets" in answer.text


async def test_a_case_that_someone_changed_is_not_overwritten(browser: Browser) -> None:
    chat = await browser.begin(agent="shop.py:answer")
    await browser.say(chat, "one")
    await browser.post(f"{chat}/save", new="shop", case="greeting")
    file = browser.site.evalsets / "shop.evalset.json"
    file.write_text(file.read_text().replace("You said: one", "Hello!"))
    answer = await browser.post(f"{chat}/save", file="shop.evalset.json", case="greeting")
    assert answer.status_code == 422
    assert "Hello!" in file.read_text()


async def test_the_stream_has_what_was_said_and_what_is_said(browser: Browser) -> None:
    chat = await browser.begin(agent="shop.py:answer")
    await browser.say(chat, "one")
    found = browser.chat(chat)
    seen = []
    async for update in found.watch(1):
        assert update is not None
        seen.append(update.kind)
        if update.kind == "agent" and len(found.turns) == 1:
            await service.send_message(browser.site.workspace, service.NewMessage(chat=found.id, text="two"))
        if update.kind == "over":
            break
    assert [kind for kind in seen if kind != "agent"] == ["turn", "said", "span", "over"]


async def test_programs_chat_too(browser: Browser) -> None:
    client = browser.client
    started = (await client.post("/api/v1/chats", json={"agent": "shop.py:answer"})).json()
    id = started["chat"]["id"]
    said = (await client.post(f"/api/v1/chats/{id}/messages", json={"text": "one", "wait": 30})).json()
    assert said["how"] == "done"
    assert said["steps"][0]["message"]["parts"][0]["text"] == "You said: one"
    assert [one["id"] for one in (await client.get("/api/v1/chats")).json()] == [id]
    saved = await client.post(f"/api/v1/chats/{id}/save", json={"file": "api.evalset.json"})
    assert saved.json()["file"] == "api.evalset.json"
    assert (await client.delete(f"/api/v1/chats/{id}")).status_code == 204
    assert (await client.get(f"/api/v1/chats/{id}")).status_code == 404
    with pytest.raises(NotFound):
        await service.get_chat(browser.site.workspace, ChatReference(chat=id))


async def test_a_server_that_only_shows_starts_nothing(tmp_path: Path) -> None:
    site = AppSite(tmp_path, read_only=True)
    (site.agents / "shop.py").write_text(AGENT)
    browser = Browser(site)
    assert "start no agent" in (await browser.get("/chat")).text
    assert (await browser.post("/chat", agent="shop.py:answer")).status_code in (403, 422)
    await browser.client.aclose()
    site.workspace.close()
