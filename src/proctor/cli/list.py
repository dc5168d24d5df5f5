"""proctor list: what there is."""

import inspect

import click

from proctor.cli import options, output
from proctor.cli.words import t

ROOM_BY_WORD = {"tasks": "benchmarks", "agents": "agents", "scorers": "scorers"}


@click.command(help=t("List the tasks, agents or scorers there are."))
@click.argument("what", type=click.Choice(sorted(ROOM_BY_WORD)), required=False)
@options.as_json
def command(what: str | None, as_json: bool) -> None:
    found = {word: parts(room) for word, room in ROOM_BY_WORD.items() if what in (None, word)}
    if as_json:
        output.print_json(found)
        return
    for word, described in found.items():
        output.line(f"{t(word)}:")
        for name, text in described.items():
            output.line(f"  {name:<24} {t(text)}")


def parts(room: str) -> dict[str, str]:
    """The parts of a package by name, each with the first line of what it says of itself."""
    from proctor import registry
    from proctor.scorers._named import functions

    for one in (registry.AGENTS, registry.BENCHMARKS):
        if one.name == room:
            return {name: one.describe(name) for name in one.names()}
    found: dict[str, str] = parts("judges") if room == "scorers" else {}
    for name in registry.names(room):
        module = registry.find(room, name)
        if room == "scorers":
            own = functions(module)
            found |= {name if key == name else f"{name}:{key}": _first_line(getattr(module, key)) for key in own}
            if hasattr(module, "make") and name not in own:  # made of its options alone
                found[name] = _first_line(module)
        elif hasattr(module, "make"):
            found[name] = _first_line(module)
    return found


def _first_line(part: object) -> str:
    return (inspect.getdoc(part) or "").partition("\n")[0]
