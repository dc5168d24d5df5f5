"""Official result files: every shape of a result, which mode they are in, and what is bad input."""

from pathlib import Path
from typing import Any

import pytest
from tiny_bfcl import write_data, write_lines

from proctor.core.errors import BadInput
from proctor.core.sample import Reasoning, Text
from proctor.core.trajectory import Trajectory
from proctor_benchmarks.bfcl import replies

RESULTS = [{"id": "simple_python_0", "result": "[geo.area(base=3.0)]"}, {"id": "simple_python_1", "result": "No."}]


@pytest.fixture
def options(tmp_path: Path) -> dict[str, Any]:
    return {"data": str(write_data(tmp_path / "package"))}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return tmp_path / "result" / "org_model"


def write_results(model: Path, rows: list[dict[str, Any]], category: str = "simple_python") -> Path:
    group = "live" if category.startswith("live") else "non_live"
    return write_lines(model / group / f"BFCL_v4_{category}_result.json", rows)


def read(path: Path, options: dict[str, Any]) -> dict[str, Trajectory]:
    return {id: reply for id, reply in replies.read(path, options) if isinstance(reply, Trajectory)}


def native(result: Any) -> Trajectory:
    return replies.trajectory_of(result, "native")


@pytest.mark.parametrize("below", ["..", ".", "non_live", "non_live/BFCL_v4_simple_python_result.json"])
def test_a_tree_a_model_a_group_and_a_file_are_read(model: Path, options: dict[str, Any], below: str) -> None:
    write_results(model, RESULTS)
    found = read((model / below).resolve(), options)
    assert {id: reply.answer for id, reply in found.items()} == {row["id"]: row["result"] for row in RESULTS}


def test_a_file_of_another_name_is_known_by_its_ids(tmp_path: Path, options: dict[str, Any]) -> None:
    path = write_lines(tmp_path / "mine.jsonl", RESULTS)
    assert len(read(path, options)) == 2


def test_only_the_categories_asked_for_are_read(model: Path, options: dict[str, Any]) -> None:
    write_results(model, RESULTS)
    write_results(model, [{"id": "irrelevance_0", "result": "No."}], "irrelevance")
    assert list(read(model, {**options, "category": "irrelevance"})) == ["irrelevance_0"]


def test_multi_turn_and_memory_files_beside_them_are_passed_over(model: Path, options: dict[str, Any]) -> None:
    write_results(model, RESULTS)
    write_lines(model / "multi_turn" / "BFCL_v4_multi_turn_base_result.json", [{"id": "x", "result": [["f()"]]}])
    found = read(model, options)
    assert {reply.tools for reply in found.values()} == {"text"}
    assert len(found) == 2


def test_counts_latency_and_reasoning_are_kept(model: Path, options: dict[str, Any]) -> None:
    more = {"input_token_count": 96, "output_token_count": 9, "latency": 0.5, "reasoning_content": "hm"}
    write_results(model, [{**RESULTS[0], **more}])
    reply = read(model, options)["simple_python_0"]
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.steps[0].seconds) == (96, 9, 0.5)
    assert reply.steps[0].message.parts[0] == Reasoning(text="hm")
    assert reply.answer == RESULTS[0]["result"]


@pytest.mark.parametrize("latency", ["-1", "NaN", "1e999", '"x"', "null", "[1]"])
def test_a_strange_latency_is_no_latency(model: Path, options: dict[str, Any], latency: str) -> None:
    path = write_results(model, [])
    path.write_text(f'{{"id": "simple_python_0", "result": "x", "latency": {latency}, "input_token_count": {latency}}}')
    reply = read(model, options)["simple_python_0"]
    assert (reply.steps[0].seconds, reply.usage.input_tokens) == (0.0, 0)


def test_an_error_during_inference_is_scored_as_text_and_marked(model: Path, options: dict[str, Any]) -> None:
    write_results(model, [{"id": "simple_python_0", "result": "Error during inference: 500", "traceback": "..."}])
    reply = read(model, options)["simple_python_0"]
    assert reply.answer == "Error during inference: 500"
    assert reply.state == {"failed_when_generated": True}


def test_a_list_anywhere_makes_the_whole_model_native(model: Path, options: dict[str, Any]) -> None:
    write_results(model, [{"id": "simple_python_0", "result": [{"geo_area": '{"base": 3}'}]}])
    write_results(model, [{"id": "irrelevance_0", "result": "No."}], "irrelevance")
    found = read(model, {**options, "category": "irrelevance"})
    assert found["irrelevance_0"].tools == "native"


def test_a_folder_named_fc_is_native(tmp_path: Path, options: dict[str, Any]) -> None:
    write_results(tmp_path / "result" / "gpt-FC", RESULTS)
    assert read(tmp_path / "result", options)["simple_python_0"].tools == "native"


@pytest.mark.parametrize(("mode", "tools"), [("native", "native"), ("prompt", "text"), ("auto", "text")])
def test_the_mode_can_be_said(model: Path, options: dict[str, Any], mode: str, tools: str) -> None:
    write_results(model, RESULTS)
    assert read(model, {**options, "mode": mode})["simple_python_0"].tools == tools


def test_native_calls_take_the_first_key_and_its_json_text() -> None:
    (call,) = native([{"f": '{"x": 1}', "ignored": 2}]).calls()
    assert (call.name, call.arguments, call.raw) == ("f", {"x": 1}, None)


@pytest.mark.parametrize("text", ["", "3", "[1]", "null", '{"x": NaN}', '{"x": 1e999}', '{"x": "\\ud800"}', "{", "é"])
def test_arguments_that_are_no_plain_json_object_are_kept_as_they_came(text: str) -> None:
    (call,) = native([{"f": text}]).calls()
    assert call.raw == call.arguments_text() == text


@pytest.mark.parametrize(
    "result", [[3], ["f"], [None], [{}], [{"f": {"x": 1}}], [{"f": "{}"}, {"g": 3}], {"a": 1}, 3, True]
)
def test_what_the_official_decoder_fails_on_becomes_text_that_is_no_call(result: Any) -> None:
    reply = native(result)
    assert not reply.calls()
    assert reply.answer


def test_null_empty_and_text_stay_apart() -> None:
    assert native(None).steps[0].message.parts == ()
    assert native("").steps[0].message.parts == native([]).steps[0].message.parts == (Text(text=""),)
    assert native("No.").answer == "No."


@pytest.mark.parametrize("result", [None, [], [{"f": "{}"}], 3, {}])
def test_in_prompting_mode_what_is_no_text_is_as_null(result: Any) -> None:
    assert replies.trajectory_of(result, "text").steps[0].message.parts == ()


def test_half_characters_are_replaced(model: Path, options: dict[str, Any]) -> None:
    write_results(model, [{"id": "simple_python_0", "result": "a\ud800b"}])
    assert read(model, options)["simple_python_0"].answer == "a\ufffdb"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"id": "simple_python_7", "result": ""}], "line 1: simple_python has no sample 'simple_python_7'"),
        ([RESULTS[0], RESULTS[0]], "line 2: the result of 'simple_python_0' is there twice"),
        ([{"id": "simple_python_0"}], "line 1: Object missing required field `result`"),
        ([RESULTS[0], {"id": 3, "result": ""}], "line 2: Expected `str`, got `int`"),
    ],
)
def test_bad_lines_are_named(model: Path, options: dict[str, Any], rows: list[dict[str, Any]], said: str) -> None:
    write_results(model, rows)
    with pytest.raises(BadInput, match=rf"simple_python_result\.json, {said}"):
        replies.read(model, options)


def test_a_cut_line_is_named(model: Path, options: dict[str, Any]) -> None:
    path = write_results(model, RESULTS)
    path.write_text(path.read_text()[:-5])
    with pytest.raises(BadInput, match="line 2: Input data was truncated"):
        replies.read(model, options)


def test_results_of_several_models_are_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    for name in ("one", "two"):
        write_results(tmp_path / "result" / name, RESULTS)
    with pytest.raises(BadInput, match="several models: one, two"):
        replies.read(tmp_path / "result", options)


def test_a_folder_without_results_is_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="holds no files BFCL_v4_"):
        replies.read(tmp_path, options)


def test_no_result_of_the_categories_asked_for_is_refused(model: Path, options: dict[str, Any]) -> None:
    write_results(model, RESULTS)
    with pytest.raises(BadInput, match=r"no results for irrelevance\. Found: simple_python"):
        replies.read(model, {**options, "category": "irrelevance"})


def test_an_empty_file_is_refused(model: Path, options: dict[str, Any]) -> None:
    write_results(model, [])
    with pytest.raises(BadInput, match="no results for"):
        replies.read(model, options)


def test_a_file_that_is_gone_is_named(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="gone holds no files"):
        replies.read(tmp_path / "gone", options)
