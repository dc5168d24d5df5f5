"""Runs in a real browser: start one by the form, watch it, stop it, go on, find it, compare; keys, a phone, Chinese, hostile texts."""

import gzip
import json
import signal
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Route, expect

from proctor import Sample, Task, evaluate

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("browser-2"),
]
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
HOSTILE = "<img src=http://evil.example/x onerror=alert(1)><script>alert(1)</script>"
CODE = """
import asyncio, os
from proctor import Sample, Task

def count() -> Task:
    return Task(name="count", samples=[Sample.ask(str(n), str(n), target=str(n)) for n in range(40)], scorers=["exact"])

calls = 0

async def slow(question: str) -> str:
    global calls
    calls += 1
    waits = calls > 5
    while waits and not os.path.exists("go"):
        await asyncio.sleep(0.05)
    return question if question != "4" else "wrong"
"""
AXE = Path(__file__).parents[1] / "data" / "axe" / "axe-4.14.1.min.js.gz"
Web = Callable[..., Any]
Visit = Callable[..., Page]


def stored(store: Path) -> None:
    """Two runs of a task, one of another."""
    samples = [Sample.ask(str(n), f"question {n}", target="yes") for n in range(6)]

    def run(id: str, task: str, right: int) -> None:
        def agent(question: str) -> str:
            return "yes" if int(question.split()[1]) < right else f"no {HOSTILE}"

        evaluate(Task(name=task, samples=samples, scorers=["exact"]), agent=agent, store=str(store), run_id=id)

    run("one", "colours", 3)
    run("two", "colours", 5)
    run("other", f"shapes {HOSTILE}", 6)


@pytest.fixture(scope="module")
def server(web_of_module: Web, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server of those runs, for the tests that only look, and mark the first."""
    store = tmp_path_factory.mktemp("three") / "runs.db"
    stored(store)
    return web_of_module("--store", store)


def type_another(page: Page, field: str, name: str) -> None:
    """Choose what is not in a list, by its name."""
    page.get_by_label(field, exact=True).select_option(label="another one, by its name …")
    page.get_by_label(f"{field}, by its name").fill(name)
    page.get_by_label(f"{field}, by its name").press("Tab")


def test_a_run_is_started_watched_stopped_and_goes_on(
    web: Web, visit: Visit, requests: list[str], tmp_path: Path
) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "mine.py").write_text(CODE, encoding="utf-8")
    server = web("--store", "runs.db", "--agents", "agents")
    page = visit(server.link)
    expect(page.locator(".empty")).to_contain_text("No runs yet.")
    page.get_by_role("link", name="New run").click()
    page.get_by_label("Task", exact=True).select_option("agents/mine.py:count")
    type_another(page, "Agent", "openai:gpt-x")
    expect(page.get_by_text("Options of the agent")).to_be_visible()
    page.get_by_label("Agent", exact=True).select_option("agents/mine.py:slow")
    expect(page.get_by_text("Options of the agent")).to_have_count(0)
    page.get_by_label("At once").fill("10")
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Name of the run").fill("mine")
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".going b").first).to_have_text("5 of 40 trials", timeout=30_000)
    expect(page).to_have_url(f"{server.address}/runs/mine")
    expect(page.locator("#live")).to_contain_text("5 / 40")
    page.get_by_text("In the terminal", exact=True).click()
    expect(page.locator("pre.command")).to_contain_text(
        "proctor run --agent=agents/mine.py:slow --concurrency=10 --run=mine"
    )
    server.stop(signal.SIGKILL)  # the run is a process of its own
    expect(page.locator("#trouble")).to_be_visible()
    server = web("--store", "runs.db", "--agents", "agents")
    expect(page.locator("#live")).to_have_count(0)  # the next server knows nobody yet, and says so
    page.goto(server.link)
    page.goto(f"{server.address}/runs/mine")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible(timeout=30_000)
    expect(page.locator(".act .badge")).to_have_text("stopped")
    (tmp_path / "go").touch()
    page.get_by_role("button", name="Go on").click()
    expect(page.locator(".act .badge")).to_have_text("finished", timeout=30_000)
    expect(page.locator(".numbers .number").first).to_contain_text("97.5%")
    page.get_by_role("link", name="Run again …").click()
    expect(page.get_by_label("Agent", exact=True)).to_have_value("agents/mine.py:slow")
    assert [address for address in requests if not address.startswith(server.address)] == []


def test_the_options_are_those_of_what_was_chosen_last(web: Web, visit: Visit) -> None:
    page = visit(web("--store", "runs.db").link)
    page.get_by_role("link", name="New run").click()

    def hold(asked: Route) -> None:
        if "agent=" not in asked.request.url:
            page.wait_for_timeout(1500)
        asked.continue_()

    page.route("**/runs/new?*", hold)
    type_another(page, "Task", "bfcl/irrelevance")
    type_another(page, "Agent", "openai:gpt-x")
    expect(page.get_by_text("Options of the agent")).to_be_visible()
    page.wait_for_timeout(2000)
    expect(page.get_by_text("Options of the agent")).to_be_visible()


def test_tags_notes_and_baselines_are_given_found_and_taken_back(web: Web, visit: Visit, tmp_path: Path) -> None:
    stored(tmp_path / "runs.db")
    server = web("--store", "runs.db")
    page = visit(server.link)
    page.get_by_role("link", name="two", exact=True).click()
    page.get_by_text("Tag, note, baseline").click()
    page.get_by_label("Tag", exact=True).fill("nightly")
    page.get_by_label("Baseline with the name").fill("main")
    page.get_by_label("Note").fill(f"after the 修复 {HOSTILE}")
    page.locator("form.say").get_by_role("button", name="Save").click()
    expect(page.locator(".act")).to_contain_text("★ main")
    expect(page.locator(".panel .note")).to_contain_text("after the 修复 <img src=http")
    page.get_by_role("link", name="nightly").click()
    expect(page).to_have_url(f"{server.address}/runs?tag=nightly")
    expect(page.locator("table.runs tbody tr")).to_have_count(1)
    page.get_by_role("searchbox").fill("修复")
    page.get_by_role("searchbox").press("Enter")
    expect(page).to_have_url(
        f"{server.address}/runs?text={quote('修复')}&task=&agent=&state=&tag=nightly&group=&since=&until="
    )
    expect(page.locator("table.runs tbody tr")).to_have_count(1)
    page.get_by_role("link", name="two", exact=True).click()
    page.get_by_role("button", name="Remove the tag nightly").click()
    expect(page.locator(".act")).not_to_contain_text("nightly")
    page.get_by_role("button", name="Delete …").click()
    dialog = page.get_by_role("dialog", name="Delete …")
    expect(dialog).to_contain_text("Delete two with all its 6 trials")
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Delete …").click()
    dialog.get_by_role("button", name="Delete …").click()
    expect(page.locator(".note.good")).to_have_text("Deleted two.")
    expect(page.locator("table.runs tbody tr")).to_have_count(2)


def test_the_list_is_filtered_walked_by_keys_and_two_runs_are_compared(
    server: Any, session: Any, visit: Visit, requests: list[str]
) -> None:
    page = visit(f"{server.address}/runs", storage_state=session)
    expect(page.locator("table.runs tbody tr")).to_have_count(3)
    expect(page.locator("table.runs")).to_contain_text("shapes <img src=http")
    page.locator("select[name=task]").select_option("colours")
    expect(page.locator("table.runs tbody tr")).to_have_count(2)
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="two", exact=True)).to_be_focused()
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="one", exact=True)).to_be_focused()
    compare = page.get_by_role("button", name="Compare")
    expect(compare).to_be_disabled()
    page.get_by_label("Choose one").check()
    page.get_by_label("Choose two").check()
    compare.click()
    expect(page).to_have_url(f"{server.address}/compare?run=one&run=two")
    assert all(address.startswith(server.address) for address in requests)


def test_twenty_two_runs_are_on_a_screen_and_are_chosen_ordered_and_grouped_by_keys_and_clicks(
    web: Web, visit: Visit, tmp_path: Path
) -> None:
    samples = [Sample.ask(str(n), f"question {n}", target="yes") for n in range(4)]
    for number in range(26):
        task = Task(name=f"task-{number % 2}", samples=samples, scorers=["exact"])
        evaluate(
            task, agent=lambda _: "yes", store=str(tmp_path / "runs.db"), run_id=f"run-{number:02}", seed=number % 3
        )
    server = web("--store", "runs.db")
    page = visit(server.link, viewport={"width": 1440, "height": 900})
    rows = page.locator("table.runs tbody tr[data-row]")
    expect(rows).to_have_count(26)
    expect(page.locator("table.runs")).not_to_contain_text("computing")
    whole = page.evaluate(
        "[...document.querySelectorAll('tr[data-row]')].filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length"
    )
    assert whole >= 22
    expect(rows.first.locator(".changed")).to_contain_text("seed")
    expect(rows.first.locator("svg.spark")).to_have_count(1)
    for key in "jxjxc":
        page.keyboard.press(key)
    expect(page).to_have_url(f"{server.address}/compare?run=run-24&run=run-25")
    page.go_back()
    page.get_by_role("link", name="Run", exact=True).click()
    expect(page.locator("th[aria-sort=ascending]")).to_have_text("Run")
    expect(rows.first).to_contain_text("run-00")
    page.locator("select[name=group]").select_option("task")
    expect(page.locator("tr.section")).to_have_text(["task-0", "task-1"])
    page.get_by_text("Columns", exact=True).click()
    page.get_by_role("checkbox", name="History").click()
    expect(page.locator("svg.spark")).to_have_count(0)
    page.goto(f"{server.address}/runs")
    expect(rows).to_have_count(26)
    expect(page.locator("svg.spark")).to_have_count(0)


@pytest.mark.parametrize("how", [{}, {"color_scheme": "dark"}, PHONE], ids=["wide", "dark", "phone"])
def test_the_pages_are_readable_by_everybody(server: Any, session: Any, visit: Visit, how: dict[str, Any]) -> None:
    page = visit(server.address, **how, storage_state=session, locale="zh-CN")
    asked = urllib.request.Request(
        f"{server.address}/api/v1/runs/one/notes",
        data=json.dumps({"add_tags": ["夜间"], "note": f"x {HOSTILE}", "add_baseline": "main"}).encode(),
        headers={"authorization": f"Bearer {server.token}", "content-type": "application/json"},
    )
    urllib.request.urlopen(asked).close()
    for path in ("/runs?lang=zh", "/runs/one", "/runs/new?task=bfcl&agent=openai:x", "/runs?text=nothing"):
        page.goto(server.address + path)
        for one in page.locator("#options summary, .saying summary, .filters summary").all():
            one.click()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        page.evaluate(gzip.decompress(AXE.read_bytes()).decode())
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert [(path, one["id"], [node["html"][:120] for node in one["nodes"]]) for one in serious] == []
    page.goto(f"{server.address}/runs?columns=state")
    expect(page.get_by_role("link", name="新建运行")).to_be_visible()
    expect(page.locator("table.runs")).to_contain_text("已完成")


def test_a_store_that_breaks_while_the_server_runs_is_named(web: Web, visit: Visit, tmp_path: Path) -> None:
    stored(tmp_path / "runs.db")
    (tmp_path / "bad.db").write_text("no store")
    server = web("--store", "runs.db", "--store", "bad.db")
    page = visit(server.link)
    expect(page.locator(".wrong")).to_contain_text("The store bad cannot be read")
    expect(page.locator("table.runs tbody tr")).to_have_count(3)
    asked = urllib.request.Request(f"{server.address}/api/v1/runs", headers={"authorization": f"Bearer {server.token}"})
    with urllib.request.urlopen(asked) as answer:
        assert [row["id"] for row in json.load(answer)["rows"]] == ["other", "two", "one"]
