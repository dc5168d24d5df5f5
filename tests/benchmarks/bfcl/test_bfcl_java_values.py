import time
from typing import Any

import pytest

from proctor_benchmarks.bfcl.java_values import convert

MAP = "new HashMap<String, Object>() {{ %s }}"


def same(one: Any, other: Any) -> bool:
    return repr(one) == repr(other)  # tells 1 from 1.0 and True


@pytest.mark.parametrize(
    ("declared", "text", "expected"),
    [
        ("byte", "-5", -5),
        ("short", "5", 5),
        ("integer", "5", 5),
        ("integer", "5\n", 5),
        ("integer", "٣", 3),
        ("integer", "5.0", "5.0"),
        ("integer", "+5", "+5"),
        ("integer", "5L", "5L"),
        ("integer", " 5", " 5"),
        ("long", "42L", 42),
        ("long", "-42l", -42),
        ("long", "42", "42"),
        ("float", "1.5f", 1.5),
        ("float", "2F", 2.0),
        ("float", "1e-3f", 0.001),
        ("float", "1.5", "1.5"),
        ("double", "1.5", 1.5),
        ("double", "5", 5.0),
        ("double", "1E3", 1000.0),
        ("double", "0.5d", "0.5d"),
        ("double", "1.", "1."),
        ("boolean", "true", True),
        ("boolean", "false", False),
        ("boolean", "True", "True"),
        ("char", "'a'", "'a'"),
        ("String", '"a b"', '"a b"'),
        ("any", "5", "5"),
    ],
)
def test_a_plain_value_is_converted_when_its_pattern_fits(declared: str, text: str, expected: Any) -> None:
    assert same(convert(text, declared), expected)


@pytest.mark.parametrize(
    ("text", "element", "expected"),
    [
        ("new int[]{1, 2}", "integer", [1, 2]),
        ("new int[] { 1,,2, }", "integer", [1, 2]),
        ("new long[]{1L, 2}", "long", [1, "2"]),
        ("x new  int[]  {1} y", "integer", [1]),
        ("new int[]{}", "integer", []),
        ("new int[]{1,\n2}", "integer", "new int[]{1,\n2}"),
        ('new String[]{"a"}', "String", ['"a"']),
        ("new String[]{a}", "String", ["a"]),
        ('new String[]{"a,b"}', "String", ['"a', 'b"']),
        ('new Object[]{1, 2L, 3f, true, "a", x}', None, [1, 2, 3.0, True, "a", "x"]),
        ("{1, 2}", "integer", "{1, 2}"),
    ],
)
def test_an_array(text: str, element: str | None, expected: Any) -> None:
    assert same(convert(text, "Array", element), expected)


@pytest.mark.parametrize(
    ("text", "element", "expected"),
    [
        ("new ArrayList<>(Arrays.asList(1, 2))", "integer", [1, 2]),
        ('new ArrayList<String>(Arrays.asList("a", "b"))', "String", ["a", "b"]),
        ("new ArrayList<>(Arrays.asList('a'))", "char", ["a"]),
        ("new ArrayList<>(Arrays.asList(abc))", "String", ["b"]),
        ("new ArrayList<>(Arrays.asList(1L, 2))", "long", [1, "2"]),
        ("new ArrayList<>(Arrays.asList(1, true))", None, [1, True]),
        ("new ArrayList<>(Arrays.asList(1,\n2))", "integer", "new ArrayList<>(Arrays.asList(1,\n2))"),
        ("new ArrayList<Integer>() {{ add(1); add(2); }}", "integer", [1, 2]),
        ('new ArrayList<String>() {{\n add("a");\n add("b");\n}}', "String", ["a", "b"]),
        ("new ArrayList<>() {{ add(); add(1) }}", "integer", ["); add(1"]),
        ("new ArrayList<>() {{ }}", "integer", []),
        ("new ArrayList<>() {{}}", "integer", []),
        ("new ArrayList<>()", "integer", []),
        ("new ArrayList()", "integer", "new ArrayList()"),
        ("List.of(1)", "integer", "List.of(1)"),
        ("Arrays.asList(1)", "integer", "Arrays.asList(1)"),
    ],
)
def test_an_array_list(text: str, element: str | None, expected: Any) -> None:
    assert same(convert(text, "ArrayList", element), expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MAP % 'put("a", 1); put("b", "x y");', {"a": 1, "b": "x y"}),
        (MAP % 'put("a", true); put("a", 2L); put("c", 1.5f); put("d", abc)', {"a": 2, "c": 1.5, "d": "abc"}),
        (MAP % 'put("a",\n 1);', {"a": 1}),
        (MAP % 'put("a", 1\n);', {}),
        (MAP % 'put("a","b", 1\n); put("c", 2)', {"c": 2}),
        (MAP % 'put("a", f(1));', {"a": "f(1"}),
        (MAP % 'put("a", "x)y");', {"a": '"x'}),
        (MAP % 'put("a}", 1);', {}),
        (MAP % "", {}),
        ("new HashMap<>() {}", {}),
        ("new HashMap<>()", {}),
        ("new HashMap<>() {", {}),
        ("new  HashMap<A, B<C>>  ( ) x", "new  HashMap<A, B<C>>  ( ) x"),
        ('Map.of("a", 1)', 'Map.of("a", 1)'),
    ],
)
def test_a_map(text: str, expected: Any) -> None:
    assert same(convert(text, "HashMap"), expected)


@pytest.mark.parametrize("declared", ["Set", "Hashtable", "Queue", "Stack"])
def test_what_upstream_does_not_convert_raises(declared: str) -> None:
    with pytest.raises(NotImplementedError):
        convert("x", declared)


def test_an_unknown_type_raises() -> None:
    with pytest.raises(ValueError, match="weird"):
        convert("x", "weird")


HOSTILE = [
    "new ArrayList<>() {{" + " " * 200_000,
    "new ArrayList<>(){{" * 20_000,
    "new ArrayList<>() {{ " + "add(" * 20_000 + "\n}}",
    "new ArrayList<>(Arrays.asList(" * 20_000,
    "new HashMap<" * 20_000 + ">" * 20_000,
    "new HashMap<>() {{" + 'put("' * 5_000 + '",' * 5_000 + "\n}}",
    "new HashMap<>() {{" + 'put("a",' + " " * 100_000 + "\n}}",
    "new HashMap<>" + " " * 200_000,
    "new int[]{" * 20_000,
    "new " * 50_000,
]


@pytest.mark.parametrize("declared", ["Array", "ArrayList", "HashMap"])
@pytest.mark.parametrize("cut", [9_999, None])
def test_hostile_text_is_read_soon(declared: str, cut: int | None) -> None:
    before = time.process_time()
    for text in HOSTILE:
        convert(text[:cut], declared, None if declared == "HashMap" else "integer")
    assert time.process_time() - before < 5
