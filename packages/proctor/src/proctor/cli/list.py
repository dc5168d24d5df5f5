"""proctor list: what there is."""

import inspect
from typing import TYPE_CHECKING, Any

import click

from proctor.cli import options, output
from proctor.cli.words import t
from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say

if TYPE_CHECKING:
    from proctor.registry import Room

ROOM_BY_WORD = {
    "tasks": "benchmarks",
    "agents": "agents",
    "scorers": "scorers",
    "users": "users",
    "environments": "environments",
}


@click.command()
@click.argument("what", type=click.Choice(sorted(ROOM_BY_WORD)), required=False)
@options.as_json
def command(what: str | None, as_json: bool) -> None:
    found = {word: parts(room) for word, room in ROOM_BY_WORD.items() if what in (None, word)}
    if as_json:
        output.print_json({word: {name: str(text) for name, text in parts.items()} for word, parts in found.items()})
        return
    for word, described in found.items():
        output.line(f"{t(word)}:")
        width = max(map(len, described), default=0)
        for name, text in described.items():
            output.line(f"  {name:<{width}}  {t(text)}")


def parts(room: str) -> dict[str, str | Sentence]:
    """Return the parts of a package by name, each with its description."""
    from proctor import registry

    if room == "scorers":
        return {name: _described(registry.JUDGES, name) for name in registry.JUDGES.names()} | _scorers()
    rooms: tuple[registry.Room[Any], ...] = (
        registry.AGENTS,
        registry.BENCHMARKS,
        registry.USERS,
        registry.ENVIRONMENTS,
    )
    found = next(one for one in rooms if one.name == room)
    return {name: _described(found, name) for name in found.names()}


def _described(room: "Room[Any]", name: str) -> str | Sentence:
    """Return what a part says of itself, and which packages have another one of its name."""
    text, owners = room.describe(name), room.in_vain(name)
    if not owners:
        return text
    return say("{text} Not replaced by the part of this name of {owners}.", text=say(text), owners=owners)


def _scorers() -> dict[str, str | Sentence]:
    from proctor import registry
    from proctor.scorers.lookup import functions

    found: dict[str, str | Sentence] = {}
    for room in registry.SCORERS.names():
        try:
            part = registry.SCORERS.find(room)
        except BadInput as error:  # of an installed package: the others are still listed
            found[room] = error.sentence
            continue
        if part.scorer is None and (part.make or part.combine):  # made of its options alone
            found[room] = _described(registry.SCORERS, room)
        for name, function in functions(room, part).items():
            found[name] = (inspect.getdoc(function) or "").partition("\n")[0]
    return found
