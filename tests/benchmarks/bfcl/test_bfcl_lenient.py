from typing import Any

import pytest

from proctor_benchmarks.bfcl.checker import CheckerRules
from proctor_benchmarks.bfcl.lenient import lenient

PYTHON = CheckerRules("python", False)


def opinion(kind: Any, allowed: list[Any], value: Any, rules: CheckerRules = PYTHON) -> bool:
    schema = kind if isinstance(kind, dict) else {"type": kind}
    document = {"name": "f", "parameters": {"properties": {"x": schema}, "required": []}}
    return lenient([document], [{"f": {"x": value}}], [{"f": {"x": allowed}}], rules)


def array(kind: str, outer: str = "array") -> dict[str, Any]:
    return {"type": outer, "items": {"type": kind}}


@pytest.mark.parametrize(
    ("kind", "allowed", "value"),
    [
        ("integer", [2], 2.0),
        (array("float"), [[1.0, 2.5]], [1, 2.5]),
        (array("integer"), [[1, 2]], (1, 2.0)),
        ("boolean", [True], "true"),
        ("string", ["cm", ""], None),
        (array("integer", "tuple"), [[1]], (1,)),
    ],
)
def test_form_is_overlooked(kind: Any, allowed: list[Any], value: Any) -> None:
    assert opinion(kind, allowed, value)


@pytest.mark.parametrize(
    ("kind", "allowed", "value"),
    [
        ("integer", [2], 2.5),
        ("integer", [2], "2"),
        ("integer", [1], True),
        ("float", [1.0], True),
        ("boolean", [True], "false"),
        ("string", ["cm"], None),
        ("string", ["cm", ""], "m"),
        (array("integer"), [[1, 2]], [2, 1]),
        ("float", [1.0], 10**400),
    ],
)
def test_content_is_not(kind: Any, allowed: list[Any], value: Any) -> None:
    assert not opinion(kind, allowed, value)


@pytest.mark.parametrize(
    ("kind", "allowed", "value"),
    [("long", [42], "42"), ("long", [42], 42), ("integer", [5], 5), ("boolean", [True], True)],
)
def test_java_values_need_no_text_and_a_long_no_letter(kind: str, allowed: list[Any], value: Any) -> None:
    assert opinion(kind, allowed, value, CheckerRules("java", True))


@pytest.mark.parametrize(("name", "underscores"), [("geo_area", False), ("geo.area", True)])
def test_dots_and_underscores_in_names_are_one(name: str, underscores: bool) -> None:
    document = {"name": "geo.area", "parameters": {"properties": {}, "required": []}}
    assert lenient([document], [{name: {}}], [{"geo.area": {}}], CheckerRules("python", underscores))
    assert not lenient([document], [{"area": {}}], [{"geo.area": {}}], CheckerRules("python", underscores))


def test_the_best_assignment_counts() -> None:
    document = {"name": "f", "parameters": {"properties": {"x": {"type": "integer"}}, "required": []}}
    answers: list[dict[str, Any]] = [{"f": {"x": [1, ""]}}, {"f": {"x": [2, ""]}}]
    assert lenient([document], [{"f": {}}, {"f": {"x": 1}}], answers, PYTHON)
    assert not lenient([document], [{"f": {}}], answers, PYTHON)
