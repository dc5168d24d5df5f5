import json
from typing import Any

import pytest

from proctor_benchmarks.bfcl.checker import check


def document(name: str = "geo.area", required: tuple[str, ...] = ("base",), **types: Any) -> dict[str, Any]:
    properties = {parameter: kind if isinstance(kind, dict) else {"type": kind} for parameter, kind in types.items()}
    return {"name": name, "parameters": {"type": "dict", "properties": properties, "required": list(required)}}


AREA = document(base="integer", unit="string")
WANTED: dict[str, dict[str, list[Any]]] = {"geo.area": {"base": [3], "unit": ["cm", ""]}}
SING = document("sing", (), song="string")


def prompt(
    output: Any, category: str = "simple_python", functions: Any = (AREA,), answers: Any = (WANTED,)
) -> str | None:
    result = check(functions, answers, category, output, mode="prompt", underscores=False)
    assert result.valid is (result.error_type is None)
    assert bool(str(result.reason)) is not result.valid
    return result.error_type


def native(name: str, arguments: dict[str, Any], category: str, functions: Any, answers: Any) -> str | None:
    output = [{name: json.dumps(arguments)}]
    return check(functions, answers, category, output, mode="native", underscores=True).error_type


def value_of(kind: Any, allowed: list[Any], value: Any, language: str = "python") -> str | None:
    """The verdict on one parameter, given as native JSON."""
    functions = [document("f", ("x",), x=kind)]
    return native("f", {"x": value}, f"simple_{language}", functions, [{"f": {"x": allowed}}])


@pytest.mark.parametrize(
    ("output", "error_type"),
    [
        ("[geo.area(base=3)]", None),
        ("[geo.area(unit='CM', base=3)]", None),
        ("Sorry", "ast_decoder:decoder_failed"),
        ("", "simple_function_checker:wrong_count"),
        ("[geo.area(base=3), geo.area(base=3)]", "simple_function_checker:wrong_count"),
        ("[geo_area(base=3)]", "simple_function_checker:wrong_func_name"),
        ("[Geo.Area(base=3)]", "simple_function_checker:wrong_func_name"),
        ("[geo.area(3)]", "simple_function_checker:missing_required"),
        ("[geo.area(colour=1)]", "simple_function_checker:missing_required"),
        ("[geo.area(base=3, colour=1)]", "simple_function_checker:unexpected_param"),
        ("[geo.area(base=3, **{'unit': 'cm'})]", "simple_function_checker:unexpected_param"),
        ("[geo.area(base=3.0)]", "type_error:simple"),
        ("[geo.area(base=4)]", "value_error:others"),
        ("[geo.area(base=3, unit='m')]", "value_error:string"),
        ("[geo.area(unit='m', base=4)]", "value_error:string"),
        ("[geo.area(base=4, unit='m')]", "value_error:others"),
        ("[geo.area(base=+3)]", "value_error:others"),
        ("[geo.area(base=1+2)]", None),
    ],
)
def test_the_first_fault_decides(output: str, error_type: str | None) -> None:
    assert prompt(output) == error_type


def test_a_parameter_that_the_answer_lacks_may_not_be_given() -> None:
    assert prompt("[geo.area(base=3, unit='cm')]", answers=[{"geo.area": {"base": [3]}}]) == (
        "simple_function_checker:unexpected_param"
    )


def test_an_optional_parameter_without_the_empty_string_must_be_given() -> None:
    answers = [{"geo.area": {"base": [3], "unit": ["cm"]}}]
    assert prompt("[geo.area(base=3)]", answers=answers) == "simple_function_checker:missing_optional"


def test_simple_takes_the_first_document_whatever_the_answer_is_called() -> None:
    assert prompt("[geo.area(base=3)]", functions=[AREA, SING], answers=[{"other": WANTED["geo.area"]}]) is None


def test_multiple_takes_the_document_that_the_answer_names() -> None:
    functions = [SING, AREA]
    assert prompt("[geo.area(base=3)]", "multiple", functions) is None
    assert prompt("[sing(song='a')]", "live_multiple", functions) == "simple_function_checker:wrong_func_name"
    assert prompt("[]", "multiple", functions) == "multiple_function_checker:wrong_count"


def test_names_lose_their_dots_where_they_were_offered_so() -> None:
    for name, mode_has_dots, error_type in [
        ("geo_area", False, None),
        ("geo.area", False, "simple_function_checker:wrong_func_name"),
        ("geo.area", True, None),
        ("geo_area", True, "simple_function_checker:wrong_func_name"),
    ]:
        output = [{name: '{"base": 3}'}]
        result = check([AREA], [WANTED], "simple_python", output, mode="native", underscores=not mode_has_dots)
        assert result.error_type == error_type


def test_arguments_that_are_no_object_have_the_wrong_format() -> None:
    result = check([AREA], [WANTED], "simple_python", [{"geo_area": "[1]"}], mode="native", underscores=True)
    assert result.error_type == "ast_decoder:decoder_wrong_output_format"


def f(**arguments: Any) -> str:
    return f"f({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


PARALLEL = [document("f", (), medium="float", x="integer"), SING]
OVERLAPPING = [{"f": {"medium": [8.8, ""]}}, {"f": {"medium": [5.0, ""]}}]


@pytest.mark.parametrize("category", ["parallel", "parallel_multiple", "live_parallel", "live_parallel_multiple"])
def test_parallel_calls_come_in_any_order(category: str) -> None:
    answers = [{"f": {"medium": [8.8]}}, {"sing": {"song": ["a"]}}]
    assert prompt("[f(medium=8.8), sing(song='a')]", category, PARALLEL, answers) is None
    assert prompt("[sing(song='a'), f(medium=8.8)]", category, PARALLEL, answers) is None
    assert prompt("[sing(song='a'), f(medium=1.0)]", category, PARALLEL, answers) == (
        "parallel_function_checker_no_order:cannot_find_match"
    )
    assert prompt("[f(medium=8.8)]", category, PARALLEL, answers) == "parallel_function_checker_no_order:wrong_count"


def test_parallel_takes_the_first_fit_and_never_goes_back() -> None:
    assert prompt(f"[{f(medium=8.8)}, {f()}]", "parallel", PARALLEL, OVERLAPPING) is None
    assert prompt(f"[{f()}, {f(medium=8.8)}]", "parallel", PARALLEL, OVERLAPPING) == (
        "parallel_function_checker_no_order:cannot_find_match"
    )


def test_one_call_cannot_serve_two_answers() -> None:
    answers = [{"f": {"x": [1]}}, {"f": {"x": [1]}}]
    assert prompt("[f(x=1), f(x=1)]", "parallel", PARALLEL, answers) is None
    assert prompt("[f(x=1), f(x=2)]", "parallel", PARALLEL, answers) is not None


NUMBERS = {"type": "array", "items": {"type": "float"}}


@pytest.mark.parametrize(
    ("kind", "allowed", "value", "error_type"),
    [
        ("float", [5.0], 5, None),
        ("float", [5.0], True, "type_error:simple"),
        (NUMBERS, [[1.0, 2.0]], [1, 2], "type_error:nested"),
        ({"type": "tuple", "items": {"type": "integer"}}, [[1, 2]], [1, 2], None),
        ("any", ["x"], "X", None),
        ("dict", [{"a": [1]}], {"a": 1}, None),
        ({"type": "array", "items": {"type": "dict"}}, [[{"a": [1]}]], [{"a": 1}], None),
        ({"type": "array", "items": {"type": "dict"}}, [[{"a": [1]}]], [], "value_error:list_dict_count"),
    ],
)
def test_python_values(kind: Any, allowed: list[Any], value: Any, error_type: str | None) -> None:
    assert value_of(kind, allowed, value) == error_type


def test_a_tuple_is_a_list_only_where_a_tuple_is_declared() -> None:
    for kind, error_type in (("tuple", None), ("array", "type_error:simple")):
        functions = [document("f", x={"type": kind, "items": {"type": "integer"}}, required=("x",))]
        assert prompt("[f(x=(1, 2))]", functions=functions, answers=[{"f": {"x": [[1, 2]]}}]) == error_type


@pytest.mark.parametrize(
    ("kind", "allowed", "value", "error_type"),
    [
        ("integer", [5], "5", None),
        ("integer", [5], 5, "type_error:java"),
        ("long", [42], "42L", None),
        ("long", [42], "42", "type_error:simple"),
        ("double", [5.0], "5", None),
        ("boolean", [True], "true", None),
        ("String", ["a b"], "A-B", None),
        ("String", ["a b"], '"a b"', "value_error:string"),
        ("char", ["a"], "'a'", "value_error:string"),
        ("any", [5], "5", "value_error:others"),
        ({"type": "Array", "items": {"type": "integer"}}, [[1, 2]], "new int[]{1, 2}", None),
        ({"type": "Array", "items": {"type": "String"}}, [["a"]], 'new String[]{"a"}', "value_error:list/tuple"),
        ({"type": "ArrayList", "items": {"type": "String"}}, [["a"]], 'new ArrayList<>(Arrays.asList("a"))', None),
        ("HashMap", [{"a": [1]}], 'new HashMap<>() {{ put("a", 1); }}', None),
        ("HashMap", [{"a": [1]}], "Map.of()", "type_error:simple"),
        ("Set", ["x"], "x", "crash:NotImplementedError"),
    ],
)
def test_java_values(kind: Any, allowed: list[Any], value: Any, error_type: str | None) -> None:
    assert value_of(kind, allowed, value, "java") == error_type


@pytest.mark.parametrize(
    ("kind", "allowed", "value", "error_type"),
    [
        ("integer", [5], "5", None),
        ("Bigint", [5], "5n", None),
        ("Boolean", [True], True, "type_error:js"),
        ("String", ["a"], "'a'", None),
        ("any", ["x"], '"x"', "value_error:string"),
        ({"type": "array", "items": {"type": "integer"}}, [[1, 2]], "[1, 2]", None),
        ("dict", [{"a": ["x"]}], "{a: 'x'}", None),
    ],
)
def test_javascript_values(kind: Any, allowed: list[Any], value: Any, error_type: str | None) -> None:
    assert value_of(kind, allowed, value, "javascript") == error_type


def test_java_and_javascript_text_is_decoded_by_their_grammars() -> None:
    java = document("Foo.bar", x="long", required=("x",))
    assert prompt("[Foo.bar(x=42L)]", "simple_java", [java], [{"Foo.bar": {"x": [42]}}]) is None
    javascript = document("foo", x="String", required=("x",))
    assert prompt("[foo(x=`a`)]", "simple_javascript", [javascript], [{"foo": {"x": ["`a`"]}}]) is None


@pytest.mark.parametrize(
    ("output", "called"),
    [
        ("None of them fits.", False),
        ("", False),
        ("[]", False),
        (None, False),
        ('[{"f": {}}]', False),
        ("[f(x=A.B)]", False),
        ("```python\nf()\n```", False),
        ("Sorry()", True),
        ("[f(1, 2)]", True),
        ("[anything.at(all=1), more()]", True),
    ],
)
def test_relevance_asks_only_whether_there_is_a_call(output: Any, called: bool) -> None:
    unwanted = "irrelevance_error:decoder_success" if called else None
    assert prompt(output, "irrelevance", [AREA], None) == unwanted
    assert prompt(output, "live_irrelevance", [], None) == unwanted
    assert prompt(output, "live_relevance", [AREA], None) == (None if called else "relevance_error:decoder_failed")


@pytest.mark.parametrize(
    ("output", "called"),
    [([{"f": "{}"}], True), ([{"f": "[]"}], False), ([{"f": "null"}], False), ([{"f": "{"}], False), ("f()", False)],
)
def test_native_relevance(output: Any, called: bool) -> None:
    result = check([AREA], None, "live_relevance", output, mode="native", underscores=True)
    assert result.valid is called


@pytest.mark.parametrize(
    ("functions", "answers", "category", "error_type"),
    [
        ([document("f", ("x",), x="weird")], [{"f": {"x": [1]}}], "simple_python", "crash:KeyError"),
        ([document("f", ("x",), x="array")], [{"f": {"x": [[1]]}}], "simple_python", "crash:KeyError"),
        ([document("f", ("x",), x="float")], [{"g": {"x": [1.0]}}], "multiple", "crash:TypeError"),
        ([], [{"f": {"x": [1]}}], "simple_python", "crash:IndexError"),
        ([document("f", ("x",), x="integer")], [{"f": {"x": [1]}}], "simple_python", "value_error:others"),
        ([document("f", ("x",), x="float")], [{}], "simple_python", "crash:IndexError"),
        ([document("f", ("x",), x="float")], [{"f": {"x": [1.0]}}], "simple_python", "crash:OverflowError"),
    ],
)
def test_where_the_official_code_breaks_off_the_sample_is_wrong(
    functions: Any, answers: Any, category: str, error_type: str
) -> None:
    assert native("f", {"x": 10**400}, category, functions, answers) == error_type


@pytest.mark.parametrize("category", ["simple_python", "parallel"])
def test_a_wrong_number_of_too_many_digits_breaks_off_as_upstream_cannot_write_it(category: str) -> None:
    functions = [document("f", ("x",), x="integer")]
    assert prompt("[f(x=10**5000)]", category, functions, [{"f": {"x": [1]}}]) == "crash:ValueError"
    assert prompt("[f(x=10**400)]", "simple_python", functions, [{"f": {"x": [1]}}]) == "value_error:others"


def test_a_result_tells_the_calls_and_the_place() -> None:
    result = check([AREA], [WANTED], "simple_python", "[geo.area(base=3, unit='m')]", mode="prompt", underscores=False)
    assert result.calls == [{"geo.area": {"base": 3, "unit": "m"}}]
    assert result.fault is not None
    assert (result.fault.function, result.fault.parameter, result.fault.got) == ("geo.area", "unit", "m")
    assert result.fault.allowed == ["cm", ""]
