import time
import warnings
from typing import Any

import pytest

from proctor_benchmarks.bfcl import decode_python
from proctor_benchmarks.bfcl.calls import Undecodable
from proctor_benchmarks.bfcl.decode import decode


def value(text: str) -> Any:
    """The value of x in `[f(x=...)]`."""
    return decode(f"[f(x={text})]", "prompt")[0]["f"]["x"]


def fails(text: Any) -> bool:
    try:
        decode(text, "prompt")
    except Undecodable:
        return True
    return False


@pytest.mark.parametrize(
    "text",
    [
        "[f(x=1)]",
        "f(x=1)",
        "[f(x=1)",
        "f(x=1)]",
        "```\n[f(x=1)]\n```",
        " `f(x=1)` ",
        "\n[f(x=1)] # a remark]",
        "[f(x=1),]",
    ],
)
def test_what_stands_around_a_call_is_made_up_for(text: str) -> None:
    assert decode(text, "prompt") == [{"f": {"x": 1}}]


def test_calls_come_in_their_order() -> None:
    assert decode("f(x=1), g.h(y=2)", "prompt") == [{"f": {"x": 1}}, {"g.h": {"y": 2}}]


@pytest.mark.parametrize("text", ["", "[]", " \n``` ```\n"])
def test_nothing_is_no_call(text: str) -> None:
    assert decode(text, "prompt") == []


@pytest.mark.parametrize(
    "text",
    [
        "```python\n[f(x=1)]\n```",
        "\t[f(x=1)]",
        "Sure: [f(x=1)]",
        "[f(x=1)] as asked",
        "Sorry",
        "[None]",
        "[[f(x=1)]]",
        '"[f(x=1)]"',
        "[await f(x=1)]",
        "[f(x=1)]; [g()]",
        "[x := f(x=1)]",
        "[f(x=1)](y=[2]",
        "[f(x=1)] + [g()]",
    ],
)
def test_anything_else_fails(text: str) -> None:
    assert fails(text)


@pytest.mark.parametrize("output", [None, 5, True, [], {}, ["f(x=1)"]])
def test_what_is_no_text_fails(output: Any) -> None:
    assert fails(output)


def test_positional_arguments_vanish_and_the_last_of_a_repeated_keyword_counts() -> None:
    assert decode("[f(1, *a, x=2, x=3)]", "prompt") == [{"f": {"x": 3}}]


def test_a_double_star_has_no_name() -> None:
    assert decode("[f(**{'a': 1})]", "prompt") == [{"f": {None: {"a": 1}}}]


@pytest.mark.parametrize(
    ("callee", "name"),
    [("a.b.c", "a.b.c"), ("f()", ""), ("f().g", "g"), ("a[0].b", "b"), ("(lambda: 1)", ""), ("[1]", "")],
)
def test_a_name_is_made_of_names_and_attributes_only(callee: str, name: str) -> None:
    assert decode(f"[{callee}(x=1)]", "prompt") == [{name: {"x": 1}}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("...", "..."),
        ("b'a'", b"a"),
        ("1j", 1j),
        ("'a' 'b'", "ab"),
        ("0x1F", 31),
        ("+5", -5),
        ("~5", -5),
        ("not True", -1),
        ("-True", -1),
        ("-1.5", -1.5),
        ("[1, (2, 3)]", [1, (2, 3)]),
        ("{'a': {'b': [1]}}", {"a": {"b": [1]}}),
        ("{a: b}", {"a": "b"}),
        ("true", "true"),
        ("null", "null"),
        ("None", None),
        ("g(1)", "g(1)"),
        ("a.g( 'x' ,2)", "a.g('x', 2)"),
        ("g(y=1)", {"g": {"y": 1}}),
        ("a[0]", "a[0]"),
        ("'a'[1:]", "'a'[1:]"),
        ("2+3", 5),
        ("1/3", 1 / 3),
        ("'a'+'b'", "ab"),
        ("'%s' % 3", "3"),
        ("len('abc')+1", 4),
    ],
)
def test_a_value_is(text: str, expected: Any) -> None:
    found = value(text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    "text",
    [
        "--5",
        "-(2+3)",
        "-x",
        "-'a'",
        "-None",
        "not x",
        "a.b",
        "{1, 2}",
        "f''",
        "1 < 2",
        "1 and 2",
        "1 if 1 else 2",
        "[y for y in z]",
        "lambda: 1",
        "[*a]",
        "(y := 1)",
        "{**{'a': 1}}",
        "{[1]: 2}",
        "1 + x",
        "1 / 0",
        "a @ b",
        "open('x') + 1",
        "01",
    ],
)
def test_a_value_cannot_be(text: str) -> None:
    assert fails(f"[f(x={text})]")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("text", "expected"), [(r"'\d'", "\\d"), (r"b'\d'", b"\\d"), (r"'\400'", "\u0100")])
def test_an_odd_escape_is_no_error_even_where_warnings_are(text: str, expected: Any) -> None:
    assert value(text) == expected


@pytest.mark.parametrize("text", ["[f(x=1if 1else 2)]", "[f(x=0xfor 1)]", "[f(x=[1for y in z])]"])
def test_a_number_before_a_keyword_warns_nobody(text: str) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert fails(text)
    assert seen == []


HOSTILE = {
    "brackets": "[" * 100_000,
    "pairs of brackets": "[" * 100_000 + "]" * 100_000,
    "calls in calls": "f(x=" * 100_000,
    "minus signs": f"[f(x={'-' * 100_000}1)]",
    "a long sum": f"[f(x={'1+' * 50_000}1)]",
    "a sum just too long": f"[f(x={'1+' * 1_500}1)]",
    "a long path": f"[f(x=a{'.b' * 100_000})]",
    "a power of a power": "[f(x=9**9**9)]",
    "a long text": "[f(x='a'*10**9)]",
    "a text times a text": "[f(x=('a'*99999)*99999)]",
    "a list in a list": f"[f(x={'[' * 50}0{']*99' * 50})]",
    "a shift": "[f(x=1<<10**12)]",
    "a wide format": "[f(x='%1000000000d' % 3)]",
    "a width as a value": "[f(x='%*d' % (10**9, 3))]",
    "a range": "[f(x=list(range(10**12))+[1])]",
    "rounding": "[f(x=round(5, -10**10)+1)]",
    "a long number": f"[f(x={'9' * 100_000})]",
    "a zero byte": "[f(x='\0')]",
    "half a character": "[f(x='\ud800')]",
    "a megabyte": "[f(x=" + "'a'," * 250_000 + ")]",
    "digits and keywords": "[f(x=" + "1if" * 100_000 + ")]",
    "an attribute of a value": "[f(x=().__class__.__bases__[0].__subclasses__()+1)]",
    "a command": "[f(x=__import__('os').system('true')+1)]",
    "a method of a text": "[f(x='{0.__class__}'.format(1)+'a')]",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_fails_soon(name: str) -> None:
    before = time.process_time()
    assert fails(HOSTILE[name])
    assert time.process_time() - before < 5


def test_a_text_up_to_the_limit_is_read() -> None:
    long = "a" * (decode_python.LONGEST - 20)
    assert value(f"'{long}'") == long


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[f(x=Color.RED)]", "'Color.RED' (Attribute) cannot be a value."),
        ("[f(x=1), 2]", "The output holds something that is no call: '2'."),
        ("[f(x=--1)]", "'--1': an operator can stand before a plain number only."),
        ("[f(x=y+1)]", "A value of the output is more than plain arithmetic (Name), and code is not run."),
        ("[f(x=1/0)]", "A value of the output cannot be computed: ZeroDivisionError: division by zero."),
    ],
)
def test_the_reason_is_said(text: str, reason: str) -> None:
    with pytest.raises(Undecodable) as raised:
        decode(text, "prompt")
    assert str(raised.value) == reason
