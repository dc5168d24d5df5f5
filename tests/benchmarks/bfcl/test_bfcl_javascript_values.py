import time
from typing import Any

import pytest

from proctor_benchmarks.bfcl.javascript_values import convert


def same(one: Any, other: Any) -> bool:
    return repr(one) == repr(other)  # tells 1 from 1.0 and True


@pytest.mark.parametrize(
    ("declared", "text", "expected"),
    [
        ("String", "'a'", "a"),
        ("String", '"a"', "a"),
        ("String", "'a\"", "'a\""),
        ("String", "'", ""),
        ("String", "a", "a"),
        ("integer", "-5", -5),
        ("integer", "5.0", "5.0"),
        ("float", "5", 5.0),
        ("float", "1.5", 1.5),
        ("float", "1e5", "1e5"),
        ("Bigint", "5n", 5),
        ("Bigint", "5", "5"),
        ("Boolean", "true", True),
        ("Boolean", "False", "False"),
        ("any", "'x'", "'x'"),
    ],
)
def test_a_plain_value_is_converted_when_its_pattern_fits(declared: str, text: str, expected: Any) -> None:
    assert same(convert(text, declared), expected)


@pytest.mark.parametrize(
    ("text", "element", "expected"),
    [
        ("[1, 2]", "integer", [1, 2]),
        (" [1,2] ", "integer", [1, 2]),
        ("[1, 2.5]", "integer", [1, "2.5"]),
        ("['a', \"b\", c]", "String", ["a", "b", "c"]),
        ("['a, b']", "String", ["'a", "b'"]),
        ("[1, 'x', true, y, 2.5]", None, [1, "x", True, "y", 2.5]),
        ("[]", "integer", []),
        ("[1]x", "integer", [1]),
        ("[1, ]", "integer", [1, ""]),
        ("[1,\n2]", "integer", "[1,\n2]"),
        ("new Array(1, 2)", "integer", [1, 2]),
        ("new Array()", "integer", []),
        ("x [1]", "integer", "x [1]"),
        ("[x]", "weird", "[x]"),
        ("[[1, 2], [3]]", "array", [[1, 2], [3]]),
        ("[ [1] , ['a'] ]", "array", [[1], ["a"]]),
        ("[[]]", "array", [[""]]),
        ("new Array([1, 2], [3])", "array", [[1, 2], [3]]),
        ("[[1], [2]", "integer", ["[1"]),
        ("[[1]], [2]]", "array", [[1]]),
        ("[[1] x], [2]]", "array", [[1], [2]]),
        ("[[a], [b]\n]", "array", [["a"], ["b"]]),
        ("[[a\n], [b]]", "String", "[[a\n], [b]]"),
        ("[a, [b], [c]]", "String", ["a", "[b"]),
    ],
)
def test_an_array(text: str, element: str | None, expected: Any) -> None:
    assert same(convert(text, "array", element), expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", {}),
        ("{a: 1}", {"a": 1}),
        ("{'a': 'x', \"b\": true}", {"a": "x", "b": True}),
        ('{a: "5"}', {"a": 5}),
        ("{a: [1, 'x'], b: 2.5}", {"a": [1, "x"], "b": 2.5}),
        ("{a: x, y, b: 1}", {"a": "x, y", "b": 1}),
        ("{a: b:c}", {"a": "b:c"}),
        ("{a: 1, :2}", {"a": 1, "": 2}),
        ("{a: 1, a: 2}", {"a": 2}),
        ("{a}", {}),
        ("{a: {b: 1}}", {"a": "{b: 1"}),
        ("{\na: 1}", "{\na: 1}"),
        ("x {a: 1}", "x {a: 1}"),
    ],
)
def test_an_object(text: str, expected: Any) -> None:
    assert same(convert(text, "dict"), expected)


def test_an_unknown_type_raises() -> None:
    with pytest.raises(ValueError, match="weird"):
        convert("x", "weird")


HOSTILE = [
    "[[" + "],[" * 60_000,
    "[[" + "], [" * 2_000 + "\n]",
    "[[" + "]" * 100_000,
    "[" * 100_000,
    "[[],\n" * 20_000,
    "new Array(" * 10_000,
    "{" + "a" * 100_000,
    "{" + "a:," * 30_000 + "}",
    "{a:," + " " * 100_000 + "}",
    "{a:" + ", " * 50_000 + "}",
    "{" + ":" * 100_000 + "}",
    "{a: " + "[" * 4_000 + "]" * 4_000 + "}",
]


@pytest.mark.parametrize("declared", ["array", "dict"])
@pytest.mark.parametrize("cut", [9_999, None])
def test_hostile_text_is_read_soon(declared: str, cut: int | None) -> None:
    before = time.process_time()
    for text in HOSTILE:
        whole = text[:cut]
        convert(whole + "}" if cut and declared == "dict" else whole, declared)
    assert time.process_time() - before < 5
