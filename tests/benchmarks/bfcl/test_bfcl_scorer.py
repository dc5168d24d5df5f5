from typing import Any

import pytest

from proctor.core.sample import Message, Part, Reasoning, Sample, Text, ToolCall
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Step, ToolStyle, Trajectory
from proctor_benchmarks.bfcl.scorer import bfcl, model_output_of

AREA = {
    "name": "geo.area",
    "parameters": {
        "type": "dict",
        "properties": {"base": {"type": "integer"}, "unit": {"type": "string"}},
        "required": ["base"],
    },
}


def sample(**meta: Any) -> Sample:
    target = [{"geo.area": {"base": [3], "unit": ["cm", ""]}}]
    return Sample(id="x", turns=(), target=target, meta={"category": "simple_python", "functions": [AREA], **meta})


def reply(*parts: Part, tools: ToolStyle = "native") -> Trajectory:
    return Trajectory(steps=(Step(message=Message(role="assistant", parts=parts)),), tools=tools)


def score(trajectory: Trajectory, of: Sample | None = None) -> Score:
    result = bfcl(of or sample(), trajectory)
    assert isinstance(result, Score)
    return result


def test_text_is_read_as_calls() -> None:
    right = score(Trajectory.of("[geo.area(base=3)]"))
    assert (right.points, right.answer, right.reason) == (1, "[geo.area(base=3)]", "")
    wrong = score(Trajectory.of("[geo.area(base=4)]"))
    assert (wrong.points, str(wrong.reason)) == (0, "geo.area: parameter 'base' is 4; allowed: 3.")
    assert wrong.details["error_type"] == "value_error:others"
    assert wrong.details["lenient"] is False


def test_native_calls_have_underscores_unless_the_sample_says_dotted() -> None:
    for name, names, points in [
        ("geo_area", None, 1),
        ("geo.area", None, 0),
        ("geo.area", "dotted", 1),
        ("geo_area", "dotted", 0),
    ]:
        trajectory = reply(ToolCall(name=name, arguments={"base": 3}))
        assert score(trajectory, sample(names=names)).points == points


def test_text_beside_native_calls_does_not_count() -> None:
    trajectory = reply(Reasoning(text="hm"), Text(text="Here:"), ToolCall(name="geo_area", arguments={"base": 3}))
    assert score(trajectory).points == 1
    assert score(trajectory).answer == 'geo_area({"base": 3})'


def test_native_text_that_looks_like_a_call_is_none() -> None:
    wrong = score(reply(Text(text="[geo.area(base=3)]")))
    assert wrong.details["error_type"] == "ast_decoder:decoder_failed"
    assert wrong.details["error_class"] == "missing_call"


def test_broken_native_arguments_are_unparsable() -> None:
    wrong = score(reply(ToolCall.from_text("geo_area", '{"base": 3')))
    assert wrong.details["error_type"] == "ast_decoder:decoder_failed"
    assert wrong.details["error_class"] == "unparsable"


def test_the_lenient_opinion_never_changes_the_score() -> None:
    wrong = score(Trajectory.of("[geo.area(base=3.0)]"))
    assert wrong.points == 0
    assert wrong.details["lenient"] is True


@pytest.mark.parametrize(
    ("category", "trajectory", "points"),
    [
        ("irrelevance", Trajectory.of("No."), 1),
        ("irrelevance", Trajectory.of("f()"), 0),
        ("live_irrelevance", reply(Text(text="f()")), 1),
        ("live_irrelevance", reply(ToolCall(name="f")), 0),
        ("live_relevance", reply(ToolCall(name="f")), 1),
        ("live_relevance", Trajectory(), 0),
    ],
)
def test_relevance(category: str, trajectory: Trajectory, points: int) -> None:
    of = Sample(id="x", turns=(), meta={"category": category, "functions": []})
    assert score(trajectory, of).points == points


@pytest.mark.parametrize(
    ("trajectory", "output"),
    [
        (
            reply(ToolCall(name="f", arguments={"x": "é"}), ToolCall.from_text("g", "[1")),
            [{"f": '{"x": "é"}'}, {"g": "[1"}],
        ),
        (reply(Text(text="Hi")), "Hi"),
        (reply(Text(text="")), ""),
        (reply(Reasoning(text="hm")), None),
        (reply(), None),
        (Trajectory(tools="native"), None),
        (reply(Text(text="Hi"), ToolCall(name="f"), tools="text"), "Hi"),
        (reply(Text(text=""), tools="text"), ""),
        (reply(tools="text"), None),
    ],
)
def test_what_an_official_file_would_hold(trajectory: Trajectory, output: Any) -> None:
    assert model_output_of(sample(), trajectory) == output


def test_no_text_is_told_from_empty_text() -> None:
    assert score(reply(tools="text")).details["error_type"] == "ast_decoder:decoder_failed"
    assert score(reply(Text(text=""), tools="text")).details["error_type"] == "simple_function_checker:wrong_count"


def test_a_sample_of_something_else_is_not_scored() -> None:
    result = bfcl(Sample(id="x", turns=()), Trajectory.of("f()"))
    assert isinstance(result, Unscored)
    assert result.why == "not_applicable"


def test_a_long_answer_is_kept_in_part() -> None:
    kept = score(Trajectory.of("a" * 100_000)).answer
    assert kept is not None
    assert len(kept) < 3_000


def test_the_version_names_the_official_release() -> None:
    assert bfcl.version == "bfcl-eval 2026.3.23 / 1"  # type: ignore[attr-defined]  # functions may have one
