"""The page of a run in a real browser: from its numbers to its samples, saved as a file, on a phone, in Chinese, dark, on paper."""

import gzip
import itertools
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from proctor import Sample, Task, evaluate

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
AXE = Path(__file__).parents[1] / "data" / "axe" / "axe-4.14.1.min.js.gz"
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
HOSTILE = "</pre><img src=http://evil.example/x.png onerror=alert(1)><script>alert(1)</script>"
Visit = Callable[..., Page]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty questions in two languages, a third of the answers wrong and hostile."""
    path = tmp_path_factory.mktemp("web") / "runs.db"
    samples = [
        Sample.ask(
            f"case/{n:02}", f"第 {n} 题 {HOSTILE}", target="yes", tags={"half": "ab"[n % 2], "level": f"级别 {n % 3}"}
        )
        for n in range(40)
    ]

    def agent(question: str) -> str:
        return "yes" if int(question.split()[1]) % 3 else f"no {HOSTILE}"

    evaluate(
        Task(name="t", samples=samples, scorers=["exact"], spread_by="half"), agent=agent, store=str(path), run_id="r"
    )
    return path


@pytest.fixture(scope="module")
def server(web_of_module: Callable[..., Any], store: Path) -> Any:
    return web_of_module("--store", store, "--port", "18862")


@pytest.fixture(scope="module")
def session(server: Any, chromium: Browser) -> Any:
    """The cookie of a browser that came in by the link."""
    context = chromium.new_context()
    context.new_page().goto(server.link)
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture
def run(server: Any, session: Any, visit: Visit, requests: list[str]) -> Iterator[Visit]:
    """Opens a path of the app in a browser of its own; nothing outside is asked for."""
    yield lambda path, **how: visit(server.address.rstrip("/") + path, storage_state=session, **how)
    assert [url for url in requests if not url.startswith((server.address, "file:", "data:"))] == []


def test_numbers_lead_to_the_samples_they_count(run: Visit) -> None:
    page = run("/runs")
    page.locator("a[href='/runs/r']").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("t ·")
    expect(page.locator(".number b").first).to_have_text("65.0%")
    expect(page.locator("svg.plot .dot").first).to_be_visible()
    page.get_by_role("link", name="级别 0").click()
    expect(page.locator(".found b")).to_have_text("14 samples")
    page.go_back()
    page.locator("article.failure a").first.click()
    expect(page).to_have_url(re.compile("/runs/r/samples/case/"))


def test_a_run_is_two_screens_and_a_failed_sample_opens_in_place(run: Visit) -> None:
    page = run("/runs/r", viewport={"width": 1440, "height": 900})
    expect(page.locator("article.failure")).to_have_count(10)
    assert page.evaluate("document.body.offsetHeight") <= 2 * 900
    expect(page.locator(".overview > *")).to_have_count(3)
    failed = page.locator("article.failure").first
    expect(failed.locator(".reason").first).to_be_hidden()
    failed.locator("summary").first.click()
    expect(failed.locator(".reason").first).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("article.failure").nth(1).locator("header a")).to_be_focused()
    page.locator(".outcomes a").first.click()
    expect(page).to_have_url(re.compile("outcome=scored"))
    expect(page.locator(".found b")).to_have_text("40 samples")


def test_a_page_that_was_saved_shows_the_same_without_a_server(run: Visit, chromium: Browser, tmp_path: Path) -> None:
    page = run("/runs/r")
    with page.expect_download() as download:
        page.locator("a.as-file").click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    context = chromium.new_context(offline=True)
    alone = context.new_page()
    said: list[str] = []
    alone.on("console", lambda message: said.append(message.text))
    alone.on("request", lambda request: said.append(request.url) if not request.url.startswith("file:") else None)
    alone.goto(saved.as_uri())
    expect(alone.locator(".number b").first).to_have_text("65.0%")
    colour = "one => getComputedStyle(one).fill"
    assert alone.locator("svg.plot .dot").first.evaluate(colour) == page.locator("svg.plot .dot").first.evaluate(colour)
    assert alone.locator("a[href^='/'], script, form, button").count() == 0
    context.close()
    assert said == []


def test_a_report_is_saved_as_a_folder_and_its_pages_lead_to_each_other(
    run: Visit, chromium: Browser, tmp_path: Path
) -> None:
    page = run("/runs/r")
    page.locator("details.menu summary").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="ZIP").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        archive.extractall(tmp_path)
    alone = chromium.new_page()
    alone.goto((tmp_path / "r" / "index.html").as_uri())
    alone.locator("a[href='samples-0001.html']").click()
    expect(alone.locator("#count")).to_contain_text("14")  # it begins with those that failed
    alone.locator("#find").fill("第 39 题")
    expect(alone.locator("details.sample")).to_have_count(1)
    alone.close()


def test_the_page_is_readable_by_everybody(run: Visit) -> None:
    for lang, how in itertools.product(("en", "zh"), ({}, {"color_scheme": "dark"}, PHONE)):
        page = run(f"/runs/r?lang={lang}", **how)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), how
        page.evaluate(gzip.decompress(AXE.read_bytes()).decode())
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in serious] == []


def test_on_paper_there_are_numbers_and_no_buttons(run: Visit) -> None:
    page = run("/runs/r", color_scheme="dark")
    page.emulate_media(media="print")
    expect(page.locator(".number b").first).to_be_visible()
    expect(page.locator("header.bar")).to_be_hidden()
    expect(page.locator("nav.tabs")).to_be_hidden()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"


def test_the_first_view_of_a_run_is_light(run: Visit) -> None:
    page = run("/runs/r")
    page.reload()
    bytes_ = page.evaluate(
        "[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]"
        ".reduce((sum, one) => sum + one.encodedBodySize, 0)"
    )
    assert bytes_ <= 150_000
