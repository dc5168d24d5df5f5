"""Which samples a run takes."""

from collections import Counter

import pytest

from proctor.core.errors import BadInput
from proctor.core.run import Selection
from proctor.core.sample import Sample
from proctor.core.task import Task
from proctor.engine.selection import chosen

SAMPLES = [
    Sample.ask(f"{category}_{n}", "?", tags={"category": category}) for category in ("a", "b", "c") for n in range(40)
]
TASK = Task(name="t", samples=SAMPLES, spread_by="category")


def ids(selection: Selection, seed: int = 0, task: Task = TASK) -> list[str]:
    return [sample.id for sample in chosen(task, selection, seed)()]


def test_a_limit_is_spread_over_the_categories_and_the_same_for_the_same_seed() -> None:
    taken = ids(Selection(limit=10))
    assert taken == ids(Selection(limit=10))
    assert taken != ids(Selection(limit=10), seed=1)
    assert sorted(Counter(name[0] for name in taken).values()) == [3, 3, 4]


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
    read = chosen(Task(name="t", samples=(sample for sample in SAMPLES)), Selection(), 0)
    assert len(list(read())) == len(list(read())) == len(SAMPLES)
