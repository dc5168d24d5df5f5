"""The demo on a machine that has Python and make, and a real model in a run of a few samples."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor.cli import app

ROOT = Path(__file__).parents[2]
CLONED = ("src", "requirements", "Makefile", "pyproject.toml", "README.md", "LICENSE")


@pytest.mark.slow
@pytest.mark.model
def test_make_demo_installs_runs_and_leaves_a_report(tmp_path: Path) -> None:
    for name in CLONED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, tmp_path / name)
    environment = {**os.environ, "PROCTOR_STORE": str(tmp_path / "demo.db")}
    done = subprocess.run(["make", "demo"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / ".venv").is_dir()
    assert "30 / 30" in done.stdout
    assert "simple_python" in done.stdout
    page = (tmp_path / "proctor-demo.html").read_text(encoding="utf-8")
    assert "smollm2-135m" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "proctor run bfcl/simple_python --agent openai:MODEL" in done.stderr


@pytest.mark.slow
@pytest.mark.model
def test_a_real_model_runs_a_few_samples(tmp_path: Path) -> None:
    arguments = [
        "run",
        "bfcl/simple_python",
        "--agent",
        "local:smollm2-135m",
        "--first",
        "4",
        "--json",
        "--quiet",
        "--run",
        "r",
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.stderr
    summary = json.loads(result.stdout)
    assert summary["outcomes"] == {"scored": 4}
    assert summary["usage"]["output_tokens"] > 20
    again = CliRunner().invoke(app, ["run", "--run", "r", "--json", "--quiet"])
    assert json.loads(again.stdout)["estimates"] == summary["estimates"]


@pytest.mark.slow
@pytest.mark.model
def test_a_real_model_acts_in_a_conversation_of_several_turns() -> None:
    arguments = ["run", "bfcl/multi_turn_base", "--id", "multi_turn_base_3", "--agent", "local:smollm2-135m"]
    result = CliRunner().invoke(
        app, [*arguments, "--agent-set", "max_tokens=12", "--json", "--quiet", "--run", "turns"]
    )
    assert result.exit_code == 0, result.stderr
    summary = json.loads(result.stdout)
    assert summary["outcomes"] == {"scored": 1}
    assert summary["usage"]["requests"] >= 1
    shown = CliRunner().invoke(app, ["explain", "turns", "multi_turn_base_3"])
    assert "expected: calls" in shown.stdout
