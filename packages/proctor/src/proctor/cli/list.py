"""proctor list: what there is, and what packages bring that are not installed."""

import inspect
from typing import TYPE_CHECKING, Any

import click

import proctor
from proctor.cli import not_installed, options, output
from proctor.cli.words import t
from proctor.core.errors import BadInput
from proctor.core.packages import extra_by_name
from proctor.core.sentence import Sentence, say

if TYPE_CHECKING:
    from proctor.registry import Room

ROOM_BY_WORD = {
    "tasks": "benchmarks",
    "agents": "agents",
    "scorers": "scorers",
    "users": "users",
    "environments": "environments",
    "stores": "stores",
    "imports": "imports",
    "exports": "exports",
    "files": "task_files",
    "names": "names",
}


@click.command()
@click.argument("what", metavar="[KIND]", type=click.Choice(sorted(ROOM_BY_WORD)), required=False)
@options.as_json
def command(what: str | None, as_json: bool) -> None:
    words = [word for word in ROOM_BY_WORD if what in (None, word)]
    described = {word: parts(ROOM_BY_WORD[word]) for word in words}
    missing = {word: extra_by_missing_part(ROOM_BY_WORD[word]) for word in words}
    if as_json:
        shown = {word: {name: str(text) for name, text in parts.items()} for word, parts in described.items()}
        output.print_json(shown | {"not_installed": missing})
        return
    for word in words:
        output.line(f"{t(word)}:")
        _print_parts(described[word], missing[word])
    for line in not_installed.install_lines(extra for named in missing.values() for extra in named.values()):
        output.line(line)


def parts(room: str) -> dict[str, str | Sentence]:
    """Return the parts of a package by name, each with its description."""
    from proctor import registry

    if room == "names":
        return {name: _first_line(getattr(proctor, name)) for name in _names()}
    if room == "scorers":
        return {name: _described(registry.JUDGES, name) for name in registry.JUDGES.names()} | _scorers()
    return {name: _described(_room(room), name) for name in _room(room).names()}


def extra_by_missing_part(room: str) -> dict[str, str]:
    """Return the parts of packages that are not installed, each with the extra that brings it."""
    if room == "names":
        here = _names()
        return {name: extra for name, extra in extra_by_name("proctor.names").items() if name not in here}
    rooms = ("judges", "scorers") if room == "scorers" else (room,)
    return {name: extra for other in rooms for name, extra in _room(other).missing().items()}


def _print_parts(described: dict[str, str | Sentence], missing: dict[str, str]) -> None:
    """Print the parts by name, greyed out where they are not installed."""
    rows: dict[str, str | Sentence] = described | {
        name: not_installed.with_extra(None, missing[name]) for name in missing
    }
    width = max(map(len, rows), default=0)
    for name in sorted(rows) if missing else rows:
        row = f"  {name:<{width}}  {t(rows[name])}"
        if name in missing:
            not_installed.print_grey(row)
        else:
            output.line(row)


def _names() -> list[str]:
    from proctor.runtime.entry_points import entry_points

    return [*proctor.__all__, *(point.name for point in entry_points("proctor.names"))]


def _first_line(value: object) -> str:
    return (inspect.getdoc(value) or "").partition("\n")[0]


def _room(name: str) -> "Room[Any]":
    from proctor.registry import ROOMS

    return next(room for room in ROOMS if room.name == name)


def _described(room: "Room[Any]", name: str) -> str | Sentence:
    """Return what a part says of itself, and which packages have another one of its name."""
    text, owners = room.describe(name), room.in_vain(name)
    if not owners:
        return text
    return say("{text} Not replaced by the part of this name of {owners}.", text=say(text), owners=owners)


def _scorers() -> dict[str, str | Sentence]:
    from proctor import registry
    from proctor.scorers.lookup import functions

    listed: dict[str, str | Sentence] = {}
    for room in registry.SCORERS.names():
        try:
            part = registry.SCORERS.find(room)
        except BadInput as error:  # of an installed package: the others are still listed
            listed[room] = error.sentence
            continue
        if part.scorer is None and (part.make or part.combine):  # made of its options alone
            listed[room] = _described(registry.SCORERS, room)
        for name, function in functions(room, part).items():
            listed[name] = _first_line(function)
    return listed
