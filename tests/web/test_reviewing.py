"""Reviews in the app: answers of runs are drawn for people, who see no verdict, and their labels are compared with the judge's."""

import json
import re
from pathlib import Path

import pytest
from review_site import csrf
from starlette.testclient import TestClient
from web_site import AppSite

from proctor.core.errors import BadInput
from proctor_judging.review.agree import AgreedScorer
from proctor_web.reviewing.queues import (
    Choice,
    NewQueue,
    QueueNamed,
    create_queue,
    find_queue,
    list_queues,
    review_of,
    show_queue,
)
from proctor_web.samples.labels import Mark, mark_sample


@pytest.fixture
def site(tmp_path: Path) -> AppSite:
    made = AppSite(tmp_path)
    made.run("first")
    return made


def token(client: TestClient) -> str:
    return csrf(client, "/review")


def test_a_queue_shows_answers_and_no_verdict(site: AppSite) -> None:
    create_queue(site.workspace, NewQueue(name="blind", run=["first"], count=6))
    text = (Path(site.store + ".reviews") / "blind" / "items.jsonl").read_text(encoding="utf-8")
    items = [json.loads(line) for line in text.splitlines()]
    assert {one["problem"] for one in items} == {f"Capital of {id}?" for id in ("fr", "de", "it", "es", "cn", "jp")}
    assert all(set(one) == {"id", "problem", "answer", "solution"} for one in items)
    assert "first" not in text


def test_answers_of_two_runs_are_mixed_over_the_same_samples(site: AppSite) -> None:
    site.run("second", wrong=("fr", "de"))
    create_queue(site.workspace, NewQueue(name="both", run=["first", "second"], count=8))
    sources = find_queue(site.workspace, "both").sources.values()
    by_run = {run: {one.sample for one in sources if one.run == run} for run in ("first", "second")}
    assert by_run["first"] == by_run["second"]
    assert [one.run for one in sources] != sorted(one.run for one in sources)


def test_only_failures_can_be_drawn(site: AppSite) -> None:
    create_queue(site.workspace, NewQueue(name="failed", run=["first"], choose="failed"))
    assert [one.sample for one in find_queue(site.workspace, "failed").sources.values()] == ["it"]


@pytest.mark.parametrize("name", ["", "..", "a/b", "../x", "-x", "x" * 61, "名 单", "cafe\u0301"])
def test_a_name_cannot_leave_the_folder(site: AppSite, name: str) -> None:
    with pytest.raises(BadInput):
        create_queue(site.workspace, NewQueue(name=name, run=["first"]))
    assert list_queues(site.workspace) == []


def test_a_rubric_is_one_that_comes_with_proctor(site: AppSite, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[[dimensions]]\nname = 'x'\nen = {text = 'secret'}\n")
    with pytest.raises(BadInput, match="No rubric is called"):
        create_queue(site.workspace, NewQueue(name="q", run=["first"], rubric=str(tmp_path / "mine.toml")))


@pytest.mark.parametrize(("choose", "corrects"), [("random", True), ("failed", False), ("marked", False)])
def test_only_labels_of_answers_drawn_at_random_correct_a_figure(site: AppSite, choose: Choice, corrects: bool) -> None:
    failed = ("fr", "de", "it")
    site.run("second", wrong=failed)
    for sample in failed:
        mark_sample(site.workspace, Mark(run="second", sample=sample), "ann")
    create_queue(site.workspace, NewQueue(name="some", run=["second"], choose=choose, count=4))
    review = review_of(site.workspace, "some")
    for item, source in find_queue(site.workspace, "some").sources.items():
        status = "rejected" if source.sample in failed else "approved"
        review.label(item, "ann", {"correctness": 1}, status)
    agreement = show_queue(site.workspace, QueueNamed(queue="some")).agreement["second"].agreement
    assert agreement is not None
    [held] = agreement.held
    assert bool(held.corrected) == corrects
    assert ("not drawn at random" in str(held.calibration)) != corrects
    assert corrects or not held.calibrated


def test_a_queue_corrects_a_figure_when_all_of_it_is_judged(site: AppSite) -> None:
    create_queue(site.workspace, NewQueue(name="some", run=["first"], count=5))
    review = review_of(site.workspace, "some")
    for item in review.items:
        held = held_of(site, "some", "first")
        assert held is None or not held.corrected
        assert held is None or "5 drawn items are not labelled yet" in str(held.calibration)
        review.label(item.id, "ann", {"correctness": 1}, "approved")
    held = held_of(site, "some", "first")
    assert held is not None
    assert held.corrected


def test_a_queue_corrects_no_figure_of_a_run_with_other_answers_than_were_drawn_from(site: AppSite) -> None:
    create_queue(site.workspace, NewQueue(name="some", run=["first"], count=5))
    review = review_of(site.workspace, "some")
    for item in review.items:
        review.label(item.id, "ann", {"correctness": 1}, "approved")
    path = Path(site.store + ".reviews") / "some" / "queue.json"
    kept = json.loads(path.read_text())
    first, last = kept["sources"]["0001"], kept["sources"]["0005"]
    path.write_text(json.dumps({**kept, "sources": {**kept["sources"], "0001": last, "0005": first}}))
    held = held_of(site, "some", "first")
    assert held is not None
    assert not held.corrected
    assert "the run has other answers than when they were drawn" in str(held.calibration)


def test_each_attempt_is_an_answer_of_its_own(site: AppSite) -> None:
    site.run("twice", attempts=2)
    create_queue(site.workspace, NewQueue(name="all", run=["twice"]))
    review = review_of(site.workspace, "all")
    for item, source in find_queue(site.workspace, "all").sources.items():
        review.label(item, "ann", {"correctness": 1}, "approved" if source.attempt else "rejected")
    held = held_of(site, "all", "twice")
    assert held is not None
    assert (held.labels, held.judged) == (12, 12)


def held_of(site: AppSite, queue: str, run: str) -> AgreedScorer | None:
    agreement = show_queue(site.workspace, QueueNamed(queue=queue)).agreement[run].agreement
    return None if agreement is None else agreement.held[0]


def test_labels_are_compared_with_the_scorer(site: AppSite) -> None:
    create_queue(site.workspace, NewQueue(name="all", run=["first"], count=6))
    client = site.browser()
    page = client.get("/review/all/items-of/")
    assert page.url.path == "/review/all/items-of/items/1"
    right = {item: one.sample != "it" for item, one in find_queue(site.workspace, "all").sources.items()}
    for number, item in enumerate(sorted(right), 1):
        status = "approved" if right[item] else "rejected"
        sent = {"score:correctness": "5" if right[item] else "1", "status": status, "csrf": token(client)}
        answer = client.post(f"/review/all/items-of/items/{number}", data=sent, follow_redirects=False)
        assert answer.headers["location"].startswith("/review/all/items-of/")
    state = show_queue(site.workspace, QueueNamed(queue="all"))
    assert state.progress.done == 6
    before = sorted((Path(site.store + ".reviews") / "all").iterdir())
    shown = client.get("/review/all").text
    assert sorted((Path(site.store + ".reviews") / "all").iterdir()) == before, "looking writes nothing"
    assert "6 of 6 reviewed" in shown
    assert "exact" in shown


def test_a_reviewer_sees_the_queue_and_nothing_else(site: AppSite) -> None:
    create_queue(site.workspace, NewQueue(name="two", run=["first"], reviewer=["ann", "bob"], adjudicator="zoe"))
    owner = site.browser()
    made = owner.post("/review/two/link", data={"person": "ann", "csrf": token(owner)})
    link = made.text.partition("<code>")[2].partition("</code>")[0]
    ann = site.stranger()
    assert ann.get(link).url.path == "/review/two/items-of/items/1"
    for path in ("/runs", "/review/two", "/review", "/api/v1/queues", "/review/two/items-ofx"):
        assert ann.get(path).url.path == "/review/two/items-of/items/1", path
    assert owner.get("/review/two/items-of/").url.path == "/review/two", "the owner is no reviewer"


def test_links_of_a_queue_are_listed_and_revoked_by_who_may_make_them(site: AppSite) -> None:
    for name in ("two", "other"):
        create_queue(site.workspace, NewQueue(name=name, run=["first"], reviewer=["ann", "bob"]))
    owner = site.browser()

    def link(queue: str, person: str) -> str:
        made = owner.post(f"/review/{queue}/link", data={"person": person, "csrf": token(owner)})
        return made.text.partition("<code>")[2].partition("</code>")[0]

    def ids(queue: str) -> list[str]:
        return re.findall(r'name="id" value="(\w+)"', owner.get(f"/review/{queue}").text)

    def revoke(queue: str, id: str) -> int:
        return owner.post(f"/review/{queue}/revoke", data={"id": id, "csrf": token(owner)}).status_code

    used, unused = link("two", "ann"), link("two", "bob")
    ann, bob = site.stranger(), site.stranger()
    assert ann.get(used).url.path == "/review/two/items-of/items/1"
    assert ids("other") == []
    assert len(ids("two")) == 2
    assert ann.post("/review/two/revoke", data={"id": ids("two")[0]}).status_code != 303, "not by a reviewer"
    assert [revoke("other", id) for id in ids("two")] == [404, 404], "each on the page of its queue"
    assert [revoke("two", id) for id in ids("two")] == [200, 200]
    assert ids("two") == []
    assert (ann.get("/review/two/items-of/").status_code, bob.get(unused).status_code) == (401, 401)


def test_a_form_that_is_wrong_comes_back(site: AppSite) -> None:
    client = site.browser()
    sent = {"name": "q", "run": "frist", "csrf": token(client)}
    answer = client.post("/review", data=sent)
    assert answer.status_code == 400
    assert "Did you mean" in answer.text
    assert 'value="q"' in answer.text


def test_programs_can_do_the_same(site: AppSite) -> None:
    program = site.program()
    made = program.post("/api/v1/queues", json={"name": "api", "run": ["first"], "count": 3})
    assert made.json()["items"] == 3
    assert [one["name"] for one in program.get("/api/v1/queues").json()] == ["api"]
    assert program.get("/api/v1/queues/api").json()["row"]["done"] == 0
    assert program.get("/api/v1/queues/nope").status_code == 404
