"""Files in the shapes in which people have data: each is read right, or refused with what to type; none is guessed wrong."""

import base64
import datetime
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hub_here import COMMIT, Hub, served

from proctor.core.errors import BadInput
from proctor.core.sample import File, Sample
from proctor.core.task import Task
from proctor.datasets.files import is_data, task_from_file

DAY = datetime.datetime(2025, 3, 1)  # noqa: DTZ001 - Excel knows no zones
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 80
QA = [{"question": f"Question {n}?", "answer": f"a{n}"} for n in range(4)]


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def samples(path: Path | str, **options: Any) -> list[Sample]:
    return read(task_from_file(path, **options))


def read(task: Task) -> list[Sample]:
    assert callable(task.samples)
    return list(task.samples())


@pytest.mark.parametrize(
    ("name", "rows", "options", "question", "target"),
    [
        ("mmlu", [{"question": "2?", "choices": ["1", "2x", "3", "4"], "answer": 1}, {"question": "1?", "choices": ["1", "2", "3", "4x"], "answer": 0}], {}, "2?\nA. 1\nB. 2x\nC. 3\nD. 4", "B"),
        ("arc", [{"question": "Hot?", "choices": {"text": ["ice", "sun"], "label": ["A", "B"]}, "answerKey": "B"}], {}, "Hot?\nA. ice\nB. sun", "B"),
        ("arc-numbers", [{"question": "Hot?", "choices": {"text": ["ice", "sun"], "label": ["1", "2"]}, "answerKey": "2"}], {}, "Hot?\nA. ice\nB. sun", "B"),
        ("hellaswag", [{"ctx": "He", "endings": ["a", "b", "c"], "label": "2"}, {"ctx": "She", "endings": ["a", "b", "c"], "label": "0"}], {}, "He\nA. a\nB. b\nC. c", "C"),
        ("gsm8k", [{"question": "6*12?", "answer": "6 * 12 = <<6*12=72>>72\n#### 72"}, {"question": "1000?", "answer": "#### 1,000"}], {}, "6*12?", "72"),
        ("math", [{"problem": "Half?", "solution": r"So it is $\boxed{\frac{1}{2}}$."}], {}, "Half?", r"\frac{1}{2}"),
        ("boolq", [{"question": "is it?", "passage": "It is.", "answer": True}], {"columns": {"passage": "context"}}, "It is.\n\nis it?", "true"),
        ("squad", [{"context": "In 1985.", "question": "When?", "answers": {"text": ["1985", "in 1985", "1985"], "answer_start": [3, 0, 3]}}], {"columns": {"context": "context"}}, "In 1985.\n\nWhen?", ["1985", "in 1985"]),
        ("alpaca", [{"instruction": "Translate", "input": "Hund", "output": "dog"}, {"instruction": "Say hi", "input": "", "output": "hi"}], {"columns": {"input": "context"}}, "Hund\n\nTranslate", "dog"),
        ("truthfulqa", [{"question": "Sky?", "mc1_targets": {"choices": ["green", "blue"], "labels": [0, 1]}}], {"columns": {"mc1_targets": "options"}}, "Sky?\nA. green\nB. blue", "B"),
        ("commonsenseqa", [{"question": "Where?", "choices": [{"label": "A", "text": "bank"}, {"label": "B", "text": "library"}], "answerKey": "A"}], {}, "Where?\nA. bank\nB. library", "A"),
        ("openai-evals", [{"input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}], "ideal": ["4", "four"]}], {}, "2+2?", ["4", "four"]),
        ("chat", [{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}], {}, "Hi", "Hello"),
        ("sharegpt", [{"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}], {}, "Hi", "Hello"),
        ("nested", [{"data": {"q": "Hi", "gold": {"text": "yo"}}}], {"columns": {"data.q": "question", "data.gold.text": "target"}}, "Hi", "yo"),
        ("template", [{"passage": "It rains.", "question": "Dry?", "answer": "no"}], {"prompt": "{passage}\\n\\nQ: {question} {{x}}"}, "It rains.\n\nQ: Dry? {x}", "no"),
        ("pattern", [{"question": "q", "answer": "Reasoning. Answer: 7 apples"}], {"target_pattern": r"Answer: (\d+)"}, "q", "7"),
    ],
)  # fmt: skip
def test_a_shape_is_read(
    tmp_path: Path, name: str, rows: list[dict[str, Any]], options: dict[str, Any], question: str, target: object
) -> None:
    sample = samples(lines(tmp_path / f"{name}.jsonl", *rows), **options)[0]
    assert (sample.question, sample.target) == (question, target)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"question": "3?", "choices": ["1", "2", "3", "4"], "answer": 3}], "more than one reading"),
        ([{"question": "q", "choices": ["x", "y", "z"], "answer": 1}], "index0, index1"),
        ([{"question": "q", "choices": ["x", "y"], "answer": 0}, {"question": "q", "choices": ["x", "y"], "answer": 2}], "neither a letter"),
        ([{"question": "q", "choices": ["B", "A"], "answer": "A"}], "it is both"),
        ([{"question": "is it?", "passage": "It is.", "answer": True}], "--map passage=context"),
        ([{"instruction": "Translate", "input": "Hund", "output": "dog"}], "--map input=context"),
        ([{"data": {"question": "Hi", "answer": "yo"}}], r"It has: data, data.question, data.answer"),
        ([{"messages": [{"role": "tool", "content": "x"}], "answer": "y"}], "message of 'tool'"),
        ([{"messages": [{"role": "assistant", "content": "x"}]}], "does not end with a message of the user"),
        ([{"messages": [{"role": "user", "content": "x"}]}], "there is no answer"),
        ([{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}], "answer": "z"}], "--map answer=ignore"),
        ([{"question": "q", "choices": {"text": ["a", "b"], "label": ["A"]}, "answer": "A"}], "2 options, but 1 labels"),
        ([{"question": "q", "choices": {"text": {"a": 1}}, "answer": "A"}], "holds no options"),
    ],
)  # fmt: skip
def test_what_fits_two_readings_is_refused(tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        samples(lines(tmp_path / "q.jsonl", *rows))


@pytest.mark.parametrize(
    ("answers", "letter"), [("index0", "D"), ("index1", "C"), ("text", "C")]
)  # fmt: skip
def test_the_user_decides_how_answers_name_options(tmp_path: Path, answers: str, letter: str) -> None:
    path = lines(tmp_path / "q.jsonl", {"question": "3?", "choices": ["1", "2", "3", "4"], "answer": 3})
    assert samples(path, answers=answers)[0].target == letter
    with pytest.raises(BadInput, match="answers=index2 is unknown"):
        samples(path, answers="index2")


def test_an_empty_companion_is_no_reason_to_ask(tmp_path: Path) -> None:
    path = lines(tmp_path / "q.jsonl", {"instruction": "Say hi", "input": "", "output": "hi"})
    assert samples(path)[0].target == "hi"


def test_what_was_understood_is_told(tmp_path: Path) -> None:
    path = lines(tmp_path / "q.jsonl", {"question": "6*12?", "answer": "#### 72"})
    assert "target ← answer, target_pattern ← gsm8k" in str(task_from_file(path).notes[0])
    path = lines(tmp_path / "r.jsonl", {"question": "q", "choices": ["x", "y"], "answer": 0})
    assert "answers ← index0" in str(task_from_file(path).notes[0])


def test_an_unmatched_pattern_names_its_row(tmp_path: Path) -> None:
    path = lines(tmp_path / "q.jsonl", QA[0])
    with pytest.raises(BadInput, match=r"line 1: the column 'answer' does not hold"):
        samples(path, target_pattern="gsm8k")
    with pytest.raises(BadInput, match="no regular expression"):
        samples(path, target_pattern="(")
    with pytest.raises(BadInput, match="The template asks for the column 'nope'"):
        samples(path, prompt="{nope}")


def test_a_conversation_keeps_what_comes_before_the_question(tmp_path: Path) -> None:
    chat = [("system", "Be brief."), ("user", "Hi"), ("assistant", "Hello"), ("user", "2+2?")]
    row = {"messages": [{"role": role, "content": text} for role, text in chat], "answer": "4", "system_prompt": "Zh."}
    [sample] = samples(lines(tmp_path / "q.jsonl", row))
    assert [(message.role, message.text) for message in sample.turns[0].messages] == [("system", "Zh."), *chat]
    assert (sample.question, sample.target, sample.turns[0].reference) == ("2+2?", "4", "4")


@pytest.mark.parametrize(
    "image",
    [
        {"bytes": base64.b64encode(PNG).decode(), "path": "a.png"},
        f"data:image/png;base64,{base64.b64encode(PNG).decode()}",
        base64.b64encode(PNG).decode(),
    ],
    ids=["struct", "data url", "base64"],
)
def test_images_in_the_file_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, image: dict[str, str] | str
) -> None:
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    if isinstance(image, dict):
        import pyarrow
        from pyarrow import parquet

        path = tmp_path / "q.parquet"
        rows = [{"question": "What?", "answer": "a cat", "image": {"bytes": PNG, "path": "a.png"}}]
        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    else:
        path = lines(tmp_path / "q.jsonl", {"question": "What?", "answer": "a cat", "image": image})
    task = task_from_file(path)
    [sample] = read(task)
    assert task.present is not None
    [_, file] = task.present(sample).turns[0].messages[-1].parts
    assert isinstance(file, File)
    assert (file.data, file.media_type) == (PNG, "image/png")
    assert "attachments_sha256" in task.provenance


def test_the_address_of_an_image_stays_one(tmp_path: Path) -> None:
    path = lines(tmp_path / "q.jsonl", {"question": "What?", "answer": "x", "image": "https://example.org/a/b.jpg?s=1"})
    task = task_from_file(path)
    [sample] = read(task)
    assert task.present is not None
    file = task.present(sample).turns[0].messages[-1].parts[-1]
    assert file == File(name="b.jpg", media_type="image/jpeg", url="https://example.org/a/b.jpg?s=1")


@pytest.mark.parametrize("encoding", ["big5", "cp949", "shift_jis", "cp1252"])
def test_other_encodings_are_never_taken_for_chinese(tmp_path: Path, encoding: str) -> None:
    text = {
        "big5": "請問下列哪一個城市是首都,臺北\n水的化學式是什麼,一氧化二氫\n最大的行星,木星\n",
        "cp949": "다음 중 대한민국의 수도는 어디입니까,서울\n물의 화학식은 무엇입니까,물\n가장 큰 행성은,목성\n",
        "shift_jis": "日本の首都はどこですか,東京\n水の化学式は何ですか,水\n最も大きい惑星は,木星\n",
        "cp1252": "Où est Noël ?,été\nQuel garçon ?,élève\n",
    }[encoding]
    path = tmp_path / "q.csv"
    path.write_bytes(f"question,answer\n{text}".encode(encoding))
    with pytest.raises(BadInput, match=rf"--set encoding=NAME; these fit: .*{encoding}"):
        task_from_file(path)
    assert samples(path, encoding=encoding)[0].question == text.partition(",")[0]


def test_a_named_encoding_has_to_fit(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_bytes("question,answer\n法国？,巴黎\n".encode("gb18030"))
    for encoding, message in [("utf-8", "cannot be read as utf-8: byte 16"), ("nope", "no encoding 'nope'"), ("base64", "no encoding")]:  # fmt: skip
        with pytest.raises(BadInput, match=message):
            task_from_file(path, encoding=encoding)


def test_packed_files_and_those_without_a_header(tmp_path: Path) -> None:
    packed = tmp_path / "q.jsonl.gz"
    packed.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in QA).encode()))
    assert [sample.target for sample in samples(packed)] == ["a0", "a1", "a2", "a3"]
    packed.write_bytes(packed.read_bytes()[:-10])
    with pytest.raises(BadInput, match=r"q\.jsonl\.gz cannot be unpacked"):
        samples(packed)
    bare = tmp_path / "q.csv"
    bare.write_text("2+2?,4\n")
    [sample] = samples(bare, header=False, columns={"column_1": "question", "column_2": "target"})
    assert (sample.question, sample.target) == ("2+2?", "4")


@pytest.mark.parametrize(
    ("value", "options"),
    [
        ({"data": QA}, {}),
        ({"train": QA[:1], "test": QA}, {"split": "test"}),
        ({f"q{n}": row for n, row in enumerate(QA)}, {}),
        ({key: [row[key] for row in QA] for key in QA[0]}, {}),
    ],
    ids=["one list", "splits", "by id", "by column"],
)
def test_objects_of_rows(tmp_path: Path, value: dict[str, Any], options: dict[str, Any]) -> None:
    path = tmp_path / "q.json"
    path.write_text(json.dumps(value))
    found = samples(path, **options)
    assert [sample.target for sample in found] == ["a0", "a1", "a2", "a3"]
    assert found[0].id == ("q0" if "q0" in value else "row-1")


def test_a_folder_of_shards_is_one_task(tmp_path: Path) -> None:
    for number in (0, 1, 10, 2):
        lines(tmp_path / "data" / f"part-{number}.jsonl", {"question": "q", "answer": f"a{number}"})
    lines(tmp_path / "data" / ".hidden.jsonl", {"question": "q", "answer": "hidden"})
    task = task_from_file(tmp_path / "data")
    assert is_data(str(tmp_path / "data"))
    assert [sample.target for sample in read(task)] == ["a0", "a1", "a2", "a10"]
    assert (task.name, [sample.id for sample in read(task)][-1]) == ("data", "row-4")
    lines(tmp_path / "data" / "more" / "x.csv")
    with pytest.raises(BadInput, match=r"several kinds: \.csv, \.jsonl"):
        task_from_file(tmp_path / "data")


def test_the_split_of_a_folder_is_named(tmp_path: Path) -> None:
    lines(tmp_path / "data" / "train-00000-of-00001.jsonl", *QA)
    lines(tmp_path / "data" / "dev" / "a.jsonl", QA[0])
    with pytest.raises(BadInput, match=r"several splits: validation, train. Say which: --set split=NAME"):
        task_from_file(tmp_path / "data")
    assert len(samples(tmp_path / "data", split="train")) == 4
    assert len(samples(tmp_path / "data", split="validation")) == len(samples(tmp_path / "data", split="dev")) == 1
    with pytest.raises(BadInput, match=r"has no split 'test'\. It has: validation, train"):
        task_from_file(tmp_path / "data", split="test")


def test_what_datasets_saved_to_disk_is_read(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import ipc

    for split, count in (("train", 3), ("test", 2)):
        folder = tmp_path / "saved" / split
        folder.mkdir(parents=True)
        table = pyarrow.Table.from_pylist(QA[:count])
        with ipc.new_stream(folder / "data-00000-of-00001.arrow", table.schema) as out:
            out.write_table(table)
        (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}))
        (folder / "dataset_info.json").write_text("{}")
    (tmp_path / "saved" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert len(samples(tmp_path / "saved", split="test")) == 2
    assert len(samples(tmp_path / "saved" / "train")) == 3
    (tmp_path / "saved" / "train" / "state.json").write_text('{"_data_files": [{"filename": "../test/state.json"}]}')
    with pytest.raises(BadInput, match="which is not in it"):
        samples(tmp_path / "saved" / "train")


def test_a_sheet_of_excel_is_a_file_of_questions(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "题目"
    for cells in [("题目", "答案", "日期"), ("2+2?", 4.0, DAY), (None, None, None), ("法国？", "巴黎", None)]:
        sheet.append(cells)
    path = tmp_path / "q.xlsx"
    book.save(path)
    found = samples(path, columns={"日期": "meta:date"})
    assert [(sample.question, sample.target) for sample in found] == [("2+2?", 4), ("法国？", "巴黎")]
    assert found[0].meta["date"] == "2025-03-01"
    book.create_sheet("more").append(["x", "y"])
    book.save(path)
    with pytest.raises(BadInput, match=r"several sheets: 题目, more\. Say which: --set sheet=NAME"):
        samples(path)
    assert len(samples(path, sheet="题目")) == 2
    with pytest.raises(BadInput, match="has no sheet 'z'"):
        samples(path, sheet="z")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(BadInput, match="no readable Excel file"):
        samples(path)


def test_many_columns_are_read_in_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    names = ["question", "answer", *(f"c{n}" for n in range(50_000))]
    path.write_text(",".join(names) + "\n" + ",".join("x" for _ in names) + "\n")
    assert len(samples(path)) == 1


PARTS = {
    "main/train/0000.parquet": QA[:3],
    "main/test/0000.parquet": QA[:1],
    "main/test/0001.parquet": QA[1:2],
    "socratic/test/0000.parquet": QA,
}


def packed(rows: list[dict[str, Any]]) -> bytes:
    import io

    import pyarrow
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), out)
    return out.getvalue()


def test_a_data_set_of_the_hub_is_a_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    here = Hub({"openai/gsm8k": {path: packed(rows) for path, rows in PARTS.items()}})
    with served(here) as url:
        monkeypatch.setenv("HF_ENDPOINT", url)
        with pytest.raises(
            BadInput, match=r"several configurations: main, socratic. Say which: hub:openai/gsm8k/CONFIG"
        ):
            task_from_file("hub:openai/gsm8k", split="test")
        with pytest.raises(BadInput, match=r"several splits: test, train. Say which: --set split=NAME"):
            task_from_file("hub:openai/gsm8k/main")
        with pytest.raises(BadInput, match=r"no configuration 'x'. It has: main, socratic"):
            task_from_file("hub:openai/gsm8k/x", split="test")
        task = task_from_file("hub:openai/gsm8k/main", split="test")
    assert [sample.target for sample in read(task)] == ["a0", "a1"]  # from the cache: the hub is gone
    assert task.name == "openai/gsm8k/main"
    assert task.provenance["revision"] == COMMIT
    assert not [path for path in here.asked if "train" in path or "socratic" in path]
    assert str(task_from_file("hub:openai/gsm8k/main", split="test").notes[0]).startswith("openai/gsm8k/main: question")
    with pytest.raises(BadInput, match="is written hub:OWNER/NAME"):
        task_from_file("hub:gsm8k")


def test_the_files_of_a_set_itself_are_read_at_a_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    text = "".join(json.dumps(row) + "\n" for row in QA).encode()
    here = Hub({"a/b": {"README.md": b"hi", "data/train.jsonl": text, "data/test.jsonl": text}})
    with served(here) as url:
        monkeypatch.setenv("HF_ENDPOINT", url)
        assert len(samples("hub:a/b@v1.0", split="test")) == 4
        with pytest.raises(BadInput, match=r"has no split 'dev'\. It has: test, train"):
            samples("hub:a/b@v1.0", split="dev")
