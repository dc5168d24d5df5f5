"""Official result files written from a run, read back, and given to the official tool (a small stand-in)."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tiny_bfcl import write_data

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.trajectory import ToolStyle, Trajectory
from proctor.core.trial import Outcome, Trial, TrialFailure
from proctor_benchmarks.bfcl import export, official, replies, task

# Reads and writes where `bfcl evaluate --partial-eval` does; calls right what looks like calls.
TOOL = """
import json, os, pathlib, statistics, sys
command, *words = sys.argv[1:]
assert command == "evaluate" and "--partial-eval" in words
model, categories = (words[words.index(name) + 1] for name in ("--model", "--test-category"))
if model == "unknown":
    raise ValueError("Invalid model name 'unknown'.")
root = pathlib.Path(os.environ["BFCL_PROJECT_ROOT"])
results = root / "result" / model.replace("/", "_")
latencies = []
for file in results.rglob("BFCL_v4_*_result.json"):
    category = file.name.removeprefix("BFCL_v4_").removesuffix("_result.json")
    lines = [json.loads(line) for line in file.open()]
    assert len({line["id"] for line in lines}) == len(lines)
    latencies += [line["latency"] for line in lines if line["latency"] != 0]
    if category in categories.split(","):
        right = sum(str(line["result"]).startswith("[") for line in lines)
        to = root / "score" / file.relative_to(root / "result").parent / f"BFCL_v4_{category}_score.json"
        to.parent.mkdir(parents=True, exist_ok=True)
        header = {"accuracy": right / len(lines), "correct_count": right, "total_count": len(lines)}
        to.write_text(json.dumps(header) + "\\n" + json.dumps({"id": "x", "valid": False}) + "\\n")
if latencies:
    statistics.stdev(latencies)
"""


@pytest.fixture
def data(tmp_path: Path) -> str:
    return str(write_data(tmp_path / "package"))


@pytest.fixture
def samples(data: str) -> dict[str, Sample]:
    made = task("simple_python,irrelevance,live_relevance", data=data)
    assert isinstance(made.samples, list)
    return {sample.id: sample for sample in made.samples}


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "bin" / "bfcl"
    path.parent.mkdir()
    path.write_text(f"#!{sys.executable}\n{TOOL}")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(path.parent))
    return path


def trial(sample_id: str, trajectory: Trajectory, outcome: Outcome = "scored", **fields: Any) -> Trial:
    return Trial(run_id="r", sample_id=sample_id, outcome=outcome, trajectory=trajectory, **{"seconds": 0.5, **fields})


def answers(samples: dict[str, Sample], *texts: str) -> list[tuple[Sample, Trial]]:
    pairs = zip(samples.items(), texts, strict=False)
    return [(sample, trial(id, Trajectory.of(text))) for (id, sample), text in pairs]


def test_files_have_the_official_layout_and_lines(samples: dict[str, Sample], tmp_path: Path) -> None:
    made = answers(samples, "[a()]", "[b()]", "No.", "[c()]")
    paths = export.write(reversed(made), tmp_path, "org/model")
    assert [str(path.relative_to(tmp_path)) for path in paths] == [
        "result/org_model/non_live/BFCL_v4_simple_python_result.json",
        "result/org_model/non_live/BFCL_v4_irrelevance_result.json",
        "result/org_model/live/BFCL_v4_live_relevance_result.json",
    ]
    assert [json.loads(line) for line in paths[0].read_text().splitlines()] == [
        {"id": id, "result": result, "input_token_count": 0, "output_token_count": 0, "latency": 0.5}
        for id, result in (("simple_python_0", "[a()]"), ("simple_python_1", "[b()]"))
    ]


def test_lines_are_sorted_by_number(samples: dict[str, Sample], tmp_path: Path) -> None:
    sample = samples["simple_python_0"]
    ids = ("simple_python_10", "simple_python_9", "simple_python_100-2-3")
    made = [(Sample(id=id, turns=(), meta=sample.meta), trial(id, Trajectory.of("x"))) for id in ids]
    (path,) = export.write(made, tmp_path, "m")
    written = [json.loads(line)["id"] for line in path.read_text().splitlines()]
    assert written == ["simple_python_9", "simple_python_10", "simple_python_100-2-3"]


@pytest.mark.parametrize(
    "result",
    ["[geo.area(base=3.0)]", "", None, [{"geo_area": '{"base": 3.0}'}], [{"f": '{"x": NaN}'}, {"g": "[1"}], "é\n"],
)
def test_what_is_exported_reads_back_the_same(
    samples: dict[str, Sample], tmp_path: Path, data: str, result: Any
) -> None:
    tools: ToolStyle = "native" if isinstance(result, list) else "text"
    reply = replies.trajectory_of(result, tools)
    (path,) = export.write([(samples["simple_python_0"], trial("simple_python_0", reply))], tmp_path, "m")
    assert json.loads(path.read_text())["result"] == result
    ((_, back),) = replies.read(tmp_path / "result", {"data": data})
    assert isinstance(back, Trajectory)
    assert back.tools == tools
    assert [step.message for step in back.steps] == [step.message for step in reply.steps]


def test_failures_of_the_agent_are_written_and_those_of_others_are_not(
    samples: dict[str, Sample], tmp_path: Path
) -> None:
    first, second = samples["simple_python_0"], samples["simple_python_1"]
    failure = TrialFailure(kind="agent", reason="it raised")
    made = [
        (first, trial(first.id, Trajectory(), "agent_failed", failure=failure)),
        (first, trial(first.id, Trajectory.of("again"), attempt=1)),
        (second, trial(second.id, Trajectory(), "provider_failed", failure=failure)),
    ]
    (path,) = export.write(made, tmp_path, "m")
    (line,) = path.read_text().splitlines()
    assert json.loads(line)["result"] == "Error during inference: it raised"


def test_a_run_without_a_scored_trial_is_bad_input(samples: dict[str, Sample], tmp_path: Path) -> None:
    made = [(samples["irrelevance_0"], trial("irrelevance_0", Trajectory(), "skipped"))]
    with pytest.raises(BadInput, match="no scored trial"):
        export.write(made, tmp_path, "m")


def test_a_sample_of_another_task_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'fr' is not of a category of BFCL"):
        export.write([(Sample.ask("fr", "?"), trial("fr", Trajectory.of("x")))], tmp_path, "m")


@pytest.mark.parametrize("model", ["", "..", ".", "a\\b", "a\0b", "C:x"])
def test_a_model_name_cannot_lead_out_of_the_folder(samples: dict[str, Sample], tmp_path: Path, model: str) -> None:
    with pytest.raises(BadInput, match="cannot be the name of a folder"):
        export.write(answers(samples, "x"), tmp_path, model)


def test_slashes_and_dots_in_a_model_name_stay_inside(samples: dict[str, Sample], tmp_path: Path) -> None:
    (path,) = export.write(answers(samples, "x"), tmp_path, "../../evil")
    assert path.relative_to(tmp_path).parts[:2] == ("result", ".._.._evil")


@pytest.mark.usefixtures("tool")
def test_the_official_tool_accepts_an_export_and_its_numbers_come_back(
    samples: dict[str, Sample], tmp_path: Path
) -> None:
    export.write(answers(samples, "[a()]", "No.", "No."), tmp_path, "org/model")
    found = official.evaluate(tmp_path, "org/model", ["simple_python", "irrelevance"])
    assert found == {"simple_python": 0.5, "irrelevance": 0.0}


@pytest.mark.usefixtures("tool")
def test_one_latency_alone_is_left_out_as_the_official_tool_would_fail_on_it(
    samples: dict[str, Sample], tmp_path: Path
) -> None:
    export.write(answers(samples, "[a()]"), tmp_path, "m")
    assert official.evaluate(tmp_path, "m", ["simple_python"]) == {"simple_python": 1.0}


def test_without_the_official_tool_the_message_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bfcl_eval" / "data").mkdir(parents=True)  # as in a clone of its data
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delitem(sys.modules, "bfcl_eval", raising=False)
    with pytest.raises(BadInput, match="not installed"):
        official.evaluate(tmp_path, "m", ["simple_python"])


@pytest.mark.usefixtures("tool")
def test_a_failure_of_the_official_tool_is_told_in_its_words(samples: dict[str, Sample], tmp_path: Path) -> None:
    export.write(answers(samples, "x"), tmp_path, "unknown")
    with pytest.raises(BadInput, match="Invalid model name 'unknown'"):
        official.evaluate(tmp_path, "unknown", ["simple_python"])


@pytest.mark.usefixtures("tool")
def test_an_old_score_does_not_pass_for_a_new_one(tmp_path: Path) -> None:
    old = tmp_path / "score" / "m" / "non_live" / "BFCL_v4_simple_python_score.json"
    old.parent.mkdir(parents=True)
    old.write_text('{"accuracy": 1.0}\n')
    with pytest.raises(BadInput, match="wrote no score for simple_python"):
        official.evaluate(tmp_path, "m", ["simple_python"])
