"""What the audit of a task found, on the pages of a run and of a sample: classes, witness, replay, acceptance, other data."""

import html
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import audited
import pytest
from audited import FINDINGS, RUN
from click.testing import CliRunner
from review_site import csrf
from starlette.testclient import TestClient
from web_site import AppSite

from proctor import evaluate
from proctor.cli import app
from proctor_audit.ignoring import FILE, read_ignore_file
from proctor_web.inspecting.audits import get_audit
from proctor_web.operations import RunReference

PAGE = f"/runs/{RUN}/audit"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    audited.write_exam(tmp_path)
    audited.run_exam(tmp_path)
    return tmp_path


@pytest.fixture
def site(folder: Path) -> Iterator[AppSite]:
    audited.audit_exam(folder)
    site = AppSite(folder)
    yield site
    site.workspace.close()


def words(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html.unescape(text))).strip()


def of_sample(client: TestClient, sample: str) -> str:
    """Return what the page of a sample shows of the audit once it is loaded."""
    page = client.get(f"/runs/{RUN}/samples/{sample}").text
    part = re.search(r'hx-get="(/runs/[^"]+/audit[^"]+)"', page)
    assert part is not None
    return client.get(html.unescape(part[1])).text


def accept(client: TestClient, **fields: str) -> str:
    answer = client.post(PAGE, data={"csrf": csrf(client, PAGE), "finding": FINDINGS[0], **fields})
    return answer.text


def test_the_line_of_a_run_counts_by_class_and_says_what_the_number_is_without_proved_samples(site: AppSite) -> None:
    browser = site.browser()
    assert f'hx-get="{PAGE}?part=line"' in browser.get(f"/runs/{RUN}").text
    line = browser.get(f"{PAGE}?part=line").text
    assert f'href="{PAGE}?class=proved"' in line
    assert words(line).startswith("Audit of the task: 2 proved")
    assert "without the 4 samples that proved findings concern: 0.0% 0.0–35.4% (with them 9.1%)" in words(line)


def test_the_page_shows_each_finding_with_its_witness_and_the_command_that_replays_it(site: AppSite) -> None:
    page = site.browser().get(PAGE).text
    assert words(page).count("contradictory-duplicate ") >= 2
    assert f"--replay {FINDINGS[0]}" in words(page)
    assert "&#34;How much is 6 * 7?&#34;" in page
    assert "<script>alert" not in page
    assert site.browser().get(f"{PAGE}?class=look").text.count('class="audited') == 0
    assert site.browser().get(f"{PAGE}?clas=look").status_code == 400


def test_the_page_of_a_sample_shows_what_was_found_in_it(site: AppSite) -> None:
    browser = site.browser()
    part = of_sample(browser, "q1")
    assert '<span class="badge bad">proved</span>' in part
    assert f"--replay {FINDINGS[0]}" in words(part)
    assert f'href="/runs/{RUN}/samples/q3"' in part
    assert of_sample(browser, "q2").strip() == ""
    assert "<script>alert" not in of_sample(browser, "q4")


def test_a_finding_is_accepted_with_a_reason_from_the_page_of_a_sample(site: AppSite, folder: Path) -> None:
    browser = site.browser("ann")
    page = accept(browser, reason="both are right", sample="q1", attempt="0")
    assert "Accepted." in words(page)
    assert "accepted: both are right (ann)" in words(of_sample(browser, "q1"))
    [rule] = read_ignore_file(folder / FILE)
    assert (rule.finding, rule.reason, rule.by) == (FINDINGS[0], "both are right", "ann")
    line = words(browser.get(f"{PAGE}?part=line").text)
    assert "1 proved accepted: 1" in line
    assert "without the 2 samples that proved findings concern: 11.1%" in line


def test_a_finding_is_not_accepted_without_a_reason(site: AppSite, folder: Path) -> None:
    browser = site.browser()
    assert "Write why the finding is accepted." in accept(browser, reason=" ")
    assert browser.post(PAGE, data={"csrf": csrf(browser, PAGE), "finding": "none", "reason": "x"}).status_code == 404
    assert not (folder / FILE).exists()


def test_an_audit_of_other_data_is_not_shown(folder: Path) -> None:
    exam = folder / "exam.jsonl"
    exam.write_text(exam.read_text(encoding="utf-8").replace('"43"', '"44"'), encoding="utf-8")
    audited.audit_exam(folder)
    site = AppSite(folder)
    browser = site.browser()
    for path in (f"{PAGE}?part=line", PAGE, f"{PAGE}?part=sample&sample=q1"):
        page = words(browser.get(path).text)
        assert "Another version of exam was audited, not the data of this run." in page
        assert "contradictory-duplicate" not in page
    site.workspace.close()


def test_of_a_sample_that_changed_under_the_same_version_nothing_is_shown(folder: Path) -> None:
    kept = audited.audit_exam(folder)
    text = kept.read_text(encoding="utf-8")
    digest = re.search(r'"q1":\{"digest":"(\w+)"', text)
    assert digest is not None
    kept.write_text(text.replace(f'"q1":{{"digest":"{digest[1]}"', f'"q1":{{"digest":"{"0" * 16}"'), encoding="utf-8")
    site = AppSite(folder)
    view = get_audit(site.workspace, RunReference(run=RUN))
    assert (view.counts["proved"], view.changed) == (1, 1)
    assert view.measured is not None
    assert view.measured.left_out == 2
    page = words(of_sample(site.browser(), "q1"))
    assert "Another version of this sample was audited" in page
    site.workspace.close()


def test_a_task_that_was_never_audited_has_no_line_and_a_page_with_the_command(folder: Path) -> None:
    site = AppSite(folder)
    browser = site.browser()
    assert words(browser.get(f"{PAGE}?part=line").text) == ""
    page = words(browser.get(PAGE).text)
    assert "exam was not audited." in page
    assert f"proctor audit-task {folder}/exam.jsonl --scorer" in page
    site.workspace.close()


def test_the_command_for_an_audit_that_is_missing_has_the_options_of_the_run(tmp_path: Path) -> None:
    rows = [{"q": "6 * 7?", "a": "42"}, {"q": "1 + 1?", "a": "2"}]
    (tmp_path / "own.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    options = {"columns": {"q": "question", "a": "target"}}
    store = str(tmp_path / "runs.db")
    evaluate(str(tmp_path / "own.jsonl"), options=options, agent="baseline:null", scorers=["exact"], store=store, run_id="mapped")  # fmt: skip
    site = AppSite(tmp_path)
    command = get_audit(site.workspace, RunReference(run="mapped")).command
    site.workspace.close()
    assert {"q=question", "a=target"} < {*shlex.split(command)}
    assert shlex.split(command)[-2:] == ["--store", store]
    done = CliRunner().invoke(app, shlex.split(command)[1:])
    assert done.exit_code == 0, done.output
    site = AppSite(tmp_path)
    assert get_audit(site.workspace, RunReference(run="mapped")).audit
    site.workspace.close()


def test_who_may_only_look_cannot_accept(folder: Path) -> None:
    audited.audit_exam(folder)
    site = AppSite(folder, read_only=True)
    assert "Accept it" not in site.browser().get(PAGE).text
    site.workspace.close()


def test_a_list_that_cannot_be_read_accepts_nothing_and_is_named(site: AppSite, folder: Path) -> None:
    (folder / FILE).write_text("[[ignore]]\n", encoding="utf-8")
    page = words(site.browser().get(PAGE).text)
    assert "2 proved" in page
    assert FILE in page
    assert accept(site.browser(), reason="x").count(FILE) > 0
    assert (folder / FILE).read_text(encoding="utf-8") == "[[ignore]]\n"
