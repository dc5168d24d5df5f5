"""The data of BFCL: where it is found, what is read, and what is said about bad files."""

import json
from pathlib import Path

import pytest
from tiny_bfcl import AREA, SIMPLE, write_category, write_data

from proctor.core.errors import BadInput
from proctor.i18n import speak
from proctor_benchmarks.bfcl import dataset


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("PROCTOR_BFCL_DATA", raising=False)
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    return write_data(tmp_path / "package")


def replace_line(path: Path, number: int, line: str) -> None:
    lines = path.read_text().split("\n")
    lines[number - 1] = line
    path.write_text("\n".join(lines))


def test_there_are_thirteen_single_turn_categories_of_3641_samples() -> None:
    assert len(dataset.SINGLE_TURN) == 13
    assert sum(dataset.CATEGORIES[name].size for name in dataset.SINGLE_TURN) == 3641


@pytest.mark.parametrize(
    ("names", "count"),
    [
        (["single_turn"], 13),
        (["live"], 6),
        (["non_live"], 7),
        (["python"], 11),
        (["non_python"], 2),
        (["multiple", "multiple", "live"], 7),
    ],
)
def test_names_are_united_in_the_order_of_the_table(names: list[str], count: int) -> None:
    found = dataset.expand(names)
    assert len(found) == count
    assert found == [name for name in dataset.CATEGORIES if name in found]


def test_an_unknown_category_names_the_nearest() -> None:
    with pytest.raises(BadInput, match=r"'simple_pyhton'. Did you mean 'simple_python'\?") as caught:
        dataset.expand(["simple_pyhton"])
    assert "你是不是想输入“simple_python”" in speak(caught.value.sentence, "zh")


def test_a_name_like_no_other_lists_what_is_known() -> None:
    with pytest.raises(BadInput, match="Known: simple_python"):
        dataset.expand(["zzzz"])


def test_no_category_at_all_is_bad_input() -> None:
    with pytest.raises(BadInput, match="No category"):
        dataset.expand([])


@pytest.mark.parametrize("below", ["", "bfcl_eval", "bfcl_eval/data"])
def test_the_folder_is_found_from_a_package_and_from_the_data_itself(data: Path, below: str) -> None:
    assert dataset.locate(data.parent.parent / below) == data


def test_the_folder_is_found_from_a_clone(tmp_path: Path) -> None:
    data = write_data(tmp_path / "gorilla" / "berkeley-function-call-leaderboard")
    assert dataset.locate(str(tmp_path / "gorilla")) == data


def test_the_environment_names_the_data(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_BFCL_DATA", str(data))
    assert dataset.locate() == data


@pytest.mark.parametrize("there", [True, False])
def test_a_folder_without_the_files_says_what_was_expected(tmp_path: Path, there: bool) -> None:
    folder = tmp_path / "empty"
    if there:
        folder.mkdir()
    with pytest.raises(BadInput, match=r"empty holds no data of BFCL v4: expected BFCL_v4_\*\.json"):
        dataset.locate(folder)


def test_a_wheel_of_another_digest_is_refused(data: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "bfcl_eval-2026.3.23-py3-none-any.whl"
    wheel.write_bytes(b"something else")
    with pytest.raises(BadInput, match="sha256"):
        dataset.locate(wheel)


def test_questions_come_with_their_answers(data: Path) -> None:
    first, second = dataset.entries(data, "simple_python")
    assert (first.id, second.id) == ("simple_python_0", "simple_python_1")
    assert [said.role for said in second.question] == ["system", "user"]
    assert first.functions == [AREA]
    assert first.answers == SIMPLE[0]["answer"]


def test_irrelevance_has_no_answers(data: Path) -> None:
    (entry,) = dataset.entries(data, "irrelevance")
    assert entry.answers is None


def test_files_of_another_revision_are_read_and_noted(data: Path) -> None:
    read = dataset.read(data, "simple_python")
    assert len(read.notes) == 2
    assert "BFCL_v4_simple_python.json is not the file of bfcl-eval 2026.3.23" in str(read.notes[0])
    assert set(read.digests) == {"BFCL_v4_simple_python.json", "possible_answer/BFCL_v4_simple_python.json"}


def test_ids_are_those_of_the_entries(data: Path) -> None:
    assert dataset.ids(data, "simple_python") == [entry.id for entry in dataset.entries(data, "simple_python")]


def test_a_missing_file_is_named(data: Path) -> None:
    with pytest.raises(BadInput, match=r"BFCL_v4_multiple\.json cannot be read"):
        dataset.read(data, "multiple")


def test_a_missing_answer_file_is_named(data: Path) -> None:
    path = data / "possible_answer" / "BFCL_v4_simple_python.json"
    path.unlink()
    with pytest.raises(BadInput, match=r"possible_answer.BFCL_v4_simple_python\.json cannot be read"):
        dataset.read(data, "simple_python")


def test_an_empty_file_is_named(data: Path) -> None:
    (data / "BFCL_v4_simple_python.json").write_text("\n")
    with pytest.raises(BadInput, match="is empty"):
        dataset.read(data, "simple_python")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "simple_python_1", "question": [[', "line 2: it ends too early"),
        ('{"id": "simple_python_1", "question": []}', "line 2: 'function' is missing"),
        ('{"id": 1, "question": [], "function": []}', "line 2: 'id': expected a text, got a whole number"),
        (
            '{"id": "simple_python_1", "question": [[{"role": "robot", "content": ""}]], "function": []}',
            r"line 2: 'question\[0\]\[0\]\.role': 'robot' is none of the values",
        ),
        ('{"id": "simple_python_1", "question": [], "function": []}', "line 2: .* does not have one turn"),
        (
            '{"id": "simple_python_1", "question": [[{"role": "user", "content": ""}]], "function": [{"name": "f"}]}',
            "line 2: a function of 'simple_python_1' lacks name, description or parameters",
        ),
        ("[" * 100_000, "line 2: "),
    ],
)
def test_a_bad_line_is_named_with_its_number_and_path(data: Path, line: str, said: str) -> None:
    replace_line(data / "BFCL_v4_simple_python.json", 2, line)
    with pytest.raises(BadInput, match=rf"BFCL_v4_simple_python\.json, {said}"):
        dataset.read(data, "simple_python")


def test_an_id_twice_is_named_with_its_line(data: Path) -> None:
    path = data / "BFCL_v4_simple_python.json"
    first = path.read_text().split("\n")[0]
    replace_line(path, 2, "\n" + first)  # after an empty line, so it is line 3
    with pytest.raises(BadInput, match="line 3: the id 'simple_python_0' is there already"):
        dataset.read(data, "simple_python")


def test_an_id_of_another_category_is_named(data: Path) -> None:
    write_category(data, "simple_python", SIMPLE, id_form="multiple_{1}")
    with pytest.raises(BadInput, match="line 1: the id 'multiple_0' is not of simple_python"):
        dataset.read(data, "simple_python")


def test_a_question_without_an_answer_is_named(data: Path) -> None:
    path = data / "possible_answer" / "BFCL_v4_simple_python.json"
    path.write_text(path.read_text().split("\n")[0])
    with pytest.raises(BadInput, match=r"possible_answer.*has no answer for 'simple_python_1'"):
        dataset.read(data, "simple_python")


def test_answers_in_another_order_are_refused_as_the_official_code_pairs_by_position(data: Path) -> None:
    path = data / "possible_answer" / "BFCL_v4_simple_python.json"
    path.write_text("\n".join(reversed(path.read_text().split("\n"))))
    with pytest.raises(BadInput, match="line 1: the answer is for 'simple_python_1', expected 'simple_python_0'"):
        dataset.read(data, "simple_python")


def test_an_answer_without_a_question_is_named(data: Path) -> None:
    path = data / "possible_answer" / "BFCL_v4_simple_python.json"
    path.write_text(path.read_text() + "\n" + json.dumps({"id": "simple_python_9", "ground_truth": []}))
    with pytest.raises(BadInput, match="line 3: there is no question 'simple_python_9'"):
        dataset.read(data, "simple_python")
