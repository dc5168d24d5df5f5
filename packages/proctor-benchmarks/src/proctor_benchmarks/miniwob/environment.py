"""A page of MiniWoB++ as an environment: the official actions are its tools, and its own script gives the reward.

The page is started as upstream starts it: the episode that may be under way is ended, the seed set, then the data mode, then the
episode begins. Without a time limit the page's own is set to eleven days before that.

Source: miniwob 1.1.0, `selenium_instance.py` (`reset`, `begin_task`), `html/core/core.js`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self
from urllib.parse import unquote, urlsplit

from proctor.core.errors import EnvironmentFailed, EpisodeOver
from proctor.core.sample import JsonObject, Message, Sample, Tool, ToolCall, ToolResult, Turn
from proctor.core.task import Environment
from proctor.core.trajectory import Trajectory
from proctor.engine.acting import Acting
from proctor.environments.python import PythonEnvironment
from proctor.models.named import OpenedModels
from proctor_adapters.environments.browser import Chromium, PageError, Window
from proctor_benchmarks.miniwob import official
from proctor_benchmarks.miniwob.actions import Actions, PageLook, look_at, shown

if TYPE_CHECKING:
    from playwright.async_api import Route

TimeLimit = Literal["none", "official"]
SITE = "http://miniwob.invalid"  # of the flight tasks; nobody is asked, its files are read from the folder
NO_LIMIT = 10**9  # milliseconds
READY_SECONDS = 10.0
START = """([seed, mode, limit]) => {
  core.endEpisode(0);
  if (limit) core.EPISODE_MAX_TIME = limit;
  Math.seedrandom(seed);
  core.setDataMode(mode);
  core.startEpisodeReal();
  core.cover_div.onclick = null;  // a click on the cover after the end would begin another episode
}"""
SYSTEM = (
    "You act on a small web page by calling tools. Do what the instruction says, and nothing else. After each call you see the "
    "elements of the page: [ref] tag, text, value, and in brackets left, top, width and height in pixels. The page ends the episode "
    "by itself as soon as your answer is given, right or wrong."
)


class MiniwobPages(OpenedModels):
    """Makes the environment of each sample; its browser starts with the first."""

    def __init__(self, folder: Path, chromium: Chromium, limit: TimeLimit) -> None:
        super().__init__([chromium])
        self._folder = folder
        self._chromium = chromium
        self._limit = limit

    def __call__(self, sample: Sample) -> "MiniwobEpisode":
        return MiniwobEpisode(self._folder, self._chromium, sample.meta["episode"], self._limit)


class MiniwobEpisode:
    """One episode of a task, in a browser context of its own.

    Attributes:
        tools: the official actions.
        window: its browser.
    """

    window: Window

    def __init__(self, folder: Path, chromium: Chromium, episode: JsonObject, limit: TimeLimit) -> None:
        self.tools: tuple[Tool, ...] = ()
        self.episode = episode
        self._folder = folder
        self._chromium = chromium
        self._limit = limit
        self._is_flight = str(episode["task"]).startswith(official.FLIGHT)

    async def __aenter__(self) -> Self:
        size, screen = ((375, 667), (600, 800)) if self._is_flight else ((160, 210), (500, 320))
        viewport = {"width": screen[0], "height": screen[1]}
        self.window = await self._chromium.open(viewport=viewport, offline=not self._is_flight)
        await self._begin()
        self._actions = Actions(self.window, size)
        self._python = PythonEnvironment(lambda: self._actions, in_thread=False)
        self.tools = (await self._python.__aenter__()).tools
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.window.close()

    async def call(self, call: ToolCall) -> ToolResult:
        """Make an action, and say what the page is like then.

        Raises:
            EpisodeOver: the page has ended the episode.
        """
        result = await self._python.call(call)
        if self._actions.look is not None and self._actions.look.done:
            raise EpisodeOver("done", results=[result])
        return result

    async def state(self) -> Mapping[str, object]:
        """Return the instruction and the reward so far."""
        look = await self.look()
        return {
            **self.episode,
            "utterance": look.utterance,
            "done": look.done,
            "reward": look.reward,
            "raw_reward": look.raw_reward,
            "reason": look.reason,
        }

    async def look(self) -> PageLook:
        """Return what the page is like; where the agent has left it, there is nothing to see and no reward."""
        try:
            return await look_at(self.window)
        except PageError:
            return PageLook(done=False, reward=0, raw_reward=0, reason="left", utterance="", dom=None)

    async def _begin(self) -> None:
        name, window = self.episode["task"], self.window
        page = official.page(self._folder, name)
        if self._is_flight:
            await window.context.route("**", self._serve)
            await window.start(f"{SITE}/{page.relative_to(self._folder / 'html').as_posix()}")
        else:
            await window.start(page.as_uri())
        limit = NO_LIMIT if self._limit == "none" else None
        try:
            await window.do(window.page.wait_for_selector("#sync-task-cover"))
            await window.do(window.page.evaluate(START, [self.episode["seed"], self.episode["mode"], limit]))
            await window.do(window.page.wait_for_function("WOB_TASK_READY", timeout=1000 * READY_SECONDS))
        except PageError as error:
            raise EnvironmentFailed(
                "The page of the task '{name}' does not begin: {error}", kind="page", name=name, error=str(error)
            ) from error

    async def _serve(self, route: "Route") -> None:
        """Answer a request with a file of the folder, and any other one with nothing."""
        root, url = self._folder / "html", urlsplit(route.request.url)
        path = (root / unquote(url.path).lstrip("/")).resolve()
        if f"{url.scheme}://{url.netloc}" == SITE and path.is_relative_to(root.resolve()) and path.is_file():
            await route.fulfill(path=path)
        else:
            await route.abort()


class Instruction:
    """The simulated user, who says once what the page asks for."""

    def __init__(self, episode: MiniwobEpisode | None = None) -> None:
        self._episode = episode

    def open(self, sample: Sample, environment: Environment | None) -> "Instruction":
        environment = environment.environment if isinstance(environment, Acting) else environment
        assert isinstance(environment, MiniwobEpisode)
        return Instruction(environment)

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
        """Return the instruction with the page as it is at the start, or None afterwards."""
        if trajectory.steps or self._episode is None:
            return None
        look = await self._episode.look()
        asked = f"Instruction: {look.utterance}\n\n{shown(look.dom) if look.dom else ''}"
        return Turn(
            messages=(Message.of("system", SYSTEM), Message.of("user", asked)), tools=tuple(self._episode.tools)
        )
