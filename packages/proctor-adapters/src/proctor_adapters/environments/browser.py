"""Browsers for environments whose tools act on web pages: one Chromium for a run, and for each attempt a context of its own.

    chromium = Chromium()                       # in the environment's maker, which enters it with the run
    async with await chromium.open(viewport={"width": 1280, "height": 720}) as window:
        await window.start("http://127.0.0.1:7770")
        await window.do(window.page.click("text=Log in"))

Cookies, storage and tabs of a context are seen by nobody else. Chromium is that of the system, found on PATH; it starts when the
first context is opened, again where it was killed, and ends with the run. Needs the extra `browser`.
"""

import asyncio
import os
import shutil
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from proctor.core.errors import BadInput, EnvironmentFailed, MissingExtra
from proctor.core.installing import is_installed
from proctor.core.sample import JsonObject
from proctor.environments.call_failures import seconds_for_a_call
from proctor.transport.redact import quoted
from proctor_adapters.environments.programs import GIVEN, shown

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, CDPSession, Dialog, Download, Page, Playwright, Response

# The shell has the engine of Chromium without its windows, for half of the CPU; it is what Playwright itself starts without a window.
NAMES = (
    *("chromium-headless-shell", "chrome-headless-shell"),
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
)
ARGUMENTS = (
    "--disable-dev-shm-usage",  # shared memory is small in containers
    "--disable-component-update",
    "--no-first-run",
    "--force-color-profile=srgb",
)
START_SECONDS = 60.0
CLOSE_SECONDS = 5.0
BROKEN_SECONDS = 1.0  # for one that was killed to say goodbye
ACTION_SECONDS = 10.0  # of one action on an element, and for a page to load
ANSWER_SECONDS = 60.0  # for a page to answer at all; one with an endless loop never does
MOST_TABS = 10
MOST_NOTES = 20
ERROR_PAGE = "chrome-error:"

T = TypeVar("T")


class PageError(Exception):
    """An action that a page did not let happen, in words for the model: no such element, not loaded in time, a closed tab."""


def find_chromium(executable: str | Path | None = None) -> str:
    """Return the path of the browser.

    Raises:
        MissingExtra: Playwright is not installed.
        BadInput: there is no such program, or none of the known names is on PATH.
    """
    if not is_installed("playwright"):
        raise MissingExtra("browser", "A browser")
    asked = executable or os.environ.get("PROCTOR_CHROMIUM") or None
    paths = [path for name in ((str(asked),) if asked else NAMES) if (path := shutil.which(name)) is not None]
    if not paths:
        raise BadInput(
            "There is no browser: {names}. Install Chromium (Debian: apt-get install chromium), or name it in PROCTOR_CHROMIUM.",
            names=str(asked) if asked else ", ".join(NAMES),
        )
    return paths[0]


class Chromium:
    """One browser that the attempts of a run share; `async with` it, several times if need be, for as long as it may run.

    Args:
        executable: of the browser; see `find_chromium`.
        arguments: further ones of its command line.

    Raises:
        BadInput: there is no browser.
    """

    def __init__(self, executable: str | Path | None = None, arguments: Sequence[str] = ()) -> None:
        self.executable = find_chromium(executable)
        self._arguments = (*ARGUMENTS, *arguments)
        self._entered = 0
        self._starting = asyncio.Lock()  # two attempts must not start two browsers
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None

    async def __aenter__(self) -> Self:
        self._entered += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        self._entered -= 1
        if not self._entered:
            await self._end()

    async def open(self, **options: object) -> "Window":
        """Return a context of its own, with the options of Playwright's `new_context` (viewport, storage_state, locale, offline …).

        Raises:
            EnvironmentFailed: the browser does not start.
        """
        browser = await self._running()
        try:
            return await _window(browser, options)
        except EnvironmentFailed:  # it may have been killed without being missed yet
            return await _window(await self._running(instead_of=browser), options)

    async def _running(self, *, instead_of: "Browser | None" = None) -> "Browser":
        async with self._starting:
            now = self._browser
            if now is not None and now is not instead_of and now.is_connected():
                return now
            await self._end(BROKEN_SECONDS)
            from playwright.async_api import async_playwright  # 0.3 s

            try:
                async with asyncio.timeout(START_SECONDS):
                    self._playwright = await async_playwright().start()
                    self._browser = await self._playwright.chromium.launch(
                        executable_path=self.executable,
                        args=[*self._arguments],
                        chromium_sandbox=os.geteuid() != 0,  # Chromium has none for root
                        handle_sigint=False,  # the run ends it, after what is under way
                        handle_sigterm=False,
                        handle_sighup=False,
                        env={name: os.environ[name] for name in GIVEN if name in os.environ},
                    )
            except Exception as error:
                await self._end()
                raise EnvironmentFailed(
                    "The browser {executable} does not start: {error}",
                    kind="start",
                    executable=self.executable,
                    error=_first_line(error),
                ) from error
            return self._browser

    async def _end(self, seconds: float = CLOSE_SECONDS) -> None:
        browser, playwright = self._browser, self._playwright
        self._browser = self._playwright = None
        for part in (
            browser.close if browser is not None else None,
            playwright.stop if playwright is not None else None,
        ):
            if part is not None:
                with suppress(Exception):  # what is gone already is ended
                    async with asyncio.timeout(seconds):
                        await part()


class Window:
    """The browser of one attempt: its tabs, and what they did unasked.

    Attributes:
        context: Playwright's context.
        page: the current tab, set when another one is chosen; a new tab becomes the current one.
        notes: what an agent would otherwise not see: dialogs, downloads, tabs that were opened or closed. `take_notes` empties it.
    """

    def __init__(self, context: "BrowserContext", page: "Page") -> None:
        self.context = context
        self.page = page
        self.notes: list[str] = []
        self._broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._session: tuple[Page, CDPSession] | None = None
        context.set_default_timeout(1000 * ACTION_SECONDS)
        if context.browser is not None:
            context.browser.on("disconnected", self._end)
        context.on("page", self._opened)
        context.on("dialog", self._answer)
        self._watch(page)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the context with all its tabs, also one that does not answer."""
        if self.context.browser is not None and not self._broken.done():
            self.context.browser.remove_listener("disconnected", self._end)
        with suppress(Exception):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.context.close()

    @property
    def pages(self) -> "Sequence[Page]":
        """Return the open tabs, the oldest first."""
        return self.context.pages

    async def start(self, url: str, *, seconds: float = 3 * ACTION_SECONDS) -> None:
        """Open the page with which an attempt begins.

        Raises:
            EnvironmentFailed: it cannot be reached, does not load in time, or its server fails.
        """
        try:
            response = await self._go(url, seconds)
        except PageError as error:
            raise EnvironmentFailed(
                "The page {url} cannot be opened: {error}", kind="unreachable", url=url, error=quoted(error)
            ) from error
        if response is not None and response.status >= 500:
            raise EnvironmentFailed(
                "The page {url} cannot be opened: {error}",
                kind="unreachable",
                url=url,
                error=f"HTTP {response.status}",
            )

    async def _go(self, url: str, seconds: float) -> "Response | None":
        async def go() -> "Response | None":
            return await self.do(self.page.goto(url, timeout=1000 * seconds), seconds + ACTION_SECONDS)

        try:
            return await go()
        except PageError as error:
            if ERROR_PAGE not in str(error):
                raise
            return await go()  # the browser was still showing that the page before could not be opened

    async def do(self, action: Awaitable[T], seconds: float | None = None) -> T:
        """Return what an action of Playwright returns.

        Raises:
            PageError: the page did not let it happen, or its tab was closed meanwhile.
            EnvironmentFailed: the page crashed or does not answer at all, or the browser is gone.
        """
        from playwright.async_api import Error

        seconds = min(seconds_for_a_call(None), ANSWER_SECONDS) if seconds is None else seconds
        task = asyncio.ensure_future(action)
        try:  # an action on a page that crashes never ends by itself
            await asyncio.wait((task, self._broken), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
        except Error as error:
            if await self._is_gone(error):
                raise _gone(error) from error
            if not self.pages:  # the last tab was closed: there is always one to act on
                self.page = await self.do(self.context.new_page())
            raise PageError(_first_line(error)) from error
        except (EnvironmentFailed, PageError):
            raise
        except Exception as error:  # Playwright's own process is gone
            raise _gone(error) from error
        finally:
            task.cancel()
        if self._broken.done():
            raise _gone(RuntimeError("the page crashed, or the browser ended"))
        raise EnvironmentFailed(
            "The page does not answer: no result within {seconds} seconds.", kind="late", seconds=f"{seconds:g}"
        )

    async def screenshot(self) -> bytes:
        """Return the part of the current tab in view as a PNG."""
        return await self.do(self.page.screenshot())

    async def accessibility(self) -> Sequence[JsonObject]:
        """Return the nodes of the accessibility tree of the current tab, as Chromium's protocol has them."""
        tree = await self.do((await self.protocol()).send("Accessibility.getFullAXTree"))
        nodes: Sequence[JsonObject] = tree["nodes"]
        return nodes

    async def protocol(self) -> "CDPSession":
        """Return a session of Chromium's own protocol with the current tab."""
        if self._session is None or self._session[0] is not self.page:
            self._session = (self.page, await self.do(self.context.new_cdp_session(self.page)))
        return self._session[1]

    def take_notes(self) -> Sequence[str]:
        """Return the notes since the last time."""
        notes, self.notes = self.notes, []
        return notes

    def _note(self, text: str) -> None:
        if len(self.notes) < MOST_NOTES:
            self.notes.append(text)

    def _watch(self, page: "Page") -> None:
        page.on("crash", self._end)
        page.on("close", self._leave)
        page.on("download", self._refuse)

    def _end(self, _: object = None) -> None:
        if not self._broken.done():
            self._broken.set_result(None)

    async def _opened(self, page: "Page") -> None:
        if len(self.pages) > MOST_TABS:
            self._note(f"A new tab was closed: there are {MOST_TABS} already.")
            with suppress(Exception):
                await page.close()
            return
        self._watch(page)
        self.page = page
        self._note("A new tab was opened.")

    def _leave(self, page: "Page") -> None:
        if page is self.page and (others := [one for one in self.pages if one is not page]):
            self.page = others[-1]
            self._note("The tab was closed; the one opened last is the current one.")

    def _refuse(self, download: "Download") -> None:
        self._note(f"The download of {shown(download.suggested_filename)} was not allowed.")

    async def _answer(self, dialog: "Dialog") -> None:
        self._note(f"A dialog ({dialog.type}) said: {shown(dialog.message)}")
        with suppress(Exception):
            await (dialog.accept() if dialog.type in ("alert", "beforeunload") else dialog.dismiss())

    async def _is_gone(self, error: Exception) -> bool:
        browser = self.context.browser
        if self._broken.done() or browser is None or not browser.is_connected() or "crashed" in str(error):
            return True
        if "closed" not in str(error):
            return False
        try:  # a tab, or all: where Playwright's own process was killed, nothing else says so
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.context.cookies("http://127.0.0.1")
        except Exception:  # noqa: BLE001 - whatever it is
            return True
        return False


async def _window(browser: "Browser", options: Mapping[str, Any]) -> Window:
    """Return a new context with one empty tab.

    Raises:
        EnvironmentFailed: the browser is gone, or does not answer.
    """
    try:
        async with asyncio.timeout(START_SECONDS):
            context = await browser.new_context(accept_downloads=False, **options)
            return Window(context, await context.new_page())
    except (TypeError, ValueError):  # a mistake in the options
        raise
    except Exception as error:
        raise _gone(error) from error


def _gone(error: BaseException) -> EnvironmentFailed:
    return EnvironmentFailed("The page or its browser broke: {error}", kind="crashed", error=_first_line(error))


def _first_line(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return shown(lines[0] if lines else type(error).__name__)
