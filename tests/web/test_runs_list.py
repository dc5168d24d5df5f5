"""The list of runs: filters in its address, newest first, numbers with intervals, what people said, every state."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from urllib.parse import quote

import pytest
from msgspec.structs import replace
from web_site import AppSite

from proctor.core.errors import BadInput
from proctor.core.trajectory import Usage
from proctor.testing.records import a_record, a_sample, a_trial, a_verdict, begun
from proctor_web.runs import ordering
from proctor_web.runs.actions import Saying, list_baselines, say_about_run
from proctor_web.runs.listing import list_runs
from proctor_web.runs.ordering import RunFilter
from proctor_web.workspace import Found, Workspace, open_workspace

HOSTILE = "<script>alert(1)</script>\u202e\x1b[31m"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[AppSite]:
    site = AppSite(tmp_path)
    yield site
    site.workspace.close()


def stored(site: AppSite, run_id: str, **given: object) -> None:
    """A run with one scored trial, of which nothing but its record matters."""
    [store] = site.workspace.stores.values()

    async def fill() -> None:
        record = replace(a_record(run_id, state="finished", scorers=("exact",), planned=1), **given)
        await begun(store, [a_sample("fr")], record)
        await store.add(a_trial("fr", run=run_id), [a_verdict("fr", run=run_id)], a_sample("fr"))
        await store.end(record)

    asyncio.run(fill())


def ids(site: AppSite, **given: object) -> list[str]:
    return [row.id for row in list_runs(site.workspace, RunFilter(**given)).rows]  # type: ignore[arg-type]


def test_an_empty_store_says_what_to_do_next(site: AppSite) -> None:
    page = site.browser().get("/runs").text
    assert "No runs yet." in page
    assert 'href="/runs/new"' in page


def test_a_reader_is_not_offered_what_is_refused(tmp_path: Path) -> None:
    site = AppSite(tmp_path, read_only=True)
    page = site.browser().get("/runs").text
    assert "No runs yet." in page
    assert "/runs/new" not in page
    site.workspace.close()


def test_runs_are_listed_with_figure_interval_and_outcomes(site: AppSite) -> None:
    run = site.run("first")
    [row] = list_runs(site.workspace, RunFilter()).rows
    assert row.numbers is not None
    assert row.numbers.headline == run.headline
    assert row.numbers.outcomes == {"scored": 6}
    assert (row.state, row.planned, row.task) == ("finished", 6, "capitals")
    page = site.browser().get("/runs").text
    assert "83.3%" in page
    assert 'aria-label="accuracy: 83.3%, interval' in page
    assert '<a href="/runs/first/samples" title="All samples, failures first">6 / 6</a>' in page


def test_the_newest_run_is_first_and_pages_follow_each_other_without_gaps(site: AppSite) -> None:
    for number in range(7):
        stored(site, f"r{number}", created=100.0 + number // 2)
    every = ids(site)
    assert every == ["r6", "r4", "r5", "r2", "r3", "r0", "r1"]
    seen: list[str] = []
    after = ""
    while True:
        page = list_runs(site.workspace, RunFilter(size=2, after=after))
        assert page.total == 7
        seen += [row.id for row in page.rows]
        after = page.next
        if not after:
            break
    assert seen == every


def test_filters_are_in_the_address_and_combine(site: AppSite) -> None:
    stored(site, "old", created=1_700_000_000.0)
    stored(site, "new", created=1_790_000_000.0, state="inconclusive")
    say_about_run(site.workspace, Saying(run="old", add_tags=("nightly",), note="before the 修复"))
    assert ids(site, text="修复 CAPITALS") == ["old"]
    assert ids(site, tag="nightly") == ["old"]
    assert ids(site, state="inconclusive") == ["new"]
    assert ids(site, since="2026-01-01") == ["new"]
    assert ids(site, until="2023-11-15") == ["old"]
    assert ids(site, agent="nobody") == []
    client = site.browser()
    page = client.get(f"/runs?tag=nightly&text={quote('修复')}").text
    assert ">old</a>" in page
    assert ">new</a>" not in page
    assert "No run matches." in client.get("/runs?text=zzz").text


@pytest.mark.parametrize("query", ["since=yesterday", "until=99999-99-99", "after=x~y", "size=many"])
def test_an_address_that_cannot_be_read_is_refused(site: AppSite, query: str) -> None:
    stored(site, "r")
    assert site.browser().get(f"/runs?{query}").status_code == 400


def test_a_run_whose_process_is_gone_is_cut_off_and_one_that_is_written_is_running(site: AppSite) -> None:
    stored(site, "gone", state="running")
    [store] = site.workspace.stores.values()
    asyncio.run(begun(store, [a_sample("fr")], a_record("going", state="running", planned=1)))
    states = {row.id: row.state for row in list_runs(site.workspace, RunFilter()).rows}
    assert states == {"gone": "cut_off", "going": "running"}
    assert ids(site, state="cut_off") == ["gone"]
    assert "data-again" in site.browser().get("/runs").text
    asyncio.run(store.end(a_record("going", state="running", planned=1)))


def test_what_people_say_is_kept_shown_and_taken_back(site: AppSite) -> None:
    stored(site, "r")
    said = say_about_run(
        site.workspace, Saying(run="r", add_tags=("b", "a"), note="fine", add_baseline="main"), by="ann"
    )
    assert (said.tags, said.baselines) == (("a", "b"), ("main",))
    say_about_run(site.workspace, Saying(run="r", note="not fine"), by="bob")
    [row] = list_runs(site.workspace, RunFilter()).rows
    assert {(note.by, note.text) for note in row.notes} == {("ann", "fine"), ("bob", "not fine")}
    assert [(one.name, one.run) for one in list_baselines(site.workspace)] == [("main", "r")]
    say_about_run(site.workspace, Saying(run="r", remove_tags=("a",), note="", remove_baseline="main"), by="ann")
    [row] = list_runs(site.workspace, RunFilter()).rows
    assert (row.tags, row.baselines, [note.by for note in row.notes]) == (("b",), (), ["bob"])


def test_a_baseline_moves_and_is_only_removed_by_the_run_that_has_it(site: AppSite) -> None:
    stored(site, "one")
    stored(site, "two")
    say_about_run(site.workspace, Saying(run="one", add_baseline="main"))
    say_about_run(site.workspace, Saying(run="two", add_baseline="main"))
    say_about_run(site.workspace, Saying(run="one", remove_baseline="main"))
    assert [(one.name, one.run) for one in list_baselines(site.workspace)] == [("main", "two")]


@pytest.mark.parametrize("tag", ["", " a", "x" * 61, "a\nb", "\u202e"])
def test_a_text_that_cannot_be_a_tag_is_refused(site: AppSite, tag: str) -> None:
    stored(site, "r")
    with pytest.raises(BadInput, match="cannot be a tag"):
        say_about_run(site.workspace, Saying(run="r", add_tags=(tag,)))


def test_hostile_texts_are_shown_and_do_nothing(site: AppSite) -> None:
    stored(site, "r", agent=HOSTILE)
    say_about_run(site.workspace, Saying(run="r", add_tags=('"><img src=x>',), note=HOSTILE))
    page = site.browser().get("/runs").text
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;" in page


def test_runs_of_several_stores_are_listed_together_and_a_broken_one_is_named(tmp_path: Path, site: AppSite) -> None:
    stored(site, "here", created=1.0)
    (tmp_path / "other").mkdir()
    other = AppSite(tmp_path / "other")
    stored(other, "there", created=2.0)
    bad = tmp_path / "bad.db"
    bad.write_text("no store")
    all_of_them = open_workspace((site.store, other.store, str(bad)))
    page = list_runs(all_of_them, RunFilter())
    assert [row.run for row in page.rows] == ["there@runs-2", "here@runs"]
    assert [*page.broken] == ["bad"]
    all_of_them.close()
    other.workspace.close()


def test_a_program_gets_the_same_list(site: AppSite) -> None:
    site.run("first")
    answer = site.program().get("/api/v1/runs?task=capitals&size=1").json()
    [row] = answer["rows"]
    assert (row["run"], row["state"], row["numbers"]["outcomes"]) == ("first", "finished", {"scored": 6})
    assert site.program("ann").post("/api/v1/runs/first/notes", json={"add_tags": ["good"]}).json()["tags"] == ["good"]


def test_the_list_speaks_chinese(tmp_path: Path) -> None:
    site = AppSite(tmp_path, lang="zh")
    site.run("first")
    page = site.browser().get("/runs").text
    assert "新建运行" in page
    assert "已完成" in page
    site.workspace.close()


@pytest.mark.parametrize(
    "address",
    ["/runs?agnet=x", "/runs/first?x=1", "/runs/first/samples?q=77", "/leaderboard?tsak=x", "/trends?tag=x", "/evalsets?name=x", "/gate?run=first&agianst=second"],
)  # fmt: skip
def test_a_field_that_a_page_does_not_know_is_refused(address: str, tmp_path: Path) -> None:
    site = AppSite(tmp_path)
    site.run()
    refused = site.browser().get(address)
    site.workspace.close()
    assert refused.status_code == 400
    assert "No field is called" in refused.text


def test_a_store_that_is_gone_is_no_empty_one(tmp_path: Path) -> None:
    site = AppSite(tmp_path)
    site.run()
    browser = site.browser()
    assert browser.get("/runs").status_code == 200
    for path in (tmp_path / "runs.db", tmp_path / "runs.db-wal", tmp_path / "runs.db-shm"):
        path.unlink(missing_ok=True)
    for address in ("/runs", "/runs/first", "/api/v1/runs", "/runs/first/samples"):
        gone = browser.get(address)
        assert gone.status_code == 503, address
        assert "not there any more" in gone.text
        assert "No runs yet" not in gone.text
    assert browser.get("/api/v1/runs").json()["error"]["kind"] == "store_unreadable"
    assert not (tmp_path / "runs.db").exists()
    site.workspace.close()


def test_runs_are_put_in_the_order_of_a_column_and_pages_follow_it(site: AppSite) -> None:
    for number, (name, seconds) in enumerate([("b", 3.0), ("a", 1.0), ("c", 2.0)]):
        stored(site, name, created=100.0 + number, seconds=seconds)
    assert ids(site, order="run") == ["a", "b", "c"]
    assert ids(site, order="-seconds") == ["b", "c", "a"]
    assert ids(site, order="created") == ["b", "a", "c"]
    first = list_runs(site.workspace, RunFilter(order="-run", size=2))
    assert ids(site, order="-run", size=2, after=first.next) == ["a"]
    with pytest.raises(BadInput, match="not in this list any more"):
        list_runs(site.workspace, RunFilter(order="run", after="1.0~gone"))


def test_runs_of_one_agent_stand_together_and_say_what_they_differ_in(site: AppSite) -> None:
    spec = a_record("r").spec
    stored(site, "one", created=1.0)
    stored(site, "other", created=2.0, agent="x")
    stored(site, "two", created=3.0, spec=replace(spec, seed=7))
    assert ids(site, group="agent") == ["two", "one", "other"]
    two, one, _ = list_runs(site.workspace, RunFilter(group="agent")).rows
    assert [(fact.name, fact.after) for fact in two.changed] == [("seed", "7")]
    assert one.changed == ()
    assert len(two.history) == 2
    page = site.browser().get("/runs?group=agent").text
    assert page.count('scope="rowgroup"') == 2


def test_columns_are_chosen_in_the_address_and_remembered(site: AppSite) -> None:
    stored(site, "r")
    browser = site.browser()
    assert ">Cost</a>" not in browser.get("/runs").text
    chosen = browser.get("/runs?columns=&columns=cost").text
    assert ">Cost</a>" in chosen
    assert ">History<" not in chosen.partition("<tbody>")[0]
    assert ">Cost</a>" in browser.get("/runs").text
    assert browser.get("/runs?columns=costs").status_code == 400


def test_a_run_without_a_price_is_not_the_cheapest(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = {"local": None, "dear": 2.0, "cheap": 0.5}
    runs = [SimpleNamespace(reference=name, record=SimpleNamespace(created=0.0, id=name)) for name in costs]
    known = {name: SimpleNamespace(usage=Usage(cost=cost)) for name, cost in costs.items()}
    monkeypatch.setattr(ordering, "_known", lambda _, found: known[found.reference])
    ranked = ordering.in_order(cast(Workspace, None), cast(list[Found], runs), RunFilter(order="cost"))
    assert [found.reference for found in ranked] == ["cheap", "dear", "local"]
