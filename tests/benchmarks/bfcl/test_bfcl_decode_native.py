import json
from typing import Any

import pytest

from proctor_benchmarks.bfcl.calls import Undecodable
from proctor_benchmarks.bfcl.decode import decode


def test_arguments_are_read_from_their_text() -> None:
    output = [{"f": '{"x": 1, "y": [true, null]}'}, {"g_h": " {} "}]
    assert decode(output, "native") == [{"f": {"x": 1, "y": [True, None]}}, {"g_h": {}}]


def test_of_an_item_only_the_first_key_counts() -> None:
    assert decode([{"f": "{}", "g": "broken"}], "native") == [{"f": {}}]


@pytest.mark.parametrize("output", ["", [], {}])
def test_nothing_is_no_call(output: Any) -> None:
    assert decode(output, "native") == []


def test_nan_is_accepted() -> None:
    assert str(decode([{"f": '{"x": NaN}'}], "native")) == "[{'f': {'x': nan}}]"


def failure(output: Any) -> Undecodable:
    with pytest.raises(Undecodable) as raised:
        decode(output, "native")
    return raised.value


@pytest.mark.parametrize(
    "output",
    [
        "Sorry",
        "[f(x=1)]",
        None,
        5,
        True,
        {"f": "{}"},
        ["f"],
        [None],
        [{}],
        [{"f": {"x": 1}}],
        [{"f": None}],
        [{"f": 3}],
        [{"f": ""}],
        [{"f": "{'x': 1}"}],
        [{"f": '{"x": 1} and more'}],
        [{"f": "{}"}, {"g": "{"}],
        [{"f": "[" * 100_000}],
        [{"f": "9" * 5000}],
    ],
)
def test_what_is_no_list_of_calls_with_json_fails(output: Any) -> None:
    assert not failure(output).malformed


@pytest.mark.parametrize("arguments", [3, [1], None, "x", True, json.dumps({"x": 1})])
def test_arguments_that_are_no_object_have_the_wrong_format(arguments: Any) -> None:
    assert failure([{"f": json.dumps(arguments)}]).malformed


def test_the_reason_names_the_function() -> None:
    assert str(failure([{"f": "{"}])).startswith("The arguments of f are no JSON: Expecting property name")
    assert str(failure([{"f": "[1]"}])) == "The arguments of f are [1], expected an object."
    assert str(failure("Sorry")) == "The output is 'Sorry', expected tool calls."
