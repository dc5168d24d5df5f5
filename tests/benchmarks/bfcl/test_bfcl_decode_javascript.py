import pytest

from proctor_benchmarks.bfcl.calls import Undecodable
from proctor_benchmarks.bfcl.decode import decode


def value(text: str) -> object:
    return decode(f"[foo(x={text})]", "prompt", "javascript")[0]["foo"]["x"]


def failure(text: str) -> Undecodable:
    with pytest.raises(Undecodable) as raised:
        decode(text, "prompt", "javascript")
    return raised.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10", "10"),
        ("'a'", "a"),
        ('"a b"', "a b"),
        ("`a`", "`a`"),
        ('"a" + "b"', 'a" + "b'),
        ("[1,  2]", "[1,  2]"),
        ("{a: 1}", "{a: 1}"),
        ("y => y", "y => y"),
        ("a.b", "a.b"),
        ("'é'", "é"),
    ],
)
def test_a_value_is(text: str, expected: str) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    "text", ["foo(x=1)", "[foo(x=1);]", "```javascript\nfoo(x=1)\n```", "y = 1; foo(x=1)", "foo(x=1)\nbar()"]
)
def test_the_first_statement_that_is_a_call_counts(text: str) -> None:
    assert decode(text, "prompt", "javascript") == [{"foo": {"x": "1"}}]


def test_the_name_is_the_text_before_the_brackets() -> None:
    assert decode("a.b[0](x=1)", "prompt", "javascript") == [{"a.b[0]": {"x": "1"}}]


def test_unnamed_names_and_true_have_no_key_and_other_unnamed_values_vanish() -> None:
    assert decode("foo(y, 1, false, 'a', x=2)", "prompt", "javascript") == [{"foo": {None: "y", "x": "2"}}]
    assert decode("foo(true)", "prompt", "javascript") == [{"foo": {None: "true"}}]


@pytest.mark.parametrize(
    "text", ["", "await foo(x=1)", "new foo(x=1)", "foo(x=1), bar(y=2)", "z = foo(x=1)", "Sorry", "[[foo(x=1)]]"]
)
def test_no_such_statement_is_the_wrong_format(text: str) -> None:
    assert failure(text).malformed


@pytest.mark.parametrize(
    "text", ["foo(x=1, x=2)", "foo(y, z)", "foo(x=1", "foo(x: 1)", "```javascript\n[foo(x=1)]\n```", "I cannot help."]
)
def test_errors_and_repeated_keys_fail(text: str) -> None:
    assert not failure(text).malformed
