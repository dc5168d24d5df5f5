"""The smaller scripts of MULTI-Benchmark: extract, merge, hard, convert, test."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from proctor_benchmarks.multi import dataset, images
from proctor_benchmarks.multi.predictions import predictions, text_of
from proctor_compat import multi
from proctor_compat.multi.__main__ import main


def saved(path: Path, **answers: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = {id: {"question_id": id, "question_image_number": 0, "prediction": text} for id, text in answers.items()}
    path.write_text(json.dumps(lines), encoding="utf-8")
    return path


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def answers(path: Path) -> dict[str, Any]:
    return {id: line["prediction"] for id, line in load(path).items()}


class Model(BaseHTTPRequestHandler):
    asked: ClassVar[list[Any]] = []
    failing: ClassVar[set[str]] = set()
    status = 503
    said = " B\n"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((body, self.headers.get("Authorization")))
        last = str(body["messages"][-1]["content"])
        fails = bool(self.failing & {last, "*"})
        reply: Any = {"choices": [{"message": {"content": self.said}, "finish_reason": "stop"}]}
        data = json.dumps({"error": {"message": "no"}} if fails else reply).encode()
        self.send_response(self.status if fails else 200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(Model, "asked", [])
    monkeypatch.setattr(Model, "failing", set())
    monkeypatch.setattr(Model, "status", 400)
    monkeypatch.setattr(Model, "said", " B\n")
    monkeypatch.setenv("OPENAI_API_KEY", "old")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    server.shutdown()
    server.server_close()


def extracting(url: str, file: Path) -> list[str]:
    return ["extract", "--prediction_file", str(file), "--api_url", url, "--api_key", "sk-hidden"]


def test_answers_are_extracted_beside_the_originals(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = saved(tmp_path / "prediction.json", x_1_0="I think it is B.", x_1_1="", x_1_2=None, x_1_3=["A", "was A"])
    assert main(extracting(model, file)) == 0
    output = tmp_path / "prediction_extracted.json"
    found = {"x_1_0": ["B", "I think it is B."], "x_1_1": "", "x_1_2": None, "x_1_3": ["A", "was A"]}
    assert answers(output) == found
    assert "4 of 4 predictions done" in capsys.readouterr().out
    assert {id: text_of(one.prediction) for id, one in predictions(output).items()}["x_1_0"] == "B"
    [(body, key)] = Model.asked
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["messages"][1]["content"] == "I think it is B."
    assert (body["model"], body["temperature"], body["max_tokens"], key) == ("gpt-4o-mini", 0, 500, "Bearer sk-hidden")
    assert "sk-hidden" not in output.read_text(encoding="utf-8")


def test_what_failed_stays_as_it_was_and_is_asked_again(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = saved(tmp_path / "run" / "prediction.json", x_1_0="first", x_1_1="second")
    Model.failing.add("second")
    assert main(extracting(model, file.parent)) == 3
    output = tmp_path / "run" / "prediction_extracted.json"
    assert answers(output) == {"x_1_0": ["B", "first"], "x_1_1": "second"}
    assert "1 of 2 predictions done" in capsys.readouterr().out
    Model.failing.clear()
    Model.asked.clear()
    assert main(extracting(model, file.parent)) == 0
    assert [body["messages"][-1]["content"] for body, _ in Model.asked] == ["second"]
    assert answers(output)["x_1_1"] == ["B", "second"]
    saved(file, x_1_0="changed")
    assert main(extracting(model, file.parent)) == 0
    assert answers(output) == {"x_1_0": ["B", "changed"]}


def pictures(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(images.blank().data or b"")
    return folder


def captioning(url: str, folder: Path, *flags: str) -> list[str]:
    return ["caption", "--image_dir", str(folder), "-v", "qwen-vl", "--api_url", url, *flags]


def test_images_are_described_in_the_file_that_input_type_1_reads(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = pictures(tmp_path / "images", "czsx/1_1.png", "czsx/1_2.png")
    (folder / "notes.txt").write_text("no picture", encoding="utf-8")
    Model.said = "两行，\n有逗号,的文字 "
    assert main(captioning(model, folder)) == 0
    file = tmp_path / "captions_qwen-vl.csv"
    assert f"2 of 2 images done: {file}" in capsys.readouterr().out
    assert dataset.captions(file) == dict.fromkeys(
        ("images/czsx/1_1.png", "images/czsx/1_2.png"), "两行， 有逗号,的文字"
    )
    parts = Model.asked[0][0]["messages"][-1]["content"]
    assert any(part["type"] == "image_url" and part["image_url"]["url"].startswith("data:image/png") for part in parts)
    pictures(folder, "czsx/1_3.png")
    Model.asked.clear()
    assert main(captioning(model, folder)) == 0  # only the new one is asked about
    assert (len(Model.asked), len(dataset.captions(file))) == (1, 3)


def test_text_in_images_goes_to_a_file_of_its_own_and_what_failed_is_asked_again(model: str, tmp_path: Path) -> None:
    folder = pictures(tmp_path / "images", "1.png")
    Model.said = "无"
    Model.failing.add("*")
    assert main(captioning(model, folder, "--ocr")) == 3
    Model.failing.clear()
    assert main(captioning(model, folder, "--ocr")) == 0
    assert dataset.captions(tmp_path / "ocr_qwen-vl.csv") == {"images/1.png": ""}
    Model.said = "甲\n乙"
    assert main(captioning(model, folder, "--ocr", "--output", str(tmp_path / "other.csv"))) == 0
    assert dataset.captions(tmp_path / "other.csv") == {"images/1.png": "甲、乙"}
    assert main(captioning(model, tmp_path / "nowhere")) == 2


def test_text_that_was_read_is_used_where_there_are_no_captions(tmp_path: Path) -> None:
    for name in ("problem_v1.json", "ocr_v1.csv"):
        (tmp_path / name).write_text("{}" if name.endswith("json") else "a.png,x\n", encoding="utf-8")
    assert dataset.locate(str(tmp_path), need_captions=True).captions == tmp_path / "ocr_v1.csv"
    (tmp_path / "captions_v1.csv").write_text("a.png,y\n", encoding="utf-8")
    assert dataset.locate(str(tmp_path), need_captions=True).captions == tmp_path / "captions_v1.csv"
    assert dataset.locate(str(tmp_path), captions="ocr").captions == tmp_path / "ocr_v1.csv"


def test_a_refused_key_stops_extracting_with_a_sentence(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Model, "status", 401)
    Model.failing.add("*")
    file = saved(tmp_path / "prediction.json", x_1_0="a", x_1_1="b")
    assert main(extracting(model, file)) == 2
    assert "Check the key" in capsys.readouterr().err
    assert answers(tmp_path / "prediction_extracted.json") == {"x_1_0": "a", "x_1_1": "b"}


def test_two_files_are_merged_and_the_second_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = saved(tmp_path / "a" / "prediction.json", x_1_0="A", x_1_1="B")
    saved(tmp_path / "b" / "prediction.json", x_1_1="C", x_1_2="D")
    output = tmp_path / "merged" / "prediction.json"
    assert main(["merge", str(first), str(tmp_path / "b"), "--output", str(output)]) == 0
    assert answers(output) == {"x_1_0": "A", "x_1_1": "C", "x_1_2": "D"}
    assert load(output)["x_1_0"]["question_image_number"] == 0
    assert "2 + 2 predictions, 1 in both: 3" in capsys.readouterr().out


def test_the_hard_questions_are_taken_out_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(tmp_path / "results" / "run" / "prediction.json", x_1_0="A", x_1_1="B", x_1_2="C")
    chosen = tmp_path / "hard.json"
    chosen.write_text('["x_1_2", "x_1_0"]', encoding="utf-8")
    flags = ["hard", "-j", str(chosen), "-d", str(tmp_path / "results"), "-o", str(tmp_path / "hard")]
    assert main([*flags, "-i", "run"]) == 0
    assert answers(tmp_path / "hard" / "run" / "prediction.json") == {"x_1_0": "A", "x_1_2": "C"}
    chosen.write_text('["x_1_2", "gone_1_0"]', encoding="utf-8")
    assert main([*flags, "-i", str(tmp_path / "results" / "run")]) == 3
    assert "1 of 2 questions have a prediction" in capsys.readouterr().out


def test_hard_never_replaces_the_run_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = saved(tmp_path / "run" / "prediction.json", x_1_0="A", x_1_1="B")
    chosen = tmp_path / "hard.json"
    chosen.write_text('["x_1_0"]', encoding="utf-8")
    flags = ["hard", "-j", str(chosen), "-d", str(tmp_path), "-i", "run", "-o"]
    assert main([*flags, str(tmp_path)]) == 2
    assert "would be replaced" in capsys.readouterr().err
    assert list(answers(file)) == ["x_1_0", "x_1_1"]


def test_pictures_of_markdown_become_tokens_and_each_has_one() -> None:
    text = '![](a.png) and ![alt](b c.jpg "a title"), again ![](a.png); [link](x.png) ![](un(closed) ![]()'
    assert multi.extract_image_list_from_md(text) == (
        "[IMAGE_1] and [IMAGE_2], again [IMAGE_1]; [link](x.png) ![](un(closed) ![]()",
        ["a.png", "b c.jpg"],
    )
    assert multi.extract_image_list_from_md("none") == ("none", [])
    assert multi.extract_image_list_from_md("![](c(1).png)") == ("[IMAGE_1]", ["c(1).png"])


@pytest.mark.parametrize("text", ["![" * 200_000, "![](" * 100_000, "![](a" * 50_000, "![](a" + " " * 200_000])
def test_pictures_that_never_end_take_no_time(text: str) -> None:
    assert multi.extract_image_list_from_md(text)[1] == []


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ({"question_type": "单选"}, "zh"),
        ({"question_type": "single_choice", "question_content": "求和"}, "en"),
        ({"question_content": "求和"}, "zh"),
        ({}, "en"),
    ],
)
def test_the_language_is_that_of_the_type_else_of_the_text(question: dict[str, Any], language: str) -> None:
    assert multi.infer_lang_from_question(question) == language


def test_a_problem_file_is_converted_with_all_its_texts(tmp_path: Path) -> None:
    problem = {
        "problem_content": "看图![](new.png)和[IMAGE_1]",
        "problem_content_list": ["甲![](two.png)", "乙"],
        "img_paths": ["old.png"],
        "knowledge": ["图"],
    }
    path = tmp_path / "problem.json"
    path.write_text(json.dumps({"x_1": problem}), encoding="utf-8")
    assert main(["convert", str(path), "-o", str(tmp_path / "out.json")]) == 0
    assert load(tmp_path / "out.json")["x_1"] == {
        "problem_content": "看图[IMAGE_2]和[IMAGE_1]",
        "problem_content_list": ["甲[IMAGE_3]", "乙"],
        "img_paths": ["old.png", "new.png", "two.png"],
        "knowledge": ["图"],
    }


def test_any_other_text_is_converted_and_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "question.md"
    path.write_text("求和 ![](a.png)", encoding="utf-8")
    assert main(["convert", str(path)]) == 0
    found = {"text": "求和 [IMAGE_1]", "images": ["a.png"], "language": "zh"}
    assert json.loads(capsys.readouterr().out) == found


@pytest.mark.parametrize("content", ["{", "[]", '{"a": 3}', "[" * 100_000])
def test_a_file_that_cannot_be_converted_is_named(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "problem.json"
    path.write_text(content, encoding="utf-8")
    assert main(["convert", str(path)]) == 2
    assert "problem.json" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["merge a b -o c", "hard -j a -i b", "extract --prediction_file a", "convert a"])
def test_a_missing_file_is_named(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command.split()) == 2
    assert "a" in capsys.readouterr().err


@pytest.mark.parametrize(("lang", "count"), [("zh", None), ("en", 6)])
def test_the_tester_shows_answers_beside_the_right_ones(
    model: str, lang: str, count: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["test", "-m", "m", "-l", lang, "--api_url", model, "-k", "1", "--input_type", "2"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("answer:  B") + printed.count("answer: B") == len(Model.asked) > 5
    assert count is None or len(Model.asked) == count
    assert printed.count("right:") == printed.count("points:") == len(Model.asked)
    assert "points: 1/1" in printed
    assert "points: 0/1" in printed
    assert ("image_url" in json.dumps([body for body, _ in Model.asked])) == (lang == "zh")
    assert f"{len(Model.asked)} of {len(Model.asked)} questions answered" in printed


def test_the_tester_says_when_a_model_does_not_answer(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    Model.failing.add("*")
    assert main(["test", "-m", "m", "-l", "en", "--api_url", model]) == 3
    assert "0 of 6 questions answered" in capsys.readouterr().out
