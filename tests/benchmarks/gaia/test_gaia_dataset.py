"""GAIA's files: both layouts, what is wrong with a folder, and what the agent is shown."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hub_here import COMMIT, Hub, served

from proctor.core.errors import BadInput
from proctor.core.run import Estimate
from proctor.core.sample import File, Sample
from proctor.core.task import Task
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Trial
from proctor_benchmarks.gaia import export, hub, summary, task
from proctor_benchmarks.gaia.dataset import items
from proctor_benchmarks.gaia.prompt import system_prompt


def record(id: str = "a", **changes: Any) -> dict[str, Any]:
    base = {
        "task_id": id,
        "Question": f"Question {id}?",
        "Level": 1,
        "Final answer": "Paris",
        "file_name": "",
        "Annotator Metadata": {"Number of steps": "3", "Tools": "1. Web browser"},
    }
    return {**base, **changes}


def folder(tmp_path: Path, *records: dict[str, Any], split: str = "validation") -> Path:
    place = tmp_path / "2023" / split
    place.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)
    (place / "metadata.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def read(task: Task) -> list[Sample]:
    assert not callable(task.samples)
    return list(task.samples)


def test_levels_may_be_texts_and_the_placeholder_is_left_out(tmp_path: Path) -> None:
    root = folder(tmp_path, record("0-0-0-0-0"), record("a", Level="2"), record("b", Level=4))
    found = list(items(root, "validation"))
    assert [(item.id, item.level, item.steps) for item in found] == [("a", 2, 3), ("b", 4, 3)]
    assert [sample.id for sample in read(task(data=str(root), level="1,4"))] == ["b"]


def test_lower_case_spellings_are_read_too(tmp_path: Path) -> None:
    root = folder(tmp_path, {"task_id": "a", "question": "q", "level": 1, "final_answer": "x"})
    assert next(items(root, "validation")).answer == "x"


def test_the_parquet_layout_gives_the_same_items(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    place = tmp_path / "2023" / "validation"
    place.mkdir(parents=True)
    parquet.write_table(
        pyarrow.Table.from_pylist([record("a", Level="1"), record("b", Level="3")]), place / "metadata.parquet"
    )
    assert [(item.id, item.level, item.answer) for item in items(tmp_path, "validation")] == [
        ("a", 1, "Paris"),
        ("b", 3, "Paris"),
    ]


def test_the_test_split_has_no_targets(tmp_path: Path) -> None:
    root = folder(tmp_path, record("a", **{"Final answer": "?"}), split="test")
    assert read(task("test", data=str(root)))[0].target is None


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([record("a"), record("a")], "the id 'a' was used already"),
        ([record("a", Level="hard")], "the level 'hard' is no whole number"),
        ([{"task_id": "a", "Level": 1}], "the field 'Question' is missing"),
        ([record("a", file_name="gone.png")], "the attachment 'gone.png' is not in"),
        ([record("a", file_name="../../../secret.txt")], "lies outside the data folder"),
        ([record("a", file_name="/etc/hostname")], "lies outside the data folder"),
        ([record("a", Level=3)], "No question of level 1"),
    ],
)
def test_a_wrong_record_is_named_before_anything_is_called(
    tmp_path: Path, records: list[dict[str, Any]], message: str
) -> None:
    root = folder(tmp_path / "set", *records)
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        task(data=str(root), level=1 if "No question" in message else None)
    assert message in str(caught.value)


def test_a_truncated_line_and_a_wrong_folder_are_named(tmp_path: Path) -> None:
    root = folder(tmp_path, record("a"))
    metadata = root / "2023" / "validation" / "metadata.jsonl"
    metadata.write_text(metadata.read_text(encoding="utf-8") + '{"task_id": "b"', encoding="utf-8")
    with pytest.raises(BadInput, match=r"metadata\.jsonl, line 2"):
        task(data=str(root))
    with pytest.raises(BadInput, match="is no GAIA folder"):
        task(data=str(tmp_path / "elsewhere"))
    with pytest.raises(BadInput, match="splits validation and test"):
        task("train", data=str(root))  # type: ignore[arg-type]


def test_an_attachment_is_a_part_and_small_text_is_inlined_for_text_agents(tmp_path: Path) -> None:
    root = folder(tmp_path, record("a", file_name="data.csv"), record("b", file_name="image.png"))
    (root / "2023" / "validation" / "data.csv").write_text("city,people\nParis,2\n", encoding="utf-8")
    (root / "2023" / "validation" / "image.png").write_bytes(b"\x89PNG")
    made = task(data=str(root))
    assert made.present is not None
    csv, image = (made.present(sample).turns[0] for sample in read(made))
    assert any(isinstance(part, File) and part.name == "data.csv" for part in csv.messages[1].parts)
    assert csv.as_text is not None
    assert image.as_text is not None
    assert "city,people" in csv.as_text[1].text
    assert "image/png" in image.as_text[1].text
    assert csv.messages[0].text.startswith("You are a general AI assistant.")


def test_the_system_prompt_is_the_published_one() -> None:
    words = " ".join(system_prompt().split())
    assert len(words) == 727
    assert hashlib.sha256(words.encode()).hexdigest().startswith("60febcce2825942754e124cd07ce99757526012c0a1003eb")


def test_the_export_has_a_line_for_every_question(tmp_path: Path) -> None:
    sample = Sample.ask("a", "?", target="Paris")
    answered = Trial(run_id="r", sample_id="a", outcome="scored", trajectory=Trajectory.of("So. FINAL ANSWER: Paris"))
    failed = Trial(run_id="r", sample_id="b", outcome="provider_failed")
    lines, guide = export.write([(sample, answered), (Sample.ask("b", "?"), failed)], tmp_path / "out", "m")
    rows = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    assert [(row["task_id"], row["model_answer"]) for row in rows] == [("a", "Paris"), ("b", "")]
    assert "| questions | 2 |" in guide.read_text(encoding="utf-8")


def test_the_drop_between_levels_is_relative_and_undefined_at_zero() -> None:
    rates = [
        Estimate(name="accuracy", slice=f"level={level}", value=value)
        for level, value in ((1, 0.8), (2, 0.4), (3, 0.0), (4, 0.0))
    ]
    drops = [one for one in summary.summarise(rates, list) if one.name == "drop"]
    assert [drop.value for drop in drops] == [pytest.approx(0.5), 1.0, None]
    assert drops[2].note == "undefined"


def test_the_drop_has_an_interval_or_says_why_not() -> None:
    def rate(level: int, value: float, low: float | None, high: float | None) -> Estimate:
        return Estimate(name="accuracy", slice=f"level={level}", value=value, low=low, high=high)

    rates = [rate(1, 0.8, 0.7, 0.9), rate(2, 0.4, 0.3, 0.5), rate(3, 0.1, 0.0, 0.3), rate(4, 0.1, None, None)]
    sure, wide, unknown = [one for one in summary.summarise(rates, list) if one.name == "drop"]
    assert sure.low is not None
    assert sure.high is not None
    assert 0.3 < sure.low < 0.5 < sure.high < 0.7
    assert wide.low is not None
    assert (unknown.low, unknown.method) == (None, "no interval: the first rate may be 0")


@pytest.fixture
def hub_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    lines = json.dumps(record("a")).encode()
    made = Hub({hub.DATA_SET: {"2023/validation/metadata.jsonl": lines}}, token="good")
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PROCTOR_GAIA_DATA", raising=False)
    with served(made) as url:
        monkeypatch.setenv("HF_ENDPOINT", url)
        yield made


def test_the_hub_is_asked_once_with_the_users_token(hub_server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "good")
    assert [sample.id for sample in read(task())] == ["a"]
    monkeypatch.delenv("HF_TOKEN")
    folder, source = hub.locate()
    assert folder.is_dir()
    assert source.items() <= task().provenance.items()
    assert source["revision"] == COMMIT
    with pytest.raises(BadInput, match="for data of the hub"):
        task(data="example", revision="main")


def test_without_access_the_message_says_what_to_do_and_not_the_token(
    hub_server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    with pytest.raises(BadInput, match="set HF_TOKEN"):
        task()
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    with pytest.raises(BadInput, match=r"refuses access .*401") as caught:
        task()
    assert "hf_wrong" not in str(caught.value)


def test_a_file_name_from_the_hub_cannot_leave_the_folder(
    hub_server: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_TOKEN", "good")
    hub_server.sets[hub.DATA_SET] = {"../../outside.txt": b"x"}
    with pytest.raises(BadInput, match="outside the data folder"):
        task()
    assert not list(tmp_path.rglob("outside.txt"))
