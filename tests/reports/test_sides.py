"""Expected calls beside those that were made: in the story, on the terminal, in HTML and Markdown, in both languages."""

from io import StringIO
from typing import Any

import example_runs
import pytest
from memory_store import MemoryStore
from rich.console import Console

from proctor.core.sample import Message, Sample, ToolCall, Turn
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Step, Trajectory
from proctor.core.trial import Trial, Verdict
from proctor.reports import render, terminal
from proctor.reports.build import build
from proctor.reports.story import Story, story
from proctor.scorers import trajectory as scorer

WANTED = [
    {"name": "login"},
    {"name": "search", "arguments": {"q": "A"}},
    {"name": "book", "arguments": {"day": 4, "who": "Ann"}},
    {"name": "pay", "arguments": {"amount": 5}},
]
MADE = [("search", {"q": "A"}), ("login", {}), ("book", {"day": 3, "who": "Ann"}), ("ping", {})]


def sample(*references: Any) -> Sample:
    return Sample(
        id="trip", turns=tuple(Turn(messages=(Message.of("user", "Go."),), reference=one) for one in references)
    )


def steps(*turns: list[tuple[str, Any]], answer: str = "Done.") -> Trajectory:
    found = []
    for place, calls in enumerate(turns):
        parts = tuple(ToolCall(name=name, arguments=given) for name, given in calls)
        found.append(Step(message=Message(role="assistant", parts=parts), turn=place))
        found.append(Step(message=Message.of("assistant", answer), turn=place))
    return Trajectory(steps=tuple(found), tools="native")


def told(one: Sample, made: Trajectory, result: Score | Unscored | None = None, name: str = "trajectory") -> Story:
    result = scorer.trajectory(one, made) if result is None else result
    trial = Trial(run_id="r", sample_id=one.id, outcome="scored", trajectory=made)
    return story(trial, one, [Verdict(run_id="r", sample_id=one.id, scorer=name, result=result)])


def rows(one: Story) -> list[tuple[str, str | None, str | None]]:
    return [(pair.kind, pair.expected, pair.made) for pair in one.pairs]


def test_each_call_stands_beside_the_one_expected_with_what_was_found() -> None:
    one = told(sample({"calls": WANTED, "order": "in_order"}), steps(MADE))
    assert rows(one) == [
        ("matched", 'search(q="A")', 'search(q="A")'),
        ("out of order", "login()", "login()"),
        ("wrong arguments", 'book(day=4, who="Ann")', 'book(day=3, who="Ann")'),
        ("missing", "pay(amount=5)", None),
        ("extra", None, "ping()"),
    ]
    assert [(row.parameter, row.expected, row.made) for row in one.pairs[2].rows] == [("day", "4", "3")]
    assert [pair.marked for pair in one.pairs] == [False, True, True, True, True]


@pytest.mark.parametrize("kind", ["repeated", "forbidden"])
def test_calls_that_should_not_be_there_say_why(kind: str) -> None:
    reference = {"calls": [{"name": "get"}], "forbidden": ["pay"]}
    made = steps([("get", {}), ("get", {}), ("pay", {})])
    score = scorer.make({"pure": ["get"]})(sample(reference), made)
    assert isinstance(score, Score)
    assert kind in [pair.kind for pair in told(sample(reference), made, score).pairs]


def test_another_tool_with_the_same_arguments_stands_in_one_row() -> None:
    one = told(sample({"calls": [{"name": "book", "arguments": {"day": 4}}]}), steps([("reserve", {"day": 4})]))
    assert rows(one) == [("wrong function", "book(day=4)", "reserve(day=4)")]


def test_calls_of_several_turns_are_told_by_turn_with_their_responses() -> None:
    references = [{"calls": [{"name": "a"}], "response": "One."}, {"calls": [{"name": "b"}], "response": "Two."}]
    one = told(sample(*references), steps([("a", {})], [("c", {})]))
    assert [(pair.turn, pair.kind) for pair in one.pairs] == [(1, "matched"), (2, "missing"), (2, "extra")]
    assert (one.expected, one.made) == ("1. One.\n2. Two.", "1. Done.\n2. Done.")


def test_a_run_of_other_scorers_shows_the_calls_too() -> None:
    one = told(sample({"calls": WANTED, "response": "Booked."}), steps(MADE), Score(points=0), name="adk:passed")
    assert {kind for kind, _, _ in rows(one)} == {"matched", "out of order", "wrong arguments", "missing", "extra"}
    assert (one.expected, one.made) == ("Booked.", "Done.")


PRICES = {"calls": [{"name": "p", "arguments": {"x": "B"}}, {"name": "p", "arguments": {"x": "A"}}]}


@pytest.mark.parametrize(
    ("match_type", "kinds"),
    [("EXACT", {"matched", "out of order"}), ("IN_ORDER", {"matched", "out of order"}), ("ANY_ORDER", {"matched"})],
)
def test_calls_in_another_order_are_told_by_the_match_type_of_the_criteria(match_type: str, kinds: set[str]) -> None:
    one = Sample(id="a", turns=sample(PRICES).turns, meta={"adk": {"match_type": match_type}})
    made = steps([("p", {"x": "A"}), ("p", {"x": "B"})])
    assert {kind for kind, _, _ in rows(told(one, made, Score(points=0), name="adk:passed"))} == kinds
    assert {kind for kind, _, _ in rows(told(one, made, Score(points=0), name="adk:exact"))} == {
        "matched",
        "out of order",
    }


def test_no_arguments_and_an_empty_object_differ_where_a_metric_of_adk_says_so() -> None:
    made = steps([("p", {})])
    one = told(sample({"calls": [{"name": "p"}]}), made, Score(points=0), name="adk:tool_trajectory_avg_score")
    assert [pair.kind for pair in one.pairs] == ["wrong arguments"]
    assert [(row.expected, row.made) for row in one.pairs[0].rows] == [("null", "{}")]
    assert [pair.kind for pair in told(sample({"calls": [{"name": "p"}]}), made).pairs] == ["matched"]


def test_a_null_among_the_arguments_is_told() -> None:
    one = told(sample({"calls": [{"name": "p", "arguments": {"x": None}}]}), steps([("p", {"x": 1})]))
    assert [(row.parameter, row.expected, row.made) for row in one.pairs[0].rows] == [("x", "null", "1")]


def test_a_call_of_which_nothing_was_expected_is_no_mistake() -> None:
    scenario = Sample.ask("a", "Talk to me.")
    one = told(scenario, steps([("price", {"x": 1})]), Score(points=0), name="rubric:polite")
    assert [(pair.kind, pair.marked, pair.expects_none) for pair in one.pairs] == [("free", False, False)]
    buys = Sample.ask(
        "a", "Buy tea.", target=["tea"]
    )  # a state, which says nothing of calls, even where one has no result
    one = told(buys, steps([("buy", {"x": 1})]), Score(points=0), name="./state.py:scorer")
    assert [(pair.kind, pair.marked, pair.expects_none) for pair in one.pairs] == [("free", False, False)]
    wrong = Score(points=0, details={"error_class": "call_not_wanted"})
    one = told(scenario, steps([("price", {"x": 1})]), wrong, name="bfcl")
    assert [(pair.kind, pair.marked, pair.expects_none) for pair in one.pairs] == [("", True, True)]


def test_a_rule_of_the_sample_holds_where_another_scorer_scored() -> None:
    one = Sample(
        id="a",
        turns=sample({"calls": [{"name": "f", "arguments": {"x": 1}}]}).turns,
        meta={"trajectory": {"arguments": "ignore"}},
    )
    assert rows(told(one, steps([("f", {"x": 2})]), Score(points=0))) == [("matched", "f(x=1)", "f(x=2)")]


def test_a_reference_that_cannot_be_understood_does_not_break_a_report() -> None:
    one = told(sample({"calls": [{"name": ""}]}), steps(MADE), Unscored(why="scorer_failed", reason="x"))
    assert one.expected
    assert not any(pair.marked or pair.expects_none for pair in one.pairs)


@pytest.mark.parametrize(
    "sides", [5, "x", [5], [{"kind": 5}], [{"expected": "f()"}], [{"kind": "missing", "faults": [1]}]]
)
def test_details_of_another_scorer_under_the_same_name_break_nothing(sides: Any) -> None:
    one = told(Sample.ask("a", "?", target="x"), Trajectory.of("y"), Score(points=0, details={"sides": sides}))
    assert (one.pairs, one.expected, one.made) == ((), "x", "y")


def test_of_a_thousand_calls_those_that_differ_are_shown() -> None:
    wanted = [{"name": "f", "arguments": {"x": number}} for number in range(1_000)]
    made = [("f", {"x": number}) for number in range(1_000) if number != 700]
    one = told(sample({"calls": wanted}), steps(made))
    assert ("missing", "f(x=700)", None) in rows(one)
    assert len(one.pairs) < 70
    assert sum(pair.kind == "more" for pair in one.pairs) == 2
    score = scorer.trajectory(sample({"calls": wanted}), steps(made))
    assert isinstance(score, Score)
    assert "- f(x=700)" in score.details["diff"]
    assert score.details["diff"][-1].startswith("… +")


HOSTILE = "\x1b[31m<script>alert(1)</script>`|\u202e"


async def _report(lang: str) -> tuple[str, str, str]:
    store = MemoryStore()
    one = sample({"calls": [{"name": "f", "arguments": {"x": 1}}], "response": "ok"})
    made = steps([("f", {"x": HOSTILE}), (HOSTILE, {HOSTILE: 1})], answer=HOSTILE)
    score = scorer.trajectory(one, made)
    assert isinstance(score, Score)
    run = example_runs.record("run", planned=1)
    estimates = await example_runs.fill(store, run, [example_runs.played("run", one, score, trajectory=made)])
    report = build(run, store, estimates)
    text = StringIO()
    terminal.failures(report, lang, Console(file=text, width=100))
    return text.getvalue(), render.html(report, lang), render.markdown(report, lang)


@pytest.mark.parametrize(("lang", "words"), [("en", ("wrong argument", "extra")), ("zh", ("参数有误", "多余"))])
async def test_the_sides_are_told_in_both_languages_and_nothing_hostile_comes_through(
    lang: str, words: tuple[str, str]
) -> None:
    for text in await _report(lang):
        assert all(word in text for word in words)
        assert "\x1b" not in text
        assert "\u202e" not in text
    _, html, _ = await _report(lang)
    assert "<script>alert" not in html
