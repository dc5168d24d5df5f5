"""The official actions on a page as tools, and what the agent sees after each.

TYPE_FIELD and FOCUS_ELEMENT_AND_TYPE_FIELD are left out: what they type is in the instruction, and models type it themselves.

Source: miniwob 1.1.0, `action.py`, `selenium_actions.py`, `constants.py`, `html/core/core.js` (`getDOMInfo`, `elementClick`).
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from proctor.core.sample import JsonObject
from proctor_adapters.environments.browser import Window

if TYPE_CHECKING:
    from playwright.async_api import Page

SCROLL = 50  # pixels, and the time it takes, as upstream
SCROLL_SECONDS = 0.15
MOST_TYPED = 64
KEYS = {f"<{name}>": name for name in ["Enter", "PageUp", "PageDown", "Backspace", "Delete", "Tab", "Space", "ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft", "NumpadAdd", "NumpadMultiply", "NumpadSubtract", "NumpadDivide", "NumpadDecimal", "NumpadEnter"]}  # fmt: skip
KEYS |= {f"<Numpad{digit}>": f"Numpad{digit}" for digit in range(10)}
KEYS |= {sign: sign for sign in '[]-=;"\\,./`1234567890abcdefghijklmnopqrstuvwxyz'}
KEYS |= {f"C-{letter}": f"Control+{letter}" for letter in "acxv"}
KEYS |= {letter: f"Shift+{letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}

# As text: Playwright takes ten times as long for nested objects.
# Icons have no size, and so are no elements and shift the numbers of others, until their pictures are there.
LOOK = """async () => {
  const known = (window.__pictures ??= new Set());
  const urls = [...document.querySelectorAll('#area *')].map((one) => getComputedStyle(one).content.match(/^url\\("(.*)"\\)$/)?.[1]);
  const loads = [...new Set(urls)].filter((url) => url && !known.has(url)).map((url) => {
    known.add(url);
    return Object.assign(new Image(), {src: url}).decode().catch(() => null);
  });
  if (loads.length) await Promise.race([Promise.all(loads), new Promise((done) => setTimeout(done, 1000))]);
  if (loads.length) await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const said = core.getUtterance();
  return JSON.stringify({
    done: WOB_DONE_GLOBAL, reward: +WOB_REWARD_GLOBAL, raw_reward: +WOB_RAW_REWARD_GLOBAL,
    reason: WOB_REWARD_REASON == null ? null : String(WOB_REWARD_REASON).slice(0, 1000),
    utterance: typeof said === 'string' ? said : said.utterance,
    dom: WOB_DONE_GLOBAL ? null : core.getDOMInfo(),
  });
}"""


class PageLook(msgspec.Struct, frozen=True, kw_only=True):
    """A page as it is: what it asks for, the rewards so far (None for what is no number), and its visible elements."""

    done: bool
    reward: float | None
    raw_reward: float | None
    reason: str | None
    utterance: str
    dom: dict[str, object] | None


async def look_at(window: Window) -> PageLook:
    """Return what the page of a window is like.

    Raises:
        PageError: it is no page of MiniWoB++ any more.
    """
    return msgspec.json.decode(await window.do(window.page.evaluate(LOOK)), type=PageLook)


class Actions:
    """The official actions on a page; what they return is what the agent sees then.

    Attributes:
        look: what the page was like after the last one.
    """

    def __init__(self, window: Window, size: tuple[int, int]) -> None:
        self._window = window
        self._size = size
        self.look: PageLook | None = None

    async def none(self) -> str:
        """Do nothing, and look at the page again."""
        return await self._seen()

    async def move_coords(self, x: float, y: float) -> str:
        """Move the mouse."""
        self._check(x, y)
        await self._window.do(self._page.mouse.move(x, y))
        return await self._seen()

    async def click_coords(self, x: float, y: float) -> str:
        """Click at a position."""
        self._check(x, y)
        await self._window.do(self._page.mouse.click(x, y))
        return await self._seen()

    async def dblclick_coords(self, x: float, y: float) -> str:
        """Double-click at a position."""
        self._check(x, y)
        await self._window.do(self._page.mouse.dblclick(x, y))
        return await self._seen()

    async def mousedown_coords(self, x: float, y: float) -> str:
        """Move the mouse and press its button, to drag from there."""
        self._check(x, y)
        await self._window.do(self._page.mouse.move(x, y))
        await self._window.do(self._page.mouse.down())
        return await self._seen()

    async def mouseup_coords(self, x: float, y: float) -> str:
        """Move the mouse and release its button, to drop there."""
        self._check(x, y)
        await self._window.do(self._page.mouse.move(x, y))
        await self._window.do(self._page.mouse.up())
        return await self._seen()

    async def scroll_up_coords(self, x: float, y: float) -> str:
        """Turn the mouse wheel up at a position."""
        return await self._scroll(x, y, -SCROLL)

    async def scroll_down_coords(self, x: float, y: float) -> str:
        """Turn the mouse wheel down at a position."""
        return await self._scroll(x, y, SCROLL)

    async def click_element(self, ref: int) -> str:
        """Click an element, wherever it is.

        Args:
            ref: the number of the element
        """
        return await self._seen(await self._click(ref))

    async def press_key(self, key: str) -> str:
        """Press a key.

        Args:
            key: a letter, a digit, a sign such as "-" or "/", one of <Enter>, <Tab>, <Space>, <Backspace>, <Delete>, <PageUp>, <PageDown>, <ArrowUp>, <ArrowDown>, <ArrowLeft>, <ArrowRight>, or C-a, C-c, C-x, C-v with control
        """
        if key not in KEYS:
            raise ValueError(f"there is no key {key[:20]!r}")
        await self._window.do(self._page.keyboard.press(KEYS[key]))
        return await self._seen()

    async def type_text(self, text: str) -> str:
        """Type a text into what has the focus.

        Args:
            text: at most 64 characters
        """
        await self._type(text)
        return await self._seen()

    async def focus_element_and_type_text(self, ref: int, text: str) -> str:
        """Click an element and type a text.

        Args:
            ref: the number of the element
            text: at most 64 characters
        """
        note = await self._click(ref)
        await self._type(text)  # upstream types too where there was nothing to click
        return await self._seen(note)

    @property
    def _page(self) -> "Page":
        return self._window.page

    async def _click(self, ref: int) -> str:
        done = await self._window.do(self._page.evaluate("ref => core.elementClick(ref)", ref))
        return "" if done is True else f"There is no element {ref} to click.\n"

    async def _type(self, text: str) -> None:
        if len(text) > MOST_TYPED:
            raise ValueError(f"the text has {len(text)} characters, {MOST_TYPED} are allowed at once")
        await self._window.do(self._page.keyboard.type(text))

    async def _scroll(self, x: float, y: float, pixels: int) -> str:
        self._check(x, y)
        session = await self._window.protocol()
        event = {"type": "mouseWheel", "x": int(x), "y": int(y), "deltaX": 0, "deltaY": pixels}
        await self._window.do(session.send("Input.dispatchMouseEvent", event))
        await asyncio.sleep(SCROLL_SECONDS)
        return await self._seen()

    def _check(self, x: float, y: float) -> None:
        width, height = self._size
        if not (0 <= x <= width and 0 <= y <= height):
            raise ValueError(f"the page is {width} x {height} pixels")

    async def _seen(self, note: str = "") -> str:
        self.look = await look_at(self._window)
        notes = self._window.take_notes()
        return "The episode is over." if self.look.dom is None else note + shown(self.look.dom, notes)


def shown(dom: Mapping[str, object], notes: Sequence[str] = ()) -> str:
    """Return the visible elements of a page as lines, with what the page did unasked.

    >>> shown({"tag": "BODY", "ref": 1, "left": 0, "top": 0, "width": 9.5, "height": 4, "children": [
    ...     {"tag": "T", "ref": -1, "left": 1, "top": 2, "width": 3, "height": 4, "text": "tea", "children": []}]})
    '[1] body "tea" (0, 0, 9.5, 4)'
    """
    return "\n".join([*_lines(dom, 0), *notes])


def _lines(node: JsonObject, depth: int) -> list[str]:
    children, text = node["children"], node.get("text")
    if children and all(child["tag"].lower() == "t" for child in children):  # as upstream: texts alone are no children
        children, text = [], " ".join(child["text"] for child in children)
    words = [f"[{node['ref']}] {node['tag'].lower()}"]
    words += [f"{name}={node[key]}" for name, key in (("id", "id"), ("class", "classes")) if isinstance(node.get(key), str) and node[key]]  # fmt: skip
    words += [json.dumps(text, ensure_ascii=False)] if text else []
    words += [f"value={json.dumps(node['value'], ensure_ascii=False)}"] if "value" in node else []
    words += [f"({', '.join(f'{node[side]:.4g}' for side in ('left', 'top', 'width', 'height'))})"]
    words += [flag for flag in ("focused", "tampered") if node.get(flag)]
    return ["  " * depth + " ".join(words)] + [line for child in children for line in _lines(child, depth + 1)]
