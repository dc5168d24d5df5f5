"""The page of one run: its numbers, where they lead, what it says while they are gathered, and how it is saved."""

import io
import json
import re
import threading
import zipfile
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from web_site import AppSite

from proctor_web.operations import RunReference
from proctor_web.results import report as gathering
from proctor_web.results import report as results
from proctor_web.results import saving as results_saving
from proctor_web.results.report import Gathered, get_estimates, get_report
from proctor_web.samples import addresses as links_of_pages
from proctor_web.samples.addresses import RunLinks
from proctor_web.samples.side import Side


@pytest.fixture
def site(tmp_path: Path) -> Iterator[AppSite]:
    site = AppSite(tmp_path)
    site.run("first", wrong=("it", "cn"), attempts=2)
    yield site
    site.workspace.close()


def test_the_page_shows_value_interval_and_denominator(site: AppSite) -> None:
    page = site.browser().get("/runs/first").text
    assert "66.7%" in page
    assert "12 of 12 scored" in page
    assert re.search(r"95% interval [\d.]+–[\d.]+%", page)
    assert "<svg" in page
    assert " style=" not in page


def test_slices_outcomes_and_failures_lead_to_their_samples(site: AppSite) -> None:
    page = site.browser().get("/runs/first").text
    assert 'href="/runs/first/samples?tag=script%3Dhan"' in page
    assert 'href="/runs/first/samples?outcome=scored"' in page
    assert 'href="/runs/first/samples/it"' in page
    assert 'href="/runs/first/samples/it?attempt=1"' in page


def test_the_page_is_in_the_language_of_the_reader(site: AppSite) -> None:
    page = site.browser().get("/runs/first?lang=zh").text
    assert "结果状态" in page
    assert "每个试次的时间" in page


def test_a_section_of_many_slices_is_short_until_it_is_opened(site: AppSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links_of_pages, "ROWS", 0)
    browser = site.browser()
    page = browser.get("/runs/first").text
    assert 'href="/runs/first?all=script#by-script"' in page
    assert "tag=script%3Dhan" not in page
    assert "tag=script%3Dhan" in browser.get("/runs/first?all=script").text


def test_an_id_that_is_no_run_is_not_found(site: AppSite) -> None:
    assert site.browser().get("/runs/frist").status_code == 404
    assert site.browser().get("/runs/frist/report.html").status_code == 404


def test_a_page_whose_numbers_take_long_says_so_and_asks_again(site: AppSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Side, "soon", lambda *_, **__: None)
    page = site.browser().get("/runs/first").text
    assert "The numbers of 12 trials are being gathered." in page
    assert 'hx-get="/runs/first"' in page


def test_the_report_of_a_run_under_way_is_made_again_only_after_a_rest(
    site: AppSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = site.workspace.find_run("first")
    running = found._replace(record=replace(found.record, state="running"))
    first = results.report_soon(site.workspace, found, waits=True)
    assert first is not None
    site.workspace.kept(results.Latest).by_run["first"] = slow = Gathered(
        report=first.report, at=first.at, seconds=3_600.0
    )
    assert results.report_soon(site.workspace, running) is slow
    assert results.report_soon(site.workspace, found) is not slow


def test_of_a_run_under_way_the_page_says_how_old_its_numbers_are(
    site: AppSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = site.workspace.find_run("first")
    running = found._replace(record=replace(found.record, state="running"))
    monkeypatch.setattr(site.workspace, "find_run", lambda _: running)
    cut_off = site.browser().get("/save?view=/runs/first").text
    assert "its process was killed" in cut_off
    monkeypatch.setattr(type(found.store), "writer", lambda *_: 1)
    under_way = site.browser().get("/save?view=/runs/first").text
    assert "The run is under way. These numbers are" in under_way
    assert "its process was killed" not in under_way


def test_a_program_gets_the_same_numbers(site: AppSite) -> None:
    program = site.program()
    estimates = program.get("/api/v1/runs/first/estimates").json()
    assert {one["slice"] for one in estimates} >= {"", "script=han", "script=latin"}
    report = program.get("/api/v1/runs/first/report").json()
    assert report["outcomes"] == {"scored": 12}
    assert report["seconds"]["count"] == 12
    assert get_report(site.workspace, RunReference(run="first")).failed == 4
    assert len(get_estimates(site.workspace, RunReference(run="first"))) == len(estimates)


@pytest.mark.parametrize("suffix", ["html", "md", "json", "xml"])
def test_a_report_is_kept_as_a_file(site: AppSite, suffix: str) -> None:
    answer = site.browser().get(f"/runs/first/report.{suffix}")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith(f'attachment; filename="first.{suffix}"')
    assert "capitals" in answer.text


def test_a_report_as_a_folder_has_every_sample(site: AppSite) -> None:
    answer = site.browser().get("/runs/first/report.zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        names = archive.namelist()
        assert names == ["first/samples-0001.html", "first/index.html"]
        assert 'href="samples-0001.html"' in archive.read("first/index.html").decode()
        data = re.search(r'id="data">(.*?)</script>', archive.read(names[0]).decode())
    assert data is not None
    assert len(json.loads(data[1])["rows"]) == 12


def test_a_report_that_takes_long_says_so_and_is_kept(site: AppSite, monkeypatch: pytest.MonkeyPatch) -> None:
    began, may_end, real = threading.Event(), threading.Event(), gathering._write

    def slow(*given: Any) -> str:
        began.set()
        may_end.wait(30)
        return real(*given)

    monkeypatch.setattr(gathering, "_write", slow)
    monkeypatch.setattr(gathering, "WRITTEN_SECONDS", 0.0)
    client, address = site.browser(), "/runs/first/report.html"
    for _ in range(2):
        waiting = client.get(address)
        assert "is being written" in waiting.text
        assert "content-disposition" not in waiting.headers
    assert began.wait(30)
    may_end.set()
    monkeypatch.setattr(gathering, "WRITTEN_SECONDS", 30.0)
    whole = client.get(address)
    assert whole.headers["content-disposition"].startswith("attachment")
    ready = client.get(address, headers={"hx-request": "true"})
    assert "Save first.html (0." in ready.text
    monkeypatch.setattr(gathering, "_write", None)  # what is kept is not written again
    assert client.get(address).content == whole.content
    monkeypatch.setattr(gathering, "_write", real)
    site.workspace.find_run("first").store.delete("first")
    site.run("first", wrong=())
    fresh = client.get(address).content
    assert fresh != whole.content
    kept = [*Path(f"{site.store}.index").glob("report-*.html")]
    assert len(kept) == 1, "an earlier one is removed"


def test_a_program_waits_for_the_report(site: AppSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "WRITTEN_SECONDS", 0.0)
    answer = site.program().get("/runs/first/report.json")
    assert answer.json()["run"]


def test_a_report_of_another_kind_is_refused(site: AppSite) -> None:
    answer = site.browser().get("/runs/first/report.exe")
    assert answer.status_code == 400


def test_a_page_is_saved_as_one_file_that_needs_no_server(site: AppSite) -> None:
    answer = site.browser().get("/save", params={"view": "/runs/first"})
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith('attachment; filename="runs-first.html"')
    page = answer.text
    assert "66.7%" in page
    assert "--blue" in page  # the styles are within
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:" in page
    assert "Saved with Proctor" in page
    assert not re.search(r"<(script|form|dialog|link|button)\b", page)
    assert not re.search(r'\s(hx-[\w:-]+|on\w+|data-\w+)=|href="[^#]', page)
    assert "csrf" not in page


def test_a_list_to_choose_from_is_saved_without_its_form(site: AppSite) -> None:
    browser = site.browser()
    browser.get("/runs")  # the numbers of the list are computed in the background
    page = browser.get("/save", params={"view": "/runs"}).text
    assert "capitals" in page
    assert not re.search(r"<(form|input|label)\b", page)


def test_a_page_that_is_saved_waits_for_its_numbers(site: AppSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Side, "soon", lambda *_, **__: None)
    assert "66.7%" in site.browser().get("/save", params={"view": "/runs/first"}).text


@pytest.mark.parametrize(
    "view", ["", "https://evil.example/", "//evil.example/", "/api/v1/runs/first/report", "/save?view=/", "/nowhere"]
)
def test_only_pages_of_the_app_are_saved(site: AppSite, view: str) -> None:
    assert site.browser().get("/save", params={"view": view}).status_code == 400


@pytest.mark.parametrize("most", [10, results_saving.PAGE_BYTES])
def test_what_has_no_end_or_is_too_large_is_not_saved_and_says_so(
    site: AppSite, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(results_saving, "PAGE_BYTES", most)
    view = "/runs/first" if most == 10 else "/runs/first/events"
    answer = site.browser().get(f"/save?view={view}")
    assert answer.status_code == 400
    assert f"{view} is too large to be saved." in answer.text


def test_a_stranger_saves_nothing(site: AppSite) -> None:
    assert site.stranger().get("/save", params={"view": "/runs/first"}).status_code == 401


def test_addresses_keep_ids_with_signs_apart() -> None:
    links = RunLinks("r 1@main")
    assert links.sample("a/b?c#d", 0) == "/runs/r%201@main/samples/a/b%3Fc%23d"
    assert links.error("wrong_answer", "x y") == "/runs/r%201@main/samples?error_class=wrong_answer&error_type=x+y"
    assert links.error("", "") == "/runs/r%201@main/samples?error_class=-"
    assert links.error("a", "…") == links.outcome("not_run") == links.slice("") == ""


def test_every_link_of_the_page_leads_to_a_page_and_counts_agree(site: AppSite) -> None:
    browser = site.browser()
    page = browser.get("/runs/first").text
    addresses = {unescape(one) for one in re.findall(r'href="(/runs/first[^"]*)"', page) if "report." not in one}
    assert len(addresses) >= 8
    for address in addresses:
        assert browser.get(address).status_code == 200, address
