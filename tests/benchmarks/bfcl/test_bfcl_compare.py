from typing import Any

import pytest

from proctor_benchmarks.bfcl.compare import fault_of, standard, type_match


def verdict(value: Any, allowed: list[Any], expected: type, element: type | None = None) -> str | None:
    fault = fault_of(value, allowed, expected, element)
    return None if fault is None else fault.error_type


@pytest.mark.parametrize(
    ("expected", "element", "allowed", "value", "error_type"),
    [
        (float, None, [5.0], 5.0, None),
        (float, None, [5.0], True, "type_error:simple"),
        (int, None, [5], 5.0, "type_error:simple"),
        (int, None, [1], True, "type_error:simple"),
        (int, None, [1], 2, "value_error:others"),
        (bool, None, [True], 1, "type_error:simple"),
        (bool, None, [True], False, "value_error:others"),
        (list, float, [[1.0, 2.0]], [1, 2], "type_error:nested"),
        (list, float, [[1, 2]], [1.0, 2.0], None),
        (list, float, [[1, 2]], [1, 2], None),
        (list, int, [[1, 2]], (1, 2), "type_error:simple"),
        (list, int, [], [1], "type_error:simple"),
        (list, int, [""], ["a"], "value_error:list/tuple"),
        (list, int, ["", [1]], ["a"], "value_error:list/tuple"),
        (list, int, ["data"], "data", None),
        (list, int, ["data"], [1], "value_error:others"),
        (str, None, ["x"], "X", None),
        (str, None, [5], 5, None),
        (str, None, [5], "5", "value_error:others"),
        (str, None, [5], 5.0, "type_error:simple"),
        (int, None, ["n"], "n", None),
        (int, None, ["n"], "N", "value_error:others"),
        (int, None, ["n"], 5, "value_error:others"),
        (str, None, ["", None], None, None),
        (str, None, ["", None], "x", "value_error:others"),
        (str, None, ["", None], "", None),
        (str, None, ["", None], " ", "value_error:others"),
        (str, None, [""], None, "type_error:simple"),
        (str, None, [], "x", "value_error:string"),
    ],
)
def test_types(expected: type, element: type | None, allowed: list[Any], value: Any, error_type: str | None) -> None:
    assert verdict(value, allowed, expected, element) == error_type


def test_elements_are_checked_one_level_deep() -> None:
    assert type_match([[1], ["a"]], [[[1], [2]]], list, list) == "exact"


@pytest.mark.parametrize(
    ("one", "other"),
    [("April 1, 2024", "april 1 2024"), ("it's", 'it"s'), ("-5", "5"), ("1.5", "15"), ("a_b*c^d/e", "ABCDE")],
)
def test_strings_that_are_equal(one: str, other: str) -> None:
    assert standard(one) == standard(other)
    assert verdict(one, ["", other, 5], str) is None


@pytest.mark.parametrize("sign", list('\t\n\xa0!?;:()[]"&+=@#\\|~`$%<>{}'))
def test_strings_differ_by_every_other_sign(sign: str) -> None:
    assert verdict(f"a{sign}b", ["ab"], str) == "value_error:string"


def test_case_is_dropped_before_quotes_are_made_one() -> None:
    assert standard("ΑΣ'Β") == 'ασ"β'  # a sigma before a letter, as the apostrophe does not end the word


@pytest.mark.parametrize("value", ["-", " ", "", "_"])
def test_an_optional_string_may_be_anything_that_is_dropped(value: str) -> None:
    assert verdict(value, ["cm", ""], str) is None


@pytest.mark.parametrize(
    ("allowed", "value", "error_type"),
    [
        ([["a b", 1]], ["A-B", 1], None),
        ([["a", "b"]], ["b", "a"], "value_error:list/tuple"),
        ([["a"], ["b"]], ["b"], None),
        ([[["a b"]]], [["A B"]], "value_error:list/tuple"),
        ([["a"], ""], [], None),
        ([["a"]], [], "value_error:list/tuple"),
        ([[1]], [True], None),
    ],
)
def test_lists(allowed: list[Any], value: list[Any], error_type: str | None) -> None:
    assert verdict(value, allowed, list) == error_type


@pytest.mark.parametrize(
    ("allowed", "value", "error_type"),
    [
        ([{"a": ["x y"], "b": [1, ""]}], {"a": "X-Y"}, None),
        ([{"a": [1]}], {"a": True}, None),
        ([{"a": [1]}], {"a": 1.0}, None),
        ([{"a": [1]}], {"a": 2}, "value_error:dict_value"),
        ([{"a": [1]}], {"c": 1, "a": 1}, "value_error:dict_key"),
        ([{"a": [1]}], {}, "value_error:dict_key"),
        ([{"a": [1], "b": [2]}], {"a": 5}, "value_error:dict_key"),
        ([{"a": [1]}, {"a": [2]}], {"a": 2}, None),
        ([{"a": [1]}, {"b": [2]}], {"a": 2}, "value_error:dict_key"),
        ([{"a": [["p q"]]}], {"a": ["P q"]}, "value_error:dict_value"),
        ([{"a": [{"b": ["x"]}]}], {"a": {"b": ["x"]}}, None),
        ([{"a": [{"b": ["x"]}]}], {"a": {"b": "x"}}, "value_error:dict_value"),
        ([""], {}, "dict_checker:unclear"),
        ([], {}, "dict_checker:unclear"),
        ([{}, ""], {}, None),
        ([{"format": "epoch_millis"}], {"format": "epoch_millis"}, "value_error:dict_value"),
        ([{"format": "epoch_millis"}], {"format": "e"}, None),
        ([{"format": "epoch_millis"}], {}, None),
    ],
)
def test_dicts(allowed: list[Any], value: dict[str, Any], error_type: str | None) -> None:
    assert verdict(value, allowed, dict) == error_type


@pytest.mark.parametrize(
    ("allowed", "value", "error_type"),
    [
        ([[{"a": [1]}, {"b": ["x"]}]], [{"a": 1}, {"b": "X"}], None),
        ([[{"a": [1]}, {"b": ["x"]}]], [{"b": "x"}, {"a": 1}], "value_error:dict_key"),
        ([[{"a": [1]}]], [{"a": 1}, {"a": 1}], "value_error:list_dict_count"),
        ([[{"a": [1]}]], [{"a": 2}], "value_error:dict_value"),
        ([[{"a": [1]}], [{"a": [2]}]], [{"a": 2}], None),
        ([[{"a": [1]}], ""], [], None),
        ([[{"a": [1]}]], [], "value_error:list_dict_count"),
    ],
)
def test_lists_of_dicts(allowed: list[Any], value: list[Any], error_type: str | None) -> None:
    assert verdict(value, allowed, list, dict) == error_type


def test_without_an_allowed_list_no_list_of_dicts_matches() -> None:
    assert verdict([], [], list, dict) == "type_error:simple"


@pytest.mark.parametrize(
    ("allowed", "value", "expected", "element", "error"),
    [
        ([[{"a": [1]}], ""], [5], list, dict, AttributeError),
        ([5, [1]], [1], list, None, TypeError),
        ([[1], None], [1], list, None, TypeError),
    ],
)
def test_strange_answers_raise_what_upstream_raises(
    allowed: list[Any], value: Any, expected: type, element: type | None, error: type[Exception]
) -> None:
    if allowed[0] == 5:
        allowed = [[2], *allowed]  # the first allowed value says the type
    with pytest.raises(error):
        fault_of(value, allowed, expected, element)
