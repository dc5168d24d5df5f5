"""docs/benchmark-findings.md says what the stored audits say, and small benchmarks are audited again."""

import json
import subprocess
import sys
from pathlib import Path

import findings_page
import pages
import pytest
from click.testing import CliRunner

from proctor.cli import app


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_is_made_from_the_audits(lang: str, request: pytest.FixtureRequest) -> None:
    path = findings_page.PAGE if lang == "en" else pages.chinese_page(findings_page.PAGE)
    script = [sys.executable, str(Path(findings_page.__file__)), lang]
    text = subprocess.run(script, capture_output=True, text=True, encoding="utf-8", check=True).stdout
    if request.config.getoption("--rewrite-golden"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, "run `make golden`"


@pytest.mark.parametrize(("task", "options"), [("customer-service", ["--set", "tone=false"]), ("collaboration", [])])
def test_an_audit_made_today_says_what_the_page_says(
    task: str, options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = json.loads(CliRunner().invoke(app, ["audit-task", task, *options, "--json"]).stdout)
    stored = {each["task"]: each for each in json.loads(findings_page.AUDITS.read_text(encoding="utf-8"))}
    assert findings_page.kept(report) == stored[task]
    assert stored["collaboration"]["findings"], "one of them has to find something, else nothing is compared"
