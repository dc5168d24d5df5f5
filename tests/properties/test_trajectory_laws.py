"""The laws of trajectory matching, and equality with brute force over all assignments."""

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.core.sample import ToolCall
from proctor.trajectory_matching import assignment, call_order, similarity
from proctor.trajectory_matching.arguments import ArgumentRules, closeness
from proctor.trajectory_matching.compare import CallComparison, compare
from proctor.trajectory_matching.expectation import ExpectedCall, ExpectedCalls, Order, Policy
from proctor.trajectory_matching.pairing import How
from proctor_judging.matching.adk_rules import MATCH_TYPES, AdkCall, calls_match

Calls = Sequence[tuple[str, Mapping[str, Any]]]
CASES = pytest.mark.parametrize("cases", [1_000, pytest.param(10_000, marks=pytest.mark.torture)])
POLICIES: tuple[Policy, ...] = ("equal", "subset", "superset", "ignore")
ORDERS: tuple[Order, ...] = ("any_order", "in_order", "exact")

_calls = st.lists(
    st.tuples(
        st.sampled_from("fg"), st.dictionaries(st.sampled_from("ab"), st.sampled_from([0, 1, True, "1"]), max_size=2)
    ),
    max_size=5,
)


def _expected(calls: Calls, **more: Any) -> ExpectedCalls:
    return ExpectedCalls(calls=tuple(ExpectedCall(name=name, arguments=arguments) for name, arguments in calls), **more)


def _made(calls: Calls) -> list[ToolCall]:
    return [ToolCall(name=name, arguments=arguments) for name, arguments in calls]


def _compare(expected: Calls, made: Calls, **how: Any) -> CallComparison:
    return compare(_expected(expected), _made(made), How(**how))


def _precision(found: CallComparison) -> float:
    return found.matched / len(found.made)


def _weights(expected: ExpectedCalls, made: Sequence[ToolCall], how: How) -> list[list[float]]:
    near = [[closeness(call, one, how.rules).similarity for one in made] for call in expected.calls or ()]
    return near if how.partial else [[float(one >= 1) for one in row] for row in near]


def _most(weights: Sequence[Sequence[float]], before: Sequence[int]) -> float:
    """By trying everything: each expected call takes a free made call that does not cross the order, or none."""

    def sums(place: int, pairs: tuple[tuple[int, int], ...]) -> Iterator[float]:
        if place == len(weights):
            yield 0.0
            return
        yield from sums(place + 1, pairs)
        for to, weight in enumerate(weights[place]):
            crossed = any(
                to == other
                or (before[place] >> one & 1 and other > to)
                or (before[one] >> place & 1 and other < to)
                for one, other in pairs
            )  # fmt: skip
            if weight and not crossed:
                for rest in sums(place + 1, (*pairs, (place, to))):
                    yield weight + rest

    return max(sums(0, ()))


@lru_cache
def _pool() -> tuple[tuple[str, Mapping[str, Any]], ...]:
    values = [{}, {"a": 0}, {"a": 1}, {"a": 1, "b": 0}, {"a": 0, "b": 1}, {"b": 1}, {"a": 1, "b": 1}]
    return tuple((name, value) for name in "fg" for value in values)


def _case(rng: random.Random, most: int) -> tuple[Calls, Calls]:
    """Calls that have much in common, up to so many on each side."""
    pool = rng.sample(_pool(), rng.randint(1, 5))
    expected = [rng.choice(pool) for _ in range(rng.randint(0, most))]
    made = [rng.choice(pool) for _ in range(rng.randint(0, most))]
    if rng.random() < 0.3:
        made = rng.sample(expected, len(expected))[:most]
    return expected, made


def _random_how(rng: random.Random) -> How:
    rules = ArgumentRules(policy=rng.choice(POLICIES), ignore=frozenset("b" if rng.random() < 0.2 else ""))
    return How(rules=rules, partial=rng.random() < 0.5)


@CASES
def test_any_order_equals_brute_force(cases: int) -> None:
    rng = random.Random(1)
    for number in range(cases):
        expected, made = _case(rng, 7 if number < 300 else 5)
        how = _random_how(rng)
        wanted, given_ = _expected(expected), _made(made)
        by_hand = _most(_weights(wanted, given_, how), [0] * len(expected))
        assert compare(wanted, given_, how).matched == pytest.approx(by_hand, abs=1e-9), (expected, made, how)


@CASES
def test_a_total_order_equals_brute_force(cases: int) -> None:
    rng = random.Random(2)
    for number in range(cases):
        expected, made = _case(rng, 7 if number < 1_000 else 5)
        how = _random_how(rng)
        wanted, given_ = _expected(expected, order="in_order"), _made(made)
        before = [(1 << place) - 1 for place in range(len(expected))]
        assert compare(wanted, given_, how).matched == pytest.approx(
            _most(_weights(wanted, given_, how), before), abs=1e-9
        )


@CASES
def test_a_partial_order_equals_brute_force(cases: int) -> None:
    rng = random.Random(3)
    for number in range(cases):
        expected, made = _case(rng, 7 if number < 300 else 5)
        how = _random_how(rng)
        count = len(expected)
        if rng.random() < 0.5:
            groups = sorted(rng.randrange(3) for _ in range(count))
            before = [sum(1 << one for one in range(count) if groups[one] < groups[place]) for place in range(count)]
            wanted = _expected(expected, order="in_order", groups=tuple(groups))
        else:
            edges = {(one, other) for one, other in itertools.combinations(range(count), 2) if rng.random() < 0.3}
            closed = call_order.closed(count, list(edges))
            assert closed is not None
            before = closed
            calls = tuple(
                ExpectedCall(name=name, arguments=arguments, label=f"c{place}")
                for place, (name, arguments) in enumerate(expected)
            )
            wanted = ExpectedCalls(calls=calls, before=tuple((f"c{one}", f"c{other}") for one, other in edges))
        found = compare(wanted, _made(made), how)
        assert found.best
        assert found.matched == pytest.approx(_most(_weights(wanted, _made(made), how), before), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_assignment_equals_that_of_scipy(seed: int) -> None:
    optimize = pytest.importorskip("scipy.optimize", reason="needs the extra 'matching'")
    rng = random.Random(seed)
    for _ in range(150):
        rows, columns = rng.randint(1, 25), rng.randint(1, 25)
        weights = [[rng.choice([0.0, 0.25, 0.5, rng.random()]) for _ in range(columns)] for _ in range(rows)]
        pairs = assignment._by_paths(weights) if rows <= columns else None
        if pairs is None:
            turned = [list(column) for column in zip(*weights, strict=True)]
            pairs = [(row, column) for column, row in assignment._by_paths(turned)]
        assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == min(rows, columns)
        best = optimize.linear_sum_assignment(weights, maximize=True)
        theirs = sum(weights[row][column] for row, column in zip(*best, strict=True))
        assert sum(weights[row][column] for row, column in pairs) == pytest.approx(theirs, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(expected=_calls, made=_calls, data=st.data())
def test_the_order_of_expected_calls_is_irrelevant_without_an_order(
    expected: Calls, made: Calls, data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(expected))
    for partial in (False, True):
        for policy in POLICIES:
            how = {"partial": partial, "rules": ArgumentRules(policy=policy)}
            assert _compare(expected, made, **how).matched == pytest.approx(_compare(shuffled, made, **how).matched)


@settings(max_examples=150, deadline=None)
@given(expected=_calls, made=_calls)
def test_exact_is_in_order_is_any_order(expected: Calls, made: Calls) -> None:
    for candidate in (made, expected, [*expected, *made], [*made, *expected]):
        exact, in_order, any_order = (_compare(expected, candidate, order=order).passed for order in reversed(ORDERS))
        assert exact <= in_order <= any_order


@settings(max_examples=150, deadline=None)
@given(expected=_calls, made=_calls.filter(bool), place=st.integers(0, 5))
def test_an_unneeded_call_never_raises_precision(expected: Calls, made: Calls, place: int) -> None:
    more = [*made[:place], ("unneeded", {}), *made[place:]]
    for order in ORDERS:
        for partial in (False, True):
            before, after = (_compare(expected, calls, order=order, partial=partial) for calls in (made, more))
            assert _precision(after) <= _precision(before)


@settings(max_examples=150, deadline=None)
@given(calls=_calls, extra=_calls)
def test_what_was_expected_always_passes(calls: Calls, extra: Calls) -> None:
    for order in ORDERS:
        found = _compare(calls, calls, order=order)
        assert (found.passed, found.f1) == (True, 1.0)
        assert [entry.kind for entry in found.entries] == ["matched"] * len(calls)
    assert _compare(calls, [*calls, *extra], order="in_order").passed


@settings(max_examples=150, deadline=None)
@given(expected=_calls, made=_calls)
def test_every_call_stands_in_one_line(expected: Calls, made: Calls) -> None:
    for order in ORDERS:
        found = _compare(expected, made, order=order)
        assert sorted(entry.expected for entry in found.entries if entry.expected is not None) == [
            *range(len(expected))
        ]
        assert sorted(entry.made for entry in found.entries if entry.made is not None) == [*range(len(made))]


@settings(max_examples=150, deadline=None)
@given(
    expected=st.lists(st.tuples(st.sampled_from("fg"), st.dictionaries(st.sampled_from("ab"), st.sampled_from([0, 2, "1"]), max_size=2)), max_size=5),
    made=st.lists(st.tuples(st.sampled_from("fg"), st.dictionaries(st.sampled_from("ab"), st.sampled_from([0, 2, "1"]), max_size=2)), max_size=5),
)  # fmt: skip
def test_where_equality_is_the_same_so_are_the_verdicts_of_adk(expected: Calls, made: Calls) -> None:
    theirs = [AdkCall(name, arguments) for name, arguments in expected]
    ours = [AdkCall(name, arguments) for name, arguments in made]
    for how, order in zip(MATCH_TYPES, reversed(ORDERS), strict=True):
        assert calls_match(ours, theirs, how) == _compare(expected, made, order=order).passed


ODD = (
    1, 1.0, True, 0, False, None, "a", "b", "12", 1.01, 100, 99.5, 2**53 + 1, 2.0**53, 10**400, math.nan, math.inf, [1, 2], [1.005, 2],
    {"k": 1}, {"k": 1.001}, {"k": [True]}, "",
)  # fmt: skip
MATCHERS = (
    "any", "ignore", None, {"regex": "[0-9]+"}, {"tolerance": 0.02}, {"absolute": 1}, {"one_of": ["a", 1]},
    {"schema": {"type": "integer"}},
)  # fmt: skip


def _odd_call(rng: random.Random, depth: int = 1) -> ExpectedCall:
    some = {key: rng.choice(ODD) for key in "abcd" if rng.random() < 0.5}
    either = tuple(_odd_call(rng, 0) for _ in range(rng.randint(0, 2))) if depth and rng.random() < 0.2 else ()
    return ExpectedCall(
        name=rng.choice("fg"),
        arguments=some if rng.random() < 0.9 else None,
        match={key: rng.choice(MATCHERS) for key in "abcde" if rng.random() < 0.15},
        policy=rng.choice((None, None, *POLICIES)),
        either=either,
    )


def _odd_rules(rng: random.Random) -> ArgumentRules:
    return ArgumentRules(
        policy=rng.choice(POLICIES),
        policy_of={"g": rng.choice(POLICIES)} if rng.random() < 0.3 else {},
        ignore=frozenset(key for key in ("a", "f.b", "g.c", "z") if rng.random() < 0.1),
        tolerance=rng.choice((0.0, 0.0, 0.01)),
        match={key: rng.choice(MATCHERS) for key in ("a", "f.b", "c", "z") if rng.random() < 0.15},
        defaults={"f": {"a": 1, "e": "x"}} if rng.random() < 0.3 else {},
    )


def _odd_made(rng: random.Random) -> ToolCall:
    if rng.random() < 0.1:
        return ToolCall(name=rng.choice("fg"), raw=rng.choice(("null", "", "no json")))
    return ToolCall(name=rng.choice("fg"), arguments={key: rng.choice(ODD) for key in "abcde" if rng.random() < 0.5})


def test_the_similarities_of_many_calls_at_once_are_those_of_each_pair() -> None:
    rng = random.Random(8)
    for _ in range(400):
        calls = [_odd_call(rng) for _ in range(rng.randint(1, 8))]
        made = [_odd_made(rng) for _ in range(rng.randint(1, 8))]
        rules = _odd_rules(rng)
        table = similarity.similarities(calls, made, rules)
        assert table == [[closeness(call, one, rules).similarity for one in made] for call in calls], (
            calls,
            made,
            rules,
        )
