"""Every page that links lead to, in the demo: accessible, within its width, nothing from outside, in both languages and colours."""

import gzip
import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
AXE = Path(__file__).parents[1] / "data" / "axe" / "axe-4.14.1.min.js.gz"
STARTS = ["/runs", "/runs/new", "/compare", "/leaderboard", "/trends", "/evalsets", "/chat", "/review", "/nowhere"]
MOST_PAGES = 60
MOST_BYTES = 150_000  # of the first page, with all it loads
BROKEN_RULES = """() => axe.run(document, {resultTypes: ["violations"]}).then((found) => found.violations
    .filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => `${one.id} (${one.nodes.length}): ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(" | ")}`))"""

Start = Callable[..., Any]
Open = Callable[..., Page]


class Look(NamedTuple):
    """How a user looks at the pages."""

    lang: str
    scheme: str
    width: int


def shape(address: str) -> str:
    """Return what addresses of one kind of page have in common."""
    path = re.sub(r"^/runs/(?!new)[^/?]+", "/runs/RUN", urlsplit(address).path)
    path = re.sub(r"/samples/.+", "/samples/SAMPLE", path)
    names = sorted(
        {pair.partition("=")[0] for pair in urlsplit(address).query.split("&")} - {"order", "after", "attempt"}
    )
    return f"{path}?{','.join(names)}"


def links(page: Page) -> list[str]:
    here = urlsplit(page.url).path
    found = [html.unescape(one) for one in re.findall(r'<a\b[^>]*\bhref="([^"#]+)', page.content())]
    return [here + one if one.startswith("?") else one for one in found]


@pytest.mark.parametrize("look", [Look("en", "light", 1280), Look("zh", "dark", 360)], ids=str)
def test_every_page_is_accessible_and_within_its_width(
    look: Look, web: Start, visit: Open, requests: list[str]
) -> None:
    axe = gzip.decompress(AXE.read_bytes()).decode()
    server = web("--demo")
    how = {"color_scheme": look.scheme, "viewport": {"width": look.width, "height": 900}, "bypass_csp": True}  # for axe
    page = visit(f"{server.link}&lang={look.lang}", **how)
    page.goto(f"{server.address}/runs?lang={look.lang}")
    waiting, seen, faults, count = [*STARTS], set[str](), list[str](), 0
    while waiting and count < MOST_PAGES:
        address = waiting.pop(0)
        if shape(address) in seen or re.search(
            r"[?&](lang|theme)=|/save\?|/file\?|/report\.|/static/|/attachments?/", address
        ):
            continue
        seen.add(shape(address))
        answer = page.goto(server.address + address)
        assert answer is not None
        if "text/html" not in answer.headers.get("content-type", ""):
            continue
        count += 1
        page.evaluate(axe)
        faults += [f"{address}: {fault}" for fault in page.evaluate(BROKEN_RULES)]
        wide = page.evaluate("document.documentElement.scrollWidth")
        faults += [f"{address}: {wide} pixels wide"] if wide > look.width else []
        faults += [f"{address}: status {answer.status}"] if answer.status >= 400 and address != "/nowhere" else []
        waiting += [one for one in links(page) if one.startswith("/")]
    assert not faults, f"{len(faults)} on {count} pages:\n" + "\n".join(faults)
    assert count > 8
    assert all(one.startswith((server.address, "data:image/svg")) for one in requests), requests
