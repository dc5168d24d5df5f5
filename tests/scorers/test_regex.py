"""The scorer `regex`: patterns of a person over texts of a model, and searches that never end."""

import time

import pytest

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor.runtime import pattern_search
from proctor.scorers import regex

SAMPLE = Sample.ask("a", "How much?", target="20")


def score(options: dict[str, object], answer: str, target: object = "20") -> Score | Unscored:
    scorer = regex.make(options)
    result = scorer(Sample.ask("a", "?", target=target), Trajectory.of(answer))
    assert isinstance(result, Score | Unscored)
    return result


def points(options: dict[str, object], answer: str, target: object = "20") -> float:
    result = score(options, answer, target)
    assert isinstance(result, Score), result
    return result.points


def test_without_a_pattern_the_target_is_one_and_any_of_a_list_may_fit() -> None:
    assert points({}, "It was in 1969.", target=r"\b19\d\d\b") == 1
    assert points({}, "in March", target=["May", "March"]) == 1
    assert points({}, "in April", target=["May", "March"]) == 0


def test_a_pattern_of_the_options_needs_no_target() -> None:
    found = score({"pattern": r"\d{3}-\d{4}"}, "call 555-1234 now", target=None)
    assert isinstance(found, Score)
    assert (found.points, found.answer) == (1, "555-1234")


def test_what_is_caught_is_compared_with_the_target() -> None:
    options = {"pattern": r"(\d+) euros", "extract": True}
    assert points(options, "10 euros or 20 euros") == 0
    assert points({**options, "which": "last"}, "10 euros or 20 euros") == 1
    assert points({**options, "which": "whole"}, "20 euros") == 1
    assert points({**options, "which": "whole"}, "about 20 euros") == 0


def test_the_reason_says_what_was_caught_and_what_was_expected() -> None:
    found = score({"pattern": r"Answer: (\w+)", "extract": True}, "Answer: 10")
    assert isinstance(found, Score)
    assert found.answer == "10"
    assert str(found.reason) == "Caught '10', expected 20."


def test_flags_are_those_of_python() -> None:
    assert points({"pattern": "^b.$", "ignore_case": True, "multiline": True}, "a\nBx\nc") == 1
    assert points({"pattern": "a.b", "dot_all": True}, "a\nb") == 1
    assert points({"pattern": "a.b"}, "a\nb") == 0


def test_a_search_without_end_is_ended_and_the_next_one_works() -> None:
    began = time.monotonic()
    found = score({"pattern": "(a+)+$", "seconds": 0.3}, "a" * 60 + "!")
    assert isinstance(found, Unscored)
    assert found.why == "scorer_failed"
    assert time.monotonic() - began < 30
    assert points({"pattern": "(a+)+$"}, "aaa") == 1


def test_an_answer_of_ten_megabytes_is_searched_in_time() -> None:
    began = time.monotonic()
    assert points({"pattern": "needle"}, "x" * 10_000_000) == 0
    assert time.monotonic() - began < 30


def test_a_dead_search_process_is_started_anew() -> None:
    assert pattern_search.search("b", "abc") is not None
    child = pattern_search._process()._child
    assert child is not None
    child.kill()
    child.wait()
    assert pattern_search.search("b", "abc") is not None


def test_lone_surrogates_and_line_breaks_pass_through() -> None:
    found = pattern_search.search(r"x(.)y", "\n\ud800 x\udfffy", group=True)
    assert found is not None
    assert found.text == "\udfff"


def test_a_pattern_that_is_none_is_found_before_the_run() -> None:
    with pytest.raises(BadInput, match=r"pattern '\(' is not valid"):
        regex.make({"pattern": "("})
    with pytest.raises(BadInput, match="needs a pattern"):
        regex.make({"extract": True})
    with pytest.raises(BadInput, match="Did you mean 'pattern'"):
        regex.make({"patern": "x"})


def test_a_pattern_of_a_sample_that_is_none_gives_no_score() -> None:
    found = score({}, "x", target="(")
    assert isinstance(found, Unscored)
    assert found.why == "scorer_failed"


def test_a_sample_without_target_is_not_applicable() -> None:
    found = score({}, "x", target=None)
    assert isinstance(found, Unscored)
    assert found.why == "not_applicable"
