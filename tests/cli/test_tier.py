"""proctor ci tier and proctor init ci: as a person calls them, and as the jobs that are written call them."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from proctor.cli import app

TASK = """
from proctor import Sample, Task


def task() -> Task:
    samples = [Sample.ask(str(n), f"Is {n} even?", target="no" if n % 2 else "yes") for n in range(60)]
    return Task(name="parity", samples=samples, scorers=["exact"])
"""
AGENT = """
def answer(question: str) -> str:
    return "yes" if int(question.split()[1]) % 2 == 0 else "no"


def wrong(question: str) -> str:
    return "perhaps"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))
    (tmp_path / "task.py").write_text(TASK)
    (tmp_path / "agent.py").write_text(AGENT)
    return tmp_path


def proctor(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def test_what_new_ci_writes_runs_as_it_is(project: Path) -> None:
    (project / "gate.toml").write_text('[[rule]]\nmetric = "accuracy"\nat_least = 0.8\n')
    written = proctor("init", "ci")
    assert written.exit_code == 0, written.output
    names = [
        "proctor.toml",
        "requirements.txt",
        ".github/workflows/proctor.yml",
        ".gitlab/proctor.yml",
        ".pre-commit-config.yaml",
    ]
    assert written.stdout.split() == names
    assert proctor("ci", "tier").stdout.splitlines()[0] == "smoke: ./task.py:task (5)"
    github: Any = yaml.safe_load((project / ".github" / "workflows" / "proctor.yml").read_text())
    gitlab: Any = yaml.safe_load((project / ".gitlab" / "proctor.yml").read_text())["proctor"]
    hook: Any = yaml.safe_load((project / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"][0]
    assert proctor(*shlex.split(hook["entry"])[1:]).exit_code == 0
    [step] = [one["run"] for one in github["jobs"]["tier"]["steps"] if "proctor ci tier" in one.get("run", "")]
    assert gitlab["script"][1:] == step.splitlines(), "both do the same"
    assert gitlab["artifacts"]["reports"]["junit"] == ".proctor/tier.xml"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(["sh", "-ec", step], env=os.environ | {"TIER": "standard", "PATH": path}, check=False)
    assert done.returncode == 0
    assert (project / ".proctor" / "tier.md").read_text().startswith("# GO: Tier standard")
    assert "<testsuite " in (project / ".proctor" / "tier.xml").read_text()


def test_new_ci_writes_over_nothing_and_shows_what_to_add(project: Path) -> None:
    (project / "proctor.toml").write_text('agent = "./agent.py:answer"\n')
    (project / ".pre-commit-config.yaml").write_text("repos: []\n")
    written = proctor("init", "ci")
    assert (project / "proctor.toml").read_text() == 'agent = "./agent.py:answer"\n'
    assert "[tiers.quick]" in written.stderr
    assert "entry: proctor ci tier smoke --quiet" in written.stderr
    again = proctor("init", "ci", str(project))
    assert again.stdout == ""


@pytest.mark.parametrize(("agent", "code", "decision"), [("answer", 0, "go"), ("wrong", 1, "no_go")])
def test_a_tier_decides_and_leaves_with_the_code_of_the_gate(
    project: Path, agent: str, code: int, decision: str
) -> None:
    (project / "gate.toml").write_text('[[rule]]\nmetric = "accuracy"\nat_least = 0.8\n')
    (project / "proctor.toml").write_text(
        '[tiers.quick]\ntasks = ["./task.py:task"]\nlimit = 40\ngate = "gate.toml"\n'
        '[tiers.plain]\ntasks = ["./task.py:task"]\nlimit = 4\n'
    )
    done = proctor("ci", "tier", "quick", "--agent", f"./agent.py:{agent}", "--json", "--quiet", "-o", "page.html")
    assert done.exit_code == code, done.output
    found = json.loads(done.stdout)
    assert (found["tier"], found["decision"], found["runs"][0]["gate"]["decision"]) == ("quick", decision, decision)
    assert "Tier quick" in (project / "page.html").read_text()
    plain = proctor("ci", "tier", "plain", "--agent", f"./agent.py:{agent}", "--quiet", "--json")
    assert (plain.exit_code, json.loads(plain.stdout)["decision"]) == (0, None)
    assert sum(json.loads(plain.stdout)["runs"][0]["taken_over"].values()) == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("ci tier quik --agent ./agent.py:answer", "Did you mean 'quick'"),
        ("ci tier quick", "--agent"),
        ("ci tier quick --agent ./agent.py:answer -o tier.pdf", "tier.pdf"),
    ],
)
def test_a_mistake_is_found_before_anything_is_run(project: Path, words: str, said: str) -> None:
    (project / "proctor.toml").write_text('[tiers.quick]\ntasks = ["./task.py:task"]\n')
    done = proctor(*shlex.split(words))
    assert (done.exit_code, said in done.stderr) == (2, True), done.output
    assert proctor("runs", "--json").stdout.strip() in ("[]", '{"runs": []}')
