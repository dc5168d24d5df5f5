"""The first minute: the bare program, completion in a shell, languages, and click's own words in Chinese."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor import registry
from proctor.cli import app


def test_the_bare_program_shows_its_help() -> None:
    bare, asked = CliRunner().invoke(app, []), CliRunner().invoke(app, ["--help"])
    assert bare.exit_code in (0, 2)  # as the release of click has it
    assert bare.output.rstrip() == asked.output.rstrip()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(shell: str) -> None:
    script = _started({"_PROCTOR_COMPLETE": f"{shell}_source"})
    assert "_PROCTOR_COMPLETE" in script
    words = {"COMP_WORDS": "proctor sh", "COMP_CWORD": "sh" if shell == "fish" else "1"}
    assert "show" in _started({"_PROCTOR_COMPLETE": f"{shell}_complete", **words})


@pytest.mark.parametrize(("words", "lang"), [(["--lang", "fr", "list"], None), (["list"], "cn")])
def test_a_language_we_do_not_speak_is_refused(
    words: list[str], lang: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lang is not None:
        monkeypatch.setenv("PROCTOR_LANG", lang)
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert f"'{lang or 'fr'}' is not a language of Proctor. Known: en, zh." in result.output


@pytest.mark.parametrize("lang", ["zh_CN.UTF-8", "en_US", "zh"])
def test_a_locale_is_a_language(lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_LANG", lang)
    assert CliRunner().invoke(app, ["--help"]).exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "--limt", "3"], "没有选项 '--limt'"),
        (["run", "--limit", "two"], "'--limit' 的值无效：'two' 不是有效的整数"),
        (["compare", "a"], "缺少参数 'B'"),
        (["run", "--limit"], "选项 '--limit' 需要一个值"),
        (["show", "a", "b"], "多出一个参数（b）"),
    ],
)
def test_what_click_says_is_said_in_chinese(words: list[str], said: str) -> None:
    shown = CliRunner().invoke(app, [*words[:1], "--lang", "zh", *words[1:]]).output
    assert said in shown
    assert "No such option '--limt'" in CliRunner().invoke(app, ["run", "--limt", "3", "--lang", "en"]).output


def test_help_is_all_in_chinese() -> None:
    shown = _started({"PROCTOR_LANG": "zh"}, "run", "--help")
    assert "最常用的选项" in shown
    assert "--limit 整数" in shown
    assert "显示本帮助后退出。" in shown


def _started(asked: dict[str, str], *words: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", "from proctor.cli import app; app.main(prog_name='proctor')", *words],
        env=os.environ | asked,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    ).stdout


@pytest.mark.parametrize("kind", [*registry.AGENTS.names(), "openai-agents"])
def test_an_agent_where_the_task_belongs_is_named(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["run", f"{kind}:./x.py:y", "--agent", "baseline:null"])
    assert result.exit_code == 2
    assert f"proctor run TASK --agent {kind}:./x.py:y" in result.output


def test_a_task_where_the_agent_belongs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.jsonl").write_text('{"question": "a?", "answer": "b"}\n')
    result = CliRunner().invoke(app, ["run", "q.jsonl", "--agent", "bfcl/simple_python"])
    assert result.exit_code == 2
    assert "bfcl/simple_python is a task" in result.output


def test_a_module_with_lazy_attributes_has_no_such_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = "def __getattr__(name):\n    globals()[name] = 1\n    raise AttributeError(name)\n\ndef one(): ...\n"
    (tmp_path / "lazy_one.py").write_text(lazy)
    monkeypatch.syspath_prepend(str(tmp_path))
    result = CliRunner().invoke(app, ["run", "lazy_one:two", "--agent", "baseline:null"])
    assert (result.exit_code, "It has: one" in result.output) == (2, True), result.output


def test_files_as_windows_writes_them_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "question,target\r\nFrance?,Paris\r\n"
    (tmp_path / "agent_crlf.py").write_bytes(b"\xef\xbb\xbfdef answer(question):\r\n    return 'Paris'\r\n")
    (tmp_path / "own.jsonl").write_bytes(b'{"question": "France?", "target": "Paris"}\r\n')
    for name, encoding in (("bom", "utf-8-sig"), ("unicode", "utf-16")):
        (tmp_path / f"{name}.csv").write_bytes(rows.encode(encoding))
    for task in ("own.jsonl", "bom.csv", "unicode.csv"):
        ran = CliRunner().invoke(app, ["run", task, "--agent", "./agent_crlf.py:answer", "--quiet"])
        assert (ran.exit_code, "100.0%" in ran.stdout) == (0, True), ran.output
