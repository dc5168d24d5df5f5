"""The demo on a machine that has Python and make, and a real model in a conversation."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor.cli import app

ROOT = Path(__file__).parents[2]
STAMP = ".venv/.demo-stamp"
CLONED = ("packages", "requirements", "Makefile", "pyproject.toml", "README.md", "LICENSE")


FEWER = """
from proctor.cli import app, demo
demo.LIVE_QUESTIONS = 6
app(["demo", "--live", "--out", "proctor-demo.html"])
"""


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.parametrize("count", [6, pytest.param(30, marks=pytest.mark.torture)])
def test_make_demo_installs_runs_and_leaves_a_report(count: int, tmp_path: Path) -> None:
    """All of it under `--torture`; otherwise all but the last step, which is taken with a fifth of the samples."""
    for name in CLONED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("*.egg-info"))
        else:
            shutil.copy(source, tmp_path / name)
    # What is not imported is not compiled.
    environment = {**os.environ, "PROCTOR_STORE": str(tmp_path / "demo.db"), "PIP_COMPILE": "0"}
    commands = [["make", "demo"]] if count == 30 else [["make", STAMP], [".venv/bin/python", "-c", FEWER]]
    for command in commands:
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    last = subprocess.run(
        ["make", "--no-print-directory", "-n", "demo"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ".venv/bin/proctor demo --live --out proctor-demo.html" in last.stdout.splitlines()
    assert "98 MB" in last.stdout.splitlines()[0], "what is fetched is said before anything is"
    assert f"{count} / {count}" in done.stdout
    assert "simple_python" in done.stdout
    page = (tmp_path / "proctor-demo.html").read_text(encoding="utf-8")
    assert "smollm2-135m" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "The percentages alone say: " in done.stdout
    assert re.search(r"warm-recorded − \S+: .* points, 95% interval ", " ".join(done.stdout.split()))
    assert "proctor init" in done.stdout
    run = re.findall(r"^Run (\S+)\. ", done.stderr, re.MULTILINE)[0]
    _assert_resumed_as_it_was(run, tmp_path / "demo.db", count)


def _assert_resumed_as_it_was(run: str, store: Path, count: int) -> None:
    """The run was one of a real model; resumed, nothing of it is asked again."""
    of_store = ["--store", str(store), "--json"]
    summary = json.loads(CliRunner().invoke(app, ["show", run, *of_store]).stdout)
    assert summary["outcomes"] == {"scored": count}
    assert summary["usage"]["output_tokens"] > 5 * count
    again = CliRunner().invoke(app, ["run", "--run", run, "--quiet", *of_store])
    assert again.exit_code == 0, again.stderr
    assert json.loads(again.stdout)["estimates"] == summary["estimates"]


@pytest.mark.model
@pytest.mark.torture
def test_a_real_model_acts_in_a_conversation_of_several_turns() -> None:
    arguments = ["run", "bfcl/multi_turn_base", "--id", "multi_turn_base_3", "--agent", "local:smollm2-135m"]
    result = CliRunner().invoke(
        app, [*arguments, "--agent-set", "max_tokens=12", "--json", "--quiet", "--run", "turns"]
    )
    assert result.exit_code == 0, result.stderr
    summary = json.loads(result.stdout)
    assert summary["outcomes"] == {"scored": 1}
    assert summary["usage"]["requests"] >= 1
    shown = CliRunner().invoke(app, ["runs", "explain", "turns", "multi_turn_base_3"])
    assert "expected: calls" in shown.stdout
