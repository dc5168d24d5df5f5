"""Model cards and result files in the form of the hub, checked with its own classes."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import ModelCard, parse_eval_result_entries
from msgspec.structs import replace

from proctor import Sample, Task, evaluate
from proctor.api import Run, files
from proctor.core.errors import BadInput
from proctor.core.run import IMPORTED


def made(provenance: dict[str, Any] | None = None, *, right: int = 6, task: str = "capitals") -> Run:
    samples = [
        Sample.ask(f"s{n}", f"{n}?", target="Paris" if n < right else "Rome", tags={"kind": "a"}) for n in range(10)
    ]
    found = Task(name=task, samples=samples, scorers=["exact"], provenance=provenance or {})
    return evaluate(found, agent=lambda question: "Paris", store=":memory:", run_id="r")


def test_the_card_is_read_by_the_hub_s_own_class(tmp_path: Path) -> None:
    assert files.export(made(), "model-card", str(tmp_path), model="org/m") == [tmp_path / "README.md"]
    card = ModelCard.load(tmp_path / "README.md")
    [result] = card.data.eval_results
    assert (card.data.model_name, result.metric_type, result.metric_value) == ("org/m", "accuracy", 0.6)
    assert result.metric_args["scored"] == 10
    assert 0 < result.metric_args["low"] < 0.6 < result.metric_args["high"] < 1
    assert "interval" in result.metric_name
    assert "| capitals | accuracy | 0.6 |" in card.text


def test_a_card_that_is_there_keeps_its_words_and_other_results(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("---\nlicense: mit\n---\n# My model\n\nWords of mine.\n", encoding="utf-8")
    for run in (made(right=2), made(task="rivers"), made(right=6), made(right=6)):
        files.export(run, "model-card", str(tmp_path), model="org/m")
    card = ModelCard.load(readme)
    values = {result.dataset_name: result.metric_value for result in card.data.eval_results}
    assert len(card.data.eval_results) == 2
    assert values == {"capitals": 0.6, "rivers": 0.6}
    assert card.data.license == "mit"
    assert card.text == "# My model\n\nWords of mine.\n"


def test_a_data_set_of_the_hub_gets_a_result_file(tmp_path: Path) -> None:
    run = made({"data_set": "cais/hle", "revision": "5503434d"}, task="hub:cais/hle")
    _, path = files.export(run, "model-card", str(tmp_path))
    assert path == tmp_path / ".eval_results" / "hub-cais-hle.yaml"
    [entry] = parse_eval_result_entries(yaml.safe_load(path.read_text(encoding="utf-8")))
    assert (entry.dataset_id, entry.task_id, entry.value, entry.dataset_revision) == (
        "cais/hle",
        "default",
        0.6,
        "5503434d",
    )
    assert "10 of 10 scored" in str(entry.notes)


def test_hostile_names_stay_names(tmp_path: Path) -> None:
    run = made({"data_set": "../../etc"}, task="a|b\n---\n<script>alert(1)</script>: [x](y)")
    hostile = Run(replace(run.record, agent="m: }\n- <b>"), run.store)
    assert files.export(hostile, "model-card", str(tmp_path)) == [tmp_path / "README.md"]
    card = ModelCard.load(tmp_path / "README.md")
    assert card.data.eval_results[0].dataset_name == run.record.task
    assert "<script>" not in card.text


@pytest.mark.parametrize(
    "text",
    ["---\nmodel-index: 7\n---\n", "---\n- a\n---\n", "---\n{a: [\n---\n", "---\nmodel-index:\n- results: [{}]\n---\n"],
)
def test_a_card_of_another_form_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match="is no model card"):
        files.export(made(), "model-card", str(tmp_path))
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == text


def test_results_of_other_parts_and_metrics_of_a_data_set_stay(tmp_path: Path) -> None:
    for task in ("hub:cais/mmlu/anatomy", "hub:cais/mmlu/virology", "hub:cais/mmlu/anatomy"):
        files.export(made({"data_set": "cais/mmlu"}, task=task), "model-card", str(tmp_path))
    readme = tmp_path / "README.md"
    card = ModelCard.load(readme)
    assert {one.dataset_name for one in card.data.eval_results} == {"hub:cais/mmlu/anatomy", "hub:cais/mmlu/virology"}
    for one in card.data.eval_results:
        one.metric_type = "f1"
    readme.write_text(str(card), encoding="utf-8")
    files.export(made({"data_set": "cais/mmlu"}, task="hub:cais/mmlu/anatomy"), "model-card", str(tmp_path))
    found = ModelCard.load(readme).data.eval_results
    assert sorted(one.metric_type for one in found) == ["accuracy", "f1", "f1"]


def test_an_imported_run_without_a_date_was_measured_by_the_other_program(tmp_path: Path) -> None:
    run, about = made(), {"data_set": "cais/hle", "continue_from": IMPORTED, "imported_from": "inspect"}
    undated = Run(replace(run.record, created=0.0, provenance=about), run.store)
    readme, entry = files.export(undated, "model-card", str(tmp_path))
    assert "Measured with inspect, run r." in readme.read_text(encoding="utf-8")
    assert "date" not in yaml.safe_load(entry.read_text(encoding="utf-8"))[0]
