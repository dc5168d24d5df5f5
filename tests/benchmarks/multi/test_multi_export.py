"""The files of the original, written from a run and read back."""

import csv
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tiny_multi import folder, problem, samples

from proctor import evaluate, score
from proctor.api import files
from proctor.chat.messages import to_messages
from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.trajectory import Trajectory, Usage
from proctor.core.trial import Trial, TrialFailure
from proctor_benchmarks.multi import PART, export, tables, task
from proctor_benchmarks.multi.predictions import predictions

SET = {
    "x_1": problem(contents=["甲", "乙"], types=["单选", "多选"], answers=["A", "ABC"]),
    "a_1": problem(
        contents=["丙[IMAGE_1]", "丁"],
        types=["填空", "解答"],
        answers=["5\n6", "发展经济"],
        img_paths=["i.png"],
        subject=["驾考"],
    ),
}
REPLIES = {"x_1_0": "A", "x_1_1": "AB", "a_1_0": "缺少图片信息", "a_1_1": "发展经济"}


def trials(root: Path) -> list[tuple[Sample, Trial]]:
    found = samples(task("all", data=str(folder(root, SET, images=["i.png"])), input_type=2))
    return [
        (
            sample,
            Trial(
                run_id="r",
                sample_id=sample.id,
                outcome="scored",
                trajectory=Trajectory.of(REPLIES[sample.id]),
                usage=Usage(input_tokens=7, output_tokens=2),
            ),
        )
        for sample in found
    ]


def written(tmp_path: Path) -> Path:
    export.write(trials(tmp_path / "data"), tmp_path / "out", "m")
    return tmp_path / "out"


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_predictions_have_the_keys_of_the_original(tmp_path: Path) -> None:
    found = load(written(tmp_path) / "prediction.json")
    assert list(found) == ["a_1_0", "a_1_1", "x_1_0", "x_1_1"]
    one = found["a_1_0"]
    assert {key: one[key] for key in ("question_id", "question_image_number", "image_list", "prediction")} == {
        "question_id": "a_1_0",
        "question_image_number": 1,
        "image_list": ["i.png"],
        "prediction": "缺少图片信息",
    }
    assert (one["prompt_tokens"], one["completion_tokens"]) == (7, 2)
    assert "丙[IMAGE_1]<image i.png>" in one["input_message"]


def test_scores_and_details_are_the_official_ones(tmp_path: Path) -> None:
    out = written(tmp_path)
    assert load(out / "score.json") == {
        "a_1_0": {"question_id": "a_1_0", "score": 0, "total_score": 2},
        "a_1_1": {"question_id": "a_1_1", "score": 0.999999995, "total_score": 1},
        "x_1_0": {"question_id": "x_1_0", "score": 1, "total_score": 1},
        "x_1_1": {"question_id": "x_1_1", "score": 2, "total_score": 3},
    }
    detail = load(out / "detail.json")["x_1_1"]
    assert (detail["answer"], detail["type"], detail["education"], detail["subject"], detail["analysis"]) == (
        "ABC",
        "多选",
        "初中",
        "初中数学",
        "",
    )


def test_the_statistics_hold_every_cell_of_each_subject(tmp_path: Path) -> None:
    text = (written(tmp_path) / "statistics.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == 2 * 4 * 3
    assert list(rows[0]) == ["education", "subject", "type", "image", "qs_count", "qs_correct", "qs_total", "qs_score"]
    filled = [row for row in rows if row["qs_count"] != "0"]
    assert [(row["education"], row["type"], row["image"], row["qs_total"], row["qs_score"]) for row in filled] == [
        ("JuH", "SA", "NI", "1", "1"),
        ("JuH", "MA", "NI", "3", "2"),
        ("Driving", "FB", "SI", "2", "0"),
        ("Driving", "OP", "NI", "1", "0.999999995"),
    ]


def test_the_summary_holds_the_official_tables_and_block(tmp_path: Path) -> None:
    text = (written(tmp_path) / "summary.md").read_text(encoding="utf-8")
    assert text.startswith("Absolute Score: 4.00/7, 57.14%\n")
    assert "| MA | 0/1 | 2.000/3 | 66.7 (Acc. 0.0) |" in text
    assert "| Driving | 0/2 | 1.000/3 | 33.3 |" in text
    assert "Rejected (SI): 2 points, 100.0% of this run; 0.0% of 8540" in text
    found = re.search(r"```json\n(.*?)\n```", text, re.DOTALL)
    assert found is not None
    assert json.loads(found[1]) == {
        "Overall": 57.1,
        "Education": {"JuH": 75.0, "Driv": 33.3},
        "Image": {"NI": 80.0, "SI": 0.0},
        "Type": {"SA": 100.0, "MA": 66.7, "MAAcc": 0.0, "FB": 0.0, "OP": 100.0},
    }


def test_the_leaderboard_entry_has_the_official_fields(tmp_path: Path) -> None:
    entry = load(written(tmp_path) / "leaderboard.json")["data"][0]
    assert list(entry) == [
        "Model",
        "Creator",
        "Version",
        "Url",
        "VersionUrl",
        "Date",
        "# Paras",
        "Form",
        "Modality",
        "MULTI",
    ]
    assert (entry["Model"], entry["MULTI"]["Overall"]) == ("m", 57.1)


def test_failures_of_the_agent_are_empty_answers_and_others_are_left_out(tmp_path: Path) -> None:
    found = trials(tmp_path / "data")
    failed = [
        (
            found[0][0],
            Trial(run_id="r", sample_id="x_1_0", outcome="agent_failed", failure=TrialFailure(kind="x", reason="y")),
        ),
        (found[1][0], Trial(run_id="r", sample_id="x_1_1", outcome="provider_failed")),
        (found[2][0], Trial(run_id="r", sample_id="a_1_0", outcome="scored", attempt=1)),
    ]
    export.write(failed, tmp_path / "out", "m")
    assert {id: one["prediction"] for id, one in load(tmp_path / "out" / "prediction.json").items()} == {"x_1_0": ""}
    with pytest.raises(BadInput, match="no scored trial"):
        export.write(failed[1:], tmp_path / "out", "m")
    with pytest.raises(BadInput, match="not of MULTI"):
        export.write([(Sample.ask("q", "?"), failed[0][1])], tmp_path / "out", "m")


def test_without_answers_only_predictions_are_written(tmp_path: Path) -> None:
    root = folder(tmp_path / "data", {"a_1": problem(contents=["甲"], types=["单选"])})
    trial = Trial(run_id="r", sample_id="a_1_0", outcome="scored", trajectory=Trajectory.of("A"))
    paths = export.write([(samples(task(data=str(root)))[0], trial)], tmp_path / "out", "m")
    assert [path.name for path in paths] == ["prediction.json", "submission.zip"]
    with zipfile.ZipFile(paths[1]) as archive:
        assert archive.namelist() == ["prediction.json"]
        assert archive.read("prediction.json") == paths[0].read_bytes()


def test_an_export_scored_again_earns_the_same(tmp_path: Path) -> None:
    run = evaluate("multi/all", agent="baseline:oracle", options={"data": "sample"}, store=":memory:")
    assert run.estimate("points").value == pytest.approx(1, abs=1e-8)
    assert run.estimate("score", slice="type=SA").scored == 14
    files.export(run, "multi", str(tmp_path / "out"))
    again = score("multi/all", replies=tmp_path / "out", options={"data": "sample"}, store=":memory:")
    assert again.estimate("points").value == run.estimate("points").value


def test_replies_may_be_null_lists_or_blocked_and_those_to_other_questions_are_passed_over(tmp_path: Path) -> None:
    root = folder(tmp_path / "data", SET)
    file = tmp_path / "prediction.json"
    lines = {
        "x_1_0": {"question_id": "x_1_0", "prediction": ["A", "I think it is A"]},
        "x_1_1": {"question_id": "x_1_1", "prediction": None},
        "a_1_0": {"question_id": "a_1_0", "prediction": "", "feedback": "content policy", "prompt_tokens": 3},
        "gone_0": {"question_id": "gone_0", "prediction": "A"},
    }
    file.write_text(json.dumps(lines), encoding="utf-8")
    assert PART.replies is not None
    found = dict(PART.replies(tmp_path, {"data": str(root)}))
    assert {id: (one.answer, one.stop) for id, one in found.items() if isinstance(one, Trajectory)} == {
        "x_1_0": ("A", "done"),
        "x_1_1": ("", "empty"),
        "a_1_0": ("", "filtered"),
    }
    with pytest.raises(BadInput, match="no prediction for a question"):
        PART.replies(tmp_path, {"data": str(root), "category": "OP"})


def test_of_an_unfinished_run_the_fullest_checkpoint_is_read(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").mkdir()
    for name, count in (("prediction_last", 1), ("checkpoints/prediction_4", 4), ("checkpoints/prediction_10", 2)):
        lines = {f"q_{n}": {"question_id": f"q_{n}", "prediction": "A"} for n in range(count)}
        (tmp_path / f"{name}.json").write_text(json.dumps(lines), encoding="utf-8")
    assert len(predictions(tmp_path)) == 4


@pytest.mark.parametrize("text", ["[]", "{", '{"a": {"prediction": "x"}}', '{"a": 1}', "\ud800"])
def test_predictions_in_another_layout_are_named(text: str, tmp_path: Path) -> None:
    file = tmp_path / "prediction.json"
    file.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    with pytest.raises(BadInput, match=r"prediction\.json"):
        predictions(tmp_path)


def test_a_folder_without_predictions_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"holds no prediction\.json"):
        predictions(tmp_path)


def test_rejections_name_what_was_lost_in_each_class() -> None:
    row = tables.Scored(
        id="q", problem="q", education="JuH", subject="s", type="MA", image="NI", score=0, total=3, rejected=True
    )
    assert tables.rejections([row]) == ["Rejected (NI): 3 points, 100.0% of this run"]
    assert tables.rejections([]) == []
    assert tables.summary([]).startswith("Absolute Score: 0.00/0, -")


def test_images_reach_an_openai_model_as_parts() -> None:
    sample = next(one for one in samples(task(data="sample", input_type=2)) if one.tags["image"] == "MI")
    content = to_messages(sample.turns[0].messages, {})[-1]["content"]
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    assert len(urls) == sample.meta["images"]
    assert all(url.startswith("data:image/png;base64,iVBOR") for url in urls)


def test_options_add_scorers(tmp_path: Path) -> None:
    file = tmp_path / "reference.json"
    file.write_text(json.dumps({"czsx_1_0": {"question_id": "czsx_1_0", "prediction": "B"}}), encoding="utf-8")
    options = {"data": "sample", "scoring": "both", "rejections": True, "reference": str(file)}
    run = evaluate(
        "multi", agent=lambda question: "缺少图片信息", options=options, store=":memory:", ids=["czsx_1_0", "jk_1_0"]
    )
    assert run.estimate("rejected.accuracy").value == 1
    assert run.estimate("improvement.accuracy").value == 1
    assert run.estimate("improvement.accuracy").scored == 1
    assert run.estimate("multi.accuracy").value == 0
    assert run.estimate("fair.accuracy").value == 0
