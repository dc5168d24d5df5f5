"""Eval sets in a real browser: edit by keyboard, rows, two people, run and accept, a phone, Chinese, dark; nothing from outside."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from eval_sets import FILE, put_shop, run_shop
from playwright.sync_api import Page, expect
from web_site import AppSite

from proctor_adapters.evalsets.read import read
from proctor_web.serving import listen, make_server
from proctor_web.users.ledger import Person

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser-2")]
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
AGENT = """
import time


def answer(question: str) -> str:
    time.sleep(2)  # so that a page is brought while the run is under way
    return "Hi there! How can I help you?" if question == "Hello!" else "好的，请提供订单号。"
"""
Visit = Callable[..., Page]


class Served(AppSite):
    """The app on a port of this machine, in a thread."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        put_shop(self.evalsets)
        (self.agents / "shop.py").write_text(AGENT)
        self._socket = listen(17_900)
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._server = make_server(self.app)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=60)
        self.workspace.close()

    def case(self, case_id: str) -> Any:
        return next(case for case in read(self.evalsets / FILE).eval_set.eval_cases if case.eval_id == case_id)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Served]:
    served = Served(tmp_path)
    yield served
    served.stop()


@pytest.fixture
def open_as(site: Served, visit: Callable[..., Page], requests: list[str]) -> Iterator[Visit]:
    """Open an address as a person; in the end nothing was asked of others."""

    def open_page(path: str, name: str = "Ann", **how: Any) -> Page:
        page = visit(f"{site.address}{site.access.link(Person(name=name))}", **how)
        page.goto(f"{site.address}{path}")
        return page

    yield open_page
    assert all(url.startswith(site.address) for url in requests), requests


def case_path(case: str) -> str:
    return f"/evalsets/case?file={FILE}&case={quote(case)}"


def test_a_case_is_found_opened_changed_and_saved_by_keys(site: Served, open_as: Visit) -> None:
    page = open_as("/evalsets")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/evalsets/set?*")
    page.keyboard.press("/")
    page.keyboard.type("Hello")
    page.keyboard.press("Enter")
    expect(page.locator("tr[data-row]")).to_have_count(1)
    page.keyboard.press("Escape")
    page.locator("tr[data-row] a").first.focus()
    page.keyboard.press("Enter")
    answer = page.get_by_label("Expected response")
    answer.focus()
    page.keyboard.press("End")
    page.keyboard.type(" 你好")
    expect(page.locator(".changed-here")).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    assert site.case("greeting").conversation[0].final_response.parts[0].text == "Hello! How can I help you? 你好"
    assert page.url.endswith("case=greeting&done=saved")


def test_rows_come_and_go_where_the_user_is_and_leaving_asks(site: Served, open_as: Visit) -> None:
    page = open_as(case_path("price-question"))
    second = page.get_by_role("button", name="Add a call to turn 2")
    second.scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    second.click()
    expect(page.get_by_label("Tool")).to_have_count(3)
    assert abs(page.evaluate("scrollY") - before) < 200
    expect(page.locator('[name="turns.1.calls.1.name"]')).to_be_focused()
    page.keyboard.type("greet")
    page.locator('[name="turns.1.calls.1.arguments"]').fill('{"name": }')
    page.get_by_role("link", name="Runs").click()
    asked = page.get_by_role("dialog", name="Leave this case?")
    expect(asked).to_be_visible()
    asked.get_by_role("button", name="Stay").click()
    page.get_by_role("button", name="Save").click()
    wrong = page.locator('[name="turns.1.calls.1.arguments"]')
    expect(wrong).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("This is no JSON: line 1, column 10")).to_be_visible()
    wrong.fill('{"name": "Li"}')
    page.get_by_role("button", name="Move turn 2 up").click()
    expect(page.locator('[name="turns.0.calls.1.name"]')).to_have_value("greet")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    first = site.case("price-question").conversation[0]
    assert [(call.name, call.args) for call in first.intermediate_data.calls()] == [
        ("lookup_price", {"model": "A", "count": 2}),
        ("greet", {"name": "Li"}),
    ]


def test_the_second_of_two_sees_both_versions_and_chooses(site: Served, open_as: Visit) -> None:
    ann, bo = open_as(case_path("greeting"), "Ann"), open_as(case_path("greeting"), "Bo")
    for page, text in ((ann, "Hello from Ann"), (bo, "Hello from Bo")):
        page.get_by_label("Expected response").fill(text)
        page.get_by_role("button", name="Save").click()
    expect(bo.get_by_role("heading", name="Changed by someone else")).to_be_visible()
    expect(bo.locator("del")).to_have_text(["Ann"])
    expect(bo.locator("ins")).to_have_text(["Bo"])
    assert site.case("greeting").conversation[0].final_response.parts[0].text == "Hello from Ann"
    bo.get_by_role("button", name="Go on editing mine").click()
    expect(bo.get_by_label("Expected response")).to_have_value("Hello from Bo")
    bo.get_by_role("button", name="Save").click()
    expect(bo.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    bo.get_by_role("link", name=FILE).click()
    bo.get_by_role("button", name="Undo").click()
    expect(bo.get_by_text("greeting changed · Ann")).to_be_visible()
    assert site.case("greeting").conversation[0].final_response.parts[0].text == "Hello from Ann"


def test_selected_cases_are_run_their_results_come_in_and_one_is_accepted(site: Served, open_as: Visit) -> None:
    page = open_as(f"/evalsets/set?file={FILE}")
    for case in ("退货", "greeting"):
        page.get_by_role("checkbox", name=case).check()
    page.get_by_role("combobox", name="Agent").select_option(f"{site.agents / 'shop.py'}:answer")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("results come in below")).to_be_visible()
    page.get_by_role("checkbox", name="haggle").check()
    failed = page.locator("td.case-result").get_by_text("failed")
    expect(failed).to_have_count(2, timeout=60_000)
    expect(page.get_by_text("results come in below")).to_have_count(0, timeout=30_000)
    expect(page.get_by_role("checkbox", name="haggle")).to_be_checked()
    page.get_by_role("link", name="greeting", exact=True).click()
    expect(page.locator(".actual mark").first).to_have_text("Hi there")
    page.get_by_role("button", name="the response", exact=True).click()
    expect(page.get_by_label("Expected response")).to_have_value("Hi there! How can I help you?")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    page.get_by_role("link", name=FILE).click()
    page.get_by_role("checkbox", name="greeting").check()
    expect(page.get_by_role("combobox", name="Agent", exact=True)).to_have_value(f"{site.agents / 'shop.py'}:answer")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("td.case-result").get_by_text("passed")).to_have_count(1, timeout=60_000)


def test_a_case_is_run_as_it_is_edited_and_the_difference_is_shown(site: Served, open_as: Visit) -> None:
    page = open_as(f"/evalsets/case?file={FILE}&case=greeting")
    page.get_by_label("Expected response").fill("Hello there!")
    page.get_by_role("combobox", name="Agent", exact=True).select_option(f"{site.agents / 'shop.py'}:answer")
    page.get_by_role("button", name="Run this case").click()
    page.get_by_role("link", name="Show what differs").click(timeout=60_000)
    expect(page.locator(".case-runs li").first).to_contain_text("failed")
    expect(page.locator(".actual mark").first).to_be_visible()
    assert site.case("greeting").conversation[0].final_response.parts[0].text == "Hello there!"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_pages_fit_a_phone_and_a_dark_room_in_both_languages(site: Served, open_as: Visit, lang: str) -> None:
    run_shop(site)
    hostile = {
        "eval_id": "x" * 150,
        "conversation": [{"user_content": {"parts": [{"text": "<img src=http://evil.example/x>" + "长" * 300}]}}],
    }
    path = site.evalsets / FILE
    value = json.loads(path.read_text())
    value["eval_cases"].append(hostile)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2))
    page = open_as(f"/evalsets?lang={lang}", color_scheme="dark", **PHONE)
    for address in (
        "/evalsets", f"/evalsets/set?file={FILE}", case_path("price-question"), case_path("退货"), case_path("haggle"), case_path("x" * 150),
        f"/evalsets/criteria?file={FILE}",
    ):  # fmt: skip
        page.goto(f"{site.address}{address}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, address
        assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(20, 22, 26)"
        small = page.eval_on_selector_all(
            "#content :is(button, select, input:not([type=hidden], [type=checkbox]))",
            "all => all.filter(one => one.offsetHeight && one.offsetHeight < 32).map(one => one.outerHTML)",
        )
        assert not small, address
