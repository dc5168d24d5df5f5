"""The page of a run in a real browser: search, filter, links to samples, hostile texts, a phone, print."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import example_runs
import pytest
import told_trials
from headless import CHROMIUM
from memory_store import MemoryStore
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Request, expect

from proctor.core.run import Estimate, RunRecord
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.reports import render, versus
from proctor.reports.both import pair_samples
from proctor.reports.build import build
from proctor.reports.compare import compare
from proctor.reports.listing import stories

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: chromium"),
    pytest.mark.xdist_group("browser"),
]
Open = Callable[..., Page]


@pytest.fixture
def visit(chromium: Browser, tmp_path: Path) -> Iterator[Open]:
    """Open a page from a file; it must ask for nothing else, show no dialog and raise nothing."""
    troubles: list[str] = []
    contexts: list[BrowserContext] = []

    def begin(text: str, fragment: str = "", **context: Any) -> Page:
        path = tmp_path / "page.html"
        path.write_text(text, encoding="utf-8")
        contexts.append(chromium.new_context(**context))
        page = contexts[-1].new_page()

        def dialog(one: Dialog) -> None:
            troubles.append(f"dialog {one.message}")
            one.dismiss()

        def request(one: Request) -> None:
            if one.url.partition("#")[0] != path.as_uri():
                troubles.append(one.url)

        page.on("dialog", dialog)
        page.on("request", request)
        page.on("pageerror", lambda one: troubles.append(str(one)))
        page.on("console", lambda one: troubles.append(one.text))
        page.goto(f"{path.as_uri()}{fragment}")
        return page

    yield begin
    for context in contexts:
        context.close()
    assert not troubles


def report(make: Callable[[MemoryStore], Coroutine[Any, Any, Any]]) -> str:
    """The page of a run made by hand; in a thread, as playwright's loop runs in this one."""
    store = MemoryStore()
    with ThreadPoolExecutor(1) as pool:
        run, estimates = pool.submit(lambda: asyncio.run(make(store))).result()
    return render.html(build(run, store, estimates), "en", stories(run, store))


@pytest.fixture
def small() -> str:
    return report(example_runs.small_run)


@pytest.fixture
def hostile() -> str:
    return report(example_runs.hostile_run)


@pytest.fixture
def many() -> str:
    return report(many_run)


async def many_run(store: MemoryStore) -> tuple[RunRecord, list[Estimate]]:
    """250 questions, every tenth of them wrong."""
    run = example_runs.record("many", planned=250, scorers=("exact",))
    played = [
        example_runs.played(
            "many",
            Sample.ask(f"q {n}", f"What is {n}?", target=str(n), tags={"level": str(n % 3)}),
            Score(points=n % 10 != 0, reason="" if n % 10 else f"Not {n}."),
            answer=f"It is {n}.",
            scorer="exact",
        )
        for n in range(250)
    ]
    return run, await example_runs.fill(store, run, played)


def test_all_samples_are_found_searched_and_filtered(many: str, visit: Open) -> None:
    page = visit(many)
    expect(page.locator("#count")).to_have_text("25 of 250")
    page.select_option("#state", "")
    expect(page.locator(".sample")).to_have_count(100)
    page.click("#more")
    expect(page.locator(".sample")).to_have_count(200)
    page.fill("#find", "it is 123.")
    expect(page.locator("#count")).to_have_text("1 of 250")
    page.click(".sample summary")
    expect(page.locator(".sample .body")).to_contain_text("It is 123.")
    expect(page.locator(".sample .body")).to_contain_text("What is 123?")
    page.fill("#find", "nobody wrote this")
    expect(page.locator("#none")).to_be_visible()
    page.fill("#find", "")
    page.select_option("#tag", label="level=2")
    expect(page.locator("#count")).to_have_text("83 of 250")


def test_a_link_opens_its_sample_however_the_list_is_filtered(many: str, visit: Open) -> None:
    page = visit(many, "#s-q%20249")
    expect(page.locator(".sample[open] .body")).to_contain_text("It is 249.")
    expect(page.locator(".sample[open]")).to_be_in_viewport()


def test_a_class_of_errors_links_to_its_samples(small: str, visit: Open) -> None:
    page = visit(small)
    page.click("a:text('wrong parameter value')")
    expect(page.locator("#count")).to_have_text("1 of 7")
    page.click(".sample summary")
    expect(page.locator(".sample tr.marked")).to_contain_text("height")


def test_hostile_texts_stay_texts_when_every_sample_is_open(hostile: str, visit: Open) -> None:
    page = visit(hostile)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    expect(page.locator(".sample .body")).not_to_have_count(0)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert page.locator("script").count() == 2
    assert page.locator("img, iframe, form").count() == 0
    expect(page.locator(".sample .body").first).to_contain_text("<script>alert(1)</script>")


async def two_runs(store: MemoryStore) -> str:
    """Two runs of four samples with hostile answers, as their comparison."""
    sides = []
    for name, right in (("old", {0, 1}), ("new", {1, 2})):
        run = example_runs.record(name, planned=4, scorers=("exact",))
        played = [
            example_runs.played(
                name,
                Sample.ask(f"s{n}", f"What is {n}?", target=str(n)),
                Score(points=n in right),
                answer=f"{name} says {n} {example_runs.HOSTILE}",
                scorer="exact",
            )
            for n in range(4)
        ]
        await example_runs.fill(store, run, played)
        sides.append((run, store))
    return versus.html(compare(*sides), "en", pair_samples(*sides))


def test_a_comparison_shows_both_answers_and_which_samples_moved(visit: Open) -> None:
    with ThreadPoolExecutor(1) as pool:
        text = pool.submit(lambda: asyncio.run(two_runs(MemoryStore()))).result()
    page = visit(text, viewport={"width": 390, "height": 844}, is_mobile=True)
    expect(page.locator("#count")).to_have_text("2 of 4")
    page.click(".sample.broken summary")
    for said in ("What is 0?", "old says 0", "new says 0", "<script>alert(1)</script>"):
        expect(page.locator(".sample.broken .body")).to_contain_text(said)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.fill("#find", "new says 2")
    expect(page.locator(".sample.fixed")).to_have_count(1)
    page.fill("#find", "")
    page.select_option("#state", "both_wrong")
    expect(page.locator("#count")).to_have_text("1 of 4")


async def pictured_run(store: MemoryStore) -> tuple[RunRecord, list[Estimate]]:
    """A question with a picture, of which a tool returns a part."""
    run = example_runs.record("pictured", planned=1, scorers=("trajectory",))
    return run, await example_runs.fill(store, run, [told_trials.picture("pictured")])


def test_pictures_are_in_the_page_and_what_only_says_that_it_is_one_is_not(visit: Open) -> None:
    page = visit(report(pictured_run), "#s-picture")
    page.get_by_text("Conversation").first.click()
    pictures = page.locator(".said img")
    assert [str(pictures.nth(at).get_attribute("alt")).split()[0] for at in range(pictures.count())] == ["red.png"] * 2
    widths = page.evaluate(
        "Promise.all([...document.querySelectorAll('.said img')].map((one) => one.decode().then(() => one.naturalWidth)))"
    )
    assert min(widths) > 0
    expect(page.locator(".said")).to_contain_text("page.html")
    assert page.locator(".said audio[controls]").count() == 1
    expect(page.locator(".said")).to_contain_text("paper.pdf (application/pdf, 9 bytes)")
    assert page.content().count("data:image/png") == 3  # once for both, in the data, and the two that are open


def test_a_phone_shows_the_page_without_scrolling_sideways(small: str, visit: Open) -> None:
    page = visit(small, viewport={"width": 390, "height": 844}, is_mobile=True)
    page.evaluate("for (const one of document.querySelectorAll('.sample')) one.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_without_scripts_and_on_paper_the_failed_samples_are_there(small: str, visit: Open) -> None:
    page = visit(small, java_script_enabled=False)
    expect(page.locator(".failure").first).to_be_visible()
    expect(page.locator("#samples")).to_be_hidden()
    page = visit(small)
    expect(page.locator(".failure").first).to_be_hidden()
    page.emulate_media(media="print")
    expect(page.locator(".failure").first).to_be_visible()
    expect(page.locator("#samples")).to_be_hidden()
