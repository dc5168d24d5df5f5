"""What every page of the app has: it is for those who came in, in two languages, and says what is not there."""

import re
from pathlib import Path

import pytest
from web_site import AppSite

from proctor.core.errors import BadInput
from proctor_web.samples.side import Side
from proctor_web.workspace import NotFound, open_workspace


@pytest.fixture
def site(tmp_path: Path) -> AppSite:
    return AppSite(tmp_path)


def test_a_page_that_is_not_there_says_so_to_people_and_programs(site: AppSite) -> None:
    page = site.browser().get("/nowhere")
    assert page.status_code == 404
    assert "There is no such page." in page.text
    answer = site.program().get("/api/v1/nowhere")
    assert answer.json() == {"error": {"kind": "not_found", "message": "There is no such page."}}


def test_a_run_is_found_by_its_id(site: AppSite) -> None:
    site.run("first")
    assert site.workspace.find_run("first").record.task == "capitals"
    with pytest.raises(NotFound, match="Did you mean 'first'"):
        site.workspace.find_run("frist")


def test_runs_of_several_stores_are_told_apart(tmp_path: Path, site: AppSite) -> None:
    site.run("same")
    other = AppSite(_folder(tmp_path / "other"))
    other.run("same", wrong=())
    both = open_workspace((site.store, other.store))
    found, broken = both.runs()
    assert [one.reference for one in found] == ["same@runs-2", "same@runs"]
    assert not broken
    assert both.find_run("same@runs-2").store is both.stores["runs-2"]
    both.close()


def test_a_broken_store_does_not_keep_the_others_away(tmp_path: Path, site: AppSite) -> None:
    site.run()
    bad = tmp_path / "bad.db"
    bad.write_text("no store")
    both = open_workspace((site.store, str(bad)))
    assert [*both.broken] == ["bad"]
    assert len(both.runs()[0]) == 1
    both.close()
    with pytest.raises(BadInput):
        open_workspace((str(bad),))


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.parametrize("broken", [b"garbage" * 1000, b"SQLite format 3\x00", b""])
def test_a_store_that_breaks_under_the_server_is_named_and_the_others_go_on(
    tmp_path: Path, site: AppSite, broken: bytes
) -> None:
    other = AppSite(_folder(tmp_path / "other"))
    site.run("first")
    other.run("second")
    for one in (site, other):
        one.workspace.close()
    both = AppSite(_folder(tmp_path / "both"), stores=(site.store, other.store))
    for file in tmp_path.glob("runs.db*"):
        if file.is_file() and not file.name.endswith("-shm"):  # which is memory
            file.write_bytes(broken)
    browser = both.browser()
    runs = browser.get("/runs")
    assert runs.status_code == 200
    assert "second@runs-2" in runs.text
    assert browser.get("/runs/second@runs-2").status_code == 200
    for path in ("/runs/first@runs", "/runs/first@runs/samples", "/compare?run=first@runs&run=second@runs-2", "/leaderboard", "/trends?task=capitals", "/review", "/evalsets", "/chat"):  # fmt: skip
        assert browser.get(path).status_code != 500, path
    both.workspace.close()


def test_a_page_that_is_not_there_keeps_its_links_on_this_server(site: AppSite) -> None:
    page = site.browser().get("http://127.0.0.1:7860//evil.example/x")
    assert page.status_code == 404
    assert not re.search(r"(?:href|src|action)=\"//", page.text)


def test_a_server_that_only_shows_has_no_form_that_writes(tmp_path: Path, site: AppSite) -> None:
    site.run("first")
    site.run("second", wrong=())
    site.workspace.close()
    showing = AppSite(tmp_path, read_only=True)
    browser = showing.browser()
    for path in ("/runs", "/runs/first", "/runs/first/samples", "/runs/first/samples/fr", "/compare?run=first&run=second", "/leaderboard?task=capitals", "/trends?task=capitals", "/evalsets", "/review", "/chat"):  # fmt: skip
        page = browser.get(path)
        assert page.status_code == 200, path
        assert not re.search(r"<form[^>]*method=\"post\"", page.text), path
    showing.workspace.close()


def test_a_server_that_only_shows_offers_no_form_to_start(tmp_path: Path) -> None:
    client = AppSite(tmp_path, read_only=True).browser()
    for path in ("/runs/new", "/chat"):
        page = client.get(path).text
        assert "You can look at everything here" in page
        assert '<form method="post"' not in page
        assert 'method="post" action="/runs"' not in page


def test_the_usual_store_is_that_of_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "proctor.toml").write_text('store = "sqlite://mine.db"')
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROCTOR_STORE", raising=False)
    workspace = open_workspace()
    assert [store.url for store in workspace.stores.values()] == ["mine.db"]
    assert workspace.addresses == {"mine.db": "sqlite://mine.db"}
    workspace.close()


def test_stores_of_one_name_are_numbered(tmp_path: Path) -> None:
    urls = [str(_folder(tmp_path / one) / "a-b.db") for one in "xyz"]
    opened = open_workspace(urls)
    assert [*opened.stores] == ["a-b", "a-b-2", "a-b-3"]
    opened.close()


def test_nothing_is_made_for_a_workspace_that_was_closed(site: AppSite) -> None:
    site.workspace.close()
    with pytest.raises(BadInput, match="ending"):
        site.workspace.kept(Side)
