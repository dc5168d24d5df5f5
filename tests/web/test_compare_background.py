"""What takes long is computed once, apart from the server, and again when other trials are stored."""

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace
from web_site import AppSite

from proctor.core.errors import BadInput
from proctor_ci.trends import TrendGiven
from proctor_web.comparing import background
from proctor_web.comparing.background import Background
from proctor_web.comparing.comparison import CompareGiven, compare_runs
from proctor_web.comparing.leaderboard import BoardGiven, rank_agents
from proctor_web.comparing.trends import follow_task
from proctor_web.workspace import Found, StillComputing


@pytest.fixture
def site(tmp_path: Path) -> AppSite:
    site = AppSite(tmp_path)
    site.run("first")
    site.run("second", wrong=("fr", "de"))
    return site


def found(site: AppSite, *names: str) -> list[Found]:
    return [site.workspace.find_run(name) for name in names]


def test_a_page_does_not_wait_for_what_takes_long_and_the_next_one_has_it(site: AppSite) -> None:
    go = threading.Event()
    calls: list[int] = []

    def slow(runs: Sequence[Found]) -> int:
        calls.append(len(runs))
        assert go.wait(10)
        return len(runs)

    kept = site.workspace.kept(Background)
    runs = found(site, "first", "second")
    for _ in range(2):
        with pytest.raises(StillComputing):
            kept.result("key", runs, slow, seconds=0.01)
    go.set()
    assert kept.result("key", runs, slow) == 2
    assert kept.result("key", runs, slow, seconds=0.01) == 2
    assert calls == [2]


def test_a_failure_is_raised_and_tried_again(site: AppSite) -> None:
    outcomes = iter((BadInput("No."), 1))

    def sometimes(_: Sequence[Found]) -> int:
        one = next(outcomes)
        if isinstance(one, BadInput):
            raise one
        return one

    kept = site.workspace.kept(Background)
    with pytest.raises(BadInput, match="No"):
        kept.result("key", found(site, "first"), sometimes)
    assert kept.result("key", found(site, "first"), sometimes) == 1


def test_a_run_that_is_scored_again_is_compared_again(site: AppSite) -> None:
    from proctor.api import open_run, rescore

    given = CompareGiven(run=("first", "second"))
    before = compare_runs(site.workspace, given)
    rescore(open_run("first", store=site.store), scorers=["number"])
    rescore(open_run("second", store=site.store), scorers=["number"])
    after = compare_runs(site.workspace, given)
    assert len(after.comparisons[0].rows) > len(before.comparisons[0].rows)


def test_a_run_that_grows_is_compared_as_it_was_a_moment_ago(site: AppSite) -> None:
    record = site.workspace.find_run("first").record
    store = site.workspace.find_run("first").store
    running = [Found(store, replace(record, state="running"), "first")]
    kept = site.workspace.kept(Background)
    assert kept.result("key", running, len, version=1) == 1
    assert kept.result("key", [*running, *running], len, version=2) == 1
    assert kept.result("other", found(site, "first"), len, version=1) == 1
    assert kept.result("other", found(site, "first", "second"), len, version=2) == 2


def test_large_runs_are_read_by_another_process_with_the_same_result(
    site: AppSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = CompareGiven(run=("first", "second"))
    here = compare_runs(site.workspace, given), rank_agents(site.workspace, BoardGiven())
    trend = follow_task(site.workspace, TrendGiven(baseline="first"))
    monkeypatch.setattr(background, "APART", 0)
    other = AppSite(Path(site.store).parent)
    assert (compare_runs(other.workspace, given), rank_agents(other.workspace, BoardGiven())) == here
    assert follow_task(other.workspace, TrendGiven(baseline="first")) == trend
    with pytest.raises(BadInput, match="No scorer 'none' scored all") as raised:
        compare_runs(other.workspace, CompareGiven(run=("first", "second"), scorer="none"))
    assert "{scorer}" in raised.value.sentence.text


def test_runs_beyond_the_memory_are_refused(site: AppSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "MOST_TRIALS", 11)
    with pytest.raises(BadInput, match="12 trials; at most 11"):
        compare_runs(site.workspace, CompareGiven(run=("first", "second")))
