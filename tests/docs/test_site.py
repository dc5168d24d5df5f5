"""The documentation as a site: it builds without a broken link, asks nothing of other hosts, and is found in Chinese."""

import re
import sys
import threading
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pages
import pytest
from pages import ROOT
from playwright.sync_api import Page, sync_playwright

import proctor

pytestmark = pytest.mark.xdist_group("site")  # built once
VERSION = proctor.__version__
LOADED = re.compile(r"""(?:url\(|@import\s+)["']?([^"')]+)""")

_spec = spec_from_file_location("site_of_docs", ROOT / ".ci" / "site.py")
assert _spec is not None
assert _spec.loader is not None
site = module_from_spec(_spec)
sys.modules["site_of_docs"] = site  # NamedTuples look their module up
_spec.loader.exec_module(site)


class Addresses(HTMLParser):
    """What a page links to, what it loads by itself, and the places in it that can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.links, self.loaded, self.places = path, list[str](), list[str](), {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.places |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag != "a":
            self.loaded += [values[name] for name in ("src", "href", "data", "poster", "action") if name in values]
        self.loaded += LOADED.findall(values.get("style", ""))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both languages; a link or an anchor that leads nowhere ends the build."""
    folder = tmp_path_factory.mktemp("site")
    site.main(folder)
    return folder


@pytest.fixture(scope="module")
def html(built: Path) -> dict[Path, Addresses]:
    return {path: Addresses(path) for path in built.rglob("*.html")}


def test_every_link_leads_to_a_file_and_a_place_in_it(html: dict[Path, Addresses]) -> None:
    broken = []
    for page in html.values():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or not (parts.path or parts.fragment) or page.path.name == "404.html":
                continue
            target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
            target = target / "index.html" if target.is_dir() else target
            known = html[target].places if target in html else {"", parts.fragment} if target.is_file() else set()
            if unquote(parts.fragment) not in known:
                broken.append(f"{page.path.name}: {link}")
    assert not broken


def test_nothing_is_loaded_from_another_host(built: Path, html: dict[Path, Addresses]) -> None:
    loaded = [address for page in html.values() for address in page.loaded]
    styles = [path.read_text(encoding="utf-8") for path in built.rglob("*.css")]
    assert styles
    loaded += [address for text in styles for address in LOADED.findall(text)]
    assert not [address for address in loaded if "//" in address and not address.startswith("data:")]
    whole = [page.path for page in html.values() if page.path.parent != built and page.path.name != "index.html"]
    assert not [path for path in whole if "default-src 'self'" not in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("language", site.LANGUAGES.values(), ids=lambda one: one.name)
def test_every_page_has_one_door(language: site.Language) -> None:  # type: ignore[name-defined]
    entries = list(site.entries(language))
    files = {path.name for path in language.pages.glob("*.md")} - {"README.md"}
    assert sorted(entry.page for entry in entries) == sorted({*files, "decisions/index.md"})
    doors = list(dict.fromkeys(entry.door for entry in entries))
    assert len(doors) == 4
    first_ring = [entry for entry in entries if not entry.group and entry.door in doors[:3]]
    assert [entry.door for entry in first_ring].count(doors[0]) == 5
    assert len(first_ring) <= 8


def test_an_assistant_finds_each_page_as_markdown(built: Path) -> None:
    for start, name in ((built, "en"), (built / "en" / VERSION, "en"), (built / "zh" / VERSION, "zh")):
        listed = re.findall(r"^- \[.+\]\((.+)\): .+$", (start / "llms.txt").read_text(encoding="utf-8"), re.MULTILINE)
        assert len(listed) == len(list(site.entries(site.LANGUAGES[name])))
        for page in listed:
            text = (start / page).read_text(encoding="utf-8")
            assert text.startswith("# ")
            for target in re.findall(r"\]\(([^)\s#]+)", pages.FENCE.sub("", text)):
                assert "://" in target or ((start / page).parent / target).exists(), f"{page}: {target}"


def test_a_second_version_leaves_the_first_where_it_is(tmp_path: Path) -> None:
    for version in ("0.9.0", "0.10.0"):
        (tmp_path / version).mkdir()
    site._list_versions(tmp_path)
    assert (tmp_path / "versions.json").read_text().index("0.10.0") < (tmp_path / "versions.json").read_text().index(
        "0.9.0"
    )
    assert "0.10.0/" in (tmp_path / "index.html").read_text()


@pytest.fixture(scope="module")
def address(built: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *values: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=built)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        yield browser.new_page()
        browser.close()


@pytest.mark.slow
def test_a_reader_searches_in_chinese_and_changes_the_language_of_a_page(address: str, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/zh/{VERSION}/start.html")
    page.locator(".md-search__button").click()
    page.get_by_role("combobox").fill("置信区间", timeout=60_000)
    page.locator("a mark", has_text="区间").first.wait_for(timeout=60_000)
    page.goto(f"{address}/zh/{VERSION}/start.html")
    page.locator("a.proctor-language").click()
    page.wait_for_url(f"{address}/en/{VERSION}/start.html", wait_until="commit")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert all(url.startswith((address, "data:", "blob:")) for url in asked)
