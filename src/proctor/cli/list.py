"""proctor list: what there is."""

import inspect
from typing import Any

import click

from proctor.cli import options, output
from proctor.cli.words import t

ROOM_BY_WORD = {
    "tasks": "benchmarks",
    "agents": "agents",
    "scorers": "scorers",
    "users": "users",
    "environments": "environments",
}


@click.command(help=t("List the tasks, agents, scorers, simulated users or environments there are."))
@click.argument("what", type=click.Choice(sorted(ROOM_BY_WORD)), required=False)
@options.as_json
def command(what: str | None, as_json: bool) -> None:
    found = {word: parts(room) for word, room in ROOM_BY_WORD.items() if what in (None, word)}
    if as_json:
        output.print_json(found)
        return
    for word, described in found.items():
        output.line(f"{t(word)}:")
        width = max(map(len, described), default=0)
        for name, text in described.items():
            output.line(f"  {name:<{width}}  {t(text)}")


def parts(room: str) -> dict[str, str]:
    """Return the parts of a package by name, each with its description."""
    from proctor import registry

    if room == "scorers":
        return {name: registry.JUDGES.describe(name) for name in registry.JUDGES.names()} | _scorers()
    rooms: tuple[registry.Room[Any], ...] = (
        registry.AGENTS,
        registry.BENCHMARKS,
        registry.USERS,
        registry.ENVIRONMENTS,
    )
    found = next(one for one in rooms if one.name == room)
    return {name: found.describe(name) for name in found.names()}


def _scorers() -> dict[str, str]:
    from proctor import registry
    from proctor.scorers.lookup import functions

    found = {}
    for room in registry.SCORERS.names():
        part = registry.SCORERS.find(room)
        if part.scorer is None and (part.make or part.combine):  # made of its options alone
            found[room] = registry.SCORERS.describe(room)
        for name, function in functions(room, part).items():
            found[name] = (inspect.getdoc(function) or "").partition("\n")[0]
    return found
