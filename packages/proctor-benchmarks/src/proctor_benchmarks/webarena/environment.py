"""The user's sites in a browser, as an environment: the official actions, and at the end what the evaluators look at.

A task begins on its start pages, logged in by the cookies that the official `auto_login.py` saved. After 30 actions, or after the
same action three times in a row, it is over. Targets are looked for in a tab of their own, so that the page left open stays.

Source: web-arena-x/webarena, commit f62e0b99bc7d, `run.py`, `browser_env/envs.py`, `actions.py`.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlsplit

import msgspec

from proctor.core.errors import BadInput, EnvironmentFailed, EpisodeOver
from proctor.core.sample import JsonObject, Sample, ToolCall, ToolResult
from proctor_adapters.environments.browser import MOST_TABS, Chromium, PageError, Window
from proctor_benchmarks.webarena import actions, page, rules
from proctor_benchmarks.webarena.dataset import SITES, Config, PageTarget, config_of

MOST_ACTIONS = 30
NAVIGATION_SECONDS = 30.0  # the official pages are slow when they are first opened
LOOKS, LOOK_SECONDS = 4, 0.5  # at a page that is just changing
KEPT_CHARACTERS = 2_000  # of the content of a target
ADMIN = {"username": "admin", "password": "admin1234"}  # of the official image of the shop
_SCROLL = "(document.scrollingElement || document.body).scrollBy({top: %s * window.innerHeight, behavior: 'instant'})"
_ROLE = """name => {
    const accounts = [...document.querySelectorAll("td[data-label='Account'] span.gl-avatar-labeled-sublabel")];
    const index = accounts.findIndex(one => one.outerText === '@' + name);
    return document.querySelectorAll('td.col-max-role span')[index].outerText;
}"""


class SiteSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How the sites are browsed.

    Attributes:
        logins: the folder with the cookies of the official `auto_login.py`; the agent is not logged in when None.
        screenshots: the folder for a picture of every page the agent is shown.
        wait_action, wait_target: seconds that a page has after an action, and after it was opened for a target.
        most_characters: of a page that the agent is shown.
        only_sites: the browser finds the hosts of the sites, and no other.
    """

    logins: Path | None
    screenshots: Path | None
    wait_action: float
    wait_target: float
    most_characters: int
    only_sites: bool = False


class Sites:
    """Makes the environment of each sample; one browser serves the whole run.

    Args:
        addresses: of the sites.
        configs: the tasks that may be played.
    """

    def __init__(self, addresses: Mapping[str, str], configs: Sequence[Config], settings: SiteSettings) -> None:
        self.addresses = addresses
        self.settings = settings
        self._configs = configs
        self._chromium: Chromium | None = None

    @property
    def chromium(self) -> Chromium:
        assert self._chromium is not None
        return self._chromium

    async def __aenter__(self) -> Self:
        """Start; what no task could be played without is named here, before anything is opened.

        Raises:
            BadInput: a site without an address, cookies that are missing, or no browser.
        """
        texts = [config.start_url for config in self._configs]
        missing = sorted({name for name in SITES for text in texts if f"__{name.upper()}__" in text})
        if missing:
            raise BadInput(
                "No address is named for {sites}: add --set sites.{first}=URL, or run the tasks of other sites, webarena/SITE,SITE.",
                sites=", ".join(missing),
                first=missing[0],
            )
        for config in self._configs:
            cookies_of(config, self.settings.logins)
        self._chromium = self._chromium or Chromium(arguments=self._arguments())
        await self._chromium.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.chromium.__aexit__(*raised)

    def _arguments(self) -> Sequence[str]:
        """Return what keeps the browser to the sites: also redirects, parts of pages and numeric addresses."""
        if not self.settings.only_sites:
            return ()
        hosts = {urlsplit(address).hostname or "" for address in self.addresses.values()}
        rules = [f"EXCLUDE [{host}]" if ":" in host else f"EXCLUDE {host}" for host in sorted(hosts)]
        return ("--no-proxy-server", f"--host-resolver-rules={', '.join(['MAP * ~NOTFOUND', *rules])}")

    def __call__(self, sample: Sample) -> "Browsing":
        config = config_of(sample)
        assert config is not None
        return Browsing(self, config)


class Browsing:
    """The browser of one attempt.

    Attributes:
        tools: the official actions.
        max_steps: as many replies as officially, and one to look at the first page.
    """

    tools = actions.TOOLS
    max_steps = MOST_ACTIONS + 1

    def __init__(self, sites: Sites, config: Config) -> None:
        self._sites = sites
        self._config = config
        self._window: Window | None = None
        self._current: Any = None  # the tab that was chosen; one that a page opened waits to be, as officially
        self._boxes: dict[str, page.Box] = {}
        self._made: list[ToolCall] = []
        self._targets = config.evaluation.program_html if "program_html" in config.evaluation.eval_types else ()
        # until the agent ended; a time limit may come first
        self._state: dict[str, object] = {"held": [False] * len(self._targets)}
        self._began = False
        self._pictures = 0
        self._folder: Path | None = None

    async def __aenter__(self) -> Self:
        options: dict[str, object] = {"viewport": page.VIEW, "device_scale_factor": 1}
        if (cookies := cookies_of(self._config, self._sites.settings.logins)) is not None:
            options["storage_state"] = cookies
        if self._config.geolocation is not None:
            options |= {"geolocation": self._config.geolocation, "permissions": ["geolocation"]}
        window = self._window = await self._sites.chromium.open(**options)
        window.context.set_default_navigation_timeout(1000 * NAVIGATION_SECONDS)
        first = window.page
        for number, url in enumerate(self._config.start_url.split(" |AND| ")):
            if number:
                window.page = await window.do(window.context.new_page())
            await window.start(url)
        window.page = self._current = first
        await asyncio.sleep(self._sites.settings.wait_action)
        window.take_notes()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._window is not None:
            await self._window.close()

    async def call(self, call: ToolCall) -> ToolResult:
        """Execute an action and show the page; what a page did not let happen is an error that the agent reads.

        Raises:
            EpisodeOver: the agent stopped, or did the same for the third time.
        """
        if call.name == actions.STOP:
            self._state["answer"] = _writable(str(call.arguments.get("answer", "")))
            raise EpisodeOver(results=[ToolResult(name=call.name, id=call.id, content="")])
        problem = actions.problem(call)
        if not problem and call.name != actions.LOOK:
            try:
                await self._act(call.name, call.arguments)
            except PageError as error:
                problem = str(error)
            await asyncio.sleep(self._sites.settings.wait_action)
        if call.name != actions.LOOK:
            self._made.append(call)
        text = await self._shown()
        result = ToolResult(name=call.name, id=call.id, content=f"{problem}\n{text}" if problem else text, is_error=bool(problem))  # fmt: skip
        if actions.is_stuck(self._made):
            raise EpisodeOver(results=[result])
        return result

    async def state(self) -> JsonObject:
        """Return the address left open; once the agent ended, also what each target holds."""
        window = self._open
        self._keep_tab()
        if self._began:
            self._state["url"] = url = window.page.url
            contents = [await self._content(target, url) for target in self._targets]
            held = [rules.holds(target.required_contents, content) for target, content in zip(self._targets, contents, strict=True)]  # fmt: skip
            self._state |= {"held": held, "shown": [_writable(content[:KEPT_CHARACTERS]) for content in contents]}
            if self._folder is not None:
                self._state["screenshots"] = str(self._folder)
        self._began = True
        return {"url": window.page.url, **self._state}

    @property
    def _open(self) -> Window:
        assert self._window is not None
        return self._window

    async def _act(self, name: str, given: JsonObject) -> None:
        window, current = self._open, self._open.page
        match name:
            case "click" | "hover" | "type":
                if (box := self._boxes.get(str(given["id"]))) is None:
                    raise PageError(f"There is no element [{given['id']}] in the page as it was shown last.")
                x, y = box.centre
                await window.do(current.mouse.move(x, y) if name == "hover" else current.mouse.click(x, y))
                if name == "type":
                    enter = "" if given.get("press_enter") is False else "\n"
                    await window.do(current.keyboard.type(str(given["text"]) + enter))
            case "press":
                await window.do(current.keyboard.press(str(given["keys"]).replace("Meta", "Control")))
            case "scroll":
                await window.do(current.evaluate(_SCROLL % (1 if given["direction"] == "down" else -1)))
            case "goto":
                await window.do(current.goto(str(given["url"])))
            case "go_back":
                await window.do(current.go_back())
            case "go_forward":
                await window.do(current.go_forward())
            case "new_tab":
                if len(window.pages) >= MOST_TABS - 1:  # one is left for the targets
                    raise PageError("There are too many tabs.")
                self._current = await window.do(window.context.new_page())
            case "tab_focus":
                if int(given["index"]) >= len(window.pages):
                    raise PageError(f"There is no tab {given['index']}.")
                self._current = window.pages[int(given["index"])]
                await window.do(self._current.bring_to_front())
            case "close_tab":
                await window.do(current.close())
                self._current = window.pages[-1] if window.pages else await window.do(window.context.new_page())

    def _keep_tab(self) -> None:
        window = self._open
        if self._current in window.pages:
            window.page = self._current
        self._current = window.page

    async def _shown(self) -> str:
        """Return the page as text, and keep its picture; one that changes meanwhile is looked at again."""
        for _ in range(LOOKS - 1):
            try:
                return await self._look()
            except PageError:
                await asyncio.sleep(LOOK_SECONDS)
        try:
            return await self._look()
        except PageError as error:
            self._boxes = {}
            return f"{actions.URL}{self._open.page.url}\nThe page cannot be shown: {error}"

    async def _look(self) -> str:
        self._keep_tab()
        window = self._open
        await window.do(window.page.wait_for_load_state("domcontentloaded"))
        nodes = await window.accessibility()
        snapshot = await window.do(
            (await window.protocol()).send("DOMSnapshot.captureSnapshot", {"computedStyles": []})
        )
        text, self._boxes = page.shown(nodes, page.boxes_of(snapshot))
        titles = [await window.do(one.title()) for one in window.pages]
        tabs = " | ".join(f"Tab {index}{' (current)' if one is window.page else ''}: {title}" for index, (one, title) in enumerate(zip(window.pages, titles, strict=False)))  # fmt: skip
        if window.page is not self._current:
            raise PageError("A tab was opened meanwhile.")
        await self._photograph()
        lines = [
            f"{actions.URL}{window.page.url}",
            *window.take_notes(),
            tabs,
            "",
            text[: self._sites.settings.most_characters],
        ]
        return _writable("\n".join(lines))

    async def _photograph(self) -> None:
        if self._sites.settings.screenshots is None:
            return
        if self._folder is None:
            self._folder = _new_folder(self._sites.settings.screenshots, str(self._config.task_id))
        (self._folder / f"{self._pictures:03}.png").write_bytes(await self._open.screenshot())
        self._pictures += 1

    async def _content(self, target: PageTarget, last_url: str) -> str:
        """Return the content that a target is looked for in.

        Raises:
            EnvironmentFailed: the page of the target cannot be opened, or the shop does not answer.
        """
        window, last = self._open, self._open.page
        order = await self._latest_order() if rules.LATEST_ORDER in target.url else ""
        try:
            url = rules.page_to_open(target.url, last_url, order)
        except (rules.Broken, ValueError):
            return ""  # what the agent left open cannot be put into the official call
        if url is None:
            return await self._found(target)
        for one in [one for one in window.pages if one is not last][: max(0, len(window.pages) - MOST_TABS + 1)]:
            await window.do(one.close())
        opened = window.page = await window.do(window.context.new_page())
        try:
            await window.start(url)
            await asyncio.sleep(self._sites.settings.wait_target)
            return await self._found(target)
        except EnvironmentFailed as error:
            if error.kind != "unreachable" or rules.LAST_URL not in target.url:
                raise
            return ""  # the agent left open what leads nowhere
        finally:
            await window.do(opened.close())
            window.page = last

    async def _found(self, target: PageTarget) -> str:
        window, locator = self._open, target.locator
        if not locator.strip():
            for _ in range(LOOKS - 1):  # a page may be on its way to another
                with suppress(PageError):
                    return await window.do(window.page.content())
                await asyncio.sleep(LOOK_SECONDS)
            return await window.do(window.page.content())
        if rules.is_script(locator):
            try:
                for action in target.prep_actions:
                    await window.do(window.page.evaluate(f"() => {action}"))
            except PageError:
                pass  # as officially
            return await self._evaluated(f"() => {locator}")
        name, (text,) = rules.helper_call(locator) or ("", ("",))
        if name == rules.ROLE:
            return await self._evaluated(_ROLE, text)
        reviews = await self._shop(f"/rest/V1/products/{quote(text, safe='')}/reviews")
        if not reviews:
            return ""
        return str(reviews[-1]["nickname"] if name == rules.AUTHOR else reviews[-1]["ratings"][0]["percent"])

    async def _evaluated(self, script: str, *given: str) -> str:
        """Return the value of a script as Python writes it; '' if it throws."""
        try:
            value = await self._open.do(self._open.page.evaluate(script, *given))
        except PageError:
            return ""
        return str(value)

    async def _latest_order(self) -> str:
        orders = await self._shop(
            "/rest/V1/orders?searchCriteria[sortOrders][0][field]=created_at"
            "&searchCriteria[sortOrders][0][direction]=DESC&searchCriteria[pageSize]=1"
        )
        return (
            f"{self._sites.addresses['shopping']}/sales/order/view/order_id/{int(orders['items'][0]['increment_id'])}/"
        )

    async def _shop(self, path: str) -> Any:
        """Ask the shop as its administrator."""
        window, shop = self._open, self._sites.addresses.get("shopping", "")
        try:
            login = await window.do(window.context.request.post(f"{shop}/rest/default/V1/integration/admin/token", data=ADMIN))  # fmt: skip
            token = await window.do(login.json())
            answer = await window.do(window.context.request.get(f"{shop}{path}", headers={"Authorization": f"Bearer {token}"}))  # fmt: skip
            if answer.status != 200:
                raise PageError(f"HTTP {answer.status}")
            return await window.do(answer.json())
        except PageError as error:
            raise EnvironmentFailed("The shop does not answer {path}: {error}", kind="unreachable", path=path, error=error) from error  # fmt: skip


def cookies_of(config: Config, logins: Path | None) -> Path | None:
    """Return the file with the cookies of a task; None where it needs none, or no folder is named.

    Raises:
        BadInput: the folder lacks the file, or it holds no cookies.
    """
    if logins is None or config.storage_state is None:
        return None
    path = logins / Path(config.storage_state).name
    try:
        if not isinstance(json.loads(path.read_bytes())["cookies"], list):
            raise TypeError("cookies")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadInput(
            "{path} holds no cookies ({error}). Make it with the official browser_env/auto_login.py.",
            path=path,
            error=type(error).__name__,
        ) from None
    return path


def _writable(text: str) -> str:
    """Return the text with `?` for lone surrogates, which no store takes."""
    return text.encode("utf-8", "replace").decode()


def _new_folder(folder: Path, name: str) -> Path:
    """Make a folder that is new, one for each attempt."""
    for number in range(1_000_000):
        path = folder / (name if not number else f"{name}-{number}")
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        return path
    raise EnvironmentFailed("{path} is full.", path=folder)
