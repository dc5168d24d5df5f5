"""Which samples a run takes."""

from collections import Counter
from collections.abc import Iterator
from itertools import count

import pytest

from proctor.core.errors import BadInput
from proctor.core.run import Selection
from proctor.core.sample import Sample
from proctor.core.task import Task
from proctor.engine.selection import choose

SAMPLES = [
    Sample.ask(f"{category}_{n}", "?", tags={"category": category}) for category in ("a", "b", "c") for n in range(40)
]
TASK = Task(name="t", samples=SAMPLES, spread_by="category")


def ids(selection: Selection, seed: int = 0, task: Task = TASK) -> list[str]:
    return [sample.id for sample in choose(task, selection, seed).read()]


def test_a_limit_is_drawn_in_proportion_and_the_same_for_the_same_seed() -> None:
    taken = ids(Selection(limit=10))
    assert taken == ids(Selection(limit=10))
    assert taken != ids(Selection(limit=10), seed=1)
    assert sorted(Counter(name[0] for name in taken).values()) == [3, 3, 4]
    uneven = Task(name="t", samples=[*SAMPLES[:36], *SAMPLES[40:44]], spread_by="category")
    assert Counter(name[0] for name in ids(Selection(limit=10), task=uneven)) == {"a": 9, "b": 1}


def test_a_small_category_is_drawn_from_where_the_limit_allows() -> None:
    uneven = Task(name="t", samples=[*SAMPLES[:40], SAMPLES[40]], spread_by="category")
    for seed in range(20):
        assert "b_0" in ids(Selection(limit=2), seed, uneven)


def test_the_sizes_of_what_was_drawn_from_are_recorded() -> None:
    strata = choose(TASK, Selection(limit=10, tags={"category": "b"}), 0).strata
    assert (strata.by, strata.sizes, strata.order) == ("category", {"b": 40}, "random")
    assert choose(TASK, Selection(limit=10, ids=("a_1", "b_1", "b_2")), 0).strata.sizes == {"a": 1, "b": 2}
    assert choose(TASK, Selection(limit=2), 0).strata.sizes == {"": 120}, "what was not drawn from has no weight"
    plain = choose(Task(name="t", samples=SAMPLES), Selection(limit=2), 0).strata
    assert (plain.by, plain.sizes) == ("", {"": 120})


def test_samples_are_visited_at_random_or_in_the_order_of_the_task() -> None:
    at_random = [sample.id for sample in choose(TASK, Selection(), 0).visits()]
    official = choose(TASK, Selection(), 0, order="official")
    assert [sample.id for sample in official.visits()] == [sample.id for sample in SAMPLES] != at_random
    assert official.strata.order == "official"
    assert Counter(name[0] for name in at_random[:30]) == {"a": 10, "b": 10, "c": 10}


def test_a_lazy_task_too_long_to_be_read_again_keeps_its_order_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.engine.selection.MOST_LAZY", 100)
    found = choose(Task(name="t", samples=lambda: iter(SAMPLES), spread_by="category"), Selection(), 0)
    assert [sample.id for sample in found.visits()] == [sample.id for sample in SAMPLES]
    assert found.strata.order == "official"


def test_a_lazy_task_of_small_samples_is_read_once() -> None:
    read = 0

    def samples() -> Iterator[Sample]:
        nonlocal read
        for sample in SAMPLES:
            read += 1
            yield sample

    found = choose(Task(name="t", samples=samples, spread_by="category"), Selection(limit=50), 0)
    assert len([*found.read()]) == len([*found.visits()]) == 50
    assert read == len(SAMPLES)


def test_of_a_lazy_task_no_more_is_read_than_asked_for() -> None:
    endless = Task(name="t", samples=lambda: (Sample.ask(str(n), "?") for n in count()))
    assert [sample.id for sample in choose(endless, Selection(first=2), 0).read()] == ["0", "1"]


def test_a_lazy_task_is_read_in_parts_so_that_few_samples_are_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.engine.selection.MOST_KEPT", 0)
    monkeypatch.setattr("proctor.engine.selection.HELD", 7)
    found = choose(Task(name="t", samples=lambda: iter(SAMPLES), spread_by="category"), Selection(), 0)
    assert [one.id for one in found.visits()] == [one.id for one in choose(TASK, Selection(), 0).visits()]


def test_of_a_stored_run_the_planned_samples_are_taken_whatever_would_be_drawn_today() -> None:
    found = choose(TASK, Selection(limit=3), 0, planned=["a_1", "a_2", "c_9"])
    assert [sample.id for sample in found.read()] == ["a_1", "a_2", "c_9"]
    assert {sample.id for sample in found.visits()} == {"a_1", "a_2", "c_9"}


def test_a_larger_limit_takes_the_same_samples_and_more() -> None:
    assert set(ids(Selection(limit=10))) < set(ids(Selection(limit=20)))


def test_the_order_is_that_of_the_task() -> None:
    everything = ids(Selection())
    taken = ids(Selection(limit=30))
    assert taken == [name for name in everything if name in set(taken)]


def test_first_tags_and_ids_narrow_the_choice() -> None:
    assert ids(Selection(first=2)) == ["a_0", "a_1"]
    assert ids(Selection(tags={"category": "b"}, first=1)) == ["b_0"]
    assert ids(Selection(ids=("c_3", "a_1"))) == ["a_1", "c_3"]
    assert len(ids(Selection(limit=1000))) == len(SAMPLES)


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(ids=("a_1", "a_99")), "No sample is called 'a_99'"),
        (Selection(tags={"category": "d"}), r"category=a\|b\|c"),
        (Selection(tags={"level": "1"}), "No sample has the tag level=1"),
    ],
)
def test_what_no_sample_has_is_named(selection: Selection, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        ids(selection)


def test_a_task_without_samples_is_refused() -> None:
    with pytest.raises(BadInput, match="has no samples"):
        ids(Selection(), task=Task(name="empty", samples=[]))


def test_a_generator_can_be_read_twice() -> None:
    read = choose(Task(name="t", samples=(sample for sample in SAMPLES)), Selection(), 0).read
    assert len(list(read())) == len(list(read())) == len(SAMPLES)


def conversation(name: str, after: str = "", *, is_preparation: bool = False) -> Sample:
    meta = {"after": after} if after else {}
    tags = {"preparation": "memory"} if is_preparation else {"category": "memory"}
    return Sample.ask(name, "?", tags=tags, meta=meta)


FOLLOWING = [
    conversation("write_0", is_preparation=True),
    conversation("write_1", "write_0", is_preparation=True),
    conversation("other_0", is_preparation=True),
    *(conversation(f"ask_{number}", "write_1") for number in range(20)),
    conversation("ask_other", "other_0"),
    *(conversation(f"alone_{number}") for number in range(5)),
]


def test_what_chosen_samples_follow_is_chosen_with_them_visited_first_and_not_counted() -> None:
    chosen = choose(Task(name="t", samples=FOLLOWING, spread_by="category"), Selection(ids=("ask_3", "alone_0")), 0)
    assert [sample.id for sample in chosen.visits()][:2] == ["write_0", "write_1"]
    assert {sample.id for sample in chosen.read()} == {"write_0", "write_1", "ask_3", "alone_0"}
    assert chosen.strata.sizes == {"memory": 2}


@pytest.mark.parametrize("selection", [Selection(limit=4), Selection(first=4)])
def test_a_draw_is_of_samples_that_count(selection: Selection) -> None:
    task = Task(name="t", samples=FOLLOWING, spread_by="category")
    read = [sample.id for sample in choose(task, selection, 1).read()]
    assert sum(not id.startswith(("write", "other")) for id in read) == 4
    assert ("write_0" in read) == any(id.startswith("ask_") and id != "ask_other" for id in read)
    planned = choose(task, selection, 1, planned=read)
    assert [sample.id for sample in planned.read()] == read


def test_all_preparations_of_a_whole_task_are_played_and_one_alone_where_its_id_says_so() -> None:
    task = Task(name="t", samples=FOLLOWING, spread_by="category")
    whole = choose(task, Selection(), 0)
    assert sorted(sample.id for sample in whole.visits()) == sorted(sample.id for sample in FOLLOWING)
    assert whole.strata.total == 26
    assert [one.id for one in choose(task, Selection(ids=("write_1",)), 0).visits()] == ["write_0", "write_1"]


def test_a_lazy_task_without_followers_is_read_no_further_than_needed() -> None:
    seen = []

    def samples() -> Iterator[Sample]:
        for number in range(1000):
            seen.append(number)
            yield conversation(f"alone_{number}")

    chosen = choose(Task(name="t", samples=samples), Selection(first=3), 0)
    assert [one.id for one in chosen.read()] == ["alone_0", "alone_1", "alone_2"]
    assert max(seen) < 10
