from typing import Any

import pytest

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, Text, ToolCall, Turn
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Step, Trajectory
from proctor.scorers.lookup import find_scorer
from proctor_adapters.scorers import adk
from proctor_judging.matching.porter import stem
from proctor_judging.scorers import response


def _sample(*references: Any, **criteria: Any) -> Sample:
    turns = tuple(Turn(messages=(Message.of("user", "?"),), reference=one) for one in references)
    return Sample(id="s", turns=turns, meta={"adk": criteria} if criteria else {})


def _answered(*answers: str, calls: tuple[ToolCall, ...] = ()) -> Trajectory:
    steps = [Step(message=Message(role="assistant", parts=calls))] if calls else []
    steps += [Step(message=Message.of("assistant", text), turn=place) for place, text in enumerate(answers)]
    return Trajectory(steps=tuple(steps), tools="native")


def _points(result: Any) -> float:
    assert isinstance(result, Score)
    return result.points


def test_the_average_of_the_turns_has_to_reach_the_threshold() -> None:
    sample = _sample({"response": "a b"}, {"response": "c d"}, response_threshold=0.75)
    result = adk.response_match_score(sample, _answered("a b", "c x"))
    assert _points(result) == 0.75
    assert result.details == {"passed": True, "threshold": 0.75, "turns": [1.0, 0.5]}


def test_no_arguments_are_not_empty_arguments() -> None:
    without, empty = {"calls": [{"name": "f"}]}, {"calls": [{"name": "f", "arguments": {}}]}
    made_without, made_empty = ToolCall(name="f", raw="null"), ToolCall(name="f", raw="")
    verdicts = [
        _points(adk.exact(_sample(wanted), _answered("", calls=(made,))))
        for wanted in (without, empty)
        for made in (made_without, made_empty, ToolCall(name="f"))
    ]
    assert verdicts == [1, 0, 0, 0, 1, 1]


def test_one_equals_true_as_in_python() -> None:
    sample = _sample({"calls": [{"name": "f", "arguments": {"x": 1}}]})
    made = _answered("", calls=(ToolCall(name="f", arguments={"x": True}),))
    assert _points(adk.in_order(sample, made)) == 1


def test_the_match_type_of_the_criteria_counts() -> None:
    reference = {"calls": [{"name": "f", "arguments": {}}]}
    made = _answered("", calls=(ToolCall(name="g"), ToolCall(name="f")))
    assert _points(adk.tool_trajectory_avg_score(_sample(reference), made)) == 0
    assert _points(adk.tool_trajectory_avg_score(_sample(reference, match_type="in-order"), made)) == 1
    assert _points(find_scorer("adk:tool_trajectory_avg_score", {"match_type": 2})(_sample(reference), made)) == 1
    with pytest.raises(BadInput, match="no match type"):
        adk.tool_trajectory_avg_score(_sample(reference, match_type="strict"), made)


def test_a_case_passes_when_every_criterion_does() -> None:
    reference = {"calls": [], "response": "a b"}
    both = _sample(reference)
    assert _points(adk.passed(both, _answered("a b"))) == 1
    failed = adk.passed(both, _answered("x"))
    assert (_points(failed), str(failed.reason)) == (0, "Below its threshold: response_match_score.")
    only = _sample(reference, criteria=["tool_trajectory_avg_score"])
    assert _points(adk.passed(only, _answered("x"))) == 1
    assert isinstance(adk.response_match_score(only, _answered("x")), Unscored)
    assert _points(adk.response_match(only, _answered("a b"))) == 1


def test_a_conversation_without_turns_is_never_passed() -> None:
    for scorer in (adk.passed, adk.exact, adk.response_match, adk.tool_trajectory_avg_score, response.response):
        assert isinstance(scorer(_sample(), _answered()), Unscored)


def test_a_case_without_a_reference_gets_what_adk_gives() -> None:
    sample = _sample({"calls": None, "response": None})
    assert _points(adk.response_match(sample, _answered("hello"))) == 0
    assert _points(adk.exact(sample, _answered("hello"))) == 1
    assert isinstance(response.response(sample, _answered("hello")), Unscored)


def test_the_last_message_with_text_is_the_response_its_parts_joined_by_lines() -> None:
    parts = (Text(text="one"), Text(text=""), Text(text="two"))
    steps = (Step(message=Message.of("assistant", "wait")), Step(message=Message(role="assistant", parts=parts)))
    assert _points(adk.response_match(_sample({"response": "one\ntwo"}), Trajectory(steps=steps))) == 1


@pytest.mark.parametrize(
    "text", ["价格是一百元。", "ありがとう", "สวัสดีครับ", "مرحبا بالعالم", "Привет, мир", "…", "😀", "a", "7"]
)
def test_the_same_text_is_the_same_in_every_script(text: str) -> None:
    assert response.similarity(text, text) == 1


def test_chinese_in_another_order_is_another_answer() -> None:
    assert response.similarity("狗咬人", "人咬狗") < response.similarity("人咬了狗", "人咬狗") < 1
    assert response.similarity("the cat", "cat the") == 1  # words are weighed as ROUGE-1 does
    assert response.similarity("", "你好") == response.similarity("完全不同", "你好") == 0


def test_stems_are_those_of_nltk() -> None:
    words = (
        "caresses flies dying agreed plastered motoring hopping happy enjoy relational logically sky rolled yyyying 2nd"
    )
    assert [stem(word) for word in words.split()] == [
        "caress", "fli", "die", "agre", "plaster", "motor", "hop", "happi", "enjoy", "relat", "logic", "sky", "roll", "yyyi",
        "2nd",
    ]  # fmt: skip
