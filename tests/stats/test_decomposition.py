"""The difference of two means, split into parts that sum to it."""

import math
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from proctor_ci.stats.decomposition import Key, Member, decompose

SHARE = st.floats(0, 1)
WEIGHT = st.sampled_from([0.0, 0.0, 0.3, 1.0, 2.5])


@st.composite
def member(draw: st.DrawFn) -> Member:
    return Member(
        cluster=draw(st.sampled_from("abcdefgh")),
        slice=draw(st.sampled_from(["", "x", "y"])),
        why=draw(st.sampled_from(["", "", "provider_failed", "not_run"])),
        first_weight=draw(WEIGHT),
        second_weight=draw(WEIGHT),
        first=draw(SHARE),
        second=draw(SHARE),
    )


BOTH = Member(cluster="z", first_weight=1, second_weight=1, first=0.5, second=0.25)


def mean(members: list[Member], side: str) -> float:
    each = [(one.first_weight, one.first) if side == "first" else (one.second_weight, one.second) for one in members]
    return math.fsum(w * x for w, x in each) / math.fsum(w for w, _ in each)


@given(st.lists(member(), max_size=40))
@settings(max_examples=200, deadline=None)
def test_the_parts_sum_to_the_difference(members: list[Member]) -> None:
    every = [*members, BOTH]
    split = decompose(every)
    whole, parts = split.whole, split.parts
    assert math.isclose(math.fsum(part.value for part in split.sums.values()), whole.value, abs_tol=1e-9)
    assert math.isclose(whole.value, mean(every, "second") - mean(every, "first"), abs_tol=1e-9)
    assert math.isclose(math.fsum(part.value for part in parts), whole.value, abs_tol=1e-9)
    for part in (whole, *parts):
        assert part.interval is None or part.interval.low <= part.value + 1e-9
        assert part.interval is None or part.interval.high >= part.value - 1e-9


def test_each_change_is_found_in_its_own_part() -> None:
    old = [
        Member(cluster=f"{n}", slice="ab"[n % 2], first_weight=1, second_weight=1, first=n % 2, second=n % 2)
        for n in range(100)
    ]
    assert [part.key for part in decompose(old).parts] == [Key("same")]
    assert decompose(old).whole.value == 0

    hard = [Member(cluster=f"new {n}", slice="a", second_weight=1, second=0) for n in range(50)]
    split = decompose([*old, *hard])
    whole, parts = split.whole, split.parts
    by_key = {part.key: part.value for part in parts}
    assert by_key == {
        Key("same"): 0,
        Key("shares", "a"): whole.value / 2,  # has more of the samples now, and earns less than the mean
        Key("shares", "b"): whole.value / 2,  # has fewer, and earns more
        Key("samples", "", "second"): 0,  # as hard as others of their slice
    }

    easy = [Member(cluster=f"new {n}", slice="a", second_weight=1, second=1) for n in range(50)]
    split = decompose([*old, *easy])
    whole, parts = split.whole, split.parts
    by_key = {part.key: part.value for part in parts}
    assert by_key[Key("samples", "", "second")] > 0 > by_key[Key("shares", "a")]  # easy ones of the hard slice

    lost = [Member(cluster="l", slice="a", why="provider_failed", first_weight=1, first=1)]
    split = decompose([*old, *lost])
    whole, parts = split.whole, split.parts
    by_key = {part.key: part.value for part in parts}
    assert by_key == {Key("same"): 0, Key("missing", "provider_failed", "first"): whole.value}

    heavier = [
        Member(cluster=f"{n}", slice="ab"[n % 2], first_weight=1, second_weight=1 + n % 2, first=n % 2, second=n % 2)
        for n in range(100)
    ]
    split = decompose(heavier)
    whole, parts = split.whole, split.parts
    assert {part.key.kind for part in parts} == {"same", "shares"}
    assert math.isclose(sum(part.value for part in parts if part.key.kind == "shares"), whole.value)


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from(["first", "second"]), SHARE, SHARE)
@settings(max_examples=40, deadline=None)
def test_a_proportional_subset_with_the_same_outcomes_has_nothing_in_any_part(
    easy: int, hard: int, whole: str, easy_mean: float, hard_mean: float
) -> None:
    """Of each slice the subset has one sample in two, alike; only chance could tell the sets apart, and here is none."""
    members = []
    for slice_, count, value in (("easy", easy, easy_mean), ("hard", hard, hard_mean)):
        for n in range(2 * count):
            weights = [1.0, 1.0]
            if n >= count:
                weights[whole == "first"] = 0.0
            members.append(
                Member(
                    cluster=f"{slice_} {n}",
                    slice=slice_,
                    first_weight=weights[0],
                    second_weight=weights[1],
                    first=value,
                    second=value,
                )
            )
    split = decompose(members)
    assert math.isclose(split.whole.value, 0, abs_tol=1e-9)
    assert all(math.isclose(part.value, 0, abs_tol=1e-9) for part in split.parts), split.parts


def test_more_samples_of_one_slice_move_the_shares_of_all() -> None:
    """60 hard samples more: each slice has as much less of its due as the other has more."""
    old = [
        Member(cluster=f"{n}", slice="eh"[n % 2], first_weight=1, second_weight=1, first=n % 2, second=n % 2)
        for n in range(100)
    ]
    split = decompose([*old, *(Member(cluster=f"new {n}", slice="h", second_weight=1, second=1) for n in range(60))])
    by_slice = {part.key.name: part.value for part in split.parts if part.key.kind == "shares"}
    assert math.isclose(by_slice["e"], by_slice["h"])
    assert math.isclose(by_slice["e"] + by_slice["h"], split.whole.value)


def test_simpsons_example_keeps_its_parts() -> None:
    """Both slices are better, and the mix goes from 90/10 to 10/90: the agent won, the shares lost, alike from both slices."""
    members = [
        Member(
            cluster=f"{slice_} {n}",
            slice=slice_,
            first_weight=first,
            second_weight=second,
            first=float(n < right),
            second=float(n < right + 10),
        )
        for slice_, right, first, second in (("easy", 80, 0.9, 0.1), ("hard", 20, 0.1, 0.9))
        for n in range(100)
    ]
    split = decompose(members)
    by_key = {part.key: round(part.value, 9) for part in split.parts}
    assert by_key == {Key("same"): 0.1, Key("shares", "easy"): -0.24, Key("shares", "hard"): -0.24}


def test_intervals_of_parts_hold_the_true_parts() -> None:
    """Samples that only the second set has are easier by 20 points, and 5 of 100 intervals may miss that."""
    source = random.Random(1)
    held = {"samples": 0, "same": 0, "all": 0}
    rounds = 400  # the figures of decision 0063
    for _ in range(rounds):
        members = []
        for n in range(150):
            easy = source.random() < 0.7
            members.append(
                Member(
                    cluster=f"{n}",
                    first_weight=1,
                    second_weight=1,
                    first=float(easy),
                    second=float(source.random() < 0.5),
                )
            )
        members += [Member(cluster=f"new {n}", second_weight=1, second=float(source.random() < 0.7)) for n in range(50)]
        split = decompose(members)
        whole, parts = split.whole, split.parts
        for name, part, true in (("all", whole, -0.15), ("same", parts[0], -0.2), ("samples", parts[1], 0.05)):
            assert part.interval is not None
            held[name] += part.interval.low <= true <= part.interval.high
    assert all(0.93 * rounds <= count <= 0.98 * rounds for count in held.values()), held
