"""What a model is shown: official words, language hints, native tools. Digests of real samples: tests/parity."""

from pathlib import Path
from typing import Any

import pytest
from tiny_bfcl import AREA, write_data

from proctor.core.errors import BadInput
from proctor.core.sample import Message
from proctor_benchmarks.bfcl import prompt, tools


def document(**properties: dict[str, Any]) -> dict[str, Any]:
    parameters = {"type": "dict", "properties": properties, "required": []}
    return {"name": "a.b", "description": "D.", "parameters": parameters}


def shown(category: str, **properties: dict[str, Any]) -> Any:
    (function,) = tools.add_hints([document(**properties)], category)
    return function["parameters"]["properties"]


def converted(**properties: dict[str, Any]) -> Any:
    (tool,) = tools.native_tools([document(**properties)])
    return tool.parameters["properties"]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    return write_data(tmp_path)


def test_the_system_prompt_goes_in_front(data: Path) -> None:
    user = Message.of("user", "Hi")
    system, last = prompt.messages_of([user], [], prompt.words(data))
    assert system == Message.of("system", "PT|as [f(a=1)]. |M|in json: []")
    assert last == user


def test_the_system_prompt_goes_above_that_of_the_question(data: Path) -> None:
    asked = [Message.of("system", "Be exact."), Message.of("user", "Hi")]
    system, last = prompt.messages_of(asked, [], prompt.words(data))
    assert system.text == "PT|as [f(a=1)]. |M|in json: []\n\nBe exact."
    assert last == asked[1]


def test_documents_are_printed_with_four_blanks_and_ascii_only(data: Path) -> None:
    said = prompt.system_prompt([{"name": "é", "x": [], "y": {}, "z": 1.0}], prompt.words(data))
    assert said.endswith(
        'in json: [\n    {\n        "name": "\\u00e9",\n        "x": [],\n        "y": {},\n        "z": 1.0\n    }\n]'
    )


def test_braces_in_a_document_are_left_alone(data: Path) -> None:
    assert "{persona.__class__}" in prompt.system_prompt([{"name": "{persona.__class__}"}], prompt.words(data))


def test_prompts_are_read_without_being_executed(data: Path, tmp_path: Path) -> None:
    file = data.parent / "constants" / "default_prompts.py"
    file.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nX = 'kept'\nY = __import__('os').getcwd()\n")
    assert prompt.words(data) == {"X": "kept"}
    assert not (tmp_path / "ran").exists()


def test_other_prompts_than_the_known_ones_are_bad_input(data: Path) -> None:
    (data.parent / "constants" / "default_prompts.py").write_text("X = 1")
    with pytest.raises(BadInput, match="not those of bfcl-eval"):
        prompt.system_prompt([], prompt.words(data))


def test_broken_prompts_are_bad_input(data: Path) -> None:
    (data.parent / "constants" / "default_prompts.py").write_text("X = (")
    with pytest.raises(BadInput, match="cannot be read"):
        prompt.words(data)


def test_data_without_prompts_says_how_to_get_them(data: Path) -> None:
    (data.parent / "constants" / "default_prompts.py").unlink()
    with pytest.raises(BadInput, match="proctor data pull bfcl"):
        prompt.words(data)


def test_every_description_names_the_language_and_the_originals_stay() -> None:
    (function,) = tools.add_hints([AREA], "live_simple")
    assert function["description"] == "Area. Note that the provided function is in Python 3 syntax."
    assert AREA["description"] == "Area."


def test_java_parameters_become_strings_that_name_their_type() -> None:
    properties = shown(
        "simple_java",
        a={"type": "long", "description": "A."},
        b={"type": "any", "description": "B."},
        c={"type": "ArrayList", "description": "C.", "items": {"type": "String"}},
    )
    assert properties["a"] == {
        "type": "string",
        "description": "A. This is Java long type parameter in string representation.",
    }
    assert "any type of Java object" in properties["b"]["description"]
    assert properties["c"]["description"].endswith(
        "elements are of type String; they are not in string representation."
    )
    assert "items" not in properties["c"]


def test_javascript_dicts_print_their_schema() -> None:
    properties = shown(
        "simple_javascript", a={"type": "dict", "description": "A.", "properties": {"k": {"type": "integer"}}}
    )
    assert properties["a"]["description"].endswith('{"k": {"type": "integer"}}')
    assert properties["a"]["type"] == "string"
    assert "properties" not in properties["a"]


def test_dots_in_names_become_underscores_unless_dotted() -> None:
    assert [tool.name for tool in tools.native_tools([document()])] == ["a_b"]
    assert [tool.name for tool in tools.native_tools([document()], dotted=True)] == ["a.b"]


@pytest.mark.parametrize(
    ("theirs", "json_type"),
    [("integer", "integer"), ("tuple", "array"), ("dict", "object"), ("any", "string"), ("Boolean", "string")],
)
def test_types_become_those_of_json_schema(theirs: str, json_type: str) -> None:
    assert converted(a={"type": theirs, "description": ""})["a"]["type"] == json_type


def test_floats_are_numbers_that_say_so() -> None:
    assert converted(a={"type": "float", "description": "A."})["a"] == {
        "type": "number",
        "format": "float",
        "description": "A. This is a float type value.",
    }


def test_types_are_converted_inside_items_two_levels_deep() -> None:
    nested = {"type": "array", "items": {"type": "tuple", "items": {"type": "float"}}}
    assert converted(a={**nested, "description": ""})["a"]["items"] == {"type": "array", "items": {"type": "number"}}


def test_a_schema_without_a_type_or_description_does_not_raise() -> None:
    assert converted(a={}, b={"type": "float"}, c={"type": "array", "items": {}})["a"]["type"] == "string"
    assert shown("simple_java", a={})["a"]["type"] == "string"
