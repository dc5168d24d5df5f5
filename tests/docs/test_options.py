"""docs/commands.md tells every command, option, environment variable and exit code, and no other."""

import re
from collections.abc import Iterator
from inspect import signature
from pathlib import Path

import click
import msgspec
import pytest
from pages import ROOT, source_files

from proctor import registry
from proctor.cli import app
from proctor.config import ProjectSettings
from proctor.core.run import Budget, Limits, Price

PAGES = [ROOT / "docs" / "commands.md", ROOT / "docs" / "zh" / "commands.md"]
HEADING = re.compile(r"^#+ `?(proctor(?: [a-z-]+)*)`?$", re.MULTILINE)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
VARIABLE = re.compile(r"\b(?:PROCTOR|OPENAI|LLM)_[A-Z_]*[A-Z]\b")

PAGES_OF = {"terminal-basics": "boxes"}  # where it is not that of its own name
pytestmark = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def test_every_command_has_a_section(page: Path) -> None:
    assert set(_sections(page)) == {"proctor completion", *(name for name, _ in _commands(app, "proctor"))}


def test_every_option_is_told_in_its_section(page: Path) -> None:
    sections = _sections(page)
    missing = {
        name: absent
        for name, command in _commands(app, "proctor")
        if (absent := _options(command) - set(OPTION.findall(sections.get(name, ""))))
    }
    assert not missing


def test_no_section_tells_an_option_that_is_not_there(page: Path) -> None:
    known = {name: _options(command) for name, command in _commands(app, "proctor")}
    everywhere = known["proctor"] | {"--help", "--help-all"}
    wrong = {
        name: extra
        for name, text in _sections(page).items()
        if (extra := set(OPTION.findall(text)) - known.get(name, set()) - everywhere)
    }
    assert not wrong


def test_every_option_of_an_agent_is_told(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for agent, options in _options_of_agents():
        section = re.split(r"^#+ ", text.partition(f"\n### {agent}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
        assert set(options) <= set(re.findall(r"`(\w+)`", section)), agent


def test_every_option_of_the_settings_and_of_parts_is_told(page: Path) -> None:
    missing = {
        f"{place} {kind.__name__}": absent
        for place, kind in _options_of_parts()
        if (absent := {*kind.__struct_fields__} - _words(*page.parent.glob(f"{place}*.md")))
    }
    assert not missing


def test_every_option_of_a_benchmark_is_told(page: Path) -> None:
    for name in registry.BENCHMARKS.names():
        part = registry.BENCHMARKS.find(name)
        options = {*signature(part.task).parameters} - {"options"}
        options |= {*(part.options.__struct_fields__ if part.options else ())}
        assert options <= _words(*page.parent.glob(f"{PAGES_OF.get(name, name)}*.md")), name


def test_every_environment_variable_is_told(page: Path) -> None:
    read = {name for path in source_files() for name in VARIABLE.findall(path.read_text(encoding="utf-8"))}
    assert read <= set(VARIABLE.findall(page.read_text(encoding="utf-8")))


def test_every_exit_code_is_told(page: Path) -> None:
    assert re.findall(r"^\| (\d+) \|", page.read_text(encoding="utf-8"), re.MULTILINE) == [
        "0", "1", "2", "3", "70", "130", "141",
    ]  # fmt: skip


def _sections(page: Path) -> dict[str, str]:
    """The text below each command's heading, up to the next heading of any kind."""
    text = page.read_text(encoding="utf-8")
    sections = {}
    for found in HEADING.finditer(text):
        rest = text[found.end() :]
        following = re.search(r"^#+ ", rest, re.MULTILINE)
        sections[found[1]] = rest[: following.start()] if following else rest
    return sections


def _commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if command.hidden:
        return
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            assert found is not None
            yield from _commands(found, f"{name} {child}")


def _words(*of: Path) -> set[str]:
    """Return the words of pages: one and those that its name begins."""
    return {word for page in of for word in re.findall(r"\w+", page.read_text(encoding="utf-8"), re.ASCII)}


def _options_of_parts() -> Iterator[tuple[str, type[msgspec.Struct]]]:
    """The page, by name, and the type of the options that it has to tell."""
    yield from (("commands", kind) for kind in (ProjectSettings, Limits, Budget, Price))
    for room in (registry.JUDGES, registry.SCORERS):
        for name in room.names():
            kind = room.find(name).options
            if kind is not None and name != "adk":  # criteria of an eval set, told there under ADK's names
                yield room.name, kind


def _options_of_agents() -> Iterator[tuple[str, tuple[str, ...]]]:
    for name in registry.AGENTS.names():
        kind = registry.AGENTS.find(name).options
        if kind is not None:
            yield name, kind.__struct_fields__


def _options(command: click.Command) -> set[str]:
    options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    names = {name for option in options for name in (*option.opts, *option.secondary_opts) if name.startswith("--")}
    return names - {"--help-all"}
