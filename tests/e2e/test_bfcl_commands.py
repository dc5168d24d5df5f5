"""BFCL from the command line: run, export in the official layout, score the export, check parity."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor.cli import app

CORPUS = Path(__file__).parents[1] / "data" / "bfcl_verdicts.jsonl.gz"


def proctor(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.stderr
    return result.stdout if code == 0 else result.stdout + result.stderr


def values(out: str) -> dict[str, float]:
    return {f"{one['name']} {one['slice']}".strip(): one["value"] for one in json.loads(out)["estimates"]}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("agent", "value"), [("baseline:oracle", 1.0), ("baseline:null", 0.0), ("baseline:echo", 0.0)])
def test_an_oracle_is_right_and_one_that_says_nothing_is_wrong(agent: str, value: float) -> None:
    out = proctor(
        "run", "bfcl/simple_python,parallel,live_simple", "--agent", agent, "--limit", "30", "--json", "--quiet"
    )
    found = values(out)
    assert found["accuracy"] == value
    assert found["accuracy category=parallel"] == value
    assert json.loads(out)["outcomes"] == {"scored": 30}


def test_saying_nothing_is_right_where_no_call_is_wanted() -> None:
    out = proctor("run", "bfcl/irrelevance", "--agent", "baseline:null", "--first", "20", "--json", "--quiet")
    assert values(out)["accuracy"] == 1.0


@pytest.mark.parametrize("mode", ["native", "prompt"])
def test_an_export_scores_as_the_run_did(folder: Path, mode: str) -> None:
    task = "bfcl/simple_python,simple_java,irrelevance"
    run = [
        "run",
        task,
        "--agent",
        "baseline:random",
        "--set",
        f"mode={mode}",
        "--limit",
        "60",
        "--run",
        "r",
        "--json",
        "--quiet",
    ]
    before = values(proctor(*run))
    proctor(
        "runs",
        "export",
        "r",
        "--format",
        "bfcl",
        "--out",
        "out",
        "--model",
        "org/model-FC" if mode == "native" else "org/model",
    )
    files = sorted(path.relative_to(folder / "out").as_posix() for path in (folder / "out").rglob("*.json"))
    name = "org_model-FC" if mode == "native" else "org_model"
    assert files[0] == f"result/{name}/non_live/BFCL_v4_irrelevance_result.json"
    after = values(proctor("score", task, "--replies", "out/result", "--json"))
    for category in ("simple_python", "simple_java", "irrelevance"):
        assert before[f"accuracy category={category}"] == after[f"accuracy category={category}"]


def test_what_was_not_run_is_named_and_the_official_number_stands_beside(folder: Path) -> None:
    proctor("run", "bfcl/single_turn", "--agent", "baseline:oracle", "--limit", "20", "--run", "r", "--quiet")
    out = proctor("show", "r")
    assert "official tool" in out
    assert "not run" in out


def test_parity_says_how_many_agree_and_fails_on_one_that_differs(folder: Path) -> None:
    with gzip.open(CORPUS, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for _, line in zip(range(50), file, strict=False)]
    good = folder / "good.jsonl"
    good.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    checked = proctor("data", "parity", "bfcl", str(good)).splitlines()[-1]
    assert checked.startswith("50 checked, ")
    assert ", 0 differ, " in checked
    mine = next(line for line in lines if line["category"] == "simple_python" or "multi" not in line["category"])
    mine["valid"] = not mine["valid"]
    good.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    out = proctor("data", "parity", "bfcl", str(good), code=1)
    assert "1 differ" in out
    assert mine["id"] in out
    (folder / "empty.jsonl").write_text("", encoding="utf-8")
    proctor("data", "parity", "bfcl", str(folder / "empty.jsonl"), code=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "bfcl/simple_pyhton", "--agent", "baseline:null"], "simple_python"),
        (["run", "bfcl", "--agent", "baseline:null", "--set", "data=/nowhere"], "/nowhere"),
        (["run", "bfcl", "--agent", "baseline:null", "--set", "mode=nativ"], "native"),
        (["run", "bfcl/simple_python", "--agent", "local:smolm2"], "smollm2-135m"),
        (["run", "bfcl/simple_python", "--agent", "local:./agent.gguf"], "agent.gguf"),
        (["score", "bfcl", "--replies", "."], "result"),
        (["data", "parity", "bfc", "x.jsonl"], "bfcl"),
        (["data", "pull", "bfc"], "bfcl"),
        (["data", "models", "pull", "smollm"], "smollm2-135m"),
    ],
)
def test_what_a_person_gets_wrong_is_named(arguments: list[str], message: str) -> None:
    assert message in proctor(*arguments, code=2)


def test_the_data_are_fetched_once_and_found_again() -> None:
    first = proctor("data", "pull", "bfcl").strip()
    assert (Path(first) / "data" / "BFCL_v4_simple_python.json").is_file() or list(
        Path(first).rglob("BFCL_v4_simple_python.json")
    )
    assert proctor("data", "pull", "bfcl").strip() == first
