"""The task: lean samples, what is shown in each mode, right answers, provenance."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tiny_bfcl import AREA, SIMPLE, write_data, write_lines

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.task import Task
from proctor_benchmarks.bfcl import oracle, task

TINY = "simple_python,irrelevance,live_relevance"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    return str(write_data(tmp_path))


def samples_of(made: Task) -> list[Sample]:
    assert isinstance(made.samples, list)
    return made.samples


def shown(made: Task, index: int = 0) -> Any:
    assert made.present is not None
    return made.present(samples_of(made)[index]).turns[0]


def sample_of(category: str, functions: list[dict[str, Any]], target: Any) -> Sample:
    return Sample(id="x", turns=(), target=target, meta={"category": category, "functions": functions})


def test_samples_are_lean_and_tagged(data: str) -> None:
    made = task(TINY, data=data)
    sample = samples_of(made)[0]
    assert (made.planned, made.spread_by) == (4, "category")
    assert sample.tags == {"category": "simple_python", "group": "non_live"}
    assert sample.meta == {"category": "simple_python", "functions": [AREA]}
    assert sample.target == sample.turns[0].reference == SIMPLE[0]["answer"]
    assert sample.turns[0].tools == ()
    assert sample.turns[0].as_text is None


def test_a_sample_survives_json(data: str) -> None:
    sample = samples_of(task("simple_python", data=data))[1]
    assert msgspec.json.decode(msgspec.json.encode(sample), type=Sample) == sample


@pytest.mark.parametrize("category", ["simple_python,irrelevance", ["irrelevance", "simple_python"]])
def test_categories_come_as_a_text_with_commas_or_as_a_list(data: str, category: Any) -> None:
    assert [sample.id for sample in samples_of(task(category, data=data))] == [
        "simple_python_0",
        "simple_python_1",
        "irrelevance_0",
    ]


def test_auto_shows_tools_and_keeps_the_official_words_for_agents_without_them(data: str) -> None:
    turn = shown(task("simple_python", data=data))
    assert [message.text for message in turn.messages] == ["Area of 3?"]
    assert [tool.name for tool in turn.tools] == ["geo_area"]
    assert turn.as_text[0].role == "system"
    assert '"name": "geo.area"' in turn.as_text[0].text


def test_prompt_mode_shows_words_only(data: str) -> None:
    turn = shown(task("simple_python", data=data, mode="prompt"), 1)
    assert turn.tools == ()
    assert [message.role for message in turn.messages] == ["system", "user"]
    assert turn.messages[0].text.endswith("\n\nBe exact.")
    assert turn.as_text == turn.messages


def test_native_mode_shows_tools_only_and_needs_no_prompts(data: str) -> None:
    (Path(data).parent / "constants" / "default_prompts.py").unlink()
    turn = shown(task("simple_python", data=data, mode="native"))
    assert [tool.name for tool in turn.tools] == ["geo_area"]
    assert turn.as_text is None


def test_dotted_names_are_kept_when_asked_for(data: str) -> None:
    made = task("simple_python", data=data, names="dotted")
    assert samples_of(made)[0].meta["names"] == "dotted"
    assert [tool.name for tool in shown(made).tools] == ["geo.area"]


def test_showing_a_sample_changes_nothing_in_it(data: str) -> None:
    made = task("simple_python", data=data)
    before = msgspec.json.encode(samples_of(made)[0])
    shown(made)
    assert msgspec.json.encode(samples_of(made)[0]) == before


def test_provenance_says_where_the_data_came_from_and_warns_of_another_revision(data: str) -> None:
    made = task("irrelevance", data=data)
    assert made.provenance["licence"] == "Apache-2.0"
    assert made.provenance["version"] == "unknown"
    assert "folder" not in made.provenance, "where a copy lies on one machine says nothing of what it holds"
    assert "BFCL_v4_irrelevance.json is not the file of" in made.provenance["warnings"][0]
    assert made.version != "2026.3.23"


def test_an_unknown_option_value_names_what_is_known(data: str) -> None:
    with pytest.raises(BadInput, match=r"'mode' of bfcl cannot be 'fc'\. It can be: auto, prompt, native"):
        task("irrelevance", data=data, mode="fc")  # type: ignore[arg-type] # a wrong value is the point


def test_bad_data_is_found_when_the_task_is_made(data: str) -> None:
    write_lines(Path(data) / "possible_answer" / "BFCL_v4_simple_python.json", [])
    with pytest.raises(BadInput, match="no answer for 'simple_python_0'"):
        task("simple_python", data=data)


def test_the_oracle_answers_in_the_form_of_the_mode(data: str) -> None:
    as_text, as_calls = task(TINY, data=data), task(TINY, data=data, mode="native")
    assert as_text.oracle is not None
    assert as_calls.oracle is not None
    first, second, irrelevant, relevant = samples_of(as_text)
    assert as_text.oracle(first).answer == "[geo.area(base=3.0)]"
    assert as_text.oracle(second).answer == "[geo.area(base=4.0, unit='cm')]"
    assert as_text.oracle(irrelevant).answer.startswith("None of the functions")
    assert as_text.oracle(relevant).answer == "[geo.area()]"
    (call,) = as_calls.oracle(second).calls()
    assert (call.name, call.arguments) == ("geo_area", {"base": 4.0, "unit": "cm"})
    assert as_calls.oracle(second).tools == "native"


def test_java_and_javascript_answers_are_written_in_their_language() -> None:
    def parameters(**types: Any) -> list[dict[str, Any]]:
        return [{"name": "A.b", "parameters": {"properties": types, "required": list(types)}}]

    java = parameters(n={"type": "long"}, s={"type": "String"}, f={"type": "boolean"})
    answer = [{"A.b": {"n": [5], "s": ["x"], "f": [True]}}]
    assert oracle.text(sample_of("simple_java", java, answer)).answer == '[A.b(n=5L, s="x", f=true)]'
    (call,) = oracle.native(sample_of("simple_java", java, answer)).calls()
    assert call.arguments == {"n": "5L", "s": "x", "f": "true"}
    script = parameters(a={"type": "array", "items": {"type": "float"}}, s={"type": "String"})
    answer = [{"A.b": {"a": [[1, 2.5]], "s": ["x"]}}]
    assert oracle.text(sample_of("simple_javascript", script, answer)).answer == '[A.b(a=[1, 2.5], s="x")]'


def test_optional_keys_and_values_are_left_out_of_a_right_answer() -> None:
    functions = [{"name": "f", "parameters": {"properties": {"d": {}, "n": {}}, "required": ["d"]}}]
    answer = [{"f": {"d": ["", {"a": [1, 2], "b": ["", 3]}], "n": [7, ""]}}]
    assert oracle.text(sample_of("simple_python", functions, answer)).answer == "[f(d={'a': 1})]"
