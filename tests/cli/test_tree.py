"""The tree of commands: few names at the top, a question for each group, and an answer to every mistyped name."""

import re
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from proctor.cli import app, tree
from proctor.cli.long_help import LongCommand
from proctor.core.installing import install_command
from proctor.runtime import entry_points

MOST_NAMES = 14  # at the top level; this and the others only fall
MOST_OPTIONS = 15  # in the help of a command
MOST_LINES = 40


def call(*words: str) -> Result:
    return CliRunner(env={"COLUMNS": "80"}).invoke(
        app, [*([] if "--lang" in words else ["--lang", "en"]), *words], prog_name="proctor"
    )


def test_few_names_stand_at_the_top_and_each_once() -> None:
    names = tree.names_in("")
    assert len(names) <= MOST_NAMES
    assert len({*names}) == len(names)
    assert {*names} == {path.partition(" ")[0] for path in tree.COMMANDS} - {"completion"}


@pytest.mark.parametrize("path", tree.COMMANDS)
def test_a_command_is_where_the_table_says(path: str) -> None:
    command = tree.find_command(path)
    assert isinstance(command, click.Command)
    assert command.help


@pytest.mark.parametrize("group", tree.GROUPS)
def test_a_group_answers_a_question_and_imports_nothing(group: str) -> None:
    alone, asked = call(group), call(group, "--help")
    assert str(tree.GROUPS[group]).endswith("?")
    assert str(tree.GROUPS[group]) in asked.output
    assert all(f"  {name} " in asked.output for name in tree.names_in(group))
    assert group in tree.USUAL or alone.output.rstrip() == asked.output.rstrip()


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("gate", "'ci gate'"),
        ("explain-delta a b", "'ci delta'"),
        ("new gate", "'init'"),
        ("samples r", "'runs samples'"),
        ("trend", "'ci trends'"),
        ("rnu", "'run'"),
        ("ci gat", "'ci gate'"),
        ("judge winrates a b", "'judge winrate'"),
        ("ci explain r", "'runs explain'"),
    ],
)
def test_a_mistyped_or_former_name_is_answered_with_where_it_is(words: str, meant: str) -> None:
    said = call(*words.split())
    assert said.exit_code == 2
    assert f"Did you mean {meant}" in said.output
    assert "All of them: proctor" in said.output


def test_a_file_where_a_command_of_a_group_belongs_is_answered() -> None:
    said = call("judge", "answers.jsonl", "--rubric", "code")
    assert (said.exit_code, said.output) == (
        2,
        "Error: No command is called 'judge answers.jsonl'. All of them: proctor judge --help\n",
    )


@pytest.mark.parametrize("name", tree.ALIASES)
def test_the_names_that_veadk_prints_work_and_are_not_listed(name: str) -> None:
    assert call(name, "--help").exit_code == 0
    assert f"  {name} " not in call("--help").output


def test_help_is_asked_for_in_three_ways() -> None:
    shown = call("ci", "gate", "--help").output
    assert shown.startswith("Usage: proctor ci gate ")
    assert shown == call("help", "ci", "gate").output == call("ci", "gate", "-h").output


def test_runs_without_a_command_lists_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "none.db"))
    assert call("runs").output == call("runs", "list").output
    assert call("runs", "--json").output == call("runs", "list", "--json").output


def test_a_command_whose_package_is_missing_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry_points, "entry_points", lambda group: [])
    for command, extra in (("web", "web"), ("ci gate", "ci"), ("runs import", "adapters")):
        said = call(*command.split())
        assert said.exit_code == 2
        assert f"proctor {command} needs the extra '{extra}'. Install it with: {install_command(extra)}" in said.output


def test_a_package_adds_a_command_by_an_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "added.py").write_text('import click\n\n@click.command(help="Say hello.")\ndef command():\n    click.echo("hello")\n')  # fmt: skip
    (tmp_path / "added-1.0.dist-info").mkdir()
    (tmp_path / "added-1.0.dist-info" / "entry_points.txt").write_text("[proctor.commands]\nci.hello = added:command\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert call("ci", "hello").output == "hello\n"
    assert call("hello").exit_code == 2
    sys.modules.pop("added")


def every_command() -> list[tuple[str, click.Command]]:
    found = [(path, tree.find_command(path)) for path in tree.COMMANDS]
    nested = [
        (f"{path} {name}", child)
        for path, one in found
        if isinstance(one, click.Group)
        for name, child in one.commands.items()
    ]
    return [(path, one) for path, one in [*found, *nested] if one is not None]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_help_is_one_screen_of_the_most_used_options(lang: str) -> None:
    """Of commands with more options than fit; all of them are shown by --help-all, each once."""
    for path, command in every_command():
        names = {max(one.opts, key=len) for one in command.params if isinstance(one, click.Option)}
        shown = call("--lang", lang, *path.split(), "--help").output
        listed = [line for line in shown.rpartition("\n\n")[2].splitlines() if line.startswith("  -")]
        assert isinstance(command, LongCommand) == (len(names) > MOST_OPTIONS), path
        if isinstance(command, LongCommand):
            assert len(listed) <= MOST_OPTIONS, path
            assert len(shown.splitlines()) <= MOST_LINES, path
            everything = call("--lang", lang, *path.split(), "--help-all").output
            assert all(re.search(rf"^  (-\w, )?{name}\b", everything, re.MULTILINE) for name in names), path
