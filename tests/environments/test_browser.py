"""The browsers that environments share: contexts apart, and pages that misbehave. A real Chromium, a real local site."""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Error

from proctor.core.errors import BadInput, EnvironmentFailed
from proctor_adapters.environments.browser import Chromium, PageError, Window, find_chromium

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.xdist_group("chromium")]
PAGES = {
    "/": "<title>Shop</title><h1>Tea</h1><button onclick='alert(document.title)'>Buy</button>"
    "<a id=more target=_blank href=/more>More</a><a id=file href=/file>File</a>",
    "/more": "<title>More</title><p>More tea</p>",
}


class Site(BaseHTTPRequestHandler):
    """A page, one that fails, one that is a download, and one that is never sent."""

    def do_GET(self) -> None:
        if self.path == "/never":
            self.server.waiting.wait(20)  # type: ignore[attr-defined]
            return
        self.send_response(502 if self.path == "/broken" else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Set-Cookie", "seen=yes")
        if self.path == "/file":
            self.send_header("Content-Disposition", "attachment; filename=notes.zip")
        self.end_headers()
        self.wfile.write(PAGES.get(self.path, self.headers.get("Cookie") or "nothing").encode())

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.waiting = Event()  # type: ignore[attr-defined]
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.waiting.set()  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Chromium]:
    async with Chromium() as chromium:
        yield chromium


@asynccontextmanager
async def window_of(chromium: Chromium, url: str) -> AsyncIterator[Window]:
    async with await chromium.open() as window:
        await window.start(url)
        yield window


async def test_what_a_page_does_unasked_is_noted_and_what_it_refuses_is_an_error_of_the_tool(
    chromium: Chromium, site: str
) -> None:
    async with window_of(chromium, site) as window:
        await window.do(window.page.click("button"))
        assert window.take_notes() == ["A dialog (alert) said: Shop"]
        await window.do(window.page.click("#file"))
        await asyncio.sleep(0.2)
        assert window.take_notes() == ["The download of notes.zip was not allowed."]
        with pytest.raises(PageError, match="Timeout 50ms"):
            await window.do(window.page.click("#absent", timeout=50))
        with pytest.raises(PageError, match="Download is starting"):
            await window.do(window.page.goto(f"{site}/file"))
        with pytest.raises(PageError, match="Timeout 200ms"):
            await window.do(window.page.goto(f"{site}/never", timeout=200))
        await window.start(site)
        window.take_notes()
        async with window.context.expect_page():
            await window.do(window.page.click("#more"))
        await window.do(window.page.wait_for_load_state())
        assert (await window.page.title(), len(window.pages)) == ("More", 2)
        assert window.take_notes() == ["A new tab was opened."]
        assert (await window.screenshot()).startswith(b"\x89PNG")
        names = [node["name"]["value"] for node in await window.accessibility() if "name" in node]
        assert "More tea" in names
        await window.do(window.page.close())
        assert await window.page.title() == "Shop"

        await window.do(window.page.goto(f"{site}/cookies"))
        assert await window.page.inner_text("body") == "seen=yes"
        async with window_of(chromium, f"{site}/cookies") as other:
            assert await other.page.inner_text("body") == "nothing"


async def test_a_site_that_is_down_or_never_answers_is_a_failure_of_the_environment(
    chromium: Chromium, site: str
) -> None:
    async with await chromium.open() as window:
        for url, reason in (
            (f"{site}/broken", "HTTP 502"),
            ("http://127.0.0.1:9", "ERR_"),
        ):
            with pytest.raises(EnvironmentFailed, match=reason) as caught:
                await window.start(url)
            assert caught.value.kind == "unreachable"
        with pytest.raises(EnvironmentFailed, match="Timeout 200ms"):
            await window.start(f"{site}/never", seconds=0.2)
        await window.start(site)
        with pytest.raises(EnvironmentFailed, match="does not answer") as caught:
            await window.do(window.page.evaluate("while (true) {}"), seconds=0.3)
        assert caught.value.kind == "late"


async def test_a_page_opens_while_the_browser_says_that_the_one_before_did_not(
    chromium: Chromium, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted = 'Navigation to "x" is interrupted by another navigation to "chrome-error://chromewebdata/"'
    async with await chromium.open() as window:
        really, asked = window.page.goto, list[str]()

        async def go(url: str, **how: Any) -> Any:
            asked.append(url)
            if len(asked) == 1:
                raise Error(interrupted)
            return await really(url, **how)

        monkeypatch.setattr(window.page, "goto", go)
        await window.start(site)
        assert (await window.page.title(), asked) == ("Shop", [site, site])


async def test_after_a_crash_or_a_kill_the_next_attempt_has_a_browser_again(chromium: Chromium, site: str) -> None:
    async with window_of(chromium, site) as window:
        session = await window.protocol()
        with pytest.raises(EnvironmentFailed, match="broke") as caught:
            await window.do(session.send("Page.crash"))
        assert caught.value.kind == "crashed"
    async with window_of(chromium, site) as window:
        session = await window.context.browser.new_browser_cdp_session()  # type: ignore[union-attr]
        processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
        os.kill(next(one["id"] for one in processes if one["type"] == "browser"), signal.SIGKILL)
        with pytest.raises(EnvironmentFailed, match="broke"):
            await window.do(window.page.wait_for_selector("#absent"))
    async with window_of(chromium, site) as window:
        assert await window.page.title() == "Shop"


async def test_where_playwright_itself_is_killed_nothing_is_scored_and_the_next_attempt_has_another(site: str) -> None:
    async with Chromium() as chromium:
        before = drivers()
        async with window_of(chromium, site) as window:
            (driver,) = drivers() - before
            os.kill(driver, signal.SIGKILL)
            await asyncio.sleep(0.2)
            with pytest.raises(EnvironmentFailed, match="broke"):
                await window.do(window.page.title())
        async with window_of(chromium, site) as window:
            assert await window.page.title() == "Shop"


def drivers() -> set[int]:
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,comm="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return {int(pid) for pid, parent, name in rows if int(parent) == os.getpid() and name.startswith("node")}


@pytest.mark.parametrize("name", ["chromium-headless-shell", "chromium"])
async def test_each_browser_that_may_be_there_shows_a_page(name: str, site: str) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"needs a browser: {name}")
    async with Chromium(name) as chromium, window_of(chromium, site) as window:
        assert await window.page.title() == "Shop"


async def test_the_browser_without_windows_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("chromium", "chromium-headless-shell"):
        (tmp_path / name).touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PROCTOR_CHROMIUM", raising=False)
    assert find_chromium() == str(tmp_path / "chromium-headless-shell")


async def test_a_browser_that_is_not_there_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="no browser: /no/chromium"):
        Chromium("/no/chromium")
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("PROCTOR_CHROMIUM", raising=False)
    with pytest.raises(BadInput, match="apt-get install chromium"):
        find_chromium()
