"""Generator files: the bundled ones, one's own, and what is wrong in them."""

import json
from pathlib import Path
from typing import Any

import pytest
from writers import item

from proctor.core.errors import BadInput
from proctor_judging.generation.generator import RejectedRecord, generator, known
from proctor_judging.judges.rubric import rubric

OWN = """
main = ["question"]
prompt = "Write one about {{ topic }}. {{ form }}"
topics = ["tea"]
[schema]
type = "object"
required = ["question"]
[schema.properties.question]
type = "string"
"""


def own(path: Path, text: str = OWN) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_every_generator_that_comes_with_us_has_a_rubric_and_shows_topic_and_example() -> None:
    assert known() == ["aime", "aime-zh", "code", "dialogue", "document", "scenario"]
    for name in known():
        kind = generator(name)
        assert rubric(kind.rubric).dimensions
        asked = kind.asked(topic="Tea", example={"question": "An example?", "answer": "42"})
        assert "Tea" in asked
        assert "An example?" in asked
        assert "An example?" not in kind.asked(topic="", example=None)


def test_the_chinese_generator_asks_in_chinese_for_the_same() -> None:
    english, chinese = generator("aime"), generator("aime-zh")
    assert list(chinese.schema["properties"]) == list(english.schema["properties"])
    assert chinese.schema["properties"]["answer"] == english.schema["properties"]["answer"]
    assert "编写一道新题目，领域：数论" in chinese.asked(topic="数论", example=None)
    assert chinese.id(2) == english.id(2) == "gen_aime_2"


def test_a_generator_of_ones_own_is_a_file(tmp_path: Path) -> None:
    kind = generator(own(tmp_path / "quiz.toml"))
    assert (kind.name, kind.id(3)) == ("quiz", "gen_quiz_3")
    assert kind.read('{"question": "Why?"}') == {"question": "Why?"}
    assert '"question"' in kind.asked(topic="tea", example=None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("main", "mine"), "no option 'mine'"),
        (('["question"]', '["answer"]'), "'answer' is named"),
        (('main = ["question"]', "main = []"), "'main' names no property"),
        (("{{ topic }}", "{{ topic "), "no valid template"),
        (('type = "object"', 'type = "array"'), "describe an object"),
        (('type = "string"', 'type = "word"'), "is not valid under any"),
        (("question", "id"), "written by Proctor"),
        (('topics = ["tea"]', 'ids = "one"'), "'ids' needs the place"),
        (("[schema]", "[schema"), "no valid TOML"),
    ],
)
def test_a_wrong_file_names_itself_and_the_mistake(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        generator(own(tmp_path / "quiz.toml", OWN.replace(*change)))
    assert "quiz.toml" in str(caught.value)


def test_a_misspelt_name_is_told_with_the_nearest() -> None:
    with pytest.raises(BadInput, match="Did you mean 'aime'"):
        generator("aimee")


def test_a_prompt_cannot_reach_into_python(tmp_path: Path) -> None:
    text = OWN.replace("{{ topic }}", "{{ topic.__class__.__mro__ }}")
    with pytest.raises(BadInput, match="unsafe"):
        generator(own(tmp_path / "quiz.toml", text))


@pytest.mark.parametrize("answer", [0, 999, 73.0, "073", "$73$", " 5 "])
def test_whole_numbers_are_taken_also_as_text(answer: Any) -> None:
    found = generator("aime").checked(item(1, answer=answer))
    assert isinstance(found["answer"], int)
    assert found["answer"] == int(str(answer).strip(" $").removesuffix(".0"))


@pytest.mark.parametrize("answer", [1000, -1, "1234", 1.5, "about 5", True, None, "5 cm", [5]])
def test_an_answer_that_is_no_integer_from_0_to_999_is_rejected_never_clamped(answer: Any) -> None:
    with pytest.raises(RejectedRecord, match="schema"):
        generator("aime").checked(item(1, answer=answer))


@pytest.mark.parametrize("missing", ["problem", "answer", "solution", "topic"])
def test_a_missing_field_is_rejected_and_named(missing: str) -> None:
    made = {name: value for name, value in item(1).items() if name != missing}
    with pytest.raises(RejectedRecord, match=missing):
        generator("aime").checked(made)


def test_the_form_itself_is_no_item() -> None:
    kind = generator("aime")
    with pytest.raises(RejectedRecord, match="repeats the form"):
        kind.read(kind.form)


def test_what_we_write_ourselves_cannot_come_from_the_model() -> None:
    made = generator("aime").read(json.dumps(item(1, id="x", generated_at="now")))
    assert "id" not in made
    assert "generated_at" not in made
