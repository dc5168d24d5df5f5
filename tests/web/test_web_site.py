"""What every page of the app has: it is for those who came in, in two languages, and says what is not there."""

from pathlib import Path

import pytest
from web_site import AppSite

from proctor.core.errors import BadInput
from proctor.web.workspace import NotFound, open_workspace


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
