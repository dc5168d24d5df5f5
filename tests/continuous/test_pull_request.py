"""The summary on a pull request: made once, changed from then on, harmless, and never from a fork's job."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import code_host
import pages
import pytest
import yaml
from click.testing import CliRunner, Result
from code_host import TOKEN, CodeHost

from proctor.cli import app
from proctor_ci.pull_request import APART, MOST_CHARACTERS, defuse

HOSTS = pytest.mark.parametrize("kind", ["github", "gitlab"])


@pytest.fixture
def host() -> Iterator[CodeHost]:
    with code_host.serve() as served:
        yield served


def job(host: CodeHost, kind: str, folder: Path, token: str = TOKEN) -> dict[str, str]:
    """The environment of a job of a pull or merge request."""
    if kind == "gitlab":
        return {"CI_MERGE_REQUEST_IID": "7", "CI_PROJECT_ID": "42", "CI_API_V4_URL": f"{host.url}/api/v4", "PROCTOR_GITLAB_TOKEN": token}  # fmt: skip
    event = folder / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}}))
    return {"GITHUB_EVENT_PATH": str(event), "GITHUB_REPOSITORY": "shop/agent", "GITHUB_API_URL": host.url, "GITHUB_TOKEN": token}  # fmt: skip


def comment(folder: Path, environment: dict[str, str], text: str, *words: str) -> Result:
    (folder / "tier.md").write_text(text, encoding="utf-8")
    for_others = dict.fromkeys(("CI_MERGE_REQUEST_IID", "GITHUB_EVENT_PATH", "GITHUB_TOKEN", "PROCTOR_GITLAB_TOKEN"))
    return CliRunner().invoke(app, ["ci", "comment", str(folder / "tier.md"), *words], env=for_others | environment)


@HOSTS
def test_a_request_has_one_summary_that_is_changed(host: CodeHost, kind: str, tmp_path: Path) -> None:
    for number in range(150):  # more than a page of others
        host.add(f"comment {number}")
    host.add("<!-- proctor: proctor -->\nby a stranger", stranger=True)
    environment = job(host, kind, tmp_path)
    first = comment(tmp_path, environment, "# NO-GO")
    assert (first.exit_code, len(host.comments)) == (0, 152), first.output
    second = comment(tmp_path, environment, "# GO")
    assert (second.exit_code, len(host.comments)) == (0, 152), second.output
    assert host.comments[-1]["body"] == "<!-- proctor: proctor -->\n# GO"
    assert host.comments[-2]["body"].endswith("by a stranger")
    comment(tmp_path, environment, "# other", "--name", "nightly")
    assert len(host.comments) == 153


@HOSTS
def test_a_job_of_a_fork_posts_nothing_and_goes_on(host: CodeHost, kind: str, tmp_path: Path) -> None:
    none = comment(tmp_path, job(host, kind, tmp_path, token=""), "# GO")
    assert (none.exit_code, host.asked) == (0, [])
    host.refuses = True
    refused = comment(tmp_path, job(host, kind, tmp_path), "# GO")
    wrong = comment(tmp_path, job(host, kind, tmp_path, token="wrong-but-long-token"), "# GO")
    for done in (none, refused, wrong):
        assert done.exit_code == 0, done.output
        assert "no summary was posted" in done.output.lower()
        assert TOKEN not in done.output
        assert "wrong-but-long-token" not in done.output
    assert host.comments == []


def test_other_jobs_have_no_request_to_write_on(host: CodeHost, tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    for text in ('{"ref": "refs/heads/main"}', "[]", "not json", '{"pull_request": {"number": "7/../8"}}'):
        event.write_text(text)
        done = comment(tmp_path, {"GITHUB_EVENT_PATH": str(event), "GITHUB_TOKEN": TOKEN}, "# GO")
        assert (done.exit_code, host.asked) == (0, [])


def test_mistakes_are_said_and_leave_with_2(host: CodeHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = job(host, "github", tmp_path)
    assert comment(tmp_path, environment, "# GO", "--name", "-->").exit_code == 2
    assert CliRunner().invoke(app, ["ci", "comment", str(tmp_path / "none.md")], env=environment).exit_code == 2
    assert host.asked == []


def test_a_text_mentions_nobody_commands_nothing_and_fits(host: CodeHost, tmp_path: Path) -> None:
    hostile = "by @ann and ann@example.org, see #12 and !3\n/merge\n  /close\n" + "x" * 99_999 + "\n"
    text = defuse(hostile)
    assert not [name for name in ("@ann", "#12", "!3", "@example") if name in text]
    assert not [line for line in text.splitlines() if line.lstrip().startswith("/")]
    assert len(text) <= MOST_CHARACTERS + 10
    assert text.replace(APART, "").startswith("by @ann")
    done = comment(tmp_path, job(host, "github", tmp_path), hostile * 5)
    assert (done.exit_code, len(host.comments)) == (0, 1), done.output


@HOSTS
def test_a_summary_whose_reply_was_lost_is_not_posted_twice(host: CodeHost, kind: str, tmp_path: Path) -> None:
    host.loses = 1
    done = comment(tmp_path, job(host, kind, tmp_path), "# GO")
    assert (done.exit_code, len(host.comments)) == (0, 1), done.output
    assert len([one for one in host.asked if one.startswith("POST")]) == 1


@pytest.mark.parametrize("reply", [{"message": "hello"}, ["text"], [{"body": "no id"}]])
def test_a_reply_that_is_no_list_of_comments_is_said(host: CodeHost, reply: Any, tmp_path: Path) -> None:
    host.listed = reply
    done = comment(tmp_path, job(host, "github", tmp_path), "# GO")
    assert (done.exit_code, host.comments) == (2, []), done.output
    assert "The summary could not be posted" in done.output


def test_other_requests_are_linked_in_no_form() -> None:
    for text in (
        "GH-12",
        "gh-12",
        "https://github.com/o/r/pull/12",
        "http://x/o/r/issues/12",
        "http://x/-/merge_requests/12",
    ):
        assert defuse(text) != text
    assert defuse("https://github.com/o/r/actions/runs/12 UGH-12") == "https://github.com/o/r/actions/runs/12 UGH-12"


TASK = """
from proctor import Sample, Task


def task() -> Task:
    return Task(name="t", samples=[Sample.ask(str(n), str(n), target=str(n)) for n in range(60)], scorers=["exact"])


def answer(question: str) -> str:
    return question
"""
PROJECT = 'agent = "./task.py:answer"\n[tiers.quick]\ntasks = ["./task.py:task"]\ngate = "gate.toml"\n'


def shell_of(kind: str) -> tuple[list[str], list[str]]:
    """The commands of the action, or of the template of GitLab, without the installing of Proctor; then those that always run."""
    if kind == "gitlab":
        made: Any = yaml.safe_load((pages.ROOT / "ci" / "gitlab.yml").read_text(encoding="utf-8"))[".proctor"]
        return made["script"][1:], made["after_script"]
    steps: Any = yaml.safe_load((pages.ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    assert not [step for step in steps if "${{" in step["run"]], (
        "inputs come by the environment: no text of others is a script"
    )
    return [steps[1]["run"]], [step["run"] for step in steps[2:]]


@HOSTS
@pytest.mark.parametrize(("at_least", "code"), [(0.8, 0), (1.0, 3)])
def test_what_the_templates_run_posts_the_decision_and_keeps_its_code(
    host: CodeHost, kind: str, at_least: float, code: int, tmp_path: Path
) -> None:
    (tmp_path / "task.py").write_text(TASK)
    (tmp_path / "proctor.toml").write_text(PROJECT)
    (tmp_path / "gate.toml").write_text(f'[[rule]]\nmetric = "accuracy"\nat_least = {at_least}\n')
    environment = os.environ | job(host, kind, tmp_path) | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "TIER": "quick",
        "PROCTOR_STORE": str(tmp_path / "runs.db"),
        "PROCTOR_COMMENT": "proctor",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }  # fmt: skip
    script, always = shell_of(kind)
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", "\n".join(script)], cwd=tmp_path, env=environment, check=False
    )
    assert done.returncode == code
    subprocess.run(["bash", "-eo", "pipefail", "-c", "\n".join(always)], cwd=tmp_path, env=environment, check=True)
    [posted] = host.comments
    assert posted["body"].splitlines()[1] == f"# {'INCONCLUSIVE' if code else 'GO'}: Tier quick"
    assert (kind == "gitlab") or (tmp_path / "summary.md").exists()


def test_the_hook_of_pre_commit_is_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [hook] = yaml.safe_load((pages.ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "task.py").write_text(TASK)
    (tmp_path / "proctor.toml").write_text(
        'agent = "./task.py:answer"\n[tiers.smoke]\ntasks = ["./task.py:task"]\nlimit = 3\n'
    )
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))
    done = CliRunner().invoke(app, [*hook["entry"].split()[1:], *hook["args"]])
    assert done.exit_code == 0, done.output
