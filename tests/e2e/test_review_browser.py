"""`proctor judge review` in a real browser: score, comment, keys, two at once, reload, hostile items, a phone, Chinese."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import review_data
from playwright.sync_api import Page, expect

from proctor_judging.review import labels

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


class Server:
    """A running `proctor judge review`."""

    def __init__(self, data: Path, *words: str) -> None:
        command = [sys.executable, "-m", "proctor", "judge", "review", str(data), "--json", "--no-open", *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.stderr and self.process.stderr.read()
        told = json.loads(line)
        self.address: str = told["address"]
        self.file = Path(told["file"])
        self.link = {one["name"]: one["link"] for one in told["people"]}

    def stop(self, how: signal.Signals = signal.SIGINT) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.communicate(timeout=60)
        return self.process.returncode


Start = Callable[..., Server]
Open = Callable[..., Page]


@pytest.fixture
def start() -> Iterator[Start]:
    running: list[Server] = []

    def begin(data: Path, *words: str) -> Server:
        running.append(Server(data, "--port", "17860", *words))
        return running[-1]

    yield begin
    for server in running:
        server.stop()


def press(page: Page, keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_scores_and_a_comment_by_mouse_are_saved(start: Start, visit: Open, tmp_path: Path) -> None:
    server = start(review_data.write(tmp_path))
    page = visit(server.link[""])
    assert page.url == f"{server.address}/items/1"
    for name, score in review_data.SCORES.items():
        page.get_by_label(name.replace("_", " ").capitalize()).fill(str(score))
    page.locator("label.needs_revision").click()
    page.get_by_label("Comments").fill("Say what $m$ is: <b>\n下一行")
    page.get_by_role("button", name="Save and next").click()
    expect(page.locator(".where code")).to_have_text("gen_aime_2")
    [kept] = labels.read(server.file)
    assert (kept.item, kept.scores, kept.status) == ("gen_aime_1", review_data.SCORES, "needs_revision")
    assert kept.comments == "Say what $m$ is: <b>\n下一行"


def test_the_whole_review_by_keys(start: Start, visit: Open, tmp_path: Path) -> None:
    server = start(review_data.write(tmp_path))
    page = visit(server.link[""])
    press(page, "5445as")
    expect(page.locator(".where code")).to_have_text("gen_aime_2")
    press(page, "1")
    press(page, "0")  # takes the score of the slider with the focus, which is the second one: it has none
    press(page, "111r")
    page.keyboard.press("c")
    page.keyboard.type("as 1 j k ? u")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".where code")).to_have_text("gen_aime_3")
    press(page, "k")
    expect(page.locator(".where code")).to_have_text("gen_aime_2")
    press(page, "j")
    expect(page.locator(".where code")).to_have_text("gen_aime_3")
    press(page, "?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    press(page, "u")
    expect(page.locator(".where code")).to_have_text("gen_aime_2")
    expect(page.get_by_text("The last label was taken back")).to_be_visible()
    press(page, "3333vs")
    expect(page.locator(".where code")).to_have_text("gen_aime_3")
    press(page, "5555as")
    expect(page.get_by_text("Everything is reviewed.")).to_be_visible()
    assert [(one.status, one.comments) for one in labels.read(server.file)] == [
        ("approved", ""),
        ("needs_revision", ""),
        ("approved", ""),
    ]


def test_two_reviewers_at_once_are_blind_and_both_kept(start: Start, visit: Open, tmp_path: Path) -> None:
    server = start(review_data.write(tmp_path), "--reviewer", "ann", "--reviewer", "bob", "--adjudicator", "zoe")
    ann, bob = visit(server.link["ann"]), visit(server.link["bob"])
    press(ann, "5555a")
    press(bob, "1111r")
    press(ann, "s")
    press(bob, "s")
    for page in (ann, bob):
        expect(page.locator(".where code")).to_have_text("gen_aime_2")
    bob.goto(f"{server.address}/items/1")
    assert bob.get_by_label("Clarity").input_value() == "1"
    assert "ann" not in bob.content()
    zoe = visit(server.link["zoe"])
    zoe.get_by_role("link", name="gen_aime_1").click()
    expect(zoe.get_by_role("button", name="Decide")).to_be_visible()
    press(zoe, "2222vs")
    expect(zoe.get_by_text("There is no open conflict.")).to_be_visible()
    assert {(one.reviewer, one.status) for one in labels.read(server.file)} == {
        ("ann", "approved"),
        ("bob", "rejected"),
    }
    assert [one.status for one in labels.verdicts(server.file)] == ["needs_revision"]


def test_after_a_reload_everything_is_there_saved_or_not(start: Start, visit: Open, tmp_path: Path) -> None:
    server = start(review_data.write(tmp_path))
    page = visit(server.link[""])
    press(page, "543")
    page.keyboard.press("c")
    page.keyboard.type("half done")
    page.reload()
    assert page.get_by_label("Difficulty match").input_value() == "3"
    assert page.get_by_label("Comments").input_value() == "half done"
    expect(page.get_by_text("Not saved yet.")).to_be_visible()
    press(page, "2as")
    expect(page.locator(".where code")).to_have_text("gen_aime_2")
    page.goto(f"{server.address}/items/1")
    page.reload()
    assert page.get_by_label("Completeness").input_value() == "2"
    expect(page.get_by_text("Not saved yet.")).to_be_hidden()


def test_a_server_that_is_killed_loses_no_saved_label_and_the_page_says_so(
    start: Start, visit: Open, tmp_path: Path
) -> None:
    data = review_data.write(tmp_path)
    server = start(data)
    page = visit(server.link[""])
    press(page, "5445as")
    expect(page.locator(".where code")).to_have_text("gen_aime_2")
    server.stop(signal.SIGKILL)
    press(page, "1111rs")
    expect(page.get_by_text("Not saved: the server did not answer.")).to_be_visible()
    assert page.get_by_label("Clarity").input_value() == "1"
    assert [one.item for one in labels.read(server.file)] == ["gen_aime_1"]
    again = start(data)
    assert visit(again.link[""]).url == f"{again.address}/items/2"


def test_a_hostile_item_is_harmless_and_nothing_is_asked_of_outside(
    start: Start, visit: Open, requests: list[str], tmp_path: Path
) -> None:
    hostile = dict.fromkeys(("problem", "answer", "solution", "topic", "other"), review_data.HOSTILE)
    server = start(review_data.write(tmp_path, 1, {"id": "<img src=x onerror=alert(1)>", **hostile}))
    page = visit(server.link[""])
    press(page, "5445as")
    expect(page.locator(".where b")).to_have_text("2")
    page.get_by_text("Other columns").click()
    page.get_by_text("Source text").click()
    article = page.locator("article")
    expect(article.get_by_text("javascript:document.title", exact=False).first).to_be_visible()
    for tag in ("img", "script", "iframe", "svg", "a", "style", "object", "form"):
        assert article.locator(tag).count() == 0, tag
    for path in ("/items", "/items/2", "/statistics"):
        page.goto(server.address + path)
        page.wait_for_load_state("networkidle")
        assert "owned" not in page.title()
    assert {address.partition("/static/")[0].rstrip("/") for address in requests if "/static/" in address} == {
        server.address
    }
    assert all(address.startswith(server.address + "/") for address in requests), requests
    assert len(requests) > 10


def test_the_content_policy_stops_what_would_slip_through(
    start: Start, visit: Open, requests: list[str], tmp_path: Path
) -> None:
    server = start(review_data.write(tmp_path))
    page = visit(server.link[""])
    page.evaluate(
        """() => { const place = document.querySelector("article");
        place.innerHTML = '<img src="https://evil.example/x.png" onerror="document.title=1"><iframe src="https://evil.example/"></iframe>';
        const script = document.createElement("script"); script.textContent = "document.title = 'owned'"; place.append(script); }"""
    )
    page.wait_for_timeout(300)
    assert page.title() == "aime_generated.json · Proctor"
    assert page.evaluate("fetch('https://evil.example/').then(() => 'sent', () => 'stopped')") == "stopped"


def test_it_works_on_a_phone(start: Start, visit: Open, tmp_path: Path) -> None:
    wide = "$$" + " + ".join(f"\\frac{{a_{{{n}}}}}{{b}}" for n in range(40)) + "$$" + "x" * 200
    server = start(review_data.write(tmp_path, 1, {"id": "wide", "problem": wide, "answer": 1, "solution": wide}))
    page = visit(server.link[""], **PHONE)
    for number in (1, 2):
        page.goto(f"{server.address}/items/{number}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for control in page.locator("aside input[type=range], aside .status label, aside button, .filter select").all():
        box = control.bounding_box()
        assert box is not None
        assert box["height"] >= 43, control.inner_text()
    for slider in page.locator("input[type=range]").all():
        box = slider.bounding_box()
        assert box is not None
        slider.tap(position={"x": box["width"] - 10, "y": box["height"] / 2})
    page.locator("label.approved").tap()
    page.get_by_role("button", name="Save and next").tap()
    expect(page.locator(".where code")).to_have_text("gen_aime_1")
    assert labels.read(server.file)[0].scores == dict.fromkeys(review_data.SCORES, 5)


def test_it_speaks_chinese(start: Start, visit: Open, tmp_path: Path) -> None:
    server = start(
        review_data.write(tmp_path, 1, {"id": "zh", "problem": "已知 $x=1$，求 $x^2$。", "answer": 1, "solution": "略"})
    )
    page = visit(server.link[""])
    page.get_by_role("link", name="中文").click()
    expect(page.get_by_role("button", name="保存并继续")).to_be_visible()
    page.wait_for_load_state()
    press(page, "s")
    expect(page.get_by_text("未保存。请为以下维度评分：正确性")).to_be_visible()
    press(page, "5555as")
    expect(page.locator("article h2").first).to_have_text("题目")
    expect(page.locator("article math").first).to_be_visible()
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    page.get_by_role("link", name="English").click()
    expect(page.get_by_role("button", name="Save and next")).to_be_visible()


def test_it_works_without_scripts(start: Start, visit: Open, tmp_path: Path) -> None:
    server = start(review_data.write(tmp_path))
    page = visit(server.link[""], java_script_enabled=False)
    for slider in page.locator("input[type=range]").all():
        slider.focus()
        page.keyboard.press("End")
    page.locator("label.approved").click()
    page.get_by_role("button", name="Save and next").click()
    assert labels.read(server.file)[0].scores == dict.fromkeys(review_data.SCORES, 5)


def test_a_port_that_is_taken_is_left_to_its_owner(start: Start, visit: Open, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        data = review_data.write(tmp_path)
        first, second = start(data, "--port", str(port)), start(data, "--port", str(port))
        ports = {int(server.address.rpartition(":")[2]) for server in (first, second)}
        assert len(ports | {port}) == 3
        for server in (first, second):
            assert visit(server.link[""]).url == f"{server.address}/items/1"


def test_two_servers_on_one_file_see_and_keep_what_the_other_saved(start: Start, visit: Open, tmp_path: Path) -> None:
    data = review_data.write(tmp_path)
    ann, bob = start(data, "--reviewer", "ann"), start(data, "--reviewer", "bob")
    for server, keys in ((ann, "5555as"), (bob, "1111rs")):
        page = visit(next(iter(server.link.values())))
        press(page, keys)
        expect(page.locator(".where code")).to_have_text("gen_aime_2")
    assert [(one.reviewer, one.status) for one in labels.read(ann.file)] == [("ann", "approved"), ("bob", "rejected")]


def test_ctrl_c_ends_it_well(start: Start, visit: Open, tmp_path: Path) -> None:
    server = start(review_data.write(tmp_path))
    visit(server.link[""])
    assert server.stop(signal.SIGINT) == 0
