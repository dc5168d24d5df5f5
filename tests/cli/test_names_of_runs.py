"""Runs are called what people call them, in any script, at each command and page."""

from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from web_site import AppSite

from proctor.cli import app
from proctor_web.reviewing.queues import NewQueue, create_queue, find_queue

RUN = "客服-第1版"


def ask(*words: str) -> str:
    result = CliRunner().invoke(app, [*words])
    assert result.exit_code == 0, result.output
    return result.output


def test_a_run_with_a_chinese_name_is_shown_compared_saved_and_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("问题.jsonl").write_text(
        '{"id": "fr", "question": "Capital of France?", "answer": "Paris"}\n', encoding="utf-8"
    )
    for name in (RUN, f"{RUN}.b"):
        ask("run", "问题.jsonl", "--agent", "baseline:oracle", "--run", name)
    assert RUN in ask("show", RUN)
    assert RUN in ask("runs")
    assert RUN in ask("compare", RUN, f"{RUN}.b")
    ask("runs", "report", RUN)
    assert Path(f"{RUN}.html").is_file()
    ask("runs", "export", RUN, "--format", "table")
    ask("run", "--run", RUN)
    ask("runs", "delete", RUN, "--yes")
    left = ask("runs")
    assert f"{RUN}.b" in left
    assert RUN not in left.replace(f"{RUN}.b", "")
    named = ask("run", "问题.jsonl", "--agent", "baseline:null")
    assert "问题" in named, "a run that is not named is called after its task"


@pytest.mark.parametrize(
    "name", ["../x", "_x", "-x", ".x", "a b", "a/b", "a@b", "", "名" * 67, "cafe\u0301", "a\u202eb", "\ud800"]
)
def test_what_is_no_name_is_refused(name: str) -> None:
    result = CliRunner().invoke(app, ["run", "bfcl/irrelevance", "--agent", "baseline:null", f"--run={name}"])
    assert result.exit_code == 2
    assert "cannot be a run id" in result.output


def test_the_app_takes_chinese_names_of_runs_and_queues(tmp_path: Path) -> None:
    site = AppSite(tmp_path)
    site.run(RUN)
    client = site.browser()
    assert RUN in client.get("/runs").text
    for path in ("", "/samples", "/samples/fr"):
        assert client.get(f"/runs/{quote(RUN)}{path}").status_code == 200
    saved = client.get(f"/runs/{quote(RUN)}/report.md")
    assert f"filename*=UTF-8''{quote(RUN)}.md" in saved.headers["content-disposition"]
    assert saved.status_code == 200
    create_queue(site.workspace, NewQueue(name="第一轮", run=[RUN], count=2))
    assert find_queue(site.workspace, "第一轮").sources
    assert client.get(f"/review/{quote('第一轮')}").status_code == 200
    site.workspace.close()
