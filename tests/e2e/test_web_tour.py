"""A tour of the demo in a real browser: every page in both languages and on a phone, by keys alone, and a review by two people.

With --rewrite-golden the pictures in `docs/images` are taken again.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser-2")]
IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
Visit = Callable[..., Page]
PICTURES = {
    "runs": "/runs",
    "run": "/runs/bfcl-greedy",
    "sample": "/runs/teahouse-first/samples/too_many",
    "compare": "/compare?run=bfcl-greedy&run=bfcl-warm",
    "case": "/evalsets/case?file=teahouse.evalset.json&case=order_two",
}
PAGES = [
    *PICTURES.values(),
    "/chat",
    "/runs/new",
    "/runs/bfcl-greedy/samples",
    "/runs/bfcl-greedy/samples?text=number",
    "/runs/shop-small/samples/two",
    "/leaderboard",
    "/trends",
    "/evalsets",
    "/evalsets/set?file=teahouse.evalset.json",
    "/review",
]
SHAPES: dict[str, dict[str, Any]] = {
    "wide": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark", "is_mobile": True, "has_touch": True},
}


@pytest.fixture(scope="module")
def server(web_of_module: Callable[..., Any]) -> Any:
    """The demo, for the tests that change nothing in it."""
    return web_of_module("--demo")


@pytest.mark.parametrize(("lang", "shape"), [("en", "wide"), ("zh", "phone")])
def test_every_page_fits_and_asks_nobody_else(
    server: Any, session: Any, visit: Visit, requests: list[str], lang: str, shape: str, request: pytest.FixtureRequest
) -> None:
    page = visit(f"{server.address}/runs?lang={lang}", storage_state=session, **SHAPES[shape])
    for path in PAGES:
        answer = page.goto(server.address + path)
        assert answer is not None
        assert answer.status == 200, path
        assert page.evaluate("document.documentElement.scrollWidth") <= SHAPES[shape]["viewport"]["width"], path
        assert page.locator("html").get_attribute("lang") == {"en": "en", "zh": "zh-CN"}[lang]
        expect(page.locator("h1").first).to_be_visible()
        expect(page.locator("header nav a[aria-current=page]")).to_be_visible()
    assert {urlsplit(one).netloc for one in requests if not one.startswith("data:")} == {
        urlsplit(server.address).netloc
    }
    if shape == "wide" and request.config.getoption("--rewrite-golden"):
        for one in ("en", "zh"):
            page.goto(f"{server.address}/runs?lang={one}")
            take_pictures(page, server.address, one)
    for name in PICTURES:
        assert (IMAGES / f"web-{name}-{lang}.png").is_file(), "take the pictures with --rewrite-golden"


def take_pictures(page: Page, address: str, lang: str) -> None:
    IMAGES.mkdir(exist_ok=True)
    for name, path in PICTURES.items():
        page.goto(address + path)
        page.wait_for_load_state("networkidle")
        page.screenshot(path=IMAGES / f"web-{name}-{lang}.png")


def test_two_people_review_blind_and_the_page_shows_how_they_agree(web: Callable[..., Any], visit: Visit) -> None:
    server = web("--demo")
    owner = visit(server.link)
    owner.goto(f"{server.address}/review?run=capitals-greedy")
    expect(owner.get_by_role("checkbox", name="capitals-greedy")).to_be_checked()
    owner.get_by_label("Name").fill("blind")
    owner.get_by_label("Answers").fill("2")
    owner.get_by_label("Reviewers").fill("ann bob")
    owner.get_by_role("button", name="Make the queue").click()
    owner.wait_for_url("**/review/blind")
    for row, name in enumerate(("ann", "bob")):
        owner.goto(f"{server.address}/review/blind")
        owner.get_by_role("button", name="Make a link").nth(row).click()
        link = owner.locator(".address code").inner_text()
        reviewer = visit(link)
        expect(reviewer.locator(".who")).to_have_text(name)
        assert "capitals-greedy" not in reviewer.content()
        for key in ("5", "4"):
            reviewer.keyboard.press(key)
            reviewer.keyboard.press("a" if key == "5" else "r")
            reviewer.keyboard.press("s")
            reviewer.wait_for_url(re.compile("saved="))
        expect(reviewer.locator(".done")).to_contain_text("2 of 2 reviewed")
    owner.goto(f"{server.address}/review/blind")
    expect(owner.locator(".facts")).to_contain_text("2 of 2 reviewed")
    expect(owner.locator("main")).to_contain_text("Between people: ann, bob")


def test_a_key_is_heard_as_soon_as_the_page_shows(server: Any, session: Any, visit: Visit) -> None:
    page = visit(f"{server.address}/runs", storage_state=session)

    def hold(script: Route) -> None:
        page.wait_for_timeout(500)
        script.continue_()

    page.route("**/static/*.js", hold)
    for path in ("/runs", "/runs/bfcl-greedy/samples", "/evalsets", "/chat"):
        page.goto(server.address + path, wait_until="commit")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.keyboard.press("?")
        expect(page.locator("dialog#keys")).to_be_visible()
        page.wait_for_load_state()


def test_keys_alone_lead_from_the_list_to_a_sample_and_back(server: Any, session: Any, visit: Visit) -> None:
    page = visit(f"{server.address}/runs/bfcl-greedy/samples", storage_state=session)
    page.keyboard.press("?")
    expect(page.locator("dialog#keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("open="))  # next to the list
    first = page.url
    page.keyboard.press("j")
    page.wait_for_url(lambda url: url != first and "open=" in url)
    page.keyboard.press("k")
    page.wait_for_url(first)
