"""The list of samples in a real browser: search as one types, filters by mouse, pages by keys, hostile texts, a run that grows."""

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from headless import CHROMIUM
from playwright.sync_api import Page, expect

from proctor.core.sample import Sample
from proctor.core.trajectory import Trajectory
from proctor.stores import open_store
from proctor.testing.records import a_record, a_trial, a_verdict, begun

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: chromium"),
    pytest.mark.xdist_group("browser"),
]
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
HOSTILE = "<img src=x onerror=alert(1)><script>alert(1)</script> \u202e {braces} ☃"
COUNT = 130
Visit = Callable[..., Page]


async def fill(path: str) -> None:
    """A run of 130 samples, every tenth wrong; one is hostile in every field, one has an id that looks like a path."""
    store = open_store(path)
    ids = [f"case {number:03}" for number in range(COUNT - 2)]
    ids += [HOSTILE, "../up/../x?y#z"]
    samples = [
        Sample.ask(
            id, f"第 {number} 题：首都在哪里？ {id}", target="北京", tags={"half": "ab"[number % 2], "mark": id[:9]}
        )
        for number, id in enumerate(ids)
    ]
    record = a_record(planned=COUNT, state="finished", scorers=("exact",))
    await begun(store, samples, record)
    for number, sample in enumerate(samples):
        wrong = number % 10 == 0 or sample.id == HOSTILE
        details = {"error_class": "wrong_answer", "error_type": sample.id if sample.id == HOSTILE else "city"}
        verdict = a_verdict(sample.id, points=0, reason=sample.id, details=details) if wrong else a_verdict(sample.id)
        trial = a_trial(sample.id, trajectory=Trajectory.of(f"It is {sample.id}" if wrong else "北京"))
        await store.add(trial, [verdict], sample)
    await store.end(record)
    store.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, web_of_module: Callable[..., Any]) -> Any:
    store = tmp_path_factory.mktemp("web") / "runs.db"
    with ThreadPoolExecutor(1) as pool:  # the thread of a browser has a loop already
        pool.submit(lambda: asyncio.run(fill(str(store)))).result()
    return web_of_module("--store", store)


@pytest.fixture
def visit_list(visit_path: Visit) -> Visit:
    """Opens a path, and waits until its list is there."""

    def begin(path: str, **how: Any) -> Page:
        page = visit_path(path, **how)
        expect(page.locator(".found b")).to_be_visible()
        return page

    return begin


def test_samples_are_searched_filtered_and_opened_with_their_neighbours(visit_list: Visit) -> None:
    page = visit_list("/runs/r/samples")
    rows = page.locator("tr[data-row]")
    expect(page.locator(".found")).to_contain_text("130 samples")
    expect(rows).to_have_count(50)
    expect(rows.first).to_contain_text("failed")
    page.keyboard.press("/")
    page.keyboard.type("首都")
    page.keyboard.press("Enter")
    expect(page.locator(".found")).to_contain_text("text: 首都")
    page.get_by_label("Result").select_option("failed")
    expect(page.locator(".found")).to_contain_text("14 samples")
    page.get_by_label("Tag").select_option("half=a")
    expect(page.locator(".found")).to_contain_text("half=a")
    address = page.url
    assert "text=" in address and "state=failed" in address and "tag=half%3Da" in address  # noqa: PT018
    assert "order=" not in address  # fields that say nothing are left out
    page.goto(f"{address.replace('/samples?', '/samples/case%20010?')}")
    expect(page.locator("h1")).to_contain_text("case 010")
    page.keyboard.press("j")
    expect(page.locator("h1")).to_contain_text("case 020")
    page.keyboard.press("k")
    expect(page.locator("h1")).to_contain_text("case 010")
    page.goto(address)
    page.locator(".found a.pill", has_text="failed").click()
    expect(page.locator(".found")).to_contain_text("65 samples")


def test_pages_follow_each_other_by_keys_and_by_address(visit_list: Visit) -> None:
    page = visit_list("/runs/r/samples?order=plan")
    rows = page.locator("tr[data-row]")
    expect(rows.first).to_contain_text("case 000")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="case 001", exact=True)).to_be_focused()
    for first in ("case 050", "case 100"):
        page.get_by_role("link", name="More ›").click()
        expect(rows.first).to_contain_text(first)
    expect(rows).to_have_count(30)
    page.reload()
    expect(rows.first).to_contain_text("case 100")
    page.get_by_role("link", name="First page").click()
    expect(rows.first).to_contain_text("case 000")


def test_failures_are_read_next_to_the_list_by_keys(visit_list: Visit) -> None:
    page = visit_list("/runs/r/samples")
    page.locator("tr[data-row] .answer").first.click()
    pane = page.locator("#pane")
    expect(pane.locator("h2 code")).to_have_text("case 000")
    page.keyboard.press("j")
    expect(pane.locator("h2 code")).to_have_text("case 010")
    expect(page.locator("tr[aria-current]")).to_contain_text("case 010")
    expect(page).to_have_url(re.compile(r"/samples\?open=case\+010$"))
    page.keyboard.press("n")
    expect(pane.locator("h2 code")).to_have_text("case 020")
    page.reload()
    expect(pane.locator("h2 code")).to_have_text("case 020")
    page.keyboard.press("Escape")
    expect(page.locator("#pane:empty")).to_be_attached()
    expect(page.locator("tr[data-row]")).to_have_count(50)


def test_a_mark_leads_back_to_the_sample_next_to_the_list(visit_list: Visit) -> None:
    page = visit_list("/runs/r/samples?state=failed&open=case+030")
    page.get_by_role("button", name="Mark for review").click()
    expect(page.get_by_text("Saved: the mark for review.")).to_be_visible()
    expect(page.locator(".found")).to_contain_text("14 samples")
    expect(page.locator("tr[aria-current]")).to_contain_text("to review")


def test_heads_sort_and_a_view_is_kept(visit_list: Visit) -> None:
    page = visit_list("/runs/r/samples?state=failed")
    page.get_by_role("link", name="Sample", exact=True).click()
    page.get_by_role("link", name="Sample", exact=True).click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Sample")
    expect(page.locator("tr[data-row]").first).to_contain_text("case 120")
    page.get_by_text("Views").click()
    page.get_by_label("Keep this view as").fill("<b>last")
    page.get_by_role("button", name="Keep", exact=True).click()
    page.goto(page.url.partition("?")[0])
    page.get_by_text("Views").click()
    page.get_by_role("link", name="<b>last").click()
    expect(page).to_have_url(re.compile(r"\?state=failed&order=-sample$"))
    page.get_by_text("Views").click()
    page.get_by_role("button", name="Remove the view").click()
    expect(page.get_by_role("link", name="<b>last")).to_have_count(0)


def test_hostile_texts_are_only_shown(visit_list: Visit) -> None:
    page = visit_list("/runs/r/samples?text=onerror")
    row = page.locator("tr[data-row]")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("<script>alert(1)</script>")
    expect(row).to_contain_text("{braces}")
    assert page.locator("main img").count() == 0
    page.get_by_role("link", name="<img src=x").first.click()
    expect(page.locator("#pane h2").first).to_contain_text("<script>")
    page.get_by_role("link", name="On its own page").click()
    expect(page.locator("h1")).to_contain_text("<script>")
    page = visit_list("/runs/r/samples?id=../up")
    page.get_by_role("link", name="../up/../x?y#z").click()
    expect(page.locator("#pane h2").first).to_contain_text("../up/../x?y#z")


def test_a_phone_and_chinese_in_the_dark(visit_list: Visit) -> None:
    page = visit_list("/runs/r/samples?lang=zh&theme=dark", **PHONE)
    expect(page.locator(".found")).to_contain_text("130 个样本")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_label("结果").first.select_option("passed")
    expect(page.locator(".found")).to_contain_text("116 个样本")
    page.goto(f"{page.url}&text=没有这个词")
    expect(page.locator(".empty")).to_contain_text("没有样本符合")
