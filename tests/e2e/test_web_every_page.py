"""The demo in a real browser: every page that links lead to, accessible, within its width, with nothing from outside, in both
languages and colours; by keys alone; and a review by two people.

With --rewrite-golden the pictures in `docs/images` are taken again.
"""

import gzip
import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from proctor_web.client import Client, Unanswered
from proctor_web.runs.listing import list_runs
from proctor_web.runs.ordering import RunFilter
from proctor_web.samples.listing import SampleFilter, list_samples

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser-2")]
IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
PICTURES = {
    "runs": "/runs",
    "run": "/runs/bfcl-greedy",
    "sample": "/runs/teahouse-first/samples/too_many",
    "compare": "/compare?run=bfcl-greedy&run=bfcl-warm",
    "case": "/evalsets/case?file=teahouse.evalset.json&case=order_two",
}
AXE = Path(__file__).parents[1] / "data" / "axe" / "axe-4.14.1.min.js.gz"
STARTS = ["/runs", "/runs/new", "/compare", "/leaderboard", "/trends", "/evalsets", "/chat", "/review", "/nowhere"]
SHOWN = ("h1", "header nav a[aria-current=page]")
MOST_PAGES = 60
MOST_BYTES = 150_000  # of the first page, with all it loads
BROKEN_RULES = """() => axe.run(document, {resultTypes: ["violations"]}).then((found) => found.violations
    .filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => `${one.id} (${one.nodes.length}): ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(" | ")}`))"""

FOCUS = """() => {
    const one = document.activeElement, box = one.getBoundingClientRect();
    if (one === document.body) return null;
    const at = document.elementFromPoint(box.left + Math.min(box.width, 20) / 2, box.top + box.height / 2);
    const seen = at && (one.contains(at) || at.contains(one) || [...(one.labels ?? [])].some((label) => label.contains(at)));
    return { seen: Boolean(seen), outline: getComputedStyle(one).outlineStyle, what: one.outerHTML.slice(0, 120) };
}"""

Start = Callable[..., Any]
Open = Callable[..., Page]


class Look(NamedTuple):
    """How a user looks at the pages."""

    lang: str
    scheme: str
    width: int
    is_mobile: bool = False


def shape(address: str) -> str:
    """Return what addresses of one kind of page have in common."""
    path = re.sub(r"^/runs/(?!new)[^/?]+", "/runs/RUN", urlsplit(address).path)
    path = re.sub(r"/samples/.+", "/samples/SAMPLE", path)
    names = sorted(
        {pair.partition("=")[0] for pair in urlsplit(address).query.split("&")} - {"order", "after", "attempt"}
    )
    return f"{path}?{','.join(names)}"


def links(page: Page) -> list[str]:
    here = urlsplit(page.url).path
    found = [html.unescape(one) for one in re.findall(r'<a\b[^>]*\bhref="([^"#]+)', page.content())]
    return [here + one if one.startswith("?") else one for one in found]


@pytest.fixture(scope="module")
def server(web_of_module: Start) -> Any:
    """The demo, for the tests that change nothing in it."""
    return web_of_module("--demo")


@pytest.mark.parametrize("look", [Look("en", "light", 1280), Look("zh", "dark", 360, is_mobile=True)], ids=str)
def test_every_page_is_accessible_and_within_its_width(
    look: Look, server: Any, session: Any, visit: Open, requests: list[str], pytestconfig: pytest.Config
) -> None:
    """In the usual run each look has every other page checked for accessibility, which takes most of the time."""
    axe = gzip.decompress(AXE.read_bytes()).decode()
    device = {
        "viewport": {"width": look.width, "height": 900},
        "is_mobile": look.is_mobile,
        "has_touch": look.is_mobile,
    }
    how = {"color_scheme": look.scheme, "bypass_csp": True, **device}  # for axe
    page = visit(f"{server.address}/runs?lang={look.lang}", storage_state=session, **how)
    waiting, seen, faults, count = [*STARTS], set[str](), list[str](), 0
    while waiting and count < MOST_PAGES:
        address = waiting.pop(0)
        if shape(address) in seen or re.search(
            r"[?&](lang|theme)=|/save\?|/file\?|/report\.|/static/|/attachments?/", address
        ):
            continue
        seen.add(shape(address))
        answer = page.goto(server.address + address)
        assert answer is not None
        if "text/html" not in answer.headers.get("content-type", ""):
            continue
        count += 1
        if pytestconfig.getoption("--torture") or count % 2 == (look.lang == "zh"):
            page.evaluate(axe)
            faults += [f"{address}: {fault}" for fault in page.evaluate(BROKEN_RULES)]
        wide = page.evaluate("document.documentElement.scrollWidth")
        faults += [f"{address}: {wide} pixels wide"] if wide > look.width else []
        is_there = address != "/nowhere"
        faults += [f"{address}: status {answer.status}"] if answer.status >= 400 and is_there else []
        faults += [f"{address}: no {one}" for one in SHOWN if is_there and not page.locator(one).first.is_visible()]
        assert page.locator("html").get_attribute("lang") == {"en": "en", "zh": "zh-CN"}[look.lang]
        waiting += [one for one in links(page) if one.startswith("/")]
    assert not faults, f"{len(faults)} on {count} pages:\n" + "\n".join(faults)
    assert count > 8
    assert all(one.startswith((server.address, "data:image/svg")) for one in requests), requests


def test_what_has_the_focus_is_in_sight(server: Any, session: Any, visit: Open) -> None:
    """Every stop of the keyboard has an outline, and nothing that stays on the screen covers it."""
    page = visit(server.address, viewport={"width": 1280, "height": 800}, storage_state=session)
    for address in (
        "/runs",
        "/runs/bfcl-warm/audit",
        "/runs/bfcl-warm/findings",
        "/evalsets/case?file=teahouse.evalset.json&case=order_two",
    ):
        page.goto(server.address + address, wait_until="networkidle")
        stops = 0
        for _ in range(120):
            page.keyboard.press("Tab")
            focus = page.evaluate(FOCUS)
            if focus is None:
                break
            stops += 1
            assert focus["seen"], f"{address}: {focus['what']}"
            assert focus["outline"] != "none", f"{address}: {focus['what']}"
        assert stops > 8, address


def test_the_first_page_is_light(server: Any, session: Any, chromium: Browser) -> None:
    context = chromium.new_context(storage_state=session)
    page = context.new_page()
    sizes: list[int] = []
    page.on("response", lambda answer: sizes.append(len(answer.body())))
    page.goto(f"{server.address}/runs", wait_until="load")
    page.wait_for_load_state("networkidle")
    assert sum(sizes) < MOST_BYTES, sizes
    context.close()


def test_the_language_and_the_colours_are_switched_and_remembered(server: Any, session: Any, visit: Open) -> None:
    page = visit(f"{server.address}/runs?task=shop", storage_state=session, color_scheme="light")
    page.get_by_role("link", name="中文").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("^运行"))
    assert "task=shop" in page.url
    page.goto(f"{server.address}/evalsets")
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    light = page.evaluate("getComputedStyle(document.body.parentElement).backgroundColor")
    page.locator("a.theme").click()
    page.wait_for_url("**theme=dark")
    dark = page.evaluate("getComputedStyle(document.body.parentElement).backgroundColor")
    assert dark != light
    page.goto(f"{server.address}/runs")
    assert page.evaluate("getComputedStyle(document.body.parentElement).backgroundColor") == dark
    page.locator("a.theme").click()
    page.wait_for_url("**theme=light")
    assert page.evaluate("getComputedStyle(document.body.parentElement).backgroundColor") == light


def test_from_the_list_of_runs_to_a_sample_by_keys_alone(server: Any, session: Any, visit: Open) -> None:
    page = visit(f"{server.address}/runs", storage_state=session)
    expect(page.locator("[data-row]").first).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("shop")
    page.keyboard.press("Enter")
    page.wait_for_url("**text=shop**")
    page.locator("body").click(position={"x": 2, "y": 2})
    for path in ("/runs/*", "/runs/*/samples/*"):
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**{path}")
        expect(page.locator("h1")).to_be_visible()


def test_a_user_whom_a_login_proxy_names_needs_no_link_and_can_only_look(web: Start, visit: Open) -> None:
    server = web("--demo", "--read-only", "--trusted-header", "X-Forwarded-User")
    page = visit(f"{server.address}/runs", extra_http_headers={"X-Forwarded-User": "ann"})
    expect(page.locator(".who")).to_have_text("ann")
    expect(page.get_by_text("read only")).to_be_visible()
    assert page.locator("form[method=post]").count() == 0
    refused = page.evaluate("fetch('/runs', {method: 'POST', body: 'csrf='}).then((answer) => answer.status)")
    assert refused == 403


def test_the_client_of_python_asks_a_running_server(server: Any) -> None:
    with Client(server.address, server.token) as client:
        page = client.call(list_runs, RunFilter(text="shop"))
        assert page.rows
        [first, *_] = client.call(list_samples, SampleFilter(run=page.rows[0].run)).rows
        assert first.sample
        with pytest.raises(Unanswered, match="no-such-run") as refused:
            client.call(list_samples, SampleFilter(run="no-such-run"))
        assert refused.value.status == 404


def test_two_people_review_blind_and_the_page_shows_how_they_agree(web: Start, visit: Open) -> None:
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


def test_a_key_is_heard_as_soon_as_the_page_shows(server: Any, session: Any, visit: Open) -> None:
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


def test_keys_alone_lead_from_the_list_to_a_sample_and_back(server: Any, session: Any, visit: Open) -> None:
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


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_pages_of_the_documentation_have_pictures(lang: str, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--rewrite-golden"):
        server, session, visit = map(request.getfixturevalue, ("server", "session", "visit"))
        page = visit(
            f"{server.address}/runs?lang={lang}", storage_state=session, viewport={"width": 1280, "height": 800}
        )
        IMAGES.mkdir(exist_ok=True)
        for name, path in PICTURES.items():
            page.goto(server.address + path)
            page.wait_for_load_state("networkidle")
            page.screenshot(path=IMAGES / f"web-{name}-{lang}.png")
    for name in PICTURES:
        assert (IMAGES / f"web-{name}-{lang}.png").is_file(), "take the pictures with --rewrite-golden"
