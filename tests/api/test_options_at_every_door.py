"""An option of a run is declared once, and has one name, one meaning and one error at every door."""

import ast
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
from click.testing import CliRunner

import proctor
from proctor.api import RunOptions
from proctor.cli import app, tree
from proctor.config import ProjectSettings
from proctor.core.errors import BadInput
from proctor.core.run_fields import RunFields, check_bounds, described_fields
from proctor_ci.request import RunRequest

CLI = Path(tree.__file__).parent
PACKAGES = Path(__file__).parents[2] / "packages"
MOST_DECLARATIONS = 188  # of options in the source of the command line, besides those of fields; this only falls
FIELDS = described_fields(RunFields)
BOUNDED = {name: field.bounds.low - 1 for name, field in FIELDS.items() if field.bounds is not None}
OWN_OF_REQUEST = {"task", "run", "store", "task_options", "seconds"}  # of a browser: no mapping of limits, no path
OWN_OF_SETTINGS = {"lang", "task_options", "least_agreement", "cache_megabytes", "prices", "price_table", "tiers"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.jsonl").write_text('{"id": "a", "question": "1 + 1?", "target": "2"}\n', encoding="utf-8")
    return tmp_path


def run(*words: str) -> str:
    words = ("--lang", "en", "run", "q.jsonl", "--agent", "baseline:null", "--store", "runs.db", "--quiet", *words)
    result = CliRunner().invoke(app, words, prog_name="proctor")
    assert result.exit_code == 2, result.output
    return result.output


def test_few_options_are_declared() -> None:
    names = {"click.option", "click.Option", "several", "derived.several"}
    calls = [
        node
        for folder in (CLI, *PACKAGES.glob("*/src/*/commands"))
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in names
    ]
    assert 100 < len(calls) <= MOST_DECLARATIONS


def test_every_field_is_an_option_of_a_command() -> None:
    commands = [tree.find_command(path) for path in ("run", "score")]
    given = {
        str(one.name)
        for command in commands
        if command is not None
        for one in command.params
        if isinstance(one, click.Option)
    }
    assert {*FIELDS} <= given
    assert {*FIELDS} == {*RunFields.__struct_fields__}


@pytest.mark.parametrize("name", BOUNDED)
def test_a_number_out_of_range_is_refused_with_one_sentence(name: str, folder: Path) -> None:
    given: dict[str, Any] = {name: BOUNDED[name]}
    value = given[name] = float(BOUNDED[name]) if FIELDS[name].kind == float | None else int(BOUNDED[name])
    with pytest.raises(BadInput, match=f"^{name} must be") as told:
        check_bounds(name, value)
    said = f"Error: {told.value}\n"
    assert run(f"--{name.replace('_', '-')}={value}") == said
    with pytest.raises(BadInput) as told:
        proctor.evaluate("q.jsonl", agent="baseline:null", store="runs.db", until="accuracy >= 0.5", **given)
    assert f"Error: {told.value}\n" == said
    if name in ProjectSettings.__struct_fields__:
        (folder / "proctor.toml").write_text(f"{name} = {value}\n", encoding="utf-8")
        assert run() == said
    if name in RunRequest.__struct_fields__ and name != "seed":
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({"task": "q.jsonl", "agent": "a", name: value}, RunRequest)


@pytest.mark.parametrize("name", ["order", "target", "on_agent_error"])
def test_a_word_that_is_no_choice_is_refused_with_one_sentence(name: str) -> None:
    given: dict[str, Any] = {name: "nothing"}
    with pytest.raises(BadInput, match=f"^{name} cannot be 'nothing'. It can be: ") as told:
        proctor.evaluate("q.jsonl", agent="baseline:null", store="runs.db", **given)
    assert run(f"--{name.replace('_', '-')}=nothing") == f"Error: {told.value}\n"


def test_the_browser_and_the_settings_use_the_same_names() -> None:
    assert {*RunRequest.__struct_fields__} - OWN_OF_REQUEST <= {*FIELDS}
    assert {*ProjectSettings.__struct_fields__} - OWN_OF_SETTINGS <= {*FIELDS}
    assert {*FIELDS} < {*RunOptions.__struct_fields__}
