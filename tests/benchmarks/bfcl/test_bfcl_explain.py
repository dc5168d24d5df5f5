from typing import Any

import pytest

from proctor.core.sentence import Sentence
from proctor.i18n import catalogue, speak
from proctor_benchmarks.bfcl.checker import check
from proctor_benchmarks.bfcl.explain import explain
from proctor_benchmarks.bfcl.fault import BfclFault

PROPERTIES = {
    "base": {"type": "integer"},
    "unit": {"type": "string"},
    "side": {"type": "integer"},
    "sides": {"type": "array", "items": {"type": "float"}},
    "names": {"type": "array", "items": {"type": "string"}},
    "shape": {"type": "dict"},
    "parts": {"type": "array", "items": {"type": "dict"}},
    "unused": {"type": "string"},
}
AREA = {"name": "area", "parameters": {"properties": PROPERTIES, "required": ["base"]}}
ALLOWED = {
    "base": [3],
    "unit": ["m", "units", ""],
    "side": ["n", ""],
    "sides": [[1.0, 2.0], ""],
    "names": [["a"], ""],
    "shape": [{"kind": ["x"], "size": [1, ""]}, ""],
    "parts": [[{"a": [1]}], ""],
}
STRINGS = "(strings compare without case, blanks and , . / - _ * ^)"


def reason(output: Any, category: str = "simple_python", answers: Any = ({"area": ALLOWED},)) -> str:
    result = check([AREA], answers, category, output, mode="prompt", underscores=False)
    if isinstance(result.reason, Sentence):
        assert result.reason.text in catalogue("zh")
        assert speak(result.reason, "zh") != str(result.reason)
    return str(result.reason)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("base=3, unit='cm'", f"area: parameter 'unit' is 'cm'; allowed: 'm', 'units' {STRINGS}."),
        ("base=3.0", "area: parameter 'base' is 3.0 (float); expected type: integer; allowed: 3."),
        ("base=4", "area: parameter 'base' is 4; allowed: 3."),
        ("unit='m'", "area: the required parameter 'base' is missing; allowed: 3."),
        (
            "bass=3",
            "area: the required parameter 'base' is missing, while 'bass' is given, which it does not have; allowed: 3.",
        ),
        ("base=3, unused='a'", "area: the parameter 'unused' is 'a', and the answer allows no value for it."),
        ("base=3, **{'a': 1}", "area: {'a': 1} is given without the name of a parameter."),
        (
            "base=3, side='N'",
            "area: parameter 'side' is 'N'; allowed: 'n' (the answer is a variable: compared letter for letter).",
        ),
        (
            "base=3, names=['b']",
            "area: parameter 'names' is ['b']; allowed: ['a'] (the order counts; strings in it compare without case, blanks and , . / - _ * ^).",
        ),
        ("base=3, shape={'k': 1}", "area: parameter 'shape' lacks the key 'kind'; allowed there: 'x'."),
        (
            "base=3, shape={'kind': 'x', 'k': 1}",
            "area: parameter 'shape' has the key 'k'; allowed keys: 'kind', 'size'.",
        ),
        (
            "base=3, shape={'kind': 'y'}",
            "area: parameter 'shape' has 'y' under the key 'kind'; allowed: 'x' (strings compare without case, blanks and , . / - _ * ^, anything inside lists letter for letter).",
        ),
        ("base=3, parts=[{}, {}]", "area: parameter 'parts' holds 2 objects, expected 1."),
    ],
)
def test_a_fault_of_a_parameter_names_place_and_rule(arguments: str, sentence: str) -> None:
    assert reason(f"[area({arguments})]") == sentence


def test_an_element_of_the_wrong_type_is_explained() -> None:
    answers = [{"area": {"base": [3], "sides": [[1.0, 2.0]]}}]
    assert reason("[area(base=3, sides=[1, 2])]", answers=answers) == (
        "area: parameter 'sides' is [1, 2]; expected type: array[float], where an integer in a list is no float; allowed: [1.0, 2.0]."
    )


def test_an_unknown_parameter_is_told_which_are_known() -> None:
    found = reason("[area(base=3, colour='red')]")
    assert found.startswith("area: there is no parameter 'colour' (given as 'red'). Known: 'base', 'unit', 'side',")


def test_a_missing_optional_parameter_is_explained() -> None:
    answers = [{"area": {"base": [3], "unit": ["m"]}}]
    assert reason("[area(base=3)]", answers=answers) == (
        "area: the parameter 'unit' is missing, and the answer needs it; allowed: 'm'."
    )


def test_counts_and_names_are_explained() -> None:
    assert reason("[]") == "Calls made: 0 (-); expected: 1 (area)."
    assert reason("[f(), g()]", "multiple") == "Calls made: 2 (f, g); expected: 1 (area)."
    assert reason("[Area()]") == "'Area' was called, expected 'area' (names compare letter for letter)."


def test_relevance_is_explained() -> None:
    assert reason("[f(), g.h()]", "irrelevance") == "No call is expected, as no function fits; f, g.h was called."
    assert reason("[f(x=A.B)]", "live_relevance") == (
        "A call is expected, and none was made. 'A.B' (Attribute) cannot be a value."
    )


def test_without_a_match_the_nearest_call_is_named_with_its_fault() -> None:
    answers = [{"area": {"base": [1]}}, {"area": {"base": [2], "unit": ["m"]}}]
    assert reason("[sing(), area(base=1), area(base=9, unit='m')]", "parallel", [*answers, answers[0]]) == (
        "No call matches the expected {'area': {'base': [2], 'unit': ['m']}}. "
        "Nearest is call 3: area: parameter 'base' is 9; allowed: 2."
    )


def test_a_crash_is_explained() -> None:
    document = {"name": "f", "parameters": {"properties": {"x": {"type": "weird"}}, "required": []}}
    result = check([document], [{"f": {"x": [1]}}], "simple_python", "f(x=1)", mode="prompt", underscores=False)
    assert str(result.reason) == "The official code breaks off here (KeyError: 'weird'); counted as wrong."


def test_java_values_that_are_no_text_are_explained() -> None:
    document = {"name": "f", "parameters": {"properties": {"x": {"type": "integer"}}, "required": []}}
    result = check([document], [{"f": {"x": [1]}}], "simple_java", [{"f": '{"x": 1}'}], mode="native", underscores=True)
    assert "f: parameter 'x' is 1 (int); values of Java and JavaScript come as text" in str(result.reason)


def test_a_dict_that_nothing_can_match_is_explained() -> None:
    assert str(explain(BfclFault(error_type="dict_checker:unclear", function="f", parameter="x", got={}))) == (
        "f: parameter 'x' is {}; the answer allows no such value."
    )


@pytest.mark.parametrize(
    "output",
    [
        f"[area({'x' * 50_000}=1, base=3)]",
        f"[area(base='{'a' * 50_000}')]",
        "[" + "f(),\n" * 20_000 + "]",
        f"[area(base=10**{10**4})]",
    ],
)
def test_a_sentence_stays_short(output: str) -> None:
    assert 0 < len(reason(output)) < 2_000
