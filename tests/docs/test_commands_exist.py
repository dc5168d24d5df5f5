"""Every command line that a page, a docstring, a template or a sentence prints names a command and options that exist."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
from pages import ROOT

from proctor.cli import app
from proctor.cli.tree import USUAL

SUFFIXES = {".py", ".md", ".toml", ".jinja", ".html", ".js", ".yml", ".yaml", ".sh", ".txt", ".ipynb"}
FOLDERS = ("packages", "docs", "bench", "changelog.d", "ci", "docker", ".ci")
PROSE = "".join(f"(?<!{word} )" for word in ("from", "import", "inject", "installed", "marker", "标记"))
LINE = re.compile(
    PROSE
    + r"(?<![\w./-])proctor(?: --lang[ =]\w+)?((?: [a-z][a-z-]*(?![\w.:/=(]))+)((?:(?! proctor |[.:] )[^`\n\"'·;&|<，。：；])*)"
)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9_-]*")
EVERYWHERE = {"--help", "--help-all", "--lang", "--version"}
NO_COMMANDS = {"version", "help"}  # words that the program reads as options


def test_a_wrong_command_and_a_wrong_option_are_found() -> None:
    assert [
        *_wrong("`proctor gate RUN`, `proctor ci gate RUN --polcy x`, `proctor ci`, proctor show RUN --failures")
    ] == [
        "proctor gate: there is no such command",
        "proctor ci gate: there is no --polcy",
    ]


def _files() -> list[Path]:
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    return sorted({*found, *ROOT.glob("*.md"), ROOT / "action.yml"})


def test_every_command_that_is_printed_exists() -> None:
    wrong = {
        f"{path.relative_to(ROOT)}: {fault}" for path in _files() for fault in _wrong(path.read_text(encoding="utf-8"))
    }
    assert not wrong, "\n".join(sorted(wrong))


def _wrong(text: str) -> Iterator[str]:
    for found in LINE.finditer(text):
        path, command = "proctor", _child(None, "")
        for word in found[1].split():
            if not isinstance(command, click.Group):
                break
            path, command = f"{path} {word}", _child(command, word)
        if isinstance(command, click.Group) and found[2].lstrip().startswith("--"):
            command = _child(command, USUAL.get(path.partition(" ")[2], "")) or command
        if command is None:
            if found[1].split()[0] not in NO_COMMANDS:
                yield f"{path}: there is no such command"
            continue
        yield from (
            f"{path}: there is no {option}" for option in OPTION.findall(found[2]) if option not in _options(command)
        )


@cache
def _child(group: click.Group | None, word: str) -> click.Command | None:
    return app if group is None else group.get_command(click.Context(group), word)


@cache
def _options(command: click.Command) -> set[str]:
    return EVERYWHERE.union(*(one.opts + one.secondary_opts for one in command.params))
