"""`python -m proctor_compat.multi metrics` and `eval`, with the flags of the original."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from proctor_benchmarks.multi import dataset
from proctor_compat.multi import EvaluateFuncDict
from proctor_compat.multi.__main__ import main

PROBLEMS = {
    "x_1": {
        "subject": ["驾考"],
        "education": "社会",
        "problem_content": "题[IMAGE_1]",
        "problem_content_list": ["甲", "乙", "丙"],
        "problem_type_list": ["单选", "多选", "论述"],
        "problem_answer_list": ["A", "AB", "x"],
        "problem_analysis_list": ["因为", "", ""],
        "knowledge": [],
        "img_paths": ["gone.png"],
    }
}
SAMPLE = str(dataset.locate("sample").problems)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "problem.json"
    path.write_text(json.dumps(PROBLEMS), encoding="utf-8")
    return path


def predicted(folder: Path, **answers: Any) -> Path:
    folder.mkdir(exist_ok=True)
    lines = {id: {"question_id": id, "question_image_number": 1, "prediction": text} for id, text in answers.items()}
    (folder / "prediction.json").write_text(json.dumps(lines), encoding="utf-8")
    return folder / "prediction.json"


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_metrics_writes_the_files_and_prints_the_figures(
    labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = predicted(tmp_path / "run", x_1_0="A", x_1_1="缺少图片信息", x_1_2="x", y_1_0="A")
    reference = predicted(tmp_path / "other", x_1_0="B", x_1_1="AB")
    arguments = [
        "--label_file",
        str(labels),
        "--prediction_file",
        str(file),
        "--reference_file",
        str(reference),
        "--detail",
    ]
    assert main(["metrics", *arguments, "--answer_position", "end"]) == 0
    printed = capsys.readouterr().out
    assert "Absolute Score: 1.00/3, 33.33%" in printed
    assert "Improvement Score: 2.00/3, 66.67%" in printed
    assert "Rejected (SI): 2 points" in printed
    assert "Unknown type '论述': 1 questions" in printed
    assert "1 predictions belong to no problem" in printed
    assert load(tmp_path / "run" / "score.json")["x_1_1"] == {"question_id": "x_1_1", "score": 0, "total_score": 2}
    detail = load(tmp_path / "run" / "detail.json")["x_1_0"]
    assert (detail["analysis"], detail["answer"], detail["question_image_number"]) == ("因为", "A", 1)
    assert (tmp_path / "run" / "summary.md").is_file()
    assert "Driving,驾考,SA,SI,1,1,1,1" in (tmp_path / "run" / "statistics.csv").read_text(encoding="utf-8")
    assert main(["metrics", "--score_file", str(tmp_path / "run" / "score.json")]) == 0
    assert "Absolute Score: 1.00/3" in capsys.readouterr().out


def test_metrics_uses_functions_that_users_registered(
    labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EvaluateFuncDict, "论述", lambda pred, label, args: (len(pred), 5, 3))
    file = predicted(tmp_path / "run", x_1_2="abc")
    assert main(["metrics", "--label_file", str(labels), "--prediction_file", str(file)]) == 0
    assert "Absolute Score: 3.00/5" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["metrics"], "--prediction_file and --label_file"),
        (["metrics", "--label_file", "gone.json", "--prediction_file", "gone.json"], "gone.json"),
        (["metrics", "--score_file", "gone.json"], "gone.json"),
        (["eval"], "--problem_file and --model"),
        (["eval", "--checkpoint_dir", "gone"], "no folder gone"),
        (["train"], "usage"),
        ([], "usage"),
    ],
)
def test_bad_input_is_named_and_ends_with_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_nothing_to_score_is_no_division_by_zero(
    labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = predicted(tmp_path / "run", x_1_2="abc")
    assert main(["metrics", "--label_file", str(labels), "--prediction_file", str(file), "--detail"]) == 0
    assert "Absolute Score: 0.00/0, -" in capsys.readouterr().out


class Model(BaseHTTPRequestHandler):
    asked: ClassVar[list[Any]] = []
    status = 200

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((body, self.headers.get("Authorization")))
        reply = {
            "choices": [{"message": {"content": "B"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 1},
        }
        data = json.dumps(reply if self.status == 200 else {"error": {"message": "no"}}).encode()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(Model, "asked", [])
    monkeypatch.setattr(Model, "status", 200)
    monkeypatch.setenv("OPENAI_API_KEY", "old")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    server.shutdown()
    server.server_close()


def asking(url: str, out: Path, *more: str) -> list[str]:
    flags = [
        "eval",
        "--problem_file",
        SAMPLE,
        "-m",
        "m",
        "--api_url",
        url,
        "--api_key",
        "sk-hidden",
        "--output_dir",
        str(out),
    ]
    return [*flags, "--questions_type", "0", "--eval_num", "3", "-n", "2", *more]


def test_eval_asks_and_writes_the_folder_without_the_key(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(asking(model, tmp_path, "--exp_name", "e", "--input_type", "2", "-k", "1", "--cot")) == 0
    folder = next(tmp_path.iterdir())
    assert folder.name.startswith("e_m_input_2_shot_1_cot_")
    found = load(folder / "prediction.json")
    assert [one["prediction"] for one in found.values()] == ["B", "B", "B"]
    assert {one["prompt_tokens"] for one in found.values()} == {5}
    assert load(folder / "args.json")["few_shot"] == 1
    assert not any(b"sk-hidden" in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert {key for _, key in Model.asked} == {"Bearer sk-hidden"}
    assert "image_url" in json.dumps([body for body, _ in Model.asked])
    shown = capsys.readouterr().out
    assert "3 of 3 questions answered" in shown
    assert "tokens: 15 in, 3 out" in shown


def test_eval_goes_on_and_asks_nothing_twice(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(asking(model, tmp_path, "--output_name", "run")) == 0
    done = load(tmp_path / "run" / "prediction.json")
    first = next(iter(done))
    for name in ("run.db", "prediction.json"):
        (tmp_path / "run" / name).unlink()
    (tmp_path / "run" / "checkpoints").mkdir()
    (tmp_path / "run" / "checkpoints" / "prediction_1.json").write_text(
        json.dumps({first: done[first]}), encoding="utf-8"
    )
    Model.asked.clear()
    again = ["eval", "--checkpoint_dir", str(tmp_path / "run"), "--api_key", "sk-hidden"]
    assert main(again) == 0
    assert len(Model.asked) == 2
    assert list(load(tmp_path / "run" / "prediction.json")) == list(done)
    assert main(again) == 0
    assert len(Model.asked) == 2
    assert "answered already" in capsys.readouterr().out


def test_eval_with_a_refused_key_ends_with_2_and_keeps_a_file_to_go_on_with(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Model, "status", 401)
    assert main(asking(model, tmp_path, "--output_name", "run")) == 2
    assert load(tmp_path / "run" / "prediction_last.json") == {}
    assert not (tmp_path / "run" / "prediction.json").exists()


def test_debug_shows_the_first_prompt_and_asks_nothing(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(asking(model, tmp_path / "out", "--debug")) == 0
    shown = capsys.readouterr().out
    assert "3 questions" in shown
    assert "Input: 3 requests or more" in shown
    assert Model.asked == []
    assert not (tmp_path / "out").exists()


def test_an_adapter_with_generate_answer_is_asked_whole_questions(tmp_path: Path) -> None:
    code = (
        "class Adapter:\n"
        "    def generate_answer(self, question):\n"
        "        assert question['prompted_system_content'] and question['question_id']\n"
        "        parts = question.get('prompted_content_list') or [question['prompted_content']]\n"
        "        return {**question, 'prediction': f\"{len(parts)} {len(question.get('image_list', []))}\"}\n"
    )
    (tmp_path / "adapter.py").write_text(code, encoding="utf-8")
    arguments = [
        "--problem_file",
        SAMPLE,
        "-m",
        f"{tmp_path}/adapter.py:Adapter",
        "--output_dir",
        str(tmp_path / "out"),
    ]
    flags = ["--questions_type", "0", "--input_type", "2", "--in_turn", "--image_type", "2", "--eval_num", "1"]
    assert main(["eval", *arguments, *flags]) == 0
    found = load(next((tmp_path / "out").iterdir()) / "prediction.json")
    assert {one["prediction"] for one in found.values()} == {"3 3"}


FLAKY = """
class Flaky:
    calls = 0

    def __init__(self, api_url, api_key, model, device_map="auto"):
        assert (api_key, model, device_map) == ("sk-hidden", "m", "cuda:0")

    def generate_answer(self, question):
        Flaky.calls += 1
        if Flaky.calls == 2:
            raise ConnectionError("the service is gone")
        return {**question, "prediction": "B", "prompt_tokens": 7, "completion_tokens": 1}
"""


def test_a_question_whose_model_failed_is_told_and_asked_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "flaky.py").write_text(FLAKY, encoding="utf-8")
    flags = asking("http://127.0.0.1:9/v1", tmp_path, "--output_name", "run", "-c", "cuda:0", "-v", "m", "-n", "1")
    flags[flags.index("m")] = f"{tmp_path}/flaky.py:Flaky"
    assert main(flags) == 3
    out = capsys.readouterr().out
    assert "2 of 3 questions answered" in out
    assert "1 not answered:" in out
    assert "the service is gone" in out
    assert not (tmp_path / "run" / "prediction.json").exists()
    assert main(["eval", "--checkpoint_dir", str(tmp_path / "run"), "--api_key", "sk-hidden"]) == 0
    found = load(tmp_path / "run" / "prediction.json")
    assert [(one["prediction"], one["prompt_tokens"]) for one in found.values()] == [("B", 7)] * 3
    whole = sum(label == "B" for label in labels_of(found)) / 3
    assert f"score: {whole:.4f}" in capsys.readouterr().out  # of all three, not of the one asked last


def labels_of(found: dict[str, Any]) -> list[str | None]:
    return [question.label for question in dataset.questions(Path(SAMPLE)) if question.id in found]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("class A:\n    pass\n", "has no method generate_answer"),
        ("class A:\n    def __init__(self, weights): ...\n", "is made with weights; give --weights"),
        ("class A:\n    def __init__(self): raise RuntimeError('no GPU')\n", "cannot be made: RuntimeError: no GPU"),
    ],
)
def test_an_adapter_that_cannot_be_made_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], code: str, message: str
) -> None:
    (tmp_path / "a.py").write_text(code, encoding="utf-8")
    assert main(["eval", "--problem_file", SAMPLE, "-m", f"{tmp_path}/a.py:A", "--output_dir", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def test_the_models_that_can_be_asked_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "-l"]) == 0
    assert "openai-compatible" in capsys.readouterr().out
