"""The kernel alone: whoever asks for what another package brings reads the one line that installs it."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from kernel_alone import command_without_packages

from proctor.cli import app, not_installed, tree
from proctor.cli.list import ROOM_BY_WORD
from proctor.core.installing import install_command
from proctor.core.packages import BROUGHT

SCRIPT = """
import importlib, json, sys
from pathlib import Path
from click.testing import CliRunner
from proctor.cli import app, tree
from proctor.core.errors import BadInput
from proctor.models.named import model
from proctor.registry import load_object, offered

Path("q.jsonl").write_text('{"id": "a", "question": "1 + 1?", "target": "2"}')
Path("case.evalset.json").write_text("{}")
for kind in ("arrow", "parquet", "xlsx"):
    Path(f"q.{kind}").touch()
calls = [{"name": "f", "arguments": {"x": 1}, "match": {"x": {"schema": {}}}}]
Path("calls.jsonl").write_text(json.dumps({"id": "a", "question": "1?", "target": calls}))
Path("spans.jsonl").write_text('{"traceId": "a", "spanId": "b"}')
Path("article.toml").write_text("[single_choice]\\nstrict_mode = true")


def call(*words):
    done = CliRunner(env={"COLUMNS": "300"}).invoke(app, ["--lang", "en", *words], prog_name="proctor")
    return done.exit_code, done.output


def take(do, *arguments):
    try:
        return 0, repr(do(*arguments))
    except Exception as error:
        return 2 if isinstance(error, BadInput) else 70, f"{type(error).__name__}: {error}"


def star(name):
    exec(f"from proctor import {name}", {})


plain = ("run", "q.jsonl", "--store", "r.db", "--quiet")
run = (*plain, "--scorer", "exact")
for made in ("first", "second"):
    assert call(*run, "--agent", "baseline:oracle", "--run", made)[0] == 0
kept = ("first", "--store", "r.db")
ask = {
    "proctor.agents": lambda name: call(*run, "--agent", f"{name}:x"),
    "proctor.benchmarks": lambda name: call("run", name, "--agent", "baseline:null"),
    "proctor.commands": lambda name: call(*name.split(".")),
    "proctor.batches": lambda name: call(*run, "--agent", f"{name}:x", "--agent-set", "batch=true"),
    "proctor.clusters": lambda name: call(*run, "--agent", "baseline:null", "--on", name),
    "proctor.hub": {
        "set": lambda: take(offered, "hub", "set"),
        "task": lambda: call("run", "hub:owner/set", "--agent", "baseline:null"),
    },
    "proctor.environments": lambda name: call(*run, "--agent", "baseline:null", "--environment", f"{name}:x"),
    "proctor.exports": lambda name: call("runs", "export", *kept, "--format", name, "--out", "o"),
    "proctor.imports": lambda name: call("runs", "import", "q.jsonl", "--format", name),
    "proctor.judges": lambda name: call(*plain, "--agent", "baseline:null", "--scorer", f"{name}:./mine.toml"),
    "proctor.looks": lambda name: call(*run, "--agent", "baseline:null", f"--{name}", "accuracy >= 0.5"),
    "proctor.matchers": lambda name: call("run", "calls.jsonl", "--scorer", "trajectory", "--agent", "baseline:null", "--store", "r.db"),
    "proctor.models": lambda name: take(model, f"{name}:x", {}),
    "proctor.names": lambda name: take(star, name),
    "proctor.live_traces": lambda name: call(*run, "--agent", "baseline:null", "--trace-to", "http://127.0.0.1:9/v1/traces"),
    "proctor.parity": lambda name: call("data", "parity", name, "q.jsonl"),
    "proctor.readers": {
        "run": lambda: call("runs", "report", *kept, "--for", "product"),
        "comparison": lambda: call("compare", "first", "second", "--store", "r.db", "--for", "product", "--out", "c.md"),
    },
    "proctor.reply_files": lambda name: call("score", "q.jsonl", "--replies", "spans.jsonl", "--scorer", "exact", "--store", "r.db"),
    "proctor.rows": lambda name: call("run", f"q.{name}", "--agent", "baseline:null"),
    "proctor.scorers": lambda name: call(*plain, "--agent", "baseline:null", "--scorer", name),
    "proctor.scorer_settings": lambda name: call(*plain, "--agent", "baseline:null", "--scorer", f"./{name}.toml"),
    "proctor.starters": lambda name: call("init", name),
    "proctor.stores": lambda name: call("runs", "list", "--store", f"{name}://here"),
    "proctor.task_files": lambda name: call("run", "case.evalset.json" if name == "adk" else f"{name}:exam", "--agent", "baseline:null"),
    "proctor.task_kinds": lambda name: call("run", f"{name}:exam.py", "--agent", "baseline:null"),
    "proctor.views": lambda name: take(offered, "views", name),
    "proctor.users": lambda name: call(*run, "--agent", "baseline:null", "--user", f"{name}:x"),
    "module": lambda name: take(load_object, name, "task"),
}
asked = json.loads(sys.argv[1])
answers = [
    (extra, group, name, *(ask[group][name]() if isinstance(ask[group], dict) else ask[group](name)))
    for extra, group, name in asked
]
print(json.dumps({"answers": answers, "list": call("list")[1], "json": json.loads(call("list", "--json")[1]), "help": {group: call(*group.split(), "--help")[1] for group in ("", *tree.GROUPS)}}))
"""
BROUGHT_NAMES = [
    (extra, group, name) for extra, groups in BROUGHT.items() for group, names in groups.items() for name in names
]
MODULES = [  # as runs name them that were stored before and after the packages were cut
    ("benchmarks", "module", "proctor.benchmarks.gaia.scorer:gaia"),
    ("benchmarks", "module", "proctor_benchmarks.gaia.scorer:gaia"),
    ("adapters", "module", "proctor.agents.adk:make"),
    ("compat", "module", "proctor.compat.multi:task"),
    ("judging", "module", "proctor.scorers.answer:answer"),
    ("judging", "module", "proctor.judges.rubric:made"),
]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("alone")
    script = folder / "walk.txt"
    script.write_text(SCRIPT, encoding="utf-8")
    command = [*command_without_packages(folder / "links"), str(script), json.dumps([*BROUGHT_NAMES, *MODULES])]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_everything_that_is_missing_is_answered_with_the_line_that_installs_it(alone: Any) -> None:
    assert len(alone["answers"]) == len(BROUGHT_NAMES) + len(MODULES)
    for extra, group, name, code, said in alone["answers"]:
        line = f"needs the extra '{extra}'. Install it with: "
        assert code == 2, (group, name, said)
        assert line in said, (group, name, said)
        assert len(said.splitlines()) == 1, said
        assert Path(install_command(extra).split("'")[1]).name in said


def test_a_list_shows_what_is_missing_with_the_extra_it_needs_and_the_line_that_installs_it(alone: Any) -> None:
    words = {"proctor.names": "names", "proctor.judges": "scorers"} | {
        f"proctor.{room}": word for word, room in ROOM_BY_WORD.items()
    }
    listed = {(words[group], name, extra) for extra, group, name in BROUGHT_NAMES if group in words}
    assert {(word, *row) for word, rows in alone["json"]["not_installed"].items() for row in rows.items()} == listed
    for _, name, extra in listed:
        assert re.search(rf"^  {name} +Needs the extra '{extra}'\.$", alone["list"], re.MULTILINE), name
    for extra in {extra for _, _, extra in listed}:
        assert Path(install_command(extra).split("'")[1]).name in alone["list"]


def test_help_shows_each_command_that_is_missing_with_the_extra_it_needs(alone: Any) -> None:
    for extra, group, name in BROUGHT_NAMES:
        if group != "proctor.commands":
            continue
        path, _, word = name.rpartition(".")
        row = " ".join(re.split(rf"^  {word}\b", alone["help"][path], flags=re.MULTILINE)[1].split())
        assert row.partition("Needs the extra ")[2].startswith(f"'{extra}'"), name
        assert Path(install_command(extra).split("'")[1]).name in alone["help"][path]


def test_the_tree_names_the_packages_that_have_commands() -> None:
    assert {*tree.PACKAGES} == {extra for extra, group, _ in BROUGHT_NAMES if group == "proctor.commands"}


def test_help_of_the_program_names_what_a_group_lacks(alone: Any) -> None:
    said = " ".join(alone["help"][""].split())
    brought = {name for _, group, name in BROUGHT_NAMES if group == "proctor.commands"}
    absent = [inner for inner in tree.names_in("runs") if f"runs.{inner}" in brought]
    assert "import" in absent
    assert f"delete (not installed: {', '.join(absent)})" in said
    assert "May it ship? Needs the extra 'ci'." in said


def test_what_is_missing_is_grey_on_a_terminal_only() -> None:
    rows = click.HelpFormatter(width=78)
    not_installed.write_rows(rows, {"web": "web"}, {"web": "web"})
    assert rows.getvalue().startswith("\x1b[2m")
    assert rows.getvalue().endswith("\x1b[0m")
    assert CliRunner().invoke(click.Command("x", callback=lambda: click.echo(rows.getvalue()))).output.startswith("web")


def test_where_all_is_installed_nothing_is_said_of_it() -> None:
    for words in (["--help"], ["runs", "--help"], ["list", "stores"]):
        done = CliRunner().invoke(app, ["--lang", "en", *words])
        assert "Not installed" not in done.output
        assert "Needs the extra" not in done.output
