"""Who reviews what, what is kept of it, and that nothing of it is lost."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import review_data
from hypothesis import given, settings
from hypothesis import strategies as st
from review_data import SCORES

from proctor.core.errors import BadInput
from proctor_judging.review import labels
from proctor_judging.review.dimensions import ReviewDimension
from proctor_judging.review.plan import assign
from proctor_judging.review.queue import Review, Reviewers

FAKES = Path(review_data.__file__).parent


def read_items(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


# The data


def test_an_item_without_an_id_or_a_field_is_shown_and_told(tmp_path: Path) -> None:
    data = tmp_path / "d.json"
    data.write_text(json.dumps([{"problem": "P"}, {"id": 7, "problem": "Q", "answer": 0, "solution": "s"}]))
    review = Review(data)
    assert [(item.id, item.answer) for item in review.items] == [("item-1", ""), ("7", "0")]
    assert [str(note) for note in review.notes] == [
        "Answer: missing in 1 of 2 items: item-1",
        "Solution: missing in 1 of 2 items: item-1",
    ]


def test_columns_that_are_not_known_are_shown_too(tmp_path: Path) -> None:
    data = tmp_path / "d.jsonl"
    data.write_text('{"题目": "求 $x$", "turns": [{"role": "user"}], "level": 3}\n')
    [item] = Review(data).items
    assert (item.problem, item.more) == ("求 $x$", {"turns": '[{"role":"user"}]', "level": "3"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '[{"id": "a", "problem": "1"}, {"id": "b"}, {"id": "a"}]',
            "d.json, entry 3: the id 'a' was used already in row 1",
        ),
        ("[]", "holds no items"),
        ("{}", "list of objects"),
        ("[1]", "expected an object"),
        ("nothing", "no valid JSON"),
        ("", "no valid JSON"),
    ],
)
def test_data_that_cannot_be_reviewed_is_refused_with_the_place(text: str, said: str, tmp_path: Path) -> None:
    data = tmp_path / "d.json"
    data.write_text(text)
    with pytest.raises(BadInput) as raised:
        Review(data)
    assert said in str(raised.value)


def test_a_file_of_another_kind_or_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(BadInput, match=r"no data file that is read here"):
        Review(tmp_path / "a.txt")
    with pytest.raises(BadInput, match=r"There is no file"):
        Review(tmp_path / "none.json")


def test_the_data_is_never_written(tmp_path: Path) -> None:
    data = review_data.write(tmp_path)
    before = (data.read_bytes(), data.stat().st_mtime_ns)
    review = Review(data, Reviewers(names=["ann", "bob"], each=1))
    review.label("gen_aime_1", "ann", SCORES, "approved")
    review.undo("ann")
    assert (data.read_bytes(), data.stat().st_mtime_ns) == before


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_from_the_labels_to_the_data_is_refused(tmp_path: Path) -> None:
    data = review_data.write(tmp_path)
    labels.file_of(data).symlink_to(data)
    with pytest.raises(BadInput, match="link to the data"):
        Review(data)


@pytest.mark.slow
def test_a_data_file_of_100_megabytes_is_reviewed(tmp_path: Path) -> None:
    data = tmp_path / "large.jsonl"
    with data.open("w") as file:
        for number in range(100_000):
            file.write(json.dumps({"id": f"i{number}", "problem": "x" * 1000, "answer": number}) + "\n")
    assert data.stat().st_size > 100_000_000
    review = Review(data)
    review.label("i99999", "", SCORES, "approved")
    assert review.progress().done == 1
    assert len(review.states("")) == 100_000


# Labels of other data


def test_labels_of_other_data_are_refused(tmp_path: Path) -> None:
    data = review_data.write(tmp_path)
    labels.file_of(data).write_text(json.dumps({"other_1": {"scores": {}, "status": "approved"}}))
    with pytest.raises(BadInput, match="belongs to other data: none of the 1 items"):
        Review(data)


def test_labels_of_data_with_the_same_ids_are_refused_unless_it_was_meant(tmp_path: Path) -> None:
    data = review_data.write(tmp_path)
    review = Review(data)
    for item in ("gen_aime_1", "gen_aime_2"):
        review.label(item, "", SCORES, "approved")
    data.write_text(json.dumps([review_data.problem(n, problem=f"New {n}") for n in (1, 2, 3)]))
    with pytest.raises(BadInput, match="all 2 items it is of have another text"):
        Review(data)
    assert Review(data, changed=True).states("") == {1: "changed", 2: "changed", 3: "todo"}


def test_an_item_that_was_changed_is_to_do_again_and_its_label_is_kept(tmp_path: Path) -> None:
    data = review_data.write(tmp_path)
    review = Review(data)
    for item in ("gen_aime_1", "gen_aime_2"):
        review.label(item, "", SCORES, "approved")
    data.write_text(json.dumps([review_data.problem(1, answer=99), review_data.problem(2), review_data.problem(4)]))
    again = Review(data)
    assert again.states("") == {1: "changed", 2: "approved", 3: "todo"}
    assert again.progress().done == 1
    assert "1 items were changed" in str(again.notes[0])
    again.label("gen_aime_1", "", SCORES, "rejected")
    assert again.states("")[1] == "rejected"
    assert len(read_items(again.file)["gen_aime_1"]["reviews"]) == 2


def test_a_label_of_an_item_that_is_gone_is_kept(tmp_path: Path) -> None:
    data = review_data.write(tmp_path)
    review = Review(data)
    review.label("gen_aime_1", "", SCORES, "approved")
    review.label("gen_aime_3", "", SCORES, "approved")
    data.write_text(json.dumps([review_data.problem(1), review_data.problem(2)]))
    again = Review(data)
    assert "1 labels are of items that are not in the data any more" in str(again.notes[0])
    again.label("gen_aime_2", "", SCORES, "approved")
    assert set(read_items(again.file)) == {"gen_aime_1", "gen_aime_2", "gen_aime_3"}


def test_what_others_put_into_a_record_stays(tmp_path: Path) -> None:
    data = review_data.write(tmp_path)
    kept = {"scores": {"clarity": 5}, "status": "approved", "total_score": 5, "mine": [1, {"two": 2}]}
    labels.file_of(data).write_text(json.dumps({"gen_aime_1": kept}))
    Review(data).label("gen_aime_2", "", SCORES, "approved")
    assert read_items(labels.file_of(data))["gen_aime_1"] == kept


def test_a_file_of_the_source_is_gone_on_with(tmp_path: Path) -> None:
    data = review_data.write(tmp_path)
    labels.file_of(data).write_text(json.dumps({"gen_aime_1": {"scores": SCORES, "status": "rejected"}}))
    review = Review(data)
    assert review.states("") == {1: "rejected", 2: "todo", 3: "todo"}
    assert review.undo("") is None  # it was not made here
    review.label("gen_aime_1", "", SCORES, "approved")
    assert review.states("")[1] == "approved"
    assert review.undo("") is not None
    assert review.states("")[1] == "rejected"


# Labels


@pytest.mark.parametrize(
    ("scores", "status", "comments", "said"),
    [
        ({**SCORES, "clarity": 0}, "approved", "", "clarity is scored from 1 to 5, not 0"),
        ({**SCORES, "clarity": 6}, "approved", "", "not 6"),
        ({**SCORES, "clarity": float("nan")}, "approved", "", "not nan"),
        ({**SCORES, "clarity": True}, "approved", "", "not True"),
        ({"correctness": 5}, "approved", "", "A score is missing: clarity"),
        (SCORES, "", "", "Choose a status"),
        (SCORES, "perfect", "", "Choose a status"),
        (SCORES, "approved", "x" * 10_001, "at most 10000 characters"),
    ],
)
def test_a_label_that_is_not_whole_is_refused_and_nothing_is_written(
    scores: dict[str, float], status: str, comments: str, said: str, tmp_path: Path
) -> None:
    review = Review(review_data.write(tmp_path))
    with pytest.raises(BadInput) as raised:
        review.label("gen_aime_1", "", scores, status, comments)
    assert said in str(raised.value)
    assert not review.file.exists()


def test_a_comment_of_any_text_comes_back(tmp_path: Path) -> None:
    review = Review(review_data.write(tmp_path))
    review.label("gen_aime_1", "", SCORES, "approved", '好 "quoted" \\frac <b>\n\ttab \ud800')
    assert labels.read(review.file)[0].comments == '好 "quoted" \\frac <b>\n\ttab ?'


def test_only_items_of_the_data_can_be_labelled(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no item 'gen_aime_9'"):
        Review(review_data.write(tmp_path)).label("gen_aime_9", "", SCORES, "approved")


def test_dimensions_and_scale_can_be_others(tmp_path: Path) -> None:
    review = Review(review_data.write(tmp_path), dimensions=[ReviewDimension(name="tone", low=0, high=10)])
    review.label("gen_aime_1", "", {"tone": 0, "not asked": 3}, "approved")
    assert labels.read(review.file)[0].scores == {"tone": 0}


def test_undo_brings_the_earlier_label_back_and_keeps_what_was_taken_back(tmp_path: Path) -> None:
    review = Review(review_data.write(tmp_path))
    review.label("gen_aime_1", "ann", SCORES, "approved", "first")
    review.label("gen_aime_2", "ann", SCORES, "approved")
    review.label("gen_aime_1", "ann", SCORES, "rejected", "second")
    review.label("gen_aime_3", "bob", SCORES, "approved")
    taken = [review.undo("ann") for _ in range(4)]
    assert [one and (one.item, one.entry.comments) for one in taken] == [
        ("gen_aime_1", "second"), ("gen_aime_2", ""), ("gen_aime_1", "first"), None,
    ]  # fmt: skip
    assert [one.item for one in labels.read(review.file)] == ["gen_aime_3"]
    assert [one.entry.comments for one in review.plan.withdrawn] == ["second", "", "first"]


def test_an_undo_of_nothing_writes_nothing(tmp_path: Path) -> None:
    review = Review(review_data.write(tmp_path))
    assert review.undo("") is None
    assert [path.name for path in tmp_path.iterdir()] == ["aime_generated.json"]


def test_after_an_undo_the_label_before_counts_again(tmp_path: Path) -> None:
    review = Review(review_data.write(tmp_path))
    review.label("gen_aime_1", "ann", SCORES, "approved")
    review.label("gen_aime_1", "ann", SCORES, "rejected")
    review.undo("ann")
    assert [one.status for one in labels.read(review.file)] == ["approved"]


# Several reviewers


def test_items_are_drawn_with_the_seed_and_spread_evenly(tmp_path: Path) -> None:
    data = review_data.write(tmp_path, 20)
    review = Review(data, Reviewers(names=["ann", "bob", "cat"], each=2, seed=4))
    queues = {name: {item.id for item in review.queue(name)} for name in review.reviewers}
    assert sorted(len(queue) for queue in queues.values()) == [13, 13, 14]
    assert set(Counter(item for queue in queues.values() for item in queue).values()) == {2}
    assert Review(data).plan == review.plan, "a later start has the same plan"
    assert Review(data).reviewers == ("ann", "bob", "cat")


def test_another_seed_draws_otherwise() -> None:
    items = [str(number) for number in range(30)]
    assert assign(items, ["ann", "bob"], 1, 0) != assign(items, ["ann", "bob"], 1, 1)


@given(items=st.integers(0, 40), people=st.integers(1, 6), each=st.integers(1, 6), seed=st.integers(0, 99))
@settings(max_examples=100)
def test_an_assignment_is_whole_balanced_and_without_repeats(items: int, people: int, each: int, seed: int) -> None:
    names = [f"r{number}" for number in range(people)]
    ids = [str(number) for number in range(items)]
    if each > people:
        with pytest.raises(BadInput):
            assign(ids, names, each, seed)
        return
    found = assign(ids, names, each, seed)
    assert [*found] == ids
    assert all(len(set(one)) == each for one in found.values())
    load = Counter(name for one in found.values() for name in one)
    assert max((load[name] for name in names), default=0) - min((load[name] for name in names), default=0) <= 1


def test_a_reviewer_who_comes_later_takes_over_only_what_nobody_began(tmp_path: Path) -> None:
    data = review_data.write(tmp_path, 12)
    review = Review(data, Reviewers(names=["ann", "bob"], each=1))
    done = [item.id for item in review.queue("ann")][:2]
    for item in done:
        review.label(item, "ann", SCORES, "approved")
    later = Review(data, Reviewers(names=["cat"]))
    assert later.reviewers == ("cat",)
    assert {name: len(later.queue(name)) for name in ("ann", "bob", "cat")} == {"ann": 4, "bob": 4, "cat": 4}
    assert set(done) <= {item.id for item in later.queue("ann")}


def test_new_items_are_assigned_and_the_others_stay(tmp_path: Path) -> None:
    data = review_data.write(tmp_path, 6)
    before = Review(data, Reviewers(names=["ann", "bob"], each=1)).plan.assigned
    after = Review(review_data.write(tmp_path, 8)).plan.assigned
    assert {item: after[item] for item in before} == before
    assert len(after) == 8


def test_without_names_so_many_reviewers_are_called_by_number(tmp_path: Path) -> None:
    review = Review(review_data.write(tmp_path), Reviewers(each=2))
    assert review.reviewers == ("reviewer-1", "reviewer-2")


def test_more_reviews_than_reviewers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"needs 3 reviewers, and 2 are named \(ann, bob\)"):
        Review(review_data.write(tmp_path), Reviewers(names=["ann", "bob"], each=3))


@pytest.mark.parametrize("name", ["x" * 61, "a\x1b[31m", "\u202e"])
def test_a_name_nobody_can_read_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="reviewer's name"):
        Review(review_data.write(tmp_path), Reviewers(names=[name]))


def test_a_reviewer_sees_only_their_own_labels(tmp_path: Path) -> None:
    review = Review(review_data.write(tmp_path), Reviewers(names=["ann", "bob"]))
    review.label("gen_aime_1", "ann", SCORES, "rejected", "no")
    assert review.own(review.items[0], "bob") is None
    assert review.states("bob") == {1: "todo", 2: "todo", 3: "todo"}
    assert review.progress("bob").done == 0


def test_conflicts_are_listed_until_somebody_decides(tmp_path: Path) -> None:
    review = Review(review_data.write(tmp_path), Reviewers(names=["ann", "bob"]), distance=1)
    review.label("gen_aime_1", "ann", SCORES, "approved")
    review.label("gen_aime_1", "bob", {**SCORES, "clarity": 2}, "rejected")
    review.label("gen_aime_2", "ann", SCORES, "approved")
    review.label("gen_aime_2", "bob", {**SCORES, "clarity": 3}, "approved")  # one point apart is no conflict
    assert [(one.item.id, one.on) for one in review.conflicts()] == [("gen_aime_1", ("status", "clarity"))]
    review.label("gen_aime_1", "zoe", SCORES, "approved", decides=True)
    assert review.conflicts() == []
    assert review.undo("zoe") is not None
    assert len(review.conflicts()) == 1


def test_agreement_is_told_by_dimension_and_status(tmp_path: Path) -> None:
    review = Review(review_data.write(tmp_path, 6), Reviewers(names=["ann", "bob"]))
    for number in range(1, 7):
        score = 1 + number % 5
        mine = {**SCORES, "clarity": score}
        review.label(f"gen_aime_{number}", "ann", mine, "approved" if score > 2 else "rejected")
        review.label(f"gen_aime_{number}", "bob", mine, "approved" if number > 2 else "rejected")
    agreement = review.agreement()
    assert agreement["clarity"].value == pytest.approx(1)
    status = agreement["status"].value
    assert status is not None
    assert status < 1
    assert agreement["status"].scored == 6
    assert agreement["correctness"].value is None  # all said 5: nothing to agree about


def test_progress_counts_statuses_and_means(tmp_path: Path) -> None:
    review = Review(review_data.write(tmp_path))
    review.label("gen_aime_1", "", SCORES, "approved")
    review.label("gen_aime_2", "", dict.fromkeys(SCORES, 2), "needs_revision")
    progress = review.progress("")
    assert (progress.total, progress.done, progress.mean) == (3, 2, 3.25)
    assert progress.by_status == {"approved": 1, "rejected": 0, "needs_revision": 1}
    assert progress.by_dimension["clarity"] == 3
    assert review.progress() == progress


# Several at once, and sudden ends


def test_threads_that_label_at_once_lose_nothing(tmp_path: Path) -> None:
    data = review_data.write(tmp_path, 20)
    review = Review(data)

    def work(name: str) -> None:
        mine = Review(data)
        for item in mine.items:
            mine.label(item.id, name, SCORES, "approved")

    threads = [threading.Thread(target=work, args=(name,)) for name in ("ann", "bob", "cat")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(labels.read(review.file)) == 60
    numbers = [entry["number"] for one in read_items(review.file).values() for entry in one["reviews"]]
    assert sorted(numbers) == list(range(1, 61))


WORKER = """
import sys
from proctor_judging.review.queue import Review
from review_data import SCORES
review = Review(sys.argv[1])
for round in range(1000):
    for item in review.items:
        review.label(item.id, sys.argv[2], SCORES, "approved", str(round))
        print(item.id, round, flush=True)
"""


def started(data: Path, name: str) -> "subprocess.Popen[str]":
    environment = os.environ | {"PYTHONPATH": str(FAKES)}
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(data), name], stdout=subprocess.PIPE, text=True, env=environment
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_two_processes_of_which_one_is_killed_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    data = review_data.write(tmp_path, 8)
    workers = {name: started(data, name) for name in ("ann", "bob")}
    said: dict[str, list[str]] = {name: [] for name in workers}
    for _ in range(15):
        for name, worker in workers.items():
            assert worker.stdout is not None
            said[name].append(worker.stdout.readline())
    for name, worker in workers.items():
        worker.send_signal(signal.SIGKILL)
        assert worker.stdout is not None
        said[name] += worker.stdout.readlines()
        worker.stdout.close()
        worker.wait()
    kept = labels.records(labels.file_of(data))
    have = {(entry.reviewer, item, entry.comments) for item, one in kept.items() for entry in one.entries}
    acknowledged = {(name, *line.split()) for name, lines in said.items() for line in lines if line.endswith("\n")}
    assert len(acknowledged) >= 30
    assert acknowledged <= have
    Review(data).label("gen_aime_1", "cat", SCORES, "approved")  # nothing that was left over stands in the way
    assert [path.name for path in tmp_path.glob(".*.new")] == []


@pytest.mark.skipif(sys.platform == "win32", reason="folders are another matter there")
def test_a_folder_that_cannot_be_written_is_told_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    review = Review(review_data.write(tmp_path))
    review.check_writable()
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(BadInput, match="the folder cannot be written"):
        review.check_writable()


def test_a_label_that_cannot_be_written_is_refused_and_the_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    review = Review(review_data.write(tmp_path))
    review.label("gen_aime_1", "", SCORES, "approved")
    before = review.file.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadInput, match="No space left on device"):
        review.label("gen_aime_2", "", SCORES, "approved")
    assert review.file.read_bytes() == before
