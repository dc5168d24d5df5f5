import random
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from proctor.core.errors import BadInput, MissingExtra
from proctor.core.sample import Message, Sample, Tool, ToolCall, Turn
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Step, Trajectory
from proctor.i18n import speak
from proctor.runtime.garbage import gc_paused
from proctor.scorers import trajectory as room
from proctor.scorers.lookup import find_scorer, functions
from proctor.trajectory_matching import compare, explain, similarity
from proctor.trajectory_matching.arguments import ArgumentRules
from proctor.trajectory_matching.expectation import ExpectedCall, ExpectedCalls, expected_of
from proctor.trajectory_matching.pairing import How

Call = tuple[str, Mapping[str, Any]]


def _trajectory(*turns: Sequence[Call | ToolCall], answer: str = "done") -> Trajectory:
    steps = []
    for place, calls in enumerate(turns):
        parts = tuple(one if isinstance(one, ToolCall) else ToolCall(name=one[0], arguments=one[1]) for one in calls)
        steps += [
            Step(message=Message(role="assistant", parts=parts), turn=place),
            Step(message=Message.of("assistant", answer), turn=place),
        ]
    return Trajectory(steps=tuple(steps), tools="native")


def _sample(*references: Any, tools: tuple[Tool, ...] = (), **meta: Any) -> Sample:
    turns = tuple(Turn(messages=(Message.of("user", "?"),), reference=one, tools=tools) for one in references)
    return Sample(id="s", turns=turns, meta=meta)


def _calls(*calls: Call, **rules: Any) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments} for name, arguments in calls], **rules}


def _score(reference: Any, made: Sequence[Call | ToolCall], scorer: str = "trajectory", **options: Any) -> Score:
    result = find_scorer(scorer, options or None)(_sample(reference), _trajectory(made))
    assert isinstance(result, Score)
    return result


F: Call
G: Call
H: Call
F, G, H = ("f", {"x": 1}), ("g", {}), ("h", {"q": "a", "n": 2})


def test_the_scorers_of_the_room_are_these() -> None:
    others = ("exact", "in_order", "any_order", "precision", "recall", "f1", "efficiency", "single_tool")
    assert [*functions("trajectory", room.PART)] == ["trajectory", *(f"trajectory:{name}" for name in others)]


def test_f1_stands_beside_precision_recall_and_what_they_were_made_of() -> None:
    score = _score(_calls(F, G, H), [F, ("ping", {}), G])
    assert score.points == pytest.approx(2 / 3)
    details = score.details
    assert (details["precision"], details["recall"]) == pytest.approx((2 / 3, 2 / 3))
    assert (details["matched"], details["expected"], details["made"]) == (2, 3, 3)
    assert details["errors"] == {"extra_call": 1, "missing_call": 1}


@pytest.mark.parametrize(
    ("made", "verdicts"),
    [
        ([F, G], (1, 1, 1)),
        ([F, H, G], (0, 1, 1)),
        ([G, F], (0, 0, 1)),
        ([F], (0, 0, 0)),
        ([F, F, G], (0, 1, 1)),
    ],
)
def test_the_three_verdicts_are_stricter_one_by_one(made: list[Call], verdicts: tuple[int, int, int]) -> None:
    names = ("trajectory:exact", "trajectory:in_order", "trajectory:any_order")
    assert tuple(_score(_calls(F, G), made, name).points for name in names) == verdicts


def test_a_person_sees_what_happened_in_ten_seconds() -> None:
    expected = _calls(
        ("search", {"q": "A"}), ("login", {}), ("book", {"day": 4}), ("pay", {"amount": 5}), order="in_order"
    )
    made: list[Call] = [("login", {}), ("search", {"q": "A"}), ("book", {"day": 3}), ("ping", {})]
    score = _score(expected, made)
    assert score.details["diff"] == [
        "= login()",
        '↕ search(q="A")',
        "~ book(day=3)   day: 4 → 3",
        "- pay(amount=5)",
        "+ ping()",
    ]
    assert str(score.reason) == (
        "1 of 4 expected calls, 4 made: out of order search(q=\"A\"); in book(day=3): 'day' is 3, expected 4; "
        "missing pay(amount=5); extra ping()"
    )
    assert '顺序不对 search(q="A")' in speak(score.reason, "zh")
    assert score.details["order_violations"] == 1


def test_the_nearest_miss_is_shown_for_each_call() -> None:
    found = _score(
        _calls(("f", {"a": 1, "b": 1}), ("f", {"a": 2, "b": 2})), [("f", {"a": 9, "b": 2}), ("f", {"a": 1, "b": 8})]
    )
    assert found.details["diff"] == ["~ f(a=9, b=2)   a: 2 → 9", "~ f(a=1, b=8)   b: 1 → 8"]


def test_nine_classes_of_error_are_told_apart() -> None:
    bad = ToolCall(name="f", raw="[1")
    cases: list[tuple[str, Any, list[Call | ToolCall]]] = [
        ("missing_call", _calls(F), []),
        ("extra_call", _calls(), [F]),
        ("wrong_function", _calls(F), [("other", {"x": 1})]),
        ("wrong_param_name", _calls(G), [("g", {"y": 1})]),
        ("wrong_param_value", _calls(F), [("f", {"x": 2})]),
        ("missing_param", _calls(F), [("f", {})]),
        ("wrong_order", _calls(F, G, order="in_order"), [G, F]),
        ("unnecessary_call", _calls(("look", {})), [("look", {}), ("look", {})]),
        ("format_error", _calls(F), [bad]),
    ]
    for name, expected, made in cases:
        score = _score(expected, made, pure=("look",))
        assert (score.details["errors"], score.details["error_class"]) == ({name: 1}, name)


def test_two_equal_calls_are_two() -> None:  # a set of calls would merge them
    assert _score(_calls(F, F), [F, F]).points == 1
    assert _score(_calls(F, F), [F]).points == pytest.approx(2 / 3)
    assert _score(_calls(F), [F, F]).details["precision"] == 0.5


def test_the_order_of_references_does_not_decide_what_is_left_for_whom() -> None:  # first-fit matching would
    wide, narrow = ("search", {"q": "a"}), ("search", {"q": "a", "lang": "zh"})
    for expected in (_calls(wide, narrow), _calls(narrow, wide)):
        for made in ([wide, narrow], [narrow, wide]):
            assert _score(expected, made, arguments="superset").details["matches"]


def test_partial_credit_comes_from_the_best_pairing() -> None:  # sorting both sides and zipping them gives 0 here
    expected = _calls(("f", {"a": 1, "b": 1}), ("f", {"a": 2, "b": 2}))
    score = _score(expected, [("f", {"a": 0, "b": 2}), ("f", {"a": 3, "b": 1})], partial=True)
    assert score.points == 0.5


def test_what_the_sample_does_not_ask_for_is_neither_0_nor_1() -> None:
    nothing = _calls()
    assert isinstance(room.recall(_sample(nothing), _trajectory([F])), Unscored)
    assert isinstance(room.trajectory(_sample("only an answer"), _trajectory([F])), Unscored)
    assert isinstance(room.trajectory(_sample(None), _trajectory([F])), Unscored)
    assert _score(nothing, []).points == 1
    assert _score(nothing, [F]).points == 0


@pytest.mark.parametrize("scorer", ["precision", "efficiency"])
def test_making_no_call_is_right_only_where_none_is_expected(scorer: str) -> None:
    assert _score(_calls(F), [], f"trajectory:{scorer}").points == 0
    assert _score(_calls(), [], f"trajectory:{scorer}").points == 1
    assert _score(_calls(), [F], f"trajectory:{scorer}").points == 0


def test_calls_that_cannot_be_seen_are_no_failure() -> None:
    silent = Trajectory.of("I looked it up: 4.")
    for scorer in (room.trajectory, room.exact, room.single_tool):
        assert isinstance(scorer(_sample(_calls(F)), silent), Unscored)
    assert isinstance(room.trajectory(_sample(_calls()), silent), Score)


@pytest.mark.parametrize(
    ("policy", "made", "passes"),
    [
        ("equal", {"q": "a", "n": 2.0}, True),
        ("equal", {"q": "a"}, False),
        ("equal", {"q": "a", "n": 2, "x": 1}, False),
        ("subset", {"q": "a"}, True),
        ("subset", {"q": "b"}, False),
        ("subset", {"q": "a", "x": 1}, False),
        ("superset", {"q": "a", "n": 2, "x": 1}, True),
        ("superset", {"q": "a"}, False),
        ("ignore", {"z": 1}, True),
        ({"h": "ignore"}, {"z": 1}, True),
        ({"other": "ignore"}, {"z": 1}, False),
    ],
)
def test_policies_for_arguments(policy: Any, made: dict[str, Any], passes: bool) -> None:
    assert _score(_calls(H), [("h", made)], arguments=policy).details["matches"] is passes


@pytest.mark.parametrize(
    ("expected", "made", "equal"),
    [
        (1, 1.0, True), (1, True, False), (0, False, False), ("1", 1, False), (None, None, True), ([1, 2], [2, 1], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True), ({"a": [True]}, {"a": [1]}, False), ("a", "A", False),
    ],
)  # fmt: skip
def test_values_are_equal_as_json(expected: Any, made: Any, equal: bool) -> None:
    for tolerance in (0.0, 1e-9):  # by key, and one by one
        assert (
            _score(_calls(("f", {"x": expected})), [("f", {"x": made})], tolerance=tolerance).details["matches"]
            is equal
        )


@pytest.mark.parametrize(
    ("matcher", "right", "wrong"),
    [
        ("any", "whatever", None),
        ({"regex": "^w.*r$"}, "weather", "water towers"),
        ({"one_of": ["a", 3]}, 3, True),
        ({"tolerance": 0.1}, 109, 111),
        ({"absolute": 5}, 95, 94),
        ({"absolute": 0.5}, 100, 10**400),
        ({"schema": {"type": "integer", "minimum": 3}}, 3, 2),
        ({"function": "operator:truth"}, 1, 0),
    ],
)
def test_matchers_for_single_arguments(matcher: Any, right: Any, wrong: Any) -> None:
    expected = {"calls": [{"name": "f", "arguments": {"x": 100}, "match": {"x": matcher}}]}
    assert _score(expected, [("f", {"x": right})]).details["matches"]
    if wrong is not None:
        score = _score(expected, [("f", {"x": wrong})])
        assert not score.details["matches"]
        assert score.details["errors"] == {"wrong_param_value": 1}
    for_all = _score(_calls(("f", {"x": 100})), [("f", {"x": right})], match={"f.x": matcher})
    assert for_all.details["matches"]


def test_a_slow_pattern_of_a_matcher_ends() -> None:
    expected = {"calls": [{"name": "f", "match": {"x": {"regex": "(a+)+$"}}}]}
    assert not _score(expected, [("f", {"x": "a" * 40 + "!"})]).details["matches"]


def test_ignored_arguments_and_tolerance_hold_for_all() -> None:
    made = ("f", {"x": 1.001, "request_id": "17"})
    assert _score(_calls(F), [made], ignore=("request_id",), tolerance=0.01).details["matches"]
    assert _score(_calls(F), [("f", {"x": 1, "request_id": "17"})], ignore=("f.request_id",)).details["matches"]
    assert not _score(_calls(F), [made], ignore=("g.request_id",), tolerance=0.01).details["matches"]


def test_an_argument_left_out_is_the_default_of_the_schema() -> None:
    tool = Tool(name="f", parameters={"type": "object", "properties": {"x": {"default": 1}, "y": {"type": "string"}}})
    sample = _sample(_calls(F), tools=(tool,))
    for made, points in (({}, 1), ({"x": 1}, 1), ({"x": 2}, 0)):
        result = room.exact(sample, _trajectory([("f", made)]))
        assert isinstance(result, Score)
        assert result.points == points


def test_groups_stand_in_order_and_inside_one_in_any() -> None:
    expected = {"calls": [{"name": "a"}, [{"name": "b"}, {"name": "c"}], {"name": "d"}]}
    for made, passes in (("abcd", True), ("acbd", True), ("bacd", False), ("abdc", False), ("axbycd", True)):
        assert _score(expected, [(name, {}) for name in made]).details["matches"] is passes


def test_a_producer_comes_before_its_consumer() -> None:
    expected = {"calls": [{"name": "find"}, {"name": "book"}, {"name": "mail"}], "before": [["find", "book"]]}
    for made, passes in (("find mail book", True), ("mail find book", True), ("book find mail", False)):
        assert _score(expected, [(name, {}) for name in made.split()]).details["matches"] is passes
    relaxed = {"calls": [{"name": "book"}], "needs": {"book": "find"}}
    for made, violations in (("find book", 0), ("book find", 1), ("book", 1), ("find", 0)):
        score = _score(relaxed, [(name, {}) for name in made.split()])
        assert score.details["order_violations"] == violations
        assert score.details["matches"] is (not violations and "book" in made)


def test_labels_tell_calls_of_one_tool_apart() -> None:
    first, second = ({"name": "f", "arguments": {"x": x}, "label": label} for x, label in ((1, "one"), (2, "two")))
    expected = {"calls": [first, second], "before": [["two", "one"]]}
    assert _score(expected, [("f", {"x": 2}), ("f", {"x": 1})]).details["matches"]
    assert not _score(expected, [("f", {"x": 1}), ("f", {"x": 2})]).details["matches"]


def test_alternatives_optional_calls_and_the_least_number() -> None:
    expected = {
        "alternatives": [
            {"calls": [{"name": "get", "arguments": {"id": 1}}, {"name": "get", "arguments": {"id": 2}}]},
            {"calls": [{"name": "get_all", "arguments": {"ids": [1, 2]}}]},
        ]
    }
    for made in ([("get_all", {"ids": [1, 2]})], [("get", {"id": 2}), ("get", {"id": 1})]):
        score = _score(expected, made)
        assert score.points == 1
        assert score.details["minimum"] == 1
    assert _score(expected, [("get", {"id": 1}), ("get", {"id": 2})], "trajectory:efficiency").points == 0.5
    either = {"calls": [{"name": "web", "either": [{"name": "wiki", "arguments": {"q": "x"}}]}]}
    assert _score(either, [("wiki", {"q": "x"})]).points == 1
    optional = {"calls": [{"name": "f"}, {"name": "log", "optional": True}]}
    assert _score(optional, [("f", {})], "trajectory:exact").points == 1
    assert _score(optional, [("f", {}), ("log", {})], "trajectory:exact").points == 1
    assert _score(optional, [("log", {})]).points == pytest.approx(2 / 3)


def test_what_has_to_be_made_goes_before_what_may_be() -> None:
    may = {"name": "f", "optional": True}
    for order in ("any_order", "in_order"):
        calls = [may, {"name": "f"}, may] if order == "any_order" else [{"name": "g"}, may, {"name": "f"}]
        expected = {"calls": calls, "order": order}
        made: list[Call] = [("f", {})] if order == "any_order" else [("g", {}), ("f", {})]
        assert _score(expected, made).details["matches"]


def test_forbidden_calls_and_budgets_leave_nothing() -> None:
    assert _score(_calls(F, forbidden=["pay"]), [F, ("pay", {})]).points == 0
    by_arguments = _calls(F, forbidden=[{"name": "pay*", "arguments": {"amount": 5}}])
    assert _score(by_arguments, [F, ("pay_now", {"amount": 5, "to": "x"})]).points == 0
    assert _score(by_arguments, [F, ("pay_now", {"amount": 4})]).points > 0
    over = _score(_calls(F, most_calls=1), [F, G])
    assert (over.points, "2 calls, at most 1" in str(over.reason)) == (0, True)
    assert _score(_calls(F, most_calls_of={"f": 1}), [F, F]).points == 0
    assert _score(_calls(F), [F, G], forbidden=("g",)).points == 0
    only_rules = {"forbidden": ["pay"]}
    assert (_score(only_rules, []).points, _score(only_rules, [("pay", {})]).points) == (1, 0)


def test_repeats_are_redundant_while_nothing_changes_between() -> None:
    look: Call
    change: Call
    look, change = ("look", {"q": "a"}), ("change", {})
    score = _score(_calls(look, change), [look, look, change, look], pure=("look*",))
    assert score.details["repeated"] == 1
    assert score.details["diff"][1].startswith("+")
    assert _score(_calls(look, look), [look, look], pure=("*",)).details["repeated"] == 0


def test_turns_are_added_up_and_told_one_by_one() -> None:
    result = room.trajectory(_sample(_calls(F), None, _calls(G, H)), _trajectory([F], [G], [G]))
    assert isinstance(result, Score)
    assert result.details["turns"]["1"]["f1"] == 1
    assert result.details["turns"]["3"]["recall"] == 0.5
    assert set(result.details["turns"]) == {"1", "3"}
    assert result.points == pytest.approx(2 * 2 / (2 + 3))
    assert "turn 3: 1 of 2 expected calls" in str(result.reason)


def test_a_single_tool_is_looked_for() -> None:
    assert _score(_calls(F), [G, ("f", {"x": 9})], "trajectory:single_tool").points == 1
    assert _score(_calls(F), [G], "trajectory:single_tool").points == 0
    assert _score(_calls(F, G), [G], "trajectory:single_tool", tool="g").points == 1
    assert isinstance(room.single_tool(_sample(_calls(F, G)), _trajectory([G])), Unscored)


def test_the_target_of_a_sample_stands_for_the_whole_conversation() -> None:
    sample = Sample(id="s", turns=_sample(None, None).turns, target=[{"name": "f", "args": {"x": 1}}, {"name": "g"}])
    result = room.exact(sample, _trajectory([F], [G]))
    assert isinstance(result, Score)
    assert result.points == 1


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({"calls": [{"arguments": {}}]}, "name"),
        ({"calls": [{"name": ""}]}, "without a name"),
        ({"calls": [{"name": "f", "arguments": [1]}]}, "expected an object"),
        ({"calls": [{"name": "f", "argumets": {}}]}, "argumets"),
        ({"calls": "f"}, "expected a list"),
        ({"cals": []}, "the key 'cals' is not known"),
        ({"calls": [], "order": "sorted"}, "sorted"),
        ({"calls": [{"name": "a"}, {"name": "b"}], "before": [["a", "b"], ["b", "a"]]}, "circle"),
        ({"calls": [{"name": "a"}], "before": [["a", "z"]]}, "names no expected call"),
        ({"calls": [{"name": "f", "match": {"x": {"regexp": "a"}}}]}, "no matcher"),
    ],
)
def test_a_reference_that_cannot_be_understood_is_refused(reference: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        room.trajectory(_sample(reference), _trajectory([("f", {"x": "a"})]))


def test_options_are_checked() -> None:
    with pytest.raises(BadInput, match="Did you mean 'tolerance'"):
        find_scorer("trajectory", {"tolerence": 1})
    with pytest.raises(BadInput, match="f2"):
        find_scorer("trajectory", {"measure": "f2"})


def _many(count: int, tools: str, spread: int, shift: int = 0) -> list[tuple[str, dict[str, int]]]:
    return [
        (tools[at % len(tools)], {"a": (at * 7 + shift) % spread, "b": at % 11, "c": (at * shift) % 5})
        for at in range(count)
    ]


def _expected(calls: Sequence[Call], **more: Any) -> ExpectedCalls:
    return ExpectedCalls(calls=tuple(ExpectedCall(name=name, arguments=arguments) for name, arguments in calls), **more)


def _made(calls: Sequence[Call]) -> list[ToolCall]:
    return [ToolCall(name=name, arguments=arguments) for name, arguments in calls]


def _seconds(expected: ExpectedCalls, made: list[ToolCall], how: How) -> float:
    took = []
    with gc_paused():  # which has all that pytest collected to look at
        for _ in range(3):
            began = time.process_time()
            compare.compare(expected, made, how)
            took.append(time.process_time() - began)
    return min(took)


def _one_by_one(expected: ExpectedCalls, made: list[ToolCall]) -> float:
    """How long it takes to do no more than compare the arguments of every call with those of every other."""
    began = time.process_time()
    assert sum(call.arguments == one.arguments for call in expected.calls or () for one in made)
    return time.process_time() - began


def test_equal_calls_are_found_without_comparing_each_with_each() -> None:
    expected, made = _expected(_many(1_000, "fgh", 50)), _made(_many(1_000, "fgh", 50, 3)[::-1])
    assert _seconds(expected, made, How()) < _one_by_one(expected, made)  # 0.03 s to 0.1 s where it was written


@pytest.mark.parametrize(
    "rules",
    [ArgumentRules(), ArgumentRules(tolerance=0.1), ArgumentRules(policy="superset", match={"b": {"one_of": [1]}})],
)
def test_a_thousand_calls_with_partial_similarity_take_no_longer_than_ten_times_all_comparisons(
    rules: ArgumentRules,
) -> None:
    pytest.importorskip("scipy", reason="needs the extra 'matching'")
    expected, made = _expected(_many(1_000, "f", 50)), _made(_many(1_000, "f", 50, 3))
    how = How(partial=True, rules=rules)
    all_pairs = max(_one_by_one(expected, made) for _ in range(3))
    assert _seconds(expected, made, how) < 10 * all_pairs  # 0.2 s to 0.1 s


def test_without_scipy_more_than_two_hundred_similar_calls_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "is_installed", lambda name: False)
    calls = _many(200, "f", 50)
    assert compare.compare(_expected(calls), _made(calls), How(partial=True)).matched == 200
    calls = _many(201, "f", 50)
    with pytest.raises(MissingExtra, match=r"\[matching\]"):
        compare.compare(_expected(calls), _made(calls), How(partial=True))


def _chains(rng: random.Random, count: int, length: int) -> ExpectedCalls:
    """Chains of calls that stand in no order to each other."""
    labels = [[f"{chain}.{step}" for step in range(length)] for chain in range(count)]
    calls = [
        ExpectedCall(name="f", arguments={"a": rng.randint(0, 3), "b": rng.randint(0, 3)}, label=label)
        for chain in labels
        for label in chain
    ]
    return ExpectedCalls(calls=tuple(calls), before=tuple(pair for chain in labels for pair in pairwise(chain)))


def test_an_order_that_is_too_wide_says_so() -> None:
    rng = random.Random(1)
    made = [ToolCall(name="f", arguments={"a": rng.randint(0, 3), "b": rng.randint(0, 3)}) for _ in range(60)]
    for partial in (False, True):
        assert compare.compare(_chains(rng, 3, 10), made, How(partial=partial)).best
    wide = compare.compare(_chains(rng, 12, 3), made, How(partial=True))
    assert not wide.best
    assert "too wide" in str(explain.summarize(wide))


def test_groups_are_exact_however_wide() -> None:
    calls = [ExpectedCall(name="fgh"[at % 3], arguments={"a": at % 4}) for at in range(40)]
    expected = ExpectedCalls(calls=tuple(calls), groups=tuple(at // 20 for at in range(40)), order="in_order")
    made = [ToolCall(name="fgh"[at * at % 3], arguments={"a": at % 4}) for at in range(60)]
    assert compare.compare(expected, made).best


def test_ten_thousand_cases_are_scored_in_seconds() -> None:
    sample = _sample(_calls(F, G, H) | {"response": "done"})
    trajectory = _trajectory([F, H, ("ping", {})])
    began = time.process_time()
    for _ in range(2_000):
        room.trajectory(sample, trajectory)
    assert time.process_time() - began < 2  # 10,000 in 1 s where it was written


def test_a_reference_may_be_calls_of_ours() -> None:
    found = expected_of([ToolCall(name="f", arguments={"x": 1})])
    assert found.calls == (ExpectedCall(name="f", arguments={"x": 1}),)


def test_an_agent_that_reports_its_calls_can_be_held_to_having_made_none() -> None:
    asked = Sample.ask("s", "?", target=[{"name": "price"}])
    assert isinstance(room.recall(asked, Trajectory.of("fine")), Unscored)
    held = msgspec.structs.replace(asked, meta={"trajectory": {"silent": "no_calls"}})
    score = room.recall(held, Trajectory.of("fine"))
    assert isinstance(score, Score)
    assert score.points == 0
