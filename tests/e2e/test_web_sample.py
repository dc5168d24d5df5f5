"""One sample in a real browser: fold, page, find, mark, contradict, add to an eval set; hostile text, 10,000 steps, a phone."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import told_trials
from playwright.sync_api import Page, expect
from told_trials import RUN

from proctor_adapters.evalsets.read import read

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
]
SAMPLES = f"/runs/{RUN}/samples"
HOSTILE = f"{SAMPLES}/" + quote('<img src=x onerror="alert(1)">?a=1#b')
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
Visit = Callable[..., Page]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("told")
    (made / "evalsets").mkdir()
    with ThreadPoolExecutor(1) as pool:  # the thread of a browser has a loop already
        pool.submit(told_trials.write, made, steps=told_trials.LONG_STEPS).result()
    return made


@pytest.fixture(scope="module")
def server(web_of_module: Callable[..., Any], folder: Path) -> Any:
    return web_of_module("--store", folder / "runs.db", "--evalsets", folder / "evalsets")


@pytest.fixture
def came_in(server: Any, visit: Visit) -> Callable[..., Page]:
    """Opens a page in a browser of its own that came in by the token of the server."""

    def begin(path: str, **how: Any) -> Page:
        headers = {"authorization": f"Bearer {server.token}"}
        return visit(f"{server.address}{path}", extra_http_headers=headers, **how)

    return begin


def test_what_is_folded_opens_by_mouse_and_by_key(came_in: Visit) -> None:
    page = came_in(f"{SAMPLES}/shop/umbrella")
    expect(page.locator("tr.call.marked")).to_have_count(2)
    thinking = page.get_by_text("I search first")
    expect(thinking).to_be_hidden()
    page.get_by_text("Thinking").click()
    expect(thinking).to_be_visible()
    page.keyboard.press("o")
    expect(page.locator("#conversation details:not([open])")).to_have_count(0)
    page.keyboard.press("o")
    expect(thinking).to_be_hidden()
    page.get_by_text("What the judges were asked").click()
    expect(page.get_by_text("Reply 1 of 1")).to_be_visible()
    page.get_by_text("Raw record").click()
    expect(page.get_by_text("Download the record as JSON")).to_be_visible()
    expect(page.locator(".others")).to_contain_text("openai:small")


def test_one_marks_contradicts_and_adds_to_an_eval_set(server: Any, visit: Visit, folder: Path) -> None:
    page = visit(server.link)
    page.goto(f"{server.address}{SAMPLES}/shop/umbrella")
    page.get_by_label("What to look at").fill("the price")
    page.get_by_role("button", name="Mark for review").click()
    expect(page.get_by_role("status")).to_have_text("Saved: the mark for review.")
    expect(page.locator(".sample-head")).to_contain_text("marked for review")
    first = page.locator(".verdict").first
    first.get_by_text("Is this verdict right?").click()
    first.get_by_label("full marks").check()
    first.get_by_label("Why").fill("U-21 was never bought; 对的")
    first.get_by_role("button", name="Save my verdict").click()
    expect(first.locator(".label-said")).to_contain_text("100.0% instead of 50.0% · U-21 was never bought; 对的")
    page.get_by_label("New file", exact=True).fill("failures")
    page.get_by_role("button", name="Add the case").click()
    page.get_by_role("status").get_by_role("link").click()
    expect(page).to_have_url(f"{server.address}/evalsets/case?file=failures.evalset.json&case=shop%2Fumbrella")
    [case] = read(folder / "evalsets" / "failures.evalset.json").eval_set.eval_cases
    assert case.eval_id == "shop/umbrella"


def test_10_000_steps_open_at_once_and_are_paged_and_searched(came_in: Visit) -> None:
    page = came_in(f"{SAMPLES}/long")
    expect(page.locator("#entry-0")).to_be_visible()
    expect(page.locator(".entry")).to_have_count(50)
    page.get_by_text("Later entries (14,950)").click()
    expect(page.locator("#entry-99")).to_be_attached()
    expect(page.get_by_text("Later entries (14,900)")).to_be_visible()
    page.get_by_label("Find in the conversation").fill("needle")
    page.get_by_role("button", name="Find").click()
    page.locator(".matches a").click()
    expect(page.locator("#entry-14993")).to_be_in_viewport()
    page.get_by_label("Go to entry").fill("7000")
    page.get_by_role("button", name="Go", exact=True).click()
    expect(page.locator("#entry-7000")).to_be_attached()
    expect(page.locator(".entry")).to_have_count(50)


def test_a_long_text_is_sent_when_it_is_asked_for(came_in: Visit) -> None:
    page = came_in(HOSTILE)
    page.get_by_text("show all 5,790 characters").click()
    expect(page.locator("#entry-1 pre").first).to_contain_text("[bold]markup[/bold]" + "</pre><script>")


def test_hostile_text_runs_nothing_asks_for_nothing_and_stays_in_its_place(
    server: Any, came_in: Visit, requests: list[str]
) -> None:
    for how in ({}, PHONE, {"color_scheme": "dark"}):
        page = came_in(HOSTILE, **how)
        for summary in page.locator("details:not([open]) > summary").all():
            if summary.is_visible():
                summary.click()
        page.wait_for_timeout(300)
        assert page.locator("h1").inner_text() == '<img src=x onerror="alert(1)">?a=1#b'
        width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width[0] <= width[1]
    assert [one for one in requests if not one.startswith(f"{server.address}/")] == []


def test_pictures_are_shown_from_here_only(server: Any, came_in: Visit, requests: list[str]) -> None:
    page = came_in(f"{SAMPLES}/picture")
    pictures = page.locator("img.attached")  # that of the question, and that of a result
    expect(pictures).to_have_count(2)
    for picture in pictures.all():
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_js_property("naturalWidth", 16)
    assert [one for one in requests if not one.startswith(f"{server.address}/")] == []


def test_keys_lead_to_the_next_sample_of_the_list_also_in_chinese(came_in: Visit) -> None:
    page = came_in(f"{SAMPLES}/shop/umbrella?order=plan")
    expect(page.get_by_role("link", name="Next ›")).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("h1")).to_have_text("zh/北京")
    assert "order=plan" in page.url
    page.get_by_role("link", name="中文").click()
    expect(page.locator("#verdicts h2")).to_have_text("评分")
    expect(page.locator("body")).to_contain_text("大约六小时。")
    page.keyboard.press("k")
    expect(page.locator("h1")).to_have_text("shop/umbrella")
