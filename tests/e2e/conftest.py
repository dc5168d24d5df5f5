"""A real browser, and `proctor web` as a user starts it, for the tests of pages."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import patient_web
import pytest
from headless import CHROMIUM
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

expect.set_options(timeout=20_000)  # on a busy machine a page is rarely there within the 5 s that are the default
FAR = {"offline": False, "latency": 400, "downloadThroughput": -1, "uploadThroughput": -1}  # milliseconds; -1: no limit


PORT = 18860 + 40 * int(
    os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]
)  # a server that starts again finds its own port free


class WebServer:
    """A running `proctor web`, whose pages wait for that many seconds before they say that they wait."""

    def __init__(self, *words: str, cwd: Path, seconds: float) -> None:
        served = ["--lang", "en", "web", "--json", "--no-open", "--port", str(PORT)]
        command = [sys.executable, patient_web.__file__, str(seconds), *served, *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.stderr and self.process.stderr.read()
        said = json.loads(line)
        self.address: str = said["address"]
        self.link: str = said["people"][0]["link"]
        self.token: str = said["people"][0]["token"]

    def stop(self, how: signal.Signals = signal.SIGINT) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.communicate(timeout=60)
        return self.process.returncode


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Callable[..., WebServer]]:
    """Starts `proctor web` with the words of a command line, in an empty folder."""
    with _servers(tmp_path) as start:
        yield start


@pytest.fixture(scope="module")
def web_of_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., WebServer]]:
    """The same, where the tests of a module share a server."""
    with _servers(tmp_path_factory.mktemp("web")) as start:
        yield start


@contextmanager
def _servers(folder: Path) -> Iterator[Callable[..., WebServer]]:
    running: list[WebServer] = []

    def start(*words: str | Path, seconds: float = patient_web.MANY_SECONDS) -> WebServer:
        running.append(WebServer(*map(str, words), cwd=folder, seconds=seconds))
        return running[-1]

    yield start
    for server in running:
        server.stop()


class SharedBrowser:
    """One browser for the modules that come one after the other: starting it takes as long as a test.

    It ends before a test that has none, as its event loop would be in the way of that test's own.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._browser: Browser | None = None

    def get(self) -> Browser:
        if self._browser is None or not self._browser.is_connected():
            self.stop()
            play = self._stack.enter_context(sync_playwright())
            options = ["--no-sandbox", "--disable-gpu", "--disable-software-rasterizer"]
            self._browser = play.chromium.launch(executable_path=CHROMIUM, args=options)
            self._stack.callback(self._browser.close)
        return self._browser

    def stop(self) -> None:
        self._browser = None
        self._stack.close()


shared = SharedBrowser()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """End the browser unless the next test is of the same module, or of this folder and has it too."""
    try:
        yield
    finally:
        if nextitem is None or (nextitem.path != item.path and not _has_browser(nextitem)):
            shared.stop()


def _has_browser(item: pytest.Item) -> bool:
    return item.path.parent == Path(__file__).parent and "chromium" in getattr(item, "fixturenames", ())


@pytest.fixture(scope="module")
def chromium() -> Browser:
    if CHROMIUM is None:
        pytest.skip("needs a browser: chromium")
    return shared.get()


@pytest.fixture
def requests() -> list[str]:
    """The address of every request of every page."""
    return []


@pytest.fixture
def visit(chromium: Browser, requests: list[str], pytestconfig: pytest.Config) -> Iterator[Callable[..., Page]]:
    """Opens an address in a browser of its own; every request is noted, and every script error fails the test.

    With --torture the server is far away: a page is shown before its scripts, and answers come after the next key.
    """
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def begin(address: str, **how: Any) -> Page:
        contexts.append(chromium.new_context(**how))
        page = contexts[-1].new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", lambda dialog: errors.append(f"a dialog: {dialog.message}"))
        page.set_default_timeout(30_000)
        if pytestconfig.getoption("--torture"):
            contexts[-1].new_cdp_session(page).send("Network.emulateNetworkConditions", FAR)
        page.goto(address)
        return page

    yield begin
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture(scope="module")
def session(chromium: Browser, server: WebServer) -> Any:
    """The cookie that the link of the module's `server` is turned into."""
    context = chromium.new_context()
    context.new_page().goto(server.link)
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture
def visit_path(
    visit: Callable[..., Page], server: WebServer, session: Any, requests: list[str]
) -> Iterator[Callable[..., Page]]:
    """Opens a path of the module's `server`, signed in; nothing else may be asked for, and no script may complain."""
    said: list[str] = []

    def begin(path: str, **how: Any) -> Page:
        page = visit("about:blank", storage_state=session, **how)
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.goto(server.address + path)
        return page

    yield begin
    assert said == []
    assert [url for url in requests if not url.startswith((server.address, "about:"))] == []
