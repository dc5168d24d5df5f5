"""Tools become one bounded schema, and what comes back becomes calls or an answer."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.chat.tool_schema import bounded
from proctor.core.sample import Message, Tool
from proctor_adapters.models.schema_replies import message_of, schema_of

WORDS = st.text("ab", max_size=3)
TYPES = st.sampled_from(
    ["string", "integer", "number", "boolean", "null", "array", "object", "dict", "float", "tuple", "any", "", 3]
)
LEAVES = st.fixed_dictionaries(
    {},
    optional={
        "type": TYPES | st.lists(TYPES, max_size=2),
        "enum": st.lists(WORDS, max_size=2) | WORDS,
        "maxLength": st.integers(-5, 10**9),
        "minItems": st.integers(-5, 10**9),
        "minimum": st.floats() | st.integers(-(10**400), 10**400) | WORDS,
        "maximum": st.floats() | st.integers(-(10**400), 10**400) | WORDS,
        "pattern": st.just("(a*)*"),
        "$ref": st.sampled_from(["#/$defs/a", "#/$defs/none", "#"]),
    },
)
SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    LEAVES,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES,
            "properties": st.dictionaries(WORDS, inner, max_size=3) | WORDS,
            "required": st.lists(WORDS, max_size=3) | WORDS,
            "items": inner | st.lists(inner, max_size=2),
            "additionalProperties": inner | st.booleans(),
            "anyOf": st.lists(inner, max_size=2),
            "allOf": st.lists(inner, max_size=2),
            "$defs": st.dictionaries(st.just("a"), inner),
        },
    ),
    max_leaves=10,
)


def assert_bounded(schema: dict[str, Any], depth: int = 0) -> None:
    assert depth < 20
    assert "$ref" not in schema
    assert "pattern" not in schema
    match schema:
        case {"anyOf": list() as ways}:
            assert ways
            for way in ways:
                assert_bounded(way, depth + 1)
        case {"const": _}:
            pass
        case {"enum": values}:
            assert isinstance(values, list)
            assert values
        case {"type": "string"}:
            assert 0 <= schema["maxLength"] <= 1_000
        case {"type": "array"}:
            assert 0 <= schema["minItems"] <= schema["maxItems"] <= 16
            assert_bounded(schema["items"], depth + 1)
        case {"type": "integer" | "number"}:
            assert -(10**12) <= schema["minimum"] <= schema["maximum"] <= 10**12
        case {"type": "object", "properties": properties}:
            assert schema["additionalProperties"] is False
            assert set(schema["required"]) <= set(properties)
            for one in properties.values():
                assert_bounded(one, depth + 1)
        case {"type": "object"}:
            assert schema["maxProperties"] <= 8
            assert_bounded(schema["additionalProperties"], depth + 1)
        case _:
            assert schema["type"] in ("boolean", "null")


@given(schema=SCHEMAS)
def test_whatever_the_parameters_say_the_schema_is_bounded(schema: dict[str, Any]) -> None:
    assert_bounded(bounded(schema))


@given(schema=SCHEMAS, answer=st.booleans(), calls=st.integers(1, 3))
def test_the_schema_of_a_reply_is_bounded(schema: dict[str, Any], answer: bool, calls: int) -> None:
    assert_bounded(schema_of([Tool(name="f", parameters=schema), Tool(name="g")], answer=answer, calls=calls))


@pytest.mark.parametrize(
    ("bounds", "least", "most"),
    [
        ({"maximum": -1_000_000_000_001.0}, -(10**12), -(10**12)),
        ({"minimum": 10**400}, 10**12, 10**12),
        ({"minimum": 5, "maximum": 3}, 5, 5),
        ({"minimum": float("nan"), "maximum": 3}, -(10**12), 3),
    ],
)
def test_bounds_of_a_number_stay_in_order_however_far_out(bounds: dict[str, float], least: int, most: int) -> None:
    found = bounded({"properties": {"n": {"type": "number", **bounds}}})["properties"]["n"]
    assert (found["minimum"], found["maximum"]) == (least, most)


def test_a_schema_that_contains_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "name": {"type": "string"}}}
    assert_bounded(bounded({"properties": {"root": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}))


def test_names_order_and_what_is_required_stay() -> None:
    schema = bounded(
        {
            "type": "object",
            "properties": {"b": {"type": "integer", "minimum": 2}, "a": {"enum": ["x", "y"]}, "c": {"type": "float"}},
            "required": ["a", "gone"],
        }
    )
    assert list(schema["properties"]) == ["b", "a", "c"]
    assert schema["required"] == ["a"]
    assert schema["properties"]["b"]["minimum"] == 2
    assert schema["properties"]["a"] == {"enum": ["x", "y"]}
    assert schema["properties"]["c"]["type"] == "number"


def test_a_tool_without_parameters_takes_an_empty_object() -> None:
    assert bounded({}) == {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def test_declining_is_one_of_the_ways_only_when_it_may() -> None:
    tools = [Tool(name="f"), Tool(name="g")]
    assert len(schema_of(tools)["anyOf"]) == 3
    assert len(schema_of(tools, answer=False)["anyOf"]) == 2
    several = schema_of(tools, calls=4)["anyOf"]
    assert (several[0]["type"], several[0]["maxItems"], several[1]["required"]) == ("array", 4, ["answer"])


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('{"name": "f", "arguments": {"x": 1}}', [("f", {"x": 1})]),
        ('[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {"y": [1]}}]', [("f", {}), ("g", {"y": [1]})]),
    ],
)
def test_a_reply_with_calls_becomes_calls(text: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
    message = message_of(text, ["f", "g"])
    assert [(call.name, call.arguments) for call in message.calls] == calls
    assert message.text == ""
    assert len({call.id for call in message.calls}) == len(calls)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "f", "arguments": {"x": 1',
        '{"name": "other", "arguments": {}}',
        '{"name": "f", "arguments": [1]}',
        '[{"name": "f", "arguments": {}}, 4]',
        "[]",
        "4",
        "Paris",
        "[" * 50_000,
    ],
)
def test_a_reply_that_is_neither_call_nor_answer_stays_text(text: str) -> None:
    assert message_of(text, ["f"]) == Message.of("assistant", text)


def test_an_empty_reply_is_a_message_without_words() -> None:
    assert message_of("", ["f"]).parts == ()
    assert message_of('{"answer": "Paris"}', ["f"]).text == "Paris"


@pytest.mark.parametrize(
    "parameters",
    [
        {"properties": {f"x{n}": {"$ref": "#/$defs/d"} for n in range(50)}},
        {"properties": {"x": {"$ref": "#/$defs/way"}}},
    ],
)
def test_a_schema_that_multiplies_itself_stays_small(parameters: dict[str, Any]) -> None:
    again = {"type": "object", "properties": {f"x{n}": {"$ref": "#/$defs/d"} for n in range(50)}}
    ways = {"anyOf": [{"$ref": "#/$defs/way"}] * 50}
    made = bounded({**parameters, "$defs": {"d": again, "way": ways}})
    assert len(json.dumps(made)) < 100_000 * 50
