"""Comparing runs in a real browser: choose, compare, open samples by keys, rank, follow over time; a phone, Chinese, dark."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from headless import CHROMIUM
from playwright.sync_api import Page, expect

from proctor import Sample, Task, evaluate
from proctor.stores import open_store
from proctor_ci.baselines import set_baseline

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: chromium"),
    pytest.mark.xdist_group("browser"),
]
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
HOSTILE = "<img src=x onerror=alert(1)><script>alert(1)</script>"
Visit = Callable[..., Page]


def fill(store: Path) -> None:
    """Three agents, and a bot whose last two runs are worse."""
    samples = [
        Sample.ask(f"case_{n:02}", f"问题 {n} {HOSTILE}", target="the answer is yes", tags={"half": "ab"[n % 2]})
        for n in range(40)
    ]

    def run(id: str, name: str, right: set[int]) -> None:
        def agent(question: str) -> str:
            return "the answer is yes" if int(question.split()[1]) in right else f"the answer was 不对 {HOSTILE}"

        agent.name = name  # type: ignore[attr-defined]
        evaluate(Task(name="t", samples=samples, scorers=["exact"]), agent=agent, store=str(store), run_id=id)

    run("old", "small", set(range(20)))
    run("new", "large", set(range(33)) - {0, 1})
    for number, count in enumerate((30, 31, 30, 12, 11)):
        run(f"night-{number}", "bot", set(range(count)))
    opened = open_store(str(store))
    set_baseline(opened, "release", "night-1")
    opened.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, web_of_module: Callable[..., Any]) -> Any:
    store = tmp_path_factory.mktemp("web") / "runs.db"
    fill(store)
    return web_of_module("--store", store)


def test_two_runs_are_chosen_and_their_samples_read_by_keys(visit_path: Visit) -> None:
    page = visit_path("/compare")
    page.get_by_label("new", exact=True).check()
    page.get_by_label("old", exact=True).check()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("the second is better")
    expect(page.locator(".compared li").first).to_contain_text("old")
    page.get_by_role("link", name="Broken 2").click()
    expect(page.locator("tr[data-row]")).to_have_count(2)
    page.get_by_role("link", name="case_00").click()
    expect(page.locator(".answers section").nth(0).locator("del")).to_have_text(["is yes"])
    expect(page.locator(".answers section").nth(1).locator("ins").first).to_contain_text("was 不对")
    assert (
        page.locator(".answers ins").first.evaluate("one => getComputedStyle(one).backgroundColor")
        != "rgba(0, 0, 0, 0)"
    )
    page.keyboard.press("j")
    expect(page.get_by_role("heading", level=1)).to_have_text("case_01")
    page.keyboard.press("k")
    expect(page.get_by_role("heading", level=1)).to_have_text("case_00")
    page.go_back()
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("case_00")


def test_a_margin_decides_and_a_third_run_is_added(visit_path: Visit) -> None:
    page = visit_path("/compare?run=old&run=new")
    page.get_by_label("May be worse by, points").fill("5")
    page.get_by_role("button", name="Decide").click()
    expect(page.locator(".gate")).to_contain_text("met: B is not worse by more than 5 points.")
    page.get_by_label("Add a run").select_option("night-4")
    expect(page.get_by_role("heading", level=1)).to_have_text("2 runs compared with old")
    expect(page.locator(".differences tbody tr")).to_have_count(4)  # each two runs, and the axis
    better = page.locator(".apart td.up")
    expect(better.first).to_contain_text("▲ +")
    lead = page.locator(".lead")
    expect(lead).to_contain_text("B is better than A; A is better than C; B is better than C")
    page.get_by_role("link", name="only with A").last.click()
    expect(page.locator(".compared li")).to_have_count(2)


def test_the_leaderboard_leads_to_a_comparison(visit_path: Visit) -> None:
    page = visit_path("/leaderboard")
    expect(page.locator("tbody tr")).to_have_count(3)
    expect(page.locator("tbody tr").first).to_contain_text("large")
    page.get_by_label("Compare new").check()
    page.get_by_label("Compare night-4").check()
    page.get_by_role("button", name="Compare the chosen ones").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("the second is worse")


def test_a_trend_shows_the_fall_from_the_baseline(visit_path: Visit) -> None:
    page = visit_path("/trends?agent=bot")
    page.get_by_label("Baseline").select_option("release")
    expect(page.locator("circle.worse")).to_have_count(2)
    expect(page.get_by_role("status")).to_contain_text("night-4 is worse than night-1")
    expect(page.locator("line.baseline")).to_have_count(1)
    page.locator("tbody tr").first.get_by_role("link").nth(1).click()
    expect(page.locator(".compared li").first).to_contain_text("night-1")


def test_a_gate_shows_its_decision_and_a_comment_to_paste(visit_path: Visit) -> None:
    clipboard = ["clipboard-read", "clipboard-write"]
    page = visit_path("/gate?run=night-4&against=night-0", permissions=clipboard)
    expect(page.locator(".decided.bad")).to_contain_text("NO-GO")
    limit = page.locator(".rules svg .at").bounding_box()
    value = page.locator(".rules svg circle").bounding_box()
    assert limit
    assert value
    assert value["x"] < limit["x"]  # worse than the limit: left of it
    page.get_by_role("button", name="Copy the comment").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    comment = page.evaluate("navigator.clipboard.readText()")
    assert comment.startswith("# NO-GO: night-4")
    assert f"[May it ship?]({page.url})" in comment


@pytest.mark.parametrize(
    "path",
    [
        "/compare",
        "/compare?run=old&run=new&run=night-4&run=night-0",
        "/compare/sample?run=old&run=new&run=night-4&sample=case_00",
        "/gate?run=night-4&against=night-0",
        "/leaderboard",
        "/trends?agent=bot&baseline=release",
    ],
)
def test_pages_fit_a_phone_in_chinese_and_dark(visit_path: Visit, path: str) -> None:
    page = visit_path(f"{path}{'&' if '?' in path else '?'}lang=zh", color_scheme="dark", **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    assert page.locator("script:not([src])").count() == 0
