"""The scorer `json`: data against data, schemas, and JSON that is hostile."""

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_judging.matching import json_schema
from proctor_judging.scorers import json as json_scorer

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def score(answer: str, target: object = None, **options: object) -> Score:
    result = json_scorer.make(options)(Sample.ask("a", "?", target=target), Trajectory.of(answer))
    assert isinstance(result, Score), result
    return result


@given(value=st.dictionaries(st.text(), values) | st.lists(values))
def test_data_equals_itself_however_it_is_written(value: Any) -> None:
    import json

    target = Sample.ask("a", "?", target=value)
    assert getattr(json_scorer.json(target, Trajectory.of(json.dumps(value, indent=3))), "points", None) == 1


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ('{"b": [1, 2.0], "a": "x"}', True),
        ('Here it is:\n```json\n{"a": "x", "b": [1, 2]}\n```\nDone.', True),
        ('The answer is {"a": "x", "b": [1, 2]}, I think.', True),
        ('The set {1, 2} is {"a": "x", "b": [1, 2]}.', True),
        ('{"a": "x", "b": [2, 1]}', False),
        ('{"a": "x", "b": [1, "2"]}', False),
        ('{"a": "x", "b": [true, 2]}', False),
        ('{"a": "x"}', False),
        ('{"a": "x", "b": [1, 2], "c": null}', False),
        ('{"a": "x", "b": [1, 2]', False),
        ("", False),
        ("NaN", False),
    ],
)
def test_the_json_in_an_answer_is_compared_as_data(answer: str, right: bool) -> None:
    assert score(answer, {"a": "x", "b": [1, 2]}).points == right


def test_a_target_that_is_text_is_read_as_json_or_else_is_a_text() -> None:
    assert score('{"a": 1.0}', '{"a": 1}').points == 1
    assert score('"Paris"', "Paris").points == 1
    assert score("Paris", "Paris").points == 0


def test_the_first_difference_is_told_with_its_path() -> None:
    assert str(score('{"a": [1, {"b": 3}]}', {"a": [1, {"b": 2}]}).reason) == "$.a[1].b: expected '2', got '3'."
    assert str(score("{}", {"a": 1}).reason) == "$: 'a' is missing."


def test_lists_in_any_order_use_each_element_once() -> None:
    assert score("[2, 1, 1]", [1, 2, 1], any_order=True).points == 1
    assert score("[1, 2, 2]", [1, 2, 1], any_order=True).points == 0


def test_numbers_within_the_tolerance_are_equal() -> None:
    assert score('{"x": 0.30000001}', {"x": 0.3}, tolerance=1e-6).points == 1
    assert score('{"x": 0.31}', {"x": 0.3}, tolerance=1e-6).points == 0


SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["name", "age"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "minLength": 1, "pattern": "^[A-Z]"},
        "age": {"type": "integer", "minimum": 0, "exclusiveMaximum": 150},
        "pets": {"type": "array", "items": {"$ref": "#/$defs/pet"}, "uniqueItems": True, "maxItems": 2},
    },
    "$defs": {"pet": {"enum": ["cat", "dog", None]}},
}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ('{"name": "Ann", "age": 30, "pets": ["cat", null]}', "Fits the schema."),
        ('{"name": "Ann", "age": 30.0}', "Fits the schema."),
        ('{"age": 30}', "$: 'name' is missing."),
        ('{"name": "Ann", "age": "30"}', "$.age: '\"30\"' is no integer."),
        ('{"name": "Ann", "age": true}', "$.age: 'true' is no integer."),
        ('{"name": "Ann", "age": 150}', "$.age: '150' breaks exclusiveMaximum 150."),
        ('{"name": "", "age": 1}', "$.name: '\"\"' breaks minLength 1."),
        ('{"name": "ann", "age": 1}', "$.name: '\"ann\"' does not fit the pattern ^[A-Z]."),
        ('{"name": "Ann", "age": 1, "x": 1}', "$: 'x' is not expected."),
        ('{"name": "Ann", "age": 1, "pets": ["cat", "cat"]}', "$.pets: an element is there twice."),
        ('{"name": "Ann", "age": 1, "pets": ["cow"]}', '$.pets[0]: \'"cow"\' is none of \'["cat", "dog", null]\'.'),
    ],
)
def test_an_answer_is_held_against_a_schema(answer: str, reason: str) -> None:
    found = score(answer, schema=SCHEMA)
    assert (str(found.reason), found.points) == (reason, reason == "Fits the schema.")


def test_choices_of_a_schema() -> None:
    assert score("[1]", schema={"items": {"anyOf": [{"type": "string"}, {"const": 1}]}}).points == 1
    assert score("[2]", schema={"items": {"anyOf": [{"type": "string"}, {"const": 1}]}}).points == 0
    assert score("[3]", schema={"items": {"oneOf": [{"minimum": 1}, {"minimum": 2}]}}).points == 0
    assert score("[3]", schema={"items": {"not": {"multipleOf": 3}}}).points == 0
    assert score("[3]", schema={"allOf": [{"minItems": 1}, {"maxItems": 0}]}).points == 0


def test_schema_and_target_must_both_be_met() -> None:
    assert score('{"name": "Ann", "age": 1}', {"name": "Ann", "age": 1}, schema=SCHEMA).points == 1
    assert score('{"name": "Ann", "age": 2}', {"name": "Ann", "age": 1}, schema=SCHEMA).points == 0


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"typ": "object"}, r"\$\.typ of the schema is not known"),
        (
            {"properties": {"a": {"type": "text"}}},
            r"\$\.properties\.a\.type of the schema is wrong: 'text' is not valid",
        ),
        ({"pattern": "("}, "is not valid"),
        ({"$ref": "other.json"}, "leads outside"),
        ({"items": 3}, r"\$\.items of the schema must be an object"),
        ({"minimum": "1"}, r"\$\.minimum of the schema is wrong: '1' is not of type 'number'"),
    ],
)
def test_a_schema_that_cannot_be_followed_is_refused(schema: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        json_scorer.make({"schema": schema})


@pytest.mark.parametrize(
    ("schema", "answer", "points"),
    [
        ({"enum": [[1]]}, "[true]", 0),
        ({"const": {"a": 1}}, '{"a": true}', 0),
        ({"uniqueItems": True}, "[1, 1.0]", 0),
        ({"uniqueItems": True}, '[{"a": 1}, {"a": 1.0}]', 0),
        ({"uniqueItems": True}, "[1, true]", 1),
        ({"items": {"multipleOf": 2}}, f"[{10**250}]", 1),
        ({"items": {"multipleOf": 0.5}}, f"[{10**290}]", 1),
        ({"items": {"multipleOf": 2}}, f"[{10**400}]", 0),
        ({"prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False}, '[1, "a"]', 1),
        ({"prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False}, '[1, "a", 2]', 0),
        ({"patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": False}, '{"x1": 1}', 1),
        ({"patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": False}, '{"y": 1}', 0),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, '{"a": 1}', 0),
        ({"contains": {"const": 3}, "maxContains": 1}, "[3, 3]", 0),
        ({"dependentRequired": {"a": ["b"]}}, '{"a": 1}', 0),
        ({"propertyNames": {"maxLength": 1}}, '{"ab": 1}', 0),
        ({"$defs": {"n": {"$anchor": "n", "type": "null"}}, "items": {"$ref": "#n"}}, "[null]", 1),
        ({"properties": {"a": False}}, '{"a": 1}', 0),
    ],
)  # fmt: skip
def test_schemas_are_followed_as_by_the_draft(schema: dict[str, Any], answer: str, points: int) -> None:
    found = score(answer, schema=schema)
    assert (found.points, bool(str(found.reason))) == (points, True)


def test_a_slow_pattern_ends_and_a_format_is_a_remark() -> None:
    found = json_scorer.make({"schema": {"pattern": "^(a+)+$"}})
    verdict = found(Sample.ask("q", "?"), Trajectory.of(f'"{"a" * 40}b"'))
    assert isinstance(verdict, Unscored)
    assert score('"no address"', schema={"format": "email"}).points == 1


def test_a_schema_that_leads_to_itself_ends() -> None:
    assert json_schema.fault({"$ref": "#"}, {}) is not None


def test_a_schema_comes_out_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_text('{"type": "array"}')
    assert score("[]", schema_file=str(path)).points == 1
    with pytest.raises(BadInput, match="cannot be read"):
        json_scorer.make({"schema_file": str(tmp_path / "none.json")})


@pytest.mark.parametrize(
    "answer",
    [
        "[" * 5_000_000,
        '{"a":' * 100_000,
        "{" * 10_000_000,
        "9" * 100_000,
        '{"a": "' + "x" * 10_000_000,
        "```" * 100_000,
    ],
)
def test_hostile_json_is_wrong_and_quick(answer: str) -> None:
    began = time.process_time()
    assert score(answer, {"a": 1}).points == 0
    assert time.process_time() - began < 5


def test_deep_but_valid_json_does_not_break_the_comparison() -> None:
    deep = "[" * 800 + "]" * 800
    assert score(deep, {"a": 1}).points == 0
    assert score(deep, deep).points in (0, 1)


def test_without_target_and_schema_there_is_no_score() -> None:
    assert isinstance(json_scorer.json(Sample.ask("a", "?"), Trajectory.of("{}")), Unscored)


SLIPS = [
    ('{a: 1, b: "x"}', ["bare keys"]),
    ("{'a': 1, 'b': 'x'}", ["single quotes"]),
    ("{“a”：1，“b”：“x”}", ["typographic quotes", "full-width punctuation"]),
    ('{"a": 1, "b": "x",}', ["a comma at the end"]),
    ('{"a": 1, // one\n "b": "x"}', ["comments"]),
    ('{"a": 1, "b": "x"', ["missing brackets"]),
    ('Sure:\n```json\n{a: 1, "b": "x",}\n```', ["bare keys", "a comma at the end"]),
]


@pytest.mark.parametrize(("answer", "slips"), SLIPS)
def test_slips_are_wrong_unless_repair_is_asked_for_and_then_named(answer: str, slips: list[str]) -> None:
    strict = score(answer, {"a": 1, "b": "x"})
    assert strict.points == 0
    assert strict.details == {"repairable": slips}
    repaired = score(answer, {"a": 1, "b": "x"}, repair=True)
    assert repaired.points == 1
    assert repaired.details == {"repaired": slips}
    assert all(name in str(repaired.reason) for name in slips)
    assert score(answer, {"a": 1, "b": "y"}, repair=True).points == 0


def test_pythons_literals_are_a_slip_and_texts_that_hold_them_are_none() -> None:
    assert score('{"a": True, "b": None}', {"a": True, "b": None}).points == 0
    assert score('{"a": True, "b": None}', {"a": True, "b": None}, repair=True).points == 1
    assert score('{"a": "None, it\'s // True"}', {"a": "None, it's // True"}, repair=True).details == {}


@pytest.mark.parametrize(
    "announced",
    [
        "Correction:",
        "Sorry, I made a mistake:",
        "Wait, that should be",
        "更正：",
        "上面写错了，应为",
        "Final answer:",
        "Updated version:",
    ],
)
def test_of_two_objects_the_announced_correction_counts(announced: str) -> None:
    reply = f'{{"a": 1}}\n{announced} {{"a": 2}}'
    assert score(reply, {"a": 2}).points == 1
    assert score(reply, {"a": 1}).points == 0
    fenced = f'```json\n{{"a": 1}}\n```\n{announced}\n```json\n{{"a": 2}}\n```'
    assert score(fenced, {"a": 2}).points == 1
    assert score(fenced, {"a": 1}).points == 0


def test_two_objects_without_a_word_are_two_readings() -> None:
    reply = 'Either {"a": 1} or {"a": 2}.'
    open_result = json_scorer.json(Sample.ask("a", "?", target={"a": 1}), Trajectory.of(reply))
    assert isinstance(open_result, Unscored)
    assert open_result.details["readings"] == ['{"a": 1}', '{"a": 2}']
    assert score(reply, {"a": 3}).points == 0
    assert score('{"a": 1} and again {"a": 1}', {"a": 1}).points == 1
    assert score('As in [1], it is {"a": 1}.', {"a": 1}).points == 1


def test_a_part_of_an_unfinished_object_is_not_the_answer() -> None:
    assert score('{"order": {"lines": [1, 2]', [1, 2]).points == 0
    assert score('{"order": bad, "lines": [1, 2]} {"a": 1}', {"a": 1}).points == 1


def test_thoughts_before_a_reply_are_no_part_of_it() -> None:
    reply = '<think>Perhaps {"a": 1}?</think>\n{"a": 2}'
    assert score(reply, {"a": 2}).points == 1
    assert score(reply, {"a": 1}).points == 0
    assert score('{"a": "<think>"}', {"a": "<think>"}).points == 1
