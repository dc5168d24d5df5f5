"""Runs that are started in the browser are processes of their own: started, watched, stopped, gone on with, deleted."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from web_site import AppSite

from proctor import evaluate
from proctor.core.errors import BadInput
from proctor.testing.records import a_record, a_sample, begun
from proctor_ci.request import RunRequest
from proctor_web.operations import RunReference
from proctor_web.runs import launcher
from proctor_web.runs.actions import Resume, delete_run, resume_run, start_run, stop_run
from proctor_web.runs.launcher import Launcher
from proctor_web.runs.listing import list_runs
from proctor_web.runs.ordering import RunFilter
from proctor_web.runs.progress import RunProgress, Watches, get_progress
from proctor_web.workspace import NotFound

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
CODE = """
import asyncio, os
from proctor import Sample, Task
from proctor.core.errors import ProviderFailed

def count(samples: int = 20) -> Task:
    return Task(name="count", samples=[Sample.ask(str(n), str(n), target=str(n)) for n in range(samples)], scorers=["exact"])

async def quick(question: str) -> str:
    return question

async def slow(question: str) -> str:
    await asyncio.sleep(0.05)
    return question

async def flaky(question: str) -> str:
    if question == "7" and not os.path.exists("mended"):
        raise ProviderFailed("no answer")
    return question

async def loud(question: str) -> str:
    print("x" * 10_000, flush=True)
    await asyncio.sleep(0.05)
    return question
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppSite]:
    monkeypatch.chdir(tmp_path)
    site = AppSite(tmp_path)
    (site.agents / "mine.py").write_text(CODE, encoding="utf-8")
    yield site
    [store], started = site.workspace.stores.values(), site.workspace.kept(Launcher)
    for file in Path(f"{store.url}.starts").glob("*.json"):
        if started.is_alive(store, file.stem):
            started.stop(store, file.stem)
            started.await_end(store, file.stem)
    site.workspace.close()


def until(is_so: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)


def progress(site: AppSite, run: str) -> RunProgress:
    return get_progress(site.workspace, RunReference(run=run))


def over(site: AppSite, run: str) -> RunProgress:
    until(lambda: not progress(site, run).is_under_way)
    return progress(site, run)


def begin(site: AppSite, agent: str, run: str = "r", **given: object) -> str:
    asked = RunRequest(task="agents/mine.py:count", agent=f"agents/mine.py:{agent}", run=run, **given)  # type: ignore[arg-type]
    return start_run(site.workspace, asked, by="ann").run


def post(client: TestClient, path: str, **fields: str) -> str:
    """Send a form of the page as the browser does, and return where it leads."""
    csrf = client.get("/runs/new").text.partition('name="csrf" value="')[2].partition('"')[0]
    answer = client.post(path, data={"csrf": csrf, **fields}, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


@pytest.mark.slow
def test_a_run_is_started_by_the_form_watched_and_deleted(site: AppSite) -> None:
    client = site.browser("ann")
    at = post(client, "/runs", task="agents/mine.py:count", agent="agents/mine.py:quick", limit="5", run="mine")
    assert at == "/runs/mine/start"
    page = client.get(at)
    assert page.status_code in (200, 303)
    assert over(site, "mine").state == "finished"
    record = site.workspace.find_run("mine").record
    assert (record.planned, record.spec.selection.limit) == (5, 5)
    assert "--limit=5" in progress_command(client, site)
    assert post(client, "/runs/mine/delete") == "/runs?deleted=mine"
    with pytest.raises(NotFound):
        site.workspace.find_run("mine")
    assert not [*Path(f"{site.store}.starts").iterdir()]


def progress_command(client: TestClient, site: AppSite) -> str:
    from proctor_web.runs.panel import panel_of

    return panel_of(site.workspace, "mine").command


@pytest.mark.slow
def test_a_run_is_stopped_and_goes_on_where_it_was(site: AppSite) -> None:
    run = begin(site, "slow", concurrency=1, task_options={"samples": 200})
    until(lambda: progress(site, run).done > 3)
    now = progress(site, run)
    assert (now.state, now.planned) == ("running", 200)
    with pytest.raises(BadInput, match="under way"):
        resume_run(site.workspace, Resume(run=run))
    with pytest.raises(BadInput, match="Stop it first"):
        delete_run(site.workspace, RunReference(run=run))
    stop_run(site.workspace, RunReference(run=run))
    stopped = over(site, run)
    assert stopped.state == "stopped"
    until(lambda: progress(site, run).code == 130)
    assert 3 < stopped.done < 200
    (site.agents / "mine.py").write_text(CODE.replace("0.05", "0"), encoding="utf-8")
    resume_run(site.workspace, Resume(run=run))
    until(lambda: progress(site, run).code == 2)
    refused = progress(site, run)
    assert refused.state == "stopped"
    assert "with other code" in " ".join(refused.said)  # what the process said is kept
    resume_run(site.workspace, Resume(run=run, accept_changes=True))
    assert progress(site, run).state == "starting"
    assert over(site, run).done == 200


@pytest.mark.slow
def test_infrastructure_failures_are_run_again(site: AppSite) -> None:
    run = begin(site, "flaky", max_failed=0.5)
    assert over(site, run).failures == {"provider_failed": 1}
    page = site.browser().get(f"/runs/{run}/start", follow_redirects=False)
    assert page.headers["location"] == "/runs/r"
    Path("mended").touch()
    resume_run(site.workspace, Resume(run=run, retry_failed=True))
    until(lambda: progress(site, run).outcomes == {"scored": 20})


@pytest.mark.slow
def test_a_process_that_never_opens_its_run_is_shown_with_what_it_said(site: AppSite) -> None:
    run = begin(site, "nobody")
    assert over(site, run).state == "not_started"
    client = site.browser()
    [row] = list_runs(site.workspace, RunFilter()).rows
    assert (row.id, row.state, row.agent) == ("r", "not_started", "agents/mine.py:nobody")
    assert 'href="/runs/r/start"' in client.get("/runs").text
    assert not list_runs(site.workspace, RunFilter(text="elsewhere")).rows
    page = client.get(f"/runs/{run}/start").text
    assert "has no &#39;nobody&#39;" in page
    assert client.get(f"/runs/{run}/events?shown=starting").text.endswith("event: over\ndata: /runs/r/start\n\n")
    assert 'href="/runs/new?again=r"' in page
    again = client.get("/runs/new?again=r").text
    assert 'value="agents/mine.py:nobody"' in again
    assert post(client, "/runs/r/delete") == "/runs?deleted=r"
    assert not list_runs(site.workspace, RunFilter()).rows


@pytest.mark.slow
def test_a_run_outlives_the_server_and_is_found_by_the_next_one(site: AppSite) -> None:
    run = begin(site, "slow", concurrency=1, task_options={"samples": 100})
    until(lambda: progress(site, run).done > 0)
    second = AppSite(site.agents.parent)  # as after a crash: it knows nothing of the process
    now = get_progress(second.workspace, RunReference(run=run))
    assert now.state == "running"
    stop_run(second.workspace, RunReference(run=run))
    until(lambda: get_progress(second.workspace, RunReference(run=run)).state == "stopped")
    second.workspace.close()


@pytest.mark.slow
def test_a_run_whose_process_is_starting_when_the_server_ends_is_seen_by_the_next_one(site: AppSite) -> None:
    run = begin(site, "slow", concurrency=1, task_options={"samples": 100})
    second = AppSite(site.agents.parent)
    assert get_progress(second.workspace, RunReference(run=run)).state in ("starting", "running")
    with pytest.raises(BadInput, match="under way"):
        begin(second, "slow")
    stop_run(second.workspace, RunReference(run=run))
    until(lambda: not get_progress(second.workspace, RunReference(run=run)).is_under_way)
    second.workspace.close()


def test_a_server_that_is_killed_before_the_process_exists_has_not_lost_what_it_was_asked_for(
    site: AppSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "Popen", killed)
        with pytest.raises(SystemExit):
            begin(site, "quick")
    second = AppSite(site.agents.parent)
    [row] = list_runs(second.workspace, RunFilter()).rows
    assert (row.id, row.state) == ("r", "not_started")
    assert 'href="/runs/new?again=r"' in second.browser().get("/runs/r/start").text
    second.workspace.close()


@pytest.mark.slow
def test_a_run_that_crashes_is_cut_off_and_its_keys_are_not_shown(site: AppSite) -> None:
    run = begin(site, "slow", concurrency=1, task_options={"samples": 100})
    until(lambda: progress(site, run).done > 0)
    [store] = site.workspace.stores.values()
    pid = store.writer(run)
    assert pid
    os.kill(pid, signal.SIGKILL)
    assert over(site, run).state == "cut_off"
    assert site.browser().get("/runs").status_code == 200
    log = Path(f"{site.store}.starts/{run}.log")
    log.write_text("key: sk-abcdefghijklmnopqrstuvwxyz012345\n", encoding="utf-8")
    assert "abcdefghijkl" not in " ".join(progress(site, run).said)


def test_a_name_that_is_taken_or_none_is_refused_and_the_form_keeps_what_was_typed(site: AppSite) -> None:
    site.run("first")
    client = site.browser()
    csrf = client.get("/runs/new").text.partition('name="csrf" value="')[2].partition('"')[0]
    for wrong, said in (
        ({"run": "first"}, "There is a run &#39;first&#39; already"),
        ({"run": "../x"}, "cannot be a run id"),
        ({"limit": "many"}, "cannot be read"),
        ({"limit": "0"}, "cannot be read"),
        ({"tags": "level"}, "Write name=value"),
    ):
        fields = {"csrf": csrf, "task": "agents/mine.py:count", "agent": "agents/mine.py:quick", "judge": "openai:x"}
        answer = client.post("/runs", data=fields | wrong)
        assert answer.status_code == 422
        assert said in answer.text
        assert 'value="openai:x"' in answer.text
        assert answer.url.path == "/runs/new", "the page can be loaded again"
        assert client.get(str(answer.url)).text == answer.text
        assert "as-file" in answer.text
    assert not Path(f"{site.store}.starts").exists()


def test_not_too_many_run_at_once(site: AppSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "MOST_AT_ONCE", 0)
    with pytest.raises(BadInput, match="runs are under way"):
        begin(site, "quick")
    assert not Path(f"{site.store}.starts").exists()


async def test_the_end_of_a_log_outlives_its_trim(site: AppSite, monkeypatch: pytest.MonkeyPatch) -> None:
    [store] = site.workspace.stores.values()
    launcher_of_site = site.workspace.kept(Launcher)
    log = Path(f"{site.store}.starts/r.log")
    log.parent.mkdir()
    log.write_text("".join(f"line {n}\n" for n in range(9_000)), encoding="utf-8")
    monkeypatch.setattr(launcher, "MOST_LOG_BYTES", 30_000)
    before = launcher_of_site.log(store, "r")
    launcher_of_site._trim(store, "r")
    assert log.stat().st_size <= launcher.TAIL_BYTES
    assert launcher_of_site.log(store, "r") == before == [f"line {n}" for n in range(8_800, 9_000)]


@pytest.mark.slow
def test_what_a_process_prints_does_not_fill_the_disk(site: AppSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "MOST_LOG_BYTES", 30_000)
    monkeypatch.setattr(launcher, "TRIM_SECONDS", 0.05)
    over(site, begin(site, "loud", concurrency=1, task_options={"samples": 60}))
    assert Path(f"{site.store}.starts/r.log").stat().st_size < 300_000  # of the 600,000 that were printed
    assert progress(site, "r").said


async def test_a_run_that_this_process_writes_is_not_stopped(site: AppSite) -> None:
    [store] = site.workspace.stores.values()
    await begun(store, [a_sample("fr")], a_record("own", planned=1))
    with pytest.raises(BadInput, match="nothing to stop"):
        stop_run(site.workspace, RunReference(run="own"))
    await store.end(a_record("own", planned=1))


def test_the_form_is_filled_by_its_address(site: AppSite) -> None:
    page = site.browser().get("/runs/new?task=bfcl/simple_python&agent=openai:gpt-x&limit=9&agent.temperature=0.5").text
    assert 'name="limit" type="number" min="1" value="9"' in page
    assert 'name="agent.temperature" value="0.5"' in page
    assert 'name="task.mode"' in page


def test_what_is_read_only_starts_nothing(tmp_path: Path) -> None:
    site = AppSite(tmp_path, read_only=True)
    answer = site.program().post("/api/v1/runs", json={"task": "bfcl", "agent": "openai:x"})
    assert answer.status_code == 403
    site.workspace.close()


async def test_fifty_who_watch_a_run_cause_one_look_at_a_time(site: AppSite) -> None:
    [store] = site.workspace.stores.values()
    await begun(store, [a_sample("fr")], a_record("going", planned=1))
    watch = site.workspace.kept(Watches).of("going")
    looks = 0
    real = watch.look

    def counted(*, quick: bool = False) -> RunProgress:
        nonlocal looks
        looks += 1
        return real(quick=quick)

    watch.look = counted  # type: ignore[method-assign]

    async def one() -> int:
        return len([now async for now in watch.follow()])

    async with asyncio.timeout(20):
        everyone = [asyncio.create_task(one()) for _ in range(50)]
        await asyncio.sleep(0.2)
        await store.end(a_record("going", planned=1, state="finished"))
        seen = [await task for task in everyone]
    assert looks == 2
    assert set(seen) == {2}
    assert watch.followers == 0


async def test_who_stops_watching_ends_the_looks(site: AppSite) -> None:
    [store] = site.workspace.stores.values()
    await begun(store, [a_sample("fr")], a_record("going", planned=1))
    watch = site.workspace.kept(Watches).of("going")
    stream = watch.follow()
    assert (await anext(stream)).state == "running"
    await stream.aclose()  # type: ignore[attr-defined]
    assert watch.followers == 0
    await store.end(a_record("going", planned=1))


def test_progress_is_sent_as_events_until_the_run_is_over(site: AppSite) -> None:
    site.run("first")
    answer = site.browser().get("/runs/first/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text == "retry: 3000\n\nevent: over\ndata: /runs/first\n\n"
    assert site.browser().get("/runs/nothing/events").status_code == 404


async def test_a_page_of_a_run_that_has_begun_meanwhile_is_asked_for_again(site: AppSite) -> None:
    [store] = site.workspace.stores.values()
    await begun(store, [a_sample("fr")], a_record("going", planned=1))
    page = site.browser()
    assert 'data-events="/runs/going/events?shown=running"' in page.get("/runs/going").text
    async with asyncio.timeout(20):
        answer = await asyncio.to_thread(page.get, "/runs/going/events?shown=starting")
    assert answer.text.endswith("event: over\ndata: /runs/going\n\n")
    await store.end(a_record("going", planned=1))


async def test_a_page_shows_what_was_seen_last(site: AppSite) -> None:
    [store] = site.workspace.stores.values()
    await begun(store, [a_sample("fr")], a_record("going", planned=1))
    watch = site.workspace.kept(Watches).of("going")
    assert watch.recent() is watch.recent()
    seen = watch.look()
    assert watch.recent() is seen
    await store.end(a_record("going", planned=1))


@pytest.mark.slow
def test_a_run_of_another_folder_is_resumed_in_that_folder(
    site: AppSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(
        "./agents/mine.py:count", agent="./agents/mine.py:flaky", store=site.store, run_id="far", options={"samples": 9}
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    (tmp_path / "mended").touch()  # where the agent looks, in the folder of the run
    assert "Retry 1 failed" in site.browser().get("/runs/far").text
    started = resume_run(site.workspace, Resume(run="far", retry_failed=True))
    assert started.command == f"cd {tmp_path} && proctor run --run=far --store={site.store} --retry-failed"
    assert over(site, "far").outcomes == {"scored": 9}
