"""Laws of the draw and of the order in which samples are visited."""

from array import array
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from proctor.core.run import Selection
from proctor.core.sample import Sample
from proctor.core.task import Task
from proctor.engine.order import draw, visits
from proctor.engine.selection import choose

sizes = st.dictionaries(st.text(max_size=3), st.integers(1, 60), min_size=1, max_size=6)
seeds = st.integers(0, 1_000)


def places(size_by_stratum: dict[str, int]) -> "dict[str, array[int]]":
    found, begin = {}, 0
    for stratum, size in size_by_stratum.items():
        found[stratum] = array("Q", range(begin, begin + size))
        begin += size
    return found


@given(sizes, seeds)
def test_the_visiting_order_is_a_permutation_and_the_same_for_a_seed(sizes: dict[str, int], seed: int) -> None:
    order = visits(places(sizes), seed)
    assert sorted(order) == list(range(sum(sizes.values())))
    assert order == visits(places(sizes), seed)


@given(sizes, seeds, st.data())
def test_every_beginning_of_the_order_holds_each_stratum_in_proportion(
    sizes: dict[str, int], seed: int, data: st.DataObject
) -> None:
    total = sum(sizes.values())
    begun = data.draw(st.integers(0, total))
    counts = Counter(dict.fromkeys(sizes, 0))
    taken = set(visits(places(sizes), seed)[:begun])
    for stratum, positions in places(sizes).items():
        counts[stratum] = len(taken.intersection(positions))
    for stratum, size in sizes.items():
        assert abs(counts[stratum] - begun * size / total) < 1 + len(sizes)


@given(sizes, seeds, st.data())
def test_a_draw_takes_so_many_each_once_and_of_every_stratum_one(
    sizes: dict[str, int], seed: int, data: st.DataObject
) -> None:
    total = sum(sizes.values())
    count = data.draw(st.integers(1, total))
    drawn = draw(places(sizes), count, seed)
    assert sum(map(len, drawn.values())) == count
    if count >= len(sizes):
        assert drawn.keys() == sizes.keys()
        more = draw(places(sizes), min(count + 1, total), seed)
        assert all(set(drawn[stratum]) <= set(more[stratum]) for stratum in drawn)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=60), seeds, st.integers(1, 70), st.booleans())
def test_a_lazy_task_is_drawn_and_visited_as_a_list_of_the_same_samples(
    tags: list[str], seed: int, limit: int, has_limit: bool
) -> None:
    samples = [Sample.ask(f"s{place}", "?", tags={"tag": tag}) for place, tag in enumerate(tags)]
    selection = Selection(limit=limit if has_limit else None)
    as_list = choose(Task(name="t", samples=samples, spread_by="tag"), selection, seed)
    lazy = choose(Task(name="t", samples=lambda: iter(samples), spread_by="tag"), selection, seed)
    assert [one.id for one in as_list.visits()] == [one.id for one in lazy.visits()]
    assert list(as_list.read()) == list(lazy.read())
    assert as_list.strata == lazy.strata
    assert sorted(one.id for one in as_list.visits()) == sorted(one.id for one in as_list.read())
