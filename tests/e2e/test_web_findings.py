"""Findings of a run in a real browser: judged by keys, one after another, with precision in sight; on a phone in Chinese."""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import inspected
import pytest
from inspected import CLAIMS, RUN
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
FINDINGS = f"/runs/{RUN}/findings"
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with ThreadPoolExecutor(1) as pool:  # the thread of a browser has a loop already
        return pool.submit(inspected.write, tmp_path_factory.mktemp("inspected")).result()


@pytest.fixture
def server(web: Callable[..., Any], store: Path, tmp_path: Path) -> Any:
    return web("--store", shutil.copy(store, tmp_path))


def test_findings_are_judged_by_keys_from_the_page_of_the_run(server: Any, visit: Callable[..., Page]) -> None:
    page = visit(server.link, viewport={"width": 1440, "height": 900})
    page.goto(f"{server.address}/runs/{RUN}")
    page.get_by_role("link", name=f"claim-without-evidence {CLAIMS}").click()
    where, kind = page.locator(".where"), page.locator(".kinds a[aria-current]")
    expect(page.locator("mark")).to_contain_text("I have cancelled order")
    expect(where).to_contain_text(f"1 of {CLAIMS}")
    for number, key in enumerate("ara", 2):
        page.keyboard.press(key)
        expect(where).to_contain_text(f"{number} of {CLAIMS}")
    expect(kind).to_contain_text("right: 66.7%")
    expect(kind).to_contain_text(f"3 of {CLAIMS} judged")
    page.keyboard.press("k")
    expect(where).to_contain_text(f"3 of {CLAIMS}")
    page.keyboard.press("u")
    expect(kind).to_contain_text(f"2 of {CLAIMS} judged")
    page.keyboard.press("j")
    expect(where).to_contain_text(f"4 of {CLAIMS}")


def test_the_page_of_a_sample_leads_to_what_was_found_in_it(server: Any, visit: Callable[..., Page]) -> None:
    page = visit(server.link)
    page.goto(f"{server.address}/runs/{RUN}/samples/claim-hostile")
    page.get_by_text("the inspector found:").get_by_role("link", name="claim-without-evidence").click()
    expect(page.locator("mark")).to_contain_text("</pre><script>")


def test_a_phone_shows_findings_in_chinese_within_its_width(server: Any, visit: Callable[..., Page]) -> None:
    page = visit(server.link, **PHONE)
    page.goto(f"{server.address}{FINDINGS}?check=claim-without-evidence&trial=claim-hostile&lang=zh")
    expect(page.locator("h2").first).to_have_text("智能体说某事已办，但没有调用办过它。")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.goto(f"{server.address}{FINDINGS}?check=claim-without-evidence&lang=zh")  # the first in order
    page.get_by_role("button", name="不属实").tap()
    expect(page.locator(".kinds a[aria-current]")).to_contain_text("属实 0.0%")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_page_that_waits_is_left_with_the_focus_where_it_was(
    web: Callable[..., Any], store: Path, tmp_path: Path, visit: Callable[..., Page]
) -> None:
    server = web("--store", shutil.copy(store, tmp_path), seconds=0)
    page = visit(server.link)
    page.goto(f"{server.address}{FINDINGS}")
    expect(page.get_by_role("heading", name="Waiting")).to_be_visible()
    page.get_by_role("link", name="Trends").focus()
    expect(page.locator(".where")).to_contain_text("1 of ")
    expect(page.get_by_role("link", name="Trends")).to_be_focused()
    _asks_no_more(page)
    page.goto(f"{server.address}/runs/{RUN}/report.html")
    expect(page.get_by_role("link", name=f"Save {RUN}.html")).to_be_visible()
    _asks_no_more(page)


def _asks_no_more(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(1_500)
    assert asked == []
