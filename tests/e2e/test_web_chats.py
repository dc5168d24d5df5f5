"""Chats in a real browser: stream, save, crash, stop, two tabs, hostile words, a phone, Chinese, dark; nothing from outside."""

import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytest.importorskip("google.adk", reason="needs the extra 'adk'")

from adk_shop import write_shop
from test_web_every_page import AXE, BROKEN_RULES

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser-2")]
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)> ![](http://evil.example/p.png) [x](javascript:alert(3)) 你好"
)
ECHO = f"""
def answer(text: str) -> str:
    return {HOSTILE!r} if text == "hostile" else "You said: " + text
"""
Open = Callable[..., Page]
# when the first words of the last turn are on the page, as the browser sees it
WATCH = """() => {
  window.seen = 0;
  new MutationObserver(() => {
    const text = [...document.querySelectorAll("div.coming")].at(-1)?.textContent;
    if (text && !window.seen) window.seen = Date.now() / 1000;
  }).observe(document.getElementById("turns"), { childList: true, subtree: true, characterData: true });
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Agents, of which one is for the test that changes its code, and a folder of eval sets."""
    folder = tmp_path_factory.mktemp("chats")
    (folder / "evalsets").mkdir()
    for name in ("shop", "changed"):
        write_shop(folder / "agents", name)
    (folder / "agents" / "echo.py").write_text(ECHO)
    return folder


@pytest.fixture(scope="module")
def server(web_of_module: Callable[..., Any], folder: Path) -> Any:
    return web_of_module(
        "--store", folder / "runs.db", "--agents", folder / "agents", "--evalsets", folder / "evalsets"
    )


@pytest.fixture
def open_chat(server: Any, session: Any, visit: Open, requests: list[str]) -> Iterator[Open]:
    """Opens a chat with an agent in a browser that came in; in the end nothing was asked of others."""

    def begin(agent: str, **how: Any) -> Page:
        page = visit(f"{server.address}/chat", storage_state=session, **how)
        page.get_by_role("radio", name=agent).check()
        page.get_by_role("button", name="Begin").click()
        page.wait_for_selector("#composer")
        return page

    yield begin
    assert all(url.startswith(server.address) for url in requests), requests


def say(page: Page, text: str, how: str | None = "done") -> None:
    """Type a message and send it, and wait until the reply is over."""
    expect(page.locator("#composer")).to_be_visible()  # the page may just be coming back
    page.wait_for_load_state()  # until then Enter begins a new line
    number = page.locator("[data-turn]").count()
    page.get_by_label("Message").fill(text)
    page.keyboard.press("Enter")
    if how is not None:
        expect(page.locator(f"#turn-{number}")).to_have_attribute("data-how", how, timeout=30_000)


def test_a_reply_streams_and_the_session_is_saved_as_a_case(open_chat: Open, folder: Path) -> None:
    page = open_chat("shop")
    say(page, "What does A cost?")
    expect(page.locator("#chat-status")).to_have_text("ready")
    late: list[float] = []
    number = 0
    while min(late, default=1.0) >= 0.05 and number < 12:  # the machine may be busy at some of them, not at all
        number += 1
        page.evaluate(WATCH)
        say(page, "time")  # the first words of the reply are the time at which the model said them
        said = float(page.locator(f"#turn-{number} .steps").inner_text().split()[-1])
        late.append(page.evaluate("window.seen") - said)
    print("the first words were on the page after", [f"{1000 * one:.0f} ms" for one in late])
    assert 0 < min(late) < 0.05
    turn = page.locator("#turn-0")
    expect(turn.locator(".steps > .step").last).to_contain_text("Model A costs 100 元.")
    turn.get_by_text("Thinking").click()
    expect(turn.locator(".thought .text")).to_have_text("I look it up.")
    turn.locator(".call summary").click()
    expect(turn.locator(".call pre")).to_contain_text('"model": "A"')
    side = page.get_by_role("complementary")
    expect(side.locator('[data-panel="state"]')).to_contain_text("asked1")
    expect(side.get_by_role("row", name="lookup_price tool")).to_have_count(1)
    page.get_by_role("button", name="Save as a case").click()
    page.get_by_label("Name of the new one").fill("prices")
    page.get_by_label("Id of the case").fill("price-of-a")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved as price-of-a in prices.evalset.json.")).to_be_visible()
    [case] = json.loads((folder / "evalsets" / "prices.evalset.json").read_text())["eval_cases"]
    assert len(case["conversation"]) == 1 + number
    assert case["final_session_state"] == {"asked": 1}
    page.get_by_role("link", name="Open the case").click()
    expect(page.get_by_label("Expected response").first).to_have_value("Model A costs 100 元.")


def test_a_crash_a_stop_and_new_code_are_said_and_the_chat_goes_on(open_chat: Open, folder: Path) -> None:
    page = open_chat("changed")
    say(page, "crash", "failed")
    expect(page.locator("#turn-0 .fault")).to_contain_text("The agent's process ended (exit code 7).")
    say(page, "wait", None)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    expect(page.locator("#turn-1 .waits")).to_contain_text("no words yet")
    page.keyboard.press("Escape")
    expect(page.locator("#turn-1")).to_contain_text("Stopped; that turn is not kept.")
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    code = folder / "agents" / "changed" / "agent.py"
    code.write_text(code.read_text().replace("Model A costs", "Now A costs"))
    say(page, "What does A cost?")
    note = re.compile(
        "The agent's code was changed, so it was loaded again|The agent was started again"
    )  # a slow machine
    expect(page.locator("#turn-2 .note")).to_contain_text(note)
    expect(page.locator("#turn-2")).to_contain_text("Now A costs 100 元.")


def test_two_tabs_see_one_chat_and_hostile_words_are_words(open_chat: Open) -> None:
    page = open_chat("echo.py:answer")
    other = page.context.new_page()
    other.goto(page.url)
    say(page, "hello\nthere")
    expect(other.locator("#turn-0")).to_contain_text("You said: hello")
    say(other, "hostile")
    expect(page.locator("#turn-1 .steps")).to_contain_text("<script>alert(1)</script>")
    say(page, HOSTILE)
    page.reload()
    expect(page.locator("#turn-2 .asked")).to_contain_text("你好")
    assert page.locator("#chat img, #chat script, #chat a[href^='javascript']").count() == 0
    page.get_by_role("link", name="Runs").click()  # htmx swaps the page; the connection ends with the chat
    page.wait_for_url("**/runs")
    page.go_back()
    say(page, "back again")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.wait_for_url("**/chat")
    other.wait_for_url("**/chat")


def test_on_a_phone_in_chinese_and_in_the_dark(open_chat: Open) -> None:
    page = open_chat("shop", **PHONE, color_scheme="dark", bypass_csp=True)  # for axe
    say(page, "价格？" + "很长的一句话" * 40)
    page.goto(f"{page.url}?lang=zh")
    expect(page.locator("#turn-0")).to_contain_text("思考")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.evaluate(gzip.decompress(AXE.read_bytes()).decode())
    assert page.evaluate(BROKEN_RULES) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.goto(page.url.partition("/chat")[0] + "/chat")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_without_a_script_a_message_is_a_form(open_chat: Open) -> None:
    page = open_chat("echo.py:answer", java_script_enabled=False)
    page.get_by_label("Message").fill("hello")
    page.get_by_role("button", name="Send").click()
    # the page that the form leads to; the old one has no turn to wait for
    expect(page.locator("#turn-0")).to_be_visible()
    while page.locator('[data-how="running"]').count():
        page.reload()
    expect(page.locator("#turn-0")).to_contain_text("You said: hello")
