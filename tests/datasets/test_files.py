"""A file of questions as a task: what is understood, what is refused, and what the agent is shown."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.core.errors import BadInput, MissingExtra
from proctor.core.sample import File, Sample
from proctor.core.task import Task
from proctor.datasets.files import is_data_file, task_from_file

ROWS = [
    {"id": "fr", "question": "Capital of France?", "answer": "Paris", "level": 1},
    {"id": "jp", "question": "Capital of Japan?", "answer": "Tokyo", "level": 2},
]


def file(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def lines(folder: Path, *rows: dict[str, Any], name: str = "q.jsonl") -> Path:
    return file(folder, name, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def samples(path: Path, **how: Any) -> list[Sample]:
    return read(task_from_file(path, **how))


def read(task: Task) -> list[Sample]:
    assert callable(task.samples)
    return list(task.samples())


def test_every_format_gives_the_same_samples(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    written = [
        lines(tmp_path, *ROWS),
        file(tmp_path, "q.json", json.dumps(ROWS)),
        file(tmp_path, "data.json", json.dumps({"version": 1, "data": ROWS})),
        file(
            tmp_path, "q.csv", "id,question,answer,level\nfr,Capital of France?,Paris,1\njp,Capital of Japan?,Tokyo,2\n"
        ),
        file(
            tmp_path,
            "q.tsv",
            "id\tquestion\tanswer\tlevel\nfr\tCapital of France?\tParis\t1\njp\tCapital of Japan?\tTokyo\t2\n",
        ),
        file(tmp_path, "q.yaml", "".join(f"- {json.dumps(row)}\n" for row in ROWS)),
        tmp_path / "q.parquet",
    ]
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), tmp_path / "q.parquet")
    expected = samples(written[0])
    assert [(one.id, one.question, one.target, one.tags) for one in expected] == [
        ("fr", "Capital of France?", "Paris", {"level": "1"}),
        ("jp", "Capital of Japan?", "Tokyo", {"level": "2"}),
    ]
    for path in written[1:]:
        assert samples(path) == expected, path


def test_chinese_columns_are_understood_and_told(tmp_path: Path) -> None:
    path = lines(tmp_path, {"编号": 7, "题目": "1+1=?", "标准答案": "2", "题型": "填空", "学科": "数学", "备注": "x"})
    [sample] = samples(path)
    assert (sample.id, sample.question, sample.target) == ("7", "1+1=?", "2")
    assert (sample.tags, sample.meta["type"]) == ({"subject": "数学", "type": "填空"}, "填空")
    assert str(task_from_file(path).notes[0]) == (
        "q.jsonl: id ← 编号, question ← 题目, target ← 标准答案, type ← 题型, tag:subject ← 学科. Not used: 备注."
    )


def test_columns_can_be_mapped(tmp_path: Path) -> None:
    path = lines(
        tmp_path, {"题面": "1+1?", "question": "not this", "key": "2", "id": "x", "region": "EU", "hint": {"a": 1}}
    )
    mapped = {"题面": "question", "key": "answer", "id": "ignore", "region": "tag:area", "hint": "meta"}
    [sample] = samples(path, columns=mapped)
    assert (sample.id, sample.question, sample.target) == ("row-1", "1+1?", "2")
    assert (sample.tags, sample.meta) == ({"area": "EU"}, {"hint": {"a": 1}})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"题": "question"}, "has no column '题'. It has: id, question, answer, level"),
        ({"id": "questoin"}, "cannot be mapped to 'questoin'. Did you mean 'question'"),
        ({"id": "question", "level": "question"}, "Two columns are mapped to 'question'"),
    ],
)
def test_a_wrong_mapping_says_why(tmp_path: Path, columns: dict[str, str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        task_from_file(lines(tmp_path, *ROWS), columns=columns)


def test_the_scorers_follow_the_columns(tmp_path: Path) -> None:
    choice = {"id": "c", "question": "q", "options": ["x", "y"], "answer": "A"}
    assert task_from_file(lines(tmp_path, *ROWS)).scorers == ("answer",)
    assert task_from_file(lines(tmp_path, choice, name="b.jsonl")).scorers == ("choice",)
    assert task_from_file(lines(tmp_path, choice, ROWS[0] | {"options": None}, name="c.jsonl")).scorers == ("by_type",)
    assert task_from_file(lines(tmp_path, ROWS[0] | {"type": "exact"}, name="d.jsonl")).scorers == ("by_type",)


@pytest.mark.parametrize(
    "options",
    [
        ["red", "green", "blue"],
        ["A. red", "B. green", "C. blue"],
        {"A": "red", "B": "green", "C": "blue"},
        "A. red|B. green|C. blue",
        "A、red\nB、green\nC、blue",
        "(A) red|(B) green|(C) blue",
        "red | green | blue",
        '["red", "green", "blue"]',
    ],
)
@pytest.mark.parametrize("answer", ["B", "b", "green", "B. green", ["B"], ["green"]])
def test_options_are_shown_below_the_question_and_the_answer_is_a_letter(
    tmp_path: Path, options: object, answer: object
) -> None:
    [sample] = samples(lines(tmp_path, {"question": "Which?", "options": options, "answer": answer}))
    assert sample.question == "Which?\nA. red\nB. green\nC. blue"
    assert sample.target == "B"


def test_options_in_columns_of_their_own(tmp_path: Path) -> None:
    path = file(tmp_path, "q.csv", 'question,A,B,C,answer\nWhich?,red,blue,,"A,B"\nWhat?,x,y,z,z\n')
    first, second = samples(path)
    assert (first.question, first.target) == ("Which?\nA. red\nB. blue", "AB")
    assert second.target == "C"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"options": ["x"], "answer": "A"}, "holds 1 options"),
        ({"options": ["x", ""], "answer": "A"}, "none may be empty"),
        ({"options": "A. x|C. y", "answer": "A"}, "labelled A, C"),
        ({"options": ["x", "y"], "answer": "C"}, "neither a letter up to B nor the text"),
        ({"options": ["x", "y"], "answer": 1}, "fit more than one reading: index0, index1"),
        ({"options": ["x", "y"], "answer": 3}, "neither a letter up to B nor the text"),
        ({"options": 5, "answer": "A"}, "holds no options"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=f"{message}"):
        task_from_file(lines(tmp_path, {"question": "Which?", **row}))


def test_files_are_attached_when_their_turn_comes_and_stay_in_their_folder(tmp_path: Path) -> None:
    (tmp_path / "img").mkdir()
    (tmp_path / "img" / "a.png").write_bytes(b"png")
    path = lines(tmp_path, {"id": "a", "question": "What is it?", "answer": "x", "image": "img/a.png"}, ROWS[0])
    task = task_from_file(path)
    assert task.present is not None
    first, second = read(task)
    assert first.meta["files"] == ["img/a.png"]
    shown = task.present(first).turns[0].messages[-1].parts[1]
    assert shown == File(name="a.png", media_type="image/png", data=b"png", path="img/a.png")
    assert task.present(second) == second
    assert len(task.provenance["attachments_sha256"]) == 64


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "img/../../secret", "link"])
def test_an_attachment_cannot_leave_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text("x")
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(BadInput, match="lies outside the data folder"):
        task_from_file(lines(folder, {"question": "q", "answer": "x", "file": name}))


def test_an_attachment_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"line 1: the attachment 'a.png' is not in"):
        task_from_file(lines(tmp_path, {"question": "q", "answer": "x", "file": "a.png"}))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"question": "", "answer": "x"}], r"q.jsonl, line 1: the column 'question' is empty"),
        ([ROWS[0], {"id": "b", "question": "q"}], r"q.jsonl, line 2: the column 'answer' is empty"),
        ([ROWS[0], ROWS[1] | {"answer": None}], r"line 2: the column 'answer' is empty"),
        ([ROWS[0], {"question": "q", "answer": "x"}], r"line 2: the column 'id' is empty"),
        ([ROWS[0], ROWS[0]], r"line 2: the id 'fr' was used already in row 1"),
        ([{"question": ["q"], "answer": "x"}], r"the column 'question' holds list where text is needed"),
        ([{"q": "x"}], "no column holds the question. It has: q"),
        ([{"question": "x"}], "no column holds the answer. It has: question"),
    ],
)
def test_a_row_that_is_incomplete_is_told_with_its_line(
    tmp_path: Path, rows: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        task_from_file(lines(tmp_path, *rows))


def test_questions_without_answers_must_be_meant(tmp_path: Path) -> None:
    [sample] = samples(lines(tmp_path, {"question": "x"}), answers=False)
    assert sample.target is None
    first, second = samples(lines(tmp_path, ROWS[0], ROWS[1] | {"answer": ""}), answers=False)
    assert (first.target, second.target) == ("Paris", None)


def test_targets_keep_their_kind_but_true_and_false_are_words(tmp_path: Path) -> None:
    rows = [{"question": "q", "answer": answer} for answer in (7, 0.5, True, ["a", "b"], {"x": 1})]
    assert [one.target for one in samples(lines(tmp_path, *rows))] == [7, 0.5, "true", ["a", "b"], {"x": 1}]


def test_yaml_texts_stay_what_was_written(tmp_path: Path) -> None:
    path = file(
        tmp_path,
        "q.yaml",
        "- {question: Cold, answer: no}\n- {question: Zip, answer: 012}\n- {question: When, answer: 2020-01-01}\n- {question: n, answer: 12}\n",
    )
    assert [one.target for one in samples(path)] == ["no", "012", "2020-01-01", 12]


def test_yaml_without_its_library_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file(tmp_path, "q.yaml", "- {question: Cold, answer: no}\n")
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingExtra, match=r"q\.yaml needs the extra 'yaml'\."):
        samples(path)


def test_a_row_without_a_type_is_scored_by_what_it_has(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        ROWS[0] | {"type": "exact"},
        ROWS[1],
        {"id": "c", "question": "q", "options": ["x", "y"], "answer": "x"},
    ]
    assert [one.meta["type"] for one in samples(lines(tmp_path, *rows))] == ["exact", "answer", "choice"]


def test_clusters_are_read(tmp_path: Path) -> None:
    assert samples(lines(tmp_path, ROWS[0] | {"group": 4}))[0].cluster == "4"


def test_the_version_and_provenance_follow_the_content(tmp_path: Path) -> None:
    before = task_from_file(lines(tmp_path, *ROWS))
    after = task_from_file(lines(tmp_path, ROWS[0], ROWS[1] | {"answer": "Kyoto, formerly"}))
    assert before.version != after.version
    assert before.provenance["columns"]["target"] == "answer"
    assert (before.planned, before.spread_by) == (2, "level")


def test_nothing_of_a_file_is_kept(tmp_path: Path) -> None:
    task = task_from_file(lines(tmp_path, *ROWS))
    assert callable(task.samples)
    assert task.samples() is not task.samples()
    assert read(task) == read(task)


def test_a_file_runs_by_its_name(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        {"问题": "选哪个？", "选项": ["甲", "乙"], "答案": "乙", "题型": "单选"},
        {"问题": "北京？", "答案": "中国", "题型": "看图"},
    )
    run = proctor.evaluate(str(path), agent=lambda question: "B", store=":memory:")
    found = {verdict.sample_id: verdict.result for verdict in run.verdicts()}
    assert getattr(found["row-1"], "points", None) == 1
    assert getattr(found["row-2"], "why", None) == "not_applicable"


def test_the_oracle_is_right_and_silence_is_wrong(tmp_path: Path) -> None:
    rows = [*ROWS, {"id": "c", "question": "q", "answer": 7}, {"id": "d", "question": "q", "answer": True}]
    path = lines(tmp_path, *rows)
    for agent, value in (("baseline:oracle", 1), ("baseline:null", 0)):
        run = proctor.evaluate(str(path), agent=agent, store=":memory:", options={"columns": {"level": "tag:level"}})
        assert run.estimates[0].value == value, agent


def test_an_unknown_option_of_the_task_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="Did you mean 'columns'"):
        proctor.evaluate(str(lines(tmp_path, *ROWS)), agent=str, options={"colums": {}}, store=":memory:")


def test_what_is_a_data_file() -> None:
    assert all(map(is_data_file, ["a.jsonl", "b/c.CSV", "x.parquet"]))
    assert not any(map(is_data_file, ["bfcl", "bfcl/simple_python", "./a.py:task", "a.b:c"]))
