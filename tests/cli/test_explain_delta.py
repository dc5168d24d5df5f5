"""proctor ci delta, as a person calls it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import proctor
from proctor import Sample, Task
from proctor.cli import app

HOSTILE = "<script>alert(1)</script>\x1b[31m"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, start, right in (("old", 0, 57), ("new", 10, 40)):
        samples = [
            Sample.ask(str(n), str(n), target="yes", tags={"kind": HOSTILE if n % 2 else "even"})
            for n in range(start, start + 60)
        ]
        proctor.evaluate(
            Task(name="t", samples=samples, scorers=["exact"]),
            agent=lambda question, right=right: "yes" if int(question) < right else HOSTILE,
            store="runs.db",
            run_id=name,
        )
    return tmp_path


def call(*words: str) -> Result:
    return CliRunner().invoke(app, [*words, "--store", "runs.db"])


def test_the_parts_are_shown_in_both_languages_and_as_data(folder: Path) -> None:
    shown = call("ci", "delta", "old", "new", "--by", "kind")
    assert shown.exit_code == 0, shown.output
    assert "Why accuracy moved: 95.0% → 50.0% (−45.0 points)" in shown.stdout
    assert "Samples that only one run has" in shown.stdout
    assert "为什么变了" in call("--lang", "zh", "ci", "delta", "old", "new").stdout
    found = json.loads(call("ci", "delta", "old", "new", "--json").stdout)
    assert sum(one["value"] for one in found["causes"]) == pytest.approx(found["after"] - found["before"])
    assert (found["first"]["id"], found["common"]) == ("old", 50)
    assert "\x1b" not in shown.stdout


def test_pages_are_written_and_what_a_model_wrote_is_text(folder: Path) -> None:
    for name in ("why.html", "why.md", "why.json"):
        assert call("ci", "delta", "old", "new", "--by", "kind", "-o", name).exit_code == 0
    page = (folder / "why.html").read_text()
    assert "<script>alert" not in page
    assert "The agent, by kind" in page
    assert json.loads((folder / "why.json").read_text())["common"] == 50
    assert "| The agent: other outcomes of the same samples |" in (folder / "why.md").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["old", "nwe"], "new"),
        (["old", "new", "--by", "knd"], "kind"),
        (["old", "new", "--scorer", "exat"], "exact"),
        (["old", "new", "-o", "why.txt"], "why.txt"),
    ],
)
def test_mistakes_are_named(words: list[str], message: str) -> None:
    found = call("ci", "delta", *words)
    assert found.exit_code == 2
    assert message in found.stderr
