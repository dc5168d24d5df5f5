"""The samples of a run are found by what they say and how they ended, page by page, while the run grows and after it changed."""

import asyncio
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from web_site import AppSite

from proctor.core.annotation import Annotation
from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, Text, ToolCall
from proctor.core.sentence import say
from proctor.core.task import Store
from proctor.core.trajectory import Step, Trajectory
from proctor.core.trial import TrialFailure
from proctor.testing.records import a_record, a_sample, a_trial, a_verdict, begun
from proctor_web.operations import RunReference
from proctor_web.samples import finding, index_file, indexing
from proctor_web.samples.listing import (
    SampleFilter,
    SampleKey,
    SampleRow,
    list_facets,
    list_samples,
    neighbours,
    query_of,
)
from proctor_web.samples.side import Side
from proctor_web.workspace import Workspace, open_workspace


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "SMALL_WAITS_SECONDS", 30)


@pytest.fixture
def workspace(tmp_path: Path) -> Any:
    made = open_workspace((str(tmp_path / "runs.db"),))
    asyncio.run(_fill(made.stores["runs"]))
    yield made
    made.close()


async def _fill(store: Store) -> None:
    """Six samples: z, a and c right, b and e wrong, d without an answer; e has two attempts."""
    samples = [
        Sample.ask("z/1", "Wie heißt die Hauptstadt von Österreich?", target="Wien", tags={"level": "1", "lang": "de"}),
        Sample.ask("a", "中国的首都是哪座城市？", target="北京", tags={"level": "2", "lang": "zh"}),
        a_sample("b", tags={"level": "2", "lang": "en"}),
        a_sample("c"),
        a_sample("d"),
        a_sample("e"),
    ]
    await begun(store, samples, a_record(planned=7, attempts=2, scorers=("exact", "close")))
    call = Message(
        role="assistant", parts=(Text(text="I look."), ToolCall(name="get_weather", arguments={"city": "Oslo"}))
    )
    acted = Trajectory(steps=(Step(message=call), Step(message=Message.of("assistant", "It rains <script>"))))
    await store.add(
        a_trial("z/1", trajectory=Trajectory.of("Wien")),
        [a_verdict("z/1"), a_verdict("z/1", scorer="close")],
        samples[0],
    )
    await store.add(a_trial("a", trajectory=Trajectory.of("北京市")), [a_verdict("a")], samples[1])
    wrong = a_verdict(
        "b",
        points=0,
        reason=say("half of {what}", what="it"),
        details={"error_class": "wrong_answer", "error_type": "city"},
    )
    await store.add(a_trial("b", trajectory=acted), [wrong, a_verdict("b", scorer="close", points=1)], samples[2])
    await store.add(
        a_trial("c"), [a_verdict("c"), a_verdict("c", scorer="close", points=0.5, details={"passed": True})], samples[3]
    )
    await store.add(
        a_trial("d", outcome="provider_failed", failure=TrialFailure(kind="timeout", reason="no reply")), (), samples[4]
    )
    await store.add(a_trial("e", 0), [a_verdict("e", points=0)], samples[5])
    await store.add(a_trial("e", 1), [a_verdict("e", 1)])
    await store.end(a_record(planned=7, attempts=2, scorers=("exact", "close"), state="finished"))


def _ids(workspace: Workspace, **given: Any) -> list[str]:
    page = list_samples(workspace, SampleFilter(run="r", **given))
    assert page.indexed == 1
    return [_name(row) for row in page.rows]


def _name(row: SampleRow | SampleKey | None) -> str:
    return "" if row is None else f"{row.sample}{row.attempt or ''}"


def test_failures_come_first_or_the_order_of_the_plan(workspace: Workspace) -> None:
    assert _ids(workspace) == ["b", "e", "d", "z/1", "a", "c", "e1"]
    assert _ids(workspace, order="plan") == ["z/1", "a", "b", "c", "d", "e", "e1"]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("hauptstadt", ["z/1"]),
        ("ÖSTERREICH", ["z/1"]),
        ("heisst", ["z/1"]),
        ("首都", ["a"]),
        ("北京", ["a"]),
        ("京", ["a"]),
        ("哪座城市", ["a"]),
        ("都首", []),
        ("capital of", ["b", "e", "d", "c", "e1"]),
        ('"capital of b"', ["b"]),
        ('"of capital"', []),
        ("of capital", ["b", "e", "d", "c", "e1"]),
        ("weath*", ["b"]),
        ("weath", []),
        ("get_weather", ["b"]),
        ("Oslo rains", ["b"]),
        ("half", ["b"]),
        ("script", ["b"]),
        ("reply", ["d"]),
        ("z/1", ["z/1"]),
        ("!?", []),
        ('" OR words:capital', []),
        ("NOT capital AND (", []),
    ],
)
def test_texts_are_found_by_words_and_by_characters(workspace: Workspace, text: str, ids: Sequence[str]) -> None:
    assert _ids(workspace, text=text) == ids


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ({"outcome": "provider_failed"}, ["d"]),
        ({"outcome": "skipped"}, []),
        ({"state": "failed"}, ["b", "e"]),
        ({"error_class": "wrong_answer"}, ["b"]),
        ({"error_class": "-", "state": "failed"}, ["e"]),
        ({"error_class": "provider_failed", "error_type": "timeout"}, ["d"]),
        ({"tag": ("level=2",)}, ["b", "a"]),
        ({"tag": ("level=2", "lang=zh")}, ["a"]),
        ({"tag": ("level=9",)}, []),
        ({"scorer": "close"}, ["b", "z/1", "c"]),
        ({"scorer": "close", "max_value": 0.6}, ["c"]),
        ({"scorer": "nobody", "max_value": 0.6}, []),
        ({"min_value": 0.4, "max_value": 0.6}, ["c"]),
        ({"max_value": 0.0, "order": "plan"}, ["b", "e"]),
        ({"disagree": True}, ["b"]),
        ({"id": "/"}, ["z/1"]),
        ({"id": "%"}, []),
        ({"text": "capital", "id": "b", "outcome": "scored", "max_value": 0.5}, ["b"]),
        ({"text": "capital", "id": "z"}, []),
    ],
)
def test_filters_hold_together(workspace: Workspace, given: dict[str, Any], ids: Sequence[str]) -> None:
    assert _ids(workspace, **given) == ids


def test_labels_filter_as_soon_as_they_are_there(workspace: Workspace) -> None:
    label = Annotation(run_id="r", sample_id="b", kind="label", name="exact", value=1.0, by="ann")
    agrees = Annotation(run_id="r", sample_id="c", kind="label", name="exact", value=1.0, by="ann")
    mark = Annotation(run_id="r", sample_id="e", attempt=1, kind="review", by="ann")
    assert _ids(workspace, label="labelled") == []
    workspace.stores["runs"].annotate([label, agrees, mark])
    assert _ids(workspace, label="labelled") == ["b", "c"]
    assert _ids(workspace, order="-sample") == ["z/1", "e", "e1", "d", "c", "b", "a"]
    assert _ids(workspace, order="points") == ["b", "e", "c", "z/1", "a", "e1", "d"]
    assert _ids(workspace, order="-points", text="capital")[-1] == "d"
    assert _ids(workspace, label="contested") == ["b"]
    assert _ids(workspace, label="review", text="capital") == ["e1"]
    (row,) = list_samples(workspace, SampleFilter(run="r", label="review")).rows
    assert row.marks == ("review",)


@pytest.mark.parametrize("order", ["failures", "plan", "sample", "-sample", "points", "-points", "-seconds", "tokens"])
def test_pages_follow_each_other_and_each_sample_has_its_neighbours(workspace: Workspace, order: Any) -> None:
    every = _ids(workspace, order=order)
    seen: list[SampleRow] = []
    given = SampleFilter(run="r", order=order, size=2)
    page = list_samples(workspace, given)
    assert page.total == 7
    while True:
        seen += page.rows
        if page.next is None:
            break
        page = list_samples(workspace, SampleFilter(run="r", order=order, size=2, after=page.next))
        assert page.total is None
    assert [_name(row) for row in seen] == every
    for number, row in enumerate(seen):
        around = neighbours(workspace, given, row.sample, row.attempt)
        assert _name(around.previous) == (every[number - 1] if number else "")
        assert _name(around.next) == (every[number + 1] if number + 1 < len(every) else "")
    chosen = neighbours(workspace, SampleFilter(run="r", state="passed", order="plan"), "b", 0)
    assert (_name(chosen.previous), _name(chosen.next)) == ("a", "c")


def test_a_row_says_what_there_is_and_long_texts_are_cut(workspace: Workspace) -> None:
    row = list_samples(workspace, SampleFilter(run="r")).rows[0]
    assert (row.sample, row.outcome, row.state, row.error_class, row.error_type) == (
        "b",
        "scored",
        "failed",
        "wrong_answer",
        "city",
    )
    assert (row.values, row.disagree, row.tags) == ({"close": 1.0, "exact": 0.0}, True, {"level": "2", "lang": "en"})
    assert (row.question, row.answer) == ("What is the capital of b?", "It rains <script>")
    assert row.reason == say("half of {what}", what="it")


def test_what_can_be_filtered_by_is_counted(workspace: Workspace) -> None:
    facets = list_facets(workspace, RunReference(run="r"))
    assert {one.name: one.count for one in facets.outcomes} == {"scored": 6, "provider_failed": 1}
    assert {one.name: one.count for one in facets.error_classes} == {"": 5, "wrong_answer": 1, "provider_failed": 1}
    assert [(one.name, one.count) for one in facets.tags] == [
        ("level=2", 2),
        ("lang=de", 1),
        ("lang=en", 1),
        ("lang=zh", 1),
        ("level=1", 1),
    ]
    assert sorted(facets.scorers) == ["close", "exact"]


async def _judge(store: Store, *ids: str, points: float) -> None:
    record = store.run("r")
    await store.begin(record)
    await store.judge([a_verdict(id, points=points, details={"error_class": "new"}) for id in ids])
    await store.end(record)


def test_a_run_that_grows_or_is_judged_again_is_followed(workspace: Workspace) -> None:
    store = workspace.stores["runs"]
    _ids(workspace)
    asyncio.run(_judge(store, "z/1", "b", points=0))
    assert _ids(workspace, error_class="new") == ["z/1", "b"]
    assert _ids(workspace, error_class="wrong_answer") == []
    assert _ids(workspace, state="passed") == ["a", "c", "e1"]
    assert {one.name: one.count for one in list_facets(workspace, RunReference(run="r")).states} == {
        "failed": 3,
        "passed": 3,
        "lost": 1,
    }

    async def retry() -> None:
        record = store.run("r")
        await store.begin(record)
        await store.add(a_trial("d", trajectory=Trajectory.of("anew")), [a_verdict("d")])
        assert _ids(workspace, text="anew") == ["d"]
        await store.end(record)

    asyncio.run(retry())
    assert _ids(workspace, outcome="provider_failed") == []
    assert len(_ids(workspace)) == 7


def test_a_file_that_was_deleted_damaged_or_of_another_version_is_made_again(workspace: Workspace) -> None:
    file = workspace.kept(Side).file(workspace.stores["runs"], "r")
    for harm in (
        file.unlink,
        lambda: file.write_bytes(b"no database, and long enough to be one" * 200),
        lambda: _sql(file, "UPDATE meta SET value = '0' WHERE name = 'format'"),
        lambda: _sql(file, "DROP TABLE facets"),
    ):
        assert len(_ids(workspace)) == 7
        harm()
        try:
            again = _ids(workspace)
        except BadInput as error:  # found while it was used: it is made again for the next request
            assert "Load the page again" in str(error)  # noqa: PT017
            again = _ids(workspace)
        assert len(again) == 7


def test_many_changes_make_the_file_new(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor_web.samples.indexing.LEAST_STALE", 1)
    _ids(workspace)
    for _ in range(3):
        asyncio.run(_judge(workspace.stores["runs"], "z/1", "b", points=0))
        assert _ids(workspace, error_class="new") == ["z/1", "b"]
    file = workspace.kept(Side).file(workspace.stores["runs"], "r")
    assert _sql(file, "SELECT value FROM meta WHERE name = 'stale'") in ([("0",)], [("2",)])


def test_a_large_run_is_entered_by_a_process(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "SMALL", 3)
    monkeypatch.setattr(finding, "WAITS_SECONDS", 30)
    assert len(_ids(workspace, text="capital")) == 5


def test_a_page_that_does_not_wait_says_how_much_is_there(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "SMALL_WAITS_SECONDS", 0)
    page = list_samples(workspace, SampleFilter(run="r"))
    assert (page.indexed < 1) or len(page.rows) == 7


def test_programs_ask_for_the_same(tmp_path: Path) -> None:
    site = AppSite(tmp_path)
    site.run("first")
    program = site.program()
    answer = program.get("/api/v1/runs/first/samples?tag=script%3Dhan&size=1").json()
    assert [row["sample"] for row in answer["rows"]] == ["cn"]
    assert (answer["total"], answer["indexed"]) == (2, 1.0)
    assert program.get(f"/api/v1/runs/first/samples?tag=script%3Dhan&after={answer['next']}").json()["next"] is None
    assert program.get("/api/v1/runs/first/facets").json()["scorers"] == ["exact"]
    for odd in (
        "text=" + "a " * 900,
        "text=%22" + "b " * 900,
        "text=" + "北" * 900,
        "min_value=nan",
        "tag=%ED%A0%80",
    ):
        assert program.get(f"/api/v1/runs/first/samples?{odd}").json().get("rows") == [], odd[:20]
    for bad in (
        "after=x",
        "after=9999999999999999999",
        "after=-1",
        "size=0",
        "min_value=much",
        "order=up",
        "label=all",
    ):
        assert program.get(f"/api/v1/runs/first/samples?{bad}").status_code == 400, bad
    assert program.get("/api/v1/runs/other/samples").status_code == 404
    site.workspace.close()


def test_the_address_of_a_filter_is_read_as_that_filter() -> None:
    given = SampleFilter(run="r", text="a&b", tag=("k=v", "l=w"), disagree=True, min_value=0.5, order="plan")
    assert query_of(given) == "text=a%26b&tag=k%3Dv&tag=l%3Dw&min_value=0.5&disagree=true&order=plan"


def test_a_pass_that_is_cut_off_goes_on_and_misses_nothing(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = workspace.stores["runs"]
    file = workspace.kept(Side).file(store, "r")
    monkeypatch.setattr(indexing, "FIRST_CHUNK", 2)
    monkeypatch.setattr(indexing, "CHUNK", 2)
    whole = index_file.Entries.enter
    chunks: list[Any] = []

    def enter(self: Any, entries: Any, meta: Any) -> None:
        if entries and len(chunks) == 2:
            raise KeyboardInterrupt
        chunks.extend([entries] if entries else [])
        whole(self, entries, meta)

    with monkeypatch.context() as cut:
        cut.setattr(index_file.Entries, "enter", enter)
        with pytest.raises(KeyboardInterrupt):
            indexing.bring_up(store, "r", file)
    assert _sql(file, "SELECT count(*) FROM trials") == [(4,)]
    asyncio.run(_judge(store, "z/1", points=0))  # it was entered with its earlier verdict
    assert _ids(workspace, error_class="new") == ["z/1"]
    assert len(_ids(workspace)) == 7
    assert _sql(file, "SELECT count(*) FROM trials") == [(7,)]


def test_lists_are_read_while_trials_are_entered(workspace: Workspace) -> None:
    store = workspace.stores["runs"]
    stop = threading.Event()
    wrong: list[BaseException] = []

    def judge() -> None:
        points = 0
        while not stop.is_set():
            asyncio.run(_judge(store, "z/1", "b", "a", points=(points := 1 - points)))

    def look() -> None:
        try:
            while not stop.is_set():
                assert len(list_samples(workspace, SampleFilter(run="r", text="*", size=3)).rows) == 0
                page = list_samples(workspace, SampleFilter(run="r"))
                assert len(page.rows) == 7 or page.indexed < 1
                neighbours(workspace, SampleFilter(run="r"), "c", 0)
        except BaseException as error:
            wrong.append(error)

    _ids(workspace)
    threads = [threading.Thread(target=work) for work in (judge, look, look)]
    for thread in threads:
        thread.start()
    stop.wait(1.5)
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def _sql(file: Path, statement: str) -> list[Any]:
    db = sqlite3.connect(file, isolation_level=None)
    found = db.execute(statement).fetchall()
    db.close()
    return found
