"""proctor ci gate, proctor ci baseline and proctor init gate, as a person calls them."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

import proctor
from proctor import Sample, Task
from proctor.cli import app
from proctor_ci.gate import gate
from proctor_ci.policy import read_policy

HOSTILE = "<script>alert(1)</script>\x1b[31m"
POLICY = """
[[rule]]
metric = "accuracy"
at_least = 0.8

[[rule]]
metric = "accuracy"
not_worse_by = 0.02
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    samples = [Sample.ask(str(n), str(n), target="yes", tags={"kind": HOSTILE}) for n in range(60)]
    task = Task(name="t", samples=samples, scorers=["exact"])
    for name, right in (("old", 57), ("new", 58), ("bad", 20)):
        proctor.evaluate(
            task,
            agent=lambda question, right=right: "yes" if int(question) < right else "no",
            store="runs.db",
            run_id=name,
        )
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path


def call(*words: str) -> Result:
    return CliRunner().invoke(app, [*words, "--store", "runs.db"])


def test_the_exit_code_is_the_decision() -> None:
    (Path() / "gate.toml").write_text('[[rule]]\nmetric = "accuracy"\nat_least = 0.8\n')
    assert call("ci", "gate", "new").exit_code == 0
    assert call("ci", "gate", "bad").exit_code == 1
    assert call("ci", "gate", "new", "--policy", "policy.toml", "--against", "old").exit_code == 3
    missing = call("ci", "gate", "new", "--policy", "policy.toml")
    assert (missing.exit_code, "policy.toml:6: the rule compares" in missing.stderr) == (2, True)
    assert call("ci", "gate", "nwe").exit_code == 2
    assert call("ci", "gate", "new", "--against", "odl").exit_code == 2


def test_the_page_says_what_was_found_in_both_languages() -> None:
    words = ["ci", "gate", "new", "--policy", "policy.toml", "--against", "old", "--store", "runs.db"]
    shown = CliRunner().invoke(app, words, env={"COLUMNS": "140"})
    for said in (
        "INCONCLUSIVE",
        "accuracy at least 80.0%",
        "not worse by more than 2 points",
        "as far as these can tell) would show it",
        "GO by either is then wrong with a chance of at most 10.0%",
    ):
        assert said in " ".join(shown.stdout.split())
    chinese = (
        CliRunner().invoke(app, ["--lang", "zh", "ci", "gate", "bad", "--against", "old", "--store", "runs.db"]).stdout
    )
    assert "不通过 NO-GO" in chinese
    assert "已表明至少有一条规则不成立" in chinese


def test_it_is_written_as_every_kind_of_file(folder: Path) -> None:
    names = ["g.md", "g.html", "g.json", "g.xml"]
    written = call(
        "ci",
        "gate",
        "bad",
        "--policy",
        "policy.toml",
        "--against",
        "old",
        *(part for name in names for part in ("-o", name)),
    )
    assert written.exit_code == 1
    assert "# NO-GO: bad" in (folder / "g.md").read_text()
    assert "NO-GO: bad</h1>" in (folder / "g.html").read_text()
    found = json.loads((folder / "g.json").read_text())
    assert (found["decision"], [rule["decision"] for rule in found["rules"]]) == ("no_go", ["no_go", "no_go"])
    suite = ET.parse(folder / "g.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    assert call("ci", "gate", "bad", "--against", "old", "-o", "g.pdf").exit_code == 2
    as_json = call("ci", "gate", "bad", "--policy", "policy.toml", "--against", "old", "--json")
    assert json.loads(as_json.stdout) == found


def test_hostile_text_does_nothing(folder: Path) -> None:
    rule = '[[rule]]\nmetric = "accuracy"\neach = "kind"\nat_least = 0.99\n'
    (folder / "gate.toml").write_text(rule)
    shown = call("ci", "gate", "bad", "-o", "g.html", "-o", "g.md", "-o", "g.xml")
    assert shown.exit_code == 1
    assert "\x1b" not in shown.stdout
    assert "<script>alert" not in (folder / "g.html").read_text()
    ET.parse(folder / "g.xml")


def test_a_baseline_is_set_listed_used_and_removed() -> None:
    assert call("ci", "baseline", "list").exit_code == 0
    assert call("ci", "baseline", "set", "release", "old").stdout == "release: old\n"
    assert "release" in call("ci", "baseline", "list").stdout
    assert json.loads(call("ci", "baseline", "list", "--json").stdout) == {"baselines": {"release": "old"}}
    assert call("ci", "gate", "bad", "--against", "release").exit_code == 1
    assert "Until now it was old." in call("ci", "baseline", "set", "release", "new").stderr
    wrong = call("ci", "baseline", "remove", "relase")
    assert (wrong.exit_code, "Did you mean 'release'" in wrong.stderr) == (2, True)
    assert call("ci", "baseline", "remove", "release").exit_code == 0
    assert json.loads(call("ci", "baseline", "list", "--json").stdout) == {"baselines": {}}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_policy_to_start_from_is_a_policy(folder: Path, language: str) -> None:
    made = CliRunner().invoke(app, ["--lang", language, "init", "gate", "sub"])
    assert made.exit_code == 0
    path = folder / "sub" / "gate.toml"
    assert len(read_policy(path).rules) == 3
    commented = "\n".join(line.removeprefix("# ") if line.startswith(("# [[", "# metric", "# not", "# better", "# each", "# error =", "# against =")) else line for line in path.read_text().splitlines())  # fmt: skip
    path.write_text(commented)
    assert len(read_policy(path).rules) == 7
    assert CliRunner().invoke(app, ["init", "gate", "sub"]).exit_code == 2
    assert CliRunner().invoke(app, ["init", "environment"]).exit_code == 2


def test_from_python_it_is_a_function() -> None:
    run = proctor.open_run("new", store="runs.db")
    assert proctor.gate(run, against="old", policy="policy.toml") == gate(run, against="old", policy="policy.toml")
    assert proctor.gate(proctor.open_run("bad", store="runs.db"), against="old").decision == "no_go"
