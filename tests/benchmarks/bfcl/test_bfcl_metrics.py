from typing import Any

import pytest

from proctor_benchmarks.bfcl.checker import CheckerRules, check
from proctor_benchmarks.bfcl.metrics import details, matching

AREA = {
    "name": "geo.area",
    "parameters": {
        "properties": {"base": {"type": "integer"}, "side": {"type": "integer"}, "unit": {"type": "string"}},
        "required": ["base"],
    },
}
SING = {"name": "sing", "parameters": {"properties": {"song": {"type": "string"}}, "required": ["song"]}}
ONE = {"geo.area": {"base": [1], "side": [1, ""], "unit": ["cm", ""]}}
TWO = {"geo.area": {"base": [2], "side": [1, ""], "unit": ["cm", ""]}}
SONG = {"sing": {"song": ["la"]}}


def details_of(output: str, answers: Any = (ONE,), category: str = "simple_python") -> dict[str, Any]:
    functions = [AREA, SING]
    result = check(functions, answers, category, output, mode="prompt", underscores=False)
    return details(functions, answers, category, result, CheckerRules("python", False))


def figures(output: str, answers: Any) -> tuple[float, float, float, float]:
    found = details_of(output, answers, "parallel")
    return found["parameter_accuracy"], found["precision"], found["recall"], found["f1"]


def test_a_right_output_has_full_figures_and_no_error() -> None:
    assert details_of("[geo.area(base=1)]") == {"parameter_accuracy": 1, "precision": 1, "recall": 1, "f1": 1}


def test_an_unreadable_output_has_none() -> None:
    assert details_of("Sorry") == {
        "error_type": "ast_decoder:decoder_failed",
        "error_class": "unparsable",
        "parameter_accuracy": 0,
        "precision": 0,
        "recall": 0,
        "f1": 0,
    }


def test_the_place_is_told() -> None:
    found = details_of("[geo.area(base=1, unit='m', side=1)]")
    assert (found["function"], found["parameter"]) == ("geo.area", "unit")


@pytest.mark.parametrize(
    ("output", "accuracy"),
    [
        ("[geo.area(base=2)]", 2 / 3),
        ("[geo.area(base=1, unit='m')]", 2 / 3),
        ("[geo.area(base=2, unit='m', side=3)]", 0),
        ("[geo.area(base=1, colour=1)]", 1),
        ("[geo.area()]", 2 / 3),
        ("[area(base=1)]", 0),
        ("[sing(), geo.area(base=2, side=1)]", 2 / 3),
    ],
)
def test_parameter_accuracy_counts_what_was_given_or_left_out_as_allowed(output: str, accuracy: float) -> None:
    assert details_of(output)["parameter_accuracy"] == pytest.approx(accuracy)


def test_calls_are_matched_one_to_one() -> None:
    assert figures("[geo.area(base=1), geo.area(base=1)]", [ONE, TWO]) == pytest.approx((5 / 6, 0.5, 0.5, 0.5))
    assert figures("[geo.area(base=1)]", [ONE, TWO]) == pytest.approx((0.5, 1, 0.5, 2 / 3))
    assert figures("[geo.area(base=2), sing(song='la'), sing(song='la')]", [ONE, SONG]) == pytest.approx(
        (3 / 4, 1 / 3, 0.5, 0.4)
    )


def test_the_matching_is_the_best_one_where_the_official_one_is_greedy() -> None:
    loose = {"geo.area": {"base": [1], "side": [1, 2, ""], "unit": [""]}}
    tight = {"geo.area": {"base": [1], "side": [1], "unit": [""]}}
    found = details_of("[geo.area(base=1, side=1), geo.area(base=1, side=2)]", [loose, tight], "parallel")
    assert found["error_type"].endswith("cannot_find_match")
    assert found["f1"] == 1


@pytest.mark.parametrize(
    ("output", "answers", "category", "error_class"),
    [
        ("[]", [ONE], "simple_python", "missing_call"),
        ("[sing(), sing()]", [ONE], "multiple", "extra_call"),
        ("[sing(song='la')]", [ONE], "simple_python", "wrong_function"),
        ("[geo.area(side=1)]", [ONE], "simple_python", "missing_param"),
        ("[geo.area(bass=1)]", [ONE], "simple_python", "wrong_param_name"),
        ("[geo.area(base=1, colour=1)]", [ONE], "simple_python", "unknown_param"),
        ("[geo.area(base=1)]", [{"geo.area": {"base": [1], "side": [1]}}], "simple_python", "missing_param"),
        ("[geo.area(base='1')]", [ONE], "simple_python", "wrong_type"),
        ("[geo.area(base=2)]", [ONE], "simple_python", "wrong_param_value"),
        ("[geo.area(base=1, unit='m')]", [ONE], "simple_python", "wrong_param_value"),
        ("[sing(song='la'), geo.area(base=3)]", [SONG, TWO], "parallel", "wrong_param_value"),
        ("[sing(song='la'), sing(song='la')]", [SONG, TWO], "parallel", "wrong_function"),
        ("[geo.area(base=1)]", [{"nobody": {"base": [1]}}], "multiple", "crash"),
        ("[f()]", None, "irrelevance", "call_not_wanted"),
        ("Sorry", None, "live_relevance", "no_call"),
    ],
)
def test_the_error_class(output: str, answers: Any, category: str, error_class: str) -> None:
    assert details_of(output, answers, category)["error_class"] == error_class


def test_relevance_has_no_figures() -> None:
    assert details_of("Sorry", None, "irrelevance") == {}
    assert "f1" not in details_of("f()", None, "irrelevance")


def test_a_larger_matching_replaces_a_smaller_one() -> None:
    assert matching([[True, True, False], [True, False, False], [False, True, True]]) == {0: 1, 1: 0, 2: 2}
    assert matching([[False], [True]]) == {0: 1}
    assert matching([]) == {}


def test_many_calls_are_counted_but_not_all_compared() -> None:
    found = details_of("[" + "geo.area(base=1)," * 5_000 + "]")
    assert found["error_class"] == "extra_call"
    assert found["precision"] == pytest.approx(1 / 5_000)
