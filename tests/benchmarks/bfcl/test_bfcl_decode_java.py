import time

import pytest

from proctor_benchmarks.bfcl.calls import Undecodable
from proctor_benchmarks.bfcl.decode import decode


def value(text: str) -> object:
    return decode(f"[Foo.bar(x={text})]", "prompt", "java")[0]["Foo.bar"]["x"]


def failure(text: str) -> Undecodable:
    with pytest.raises(Undecodable) as raised:
        decode(text, "prompt", "java")
    return raised.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10", "10"),
        ("-10", "-10"),
        ("10L", "10L"),
        ('"a b"', "a b"),
        ('"\\"q\\""', '\\"q\\"'),
        ("'c'", "c"),
        ("null", "null"),
        ("Foo.BAR", "Foo.BAR"),
        ("Foo.class", "Foo.class"),
        ("abc", "abc"),
        ("a + b", "a+b"),
        ('"a" + "b"', '"a"+"b"'),
        ("(int) 5", "(int)5"),
        ("get(a,  1)", "get(a,  1)"),
        ("new int[]{1, 2}", "new int[]{1,2}"),
        ('new String[]{"a", "b"}', 'new String[]{"a","b"}'),
        ("new ArrayList<>(Arrays.asList(1,  2))", "new ArrayList<>(Arrays.asList(1,  2))"),
        ('new Foo(1, "x")', 'new Foo(1, "x")'),
        ('new HashMap<String, Object>() {{ put("k", 1); }}', "new HashMap<String,Object>()"),
    ],
)
def test_a_value_is(text: str, expected: str) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Foo.bar(x=1)",
        "[Foo.bar(x=1);]",
        "String s = Foo.bar(x=1)",
        "return Foo.bar(x=1);",
        "Foo.bar(x=1); Other.one(y=2);",
        "```\nFoo.bar(x=1)\n```",
    ],
)
def test_the_first_call_counts_wherever_it_stands(text: str) -> None:
    assert decode(text, "prompt", "java") == [{"Foo.bar": {"x": "1"}}]


def test_unnamed_names_have_no_key_and_other_unnamed_values_vanish() -> None:
    assert decode('[bar(y, 1, "a", x=2)]', "prompt", "java") == [{"bar": {None: "y", "x": "2"}}]


@pytest.mark.parametrize(
    "text", ["[A.b(x=10)]", "[bar(x=1, x=2)]", "[bar(y, z)]", "[bar(x=new int[5])]", "[bar(x=1\\2)]", "[bar(x={1, 2}"]
)
def test_errors_repeated_keys_and_arrays_without_values_fail(text: str) -> None:
    assert not failure(text).malformed


def test_a_text_without_a_call_has_the_wrong_format() -> None:
    assert failure("text here").malformed


def test_byte_offsets_are_taken_for_characters_as_upstream_does() -> None:
    assert decode('[Foo.bar(x="é", y=10)]', "prompt", "java") == [{"Foo.bar": {"x": 'é"', "=": "0)"}}]


HOSTILE = {
    "arrows": "x=>" * 20_000,
    "angles": "A<" * 50_000,
    "calls in calls": "f(" * 60_000 + ")" * 60_000,
    "negations": "!" * 100_000 + "f()",
    "few deep calls": "f(" * 1_000 + ")" * 1_000,
    "awaits": "- await " * 1_000,
    "a megabyte": '"' + "a" * 1_000_000,
    "half a character": 'Foo.bar(x="\ud800")',
    "a zero byte": "Foo.bar(x=\0)",
    "quotes": "\"'" * 50_000,
}


@pytest.mark.parametrize("language", ["java", "javascript"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_fails_soon(name: str, language: str) -> None:
    before = time.process_time()
    try:
        decode(HOSTILE[name], "prompt", language)  # type: ignore[arg-type]  # one of the two
    except Undecodable:
        pass
    else:
        assert name == "few deep calls"
    assert time.process_time() - before < 5


def test_a_long_text_in_quotes_is_no_hostile_text() -> None:
    assert value('"' + "a b " * 500 + '"') == "a b " * 500
